// SPDX-License-Identifier: Apache-2.0
//! A bundle of lanes byte by byte: an interface's words to all lanes and back (docs/explanation/cores/link.md).
//!
//! An interface counts words of all lanes. What it sends is lane 0's word; the other lanes carry a known
//! function of it, so that a receiver can hold every lane against every other.

use std::collections::VecDeque;

use isthmus_sim::world::link::word::{off_lane, on_lane};
use isthmus_sim::world::link::{Crc24, Token, Word};

/// How the lanes of a link are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanesConfig {
    /// How many.
    pub lanes: usize,
    /// Words from one mark to the next.
    pub align_words: u64,
    /// Words that the first lane may be ahead of the last for a receiver to take it.
    pub max_skew: u64,
    /// Words that each lane is longer than the hop.
    pub skew: Vec<u64>,
}

/// The sending side: one word to a word of each lane, and when a mark is due.
pub struct Splitter {
    checks: Vec<Crc24>,
    align_words: u64,
    since: u64,
}

impl Splitter {
    /// One whose first mark is due at once.
    #[must_use]
    pub fn new(config: &LanesConfig) -> Self {
        let checks = vec![Crc24::default(); config.lanes];
        Self { checks, align_words: config.align_words, since: config.align_words }
    }

    /// A mark must go, where no packet is in progress.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.since >= self.align_words
    }

    /// `word` on all lanes.
    pub fn split(&mut self, word: Word, lanes: &mut [Word]) {
        self.since += 1;
        let token = word.token();
        for (lane, (out, check)) in lanes.iter_mut().zip(&mut self.checks).enumerate() {
            *out = match token {
                Token::Data(data) => {
                    let data = on_lane(data, lane);
                    check.add(data);
                    Word::data(data)
                }
                Token::Eop(_) if lane > 0 => Word::of(Token::Eop(check.value())),
                Token::Sop { .. } => {
                    *check = Crc24::default();
                    word
                }
                _ => word,
            };
        }
        if token == Token::Align {
            self.since = 0;
        }
    }
}

/// Lane errors found by a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneCounters {
    /// Alignments that were abandoned.
    pub lost: u64,
    /// Marks that did not come within the skew allowed.
    pub late: u64,
    /// Packets whose checks all held and whose lanes disagree: each is an error.
    pub mixed: u64,
}

/// The receiving side: side by side again, compared, one word.
pub struct Joiner {
    /// The newest word of each lane first.
    lines: Vec<VecDeque<Word>>,
    delays: Vec<usize>,
    /// Clocks since each lane's mark, while it is looked for.
    marks: Vec<Option<u64>>,
    aligned: bool,
    doubt: bool,
    /// Clocks for which the link may still continue without alignment.
    grace: u64,
    grace_most: u64,
    max_skew: u64,
    checks: Vec<Crc24>,
    differs: bool,
    counters: LaneCounters,
}

impl Joiner {
    /// One that has seen nothing.
    #[must_use]
    pub fn new(config: &LanesConfig) -> Self {
        let depth = config.max_skew as usize + 1;
        let line: VecDeque<Word> = std::iter::repeat_n(Word::INVALID, depth).collect();
        Self {
            lines: vec![line; config.lanes],
            delays: vec![0; config.lanes],
            marks: vec![None; config.lanes],
            aligned: false,
            doubt: false,
            grace: 0,
            grace_most: 2 * config.align_words,
            max_skew: config.max_skew,
            checks: vec![Crc24::default(); config.lanes],
            differs: false,
            counters: LaneCounters::default(),
        }
    }

    /// Errors so far.
    #[must_use]
    pub fn counters(&self) -> LaneCounters {
        self.counters
    }

    /// The word of this clock, or that there is no signal.
    pub fn join(&mut self, words: &[Option<Word>]) -> Option<Word> {
        if words.iter().any(Option::is_none) {
            self.counters.lost += u64::from(self.aligned);
            (self.aligned, self.grace) = (false, 0);
            self.marks.fill(None);
            return None;
        }
        for (line, word) in self.lines.iter_mut().zip(words.iter().flatten()) {
            line.pop_back();
            line.push_front(*word);
        }
        if !self.aligned {
            self.search();
        }
        if self.aligned {
            self.grace = self.grace_most;
            return Some(self.combine());
        }
        self.grace = self.grace.saturating_sub(1);
        (self.grace > 0).then_some(Word::INVALID)
    }

    fn search(&mut self) {
        for (line, mark) in self.lines.iter().zip(&mut self.marks) {
            *mark = mark.map(|clocks| clocks + 1);
            if line[0].token() == Token::Align {
                *mark = Some(0);
            }
        }
        if self.marks.iter().all(Option::is_some) {
            let apart = self.marks.iter().flatten().max().copied().unwrap_or(0);
            if apart <= self.max_skew {
                for (delay, mark) in self.delays.iter_mut().zip(&mut self.marks) {
                    *delay = mark.take().unwrap_or(0) as usize;
                }
                (self.aligned, self.doubt) = (true, false);
                return;
            }
        }
        if self.marks.iter().flatten().any(|clocks| *clocks >= self.max_skew) {
            self.counters.late += 1;
            self.marks.fill(None);
        }
    }

