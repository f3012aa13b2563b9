// SPDX-License-Identifier: Apache-2.0
//! A VME bus with a slave written in Rust behind it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use isthmus_sim::kernel::{Description, Direction, Model, PinStorage, PortInfo};
use isthmus_sim::world::{Cpu, CpuConfig, VmeConfig, VmeError, VmeHost};
use isthmus_sim::{ClockConfig, DeviceConfig, Hertz, Picoseconds, SimConfig, SimError, Simulation};

const PORTS: [(&str, u32, Direction); 15] = [
    ("clk_i", 1, Direction::Input),
    ("rst_ni", 1, Direction::Input),
    ("vme_as_ni", 1, Direction::Input),
    ("vme_ds_ni", 2, Direction::Input),
    ("vme_write_ni", 1, Direction::Input),
    ("vme_lword_ni", 1, Direction::Input),
    ("vme_iack_ni", 1, Direction::Input),
    ("vme_am_i", 6, Direction::Input),
    ("vme_addr_i", 31, Direction::Input),
    ("vme_data_i", 32, Direction::Input),
    ("vme_data_o", 32, Direction::Output),
    ("vme_data_oe_o", 1, Direction::Output),
    ("vme_dtack_no", 1, Direction::Output),
    ("vme_berr_no", 1, Direction::Output),
    ("idle_o", 1, Direction::Output),
];

const BASE: u32 = 0x1000_0000;
const FAULTY: u32 = BASE + 0x80;

#[derive(Clone, Copy, PartialEq)]
enum Does {
    Memory,
    Hastes,
    AnswersTwice,
    ForgetsData,
    LetsGo,
}

/// Memory at `BASE` that answers in the fifth clock after it sees the strobes.
struct Slave {
    description: Description,
    pins: BTreeMap<&'static str, PinStorage>,
    does: Does,
    clk: u64,
    strobed: u32,
    memory: BTreeMap<u32, u32>,
}

impl Slave {
    fn boxed(does: Does) -> Box<dyn Model> {
        let port = |&(name, width, direction): &(&str, u32, Direction)| PortInfo {
            name: name.to_owned(),
            width,
            direction,
        };
        let words: fn() -> Rc<[Cell<u32>]> = || Rc::new([Cell::new(0)]);
        Box::new(Self {
            description: Description {
                top: "vme".into(),
                ports: PORTS.iter().map(port).collect(),
                ..Description::default()
            },
            pins: PORTS.iter().map(|port| (port.0, PinStorage::words(words()))).collect(),
            does,
            clk: 0,
            strobed: 0,
            memory: BTreeMap::new(),
        })
    }

    fn get(&self, pin: &str) -> u32 {
        self.pins[pin].get() as u32
    }

    fn set(&self, pin: &str, value: u32) {
        self.pins[pin].set(u64::from(value));
    }

    fn clock(&mut self) {
        let address = self.get("vme_addr_i") << 1;
        let ours = address >> 8 == BASE >> 8 && self.get("vme_am_i") == 0x09;
        if self.get("vme_as_ni") + self.get("vme_ds_ni") + self.get("vme_lword_ni") > 0 || !ours {
            self.strobed = 0;
            self.set("vme_dtack_no", 1);
            self.set("vme_berr_no", 1);
            return self.set("vme_data_oe_o", 0);
        }
        self.strobed += 1;
        if self.does == Does::LetsGo && self.strobed == 7 {
            return self.set("vme_dtack_no", 1);
        }
        if self.strobed != if self.does == Does::Hastes { 1 } else { 5 } {
            return;
        }
        if self.does == Does::AnswersTwice {
            self.set("vme_berr_no", 0);
        }
        if address == FAULTY {
            return self.set("vme_berr_no", 0);
        }
        self.set("vme_dtack_no", 0);
        if self.get("vme_write_ni") == 0 {
            self.memory.insert(address, self.get("vme_data_i"));
        } else {
            self.set("vme_data_o", self.memory.get(&address).copied().unwrap_or(0));
            self.set("vme_data_oe_o", u32::from(self.does != Does::ForgetsData));
        }
    }
}

impl Model for Slave {
    fn description(&self) -> &Description {
        &self.description
    }

    fn pin(&self, index: usize) -> PinStorage {
        self.pins[PORTS[index].0].clone()
    }

    fn eval(&mut self, _time: Picoseconds) -> Result<(), String> {
        let clk = u64::from(self.get("clk_i"));
        let rises = clk > self.clk;
        self.clk = clk;
        if self.get("rst_ni") == 0 {
            self.set("vme_dtack_no", 1);
            self.set("vme_berr_no", 1);
        } else if rises {
            self.clock();
        }
        let quiet = self.get("vme_dtack_no") & self.get("vme_berr_no") & self.get("vme_as_ni");
        self.set("idle_o", quiet & self.get("rst_ni"));
        Ok(())
    }
}

fn config() -> VmeConfig {
    VmeConfig {
        name: "vme".into(),
        cpu_read_ns: 100.0,
        cpu_write_ns: 20.0,
        bridge_request_ns: 200.0,
        bridge_answer_ns: 150.0,
        posted_writes: 4,
        arbitration_ns: 60.0,
        release_when_done: true,
        signal_ns: 10.0,
        bus_timeout_ns: 16_000.0,
    }
}

