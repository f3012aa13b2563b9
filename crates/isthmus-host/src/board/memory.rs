// SPDX-License-Identifier: Apache-2.0

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{BoardError, Window};
use crate::pcie::DmaMemory;
use crate::transport::TransportError;

const PAGE_BYTES: usize = 4096;
/// Loads between two looks at the clock while polling.
const LOADS_A_LOOK: u32 = 64;

/// What translates the bus addresses of a board: the machine's IOMMU, or a table of a test.
pub trait Iommu: Send + Sync {
    /// From now on the board reaches `window` at bus addresses from `iova` on.
    ///
    /// # Errors
    /// When that cannot be, with the cause.
    fn map(&self, iova: u64, window: &Arc<Window>) -> io::Result<()>;

    /// No longer.
    ///
    /// # Errors
    /// When nothing is mapped there.
    fn unmap(&self, iova: u64, bytes: usize) -> io::Result<()>;
}

/// Size of huge pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HugePages {
    /// Of 2 MiB.
    Mib2,
    /// Of 1 GiB.
    Gib1,
}

impl HugePages {
    /// Bytes of a page, as a power of two.
    pub(super) fn bits(self) -> u8 {
        match self {
            HugePages::Mib2 => 21,
            HugePages::Gib1 => 30,
        }
    }
}

/// How memory is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryOptions {
    /// Its bus address, a multiple of its pages; none: any that is free.
    pub bus_address: Option<u64>,
    /// In huge pages, of which the system must have enough: fewer entries in the IOMMU's cache, and none missing.
    pub huge: Option<HugePages>,
    /// Polling lets other threads of this processor run. For a machine with fewer processors than busy threads.
    pub yields: bool,
}

impl MemoryOptions {
    /// Bytes of a page.
    pub(super) fn page_bytes(self) -> usize {
        self.huge.map_or(PAGE_BYTES, |huge| 1 << huge.bits())
    }
}

/// Memory that the board reaches. Clones are the same memory; it is unmapped with the last of them.
#[derive(Clone)]
pub struct Memory {
    mapped: Arc<Mapped>,
    bytes: usize,
    yields: bool,
    origin: Instant,
}

struct Mapped {
    window: Arc<Window>,
    iommu: Arc<dyn Iommu>,
    iova: u64,
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // Should it fail, the pages stay pinned: the device never writes to memory that has become another's.
        let _ = self.iommu.unmap(self.iova, self.window.bytes());
    }
}

impl Memory {
    /// Makes memory of `bytes`, all zero, and maps it. Whole pages are mapped; without a bus address in the options it is
    /// their own size.
    ///
    /// # Errors
    /// When there is not as much, or it is not mapped.
    pub fn new(
        bytes: usize,
        options: &MemoryOptions,
        iommu: Arc<dyn Iommu>,
    ) -> Result<Self, BoardError> {
        let page = options.page_bytes();
        let iova = options.bus_address.unwrap_or(page as u64);
        let whole = bytes.checked_next_multiple_of(page).filter(|whole| *whole > 0);
        let fits = whole.is_some_and(|whole| iova.checked_add(whole as u64).is_some());
        let Some(whole) = whole.filter(|_| fits && iova.is_multiple_of(page as u64)) else {
            return Err(BoardError::Place { bytes, bus_address: iova, page });
        };
        let window = Window::anonymous(whole, options.huge);
        let window = window.map_err(|source| match options.huge {
            Some(_) => BoardError::HugePages { pages: whole / page, page, source },
            None => BoardError::Memory { bytes: whole, source },
        })?;
        let window = Arc::new(window);
        iommu.map(iova, &window).map_err(|source| BoardError::mapping(whole, iova, source))?;
        let mapped = Arc::new(Mapped { window, iommu, iova });
        Ok(Self { mapped, bytes, yields: options.yields, origin: Instant::now() })
    }

    /// The mapping, for a program that reads in place.
    #[must_use]
    pub fn window(&self) -> &Window {
        &self.mapped.window
    }
}

impl DmaMemory for Memory {
    fn bus_address(&self) -> u64 {
        self.mapped.iova
    }

    fn size(&self) -> usize {
        self.bytes
    }

    fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    async fn read(&mut self, offset: usize, buffer: &mut [u8]) -> Result<(), TransportError> {
        self.window().load(offset, buffer)
    }

    async fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), TransportError> {
        self.window().store(offset, data)
    }

    async fn load64(&mut self, offset: usize) -> Result<u64, TransportError> {
        self.window().load64(offset)
    }

    async fn poll64(
        &mut self,
        offset: usize,
        seen: u64,
        deadline: Duration,
    ) -> Result<u64, TransportError> {
        loop {
            for _ in 0..LOADS_A_LOOK {
                let word = self.window().load64(offset)?;
                if word != seen {
                    return Ok(word);
                }
                std::hint::spin_loop();
            }
            if deadline != Duration::MAX && self.now() >= deadline {
                return Ok(seen);
            }
            if self.yields {
                std::thread::yield_now();
            }
        }
    }
}
