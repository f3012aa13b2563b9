// SPDX-License-Identifier: Apache-2.0
//! Votes of hits for circles. A cell is a circle: a centre of a hexagonal grid and one of eight radii. Each
//! photomultiplier has a bit for every cell near whose circle it lies; full adders count the bits of all
//! hits in all cells at once, in five planes of bits.

use crate::geometry::{Geometry, TABLE, UNIT_MM};
use crate::simd::{Bits, Simd};

/// Distance of centres, mm.
pub(super) const PITCH_MM: f64 = 13.0;
/// Radii, mm: eight from 106, 11 apart; with [`NEAR_MM`] they cover 95 to 194 mm.
pub(super) const FIRST_MM: f64 = 106.0;
pub(super) const RADII: usize = 8;
pub(super) const STEP_MM: f64 = 11.0;
/// A photomultiplier nearer than this to a circle votes for it.
const NEAR_MM: f64 = 11.0;
/// Some are at exactly this distance. They do not vote, whatever the rounding of a machine's `hypot`.
const TIE_MM: f64 = 1e-9;
/// Planes of the counters: up to 31.
pub(super) const PLANES: usize = 5;
/// Vectors of 512 cells.
const VECTORS: usize = 6;
/// Cells that they have room for: centres up to 132 mm.
pub(crate) const MAX_CELLS: usize = 512 * VECTORS;

/// All bits, or none.
static ALL_UNLESS: [Bits; 2] = [Bits([!0; 8]), Bits([0; 8])];

/// Circles, and who votes for them.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// Centres, half pitches; each has a cell for every radius. All of them fit the nearest cache.
    centres: Vec<[f32; 2]>,
    radii: [f32; RADII],
    /// Of each id; its length is in its type, so that no look-up is checked.
    votes: Box<[[Bits; VECTORS]; TABLE]>,
}

impl Table {
    pub(super) fn new(geometry: &Geometry, centre_mm: f64) -> Self {
        let row = PITCH_MM * 0.75f64.sqrt();
        let reach = (centre_mm / row) as i32 + 1;
        let mut centres = Vec::new();
        for iy in -reach..=reach {
            for ix in -reach..=reach {
                let x = PITCH_MM * (f64::from(ix) + 0.5 * f64::from(iy.rem_euclid(2)));
                let y = row * f64::from(iy);
                if x.hypot(y) <= centre_mm {
                    centres.push((x, y));
                }
            }
        }
        // The innermost first, so that what finds no room lies outside; then row by row.
        centres.sort_by(|a, b| a.0.hypot(a.1).total_cmp(&b.0.hypot(b.1)));
        centres.truncate(MAX_CELLS / RADII);
        centres.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.total_cmp(&b.0)));
        let circles = |(x, y)| (0..RADII).map(move |at| [x, y, FIRST_MM + STEP_MM * at as f64]);
        let cells: Vec<[f64; 3]> = centres.into_iter().flat_map(circles).collect();
        let votes: Box<[[Bits; VECTORS]]> = vec![[Bits::default(); VECTORS]; TABLE].into();
        let mut votes: Box<[[Bits; VECTORS]; TABLE]> =
            votes.try_into().unwrap_or_else(|_| unreachable!("as long as it was made"));
        for id in 0..geometry.sites().len() {
            let (px, py) = geometry.place_mm(id as u16).expect("a site");
            for (at, [x, y, r]) in cells.iter().enumerate() {
                if ((px - x).hypot(py - y) - r).abs() < NEAR_MM - TIE_MM {
                    let bits = &mut votes[id][at / 512].0;
                    bits[at % 512 / 64] |= 1 << (at % 64);
                }
            }
        }
        let unit = f64::from(UNIT_MM);
        let scaled = |[x, y, _]: &[f64; 3]| [(x / unit) as f32, (y / unit) as f32];
        let centres = cells.iter().step_by(RADII).map(scaled).collect();
        let radii = std::array::from_fn(|at| ((FIRST_MM + STEP_MM * at as f64) / unit) as f32);
        Self { centres, radii, votes }
    }

    /// Centres and radii of all cells, half pitches.
    pub(crate) fn cells(&self) -> Vec<[f32; 3]> {
        (0..self.centres.len() * RADII).map(|at| self.cell(at)).collect()
    }

    /// Centre and radius of a cell.
    #[inline(always)]
    pub(super) fn cell(&self, at: usize) -> [f32; 3] {
        let [x, y] = self.centres.get(at / RADII).copied().unwrap_or_default();
        [x, y, self.radii[at % RADII]]
    }

    /// The votes of all ids, in words of 64 cells.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> + '_ {
        self.votes.iter().flatten().flat_map(|bits| bits.0)
    }

    /// Columns and rows of the centres, half pitches of the grid: x = column * 6.5 mm, y = row * 11.26 mm.
    pub(super) fn grid(&self) -> impl Iterator<Item = [i32; 2]> + '_ {
        let column = PITCH_MM / 2.0 / f64::from(UNIT_MM);
        let row = PITCH_MM * 0.75f64.sqrt() / f64::from(UNIT_MM);
        let whole = move |centre: &[f32; 2]| {
            [
                (f64::from(centre[0]) / column).round() as i32,
                (f64::from(centre[1]) / row).round() as i32,
            ]
        };
        self.centres.iter().map(whole)
    }

    #[inline(always)]
    pub(super) fn of(&self, id: usize) -> &[Bits; VECTORS] {
        &self.votes[id % TABLE]
    }
}

