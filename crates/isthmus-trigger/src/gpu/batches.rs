// SPDX-License-Identifier: Apache-2.0
//! A kernel for each batch: a copy, a launch and a copy back, by three calls or by one of a graph.

use super::driver::{Argument, Graph, Mapped};
use super::run::{LANES, Method, WARPS_OF_BLOCK, Watch, empty, expected, same};
use super::{Driver, GpuError, LINE_WORDS, Line, Report, Settings, found};
use crate::paced::Times;
use crate::record::{RECORD_BYTES, Record};
use crate::rings::Finder;
use std::time::Instant;

/// The memory that a batch needs, and what runs it.
struct Batches<'a> {
    driver: &'a Driver,
    events: usize,
    tables: u64,
    /// Records and lines of results in the GPU.
    input: u64,
    output: u64,
    graph: Option<Recorded>,
}

/// A graph with the host's records and lines.
struct Recorded {
    graph: Graph,
    input: Mapped,
    output: Mapped,
}

impl<'a> Batches<'a> {
    fn new(
        driver: &'a Driver,
        tables: u64,
        events: usize,
        method: Method,
    ) -> Result<Self, GpuError> {
        let input = driver.alloc(4 * words(events))?;
        let output =
            driver.alloc(size_of::<Line>() * events).inspect_err(|_| driver.free(input))?;
        let mut made = Self { driver, events, tables, input, output, graph: None };
        if method == Method::Graph {
            made.graph = Some(made.recorded()?);
        }
        Ok(made)
    }

    fn kernel(&self) -> ([u32; 2], [Argument; 4]) {
        kernel(self.tables, self.input, self.output, self.events)
    }

    fn recorded(&self) -> Result<Recorded, GpuError> {
        let driver = self.driver;
        let input = driver.mapped(words(self.events))?;
        let output = match driver.mapped(self.events * LINE_WORDS) {
            Ok(output) => output,
            Err(error) => {
                driver.free_mapped(input);
                return Err(error);
            }
        };
        let (shape, mut arguments) = self.kernel();
        let kernel = ("rings_batch", shape, &mut arguments[..]);
        match driver.graph((&input, self.input), kernel, (self.output, &output)) {
            Ok(graph) => Ok(Recorded { graph, input, output }),
            Err(error) => {
                driver.free_mapped(input);
                driver.free_mapped(output);
                Err(error)
            }
        }
    }

    /// Finds the rings of a batch.
    fn run(&self, records: &[Record], lines: &mut [u32]) -> Result<(), GpuError> {
        let driver = self.driver;
        if let Some(recorded) = &self.graph {
            recorded.input.write(0, &packed(records));
            driver.start(&recorded.graph)?;
            driver.wait()?;
            recorded.output.read(0, lines);
            return Ok(());
        }
        driver.upload(self.input, records)?;
        let (shape, mut arguments) = self.kernel();
        driver.launch("rings_batch", shape, &mut arguments)?;
        driver.wait()?;
        driver.download(lines, self.output)
    }
}

impl Drop for Batches<'_> {
    fn drop(&mut self) {
        if let Some(Recorded { graph, input, output }) = self.graph.take() {
            self.driver.free_graph(graph);
            self.driver.free_mapped(input);
            self.driver.free_mapped(output);
        }
        self.driver.free(self.input);
        self.driver.free(self.output);
    }
}

/// Shape and arguments of `rings_batch`: a warp an event.
pub(super) fn kernel(
    tables: u64,
    input: u64,
    output: u64,
    events: usize,
) -> ([u32; 2], [Argument; 4]) {
    let blocks = (events as u32).div_ceil(WARPS_OF_BLOCK);
    let arguments = [
        Argument::Address(tables),
        Argument::Address(input),
        Argument::Address(output),
        Argument::Word(events as u32),
    ];
    ([blocks, WARPS_OF_BLOCK * LANES], arguments)
}

/// Words that hold so many records.
pub(super) const fn words(events: usize) -> usize {
    (RECORD_BYTES * events).div_ceil(4)
}

/// Records one behind the other, as words.
fn packed(records: &[Record]) -> Vec<u32> {
    let mut bytes = records.concat();
    bytes.resize(4 * words(records.len()), 0);
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Runs all batches, the next one when it is due or when the last one is done.
pub(super) fn batches(
    driver: &Driver,
    tables: u64,
    finder: &Finder,
    records: &[Record],
    settings: &Settings,
    watch: &Watch,
) -> Result<Report, GpuError> {
    let known = expected(finder, records);
    let batch = settings.batch.min(records.len());
    let batches = Batches::new(driver, tables, batch, settings.method)?;
    let total = settings.events / batch * batch;
    let period = batch as f64 / settings.rate_hz;
    let mut lines = vec![0u32; LINE_WORDS * batch];
    let mut report = empty(driver, total);
    let mut times = Vec::new();
    let start = Instant::now();
    for number in 0..total / batch {
        watch.at(report.answered)?;
        let due = number as f64 * period;
        report.delayed += usize::from(start.elapsed().as_secs_f64() > due + period);
        while start.elapsed().as_secs_f64() < due {
            watch.at(report.answered)?;
            std::hint::spin_loop();
        }
        let from = number * batch % (records.len() - batch + 1);
        batches.run(&records[from..from + batch], &mut lines)?;
        times.push((start.elapsed().as_nanos() as f64 - due * 1e9).max(0.0) as u64);
        for (line, known) in lines.as_chunks::<LINE_WORDS>().0.iter().zip(&known[from..]) {
            report.as_cpu += usize::from(same(&found(line), known));
            report.answered += 1;
        }
    }
    report.per_second = total as f64 / start.elapsed().as_secs_f64();
    (report.first, report.last) = (Times::of(times.clone()), Times::of(times));
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::EMPTY;

    #[test]
    fn records_of_a_graph_lie_one_behind_the_other() {
        let mut second = EMPTY;
        second[0] = 7;
        let made = packed(&[EMPTY, second, EMPTY]);
        let bytes: Vec<u8> = made.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(bytes.len(), 212);
        assert_eq!(bytes[..210], [EMPTY, second, EMPTY].concat());
    }
}
