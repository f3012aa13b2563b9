// SPDX-License-Identifier: Apache-2.0
//! Events of several circles: candidates from the votes, the best set of them by its likelihood, and a common
//! fit in which each hit belongs to all circles in proportion.

use super::hough::Votes;
use super::robust::About;
use super::{Finder, Found, MAX_FOUND, MAX_SEEDS, Tuned, add8, clamp_radius, step, terms};
use crate::geometry::{NOWHERE, NULL_ID, UNIT_MM};
use crate::record::{self, Record, SLOTS};
use crate::simd::{Kernel, LANES, Lanes, Simd, ln};

/// Votes that a circle needs.
pub(super) const MIN_VOTES: u32 = 4;
/// Two circles this near, as a sum over x, y and r, are one; half pitches.
pub(super) const MERGE: f32 = 30.0 / UNIT_MM;
const CLONE: f32 = 5.0 / UNIT_MM;
/// Half the width of a ring, half pitches.
const WIDTH: f32 = 13.5 / UNIT_MM;
/// Light across a ring: t times this polynomial in t, with t = 1 - (distance / width)^2. It is t^1.5 to 0.01.
const PROFILE: [f32; 3] = [0.268, 1.004, -0.272];
/// Candidates that sets are made of.
const MAX_CANDIDATES: usize = 10;
/// Sets of one to three of ten candidates.
const MAX_SETS: usize = 175;

/// A circle, half pitches.
type Circle = [f32; 3];

pub(super) fn apart(a: Circle, b: Circle) -> f32 {
    (a[0] - b[0]).abs() + (a[1] - b[1]).abs() + (a[2] - b[2]).abs()
}

/// One event.
pub(super) struct Several<'a> {
    pub(super) finder: &'a Finder,
    pub(super) event: &'a Record,
    pub(super) found: &'a mut Found,
    /// Answers of a search that was made before, to be used instead of an own one.
    pub(super) given: Option<&'a [[u16; 2]]>,
    pub(super) scratch: &'a mut Scratch,
}

/// Memory of one search, kept for the next.
pub(super) struct Scratch {
    votes: Votes,
    ratios: [[Lanes; 2]; MAX_CANDIDATES],
    sets: [Set; MAX_SETS],
    scores: [f32; MAX_SETS + 8],
}

impl Scratch {
    pub(super) fn new() -> Self {
        Self {
            votes: Votes::new(),
            ratios: [[[0.0; LANES]; 2]; MAX_CANDIDATES],
            sets: [Set::default(); MAX_SETS],
            scores: [0.0; MAX_SETS + 8],
        }
    }
}

/// Hits of one event, a lane each.
#[derive(Clone, Copy)]
struct Hits<S: Simd> {
    places: [[S::F; 2]; 2],
}

impl Kernel for Several<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Self { finder, event, found, given, scratch } = self;
        let (ids, count, hits) = hits(s, finder, event);
        let mut seeds = [[0.0; LANES]; 3];
        let number = match given {
            Some(answers) => finder.circles(answers, &mut seeds),
            None => search(s, finder, &ids, count, &hits, &mut seeds, scratch),
        };
        for _ in 0..finder.tuned.refine {
            refine(s, &finder.tuned, &hits, number, &mut seeds);
        }
        *found = choose(s, &finder.tuned, &hits, number, &seeds, scratch);
    }
}

/// Ids and places of an event's hits, and how many they are.
#[inline(always)]
fn hits<S: Simd>(s: S, finder: &Finder, event: &Record) -> ([u16; SLOTS], usize, Hits<S>) {
    let count = record::count(event);
    let mut ids = [NULL_ID; SLOTS];
    let mut places = [[[NOWHERE; LANES]; 2]; 2];
    for slot in 0..count {
        let id = record::id(event, slot);
        ids[slot] = id as u16;
        let place = finder.geometry.places()[id];
        places[slot / LANES][0][slot % LANES] = place[0];
        places[slot / LANES][1][slot % LANES] = place[1];
    }
    let mut hits = Hits { places: [[s.splat(0.0); 2]; 2] };
    for half in 0..2 {
        for axis in 0..2 {
            hits.places[half][axis] = s.load(&places[half][axis]);
        }
    }
    (ids, count, hits)
}

