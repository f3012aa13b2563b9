// SPDX-License-Identifier: Apache-2.0

use std::time::Duration;

use super::words::{HostId, SLOTS, WordError};
use crate::transport::TransportError;

/// What goes wrong in a call; what goes wrong later is an [`ErrorRecord`].
#[derive(Debug, thiserror::Error)]
pub enum RdmaError {
    /// The machine refused a load or a store, or a deadline passed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// What the formats cannot say.
    #[error(transparent)]
    Word(#[from] WordError),
    /// The board is not what is expected.
    #[error(
        "no RDMA network interface: register {register:#x} is {found:#010x}, {expected:#010x} expected"
    )]
    Board {
        /// Its offset.
        register: u32,
        /// What it holds.
        found: u32,
        /// What it should.
        expected: u32,
    },
    /// The memory given is too small or not aligned.
    #[error("memory of {size} bytes at {address:#x}: {needed} bytes at a multiple of 64 needed")]
    Memory {
        /// Its bytes.
        size: usize,
        /// Its address on the bus.
        address: u64,
        /// What is needed.
        needed: usize,
    },
    /// A host that this interface cannot address.
    #[error("host {host}: this interface addresses 0..{most}")]
    Host {
        /// It.
        host: HostId,
        /// The highest.
        most: HostId,
    },
    /// Links that cannot be what may be used.
    #[error("links {links:#06b}: at least one of this interface's {has}, the lowest bit is link 0")]
    Links {
        /// A bit each.
        links: u8,
        /// How many there are.
        has: u8,
    },
    /// A word that is not in the memory.
    #[error("no word of 8 bytes at {at:#x} in a memory of {size} bytes")]
    Place {
        /// Its offset.
        at: usize,
        /// Bytes of the memory.
        size: usize,
    },
    /// A table entry that does not exist.
    #[error("{table} table has no entry {index}")]
    Entry {
        /// Which table.
        table: &'static str,
        /// Which entry.
        index: usize,
    },
    /// A message of a packed queue that cannot be asked for.
    #[error(
        "{bytes} bytes of a {} queue of {ring}: a packed one gives multiples of 8, from 8 to its \
         length", if *.slots { "slotted" } else { "packed" }
    )]
    Packed {
        /// Asked for.
        bytes: usize,
        /// The queue's.
        ring: usize,
        /// Whether it has slots.
        slots: bool,
    },
    /// A cluster of more slots than a queue has.
    #[error("a cluster of {slots} slots: a queue has {SLOTS}")]
    Cluster {
        /// Its slots.
        slots: usize,
    },
    /// Nothing was given back in time.
    #[error("host {host}: no free space in its {queue} queue within {waited:?}")]
    Stuck {
        /// The destination.
        host: HostId,
        /// Request or message.
        queue: &'static str,
        /// How long was waited.
        waited: Duration,
    },
    /// What was posted before a fence is not in the remote host's memory in time.
    #[error("host {host}: {missing} packets before the fence were not acknowledged in {waited:?}")]
    Fence {
        /// The destination.
        host: HostId,
        /// Packets of which nothing is known.
        missing: u16,
        /// How long was waited.
        waited: Duration,
    },
    /// A member of a group did not do its part in time.
    #[error("host {host}: {what} did not arrive within {waited:?}")]
    Silent {
        /// What is missed.
        what: &'static str,
        /// The host concerned.
        host: HostId,
        /// How long was waited.
        waited: Duration,
    },
    /// Data from a host is incomplete: this transfer, or an earlier one without a
    /// notification, was refused or lost, or could not be written here.
    #[error("host {host}: data from it is incomplete: a packet was lost or refused")]
    Spoilt {
        /// The host concerned.
        host: HostId,
    },
    /// Too little space, or too few entries.
    #[error("{what}: {needed} needed, {has} available")]
    Room {
        /// For what.
        what: &'static str,
        /// How much.
        needed: usize,
        /// How much there is.
        has: usize,
    },
    /// The remote host's interface was reset.
    #[error("host {host} was reset: what was posted to it since the last fence may be lost")]
    Session {
        /// The destination.
        host: HostId,
    },
}
