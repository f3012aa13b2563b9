// SPDX-License-Identifier: Apache-2.0
//! Memory that a processor and an FPGA share over a cache-coherent link, from either side.
//!
//! A [`Node`] is one side: a core of the host, or the logic of the FPGA. It maps a [`Region`] of memory, loads and
//! stores bytes of it, flushes lines, and changes shared words; it loads and stores registers of the other side
//! (I/O), sends interrupts and waits for them. What one side has stored the other one loads: no call makes it visible.
//!
//! The memory is that of one side, or each side has some: then a node maps regions of both, the host's from address 0
//! on and the FPGA's from [`FPGA_MEMORY`] on.
//!
//! [`Node::tracer`] reads, where the gateware has one, the far end's tracer: its messages one by one, and the state of a
//! line there.
//!
//! Below a node is a [`Port`], which a simulated link implements, a board's driver, or [`SharedMemory`].
//!
//! ```
//! use isthmus_host::coherent::{Caching, Node, SharedMemory, Update};
//! use isthmus_host::transport::block_on;
//!
//! # fn main() -> Result<(), isthmus_host::coherent::CoherentError> {
//! let shared = SharedMemory::new(64);
//! let (mut host, mut fpga) = (Node::new(shared.host()), Node::new(shared.fpga()));
//! block_on(async {
//!     let here = host.map(0, 4096, Caching::Cached)?;
//!     let there = fpga.map(0, 4096, Caching::Cached)?;
//!     host.store(&here, 100, b"over a line's end, at byte 128").await?;
//!     let mut bytes = [0; 30];
//!     fpga.load(&there, 100, &mut bytes).await?;
//!     assert_eq!(&bytes, b"over a line's end, at byte 128");
//!     assert_eq!(fpga.update(&there, 1024, Update::Increment).await?, 0);
//!     assert_eq!(host.load64(&here, 1024).await?, 1);
//!     Ok(())
//! })
//! # }
//! ```

mod error;
mod memory;
mod node;
pub mod protocol;
mod trace;

use std::ops::Range;
use std::time::Duration;

pub use error::CoherentError;
pub use memory::{SharedMemory, SharedPort};
pub use node::{Node, Region};
pub use trace::{ALL_CIRCUITS, Filter, Keep, LineState, Lost, Record, Tracer};

use crate::transport::TransportError;

/// Bytes of a line.
pub const LINE_BYTES: usize = 128;
/// Bytes of a shared word, and of a register.
pub const WORD_BYTES: usize = 8;

/// A line's bytes.
pub type Line = [u8; LINE_BYTES];

/// Whether a node keeps lines of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caching {
    /// In its cache.
    #[default]
    Cached,
    /// No: each access goes to the memory's home, and is coherent all the same.
    Uncached,
}

/// A change of a shared word that nothing comes between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// 1 is added; it wraps.
    Increment,
    /// 1 is subtracted; it wraps.
    Decrement,
    /// The word becomes `new` if it is `expected`.
    CompareSwap {
        /// What it must be.
        expected: u64,
        /// What it then becomes.
        new: u64,
    },
}

/// A change of a word in a node's own cache, as AXI's atomics have it, that nothing comes between either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// The operand is added; it wraps.
    Add(u64),
    /// The bits that are set in the operand become 0.
    Clear(u64),
    /// Exclusive or.
    Xor(u64),
    /// The bits that are set in the operand become 1.
    Set(u64),
    /// The greater of two signed numbers.
    SignedMax(i64),
    /// The smaller of two signed numbers.
    SignedMin(i64),
    /// The greater of two numbers.
    Max(u64),
    /// The smaller of two numbers.
    Min(u64),
    /// The operand.
    Swap(u64),
    /// The word becomes `new` if it is `expected`.
    CompareSwap {
        /// What it must be.
        expected: u64,
        /// What it then becomes.
        new: u64,
    },
}

impl Atomic {
    /// What a word becomes.
    #[must_use]
    pub fn apply(self, old: u64) -> u64 {
        match self {
            Self::Add(operand) => old.wrapping_add(operand),
            Self::Clear(operand) => old & !operand,
            Self::Xor(operand) => old ^ operand,
            Self::Set(operand) => old | operand,
            Self::SignedMax(operand) => old.cast_signed().max(operand).cast_unsigned(),
            Self::SignedMin(operand) => old.cast_signed().min(operand).cast_unsigned(),
            Self::Max(operand) => old.max(operand),
            Self::Min(operand) => old.min(operand),
            Self::Swap(operand) => operand,
            Self::CompareSwap { expected, new } if old == expected => new,
            Self::CompareSwap { .. } => old,
        }
    }
}

/// What is asked of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineAccess {
    /// Its bytes.
    Load(Caching),
    /// Bytes are stored: those whose bit of the mask is set.
    Store(Caching, u128, Box<Line>),
    /// The node gives its copy up; what it changed goes to the memory's home.
    Flush,
    /// A word of it is changed; bytes 0 to 7 of the answer are the old value.
    Update {
        /// The word's place, 0 to 15.
        word: usize,
        /// How.
        how: Update,
    },
    /// A word of it is changed in the cache; the answer is the line as it was.
    Atomic {
        /// The word's place, 0 to 15.
        word: usize,
        /// How.
        how: Atomic,
    },
}

/// A request for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRequest {
    /// The line's number in memory.
    pub line: u64,
    /// What of it.
    pub access: LineAccess,
}

/// What a node can do with a memory beside cached loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Accesses of lines that are not cached.
    pub uncached: bool,
    /// Changes of shared words by the memory's home.
    pub updates: bool,
    /// Changes of words in its own cache.
    pub atomics: bool,
}

/// Where the FPGA's memory begins for both sides, if each has memory that the other one caches: the host's begins
/// at 0.
pub const FPGA_MEMORY: u64 = 1 << 39;

/// Memory that a node reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The number of its first line.
    pub first: u64,
    /// How many lines it has.
    pub lines: u64,
    /// What this node can do with them.
    pub features: Features,
}

impl Memory {
    /// The addresses of its bytes.
    pub(crate) const fn range(&self) -> Range<u64> {
        let bytes = LINE_BYTES as u64;
        self.first.saturating_mul(bytes)
            ..self.first.saturating_add(self.lines).saturating_mul(bytes)
    }
}

/// A node's way to the link: a core's loads and stores, or the ports of an FPGA's agent.
#[allow(async_fn_in_trait, reason = "simulated nodes are single-threaded: no Send bound is wanted")]
pub trait Port {
    /// The memories that it reaches, none over another: one, or the host's and the FPGA's.
    fn memories(&self) -> Vec<Memory>;

    /// Accesses lines, as many at a time as it can, in any order; answers in the order of the requests. No two
    /// are of one line.
    async fn access(&mut self, requests: Vec<LineRequest>) -> Result<Vec<Line>, TransportError>;

    /// Loads the register of the other side at a multiple of 8.
    async fn load_register(&mut self, address: u64) -> Result<u64, TransportError>;

    /// Stores the bytes of a register of the other side whose bit of the mask is set; returns when it has them.
    async fn store_register(
        &mut self,
        address: u64,
        mask: u8,
        word: u64,
    ) -> Result<(), TransportError>;

    /// Returns when all that was stored before is visible to the other side.
    async fn barrier(&mut self) -> Result<(), TransportError>;

    /// Sends an interrupt with a number to the other side.
    async fn interrupt(&mut self, number: u64) -> Result<(), TransportError>;

    /// The next interrupt from the other side, in order; none in this time.
    async fn interrupted(&mut self, within: Duration) -> Result<Option<u64>, TransportError>;
}