/// Candidates: the best circles through each hit that none of them covers yet.
#[inline(always)]
fn search<S: Simd>(
    s: S,
    finder: &Finder,
    ids: &[u16; SLOTS],
    count: usize,
    hits: &Hits<S>,
    seeds: &mut [Lanes; 3],
    scratch: &mut Scratch,
) -> usize {
    let votes = &mut scratch.votes;
    votes.count(s, &finder.table, &ids[..count.next_multiple_of(8)]);
    let mut open = u32::MAX.checked_shr(32 - count as u32).unwrap_or(0);
    let limit = s.splat(finder.tuned.cover * finder.tuned.cover);
    let mut number = 0;
    while open != 0 && number < MAX_SEEDS {
        let hit = open.trailing_zeros();
        open &= open - 1;
        let (best, [mut a, b]) = votes.best_through(s, &finder.table, ids[hit as usize]);
        if best < MIN_VOTES {
            continue;
        }
        let merged = apart(a, b) < MERGE;
        if merged {
            a = [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])];
        }
        for seed in [a, b].into_iter().take(if merged { 1 } else { 2 }) {
            let circle = About::new(s, [s.splat(seed[0]), s.splat(seed[1]), s.splat(seed[2])]);
            for half in 0..2 {
                let (_, _, away) = circle.distance(s, hits.places[half]);
                let near = s.bits(s.lt(s.mul(away, away), limit));
                open &= !(u32::from(near) << (16 * half));
            }
            for axis in 0..3 {
                seeds[axis][number] = seed[axis];
            }
            number += 1;
        }
    }
    number
}

/// Ratio of a ring's light to the noise at a distance from it.
#[inline(always)]
fn ratio<S: Simd>(s: S, away: S::F, height: S::F) -> S::F {
    let inside = s.sub(s.splat(1.0), s.mul(s.mul(away, away), s.splat(1.0 / (WIDTH * WIDTH))));
    let t = s.max(inside, s.splat(0.0));
    let low = s.add(s.splat(PROFILE[0]), s.mul(t, s.splat(PROFILE[1])));
    s.mul(s.mul(height, t), s.add(low, s.mul(s.mul(t, t), s.splat(PROFILE[2]))))
}

/// A circle in all lanes, and the height of its ratio.
#[inline(always)]
fn spread<S: Simd>(s: S, tuned: &Tuned, circles: &[Lanes; 3], at: usize) -> (About<S>, S::F) {
    let circle = [s.splat(circles[0][at]), s.splat(circles[1][at]), s.splat(circles[2][at])];
    (About::new(s, circle), s.splat(tuned.ratio / circles[2][at]))
}

/// Keeps the sums of one circle for the common solution.
#[inline(always)]
fn keep(sums: &mut [Lanes; 8], at: usize, values: [f32; 8]) {
    for (kind, value) in values.into_iter().enumerate() {
        sums[kind][at] = value;
    }
}

/// Moves all circles by the step of their sums.
#[inline(always)]
fn advance<S: Simd>(s: S, sums: &[Lanes; 8], circles: &mut [Lanes; 3]) {
    let mut all = [s.splat(0.0); 8];
    for (all, sums) in all.iter_mut().zip(sums) {
        *all = s.load(sums);
    }
    let [dx, dy, dr] = step(s, &all);
    let [x, y, r] = circles;
    s.store(s.add(s.load(x), dx), x);
    s.store(s.add(s.load(y), dy), y);
    s.store(clamp_radius(s, s.add(s.load(r), dr)), r);
}

/// One step of each candidate by itself.
#[inline(always)]
fn refine<S: Simd>(s: S, tuned: &Tuned, hits: &Hits<S>, number: usize, circles: &mut [Lanes; 3]) {
    let mut sums = [[0.0; LANES]; 8];
    let one = s.splat(1.0);
    for at in 0..number {
        let (circle, height) = spread(s, tuned, circles, at);
        let mut total = [s.splat(0.0); 8];
        for half in 0..2 {
            let (ex, ey, away) = circle.distance(s, hits.places[half]);
            let q = ratio(s, away, height);
            let weight = s.div(q, s.add(one, q));
            total = add8(s, &total, &terms(s, weight, ex, ey, away));
        }
        keep(&mut sums, at, s.sum8(&total));
    }
    advance(s, &sums, circles);
}

