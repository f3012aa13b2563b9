// SPDX-License-Identifier: Apache-2.0
//! Memory that somebody else changes too. The unsafe code of the crate is here, but for one fence in `bar`.
#![allow(unsafe_code, reason = "loads and stores through mappings that are not Rust's own memory")]

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use memmap2::{Advice, MmapOptions, MmapRaw};
use pci_driver::iommu::PciIommu;
use pci_driver::regions::{MappedOwningPciRegion, Permissions};

use super::memory::HugePages;
use crate::transport::TransportError;

/// A mapping of memory that a device, or another process, reads and writes as well.
///
/// No reference to its bytes exists, so that changes from outside break no rule of the language. Loads and stores check
/// their range, and are little-endian.
pub struct Window {
    first: NonNull<u8>,
    bytes: usize,
    /// Unmaps it.
    _owner: Box<dyn Send + Sync>,
}

// SAFETY: the pointer belongs to `_owner`, which may move between threads, and is only used for atomic and volatile
// accesses.
unsafe impl Send for Window {}
// SAFETY: as above.
unsafe impl Sync for Window {}

impl std::fmt::Debug for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Window({} bytes)", self.bytes)
    }
}

impl Window {
    /// Maps a file from its begin on: shared memory, or a BAR's `resourceN` in sysfs.
    ///
    /// # Errors
    /// When it cannot be opened for reading and writing, is shorter, or the system does not map it.
    pub fn open(path: &Path, bytes: usize) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let there = file.metadata()?.len();
        if there < bytes as u64 {
            // A load behind the end of a file would be a signal.
            let text = format!("{there} bytes, {bytes} expected");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        Self::of(MmapOptions::new().len(bytes).map_raw(&file)?)
    }

    /// New memory of this process, all zero.
    pub(super) fn anonymous(bytes: usize, huge: Option<HugePages>) -> io::Result<Self> {
        let mut options = MmapOptions::new();
        options.len(bytes);
        if let Some(huge) = huge {
            options.huge(Some(huge.bits()));
        }
        let made = options.map_anon()?;
        // A child process would share the pages until one of both writes; then the device's would be the child's.
        made.advise(Advice::DontFork)?;
        Self::of(made.into())
    }

    fn of(map: MmapRaw) -> io::Result<Self> {
        Self::new(map.as_mut_ptr(), map.len(), Box::new(map))
    }

    /// A mapped BAR.
    pub(super) fn of_region(region: MappedOwningPciRegion, bytes: usize) -> io::Result<Self> {
        Self::new(region.as_mut_ptr(), bytes, Box::new(region))
    }

