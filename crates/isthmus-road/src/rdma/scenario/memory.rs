// SPDX-License-Identifier: Apache-2.0
//! What a host's memory holds, and where.

use isthmus_host::rdma::{CONTROL_BYTES, MAX_TRANSFER};

use super::super::sort::SortConfig;
use super::workload::INBOX_SLOTS;
use super::{RdmaScenario, RdmaTest, RdmaWorkload};

const PLACES: usize = 512;
const PLACES_BYTES: usize = 4 << 20;
/// Transfers read from places that shift by 8 bytes each time, so no two carry the same data.
pub(in crate::rdma) const SOURCE_SPARE: usize = 8 * 1021;
const SLOT_BYTES: usize = 512;
const WORDS_BYTES: usize = 4096;
const INBOX_BYTES: usize = INBOX_SLOTS * SLOT_BYTES;

/// Offsets into a host's memory.
#[derive(Debug, Clone, Copy)]
pub(in crate::rdma) struct Layout {
    pub(in crate::rdma) places: usize,
    pub(in crate::rdma) source: usize,
    /// Words that programs write into each other's memory: how many messages were taken.
    pub(in crate::rdma) words: usize,
    pub(in crate::rdma) target: usize,
    pub(in crate::rdma) inbox: usize,
    /// The queue of a group of hosts.
    pub(in crate::rdma) group: usize,
    pub(in crate::rdma) bytes: usize,
}

impl RdmaScenario {
    /// Bytes of a transfer's place in memory.
    pub(in crate::rdma) fn place_bytes(&self) -> usize {
        if self.workload.test.is_accounted() {
            return MAX_TRANSFER;
        }
        self.workload.size_bytes.next_multiple_of(64)
    }

    /// The parts of a host's memory.
    pub(in crate::rdma) fn layout(&self) -> Layout {
        // Enough places that one is written again only long after its data was checked. A soak has separate
        // places of the longest transfer for each source.
        let places = (PLACES_BYTES / self.place_bytes()).clamp(2, PLACES);
        let source = CONTROL_BYTES.next_multiple_of(4096);
        let words = source + self.source_bytes().next_multiple_of(4096);
        let target = words + WORDS_BYTES;
        let region = match self.workload.test {
            RdmaTest::Exchange => 2 * self.workload.hosts * self.workload.size_bytes,
            RdmaTest::Sort => self.sort_config(source).window_bytes(self.workload.hosts),
            _ => places * self.place_bytes(),
        };
        let inbox = target + region.next_multiple_of(4096);
        let group = inbox + INBOX_BYTES;
        Layout { places, source, words, target, inbox, group, bytes: group + INBOX_BYTES }
    }

    /// What a host sends from.
    pub(in crate::rdma) fn source_bytes(&self) -> usize {
        let RdmaWorkload { hosts, size_bytes, test, .. } = &self.workload;
        match test {
            RdmaTest::Exchange => hosts * size_bytes + SOURCE_SPARE,
            RdmaTest::Sort => self.sort_config(CONTROL_BYTES).send_bytes(*hosts),
            _ => self.place_bytes() + SOURCE_SPARE,
        }
    }

    /// The send buffers and windows of a sort.
    pub(in crate::rdma) fn sort_config(&self, from: usize) -> SortConfig {
        let workload = &self.workload;
        SortConfig {
            from,
            chunk: workload.size_bytes / 8,
            samples: 32,
            compare_ps: (1e3 * workload.compare_ns).round() as u64,
            move_ps: (1e3 * workload.move_ns).round() as u64,
        }
    }
}
