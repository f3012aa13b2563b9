// SPDX-License-Identifier: Apache-2.0
//! Several circles: what is found, how well, and the same at every level. The figures that the
//! documentation gives are of more events: `isthmus bench trigger`.

use isthmus_trigger::events::{BRIGHT, MIXED, REFERENCE, Ring, Sample, Truth, generate};
use isthmus_trigger::geometry::Geometry;
use isthmus_trigger::peers::{self, Peer};
use isthmus_trigger::record::{self, Header, Hit, Record};
use isthmus_trigger::rings::{Config, Finder, Found};
use isthmus_trigger::score::{Quality, distance_mm, width68};
use isthmus_trigger::simd::Level;
use proptest::prelude::*;
use std::sync::LazyLock;

static DISK: LazyLock<Geometry> = LazyLock::new(Geometry::na62);
static FINDER: LazyLock<Finder> = LazyLock::new(|| Finder::new(&DISK, &Config::default()));

fn find(level: Level, events: &[Record]) -> Vec<Found> {
    let mut found = Vec::new();
    FINDER.find(level, events, &mut found);
    found
}

fn quality(sample: &Sample, seed: u64, count: usize) -> Quality {
    let (events, truths) = generate(&DISK, sample, seed, count);
    Quality::of(&truths, &find(Level::best(), &events), sample.counted_hits)
}

/// `share` is at least `wanted`, or as little below as five standard deviations of `n` trials allow.
fn at_least(what: &str, share: f64, n: u64, wanted: f64) {
    let sigma = (wanted * (1.0 - wanted) / n as f64).sqrt();
    assert!(share > wanted - 5.0 * sigma, "{what}: {share:.4}, wanted {wanted} +- {sigma:.4}");
}

#[test]
fn rings_of_the_reference_sample_are_found() {
    let q = quality(&REFERENCE, 101, 20_000);
    for (number, efficiency, multiplicity) in
        [(1, 0.999, 0.995), (2, 0.955, 0.955), (3, 0.86, 0.87)]
    {
        at_least("found", q.efficiency(number), q.rings[number], efficiency);
        let events = q.confusion[number].iter().sum();
        at_least("number right", q.multiplicity(number), events, multiplicity);
    }
    let sigma = (0.035 / 20_000f64).sqrt();
    assert!(q.fake_rate() < 0.035 + 5.0 * sigma, "{} fakes an event", q.fake_rate());
    assert!(width68(&q.radius_mm) < 1.85, "radius {} mm", width68(&q.radius_mm));
    assert!(width68(&q.centre_mm) < 2.55, "centre {} mm", width68(&q.centre_mm));
}

#[test]
fn faint_rings_other_particles_and_empty_events_are_as_documented() {
    let q = quality(&MIXED, 102, 20_000);
    at_least("found of 2", q.efficiency(2), q.rings[2], 0.92);
    at_least("found of 3", q.efficiency(3), q.rings[3], 0.77);
    at_least("nothing in nothing", q.multiplicity(0), q.confusion[0].iter().sum(), 0.99);
    assert!(q.fake_rate() < 0.045 + 5.0 * (0.045 / 20_000f64).sqrt(), "{}", q.fake_rate());
}

#[test]
fn full_events_are_found_as_well() {
    let q = quality(&BRIGHT, 103, 10_000);
    at_least("found of 2", q.efficiency(2), q.rings[2], 0.985);
    at_least("found of 3", q.efficiency(3), q.rings[3], 0.91);
}

#[test]
fn published_finders_lose_more_rings() {
    let (events, truths) = generate(&DISK, &REFERENCE, 104, 10_000);
    let own = Quality::of(&truths, &find(Level::best(), &events), 6);
    for peer in [Peer::Almagest, Peer::Histogram] {
        let mut found = Vec::new();
        peers::find(Level::best(), &DISK, peer, &events, &mut found);
        let q = Quality::of(&truths, &found, 6);
        assert!(q.efficiency(1) > 0.85, "{peer:?} is no finder: {}", q.efficiency(1));
        for number in 1..=3 {
            assert!(own.efficiency(number) > q.efficiency(number), "{peer:?}, {number} rings");
        }
        assert!(own.fake_rate() < q.fake_rate(), "{peer:?}");
    }
}

