// SPDX-License-Identifier: Apache-2.0
//! A device behind a bus's hard block or core, written in Rust at its pins: registers, and an engine that
//! copies host memory and raises an interrupt. It can break the bus protocol on request.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use isthmus_sim::kernel::{Description, Direction, Model, PinStorage, PortInfo};
use isthmus_sim::{ClockConfig, DeviceConfig, Hertz, Picoseconds};

pub const SOURCE: u64 = 0x00;
pub const DESTINATION: u64 = 0x08;
pub const LENGTH: u64 = 0x10;
pub const GO: u64 = 0x18;
/// Beats of the longest burst; 0: 16.
pub const BEATS: u64 = 0x20;
/// Not 0: ready signals and valid signals come and go.
pub const STUTTER: u64 = 0x28;
/// What the device says of writes (bit 0) and reads (bit 1) that come soon: `dma_awsoon_o`,
/// `dma_arsoon_o`.
pub const SOON: u64 = 0x30;
/// Where `Misdeed::Between` writes eight bytes of ones.
pub const BETWEEN: u64 = 0x1000_0100;

/// How it breaks the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misdeed {
    None,
    /// Bursts do not end at 4 KiB.
    CrossPage,
    /// `awaddr` changes while `awready` is low.
    MoveAddress,
    /// `wvalid` falls while `wready` is low.
    DropData,
    /// The last beat of a write does not say so.
    NoLast,
    /// `bvalid` without a write.
    AnswerNothing,
    /// Reads are not of the increasing kind.
    FixedBurst,
    /// None: it writes only the middle four bytes of each beat.
    Holes,
    /// A burst says that less of its row is to come than it has itself.
    WrongRow,
    /// None: a word elsewhere is written between the first two bursts of a row.
    Between,
}

/// What the pins are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pins {
    /// Bursts say how many bytes of their row are to come: `dma_awuser_o`, `dma_aruser_o`; it wants
    /// to know early of data: `dma_rearly_i`; and it says that accesses come soon.
    pub rows: bool,
    /// The clock of the three bundles. Where it is not `clk_i`, the device has both.
    pub clock: &'static str,
}

const AXI: [(&str, u32, bool); 29] = [
    ("awvalid", 1, true),
    ("awid", 4, true),
    ("awaddr", 64, true),
    ("awlen", 8, true),
    ("awsize", 3, true),
    ("awburst", 2, true),
    ("wvalid", 1, true),
    ("wdata", 64, true),
    ("wstrb", 8, true),
    ("wlast", 1, true),
    ("bready", 1, true),
    ("arvalid", 1, true),
    ("arid", 4, true),
    ("araddr", 64, true),
    ("arlen", 8, true),
    ("arsize", 3, true),
    ("arburst", 2, true),
    ("rready", 1, true),
    ("awready", 1, false),
    ("wready", 1, false),
    ("bvalid", 1, false),
    ("bid", 4, false),
    ("bresp", 2, false),
    ("arready", 1, false),
    ("rvalid", 1, false),
    ("rid", 4, false),
    ("rdata", 64, false),
    ("rresp", 2, false),
    ("rlast", 1, false),
];

#[derive(Clone, Copy, Default)]
struct Burst {
    address: u64,
    len: u64,
    size: u64,
    beat: u64,
}

impl Burst {
    fn at(&self) -> u64 {
        self.address + (self.beat << self.size)
    }
}

#[derive(Default)]
struct Engine {
    running: bool,
    destination: u64,
    length: usize,
    skip: usize,
    /// What is to be read and written: address and beats less one.
    read_bursts: VecDeque<(u64, u64)>,
    read_beats_due: usize,
    /// Clocks since data was announced that has not come.
    announced: Option<u64>,
    data: Vec<u8>,
    write_bursts: VecDeque<(u64, u64)>,
    beats: VecDeque<(u64, u64, bool)>,
    answers_due: usize,
}

pub struct Copier {
    description: Description,
    pins: BTreeMap<String, PinStorage>,
    order: Vec<String>,
    misdeed: Misdeed,
    rows: bool,
    clock: &'static str,
    clk: u64,
    registers: Vec<u8>,
    writes: VecDeque<Burst>,
    answers: usize,
    reads: VecDeque<Burst>,
    engine: Engine,
    noise: u64,
}

