// SPDX-License-Identifier: Apache-2.0

use std::io;
use std::path::PathBuf;

use rustix::process::{Resource, getrlimit};

/// Why a board cannot be used. Each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// The address cannot be read.
    #[error("PCI address {text:?}: expected DOMAIN:BUS:DEVICE.FUNCTION, for example 0000:01:00.0")]
    Address {
        /// What was given.
        text: String,
    },
    /// There is no such function.
    #[error("no PCI function {address}: lspci -D lists what there is")]
    NoDevice {
        /// Its address.
        address: String,
    },
    /// Another driver has it, or none.
    #[error(
        "{address} is bound to {driver}, not to vfio-pci; bind it as root: modprobe vfio-pci; \
         echo vfio-pci > {path}/driver_override; {unbind}echo {address} > {probe}"
    )]
    NotBound {
        /// Its address.
        address: String,
        /// Its driver, or "no driver".
        driver: String,
        /// Its folder in sysfs.
        path: String,
        /// The command that takes it from its driver.
        unbind: String,
        /// The file that has a driver looked for.
        probe: String,
    },
    /// The machine does not translate its addresses.
    #[error(
        "{address} has no IOMMU: switch it on in the firmware's setup (VT-d, AMD-Vi), and boot Linux with \
         intel_iommu=on on an Intel processor"
    )]
    NoIommu {
        /// The function's address.
        address: String,
    },
    /// VFIO's file is missing.
    #[error("{}: no such file; is the module vfio-pci loaded, and its group's other functions bound?", path.display())]
    NoGroup {
        /// The file.
        path: PathBuf,
    },
    /// This user may not use it.
    #[error("no permission for {}: run as root, or give this user the file (chown)", path.display())]
    Permission {
        /// The file.
        path: PathBuf,
    },
    /// More memory than this user may lock.
    #[error(
        "{bytes} bytes for the board, but this user may lock {limit}: raise it (ulimit -l, or LimitMEMLOCK of the service)"
    )]
    LockedMemory {
        /// What was asked for.
        bytes: usize,
        /// The limit.
        limit: u64,
    },
    /// The BAR is not the expected one.
    #[error("BAR {index} of {address} has {found} bytes; {expected} expected")]
    BarSize {
        /// The function's address.
        address: String,
        /// The BAR.
        index: usize,
        /// Bytes that it has; 0 where the function has no such BAR.
        found: u64,
        /// What is needed.
        expected: usize,
    },
    /// The board has fewer interrupts.
    #[error("{address} has {found} interrupts of MSI-X and MSI; {expected} expected")]
    Interrupts {
        /// The function's address.
        address: String,
        /// What it has.
        found: usize,
        /// What is needed.
        expected: usize,
    },
    /// No place for memory on the bus.
    #[error(
        "{bytes} bytes of memory at bus address {bus_address:#x}: at least 1, at a multiple of {page}, expected"
    )]
    Place {
        /// What was asked for.
        bytes: usize,
        /// Where.
        bus_address: u64,
        /// Bytes of a page.
        page: usize,
    },
    /// No range of the IOMMU has room.
    #[error("no free bus addresses for {bytes} bytes: the IOMMU has {ranges}")]
    NoRoom {
        /// What was asked for.
        bytes: usize,
        /// What it has.
        ranges: String,
    },
    /// The system has no huge pages left.
    #[error(
        "no {pages} free huge pages of {} KiB: write their number to /sys/kernel/mm/hugepages/hugepages-{0}kB/nr_hugepages ({source})",
        page / 1024
    )]
    HugePages {
        /// How many.
        pages: usize,
        /// Bytes of each.
        page: usize,
        /// The system's error.
        source: io::Error,
    },
    /// The system has no memory left.
    #[error("no {bytes} bytes of memory: {source}")]
    Memory {
        /// How many.
        bytes: usize,
        /// The system's error.
        source: io::Error,
    },
    /// The IOMMU did not take it.
    #[error("{bytes} bytes at bus address {iova:#x} are not mapped: {source}")]
    Iommu {
        /// How many.
        bytes: usize,
        /// Where.
        iova: u64,
        /// The system's error.
        source: io::Error,
    },
    /// A file is not mapped.
    #[error("{}: {bytes} bytes are not mapped: {source}", path.display())]
    Map {
        /// The file.
        path: PathBuf,
        /// How many.
        bytes: usize,
        /// The system's error.
        source: io::Error,
    },
    /// The order of accesses is not known for this processor.
    #[error(
        "a {arch} processor: boards are driven from x86-64, whose order of stores the accesses rely on"
    )]
    Processor {
        /// What it is.
        arch: &'static str,
    },
    /// The kernel refused.
    #[error("{action} of {address}: {source}")]
    Vfio {
        /// The attempted action.
        action: &'static str,
        /// The function's address.
        address: String,
        /// The system's error.
        source: io::Error,
    },
}

impl BoardError {
    /// Why memory was not mapped: mostly more than may be locked.
    pub(super) fn mapping(bytes: usize, iova: u64, source: io::Error) -> Self {
        Self::of_limit(bytes, iova, source, getrlimit(Resource::Memlock).current)
    }

    fn of_limit(bytes: usize, iova: u64, source: io::Error, limit: Option<u64>) -> Self {
        match limit {
            Some(limit) if bytes as u64 > limit => Self::LockedMemory { bytes, limit },
            _ => Self::Iommu { bytes, iova, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_may_not_be_locked_is_named_with_the_limit() {
        let of = |bytes, limit| {
            let source = io::Error::other("no memory");
            BoardError::of_limit(bytes, 0x1000, source, limit).to_string()
        };
        let text = of(1 << 20, Some(65_536));
        assert!(text.starts_with("1048576 bytes for the board, but this user may lock 65536"));
        // Another cause is not hidden behind the limit.
        for limit in [Some(1 << 20), None] {
            let text = of(1 << 20, limit);
            assert_eq!(text, "1048576 bytes at bus address 0x1000 are not mapped: no memory");
        }
    }
}
