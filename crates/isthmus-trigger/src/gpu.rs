// SPDX-License-Identifier: Apache-2.0
//! The finder on a GPU: its tables, the lines that the host and a kernel exchange, and a launcher.
//!
//! `gpu/rings.cu` is the one source of the kernels that find, `gpu/events.cu` of those that generate. NVRTC compiles
//! them, or a host's C++ compiler, whose numbers tests compare with [`crate::rings`] and [`crate::events`]. How the
//! persistent kernel is fed: `docs/explanation/trigger-gpu.md`.

mod batches;
mod driver;
mod generate;
mod resident;
mod ring;
mod run;

pub use driver::{Driver, GpuError};
pub use generate::{Source, TOGETHER, generate};
pub use run::{Method, Report, Settings, Watch, run};

use crate::geometry::TABLE;
use crate::record::{RECORD_BYTES, Record};
use crate::rings::{Finder, Found, MAX_CELLS, MAX_FOUND};

/// Words of a line that carries an event or a result: 128 bytes.
pub const LINE_WORDS: usize = 32;
/// A line.
pub type Line = [u32; LINE_WORDS];
/// Word of a line with the event's number plus one.
const SEQUENCE: usize = 30;
/// Word with a check of all others.
const CHECK: usize = 31;
const SEED: u32 = 0x1571_4053;
/// First word of a result's four times.
const STAMPS: usize = 12;
/// Sets of candidates that the tables have room for.
const MAX_SETS: usize = 192;
/// Candidates of an event.
const MAX_CANDIDATES: u32 = 10;

/// The tables of a finder as the kernels read them; the layout is at the head of `rings.cu`.
#[must_use]
pub fn tables(finder: &Finder) -> Vec<u32> {
    let (geometry, table, tuned) = finder.tables();
    let mut words: Vec<u32> =
        [tuned.ratio, tuned.cover * tuned.cover, tuned.slack].map(f32::to_bits).into();
    words.extend(tuned.penalty.map(f32::to_bits));
    words.extend([tuned.refine as u32, tuned.joint as u32]);
    words.resize(32, 0);
    words.extend(geometry.rows().iter().flat_map(|row| row.0).map(|value| value as u32));
    for axis in 0..2 {
        words.extend(geometry.places().iter().map(|place| place[axis].to_bits()));
    }
    for axis in 0..3 {
        let first = words.len();
        words.extend(table.cells().iter().map(|cell| cell[axis].to_bits()));
        words.resize(first + MAX_CELLS, 0);
    }
    let first = words.len();
    // In the order in which the CPU compares them: of equal scores the first wins.
    let set = |a: u32, b: u32, c: u32, count: u32| a | b << 4 | c << 8 | count << 12;
    for a in 0..MAX_CANDIDATES {
        words.push(set(a, 0, 0, 1));
        for b in 0..a {
            words.push(set(a, b, 0, 2));
            words.extend((0..b).map(|c| set(a, b, c, 3)));
        }
    }
    words.resize(first + MAX_SETS, 0);
    words.extend(table.words().flat_map(|word| [word as u32, (word >> 32) as u32]));
    debug_assert_eq!(words.len(), first + MAX_SETS + TABLE * MAX_CELLS / 32);
    words
}

/// A check of a line's other words. It replaces any order in which parts of a line become visible.
#[must_use]
pub fn check_of(line: &Line) -> u32 {
    let turned = line[..CHECK].iter().enumerate().map(|(at, word)| word.rotate_left(at as u32));
    turned.fold(SEED, |all, word| all ^ word)
}

/// The line of an event.
#[must_use]
pub fn line(record: &Record, event: u32) -> Line {
    let mut made = [0; LINE_WORDS];
    let mut padded = [0; RECORD_BYTES + 2];
    padded[..RECORD_BYTES].copy_from_slice(record);
    for (word, bytes) in made.iter_mut().zip(padded.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    made[SEQUENCE] = event.wrapping_add(1);
    made[CHECK] = check_of(&made);
    made
}

/// What a line of results says, if it is of this event and whole.
#[must_use]
pub fn result(line: &Line, event: u32) -> Option<Found> {
    let ours = line[SEQUENCE] == event.wrapping_add(1) && line[CHECK] == check_of(line);
    ours.then(|| found(line))
}

/// The circles of a line, or of a result of a batch.
#[must_use]
pub fn found(line: &Line) -> Found {
    let count = (line[0] as usize).min(MAX_FOUND);
    let mut circles = [[0.0; 3]; MAX_FOUND];
    for (at, circle) in circles.iter_mut().enumerate() {
        *circle = [2, 3, 4].map(|word| f32::from_bits(line[word + 3 * at]));
    }
    Found::of_mm(&circles[..count], f32::from_bits(line[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{REFERENCE, generate};
    use crate::geometry::Geometry;

    #[test]
    fn a_line_of_two_times_does_not_fit_its_check() {
        let (events, _) = generate(&Geometry::na62(), &REFERENCE, 5, 2);
        let (old, new) = (line(&events[0], 7), line(&events[1], 7));
        for cut in 1..LINE_WORDS {
            let mut torn = new;
            torn[..cut].copy_from_slice(&old[..cut]);
            assert_eq!(result(&torn, 7).is_some(), torn == new || torn == old, "cut at {cut}");
        }
        assert!(result(&[0; LINE_WORDS], u32::MAX).is_none());
    }
}
