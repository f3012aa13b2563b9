// SPDX-License-Identifier: Apache-2.0
//! Rings in a detector of one's own: a square of photomultipliers, and one event.

use isthmus_trigger::geometry::Geometry;
use isthmus_trigger::record::{Header, Hit, encode};
use isthmus_trigger::rings::{Config, Finder};
use isthmus_trigger::simd::Level;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Every lattice site of a square of 504 mm, row by row.
    let sites: Vec<(i32, i32)> = (-16..=16)
        .flat_map(|iy| (-28..=28).map(move |ix| (ix, iy)))
        .filter(|(ix, iy)| (ix + iy) % 2 == 0)
        .collect();
    let disk = Geometry::of_sites(&sites);
    let hits: Vec<Hit> = (0..16)
        .filter_map(|k| {
            let angle = f64::from(k) * std::f64::consts::TAU / 16.0;
            disk.at_mm(20.0 + 140.0 * angle.cos(), -30.0 + 140.0 * angle.sin())
        })
        .map(|id| Hit { id, time: 0 })
        .collect();
    let records = [encode(Header::default(), &hits)?];
    let finder = Finder::new(&disk, &Config::default());
    let mut found = Vec::new();
    finder.find(Level::best(), &records, &mut found);
    for ring in found[0].rings() {
        println!("x {:.1} mm, y {:.1} mm, r {:.1} mm", ring.x, ring.y, ring.r);
    }
    Ok(())
}
