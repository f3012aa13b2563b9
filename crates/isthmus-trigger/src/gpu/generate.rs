// SPDX-License-Identifier: Apache-2.0
//! Events that a GPU makes in its own memory, with the bits of [`crate::events`]: tables and launches of the kernels in
//! `events.cu`.

use super::batches::words;
use super::driver::Argument;
use super::{Driver, GpuError};
use crate::events::{FOCAL_MM, REFRACTIVITY, Sample};
use crate::file::TRUTH_BYTES;
use crate::geometry::{Geometry, PITCH_MM};
use crate::random::exp_minus;
use crate::record::{RECORD_BYTES, Record, TDC_NS};

/// Events that the kernels make at a time, before pile-up.
pub const TOGETHER: u32 = 1 << 18;
/// Threads of a block.
const THREADS: u32 = 128;
/// Kinds of particles, by their place in the sample's list, that the tables have room for.
const PARTICLES: usize = 16;
/// Doubles of the tables before the masses.
const DOUBLES: usize = 32;

/// What events are made from, besides a geometry.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The sample, at its rate.
    pub sample: Sample,
    /// The seed.
    pub seed: u64,
}

/// Memory of the GPU that is freed when it is dropped.
pub(super) struct Memory<'a> {
    driver: &'a Driver,
    pub(super) address: u64,
}

impl<'a> Memory<'a> {
    pub(super) fn new(driver: &'a Driver, words: usize) -> Result<Self, GpuError> {
        Ok(Self { driver, address: driver.alloc(4 * words)? })
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        self.driver.free(self.address);
    }
}

/// The tables of a sample on a disk as the kernels read them; the layout is at the head of `events.cu`.
fn tables(geometry: &Geometry, sample: &Sample) -> Result<Vec<u32>, GpuError> {
    let s = sample;
    if s.particles.is_empty() || s.particles.len() > PARTICLES {
        let what = format!("a sample for the GPU has 1 to {PARTICLES} particles");
        return Err(GpuError::Kernel(what));
    }
    let (reach, index) = geometry.lattice();
    let half = PITCH_MM / 2.0;
    // Constants of the sample are made here, by the operations of the CPU's generator.
    let mut doubles = s.multiplicity.to_vec();
    doubles.extend([s.momentum.0, s.momentum.1 - s.momentum.0]);
    doubles.extend(s.photons);
    doubles.extend(s.photons.map(exp_minus));
    doubles.extend([s.noise, exp_minus(s.noise), s.centre_mm, s.smear_mm]);
    doubles.extend([s.jitter_ns / TDC_NS, s.rate_hz * TDC_NS, s.window_ns / TDC_NS]);
    doubles.extend([2.0 * REFRACTIVITY, FOCAL_MM]);
    doubles.extend([half, half * 3f64.sqrt(), 3f64.sqrt(), f64::from(reach + 2) * 2.0 * half]);
    doubles.resize(DOUBLES, 0.0);
    doubles.extend(s.particles.iter().map(|particle| particle.mass()));
    doubles.resize(DOUBLES + PARTICLES, 0.0);
    let bits = doubles.iter().map(|value| value.to_bits());
    let mut words: Vec<u32> = bits.flat_map(|bits| [bits as u32, (bits >> 32) as u32]).collect();
    let drawn_hits = u32::try_from(s.drawn_hits).unwrap_or(u32::MAX);
    words.extend([s.particles.len() as u32, drawn_hits]);
    words.extend([geometry.sites().len() as u32, reach as u32]);
    let first = words.len();
    words.extend(s.particles.iter().map(|&particle| particle as u32));
    words.resize(first + PARTICLES, 0);
    words.extend(
        index.chunks(2).map(|pair| {
            u32::from(pair[0]) | pair.get(1).map_or(0, |&second| u32::from(second) << 16)
        }),
    );
    Ok(words)
}