    fn new(first: *mut u8, bytes: usize, owner: Box<dyn Send + Sync>) -> io::Result<Self> {
        let first = NonNull::new(first).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self { first, bytes, _owner: owner })
    }

    /// Has the IOMMU translate bus addresses from `iova` on to this memory. It is pinned until it is unmapped there.
    pub(super) fn map_for(&self, iommu: &PciIommu<'_>, iova: u64) -> io::Result<()> {
        // SAFETY: the range is a mapping of this process that `self` owns. The kernel pins its pages: should it be unmapped
        // here first, the device still writes to those and to nothing else.
        unsafe { iommu.map(iova, self.bytes, self.first.as_ptr(), Permissions::ReadWrite) }
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where `bytes` from `offset` on are, which is a multiple of `align`.
    fn at(&self, offset: usize, bytes: usize, align: usize) -> Result<*mut u8, TransportError> {
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        if !inside || !offset.is_multiple_of(align) {
            let range = format!("{bytes} bytes at {offset:#x} of {:#x}", self.bytes);
            let text = format!("{range}: inside, at a multiple of {align}, expected");
            return Err(TransportError::Other(text));
        }
        // SAFETY: the offset is inside the mapping.
        Ok(unsafe { self.first.as_ptr().add(offset) })
    }

    /// Loads 8 bytes at a multiple of 8; later accesses do not pass it (acquire).
    ///
    /// # Errors
    /// When they are not inside.
    pub fn load64(&self, offset: usize) -> Result<u64, TransportError> {
        Ok(u64::from_le(self.atomic(offset)?.load(Ordering::Acquire)))
    }

    /// Stores 8 bytes at a multiple of 8; it does not pass earlier accesses (release).
    ///
    /// # Errors
    /// When they are not inside.
    pub fn store64(&self, offset: usize, value: u64) -> Result<(), TransportError> {
        self.atomic(offset)?.store(value.to_le(), Ordering::Release);
        Ok(())
    }

    fn atomic(&self, offset: usize) -> Result<&AtomicU64, TransportError> {
        let at = self.at(offset, 8, 8)?;
        // SAFETY: inside the mapping, which lives as long as `self`; aligned, as mappings begin at pages; and only
        // accessed atomically, but for volatile accesses of BARs.
        Ok(unsafe { AtomicU64::from_ptr(at.cast()) })
    }

    /// Copies out of it, in no order among the bytes.
    ///
    /// # Errors
    /// When they are not inside.
    pub fn load(&self, offset: usize, buffer: &mut [u8]) -> Result<(), TransportError> {
        self.at(offset, buffer.len(), 1)?;
        let (head, rest) = buffer.split_at_mut(until_aligned(offset, buffer.len()));
        let (words, tail) = rest.as_chunks_mut::<8>();
        let (middle, end) = (offset + head.len(), offset + head.len() + 8 * words.len());
        self.load_bytes(offset, head)?;
        for (index, word) in words.iter_mut().enumerate() {
            *word = self.atomic(middle + 8 * index)?.load(Ordering::Relaxed).to_ne_bytes();
        }
        self.load_bytes(end, tail)
    }

    /// Copies into it, in no order among the bytes.
    ///
    /// # Errors
    /// When they are not inside.
    pub fn store(&self, offset: usize, data: &[u8]) -> Result<(), TransportError> {
        self.at(offset, data.len(), 1)?;
        let (head, rest) = data.split_at(until_aligned(offset, data.len()));
        let (words, tail) = rest.as_chunks::<8>();
        let (middle, end) = (offset + head.len(), offset + head.len() + 8 * words.len());
        self.store_bytes(offset, head)?;
        for (index, word) in words.iter().enumerate() {
            let value = u64::from_ne_bytes(*word);
            self.atomic(middle + 8 * index)?.store(value, Ordering::Relaxed);
        }
        self.store_bytes(end, tail)
    }

    fn byte(&self, offset: usize) -> Result<&AtomicU8, TransportError> {
        let at = self.at(offset, 1, 1)?;
        // SAFETY: as in `atomic`.
        Ok(unsafe { AtomicU8::from_ptr(at) })
    }

    fn load_bytes(&self, offset: usize, buffer: &mut [u8]) -> Result<(), TransportError> {
        for (index, byte) in buffer.iter_mut().enumerate() {
            *byte = self.byte(offset + index)?.load(Ordering::Relaxed);
        }
        Ok(())
    }

    fn store_bytes(&self, offset: usize, data: &[u8]) -> Result<(), TransportError> {
        for (index, byte) in data.iter().enumerate() {
            self.byte(offset + index)?.store(*byte, Ordering::Relaxed);
        }
        Ok(())
    }

    /// One load of a register.
    pub(super) fn read_register(&self, offset: usize) -> Result<u32, TransportError> {
        let at = self.at(offset, 4, 4)?.cast::<u32>();
        // SAFETY: inside the mapping and aligned; a load of a register may do anything to the device, nothing to memory of
        // this language. The same holds for the stores below.
        Ok(u32::from_le(unsafe { at.read_volatile() }))
    }

    /// One store of 1, 2, 4 or 8 bytes at a multiple of their number: an integer's bytes, least significant first.
    pub(super) fn write_register(&self, offset: usize, data: &[u8]) -> Result<(), TransportError> {
        let at = self.at(offset, data.len(), data.len())?;
        match *data {
            // SAFETY: see `read_register`.
            [a] => unsafe { at.write_volatile(a) },
            // SAFETY: see `read_register`.
            [a, b] => unsafe { at.cast::<u16>().write_volatile(u16::from_ne_bytes([a, b])) },
            [a, b, c, d] => {
                let value = u32::from_ne_bytes([a, b, c, d]);
                // SAFETY: see `read_register`.
                unsafe { at.cast::<u32>().write_volatile(value) }
            }
            [a, b, c, d, e, f, g, h] => {
                let value = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
                // SAFETY: see `read_register`.
                unsafe { at.cast::<u64>().write_volatile(value) }
            }
            _ => {
                let text = format!("a store of {} bytes: 1, 2, 4 or 8 expected", data.len());
                return Err(TransportError::Other(text));
            }
        }
        Ok(())
    }
}

/// Bytes from `offset` to the next multiple of 8, at most `bytes`.
fn until_aligned(offset: usize, bytes: usize) -> usize {
    (offset.next_multiple_of(8) - offset).min(bytes)
}
