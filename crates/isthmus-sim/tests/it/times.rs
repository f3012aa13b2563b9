// SPDX-License-Identifier: Apache-2.0
//! `<clock>_time_ns_i`: each clock's own time.

use std::cell::Cell;
use std::rc::Rc;

use isthmus_sim::kernel::{Description, Direction, Model, PinStorage, PortInfo};
use isthmus_sim::{ClockConfig, DeviceConfig, Hertz, Picoseconds, SimConfig, Simulation};

const EPOCH: u64 = 1_000;

/// Shows, at each clock's edge, what that clock's time input said.
struct Times {
    description: Description,
    pins: Vec<PinStorage>,
    levels: [u64; 2],
}

impl Model for Times {
    fn description(&self) -> &Description {
        &self.description
    }

    fn pin(&self, index: usize) -> PinStorage {
        self.pins[index].clone()
    }

    fn eval(&mut self, _time: Picoseconds) -> Result<(), String> {
        for (clock, level) in self.levels.iter_mut().enumerate() {
            let now = self.pins[clock].get();
            if now > *level {
                self.pins[5 + clock].set(self.pins[3 + clock].get());
            }
            *level = now;
        }
        Ok(())
    }
}

fn times(second: &str) -> Box<Times> {
    let (input, output) = (Direction::Input, Direction::Output);
    let ports = [
        ("clk_i", 1, input),
        ("wire_clk_i", 1, input),
        ("rst_ni", 1, input),
        ("time_ns_i", 64, input),
        (second, 64, input),
        ("status_main_o", 64, output),
        ("status_wire_o", 64, output),
    ];
    let info = |(name, width, direction): (&str, u32, Direction)| PortInfo {
        name: name.to_owned(),
        width,
        direction,
    };
    let pins = ports.map(|_| PinStorage::words(Rc::from(vec![Cell::new(0); 2]))).to_vec();
    let description = Description { ports: ports.map(info).to_vec(), ..Description::default() };
    Box::new(Times { description, pins, levels: [0; 2] })
}

fn simulation() -> (Simulation, DeviceConfig) {
    let simulation = Simulation::new(SimConfig {
        seed: 1,
        skip_idle: true,
        check_idle: false,
        idle_confirm_cycles: 4,
        wake_cycles: 2,
        simulated_limit_ps: None,
        wall_limit_ms: None,
    });
    let clock = |port: &str, hz| ClockConfig::new(port, Hertz(hz));
    let config = DeviceConfig {
        name: "times".into(),
        model_path: "".into(),
        clocks: vec![clock("clk_i", 100_000_000), clock("wire_clk_i", 78_125_000)],
        reset_cycles: 3,
        cfg: Default::default(),
        epoch_ns: EPOCH,
        trace: None,
        resets: vec![],
        holds: vec![],
    };
    (simulation, config)
}

#[test]
fn each_clock_s_edge_sees_its_own_time() {
    let (simulation, config) = simulation();
    let device = simulation.add_model(times("wire_time_ns_i"), &config).unwrap();
    for cycles in [1, 7, 1_000] {
        // Up to just behind an edge of the second clock, and so of some edge of the first.
        simulation.run_for(Picoseconds(12_800 * cycles)).unwrap();
        let now = simulation.now().0;
        let last = |period: u64| EPOCH + now / period * period / 1_000;
        let status = device.status();
        assert_eq!((status["main"], status["wire"]), (last(10_000), last(12_800)), "at {now} ps");
    }
}

#[test]
fn a_time_of_no_clock_is_refused() {
    let (simulation, config) = simulation();
    let refused = simulation.add_model(times("other_time_ns_i"), &config).err().unwrap();
    let told = "other_time_ns_i shows the time of clock other_clk_i, which does not exist";
    assert!(refused.to_string().contains(told), "{refused}");
}
