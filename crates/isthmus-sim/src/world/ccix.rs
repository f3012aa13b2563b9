// SPDX-License-Identifier: Apache-2.0
//! CCIX's transport: packets over a PCIe physical layer, between the CCIX interface of an FPGA's hard block and
//! a host's port.
//!
//! A packet is the payload of a TLP, in words of 64 bits; what the words mean is the business of both ends. The
//! hard block sends a packet when its last beat has come. Its buffer is as many beats as it gives credits for. It
//! delivers packets one behind the other; what fills one up to 16 bytes is a word of zeros.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pcie::{FRAMING_BYTES, Generation};
use super::{config_error, time};
use crate::kernel::{DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, Sim, SimError};

/// Words of a beat: 512 bits.
pub const BEAT_WORDS: usize = 8;
const WORD_BYTES: usize = 8;
/// At the FPGA's interface packets begin at multiples of 16 bytes, inside a beat as well.
const GRANULE_WORDS: usize = 2;

/// The transport's constants, the same in both directions but for the ports' times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixTransport {
    /// Generation of the physical layer, 1 to 4.
    #[schemars(range(min = 1, max = 4))]
    pub generation: u32,
    /// Its lanes.
    #[schemars(range(min = 1, max = 16))]
    pub lanes: u32,
    /// The share of symbols that packets cannot use: SKP ordered sets, DLLPs.
    #[schemars(range(min = 0.0, max = 0.99))]
    pub reserved_share: f64,
    /// A packet's header: CCIX's optimised one, or the 16 bytes of a PCIe message.
    #[schemars(range(min = 4, max = 16))]
    pub header_bytes: u32,
    /// Pins to pins.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub propagation_ns: f64,
    /// The FPGA's hard block: a packet's last beat to its first symbol on a free link.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub device_transmit_ns: f64,
    /// The FPGA's hard block: a packet's last symbol to its first beat.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub device_receive_ns: f64,
    /// The host's port: a packet given to it to its first symbol on a free link.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub host_transmit_ns: f64,
    /// The host's port: a packet's last symbol to the packet at the home.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub host_receive_ns: f64,
    /// Beats that the FPGA's hard block holds for the link: its credits.
    #[schemars(range(min = 1, max = 31))]
    pub block_beats: u32,
    /// The longest packet that the host makes.
    #[schemars(range(min = 128, max = 512))]
    pub packet_bytes: u32,
    /// The most messages that the host puts into one.
    #[schemars(range(min = 1, max = 31))]
    pub packet_messages: u32,
}

impl CcixTransport {
    fn generation(&self) -> Option<Generation> {
        match self.generation {
            1 => Some(Generation::Gen1),
            2 => Some(Generation::Gen2),
            3 => Some(Generation::Gen3),
            4 => Some(Generation::Gen4),
            _ => None,
        }
    }

    /// Femtoseconds of a byte on the link.
    #[must_use]
    pub fn byte_fs(&self) -> f64 {
        let lane = self.generation().map_or(f64::NAN, Generation::lane_bit_s);
        8e15 / (lane * f64::from(self.lanes) * (1.0 - self.reserved_share))
    }

    /// Bytes on the link for a packet of so many words: framing, header, payload.
    #[must_use]
    pub fn wire_bytes(&self, words: usize) -> u64 {
        FRAMING_BYTES + u64::from(self.header_bytes) + (words * WORD_BYTES) as u64
    }
}

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the FPGA to the host.
    Up,
    /// Back.
    Down,
}

/// One packet on the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// Its last beat was taken, or the host gave it to its port.
    pub handed: Picoseconds,
    /// First symbol on the link.
    pub start: Picoseconds,
    /// Last symbol on the link.
    pub end: Picoseconds,
    /// At the home, or at the FPGA's interface.
    pub delivered: Picoseconds,
    /// Its words.
    pub words: Vec<u64>,
}

