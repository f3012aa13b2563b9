// SPDX-License-Identifier: Apache-2.0
//! Published finders of several circles, for comparison: the same records, lanes and fit as
//! [`crate::rings`].
//!
//! Almagest tests hits by Ptolemy's theorem: four points A, B, C, D lie on a circle if and only if the largest of
//! AB CD, BC AD and AC BD is the sum of the other two. Histogram counts distances of hits from a grid
//! of centres. Both take the best circle, fit it, remove its hits and start again.

use crate::geometry::{Geometry, NULL_ID, UNIT_MM};
use crate::record::{self, Record, SLOTS};
use crate::rings::Found;
use crate::simd::{Kernel, LANES, Lanes, Level, Simd};
use crate::single::{Method, circle};

/// Which finder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Ptolemy's theorem on triplets from eight directions.
    Almagest,
    /// Distances from an 8 x 8 grid of centres.
    Histogram,
}

/// Hits of a triplet are at least so far apart, half pitches. 60 mm did best here; the experiment's
/// reconstruction has 90.
const APART: f32 = 60.0 / UNIT_MM;
/// A fourth hit's residual of Ptolemy's theorem, half pitches squared: 40 mm^2 as in the experiment's
/// configuration.
const PTOLEMY: f32 = 40.0 / (UNIT_MM * UNIT_MM);
/// A hit this near to a fitted circle is of it, half pitches.
const NEAR: f32 = 12.0 / UNIT_MM;
/// Hits that make a circle.
const MIN_HITS: u32 = 4;
/// Radii of circles, half pitches.
const RADII: (f32, f32) = (98.0 / UNIT_MM, 199.0 / UNIT_MM);
/// Where triplets begin.
const DIRECTIONS: [(f32, f32); 8] = {
    const H: f32 = std::f32::consts::FRAC_1_SQRT_2;
    [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (H, H), (-H, -H), (H, -H), (-H, H)]
};
/// Histogram: centres of an 8 x 8 grid over +-120 mm, and bins of the distance.
const GRID: usize = 8;
const REACH: f32 = 120.0 / UNIT_MM;
const BIN: f32 = 15.0 / UNIT_MM;
const BINS: usize = 16;

/// Finds circles in each event. `found` is overwritten; its memory is used again.
pub fn find(
    level: Level,
    geometry: &Geometry,
    peer: Peer,
    events: &[Record],
    found: &mut Vec<Found>,
) {
    found.clear();
    found.resize(events.len(), Found::default());
    level.run(All { geometry, peer, events, found });
}

struct All<'a> {
    geometry: &'a Geometry,
    peer: Peer,
    events: &'a [Record],
    found: &'a mut [Found],
}

impl Kernel for All<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        for (event, found) in self.events.iter().zip(self.found) {
            let hits = Hits::new(s, self.geometry, event);
            *found = match self.peer {
                Peer::Almagest => search(s, self.geometry, &hits, true),
                Peer::Histogram => search(s, self.geometry, &hits, false),
            };
        }
    }
}

/// Hits of one event, a lane each, and as they are.
struct Hits<S: Simd> {
    x: [S::F; 2],
    y: [S::F; 2],
    ids: [u16; SLOTS],
    all: u32,
}

impl<S: Simd> Hits<S> {
    #[inline(always)]
    fn new(s: S, geometry: &Geometry, event: &Record) -> Self {
        let count = record::count(event);
        let mut ids = [NULL_ID; SLOTS];
        let (mut x, mut y) = ([[0.0; LANES]; 2], [[0.0; LANES]; 2]);
        for slot in 0..SLOTS {
            let id = if slot < count { record::id(event, slot) } else { NULL_ID.into() };
            ids[slot] = id as u16;
            [x[slot / LANES][slot % LANES], y[slot / LANES][slot % LANES]] = geometry.places()[id];
        }
        let all = u32::MAX.checked_shr(32 - count as u32).unwrap_or(0);
        let (x, y) = ([s.load(&x[0]), s.load(&x[1])], [s.load(&y[0]), s.load(&y[1])]);
        Self { x, y, ids, all }
    }

