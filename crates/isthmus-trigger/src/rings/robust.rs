// SPDX-License-Identifier: Apache-2.0
//! Events that are one circle: by the plain fit, or by one that outliers pull less and less.

use super::{Found, MAX_STEP, SURE_RADII, add8, clamp_radius, step, terms};
use crate::geometry::{Geometry, TABLE, UNIT_MM};
use crate::record::{self, Record, SLOTS};
use crate::simd::{Kernel, LANES, Lanes, Simd};
use crate::single::{Method, circle, moments};

/// Events that have not left yet, and their circles so far.
#[derive(Default)]
pub(super) struct Rest {
    events: Vec<u16>,
    circles: Vec<[f32; 3]>,
    left: Vec<u16>,
}

impl Rest {
    /// Those that are no single circle.
    pub(super) fn left(&self) -> &[u16] {
        &self.left
    }
}

/// Hits' rms distance from the circle of an event that leaves at once, half pitches.
const MAX_RMS: f32 = 7.0 / UNIT_MM;
/// And its hits.
const MIN_HITS: f32 = 6.0;

/// The plain fit.
pub(super) struct Singles<'a> {
    pub(super) geometry: &'a Geometry,
    pub(super) events: &'a [Record],
    pub(super) found: &'a mut [Found],
    pub(super) rest: &'a mut Rest,
}

impl Kernel for Singles<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let rest = self.rest;
        rest.events.clear();
        rest.circles.clear();
        let (groups, tail) = self.events.as_chunks::<LANES>();
        for (at, group) in groups.iter().enumerate() {
            singles(s, self.geometry, group, at * LANES, self.found, rest);
        }
        if !tail.is_empty() {
            let first = groups.len() * LANES;
            singles(s, self.geometry, tail, first, self.found, rest);
        }
    }
}

#[inline(always)]
fn singles<S: Simd>(
    s: S,
    geometry: &Geometry,
    events: &[Record],
    first: usize,
    found: &mut [Found],
    rest: &mut Rest,
) {
    let (sums, hits) = moments(s, geometry.rows(), events);
    let (x, y, r, chi2) = circle(s, &sums, &hits, Method::Taubin);
    let near = s
        .both(s.lt(chi2, s.splat(MAX_RMS * MAX_RMS)), s.lt(s.splat(MIN_HITS - 0.5), s.load(&hits)));
    let size = s.both(s.lt(s.splat(SURE_RADII.0), r), s.lt(r, s.splat(SURE_RADII.1)));
    let sure = s.bits(s.both(near, size));
    let (mut xs, mut ys, mut rs) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    s.store(x, &mut xs);
    s.store(y, &mut ys);
    s.store(r, &mut rs);
    for lane in 0..events.len() {
        if sure >> lane & 1 == 1 {
            found[first + lane] = Found::one(xs[lane], ys[lane], rs[lane]);
        } else {
            rest.events.push((first + lane) as u16);
            rest.circles.push([xs[lane], ys[lane], rs[lane]]);
        }
    }
}

/// Hits farther than this weigh nothing, step by step; then all nearer than [`FLAT`] weigh the same.
const WIDTHS: [f32; 3] = [40.0 / UNIT_MM, 25.0 / UNIT_MM, 16.0 / UNIT_MM];
const FLAT: f32 = 13.5 / UNIT_MM;
/// A hit farther from its circle is not of it.
const OUTSIDE: f32 = 11.0 / UNIT_MM;
/// An event with more hits outside is not one circle.
const MAX_OUTSIDE: f32 = 3.0;
/// Centres beyond are no centres.
const FAR: f32 = 30.0;

/// Places of hits, an event a lane. Lanes without an event hold what was in them before.
pub(super) type Places = [[Lanes; 2]; SLOTS];
/// None so far.
pub(super) const NO_PLACES: Places = [[[0.0; LANES]; 2]; SLOTS];

