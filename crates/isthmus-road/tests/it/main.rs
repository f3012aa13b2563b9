// SPDX-License-Identifier: Apache-2.0
//! All integration tests in one program: linked once.

mod access;
mod circles;
mod common;
mod etherbone;
mod pcie_driver;
mod schema;
mod serve;
mod switch;
mod wire;
