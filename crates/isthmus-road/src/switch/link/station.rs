// SPDX-License-Identifier: Apache-2.0
//! A network interface connected to a switch port: packets wait in a queue for each output until
//! there is credit for them, and a sink takes and checks what arrives.

use std::collections::VecDeque;

use super::end::{End, EndConfig, Feed, Next, Received, Rooms, round_robin};
use super::ledger::Ledger;
use super::traffic::{HEADER_WORDS, Packet, Source};
use isthmus_sim::world::link::Key;
use isthmus_sim::world::link::word::{Crc24, Word};

/// How an interface is made.
#[derive(Clone, Copy, Debug)]
pub struct StationConfig {
    /// Its end of the link.
    pub end: EndConfig,
    /// Clocks from a packet's making to its first word at the transceiver, at least.
    pub transmit_clocks: u64,
    /// Words of its receive buffer.
    pub sink_depth: u16,
    /// The longest queue that has credit is served, lengths rounded to powers of two and equal ones
    /// in turn; else all in turn.
    pub longest_first: bool,
}

/// Words 0 to 5 of a packet, and when it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Which packet.
    pub key: Key,
    /// Its data words.
    pub words: u16,
    /// When it was made, and when it left the source: clocks, modulo 2^32 as all here.
    pub created: u32,
    /// First word at the source's transceiver.
    pub left: u32,
    /// Time stamps of the switch.
    pub entered: u32,
    /// First word out of the switch.
    pub departed: u32,
    /// First word at the sink's transceiver.
    pub arrived: u32,
}

/// The first byte of a packet's first word.
const MARK: u32 = 0xB5;

#[inline]
fn header(source: u8, destination: u8) -> u32 {
    MARK << 24 | u32::from(destination) << 16 | u32::from(source) << 8
}

/// Expected data word `index` of a packet, from its seventh on.
#[inline]
fn filler(key: Key, index: u16) -> u32 {
    let flow = u32::from(key.source) << 8 | u32::from(key.destination);
    let mixed = (key.sequence ^ flow << 20).wrapping_mul(0x9E37_79B1) ^ u32::from(index) << 13;
    let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x85EB_CA6B);
    mixed ^ mixed >> 13
}

#[derive(Clone, Copy)]
struct Queued {
    created: u64,
    words: u16,
    sequence: u32,
}

struct Sending {
    key: Key,
    words: u16,
    at: u16,
    created: u32,
    left: u32,
    crc: Crc24,
}

struct Arriving {
    key: Key,
    at: u16,
    stamps: [u32; 4],
    arrived: u32,
    right: bool,
    first_difference: Option<(u16, u32, u32)>,
}

/// A queue longer than this blocks its source: a run that needs more is far beyond saturation.
const QUEUE_MOST: usize = 1 << 18;

/// The source side: what waits to be sent.
struct Queues {
    port: u8,
    queues: Vec<VecDeque<Queued>>,
    waiting: u64,
    turn: u32,
    packets: usize,
    words: u64,
    sending: Option<Sending>,
    bench: bool,
    longest_first: bool,
}

impl Queues {
    /// Which queue of those that wait is served next.
    #[inline]
    fn choose(&self, candidates: u64, rooms: &Rooms<'_>) -> Option<(u32, Queued)> {
        let mut left = candidates;
        let mut best: Option<(u32, Queued, u32)> = None;
        while left != 0 {
            let queue = round_robin(left, self.turn);
            left &= !(1 << queue);
            let waiting = &self.queues[queue as usize];
            let head = *waiting.front()?;
            let class = usize::BITS - waiting.len().leading_zeros();
            let longer = best.is_none_or(|(_, _, most)| class > most);
            if longer && rooms.of(queue as usize) > head.words {
                best = Some((queue, head, class));
                if !self.longest_first {
                    break;
                }
            }
        }
        best.map(|(queue, head, _)| (queue, head))
    }
}

