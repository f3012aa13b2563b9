// SPDX-License-Identifier: Apache-2.0
//! What an interface that merges the events of its ports did so far.

use crate::pcie::Mmio;
use crate::regs::nanet_merge as regs;
use crate::transport::TransportError;

/// Where its registers begin.
const MAP: u32 = 0x300;
/// Ports that the map has.
pub(super) const PORTS: usize = 4;

/// Outcome of the events, and by port of their fragments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merging {
    /// Events, complete or not, modulo 2^32.
    pub merged: u32,
    /// Of them those in which a board's fragment is missing, modulo 2^32.
    pub incomplete: u32,
    /// Outcome of each port's fragments.
    pub ports: [Fragments; PORTS],
}

/// Fragments of a port that are in no event, and datagrams that gave none; modulo 2^16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragments {
    /// Fragments that came when their event had left.
    pub late: u16,
    /// Fragments that came once more.
    pub repeated: u16,
    /// Fragments that were not there when their event left: lost on the way, or late.
    pub missing: u16,
    /// Fragments left out for another time stamp than the first board's.
    pub other_time: u16,
    /// Datagrams that are no packets of events.
    pub malformed: u16,
    /// Datagrams whose end was not good.
    pub refused: u16,
}

impl Merging {
    pub(super) async fn read<M: Mmio>(bar: &mut M) -> Result<Self, TransportError> {
        let mut ports = [Fragments::default(); PORTS];
        for (port, of) in (0u32..).zip(&mut ports) {
            let late = bar.read32(u64::from(MAP + regs::LATE0 + 4 * port)).await?;
            let missing = bar.read32(u64::from(MAP + regs::MISSING0 + 4 * port)).await?;
            let refused = bar.read32(u64::from(MAP + regs::REFUSED0 + 4 * port)).await?;
            *of = Fragments {
                late: late as u16,
                repeated: (late >> 16) as u16,
                missing: missing as u16,
                other_time: (missing >> 16) as u16,
                malformed: refused as u16,
                refused: (refused >> 16) as u16,
            };
        }
        Ok(Self {
            merged: bar.read32(u64::from(MAP + regs::MERGED)).await?,
            incomplete: bar.read32(u64::from(MAP + regs::INCOMPLETE)).await?,
            ports,
        })
    }
}

impl Fragments {
    /// Each counter with its name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        [
            ("merge_late", u64::from(self.late)),
            ("merge_repeated", u64::from(self.repeated)),
            ("merge_missing", u64::from(self.missing)),
            ("merge_other_time", u64::from(self.other_time)),
            ("merge_malformed", u64::from(self.malformed)),
            ("merge_refused", u64::from(self.refused)),
        ]
        .into_iter()
    }
}

/// Sets how many cycles an event waits for a board's fragment.
pub(super) async fn set_wait<M: Mmio>(bar: &mut M, cycles: u32) -> Result<(), TransportError> {
    bar.write32(u64::from(MAP + regs::WAIT), cycles).await
}
