// SPDX-License-Identifier: Apache-2.0

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, Mutex, PoisonError};

use pci_driver::backends::vfio::VfioPciDevice;
use pci_driver::device::PciDevice;
use pci_driver::regions::{PciRegion, Permissions};

use super::{Bar, BoardError, EventLine, Function, Iommu, Memory, MemoryOptions, Sysfs, Window};

/// Memory is placed from here on: any place below 4 GiB, for boards that have 32 address bits.
const FIRST: u64 = 0x1000_0000;

/// A PCI function that is bound to `vfio-pci`.
pub struct Vfio {
    device: Arc<VfioPciDevice>,
    function: Function,
    /// Bus addresses from here on are free.
    free: Mutex<u64>,
}

struct Translation(Arc<VfioPciDevice>);

impl Iommu for Translation {
    fn map(&self, iova: u64, window: &Arc<Window>) -> io::Result<()> {
        window.map_for(&self.0.iommu(), iova)
    }

    fn unmap(&self, iova: u64, bytes: usize) -> io::Result<()> {
        self.0.iommu().unmap(iova, bytes)
    }
}

impl Vfio {
    /// Opens a function by its address, such as `0000:01:00.0`, and lets it reach the memory that will be mapped for it.
    /// It is opened once, by one process.
    ///
    /// # Errors
    /// What is missing, and how to get it.
    pub fn open(address: &str) -> Result<Self, BoardError> {
        if !cfg!(target_arch = "x86_64") {
            return Err(BoardError::Processor { arch: std::env::consts::ARCH });
        }
        let function = Sysfs::default().find(address)?;
        let device = VfioPciDevice::open(&function.path);
        let device = device.map_err(|source| failed("opening", &function, source))?;
        let made = Self { device: Arc::new(device), function, free: Mutex::new(FIRST) };
        made.set_bus_master(true)?;
        Ok(made)
    }

    /// What it is.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Lets it read and write memory, and send interrupts, or no longer.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn set_bus_master(&self, on: bool) -> Result<(), BoardError> {
        let command = self.device.config().command();
        let set = command.memory_space_enable().write(true);
        set.and_then(|()| command.bus_master_enable().write(on))
            .map_err(|source| failed("bus mastering", &self.function, source))
    }

    /// Resets it, where it can be reset alone. Its registers are as after power-on; bus mastering is on again.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn reset(&self) -> Result<(), BoardError> {
        self.device.reset().map_err(|source| failed("reset", &self.function, source))?;
        self.set_bus_master(true)
    }

    /// Maps a whole BAR, which must have `at_least` so many bytes.
    ///
    /// # Errors
    /// When it is smaller, or the kernel refuses.
    pub fn bar(&self, index: usize, at_least: usize) -> Result<Bar, BoardError> {
        let region = self.device.bar(index);
        let found = region.as_ref().map_or(0, PciRegion::len);
        let bytes = usize::try_from(found).unwrap_or(usize::MAX);
        let Some(region) = region.filter(|_| bytes >= at_least && bytes > 0) else {
            let address = self.function.address.clone();
            return Err(BoardError::BarSize { address, index, found, expected: at_least });
        };
        let window = region
            .map(.., Permissions::ReadWrite)
            .and_then(|mapped| Window::of_region(mapped, bytes))
            .map_err(|source| failed("mapping a BAR", &self.function, source))?;
        Ok(Bar::of(window, &self.function.path.join(format!("resource{index}_wc"))))
    }

    /// Makes memory that it reaches.
    ///
    /// # Errors
    /// When there is not as much, no place for it on the bus, or more than this user may lock.
    pub fn memory(&self, bytes: usize, options: &MemoryOptions) -> Result<Memory, BoardError> {
        let iommu = Arc::new(Translation(Arc::clone(&self.device)));
        if options.bus_address.is_some() {
            return Memory::new(bytes, options, iommu);
        }
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let page = options.page_bytes().max(self.device.iommu().alignment());
        let ranges = self.device.iommu().valid_iova_ranges().to_vec();
        let Some(found) = place(&ranges, *free, bytes, page) else {
            return Err(BoardError::NoRoom { bytes, ranges: format!("{ranges:x?}") });
        };
        let options = MemoryOptions { bus_address: Some(found.start), ..*options };
        let made = Memory::new(bytes, &options, iommu)?;
        *free = found.end;
        Ok(made)
    }

    /// Switches its first `count` interrupts on, of MSI-X or else of MSI: a line for each. Those of an earlier call are
    /// off from then on.
    ///
    /// # Errors
    /// When it has fewer, or the kernel refuses.
    pub fn interrupts(&self, count: usize) -> Result<Vec<EventLine>, BoardError> {
        let refused = |source| failed("switching interrupts on", &self.function, source);
        let interrupts = self.device.interrupts();
        let kinds = [interrupts.msi_x(), interrupts.msi()];
        let found = kinds.iter().map(|kind| kind.max()).max().unwrap_or(0);
        let Some(kind) = kinds.iter().find(|kind| kind.max() >= count.max(1)) else {
            let address = self.function.address.clone();
            return Err(BoardError::Interrupts { address, found, expected: count });
        };
        let lines = (0..count).map(|_| EventLine::new()).collect::<io::Result<Vec<_>>>();
        let lines = lines.map_err(refused)?;
        let files: Vec<_> = lines.iter().map(|line| line.as_fd().as_raw_fd()).collect();
        kind.enable(&files).map_err(refused)?;
        Ok(lines)
    }
}

fn failed(action: &'static str, function: &Function, source: io::Error) -> BoardError {
    BoardError::Vfio { action, address: function.address.clone(), source }
}

/// The first place from `free` on, at a multiple of `page`, that has room for `bytes` in whole pages.
fn place(ranges: &[Range<u64>], free: u64, bytes: usize, page: usize) -> Option<Range<u64>> {
    let bytes = bytes.checked_next_multiple_of(page)? as u64;
    ranges.iter().find_map(|range| {
        let start = range.start.max(free).checked_next_multiple_of(page as u64)?;
        let end = start.checked_add(bytes)?;
        (end <= range.end).then_some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_placed_in_whole_pages_between_what_the_iommu_keeps() {
        // As x86 has them: interrupts between.
        let ranges = [0..0xfee0_0000, 0xfef0_0000..1 << 39];
        let at = |free, bytes, page| place(&ranges, free, bytes, page);
        assert_eq!(at(FIRST, 5000, 4096), Some(0x1000_0000..0x1000_2000));
        assert_eq!(at(0x1000_2000, 1, 1 << 21), Some(0x1020_0000..0x1040_0000));
        assert_eq!(at(0xfedf_f000, 8192, 4096), Some(0xfef0_0000..0xfef0_2000));
        assert_eq!(at(FIRST, 1 << 40, 4096), None);
        assert_eq!(at(u64::MAX, 1, 4096), None);
        assert_eq!(at(FIRST, usize::MAX, 4096), None);
    }
}
