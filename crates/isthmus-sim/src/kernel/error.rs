// SPDX-License-Identifier: Apache-2.0
//! Errors in one line: the problem, its place, and what is expected.

use std::path::PathBuf;
use std::time::Duration;

use super::units::Picoseconds;

/// An error of building or running a simulation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// The shared object is missing, or not one the dynamic linker accepts.
    #[error("model {path}: cannot be loaded: {reason}")]
    ModelLoad {
        /// The model's expected path.
        path: PathBuf,
        /// The linker's words.
        reason: String,
    },
    /// The shared object has another version of the interface, or violates it.
    #[error("model {path}: {reason}")]
    ModelAbi {
        /// The shared object.
        path: PathBuf,
        /// The violated rule.
        reason: String,
    },
    /// A model failed while it was evaluated.
    #[error("device {device}: its model failed at {at}: {reason}")]
    ModelFault {
        /// The device's name.
        device: String,
        /// When.
        at: Picoseconds,
        /// The model's message, with its place in the source if it has one.
        reason: String,
    },
    /// A device's configuration does not fit its model.
    #[error("device {device}: {reason}")]
    Device {
        /// The device's name.
        device: String,
        /// The mismatch, and what is expected.
        reason: String,
    },
    /// A device breaks the protocol of a bus at its pins.
    #[error("device {device}: {signal} at {at}: {reason}")]
    Pin {
        /// The device's name, or that of the model at its pins.
        device: String,
        /// The port or its substitute.
        signal: String,
        /// When it was seen.
        at: Picoseconds,
        /// The problem, and what is expected.
        reason: String,
    },
    /// A world model's configuration makes no sense.
    #[error("{model}: {reason}")]
    Config {
        /// The model's name.
        model: String,
        /// The problem, and what is expected.
        reason: String,
    },
    /// A fault names a point that no model of this world has.
    #[error("fault point {name}: not in this world; it has: {known}")]
    UnknownFaultPoint {
        /// The requested name.
        name: String,
        /// Those there are.
        known: String,
    },
    /// Every task waits, and nothing will ever happen.
    #[error("deadlock at {at}: nothing is pending, and these tasks still wait: {waiting}")]
    Deadlock {
        /// When the last thing happened.
        at: Picoseconds,
        /// The names of the waiting tasks.
        waiting: String,
    },
    /// Clocks run, and nothing else happens.
    #[error(
        "no answer from a device since {since}: at {at} only clocks run, and these tasks still wait: {waiting}"
    )]
    Silent {
        /// Now.
        at: Picoseconds,
        /// When the last thing happened.
        since: Picoseconds,
        /// The names of the waiting tasks.
        waiting: String,
    },
    /// The bound of simulated time was reached first.
    #[error("still running after {limit} of simulated time (the limit); waiting: {waiting}")]
    SimulatedTimeLimit {
        /// The bound.
        limit: Picoseconds,
        /// The names of the waiting tasks.
        waiting: String,
    },
    /// The bound of wall time was reached first.
    #[error("still running after {limit:?} of wall time (the limit), at {at} of simulated time")]
    WallTimeLimit {
        /// The bound.
        limit: Duration,
        /// The simulated time reached.
        at: Picoseconds,
    },
    /// The progress callback asked to stop.
    #[error("interrupted at {at} of simulated time")]
    Interrupted {
        /// The simulated time reached.
        at: Picoseconds,
    },
    /// A device said it was idle, and an output changed without any input changing.
    #[error(
        "device {device}: says idle_o, yet {port} changed at {at} without an input changing: \
         idle_o must be low while anything can still change"
    )]
    IdleViolation {
        /// The device's name.
        device: String,
        /// The output that changed.
        port: String,
        /// When it was seen.
        at: Picoseconds,
    },
    /// Bytes arrived wrong, or not at all.
    #[error("data check failed: {wrong} wrong and {lost} lost of {bytes} bytes; first: {first}")]
    Data {
        /// Bytes expected.
        bytes: u64,
        /// Bytes that differ.
        wrong: u64,
        /// Bytes that never came.
        lost: u64,
        /// The first difference found.
        first: String,
    },
    /// A file of a trace cannot be written.
    #[error("trace {path}: {source}")]
    Trace {
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        source: std::io::Error,
    },
}