#[test]
fn levels_agree_to_the_bit() {
    let (events, _) = generate(&DISK, &MIXED, 105, 3001);
    let expected = find(Level::Portable, &events);
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        assert_eq!(find(level, &events), expected, "{level:?}");
        let peer = |level| {
            let mut found = Vec::new();
            peers::find(level, &DISK, Peer::Almagest, &events, &mut found);
            found
        };
        assert_eq!(peer(level), peer(Level::Portable), "{level:?}");
    }
}

#[test]
fn an_event_is_found_the_same_way_alone_and_in_any_company() {
    let (events, _) = generate(&DISK, &REFERENCE, 106, 600);
    let together = find(Level::best(), &events);
    for (event, expected) in events.iter().zip(&together) {
        assert_eq!(find(Level::best(), std::slice::from_ref(event))[0], *expected);
    }
}

/// Every photomultiplier that a circle crosses, and every `step`-th of them.
fn drawn(rings: &[Ring], step: usize) -> Record {
    let mut hits: Vec<Hit> = Vec::new();
    for ring in rings {
        let mut ids = Vec::new();
        for k in 0..720u32 {
            let angle = f64::from(k).to_radians() / 2.0;
            let (x, y, r) = (f64::from(ring.x), f64::from(ring.y), f64::from(ring.r));
            ids.extend(DISK.at_mm(x + r * angle.cos(), y + r * angle.sin()));
        }
        ids.dedup();
        let ids = ids.into_iter().step_by(step).map(|id| Hit { id, time: 0 });
        hits.extend(ids.filter(|hit| !hits.contains(hit)).collect::<Vec<_>>());
    }
    hits.truncate(record::SLOTS);
    record::encode(Header::default(), &hits).unwrap()
}

#[test]
fn drawn_circles_are_found_where_they_are() {
    let rings = [
        Ring { x: -60.0, y: 20.0, r: 120.0 },
        Ring { x: 50.0, y: -40.0, r: 150.0 },
        Ring { x: 10.0, y: 70.0, r: 175.0 },
    ];
    for number in 0..=3 {
        let event = drawn(&rings[..number], 7);
        let found = find(Level::best(), &[event])[0];
        assert_eq!(usize::from(found.count), number);
        for ring in &rings[..number] {
            let near = found.rings().iter().map(|other| distance_mm(ring, other));
            assert!(near.fold(f32::MAX, f32::min) < 15.0, "{ring:?} in {:?}", found.rings());
        }
    }
}

#[test]
fn a_higher_penalty_finds_fewer_fakes_and_fewer_rings() {
    let (events, truths) = generate(&DISK, &REFERENCE, 107, 5000);
    let of = |penalty| {
        let mut found = Vec::new();
        let config = Config { penalty, ..Config::default() };
        Finder::new(&DISK, &config).find(Level::best(), &events, &mut found);
        Quality::of(&truths, &found, 6)
    };
    let (low, high) = (of([12.0, 25.0, 37.0]), of([20.0, 41.0, 61.0]));
    assert!(low.fakes > high.fakes);
    assert!(low.efficiency(3) > high.efficiency(3));
}

#[test]
fn the_score_counts_each_ring_once() {
    let ring = |x| Ring { x, y: 0.0, r: 150.0 };
    let (_, mut truths) = generate(&DISK, &REFERENCE, 108, 200);
    let two: &mut Truth = truths.iter_mut().find(|truth| truth.rings.len() == 2).unwrap();
    two.rings[0].ring = ring(0.0);
    two.rings[1].ring = ring(20.0);
    let found = find(Level::best(), &[drawn(&[ring(1.0)], 3)]);
    assert_eq!(found[0].count, 1);
    let q = Quality::of(std::slice::from_ref(two), &found, 0);
    // It lies near both, and is one of them.
    assert_eq!((q.rings[2], q.matched[2], q.fakes), (2, 1, 0));
    assert_eq!(q.confusion[2], [0, 1, 0, 0]);
}

proptest! {
    #[test]
    fn any_bytes_give_at_most_three_rings_of_the_detectors_sizes(
        bytes in proptest::collection::vec(any::<u8>(), 70 * 5),
    ) {
        let (events, _) = bytes.as_chunks::<{ record::RECORD_BYTES }>();
        let found = find(Level::best(), events);
        prop_assert_eq!(&found, &find(Level::Portable, events));
        for ring in found.iter().flat_map(Found::rings) {
            prop_assert!((97.9..199.1).contains(&ring.r), "{:?}", ring);
            prop_assert!(ring.x.abs() < 400.0 && ring.y.abs() < 400.0, "{:?}", ring);
        }
    }
}