/// A set of candidates; its first `count` are valid.
#[derive(Clone, Copy, Default)]
struct Set {
    members: [u8; MAX_FOUND],
    count: u8,
}

/// Log likelihood that sets of circles add to noise alone. `ratios` has those of each circle.
#[inline(always)]
fn scores<S: Simd>(
    s: S,
    tuned: &Tuned,
    ratios: &[[Lanes; 2]],
    sets: &[Set],
    scores: &mut [f32; MAX_SETS + 8],
) {
    let one = s.splat(1.0);
    for (sets, scores) in sets.chunks(4).zip(scores.chunks_mut(4)) {
        let mut light = [one; 4];
        for (set, light) in sets.iter().zip(&mut light) {
            let (mut low, mut high) = (one, one);
            for member in &set.members[..set.count as usize] {
                let ratio = &ratios[*member as usize];
                low = s.add(low, s.load(&ratio[0]));
                high = s.add(high, s.load(&ratio[1]));
            }
            *light = s.mul(low, high);
        }
        // Products of eight hits, at most (1 + 3 * 115)^8 = 2^68, before their logarithm.
        let mut logs = [0.0; LANES];
        s.store(ln(s, s.fold4(light)), &mut logs);
        for (at, (set, score)) in sets.iter().zip(scores).enumerate() {
            let log = &logs[4 * at..4 * at + 4];
            *score = (log[0] + log[2]) + (log[1] + log[3]) - tuned.penalty[set.count as usize - 1];
        }
    }
}

/// The best set of candidates, fitted.
#[inline(always)]
fn choose<S: Simd>(
    s: S,
    tuned: &Tuned,
    hits: &Hits<S>,
    number: usize,
    circles: &[Lanes; 3],
    scratch: &mut Scratch,
) -> Found {
    let Scratch { ratios, sets, scores: found, .. } = scratch;
    // Candidates without clones, and their ratios.
    let mut own = [[0.0; LANES]; 3];
    let mut kept = 0;
    for at in 0..number {
        if kept == MAX_CANDIDATES {
            break;
        }
        let circle = [circles[0][at], circles[1][at], circles[2][at]];
        if (0..kept)
            .any(|other| apart(circle, [own[0][other], own[1][other], own[2][other]]) < CLONE)
        {
            continue;
        }
        for axis in 0..3 {
            own[axis][kept] = circle[axis];
        }
        let (spread, height) = spread(s, tuned, &own, kept);
        let mut hit = 0;
        for half in 0..2 {
            let (_, _, away) = spread.distance(s, hits.places[half]);
            let q = ratio(s, away, height);
            hit += s.bits(s.lt(s.splat(1.0), q)).count_ones();
            s.store(q, &mut ratios[kept][half]);
        }
        kept += usize::from(hit >= MIN_VOTES);
    }
    let mut count = 0;
    for a in 0..kept as u8 {
        sets[count] = Set { members: [a, 0, 0], count: 1 };
        count += 1;
        for b in 0..a {
            sets[count] = Set { members: [a, b, 0], count: 2 };
            count += 1;
            for c in 0..b {
                sets[count] = Set { members: [a, b, c], count: 3 };
                count += 1;
            }
        }
    }
    scores(s, tuned, ratios, &sets[..count], found);
    // The best set of each size.
    let mut best = [(f32::NEG_INFINITY, Set::default()); MAX_FOUND];
    for (set, &score) in sets[..count].iter().zip(found.iter()) {
        let best = &mut best[set.count as usize - 1];
        if score > best.0 {
            *best = (score, *set);
        }
    }
    let top = best.iter().fold(f32::NEG_INFINITY, |top, one| top.max(one.0));
    if top == f32::NEG_INFINITY {
        return Found::default();
    }
    // Those near it, their circles one after another.
    let mut fitted = [[1.0; LANES]; 3];
    let mut models = [Set::default(); MAX_FOUND];
    let (mut used, mut model) = (0, 0);
    for (score, set) in best {
        if score < top - tuned.slack {
            continue;
        }
        models[model].count = set.count;
        for (at, member) in set.members[..set.count as usize].iter().enumerate() {
            for axis in 0..3 {
                fitted[axis][used] = own[axis][*member as usize];
            }
            models[model].members[at] = used as u8;
            used += 1;
        }
        model += 1;
    }
    let models = &models[..model];
    let last = found;
    // One set alone, and likely: its score after the fit would change nothing.
    let sure = model == 1 && top > 0.0;
    last[0] = top;
    together(s, tuned, hits, models, sure, &mut fitted, ratios);
    if !sure {
        scores(s, tuned, ratios, models, last);
    }
    let mut order = [0, 1, 2];
    order[..model].sort_unstable_by(|a, b| last[*b].total_cmp(&last[*a]));
    if last[order[0]] < 0.0 {
        return Found::default();
    }
    let margin = if model > 1 { last[order[0]] - last[order[1]] } else { f32::INFINITY };
    let set = models[order[0]];
    let mut winners = [[0.0; 3]; MAX_FOUND];
    for (winner, member) in winners.iter_mut().zip(set.members) {
        let at = member as usize;
        *winner = [fitted[0][at], fitted[1][at], fitted[2][at]];
    }
    Found::of(&winners[..set.count as usize], margin)
}

