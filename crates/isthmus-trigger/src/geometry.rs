// SPDX-License-Identifier: Apache-2.0
//! Where the photomultipliers are: sites of a hexagonal lattice, derived from its pitch.
//!
//! A site is a pair of integers (ix, iy) with ix + iy even. Its place is x = ix * pitch / 2,
//! y = iy * pitch * sqrt(3) / 2, so that (2 r / pitch)^2 = ix^2 + 3 iy^2 is an integer: sums over hits
//! are exact. The inside of this crate counts in half pitches.

/// Photomultipliers of one disk of the NA62 RICH; there are two disks.
pub const SITES: usize = 976;
/// Distance between neighbours, mm. NA62 RICH: 18 mm.
pub const PITCH_MM: f64 = 18.0;
/// An id that is no photomultiplier: what unused slots hold. Ids have [`ID_BITS`] bits.
pub const NULL_ID: u16 = 1023;
/// Bits of an id; the others of a slot are not the finder's.
pub const ID_BITS: u32 = 10;
/// Entries of a table that any id may index.
pub const TABLE: usize = 1 << ID_BITS;
/// mm of one unit of length inside: half a pitch.
pub const UNIT_MM: f32 = (PITCH_MM / 2.0) as f32;
/// sqrt(3), the height of a row in units.
pub const ROW: f32 = 1.732_050_8;

/// What a photomultiplier adds to the sums of a circle: ix, iy, ix^2, ix iy, iy^2, ix z, iy z, z^2 with
/// z = ix^2 + 3 iy^2. Zero for ids that are no photomultiplier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(32))]
pub struct Moments(pub [i32; 8]);

/// The lattice sites of one disk.
#[derive(Clone, Debug)]
pub struct Geometry {
    sites: Vec<(i32, i32)>,
    /// Site of (ix, iy), for looking up a place.
    index: Vec<u16>,
    reach: i32,
    rows: Box<[Moments; TABLE]>,
    places: Box<[[f32; 2]; TABLE]>,
}

/// Far outside: a hit there is near no circle.
pub(crate) const NOWHERE: f32 = 1.0e4;

impl Geometry {
    /// The `count` lattice sites nearest to the centre of the disk, numbered row by row from below. Of sites
    /// equally far those of outer rows count first, then the lower ones, then the left ones.
    ///
    /// # Panics
    /// If `count` does not fit the ids: at most 1023.
    #[must_use]
    pub fn nearest(count: usize) -> Self {
        assert!(count < TABLE, "ids have {ID_BITS} bits and one of them is null");
        // A hexagon's area is 2 sqrt(3) units squared; the margin covers the rim.
        let reach = (count as f64 * 2.0 * 3f64.sqrt() / std::f64::consts::PI).sqrt() as i32 + 4;
        let mut sites: Vec<(i32, i32)> = (-reach..=reach)
            .flat_map(|iy| (-reach..=reach).map(move |ix| (ix, iy)))
            .filter(|(ix, iy)| (ix + iy).rem_euclid(2) == 0)
            .collect();
        sites.sort_by_key(|&(ix, iy)| (ix * ix + 3 * iy * iy, -iy.abs(), iy, ix));
        sites.truncate(count);
        sites.sort_by_key(|&(ix, iy)| (iy, ix));
        Self::of_sites(&sites)
    }

    /// A disk of the NA62 RICH: [`SITES`] sites within 296.4 mm. The real disk has as many at the same pitch;
    /// its rim is cut a little differently.
    #[must_use]
    pub fn na62() -> Self {
        Self::nearest(SITES)
    }

    /// A disk with these lattice sites, numbered in this order. A detector of another shape starts here.
    ///
    /// # Panics
    /// If there are more than 1023 sites, one of them is no lattice site or lies beyond 40 half pitches.
    #[must_use]
    pub fn of_sites(sites: &[(i32, i32)]) -> Self {
        assert!(sites.len() < TABLE, "ids have {ID_BITS} bits and one of them is null");
        let reach = sites.iter().map(|(ix, iy)| ix.abs().max(iy.abs())).max().unwrap_or(0);
        assert!(reach <= 40, "sums of 32 hits must fit 32 bits");
        let side = (2 * reach + 1) as usize;
        let mut made = Self {
            sites: sites.to_vec(),
            index: vec![NULL_ID; side * side],
            reach,
            rows: Box::new([Moments::default(); TABLE]),
            places: Box::new([[NOWHERE; 2]; TABLE]),
        };
        for (id, &(ix, iy)) in sites.iter().enumerate() {
            assert!((ix + iy).rem_euclid(2) == 0, "({ix}, {iy}) is no lattice site");
            let at = made.slot(ix, iy).expect("within reach");
            made.index[at] = id as u16;
            let z = ix * ix + 3 * iy * iy;
            made.rows[id] = Moments([ix, iy, ix * ix, ix * iy, iy * iy, ix * z, iy * z, z * z]);
            made.places[id] = [ix as f32, iy as f32 * ROW];
        }
        made
    }

