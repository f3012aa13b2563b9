// SPDX-License-Identifier: Apache-2.0
//! One circle through all hits of an event, sixteen events at a time, from the records as they are.
//!
//! Sums of the hits' lattice coordinates are exact integers; what follows is a few dozen operations an event.
//! Kasa's fit minimises the algebraic distance and is biased to small radii on short arcs; Taubin's is
//! not, for three Newton steps more (N. Chernov, "Circular and linear regression", 2010).

use crate::events::Ring;
use crate::geometry::Moments;
use crate::geometry::{Geometry, ROW, TABLE, UNIT_MM};
use crate::record::{self, Record};
use crate::simd::{Kernel, LANES, Lanes, Level, Simd};

/// Which fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Linear least squares of the algebraic distance.
    Kasa,
    /// Algebraic distance over its gradient.
    Taubin,
}

/// Circles of sixteen events, in half pitches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Circles {
    pub x: Lanes,
    pub y: Lanes,
    pub r: Lanes,
    /// Mean square of the hits' distances, to first order.
    pub chi2: Lanes,
}

/// Sums over the hits of 16 events, or of the fewer that there are; [`Moments`] says of what.
#[inline(always)]
pub(crate) fn moments<S: Simd>(
    s: S,
    rows: &[Moments; TABLE],
    events: &[Record],
) -> ([S::F; 8], Lanes) {
    let mut sums = [s.no_row(); LANES];
    let mut counts = [0.0; LANES];
    for (lane, event) in events.iter().take(LANES).enumerate() {
        let count = record::count(event);
        counts[lane] = count as f32;
        let mut sum = s.no_row();
        // Null slots add nothing: 24 slots without a branch cost less than branches that miss.
        for four in 0..6 {
            sum = add_four(s, sum, rows, record::four(event, four));
        }
        if count > 24 {
            sum = add_four(s, sum, rows, record::four(event, 6));
            sum = add_four(s, sum, rows, record::four(event, 7));
        }
        sums[lane] = sum;
    }
    let columns = s.transpose(&sums);
    let mut made = [s.splat(0.0); 8];
    for kind in 0..8 {
        made[kind] = s.to_f(columns[kind]);
    }
    (made, counts)
}

#[inline(always)]
fn add_four<S: Simd>(s: S, sum: S::R, rows: &[Moments; TABLE], ids: u64) -> S::R {
    let mut sum = sum;
    for at in 0..4 {
        sum = s.add_row(sum, &rows[(ids >> (16 * at)) as usize % TABLE]);
    }
    sum
}

