// SPDX-License-Identifier: Apache-2.0
//! One direction of a cable with its transceivers: its length in words, and its faults.

use std::collections::VecDeque;

use super::faults::{FaultLog, Key};
use super::word::{Token, Word, off_lane};
use crate::kernel::RandomStream;

/// Random faults.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LineFaults {
    /// The probability that a bit is wrong, of the 36 of a word.
    pub bit_error_rate: f64,
    /// The probability that a CREDIT or CHECK never comes.
    pub credit_loss_rate: f64,
    /// The probability that one comes with a wrong bit.
    pub credit_corrupt_rate: f64,
}

const BITS: u64 = 36;
/// A receiver needs this long for a word: a packet that is out of the line may still be in there.
const IN_RECEIVER: u64 = 16;

/// One direction of a link.
pub struct Line {
    ring: Box<[Option<Word>]>,
    at: usize,
    down_until: u64,
    /// The transceiver has seen a comma since it has a signal.
    aligned: bool,
    faults: Option<Box<Faulty>>,
}

struct Faulty {
    rates: LineFaults,
    random: RandomStream,
    /// Bits until the next wrong one.
    next_error: u64,
    watch: Tracker,
    /// Which of a bundle's lanes it is.
    lane: usize,
    /// Every packet before this clock is hit.
    disturbed_until: u64,
}

impl Line {
    /// A line of `length` words, at least 1, for lane `lane` of a link. Where `watched`, it knows which
    /// packet each fault hits.
    #[must_use]
    pub fn new(
        length: usize,
        faults: LineFaults,
        watched: bool,
        lane: usize,
        random: RandomStream,
    ) -> Self {
        let faulty = faults != LineFaults::default() || watched;
        let faults = faulty.then(|| {
            let mut random = random;
            let next_error = random.failures_before_success(faults.bit_error_rate);
            let watch = Tracker::default();
            Box::new(Faulty { rates: faults, random, next_error, watch, lane, disturbed_until: 0 })
        });
        let ring = vec![None; length.max(1)].into_boxed_slice();
        Self { ring, at: 0, down_until: 0, aligned: false, faults }
    }

    /// The line carries nothing for this many clocks, and words in flight are lost.
    pub fn cut(&mut self, now: u64, clocks: u64, log: &mut impl FaultLog) {
        self.down_until = now + clocks;
        if let Some(faults) = &mut self.faults {
            let since = now.saturating_sub(self.ring.len() as u64 + IN_RECEIVER);
            faults.watch.hit_since(since, log);
        }
    }

    /// The line gets this many words longer, or shorter: it slips. Packets until `until` may be
    /// lost for it.
    pub fn slip(&mut self, now: u64, words: i64, until: u64, log: &mut impl FaultLog) {
        let mut kept: Vec<Option<Word>> = self.ring[self.at..].to_vec();
        kept.extend_from_slice(&self.ring[..self.at]);
        if words < 0 {
            let gone = (words.unsigned_abs() as usize).min(kept.len() - 1);
            kept.drain(..gone);
        } else {
            kept.resize(kept.len() + words as usize, Some(Word::INVALID));
        }
        if let Some(faults) = &mut self.faults {
            faults.disturbed_until = until;
            let since = now.saturating_sub(kept.len() as u64 + IN_RECEIVER);
            faults.watch.hit_since(since, log);
        }
        (self.ring, self.at) = (kept.into_boxed_slice(), 0);
    }

    /// A word in at one end, and out at the other the one that went in `length` clocks before; `None`
    /// where there is no signal, and from its begin to the first comma.
    #[inline]
    pub fn pass(&mut self, word: Word, now: u64, log: &mut impl FaultLog) -> Option<Word> {
        let up = now >= self.down_until;
        let word = match &mut self.faults {
            None => word,
            Some(faults) => faults.pass(word, up, now, log),
        };
        let slot = &mut self.ring[self.at];
        let out = std::mem::replace(slot, up.then_some(word));
        self.at += 1;
        if self.at == self.ring.len() {
            self.at = 0;
        }
        let out = if up { out } else { None };
        self.aligned = out.is_some_and(|word| self.aligned || word.has_comma());
        if self.aligned { out } else { None }
    }
}

impl Faulty {
    fn pass(&mut self, word: Word, up: bool, now: u64, log: &mut impl FaultLog) -> Word {
        let token = match word.token() {
            Token::Data(data) => Token::Data(off_lane(data, self.lane)),
            token => token,
        };
        self.watch.see(token, now, log);
        if now < self.disturbed_until {
            self.watch.hit(log);
        }
        if !up {
            self.watch.hit(log);
            return word;
        }
        let mut passed = word;
        if self.next_error < BITS {
            passed = flip(passed, self.next_error);
            self.next_error = self.random.failures_before_success(self.rates.bit_error_rate);
            log.counters().bit_errors += 1;
            self.watch.hit(log);
        } else {
            self.next_error -= BITS;
        }
        if let Token::Credit { .. } | Token::Check { .. } = token {
            if self.random.chance(self.rates.credit_loss_rate) {
                log.counters().credits_lost += 1;
                passed = Word::IDLE;
                // An idle word inside a packet would end it: there, a credit is lost by a wrong bit.
                if self.watch.inside {
                    passed = flip(word, 0);
                    self.watch.hit(log);
                }
            } else if self.random.chance(self.rates.credit_corrupt_rate) {
                log.counters().credits_corrupted += 1;
                passed = flip(word, self.random.below(32));
                if self.watch.inside {
                    // An invalid word inside a packet makes the packet bad.
                    self.watch.hit(log);
                }
            }
        }
        passed
    }
}

