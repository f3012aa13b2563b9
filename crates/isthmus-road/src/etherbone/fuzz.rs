// SPDX-License-Identifier: Apache-2.0
//! Random, broken and hostile frames straight onto the wire, each judged by a reference model.
//!
//! After every few frames a valid request must be answered correctly and in bounded time, and every
//! frame must be counted in exactly the status counter that the model names. Replies are compared
//! octet by octet, and the whole RAM word by word: only frames that are valid throughout may have
//! written it.

mod generate;

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::net::Ipv4Addr;

use serde_json::json;

use isthmus_sim::Picoseconds;
use isthmus_sim::world::ethernet::INTERFRAME_GAP_BYTES;

use self::generate::{Generator, Shot};
use super::reference::slave::{RAM_WORDS, SDB, SDB_MAGIC, SDB_WORDS, SILENT, Slave, UNMAPPED};
use super::reference::stack::{Drop, Fate, PAYLOAD, Station};
use super::reference::{compare, hex};
use super::scenario::EtherboneScenario;
use super::wire::Wire;
use crate::error::RoadError;
use crate::measurement::{Checked, Measurement, Samples};
use crate::model::MakeModel;
use crate::watch::Watch;

const HOST_IP: Ipv4Addr = Ipv4Addr::new(192, 168, 10, 1);
/// Frames between two checks, at most.
const MAX_BATCH: u64 = 50;
/// The device may hold up a batch for this long because of slaves that do not answer: in this time
/// the wire brings fewer frames than its buffers take, so that none may be refused.
const MAX_HOLD_UP: Picoseconds = Picoseconds::from_us(14);
/// Time limit of a batch beyond its time on the wire.
const MARGIN: Picoseconds = Picoseconds::from_us(100);
const GAP_NS: u64 = 4_000;
/// The whole RAM is compared once per this many frames.
const RAM_PERIOD: u32 = 5_000;
/// Reads of one frame at most, so that the rest of a message fits.
const RAM_READS: usize = 255;
const STORM_PERIOD: u64 = 40;

/// One frame that was sent.
struct Sent {
    index: u32,
    shot: Shot,
    fate: Fate,
    /// When it was put onto the wire, or into its queue.
    since_ns: u64,
}

#[derive(Default)]
struct Tally {
    classes: BTreeMap<&'static str, u64>,
    sent: u64,
    answered: u64,
    /// Times that everything was compared.
    checks: u64,
    wire_bytes: u64,
    words: u64,
    bytes: u64,
    counts: BTreeMap<&'static str, u64>,
}

/// Runs `frames` of them.
pub(super) fn run(
    scenario: &EtherboneScenario,
    make_model: MakeModel<'_>,
    watch: &Watch,
    frames: u32,
) -> Result<Measurement, RoadError> {
    let wire = Wire::build(scenario, make_model, watch, frames)?;
    let station = Station::new(&scenario.device);
    let generator = Generator::new(wire.simulation.random("fuzz"), station.lite);
    let mut fuzz = Fuzz {
        seed: scenario.seed,
        slave: Slave::new(&station),
        station,
        generator,
        batch: Vec::new(),
        hold_up: Picoseconds::ZERO,
        timeout: Picoseconds::ZERO,
        answered_after: Picoseconds::ZERO,
        storm: false,
        on_wire: Picoseconds::ZERO,
        status: wire.device.status(),
        tally: Tally::default(),
        next: 0,
        wire,
    };
    fuzz.prepare()?;
    while fuzz.next < frames {
        let before = fuzz.next;
        fuzz.batch(frames)?;
        fuzz.wire.simulation.count_transfers((fuzz.next - before).into());
    }
    fuzz.compare_ram()?;
    fuzz.finish(scenario, frames)
}

struct Fuzz {
    wire: Wire,
    seed: u64,
    station: Station,
    slave: Slave,
    generator: Generator,
    batch: Vec<Sent>,
    /// How long slaves that do not answer may hold this batch up.
    hold_up: Picoseconds,
    /// Maximum cost of one of them.
    timeout: Picoseconds,
    /// How long after the last request its reply came.
    answered_after: Picoseconds,
    /// The batch is one that the device may refuse frames of.
    storm: bool,
    /// How long the batch takes on the wire.
    on_wire: Picoseconds,
    status: BTreeMap<String, u64>,
    tally: Tally,
    next: u32,
}