impl Source {
    /// Makes the first `count` events at the address `records` of the GPU's memory, and their truths at `truths`, if
    /// that is not 0. The kernels have ended when it returns.
    pub(super) fn fill(
        &self,
        driver: &Driver,
        geometry: &Geometry,
        count: usize,
        (records, truths): (u64, u64),
        together: u32,
    ) -> Result<(), GpuError> {
        use Argument::{Address, Long, Word};
        let made = tables(geometry, &self.sample)?;
        let table = Memory::new(driver, made.len())?;
        driver.upload(table.address, &made)?;
        let state = Memory::new(driver, 4)?;
        driver.upload(state.address, &[0u32; 4])?;
        let room = together as usize;
        let (times, marks) = (Memory::new(driver, 2 * room)?, Memory::new(driver, room)?);
        let starts = Memory::new(driver, room + 1)?;
        let at = |memory: &Memory| Address(memory.address);
        let shape = |threads: u32| [threads.div_ceil(THREADS), THREADS];
        let launch = |name, shape, arguments: &[Argument]| {
            let seed = [at(&table), Long(self.seed)];
            // The kernel of one thread draws nothing.
            let head = if name == "events_order" { &seed[..1] } else { &seed };
            driver.launch(name, shape, &mut [head, arguments].concat())
        };
        let (mut done, mut event) = (0, 0u64);
        while done < count {
            let wanted = u32::try_from(count - done).unwrap_or(u32::MAX);
            // With pile-up fewer events come out, and one ends where another begins.
            let pile_up = self.sample.window_ns > 0.0;
            let enough = if pile_up { wanted.saturating_mul(2).max(1024) } else { wanted };
            let drawn = enough.min(together);
            let arguments = [Long(event), at(&times), at(&marks), Word(drawn)];
            launch("events_steps", shape(drawn), &arguments)?;
            let memories = [at(&times), at(&marks), at(&starts), at(&state)];
            let arguments = [&memories[..], &[Word(drawn), Word(wanted)]].concat();
            launch("events_order", [1, 1], &arguments)?;
            driver.wait()?;
            let mut found = [0u32; 2];
            driver.download(&mut found, state.address)?;
            let [closed, next] = found;
            if closed == 0 || closed > wanted {
                let what = format!("pile-up makes one of {drawn} events: too many for the GPU");
                return Err(GpuError::Kernel(what));
            }
            let outputs = [Address(records), Address(truths), Long(done as u64), Word(closed)];
            let arguments = [&[Long(event), at(&times), at(&starts)], &outputs[..]].concat();
            launch("events_write", shape(closed), &arguments)?;
            done += closed as usize;
            event += u64::from(next);
        }
        driver.wait()
    }
}

/// The first `count` events of a source, made by the GPU: records, and truths as a file has them.
pub fn generate(
    driver: &Driver,
    geometry: &Geometry,
    source: &Source,
    count: usize,
    together: u32,
) -> Result<(Vec<Record>, Vec<u8>), GpuError> {
    if count == 0 || together == 0 {
        return Err(GpuError::Kernel("no events".into()));
    }
    let truth_words = TRUTH_BYTES / 4 * count;
    let records = Memory::new(driver, words(count))?;
    let truths = Memory::new(driver, truth_words)?;
    source.fill(driver, geometry, count, (records.address, truths.address), together)?;
    let mut read = vec![0; truth_words];
    driver.download(&mut read, truths.address)?;
    let truths = read.iter().flat_map(|word| word.to_le_bytes()).collect();
    Ok((download(driver, records.address, count)?, truths))
}

/// Records that lie in the GPU's memory.
pub(super) fn download(driver: &Driver, from: u64, count: usize) -> Result<Vec<Record>, GpuError> {
    let mut read = vec![0; words(count)];
    driver.download(&mut read, from)?;
    let mut bytes: Vec<u8> = read.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(RECORD_BYTES * count);
    Ok(bytes.as_chunks().0.to_vec())
}
