// SPDX-License-Identifier: Apache-2.0
//! Blocks between an FPGA and host memory by DMA over PCIe: what plain PCIe is, and what roads over other links are
//! compared with.
//!
//! The device is `ccix_dma_fpga`, a DMA engine whose traffic generator makes the data of each line from its number
//! and a seed. [`Engine`] is the logic in front of it; a block is one of its tasks, or with a ring of descriptors
//! three. Blocks are started by the FPGA ([`transfers`]), or by a host program, whose road has a doorbell.

mod card;
mod engine;
mod line;
mod link;
mod stages;
pub(crate) mod transfers;

pub(crate) use card::{Card, Status};
pub(crate) use engine::{Engine, MOST_TASKS, Part, ring_lines};
pub(crate) use line::{LINE_BYTES, Line, Stored, first_seed, pattern};
pub(crate) use link::{BASE_LINE, Dma};
pub(crate) use stages::{Tlps, fetch};
