// SPDX-License-Identifier: Apache-2.0
//! USB at high speed, with an FX2LP and a device written in Rust behind it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use isthmus_sim::kernel::{Description, Direction, Model, PinStorage, PortInfo};
use isthmus_sim::world::usb::{ControllerConfig, ControllerKind, SerialConfig};
use isthmus_sim::world::{Cpu, CpuConfig, Fx2, Fx2Config, UsbHost, UsbHostConfig};
use isthmus_sim::{
    ClockConfig, DeviceConfig, Hertz, JoinHandle, Picoseconds, SimConfig, SimError, Simulation,
};

const PORTS: [(&str, u32, Direction); 18] = [
    ("clk_i", 1, Direction::Input),
    ("rst_ni", 1, Direction::Input),
    ("fx2_clk_i", 1, Direction::Input),
    ("fx2_fd_i", 16, Direction::Input),
    ("fx2_flag_empty_ni", 1, Direction::Input),
    ("fx2_flag_last_ni", 1, Direction::Input),
    ("fx2_flag_full_ni", 1, Direction::Input),
    ("fx2_flag_tight_ni", 1, Direction::Input),
    ("fx2_open_i", 1, Direction::Input),
    ("fx2_fd_o", 16, Direction::Output),
    ("fx2_fd_oe_o", 1, Direction::Output),
    ("fx2_fifoadr_o", 2, Direction::Output),
    ("fx2_sloe_no", 1, Direction::Output),
    ("fx2_slrd_no", 1, Direction::Output),
    ("fx2_slwr_no", 1, Direction::Output),
    ("fx2_pktend_no", 1, Direction::Output),
    ("status_words_o", 32, Direction::Output),
    ("idle_o", 1, Direction::Output),
];

/// What the device does with the bytes it reads, or how it breaks the rules.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    /// Reads from the given time on, and writes it all back; ends each burst with PKTEND.
    Echo {
        from_us: u64,
    },
    /// Only reads, or only writes, for ever.
    Sink,
    Source,
    ReadsEmpty,
    Collides,
    MovesTheAddress,
    WritesFull,
}

/// Reads or writes a word every clock while the flags allow two, else every second clock.
struct Device {
    description: Description,
    pins: BTreeMap<&'static str, PinStorage>,
    does: Does,
    fx2_clk: u64,
    words: VecDeque<u64>,
    writing: bool,
    turn: u32,
    owes_end: bool,
    seen_empty: u32,
}

impl Device {
    fn boxed(does: Does) -> Box<dyn Model> {
        let port = |&(name, width, direction): &(&str, u32, Direction)| PortInfo {
            name: name.to_owned(),
            width,
            direction,
        };
        let words: fn() -> Rc<[Cell<u32>]> = || Rc::new([Cell::new(0)]);
        Box::new(Self {
            description: Description {
                top: "usb".into(),
                ports: PORTS.iter().map(port).collect(),
                ..Description::default()
            },
            pins: PORTS.iter().map(|port| (port.0, PinStorage::words(words()))).collect(),
            does,
            fx2_clk: 0,
            words: VecDeque::new(),
            writing: false,
            turn: 0,
            owes_end: false,
            seen_empty: 0,
        })
    }

    fn get(&self, pin: &str) -> bool {
        self.word(pin) != 0
    }

    fn word(&self, pin: &str) -> u64 {
        self.pins[pin].get()
    }

    fn set(&self, pin: &str, value: bool) {
        self.pins[pin].set(u64::from(value));
    }

    fn release(&self) {
        for pin in ["fx2_sloe_no", "fx2_slrd_no", "fx2_slwr_no", "fx2_pktend_no"] {
            self.set(pin, true);
        }
        self.set("fx2_fd_oe_o", false);
    }

