// SPDX-License-Identifier: Apache-2.0
//! Where a block that ran alone spent its time, from the link's records.

use isthmus_sim::Picoseconds;
use isthmus_sim::world::pcie::{Direction, Pcie, TlpKind, TlpRecord};

use crate::error::RoadError;
use crate::stages::Way;

/// The TLPs of a block.
pub(crate) struct Tlps {
    /// Stores of the host to the FPGA's registers.
    pub(crate) stores: Vec<TlpRecord>,
    /// Reads of host memory, and what came back.
    pub(crate) asked: Vec<TlpRecord>,
    pub(crate) answers: Vec<TlpRecord>,
    /// Writes to host memory.
    pub(crate) written: Vec<TlpRecord>,
}

impl Tlps {
    /// Those from a time on.
    pub(crate) fn since(link: &Pcie, begin: Picoseconds) -> Self {
        let of = |direction, kind| -> Vec<TlpRecord> {
            let records = link.records_since(direction, 0).into_iter();
            records.filter(|one| one.kind == kind && one.handed >= begin).collect()
        };
        Self {
            stores: of(Direction::Down, TlpKind::Write),
            asked: of(Direction::Up, TlpKind::Read),
            answers: of(Direction::Down, TlpKind::Completion),
            written: of(Direction::Up, TlpKind::Write),
        }
    }
}

/// The stages of a descriptor's fetch; `wire` is the link's place.
pub(crate) fn fetch(
    way: &mut Way,
    wire: &str,
    ask: &TlpRecord,
    answer: &TlpRecord,
) -> Result<(), RoadError> {
    way.until("fpga", "descriptor asked for", ask.handed)?;
    way.until(wire, "descriptor, to the host", ask.delivered)?;
    way.until("host", "descriptor, memory", answer.handed)?;
    way.until(wire, "descriptor, back", answer.delivered)
}
