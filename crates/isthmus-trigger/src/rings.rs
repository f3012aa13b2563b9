// SPDX-License-Identifier: Apache-2.0
//! Any number of circles in an event, up to three. No track points to them: the hits are all there is.
//!
//! Most events are one circle and leave early: Taubin's fit, then four robust steps. For the rest every hit
//! votes for all circles through it at once (bits of a table, added with full adders), the best circle
//! through each hit that no other explains yet becomes a candidate, and sets of one to three candidates are
//! compared by their likelihood, hits shared. `docs/explanation/ring-finding.md` tells it at length.

mod gateware;
mod given;
mod hough;
mod joint;
mod robust;

use crate::events::Ring;
use crate::geometry::{Geometry, UNIT_MM};
use crate::record::Record;
use crate::simd::{Kernel, LANES, Level, Simd};
use std::cell::RefCell;

pub use gateware::{Gateware, Seed, Word};
pub use given::{Given, encode as encode_given, ids};
pub(crate) use hough::{MAX_CELLS, Table};

/// Circles that an event can have.
pub const MAX_FOUND: usize = 3;
/// Candidates of an event.
const MAX_SEEDS: usize = 14;

/// The finder's constants.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Photons of a ring that the likelihood assumes.
    pub photons: f32,
    /// Noise hits a photomultiplier and event: 0.003 for about 1 to 3 of them on a disk.
    pub background: f32,
    /// What 1, 2 and 3 circles must add to the log likelihood. Higher: fewer fakes, more lost rings.
    pub penalty: [f32; MAX_FOUND],
    /// Sets this much below the best are fitted as well.
    pub slack: f32,
    /// A hit this near to a candidate needs no search of its own, mm.
    pub cover_mm: f32,
    /// Centres that are searched, mm from the middle of the disk.
    pub centre_mm: f64,
    /// Steps that candidates are refined by.
    pub refine: usize,
    /// Steps of the common fit.
    pub joint: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            photons: 12.0,
            background: 0.003,
            penalty: [15.0, 31.0, 45.5],
            slack: 3.0,
            cover_mm: 12.0,
            centre_mm: 132.0,
            refine: 1,
            joint: 1,
        }
    }
}

/// The circles of one event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// How many.
    pub count: u8,
    /// They, mm; the first `count` are valid.
    rings: [Ring; MAX_FOUND],
    /// How much the log likelihood of the best set exceeds that of the best set with another number of circles;
    /// infinite where none other was near.
    pub margin: f32,
}

impl Found {
    /// The circles, mm.
    #[must_use]
    pub fn rings(&self) -> &[Ring] {
        &self.rings[..usize::from(self.count)]
    }

    fn push(&mut self, [x, y, r]: [f32; 3]) {
        let ring = Ring { x: x * UNIT_MM, y: y * UNIT_MM, r: r * UNIT_MM };
        self.rings[usize::from(self.count)] = ring;
        self.count += 1;
    }

    /// One circle, in half pitches.
    pub(crate) fn one(x: f32, y: f32, r: f32) -> Self {
        let mut found = Self { margin: f32::INFINITY, ..Self::default() };
        found.push([x, y, r]);
        found
    }

    /// These circles, mm.
    pub(crate) fn of_mm(circles: &[[f32; 3]], margin: f32) -> Self {
        let mut found = Self { margin, count: circles.len() as u8, ..Self::default() };
        for (ring, &[x, y, r]) in found.rings.iter_mut().zip(circles) {
            *ring = Ring { x, y, r };
        }
        found
    }

    /// These circles, in half pitches.
    pub(crate) fn of(circles: &[[f32; 3]], margin: f32) -> Self {
        let mut found = Self { margin, ..Self::default() };
        circles.iter().take(MAX_FOUND).for_each(|circle| found.push(*circle));
        found
    }
}

/// Radii of rings, half pitches: 98 to 199 mm; pions at threshold to particles at the speed of light.
const RADII: (f32, f32) = (98.0 / UNIT_MM, 199.0 / UNIT_MM);
/// An early exit wants a radius well inside.
const SURE_RADII: (f32, f32) = (100.0 / UNIT_MM, 197.0 / UNIT_MM);

/// Constants of a configuration, half pitches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuned {
    /// Photons * width / (2 pi background): over the radius it is the ratio of ring to noise on the ring.
    pub(crate) ratio: f32,
    pub(crate) cover: f32,
    pub(crate) penalty: [f32; MAX_FOUND],
    pub(crate) slack: f32,
    pub(crate) refine: usize,
    pub(crate) joint: usize,
}

/// Finds circles. Made once: its table takes a few milliseconds.
#[derive(Clone, Debug)]
pub struct Finder {
    geometry: Geometry,
    table: Table,
    tuned: Tuned,
}

/// Width of a light guide across a ring, mm, in the mean.
const WIDTH_MM: f32 = 17.5;

impl Finder {
    /// For a disk.
    #[must_use]
    pub fn new(geometry: &Geometry, config: &Config) -> Self {
        let tuned = Tuned {
            ratio: config.photons * WIDTH_MM
                / (std::f32::consts::TAU * config.background * UNIT_MM),
            cover: config.cover_mm / UNIT_MM,
            penalty: config.penalty,
            slack: config.slack,
            refine: config.refine,
            joint: config.joint,
        };
        let table = Table::new(geometry, config.centre_mm);
        Self { geometry: geometry.clone(), table, tuned }
    }

