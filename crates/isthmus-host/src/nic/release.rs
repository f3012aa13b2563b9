// SPDX-License-Identifier: Apache-2.0

use crate::pcie::Mmio;
use crate::regs::nanet_release as regs;
use crate::transport::TransportError;

/// Where its registers are.
const MAP: u32 = 0x400;

/// What became of the answers of a program, in an interface that releases them in the experiment's clock. Counters wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// Clocks of the experiment in which lines changed: answers that are due together are released together.
    pub released: u32,
    /// Answers whose clock was over when they came.
    pub late: u32,
    /// Answers that came too long before their clock: a wrong time stamp.
    pub early: u32,
    /// Answers that found no place.
    pub lost: u32,
}

impl Released {
    pub(super) async fn read<M: Mmio>(bar: &mut M) -> Result<Self, TransportError> {
        let mut found = [0; 4];
        let registers = [regs::RELEASED, regs::LATE, regs::EARLY, regs::LOST];
        for (register, value) in registers.into_iter().zip(&mut found) {
            *value = bar.read32(u64::from(MAP + register)).await?;
        }
        let [released, late, early, lost] = found;
        Ok(Self { released, late, early, lost })
    }

    /// Each counter with its name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        [
            ("released", u64::from(self.released)),
            ("late", u64::from(self.late)),
            ("early", u64::from(self.early)),
            ("lost", u64::from(self.lost)),
        ]
        .into_iter()
    }
}
