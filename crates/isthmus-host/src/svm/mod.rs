// SPDX-License-Identifier: Apache-2.0
//! Memory that a program and a device share by its virtual addresses.
//!
//! An [`AddressSpace`] builds the page tables that the host's IOMMU walks: ARMv8 VMSA, stage 1, granule of 4 KiB,
//! four levels, 48 bits of address ([`entry`]). A program allocates a [`Region`], and a pointer into it means the
//! same to both sides. What is unmapped stays reserved until the device has completed the [`Invalidation`]s of it:
//! [`AddressSpace::free`] gives a [`Pending`], and only [`AddressSpace::complete`] gives its frames to others.
//!
//! ```
//! use isthmus_host::svm::{Access, AddressSpace, PageSize, VecMemory};
//!
//! # fn main() -> Result<(), isthmus_host::svm::SvmError> {
//! let mut space = AddressSpace::new(VecMemory::new(64 << 20), 0..64 << 20)?;
//! let region = space.allocate(10_000, PageSize::Base, Access::ReadWrite)?;
//! space.write(region.address + 4090, b"over a page's end")?;
//! let pending = space.free(region)?;
//! // ... the device completes pending.invalidations() ...
//! space.complete(pending);
//! # Ok(())
//! # }
//! ```

pub mod entry;
mod frames;
mod space;

use crate::svm::entry::LEVELS;

pub use frames::Frames;
pub use space::{AddressSpace, Pending, Region};

/// Bytes of the smallest page, and of a table.
pub const PAGE_BYTES: u64 = 4096;
/// Virtual and physical addresses are below this.
pub const ADDRESS_END: u64 = 1 << 48;

/// The size of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PageSize {
    /// 4 KiB.
    Base,
    /// 2 MiB.
    Big,
    /// 1 GiB.
    Huge,
}

impl PageSize {
    /// All, from the smallest.
    pub const ALL: [Self; 3] = [Self::Base, Self::Big, Self::Huge];

    /// The logarithm of its bytes.
    #[must_use]
    pub const fn log2(self) -> u32 {
        match self {
            Self::Base => 12,
            Self::Big => 21,
            Self::Huge => 30,
        }
    }

    /// Its bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        1 << self.log2()
    }

    /// The level whose entries are pages of this size.
    #[must_use]
    pub const fn level(self) -> usize {
        match self {
            Self::Base => LEVELS - 1,
            Self::Big => LEVELS - 2,
            Self::Huge => LEVELS - 3,
        }
    }
}

/// What a device, or a program, may do with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Loads.
    Read,
    /// Loads, stores and atomics.
    ReadWrite,
}

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The physical address.
    pub physical: u64,
    /// The page around it.
    pub size: PageSize,
    /// What is allowed.
    pub access: Access,
}

/// A range of virtual addresses whose translations the device must forget: aligned to its size, a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalidation {
    /// The first address.
    pub address: u64,
    /// The logarithm of its pages of 4 KiB.
    pub log2_pages: u32,
}

impl Invalidation {
    /// As few of them as cover these pages and no other.
    #[must_use]
    pub fn cover(address: u64, bytes: u64) -> Vec<Self> {
        let (mut at, end) = (address / PAGE_BYTES, (address + bytes).div_ceil(PAGE_BYTES));
        let mut all = Vec::new();
        while at < end {
            let log2_pages = at.trailing_zeros().min((end - at).ilog2());
            all.push(Self { address: at * PAGE_BYTES, log2_pages });
            at += 1 << log2_pages;
        }
        all
    }
}

/// Physical memory, as the host's processor accesses it.
pub trait PhysicalMemory {
    /// Reads bytes.
    ///
    /// # Errors
    /// When they are not in the memory.
    fn read(&self, physical: u64, buffer: &mut [u8]) -> Result<(), SvmError>;
    /// Writes bytes.
    ///
    /// # Errors
    /// When they are not in the memory.
    fn write(&mut self, physical: u64, data: &[u8]) -> Result<(), SvmError>;
}

/// Memory in a vector, from address 0 on.
#[derive(Clone, Debug)]
pub struct VecMemory(Vec<u8>);

impl VecMemory {
    /// This many bytes, zero.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self(vec![0; bytes])
    }

    fn range(&self, physical: u64, bytes: usize) -> Result<std::ops::Range<usize>, SvmError> {
        let outside = SvmError::Outside { physical, bytes };
        let start = usize::try_from(physical).map_err(|_| SvmError::Outside { physical, bytes })?;
        match start.checked_add(bytes) {
            Some(end) if end <= self.0.len() => Ok(start..end),
            _ => Err(outside),
        }
    }
}

impl PhysicalMemory for VecMemory {
    fn read(&self, physical: u64, buffer: &mut [u8]) -> Result<(), SvmError> {
        buffer.copy_from_slice(&self.0[self.range(physical, buffer.len())?]);
        Ok(())
    }

    fn write(&mut self, physical: u64, data: &[u8]) -> Result<(), SvmError> {
        let range = self.range(physical, data.len())?;
        self.0[range].copy_from_slice(data);
        Ok(())
    }
}

/// Errors of shared virtual memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SvmError {
    /// The physical memory is smaller.
    #[error("{bytes} bytes at physical {physical:#x}: outside the memory")]
    Outside {
        /// The first of them.
        physical: u64,
        /// How many.
        bytes: usize,
    },
    /// No frame of this size is free.
    #[error("no free frame of {bytes} bytes")]
    Full {
        /// Its bytes.
        bytes: u64,
    },
    /// An address that is not aligned, or too large.
    #[error("address {address:#x}: a multiple of {align:#x} below 2^48 expected")]
    Address {
        /// The address.
        address: u64,
        /// Its alignment.
        align: u64,
    },
    /// Something is mapped there.
    #[error("address {address:#x}: a page or a table is there")]
    Occupied {
        /// The address.
        address: u64,
    },
    /// Nothing is mapped there.
    #[error("address {address:#x}: not mapped")]
    Unmapped {
        /// The address.
        address: u64,
    },
    /// The page does not allow it.
    #[error("address {address:#x}: read only")]
    ReadOnly {
        /// The address.
        address: u64,
    },
    /// Nothing, or more than there are addresses for.
    #[error("{bytes} bytes: 1 to 2^46 expected")]
    Size {
        /// How many.
        bytes: u64,
    },
}
