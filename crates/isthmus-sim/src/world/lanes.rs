// SPDX-License-Identifier: Apache-2.0
//! Lines between the link ends of devices: a word of every lane of each link in each clock, through the
//! bundle `serdes`. A line delays words by whole clocks and may alter bits; its lanes are in step.

use std::cell::RefCell;
use std::rc::Rc;

use super::link::Word;
use super::link::word::Token;
use crate::kernel::{
    DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, RandomStream, SimError,
};

/// Lanes of a link.
pub const LANES: usize = 4;

/// Bits of a word at a transceiver's user side: 32 of data, 4 K flags.
const WORD_BITS: u64 = 36;
const LINE_BITS: u64 = WORD_BITS * LANES as u64;
const FLAGS: u32 = 4;

/// One clock of a link, all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Words {
    data: [u32; LANES],
    /// Four bits a lane.
    k: u16,
}

impl Words {
    const IDLE: Self = {
        let Word { data, k } = Word::IDLE;
        Self { data: [data; LANES], k: k as u16 * 0x1111 }
    };

    fn lane0(&self) -> Word {
        Word { data: self.data[0], k: (self.k & 0xF) as u8 }
    }

    fn flip(&mut self, bit: u64) {
        let (lane, bit) = ((bit / WORD_BITS) as usize, (bit % WORD_BITS) as u32);
        if bit < 32 {
            self.data[lane] ^= 1 << bit;
        } else {
            self.k ^= 1 << (FLAGS * lane as u32 + bit - 32);
        }
    }
}

/// Clocks in which a line has carried something, by what it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Data of packets.
    pub data: u64,
    /// Begins and ends of packets.
    pub framing: u64,
    /// Credits of the other direction, and checks of them.
    pub credits: u64,
    /// Marks by which lanes are aligned.
    pub aligns: u64,
}

/// One direction of a link.
pub struct LaneLine {
    /// By clock, modulo the line's length.
    ring: Vec<Words>,
    counts: LineCounts,
    rate: f64,
    /// Bits to the next one that is altered.
    next_error: u64,
    random: RandomStream,
    wrong_bits: u64,
}

impl LaneLine {
    /// A line of so many clocks, at least one, that begins without errors.
    #[must_use]
    pub fn new(clocks: u64, random: RandomStream) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            ring: vec![Words::IDLE; clocks.max(1) as usize],
            counts: LineCounts::default(),
            rate: 0.0,
            next_error: u64::MAX,
            random,
            wrong_bits: 0,
        }))
    }

    /// From now on each bit, of 36 a word and lane, is altered with this probability.
    pub fn spoil(&mut self, rate: f64) {
        self.rate = rate;
        self.next_error = self.random.failures_before_success(rate);
    }

    /// What it has carried.
    #[must_use]
    pub fn counts(&self) -> LineCounts {
        self.counts
    }

    /// Bits that were altered.
    #[must_use]
    pub fn wrong_bits(&self) -> u64 {
        self.wrong_bits
    }

    #[inline]
    fn put(&mut self, place: usize, mut words: Words) {
        match words.lane0().token() {
            Token::Data(_) => self.counts.data += 1,
            Token::Sop { .. } | Token::Eop(_) | Token::Edb(_) => self.counts.framing += 1,
            Token::Credit { .. } | Token::Check { .. } => self.counts.credits += 1,
            Token::Align => self.counts.aligns += 1,
            Token::Idle | Token::Init { .. } | Token::Invalid => {}
        }
        while self.next_error < LINE_BITS {
            words.flip(self.next_error);
            self.wrong_bits += 1;
            let gap = self.random.failures_before_success(self.rate);
            self.next_error = self.next_error.saturating_add(1).saturating_add(gap);
        }
        self.next_error = self.next_error.saturating_sub(LINE_BITS);
        self.ring[place] = words;
    }
}

/// A device's end of a link: the line out of it and the one into it, of the same length.
#[derive(Clone)]
pub struct LaneEnd {
    /// From the device.
    pub out: Rc<RefCell<LaneLine>>,
    /// To it.
    pub into: Rc<RefCell<LaneLine>>,
}

/// Moves words between a device's bundle `serdes` and its lines, once a clock. Every lane has its signal.
pub struct LanePins {
    ends: Vec<LaneEnd>,
    /// This clock's number, modulo the clocks of the lines.
    place: usize,
    clocks: usize,
    receive: InputPin,
    receive_k: InputPin,
    send: OutputPin,
    send_k: OutputPin,
}

impl LanePins {
    /// Ties the ends of links, in the order of the device's, to its pins. All lines have one length.
    ///
    /// # Errors
    /// When the device has no such pins for this number of links.
    pub fn attach(device: &DeviceHandle, ends: Vec<LaneEnd>) -> Result<(), SimError> {
        let lanes = (LANES * ends.len()) as u32;
        let clocks = ends.first().map_or(1, |end| end.out.borrow().ring.len());
        let signal = device.input("serdes_signal_i", lanes)?;
        signal.set(1_u64.checked_shl(lanes).unwrap_or(0).wrapping_sub(1));
        let agent = Self {
            ends,
            place: 0,
            clocks,
            receive: device.input("serdes_rx_data_i", 32 * lanes)?,
            receive_k: device.input("serdes_rx_k_i", FLAGS * lanes)?,
            send: device.output("serdes_tx_data_o", 32 * lanes)?,
            send_k: device.output("serdes_tx_k_o", FLAGS * lanes)?,
        };
        device.attach("clk_i", Box::new(agent))
    }
}

impl PinAgent for LanePins {
    fn sample(&mut self, _time: Picoseconds) {
        for (number, end) in self.ends.iter().enumerate() {
            let words = Words {
                data: std::array::from_fn(|lane| self.send.word(LANES * number + lane)),
                k: (self.send_k.word(number / 2) >> (16 * (number % 2))) as u16,
            };
            end.out.borrow_mut().put(self.place, words);
        }
    }

    fn drive(&mut self, _time: Picoseconds) {
        // The next place is the oldest: what was sent so many clocks ago.
        self.place = if self.place + 1 == self.clocks { 0 } else { self.place + 1 };
        for (pair, ends) in self.ends.chunks(2).enumerate() {
            let mut flags = 0;
            for (half, end) in ends.iter().enumerate() {
                let words = end.into.borrow().ring[self.place];
                for (lane, value) in words.data.iter().enumerate() {
                    self.receive.set_word(LANES * (2 * pair + half) + lane, *value);
                }
                flags |= u32::from(words.k) << (16 * half);
            }
            self.receive_k.set_word(pair, flags);
        }
    }

    fn quiet(&self) -> bool {
        // A line is never silent.
        false
    }
}
