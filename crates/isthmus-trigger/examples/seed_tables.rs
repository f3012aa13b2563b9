// SPDX-License-Identifier: Apache-2.0
//! Writes what the memories of the gateware `rtl/rich` hold: a line a word, `memory address data` in hexadecimal.
//! `cargo run --example seed_tables > seed_tables.txt`

use std::io::{BufWriter, Write, stdout};

use isthmus_trigger::geometry::Geometry;
use isthmus_trigger::rings::{Config, Finder};

fn main() -> std::io::Result<()> {
    let gateware = Finder::new(&Geometry::na62(), &Config::default()).gateware();
    let mut out = BufWriter::new(stdout().lock());
    for word in gateware.words() {
        writeln!(out, "{:x} {:04x} {:016x}", word.memory, word.address, word.data)?;
    }
    out.flush()
}
