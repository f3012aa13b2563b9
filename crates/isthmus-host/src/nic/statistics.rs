// SPDX-License-Identifier: Apache-2.0

use crate::pcie::Mmio;
use crate::regs::nanet as regs;
use crate::transport::TransportError;

/// Outcome of the frames and datagrams of a port, hop by hop. Counters of 16 bits wrap; `delivered`
/// has 32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Datagrams that the UDP stage passed on completely.
    pub frames_good: u16,
    /// Frames with a wrong check sum or length.
    pub frames_bad: u16,
    /// Frames for other stations or of unsupported protocols; ARP and ping too.
    pub frames_other: u16,
    /// Datagrams that found no room behind their port: the host's bus was too slow.
    pub overflow: u16,
    /// Datagrams while their list was not enabled.
    pub closed: u16,
    /// Datagrams that found no free buffer: the program was too slow.
    pub no_buffer: u16,
    /// Datagrams longer than a buffer.
    pub too_long: u16,
    /// Datagrams whose end was not good.
    pub bad: u16,
    /// Datagrams in buffers that could not be announced: the event queue was full.
    pub no_event: u16,
    /// Datagrams in announced buffers that were filled anew before the program gave them back.
    pub overwritten: u16,
    /// Datagrams in announced buffers.
    pub delivered: u32,
}

impl Statistics {
    pub(super) async fn read<M: Mmio>(bar: &mut M, port: u8) -> Result<Self, TransportError> {
        let mut halves = [(0, 0); 5];
        let registers =
            [regs::FRAMES0, regs::OVERFLOW0, regs::NO_BUFFER0, regs::BAD0, regs::NO_EVENT0];
        for (register, half) in registers.into_iter().zip(&mut halves) {
            let word = bar.read32(u64::from(register + 4 * u32::from(port))).await?;
            *half = (word as u16, (word >> 16) as u16);
        }
        let delivered = bar.read32(u64::from(regs::DELIVERED0 + 4 * u32::from(port))).await?;
        let [frames, other, list, datagram, event] = halves;
        Ok(Self {
            frames_good: frames.0,
            frames_bad: frames.1,
            frames_other: other.0,
            overflow: other.1,
            closed: list.0,
            no_buffer: list.1,
            too_long: datagram.0,
            bad: datagram.1,
            no_event: event.0,
            overwritten: event.1,
            delivered,
        })
    }

    /// Each counter with its name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        [
            ("frames_good", u64::from(self.frames_good)),
            ("frames_bad", u64::from(self.frames_bad)),
            ("frames_other", u64::from(self.frames_other)),
            ("overflow", u64::from(self.overflow)),
            ("closed", u64::from(self.closed)),
            ("no_buffer", u64::from(self.no_buffer)),
            ("too_long", u64::from(self.too_long)),
            ("bad", u64::from(self.bad)),
            ("no_event", u64::from(self.no_event)),
            ("overwritten", u64::from(self.overwritten)),
            ("delivered", u64::from(self.delivered)),
        ]
        .into_iter()
    }
}

/// What an interface that translates addresses did so far. `refused` and `longest_cycles` have 16 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Translations {
    /// Writes whose address was translated.
    pub translated: u32,
    /// Reads of a page table: translations that were not cached.
    pub walks: u32,
    /// Writes refused: wrong key, outside the region, or a page that is not valid. Nothing was written.
    pub refused: u16,
    /// Clock cycles of the longest read of a page table.
    pub longest_cycles: u16,
}

impl Translations {
    pub(super) async fn read<M: Mmio>(bar: &mut M) -> Result<Self, TransportError> {
        let last = bar.read32(u64::from(regs::REFUSED)).await?;
        Ok(Self {
            translated: bar.read32(u64::from(regs::TRANSLATED)).await?,
            walks: bar.read32(u64::from(regs::WALKS)).await?,
            refused: last as u16,
            longest_cycles: (last >> 16) as u16,
        })
    }

    /// Each counter with its name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        [
            ("translated", u64::from(self.translated)),
            ("walks", u64::from(self.walks)),
            ("refused", u64::from(self.refused)),
            ("longest_cycles", u64::from(self.longest_cycles)),
        ]
        .into_iter()
    }
}
