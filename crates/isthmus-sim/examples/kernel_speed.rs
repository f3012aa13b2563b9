// SPDX-License-Identifier: Apache-2.0
//! How fast the kernel runs a device that is never idle.
//!
//! Without an argument the device is a counter in Rust behind a PHY: what remains is the kernel's
//! own cost a cycle. With the path of a model, which `./isthmus bench` builds, that model is run, all
//! its clocks at 125 MHz and its configuration ports at zero.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use isthmus_sim::kernel::{Description, Direction, Model, PinStorage, PortInfo, load_model};
use isthmus_sim::world::{Cable, CableConfig, EndpointConfig, FrameEndpoint, GmiiPhy, PhyConfig};
use isthmus_sim::{ClockConfig, DeviceConfig, Hertz, Picoseconds, SimConfig, SimError, Simulation};

const PORTS: [(&str, u32, Direction); 10] = [
    ("clk_i", 1, Direction::Input),
    ("gmii_rx_clk_i", 1, Direction::Input),
    ("rst_ni", 1, Direction::Input),
    ("time_ns_i", 64, Direction::Input),
    ("gmii_rxd_i", 8, Direction::Input),
    ("gmii_rx_dv_i", 1, Direction::Input),
    ("gmii_rx_er_i", 1, Direction::Input),
    ("gmii_txd_o", 8, Direction::Output),
    ("gmii_tx_en_o", 1, Direction::Output),
    ("gmii_tx_er_o", 1, Direction::Output),
];

/// Does nothing, twice a cycle of each clock.
struct Nothing {
    description: Description,
    pins: Vec<PinStorage>,
}

impl Nothing {
    fn boxed() -> Box<dyn Model> {
        let ports = PORTS.iter().map(|&(name, width, direction)| PortInfo {
            name: name.to_owned(),
            width,
            direction,
        });
        let storage = PORTS.iter().map(|&(_, width, _)| {
            let words: Rc<[Cell<u32>]> = (0..width.div_ceil(32)).map(|_| Cell::new(0)).collect();
            PinStorage::words(words)
        });
        Box::new(Self {
            description: Description {
                top: "nothing".into(),
                ports: ports.collect(),
                ..Description::default()
            },
            pins: storage.collect(),
        })
    }
}

impl Model for Nothing {
    fn description(&self) -> &Description {
        &self.description
    }

    fn pin(&self, index: usize) -> PinStorage {
        self.pins[index].clone()
    }

    fn eval(&mut self, _time: Picoseconds) -> Result<(), String> {
        Ok(())
    }
}

fn measure(name: &str, model: Box<dyn Model>, rx_phase_ps: u64) -> Result<(), SimError> {
    let sim = Simulation::new(SimConfig {
        seed: 1,
        skip_idle: false,
        check_idle: false,
        idle_confirm_cycles: 0,
        wake_cycles: 4,
        simulated_limit_ps: None,
        wall_limit_ms: None,
    });
    let inputs: Vec<String> = model
        .description()
        .ports
        .iter()
        .filter(|port| port.direction == Direction::Input)
        .map(|port| port.name.clone())
        .collect();
    let clock = |port: &String| ClockConfig {
        phase_ps: if port == "clk_i" { 0 } else { rx_phase_ps },
        ..ClockConfig::new(port, Hertz::from_mhz(125))
    };
    let is_clock = |port: &&String| *port == "clk_i" || port.ends_with("_clk_i");
    let cfg = |port: &String| Some((port.strip_prefix("cfg_")?.strip_suffix("_i")?.to_owned(), 0));
    let config = DeviceConfig {
        name: "device".into(),
        model_path: PathBuf::new(),
        clocks: inputs.iter().filter(is_clock).map(clock).collect(),
        reset_cycles: 16,
        cfg: inputs.iter().filter_map(cfg).collect::<BTreeMap<_, _>>(),
        epoch_ns: 0,
        trace: None,
        resets: vec![],
        holds: vec![],
    };
    let device = sim.add_model(model, &config)?;
    let end = FrameEndpoint::new(
        &sim,
        &EndpointConfig {
            name: "end".into(),
            bit_rate_bit_s: 1_000_000_000,
            queue_bytes: u64::from(u32::MAX),
        },
    )?;
    if inputs.iter().any(|port| port == "gmii_rx_clk_i") {
        let phy =
            PhyConfig { name: "phy".into(), transmit_latency_ns: 100.0, receive_latency_ns: 100.0 };
        let phy = GmiiPhy::attach(&sim, &device, "gmii", &phy)?;
        let cable = CableConfig {
            name: "cable".into(),
            length_m: 1.0,
            delay_ns_per_m: 5.0,
            fault_delay_ns: 0.0,
        };
        Cable::connect(&sim, &end, &phy, &cable)?;
    }
    // Broadcast frames that no one answers, at line rate: the receive path is never idle.
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 0, 1, 0x88, 0xb5]);
    frame.resize(1_000, 0x5a);
    let duration = Picoseconds::from_ms(10);
    for _ in 0..duration.0 / 8_000 / 1_024 {
        end.send(&frame);
    }
    sim.run_for(duration)?;
    let statistics = sim.statistics();
    let rate = statistics.evaluated_cycles as f64 / statistics.wall_s / 1_000.0;
    println!(
        "{name}, {} clocks, phase {rx_phase_ps} ps: {:.0} kcycles/s ({} cycles in {:.3} s)",
        config.clocks.len(),
        rate,
        statistics.evaluated_cycles,
        statistics.wall_s
    );
    Ok(())
}

fn run() -> Result<(), SimError> {
    let model = std::env::args_os().nth(1).map(PathBuf::from);
    for phase_ps in [0, 2_000] {
        match &model {
            Some(path) => measure(&path.display().to_string(), load_model(path, None)?, phase_ps)?,
            None => measure("kernel alone", Nothing::boxed(), phase_ps)?,
        }
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    match run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kernel_speed: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}