/// Fits the circles of each model together: a hit weighs for a circle what share of its light is that circle's.
#[inline(always)]
fn together<S: Simd>(
    s: S,
    tuned: &Tuned,
    hits: &Hits<S>,
    models: &[Set],
    sure: bool,
    circles: &mut [Lanes; 3],
    ratios: &mut [[Lanes; 2]; MAX_CANDIDATES],
) {
    let one = s.splat(1.0);
    for pass in 0..=tuned.joint {
        if pass == tuned.joint && sure {
            break;
        }
        let mut sums = [[0.0; LANES]; 8];
        for model in models {
            let members = &model.members[..model.count as usize];
            let mut light = [one; 2];
            let mut parts = [[(one, one, one, one); 2]; MAX_FOUND];
            for (at, member) in members.iter().enumerate() {
                let (circle, height) = spread(s, tuned, circles, *member as usize);
                for half in 0..2 {
                    let (ex, ey, away) = circle.distance(s, hits.places[half]);
                    let q = ratio(s, away, height);
                    light[half] = s.add(light[half], q);
                    parts[at][half] = (ex, ey, away, q);
                    s.store(q, &mut ratios[*member as usize][half]);
                }
            }
            if pass == tuned.joint {
                continue;
            }
            let share = [s.div(one, light[0]), s.div(one, light[1])];
            for (at, member) in members.iter().enumerate() {
                let mut total = [s.splat(0.0); 8];
                for half in 0..2 {
                    let (ex, ey, away, q) = parts[at][half];
                    let weight = s.mul(q, share[half]);
                    total = add8(s, &total, &terms(s, weight, ex, ey, away));
                }
                keep(&mut sums, *member as usize, s.sum8(&total));
            }
        }
        if pass < tuned.joint {
            advance(s, &sums, circles);
        }
    }
}

/// The candidates of an event, before they are refined: the tests compare the gateware's with them.
#[cfg(test)]
pub(super) struct Candidates<'a> {
    pub(super) finder: &'a Finder,
    pub(super) event: &'a Record,
    pub(super) scratch: &'a mut Scratch,
}

#[cfg(test)]
impl Kernel for Candidates<'_> {
    type Output = Vec<Circle>;

    fn run<S: Simd>(self, s: S) -> Vec<Circle> {
        let (ids, count, hits) = hits(s, self.finder, self.event);
        let mut seeds = [[0.0; LANES]; 3];
        let number = search(s, self.finder, &ids, count, &hits, &mut seeds, self.scratch);
        (0..number).map(|at| seeds.map(|axis| axis[at])).collect()
    }
}

/// Whether a candidate covers a place, half pitches, as [`search`] decides it.
#[cfg(test)]
pub(super) struct Covers<'a>(pub(super) Circle, pub(super) &'a [[f32; 2]], pub(super) f32);

