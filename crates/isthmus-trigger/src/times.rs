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
use crate::rings::{Config, Given, Seed, encode_given, ids};
use crate::simd::Level;

/// Samples between two looks at the scheduler.
const BLOCK: usize = 64;
/// Runs of each input. All inputs have their turn before one is run again, so that no branch is learnt by heart.
const RUNS: usize = 8;
/// Events that are measured with, at most.
const EVENTS: usize = 1 << 20;
/// Of them, those whose candidates are searched beforehand.
const SEARCHED: usize = 1 << 16;
/// Words that are handed over together, at most.
const WORDS: usize = 8;
/// Looks at the other side's words before the core is offered to other threads: it may be waiting for one.
const PATIENCE: u32 = 1 << 12;
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
    pub(crate) fn of(times: impl IntoIterator<Item = u64>) -> Self {
        let mut counts = Counts::default();
        times.into_iter().for_each(|time| counts.add(time));
        counts.into()
    }

    /// Number of samples.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.buckets.iter().map(|one| one.1).sum()
    }
}

/// A distribution that grows.
#[derive(Default)]
struct Counts(BTreeMap<u64, u64>);

impl Counts {
    fn add(&mut self, time: u64) {
        *self.0.entry(bucket(time)).or_insert(0) += 1;
    }
}

impl From<Counts> for Distribution {
    fn from(counts: Counts) -> Self {
        Self { buckets: counts.0.into_iter().collect() }
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
    /// Runs of each input.
    pub runs: usize,
    /// All runs, from what: `find/<finder>/<events>`, `fit/isthmus/<events>` (of given candidates),
    /// `merge/<format>/<events>` (one datagram), `handover/<words>` (that many words, a cache line each, from one
    /// core to another).
    pub distributions: BTreeMap<String, Distribution>,
    /// The same steps, the shortest of the runs of each input: what its data cost. What else the machine did, and
    /// hit fewer than all of the runs, is not in it.
    pub own: BTreeMap<String, Distribution>,
}

/// Both distributions of a step.
struct Clocked {
    all: Distribution,
    own: Distribution,
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
    /// Times of all inputs, each [`RUNS`] times. Of blocks during which a thread of `threads` waited for a core or
    /// was interrupted no run counts, but as the shortest of its input.
    fn clocked(
        &mut self,
        inputs: usize,
        threads: &[&Watch],
        mut run: impl FnMut(usize) -> u64,
    ) -> Clocked {
        let look = || threads.iter().map(|one| one.look()).collect::<Option<Vec<Seen>>>();
        let mut least = vec![u64::MAX; inputs];
        let mut all = Counts::default();
        // These warm caches and tables up.
        for at in 0..BLOCK.min(inputs) {
            run(at);
        }
        for _ in 0..RUNS {
            for (block, least) in least.chunks_mut(BLOCK).enumerate() {
                let mut times = [0; BLOCK];
                let before = look();
                for (at, time) in times[..least.len()].iter_mut().enumerate() {
                    *time = run(block * BLOCK + at);
                }
                let quiet = before == look();
                self.known |= before.is_some();
                self.all += 1;
                self.left_out += u64::from(!quiet);
                for (least, time) in least.iter_mut().zip(times) {
                    *least = (*least).min(time);
                    if quiet {
                        all.add(time);
                    }
                }
            }
        }
        Clocked { all: all.into(), own: Distribution::of(least) }
    }
}

/// As many inputs as are asked for or there are, in whole blocks where they are enough for one.
fn inputs(wanted: usize, there: usize) -> usize {
    match wanted.next_multiple_of(BLOCK).min(there) {
        few if few < BLOCK => few,
        many => many / BLOCK * BLOCK,
    }
}

/// What was measured so far.
#[derive(Default)]
struct Steps {
    all: BTreeMap<String, Distribution>,
    own: BTreeMap<String, Distribution>,
}

impl Steps {
    fn insert(&mut self, name: String, of: Clocked) {
        self.all.insert(name.clone(), of.all);
        self.own.insert(name, of.own);
    }
}

/// Measures everything: `samples` inputs of each step, or as many as there are. `progress` is called with jobs done
/// and in all; false ends it.
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
    let largest = sizes.iter().copied().max().unwrap_or(1);
    let events = samples.next_multiple_of(BLOCK).saturating_mul(largest).min(EVENTS);
    let (records, _) = generate(&Geometry::na62(), &of, seed, events);
    let total = sizes.len() * (FINDERS.len() + Format::ALL.len()) + WORDS;
    let mut steps = Steps::default();
    let mut blocks = Blocks::default();
    let own = Watch::of_this_thread();
    let mut go = |steps: &Steps| progress(steps.all.len(), total);
    let ready = Ready::new(&Geometry::na62(), &Config::default());
    let gateware = ready.finder().gateware();
    let searched: Vec<Vec<Seed>> =
        records.iter().take(SEARCHED).map(|event| gateware.seeds(&ids(event))).collect();
    for &size in sizes {
        let groups: Vec<&[Record]> = records.chunks_exact(size).collect();
        // The histogram of distances is no method for a trigger: a hundred times as slow.
        for (name, kind) in FINDERS.into_iter().filter(|(name, _)| *name != "histogram") {
            let mut found = Vec::new();
            let mut hot = Vec::with_capacity(size);
            let times = blocks.clocked(inputs(samples, groups.len()), &[&own], |at| {
                // As the core has them that has just merged them.
                hot.clear();
                hot.extend_from_slice(groups[at]);
                let start = Instant::now();
                ready.find(Level::best(), kind, &hot, &mut found);
                start.elapsed().as_nanos() as u64
            });
            steps.insert(format!("find/{}/{size}", name.to_lowercase()), times);
            if !go(&steps) {
                return Ok(None);
            }
        }
        let times = fitting(&mut blocks, &own, &ready, (&groups, &searched), samples);
        steps.insert(format!("fit/isthmus/{size}"), times);
        if !go(&steps) {
            return Ok(None);
        }
        for format in Format::ALL {
            let times = merging(&mut blocks, &own, format, &groups, samples);
            steps.insert(format!("merge/{}/{size}", format.name()), times);
            if !go(&steps) {
                return Ok(None);
            }
        }
    }
    for words in 1..=WORDS {
        steps.insert(format!("handover/{words}"), handover(&mut blocks, &own, words, samples));
        if !go(&steps) {
            return Ok(None);
        }
    }
    let interrupted = blocks.known.then(|| blocks.left_out as f64 / blocks.all.max(1) as f64);
    let (sample, level) = (sample.to_owned(), Level::best().name());
    let (distributions, own) = (steps.all, steps.own);
    Ok(Some(Times { sample, seed, level, interrupted, runs: RUNS, distributions, own }))
}

