// SPDX-License-Identifier: Apache-2.0
//! `time_cycles_i`: the number of the coming edge, also of a device that slept.

use std::cell::Cell;
use std::rc::Rc;

use isthmus_sim::kernel::{Description, Direction, Model, PinStorage, PortInfo};
use isthmus_sim::{ClockConfig, DeviceConfig, Hertz, Picoseconds, SimConfig, SimError, Simulation};

const PORTS: [(&str, u32, Direction); 7] = [
    ("clk_i", 1, Direction::Input),
    ("rst_ni", 1, Direction::Input),
    ("time_cycles_i", 64, Direction::Input),
    ("trigger_i", 1, Direction::Input),
    ("status_latched_o", 64, Direction::Output),
    ("idle_o", 1, Direction::Output),
    ("status_each_o", 96, Direction::Output),
];

/// Latches the cycle at which its trigger rose.
struct Latch {
    description: Description,
    pins: Vec<PinStorage>,
    clk: u64,
    trigger: u64,
    evaluations: Rc<Cell<u64>>,
}

impl Model for Latch {
    fn description(&self) -> &Description {
        &self.description
    }

    fn pin(&self, index: usize) -> PinStorage {
        self.pins[index].clone()
    }

    fn eval(&mut self, _time: Picoseconds) -> Result<(), String> {
        self.evaluations.set(self.evaluations.get() + 1);
        let clk = self.pins[0].get();
        if clk > self.clk {
            let trigger = self.pins[3].get();
            if trigger > self.trigger {
                self.pins[4].set(self.pins[2].get());
            }
            self.trigger = trigger;
        }
        self.clk = clk;
        self.pins[5].set(1);
        for word in 0..3 {
            self.pins[6].set_word(word, 7 + word as u32);
        }
        Ok(())
    }
}

fn latch(width: u32) -> (Box<Latch>, Rc<Cell<u64>>) {
    let info = |(name, bits, direction): (&str, u32, Direction)| PortInfo {
        name: name.to_owned(),
        width: if name == "time_cycles_i" { width } else { bits },
        direction,
    };
    let pins = (0..PORTS.len()).map(|_| PinStorage::words(Rc::from(vec![Cell::new(0); 3])));
    let evaluations = Rc::new(Cell::new(0));
    let description = Description { ports: PORTS.map(info).to_vec(), ..Description::default() };
    let counted = Rc::clone(&evaluations);
    let pins = pins.collect();
    (Box::new(Latch { description, pins, clk: 0, trigger: 0, evaluations: counted }), evaluations)
}

fn simulation(skip_idle: bool) -> Simulation {
    Simulation::new(SimConfig {
        seed: 1,
        skip_idle,
        check_idle: false,
        idle_confirm_cycles: 4,
        wake_cycles: 2,
        simulated_limit_ps: None,
        wall_limit_ms: None,
    })
}

fn config() -> DeviceConfig {
    DeviceConfig {
        name: "latch".into(),
        model_path: "".into(),
        clocks: vec![ClockConfig::new("clk_i", Hertz(78_125_000))],
        reset_cycles: 3,
        cfg: Default::default(),
        epoch_ns: 0,
        trace: None,
        resets: vec![],
        holds: vec![],
    }
}

#[test]
fn a_status_port_of_more_than_64_bits_is_counters_of_32() {
    let simulation = simulation(false);
    let device = simulation.add_model(latch(64).0, &config()).unwrap();
    simulation.run_for(Picoseconds(10 * 12_800)).unwrap();
    let status = device.status();
    assert_eq!(status.keys().collect::<Vec<_>>(), ["each0", "each1", "each2", "latched"]);
    assert_eq!((status["each0"], status["each1"], status["each2"]), (7, 8, 9));
}

#[test]
fn the_edge_that_sees_an_input_sees_its_own_number() {
    let mut evaluated = Vec::new();
    for skip_idle in [false, true] {
        let simulation = simulation(skip_idle);
        let (model, evaluations) = latch(64);
        let device = simulation.add_model(model, &config()).unwrap();
        // Between edge 100,000 and the next.
        let at = Picoseconds(100_000 * 12_800 + 5_000);
        device.pulse(0, at, Picoseconds(20_000)).unwrap();
        simulation.run_for(Picoseconds(100_010 * 12_800)).unwrap();
        assert_eq!(device.status()["latched"], 100_001);
        evaluated.push(evaluations.get());
    }
    assert!(evaluated[1] < evaluated[0] / 100, "it slept: {evaluated:?}");
}

#[test]
fn another_width_is_refused() {
    let refused = simulation(true).add_model(latch(32).0, &config()).err().unwrap();
    assert!(matches!(refused, SimError::Device { .. }));
    assert!(
        refused.to_string().contains("time_cycles_i is 32 bits wide: 64 expected"),
        "{refused}"
    );
}