    /// Distances of all hits from a place.
    #[inline(always)]
    fn away(&self, s: S, place: [f32; 2]) -> [S::F; 2] {
        let (px, py) = (s.splat(place[0]), s.splat(place[1]));
        let mut made = self.x;
        for half in 0..2 {
            let (dx, dy) = (s.sub(self.x[half], px), s.sub(self.y[half], py));
            made[half] = s.sqrt(s.add(s.mul(dx, dx), s.mul(dy, dy)));
        }
        made
    }

    /// Hits whose value lies strictly between.
    #[inline(always)]
    fn between(&self, s: S, values: &[S::F; 2], low: f32, high: f32) -> u32 {
        let (low, high) = (s.splat(low), s.splat(high));
        let mut bits = 0;
        for half in 0..2 {
            let inside = s.both(s.lt(low, values[half]), s.lt(values[half], high));
            bits |= u32::from(s.bits(inside)) << (LANES * half);
        }
        bits
    }
}

/// Far more than any distance.
const FAR: f32 = 1e6;

/// The hit of these with the smallest value.
#[inline(always)]
fn least<S: Simd>(s: S, values: &[S::F; 2], of: u32) -> usize {
    let far = s.splat(FAR);
    let mut known = [far; 2];
    for half in 0..2 {
        known[half] = s.select(s.mask((of >> (LANES * half)) as u16), values[half], far);
    }
    let mut lanes = [0.0; LANES];
    s.store(s.min(known[0], known[1]), &mut lanes);
    for half in [8, 4, 2, 1] {
        for at in 0..half {
            lanes[at] = if lanes[at + half] < lanes[at] { lanes[at + half] } else { lanes[at] };
        }
    }
    let least = s.splat(lanes[0]);
    let above = u32::from(s.bits(s.lt(least, known[0])))
        | u32::from(s.bits(s.lt(least, known[1]))) << LANES;
    (of & !above).trailing_zeros() as usize % SLOTS
}

/// The first of these hits from a slot on, in the order of their times: another one for each direction.
#[inline(always)]
fn next(of: u32, turn: usize) -> usize {
    let from = (4 * turn % SLOTS) as u32;
    ((of.rotate_right(from).trailing_zeros() + from) % 32) as usize
}

/// Taubin's circle through some hits.
#[inline(always)]
fn fit<S: Simd>(s: S, geometry: &Geometry, hits: &Hits<S>, of: u32) -> [f32; 3] {
    let mut sums = [0i32; 8];
    let mut rest = of;
    while rest != 0 {
        let id = hits.ids[rest.trailing_zeros() as usize];
        rest &= rest - 1;
        for (sum, one) in sums.iter_mut().zip(geometry.rows()[usize::from(id)].0) {
            *sum += one;
        }
    }
    let mut all = [s.splat(0.0); 8];
    for kind in 0..8 {
        all[kind] = s.splat(sums[kind] as f32);
    }
    let counts: Lanes = [of.count_ones() as f32; LANES];
    let (x, y, r, _) = circle(s, &all, &counts, Method::Taubin);
    let (mut xs, mut ys, mut rs) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    s.store(x, &mut xs);
    s.store(y, &mut ys);
    s.store(r, &mut rs);
    [xs[0], ys[0], rs[0]]
}

#[inline(always)]
fn search<S: Simd>(s: S, geometry: &Geometry, hits: &Hits<S>, almagest: bool) -> Found {
    let mut circles = [[0.0; 3]; 3];
    let (mut count, mut left) = (0, hits.all);
    while left.count_ones() >= MIN_HITS && count < 3 {
        let mut members =
            if almagest { triplets(s, geometry, hits, left) } else { grid(s, hits, left) };
        let mut circle = [0.0; 3];
        for _ in 0..3 {
            if members.count_ones() < MIN_HITS {
                break;
            }
            circle = fit(s, geometry, hits, members);
            let away = hits.away(s, [circle[0], circle[1]]);
            members = left & hits.between(s, &away, circle[2] - NEAR, circle[2] + NEAR);
        }
        if members.count_ones() < MIN_HITS || !(RADII.0..RADII.1).contains(&circle[2]) {
            break;
        }
        circles[count] = circle;
        count += 1;
        left &= !members;
    }
    Found::of(&circles[..count], f32::INFINITY)
}

