// SPDX-License-Identifier: Apache-2.0
//! How well circles were found: against the truth, one to one.

use crate::events::{Ring, Truth};
use crate::rings::Found;

/// A found circle is a true one where |dx| + |dy| + |dr|, with the distance of centres for x and y, is below
/// this, mm.
pub const MATCH_MM: f32 = 30.0;

/// Counts over events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quality {
    /// Events.
    pub events: u64,
    /// Events by true and by found number of circles; more count as three.
    pub confusion: [[u64; 4]; 4],
    /// True circles in events of so many; more count as three.
    pub rings: [u64; 4],
    /// Of them, found.
    pub matched: [u64; 4],
    /// Found circles that are none.
    pub fakes: u64,
    /// Errors of matched radii, and of centres along each axis, mm.
    pub radius_mm: Vec<f32>,
    /// See `radius_mm`.
    pub centre_mm: Vec<f32>,
}

/// Whether a hit's circle is the other one.
#[must_use]
pub fn distance_mm(a: &Ring, b: &Ring) -> f32 {
    (a.x - b.x).hypot(a.y - b.y) + (a.r - b.r).abs()
}

impl Quality {
    /// Of these events. True circles with fewer hits than `counted_hits` may be found or not.
    #[must_use]
    pub fn of(truths: &[Truth], found: &[Found], counted_hits: usize) -> Self {
        let mut made = Self::default();
        for (truth, found) in truths.iter().zip(found) {
            made.add(truth, found, counted_hits);
        }
        made
    }

    /// Counts one more event.
    pub fn add(&mut self, truth: &Truth, found: &Found, counted_hits: usize) {
        let counts = |at: usize| usize::from(truth.rings[at].hits) >= counted_hits;
        let number = (0..truth.rings.len()).filter(|&at| counts(at)).count().min(3);
        self.events += 1;
        // The nearest pairs first.
        let mut pairs: Vec<(f32, usize, usize)> = Vec::new();
        for (at, one) in truth.rings.iter().enumerate() {
            for (other, ring) in found.rings().iter().enumerate() {
                pairs.push((distance_mm(&one.ring, ring), at, other));
            }
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut taken, mut used) = (0u32, 0u32);
        let mut faint = 0;
        for (away, at, other) in pairs {
            if away >= MATCH_MM || taken >> at & 1 == 1 || used >> other & 1 == 1 {
                continue;
            }
            taken |= 1 << at;
            used |= 1 << other;
            if counts(at) {
                self.matched[number] += 1;
                let (a, b) = (&truth.rings[at].ring, &found.rings()[other]);
                self.radius_mm.push(b.r - a.r);
                self.centre_mm.extend([b.x - a.x, b.y - a.y]);
            } else {
                faint += 1;
            }
        }
        self.rings[number] += (0..truth.rings.len()).filter(|&at| counts(at)).count() as u64;
        self.fakes += u64::from(found.count) - u64::from(used.count_ones());
        self.confusion[number][usize::from(found.count) - faint] += 1;
    }

    /// Share of true circles that were found, in events of `number`.
    #[must_use]
    pub fn efficiency(&self, number: usize) -> f64 {
        self.matched[number] as f64 / self.rings[number] as f64
    }

    /// Share of events of `number` circles in which as many were found.
    #[must_use]
    pub fn multiplicity(&self, number: usize) -> f64 {
        let row = &self.confusion[number];
        row[number] as f64 / row.iter().sum::<u64>() as f64
    }

    /// Fakes an event.
    #[must_use]
    pub fn fake_rate(&self) -> f64 {
        self.fakes as f64 / self.events as f64
    }
}

/// Half of the width that holds 68.27 % of the values, around 0.
#[must_use]
pub fn width68(values: &[f32]) -> f64 {
    let mut sizes: Vec<f32> = values.iter().map(|value| value.abs()).collect();
    sizes.sort_unstable_by(f32::total_cmp);
    sizes.get((sizes.len() as f64 * 0.6827) as usize).map_or(f64::NAN, |v| f64::from(*v))
}

/// Root of the mean square.
#[must_use]
pub fn rms(values: &[f32]) -> f64 {
    let sum: f64 = values.iter().map(|value| f64::from(*value).powi(2)).sum();
    (sum / values.len() as f64).sqrt()
}
