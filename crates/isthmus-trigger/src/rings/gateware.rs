// SPDX-License-Identifier: Apache-2.0
//! The search for candidates as the gateware `rtl/rich` does it: in integers, with what its memories hold, and
//! a model of it that says what it answers.
//!
//! Lengths are whole numbers of quarters: with the place of a hit (36 ix, 36 iy sqrt(3)) / 4 mm and the centre
//! of a candidate (13 u, 13 v sqrt(3)) / 4 mm the squared distance is (A^2 + 3 B^2) / 16 with A = 36 ix - 13 u
//! and B = 36 iy - 13 v. Whether a candidate covers a hit is a comparison of A^2 + 3 B^2 with two bounds of its
//! radius.

use super::Finder;
use super::hough::{FIRST_MM, PITCH_MM, RADII, STEP_MM};
use super::joint::{MERGE, MIN_VOTES, apart};
use super::{MAX_SEEDS, UNIT_MM};
use crate::geometry::TABLE;

/// Radii of candidates: those of cells, and those half way between two.
const SEED_RADII: usize = 2 * RADII - 1;

/// A search's answer: the best cells through a hit, the first and the last of them. The candidate is their
/// mean if they are near each other, else both are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Slot of the hit.
    pub hit: u8,
    /// Hits near the circle of either cell, this one among them; from 16 on modulo 16, plus 16.
    pub votes: u8,
    /// The first such cell: eight times its centre's number, plus that of its radius.
    pub first: u16,
    /// The last.
    pub last: u16,
}

/// One word of the gateware's memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Which memory: 0 votes, 1 places, 2 centres, 3 bounds.
    pub memory: u8,
    /// Where in it.
    pub address: u16,
    /// What.
    pub data: u64,
}

/// What the gateware's memories hold.
#[derive(Clone, Debug)]
pub struct Gateware {
    votes: Vec<u64>,
    places: Vec<[i32; 2]>,
    centres: Vec<[i32; 2]>,
    bounds: [[u32; 2]; SEED_RADII],
}

/// Words of 64 cells of an id's votes.
const VOTE_WORDS: usize = super::MAX_CELLS / 64;
/// A place that no circle is near: of null ids.
const NO_PLACE: i32 = -64;

impl Gateware {
    fn new(finder: &Finder) -> Self {
        let votes = finder.table.words().collect();
        let mut places = vec![[NO_PLACE; 2]; TABLE];
        for (place, &(ix, iy)) in places.iter_mut().zip(finder.geometry.sites()) {
            *place = [ix, iy];
        }
        let cover = f64::from(finder.tuned.cover * UNIT_MM);
        let bounds = std::array::from_fn(|at| bounds(FIRST_MM + STEP_MM * at as f64 / 2.0, cover));
        Self { votes, places, centres: finder.table.grid().collect(), bounds }
    }

