// SPDX-License-Identifier: Apache-2.0
//! Serial links between devices: the transceivers and the cable of each, from pins to pins.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::faults::FaultCounters;
use super::line::{Line, LineFaults};
use super::word::{Token, Word};
use crate::kernel::{DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, Sim, SimError};

/// A link that is without signal for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireCut {
    /// From which clock on.
    pub at: u64,
    /// For how many.
    pub clocks: u64,
}

/// One link, both directions.
#[derive(Clone, Debug, Default)]
pub struct WireConfig {
    /// Its name, which its random streams have.
    pub name: String,
    /// Clocks from pins to pins: both transceivers and the cable.
    pub hop_clocks: u64,
    /// Random faults in both directions.
    pub faults: LineFaults,
    /// When it is down.
    pub cuts: Vec<WireCut>,
}

/// An end of a packet at a device's pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketMark {
    /// The clock edge at which the pins showed it.
    pub time: Picoseconds,
    /// Into the device; else out of it.
    pub inward: bool,
    /// The port.
    pub port: usize,
    /// The first word, else the last.
    pub first: bool,
    /// First word of a packet only: the number of data words that follow.
    pub header: [u32; HEADER_WORDS],
}

/// Data words at a packet's begin that its mark holds.
pub const HEADER_WORDS: usize = 4;

/// The ends of packets that were seen.
#[derive(Default)]
struct Watched {
    marks: Vec<PacketMark>,
    /// For each port, out and in: the mark of the packet in progress, and how much of its header
    /// has passed.
    open: Vec<[Option<(usize, usize)>; 2]>,
}

impl Watched {
    fn see(&mut self, word: Word, time: Picoseconds, port: usize, inward: bool) {
        let Some(open) = self.open.get_mut(port).map(|both| &mut both[usize::from(inward)]) else {
            return;
        };
        let first = match word.token() {
            Token::Data(data) => {
                if let Some((mark, seen)) = open
                    && let Some(place) = self.marks[*mark].header.get_mut(*seen)
                {
                    *place = data;
                    *seen += 1;
                }
                return;
            }
            Token::Sop { .. } => true,
            Token::Eop(_) | Token::Edb(_) => false,
            _ => return,
        };
        *open = first.then_some((self.marks.len(), 0));
        self.marks.push(PacketMark { time, inward, port, first, header: [0; HEADER_WORDS] });
    }
}

struct Direction {
    line: Line,
    /// Words of packets so far.
    packet_words: u64,
    cuts: Vec<WireCut>,
    now: u64,
    target: Rc<Side>,
    port: usize,
}

struct Side {
    name: String,
    period: Picoseconds,
    /// The next word at each port's pins.
    shown: Vec<Cell<Option<Word>>>,
    outgoing: RefCell<Vec<Option<Direction>>>,
    faults: RefCell<FaultCounters>,
    watched: RefCell<Option<Watched>>,
}

/// The serial ports of a device, each to be connected to another's.
#[derive(Clone)]
pub struct SerialPorts {
    sim: Sim,
    side: Rc<Side>,
}

impl SerialPorts {
    /// Attaches to the bundle `serdes` of a device; its pins belong to `clock`.
    ///
    /// # Errors
    /// When it has no such clock, or no such pins for this number of ports.
    pub fn attach(
        sim: &Sim,
        device: &DeviceHandle,
        clock: &str,
        ports: usize,
    ) -> Result<Self, SimError> {
        let count = ports as u32;
        let period = device.clock_period(clock).unwrap_or_default();
        let side = Rc::new(Side {
            name: device.name().to_owned(),
            period,
            shown: vec![Cell::new(None); ports],
            outgoing: RefCell::new((0..ports).map(|_| None).collect()),
            faults: RefCell::default(),
            watched: RefCell::default(),
        });
        let agent = Agent {
            data: device.input("serdes_rx_data_i", 32 * count)?,
            k: device.input("serdes_rx_k_i", 4 * count)?,
            signal: device.input("serdes_signal_i", count)?,
            send: device.output("serdes_tx_data_o", 32 * count)?,
            send_k: device.output("serdes_tx_k_o", 4 * count)?,
            side: Rc::clone(&side),
        };
        device.attach(clock, Box::new(agent))?;
        Ok(Self { sim: sim.clone(), side })
    }