impl Fuzz {
    /// The contents of the RAM and the table, and the cost of a silent slave, are known.
    fn prepare(&mut self) -> Result<(), RoadError> {
        for base in (0..RAM_WORDS).step_by(RAM_READS) {
            let count = RAM_READS.min(RAM_WORDS - base);
            let mut words = vec![0x4E6F_1044, 0xA80F_0000 | (count as u32) << 8, 4 * base as u32];
            words.extend((0..count).map(|_| self.generator.below(1 << 32) as u32));
            self.ask(&words)?;
        }
        let mut words = vec![0x4E6F_1044, 0xA80F_0000 | SDB_WORDS as u32, 0x8000];
        words.extend((0..SDB_WORDS as u32).map(|word| SDB + 4 * word));
        let table = self.ask(&words)?;
        let values = if self.station.lite { 4 } else { 3 };
        self.slave.sdb = table.get(values..).unwrap_or_default().to_vec();
        if self.slave.sdb.first() != Some(&SDB_MAGIC) {
            return self
                .violation("the device's self-description does not begin with its magic", None);
        }
        // An error either way; only a slave that never answers makes it a time-out.
        self.slave.uncertain = true;
        self.ask(&[0x4E6F_1044, 0xA80F_0001, 0x8000, SILENT])?;
        self.slave.silent = self.status.get("eb_timeouts").is_some_and(|count| *count > 0);
        if self.slave.silent {
            self.timeout = self.answered_after;
        }
        Ok(())
    }

    /// Some frames, then a request, then a check of everything.
    fn batch(&mut self, frames: u32) -> Result<(), RoadError> {
        if self.slave.silent && self.generator.below(STORM_PERIOD) == 0 {
            return self.storm_batch(frames);
        }
        let size = 1 + self.generator.below(MAX_BATCH);
        let mut back_to_back = true;
        for _ in 0..size {
            if self.next >= frames {
                break;
            }
            // Sometimes from another sender, which may be denied.
            let ip = match self.generator.below(12) {
                0 => Ipv4Addr::from(self.generator.below(1 << 32) as u32),
                _ => self.host_ip(),
            };
            let shot = self.generator.shot(&self.station, ip);
            if self.generator.below(8) == 0 {
                back_to_back = !back_to_back;
            }
            self.send(shot)?;
            if !back_to_back {
                let gap = Picoseconds::from_ns(self.generator.below(GAP_NS));
                self.wire.simulation.run_for(gap)?;
            }
            if self.batch.last().is_some_and(|sent| changes_senders(&sent.fate)) {
                // The allowed senders are known once this frame has been served.
                self.settle()?;
                return self.check();
            }
            if self.hold_up > MAX_HOLD_UP {
                break;
            }
        }
        self.check()
    }

    /// More frames behind a slave that never answers than the device can hold: it must drop frames
    /// completely.
    fn storm_batch(&mut self, frames: u32) -> Result<(), RoadError> {
        self.storm = true;
        let ip = self.host_ip();
        let shot = self.generator.hold_up(&self.station, ip, 40);
        self.send(shot)?;
        let longest = self.generator.below(2) == 0;
        for _ in 0..60.min(frames - self.next) {
            let reads = if longest { 200 + self.generator.below(56) } else { 1 };
            let shot = self.generator.reads(&self.station, ip, reads as usize);
            self.send(shot)?;
        }
        self.settle()?;
        self.check()
    }

    fn check(&mut self) -> Result<(), RoadError> {
        self.tally.checks += 1;
        let (mut words, errors) = (self.check_request(), [0xE80F_0002, 0x8001, 0, 4]);
        if self.station.lite {
            // One record a message.
            self.ask(&words)?;
            words.truncate(1);
        }
        words.extend(errors);
        self.ask(&words)?;
        if self.next / RAM_PERIOD > self.next.saturating_sub(MAX_BATCH as u32) / RAM_PERIOD {
            self.compare_ram()?;
        }
        Ok(())
    }

    /// Writes two words, reads them and others back, provokes an error and reads the error register.
    fn check_request(&mut self) -> Vec<u32> {
        let address = 4 * self.generator.below(RAM_WORDS as u64 - 2) as u32;
        let mut words = vec![0x4E6F_1044, 0xA80F_0207, address];
        words.extend((0..2).map(|_| self.generator.below(1 << 32) as u32));
        words.extend([self.next, address, address + 4, UNMAPPED, SDB]);
        words.extend((0..3).map(|_| 4 * self.generator.below(RAM_WORDS as u64) as u32));
        words
    }