    /// Cells: circles that are voted for.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.centres.len() * RADII
    }

    /// All words of all memories. Votes: an id's 48 words of 64 cells, cell 0 in bit 0, at 64 id + word. Places
    /// and centres: two's complement, x in bits 7:0 and y in 15:8, in half pitches of the lattice and of the grid
    /// of centres. Bounds: the lower one in bits 23:0, the upper one in 47:24.
    pub fn words(&self) -> impl Iterator<Item = Word> + '_ {
        let votes = self.votes.iter().enumerate().map(|(at, &data)| {
            let address = (at / VOTE_WORDS * 64 + at % VOTE_WORDS) as u16;
            Word { memory: 0, address, data }
        });
        let pair = |[x, y]: [i32; 2]| u64::from(x as u8) | u64::from(y as u8) << 8;
        let pairs = move |memory, list: &[[i32; 2]]| {
            let list: Vec<_> = list.iter().copied().map(pair).collect();
            let word = move |(at, data)| Word { memory, address: at as u16, data };
            list.into_iter().enumerate().map(word)
        };
        let bounds = self.bounds.iter().enumerate().map(|(at, [low, high])| Word {
            memory: 3,
            address: at as u16,
            data: u64::from(*low) | u64::from(*high) << 24,
        });
        votes.chain(pairs(1, &self.places)).chain(pairs(2, &self.centres)).chain(bounds)
    }

    /// What the gateware answers to an event's hits, at most 32.
    #[must_use]
    pub fn seeds(&self, ids: &[u16]) -> Vec<Seed> {
        let mut counts = vec![0u8; self.cells()];
        for &id in ids {
            for cell in self.cells_of(id) {
                // Up to 31, as the software's planes count.
                let more = (counts[cell] & 15) + 1;
                counts[cell] = counts[cell] & 16 | more & 15 | more & 16;
            }
        }
        let mut open: Vec<bool> = ids.iter().map(|_| true).collect();
        let (mut found, mut number) = (Vec::new(), 0);
        for hit in 0..ids.len() {
            if !open[hit] || number >= MAX_SEEDS {
                continue;
            }
            let best = self.cells_of(ids[hit]).map(|cell| counts[cell]).max().unwrap_or(0);
            if u32::from(best) < MIN_VOTES {
                continue;
            }
            let tops = self.cells_of(ids[hit]).filter(|&cell| counts[cell] == best);
            let (first, last) =
                tops.fold((usize::MAX, 0), |(first, _), cell| (first.min(cell), cell));
            found.push(Seed {
                hit: hit as u8,
                votes: best,
                first: first as u16,
                last: last as u16,
            });
            for circle in self.candidates(first, last) {
                for (open, &id) in open.iter_mut().zip(ids) {
                    *open &= !self.covers(circle, id);
                }
                number += 1;
            }
        }
        found
    }

    fn cells_of(&self, id: u16) -> impl Iterator<Item = usize> + '_ {
        let row = usize::from(id) % TABLE * VOTE_WORDS;
        (0..self.cells()).filter(move |cell| self.votes[row + cell / 64] >> (cell % 64) & 1 == 1)
    }

    /// Candidates of two cells, one or two: centre in half steps of the grid, number of the radius.
    fn candidates(&self, first: usize, last: usize) -> Vec<[i32; 3]> {
        let cell = |at: usize| {
            let [x, y] = self.centres[at / RADII];
            [x, y, (at % RADII) as i32]
        };
        let (a, b) = (cell(first), cell(last));
        if apart(half_pitches(a.map(|v| 2 * v)), half_pitches(b.map(|v| 2 * v))) < MERGE {
            return vec![[a[0] + b[0], a[1] + b[1], a[2] + b[2]]];
        }
        vec![a.map(|v| 2 * v), b.map(|v| 2 * v)]
    }

    fn covers(&self, [u, v, radius]: [i32; 3], id: u16) -> bool {
        let [ix, iy] = self.places[usize::from(id) % TABLE];
        let (a, b) = (36 * ix - 13 * u, 36 * iy - 13 * v);
        let square = (a * a + 3 * b * b) as u32;
        let [low, high] = self.bounds[radius as usize];
        ix != NO_PLACE && (low..high).contains(&square)
    }
}

/// A candidate as the software has it.
fn half_pitches([u, v, radius]: [i32; 3]) -> [f32; 3] {
    let (column, row) = (PITCH_MM / 4.0, PITCH_MM * 0.75f64.sqrt() / 2.0);
    let r = FIRST_MM + STEP_MM * f64::from(radius) / 2.0;
    [column * f64::from(u), row * f64::from(v), r].map(|mm| (mm / f64::from(UNIT_MM)) as f32)
}

/// Squared distances, 1/16 mm^2, that a circle of this radius covers: from the first to before the second. The
/// distance is the software's: a series (`robust::About`), which rises with the square.
fn bounds(radius: f64, cover: f64) -> [u32; 2] {
    let away = |square: u32| {
        let t = (f64::from(square) / 16.0 / (radius * radius) - 1.0) / 2.0;
        radius * (t + 0.5 * t * t * (t - 1.0))
    };
    let below = |limit: f64| {
        let (mut low, mut high) = (0u32, 1 << 24);
        while low < high {
            let middle = (low + high) / 2;
            if away(middle) < limit { low = middle + 1 } else { high = middle }
        }
        low
    };
    let mut first = below(-cover);
    // The bounds are open: nothing at exactly this distance is covered.
    while away(first) <= -cover {
        first += 1;
    }
    [first, below(cover)]
}