#[cfg(test)]
impl Kernel for Covers<'_> {
    type Output = Vec<bool>;

    fn run<S: Simd>(self, s: S) -> Vec<bool> {
        let Self(circle, places, cover) = self;
        let about = About::new(s, circle.map(|value| s.splat(value)));
        let limit = s.splat(cover * cover);
        let covers = |chunk: &[[f32; 2]]| {
            let mut hit = [[NOWHERE; LANES]; 2];
            for (lane, place) in chunk.iter().enumerate() {
                hit[0][lane] = place[0];
                hit[1][lane] = place[1];
            }
            let (_, _, away) = about.distance(s, [s.load(&hit[0]), s.load(&hit[1])]);
            let near = u32::from(s.bits(s.lt(s.mul(away, away), limit)));
            (0..chunk.len()).map(move |lane| near >> lane & 1 == 1).collect::<Vec<_>>()
        };
        places.chunks(LANES).flat_map(covers).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Draws;
    use crate::rings::Config;
    use crate::simd::Level;

    const HITS: usize = 2 * LANES;

    struct Scored<'a> {
        tuned: &'a Tuned,
        places: &'a [[Lanes; 2]; 2],
        circles: &'a [Lanes; 3],
        sets: &'a [Set],
    }

    impl Kernel for Scored<'_> {
        type Output = [f32; MAX_SETS + 8];

        #[inline(always)]
        fn run<S: Simd>(self, s: S) -> Self::Output {
            let mut ratios = [[[0.0; LANES]; 2]; MAX_CANDIDATES];
            for (at, ratios) in ratios.iter_mut().enumerate() {
                let (circle, height) = spread(s, self.tuned, self.circles, at);
                for half in 0..2 {
                    let place = [s.load(&self.places[half][0]), s.load(&self.places[half][1])];
                    let (_, _, away) = circle.distance(s, place);
                    s.store(ratio(s, away, height), &mut ratios[half]);
                }
            }
            let mut found = [0.0; MAX_SETS + 8];
            scores(s, self.tuned, &ratios, self.sets, &mut found);
            found
        }
    }

    /// A wrong constant in a logarithm cost percents of efficiency unseen in a prototype: scores are compared with
    /// doubles from the definition.
    #[test]
    fn scores_are_those_of_the_likelihood_in_doubles() {
        let config = Config::default();
        let finder = Finder::new(&crate::geometry::Geometry::na62(), &config);
        let mut d = Draws::new(41, 0);
        let mut places = [[[0.0; LANES]; 2]; 2];
        for at in 0..HITS {
            for axis in 0..2 {
                places[at / LANES][axis][at % LANES] = (40.0 * (d.uniform() - 0.5)) as f32;
            }
        }
        let mut circles = [[0.0; LANES]; 3];
        for at in 0..LANES {
            circles[0][at] = (12.0 * (d.uniform() - 0.5)) as f32;
            circles[1][at] = (12.0 * (d.uniform() - 0.5)) as f32;
            circles[2][at] = (12.0 + 8.0 * d.uniform()) as f32;
        }
        let mut sets = Vec::new();
        for a in 0..MAX_CANDIDATES as u8 {
            sets.push(Set { members: [a, 0, 0], count: 1 });
            sets.push(Set { members: [a, (a + 3) % 10, 0], count: 2 });
            sets.push(Set { members: [a, (a + 3) % 10, (a + 5) % 10], count: 3 });
        }
        let tuned = &finder.tuned;
        let (places, circles, sets) = (&places, &circles, &sets[..]);
        let found = Level::best().run(Scored { tuned, places, circles, sets });
        for (set, score) in sets.iter().zip(found) {
            let mut sum = -f64::from(config.penalty[usize::from(set.count) - 1]);
            for hit in 0..HITS {
                let place = |axis: usize| f64::from(places[hit / LANES][axis][hit % LANES]);
                let mut light = 1.0;
                for member in &set.members[..usize::from(set.count)] {
                    let of = |axis: usize| f64::from(circles[axis][usize::from(*member)]);
                    let away = (place(0) - of(0)).hypot(place(1) - of(1)) - of(2);
                    let t = (1.0 - (away / f64::from(WIDTH)).powi(2)).max(0.0);
                    light += f64::from(tuned.ratio) / of(2) * t.powf(1.5);
                }
                sum += light.ln();
            }
            // The profile is t^1.5 to 0.005 of its height, at 32 hits at random places.
            assert!((f64::from(score) - sum).abs() < 0.02 * (sum.abs() + 30.0), "{score}, {sum}");
        }
    }
}
