// SPDX-License-Identifier: Apache-2.0
//! What no scenario may be, in addition to the ranges of its keys.

use super::{EciDriver, EciHomes, EciScenario, REGION_LINES, WORD_BYTES};
use crate::dma::MOST_TASKS;
use crate::error::RoadError;
use crate::operation::Operation;

/// Lines of the FPGA's cache.
const CACHE_LINES: u64 = 256;
/// I/O accesses that an end has open.
const OPEN_WORDS: u32 = 32;
/// Lines of which each is accessed once: of the driver `cached`, at most.
const MOST_FIRST_LINES: u64 = 1 << 20;
/// Lines whose lives are traced, at most.
const MOST_LIVES: u64 = 256;

impl EciScenario {
    pub(super) fn check(&self) -> Result<(), RoadError> {
        let carried = [
            Operation::HostRead,
            Operation::HostWrite,
            Operation::DeviceRead,
            Operation::DeviceWrite,
            Operation::Message,
            Operation::Update,
        ];
        self.workload.operation.check("workload.operation", "eci", &carried)?;
        let (operation, driver) = (self.workload.operation, self.workload.driver);
        let fits = match operation {
            Operation::Update => driver == EciDriver::Atomic || self.through_cache(),
            Operation::HostRead | Operation::HostWrite => {
                matches!(driver, EciDriver::Io | EciDriver::Uncached) || self.through_cache()
            }
            Operation::Message => driver == EciDriver::Ipi,
            Operation::DeviceWrite => !matches!(driver, EciDriver::Atomic | EciDriver::Io),
            _ => !matches!(driver, EciDriver::Atomic) && !self.words(),
        };
        if !fits {
            let reason = format!("{} is no driver of {operation}", driver.name());
            return Err(RoadError::scenario("workload.driver", reason));
        }
        if self.updates() && self.workload.bytes != WORD_BYTES {
            let reason = format!("an update is of {WORD_BYTES} bytes");
            return Err(RoadError::scenario("workload.bytes", reason));
        }
        if self.updates() && self.through_cache() && !self.over_axi() {
            let reason =
                format!("lines has no update in the cache, {}; expected axi", driver.name());
            return Err(RoadError::scenario("workload.port", reason));
        }
        let window = self.arrivals()?.window().unwrap_or(1);
        if self.over_axi() && self.home_at_fpga() {
            let reason = "axi is in front of the FPGA's cache, and the host's is used".to_owned();
            return Err(RoadError::scenario("workload.port", reason));
        }
        if self.over_axi() && !self.through_cache() {
            let reason =
                format!("axi is in front of the cache, and {} does not use that", driver.name());
            return Err(RoadError::scenario("workload.port", reason));
        }
        if self.updates() && self.over_axi() && window > 1 {
            let reason = format!("{window} atomics: the AXI master has 1 open");
            return Err(RoadError::scenario("workload.window", reason));
        }
        self.check_words(window)?;
        self.check_homes()?;
        self.check_life()?;
        self.check_pcie(window)?;
        self.check_first()?;
        let lines = u64::from(window) * self.lines();
        if lines > REGION_LINES / 2 {
            let most = REGION_LINES / 2 / self.lines();
            let reason =
                format!("{window} transfers of {} bytes: at most {most}", self.workload.bytes);
            return Err(RoadError::scenario("workload.window", reason));
        }
        if driver == EciDriver::CachedHit && self.region() > CACHE_LINES {
            let reason = format!("{lines} lines in flight: at most {CACHE_LINES} are in the cache");
            return Err(RoadError::scenario("workload.window", reason));
        }
        Ok(())
    }

    fn check_pcie(&self, window: u32) -> Result<(), RoadError> {
        let name = self.workload.driver.name();
        if !self.over_pcie() {
            let missing = || RoadError::scenario("host", format!("missing, for driver {name}"));
            return self.host.as_ref().map(|_| ()).ok_or_else(missing);
        }
        if self.platform.pcie.is_none() {
            let reason = format!("missing, for workload.driver {name}");
            return Err(RoadError::scenario("platform.pcie", reason));
        }
        if self.workload.links > 1 {
            return Err(RoadError::scenario("workload.links", format!("{name} has one link")));
        }
        if window > u32::from(MOST_TASKS) {
            let reason = format!("{window} of {name}: at most {MOST_TASKS} are open");
            return Err(RoadError::scenario("workload.window", reason));
        }
        Ok(())
    }

    fn check_life(&self) -> Result<(), RoadError> {
        let workload = &self.workload;
        if !workload.life {
            return Ok(());
        }
        if workload.driver != EciDriver::Cached || self.over_axi() || self.updates() {
            let reason = format!(
                "{} of {} on port {}; expected reads or writes by cached on port lines",
                workload.operation,
                workload.driver.name(),
                workload.port.name()
            );
            return Err(RoadError::scenario("workload.life", reason));
        }
        if workload.iterations > MOST_LIVES {
            let reason = format!("{} lines; at most {MOST_LIVES}", workload.iterations);
            return Err(RoadError::scenario("workload.iterations", reason));
        }
        Ok(())
    }

    fn check_homes(&self) -> Result<(), RoadError> {
        let workload = &self.workload;
        if let Some(beside) = workload.beside {
            let reads_or_writes = [
                [Operation::DeviceRead, Operation::DeviceWrite],
                [Operation::HostRead, Operation::HostWrite],
            ];
            let [of_fpga, of_host] = reads_or_writes;
            if !of_fpga.contains(&workload.operation) || !of_host.contains(&beside) {
                let reason = format!(
                    "{beside} beside {}; expected host-read or host-write beside device-read or device-write",
                    workload.operation
                );
                return Err(RoadError::scenario("workload.beside", reason));
            }
            if workload.homes == EciHomes::One {
                let reason = "one has no memory for it; expected both".to_owned();
                return Err(RoadError::scenario("workload.homes", reason));
            }
        }
        let lines = self.through_cache() || workload.driver == EciDriver::Uncached;
        if workload.homes == EciHomes::Both && (self.over_axi() || self.updates() || !lines) {
            let reason = format!(
                "both, and {} of {} on port {}; expected reads and writes of lines",
                workload.operation,
                workload.driver.name(),
                workload.port.name()
            );
            return Err(RoadError::scenario("workload.homes", reason));
        }
        Ok(())
    }

    /// Lines that no cache has are accessed once each.
    fn check_first(&self) -> Result<(), RoadError> {
        let lines = self.memory_lines();
        if self.workload.driver == EciDriver::Cached && lines > MOST_FIRST_LINES {
            let reason = format!("{lines} lines, each accessed once: at most {MOST_FIRST_LINES}");
            return Err(RoadError::scenario("workload.iterations", reason));
        }
        Ok(())
    }

    fn check_words(&self, window: u32) -> Result<(), RoadError> {
        let (driver, bytes) = (self.workload.driver, self.workload.bytes);
        if !self.words() {
            return Ok(());
        }
        let message = driver != EciDriver::Io;
        if bytes > WORD_BYTES || message && bytes != WORD_BYTES {
            let reason = match message {
                true => format!("a message of {} has {WORD_BYTES} bytes", driver.name()),
                false => format!("an I/O access is of 1 to {WORD_BYTES} bytes"),
            };
            return Err(RoadError::scenario("workload.bytes", reason));
        }
        let most = if driver == EciDriver::Barrier { 1 } else { OPEN_WORDS };
        if window > most {
            let reason = format!("{window} of {}: at most {most} are open", driver.name());
            return Err(RoadError::scenario("workload.window", reason));
        }
        Ok(())
    }
}
