// SPDX-License-Identifier: Apache-2.0
//! What a program can do wrong with shared memory, and what can go wrong below it.

use crate::transport::TransportError;

/// Errors of a node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoherentError {
    /// A region that is not whole lines inside the memory.
    #[error("{bytes} bytes at {address:#x}: whole lines of 128 bytes below {end:#x} expected")]
    Range {
        /// Where it begins.
        address: u64,
        /// Its length.
        bytes: u64,
        /// The end of the memory.
        end: u64,
    },
    /// A region that shares lines with one that was mapped otherwise.
    #[error("{bytes} bytes at {address:#x}: a part of them is mapped with the other caching")]
    Mapped {
        /// Where it begins.
        address: u64,
        /// Its length.
        bytes: u64,
    },
    /// An access that leaves its region.
    #[error("{bytes} bytes at offset {offset:#x} of a region of {region:#x}")]
    Outside {
        /// Where it begins in the region.
        offset: u64,
        /// Its length.
        bytes: usize,
        /// The region's length.
        region: u64,
    },
    /// A word or a register that is not where words are.
    #[error("a word at {at:#x}: a multiple of 8 expected")]
    Word {
        /// Where it is.
        at: u64,
    },
    /// Bytes that are not all in one register.
    #[error("{bytes} bytes at register {address:#x}: 1 to 8 bytes of one register of 8 expected")]
    Register {
        /// Where they begin.
        address: u64,
        /// How many.
        bytes: usize,
    },
    /// Something that this node's port does not do.
    #[error("this node has no {what}")]
    Unsupported {
        /// What.
        what: &'static str,
    },
    /// A line that the far end's agent had no time to look up.
    #[error("no state of line {line:#x}: the other end's agent is busy")]
    Busy {
        /// The line's number.
        line: u64,
    },
    /// A state of a line that the protocol does not have.
    #[error("{state:#x} is no state of a line: the gateware has another protocol")]
    State {
        /// As it was read.
        state: u16,
    },
    /// The port failed.
    #[error(transparent)]
    Port(#[from] TransportError),
}