fn world(
    does: Does,
    config: &VmeConfig,
    skip_idle: bool,
) -> Result<(Simulation, VmeHost), SimError> {
    let sim = Simulation::new(SimConfig {
        seed: 1,
        skip_idle,
        check_idle: false,
        idle_confirm_cycles: 4,
        wake_cycles: 4,
        simulated_limit_ps: Some(Picoseconds::from_ms(10).0),
        wall_limit_ms: Some(60_000),
    });
    let device = DeviceConfig {
        name: "fpga".into(),
        model_path: "vme".into(),
        clocks: vec![ClockConfig::new("clk_i", Hertz::from_mhz(125))],
        reset_cycles: 4,
        cfg: BTreeMap::new(),
        epoch_ns: 0,
        trace: None,
        resets: vec![],
        holds: vec![],
    };
    let device = sim.add_model(Slave::boxed(does), &device)?;
    let cpu = Cpu::new(&sim, "host", &CpuConfig { cores: 1 })?;
    let host = VmeHost::attach(&sim, &cpu, &device, "vme", config)?;
    Ok((sim, host))
}

/// Times of two reads, one after the other, begun when the bus was quiet.
fn reads(config: &VmeConfig, skip_idle: bool) -> [Picoseconds; 2] {
    let (sim, host) = world(Does::Memory, config, skip_idle).unwrap();
    let handle = sim.handle();
    let task = sim.spawn(async move {
        handle.sleep(Picoseconds::from_us(1)).await;
        let start = handle.now();
        host.read32(BASE).await.unwrap();
        let first = handle.now();
        host.read32(BASE).await.unwrap();
        [first - start, handle.now() - first]
    });
    sim.run_until_complete(&task).unwrap()
}

#[test]
fn words_written_are_read_back() {
    let (sim, host) = world(Does::Memory, &config(), true).unwrap();
    let task = sim.spawn(async move {
        for word in 0..32_u32 {
            host.write32(BASE + 4 * word, word * 0x0101_0101).await.unwrap();
        }
        let mut words = Vec::new();
        for word in 0..32 {
            words.push(host.read32(BASE + 4 * word).await.unwrap());
        }
        words
    });
    let words = sim.run_until_complete(&task).unwrap();
    assert_eq!(words, (0..32).map(|word| word * 0x0101_0101).collect::<Vec<_>>());
}

#[test]
fn a_reads_time_is_the_sum_of_its_steps() {
    let [first, second] = reads(&config(), true);
    // CPU, bridge, arbitration, signal, set-up; up to five clocks of the slave; skew, signal, answer.
    let known = 100.0 + 200.0 + 60.0 + 10.0 + 35.0 + 25.0 + 10.0 + 150.0;
    for time in [first, second] {
        let slave = time.as_ns_f64() - known;
        assert!((32.0..=48.0).contains(&slave), "{slave} ns");
    }
    let parked = VmeConfig { release_when_done: false, ..config() };
    let [first, second] = reads(&parked, true);
    assert!((first - second).as_ns_f64() > 60.0 - 8.0, "{first}, {second}");
}

#[test]
fn stores_return_at_once_until_the_bridge_is_full() {
    let (sim, host) = world(Does::Memory, &config(), true).unwrap();
    let handle = sim.handle();
    let task = sim.spawn(async move {
        let mut times = Vec::new();
        for word in 0..8 {
            let start = handle.now();
            host.write32(BASE, word).await.unwrap();
            times.push((handle.now() - start).as_ns_f64());
        }
        assert_eq!(host.read32(BASE).await, Ok(7));
        times
    });
    let times = sim.run_until_complete(&task).unwrap();
    assert_eq!(times[..4], [20.0; 4]);
    assert!(times[6] > 200.0 && times[7] > 200.0, "{times:?}");
}

#[test]
fn a_bus_error_and_a_missing_slave_are_told_apart() {
    let (sim, host) = world(Does::Memory, &config(), true).unwrap();
    let handle = sim.handle();
    let task = sim.spawn(async move {
        assert_eq!(host.read32(FAULTY).await, Err(VmeError::BusError(FAULTY)));
        let start = handle.now();
        assert_eq!(host.read32(0x100).await, Err(VmeError::NoAnswer(0x100)));
        assert!(handle.now() - start > Picoseconds::from_us(16));
        assert_eq!(host.read32(BASE + 2).await, Err(VmeError::Alignment(BASE + 2)));
        host.write32(FAULTY, 1).await.unwrap();
        assert_eq!(host.take_write_error(), None);
        host.read32(BASE).await.unwrap();
        host.take_write_error()
    });
    assert_eq!(sim.run_until_complete(&task).unwrap(), Some(VmeError::BusError(FAULTY)));
}

#[test]
fn a_sleeping_slave_changes_no_result() {
    assert_eq!(reads(&config(), true), reads(&config(), false));
}

#[test]
fn a_slave_that_breaks_the_handshake_ends_the_run() {
    let cases = [
        (Does::Hastes, "an answer within 30 ns"),
        (Does::AnswersTwice, "DTACK and BERR together"),
        (Does::ForgetsData, "DTACK without data"),
        (Does::LetsGo, "the answer is gone before the data strobe"),
    ];
    for (does, message) in cases {
        let slow = VmeConfig { signal_ns: 40.0, ..config() };
        let (sim, host) = world(does, &slow, true).unwrap();
        let task = sim.spawn(async move { host.read32(BASE).await });
        let error = sim.run_until_complete(&task).unwrap_err().to_string();
        assert!(error.starts_with("device fpga: vme: ") && error.contains(message), "{error}");
    }
}

#[test]
fn a_configuration_that_makes_no_sense_is_named() {
    let none = VmeConfig { posted_writes: 0, ..config() };
    let error = world(Does::Memory, &none, true).err().expect("refused").to_string();
    assert!(error.contains("vme: posted_writes = 0"), "{error}");
}
