// SPDX-License-Identifier: Apache-2.0

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use super::{BoardError, Window};
use crate::pcie::Mmio;
use crate::transport::TransportError;

/// A mapped BAR. Clones are the same mapping.
///
/// Each access is one load or store of its width. A store is behind all earlier stores of this thread to memory.
#[derive(Clone, Debug)]
pub struct Bar {
    plain: Arc<Window>,
    combined: Option<Arc<Window>>,
}

impl Bar {
    /// Maps a file as a BAR: `resourceN` of a PCI function in sysfs, or shared memory that plays one. Where the kernel has a
    /// write-combining mapping beside it (`resourceN_wc`), [`write_combined`](Mmio::write_combined) uses that.
    ///
    /// # Errors
    /// When the file cannot be mapped, or is shorter than `bytes`.
    pub fn open(path: &Path, bytes: usize) -> Result<Self, BoardError> {
        let window = Window::open(path, bytes);
        let window =
            window.map_err(|source| BoardError::Map { path: path.to_owned(), bytes, source })?;
        let mut combined = path.as_os_str().to_owned();
        combined.push("_wc");
        Ok(Self::of(window, Path::new(&combined)))
    }

    /// Of a mapping, with the write-combining one of `combined` if that can be mapped.
    pub(super) fn of(window: Window, combined: &Path) -> Self {
        let combined = Window::open(combined, window.bytes()).ok();
        Self { plain: Arc::new(window), combined: combined.map(Arc::new) }
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.plain.bytes()
    }

    /// Whether [`write_combined`](Mmio::write_combined) has a write-combining mapping. Without one it stores 8 bytes at a time.
    #[must_use]
    pub fn combines(&self) -> bool {
        self.combined.is_some()
    }

    fn store(&self, offset: u64, data: &[u8]) -> Result<(), TransportError> {
        // What was written to memory before is visible when the store is: the compiler moves nothing behind it, and this
        // processor has its stores leave in their order.
        fence(Ordering::Release);
        self.plain.write_register(place(offset), data)
    }
}

/// An offset, which is outside every mapping if it is too large for one.
fn place(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

impl Mmio for Bar {
    async fn read32(&mut self, offset: u64) -> Result<u32, TransportError> {
        let value = self.plain.read_register(place(offset))?;
        // The answer came behind the device's earlier writes: loads of memory after it see them.
        fence(Ordering::Acquire);
        Ok(value)
    }

    async fn write32(&mut self, offset: u64, value: u32) -> Result<(), TransportError> {
        self.store(offset, &value.to_le_bytes())
    }

    async fn write64(&mut self, offset: u64, value: u64) -> Result<(), TransportError> {
        self.store(offset, &value.to_le_bytes())
    }

    async fn write_combined(&mut self, offset: u64, data: &[u8]) -> Result<(), TransportError> {
        let window = self.combined.as_ref().unwrap_or(&self.plain);
        let first = place(offset);
        if first.checked_add(data.len()).is_none_or(|end| end > window.bytes()) {
            let range = format!("{} bytes at {offset:#x} of {:#x}", data.len(), window.bytes());
            return Err(TransportError::Other(format!("{range}: inside expected")));
        }
        // Stores through such a mapping are ordered with nothing: before, and to send off what the buffers hold.
        drain();
        let mut at = first;
        let mut rest = data;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(width(at, rest.len()));
            window.write_register(at, now)?;
            at += now.len();
            rest = later;
        }
        drain();
        Ok(())
    }
}

/// The widest store at a place with so many bytes left.
fn width(at: usize, left: usize) -> usize {
    let aligned = 1 << at.trailing_zeros().min(3);
    let fits = 1 << left.ilog2().min(3);
    aligned.min(fits)
}

/// All stores so far leave the processor before the next one.
fn drain() {
    // This keeps the compiler from moving stores; the instruction below keeps the processor from it.
    fence(Ordering::SeqCst);
    #[cfg(target_arch = "x86_64")]
    store_fence();
}

#[cfg(target_arch = "x86_64")]
fn store_fence() {
    #[allow(unused_unsafe, unsafe_code, reason = "safe from Rust 1.90 on")]
    // SAFETY: every x86-64 processor has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::width;

    #[test]
    fn stores_are_as_wide_as_place_and_length_allow() {
        let widths = |mut at: usize, mut left: usize| {
            let mut found = Vec::new();
            while left > 0 {
                found.push(width(at, left));
                at += found[found.len() - 1];
                left -= found[found.len() - 1];
            }
            found
        };
        assert_eq!(widths(0, 64), [8; 8]);
        assert_eq!(widths(4, 20), [4, 8, 8]);
        assert_eq!(widths(3, 14), [1, 4, 8, 1]);
        assert_eq!(widths(8, 7), [4, 2, 1]);
    }
}
