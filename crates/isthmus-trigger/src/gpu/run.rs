// SPDX-License-Identifier: Apache-2.0
//! Measures a GPU as the trigger's processor. This thread is the network interface: it writes events at their
//! intended times and takes the results.

use super::batches::batches;
use super::driver::{Argument, Mapped};
use super::resident::resident;
use super::ring::Ring;
use super::{Driver, GpuError, LINE_WORDS, Line, SEQUENCE, STAMPS, Source, line, result, tables};
use crate::paced::Times;
use crate::record::Record;
use crate::rings::{Finder, Found};
use crate::simd::Level;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Warps of a block, as in `rings.cu`.
pub(super) const WARPS_OF_BLOCK: u32 = 4;
/// Lanes of a warp.
pub(super) const LANES: u32 = 32;
/// No result for this long means that the kernel is gone.
const PATIENCE: Duration = Duration::from_secs(2);

/// How events reach the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A kernel that never leaves polls a ring in the host's memory.
    Mapped,
    /// It polls a ring in the GPU's memory, to which the host stores; not every machine has such stores.
    Store,
    /// It polls a ring in the GPU's memory, to which the copy engine copies each batch.
    Copy,
    /// For each batch a graph of copy, kernel and copy back.
    Graph,
    /// For each batch: copy, launch, copy back.
    Launch,
    /// Events that a kernel made in the GPU's memory; a launch for each batch, and no copy.
    Resident,
}

impl Method {
    /// All; of those whose events come from the host the fastest expected first.
    pub const ALL: [Self; 6] =
        [Self::Mapped, Self::Store, Self::Copy, Self::Graph, Self::Launch, Self::Resident];

    /// Its name in commands.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mapped => "mapped",
            Self::Store => "store",
            Self::Copy => "copy",
            Self::Graph => "graph",
            Self::Launch => "launch",
            Self::Resident => "resident",
        }
    }

    /// The method of a name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// What is run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which.
    pub method: Method,
    /// Events that come together.
    pub batch: usize,
    /// Events a second; batches come evenly.
    pub rate_hz: f64,
    /// Events in all.
    pub events: usize,
    /// Blocks of four warps.
    pub blocks: u32,
    /// Lines of the ring, a power of two and a multiple of the warps.
    pub lines: u32,
    /// The kernel leaves after this long, whatever happens.
    pub watchdog: Duration,
    /// What the records are made from, as far as it is known; [`Method::Resident`] makes them again.
    pub source: Option<Source>,
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The GPU.
    pub device: String,
    /// Events sent, and answered.
    pub events: usize,
    /// See `events`.
    pub answered: usize,
    /// Events whose result is the CPU's: number of circles, and all of them within a hundredth of a millimetre.
    pub as_cpu: usize,
    /// From the intended time of a batch to the result of its first event, and of its last.
    pub first: Times,
    /// See `first`.
    pub last: Times,
    /// Mean ns in the GPU from detected to loaded, loaded to fitted, fitted to published; none for a graph or launch.
    pub stages: Option<[f64; 3]>,
    /// Lines that were read while they were written, and read again.
    pub torn: u64,
    /// Reads of lines.
    pub polls: u64,
    /// Batches that were sent late, because the ring had no space.
    pub delayed: usize,
    /// Events a second that were answered.
    pub per_second: f64,
}

/// What another thread sees of a run, and by which it ends it. The run itself calls nobody: that would be in its times.
#[derive(Debug, Default)]
pub struct Watch {
    /// Events answered so far.
    pub answered: AtomicUsize,
    /// Whether the run is to end with [`GpuError::Stopped`].
    pub stop: AtomicBool,
}

impl Watch {
    /// Notes the events answered. An error if the run is to end.
    pub(super) fn at(&self, answered: usize) -> Result<(), GpuError> {
        self.answered.store(answered, Ordering::Relaxed);
        if self.stop.load(Ordering::Relaxed) { Err(GpuError::Stopped) } else { Ok(()) }
    }
}

