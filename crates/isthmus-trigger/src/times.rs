// SPDX-License-Identifier: Apache-2.0
//! How long the steps of a trigger take on this machine, as distributions that a simulation can draw from.

use std::collections::BTreeMap;
use std::hint::spin_loop;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use serde::Serialize;

use crate::bench::{FINDERS, Ready};
use crate::events::generate;
use crate::geometry::Geometry;
use crate::merge::{Format, Merger, packets};
use crate::record::Record;
use crate::report::ReportError;
use crate::rings::{Config, Given, encode_given, ids};
use crate::simd::Level;

/// Samples between two looks at the scheduler.
const BLOCK: usize = 64;
/// Blocks tried for each one that is kept, at most.
const TRIES: usize = 8;
/// Events that are measured with, in turn.
const EVENTS: usize = 1 << 15;
/// Of them, those whose candidates are searched beforehand.
const SEARCHED: usize = 1 << 13;
/// Bits of a value that its bucket keeps: 0.8 % of it.
const KEPT_BITS: u32 = 7;

/// How often something took how long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Distribution {
    /// Highest time of a bucket in ns, and samples in it.
    pub buckets: Vec<(u64, u64)>,
}

impl Distribution {
    /// Of these times.
    fn of(times: impl IntoIterator<Item = u64>) -> Self {
        let mut counts = BTreeMap::new();
        for time in times {
            *counts.entry(bucket(time)).or_insert(0) += 1;
        }
        Self { buckets: counts.into_iter().collect() }
    }

    /// Number of samples.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.buckets.iter().map(|one| one.1).sum()
    }
}

/// The highest time that counts as this one.
fn bucket(time: u64) -> u64 {
    let shift = (u64::BITS - time.leading_zeros()).saturating_sub(KEPT_BITS);
    (((time >> shift) + 1) << shift) - 1
}

/// Everything measured.
#[derive(Clone, Debug, Serialize)]
pub struct Times {
    /// Sample and seed of the events.
    pub sample: String,
    /// See `sample`.
    pub seed: u64,
    /// Instructions of the finder.
    pub level: &'static str,
    /// Share of the time's blocks of 64 samples that were left out: the operating system had interrupted the
    /// core, or given it to something else, meanwhile. None where it does not say.
    pub interrupted: Option<f64>,
    /// From what: `find/<finder>/<events>`, `fit/isthmus/<events>` (of given candidates),
    /// `merge/<format>/<events>` (one datagram), `handover` (a word from one
    /// core to another).
    pub distributions: BTreeMap<String, Distribution>,
}

/// What the operating system says of a thread.
struct Watch(Option<PathBuf>);

/// What changes where a thread does not run all the time.
#[derive(PartialEq, Eq)]
struct Seen {
    /// How long it has waited for a core so far, ns.
    waited: u64,
    core: usize,
    /// Interrupts of that core so far, where the system tells.
    interrupts: Option<u64>,
}

impl Watch {
    /// Of the thread that calls.
    fn of_this_thread() -> Self {
        let link = std::fs::read_link("/proc/thread-self").ok();
        Self(link.map(|link| PathBuf::from("/proc").join(link)))
    }

    fn look(&self) -> Option<Seen> {
        let file = |name| std::fs::read_to_string(self.0.as_ref()?.join(name)).ok();
        let waited = file("schedstat")?.split_ascii_whitespace().nth(1)?.parse().ok()?;
        // proc_pid_stat(5): the name in brackets may have blanks; the core is the 37th word behind it.
        let stat = file("stat")?;
        let core = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(36)?.parse().ok()?;
        let table = std::fs::read_to_string("/proc/interrupts").ok();
        Some(Seen { waited, core, interrupts: table.and_then(|table| interrupts(&table, core)) })
    }
}

/// Interrupts of a core in the table /proc/interrupts.
fn interrupts(table: &str, core: usize) -> Option<u64> {
    let mut lines = table.lines();
    let name = format!("CPU{core}");
    let column = lines.next()?.split_ascii_whitespace().position(|word| word == name)?;
    let of = |line: &str| line.split_ascii_whitespace().nth(column + 1)?.parse::<u64>().ok();
    Some(lines.filter_map(of).sum())
}