/// What one direction carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Packets.
    pub packets: u64,
    /// Bytes, framing and headers included.
    pub wire_bytes: u64,
}

struct Lane {
    transmit: Picoseconds,
    propagation: Picoseconds,
    receive: Picoseconds,
    byte_fs: f64,
    /// The link is free, in femtoseconds.
    free_fs: f64,
    carried: Carried,
    records: Vec<PacketRecord>,
}

impl Lane {
    /// Sends a packet of `bytes` on the link: when it begins, ends, and is delivered.
    fn send(&mut self, now: Picoseconds, bytes: u64) -> [Picoseconds; 3] {
        let ready = ((now + self.transmit).0 * 1_000) as f64;
        let start = self.free_fs.max(ready);
        self.free_fs = start + bytes as f64 * self.byte_fs;
        self.carried.packets += 1;
        self.carried.wire_bytes += bytes;
        let up = |fs: f64| Picoseconds((fs / 1e3).ceil() as u64);
        let end = up(self.free_fs);
        [up(start), end, end + self.propagation + self.receive]
    }

    /// When the entry of the sending block is free for the next packet.
    fn entry_free(&self) -> Picoseconds {
        Picoseconds((self.free_fs / 1e3).ceil() as u64).saturating_sub(self.transmit)
    }
}

/// Takes the packets that arrive at the host.
pub type Home = Box<dyn Fn(&[u64])>;

struct Shared {
    sim: Sim,
    config: CcixTransport,
    up: RefCell<Lane>,
    down: RefCell<Lane>,
    remembers: Cell<bool>,
    home: RefCell<Option<Home>>,
    /// Messages that wait at the host.
    waiting: RefCell<VecDeque<Vec<u64>>>,
    awaits: Cell<bool>,
    /// Words at the FPGA's interface, and from when on.
    words: RefCell<VecDeque<(Picoseconds, u64)>>,
    /// How often the link went down, and whether it is.
    lives: Cell<u64>,
    is_down: Cell<bool>,
}

/// The link with both its ends.
#[derive(Clone)]
pub struct CcixLink(Rc<Shared>);

impl CcixLink {
    /// A link.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn new(sim: &Sim, config: &CcixTransport) -> Result<Self, SimError> {
        let name = "ccix";
        let byte_fs = config.byte_fs();
        if !(byte_fs.is_finite() && (1.0..1e9).contains(&byte_fs)) {
            return Err(config_error(name, format!("a byte lasts {byte_fs} fs")));
        }
        let propagation = time(name, "propagation_ns", config.propagation_ns)?;
        let lane = |from, to| -> Result<RefCell<Lane>, SimError> {
            Ok(RefCell::new(Lane {
                transmit: time(name, "transmit_ns", from)?,
                propagation,
                receive: time(name, "receive_ns", to)?,
                byte_fs,
                free_fs: 0.0,
                carried: Carried::default(),
                records: Vec::new(),
            }))
        };
        Ok(Self(Rc::new(Shared {
            sim: sim.clone(),
            config: *config,
            up: lane(config.device_transmit_ns, config.host_receive_ns)?,
            down: lane(config.host_transmit_ns, config.device_receive_ns)?,
            remembers: Cell::new(false),
            home: RefCell::default(),
            waiting: RefCell::default(),
            awaits: Cell::new(false),
            words: RefCell::default(),
            lives: Cell::new(0),
            is_down: Cell::new(false),
        })))
    }

    /// Sets what takes packets at the host.
    pub fn serve(&self, home: Home) {
        *self.0.home.borrow_mut() = Some(home);
    }

    /// Switches recording of packets on or off; earlier records are dropped.
    pub fn remember(&self, on: bool) {
        self.0.remembers.set(on);
        for lane in [&self.0.up, &self.0.down] {
            lane.borrow_mut().records.clear();
        }
    }

    /// The packets recorded of one direction.
    #[must_use]
    pub fn records(&self, way: Way) -> Vec<PacketRecord> {
        self.0.lane(way).borrow().records.clone()
    }

    /// What one direction carried so far.
    #[must_use]
    pub fn carried(&self, way: Way) -> Carried {
        self.0.lane(way).borrow().carried
    }

    /// The FPGA is gone with its end of the link: all that is not at the other end is lost, and what is sent until
    /// [`CcixLink::raise`] too.
    pub fn fall(&self) {
        self.0.lives.set(self.0.lives.get() + 1);
        self.0.is_down.set(true);
        self.0.waiting.borrow_mut().clear();
        self.0.words.borrow_mut().clear();
    }

    /// The link is up again.
    pub fn raise(&self) {
        self.0.is_down.set(false);
    }

    /// A message of the host. Those that wait while the link is busy share packets.
    pub fn send(&self, message: Vec<u64>) {
        if self.0.is_down.get() {
            return;
        }
        self.0.waiting.borrow_mut().push_back(message);
        self.0.pump();
    }
}

