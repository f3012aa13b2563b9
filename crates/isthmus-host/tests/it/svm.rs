// SPDX-License-Identifier: Apache-2.0
//! Page tables against a map of pages, and frames that are nobody's until an invalidation completes.

use std::collections::BTreeMap;

use isthmus_host::svm::entry::{Entry, offset};
use isthmus_host::svm::{
    Access, AddressSpace, Frames, Invalidation, PAGE_BYTES, PageSize, PhysicalMemory, SvmError,
    VecMemory,
};
use proptest::prelude::*;

const MEMORY: u64 = 16 << 20;

fn space() -> AddressSpace<VecMemory> {
    AddressSpace::new(VecMemory::new(MEMORY as usize), 0x1000..MEMORY).unwrap()
}

/// The walk as the architecture's manual has it, by bits alone.
fn walk(memory: &VecMemory, root: u64, address: u64) -> Option<(u64, bool)> {
    let mut table = root;
    for level in 0..4 {
        let shift = 39 - 9 * level;
        let mut bytes = [0; 8];
        memory.read(table + (address >> shift & 511) * 8, &mut bytes).unwrap();
        let word = u64::from_le_bytes(bytes);
        let low = (1u64 << shift) - 1;
        match (word & 3, level) {
            (3, 0..=2) => table = word & 0x0000_FFFF_FFFF_F000,
            (3, 3) | (1, 1 | 2) => {
                assert_eq!(word >> 10 & 1, 1, "the access flag");
                return Some((
                    word & 0x0000_FFFF_FFFF_F000 & !low | address & low,
                    word >> 7 & 1 == 0,
                ));
            }
            _ => return None,
        }
    }
    None
}

#[test]
fn a_pointer_means_the_same_to_both_sides() {
    let mut space = space();
    let region = space.allocate(5 << 20, PageSize::Big, Access::ReadWrite).unwrap();
    assert_eq!(region.bytes, 6 << 20);
    let list = region.address + (2 << 20) - 4;
    space.write(list, &(region.address + 16).to_le_bytes()).unwrap();
    // The device reads the first half through one page, the second through the next.
    for byte in 0..8 {
        let (physical, writable) = walk(space.memory(), space.root(), list + byte).unwrap();
        let mut seen = [0];
        space.memory().read(physical, &mut seen).unwrap();
        assert_eq!(seen[0], (region.address + 16).to_le_bytes()[byte as usize]);
        assert!(writable);
    }
}

#[test]
fn frames_are_nobodys_until_the_invalidation_completes() {
    let mut space = space();
    let first = space.allocate(PAGE_BYTES, PageSize::Base, Access::ReadWrite).unwrap();
    let frame = space.translate(first.address).unwrap().physical;
    let free = space.free_bytes();
    let pending = space.free(first).unwrap();
    assert_eq!(space.free_bytes(), free);
    assert_eq!(space.translate(first.address), Err(SvmError::Unmapped { address: first.address }));
    let second = space.allocate(PAGE_BYTES, PageSize::Base, Access::ReadWrite).unwrap();
    assert_ne!(space.translate(second.address).unwrap().physical, frame);
    assert_ne!(second.address, first.address);
    space.complete(pending);
    assert_eq!(space.free_bytes(), free);
}