    fn clock(&mut self, time: Picoseconds) {
        let (some, more) = (self.get("fx2_flag_empty_ni"), self.get("fx2_flag_last_ni"));
        let (room, roomy) = (self.get("fx2_flag_full_ni"), self.get("fx2_flag_tight_ni"));
        let read = !self.get("fx2_slrd_no");
        let wrote = !self.get("fx2_slwr_no");
        let ended = !self.get("fx2_pktend_no");
        if read {
            self.words.push_back(self.word("fx2_fd_i"));
            self.pins["status_words_o"].set(self.word("status_words_o") + 1);
        }
        match self.does {
            Does::ReadsEmpty => return self.set("fx2_slrd_no", false),
            Does::Collides => {
                self.set("fx2_sloe_no", false);
                return self.set("fx2_fd_oe_o", true);
            }
            Does::MovesTheAddress if read => self.pins["fx2_fifoadr_o"].set(2),
            Does::WritesFull => {
                self.pins["fx2_fifoadr_o"].set(2);
                self.set("fx2_fd_oe_o", true);
                self.seen_empty += 1;
                return self.set("fx2_slwr_no", self.seen_empty < 4);
            }
            _ => {}
        }
        self.release();
        if self.turn > 0 {
            self.turn -= 1;
            self.set("fx2_fd_oe_o", self.writing && self.turn == 0);
            self.set("fx2_sloe_no", self.writing || self.turn > 0);
            return;
        }
        let asleep = matches!(self.does, Does::Echo { from_us } if time.0 < from_us * 1_000_000);
        if self.does == Does::Source {
            self.words.push_back(0);
        }
        let readable = (if read { more } else { some }) && self.words.len() < 4_096 && !asleep;
        let writable = if wrote { roomy } else { room };
        self.seen_empty = if some { 0 } else { self.seen_empty + 1 };
        if self.writing {
            self.set("fx2_fd_oe_o", true);
            if let (true, Some(word)) = (writable, self.words.front().copied()) {
                self.words.pop_front();
                self.pins["fx2_fd_o"].set(word);
                self.set("fx2_slwr_no", false);
                self.owes_end = true;
            } else if self.words.is_empty() && self.owes_end && room && !wrote && !some {
                if self.seen_empty > 8 {
                    self.set("fx2_pktend_no", false);
                    self.owes_end = false;
                }
            } else if !wrote && !ended && self.does != Does::Source {
                self.turn_to(false);
            }
        } else {
            self.set("fx2_sloe_no", false);
            if readable {
                self.set("fx2_slrd_no", false);
            } else if !read && (!self.words.is_empty() || self.does == Does::Source) {
                self.turn_to(true);
            }
        }
        match self.does {
            Does::Source => self.words.truncate(2),
            Does::Sink => self.words.clear(),
            _ => {}
        }
    }

    fn turn_to(&mut self, writing: bool) {
        self.release();
        self.writing = writing;
        self.turn = 2;
        self.pins["fx2_fifoadr_o"].set(if writing { 2 } else { 0 });
    }
}

impl Model for Device {
    fn description(&self) -> &Description {
        &self.description
    }

    fn pin(&self, index: usize) -> PinStorage {
        self.pins[PORTS[index].0].clone()
    }

    fn eval(&mut self, time: Picoseconds) -> Result<(), String> {
        let clk = self.word("fx2_clk_i");
        let rises = clk > self.fx2_clk;
        self.fx2_clk = clk;
        if !self.get("rst_ni") {
            self.release();
        } else if rises {
            self.clock(time);
        }
        let echo = matches!(self.does, Does::Echo { .. });
        let quiet = !self.get("fx2_flag_empty_ni") && self.words.is_empty() && !self.owes_end;
        self.set("idle_o", echo && quiet && !self.writing && self.turn == 0 && self.get("rst_ni"));
        Ok(())
    }
}

fn xhci() -> ControllerKind {
    ControllerKind::Xhci { interrupt_moderation_ns: 40_000.0, nak_retry_ns: 0.0 }
}

fn ehci() -> ControllerKind {
    ControllerKind::Ehci {
        interrupt_threshold_microframes: 1,
        nak_reload: 4,
        async_sleep_ns: 10_000.0,
    }
}

fn usb_config(kind: ControllerKind) -> UsbHostConfig {
    UsbHostConfig {
        name: "usb".into(),
        controller: ControllerConfig {
            kind,
            fetch_latency_ns: 1_000.0,
            completion_latency_ns: 500.0,
        },
        syscall_ns: 200.0,
        copy_ns_per_byte: 0.1,
        submit_ns: 700.0,
        interrupt_ns: 1_500.0,
        giveback_ns: 500.0,
        wakeup_ns: 2_000.0,
    }
}