impl Shared {
    fn lane(&self, way: Way) -> &RefCell<Lane> {
        match way {
            Way::Up => &self.up,
            Way::Down => &self.down,
        }
    }

    fn transmit(&self, way: Way, words: &[u64]) -> [Picoseconds; 3] {
        let now = self.sim.now();
        let mut lane = self.lane(way).borrow_mut();
        let [start, end, delivered] = lane.send(now, self.config.wire_bytes(words.len()));
        if self.remembers.get() {
            let words = words.to_vec();
            lane.records.push(PacketRecord { handed: now, start, end, delivered, words });
        }
        [start, end, delivered]
    }

    /// A packet of the FPGA: it goes to the home. When it begins on the link, and when it ends.
    fn up(self: &Rc<Self>, words: Vec<u64>) -> (Picoseconds, Picoseconds) {
        let [start, end, delivered] = self.transmit(Way::Up, &words);
        let (shared, life) = (Rc::clone(self), self.lives.get());
        self.sim.at(delivered, move || {
            if shared.lives.get() != life {
                return;
            }
            if let Some(home) = &*shared.home.borrow() {
                home(&words);
            }
        });
        (start, end)
    }

    /// Sends what waits at the host, as soon as the port takes a packet.
    fn pump(self: &Rc<Self>) {
        if self.awaits.get() || self.waiting.borrow().is_empty() {
            return;
        }
        let free = self.down.borrow().entry_free();
        if free > self.sim.now() {
            self.awaits.set(true);
            let shared = Rc::clone(self);
            self.sim.at(free, move || {
                shared.awaits.set(false);
                shared.pump();
            });
            return;
        }
        let most = self.config.packet_bytes as usize / WORD_BYTES;
        let mut packet = Vec::new();
        for _ in 0..self.config.packet_messages {
            let mut waiting = self.waiting.borrow_mut();
            let fits = |next: &Vec<u64>| packet.is_empty() || packet.len() + next.len() <= most;
            if !waiting.front().is_some_and(fits) {
                break;
            }
            packet.extend(waiting.pop_front().unwrap_or_default());
        }
        let [.., delivered] = self.transmit(Way::Down, &packet);
        packet.resize(packet.len().next_multiple_of(GRANULE_WORDS), 0);
        self.words.borrow_mut().extend(packet.into_iter().map(|word| (delivered, word)));
        self.pump();
    }
}

/// The CCIX interface of the hard block, at the bundle `cxs` of a device.
pub struct CcixPins {
    link: Rc<Shared>,
    period: Picoseconds,
    /// When the hard block gives back the credits of beats that it took.
    returns: VecDeque<Picoseconds>,
    packet: Vec<u64>,
    reset: InputPin,
    /// What the device has given for beats to it.
    credits: u32,
    tx_valid: OutputPin,
    tx_last: OutputPin,
    tx_words: OutputPin,
    tx_data: OutputPin,
    tx_credit: InputPin,
    rx_valid: InputPin,
    rx_words: InputPin,
    rx_data: InputPin,
    rx_credit: OutputPin,
}