/// Runs it. The results are compared with the CPU's.
pub fn run(
    driver: &Driver,
    finder: &Finder,
    records: &[Record],
    settings: &Settings,
    watch: &Watch,
) -> Result<Report, GpuError> {
    if records.is_empty() || settings.batch == 0 || settings.events == 0 {
        return Err(GpuError::Kernel("no events".into()));
    }
    let warps = settings.blocks * WARPS_OF_BLOCK;
    let fits = settings.lines.is_power_of_two() && settings.lines as usize >= settings.batch;
    if settings.blocks == 0 || !fits || !settings.lines.is_multiple_of(warps) {
        let what =
            "the ring's lines must be a power of two, a multiple of the warps and hold a batch";
        return Err(GpuError::Kernel(what.into()));
    }
    let words = tables(finder);
    let address = driver.alloc(4 * words.len())?;
    let made = driver.upload(address, &words).and_then(|()| match settings.method {
        Method::Graph | Method::Launch => {
            batches(driver, address, finder, records, settings, watch)
        }
        Method::Resident => resident(driver, address, finder, records, settings, watch),
        Method::Mapped | Method::Store | Method::Copy => {
            persistent(driver, address, finder, records, settings, watch)
        }
    });
    driver.free(address);
    made
}

/// The CPU's circles of the records, for comparison.
pub(super) fn expected(finder: &Finder, records: &[Record]) -> Vec<Found> {
    let mut found = Vec::new();
    finder.find(Level::best(), records, &mut found);
    found
}

pub(super) fn same(a: &Found, b: &Found) -> bool {
    a.count == b.count
        && a.rings().iter().zip(b.rings()).all(|(a, b)| {
            let near = |a: f32, b: f32| (a - b).abs() < 0.01;
            near(a.x, b.x) && near(a.y, b.y) && near(a.r, b.r)
        })
}

/// Memory that a kernel uses while it lives; it is all made before the kernel starts, as the driver may wait for
/// kernels when it makes or frees some.
struct Shared {
    control: Mapped,
    events: Ring,
    results: Mapped,
    report: Mapped,
}

fn persistent(
    driver: &Driver,
    tables: u64,
    finder: &Finder,
    records: &[Record],
    settings: &Settings,
    watch: &Watch,
) -> Result<Report, GpuError> {
    let lines = settings.lines as usize;
    let warps = (settings.blocks * WARPS_OF_BLOCK) as usize;
    let events = Ring::new(driver, settings.method, lines)?;
    let mut made = Vec::new();
    for words in [LINE_WORDS, lines * LINE_WORDS, warps * LINE_WORDS] {
        match driver.mapped(words) {
            Ok(memory) => made.push(memory),
            Err(error) => {
                made.into_iter().for_each(|memory| driver.free_mapped(memory));
                events.free(driver);
                return Err(error);
            }
        }
    }
    let [control, results, report] =
        <[Mapped; 3]>::try_from(made).unwrap_or_else(|_| unreachable!("three were made"));
    let shared = Shared { control, events, results, report };
    let watchdog = settings.watchdog.as_nanos() as u64;
    let started = driver.launch(
        "rings_serve",
        [settings.blocks, WARPS_OF_BLOCK * LANES],
        &mut [
            Argument::Address(tables),
            Argument::Address(shared.control.device),
            Argument::Address(shared.events.device()),
            Argument::Address(shared.results.device),
            Argument::Address(shared.report.device),
            Argument::Word(settings.lines),
            Argument::Long(watchdog),
        ],
    );
    let outcome = started.and_then(|()| feed(driver, &shared, finder, records, settings, watch));
    // Whatever happened, the kernel is asked to leave before its memory goes.
    shared.control.word(0).store(1, Ordering::Release);
    let ended = driver.wait();
    let outcome = outcome.and_then(|mut report| {
        ended?;
        let mut line: Line = [0; LINE_WORDS];
        for warp in 0..warps {
            shared.report.read(warp * LINE_WORDS, &mut line);
            report.torn += u64::from(line[1]);
            report.polls += u64::from(line[3]) << 32 | u64::from(line[4]);
        }
        Ok(report)
    });
    let Shared { control, events, results, report } = shared;
    events.free(driver);
    [control, results, report].into_iter().for_each(|one| driver.free_mapped(one));
    outcome
}

