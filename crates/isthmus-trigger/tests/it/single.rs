// SPDX-License-Identifier: Apache-2.0
//! One circle an event: right to the last digits, as accurate as single hits allow, the same at every level.

use isthmus_trigger::events::{REFERENCE, Ring, SINGLE, generate};
use isthmus_trigger::geometry::Geometry;
use isthmus_trigger::record::{self, Header, Hit, Record};
use isthmus_trigger::simd::Level;
use isthmus_trigger::single::{Fits, Method, fit};
use proptest::prelude::*;

fn fits(level: Level, events: &[Record], method: Method) -> Fits {
    let mut made = Fits::default();
    fit(level, &Geometry::na62(), events, method, &mut made);
    made
}

/// The same fit in doubles about the mean, with as many Newton steps as change anything.
fn exact(disk: &Geometry, event: &Record, method: Method) -> (f64, f64, f64) {
    let places: Vec<(f64, f64)> =
        record::hits(event).map(|hit| disk.place_mm(hit.id).unwrap()).collect();
    let n = places.len() as f64;
    let mean = |f: &dyn Fn(f64, f64) -> f64| places.iter().map(|&(x, y)| f(x, y)).sum::<f64>() / n;
    let (mx, my) = (mean(&|x, _| x), mean(&|_, y| y));
    let about = |f: &dyn Fn(f64, f64, f64) -> f64| {
        mean(&|x, y| {
            let (u, v) = (x - mx, y - my);
            f(u, v, u * u + v * v)
        })
    };
    let (uu, vv, uv) = (about(&|u, _, _| u * u), about(&|_, v, _| v * v), about(&|u, v, _| u * v));
    let (uz, vz, zz) = (about(&|u, _, z| u * z), about(&|_, v, z| v * z), about(&|_, _, z| z * z));
    let (z, cov) = (uu + vv, uu * vv - uv * uv);
    let mut root = 0.0;
    if method == Method::Taubin {
        let var = zz - z * z;
        let a0 = uz * (uz * vv - vz * uv) + vz * (vz * uu - uz * uv) - var * cov;
        let a1 = var * z + 4.0 * cov * z - uz * uz - vz * vz;
        let (a2, a3) = (-3.0 * z * z - zz, 4.0 * z);
        for _ in 0..50 {
            let slope = a1 + root * (2.0 * a2 + root * 3.0 * a3);
            root -= (a0 + root * (a1 + root * (a2 + root * a3))) / slope;
        }
    }
    let det = 2.0 * (root * root - root * z + cov);
    let u = (uz * (vv - root) - vz * uv) / det;
    let v = (vz * (uu - root) - uz * uv) / det;
    (mx + u, my + v, (u * u + v * v + z).sqrt())
}

#[test]
fn circles_are_those_of_doubles() {
    let disk = Geometry::na62();
    let (events, _) = generate(&disk, &SINGLE, 21, 5000);
    for method in [Method::Kasa, Method::Taubin] {
        let found = fits(Level::best(), &events, method);
        for (at, event) in events.iter().enumerate() {
            let (x, y, r) = exact(&disk, event, method);
            let Ring { x: fx, y: fy, r: fr } = found.get(at).0;
            let away =
                (f64::from(fx) - x).abs() + (f64::from(fy) - y).abs() + (f64::from(fr) - r).abs();
            // Short arcs amplify the rounding of floats; half a percent of a hit's own error at most.
            assert!(away < 0.025, "event {at}, {method:?}: {away} mm from {x} {y} {r}");
        }
    }
}