    fn combine(&mut self) -> Word {
        let word = |lane: usize| self.lines[lane][self.delays[lane]];
        let lanes = self.lines.len();
        let marks = (0..lanes).filter(|lane| word(*lane).token() == Token::Align).count();
        if marks == lanes {
            self.doubt = false;
        } else if marks > 0 {
            if self.doubt {
                self.aligned = false;
                self.counters.lost += 1;
            }
            self.doubt = true;
            return Word::INVALID;
        }
        let first = word(0);
        match first.token() {
            Token::Data(data) => {
                for lane in 0..lanes {
                    let Token::Data(carried) = self.lines[lane][self.delays[lane]].token() else {
                        return Word::INVALID;
                    };
                    self.checks[lane].add(carried);
                    self.differs |= off_lane(carried, lane) != data;
                }
                first
            }
            Token::Eop(own) => {
                let mut whole = true;
                for lane in 0..lanes {
                    let Token::Eop(check) = word(lane).token() else { return Word::INVALID };
                    whole &= self.checks[lane].value() == check;
                }
                self.counters.mixed += u64::from(whole && self.differs);
                if whole && !self.differs { first } else { Word::of(Token::Eop(!own)) }
            }
            Token::Edb(_) => {
                let all = (0..lanes).all(|lane| matches!(word(lane).token(), Token::Edb(_)));
                if all { first } else { Word::INVALID }
            }
            token => {
                if (1..lanes).any(|lane| word(lane) != first) {
                    return Word::INVALID;
                }
                if let Token::Sop { .. } = token {
                    self.checks.fill(Crc24::default());
                    self.differs = false;
                }
                first
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isthmus_sim::kernel::RandomStream;

    const LANES: usize = 4;

    fn config(skew: [u64; LANES]) -> LanesConfig {
        LanesConfig { lanes: LANES, align_words: 64, max_skew: 8, skew: skew.to_vec() }
    }

    /// Packets over lanes of this skew; a word of a lane may be changed. What comes out, and the counts.
    fn carried(
        skew: [u64; LANES],
        clocks: u64,
        mut change: impl FnMut(u64, usize, Word) -> Word,
    ) -> (Vec<Option<Word>>, Vec<Word>, LaneCounters) {
        let config = config(skew);
        let (mut splitter, mut joiner) = (Splitter::new(&config), Joiner::new(&config));
        let mut lines: Vec<VecDeque<Word>> =
            skew.iter().map(|n| std::iter::repeat_n(Word::IDLE, *n as usize).collect()).collect();
        let mut random = RandomStream::new(3, "lanes");
        let (mut out, mut sent, mut at, mut crc) = (vec![], vec![], 0, Crc24::default());
        for clock in 0..clocks {
            let word = match at {
                0 if splitter.is_due() => Word::of(Token::Align),
                0 => {
                    crc = Crc24::default();
                    Word::of(Token::Sop { id: 1, count: 0 })
                }
                1..=9 => {
                    let data = random.bits() as u32;
                    crc.add(data);
                    Word::data(data)
                }
                _ => Word::of(Token::Eop(crc.value())),
            };
            at = if word == Word::of(Token::Align) { 0 } else { (at + 1) % 11 };
            sent.push(word);
            let mut words = [Word::IDLE; LANES];
            splitter.split(word, &mut words);
            let arrived: Vec<_> = (0..LANES)
                .map(|lane| {
                    lines[lane].push_back(change(clock, lane, words[lane]));
                    lines[lane].pop_front()
                })
                .collect();
            out.push(joiner.join(&arrived));
        }
        (out, sent, joiner.counters())
    }

    #[test]
    fn lanes_of_any_skew_are_brought_together() {
        for skew in [[0, 0, 0, 0], [0, 8, 3, 5], [8, 0, 0, 8], [2, 1, 9, 4]] {
            let (out, sent, counters) = carried(skew, 1_000, |_, _, word| word);
            let late = *skew.iter().max().unwrap() as usize;
            for clock in 300..1_000 {
                assert_eq!(out[clock], Some(sent[clock - late]), "{skew:?} {clock}");
            }
            assert_eq!(counters, LaneCounters { late: counters.late, ..LaneCounters::default() });
        }
    }

    #[test]
    fn lanes_too_far_apart_are_never_taken() {
        let (out, _, counters) = carried([0, 0, 9, 0], 1_000, |_, _, word| word);
        assert!(out.iter().all(Option::is_none));
        assert!(counters.late > 10);
    }

    #[test]
    fn a_wrong_bit_on_any_lane_ends_its_packet_bad_and_keeps_the_alignment() {
        for lane in 0..LANES {
            let (out, sent, counters) = carried([3, 0, 1, 2], 1_000, |clock, at, word| {
                let hit = clock % 50 == 7 && at == lane && clock > 200;
                if hit { Word { data: word.data ^ 1 << 5, ..word } } else { word }
            });
            let good = |words: &[Word]| {
                words.iter().filter(|word| matches!(word.token(), Token::Eop(_))).count()
            };
            let came: Vec<Word> = out.into_iter().flatten().collect();
            let same = came.iter().filter(|w| sent.contains(w)).count();
            assert!(good(&came) > 0 && same < came.len(), "lane {lane}");
            assert_eq!((counters.lost, counters.mixed), (0, 0), "lane {lane}");
        }
    }
}
