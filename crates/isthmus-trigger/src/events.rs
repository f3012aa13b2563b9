// SPDX-License-Identifier: Apache-2.0
//! Events by Monte Carlo: rings of Cherenkov light on a disk of photomultipliers, noise and time.
//!
//! An event depends on the seed and its number alone. What the finder may see is a [`Record`]; the truth
//! is kept apart.

use crate::geometry::Geometry;
use crate::random::Draws;
use crate::record::{self, Header, Hit, Record, SLOTS, TDC_NS};

/// Focal length of the mirrors, mm. NA62 RICH: 17.02 m.
pub const FOCAL_MM: f64 = 17_020.0;
/// Refractivity n - 1 of the neon. NA62 RICH: 62.8e-6.
pub const REFRACTIVITY: f64 = 62.8e-6;
/// Rings that a truth can hold.
pub const MAX_RINGS: usize = 6;

/// A charged particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Particle {
    /// Electron.
    Electron,
    /// Muon.
    Muon,
    /// Pion.
    Pion,
    /// Kaon.
    Kaon,
}

impl Particle {
    /// All, by number.
    pub const ALL: [Self; 4] = [Self::Electron, Self::Muon, Self::Pion, Self::Kaon];

    /// Mass in GeV/c^2, rounded (Particle Data Group).
    #[must_use]
    pub fn mass(self) -> f64 {
        match self {
            Self::Electron => 0.000_511,
            Self::Muon => 0.105_658,
            Self::Pion => 0.139_570,
            Self::Kaon => 0.493_677,
        }
    }

    /// Radius of its ring in mm at a momentum in GeV/c; none below the threshold.
    #[must_use]
    pub fn radius(self, momentum: f64) -> Option<f64> {
        let square = 2.0 * REFRACTIVITY - (self.mass() / momentum) * (self.mass() / momentum);
        (square > 0.0).then(|| FOCAL_MM * square.sqrt())
    }
}

/// What is generated.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Its name.
    pub name: &'static str,
    /// Share of events with 0, 1, 2 and 3 rings; they add up to 1.
    pub multiplicity: [f64; 4],
    /// Particles, each as likely.
    pub particles: &'static [Particle],
    /// Uniform between, GeV/c.
    pub momentum: (f64, f64),
    /// Mean photons a ring before acceptance, in events of 1, 2 and 3 rings.
    pub photons: [f64; 3],
    /// A ring with fewer hits is drawn again.
    pub drawn_hits: usize,
    /// A ring with fewer hits does not count in the score.
    pub counted_hits: usize,
    /// Mean of the noise hits of an event.
    pub noise: f64,
    /// Centres are uniform in a disk of this radius, mm.
    pub centre_mm: f64,
    /// Spread of a photon's distance from its centre, mm: chromaticity and mirrors.
    pub smear_mm: f64,
    /// Spread of a hit's time, ns.
    pub jitter_ns: f64,
    /// Mean events a second.
    pub rate_hz: f64,
    /// Events of one disk closer than this are one, ns; 0: no pile-up.
    pub window_ns: f64,
}

/// Rings of pions of 15 to 35 GeV/c with at least 6 hits; 18, 12 and 9 photons a ring.
pub const REFERENCE: Sample = Sample {
    name: "reference",
    multiplicity: [0.0, 0.75, 0.18, 0.07],
    particles: &[Particle::Pion],
    momentum: (15.0, 35.0),
    photons: [18.0, 12.0, 9.0],
    drawn_hits: 6,
    counted_hits: 6,
    noise: 1.0,
    centre_mm: 120.0,
    smear_mm: 2.0,
    jitter_ns: 0.3,
    rate_hz: 10.0e6,
    window_ns: 0.0,
};
/// Electrons, muons and pions, 5 % empty events, and rings of any number of hits.
pub const MIXED: Sample = Sample {
    name: "mixed",
    multiplicity: [0.05, 0.7125, 0.171, 0.0665],
    particles: &[Particle::Electron, Particle::Muon, Particle::Pion],
    drawn_hits: 0,
    counted_hits: 4,
    ..REFERENCE
};
/// 18 photons in every ring: events of three rings fill all slots.
pub const BRIGHT: Sample = Sample { name: "bright", photons: [18.0; 3], ..REFERENCE };
/// Three noise hits an event.
pub const NOISY: Sample = Sample { name: "noisy", noise: 3.0, ..REFERENCE };
/// Single rings whose events overlap within 10 ns.
pub const PILE_UP: Sample =
    Sample { name: "pile-up", multiplicity: [0.0, 1.0, 0.0, 0.0], window_ns: 10.0, ..REFERENCE };