/// The counters of one event.
pub(super) struct Votes {
    planes: [[Bits; PLANES]; VECTORS],
    /// Whether any cell has 16 votes, which few events have.
    sixteen: bool,
}

impl Votes {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { planes: [[Bits([0; 8]); PLANES]; VECTORS], sixteen: true }
    }

    /// Counts the votes of hits; `ids` is padded with null ids to a multiple of eight.
    #[inline(always)]
    pub(super) fn count<S: Simd>(&mut self, s: S, table: &Table, ids: &[u16]) {
        let (eights, _) = ids.as_chunks::<8>();
        let zero = s.load_b(&Bits([0; 8]));
        let mut any = zero;
        for vector in 0..VECTORS {
            let (mut ones, mut twos, mut fours) = (zero, zero, zero);
            let (mut eight, mut sixteen) = (zero, zero);
            for ids in eights {
                let mut four = [zero; 2];
                for half in 0..2 {
                    let mut two = [zero; 2];
                    for pair in 0..2 {
                        let at = 4 * half + 2 * pair;
                        let a = s.load_b(&table.of(ids[at] as usize)[vector]);
                        let b = s.load_b(&table.of(ids[at + 1] as usize)[vector]);
                        (ones, two[pair]) = s.full_add(ones, a, b);
                    }
                    (twos, four[half]) = s.full_add(twos, two[0], two[1]);
                }
                let carry;
                (fours, carry) = s.full_add(fours, four[0], four[1]);
                let more;
                (eight, more) = s.full_add(eight, carry, zero);
                sixteen = s.or_b(sixteen, more);
            }
            any = s.or_b(any, sixteen);
            let planes = &mut self.planes[vector];
            for (value, plane) in [ones, twos, fours, eight, sixteen].into_iter().zip(planes) {
                s.store_b(value, plane);
            }
        }
        self.sixteen = s.words_b(any) != 0;
    }

    /// Keeps of the cells those with a bit in a plane, if there are any; whether there are.
    #[inline(always)]
    fn halve<S: Simd>(&self, s: S, mask: &mut [S::B; VECTORS], plane: usize) -> u32 {
        let mut any = s.load_b(&Bits([0; 8]));
        for (mask, planes) in mask.iter().zip(&self.planes) {
            any = s.or_b(any, s.and_b(*mask, s.load_b(&planes[plane])));
        }
        let some = s.words_b(any) != 0;
        let all = s.load_b(&ALL_UNLESS[usize::from(some)]);
        for (mask, planes) in mask.iter_mut().zip(&self.planes) {
            *mask = s.and_b(*mask, s.or_b(s.load_b(&planes[plane]), all));
        }
        u32::from(some)
    }

    /// The same for two planes at once, the higher one first: what both leave is looked at together, which
    /// takes half the time of one after the other. Without a branch, which no processor could foresee.
    #[inline(always)]
    fn quarter<S: Simd>(&self, s: S, mask: &mut [S::B; VECTORS], [high, low]: [usize; 2]) -> u32 {
        let zero = s.load_b(&Bits([0; 8]));
        let (mut any_high, mut any_low, mut any_both) = (zero, zero, zero);
        for (mask, planes) in mask.iter().zip(&self.planes) {
            let low = s.load_b(&planes[low]);
            let kept = s.and_b(*mask, s.load_b(&planes[high]));
            any_high = s.or_b(any_high, kept);
            any_low = s.or_b(any_low, s.and_b(*mask, low));
            any_both = s.or_b(any_both, s.and_b(kept, low));
        }
        let some = |any| u32::from(s.words_b(any) != 0);
        let (some_high, some_low, both) = (some(any_high), some(any_low), some(any_both));
        let some_low = both | some_low & !some_high;
        let all_high = s.load_b(&ALL_UNLESS[some_high as usize & 1]);
        let all_low = s.load_b(&ALL_UNLESS[some_low as usize & 1]);
        for (mask, planes) in mask.iter_mut().zip(&self.planes) {
            let kept = s.and_b(*mask, s.or_b(s.load_b(&planes[high]), all_high));
            *mask = s.and_b(kept, s.or_b(s.load_b(&planes[low]), all_low));
        }
        some_high << 1 | some_low & 1
    }

    /// The circles through a photomultiplier with the most votes: how many votes, and the first and the last
    /// such cell.
    #[inline(always)]
    pub(super) fn best_through<S: Simd>(
        &self,
        s: S,
        table: &Table,
        id: u16,
    ) -> (u32, [[f32; 3]; 2]) {
        let zero = s.load_b(&Bits([0; 8]));
        let mut mask = [zero; VECTORS];
        let own = table.of(id as usize);
        for (mask, own) in mask.iter_mut().zip(own) {
            *mask = s.load_b(own);
        }
        let mut votes = 0;
        if self.sixteen {
            votes |= self.halve(s, &mut mask, 4) << 4;
        }
        votes |= self.quarter(s, &mut mask, [3, 2]) << 2;
        votes |= self.quarter(s, &mut mask, [1, 0]);
        let (mut words, mut set) = ([Bits([0; 8]); VECTORS], 0);
        for vector in 0..VECTORS {
            s.store_b(mask[vector], &mut words[vector]);
            set |= u64::from(s.words_b(mask[vector])) << (8 * vector);
        }
        if set == 0 {
            return (0, [[0.0; 3]; 2]);
        }
        let cell = |at: usize| table.cell(at);
        let (first, last) = (set.trailing_zeros() as usize, 63 - set.leading_zeros() as usize);
        let low = words[first / 8].0[first % 8].trailing_zeros() as usize;
        let high = 63 - words[last / 8].0[last % 8].leading_zeros() as usize;
        (votes, [cell(64 * first + low), cell(64 * last + high)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Draws;
    use crate::simd::{Kernel, Level};

    struct Search<'a>(&'a Table, &'a [u16], u16);

    impl Kernel for Search<'_> {
        type Output = (u32, [[f32; 3]; 2]);

        #[inline(always)]
        fn run<S: Simd>(self, s: S) -> Self::Output {
            let mut votes = Votes::new();
            votes.count(s, self.0, self.1);
            votes.best_through(s, self.0, self.2)
        }
    }

    /// Votes of one photomultiplier, cell by cell.
    fn cells(table: &Table, id: u16) -> Vec<bool> {
        let words = table.of(usize::from(id)).iter().flat_map(|bits| bits.0);
        words.flat_map(|word| (0..64).map(move |bit| word >> bit & 1 == 1)).collect()
    }

    #[test]
    fn the_best_cells_through_a_hit_are_those_of_counting() {
        let disk = Geometry::na62();
        let table = Table::new(&disk, 132.0);
        let circles = table.cells();
        assert_eq!(circles.len(), 3032);
        let mut d = Draws::new(31, 0);
        for count in [4usize, 9, 20, 31] {
            let mut ids: Vec<u16> = (0..count).map(|_| d.below(976) as u16).collect();
            ids.resize(count.next_multiple_of(8), crate::geometry::NULL_ID);
            let all: Vec<Vec<bool>> = ids.iter().map(|id| cells(&table, *id)).collect();
            for at in 0..count {
                let votes = |cell: usize| all.iter().filter(|votes| votes[cell]).count() as u32;
                let own: Vec<usize> = (0..circles.len()).filter(|cell| all[at][*cell]).collect();
                let best = own.iter().map(|cell| votes(*cell)).max();
                let found = Level::best().run(Search(&table, &ids, ids[at]));
                let Some(best) = best else {
                    assert_eq!(found.0, 0);
                    continue;
                };
                assert_eq!(found.0, best);
                let tops: Vec<usize> =
                    own.into_iter().filter(|cell| votes(*cell) == best).collect();
                let ends = [tops[0], tops[tops.len() - 1]].map(|cell| circles[cell]);
                assert_eq!(found.1, ends);
            }
        }
    }
}