/// The robust fit.
pub(super) struct Robust<'a> {
    pub(super) geometry: &'a Geometry,
    pub(super) events: &'a [Record],
    pub(super) found: &'a mut [Found],
    pub(super) rest: &'a mut Rest,
    pub(super) places: &'a mut Places,
}

impl Kernel for Robust<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { geometry, events, found, rest, places } = self;
        rest.left.clear();
        for (group, circles) in rest.events.chunks(LANES).zip(rest.circles.chunks(LANES)) {
            let (counts, most) = decode(geometry, events, group, places);
            let (mut x, mut y, mut r) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
            for (lane, circle) in circles.iter().enumerate() {
                [x[lane], y[lane], r[lane]] = *circle;
            }
            let [x, y, r, inside] = fit(s, &places[..most], [s.load(&x), s.load(&y), s.load(&r)]);
            let outside = s.sub(s.load(&counts), inside);
            let few = s.lt(outside, s.splat(MAX_OUTSIDE + 0.5));
            let enough = s.lt(s.add(s.splat(4.5), s.add(outside, outside)), inside);
            let size = s.both(s.lt(s.splat(SURE_RADII.0), r), s.lt(r, s.splat(SURE_RADII.1)));
            let sure = s.bits(s.both(s.both(few, enough), size));
            let (mut xs, mut ys, mut rs) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
            s.store(x, &mut xs);
            s.store(y, &mut ys);
            s.store(r, &mut rs);
            for (lane, &event) in group.iter().enumerate() {
                if sure >> lane & 1 == 1 {
                    found[event as usize] = Found::one(xs[lane], ys[lane], rs[lane]);
                } else {
                    rest.left.push(event);
                }
            }
        }
    }
}

/// Places of the hits of up to 16 events, a lane each, their numbers and the largest of them. Not compiled for
/// a level: compilers make scatters of this, which are slow.
#[inline(never)]
fn decode(
    geometry: &Geometry,
    events: &[Record],
    group: &[u16],
    places: &mut Places,
) -> (Lanes, usize) {
    let mut counts = [0.0; LANES];
    let mut most = 0;
    for &event in group {
        most = most.max(record::count(&events[usize::from(event)]));
    }
    for (lane, &event) in group.iter().take(LANES).enumerate() {
        let event = &events[usize::from(event)];
        counts[lane] = record::count(event) as f32;
        for four in 0..most.div_ceil(4) {
            let ids = record::four(event, four);
            for at in 0..4 {
                let place = geometry.places()[(ids >> (16 * at)) as usize % TABLE];
                places[4 * four + at][0][lane] = place[0];
                places[4 * four + at][1][lane] = place[1];
            }
        }
    }
    (counts, most)
}

/// A circle in all lanes, and what distances from it need.
#[derive(Clone, Copy)]
pub(super) struct About<S: Simd> {
    x: S::F,
    y: S::F,
    r: S::F,
    /// 1 / r, and 1 / 2 r^2.
    inverse: S::F,
    half: S::F,
}

impl<S: Simd> About<S> {
    #[inline(always)]
    pub(super) fn new(s: S, [x, y, r]: [S::F; 3]) -> Self {
        let inverse = s.div(s.splat(1.0), r);
        let half = s.mul(s.splat(0.5), s.mul(inverse, inverse));
        Self { x, y, r, inverse, half }
    }

    /// Unit vector from the centre to a hit, and how far outside the circle the hit is. With
    /// t = (d^2 - r^2) / 2 r^2 the distance is d = r sqrt(1 + 2 t); the series to the third power is right to
    /// 0.02 mm within the width of a ring, and rises everywhere, so that far hits stay far.
    #[inline(always)]
    pub(super) fn distance(&self, s: S, hit: [S::F; 2]) -> (S::F, S::F, S::F) {
        let (dx, dy) = (s.sub(hit[0], self.x), s.sub(hit[1], self.y));
        let d2 = s.add(s.mul(dx, dx), s.mul(dy, dy));
        let (one, half) = (s.splat(1.0), s.splat(0.5));
        let t = s.sub(s.mul(d2, self.half), half);
        let u = s.add(t, s.mul(s.mul(half, s.mul(t, t)), s.sub(t, one)));
        // 1 / d to first order: a step's direction.
        let along = s.sub(self.inverse, s.mul(u, self.inverse));
        (s.mul(dx, along), s.mul(dy, along), s.mul(u, self.r))
    }
}