#[test]
fn accuracy_is_that_of_the_hits_themselves() {
    let disk = Geometry::na62();
    let (events, truths) = generate(&disk, &SINGLE, 22, 20_000);
    let found = fits(Level::best(), &events, Method::Taubin);
    // A hit's error across its ring: the light guide's radius 9 mm over 2, and 2 mm of smear.
    let hit = f64::hypot(4.5, 2.0);
    let (mut radius, mut centre, mut count) = (0.0, 0.0, 0.0);
    for (at, truth) in truths.iter().enumerate() {
        let (ring, true_ring) = (found.get(at).0, truth.rings[0]);
        let n = f64::from(true_ring.hits);
        if n < 12.0 {
            continue;
        }
        // In units of the bound for n hits spread evenly: hit / sqrt(n), and hit * sqrt(2 / n) an axis.
        let (dr, bound) = (f64::from(ring.r - true_ring.ring.r), hit / n.sqrt());
        let (dx, dy) = (ring.x - true_ring.ring.x, ring.y - true_ring.ring.y);
        radius += (dr / bound).powi(2);
        centre += f64::from(dx * dx + dy * dy) / (2.0 * 2.0 * bound * bound);
        count += 1.0;
    }
    let (radius, centre) = (f64::sqrt(radius / count), f64::sqrt(centre / count));
    // Hits are not spread evenly and the rim cuts some rings: up to a tenth above the bound.
    assert!((0.97..1.12).contains(&radius), "radius {radius} of the bound");
    assert!((0.97..1.12).contains(&centre), "centre {centre} of the bound");
}

#[test]
fn taubin_is_less_biased_than_kasa_on_arcs() {
    let disk = Geometry::na62();
    let (events, truths) = generate(&disk, &SINGLE, 24, 5000);
    // The upper 120 degrees of each ring.
    let arcs: Vec<(Record, f32)> = events
        .iter()
        .zip(&truths)
        .filter_map(|(event, truth)| {
            let ring = truth.rings[0].ring;
            let above =
                |hit: &Hit| disk.place_mm(hit.id).unwrap().1 > f64::from(ring.y + 0.5 * ring.r);
            let hits: Vec<Hit> = record::hits(event).filter(above).collect();
            (hits.len() >= 6).then(|| (record::encode(Header::default(), &hits).unwrap(), ring.r))
        })
        .collect();
    let events: Vec<Record> = arcs.iter().map(|arc| arc.0).collect();
    // Medians: a few short arcs have no radius to speak of.
    let bias = |method| {
        let found = fits(Level::best(), &events, method);
        let mut away: Vec<f32> =
            arcs.iter().enumerate().map(|(at, arc)| found.get(at).0.r - arc.1).collect();
        away.sort_by(f32::total_cmp);
        away[away.len() / 2]
    };
    let (kasa, taubin) = (bias(Method::Kasa), bias(Method::Taubin));
    assert!(kasa < -2.0, "Kasa's radii are off by {kasa} mm");
    assert!(taubin.abs() < kasa.abs() / 2.0, "Taubin's {taubin} mm, Kasa's {kasa} mm");
}

#[test]
fn events_without_a_circle_give_no_numbers_or_a_huge_one() {
    let disk = Geometry::na62();
    let line: Vec<Hit> = (0..8)
        .map(|k| Hit { id: disk.at_mm(-100.0 + 18.0 * f64::from(k), 0.0).unwrap(), time: 0 })
        .collect();
    let of = |hits: &[Hit]| record::encode(Header::default(), hits).unwrap();
    let events = [record::EMPTY, of(&line[..1]), of(&line[..2]), of(&line)];
    let found = fits(Level::best(), &events, Method::Taubin);
    for at in 0..events.len() {
        let r = found.get(at).0.r;
        assert!(!(30.0..1000.0).contains(&r), "event {at}: {r}");
    }
}

/// Bits of the results, so that numbers that are none compare.
fn bits(fits: &Fits, count: usize) -> Vec<[u32; 4]> {
    (0..count)
        .map(|at| {
            let (ring, rms) = fits.get(at);
            // A sign or a payload of what is no number is nobody's.
            [ring.x, ring.y, ring.r, rms].map(|v| if v.is_nan() { 0 } else { v.to_bits() })
        })
        .collect()
}

#[test]
fn levels_agree_to_the_bit() {
    let (events, _) = generate(&Geometry::na62(), &REFERENCE, 23, 1003);
    for method in [Method::Kasa, Method::Taubin] {
        let expected = bits(&fits(Level::Portable, &events, method), events.len());
        for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
            assert_eq!(bits(&fits(level, &events, method), events.len()), expected, "{level:?}");
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_fitted_the_same_way(
        bytes in proptest::collection::vec(any::<u8>(), 70 * 17),
    ) {
        let (events, _) = bytes.as_chunks::<{ record::RECORD_BYTES }>();
        let expected = bits(&fits(Level::Portable, events, Method::Taubin), events.len());
        prop_assert_eq!(bits(&fits(Level::best(), events, Method::Taubin), events.len()), expected);
    }
}
