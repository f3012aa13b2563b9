// SPDX-License-Identifier: Apache-2.0
//! Tests of whole systems.

mod access;
mod circles;
mod common;
mod etherbone;
mod pcie_driver;
mod schema;
mod serve;
mod switch;
mod wire;
