// SPDX-License-Identifier: Apache-2.0
//! What the protocol library's work costs the simulated host.

use isthmus_sim::Picoseconds;

use super::scenario::EtherboneLibrary;

/// Cost of the protocol library's work.
#[derive(Debug, Clone, Copy)]
pub(super) struct LibraryCosts {
    build_cycle: f64,
    build_operation: f64,
    parse_cycle: f64,
    parse_operation: f64,
    pub(super) event_loop: Picoseconds,
}

impl LibraryCosts {
    pub(super) fn new(library: &EtherboneLibrary) -> Self {
        Self {
            build_cycle: library.build_cycle_ns,
            build_operation: library.build_operation_ns,
            parse_cycle: library.parse_cycle_ns,
            parse_operation: library.parse_operation_ns,
            event_loop: Picoseconds::from_ns_f64(library.event_loop_ns),
        }
    }

    pub(super) fn build(&self, operations: usize) -> Picoseconds {
        Picoseconds::from_ns_f64(self.build_cycle + self.build_operation * operations as f64)
    }

    pub(super) fn complete(&self, operations: usize) -> Picoseconds {
        Picoseconds::from_ns_f64(self.parse_cycle + self.parse_operation * operations as f64)
    }
}
