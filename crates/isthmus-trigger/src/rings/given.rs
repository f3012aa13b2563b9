// SPDX-License-Identifier: Apache-2.0
//! Candidates that come with the events: a search before the processor has found them. The finder then only fits
//! and chooses; its answers are those of its own search, to the last bit.

use super::gateware::Seed;
use super::joint::{MERGE, apart};
use super::{All, Finder, Found, MAX_CELLS, MAX_SEEDS, MEMORY};
use crate::na62::FormatError;
use crate::record::{self, Record, SLOTS};
use crate::simd::{LANES, Lanes, Level};

const DONE: u32 = 1 << 31;
const OVER: u32 = 1 << 30;
const CELL_BITS: u32 = 12;
const CELL_MASK: u32 = (1 << CELL_BITS) - 1;
const HIT_SHIFT: u32 = 2 * CELL_BITS;

/// Candidates of events, as answers of the gateware: first and last best cell of a searched hit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    cells: Vec<[u16; 2]>,
    /// Of each event: where its answers end.
    ends: Vec<u32>,
}

/// The datagram of candidates that the gateware sends behind that of the events; see
/// `docs/reference/trigger-formats.md`.
#[must_use]
pub fn encode(events: &[Vec<Seed>]) -> Vec<u8> {
    let word = |seed: &Seed| {
        u32::from(seed.first) | u32::from(seed.last) << CELL_BITS | u32::from(seed.hit) << HIT_SHIFT
    };
    let words = events.iter().flat_map(|seeds| seeds.iter().map(word).chain([DONE]));
    words.flat_map(u32::to_le_bytes).collect()
}

impl Given {
    /// Reads the candidates of so many events; what was inside is forgotten, its memory is used again.
    ///
    /// # Errors
    /// If `bytes` holds another number of events, names a cell that does not exist, or says that an event
    /// had more hits than fit into a record.
    pub fn read(&mut self, bytes: &[u8], events: usize) -> Result<(), FormatError> {
        self.cells.clear();
        self.ends.clear();
        let (words, rest) = bytes.as_chunks::<4>();
        let wrong =
            |found| FormatError::Length { what: "events with candidates", said: events, found };
        if !rest.is_empty() {
            return Err(FormatError::Length {
                what: "candidates",
                said: bytes.len() - rest.len(),
                found: bytes.len(),
            });
        }
        let mut first = 0;
        for word in words.iter().copied().map(u32::from_le_bytes) {
            if word & DONE != 0 {
                if word & OVER != 0 {
                    return Err(FormatError::Value {
                        what: "hits of an event",
                        value: word.into(),
                    });
                }
                self.ends.push(self.cells.len() as u32);
                first = self.cells.len();
                continue;
            }
            let cells = [word & CELL_MASK, word >> CELL_BITS & CELL_MASK];
            if self.cells.len() - first == MAX_SEEDS {
                return Err(FormatError::Value {
                    what: "candidates of an event",
                    value: word.into(),
                });
            }
            if cells.iter().any(|cell| *cell as usize >= MAX_CELLS) {
                return Err(FormatError::Value { what: "cell of a candidate", value: word.into() });
            }
            self.cells.push(cells.map(|cell| cell as u16));
        }
        if self.ends.len() != events || first != self.cells.len() {
            return Err(wrong(self.ends.len()));
        }
        Ok(())
    }

    /// Number of events.
    #[must_use]
    pub fn events(&self) -> usize {
        self.ends.len()
    }

    /// First and last cell of each answer of an event.
    #[must_use]
    pub fn of(&self, event: usize) -> &[[u16; 2]] {
        let end = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        let begin = event.checked_sub(1).map_or(0, end);
        self.cells.get(begin..end(event)).unwrap_or_default()
    }
}

impl Finder {
    /// The circles of each event, of which the candidates are given: one list for each event.
    ///
    /// # Panics
    /// When they are not of as many events.
    pub fn find_given(
        &self,
        level: Level,
        events: &[Record],
        given: &Given,
        found: &mut Vec<Found>,
    ) {
        assert_eq!(events.len(), given.events(), "events and lists of candidates");
        found.clear();
        found.resize(events.len(), Found::default());
        MEMORY.with_borrow_mut(|memory| {
            level.run(All { finder: self, events, found, given: Some(given), memory });
        });
    }

