// SPDX-License-Identifier: Apache-2.0
//! A host program's connection to the device, and what all programs do with it.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::etherbone::{Client, ClientConfig, Cycle, CycleReply, Error};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;

use super::scenario::Method;
use super::task::During;
use super::transport::{Carrier, CycleLog, LibraryMeter, Log, Measured};

/// Reads that one record can hold; more words are read in more cycles.
pub(super) const MAX_READS: u32 = 255;

/// Cycles submitted before the first are sent: far fewer than there are sequence numbers.
const MAX_OUTSTANDING: usize = 4_096;

/// The device's bus map and the registers used (rtl/board, rtl/regs).
pub(super) mod bus {
    pub(in super::super) const RAM: u64 = 0x0000_0000;
    pub(in super::super) const TIME_HI: u64 = 0x0020_0018;
    pub(in super::super) const TIME_LO: u64 = 0x0020_001C;
    pub(in super::super) const FIFO_READY: u64 = 0x0030_0000;
    pub(in super::super) const FIFO_CLEAR: u64 = 0x0030_0004;
    pub(in super::super) const TEST: u64 = 0x0030_0008;
    pub(in super::super) const ARMSET: u64 = 0x0030_0010;
    pub(in super::super) const FIFOSIZE: u64 = 0x0030_0038;
    pub(in super::super) const CH_SELECT: u64 = 0x0030_0058;
    pub(in super::super) const FIFO_POP: u64 = 0x0030_005C;
    pub(in super::super) const FTSHI: u64 = 0x0030_0068;
    pub(in super::super) const FTSLO: u64 = 0x0030_006C;
    /// Latch units count in these.
    pub(in super::super) const TLU_UNIT_NS: u64 = 8;
}

/// A simulated device answers within microseconds, however long its queue within milliseconds. One that does
/// not answer shall end the run before the clock cycles of seconds have been simulated.
pub(super) fn client_config() -> ClientConfig {
    ClientConfig {
        probe_timeout: Duration::from_millis(10),
        reply_timeout: Duration::from_millis(200),
        ..ClientConfig::default()
    }
}

/// The environment of a running program.
pub(super) struct Session<C: Carrier> {
    pub(super) sim: Sim,
    pub(super) epoch_ns: u64,
    pub(super) client: Client<Measured<C>, LibraryMeter>,
    pub(super) log: Rc<RefCell<Log>>,
    /// The time for which the program had nothing to do.
    pub(super) idle: Picoseconds,
}

/// A run of cycles: their values, and their place in the log.
pub(super) struct Series {
    pub(super) reads: Vec<u64>,
    pub(super) start: Picoseconds,
    pub(super) end: Picoseconds,
    pub(super) log: Vec<CycleLog>,
}

impl<C: Carrier> Session<C> {
    /// Runs cycles in the way of `method`.
    pub(super) async fn series(
        &mut self,
        method: Method,
        cycles: &[Cycle],
    ) -> Result<Series, Error> {
        let first = self.log.borrow().cycles.len();
        let start = self.sim.now();
        let mut reads = Vec::new();
        match method {
            Method::Convenience | Method::Blocking => {
                for cycle in cycles {
                    reads.extend(self.client.execute(cycle.clone()).await?.reads);
                }
            }
            Method::Pipelined => {
                let mut pending = Vec::with_capacity(cycles.len());
                for cycle in cycles {
                    pending.push(self.client.submit(cycle)?);
                    if self.client.outstanding() >= MAX_OUTSTANDING {
                        self.client.flush().await?;
                    }
                }
                self.client.flush().await?;
                self.client.settle().await?;
                for result in pending {
                    let CycleReply { reads: values } =
                        result.take().unwrap_or(Err(Error::Dropped))?;
                    reads.extend(values);
                }
            }
        }
        let log = self.log.borrow().cycles.get(first..).unwrap_or_default().to_vec();
        Ok(Series { reads, start, end: self.sim.now(), log })
    }

    /// Writes a random pattern to the RAM, reads it back and compares it. Returns the pattern.
    pub(super) async fn check_ram(
        &mut self,
        words: u32,
    ) -> Result<Vec<u64>, (&'static str, Error)> {
        let mut random = self.sim.random("etherbone: ram pattern");
        let pattern: Vec<u64> = (0..words).map(|_| random.bits() & 0xFFFF_FFFF).collect();
        let addresses = || (0..u64::from(words)).map(|i| bus::RAM + 4 * i);
        let write = Cycle::new().writes(addresses().zip(pattern.iter().copied()));
        self.client.execute(write).await.during("write the RAM pattern")?;
        let read = Cycle::new().reads(addresses());
        let found = self.client.execute(read).await.during("read the RAM pattern")?.reads;
        self.compare_words("RAM pattern", &pattern, &found);
        Ok(pattern)
    }

    pub(super) fn compare_words(&self, what: &str, expected: &[u64], found: &[u64]) {
        let bytes = |words: &[u64]| -> Vec<u8> {
            words.iter().flat_map(|word| (*word as u32).to_be_bytes()).collect()
        };
        self.sim.scoreboard().compare(|| what.to_owned(), &bytes(expected), &bytes(found));
    }

    /// Checks a time of the device against the span of time in which it must lie and the time read
    /// before it.
    pub(super) fn check_time(&self, what: &str, found: u64, floor: &mut u64, ceiling: u64) {
        let expected = found.max(*floor).min(ceiling.max(*floor));
        let (e, f) = (expected.to_be_bytes(), found.to_be_bytes());
        self.sim.scoreboard().compare(|| format!("{what} {found} ns"), &e, &f);
        *floor = expected;
    }

    pub(super) fn time_ns(&self, time: Picoseconds) -> u64 {
        self.epoch_ns + time.0 / 1_000
    }
}