    fn compare_ram(&mut self) -> Result<(), RoadError> {
        for base in (0..RAM_WORDS).step_by(RAM_READS) {
            let count = RAM_READS.min(RAM_WORDS - base);
            let mut words = vec![0x4E6F_1044, 0xA80F_0000 | count as u32, 0x8000];
            words.extend((base..base + count).map(|word| 4 * word as u32));
            self.ask(&words)?;
        }
        Ok(())
    }

    /// Sends a valid request behind all frames in flight; it must be answered. Returns the words of
    /// its reply.
    fn ask(&mut self, words: &[u32]) -> Result<Vec<u32>, RoadError> {
        let ip = self.host_ip();
        let shot = self.generator.request(&self.station, ip, words);
        self.put(shot, self.next)?;
        self.settle()
    }

    /// An address that the device listens to.
    fn host_ip(&self) -> Ipv4Addr {
        let entry = self.station.allow.iter().find(|entry| entry.enable);
        entry.map_or(HOST_IP, |entry| {
            Ipv4Addr::from(entry.ip & entry.mask | u32::from(HOST_IP) & !entry.mask)
        })
    }

    /// Sends a frame of the test itself.
    fn send(&mut self, shot: Shot) -> Result<(), RoadError> {
        *self.tally.classes.entry(shot.class.name()).or_default() += 1;
        let index = self.next;
        self.next += 1;
        self.put(shot, index)
    }

    fn put(&mut self, shot: Shot, index: u32) -> Result<(), RoadError> {
        let fate = self.station.receive(&shot.wire, shot.error_at);
        let silent = |word: &[u8]| word[..2] == [0, 0x50] || word[..3] == [0, 0x4f, 0xff];
        let payload = shot.wire.get(8 + PAYLOAD..).unwrap_or_default();
        let count = payload.chunks_exact(4).filter(|word| silent(word)).count() as u64;
        self.hold_up += Picoseconds(self.timeout.0 * count);
        let octets = shot.wire.len() as u64 + INTERFRAME_GAP_BYTES;
        self.on_wire += Picoseconds::from_ns(8 * octets);
        self.tally.sent += 1;
        self.tally.wire_bytes += octets;
        let since_ns = self.wire.time_ns();
        let sent = self.wire.endpoint.send_wire_marked(shot.wire.clone(), shot.error_at);
        self.batch.push(Sent { index, shot, fate, since_ns });
        match sent {
            Some(_) => Ok(()),
            None => self.violation("the wire's queue is full", None),
        }
    }

    /// Waits until nothing moves, and compares everything that happened with what had to. The words
    /// of the last reply.
    fn settle(&mut self) -> Result<Vec<u32>, RoadError> {
        let begin = self.wire.simulation.now();
        // Requests and replies share no wire, but a reply may wait for the whole of its request.
        let bound = Picoseconds(2 * self.on_wire.0) + self.hold_up + MARGIN;
        if !self.wire.rest(bound)? {
            let what = format!("the device is not at rest after {bound}");
            return self.violation(&what, None);
        }
        let mut replies = Replies::default();
        for frame in self.wire.endpoint.take() {
            replies.add(frame.bytes);
            self.answered_after = frame.time - begin;
        }
        if let Err((what, sent)) = self.judge(&mut replies) {
            return self.violation(&what, sent);
        }
        self.batch.clear();
        self.storm = false;
        (self.hold_up, self.on_wire) = Default::default();
        Ok(replies.last)
    }