fn serial_config() -> SerialConfig {
    SerialConfig {
        write_fifo_bytes: 4_096,
        out_transfer_bytes: 512,
        out_transfers: 2,
        in_transfer_bytes: 512,
        in_transfers: 2,
        write_path_ns: 500.0,
        receive_work_ns: 3_000.0,
        open_ns: 250_000.0,
    }
}

struct World {
    sim: Simulation,
    fx2: Fx2,
    usb: UsbHost,
}

fn world_with(does: Does, usb: &UsbHostConfig, skip_idle: bool) -> Result<World, SimError> {
    let sim = Simulation::new(SimConfig {
        seed: 1,
        skip_idle,
        check_idle: false,
        idle_confirm_cycles: 4,
        wake_cycles: 4,
        simulated_limit_ps: Some(Picoseconds::from_ms(100).0),
        wall_limit_ms: Some(60_000),
    });
    let clock = |port, mhz| ClockConfig::new(port, Hertz::from_mhz(mhz));
    let device = DeviceConfig {
        name: "fpga".into(),
        model_path: "usb".into(),
        clocks: vec![
            clock("clk_i", 125),
            ClockConfig { phase_ps: 3_000, ..clock("fx2_clk_i", 48) },
        ],
        reset_cycles: 4,
        cfg: BTreeMap::new(),
        epoch_ns: 0,
        trace: None,
        resets: vec![],
        holds: vec![],
    };
    let device = sim.add_model(Device::boxed(does), &device)?;
    let fx2 = Fx2Config { name: "fx2".into(), width_bits: 16 };
    let fx2 = Fx2::attach(&sim, &device, "fx2", &fx2)?;
    let cpu = Cpu::new(&sim, "host", &CpuConfig { cores: 2 })?;
    let usb = UsbHost::new(&sim, &cpu, &fx2, usb)?;
    usb.set_open(true);
    Ok(World { sim, fx2, usb })
}

fn world(does: Does, kind: ControllerKind) -> World {
    world_with(does, &usb_config(kind), true).expect("a world")
}

const ECHO: Does = Does::Echo { from_us: 0 };

impl World {
    fn count(&self, name: &str) -> u64 {
        self.sim.counters().counter(name).get()
    }

    /// Keeps `depth` transfers of one microframe's bytes to the device in flight.
    fn flood(&self, depth: usize, byte: u8) {
        for _ in 0..depth {
            let usb = self.usb.clone();
            self.sim.spawn(async move {
                loop {
                    usb.bulk_write(&[byte; 13 * 512]).await;
                }
            });
        }
    }

    fn drain(&self, depth: usize) {
        for _ in 0..depth {
            let usb = self.usb.clone();
            self.sim.spawn(async move {
                loop {
                    usb.bulk_read(13 * 512).await;
                }
            });
        }
    }

    /// Packets each way in ten microframes, after ten to settle.
    fn ten_microframes(&self) -> (u64, u64) {
        let microframe = Picoseconds::from_us(125);
        self.sim.run_for(microframe * 10).unwrap();
        let before = (self.count("fx2.packets_out"), self.count("fx2.packets_in"));
        self.sim.run_for(microframe * 10).unwrap();
        (self.count("fx2.packets_out") - before.0, self.count("fx2.packets_in") - before.1)
    }

    fn run<T>(&self, task: &JoinHandle<T>) -> T {
        self.sim.run_until_complete(task).unwrap()
    }
}

#[test]
fn bulk_alone_on_the_bus_reaches_exactly_the_specifications_ceiling_each_way() {
    // USB 2.0 table 5-10: 13 transactions of 512 bytes a microframe, 53.248 MB/s.
    let sink = world(Does::Sink, xhci());
    sink.flood(8, 0);
    assert_eq!(sink.ten_microframes(), (130, 0));
    let source = world(Does::Source, xhci());
    source.drain(8);
    assert_eq!(source.ten_microframes(), (0, 130));
    assert_eq!(130 * 512 * 8_000 / 10, 53_248_000);
}

#[test]
fn requests_and_replies_share_one_bus() {
    let both = world(ECHO, xhci());
    both.flood(8, 0);
    both.drain(8);
    let (out, into) = both.ten_microframes();
    assert_eq!(out + into, 130);
    assert!(out.abs_diff(into) <= 2, "{out} out, {into} in");
}

