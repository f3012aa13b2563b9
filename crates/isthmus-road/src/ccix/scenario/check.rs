// SPDX-License-Identifier: Apache-2.0
//! What no scenario may be, in addition to the ranges of its keys.

use super::super::svm::CACHED_FRAMES;
use super::{
    CcixDriver, CcixOrder, CcixPort, CcixScenario, CcixTranslation, HALF_BYTES, LINE_BYTES,
    PAGE_LINES,
};
use crate::dma::MOST_TASKS;
use crate::error::RoadError;
use crate::operation::Operation;

/// Bytes of a word that is changed atomically.
const WORD_BYTES: usize = 8;
/// Steps of a transaction.
const MOST_STEPS: usize = 4;
/// Maximum number of pages that transfers visit.
const MOST_PAGES: u64 = 65_536;
/// Most lines that are read before as hits: half of the FPGA's cache.
const HIT_LINES: u64 = 2_048;

impl CcixScenario {
    pub(super) fn check(&self) -> Result<(), RoadError> {
        let carried: &[Operation] = match self.workload.driver {
            CcixDriver::Locks => &[Operation::Update],
            CcixDriver::Cached | CcixDriver::Svm if self.workload.port == CcixPort::Axi => {
                &[Operation::DeviceRead, Operation::DeviceWrite, Operation::Update]
            }
            _ => &[Operation::DeviceRead, Operation::DeviceWrite],
        };
        self.workload.operation.check("workload.operation", "ccix", carried)?;
        if self.workload.driver == CcixDriver::PcieDma && self.platform.pcie.is_none() {
            let reason = "missing, for workload.driver pcie-dma";
            return Err(RoadError::scenario("platform.pcie", reason));
        }
        match (&self.workload.translation, self.workload.driver) {
            (Some(translation), CcixDriver::Svm) => self.check_translation(translation)?,
            (None, CcixDriver::Svm) => {
                let reason = "missing, for workload.driver svm";
                return Err(RoadError::scenario("workload.translation", reason));
            }
            (Some(_), driver) => {
                let reason = format!("expected none for workload.driver {}", driver.name());
                return Err(RoadError::scenario("workload.translation", reason));
            }
            (None, _) => {}
        }
        let (port, driver) = (self.workload.port, self.workload.driver);
        let cached = matches!(driver, CcixDriver::Cached | CcixDriver::CachedHit)
            || (driver == CcixDriver::Svm && self.workload.cache);
        if port == CcixPort::Axi && !cached {
            let reason = match driver {
                CcixDriver::Svm => "expected lines without workload.cache".to_owned(),
                _ => format!("expected lines for workload.driver {}", driver.name()),
            };
            return Err(RoadError::scenario("workload.port", reason));
        }
        if self.workload.cache && driver != CcixDriver::Svm {
            let reason = format!("expected false for workload.driver {}", driver.name());
            return Err(RoadError::scenario("workload.cache", reason));
        }
        self.check_updates()?;
        self.check_contention()?;
        self.check_locks()?;
        let window = self.arrivals()?.window().unwrap_or(1);
        let places = self.region_lines() / self.stride();
        let most = match self.workload.driver {
            CcixDriver::CachedHit => u64::from(MOST_TASKS).min(HIT_LINES / 2 / self.lines()),
            _ => u64::from(MOST_TASKS).min(places / 2),
        };
        if u64::from(window) > most {
            let bytes = self.workload.bytes;
            let reason = format!("{window} transfers of {bytes} bytes: at most {most}");
            return Err(RoadError::scenario("workload.window", reason));
        }
        Ok(())
    }

    fn check_translation(&self, translation: &CcixTranslation) -> Result<(), RoadError> {
        if self.platform.iommu.is_none() {
            let reason = "missing, for workload.driver svm";
            return Err(RoadError::scenario("platform.iommu", reason));
        }
        let bytes = translation.footprint_bytes;
        let key = "workload.translation.footprint_bytes";
        if !bytes.is_multiple_of(PAGE_LINES * LINE_BYTES as u64) {
            return Err(RoadError::scenario(key, format!("{bytes} is no multiple of 4096")));
        }
        let pages = translation.pages();
        if pages > MOST_PAGES {
            let reason = format!("{bytes} bytes are {pages} pages: at most {MOST_PAGES}");
            return Err(RoadError::scenario(key, reason));
        }
        let frames = (pages + u64::from(translation.moves)) << translation.page.size().log2();
        if self.workload.cache && frames > CACHED_FRAMES {
            let reason = format!(
                "{frames} bytes of frames, of pages that move too: at most {CACHED_FRAMES}"
            );
            return Err(RoadError::scenario(key, reason));
        }
        if translation.order == CcixOrder::Skewed {
            let key = "workload.translation.order";
            if !self.workload.cache {
                return Err(RoadError::scenario(key, "skewed is for workload.cache"));
            }
            if self.workload.window != Some(1) {
                return Err(RoadError::scenario(key, "skewed is for workload.window 1"));
            }
        }
        Ok(())
    }

