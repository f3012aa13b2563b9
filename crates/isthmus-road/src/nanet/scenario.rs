// SPDX-License-Identifier: Apache-2.0
//! The scenario of UDP into registered memory, as a JSON document. Unknown keys are errors; units are part of names.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use isthmus_host::nic::{PLACE_BYTES, PageSize};

use crate::arrivals::Arrivals;
use crate::error::RoadError;
use crate::operation::Operation;
use crate::platform::{DmaMemory, GigeLink, GigePhy, PcieHost, PcieLink, PciePort};
use crate::scenario::{Limits, Profile, sixteen, yes};

/// UDP payload of a datagram: what an Ethernet frame of 1518 bytes holds.
pub const MAX_BYTES: usize = 1472;
/// A closed loop's datagrams before those that count, at least.
const CLOSED_WARM_UP: u64 = 8;
const OPEN_WARM_UP: u64 = 32;

/// One run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetScenario {
    /// Always `nanet`.
    pub road: String,
    /// Which of the system's two designs this is.
    pub profile: Profile,
    /// The constants of everything that is not gateware.
    pub platform: NanetPlatform,
    /// The network interface.
    pub interface: NanetInterface,
    /// What to measure.
    pub workload: NanetWorkload,
    /// Seed of the data, of arrivals and of all faults.
    pub seed: u64,
    /// Bounds of the run.
    #[serde(default)]
    pub limits: Limits,
    /// A waveform of the interface.
    #[serde(default)]
    pub waveform: Option<PathBuf>,
    /// What goes wrong.
    #[serde(default)]
    pub faults: NanetFaults,
    /// An idle interface is not evaluated; results are the same either way.
    #[serde(default = "yes")]
    pub skip_idle: bool,
}

/// How a program waits for an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NanetDriver {
    /// It polls the next place of the event queue.
    #[default]
    Poll,
    /// It sleeps until an interrupt.
    Interrupt,
}

/// What becomes of datagrams while no buffer of their list is free.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NanetPolicy {
    /// The new one is dropped.
    #[default]
    Newest,
    /// The buffer that was filled first is filled anew.
    Oldest,
    /// They wait.
    Hold,
}

/// The constants of everything outside the interface.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetPlatform {
    /// Its name.
    pub name: String,
    /// The cable of each port, from a source that sends at line rate.
    pub cable: GigeLink,
    /// The PHY of each port.
    pub phy: GigePhy,
    /// The link to the host.
    pub link: PcieLink,
    /// The host's port.
    pub root: PciePort,
    /// The interface's hard block.
    pub endpoint: PciePort,
    /// Host memory as the interface's DMA sees it.
    pub memory: DmaMemory,
    /// What a processor pays.
    pub host: PcieHost,
}

/// A network interface: `nanet_nic`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetInterface {
    /// The shared object of its model.
    pub model_path: PathBuf,
    /// The clock of everything behind the MAC.
    #[schemars(range(min = 50.0, max = 1_000.0))]
    pub clock_mhz: f64,
    /// Clocks that a reset lasts.
    #[serde(default = "sixteen")]
    pub reset_cycles: u32,
    /// Ports.
    #[schemars(range(min = 1, max = 4))]
    pub ports: usize,
    /// The pages that the buffers are in, for a model that translates addresses: 4096, 65536 or 2097152; 0: none.
    #[serde(default)]
    #[schemars(range(min = 0, max = 2_097_152))]
    pub page_bytes: usize,
    /// The soft processor that finds the buffer of each datagram, where the model has one.
    #[serde(default)]
    pub firmware: Option<NanetFirmware>,
}

/// What the program of a soft processor takes for a datagram.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetFirmware {
    /// From a request until the program reads it, at the least.
    #[schemars(range(min = 0.0, max = 300.0))]
    pub wake_min_us: f64,
    /// At the most; in between every time is as likely.
    #[schemars(range(min = 0.0, max = 300.0))]
    pub wake_max_us: f64,
    /// From there to its answer.
    #[schemars(range(min = 0.0, max = 300.0))]
    pub work_us: f64,
}

