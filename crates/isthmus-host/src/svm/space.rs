// SPDX-License-Identifier: Apache-2.0

use std::ops::Range;

use super::entry::{ENTRIES, Entry, LEVELS, offset};
use super::{
    ADDRESS_END, Access, Frames, Invalidation, PAGE_BYTES, PageSize, PhysicalMemory, SvmError,
    Translation,
};

/// Memory at virtual addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The first address: the same for program and device.
    pub address: u64,
    /// Its length, whole pages.
    pub bytes: u64,
    /// Its pages.
    pub page: PageSize,
}

/// Memory that is no longer mapped, and that a device may still access.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "its frames are lost unless it is completed"]
pub struct Pending {
    invalidations: Vec<Invalidation>,
    frames: Vec<(u64, PageSize)>,
}

impl Pending {
    /// What the device, and the IOMMU's walk cache, must forget.
    #[must_use]
    pub fn invalidations(&self) -> &[Invalidation] {
        &self.invalidations
    }
}

/// Page tables in a physical memory, with the frames that they may use.
#[derive(Clone, Debug)]
pub struct AddressSpace<M> {
    memory: M,
    frames: Frames,
    root: u64,
    /// Where the next region of each size of page begins; regions of different sizes share no table of the last
    /// levels, so a table is never replaced by a page.
    next: [u64; 3],
}

/// Where regions of each size of page lie.
const ARENAS: [Range<u64>; 3] = [1 << 40..1 << 45, 1 << 45..1 << 46, 1 << 46..ADDRESS_END];

impl<M: PhysicalMemory> AddressSpace<M> {
    /// An empty one. Tables and pages come from the physical range `frames`.
    ///
    /// # Errors
    /// When there is no memory for a table.
    pub fn new(memory: M, frames: Range<u64>) -> Result<Self, SvmError> {
        let mut space = Self {
            memory,
            frames: Frames::new(frames),
            root: 0,
            next: [ARENAS[0].start, ARENAS[1].start, ARENAS[2].start],
        };
        space.root = space.table()?;
        Ok(space)
    }

    /// The root table's physical address: for the IOMMU.
    #[must_use]
    pub fn root(&self) -> u64 {
        self.root
    }