    /// Walks through the batch in its order.
    fn judge(&mut self, replies: &mut Replies) -> Result<(), (String, Option<usize>)> {
        let until = self.wire.time_ns();
        let mut expected = Expected { replies: replies.count(), ..Expected::default() };
        let before = (self.slave.errors_seen, self.slave.timeouts);
        for number in 0..self.batch.len() {
            let sent = &self.batch[number];
            match &sent.fate {
                Fate::Dropped(reason) => {
                    expected.add(reason.counter());
                    if matches!(reason, Drop::Fcs | Drop::Size | Drop::Ip | Drop::Udp) {
                        self.slave.forget_errors();
                    }
                }
                // The device answers one of each kind at a time.
                Fate::Arp(reply) | Fate::Icmp(reply) => {
                    let (queue, counter) = match sent.fate {
                        Fate::Arp(_) => (&mut replies.arp, "arp_replies"),
                        _ => (&mut replies.icmp, "icmp_replies"),
                    };
                    if queue.front() == Some(reply) {
                        queue.pop_front();
                        self.tally.bytes += reply.len() as u64;
                        self.tally.answered += 1;
                        expected.add("rx_good");
                        expected.add(counter);
                    } else {
                        expected.add("rx_busy");
                    }
                }
                Fate::Datagram(datagram)
                    if datagram.broadcast && !self.slave.is_probe(&datagram.words) =>
                {
                    expected.add("rx_good");
                    expected.add("drop_broadcast");
                }
                Fate::Datagram(datagram) if !self.slave.is_message(&datagram.words) => {
                    expected.add("rx_good");
                    expected.add("drop_malformed");
                    self.slave.forget_errors();
                }
                Fate::Datagram(datagram) => {
                    let ours =
                        replies.udp.front().is_some_and(|reply| datagram.is_answered_by(reply));
                    if self.storm && !ours {
                        expected.missed += 1;
                        self.slave.forget_errors();
                        continue;
                    }
                    expected.add("rx_good");
                    let since = sent.since_ns;
                    let words = self.slave.serve(&datagram.words, &mut self.station);
                    let Some(words) = words else { continue };
                    let fail = |what: String| Err((what, Some(number)));
                    let Some(reply) = replies.udp.pop_front() else {
                        return fail("no reply to this valid request".to_owned());
                    };
                    match compare(&self.station, datagram, &words, &reply, since, until) {
                        Ok(words) => replies.last = words,
                        Err(what) => return fail(what),
                    }
                    self.tally.words += words.len() as u64;
                    self.tally.bytes += reply.len() as u64;
                    self.tally.answered += 1;
                }
            }
        }
        if let Some(frame) = replies.left() {
            return Err((format!("the device sent an unexpected frame: {}", hex(frame)), None));
        }
        if !std::mem::take(&mut self.slave.uncertain) {
            expected.bus =
                Some((self.slave.errors_seen - before.0, self.slave.timeouts - before.1));
        }
        self.compare_counters(&expected)
    }

    /// Every frame is counted in exactly the counter that it belongs to.
    fn compare_counters(&mut self, expected: &Expected) -> Result<(), (String, Option<usize>)> {
        let now = self.wire.device.status();
        let before = std::mem::replace(&mut self.status, now);
        let moved = |name: &str| {
            let value = |status: &BTreeMap<String, u64>| status.get(name).copied().unwrap_or(0);
            u64::from((value(&self.status) as u32).wrapping_sub(value(&before) as u32))
        };
        let overflow = moved("drop_overflow");
        let refused = moved("drop_refused");
        let mut pairs =
            vec![("drop_refused and drop_overflow", expected.missed, refused + overflow)];
        for name in COUNTERS {
            let mut count = expected.counts.get(name).copied().unwrap_or(0);
            if name == "rx_good" {
                // Received well, but the service had no room for it.
                count += overflow;
            }
            pairs.push((name, count, moved(name)));
        }
        pairs.push(("tx_frames", expected.replies, moved("tx_frames")));
        if let Some((errors, timeouts)) = expected.bus {
            pairs.push(("eb_bus_errors", errors, moved("eb_bus_errors")));
            pairs.push(("eb_timeouts", timeouts, moved("eb_timeouts")));
        }
        let wrong: Vec<_> = pairs.iter().filter(|(_, must, found)| must != found).collect();
        if !wrong.is_empty() {
            let list: Vec<_> = wrong
                .iter()
                .map(|(name, must, found)| format!("{name} changed by {found} instead of {must}"))
                .collect();
            // A frame that the device counted elsewhere is one of those that miss here.
            let short = wrong.iter().find(|(_, must, found)| must > found).map(|(name, ..)| *name);
            let of = |sent: &Sent| match &sent.fate {
                Fate::Dropped(reason) => Some(reason.counter()) == short,
                _ => short == Some("rx_good"),
            };
            let suspect = self.batch.iter().position(of);
            return Err((list.join(", "), suspect));
        }
        for (name, count) in &expected.counts {
            *self.tally.counts.entry(name).or_default() += count;
        }
        *self.tally.counts.entry("drop_refused").or_default() += refused;
        *self.tally.counts.entry("drop_overflow").or_default() += overflow;
        Ok(())
    }

