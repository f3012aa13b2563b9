// SPDX-License-Identifier: Apache-2.0
//! One assembled system a road: which devices, which world, which host program. It measures; it
//! draws nothing and knows no files but the model and the traces a scenario names.
//!
//! Every road has a folder and an entry in [`ROADS`]. [`run_json`] runs a scenario of any of them and gives
//! the measurements of `isthmus.result/1`; [`serve_json`] connects the simulated FPGA to real programs.
//! `docs/reference/scenario.md` explains the scenario.

pub mod apenet;
mod arrivals;
pub mod blockdma;
pub mod ccix;
mod dma;
pub mod eci;
mod error;
pub mod etherbone;
pub mod gpu;
mod host_bus;
pub mod measurement;
mod model;
pub mod nanet;
pub mod noise;
pub mod operation;
pub mod pcix;
pub mod platform;
pub mod rdma;
mod road;
mod roads;
pub mod scenario;
mod schema;
mod series;
mod stages;
pub mod switch;
mod tap;
mod together;
pub mod torus;
mod watch;

pub use error::RoadError;
pub use etherbone::serve::{self, ServeStatus};
pub use measurement::Measurement;
pub use model::{MakeModel, load};
pub use road::{Context, Road, ServeWatch};
pub use roads::{ROADS, road, run_json, run_text, serve_json};
pub use watch::{Step, Watch};

// The tests of whole systems are compiled with the crate's own: for a program of their own the crate, which takes
// longest of all, would be compiled once more.
#[cfg(test)]
extern crate self as isthmus_road;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;