impl CcixPins {
    /// Attaches it.
    ///
    /// # Errors
    /// When the device has no such pins.
    pub fn attach(device: &DeviceHandle, link: &CcixLink) -> Result<(), SimError> {
        let bits = (64 * BEAT_WORDS) as u32;
        let agent = Self {
            link: Rc::clone(&link.0),
            period: device.clock_period("clk_i").unwrap_or_default(),
            returns: (0..link.0.config.block_beats).map(|_| Picoseconds::ZERO).collect(),
            packet: Vec::new(),
            credits: 0,
            reset: device.input("rst_ni", 1)?,
            tx_valid: device.output("cxs_tx_valid_o", 1)?,
            tx_last: device.output("cxs_tx_last_o", 1)?,
            tx_words: device.output("cxs_tx_words_o", 4)?,
            tx_data: device.output("cxs_tx_data_o", bits)?,
            tx_credit: device.input("cxs_tx_credit_i", 1)?,
            rx_valid: device.input("cxs_rx_valid_i", 1)?,
            rx_words: device.input("cxs_rx_words_i", 4)?,
            rx_data: device.input("cxs_rx_data_i", bits)?,
            rx_credit: device.output("cxs_rx_credit_o", 1)?,
        };
        device.attach("clk_i", Box::new(agent))
    }

    /// The credits of a packet's beats come back as its bytes leave the block's entry.
    fn give_back(&mut self, beats: usize, start: Picoseconds, end: Picoseconds) {
        let transmit = self.link.up.borrow().transmit;
        let each = (end - start).0 / beats as u64;
        let entry = start.saturating_sub(transmit);
        self.returns.extend((1..=beats as u64).map(|beat| entry + Picoseconds(beat * each)));
    }
}

impl PinAgent for CcixPins {
    fn sample(&mut self, _time: Picoseconds) {
        self.credits += self.rx_credit.get() as u32;
        if self.tx_valid.get() == 0 {
            return;
        }
        let words = (self.tx_words.get() as usize).min(BEAT_WORDS);
        let word = |at: usize| {
            let [low, high] = [self.tx_data.word(2 * at), self.tx_data.word(2 * at + 1)];
            u64::from(high) << 32 | u64::from(low)
        };
        self.packet.extend((0..words).map(word));
        if self.tx_last.get() != 0 {
            let packet = std::mem::take(&mut self.packet);
            let beats = packet.len().div_ceil(BEAT_WORDS).max(1);
            let (start, end) = self.link.up(packet);
            self.give_back(beats, start, end);
        }
    }

    fn drive(&mut self, time: Picoseconds) {
        let next = time + self.period;
        if self.reset.get() == 0 {
            // All of the FPGA begins anew, and the hard block with it.
            self.packet.clear();
            self.credits = 0;
            self.returns.clear();
            self.returns.extend((0..self.link.config.block_beats).map(|_| Picoseconds::ZERO));
            self.tx_credit.set(0);
            self.rx_valid.set(0);
            return;
        }
        let credit = self.returns.front().is_some_and(|due| *due <= next);
        if credit {
            self.returns.pop_front();
        }
        self.tx_credit.set(u64::from(credit));
        let mut words = self.link.words.borrow_mut();
        let here = words.iter().take(BEAT_WORDS).take_while(|word| word.0 <= next).count();
        let go = self.credits > 0 && here > 0;
        self.rx_valid.set(u64::from(go));
        if go {
            self.credits -= 1;
            self.rx_words.set(here as u64);
            for (at, (_, word)) in words.drain(..here).enumerate() {
                self.rx_data.set_word(2 * at, word as u32);
                self.rx_data.set_word(2 * at + 1, (word >> 32) as u32);
            }
        }
    }