#[test]
fn what_cannot_be_is_refused_and_leaves_nothing_behind() {
    let mut space = space();
    assert!(matches!(space.allocate(0, PageSize::Base, Access::Read), Err(SvmError::Size { .. })));
    assert!(matches!(
        space.allocate(1 << 30, PageSize::Huge, Access::Read),
        Err(SvmError::Full { .. })
    ));
    let free = space.free_bytes();
    assert!(matches!(
        space.allocate(2 * MEMORY, PageSize::Base, Access::Read),
        Err(SvmError::Full { .. })
    ));
    // But for the tables that it needed.
    assert!(space.free_bytes() > free - (16 << 12));
    assert!(matches!(
        space.map(0x1234, 0, PageSize::Base, Access::Read),
        Err(SvmError::Address { .. })
    ));
    assert!(matches!(
        space.map(1 << 50, 0, PageSize::Base, Access::Read),
        Err(SvmError::Address { .. })
    ));
    space.map(0x20_0000, 0x20_0000, PageSize::Big, Access::Read).unwrap();
    assert!(matches!(
        space.map(0x20_1000, 0, PageSize::Base, Access::Read),
        Err(SvmError::Occupied { .. })
    ));
    assert_eq!(space.write(0x20_0000, &[1]), Err(SvmError::ReadOnly { address: 0x20_0000 }));
    assert_eq!(space.protect(0x20_0000, Access::ReadWrite).unwrap(), []);
    space.write(0x20_0000, &[1]).unwrap();
    let less = space.protect(0x20_0000, Access::Read).unwrap();
    assert_eq!(less, [Invalidation { address: 0x20_0000, log2_pages: 9 }]);
    assert!(space.read(u64::MAX - 3, &mut [0; 8]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_tables_say_what_was_mapped(
        steps in prop::collection::vec((any::<bool>(), 0u64..6, 0usize..3, any::<bool>(), 0u64..8), 1..60)
    ) {
        let mut space = space();
        let mut model: BTreeMap<u64, (u64, PageSize, Access)> = BTreeMap::new();
        for (map, place, size, write, frame) in steps {
            let size = PageSize::ALL[size];
            let address = (place + 1) * size.bytes();
            let access = if write { Access::ReadWrite } else { Access::Read };
            let overlaps = model.iter().any(|(start, (_, other, _))| {
                *start < address + size.bytes() && address < start + other.bytes()
            });
            if map {
                let done = space.map(address, frame * size.bytes(), size, access);
                // Tables stay: a larger page may be refused where smaller ones were.
                prop_assert!(done.is_err() || !overlaps);
                if done.is_ok() {
                    model.insert(address, (frame * size.bytes(), size, access));
                }
            } else {
                let known = model.range(..=address).next_back();
                let known = known.filter(|(start, (_, size, _))| address < **start + size.bytes());
                let known = known.map(|(start, (frame, size, _))| (*start, *frame, *size));
                prop_assert_eq!(space.unmap(address).ok(), known.map(|(_, frame, size)| (frame, size)));
                if let Some((start, ..)) = known {
                    model.remove(&start);
                }
            }
            for (start, (frame, size, access)) in &model {
                for at in [*start, start + size.bytes() / 2 + 5, start + size.bytes() - 1] {
                    let physical = frame + (at - start);
                    let to = space.translate(at).unwrap();
                    prop_assert_eq!((to.physical, to.size, to.access), (physical, *size, *access));
                    let writable = *access == Access::ReadWrite;
                    prop_assert_eq!(walk(space.memory(), space.root(), at), Some((physical, writable)));
                }
            }
        }
    }

    #[test]
    fn invalidations_cover_these_pages_and_no_other(first in 0u64..5000, pages in 1u64..5000) {
        let all = Invalidation::cover(first * PAGE_BYTES, pages * PAGE_BYTES);
        let mut at = first;
        for one in &all {
            prop_assert_eq!(one.address, at * PAGE_BYTES);
            prop_assert!(at.is_multiple_of(1 << one.log2_pages));
            at += 1 << one.log2_pages;
        }
        prop_assert_eq!(at, first + pages);
        prop_assert!(all.len() <= 26);
    }

    #[test]
    fn frames_do_not_overlap_and_become_whole_again(sizes in prop::collection::vec(0usize..2, 1..200)) {
        let mut frames = Frames::new(0x3000..MEMORY);
        let all = frames.bytes();
        let mut taken: Vec<(u64, PageSize)> = Vec::new();
        for size in sizes.iter().map(|size| PageSize::ALL[*size]) {
            let Ok(frame) = frames.take(size) else { continue };
            prop_assert!(frame.is_multiple_of(size.bytes()) && frame >= 0x3000);
            prop_assert!(frame + size.bytes() <= MEMORY);
            for (other, bytes) in taken.iter().map(|(frame, size)| (*frame, size.bytes())) {
                prop_assert!(frame + size.bytes() <= other || other + bytes <= frame);
            }
            taken.push((frame, size));
        }
        for (frame, size) in taken {
            frames.give(frame, size);
        }
        prop_assert_eq!(frames.bytes(), all);
        prop_assert_eq!(frames.take(PageSize::Big).is_ok(), true);
    }

    #[test]
    fn any_word_is_decoded(word: u64, level in 0usize..4, address: u64) {
        if let Entry::Page(frame, size, _) = Entry::decode(word, level) {
            prop_assert!(frame.is_multiple_of(size.bytes()) && size.level() == level);
            prop_assert_eq!(Entry::decode(Entry::decode(word, level).encode(), level), Entry::decode(word, level));
        }
        prop_assert!(offset(address, level) < PAGE_BYTES);
    }
}