    /// Ends the run: the seed, the frame's number and its octets make it happen again.
    fn violation<T>(&self, what: &str, sent: Option<usize>) -> Result<T, RoadError> {
        let seed = self.seed;
        let frames = match (sent.and_then(|at| self.batch.get(at)), self.batch.as_slice()) {
            (Some(sent), _) => {
                let (class, wire) = (sent.shot.class.name(), hex(&sent.shot.wire));
                let mark = sent.shot.error_at.map(|at| format!(", rx_er from octet {at}"));
                format!("frame {} ({class}{}): {wire}", sent.index, mark.unwrap_or_default())
            }
            (None, [first, .., last]) => {
                let wire = hex(&last.shot.wire);
                format!("frames {} to {}; last: {wire}", first.index, last.index)
            }
            (None, [one]) => format!("frame {}: {}", one.index, hex(&one.shot.wire)),
            (None, []) => "no frame".to_owned(),
        };
        Err(RoadError::Violation(format!("fuzz: seed {seed}: {what}: {frames}")))
    }

    fn finish(self, scenario: &EtherboneScenario, frames: u32) -> Result<Measurement, RoadError> {
        let Tally { classes, sent, answered, checks, words, bytes, counts, wire_bytes } =
            self.tally;
        // Each frame is in one of the counters of the device's receive side, and in no second one.
        let received: u64 = counts
            .iter()
            .filter(|(name, _)| !NOT_RECEIVED.contains(*name))
            .map(|(_, count)| count)
            .sum();
        if received != sent {
            let what = format!("{sent} frames sent, {received} counted");
            return Err(RoadError::Violation(format!("fuzz: seed {}: {what}", self.seed)));
        }
        let workload = json!({
            "frames": frames,
            "iterations": frames,
            "operations_per_cycle": 1,
            "topology": "direct",
            "classes": classes,
            "sent": sent,
            "answered": answered,
            "checks": checks,
            "checked_words": words,
            "wrong": 0,
            "outcomes": counts,
            "wire_bytes": wire_bytes,
            "silent_slave": self.slave.silent,
        });
        let checked = Checked { bytes, wrong: 0, lost: 0 };
        let samples = Samples::new()?;
        let made = self.wire.measurement(scenario, "fuzz", workload, &samples, None, checked);
        Ok(Measurement { iterations: u64::from(frames), ..made })
    }
}

/// The receive counters, of which the model names one for each frame, and the outcomes of frames
/// that were received correctly.
const COUNTERS: [&str; 15] = [
    "rx_good",
    "rx_busy",
    "rx_other",
    "drop_size",
    "drop_fcs",
    "drop_mac",
    "drop_ip",
    "drop_denied",
    "drop_port",
    "drop_udp",
    "drop_align",
    "drop_malformed",
    "drop_broadcast",
    "arp_replies",
    "icmp_replies",
];
/// The additional counters of a frame that has another outcome.
const NOT_RECEIVED: [&str; 4] = ["drop_malformed", "drop_broadcast", "arp_replies", "icmp_replies"];

#[derive(Default)]
struct Expected {
    counts: BTreeMap<&'static str, u64>,
    missed: u64,
    replies: u64,
    /// Bus errors and time-outs, where the model knows all operations that were done.
    bus: Option<(u64, u64)>,
}

impl Expected {
    fn add(&mut self, counter: &'static str) {
        *self.counts.entry(counter).or_default() += 1;
    }
}

/// Frames from the device, by kind.
#[derive(Default)]
struct Replies {
    udp: VecDeque<Vec<u8>>,
    arp: VecDeque<Vec<u8>>,
    icmp: VecDeque<Vec<u8>>,
    other: VecDeque<Vec<u8>>,
    /// The words of the datagram that was answered last.
    last: Vec<u32>,
}

impl Replies {
    fn add(&mut self, frame: Vec<u8>) {
        let queue = match (&frame[12..14], frame[23]) {
            ([8, 6], _) => &mut self.arp,
            ([8, 0], 17) => &mut self.udp,
            ([8, 0], 1) => &mut self.icmp,
            _ => &mut self.other,
        };
        queue.push_back(frame);
    }

    fn count(&self) -> u64 {
        [&self.udp, &self.arp, &self.icmp, &self.other].iter().map(|q| q.len() as u64).sum()
    }

    fn left(&self) -> Option<&Vec<u8>> {
        [&self.other, &self.udp, &self.arp, &self.icmp].iter().find_map(|queue| queue.front())
    }
}

/// True if serving this frame may change the allowed senders.
fn changes_senders(fate: &Fate) -> bool {
    let near = |word: &u32| word >> 20 == 4 || word >> 12 == 0x3FF;
    matches!(fate, Fate::Datagram(datagram) if datagram.words.iter().any(near))
}
