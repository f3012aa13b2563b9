// SPDX-License-Identifier: Apache-2.0
//! Transfers of many words: cut into cycles that follow each other without waiting.

use std::ops::Range;

use super::{Client, Cycle, Error, Format, Meter};
use crate::transport::{Kind, Transport};

/// Cycles that are submitted to the client at a time.
const BATCH: usize = 4096;
/// Words of a cycle on a stream: one record.
const STREAM_WORDS: usize = 255;
/// Words of a cycle in a datagram, at most: longer cycles gain nothing.
const DATAGRAM_WORDS: usize = 340;
/// Bytes that a datagram keeps free for the header and the stamp of a session.
const RESERVED: usize = 24;

/// How a block is transferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockOptions {
    /// All words go to, or come from, the same address: a FIFO.
    pub fixed: bool,
    /// Cycles of writes ask for no reply.
    pub silent: bool,
    /// Words of a cycle, at most; 0: as many as one message carries.
    pub per_cycle: usize,
}

/// A block in words of the device's data width.
#[derive(Clone, Copy)]
struct Words {
    address: u64,
    count: usize,
    width: usize,
    options: BlockOptions,
    per_cycle: usize,
}

impl Words {
    fn address(&self, word: usize) -> u64 {
        let step = if self.options.fixed { 0 } else { self.width as u64 };
        self.address + word as u64 * step
    }

    fn cycle(&self) -> Cycle {
        let cycle = Cycle::new();
        if self.options.silent { cycle.silent() } else { cycle }
    }

    /// The words of each cycle.
    fn parts(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (count, per_cycle) = (self.count, self.per_cycle);
        (0..count).step_by(per_cycle).map(move |at| at..count.min(at + per_cycle))
    }
}

/// Refuses a block that is not a multiple of words, or ends beyond the addresses of the device.
fn check(format: Format, address: u64, bytes: usize) -> Result<(), Error> {
    let width = format.data.bytes();
    let wrong = |reason: String| Err(Error::Block { address, bytes, reason });
    if !address.is_multiple_of(width as u64) || !bytes.is_multiple_of(width) {
        return wrong(format!("both must be multiples of {width}"));
    }
    let last = address.checked_add((bytes as u64).saturating_sub(1));
    if last.is_none_or(|last| last > format.address.mask()) {
        return wrong(format!("beyond {} bit of address", 8 * format.address.bytes()));
    }
    Ok(())
}

impl<T: Transport, M: Meter> Client<T, M> {
    /// Checks a block without a transfer.
    ///
    /// # Errors
    /// When address or length are no multiples of the data width, or it ends beyond the device's addresses.
    pub fn check_block(&self, address: u64, bytes: usize) -> Result<(), Error> {
        check(self.format(), address, bytes)
    }

    /// Reads a block in the order of a big-endian bus, many cycles in flight.
    ///
    /// # Errors
    /// As [`check_block`](Self::check_block), and the first that a cycle has; the others of its batch have ended.
    pub async fn read_block(
        &mut self,
        address: u64,
        buffer: &mut [u8],
        options: BlockOptions,
    ) -> Result<(), Error> {
        let words = self.words(address, buffer.len(), false, options)?;
        let skip = 8 - words.width;
        let cycles =
            words.parts().map(|part| words.cycle().reads(part.map(|word| words.address(word))));
        let mut places = buffer.chunks_exact_mut(words.width);
        let take = |reads: Vec<u64>| {
            for (value, place) in reads.into_iter().zip(&mut places) {
                place.copy_from_slice(value.to_be_bytes().get(skip..).unwrap_or_default());
            }
        };
        self.execute_all(cycles, take).await
    }

    /// Writes a block in the order of a big-endian bus, many cycles in flight.
    ///
    /// # Errors
    /// As [`read_block`](Self::read_block).
    pub async fn write_block(
        &mut self,
        address: u64,
        data: &[u8],
        options: BlockOptions,
    ) -> Result<(), Error> {
        let words = self.words(address, data.len(), true, options)?;
        let width = words.width;
        let cycles = words.parts().map(|part| {
            let bytes = data.get(part.start * width..part.end * width).unwrap_or_default();
            let values = bytes
                .chunks_exact(width)
                .map(|word| word.iter().fold(0, |value: u64, byte| value << 8 | u64::from(*byte)));
            words.cycle().writes(part.map(|word| words.address(word)).zip(values))
        });
        self.execute_all(cycles, drop).await
    }

    /// Executes cycle after cycle, many in flight, and gives the values that each read to `take`, in order.
    ///
    /// # Errors
    /// The first that a cycle has; the others of its batch have ended.
    pub async fn execute_all(
        &mut self,
        cycles: impl IntoIterator<Item = Cycle>,
        mut take: impl FnMut(Vec<u64>),
    ) -> Result<(), Error> {
        let mut cycles = cycles.into_iter().peekable();
        while cycles.peek().is_some() {
            let mut pending = Vec::new();
            for cycle in cycles.by_ref().take(BATCH) {
                pending.push(self.submit(&cycle)?);
            }
            self.flush().await?;
            self.settle().await?;
            let mut first = None;
            for pending in pending {
                match pending.take().unwrap_or(Err(Error::Dropped)) {
                    Ok(reply) => take(reply.reads),
                    Err(error) => first = first.or(Some(error)),
                }
            }
            if let Some(error) = first {
                return Err(error);
            }
        }
        Ok(())
    }

    fn words(
        &mut self,
        address: u64,
        bytes: usize,
        write: bool,
        options: BlockOptions,
    ) -> Result<Words, Error> {
        self.check_block(address, bytes)?;
        let width = self.format().data.bytes();
        let most = self.words_in_a_cycle(write);
        let per_cycle = if options.per_cycle == 0 { most } else { options.per_cycle.min(most) };
        Ok(Words { address, count: bytes / width, width, options, per_cycle })
    }

    /// How many words of reads, or writes, one message carries.
    fn words_in_a_cycle(&mut self, write: bool) -> usize {
        if self.transport().kind() == Kind::Stream {
            return STREAM_WORDS;
        }
        let (format, mtu) = (self.format(), self.transport().mtu());
        let room = mtu.saturating_sub(RESERVED);
        let fits = |words: usize| {
            let step = format.data.bytes() as u64;
            let addresses = (0..words as u64).map(|word| word * step);
            let cycle = if write {
                Cycle::new().writes(addresses.map(|address| (address, 0)))
            } else {
                Cycle::new().reads(addresses)
            };
            cycle.message_len(format).is_ok_and(|length| length <= room)
        };
        let (mut low, mut high) = (1, DATAGRAM_WORDS);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if fits(middle) { low = middle } else { high = middle - 1 }
        }
        low
    }
}