    fn quiet(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEN4_X8: CcixTransport = CcixTransport {
        generation: 4,
        lanes: 8,
        reserved_share: 0.0,
        header_bytes: 4,
        propagation_ns: 1.0,
        device_transmit_ns: 90.0,
        device_receive_ns: 90.0,
        host_transmit_ns: 80.0,
        host_receive_ns: 80.0,
        block_beats: 8,
        packet_bytes: 256,
        packet_messages: 31,
    };

    fn link(config: CcixTransport) -> (crate::Simulation, CcixLink) {
        let simulation = crate::Simulation::new(crate::SimConfig {
            seed: 1,
            skip_idle: false,
            check_idle: false,
            idle_confirm_cycles: 4,
            wake_cycles: 4,
            simulated_limit_ps: None,
            wall_limit_ms: None,
        });
        let link = CcixLink::new(&simulation.handle(), &config).unwrap();
        link.remember(true);
        (simulation, link)
    }

    #[test]
    fn a_packet_of_256_bytes_lasts_17_ns_on_gen4_x8() {
        // 16 GT/s * 8 * 128/130 / 8 = 15.754 GB/s.
        assert!((GEN4_X8.byte_fs() / 63_476.6 - 1.0).abs() < 1e-5, "{}", GEN4_X8.byte_fs());
        assert_eq!(GEN4_X8.wire_bytes(32), 268);
        assert_eq!(CcixTransport { header_bytes: 16, ..GEN4_X8 }.wire_bytes(9), 96);
    }

    #[test]
    fn messages_that_wait_share_a_packet_and_the_first_goes_alone() {
        let (simulation, link) = link(GEN4_X8);
        (0..10).for_each(|number| link.send(vec![number; 9]));
        simulation.run_for(Picoseconds::from_us(1)).unwrap();
        let records = link.records(Way::Down);
        let words: Vec<usize> = records.iter().map(|one| one.words.len()).collect();
        assert_eq!(words, [9, 27, 27, 27]);
        let first = &records[0];
        assert_eq!(first.start - first.handed, Picoseconds::from_ns(80));
        assert_eq!(first.delivered - first.end, Picoseconds::from_ns(91));
        for pair in records.windows(2) {
            assert!(pair[1].start - pair[0].end <= Picoseconds(1_000), "the link stays busy");
        }
    }

    #[test]
    fn a_link_that_falls_loses_what_is_under_way_and_what_is_sent_until_it_is_raised() {
        let (simulation, link) = link(GEN4_X8);
        let came = Rc::new(RefCell::new(Vec::new()));
        let taken = Rc::clone(&came);
        link.serve(Box::new(move |words| taken.borrow_mut().extend_from_slice(words)));
        link.0.up(vec![1]);
        simulation.run_for(Picoseconds::from_us(1)).unwrap();
        link.0.up(vec![2]);
        link.send(vec![3]);
        link.fall();
        link.send(vec![4]);
        simulation.run_for(Picoseconds::from_us(1)).unwrap();
        assert!(link.0.words.borrow().is_empty());
        link.raise();
        link.0.up(vec![5]);
        link.send(vec![6]);
        simulation.run_for(Picoseconds::from_us(1)).unwrap();
        assert_eq!(*came.borrow(), [1, 5]);
        let words: Vec<u64> = link.0.words.borrow().iter().map(|one| one.1).collect();
        assert_eq!(words, [6, 0]);
    }

    #[test]
    fn one_message_a_packet_where_there_is_no_packing() {
        let (simulation, link) = link(CcixTransport { packet_messages: 1, ..GEN4_X8 });
        (0..4).for_each(|number| link.send(vec![number; 9]));
        simulation.run_for(Picoseconds::from_us(1)).unwrap();
        assert_eq!(link.carried(Way::Down), Carried { packets: 4, wire_bytes: 4 * 84 });
        let words: Vec<u64> = link.records(Way::Down).iter().map(|one| one.words[0]).collect();
        assert_eq!(words, [0, 1, 2, 3]);
    }
}
