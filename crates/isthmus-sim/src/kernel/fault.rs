// SPDX-License-Identifier: Apache-2.0
//! Named points at which something can be made to go wrong, at random or on schedule.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::SimError;
use super::rng::RandomStream;
use super::units::Picoseconds;

/// Times at which a fault point fires. An opportunity is the unit that the point counts: a bit, a
/// frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FaultSpec {
    /// The probability at each opportunity.
    pub rate: f64,
    /// The opportunities at which it fires, counted from 0, in rising order.
    pub at_count: Vec<u64>,
    /// It fires at the first opportunity at or after each of these times, in rising order.
    pub at_ps: Vec<u64>,
}

struct Point {
    /// Opportunities seen.
    seen: Cell<u64>,
    fired: Cell<u64>,
    /// The next opportunity that fires at random, and the next that does by count.
    next: Cell<u64>,
    spec: RefCell<FaultSpec>,
    counts_used: Cell<usize>,
    times_used: Cell<usize>,
    stream: RefCell<RandomStream>,
    armed: Cell<bool>,
}

/// A place in a model where something can go wrong.
#[derive(Clone)]
pub struct FaultPoint(Rc<Point>);

impl FaultPoint {
    /// Counts one opportunity; true when the fault fires.
    #[inline]
    pub fn fires(&self, now: Picoseconds) -> bool {
        if !self.0.armed.get() {
            return false;
        }
        self.opportunity(now)
    }

    #[cold]
    fn opportunity(&self, now: Picoseconds) -> bool {
        let point = &*self.0;
        let number = point.seen.get();
        point.seen.set(number + 1);
        let spec = point.spec.borrow();
        let mut fires = false;
        if point.next.get() == number {
            fires = true;
            let gap = point.stream.borrow_mut().failures_before_success(spec.rate);
            point.next.set(number.saturating_add(1).saturating_add(gap));
        }
        if spec.at_count.get(point.counts_used.get()) == Some(&number) {
            fires = true;
            point.counts_used.set(point.counts_used.get() + 1);
        }
        if spec.at_ps.get(point.times_used.get()).is_some_and(|&time| time <= now.0) {
            fires = true;
            point.times_used.set(point.times_used.get() + 1);
        }
        if fires {
            point.fired.set(point.fired.get() + 1);
        }
        fires
    }

    /// How often it fired.
    #[must_use]
    pub fn fired(&self) -> u64 {
        self.0.fired.get()
    }

    fn arm(&self, mut spec: FaultSpec) {
        spec.at_count.sort_unstable();
        spec.at_count.dedup();
        spec.at_ps.sort_unstable();
        let gap = self.0.stream.borrow_mut().failures_before_success(spec.rate);
        self.0.next.set(self.0.seen.get().saturating_add(gap));
        self.0.counts_used.set(0);
        self.0.times_used.set(0);
        self.0.armed.set(spec.rate > 0.0 || !spec.at_count.is_empty() || !spec.at_ps.is_empty());
        *self.0.spec.borrow_mut() = spec;
    }
}

/// The fault points of a simulation, by name.
pub struct Faults {
    seed: u64,
    points: RefCell<BTreeMap<String, FaultPoint>>,
}

impl Faults {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, points: RefCell::default() }
    }

    /// The point `name`, which a model calls at each opportunity; the same one for the same name.
    #[must_use]
    pub fn point(&self, name: &str) -> FaultPoint {
        let mut points = self.points.borrow_mut();
        if let Some(point) = points.get(name) {
            return point.clone();
        }
        let point = FaultPoint(Rc::new(Point {
            seen: Cell::new(0),
            fired: Cell::new(0),
            next: Cell::new(u64::MAX),
            spec: RefCell::default(),
            counts_used: Cell::new(0),
            times_used: Cell::new(0),
            stream: RefCell::new(RandomStream::new(self.seed, &format!("fault:{name}"))),
            armed: Cell::new(false),
        }));
        points.insert(name.to_owned(), point.clone());
        point
    }

    /// Says when the point `name` fires. Call it after the world is built.
    ///
    /// # Errors
    /// When no model has such a point, or the rate is not a probability.
    pub fn inject(&self, name: &str, spec: FaultSpec) -> Result<(), SimError> {
        if !(0.0..=1.0).contains(&spec.rate) {
            return Err(SimError::Config {
                model: format!("fault point {name}"),
                reason: format!("rate {} is not a probability (0 to 1)", spec.rate),
            });
        }
        let points = self.points.borrow();
        let Some(point) = points.get(name) else {
            let known: Vec<&str> = points.keys().map(String::as_str).collect();
            return Err(SimError::UnknownFaultPoint {
                name: name.to_owned(),
                known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
            });
        };
        point.arm(spec);
        Ok(())
    }

    /// How often each armed point fired.
    #[must_use]
    pub fn fired(&self) -> BTreeMap<String, u64> {
        let points = self.points.borrow();
        points
            .iter()
            .filter(|(_, point)| point.0.armed.get())
            .map(|(name, point)| (name.clone(), point.fired()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn firing(spec: FaultSpec, opportunities: u64) -> Vec<u64> {
        let faults = Faults::new(3);
        let point = faults.point("cable.drop");
        faults.inject("cable.drop", spec).unwrap();
        (0..opportunities).filter(|&n| point.fires(Picoseconds(n * 10))).collect()
    }

    #[test]
    fn a_point_nobody_armed_never_fires() {
        let point = Faults::new(1).point("x");
        assert!((0..1_000).all(|n| !point.fires(Picoseconds(n))));
    }

    #[test]
    fn a_count_fires_at_exactly_that_opportunity() {
        let spec = FaultSpec { at_count: vec![5, 2], ..FaultSpec::default() };
        assert_eq!(firing(spec, 10), [2, 5]);
    }

    #[test]
    fn a_time_fires_at_the_first_opportunity_at_or_after_it() {
        let spec = FaultSpec { at_ps: vec![25, 70], ..FaultSpec::default() };
        assert_eq!(firing(spec, 10), [3, 7]);
    }

    #[test]
    fn a_rate_fires_that_often_and_the_same_way_for_the_same_seed() {
        let spec = FaultSpec { rate: 0.1, ..FaultSpec::default() };
        let first = firing(spec.clone(), 10_000);
        assert!((900..1_100).contains(&first.len()), "{}", first.len());
        assert_eq!(first, firing(spec, 10_000));
    }

    #[test]
    fn an_unknown_point_is_refused_with_the_known_ones() {
        let faults = Faults::new(1);
        let _ = faults.point("cable.drop");
        let line = faults.inject("cabel.drop", FaultSpec::default()).unwrap_err().to_string();
        assert!(line.contains("cabel.drop") && line.contains("cable.drop"), "{line}");
    }

    #[test]
    fn a_rate_above_one_is_refused() {
        let faults = Faults::new(1);
        let _ = faults.point("x");
        assert!(faults.inject("x", FaultSpec { rate: 1.5, ..FaultSpec::default() }).is_err());
    }
}
