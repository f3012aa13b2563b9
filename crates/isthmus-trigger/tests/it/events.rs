// SPDX-License-Identifier: Apache-2.0
//! Generated events have the physics that their sample says.

use isthmus_trigger::events::{
    Generator, MIXED, NOISY, PILE_UP, Particle, REFERENCE, Sample, generate,
};
use isthmus_trigger::geometry::Geometry;
use isthmus_trigger::record;

const COUNT: usize = 20_000;

/// Whether a count of `n` trials at `share` lies within five standard deviations.
fn plausible(count: usize, n: usize, share: f64) -> bool {
    let expected = share * n as f64;
    (count as f64 - expected).abs() <= 5.0 * (expected * (1.0 - share)).sqrt().max(1.0)
}

#[test]
fn radii_are_those_of_the_optics() {
    let radius = |particle: Particle, p| particle.radius(p).unwrap();
    assert!((radius(Particle::Pion, 15.0) - 106.0).abs() < 0.5);
    assert!((radius(Particle::Pion, 35.0) - 178.0).abs() < 0.5);
    assert!((radius(Particle::Electron, 35.0) - 190.7).abs() < 0.1);
    assert_eq!(Particle::Pion.radius(12.0), None);
    assert_eq!(Particle::Kaon.radius(35.0), None);
}

#[test]
fn an_event_depends_on_its_seed_and_its_number_alone() {
    let disk = Geometry::na62();
    let all = generate(&disk, &REFERENCE, 3, 50);
    assert_eq!(all, generate(&disk, &REFERENCE, 3, 50));
    assert_ne!(all.0, generate(&disk, &REFERENCE, 4, 50).0);
    let hits = |event: &record::Record| record::hits(event).collect::<Vec<_>>();
    // Another rate moves the events' times and nothing else.
    let slow = Sample { rate_hz: 1e3, ..REFERENCE };
    for (a, b) in all.0.iter().zip(&generate(&disk, &slow, 3, 50).0) {
        assert_eq!(hits(a), hits(b));
    }
}

#[test]
fn multiplicities_come_with_their_shares_and_rings_with_their_hits() {
    let disk = Geometry::na62();
    let (records, truths) = generate(&disk, &REFERENCE, 5, COUNT);
    for (number, share) in REFERENCE.multiplicity.iter().enumerate() {
        let count = truths.iter().filter(|truth| truth.rings.len() == number).count();
        assert!(plausible(count, COUNT, *share), "{number} rings: {count}");
    }
    for (event, truth) in records.iter().zip(&truths) {
        for one in &truth.rings {
            assert!(one.ring.x.hypot(one.ring.y) <= 120.0);
            assert!((105.9..178.5).contains(&one.ring.r));
            // A ring has six hits; those of a full event may have been cut.
            assert!(one.hits >= 6 || record::count(event) == record::SLOTS);
        }
    }
    let hits: usize = records.iter().map(record::count).sum();
    let mean = hits as f64 / COUNT as f64;
    assert!((16.9..17.6).contains(&mean), "{mean} hits an event");
}

#[test]
fn hits_lie_on_their_rings() {
    let disk = Geometry::na62();
    // So few photons that two of them seldom fire the same photomultiplier, which counts once.
    let faint = Sample { photons: [1.5; 3], drawn_hits: 0, noise: 0.0, ..REFERENCE };
    let (records, truths) = generate(&disk, &faint, 6, COUNT);
    let (mut sum, mut count) = (0.0, 0.0);
    for (event, truth) in records.iter().zip(&truths) {
        for (hit, label) in record::hits(event).zip(truth.labels) {
            let (x, y) = disk.place_mm(hit.id).unwrap();
            for (_, one) in truth.rings.iter().enumerate().filter(|(at, _)| label >> at & 1 == 1) {
                let away = (x - f64::from(one.ring.x)).hypot(y - f64::from(one.ring.y));
                sum += (away - f64::from(one.ring.r)).powi(2);
                count += 1.0;
            }
        }
    }
    // 2 mm of smear and, within a round light guide of radius 9 mm, half of it an axis.
    let rms = f64::sqrt(sum / count);
    let expected = (2.0f64.powi(2) + 4.5f64.powi(2)).sqrt();
    assert!(
        (rms - expected).abs() < 5.0 * expected / f64::sqrt(2.0 * count),
        "{rms} mm, expected {expected}"
    );
}

#[test]
fn noise_is_what_belongs_to_no_ring() {
    let disk = Geometry::na62();
    let (records, truths) = generate(&disk, &NOISY, 7, COUNT);
    let noise: usize = records
        .iter()
        .zip(&truths)
        .map(|(event, truth)| {
            truth.labels[..record::count(event)].iter().filter(|l| **l == 0).count()
        })
        .sum();
    // A few of them fall onto hits of rings, or find no slot.
    let mean = noise as f64 / COUNT as f64;
    assert!((2.85..3.0).contains(&mean), "{mean}");
}

#[test]
fn times_are_those_of_a_poisson_process_and_pile_up_follows_from_them() {
    let disk = Geometry::na62();
    let time = |event: &record::Record| {
        let head = record::header(event);
        (u64::from(head.timestamp) << 8 | u64::from(head.fine)) as f64 * record::TDC_NS
    };
    let (records, _) = generate(&disk, &MIXED, 8, COUNT);
    let mean = time(records.last().unwrap()) / COUNT as f64;
    assert!((mean - 100.0).abs() < 5.0 * 100.0 / (COUNT as f64).sqrt(), "{mean} ns");
    let (records, truths) = generate(&disk, &PILE_UP, 9, COUNT);
    // The next event is of the same disk within 10 ns.
    let alone = truths.iter().filter(|truth| truth.rings.len() == 1).count();
    let share = f64::exp(-0.1) + (1.0 - f64::exp(-0.1)) / 2.0;
    assert!(plausible(alone, COUNT, share), "{alone} of {COUNT}, expected {share}");
    assert!(records.iter().all(|event| record::check(std::slice::from_ref(event)).is_ok()));
}

#[test]
fn a_generator_has_no_end() {
    let disk = Geometry::na62();
    let never = Sample { drawn_hits: 33, ..REFERENCE };
    let (_, truth) = Generator::new(&disk, never, 1).next().unwrap();
    assert!(truth.rings.is_empty(), "no ring is as bright, and the event is empty");
}