/// Blocks that were kept and left out.
#[derive(Default)]
struct Blocks {
    all: u64,
    left_out: u64,
    known: bool,
}

impl Blocks {
    /// Times of at least `samples` runs, in blocks during which no thread of `threads` waited for a core or was
    /// interrupted.
    fn clocked(
        &mut self,
        samples: usize,
        threads: &[&Watch],
        mut run: impl FnMut() -> u64,
    ) -> Distribution {
        let look = || threads.iter().map(|one| one.look()).collect::<Option<Vec<Seen>>>();
        let wanted = samples.div_ceil(BLOCK);
        let mut kept = Vec::with_capacity(wanted * BLOCK);
        // The first block warms caches and tables up.
        for _ in 0..BLOCK {
            run();
        }
        for _ in 0..wanted * TRIES {
            let before = look();
            let block: [u64; BLOCK] = std::array::from_fn(|_| run());
            let quiet = before == look();
            self.known |= before.is_some();
            self.all += 1;
            if quiet {
                kept.extend(block);
            } else {
                self.left_out += 1;
            }
            if kept.len() >= samples {
                break;
            }
        }
        Distribution::of(kept)
    }
}

/// Measures everything: `samples` runs of each. `progress` is called with jobs done and in all; false ends it.
///
/// # Errors
/// An unknown sample.
pub fn measure(
    sample: &str,
    seed: u64,
    sizes: &[usize],
    samples: usize,
    mut progress: impl FnMut(usize, usize) -> bool,
) -> Result<Option<Times>, ReportError> {
    let of = crate::report::chosen_sample(sample)?;
    let (records, _) = generate(&Geometry::na62(), &of, seed, EVENTS);
    let total = sizes.len() * (FINDERS.len() + Format::ALL.len()) + 1;
    let mut distributions = BTreeMap::new();
    let mut blocks = Blocks::default();
    let own = Watch::of_this_thread();
    let mut go =
        |distributions: &BTreeMap<String, Distribution>| progress(distributions.len(), total);
    let ready = Ready::new(&Geometry::na62(), &Config::default());
    for &size in sizes {
        let groups: Vec<&[Record]> = records.chunks_exact(size).collect();
        // The histogram of distances is no method for a trigger: a hundred times as slow.
        for (name, kind) in FINDERS.into_iter().filter(|(name, _)| *name != "histogram") {
            let mut found = Vec::new();
            let mut turn = groups.iter().cycle();
            let times = blocks.clocked(samples, &[&own], || {
                let few = turn.next().copied().unwrap_or_default();
                let start = Instant::now();
                ready.find(Level::best(), kind, few, &mut found);
                start.elapsed().as_nanos() as u64
            });
            distributions.insert(format!("find/{}/{size}", name.to_lowercase()), times);
            if !go(&distributions) {
                return Ok(None);
            }
        }
        let times = fitting(&mut blocks, &own, &ready, &groups, samples);
        distributions.insert(format!("fit/isthmus/{size}"), times);
        if !go(&distributions) {
            return Ok(None);
        }
        for format in Format::ALL {
            let times = merging(&mut blocks, &own, format, &groups, samples);
            distributions.insert(format!("merge/{}/{size}", format.name()), times);
            if !go(&distributions) {
                return Ok(None);
            }
        }
    }
    distributions.insert("handover".to_owned(), handover(&mut blocks, &own, samples));
    go(&distributions);
    let interrupted = blocks.known.then(|| blocks.left_out as f64 / blocks.all.max(1) as f64);
    let (sample, level) = (sample.to_owned(), Level::best().name());
    Ok(Some(Times { sample, seed, level, interrupted, distributions }))
}

