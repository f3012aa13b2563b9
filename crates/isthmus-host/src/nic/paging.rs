// SPDX-License-Identifier: Apache-2.0

use super::PLACE_BYTES;

/// Bytes of the pages of registered memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSize {
    /// 4 KiB.
    K4,
    /// 64 KiB.
    K64,
    /// 2 MiB.
    M2,
}

impl PageSize {
    /// How many.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::K4 => 4 << 10,
            Self::K64 => 64 << 10,
            Self::M2 => 2 << 20,
        }
    }

    /// As the interface's registers have it.
    pub(super) const fn code(self) -> u32 {
        self as u32
    }
}

/// Memory of another device on the bus, such as a GPU's behind its BAR, that the interface reaches peer to peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Address on the bus of its first byte.
    pub bus_address: u64,
    /// Its length.
    pub bytes: usize,
}

/// Memory that is registered with an interface that translates addresses: pages anywhere, one after the other to
/// the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paging {
    /// Bytes of each page.
    pub size: PageSize,
    /// Where each page begins in the memory, or in the window: multiples of its bytes on the bus.
    pub pages: Vec<usize>,
    /// The pages are in the memory of another device; none: of the host.
    pub window: Option<Window>,
    /// Where the page table goes in the memory: a multiple of [`PLACE_BYTES`], for [`Self::table_bytes`].
    pub table_offset: usize,
}

/// Bytes of a page table's word.
const WORD_BYTES: usize = 8;

impl Paging {
    /// Bytes of the whole.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pages.len() * self.size.bytes()
    }

    /// Bytes of its page table, of which the interface reads whole words of its bus.
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        (self.pages.len() * WORD_BYTES).next_multiple_of(PLACE_BYTES)
    }

    /// Where in the memory `bytes` from `offset` on are: pieces of one page each. None: outside.
    #[must_use]
    pub fn pieces(&self, offset: usize, bytes: usize) -> Option<Vec<(usize, usize)>> {
        if offset.checked_add(bytes)? > self.bytes() {
            return None;
        }
        let page = self.size.bytes();
        let mut found = Vec::new();
        let mut at = offset;
        while at < offset + bytes {
            let piece = (page - at % page).min(offset + bytes - at);
            found.push((self.pages[at / page] + at % page, piece));
            at += piece;
        }
        Some(found)
    }

    /// The page table, as the interface reads it; the host's memory begins at `base` on the bus.
    pub(super) fn table(&self, base: u64) -> Vec<u8> {
        const VALID: u64 = 1;
        let base = self.window.map_or(base, |window| window.bus_address);
        self.pages.iter().flat_map(|page| ((base + *page as u64) | VALID).to_le_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_page_by_page() {
        let paging = Paging {
            size: PageSize::K4,
            pages: vec![0x3000, 0x1000],
            window: None,
            table_offset: 0,
        };
        assert_eq!(paging.pieces(0x10, 0x20), Some(vec![(0x3010, 0x20)]));
        assert_eq!(paging.pieces(0xFC0, 0x100), Some(vec![(0x3FC0, 0x40), (0x1000, 0xC0)]));
        assert_eq!(paging.pieces(0x1000, 0x1000), Some(vec![(0x1000, 0x1000)]));
        assert_eq!(paging.pieces(0x1001, 0x1000), None);
        assert_eq!(paging.pieces(usize::MAX, 2), None);
    }

    #[test]
    fn the_table_has_a_word_a_page_with_its_address_and_that_it_is_valid() {
        let host =
            Paging { size: PageSize::K64, pages: vec![0x2_0000, 0], window: None, table_offset: 0 };
        let words = [0x1002_0001_u64, 0x1000_0001].map(u64::to_le_bytes).concat();
        assert_eq!(host.table(0x1000_0000), words);
        let window = Some(Window { bus_address: 0x8000_0000, bytes: 1 << 20 });
        let words = [0x8002_0001_u64, 0x8000_0001].map(u64::to_le_bytes).concat();
        assert_eq!(Paging { window, ..host }.table(0x1000_0000), words);
    }
}