/// The hits of the triplet that most others agree with.
#[inline(always)]
fn triplets<S: Simd>(s: S, geometry: &Geometry, hits: &Hits<S>, left: u32) -> u32 {
    let mut best = 0u32;
    let place = |at: usize| geometry.places()[usize::from(hits.ids[at])];
    for (turn, (cos, sin)) in DIRECTIONS.into_iter().enumerate() {
        let (cos, sin) = (s.splat(-cos), s.splat(-sin));
        let mut along = hits.x;
        for half in 0..2 {
            along[half] = s.add(s.mul(hits.x[half], cos), s.mul(hits.y[half], sin));
        }
        // The outermost hit, and two others that are far enough from it and from one another.
        let a = least(s, &along, left);
        let from_a = hits.away(s, place(a));
        let others = left & hits.between(s, &from_a, APART, FAR);
        if others == 0 {
            continue;
        }
        let b = next(others, turn);
        let from_b = hits.away(s, place(b));
        let others = others & hits.between(s, &from_b, APART, FAR);
        if others == 0 {
            continue;
        }
        let c = next(others, turn + 16);
        let from_c = hits.away(s, place(c));
        let length = |p: [f32; 2], q: [f32; 2]| {
            ((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1])).sqrt()
        };
        let (pa, pb, pc) = (place(a), place(b), place(c));
        let (ab, bc) = (s.splat(length(pa, pb)), s.splat(length(pb, pc)));
        let ac = s.splat(length(pa, pc));
        let mut residual = hits.x;
        for half in 0..2 {
            let t1 = s.mul(ab, from_c[half]);
            let t2 = s.mul(bc, from_a[half]);
            let t3 = s.mul(ac, from_b[half]);
            let most = s.max(t1, s.max(t2, t3));
            residual[half] = s.sub(s.add(t1, s.add(t2, t3)), s.add(most, most));
        }
        // Rounding may leave a residual below 0.
        let votes = left & hits.between(s, &residual, -PTOLEMY, PTOLEMY) | 1 << a | 1 << b | 1 << c;
        if votes.count_ones() > best.count_ones() {
            best = votes;
        }
    }
    best
}

/// The hits of the fullest bin of distance from any centre.
#[inline(always)]
fn grid<S: Simd>(s: S, hits: &Hits<S>, left: u32) -> u32 {
    let (mut most, mut at, mut edge) = (0, [0.0; 2], 0.0);
    for cell in 0..GRID * GRID {
        let place = [cell % GRID, cell / GRID]
            .map(|k| (k as f32 - (GRID - 1) as f32 / 2.0) * (2.0 * REACH / (GRID - 1) as f32));
        let away = hits.away(s, place);
        let (mut low, mut high) = ([0.0; LANES], [0.0; LANES]);
        s.store(away[0], &mut low);
        s.store(away[1], &mut high);
        let mut bins = [0u8; BINS];
        let mut rest = left;
        while rest != 0 {
            let slot = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let value = if slot < LANES { low[slot] } else { high[slot - LANES] };
            bins[((value / BIN) as usize).min(BINS - 1)] += 1;
        }
        // The last bin is all that lies farther.
        for (bin, votes) in bins[..BINS - 1].iter().enumerate() {
            if *votes > most {
                (most, at, edge) = (*votes, place, bin as f32 * BIN);
            }
        }
    }
    left & hits.between(s, &hits.away(s, at), edge, edge + BIN)
}