impl Finder {
    /// Memories and model of the gateware that searches for candidates as this finder does.
    #[must_use]
    pub fn gateware(&self) -> Gateware {
        Gateware::new(self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::events::{self, Sample};
    use crate::geometry::Geometry;
    use crate::record::{self, Record};
    use crate::rings::Config;
    use crate::rings::joint::{Candidates, Covers, Scratch};
    use crate::simd::Level;

    /// Tells the gateware's candidates from the software's.
    struct Both {
        disk: Geometry,
        finder: Finder,
        gateware: Gateware,
        cells: Vec<[f32; 3]>,
    }

    impl Both {
        fn new() -> Self {
            let disk = Geometry::na62();
            let finder = Finder::new(&disk, &Config::default());
            let (gateware, cells) = (finder.gateware(), finder.table.cells());
            Self { disk, finder, gateware, cells }
        }

        /// Candidates of two cells as the software makes them, each with the gateware's numbers.
        fn candidates(&self, first: usize, last: usize) -> Vec<([i32; 3], [f32; 3])> {
            let (a, b) = (self.cells[first], self.cells[last]);
            let software = if apart(a, b) < MERGE {
                vec![std::array::from_fn(|axis| 0.5 * (a[axis] + b[axis]))]
            } else {
                vec![a, b]
            };
            let own = self.gateware.candidates(first, last);
            assert_eq!(own.len(), software.len(), "cells {first} and {last}");
            own.into_iter().zip(software).collect()
        }
    }

    #[test]
    fn every_candidate_covers_the_photomultipliers_that_the_software_says() {
        let both = Both::new();
        let places = &both.finder.geometry.places()[..both.disk.sites().len()];
        let mut tried = HashMap::new();
        for first in 0..both.cells.len() {
            for last in first..both.cells.len() {
                for (own, software) in both.candidates(first, last) {
                    tried.insert(software.map(f32::to_bits), own);
                }
            }
        }
        assert!(tried.len() > 20_000, "{}", tried.len());
        for (bits, own) in tried {
            let circle = bits.map(f32::from_bits);
            let software = Level::best().run(Covers(circle, places, both.finder.tuned.cover));
            for (id, software) in software.into_iter().enumerate() {
                let covers = both.gateware.covers(own, id as u16);
                assert_eq!(covers, software, "{own:?}, photomultiplier {id}");
            }
        }
    }

    fn agree(sample: &Sample, count: usize) {
        let both = Both::new();
        let mut scratch = Scratch::new();
        let (events, _) = events::generate(&both.disk, sample, 77, count);
        for event in &events {
            let ids: Vec<u16> =
                (0..record::count(event)).map(|slot| record::id(event, slot) as u16).collect();
            let candidates = Candidates { finder: &both.finder, event, scratch: &mut scratch };
            let software = Level::best().run(candidates);
            let seeds = both.gateware.seeds(&ids).into_iter();
            let own = seeds.flat_map(|seed| both.candidates(seed.first.into(), seed.last.into()));
            assert_eq!(own.map(|(_, circle)| circle).collect::<Vec<_>>(), software);
        }
    }

    #[test]
    fn its_candidates_are_the_softwares_to_the_last_bit() {
        agree(&events::REFERENCE, 3000);
        agree(&events::NOISY, 1000);
        agree(&events::BRIGHT, 1000);
    }

    #[test]
    fn full_events_of_few_photomultipliers_count_as_the_software_does() {
        let both = Both::new();
        let mut scratch = Scratch::new();
        for ids in [vec![500u16; 32], (0..32).map(|at| 480 + at % 3).collect(), vec![], vec![7]] {
            let hits: Vec<record::Hit> =
                ids.iter().map(|&id| record::Hit { id, time: 0 }).collect();
            let event: Record = record::encode(record::Header::default(), &hits).expect("a record");
            let candidates =
                Candidates { finder: &both.finder, event: &event, scratch: &mut scratch };
            let software = Level::best().run(candidates);
            let seeds = both.gateware.seeds(&ids).into_iter();
            let own = seeds.flat_map(|seed| both.candidates(seed.first.into(), seed.last.into()));
            assert_eq!(own.map(|(_, circle)| circle).collect::<Vec<_>>(), software);
        }
    }

    /// What the gateware's bench (tests/unit/rich) compares with: a sum over all words of its memories, and
    /// events with the answers. `ISTHMUS_UPDATE_GOLDEN=1` writes it.
    #[test]
    fn the_gatewares_bench_has_this_models_words_and_answers() {
        let both = Both::new();
        let mut text = format!("words {:016x}\n", sum(both.gateware.words()));
        for (sample, count) in
            [(&events::REFERENCE, 120), (&events::NOISY, 40), (&events::BRIGHT, 30)]
        {
            let (events, _) = events::generate(&both.disk, sample, 5, count);
            for event in &events {
                let ids: Vec<u16> =
                    (0..record::count(event)).map(|slot| record::id(event, slot) as u16).collect();
                let shown: Vec<String> = ids.iter().map(u16::to_string).collect();
                text += &shown.join(",");
                for Seed { hit, votes, first, last } in both.gateware.seeds(&ids) {
                    text += &format!(" {hit}:{votes}:{first}:{last}");
                }
                text.push('\n');
            }
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/unit/rich/rich_golden.txt");
        if std::env::var_os("ISTHMUS_UPDATE_GOLDEN").is_some() {
            std::fs::write(path, &text).expect("written");
        }
        assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), text, "{path}");
    }

    /// FNV-1a over memory, address and data of each word, taken as numbers of 64 bits.
    fn sum(words: impl Iterator<Item = Word>) -> u64 {
        let numbers = words.flat_map(|Word { memory, address, data }| {
            [u64::from(memory), u64::from(address), data]
        });
        numbers.fold(0xcbf2_9ce4_8422_2325, |sum: u64, number| {
            (sum ^ number).wrapping_mul(0x100_0000_01b3)
        })
    }
}
