// SPDX-License-Identifier: Apache-2.0
//! Etherbone's scenario: everything a run depends on, as one JSON document.
//!
//! `docs/reference/scenario.md` explains every key. Unknown keys are errors; every error names its
//! key. Units are part of the names.

mod device;
mod gige;
mod name;
mod pcie;
mod usb;
mod vme;
mod words;
mod workload;

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use isthmus_sim::FaultSpec;

use crate::error::RoadError;
use crate::measurement::Origin;
use crate::noise::NoiseHistogram;
pub use crate::platform::{GigeLink, GigePhy};
use crate::scenario::{Limits, Profile, checked, yes};
pub use device::{Dialect, EtherboneDevice, Fpga};
pub use gige::{GigeHost, GigeNic, GigePlatform, GigeSwitch};
pub use name::EtherboneName;
pub(crate) use name::NAME;
pub use pcie::{PcieDma, PcieDriver, PciePlatform};
pub use usb::{
    Ehci, Fx2, UsbBulk, UsbController, UsbDriver, UsbHost, UsbPlatform, UsbSerial, Xhci,
};
pub use vme::{VmeBoard, VmeDriver, VmePlatform};
pub use words::WordsDriver;
pub use workload::{EtherboneWorkload, Method, Procedure};

/// One run, or a sweep of runs over one system.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EtherboneScenario {
    /// Which road.
    pub road: EtherboneName,
    /// Which of the system's two designs this is.
    pub profile: Profile,
    /// The constants of everything that is not gateware.
    pub platform: EtherbonePlatform,
    /// The FPGA.
    pub device: EtherboneDevice,
    /// The measurement.
    pub workload: EtherboneWorkload,
    /// Seed of all random streams.
    pub seed: u64,
    /// Do not evaluate a device that reports idle.
    #[serde(default = "yes")]
    pub skip_idle: bool,
    /// Evaluate idle devices and fail if an output changes.
    #[serde(default)]
    pub check_idle: bool,
    /// Bounds of the run.
    #[serde(default)]
    pub limits: Limits,
    /// Files to write.
    #[serde(default)]
    pub trace: EtherboneTrace,
    /// Operating-system noise on the host; none without it.
    #[serde(default)]
    pub noise: Option<NoiseHistogram>,
    /// Injected faults, by the name of the fault point.
    #[serde(default)]
    pub faults: BTreeMap<String, FaultSpec>,
}

/// The constants of everything outside the FPGA's package.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EtherbonePlatform {
    /// Its name.
    pub name: String,
    /// The FPGA's clock.
    pub fpga: Fpga,
    /// The connection between the program and the FPGA's pins.
    pub bus: EtherboneBus,
    /// The protocol library's own work.
    pub library: EtherboneLibrary,
}

/// A bus with its driver.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EtherboneBus {
    /// UDP over Gigabit Ethernet.
    Gige(GigePlatform),
    /// USB 2.0 at high speed.
    Usb(UsbPlatform),
    /// PCI Express.
    Pcie(PciePlatform),
    /// VMEbus.
    Vme(VmePlatform),
}

impl EtherboneBus {
    /// How programs use it: the access method.
    #[must_use]
    pub const fn driver(&self) -> &'static str {
        match self {
            Self::Gige(_) => "datagram",
            Self::Usb(usb) => usb.driver.name(),
            Self::Pcie(pcie) => pcie.driver.name(),
            Self::Vme(_) => "loads",
        }
    }
}

/// Costs of the protocol library, and how it waits.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EtherboneLibrary {
    /// Open, close and frame one cycle.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub build_cycle_ns: f64,
    /// Add one operation to a cycle.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub build_operation_ns: f64,
    /// Match one reply and run its callback.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub parse_cycle_ns: f64,
    /// Take one value out of a reply.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub parse_operation_ns: f64,
    /// Calls around each wait, in addition to send and receive.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub event_loop_ns: f64,
    /// 1: the host polls for the reply; 0: it waits for an interrupt.
    #[schemars(range(min = 0, max = 1))]
    pub poll: u8,
}

/// Files a run writes.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EtherboneTrace {
    /// A waveform; needs a model built for it.
    pub waveform: Option<PathBuf>,
    /// Every frame on every cable.
    pub pcap: Option<PathBuf>,
    /// A timeline for Perfetto.
    pub timeline: Option<PathBuf>,
}

impl EtherboneScenario {
    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// Names the key that is wrong, and says what would be right.
    pub fn parse(json: &str) -> Result<Self, RoadError> {
        checked(json, Self::check)
    }

    /// Origin of its measurements.
    pub(crate) fn origin<'a>(&'a self, method: &'a str) -> Origin<'a> {
        Origin {
            road: NAME,
            platform: &self.platform.name,
            profile: self.profile.name(),
            method,
            seed: self.seed,
        }
    }

    fn check(&self) -> Result<(), RoadError> {
        self.device.check()?;
        if self.device.dialect != Dialect::Ohwr
            && !matches!(self.workload, EtherboneWorkload::Fuzz { .. })
        {
            let reason = "the host programs speak ohwr; only fuzz and serve know litex";
            return Err(RoadError::scenario("device.dialect", reason));
        }
        if let Some(noise) = &self.noise {
            noise.check()?;
        }
        self.workload.check(|| self.platform.gige())
    }
}

impl EtherbonePlatform {
    /// The platform's Ethernet, for workloads that drive the wire themselves.
    ///
    /// # Errors
    /// When its bus is another.
    pub(crate) fn gige(&self) -> Result<&GigePlatform, RoadError> {
        match &self.bus {
            EtherboneBus::Gige(gige) => Ok(gige),
            EtherboneBus::Usb(_) | EtherboneBus::Pcie(_) | EtherboneBus::Vme(_) => {
                let reason = "this workload drives the wire: a platform with gige expected";
                Err(RoadError::scenario("platform.bus", reason))
            }
        }
    }
}