impl Copier {
    pub fn boxed(misdeed: Misdeed) -> Box<dyn Model> {
        Self::with_pins(misdeed, Pins { rows: false, clock: "clk_i" })
    }

    pub fn with_pins(misdeed: Misdeed, pins: Pins) -> Box<dyn Model> {
        let Pins { rows, clock } = pins;
        let mut ports = vec![
            ("clk_i".to_owned(), 1, Direction::Input),
            ("rst_ni".to_owned(), 1, Direction::Input),
            ("irq_o".to_owned(), 2, Direction::Output),
            ("idle_o".to_owned(), 1, Direction::Output),
            ("status_copies_o".to_owned(), 32, Direction::Output),
            ("status_bursts_o".to_owned(), 32, Direction::Output),
            ("status_errors_o".to_owned(), 32, Direction::Output),
            ("status_narrow_o".to_owned(), 32, Direction::Output),
            ("status_early_o".to_owned(), 32, Direction::Output),
            ("status_lead_o".to_owned(), 32, Direction::Output),
        ];
        for (bundle, masters) in [("bar", false), ("dma", true)] {
            for (signal, width, forward) in AXI {
                let output = forward == masters;
                let suffix = if output { "o" } else { "i" };
                let direction = if output { Direction::Output } else { Direction::Input };
                ports.push((format!("{bundle}_{signal}_{suffix}"), width, direction));
            }
        }
        if rows {
            for port in ["dma_awuser_o", "dma_aruser_o"] {
                ports.push((port.to_owned(), 13, Direction::Output));
            }
            ports.push(("dma_rearly_i".to_owned(), 1, Direction::Input));
            for port in ["dma_awsoon_o", "dma_arsoon_o"] {
                ports.push((port.to_owned(), 1, Direction::Output));
            }
        }
        if clock != "clk_i" {
            ports.push((clock.to_owned(), 1, Direction::Input));
        }
        let storage = |width: u32| {
            let words: Rc<[Cell<u32>]> = (0..width.div_ceil(32)).map(|_| Cell::new(0)).collect();
            PinStorage::words(words)
        };
        let pins = ports.iter().map(|(name, width, _)| (name.clone(), storage(*width))).collect();
        let order = ports.iter().map(|(name, ..)| name.clone()).collect();
        let ports = ports
            .into_iter()
            .map(|(name, width, direction)| PortInfo { name, width, direction })
            .collect();
        Box::new(Self {
            description: Description { top: "copier".into(), ports, ..Description::default() },
            pins,
            order,
            misdeed,
            rows,
            clock,
            clk: 0,
            registers: vec![0; 0x2000],
            writes: VecDeque::new(),
            answers: 0,
            reads: VecDeque::new(),
            engine: Engine::default(),
            noise: 1,
        })
    }

    fn get(&self, pin: &str) -> u64 {
        self.pins[pin].get()
    }

    fn set(&self, pin: &str, value: u64) {
        self.pins[pin].set(value);
    }

    fn count(&self, pin: &str) {
        self.set(pin, self.get(pin) + 1);
    }

    fn register(&self, offset: u64) -> u64 {
        let at = offset as usize;
        u64::from_le_bytes(self.registers[at..at + 8].try_into().expect("eight octets"))
    }

    /// True most of the time; never twice false, so that all goes on.
    fn steady(&mut self) -> bool {
        if self.register(STUTTER) == 0 {
            return true;
        }
        self.noise = self.noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.noise >> 62 != 0
    }