impl Feed for Queues {
    #[inline]
    fn begin(&mut self, rooms: &Rooms<'_>, now: u64) -> Option<u8> {
        let (chosen, head) = self.choose(self.waiting, rooms)?;
        let id = chosen as usize;
        self.queues[id].pop_front();
        self.packets -= 1;
        self.words -= u64::from(head.words);
        if self.queues[id].is_empty() {
            self.waiting &= !(1 << id);
        }
        self.turn = chosen + 1;
        let (source, destination) = (self.port, chosen as u8);
        self.sending = Some(Sending {
            key: Key { source, destination, sequence: head.sequence },
            words: head.words,
            at: 0,
            created: head.created as u32,
            left: now as u32,
            crc: Crc24::default(),
        });
        Some(destination)
    }

    #[inline]
    fn next(&mut self, _now: u64) -> Next {
        let Some(packet) = &mut self.sending else { return Next::Edb(0) };
        if packet.at == packet.words {
            let crc24 = packet.crc.value();
            self.sending = None;
            return Next::Eop(crc24);
        }
        let word = match packet.at {
            0 => header(packet.key.source, packet.key.destination),
            1 => packet.key.sequence,
            2 => packet.created,
            3 => packet.left,
            4 | 5 if self.bench => 0,
            at => filler(packet.key, at),
        };
        packet.at += 1;
        packet.crc.add(word);
        Next::Data(word)
    }
}

/// One network interface.
pub struct Station {
    end: End,
    source: Source,
    next: Option<Packet>,
    backlog: Option<u32>,
    queues: Queues,
    transmit_clocks: u64,
    sink: Sink,
    depth: u16,
}

struct Sink {
    port: u8,
    stored: u16,
    stalled_until: u64,
    arriving: Option<Arriving>,
    bench: bool,
    overruns: u64,
}

impl Station {
    /// An interface at port `port` of a switch with `ports` ports.
    #[must_use]
    pub fn new(port: usize, ports: usize, mut source: Source, config: &StationConfig) -> Self {
        let backlog = source.backlog();
        let next = if backlog.is_none() { source.next(0) } else { None };
        let bench = config.end.bench;
        Self {
            end: End::new(config.end),
            source,
            next,
            backlog,
            queues: Queues {
                port: port as u8,
                queues: (0..ports).map(|_| VecDeque::new()).collect(),
                waiting: 0,
                turn: port as u32,
                packets: 0,
                words: 0,
                sending: None,
                bench,
                longest_first: config.longest_first,
            },
            transmit_clocks: config.transmit_clocks,
            sink: Sink {
                port: port as u8,
                stored: 0,
                stalled_until: 0,
                arriving: None,
                bench,
                overruns: 0,
            },
            depth: config.sink_depth,
        }
    }

    /// Its end of the link.
    #[must_use]
    pub fn end(&self) -> &End {
        &self.end
    }

    /// Data words that wait to be sent.
    #[must_use]
    pub fn waiting_words(&self) -> u64 {
        self.queues.words
    }

    /// Words that came without credit: the remote end broke the rules of credit.
    #[must_use]
    pub fn overruns(&self) -> u64 {
        self.sink.overruns
    }

