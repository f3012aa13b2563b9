// SPDX-License-Identifier: Apache-2.0
//! One side of a coherent link, as a program uses it.

use std::ops::Range;
use std::time::Duration;

use super::{
    Atomic, Caching, CoherentError, Features, LINE_BYTES, Line, LineAccess, LineRequest, Port,
    Update, WORD_BYTES,
};

/// Memory that a node has mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    address: u64,
    bytes: u64,
    caching: Caching,
    features: Features,
}

impl Region {
    /// The address of its first byte in the shared memory.
    #[must_use]
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Its length in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether this node keeps its lines.
    #[must_use]
    pub const fn caching(&self) -> Caching {
        self.caching
    }

    const fn range(&self) -> Range<u64> {
        self.address..self.address + self.bytes
    }
}

/// Bytes of one line that an access is about.
struct Piece {
    line: u64,
    /// Of the line.
    at: usize,
    /// Of the access.
    bytes: Range<usize>,
}

/// One side of a coherent link.
pub struct Node<P> {
    port: P,
    mapped: Vec<Region>,
}

impl<P: Port> Node<P> {
    /// A node with nothing mapped.
    pub const fn new(port: P) -> Self {
        Self { port, mapped: Vec::new() }
    }

    /// Its port.
    pub fn port(&mut self) -> &mut P {
        &mut self.port
    }

    /// Maps whole lines of one memory. Regions may overlap if both are cached alike.
    ///
    /// # Errors
    /// When they are not whole lines inside one memory, when some are mapped otherwise, or when this node has only
    /// cached accesses to it, as to its own.
    pub fn map(
        &mut self,
        address: u64,
        bytes: u64,
        caching: Caching,
    ) -> Result<Region, CoherentError> {
        // The memory that begins last before it.
        let memories = self.port.memories();
        let begun = memories.iter().filter(|one| one.range().start <= address);
        let memory = begun.max_by_key(|one| one.first);
        let end = memory.map_or(0, |one| one.range().end);
        let whole = [address, bytes].iter().all(|one| one.is_multiple_of(LINE_BYTES as u64));
        let inside = address.checked_add(bytes).is_some_and(|behind| behind <= end);
        let Some(memory) = memory.filter(|_| bytes != 0 && whole && inside) else {
            return Err(CoherentError::Range { address, bytes, end });
        };
        let features = memory.features;
        if caching == Caching::Uncached && !features.uncached {
            return Err(CoherentError::Unsupported { what: "uncached accesses" });
        }
        let region = Region { address, bytes, caching, features };
        let (new, other) = (region.range(), |one: &&Region| one.caching != caching);
        let clash = |one: &Region| one.range().start < new.end && new.start < one.range().end;
        if self.mapped.iter().filter(other).any(clash) {
            return Err(CoherentError::Mapped { address, bytes });
        }
        self.mapped.push(region.clone());
        Ok(region)
    }

    /// Gives a region back. Its lines stay in the cache: flush them first if they must not.
    pub fn unmap(&mut self, region: &Region) {
        if let Some(at) = self.mapped.iter().position(|one| one == region) {
            self.mapped.swap_remove(at);
        }
    }

    /// Loads bytes.
    ///
    /// # Errors
    /// When they are not all in the region, or the port fails.
    pub async fn load(
        &mut self,
        region: &Region,
        offset: u64,
        buffer: &mut [u8],
    ) -> Result<(), CoherentError> {
        let pieces = pieces(region, offset, buffer.len())?;
        let access = |piece: &Piece| LineRequest {
            line: piece.line,
            access: LineAccess::Load(region.caching),
        };
        let lines = self.port.access(pieces.iter().map(access).collect()).await?;
        for (piece, line) in pieces.into_iter().zip(lines) {
            let from = piece.at..piece.at + piece.bytes.len();
            buffer[piece.bytes].copy_from_slice(&line[from]);
        }
        Ok(())
    }