#[inline(always)]
fn fit<S: Simd>(s: S, hits: &[[Lanes; 2]], start: [S::F; 3]) -> [S::F; 4] {
    let (zero, one) = (s.splat(0.0), s.splat(1.0));
    let far = |v| s.max(s.min(v, s.splat(FAR)), s.splat(-FAR));
    let [mut x, mut y] = [far(start[0]), far(start[1])];
    let mut r = clamp_radius(s, start[2]);
    for pass in 0..4 {
        let mut sums = [zero; 8];
        let width = if pass < 3 { WIDTHS[pass] } else { FLAT };
        let narrow = s.splat(1.0 / (width * width));
        let about = About::new(s, [x, y, r]);
        for hit in hits {
            let hit = [s.load(&hit[0]), s.load(&hit[1])];
            let (ex, ey, away) = about.distance(s, hit);
            let left = s.max(s.sub(one, s.mul(s.mul(away, away), narrow)), zero);
            let weight =
                if pass < 3 { s.mul(left, left) } else { s.select(s.lt(zero, left), one, zero) };
            sums = add8(s, &sums, &terms(s, weight, ex, ey, away));
        }
        let [dx, dy, dr] = step(s, &sums);
        (x, y) = (s.add(x, dx), s.add(y, dy));
        r = clamp_radius(s, s.add(r, dr));
    }
    let mut inside = zero;
    let limit = s.splat(OUTSIDE * OUTSIDE);
    let about = About::new(s, [x, y, r]);
    for hit in hits {
        let hit = [s.load(&hit[0]), s.load(&hit[1])];
        let (_, _, away) = about.distance(s, hit);
        inside = s.add(inside, s.select(s.lt(s.mul(away, away), limit), one, zero));
    }
    [x, y, r, inside]
}

const _: () = assert!(MAX_STEP < FAR);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;

    struct Away([f32; 3], Lanes);

    impl Kernel for Away {
        type Output = [Lanes; 3];

        #[inline(always)]
        fn run<S: Simd>(self, s: S) -> Self::Output {
            let circle = [s.splat(self.0[0]), s.splat(self.0[1]), s.splat(self.0[2])];
            let (ex, ey, away) = About::new(s, circle).distance(s, [s.load(&self.1), s.splat(2.0)]);
            let mut out = [[0.0; LANES]; 3];
            for (value, out) in [ex, ey, away].into_iter().zip(&mut out) {
                s.store(value, out);
            }
            out
        }
    }

    #[test]
    fn distances_are_right_near_a_circle_and_large_far_from_it() {
        for radius in [11.0f32, 15.0, 22.0] {
            let hits: Lanes = std::array::from_fn(|lane| radius - 4.0 + 0.5 * lane as f32);
            let [ex, ey, away] = Level::best().run(Away([1.0, -1.0, radius], hits));
            for (lane, hit) in hits.into_iter().enumerate() {
                let (dx, dy) = (hit - 1.0, 3.0);
                let exact = dx.hypot(dy) - radius;
                if exact.abs() < FLAT {
                    // 0.03 mm, and a unit vector to 3 %.
                    assert!((away[lane] - exact).abs() < 0.03 / UNIT_MM, "{} {exact}", away[lane]);
                    assert!((ex[lane].hypot(ey[lane]) - 1.0).abs() < 0.03);
                } else {
                    assert!(away[lane].abs() > FLAT, "{} for {exact}", away[lane]);
                }
            }
        }
    }
}