/// The finder on events that come with their candidates, from the bytes of these on.
fn fitting(
    blocks: &mut Blocks,
    own: &Watch,
    ready: &Ready,
    (groups, searched): (&[&[Record]], &[Vec<Seed>]),
    samples: usize,
) -> Clocked {
    let size = groups.first().map_or(1, |group| group.len());
    let sent: Vec<(&[Record], Vec<u8>)> = groups
        .iter()
        .zip(searched.chunks_exact(size))
        .map(|(few, seeds)| (*few, encode_given(seeds)))
        .collect();
    let (mut given, mut found) = (Given::default(), Vec::new());
    let (mut hot, mut arrived) = (Vec::with_capacity(size), Vec::new());
    blocks.clocked(inputs(samples, sent.len()), &[own], |at| {
        let (few, bytes) = &sent[at];
        hot.clear();
        hot.extend_from_slice(few);
        arrived.clone_from(bytes);
        let start = Instant::now();
        let read = given.read(&arrived, hot.len());
        ready.finder().find_given(Level::best(), &hot, &given, &mut found);
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
) -> Clocked {
    let wanted = samples.next_multiple_of(BLOCK);
    let sent: Vec<Vec<u8>> = groups
        .iter()
        .enumerate()
        .flat_map(|(at, few)| {
            let first = (at * few.len()) as u32 & 0xFF_FFFF;
            packets(format, at, first, few).unwrap_or_default()
        })
        .map(|packet| packet.bytes)
        .take(wanted)
        .collect();
    let mut merger = Merger::new(format);
    let mut arrived = Vec::new();
    blocks.clocked(inputs(samples, sent.len()), &[own], |at| {
        arrived.clone_from(&sent[at]);
        let start = Instant::now();
        let group = merger.push(&arrived);
        let took = start.elapsed().as_nanos() as u64;
        debug_assert!(group.is_ok(), "{group:?}");
        took
    })
}

/// A word in a cache line of its own.
#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicU64);

/// Between two looks at the other side.
fn pause(looks: &mut u32) {
    *looks += 1;
    if looks.is_multiple_of(PATIENCE) { std::thread::yield_now() } else { spin_loop() }
}

/// Half a round trip of words between two cores that poll. One of them receives all: where each word is for
/// another core, none has it later.
fn handover(blocks: &mut Blocks, own: &Watch, words: usize, samples: usize) -> Clocked {
    let lines = || -> Vec<Line> { (0..words).map(|_| Line::default()).collect() };
    let (ping, pong, stop) = (lines(), lines(), AtomicBool::new(false));
    let store = |lines: &[Line], word| {
        lines.iter().for_each(|line| line.0.store(word, Ordering::Release));
    };
    let there =
        |lines: &[Line], word| lines.iter().all(|line| line.0.load(Ordering::Acquire) == word);
    std::thread::scope(|scope| {
        let (send, receive) = std::sync::mpsc::channel();
        let (ping, pong, stop) = (&ping, &pong, &stop);
        scope.spawn(move || {
            // The other side ends the loop, whether or not anybody takes this.
            let _ = send.send(Watch::of_this_thread());
            let (mut next, mut looks) = (1, 0);
            while !stop.load(Ordering::Relaxed) {
                if there(ping, next) {
                    store(pong, next);
                    (next, looks) = (next + 1, 0);
                }
                pause(&mut looks);
            }
        });
        let other = receive.recv().unwrap_or(Watch(None));
        let mut word = 0;
        // There are no inputs whose cost differs: fewer are enough.
        let rounds = samples.div_ceil(RUNS).next_multiple_of(BLOCK);
        let times = blocks.clocked(rounds, &[own, &other], |_| {
            word += 1;
            let (mut looks, start) = (0, Instant::now());
            store(ping, word);
            while !there(pong, word) {
                pause(&mut looks);
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