    /// Stores bytes. When it returns, the other side loads them. Other bytes of their lines stay as they are,
    /// whoever stores to them meanwhile.
    ///
    /// # Errors
    /// When they are not all in the region, or the port fails.
    pub async fn store(
        &mut self,
        region: &Region,
        offset: u64,
        data: &[u8],
    ) -> Result<(), CoherentError> {
        let access = |piece: Piece| {
            let mut line: Line = [0; LINE_BYTES];
            let count = piece.bytes.len();
            line[piece.at..piece.at + count].copy_from_slice(&data[piece.bytes]);
            let mask = u128::MAX >> (LINE_BYTES - count) << piece.at;
            LineRequest {
                line: piece.line,
                access: LineAccess::Store(region.caching, mask, Box::new(line)),
            }
        };
        let pieces = pieces(region, offset, data.len())?;
        self.port.access(pieces.into_iter().map(access).collect()).await?;
        Ok(())
    }

    /// Loads 8 little-endian bytes at a multiple of 8, all as one store left them.
    ///
    /// # Errors
    /// As [`load`](Self::load); when it is no multiple of 8.
    pub async fn load64(&mut self, region: &Region, offset: u64) -> Result<u64, CoherentError> {
        word(offset)?;
        let mut bytes = [0; WORD_BYTES];
        self.load(region, offset, &mut bytes).await?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Stores 8 little-endian bytes at a multiple of 8, at once.
    ///
    /// # Errors
    /// As [`store`](Self::store); when it is no multiple of 8.
    pub async fn store64(
        &mut self,
        region: &Region,
        offset: u64,
        value: u64,
    ) -> Result<(), CoherentError> {
        word(offset)?;
        self.store(region, offset, &value.to_le_bytes()).await
    }

    /// Gives up this node's copies of the lines that these bytes are in; what it changed is on its way to
    /// the memory's home when it returns. The other side needs no flush to load what was stored.
    ///
    /// # Errors
    /// When they are not all in the region, or the port fails.
    pub async fn flush(
        &mut self,
        region: &Region,
        offset: u64,
        bytes: usize,
    ) -> Result<(), CoherentError> {
        if region.caching == Caching::Uncached {
            return pieces(region, offset, bytes).map(|_| ());
        }
        let pieces = pieces(region, offset, bytes)?.into_iter();
        let access = |piece: Piece| LineRequest { line: piece.line, access: LineAccess::Flush };
        self.port.access(pieces.map(access).collect()).await?;
        Ok(())
    }

    /// Changes the word at a multiple of 8, and gives what it was. The memory's home does it, so that nothing comes
    /// between, of either side. On the memory's own side that is its processor's cache, which takes the line as for a
    /// store.
    ///
    /// # Errors
    /// When it is not in the region or no multiple of 8, when this node has no updates, or the port fails.
    pub async fn update(
        &mut self,
        region: &Region,
        offset: u64,
        how: Update,
    ) -> Result<u64, CoherentError> {
        word(offset)?;
        if !region.features.updates {
            return Err(CoherentError::Unsupported { what: "updates of shared words" });
        }
        let requests = pieces(region, offset, WORD_BYTES)?.into_iter().map(|piece| LineRequest {
            line: piece.line,
            access: LineAccess::Update { word: piece.at / WORD_BYTES, how },
        });
        let lines = self.port.access(requests.collect()).await?;
        let old = lines.first().map_or(&[][..], |line| &line[..WORD_BYTES]);
        Ok(old.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)))
    }

    /// Changes the word at a multiple of 8 in this node's cache, and gives what it was. The line becomes this node's
    /// alone first, so that nothing comes between; a word that this node uses often then stays here.
    ///
    /// # Errors
    /// When it is not in the region or no multiple of 8, when this node has no atomics or does not cache the region,
    /// or the port fails.
    pub async fn atomic(
        &mut self,
        region: &Region,
        offset: u64,
        how: Atomic,
    ) -> Result<u64, CoherentError> {
        word(offset)?;
        if !region.features.atomics || region.caching != Caching::Cached {
            return Err(CoherentError::Unsupported { what: "atomics of such a region" });
        }
        let pieces = pieces(region, offset, WORD_BYTES)?;
        let requests = pieces.iter().map(|piece| LineRequest {
            line: piece.line,
            access: LineAccess::Atomic { word: piece.at / WORD_BYTES, how },
        });
        let lines = self.port.access(requests.collect()).await?;
        let old = pieces.first().zip(lines.first()).map_or(&[][..], |(piece, line)| {
            line.get(piece.at..piece.at + WORD_BYTES).unwrap_or_default()
        });
        Ok(old.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)))
    }

    /// Loads bytes of one register of the other side.
    ///
    /// # Errors
    /// When they are not all in one register of 8 bytes, or the port fails.
    pub async fn io_load(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), CoherentError> {
        let at = register(address, buffer.len())?;
        let word = self.port.load_register(address - at as u64).await?.to_le_bytes();
        buffer.copy_from_slice(&word[at..at + buffer.len()]);
        Ok(())
    }

    /// Stores bytes of one register of the other side; returns when it has them.
    ///
    /// # Errors
    /// When they are not all in one register of 8 bytes, or the port fails.
    pub async fn io_store(&mut self, address: u64, data: &[u8]) -> Result<(), CoherentError> {
        let at = register(address, data.len())?;
        let mut word = [0; WORD_BYTES];
        word[at..at + data.len()].copy_from_slice(data);
        let mask = 0xFF_u8 >> (WORD_BYTES - data.len()) << at;
        let word = u64::from_le_bytes(word);
        Ok(self.port.store_register(address - at as u64, mask, word).await?)
    }

    /// Returns when all that this node has stored is visible to the other side. Stores that have returned are:
    /// it orders what other programs of this side have begun.
    ///
    /// # Errors
    /// When the port fails.
    pub async fn barrier(&mut self) -> Result<(), CoherentError> {
        Ok(self.port.barrier().await?)
    }

    /// Sends an interrupt with a number below 2^40 to the other side. Interrupts arrive in order, behind no store.
    ///
    /// # Errors
    /// When the port fails.
    pub async fn interrupt(&mut self, number: u64) -> Result<(), CoherentError> {
        Ok(self.port.interrupt(number).await?)
    }

    /// The number of the next interrupt from the other side; none if none comes in this time.
    ///
    /// # Errors
    /// When the port fails.
    pub async fn interrupted(&mut self, within: Duration) -> Result<Option<u64>, CoherentError> {
        Ok(self.port.interrupted(within).await?)
    }
}