/// The finder on events that come with their candidates, from the bytes of these on.
fn fitting(
    blocks: &mut Blocks,
    own: &Watch,
    ready: &Ready,
    groups: &[&[Record]],
    samples: usize,
) -> Distribution {
    let gateware = ready.finder().gateware();
    // Each event's own search takes a hundred times as long as its fit: some groups are enough.
    let groups =
        &groups[..groups.len().min(SEARCHED.div_ceil(groups.first().map_or(1, |g| g.len())))];
    let sent: Vec<(&[Record], Vec<u8>)> = groups
        .iter()
        .map(|few| {
            let seeds: Vec<_> = few.iter().map(|event| gateware.seeds(&ids(event))).collect();
            (*few, encode_given(&seeds))
        })
        .collect();
    let (mut given, mut found) = (Given::default(), Vec::new());
    let mut turn = sent.iter().cycle();
    blocks.clocked(samples, &[own], || {
        let Some((few, bytes)) = turn.next() else { return 0 };
        let start = Instant::now();
        let read = given.read(bytes, few.len());
        ready.finder().find_given(Level::best(), few, &given, &mut found);
        let took = start.elapsed().as_nanos() as u64;
        debug_assert!(read.is_ok(), "{read:?}");
        took
    })
}

/// One datagram into the merger, whether or not it completes its group.
fn merging(
    blocks: &mut Blocks,
    own: &Watch,
    format: Format,
    groups: &[&[Record]],
    samples: usize,
) -> Distribution {
    let sent: Vec<Vec<u8>> = groups
        .iter()
        .enumerate()
        .flat_map(|(at, few)| {
            let first = (at * few.len()) as u32 & 0xFF_FFFF;
            packets(format, at, first, few).unwrap_or_default()
        })
        .map(|packet| packet.bytes)
        .collect();
    let mut merger = Merger::new(format);
    let mut turn = sent.iter().cycle();
    blocks.clocked(samples, &[own], || {
        let bytes = turn.next().map_or(&[][..], Vec::as_slice);
        let start = Instant::now();
        let group = merger.push(bytes);
        let took = start.elapsed().as_nanos() as u64;
        debug_assert!(group.is_ok(), "{group:?}");
        took
    })
}

/// Half a round trip of a word between two cores that poll.
fn handover(blocks: &mut Blocks, own: &Watch, samples: usize) -> Distribution {
    let (ping, pong, stop) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (send, receive) = std::sync::mpsc::channel();
        let (ping, pong, stop) = (&ping, &pong, &stop);
        scope.spawn(move || {
            // The other side ends the loop, whether or not anybody takes this.
            let _ = send.send(Watch::of_this_thread());
            let mut seen = 0;
            while !stop.load(Ordering::Relaxed) {
                let word = ping.load(Ordering::Acquire);
                if word != seen {
                    seen = word;
                    pong.store(word, Ordering::Release);
                }
                spin_loop();
            }
        });
        let other = receive.recv().unwrap_or(Watch(None));
        let mut word = 0;
        let times = blocks.clocked(samples, &[own, &other], || {
            word += 1;
            let start = Instant::now();
            ping.store(word, Ordering::Release);
            while pong.load(Ordering::Acquire) != word {
                spin_loop();
            }
            start.elapsed().as_nanos() as u64 / 2
        });
        stop.store(true, Ordering::Relaxed);
        times
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupts_are_those_of_the_core() {
        let table = "           CPU0       CPU2\n 24:          1          7  IO-APIC   5-edge  ACPI\n\
                     LOC:     100        900   Local timer interrupts\nERR:          0\n";
        assert_eq!(interrupts(table, 0), Some(101));
        assert_eq!(interrupts(table, 2), Some(907));
        assert_eq!(interrupts(table, 1), None);
        assert_eq!(interrupts("", 0), None);
    }

    #[test]
    fn a_thread_is_seen_to_be_interrupted() {
        let own = Watch::of_this_thread();
        let Some(before) = own.look() else { return };
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(own.look() != Some(before), "it slept");
    }

    #[test]
    fn a_bucket_holds_its_times_and_is_narrow() {
        for time in (0..3000).chain([1 << 20, (1 << 40) + 7]) {
            let top = bucket(time);
            assert!(time <= top && bucket(top) == top, "{time} {top}");
            assert!(top - time <= time / 63, "{time} {top}");
        }
        let made = Distribution::of([1, 1, 5, 1_000, 1_001]);
        assert_eq!(made.samples(), 5);
        assert_eq!(made.buckets[0], (1, 2));
    }
}
