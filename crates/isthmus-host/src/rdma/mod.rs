// SPDX-License-Identifier: Apache-2.0
//! Driver of the RDMA network interface (`docs/explanation/cores/rdma.md`): remote writes, remote
//! queues, notifications, and what went wrong.
//!
//! [`Endpoint`] needs [`Mmio`](crate::pcie::Mmio) and [`DmaMemory`](crate::pcie::DmaMemory) of the
//! machine it runs on, a simulated or a real one. On it are built reads by rendezvous ([`Reader`],
//! [`serve_reads`]) and what hosts do together ([`Group`]). Programs: `docs/how-to/rdma-programs.md`.

mod config;
mod endpoint;
mod error;
mod group;
mod inbox;
mod interrupts;
mod messages;
mod phases;
mod post;
mod read;
mod stress;
mod words;

pub use config::{EndpointConfig, LazyPosting, Posting};
pub use endpoint::{CONTROL_BYTES, Endpoint, completed_offset, notified_offset};
pub use error::RdmaError;
pub use group::{Group, GroupConfig, Window};
pub use inbox::Inbox;
pub use phases::{PhaseTimer, Phases};
pub use read::{
    Ended, ReadError, Readable, Reader, ReaderConfig, Remote, Served, Ticket, answer_read,
    serve_reads,
};
pub use stress::Stressed;
pub use words::{
    Completion, Descriptor, ErrorRecord, Fault, Frame, HostId, InlineWrite, Key, Layout,
    MAX_INLINE, MAX_MESSAGE, MAX_TRANSFER, Message, MessageHeader, Notification, Options,
    QueueEntry, Region, WordError,
};

/// The page's programs are compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/how-to/rdma-programs.md")]
struct HowTo;