fn flip(word: Word, bit: u64) -> Word {
    if bit < 32 {
        Word { data: word.data ^ 1 << bit, ..word }
    } else {
        Word { k: word.k ^ 1 << (bit - 32), ..word }
    }
}

/// Knows which packet passes.
#[derive(Default)]
struct Tracker {
    inside: bool,
    words: u32,
    header: u32,
    hit: bool,
    /// This word is the end of a packet.
    ends: bool,
    current: Option<Key>,
    /// The last packets, with the clock at which each was over.
    past: VecDeque<(Key, u64)>,
}

const REMEMBERED: usize = 64;

impl Tracker {
    fn see(&mut self, token: Token, now: u64, log: &mut impl FaultLog) {
        self.ends = false;
        match token {
            Token::Sop { .. } => {
                self.close(now);
                *self =
                    Self { inside: true, past: std::mem::take(&mut self.past), ..Self::default() };
            }
            Token::Data(data) if self.inside => {
                self.words += 1;
                match self.words {
                    1 => self.header = data,
                    2 => {
                        self.current = Some(Key::new(self.header, data));
                        if self.hit {
                            self.hit(log);
                        }
                    }
                    _ => {}
                }
            }
            Token::Eop(_) | Token::Edb(_) => {
                self.close(now);
                (self.inside, self.ends) = (false, true);
            }
            _ => {}
        }
    }

    fn close(&mut self, now: u64) {
        if let Some(key) = self.current.take() {
            if self.past.len() == REMEMBERED {
                self.past.pop_front();
            }
            self.past.push_back((key, now));
        }
        self.hit = false;
    }

    /// The packet that passes now is hit; where its end passes, the one that ends; between packets none.
    fn hit(&mut self, log: &mut impl FaultLog) {
        self.hit = self.inside;
        match (self.inside, self.current, self.past.back()) {
            (true, Some(key), _) => log.hit(key),
            (false, _, Some((key, _))) if self.ends => log.hit(*key),
            _ => {}
        }
    }

    fn hit_since(&mut self, since: u64, log: &mut impl FaultLog) {
        self.hit(log);
        for (key, _) in self.past.iter().filter(|(_, end)| *end >= since) {
            log.hit(*key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::link::FaultCounters;

    /// The sequence numbers of the packets that were hit.
    #[derive(Default)]
    struct Hits {
        counters: FaultCounters,
        packets: std::collections::BTreeSet<u32>,
    }

    impl FaultLog for Hits {
        fn counters(&mut self) -> &mut FaultCounters {
            &mut self.counters
        }

        fn hit(&mut self, packet: Key) {
            assert_eq!((packet.source, packet.destination), (0, 1));
            self.packets.insert(packet.sequence);
        }
    }

    fn packet(sequence: u32) -> [Word; 5] {
        let header = 0xB501_0000;
        [
            Word::of(Token::Sop { id: 1, count: 0 }),
            Word::data(header),
            Word::data(sequence),
            Word::data(7),
            Word::of(Token::Eop(0)),
        ]
    }

    /// Packets 0, 1 and 2 with two idle words before each, and which of them a fault at `at` may excuse.
    fn excused(strike: impl Fn(&mut Line, u64, &mut Hits)) -> Vec<u32> {
        let mut hits = Hits::default();
        let mut line = Line::new(2, LineFaults::default(), true, 0, RandomStream::new(1, "line"));
        let packets = (0..3).flat_map(|n| [[Word::IDLE; 2].to_vec(), packet(n).to_vec()].concat());
        for (now, word) in packets.enumerate() {
            strike(&mut line, now as u64, &mut hits);
            let _ = line.pass(word, now as u64, &mut hits);
        }
        hits.packets.into_iter().collect()
    }

    /// The fault strikes word `at`: packet n is words 7 n + 2 to 7 n + 6.
    fn bit_error_at(at: u64) -> Vec<u32> {
        excused(|line, now, _| {
            let faults = line.faults.as_mut().unwrap();
            faults.next_error = if now == at { 3 } else { u64::MAX };
        })
    }

    #[test]
    fn a_bit_error_excuses_the_packet_it_strikes_and_no_other() {
        for inside in 9..=13 {
            assert_eq!(bit_error_at(inside), [1], "word {inside}");
        }
        for between in [0, 1, 7, 8, 14, 15] {
            assert!(bit_error_at(between).is_empty(), "word {between}");
        }
    }

    #[test]
    fn a_line_is_silent_until_its_first_comma_and_again_behind_a_cut() {
        let mut line = Line::new(1, LineFaults::default(), false, 0, RandomStream::new(1, "line"));
        let mut hits = Hits::default();
        let data = Word::data(7);
        let sent = [data, data, Word::ALIGN, data, data, data, data, data, Word::IDLE, data];
        let mut came = Vec::new();
        for (now, word) in sent.into_iter().enumerate() {
            if now == 5 {
                line.cut(5, 1, &mut hits);
            }
            came.push(line.pass(word, now as u64, &mut hits));
        }
        let none = None;
        let heard = [none, none, none, Some(Word::ALIGN), Some(data), none, none, none, none];
        assert_eq!(came, [heard.to_vec(), vec![Some(Word::IDLE)]].concat());
    }

    #[test]
    fn a_cut_line_excuses_what_is_on_it() {
        let found = excused(|line, now, hits| {
            if now == 11 {
                line.cut(now, 1, hits);
            }
        });
        // The second is in progress, the first may still be in the receiver.
        assert_eq!(found, [0, 1]);
    }
}