    /// True if its source has no more packets and none is waiting.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.next.is_none()
            && self.backlog.is_none()
            && self.queues.packets == 0
            && self.queues.sending.is_none()
    }

    /// No more packets are made.
    pub fn stop(&mut self) {
        self.next = None;
        self.backlog = None;
    }

    /// The sink takes nothing before this clock.
    pub fn stall_until(&mut self, clock: u64) {
        self.sink.stalled_until = clock;
    }

    /// One clock, first half: a word in, which is valid at the receiver's pins since before this
    /// clock.
    #[inline]
    pub fn receive(
        &mut self,
        word: Option<Word>,
        now: u64,
        ledger: &mut Ledger,
        deliveries: &mut Vec<Delivery>,
    ) {
        self.make(now, ledger);
        let received = self.end.receive(word);
        if received != Received::default() {
            self.take(received, now, ledger, deliveries);
        }
        if self.sink.stored > 0 && now >= self.sink.stalled_until {
            self.sink.stored -= 1;
            self.end.free(0, 1);
        }
    }

    /// Its second half: a word out, which is valid at the transmitter's pins from this clock on.
    #[inline]
    pub fn transmit(&mut self, now: u64) -> Word {
        self.end.transmit(&mut self.queues, now)
    }

    #[inline]
    fn make(&mut self, now: u64, ledger: &mut Ledger) {
        if let Some(backlog) = self.backlog {
            while self.queues.packets < backlog as usize {
                match self.source.next(now) {
                    Some(packet) => self.enqueue(packet, ledger),
                    None => {
                        self.backlog = None;
                        break;
                    }
                }
            }
        }
        while let Some(packet) = self.next
            && packet.created + self.transmit_clocks <= now
            && self.queues.packets < QUEUE_MOST
        {
            self.enqueue(packet, ledger);
            self.next = self.source.next(now);
        }
    }

    fn enqueue(&mut self, packet: Packet, ledger: &mut Ledger) {
        let Packet { created, destination, words } = packet;
        let sequence = ledger.create(self.queues.port, destination, words);
        self.queues.queues[usize::from(destination)].push_back(Queued { created, words, sequence });
        self.queues.waiting |= 1 << destination;
        self.queues.packets += 1;
        self.queues.words += u64::from(words);
    }

    fn take(
        &mut self,
        received: Received,
        now: u64,
        ledger: &mut Ledger,
        deliveries: &mut Vec<Delivery>,
    ) {
        if let Some(ended) = received.ended
            && let Some(packet) = self.sink.arriving.take()
        {
            if packet.at > 0 {
                self.sink.stored += 1;
            }
            if ended.good {
                self.sink.judge(&packet, ledger, deliveries);
            } else {
                ledger.tally.bad += 1;
            }
        }
        if received.restarted {
            self.end.holds(0, self.sink.stored);
            self.queues.sending = None;
        }
        if received.begun.is_some() {
            self.sink.begin(now);
        }
        if let Some(data) = received.data {
            // Its packet's end must fit behind it.
            if self.sink.stored + 2 > self.depth {
                self.sink.overruns += 1;
                if self.sink.arriving.take().is_some_and(|packet| packet.at > 0) {
                    self.sink.stored += 1;
                }
                self.end.refuse();
                ledger.tally.bad += 1;
            } else {
                self.sink.stored += 1;
                self.end.kept(0);
                self.sink.word(data);
            }
        }
    }
}

impl Sink {
    fn begin(&mut self, now: u64) {
        self.arriving = Some(Arriving {
            key: Key { source: 0, destination: 0, sequence: 0 },
            at: 0,
            stamps: [0; 4],
            arrived: now as u32,
            right: true,
            first_difference: None,
        });
    }

    #[inline]
    fn word(&mut self, data: u32) {
        let Some(packet) = &mut self.arriving else { return };
        let wanted = match packet.at {
            0 => {
                packet.key.source = (data >> 8) as u8;
                packet.key.destination = (data >> 16) as u8;
                header(packet.key.source, self.port)
            }
            1 => {
                packet.key.sequence = data;
                data
            }
            at @ (2 | 3) => {
                packet.stamps[usize::from(at) - 2] = data;
                data
            }
            at @ (4 | 5) if self.bench => {
                packet.stamps[usize::from(at) - 2] = data;
                data
            }
            at => filler(packet.key, at),
        };
        if wanted != data && packet.right {
            packet.right = false;
            packet.first_difference = Some((packet.at, data, wanted));
        }
        packet.at += 1;
    }

    fn judge(&self, packet: &Arriving, ledger: &mut Ledger, deliveries: &mut Vec<Delivery>) {
        let key = packet.key;
        if !packet.right || packet.at < HEADER_WORDS {
            let (words, port, found) = (packet.at, self.port, packet.first_difference);
            return ledger.wrong(|| {
                format!("{key:?} at port {port}, {words} words: (index, is, must be) {found:?}")
            });
        }
        ledger.deliver(key, packet.at);
        let [created, left, entered, departed] = packet.stamps;
        let (words, arrived) = (packet.at, packet.arrived);
        deliveries.push(Delivery { key, words, created, left, entered, departed, arrived });
    }
}