    /// What a GPU's tables are made of.
    pub(crate) fn tables(&self) -> (&Geometry, &Table, &Tuned) {
        (&self.geometry, &self.table, &self.tuned)
    }

    /// The circles of each event. `found` is overwritten; its memory is used again.
    pub fn find(&self, level: Level, events: &[Record], found: &mut Vec<Found>) {
        found.clear();
        found.resize(events.len(), Found::default());
        MEMORY.with_borrow_mut(|memory| {
            level.run(All { finder: self, events, found, given: None, memory });
        });
    }
}

thread_local! {
    /// A few events that come alone take so little time that to allocate and clear this again would count.
    static MEMORY: RefCell<Memory> = RefCell::new(Memory::new());
}

/// What a search keeps from block to block, and a thread from call to call.
struct Memory {
    rest: robust::Rest,
    places: robust::Places,
    scratch: joint::Scratch,
}

impl Memory {
    fn new() -> Self {
        Self {
            rest: robust::Rest::default(),
            places: robust::NO_PLACES,
            scratch: joint::Scratch::new(),
        }
    }
}

/// Events that are searched before the next ones: their intermediate results stay in the nearest cache.
const BLOCK: usize = 16 * LANES;

struct All<'a> {
    finder: &'a Finder,
    events: &'a [Record],
    found: &'a mut [Found],
    /// Candidates, where they came with the events.
    given: Option<&'a Given>,
    memory: &'a mut Memory,
}

impl Kernel for All<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Memory { rest, places, scratch } = self.memory;
        for (block, (events, found)) in
            self.events.chunks(BLOCK).zip(self.found.chunks_mut(BLOCK)).enumerate()
        {
            let geometry = &self.finder.geometry;
            s.call(robust::Singles { geometry, events, found, rest });
            s.call(robust::Robust { geometry, events, found, rest, places });
            for &event in rest.left() {
                let at = usize::from(event);
                let given = self.given.map(|given| given.of(block * BLOCK + at));
                let (finder, event, found) = (self.finder, &events[at], &mut found[at]);
                s.call(joint::Several { finder, event, found, given, scratch });
            }
        }
    }
}

/// Adds up what one step of Gauss and Newton needs: weights times products of (ex, ey, 1) and the residual.
/// The sum of weights is that of the first and the third.
#[inline(always)]
fn terms<S: Simd>(s: S, w: S::F, ex: S::F, ey: S::F, residual: S::F) -> [S::F; 8] {
    let (wx, wy, wr) = (s.mul(w, ex), s.mul(w, ey), s.mul(w, residual));
    [s.mul(wx, ex), s.mul(wx, ey), s.mul(wy, ey), wx, wy, s.mul(wr, ex), s.mul(wr, ey), wr]
}

#[inline(always)]
fn add8<S: Simd>(s: S, a: &[S::F; 8], b: &[S::F; 8]) -> [S::F; 8] {
    let mut made = *a;
    for at in 0..8 {
        made[at] = s.add(a[at], b[at]);
    }
    made
}

/// Added to the diagonal: short arcs have a singular matrix.
const RIDGE: f32 = 0.02;
/// No step moves a circle farther, half pitches.
const MAX_STEP: f32 = 4.0;

/// The step in x, y and r that these sums ask for.
#[inline(always)]
fn step<S: Simd>(s: S, t: &[S::F; 8]) -> [S::F; 3] {
    let ridge = s.splat(RIDGE);
    let (a, b, d) = (s.add(t[0], ridge), t[1], s.add(t[2], ridge));
    let (c, e, f) = (t[3], t[4], s.add(s.add(t[0], t[2]), ridge));
    let (c00, c01, c02) = (minor(s, d, f, e, e), minor(s, c, e, b, f), minor(s, b, e, c, d));
    let (c11, c12, c22) = (minor(s, a, f, c, c), minor(s, b, c, a, e), minor(s, a, d, b, b));
    let det = dot(s, [a, b, c], [c00, c01, c02]);
    let one = s.div(s.splat(1.0), det);
    let right = [t[5], t[6], t[7]];
    [
        bounded(s, s.mul(dot(s, [c00, c01, c02], right), one)),
        bounded(s, s.mul(dot(s, [c01, c11, c12], right), one)),
        bounded(s, s.mul(dot(s, [c02, c12, c22], right), one)),
    ]
}

/// a b - c d.
#[inline(always)]
fn minor<S: Simd>(s: S, a: S::F, b: S::F, c: S::F, d: S::F) -> S::F {
    s.sub(s.mul(a, b), s.mul(c, d))
}

#[inline(always)]
fn dot<S: Simd>(s: S, a: [S::F; 3], b: [S::F; 3]) -> S::F {
    s.add(s.add(s.mul(a[0], b[0]), s.mul(a[1], b[1])), s.mul(a[2], b[2]))
}

#[inline(always)]
fn bounded<S: Simd>(s: S, step: S::F) -> S::F {
    s.max(s.min(step, s.splat(MAX_STEP)), s.splat(-MAX_STEP))
}

#[inline(always)]
fn clamp_radius<S: Simd>(s: S, r: S::F) -> S::F {
    s.max(s.min(r, s.splat(RADII.1)), s.splat(RADII.0))
}