/// The place of these bytes in their register.
fn register(address: u64, bytes: usize) -> Result<usize, CoherentError> {
    let at = (address % WORD_BYTES as u64) as usize;
    match bytes {
        1..=WORD_BYTES if at + bytes <= WORD_BYTES => Ok(at),
        _ => Err(CoherentError::Register { address, bytes }),
    }
}

fn word(offset: u64) -> Result<(), CoherentError> {
    match offset.is_multiple_of(WORD_BYTES as u64) {
        true => Ok(()),
        false => Err(CoherentError::Word { at: offset }),
    }
}

/// The pieces of an access in lines. An access of nothing has none.
fn pieces(region: &Region, offset: u64, bytes: usize) -> Result<Vec<Piece>, CoherentError> {
    let outside = CoherentError::Outside { offset, bytes, region: region.bytes };
    match offset.checked_add(bytes as u64) {
        Some(end) if end <= region.bytes => {}
        _ => return Err(outside),
    }
    let (mut done, mut made) = (0, Vec::new());
    while done < bytes {
        let address = region.address + offset + done as u64;
        let at = (address % LINE_BYTES as u64) as usize;
        let count = (LINE_BYTES - at).min(bytes - done);
        made.push(Piece { line: address / LINE_BYTES as u64, at, bytes: done..done + count });
        done += count;
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coherent::{FPGA_MEMORY, SharedMemory};
    use crate::transport::block_on;

    fn nodes() -> (Node<super::super::SharedPort>, Node<super::super::SharedPort>) {
        let shared = SharedMemory::new(16);
        (Node::new(shared.host()), Node::new(shared.fpga()))
    }

    #[test]
    fn bytes_of_any_place_and_length_are_stored_and_no_other() {
        let (mut host, mut fpga) = nodes();
        let here = host.map(0, 2048, Caching::Cached).unwrap();
        let there = fpga.map(0, 2048, Caching::Uncached).unwrap();
        block_on(async {
            let mut must = [0_u8; 2048];
            let ranges = [(0, 1), (127, 2), (128, 128), (5, 700), (2047, 1), (640, 0), (1, 2047)];
            for (number, (at, bytes)) in ranges.into_iter().enumerate() {
                let data: Vec<u8> =
                    (0..bytes).map(|byte| (byte * 7 + number * 31 + 1) as u8).collect();
                must[at..at + bytes].copy_from_slice(&data);
                host.store(&here, at as u64, &data).await.unwrap();
                let mut all = [0; 2048];
                fpga.load(&there, 0, &mut all).await.unwrap();
                assert_eq!(all, must);
                let mut part = vec![0; bytes];
                fpga.load(&there, at as u64, &mut part).await.unwrap();
                assert_eq!(part, data);
            }
        });
    }

    #[test]
    fn updates_give_the_old_value_and_change_one_word() {
        let (_, mut fpga) = nodes();
        let region = fpga.map(128, 128, Caching::Cached).unwrap();
        block_on(async {
            let at = 24;
            assert_eq!(fpga.update(&region, at, Update::Decrement).await.unwrap(), 0);
            assert_eq!(fpga.update(&region, at, Update::Increment).await.unwrap(), u64::MAX);
            let swap = |expected, new| Update::CompareSwap { expected, new };
            assert_eq!(fpga.update(&region, at, swap(1, 9)).await.unwrap(), 0);
            assert_eq!(fpga.update(&region, at, swap(0, 9)).await.unwrap(), 0);
            assert_eq!(fpga.load64(&region, at).await.unwrap(), 9);
            assert_eq!(fpga.load64(&region, at + 8).await.unwrap(), 0);
        });
    }

    #[test]
    fn atomics_give_the_old_value_and_change_one_word() {
        let (mut host, mut fpga) = nodes();
        let region = fpga.map(128, 256, Caching::Cached).unwrap();
        let plain = fpga.map(512, 128, Caching::Uncached).unwrap();
        let here = host.map(128, 128, Caching::Cached).unwrap();
        let swap = |expected, new| Atomic::CompareSwap { expected, new };
        let minus = |number: i64| number.cast_unsigned();
        let steps = [
            (Atomic::Add(7), 7),
            (Atomic::Set(0b1000), 15),
            (Atomic::Clear(0b101), 10),
            (Atomic::Xor(0b11), 9),
            (Atomic::SignedMax(-1), 9),
            (Atomic::SignedMin(-1), minus(-1)),
            (Atomic::Min(4), 4),
            (Atomic::Max(minus(-2)), minus(-2)),
            (Atomic::SignedMax(-1), minus(-1)),
            (Atomic::Swap(5), 5),
            (swap(4, 1), 5),
            (swap(5, 1), 1),
            (Atomic::Add(u64::MAX), 0),
        ];
        block_on(async {
            let at = 128 + 24;
            let mut was = 0;
            for (how, becomes) in steps {
                assert_eq!(fpga.atomic(&region, at, how).await.unwrap(), was, "{how:?}");
                assert_eq!(fpga.load64(&region, at).await.unwrap(), becomes, "{how:?}");
                was = becomes;
            }
            assert_eq!(fpga.load64(&region, at + 8).await.unwrap(), 0);
            assert_eq!(fpga.load64(&region, at - 128).await.unwrap(), 0);
            let add = Atomic::Add(1);
            let refused = "this node has no atomics of such a region";
            assert_eq!(fpga.atomic(&plain, 0, add).await.unwrap_err().to_string(), refused);
            assert_eq!(host.atomic(&here, 0, add).await.unwrap_err().to_string(), refused);
            assert!(fpga.atomic(&region, 4, add).await.is_err());
            assert!(fpga.atomic(&region, 256, add).await.is_err());
        });
    }

    #[test]
    fn registers_are_the_other_sides_and_interrupts_come_in_order() {
        let (mut host, mut fpga) = nodes();
        block_on(async {
            host.io_store(9, &[1, 2, 3]).await.unwrap();
            let mut bytes = [9; 8];
            host.io_load(8, &mut bytes).await.unwrap();
            assert_eq!(bytes, [0, 1, 2, 3, 0, 0, 0, 0]);
            fpga.io_load(8, &mut bytes).await.unwrap();
            assert_eq!(bytes, [0; 8]);
            fpga.interrupt(7).await.unwrap();
            fpga.interrupt(8).await.unwrap();
            let short = Duration::ZERO;
            assert_eq!(host.interrupted(short).await.unwrap(), Some(7));
            assert_eq!(host.interrupted(short).await.unwrap(), Some(8));
            assert_eq!(host.interrupted(short).await.unwrap(), None);
            assert_eq!(fpga.interrupted(short).await.unwrap(), None);
        });
    }

    #[test]
    fn each_side_has_memory_that_the_other_one_changes_too() {
        let shared = SharedMemory::of_both(16, 8);
        let (mut host, mut fpga) = (Node::new(shared.host()), Node::new(shared.fpga()));
        let of_host =
            [&mut host, &mut fpga].map(|node| node.map(0, 2048, Caching::Cached).unwrap());
        let of_fpga = [&mut host, &mut fpga]
            .map(|node| node.map(FPGA_MEMORY + 128, 896, Caching::Cached).unwrap());
        block_on(async {
            host.store(&of_host[0], 128, &[1; 4]).await.unwrap();
            host.store(&of_fpga[0], 0, &[2; 4]).await.unwrap();
            let mut bytes = [0; 8];
            fpga.load(&of_host[1], 126, &mut bytes).await.unwrap();
            assert_eq!(bytes, [0, 0, 1, 1, 1, 1, 0, 0]);
            fpga.load(&of_fpga[1], 0, &mut bytes).await.unwrap();
            assert_eq!(bytes, [2, 2, 2, 2, 0, 0, 0, 0]);
            // Both sides update words of both memories; atomics are in the cache of the other side.
            let add = Atomic::Add(5);
            assert_eq!(host.atomic(&of_fpga[0], 16, add).await.unwrap(), 0);
            assert_eq!(fpga.load64(&of_fpga[1], 16).await.unwrap(), 5);
            assert_eq!(fpga.update(&of_host[1], 8, Update::Increment).await.unwrap(), 0);
            assert_eq!(host.update(&of_host[0], 8, Update::Increment).await.unwrap(), 1);
            assert_eq!(fpga.load64(&of_host[1], 8).await.unwrap(), 2);
            assert!(fpga.atomic(&of_fpga[1], 16, add).await.is_err());
        });
        let text = |result: Result<Region, CoherentError>| result.unwrap_err().to_string();
        let own = fpga.map(FPGA_MEMORY, 128, Caching::Uncached);
        assert_eq!(text(own), "this node has no uncached accesses");
        assert!(fpga.map(1920, 128, Caching::Cached).is_ok());
        let over = text(fpga.map(1920, 256, Caching::Cached));
        assert!(over.contains("whole lines of 128 bytes below 0x800"), "{over}");
        let behind = text(host.map(FPGA_MEMORY + 896, 256, Caching::Cached));
        assert!(behind.contains("whole lines of 128 bytes below 0x8000000400"), "{behind}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let (mut host, mut fpga) = nodes();
        let text = |result: Result<Region, CoherentError>| result.unwrap_err().to_string();
        let lines = "whole lines of 128 bytes below 0x800 expected";
        assert_eq!(text(fpga.map(64, 128, Caching::Cached)), format!("128 bytes at 0x40: {lines}"));
        assert_eq!(text(fpga.map(0, 0, Caching::Cached)), format!("0 bytes at 0x0: {lines}"));
        assert!(text(fpga.map(1920, 256, Caching::Cached)).contains(lines));
        assert!(text(fpga.map(u64::MAX - 127, 128, Caching::Cached)).contains(lines));
        assert_eq!(text(host.map(0, 128, Caching::Uncached)), "this node has no uncached accesses");
        let region = fpga.map(0, 256, Caching::Cached).unwrap();
        assert!(text(fpga.map(128, 256, Caching::Uncached)).contains("the other caching"));
        assert!(fpga.map(256, 128, Caching::Uncached).is_ok());
        fpga.unmap(&region);
        assert!(fpga.map(128, 128, Caching::Uncached).is_ok());
        let here = host.map(0, 256, Caching::Cached).unwrap();
        block_on(async {
            let outside = host.load(&here, 250, &mut [0; 7]).await.unwrap_err();
            assert_eq!(outside.to_string(), "7 bytes at offset 0xfa of a region of 0x100");
            let word = host.load64(&here, 12).await.unwrap_err();
            assert_eq!(word.to_string(), "a word at 0xc: a multiple of 8 expected");
            assert!(host.update(&here, 12, Update::Increment).await.is_err());
            assert!(host.update(&here, 256, Update::Increment).await.is_err());
            let register = host.io_load(6, &mut [0; 3]).await.unwrap_err();
            assert!(register.to_string().contains("1 to 8 bytes of one register"), "{register}");
            assert!(host.io_store(0, &[]).await.is_err());
        });
    }
}