    fn check_updates(&self) -> Result<(), RoadError> {
        let work = &self.workload;
        let wanted = work.operation == Operation::Update && work.driver != CcixDriver::Locks;
        let refused = |key, reason: String| Err(RoadError::scenario(key, reason));
        let Some(of) = work.updates.filter(|_| wanted) else {
            if wanted == work.updates.is_some() {
                return Ok(());
            }
            let what = if wanted { "missing, for update by an AXI port" } else { "expected none" };
            return refused("workload.updates", what.to_owned());
        };
        if work.bytes != WORD_BYTES {
            return refused("workload.bytes", format!("an update is of {WORD_BYTES} bytes"));
        }
        if self.arrivals()?.window() != Some(1) {
            return refused("workload.window", "expected 1: the AXI master has 1 open".to_owned());
        }
        if work.translation.is_some_and(|one| one.order == CcixOrder::Skewed || one.warm) {
            let key = "workload.translation";
            return refused(key, "updates have words: no order of transfers, not warm".to_owned());
        }
        if u64::from(of.words) > self.region_lines() {
            return refused("workload.updates.words", "more than lines of memory".to_owned());
        }
        Ok(())
    }

    fn check_contention(&self) -> Result<(), RoadError> {
        let contended = self.workload.driver == CcixDriver::Contended;
        if contended != self.workload.contention.is_some() {
            let of = self.workload.driver.name();
            let wanted = if contended { "missing," } else { "expected none" };
            let reason = format!("{wanted} for workload.driver {of}");
            return Err(RoadError::scenario("workload.contention", reason));
        }
        if !contended {
            return Ok(());
        }
        let refused = |key, reason: &str| Err(RoadError::scenario(key, reason));
        if !self.writes() {
            return refused(
                "workload.operation",
                "expected device-write for workload.driver contended",
            );
        }
        if self.workload.bytes > HALF_BYTES {
            let reason = format!("{} bytes: at most half of a line", self.workload.bytes);
            return refused("workload.bytes", &reason);
        }
        if self.workload.warmup > 0 {
            return refused("workload.warmup", "expected 0 for workload.driver contended");
        }
        if self.workload.rate_per_s.is_some() {
            return refused("workload.rate_per_s", "expected none for workload.driver contended");
        }
        Ok(())
    }

    fn check_locks(&self) -> Result<(), RoadError> {
        let locks = match (&self.workload.locks, self.workload.driver) {
            (Some(locks), CcixDriver::Locks) => locks,
            (None, CcixDriver::Locks) => {
                let reason = "missing, for workload.driver locks";
                return Err(RoadError::scenario("workload.locks", reason));
            }
            (Some(_), driver) => {
                let reason = format!("expected none for workload.driver {}", driver.name());
                return Err(RoadError::scenario("workload.locks", reason));
            }
            (None, _) => return Ok(()),
        };
        let key = "workload.locks.transactions";
        let count = locks.transactions.len() as u64;
        if count != self.workload.iterations || self.workload.warmup > 0 {
            let reason = format!("{count}: expected workload.iterations, and no warmup");
            return Err(RoadError::scenario(key, reason));
        }
        for (number, one) in locks.transactions.iter().enumerate() {
            let steps = &one.steps;
            if steps.is_empty() || steps.len() > MOST_STEPS {
                let reason = format!("[{number}] has {} steps: 1 to {MOST_STEPS}", steps.len());
                return Err(RoadError::scenario(key, reason));
            }
            for (at, step) in steps.iter().enumerate() {
                let twice = steps[..at].iter().any(|before| before.record == step.record);
                if u32::from(step.record) >= locks.rows || twice {
                    let record = step.record;
                    let reason = format!("[{number}]: record {record} is twice in it, or outside");
                    return Err(RoadError::scenario(key, reason));
                }
            }
        }
        Ok(())
    }
}
