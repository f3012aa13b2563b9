// SPDX-License-Identifier: Apache-2.0
//! Host-side protocols: for control programs, drivers and benchmarks that access an FPGA.
//!
//! The crate knows no simulator. Every protocol is a sans-I/O codec and a client over a
//! [`transport::Transport`]; the same client runs over a simulated network, a real UDP socket or
//! memory.
//!
//! ```
//! use isthmus_host::etherbone::{Client, ClientConfig, Cycle, Memory, SoftSlave};
//! use isthmus_host::transport::{MemoryTransport, block_on};
//!
//! # fn main() -> Result<(), isthmus_host::etherbone::Error> {
//! let slave = SoftSlave::new(Memory::new(0x1000, 64));
//! block_on(async {
//!     let mut client = Client::connect(MemoryTransport::new(slave), ClientConfig::default()).await?;
//!     client.write(0x1000, 0xCAFE_F00D).await?;
//!     assert_eq!(client.read(0x1000).await?, 0xCAFE_F00D);
//!     let reply = client.execute(Cycle::new().read(0x1000).read(0x1004)).await?;
//!     assert_eq!(reply.reads, [0xCAFE_F00D, 0]);
//!     Ok(())
//! })
//! # }
//! ```

#![warn(missing_docs)]
#![cfg_attr(not(feature = "tokio"), allow(dead_code, reason = "what only tasks of tokio use"))]
// Mappings of memory that a device writes need some, in one file of `board`.
#![cfg_attr(not(feature = "board"), forbid(unsafe_code))]

#[cfg(feature = "board")]
pub mod board;
pub mod coherent;
pub mod etherbone;
pub mod field;
pub mod nic;
pub mod pcie;
pub mod rdma;
pub mod records;
pub mod regs;
pub mod svm;
pub mod transport;
