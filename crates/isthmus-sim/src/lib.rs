// SPDX-License-Identifier: Apache-2.0
//! Deterministic kernel for Verilated devices, and models of everything outside an FPGA's package.
//!
//! * [`kernel`] owns time: events, host tasks, devices and their clocks, probes, faults.
//! * [`world`] models the parts that a designer buys rather than designs: PHYs, cables, switches,
//!   network interfaces, hosts.
//! * [`trace`] records runs: spans, pcapng captures, Perfetto timelines.
//!
//! One seed gives one result, bit for bit, with and without skipping of idle devices.

pub mod kernel;
pub mod trace;
pub mod world;

pub use kernel::{
    Bytes, ClockConfig, DeviceConfig, DeviceHandle, FaultSpec, Hertz, JoinHandle, Limit,
    Picoseconds, Progress, SimConfig, SimError, Simulation, Statistics, Stop,
};