#[test]
fn ones_are_stuffed_and_cost_packets() {
    let both = world(ECHO, xhci());
    both.flood(8, 0xFF);
    both.drain(8);
    let (out, into) = both.ten_microframes();
    // 512 bytes of ones are 682 bits longer: 652.4 bytes of 7477 a microframe.
    assert_eq!(out + into, 110);
}

#[test]
fn a_device_that_does_not_read_is_asked_again_and_loses_nothing() {
    let late = world(Does::Echo { from_us: 900 }, ehci());
    let usb = late.usb.clone();
    let bytes: Vec<u8> = (0..6 * 512).map(|at| (at * 7) as u8).collect();
    let sent = bytes.clone();
    let handle = late.sim.handle();
    let task = late.sim.spawn(async move {
        let write = usb.submit_out(&sent).await;
        handle.sleep(Picoseconds::from_us(800)).await;
        let stuck = handle.now();
        write.wait().await;
        (stuck, handle.now(), usb.bulk_read(6 * 512).await)
    });
    late.sim.run_for(Picoseconds::from_us(700)).unwrap();
    assert_eq!(late.fx2.unread_bytes(), 4 * 512);
    let (stuck, done, back) = late.run(&task);
    assert!(stuck < Picoseconds::from_us(900) && done > Picoseconds::from_us(900));
    assert_eq!(back, bytes);
}

#[test]
fn a_short_packet_ends_a_read_and_a_full_one_does_not() {
    let echo = world(ECHO, xhci());
    let usb = echo.usb.clone();
    let task = echo.sim.spawn(async move {
        let mut lengths = Vec::new();
        for bytes in [2, 28, 510, 512, 514, 1_024] {
            let read = usb.submit_in(4_096).await;
            usb.bulk_write(&vec![0x5A; bytes]).await;
            lengths.push(read.wait().await.len());
        }
        lengths
    });
    // The device ends each burst with PKTEND: after 512 bytes that is a packet without data.
    assert_eq!(echo.run(&task), [2, 28, 510, 512, 514, 1_024]);
}

/// When reads end and how long a blocking exchange takes, for ten of them.
fn exchanges(kind: ControllerKind, skip_idle: bool) -> Vec<Picoseconds> {
    let echo = world_with(ECHO, &usb_config(kind), skip_idle).unwrap();
    let (usb, handle) = (echo.usb.clone(), echo.sim.handle());
    let task = echo.sim.spawn(async move {
        let port = usb.open_serial(&serial_config()).await.unwrap();
        let mut ends = Vec::new();
        for number in 0..12_u8 {
            port.write(&[number; 28]).await;
            let mut back = Vec::new();
            while back.len() < 28 {
                back.extend(port.read(64).await);
            }
            assert_eq!(back, [number; 28]);
            ends.push(handle.now());
        }
        ends
    });
    echo.run(&task)
}

#[test]
fn on_an_enhanced_controller_a_blocking_exchange_takes_a_microframe() {
    let ends = exchanges(ehci(), true);
    for pair in ends[1..].windows(2) {
        assert_eq!(pair[1] - pair[0], Picoseconds::from_us(125));
    }
}

#[test]
fn on_an_extensible_controller_a_blocking_exchange_waits_for_moderation() {
    let ends = exchanges(xhci(), true);
    for pair in ends[1..].windows(2) {
        assert!((pair[1] - pair[0]).0.is_multiple_of(40_000_000), "{}", pair[1] - pair[0]);
    }
    let free = ControllerKind::Xhci { interrupt_moderation_ns: 0.0, nak_retry_ns: 0.0 };
    let free = exchanges(free, true);
    assert!(free[11] - free[1] < Picoseconds::from_us(250), "{}", free[11] - free[1]);
}

#[test]
fn a_sleeping_device_changes_no_result() {
    assert_eq!(exchanges(ehci(), true), exchanges(ehci(), false));
    assert_eq!(exchanges(xhci(), true), exchanges(xhci(), false));
}