    fn bar(&mut self) {
        if self.get("bar_awvalid_i") & self.get("bar_awready_o") == 1 {
            self.count("status_bursts_o");
            if self.get("bar_awsize_i") == 2 {
                self.count("status_narrow_o");
            }
            self.writes.push_back(Burst {
                address: self.get("bar_awaddr_i"),
                len: self.get("bar_awlen_i"),
                size: self.get("bar_awsize_i"),
                beat: 0,
            });
        }
        if self.get("bar_wvalid_i") & self.get("bar_wready_o") == 1 {
            let (data, strobes) = (self.get("bar_wdata_i"), self.get("bar_wstrb_i"));
            let last = self.get("bar_wlast_i") == 1;
            let burst = self.writes.front_mut().expect("data behind its address");
            assert_eq!(last, burst.beat == burst.len, "wlast");
            let at = burst.at();
            burst.beat += 1;
            for lane in (0..8).filter(|lane| strobes >> lane & 1 == 1) {
                assert!(lane >= at & 7, "a lane of the beat");
                self.registers[((at & !7) + lane) as usize] = (data >> (8 * lane)) as u8;
            }
            if last {
                self.writes.pop_front();
                self.answers += 1;
                if at & !7 == GO {
                    self.go();
                }
            }
        }
        if self.get("bar_bvalid_o") & self.get("bar_bready_i") == 1 {
            self.set("bar_bvalid_o", 0);
        }
        if self.get("bar_bvalid_o") == 0 && self.answers > 0 && self.steady() {
            self.answers -= 1;
            self.set("bar_bvalid_o", 1);
        }
        if self.misdeed == Misdeed::AnswerNothing && self.register(GO) != 0 {
            self.set("bar_bvalid_o", 1);
        }
        if self.get("bar_arvalid_i") & self.get("bar_arready_o") == 1 {
            let written = self.writes.is_empty() && self.answers == 0;
            assert!(written, "a read before the writes in front of it are answered");
            if self.get("bar_arsize_i") == 2 {
                self.count("status_narrow_o");
            }
            self.reads.push_back(Burst {
                address: self.get("bar_araddr_i"),
                len: self.get("bar_arlen_i"),
                size: self.get("bar_arsize_i"),
                beat: 0,
            });
        }
        if self.get("bar_rvalid_o") & self.get("bar_rready_i") == 1 {
            self.set("bar_rvalid_o", 0);
        }
        if self.get("bar_rvalid_o") == 0 && !self.reads.is_empty() && self.steady() {
            let burst = &mut self.reads[0];
            let (at, last) = (burst.at(), burst.beat == burst.len);
            let narrow = burst.size == 2;
            burst.beat += 1;
            let word = self.register(at & !7);
            // A narrow read shows its own lanes only.
            let lanes = if narrow { 0xFFFF_FFFF << (8 * (at & 4)) } else { u64::MAX };
            self.set("bar_rdata_o", word & lanes);
            self.set("bar_rlast_o", last.into());
            self.set("bar_rvalid_o", 1);
            if last {
                self.reads.pop_front();
            }
        }
        let (aw, ar) = (self.steady(), self.steady());
        self.set("bar_awready_o", (aw && self.writes.is_empty()).into());
        self.set("bar_arready_o", ar.into());
        let w = self.steady();
        self.set("bar_wready_o", (w && !self.writes.is_empty()).into());
    }

    fn bar_is_idle(&self) -> bool {
        let low = |pin: &&str| self.get(pin) == 0;
        self.writes.is_empty()
            && self.answers == 0
            && self.reads.is_empty()
            && self.register(STUTTER) == 0
            && ["bar_bvalid_o", "bar_rvalid_o", "bar_wready_o"].iter().all(low)
            && ["bar_awvalid_i", "bar_wvalid_i", "bar_arvalid_i"].iter().all(low)
            && self.get("bar_awready_o") & self.get("bar_arready_o") == 1
    }

    fn cut(&self, address: u64, length: usize) -> VecDeque<(u64, u64)> {
        let most = match self.register(BEATS) {
            0 => 16,
            beats => beats,
        };
        let end = (address + length as u64).next_multiple_of(8);
        let mut at = address & !7;
        let mut bursts = VecDeque::new();
        while at < end {
            let page = if self.misdeed == Misdeed::CrossPage { u64::MAX } else { 4096 - at % 4096 };
            let bytes = (end - at).min(8 * most).min(page);
            bursts.push_back((at, bytes / 8 - 1));
            at += bytes;
        }
        bursts
    }

    /// Says how many bytes of a row are to come: from `address` to the end of its page or of the copy.
    fn say_row(&self, pin: &str, address: u64, start: u64) {
        if self.rows {
            let end = (start + self.engine.length as u64).next_multiple_of(8);
            let row = end.min((address / 4096 + 1) * 4096) - address;
            self.set(pin, if self.misdeed == Misdeed::WrongRow { 8 } else { row });
        }
    }

