// SPDX-License-Identifier: Apache-2.0
//! A board behind PCIe on Linux: what the drivers of this crate need of a real machine.
//!
//! [`Vfio`] opens a PCI function that is bound to `vfio-pci` and gives its [`Bar`]s ([`Mmio`](crate::pcie::Mmio)),
//! [`Memory`] that it reaches through the IOMMU ([`DmaMemory`](crate::pcie::DmaMemory)) and its [`EventLine`]s
//! ([`Interrupt`](crate::pcie::Interrupt)). The same drivers run over these and over a simulated host.
//! `docs/how-to/run-on-a-board.md` shows a program.
//!
//! Accesses are ordered for x86-64, where a store to a BAR does not pass earlier stores to memory; [`Vfio::open`] refuses
//! other processors. Everything blocks the calling thread, so that [`block_on`](crate::transport::block_on) runs a driver.

mod bar;
mod error;
mod interrupt;
mod memory;
mod sysfs;
mod vfio;
mod window;

pub use bar::Bar;
pub use error::BoardError;
pub use interrupt::EventLine;
pub use memory::{HugePages, Iommu, Memory, MemoryOptions};
pub use sysfs::{Function, Sysfs};
pub use vfio::Vfio;
pub use window::Window;

/// Compiles the programs of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/how-to/run-on-a-board.md")]
mod how_to {}
