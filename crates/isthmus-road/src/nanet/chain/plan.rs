// SPDX-License-Identifier: Apache-2.0
//! What a chain's scenario asks for.

use isthmus_trigger::bench::{FINDERS, Kind};
use isthmus_trigger::events::{self, Sample};
use isthmus_trigger::merge::Format;

use super::super::scenario::{NanetChain, NanetScenario};
use crate::error::RoadError;

/// Groups before and after the measured ones, at the least.
const WARM_UP: u64 = 32;
const TAIL: u64 = 16;
/// Numbers that an event can have.
const EVENT_NUMBERS: u64 = 1 << 24;

/// What a chain's names mean, and how many groups there are.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) sample: Sample,
    pub(super) format: Format,
    pub(super) finder: Kind,
    pub(super) head: u64,
    pub(super) counted: u64,
    pub(super) total: u64,
}

impl Plan {
    pub(super) fn of(scenario: &NanetScenario, chain: &NanetChain) -> Result<Self, RoadError> {
        let unknown = |key: &str, name: &str, known: &[&str]| {
            let reason = format!("{name:?}: expected one of {}", known.join(", "));
            RoadError::scenario(format!("chain.{key}"), reason)
        };
        let sample = events::sample(&chain.sample).ok_or_else(|| {
            unknown("sample", &chain.sample, &events::SAMPLES.map(|sample| sample.name))
        })?;
        let format = Format::named(&chain.format)
            .ok_or_else(|| unknown("format", &chain.format, &Format::ALL.map(Format::name)))?;
        let finder = FINDERS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(&chain.finder));
        let finder = finder.ok_or_else(|| {
            let names = FINDERS.map(|(name, _)| name.to_lowercase());
            unknown("finder", &chain.finder, &names.each_ref().map(String::as_str))
        })?;
        let counted = scenario.workload.iterations;
        let head = WARM_UP.max(counted / 10);
        let total = head + counted + TAIL;
        if total.saturating_mul(chain.events as u64) > EVENT_NUMBERS {
            let reason = format!("{total} groups of {} events: at most 2^24 events", chain.events);
            return Err(RoadError::scenario("workload.iterations", reason));
        }
        let sample = Sample { rate_hz: chain.rate_per_s, ..sample };
        Ok(Self { sample, format, finder: finder.1, head, counted, total })
    }

    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.head as usize..(self.head + self.counted) as usize
    }
}