    fn go(&mut self) {
        let (source, length) = (self.register(SOURCE), self.register(LENGTH) as usize);
        let destination = self.register(DESTINATION);
        let read_bursts = self.cut(source, length);
        let mut write_bursts = self.cut(destination, length);
        if self.misdeed == Misdeed::Between {
            write_bursts.insert(1, (BETWEEN, 0));
        }
        self.engine = Engine {
            running: true,
            destination,
            length,
            skip: (source % 8) as usize,
            read_beats_due: read_bursts.iter().map(|(_, len)| *len as usize + 1).sum(),
            read_bursts,
            write_bursts,
            ..Engine::default()
        };
    }

    /// The beats of a write burst.
    fn beats(&self, address: u64, len: u64) -> Vec<(u64, u64, bool)> {
        let engine = &self.engine;
        (0..=len)
            .map(|beat| {
                let (mut data, mut strobes) = (0, 0);
                for lane in 0..8 {
                    let at = (address + 8 * beat + lane).wrapping_sub(engine.destination) as usize;
                    if at < engine.length {
                        data |= u64::from(engine.data[engine.skip + at]) << (8 * lane);
                        strobes |= 1 << lane;
                    }
                }
                if self.misdeed == Misdeed::Holes {
                    strobes &= 0x3C;
                }
                (data, strobes, beat == len && self.misdeed != Misdeed::NoLast)
            })
            .collect()
    }

    /// Counts announcements of data, and the clocks from each to the beat behind it.
    fn look_out(&mut self) {
        if !self.rows {
            return;
        }
        if let Some(waited) = &mut self.engine.announced {
            *waited += 1;
        }
        if self.get("dma_rvalid_i") == 1
            && let Some(waited) = self.engine.announced.take()
        {
            self.set("status_lead_o", self.get("status_lead_o") + waited);
        }
        if self.get("dma_rearly_i") == 1 {
            assert!(self.get("dma_rvalid_i") == 0, "announced, and there");
            self.count("status_early_o");
            self.engine.announced = Some(0);
        }
    }

    fn dma(&mut self) {
        self.set("irq_o", 0);
        if !self.engine.running {
            return;
        }
        if self.get("dma_arvalid_o") & self.get("dma_arready_i") == 1 {
            self.set("dma_arvalid_o", 0);
        }
        if self.get("dma_arvalid_o") == 0
            && self.steady()
            && let Some((address, len)) = self.engine.read_bursts.pop_front()
        {
            self.set("dma_arvalid_o", 1);
            self.set("dma_araddr_o", address);
            self.set("dma_arlen_o", len);
            self.set("dma_arsize_o", 3);
            self.set("dma_arburst_o", u64::from(self.misdeed != Misdeed::FixedBurst));
            self.set("dma_arid_o", address >> 7 & 0xF);
            self.say_row("dma_aruser_o", address, self.register(SOURCE));
        }
        self.look_out();
        if self.get("dma_rvalid_i") & self.get("dma_rready_o") == 1 {
            self.engine.data.extend(self.get("dma_rdata_i").to_le_bytes());
            self.engine.read_beats_due -= 1;
            if self.get("dma_rresp_i") != 0 {
                self.count("status_errors_o");
            }
        }
        let reading = self.engine.read_beats_due > 0;
        let ready = self.steady();
        self.set("dma_rready_o", (reading && ready).into());
        if reading {
            return;
        }
        if self.get("dma_awvalid_o") & self.get("dma_awready_i") == 1 {
            self.set("dma_awvalid_o", 0);
        } else if self.get("dma_awvalid_o") == 1 && self.misdeed == Misdeed::MoveAddress {
            self.set("dma_awaddr_o", self.get("dma_awaddr_o") ^ 8);
        }
        if self.get("dma_wvalid_o") == 1 {
            if self.get("dma_wready_i") == 1 {
                self.set("dma_wvalid_o", 0);
            } else if self.misdeed == Misdeed::DropData {
                self.set("dma_wvalid_o", 0);
                return;
            }
        }
        if self.get("dma_awvalid_o") == 0
            && self.steady()
            && let Some((address, len)) = self.engine.write_bursts.pop_front()
        {
            self.set("dma_awvalid_o", 1);
            self.set("dma_awaddr_o", address);
            self.set("dma_awlen_o", len);
            self.set("dma_awsize_o", 3);
            self.set("dma_awburst_o", 1);
            self.set("dma_awid_o", 5);
            self.say_row("dma_awuser_o", address, self.register(DESTINATION));
            if len == 0 && self.misdeed == Misdeed::Between && address == BETWEEN {
                self.set("dma_awuser_o", 8);
                self.engine.beats.push_back((!0, 0xFF, true));
            } else {
                let beats = self.beats(address, len);
                self.engine.beats.extend(beats);
            }
            self.engine.answers_due += 1;
        }
        if self.get("dma_wvalid_o") == 0
            && self.steady()
            && let Some((data, strobes, last)) = self.engine.beats.pop_front()
        {
            self.set("dma_wvalid_o", 1);
            self.set("dma_wdata_o", data);
            self.set("dma_wstrb_o", strobes);
            self.set("dma_wlast_o", last.into());
        }
        if self.get("dma_bvalid_i") & self.get("dma_bready_o") == 1 {
            assert_eq!(self.get("dma_bid_i"), 5);
            self.engine.answers_due -= 1;
        }
        let ready = self.steady();
        let done = self.engine.answers_due == 0 && self.engine.write_bursts.is_empty();
        self.set("dma_bready_o", (ready && !done).into());
        if done && self.get("dma_wvalid_o") == 0 {
            self.engine = Engine::default();
            self.count("status_copies_o");
            self.set("irq_o", 2);
        }
    }
}