    /// Candidates as they are, unfitted and unchosen: what answers would be without the processor's part. Of an
    /// event's candidates the first ones, as many as an answer has room for.
    #[must_use]
    pub fn candidates(&self, given: &Given, event: usize) -> Found {
        let mut circles = [[0.0; LANES]; 3];
        let number = self.circles(given.of(event), &mut circles);
        let list: Vec<[f32; 3]> =
            (0..number).map(|at| [circles[0][at], circles[1][at], circles[2][at]]).collect();
        Found::of(&list, f32::INFINITY)
    }

    /// What the candidates of an event are, half pitches.
    #[inline(always)]
    pub(super) fn circles(&self, answers: &[[u16; 2]], circles: &mut [Lanes; 3]) -> usize {
        let mut number = 0;
        for &[first, last] in answers {
            if number >= MAX_SEEDS {
                break;
            }
            let [mut a, b] = [first, last].map(|cell| self.table.cell(usize::from(cell)));
            let merged = apart(a, b) < MERGE;
            if merged {
                a = [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])];
            }
            for circle in [a, b].into_iter().take(if merged { 1 } else { 2 }) {
                for axis in 0..3 {
                    circles[axis][number] = circle[axis];
                }
                number += 1;
            }
        }
        number
    }
}

/// Ids of an event's hits.
#[must_use]
pub fn ids(event: &Record) -> Vec<u16> {
    (0..record::count(event).min(SLOTS)).map(|slot| record::id(event, slot) as u16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{self, Sample};
    use crate::geometry::Geometry;
    use crate::rings::Config;

    fn agree(sample: &Sample) {
        let disk = Geometry::na62();
        let finder = Finder::new(&disk, &Config::default());
        let gateware = finder.gateware();
        let (events, _) = events::generate(&disk, sample, 78, 1000);
        let seeds: Vec<Vec<Seed>> =
            events.iter().map(|event| gateware.seeds(&ids(event))).collect();
        let mut given = Given::default();
        given.read(&encode(&seeds), events.len()).expect("its own");
        let (mut own, mut with) = (Vec::new(), Vec::new());
        finder.find(Level::best(), &events, &mut own);
        finder.find_given(Level::best(), &events, &given, &mut with);
        assert_eq!(own, with);
        assert!((0..events.len()).any(|at| given.of(at).len() > 3));
    }

    #[test]
    fn given_candidates_have_the_answers_of_an_own_search() {
        agree(&events::REFERENCE);
        agree(&events::NOISY);
    }

    #[test]
    fn what_is_no_list_of_candidates_is_refused() {
        let seed = |first| Seed { hit: 3, votes: 9, first, last: 77 };
        let good = encode(&[vec![seed(5)], vec![], vec![seed(6), seed(3071)]]);
        let mut given = Given::default();
        given.read(&good, 3).expect("good");
        assert_eq!(
            [given.of(0), given.of(1), given.of(2)],
            [&[[5, 77]][..], &[], &[[6, 77], [3071, 77]]]
        );
        assert!(given.of(3).is_empty());
        let refused = |bytes: &[u8], events| {
            Given::default().read(bytes, events).expect_err("refused").to_string()
        };
        assert_eq!(refused(&good, 4), "events with candidates says 4, found 3");
        assert_eq!(refused(&good[..good.len() - 4], 2), "events with candidates says 2, found 2");
        assert!(refused(&good[..7], 1).starts_with("candidates says 4, found 7"));
        assert!(refused(&encode(&[vec![seed(3072)]]), 1).starts_with("cell of a candidate"));
        assert!(refused(&encode(&[vec![seed(1); 15]]), 1).starts_with("candidates of an event"));
        assert!(refused(&(DONE | OVER).to_le_bytes(), 1).starts_with("hits of an event"));
    }
}
