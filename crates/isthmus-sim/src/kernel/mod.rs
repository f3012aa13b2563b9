// SPDX-License-Identifier: Apache-2.0
//! Time, events, host tasks, devices, probes and faults.

mod channel;
mod clock;
mod counters;
mod device;
mod error;
mod executor;
mod fault;
mod handle;
mod model;
mod native;
mod pin;
mod probe;
mod rng;
mod scoreboard;
mod setup;
mod simulation;
mod units;

pub use channel::{OneshotReceiver, OneshotSender, Receiver, SendError, Sender, channel, oneshot};
pub use clock::ClockConfig;
pub use counters::{Counter, Counters};
pub use device::PinAgent;
pub use error::SimError;
pub use executor::SERVICE;
pub use executor::{Elapsed, JoinHandle, Sleep, Timeout};
pub use fault::{FaultPoint, FaultSpec, Faults};
pub use handle::DeviceHandle;
pub use model::{Description, Direction, Model, PortInfo};
pub use native::load_model;
pub use pin::{InputPin, OutputPin, PinStorage};
pub use probe::{ProbeLog, ProbeRecord};
pub use rng::RandomStream;
pub use scoreboard::{Checked, Scoreboard};
pub use setup::{DeviceConfig, HoldSpec, ResetSpec};
pub use simulation::{
    FrameId, Limit, Progress, SILENT_LIMIT, Sim, SimConfig, Simulation, Statistics, Stop,
};
pub use units::{Bytes, Hertz, Picoseconds};