/// One ring of 20 photons and nothing else, for measuring resolutions.
pub const SINGLE: Sample = Sample {
    name: "single",
    multiplicity: [0.0, 1.0, 0.0, 0.0],
    photons: [20.0; 3],
    noise: 0.0,
    ..REFERENCE
};

/// All samples, by name.
pub const SAMPLES: [&Sample; 6] = [&REFERENCE, &MIXED, &BRIGHT, &NOISY, &PILE_UP, &SINGLE];

/// The sample of this name.
#[must_use]
pub fn sample(name: &str) -> Option<Sample> {
    SAMPLES.into_iter().find(|sample| sample.name == name).cloned()
}

/// A circle, mm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ring {
    /// Centre.
    pub x: f32,
    /// Centre.
    pub y: f32,
    /// Radius.
    pub r: f32,
}

/// A ring that is in an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrueRing {
    /// Where.
    pub ring: Ring,
    /// What made it.
    pub particle: Particle,
    /// GeV/c.
    pub momentum: f32,
    /// Photomultipliers that it fired.
    pub hits: u8,
}

/// What is true of one event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truth {
    /// Rings.
    pub rings: Vec<TrueRing>,
    /// Of each slot the rings it belongs to, a bit each; 0 is noise or unused.
    pub labels: [u8; SLOTS],
}

/// An event before it is a record.
struct Made {
    time: f64,
    disk: u8,
    rings: Vec<TrueRing>,
    hits: Vec<Labelled>,
}

struct Labelled {
    id: u16,
    label: u8,
    /// TDC units after the event.
    time: f64,
}

/// Makes the events of a sample one after another, without end.
pub struct Generator<'a> {
    geometry: &'a Geometry,
    sample: Sample,
    seed: u64,
    next: u64,
    /// TDC units since the start.
    time: f64,
    pending: Option<Made>,
}

impl<'a> Generator<'a> {
    /// Events of `sample` on a disk.
    #[must_use]
    pub fn new(geometry: &'a Geometry, sample: Sample, seed: u64) -> Self {
        Self { geometry, sample, seed, next: 0, time: 0.0, pending: None }
    }

    fn make(&mut self) -> Made {
        let mut d = Draws::new(self.seed, self.next);
        self.next += 1;
        self.time += d.exponential() * 1e9 / (self.sample.rate_hz * TDC_NS);
        let (s, time, disk) = (&self.sample, self.time, d.below(2) as u8);
        let wanted = d.uniform();
        let mut below = 0.0;
        let number = s.multiplicity.iter().take_while(|&&share| {
            below += share;
            wanted > below
        });
        let number = number.count().min(3);
        let mut made = Made { time, disk, rings: Vec::new(), hits: Vec::new() };
        for at in 0..number {
            // A sample that is never content ends with what it has.
            for _ in 0..1000 {
                if let Some((ring, ids)) = self.ring(&mut d, number) {
                    made.rings.push(ring);
                    ids.iter().for_each(|&id| add(s, &mut d, &mut made.hits, id, 1 << at));
                    break;
                }
            }
        }
        for _ in 0..d.poisson(s.noise) {
            let id = d.below(self.geometry.sites().len() as u32) as u16;
            add(s, &mut d, &mut made.hits, id, 0);
        }
        made
    }

