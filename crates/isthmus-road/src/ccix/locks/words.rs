// SPDX-License-Identifier: Apache-2.0
//! What a record's line has in it: its value, and where there is no lock table its lock.

use super::table::Order;
use crate::dma::Line;

/// The record's value.
pub(super) fn word(line: &Line) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&line[..8]);
    u64::from_le_bytes(bytes)
}

/// The word of a record's line that is its lock, where there is no table: 0 is free, else the number of
/// readers, or `WRITER`. As `rtl/ccix/ccix_cas.sv` has it.
pub(super) const LOCK: std::ops::Range<usize> = 56..64;
pub(super) const WRITER: u64 = 1 << 63;

/// Takes a lock, or releases it; `false`: it is not free.
pub(super) fn swap(line: &mut Line, order: Order, exclusive: bool) -> bool {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&line[LOCK]);
    let held = u64::from_le_bytes(bytes);
    let next = match (order, exclusive) {
        (Order::Release, true) => 0,
        (Order::Release, false) => held.saturating_sub(1),
        (_, true) if held == 0 => WRITER,
        (_, false) if held < WRITER => held + 1,
        _ => return false,
    };
    line[LOCK].copy_from_slice(&next.to_le_bytes());
    true
}

/// The values of a transaction's records: what it made of those that it read.
pub(super) fn chained(digest: u64, value: u64) -> u64 {
    digest.wrapping_mul(33).wrapping_add(value)
}
