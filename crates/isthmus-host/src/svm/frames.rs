// SPDX-License-Identifier: Apache-2.0

use std::collections::BTreeSet;
use std::ops::Range;

use super::{PAGE_BYTES, PageSize, SvmError};

/// Free frames of physical memory, aligned to their sizes. A frame is split where none of its size is free, and
/// made whole again when all its parts are.
#[derive(Clone, Debug)]
pub struct Frames {
    /// By the logarithm of its pages of 4 KiB.
    free: Vec<BTreeSet<u64>>,
}

const ORDERS: usize = (PageSize::Huge.log2() - PageSize::Base.log2()) as usize + 1;

impl Frames {
    /// All whole pages of this range.
    #[must_use]
    pub fn new(range: Range<u64>) -> Self {
        let mut frames = Self { free: vec![BTreeSet::new(); ORDERS] };
        let mut at = range.start.div_ceil(PAGE_BYTES);
        let end = range.end / PAGE_BYTES;
        while at < end {
            let order = at.trailing_zeros().min((end - at).ilog2()).min(ORDERS as u32 - 1);
            frames.free[order as usize].insert(at * PAGE_BYTES);
            at += 1 << order;
        }
        frames
    }

    /// Takes one; the lowest that is large enough.
    ///
    /// # Errors
    /// When none is free.
    pub fn take(&mut self, size: PageSize) -> Result<u64, SvmError> {
        let wanted = (size.log2() - PageSize::Base.log2()) as usize;
        let order = (wanted..ORDERS).find(|order| !self.free[*order].is_empty());
        let full = SvmError::Full { bytes: size.bytes() };
        let Some(order) = order else { return Err(full) };
        let Some(frame) = self.free[order].pop_first() else { return Err(full) };
        for part in wanted..order {
            self.free[part].insert(frame + (PAGE_BYTES << part));
        }
        Ok(frame)
    }

    /// Gives one back.
    pub fn give(&mut self, frame: u64, size: PageSize) {
        let mut order = (size.log2() - PageSize::Base.log2()) as usize;
        let mut frame = frame;
        while order + 1 < ORDERS {
            let other = frame ^ (PAGE_BYTES << order);
            if !self.free[order].remove(&other) {
                break;
            }
            frame = frame.min(other);
            order += 1;
        }
        self.free[order].insert(frame);
    }

    /// Bytes that are free.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.free
            .iter()
            .enumerate()
            .map(|(order, free)| free.len() as u64 * (PAGE_BYTES << order))
            .sum()
    }
}
