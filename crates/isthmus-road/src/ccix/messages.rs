// SPDX-License-Identifier: Apache-2.0
//! Kinds and headers of the messages between agent and home: `rtl/ccix/ccix_pkg.sv`.

pub(super) const READ: u64 = 1;
pub(super) const WRITE: u64 = 2;
pub(super) const WRITE_PART: u64 = 3;
pub(super) const COMP: u64 = 4;
pub(super) const COMP_DATA: u64 = 5;
pub(super) const CREDIT: u64 = 6;
pub(super) const TRANSLATE: u64 = 7;
pub(super) const FAULT: u64 = 8;
pub(super) const INVALIDATED: u64 = 9;
pub(super) const TRANSLATED: u64 = 10;
pub(super) const INVALIDATE: u64 = 11;
pub(super) const CACHE_REQUEST: u64 = 12;
pub(super) const CACHE_RESPONSE: u64 = 13;
pub(super) const SNOOP: u64 = 14;
pub(super) const LOCK: u64 = 15;
/// Of an answer: the virtual address of the request does not allow it.
pub(super) const FAULTED: u64 = 1 << 31;
/// Of a request's address: the home translates it.
pub(super) const DIRECT: u64 = 1;

/// The kind of a message of the FPGA that requests a line, or of its answer.
pub(super) fn is_of_a_line(kind: u64) -> bool {
    matches!(kind, READ | WRITE | WRITE_PART | COMP | COMP_DATA | CACHE_REQUEST)
}

/// The header of a message. `credits`: requests and lines.
pub(super) fn header(kind: u64, words: u64, txn: u64, credits: [u32; 2]) -> u64 {
    let [requests, lines] = credits.map(u64::from);
    kind << 60 | words << 56 | txn << 48 | requests << 40 | lines << 32
}
