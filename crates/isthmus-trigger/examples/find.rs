// SPDX-License-Identifier: Apache-2.0
//! Speed and quality of all finders on one sample: `cargo run --release --example find [SAMPLE [SEED [EVENTS]]]`.

use isthmus_trigger::bench::{FINDERS, Ready, Row};
use isthmus_trigger::events::{generate, sample};
use isthmus_trigger::geometry::Geometry;
use isthmus_trigger::rings::Config;
use isthmus_trigger::simd::Level;
use isthmus_trigger::single::Method;

fn show(row: &Row) {
    print!(
        "{:20} {:9} {:7.2} M/s  16 events {:6.1} us",
        row.finder,
        row.level,
        row.per_second / 1e6,
        row.sixteen_us[0]
    );
    if let Some(q) = &row.quality {
        let shares = |values: &[f64]| {
            values.iter().map(|value| format!("{value:.4}")).collect::<Vec<_>>().join(" ")
        };
        print!(
            "  found {}  number right {}  fakes {:.4}  radius {:.2} mm, centre {:.2} mm",
            shares(&q.efficiency),
            shares(&q.multiplicity[1..]),
            q.fakes,
            q.radius_mm[1],
            q.centre_mm[1]
        );
    }
    println!();
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "reference".into());
    let sample = sample(&name).ok_or("no such sample")?;
    let seed = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let count = arguments.next().map_or(Ok(65_536), |text| text.parse())?;
    let disk = Geometry::na62();
    let (events, truths) = generate(&disk, &sample, seed, count);
    let ready = Ready::new(&disk, &Config::default());
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        for method in [Method::Kasa, Method::Taubin] {
            show(&ready.single(method, level, &events, 20));
        }
        show(&ready.row(FINDERS[0], level, &sample, &events, &truths, 10));
    }
    show(&ready.row(FINDERS[1], Level::best(), &sample, &events, &truths, 5));
    show(&ready.row(FINDERS[2], Level::best(), &sample, &events, &truths, 1));
    Ok(())
}