/// Sends all events at their times, and takes their results.
fn feed(
    driver: &Driver,
    shared: &Shared,
    finder: &Finder,
    records: &[Record],
    settings: &Settings,
    watch: &Watch,
) -> Result<Report, GpuError> {
    let known = expected(finder, records);
    let lines: Vec<Line> = records.iter().map(|record| line(record, 0)).collect();
    let total = settings.events / settings.batch * settings.batch;
    let period = settings.batch as f64 / settings.rate_hz;
    let place = |event: usize| event % settings.lines as usize * LINE_WORDS;
    let mut report = empty(driver, total);
    let (mut first, mut last) = (Vec::new(), Vec::new());
    let mut stages = [0u64; 3];
    let (mut sent, mut taken, mut late) = (0, 0, false);
    let start = Instant::now();
    let mut heard = start;
    let mut answer: Line = [0; LINE_WORDS];
    while taken < total {
        watch.at(taken)?;
        let now = start.elapsed();
        if sent < total && now.as_secs_f64() >= (sent / settings.batch) as f64 * period {
            if sent + settings.batch - taken <= settings.lines as usize {
                for event in sent..sent + settings.batch {
                    let mut line = lines[event % records.len()];
                    renumber(&mut line, event as u32);
                    shared.events.write(place(event), &line);
                }
                shared.events.send(driver, sent % settings.lines as usize, settings.batch)?;
                sent += settings.batch;
                late = false;
            } else if !late {
                report.delayed += 1;
                late = true;
            }
        }
        let mut any = false;
        while taken < sent {
            let at = place(taken);
            if shared.results.word(at + SEQUENCE).load(Ordering::Acquire) != taken as u32 + 1 {
                break;
            }
            shared.results.read(at, &mut answer);
            let Some(found) = result(&answer, taken as u32) else { break };
            let intended = (taken / settings.batch) as f64 * period * 1e9;
            let took = (start.elapsed().as_nanos() as f64 - intended).max(0.0) as u64;
            if taken % settings.batch == 0 {
                first.push(took);
            }
            if (taken + 1) % settings.batch == 0 {
                last.push(took);
            }
            let time = |at: usize| {
                u64::from(answer[STAMPS + 2 * at]) | u64::from(answer[STAMPS + 2 * at + 1]) << 32
            };
            for (at, stage) in stages.iter_mut().enumerate() {
                *stage += time(at + 1).saturating_sub(time(at));
            }
            report.as_cpu += usize::from(same(&found, &known[taken % records.len()]));
            taken += 1;
            any = true;
        }
        if any {
            heard = Instant::now();
        } else if taken < sent && heard.elapsed() > PATIENCE || !alive(driver, taken)? {
            let what = format!("event {taken} of {total} was not answered: the kernel has left");
            return Err(GpuError::Kernel(what));
        }
    }
    report.per_second = total as f64 / start.elapsed().as_secs_f64();
    report.answered = taken;
    report.stages = Some(stages.map(|sum| sum as f64 / total as f64));
    (report.first, report.last) = (Times::of(first), Times::of(last));
    Ok(report)
}

/// Whether the kernel runs. Asked seldom: it is a call to the driver.
fn alive(driver: &Driver, taken: usize) -> Result<bool, GpuError> {
    if taken.is_multiple_of(1024) { driver.running() } else { Ok(true) }
}

/// Gives a line another number. Its check follows without the other words.
fn renumber(line: &mut Line, event: u32) {
    let old = line[SEQUENCE].rotate_left(SEQUENCE as u32);
    line[SEQUENCE] = event.wrapping_add(1);
    line[SEQUENCE + 1] ^= old ^ line[SEQUENCE].rotate_left(SEQUENCE as u32);
}

pub(super) fn empty(driver: &Driver, events: usize) -> Report {
    Report {
        device: driver.name().to_owned(),
        events,
        answered: 0,
        as_cpu: 0,
        first: Times::default(),
        last: Times::default(),
        stages: None,
        torn: 0,
        polls: 0,
        delayed: 0,
        per_second: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::EMPTY;

    #[test]
    fn a_line_with_another_number_has_the_check_of_one_made_with_it() {
        for (old, new) in [(0, 1), (7, 0xFFFF_FFFE), (5, 5)] {
            let mut made = line(&EMPTY, old);
            renumber(&mut made, new);
            assert_eq!(made, line(&EMPTY, new));
        }
    }
}
