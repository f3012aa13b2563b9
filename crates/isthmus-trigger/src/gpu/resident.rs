// SPDX-License-Identifier: Apache-2.0
//! What the GPU does without its bus: events that a kernel made in its memory, a launch for each batch, results in its
//! memory. They are compared with the CPU's after each pass over the events, outside the measured time.

use super::batches::{kernel, words};
use super::generate::{Memory, TOGETHER, download};
use super::run::{Watch, empty, expected, same};
use super::{Driver, GpuError, LINE_WORDS, Line, Report, Settings, found};
use crate::paced::Times;
use crate::record::{RECORD_BYTES, Record};
use crate::rings::Finder;
use std::time::{Duration, Instant};

/// Runs all batches, the next one when it is due or when the last one is done.
pub(super) fn resident(
    driver: &Driver,
    tables: u64,
    finder: &Finder,
    records: &[Record],
    settings: &Settings,
    watch: &Watch,
) -> Result<Report, GpuError> {
    let Some(source) = &settings.source else {
        let what = "not available: the GPU makes only events whose sample is known";
        return Err(GpuError::Kernel(what.into()));
    };
    let known = expected(finder, records);
    let events = Memory::new(driver, words(records.len()))?;
    let results = Memory::new(driver, LINE_WORDS * records.len())?;
    let (geometry, ..) = finder.tables();
    source.fill(driver, geometry, records.len(), (events.address, 0), TOGETHER)?;
    let made = download(driver, events.address, records.len())?;
    if let Some(event) = made.iter().zip(records).position(|(made, given)| made != given) {
        let what = format!("event {event} as the GPU made it is not the given one");
        return Err(GpuError::Kernel(what));
    }
    let batch = settings.batch.min(records.len());
    let (all, of_pass) = (settings.events / batch, records.len() / batch);
    let period = batch as f64 / settings.rate_hz;
    let mut lines = vec![0u32; LINE_WORDS * batch * of_pass];
    let mut report = empty(driver, all * batch);
    let (mut times, mut measured) = (Vec::new(), Duration::ZERO);
    while report.answered < report.events {
        let batches = of_pass.min(all - report.answered / batch);
        let lines = &mut lines[..LINE_WORDS * batch * batches];
        // A result that is missing is not the last pass's.
        lines.fill(0);
        driver.upload(results.address, lines)?;
        let start = Instant::now();
        for number in 0..batches {
            watch.at(report.answered + number * batch)?;
            let due = number as f64 * period;
            report.delayed += usize::from(start.elapsed().as_secs_f64() > due + period);
            while start.elapsed().as_secs_f64() < due {
                watch.at(report.answered + number * batch)?;
                std::hint::spin_loop();
            }
            let first = number * batch;
            let input = events.address + (RECORD_BYTES * first) as u64;
            let output = results.address + (size_of::<Line>() * first) as u64;
            let (shape, mut arguments) = kernel(tables, input, output, batch);
            driver.launch("rings_batch", shape, &mut arguments)?;
            driver.wait()?;
            times.push((start.elapsed().as_nanos() as f64 - due * 1e9).max(0.0) as u64);
        }
        measured += start.elapsed();
        driver.download(lines, results.address)?;
        for (line, known) in lines.as_chunks::<LINE_WORDS>().0.iter().zip(&known) {
            report.as_cpu += usize::from(same(&found(line), known));
        }
        report.answered += batch * batches;
    }
    report.per_second = report.events as f64 / measured.as_secs_f64();
    (report.first, report.last) = (Times::of(times.clone()), Times::of(times));
    Ok(report)
}