/// What to measure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetWorkload {
    /// Always `nic-to-memory`.
    pub operation: Operation,
    /// UDP payload of a datagram.
    #[schemars(range(min = 4, max = 1472))]
    pub bytes: usize,
    /// Datagrams that count.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub iterations: u64,
    /// Datagrams of a port between their begin and their event.
    #[serde(default)]
    #[schemars(range(min = 1, max = 4096))]
    pub window: Option<u32>,
    /// Datagrams a second and port, Poisson.
    #[serde(default)]
    pub rate_per_s: Option<f64>,
    /// Buffers of each list: a power of two.
    #[serde(default = "sixty_four")]
    #[schemars(range(min = 1, max = 64))]
    pub buffers: usize,
    /// Datagrams that make a buffer full.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 255))]
    pub datagrams: u8,
    /// From a buffer's first datagram to its event at the latest; 0: never.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub flush_us: f64,
    /// What the program does with each event before it gives the buffer back.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub work_ns: f64,
    /// How the program waits.
    #[serde(default)]
    pub driver: NanetDriver,
    /// What becomes of datagrams while no buffer of their list is free.
    #[serde(default)]
    pub policy: NanetPolicy,
    /// Datagrams may be lost; they are counted where they were.
    #[serde(default)]
    pub may_lose: bool,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NanetFaults {
    /// Every so many datagrams one has a wrong UDP check sum; 0: none.
    pub bad_checksum_every: u64,
    /// Every so many one has a wrong frame check sequence; 0: none.
    pub bad_fcs_every: u64,
}

const fn one() -> u8 {
    1
}

const fn sixty_four() -> usize {
    64
}

impl NanetScenario {
    /// Reads a scenario and checks it.
    ///
    /// # Errors
    /// When a key is unknown, missing or outside its range.
    pub fn parse(json: &str) -> Result<Self, RoadError> {
        crate::scenario::checked(json, Self::check)
    }

    fn check(&self) -> Result<(), RoadError> {
        let workload = &self.workload;
        workload.operation.check("workload.operation", "nanet", &[Operation::NicToMemory])?;
        if !workload.buffers.is_power_of_two() {
            let reason = format!("{}: expected a power of two, 1 to 64", workload.buffers);
            return Err(RoadError::scenario("workload.buffers", reason));
        }
        let window = u64::from(self.arrivals()?.window().unwrap_or(1));
        let room = workload.buffers as u64 * u64::from(workload.datagrams);
        if window > room {
            let reason = format!("{window}: the buffers hold {room} datagrams");
            return Err(RoadError::scenario("workload.window", reason));
        }
        if self.arrivals()?.window().is_some_and(|window| window < u32::from(workload.datagrams))
            && workload.flush_us == 0.0
        {
            let reason = "fewer datagrams than fill a buffer: expected flush_us above 0";
            return Err(RoadError::scenario("workload.window", reason));
        }
        if self.page().is_none() && self.interface.page_bytes != 0 {
            let reason =
                format!("{}: expected 0, 4096, 65536 or 2097152", self.interface.page_bytes);
            return Err(RoadError::scenario("interface.page_bytes", reason));
        }
        if let Some(firmware) = &self.interface.firmware
            && firmware.wake_max_us < firmware.wake_min_us
        {
            let reason = format!("{} is below wake_min_us", firmware.wake_max_us);
            return Err(RoadError::scenario("interface.firmware.wake_max_us", reason));
        }
        Ok(())
    }

    pub(super) fn arrivals(&self) -> Result<Arrivals, RoadError> {
        Arrivals::of("workload", self.workload.window, self.workload.rate_per_s)
    }

    /// Datagrams of each port before and behind those that count.
    pub(super) fn excluded(&self) -> Result<(u64, u64), RoadError> {
        Ok(match self.arrivals()? {
            Arrivals::Window(window) => {
                (CLOSED_WARM_UP.max(2 * u64::from(window)), u64::from(window))
            }
            Arrivals::Rate(_) => (OPEN_WARM_UP.max(self.workload.iterations / 10), OPEN_WARM_UP),
        })
    }

    /// Bytes of a buffer: each datagram begins at a multiple of [`PLACE_BYTES`].
    pub(super) fn buffer_bytes(&self) -> usize {
        self.place_bytes() * usize::from(self.workload.datagrams)
    }

    /// From one datagram of a buffer to the next.
    pub(super) fn place_bytes(&self) -> usize {
        self.workload.bytes.next_multiple_of(PLACE_BYTES)
    }

    /// The pages that the buffers are in.
    pub(super) fn page(&self) -> Option<PageSize> {
        [PageSize::K4, PageSize::K64, PageSize::M2]
            .into_iter()
            .find(|size| size.bytes() == self.interface.page_bytes)
    }

    /// Cycles of the interface's clock.
    pub(super) fn cycles(&self, us: f64) -> u64 {
        (us * self.interface.clock_mhz).round() as u64
    }

    /// How a program gets its data, as results name it.
    pub(super) fn driver(&self) -> &'static str {
        match self.workload.driver {
            NanetDriver::Poll => "poll",
            NanetDriver::Interrupt => "interrupt",
        }
    }
}
