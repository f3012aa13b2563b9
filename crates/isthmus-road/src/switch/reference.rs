// SPDX-License-Identifier: Apache-2.0
//! Our own model of the switch, word by word: a buffer for each pair of input and output, filled as
//! packets come, and emptied by an independent round robin at each output (docs/explanation/switch-model.md).
//!
//! It has the same wire protocol as the gateware, so the same network connects to it. It shares no
//! code with the gateware.

use isthmus_sim::world::link::Word;

use super::link::end::{EndConfig, Ended};
use super::link::{End, Feed, Next, Rooms};

/// How the model is made.
pub(super) struct ReferenceConfig {
    pub(super) ports: usize,
    /// Words of each buffer.
    pub(super) depth: u16,
    pub(super) max_words: u16,
    /// Clocks from pins to pins of the idle switch.
    pub(super) latency: u64,
    pub(super) end: EndConfig,
}

#[derive(Clone, Copy)]
enum Stored {
    Data(u32),
    Eop(u32),
    Edb(u32),
}

/// One pair's buffer.
struct Crosspoint {
    ring: Box<[(u64, Stored)]>,
    read: usize,
    stored: u16,
}

impl Crosspoint {
    fn push(&mut self, visible: u64, word: Stored) {
        let place = (self.read + usize::from(self.stored)) % self.ring.len();
        self.ring[place] = (visible, word);
        self.stored += 1;
    }

    fn head(&self, now: u64) -> Option<Stored> {
        let (visible, word) = self.ring[self.read];
        (self.stored > 0 && visible <= now).then_some(word)
    }

    fn pop(&mut self) {
        self.read = (self.read + 1) % self.ring.len();
        self.stored -= 1;
    }
}

struct Input {
    /// Data words of the packet in progress, and when it entered.
    words: u16,
    entered: u64,
    output: usize,
}

/// One output: its column of buffers, and the round robin over them.
struct Output {
    column: Vec<Crosspoint>,
    occupied: u64,
    turn: u32,
    sending: Option<usize>,
    words: u16,
    left: u64,
    /// Its link went down inside a packet: the rest of it is thrown away.
    discarding: Option<usize>,
    popped: Option<usize>,
    max_words: u16,
}

impl Output {
    fn take(&mut self, input: usize, now: u64) -> Option<Stored> {
        let crosspoint = &mut self.column[input];
        let word = crosspoint.head(now)?;
        crosspoint.pop();
        if crosspoint.stored == 0 {
            self.occupied &= !(1 << input);
        }
        self.popped = Some(input);
        Some(word)
    }
}

impl Feed for Output {
    #[inline]
    fn begin(&mut self, rooms: &Rooms<'_>, now: u64) -> Option<u8> {
        if self.occupied == 0 || self.discarding.is_some() || rooms.of(0) <= self.max_words {
            return None;
        }
        let mut candidates = self.occupied;
        while candidates != 0 {
            let ahead = candidates & (u64::MAX << (self.turn & 63));
            let input = (if ahead != 0 { ahead } else { candidates }).trailing_zeros();
            if self.column[input as usize].head(now).is_some() {
                self.turn = input + 1;
                self.sending = Some(input as usize);
                (self.words, self.left) = (0, now);
                return Some(0);
            }
            candidates &= !(1 << input);
        }
        None
    }

    #[inline]
    fn next(&mut self, now: u64) -> Next {
        let Some(input) = self.sending else { return Next::Edb(0) };
        match self.take(input, now) {
            None => Next::Gap,
            Some(Stored::Data(data)) => {
                self.words += 1;
                Next::Data(if self.words == 6 { self.left as u32 } else { data })
            }
            Some(Stored::Eop(crc24)) => {
                self.sending = None;
                Next::Eop(crc24)
            }
            Some(Stored::Edb(crc24)) => {
                self.sending = None;
                Next::Edb(crc24)
            }
        }
    }
}

/// The switch.
pub(super) struct Reference {
    config: ReferenceConfig,
    ends: Vec<End>,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    now: u64,
}

impl Reference {
    pub(super) fn new(config: ReferenceConfig) -> Self {
        let ports = config.ports;
        let crosspoint = || Crosspoint {
            ring: vec![(0, Stored::Data(0)); usize::from(config.depth)].into_boxed_slice(),
            read: 0,
            stored: 0,
        };
        Self {
            ends: (0..ports).map(|_| End::new(config.end)).collect(),
            inputs: (0..ports).map(|_| Input { words: 0, entered: 0, output: 0 }).collect(),
            outputs: (0..ports)
                .map(|_| Output {
                    column: (0..ports).map(|_| crosspoint()).collect(),
                    occupied: 0,
                    turn: 0,
                    sending: None,
                    words: 0,
                    left: 0,
                    discarding: None,
                    popped: None,
                    max_words: config.max_words,
                })
                .collect(),
            now: 0,
            config,
        }
    }

    /// One clock: `rx` was valid at the pins before it, `tx` is from it on.
    pub(super) fn step(&mut self, rx: &[Option<Word>], tx: &mut [Word]) {
        let now = self.now;
        for (port, word) in rx.iter().enumerate() {
            self.receive(port, *word, now);
        }
        for (port, word) in tx.iter_mut().enumerate() {
            let output = &mut self.outputs[port];
            *word = self.ends[port].transmit(output, now);
            if let Some(input) = output.discarding
                && let Some(Stored::Eop(_) | Stored::Edb(_)) = output.take(input, now)
            {
                output.discarding = None;
            }
            if let Some(input) = output.popped.take() {
                self.ends[input].free(port, 1);
            }
        }
        self.now += 1;
    }

    #[inline]
    fn receive(&mut self, port: usize, word: Option<Word>, now: u64) {
        let received = self.ends[port].receive(word);
        if let Some(ended) = received.ended {
            self.end(port, ended, now);
        }
        if received.restarted {
            for (id, output) in self.outputs.iter().enumerate() {
                self.ends[port].holds(id, output.column[port].stored);
            }
            let output = &mut self.outputs[port];
            output.discarding = output.sending.take().or(output.discarding);
        }
        if let Some(output) = received.begun {
            // It has been valid at the pins for a clock.
            let (words, entered, output) = (0, now - 1, usize::from(output));
            self.inputs[port] = Input { words, entered, output };
        }
        if let Some(data) = received.data {
            let Input { words, entered, output } = self.inputs[port];
            if self.outputs[output].column[port].stored + 2 > self.config.depth {
                self.ends[port].refuse();
                let bad = Ended { crc24: 0, good: false, poisoned: false };
                return self.end(port, bad, now);
            }
            self.ends[port].kept(output);
            self.inputs[port].words += 1;
            let data = if words == 4 { entered as u32 } else { data };
            self.store(port, Stored::Data(data), now);
        }
    }

    fn end(&mut self, port: usize, ended: Ended, now: u64) {
        // A packet without a data word is not stored.
        if self.inputs[port].words > 0 {
            let end = if ended.good { Stored::Eop } else { Stored::Edb };
            self.store(port, end(ended.crc24), now);
            self.inputs[port].words = 0;
        }
    }

    fn store(&mut self, port: usize, word: Stored, now: u64) {
        let output = &mut self.outputs[self.inputs[port].output];
        output.column[port].push(now + self.config.latency - 2, word);
        output.occupied |= 1 << port;
    }
}