impl Model for Copier {
    fn description(&self) -> &Description {
        &self.description
    }

    fn pin(&self, index: usize) -> PinStorage {
        self.pins[&self.order[index]].clone()
    }

    fn eval(&mut self, _time: Picoseconds) -> Result<(), String> {
        let clk = self.get(self.clock);
        let rises = clk > self.clk;
        self.clk = clk;
        if self.get("rst_ni") == 0 {
            let outputs: Vec<String> = self.order.clone();
            for name in outputs.iter().filter(|name| name.ends_with("_o")) {
                if !name.starts_with("status") {
                    self.set(name, 0);
                }
            }
            self.writes.clear();
            self.answers = 0;
            self.reads.clear();
            self.engine = Engine::default();
        } else if rises {
            self.bar();
            self.dma();
            if self.rows {
                let soon = self.register(SOON);
                self.set("dma_awsoon_o", soon & 1);
                self.set("dma_arsoon_o", soon >> 1 & 1);
            }
        }
        let engine = &self.engine;
        // A copy whose reads are all in flight waits for inputs alone.
        let reading = engine.read_bursts.is_empty()
            && engine.read_beats_due > 0
            && self.get("dma_arvalid_o") == 0
            && self.get("dma_rvalid_i") == 0
            && self.get("dma_rready_o") == 1;
        let idle = (!engine.running || reading)
            && self.get("irq_o") == 0
            && self.get("rst_ni") == 1
            && self.bar_is_idle();
        self.set("idle_o", idle.into());
        Ok(())
    }
}

pub fn device_config() -> DeviceConfig {
    DeviceConfig {
        name: "fpga".into(),
        model_path: "copier".into(),
        clocks: vec![ClockConfig::new("clk_i", Hertz::from_mhz(250))],
        reset_cycles: 4,
        cfg: BTreeMap::new(),
        epoch_ns: 0,
        trace: None,
        resets: vec![],
        holds: vec![],
    }
}

/// A device that has nothing to do with PCIe.
pub fn bare() -> Box<dyn Model> {
    let whole = Copier::boxed(Misdeed::None);
    Box::new(Bare(whole))
}

struct Bare(Box<dyn Model>);

impl Model for Bare {
    fn description(&self) -> &Description {
        use std::sync::OnceLock;
        static BARE: OnceLock<Description> = OnceLock::new();
        BARE.get_or_init(|| {
            let mut description = self.0.description().clone();
            description.ports.truncate(2);
            description
        })
    }

    fn pin(&self, index: usize) -> PinStorage {
        self.0.pin(index)
    }

    fn eval(&mut self, _time: Picoseconds) -> Result<(), String> {
        Ok(())
    }
}