    /// Puts a link between two ports.
    ///
    /// # Errors
    /// When a port does not exist or is taken, the clocks differ, or a rate is not a probability.
    pub fn connect(
        &self,
        port: usize,
        other: &Self,
        other_port: usize,
        config: &WireConfig,
    ) -> Result<(), SimError> {
        let wrong = |reason: String| Err(crate::world::config_error(&config.name, reason));
        let LineFaults { bit_error_rate, credit_loss_rate, credit_corrupt_rate } = config.faults;
        for rate in [bit_error_rate, credit_loss_rate, credit_corrupt_rate] {
            if !(0.0..=1.0).contains(&rate) {
                return wrong(format!("a rate of {rate} is not a probability: 0 to 1 expected"));
            }
        }
        if self.side.period != other.side.period {
            let (one, two) = (self.side.period, other.side.period);
            return wrong(format!("words come every {one} and every {two}: one clock expected"));
        }
        let ends = [(self, port, other, other_port), (other, other_port, self, port)];
        for (side, port, ..) in ends {
            match side.side.outgoing.borrow().get(port) {
                Some(None) => {}
                Some(Some(_)) => {
                    return wrong(format!("port {port} of {} has a link", side.side.name));
                }
                None => return wrong(format!("{} has no port {port}", side.side.name)),
            }
        }
        let mut cuts = config.cuts.clone();
        cuts.sort_by_key(|cut| std::cmp::Reverse(cut.at));
        for (side, port, far, far_port) in ends {
            let random = self.sim.random(&format!("{}.{}", config.name, side.side.name));
            let watched = !cuts.is_empty();
            // Pins show a word a clock before it is sampled.
            let length = config.hop_clocks.saturating_sub(1).max(1) as usize;
            side.side.outgoing.borrow_mut()[port] = Some(Direction {
                line: Line::new(length, config.faults, watched, 0, random),
                packet_words: 0,
                cuts: cuts.clone(),
                now: 0,
                target: Rc::clone(&far.side),
                port: far_port,
            });
        }
        Ok(())
    }

    /// Remembers the ends of packets at these pins from now on, or no more.
    pub fn watch(&self, on: bool) {
        let ports = self.side.shown.len();
        *self.side.watched.borrow_mut() =
            on.then(|| Watched { marks: Vec::new(), open: vec![[None; 2]; ports] });
    }

    /// The ends of packets since the last call.
    #[must_use]
    pub fn take_marks(&self) -> Vec<PacketMark> {
        let mut watched = self.side.watched.borrow_mut();
        let Some(watched) = watched.as_mut() else { return Vec::new() };
        // The rest of a packet that is in progress belongs to a mark that is no longer here.
        watched.open.fill([None; 2]);
        std::mem::take(&mut watched.marks)
    }

    /// Time for which each port has been busy so far with words of packets out of this device.
    #[must_use]
    pub fn busy(&self) -> Vec<Picoseconds> {
        let outgoing = self.side.outgoing.borrow();
        let words = outgoing.iter().map(|way| way.as_ref().map_or(0, |way| way.packet_words));
        words.map(|words| self.side.period * words).collect()
    }

    /// Faults injected into words out of this device.
    #[must_use]
    pub fn faults(&self) -> FaultCounters {
        *self.side.faults.borrow()
    }
}

struct Agent {
    data: InputPin,
    k: InputPin,
    signal: InputPin,
    send: OutputPin,
    send_k: OutputPin,
    side: Rc<Side>,
}

impl Side {
    #[cold]
    fn see(&self, word: Word, time: Picoseconds, port: usize, inward: bool) {
        if let Some(watched) = &mut *self.watched.borrow_mut() {
            watched.see(word, time, port, inward);
        }
    }
}

impl PinAgent for Agent {
    #[inline]
    fn sample(&mut self, time: Picoseconds) {
        let flags = self.send_k.get();
        let side = &*self.side;
        let watched = side.watched.borrow().is_some();
        let faults = &mut *side.faults.borrow_mut();
        for (port, direction) in side.outgoing.borrow_mut().iter_mut().enumerate() {
            let Some(direction) = direction else { continue };
            let word = Word { data: self.send.word(port), k: (flags >> (4 * port)) as u8 & 0xF };
            if watched {
                side.see(word, time, port, false);
            }
            while let Some(cut) = direction.cuts.pop_if(|cut| cut.at <= direction.now) {
                direction.line.cut(direction.now, cut.clocks, faults);
                faults.resets += 1;
            }
            let came = direction.line.pass(word, direction.now, faults);
            direction.now += 1;
            direction.packet_words += u64::from(word.is_of_packet());
            direction.target.shown[direction.port].set(came);
        }
    }

    #[inline]
    fn drive(&mut self, time: Picoseconds) {
        let side = &*self.side;
        let watched = side.watched.borrow().is_some();
        let (mut flags, mut signal) = (0, 0);
        for (port, shown) in side.shown.iter().enumerate() {
            let word = shown.get();
            // Without a signal a transceiver's words mean nothing.
            let shown = word.unwrap_or(Word::INVALID);
            if watched {
                side.see(shown, time, port, true);
            }
            flags |= u64::from(shown.k) << (4 * port);
            signal |= u64::from(word.is_some()) << port;
            self.data.set_word(port, shown.data);
        }
        self.k.set(flags);
        self.signal.set(signal);
    }

    fn quiet(&self) -> bool {
        // A link is never silent.
        false
    }
}