    fn slot(&self, ix: i32, iy: i32) -> Option<usize> {
        let (r, side) = (self.reach, 2 * self.reach + 1);
        (ix.abs() <= r && iy.abs() <= r).then(|| ((iy + r) * side + ix + r) as usize)
    }

    /// The lattice coordinates of all photomultipliers, in the order of their ids.
    #[must_use]
    pub fn sites(&self) -> &[(i32, i32)] {
        &self.sites
    }

    /// Where photomultiplier `id` is, mm; nothing for a null id.
    #[must_use]
    pub fn place_mm(&self, id: u16) -> Option<(f64, f64)> {
        let &(ix, iy) = self.sites.get(usize::from(id))?;
        Some((f64::from(ix) * PITCH_MM / 2.0, f64::from(iy) * PITCH_MM * 0.75f64.sqrt()))
    }

    /// The photomultiplier whose centre is nearest to a place and at most half a pitch away: its light guide
    /// is round.
    #[must_use]
    pub fn at_mm(&self, x: f64, y: f64) -> Option<u16> {
        let half = PITCH_MM / 2.0;
        let far = f64::from(self.reach + 2) * 2.0 * half;
        if x.abs() > far || y.abs() > far {
            return None;
        }
        let (u, row) = (x / half, y / (half * 3f64.sqrt()));
        let low = row.floor() as i32;
        [low, low + 1]
            .into_iter()
            .filter_map(|iy| {
                // The nearest column of the row's parity.
                let odd = iy.rem_euclid(2);
                let ix = 2 * ((u - f64::from(odd)) / 2.0).round() as i32 + odd;
                let (dx, dy) = (u - f64::from(ix), (row - f64::from(iy)) * 3f64.sqrt());
                let d2 = dx * dx + dy * dy;
                let id = self.index[self.slot(ix, iy)?];
                (d2 <= 1.0 && id != NULL_ID).then_some((d2, id))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, id)| id)
    }

    /// How far sites reach, and the id of each lattice place from (-reach, -reach) on, row by row.
    pub(crate) fn lattice(&self) -> (i32, &[u16]) {
        (self.reach, &self.index)
    }

    /// What each id adds to the sums of a circle.
    #[must_use]
    pub fn rows(&self) -> &[Moments; TABLE] {
        &self.rows
    }

    /// Where each id is, in half pitches; a null id is far outside.
    #[must_use]
    pub fn places(&self) -> &[[f32; 2]; TABLE] {
        &self.places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_has_976_sites_18_mm_apart_in_39_rows() {
        let disk = Geometry::na62();
        assert_eq!(disk.sites().len(), 976);
        let place = |id: usize| disk.place_mm(id as u16).unwrap();
        let nearest = (1..976)
            .map(|id| {
                let ((x, y), (u, v)) = (place(0), place(id));
                (x - u).hypot(y - v)
            })
            .fold(f64::MAX, f64::min);
        assert!((nearest - 18.0).abs() < 1e-9);
        let mut rows: Vec<i32> = disk.sites().iter().map(|site| site.1).collect();
        rows.dedup();
        assert_eq!(rows, (-19..=19).collect::<Vec<_>>());
        let farthest = (0..976).map(|id| place(id).0.hypot(place(id).1)).fold(0.0, f64::max);
        assert!(farthest < 296.4, "{farthest}");
    }

    #[test]
    fn a_place_belongs_to_the_nearest_photomultiplier_or_to_none() {
        let disk = Geometry::na62();
        for id in 0..976u16 {
            let (x, y) = disk.place_mm(id).unwrap();
            assert_eq!(disk.at_mm(x + 5.0, y - 6.0), Some(id));
        }
        // The centre of a triangle is 10.4 mm from its corners.
        assert_eq!(disk.at_mm(9.0, 9.0 / 3f64.sqrt()), None);
        assert_eq!(disk.at_mm(400.0, 0.0), None);
        assert_eq!(disk.at_mm(1e300, -1e300), None);
    }

    #[test]
    fn round_light_guides_cover_their_share_of_the_plane() {
        let disk = Geometry::na62();
        let n = 1000;
        let inside = (0..n * n)
            .filter(|k| {
                let (i, j) = (f64::from(k % n) + 0.5, f64::from(k / n) + 0.5);
                disk.at_mm(i / f64::from(n) * 90.0, j / f64::from(n) * 90.0 * 3f64.sqrt()).is_some()
            })
            .count();
        let share = inside as f64 / f64::from(n * n);
        assert!((share - std::f64::consts::PI / 12f64.sqrt()).abs() < 1e-3, "{share}");
    }
}