/// The circle of each lane's sums; without three hits that are not in line no numbers.
#[inline(always)]
pub(crate) fn circle<S: Simd>(
    s: S,
    sums: &[S::F; 8],
    counts: &Lanes,
    method: Method,
) -> (S::F, S::F, S::F, S::F) {
    let (add, sub, mul) = (|a, b| s.add(a, b), |a, b| s.sub(a, b), |a, b| s.mul(a, b));
    let c = |value| s.splat(value);
    // Means of the powers of x and y: rows lie sqrt(3) apart.
    let share = s.div(c(1.0), s.max(s.load(counts), c(1.0)));
    let rows = mul(share, c(ROW));
    let (mx, my) = (mul(sums[0], share), mul(sums[1], rows));
    let (xx, xy) = (mul(sums[2], share), mul(sums[3], rows));
    let yy = mul(mul(sums[4], share), c(3.0));
    let (xz, yz, zz) = (mul(sums[5], share), mul(sums[6], rows), mul(sums[7], share));
    let z = add(xx, yy);
    // The same about the mean.
    let m2 = add(mul(mx, mx), mul(my, my));
    let (suu, svv) = (sub(xx, mul(mx, mx)), sub(yy, mul(my, my)));
    let suv = sub(xy, mul(mx, my));
    let twice = |a| add(a, a);
    let suz = sub(sub(xz, mul(mx, z)), twice(add(mul(mx, suu), mul(my, suv))));
    let svz = sub(sub(yz, mul(my, z)), twice(add(mul(mx, suv), mul(my, svv))));
    let a2 = add(add(mul(mul(mx, mx), xx), twice(mul(mul(mx, my), xy))), mul(mul(my, my), yy));
    let szz = add(
        sub(add(zz, mul(c(4.0), a2)), mul(c(4.0), add(mul(mx, xz), mul(my, yz)))),
        mul(m2, sub(twice(z), mul(c(3.0), m2))),
    );
    let sz = add(suu, svv);
    let cov = sub(mul(suu, svv), mul(suv, suv));
    // Taubin's root of the characteristic polynomial, from 0.
    let mut root = c(0.0);
    if method == Method::Taubin {
        let var = sub(szz, mul(sz, sz));
        let a3 = mul(c(4.0), sz);
        let a2 = sub(c(0.0), add(mul(mul(c(3.0), sz), sz), szz));
        let a1 =
            sub(add(mul(var, sz), mul(mul(c(4.0), cov), sz)), add(mul(suz, suz), mul(svz, svz)));
        let a0 = sub(
            add(
                mul(suz, sub(mul(suz, svv), mul(svz, suv))),
                mul(svz, sub(mul(svz, suu), mul(suz, suv))),
            ),
            mul(var, cov),
        );
        for _ in 0..3 {
            let value = add(a0, mul(root, add(a1, mul(root, add(a2, mul(root, a3))))));
            let slope = add(a1, mul(root, add(twice(a2), mul(mul(c(3.0), root), a3))));
            root = sub(root, s.div(value, slope));
        }
    }
    let det = add(sub(mul(root, root), mul(root, sz)), cov);
    let half = s.div(c(0.5), det);
    let (su, sv) = (sub(suu, root), sub(svv, root));
    let u = mul(sub(mul(suz, sv), mul(svz, suv)), half);
    let v = mul(sub(mul(svz, su), mul(suz, suv)), half);
    let away = add(mul(u, u), mul(v, v));
    let r2 = add(away, sz);
    // Mean square of (z - 2 u x - 2 v y - (r^2 - away)) / 2 r.
    let spread = add(add(mul(mul(u, u), suu), mul(mul(v, v), svv)), twice(mul(mul(u, v), suv)));
    let chi = sub(
        add(szz, mul(c(4.0), spread)),
        add(mul(c(4.0), add(mul(u, suz), mul(v, svz))), mul(sz, sz)),
    );
    let chi2 = s.div(s.max(chi, c(0.0)), mul(c(4.0), r2));
    (add(mx, u), add(my, v), s.sqrt(r2), chi2)
}

struct All<'a> {
    geometry: &'a Geometry,
    events: &'a [Record],
    method: Method,
    fits: &'a mut Fits,
}

impl Kernel for All<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { geometry, events, method, fits } = self;
        let (groups, rest) = events.as_chunks::<LANES>();
        fits.0.resize(events.len().div_ceil(LANES), Circles::default());
        let (made, last) = fits.0.split_at_mut(groups.len());
        for (events, to) in groups.iter().zip(made) {
            group(s, geometry, events, method, to);
        }
        if let Some(to) = last.first_mut() {
            group(s, geometry, rest, method, to);
        }
    }
}

#[inline(always)]
fn group<S: Simd>(s: S, geometry: &Geometry, events: &[Record], method: Method, to: &mut Circles) {
    let (sums, counts) = moments(s, geometry.rows(), events);
    let (x, y, r, chi2) = circle(s, &sums, &counts, method);
    s.store(x, &mut to.x);
    s.store(y, &mut to.y);
    s.store(r, &mut to.r);
    s.store(chi2, &mut to.chi2);
}

/// Circles of events, sixteen together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fits(Vec<Circles>);

impl Fits {
    /// The circle of an event and the rms of its hits' distances from it, mm. Not finite where the hits have no
    /// circle: fewer than three of them, or in line.
    ///
    /// # Panics
    /// If there is no such event.
    #[must_use]
    pub fn get(&self, event: usize) -> (Ring, f32) {
        let (group, lane) = (&self.0[event / LANES], event % LANES);
        let (x, y, r) = (group.x[lane], group.y[lane], group.r[lane]);
        let ring = Ring { x: x * UNIT_MM, y: y * UNIT_MM, r: r * UNIT_MM };
        (ring, group.chi2[lane].sqrt() * UNIT_MM)
    }
}

/// Fits a circle to each event. `fits` is overwritten; its memory is used again.
pub fn fit(level: Level, geometry: &Geometry, events: &[Record], method: Method, fits: &mut Fits) {
    level.run(All { geometry, events, method, fits });
}