#[test]
fn a_serial_write_returns_when_queued_and_a_long_one_waits_for_the_fifo() {
    let echo = world(ECHO, xhci());
    let (usb, handle) = (echo.usb.clone(), echo.sim.handle());
    let task = echo.sim.spawn(async move {
        let port = usb.open_serial(&serial_config()).await.unwrap();
        let start = handle.now();
        port.write(&[1; 28]).await;
        let short = handle.now() - start;
        let bytes: Rc<[u8]> = (0..50_000).map(|at| (at * 31 % 251) as u8).collect();
        let (writer, sent) = (port.clone(), Rc::clone(&bytes));
        let written = Rc::new(RefCell::new(None));
        let (note, clock) = (Rc::clone(&written), handle.clone());
        handle.spawn(async move {
            let start = clock.now();
            writer.write(&sent).await;
            *note.borrow_mut() = Some(clock.now() - start);
        });
        let mut back = Vec::new();
        while back.len() < 28 + bytes.len() {
            back.extend(port.read(4_096).await);
        }
        assert!(back[28..] == *bytes, "bytes lost or out of order");
        (short, written.take().expect("the write has ended"))
    });
    let (short, long) = echo.run(&task);
    // System call, write path, 28 bytes' copy, one submission.
    assert_eq!(short, Picoseconds::from_ns_f64(200.0 + 500.0 + 2.8 + 700.0));
    // All but the FIFO and what is in progress has crossed the bus both ways by then.
    assert!(long > Picoseconds::from_us(1_600), "{long}");
}

#[test]
fn a_short_transfer_does_not_overtake_a_long_one_whose_copy_takes_longer() {
    // Both come with one interrupt, and each has a core of its own for its copy.
    let costs = UsbHostConfig { copy_ns_per_byte: 50.0, ..usb_config(xhci()) };
    let echo = world_with(ECHO, &costs, true).unwrap();
    let usb = echo.usb.clone();
    let task = echo.sim.spawn(async move {
        let port = usb.open_serial(&serial_config()).await.unwrap();
        let bytes: Vec<u8> = (0..540).map(|at| (at * 31 % 251) as u8).collect();
        port.write(&bytes).await;
        let mut back = Vec::new();
        while back.len() < bytes.len() {
            back.extend(port.read(4_096).await);
        }
        back == bytes
    });
    assert!(echo.run(&task), "out of order");
}

#[test]
fn opening_a_port_again_drops_what_the_device_held() {
    let echo = world(ECHO, xhci());
    let (usb, handle) = (echo.usb.clone(), echo.sim.handle());
    let task = echo.sim.spawn(async move {
        let port = usb.open_serial(&serial_config()).await.unwrap();
        port.write(&[9; 100]).await;
        handle.sleep(Picoseconds::from_us(500)).await;
        assert_eq!(port.readable_bytes(), 100);
        port.reopen().await;
        port.write(&[7; 10]).await;
        port.read(64).await
    });
    assert_eq!(echo.run(&task), [7; 10]);
}

#[test]
fn a_device_that_breaks_the_interfaces_rules_ends_the_run() {
    let cases = [
        (Does::ReadsEmpty, "fx2: SLRD without SLOE"),
        (Does::Collides, "fx2: two drivers on FD"),
        (Does::MovesTheAddress, "fx2: FIFOADR changes at a strobe"),
        (Does::WritesFull, "fx2: a word is written into the full endpoint 6"),
    ];
    for (does, message) in cases {
        let rude = world(does, xhci());
        rude.flood(1, 0);
        let error = rude.sim.run_for(Picoseconds::from_ms(1)).unwrap_err().to_string();
        assert!(error.starts_with("device fpga: ") && error.contains(message), "{error}");
    }
}

#[test]
fn a_configuration_that_makes_no_sense_is_named() {
    let mut config = usb_config(ehci());
    config.controller.kind = ControllerKind::Ehci {
        interrupt_threshold_microframes: 0,
        nak_reload: 4,
        async_sleep_ns: 10_000.0,
    };
    let error = world_with(ECHO, &config, true).err().expect("refused").to_string();
    assert!(error.contains("usb: interrupt_threshold_microframes = 0"), "{error}");
    let config = UsbHostConfig { wakeup_ns: f64::NAN, ..usb_config(xhci()) };
    let error = world_with(ECHO, &config, true).err().expect("refused").to_string();
    assert!(error.contains("usb: wakeup_ns = NaN"), "{error}");
}