    fn ring(&self, d: &mut Draws, number: usize) -> Option<(TrueRing, Vec<u16>)> {
        let s = &self.sample;
        let particle = s.particles[d.below(s.particles.len() as u32) as usize];
        let momentum = s.momentum.0 + (s.momentum.1 - s.momentum.0) * d.uniform();
        let radius = particle.radius(momentum)?;
        let away = s.centre_mm * d.uniform().sqrt();
        let (cos, sin) = d.direction();
        let (x, y) = (away * cos, away * sin);
        let mut ids = Vec::new();
        for _ in 0..d.poisson(s.photons[number - 1]) {
            let (cos, sin) = d.direction();
            let r = radius + s.smear_mm * d.normal();
            let id = self.geometry.at_mm(x + r * cos, y + r * sin);
            ids.extend(id.filter(|id| !ids.contains(id)));
        }
        let ring = Ring { x: x as f32, y: y as f32, r: radius as f32 };
        let hits = ids.len() as u8;
        let made = TrueRing { ring, particle, momentum: momentum as f32, hits };
        (ids.len() >= s.drawn_hits).then_some((made, ids))
    }
}

/// Adds a hit; a photomultiplier fires once.
fn add(s: &Sample, d: &mut Draws, hits: &mut Vec<Labelled>, id: u16, label: u8) {
    let time = s.jitter_ns / TDC_NS * d.normal();
    match hits.iter_mut().find(|hit| hit.id == id) {
        Some(hit) => hit.label |= label,
        None => hits.push(Labelled { id, label, time }),
    }
}

/// Puts `later` into `first`.
fn merge(first: &mut Made, later: Made) {
    let (rings, away) = (first.rings.len(), later.time - first.time);
    for hit in later.hits {
        let label = hit.label << rings;
        match first.hits.iter_mut().find(|other| other.id == hit.id) {
            Some(other) => other.label |= label,
            None => first.hits.push(Labelled { label, time: hit.time + away, ..hit }),
        }
    }
    first.rings.extend(later.rings);
}

/// What the trigger reads of an event, and its truth. Hits are in the order of their times; what no slot is
/// left for is lost.
fn finish(mut made: Made) -> (Record, Truth) {
    made.hits.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.id.cmp(&b.id)));
    made.hits.truncate(SLOTS);
    let mut truth = Truth { rings: made.rings, labels: [0; SLOTS] };
    let mut hits = Vec::with_capacity(made.hits.len());
    for (hit, label) in made.hits.iter().zip(&mut truth.labels) {
        *label = hit.label;
        hits.push(Hit { id: hit.id, time: hit.time.round().clamp(-31.0, 31.0) as i8 });
    }
    for (at, ring) in truth.rings.iter_mut().enumerate() {
        ring.hits = truth.labels.iter().filter(|label| *label >> at & 1 == 1).count() as u8;
    }
    let time = made.time.round() as u64;
    let header = Header { timestamp: (time >> 8) as u32, fine: time as u8, disk: made.disk };
    let record = record::encode(header, &hits).expect("ids of the geometry, times clamped");
    (record, truth)
}

impl Iterator for Generator<'_> {
    type Item = (Record, Truth);

    fn next(&mut self) -> Option<Self::Item> {
        let mut first = self.pending.take().unwrap_or_else(|| self.make());
        let window = self.sample.window_ns / TDC_NS;
        if window > 0.0 {
            loop {
                let later = self.make();
                let rings = first.rings.len() + later.rings.len();
                let near = later.disk == first.disk && later.time - first.time < window;
                if !near || rings > MAX_RINGS {
                    self.pending = Some(later);
                    break;
                }
                merge(&mut first, later);
            }
        }
        Some(finish(first))
    }
}

/// `count` events: records and truths.
#[must_use]
pub fn generate(
    geometry: &Geometry,
    sample: &Sample,
    seed: u64,
    count: usize,
) -> (Vec<Record>, Vec<Truth>) {
    Generator::new(geometry, sample.clone(), seed).take(count).unzip()
}
