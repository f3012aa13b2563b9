// SPDX-License-Identifier: Apache-2.0
//! Etherbone version 1 (OHWR): Wishbone bus cycles in datagrams or streams.
//!
//! - [`wire`]: header, probe and records as bytes, in both dialects; every length checked, no I/O
//! - [`Cycle`]: reads and writes that hold the bus cycle line together
//! - [`Client`]: convenience calls, blocking cycles, pipelined cycles in flight
//! - `AsyncClient` (feature `tokio`): one device for many tasks and threads, a future for each cycle
//! - [`Server`]: a program's own [`Bus`] on the network, for many clients; [`AddressMap`], [`Snoop`]
//! - [`SoftSlave`]: the same without I/O, the reference model of tests
//! - [`sdb`]: the self-description of a bus; [`discover`]: devices that answer a probe
//!
//! The protocol has no authentication. Exactly-once execution there is in a session with a slave of
//! this crate ([`ClientConfig::retries`]); with any other device a request that the network doubles is
//! executed twice, and a cycle that timed out may or may not have been executed.

pub mod sdb;
pub mod wire;

mod block;
mod client;
mod collect;
mod cycle;
mod discover;
mod encode;
mod flight;
mod flights;
mod guard;
mod map;
mod meter;
mod pending;
mod server;
#[cfg(feature = "tokio")]
mod shared;
mod slave;
mod snoop;
mod statistics;

pub use block::BlockOptions;
pub use client::{Client, ClientConfig};
pub use cycle::{Cycle, CycleReply};
pub use discover::{Discovered, discover};
pub use map::{AddressMap, MapError};
pub use meter::{Meter, NoMeter, Work};
pub use pending::{Ended, Pending};
pub use server::{Server, ServerConfig, ServerHandle, ServerStatistics};
#[cfg(feature = "tokio")]
pub use shared::AsyncClient;
pub use slave::{Bus, BusFault, Memory, Peer, SlaveConfig, SlaveStatistics, SoftSlave};
pub use snoop::{BusEvent, Snoop, describe};
pub use statistics::Statistics;
pub use wire::{Dialect, Format, Width, Widths};

pub use crate::transport::{DEFAULT_PORT, UDP_MTU};

use crate::transport::TransportError;
use std::fmt;
use std::time::Duration;

/// The UDP port of LiteEth's dialect. Gateware sends its replies to this port, too.
pub const LITE_PORT: u16 = 1234;

/// Kind of one operation of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A read on the Wishbone bus.
    Read,
    /// A write on the Wishbone bus.
    Write,
    /// A read in the slave's configuration space.
    ReadConfig,
    /// A write in the slave's configuration space.
    WriteConfig,
}

/// Which operation of a cycle: what errors name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Its kind.
    pub access: Access,
    /// Its address.
    pub address: u64,
    /// Its position in the cycle.
    pub index: usize,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.access {
            Access::Read => "read",
            Access::Write => "write",
            Access::ReadConfig => "config read",
            Access::WriteConfig => "config write",
        };
        write!(f, "{name} {:#010x} (operation {})", self.address, self.index)
    }
}

/// Why a call of the client failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// No device answered the probe.
    #[error("no Etherbone device answered {attempts} probes of {each:?}")]
    NoDevice {
        /// Probes sent.
        attempts: u32,
        /// Time waited after each.
        each: Duration,
    },
    /// The device and the client share no width.
    #[error("no common width: the device offers {device}, the client {client}")]
    Widths {
        /// The device's widths.
        device: Widths,
        /// The client's widths.
        client: Widths,
    },
    /// The reply did not come.
    #[error("{first}: no reply within {waited:?} ({operations} operations in the cycle)")]
    TimedOut {
        /// The first operation of the cycle.
        first: Operation,
        /// Operations in the cycle.
        operations: usize,
        /// The time waited.
        waited: Duration,
    },
    /// At least one operation ended with a bus error or the slave's bus timeout.
    #[error("{first}: bus error ({} of {operations} operations failed)", failed.len())]
    Bus {
        /// The first operation that failed.
        first: Operation,
        /// Positions of all that failed.
        failed: Vec<usize>,
        /// Operations in the cycle.
        operations: usize,
        /// All values read, in order; those of failed reads mean nothing.
        reads: Vec<u64>,
    },
    /// The reply does not fit the request.
    #[error("{first}: malformed reply: {reason}")]
    Reply {
        /// The first operation of the cycle.
        first: Operation,
        /// The problem.
        reason: String,
    },
    /// The cycle cannot be expressed.
    #[error("{operation}: {reason}")]
    Operation {
        /// Which operation.
        operation: Operation,
        /// The problem, and what is expected.
        reason: String,
    },
    /// The block cannot be transferred.
    #[error("{address:#x}/{bytes:#x}: {reason}")]
    Block {
        /// Its first address.
        address: u64,
        /// Its length.
        bytes: usize,
        /// The problem.
        reason: String,
    },
    /// The cycle has no operation.
    #[error("the cycle has no operation")]
    Empty,
    /// The cycle does not fit one datagram.
    #[error("cycle of {operations} operations needs {bytes} bytes, the transport carries {mtu}")]
    Overflow {
        /// Operations in the cycle.
        operations: usize,
        /// Bytes it needs.
        bytes: usize,
        /// Bytes there are.
        mtu: usize,
    },
    /// All 16384 sequence numbers are in flight.
    #[error("all {0} cycles that can be in flight are in flight")]
    Busy(usize),
    /// The client was dropped before the cycle ended.
    #[error("the client was dropped before the cycle ended")]
    Dropped,
    /// The transport failed.
    #[error("{0}")]
    Transport(std::sync::Arc<TransportError>),
}

impl From<TransportError> for Error {
    fn from(error: TransportError) -> Self {
        Error::Transport(std::sync::Arc::new(error))
    }
}