    /// The physical memory.
    #[must_use]
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// Bytes of frames that neither a page, a table nor something pending holds.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.frames.bytes()
    }

    /// Allocates zeroed memory, at addresses that were never used before.
    ///
    /// # Errors
    /// When there are not enough frames; nothing is held then but tables.
    pub fn allocate(
        &mut self,
        bytes: u64,
        page: PageSize,
        access: Access,
    ) -> Result<Region, SvmError> {
        let arena = &ARENAS[page as usize];
        let address = self.next[page as usize];
        let size = SvmError::Size { bytes };
        if bytes == 0 || bytes > 1 << 46 {
            return Err(size);
        }
        let bytes = bytes.next_multiple_of(page.bytes());
        if bytes > arena.end - address {
            return Err(size);
        }
        for at in (address..address + bytes).step_by(page.bytes() as usize) {
            let made = self.frames.take(page).and_then(|frame| {
                self.zero(frame, page.bytes())
                    .and_then(|()| self.map(at, frame, page, access))
                    .inspect_err(|_| self.frames.give(frame, page))
            });
            if let Err(error) = made {
                // No device has seen these addresses yet: nothing needs to be invalidated.
                let begun = Region { address, bytes: at - address, page };
                if begun.bytes > 0 {
                    let pending = self.free(begun)?;
                    self.complete(pending);
                }
                return Err(error);
            }
        }
        self.next[page as usize] = address + bytes;
        Ok(Region { address, bytes, page })
    }

    /// Unmaps a region. The device must forget it before its frames are given to others.
    ///
    /// # Errors
    /// When a page of it is not mapped with this size; nothing is unmapped then.
    pub fn free(&mut self, region: Region) -> Result<Pending, SvmError> {
        let pages = || {
            (region.address..region.address + region.bytes).step_by(region.page.bytes() as usize)
        };
        for at in pages() {
            if self.translate(at)?.size != region.page {
                return Err(SvmError::Unmapped { address: at });
            }
        }
        let frames = pages().map(|at| self.unmap(at)).collect::<Result<_, _>>()?;
        let invalidations = Invalidation::cover(region.address, region.bytes);
        Ok(Pending { invalidations, frames })
    }

    /// The device has completed the invalidations: the frames are free.
    pub fn complete(&mut self, pending: Pending) {
        for (frame, size) in pending.frames {
            self.frames.give(frame, size);
        }
    }

    /// Maps one page to a frame of the caller's.
    ///
    /// # Errors
    /// When an address is not aligned, something is mapped there, or there is no memory for a table.
    pub fn map(
        &mut self,
        address: u64,
        physical: u64,
        size: PageSize,
        access: Access,
    ) -> Result<(), SvmError> {
        aligned(address, size)?;
        aligned(physical, size)?;
        let mut table = self.root;
        for level in 0..size.level() {
            let place = table + offset(address, level);
            table = match Entry::decode(self.word(place)?, level) {
                Entry::Table(next) => next,
                Entry::Empty => {
                    let next = self.table()?;
                    self.set_word(place, Entry::Table(next).encode())?;
                    next
                }
                Entry::Page(..) | Entry::Reserved => return Err(SvmError::Occupied { address }),
            };
        }
        let place = table + offset(address, size.level());
        if self.word(place)? != Entry::Empty.encode() {
            return Err(SvmError::Occupied { address });
        }
        self.set_word(place, Entry::Page(physical, size, access).encode())
    }

    /// Unmaps the page at an address; its frame and size. The device must forget it ([`Invalidation::cover`]).
    ///
    /// # Errors
    /// If no page is mapped at the address.
    pub fn unmap(&mut self, address: u64) -> Result<(u64, PageSize), SvmError> {
        let (place, frame, size, _) = self.find(address)?;
        self.set_word(place, Entry::Empty.encode())?;
        Ok((frame, size))
    }

    /// Allows more or less; the invalidations that less needs.
    ///
    /// # Errors
    /// When there is no page.
    pub fn protect(&mut self, address: u64, access: Access) -> Result<Vec<Invalidation>, SvmError> {
        let (place, frame, size, before) = self.find(address)?;
        self.set_word(place, Entry::Page(frame, size, access).encode())?;
        let less = before == Access::ReadWrite && access == Access::Read;
        let start = address & !(size.bytes() - 1);
        Ok(if less { Invalidation::cover(start, size.bytes()) } else { Vec::new() })
    }

    /// Where an address leads.
    ///
    /// # Errors
    /// When it is not mapped.
    pub fn translate(&self, address: u64) -> Result<Translation, SvmError> {
        let (_, frame, size, access) = self.find(address)?;
        Ok(Translation { physical: frame | address & (size.bytes() - 1), size, access })
    }

    /// The program loads.
    ///
    /// # Errors
    /// When a byte is not mapped.
    pub fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), SvmError> {
        let mut done = 0;
        while done < buffer.len() {
            let at = address.saturating_add(done as u64);
            let (to, bytes) = self.piece(at, buffer.len() - done)?;
            self.memory.read(to.physical, &mut buffer[done..done + bytes])?;
            done += bytes;
        }
        Ok(())
    }

    /// The program stores.
    ///
    /// # Errors
    /// When a byte is not mapped, or may not be written; bytes before it are written.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), SvmError> {
        let mut done = 0;
        while done < data.len() {
            let at = address.saturating_add(done as u64);
            let (to, bytes) = self.piece(at, data.len() - done)?;
            if to.access == Access::Read {
                return Err(SvmError::ReadOnly { address: at });
            }
            self.memory.write(to.physical, &data[done..done + bytes])?;
            done += bytes;
        }
        Ok(())
    }

    /// As many of `bytes` from an address on as its page has.
    fn piece(&self, address: u64, bytes: usize) -> Result<(Translation, usize), SvmError> {
        let to = self.translate(address)?;
        let left = to.size.bytes() - (address & (to.size.bytes() - 1));
        Ok((to, usize::try_from(left).map_or(bytes, |left| left.min(bytes))))
    }

    /// The entry of an address's page: where it is, and what it says.
    fn find(&self, address: u64) -> Result<(u64, u64, PageSize, Access), SvmError> {
        let unmapped = SvmError::Unmapped { address };
        if address >= ADDRESS_END {
            return Err(unmapped);
        }
        let mut table = self.root;
        for level in 0..LEVELS {
            let place = table + offset(address, level);
            match Entry::decode(self.word(place)?, level) {
                Entry::Table(next) => table = next,
                Entry::Page(frame, size, access) => return Ok((place, frame, size, access)),
                Entry::Empty | Entry::Reserved => break,
            }
        }
        Err(unmapped)
    }

    fn table(&mut self) -> Result<u64, SvmError> {
        let frame = self.frames.take(PageSize::Base)?;
        for entry in 0..ENTRIES {
            self.set_word(frame + 8 * entry, Entry::Empty.encode())?;
        }
        Ok(frame)
    }

    fn zero(&mut self, frame: u64, bytes: u64) -> Result<(), SvmError> {
        for at in (frame..frame + bytes).step_by(PAGE_BYTES as usize) {
            self.memory.write(at, &[0; PAGE_BYTES as usize])?;
        }
        Ok(())
    }

    fn word(&self, physical: u64) -> Result<u64, SvmError> {
        let mut bytes = [0; 8];
        self.memory.read(physical, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn set_word(&mut self, physical: u64, word: u64) -> Result<(), SvmError> {
        self.memory.write(physical, &word.to_le_bytes())
    }
}

fn aligned(address: u64, size: PageSize) -> Result<(), SvmError> {
    let align = size.bytes();
    if address < ADDRESS_END && address.is_multiple_of(align) {
        return Ok(());
    }
    Err(SvmError::Address { address, align })
}
