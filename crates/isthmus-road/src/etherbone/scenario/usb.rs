// SPDX-License-Identifier: Apache-2.0
//! The constants of USB 2.0 at high speed.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::RoadError;
use crate::scenario::{ranges, two};

/// USB 2.0 at high speed, to an FX2LP beside the FPGA.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsbPlatform {
    /// The FX2LP's slave FIFO.
    pub fx2: Fx2,
    /// The host controller.
    pub controller: UsbController,
    /// Operating system and processor.
    pub host: UsbHost,
    /// How the program uses it.
    pub driver: UsbDriver,
}

/// The FX2LP's slave FIFO.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fx2 {
    /// IFCLK.
    #[schemars(range(min = 5.0, max = 48.0))]
    pub clock_mhz: f64,
    /// Width of FD.
    pub width_bits: u32,
}

/// A host controller.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UsbController {
    /// Enhanced host controller interface.
    Ehci(Ehci),
    /// Extensible host controller interface.
    Xhci(Xhci),
}

/// Enhanced host controller interface.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ehci {
    /// Interrupts come at multiples of so many microframes.
    pub interrupt_threshold_microframes: u64,
    /// Refusals in a row after which the controller rests.
    pub nak_reload: u64,
    /// How long it rests before it looks at the list again.
    pub async_sleep_ns: f64,
    /// The driver's last write to descriptor and data in the controller.
    pub fetch_latency_ns: f64,
    /// Last handshake to status and data in host memory.
    pub completion_latency_ns: f64,
}

/// Extensible host controller interface.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Xhci {
    /// Least time between two interrupts.
    pub interrupt_moderation_ns: f64,
    /// From a refusal to the next try.
    pub nak_retry_ns: f64,
    /// The driver's last write to descriptor and data in the controller.
    pub fetch_latency_ns: f64,
    /// Last handshake to status and data in host memory.
    pub completion_latency_ns: f64,
}

/// What USB's software costs.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsbHost {
    /// Entry and exit of a system call.
    pub syscall_ns: f64,
    /// Copy between program and kernel.
    pub copy_ns_per_byte: f64,
    /// Handing a transfer to the controller's driver.
    pub submit_ns: f64,
    /// Interrupt until its handler looks for finished transfers.
    pub interrupt_ns: f64,
    /// Giving one finished transfer back.
    pub giveback_ns: f64,
    /// From a task's being woken to its running.
    pub wakeup_ns: f64,
    /// Cores.
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 1024))]
    pub cores: usize,
}

/// How a program uses USB.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UsbDriver {
    /// As a serial port of the kernel's driver.
    Serial(UsbSerial),
    /// With transfers of its own, several under way.
    Bulk(UsbBulk),
}

impl UsbDriver {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Serial(_) => "serial",
            Self::Bulk(_) => "bulk",
        }
    }
}

/// The kernel's serial driver.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsbSerial {
    /// The port's transmit FIFO.
    pub write_fifo_bytes: usize,
    /// The size of each transfer to the device.
    pub out_transfer_bytes: usize,
    /// How many of these there are.
    #[schemars(range(min = 1, max = 1024))]
    pub out_transfers: usize,
    /// The size of each transfer from the device.
    pub in_transfer_bytes: usize,
    /// How many of these are always under way.
    #[schemars(range(min = 1, max = 1024))]
    pub in_transfers: usize,
    /// The terminal layer's part of a write.
    pub write_path_ns: f64,
    /// From received bytes to their being readable.
    pub receive_work_ns: f64,
    /// What opening takes.
    pub open_us: f64,
}

/// Transfers of a program's own.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsbBulk {
    /// The most bytes of each transfer to the device.
    pub out_transfer_bytes: usize,
    /// How many of these may be under way.
    #[schemars(range(min = 1, max = 1024))]
    pub out_transfers: usize,
    /// The most bytes of each transfer from the device.
    pub in_transfer_bytes: usize,
    /// How many of these are always under way.
    #[schemars(range(min = 1, max = 1024))]
    pub in_transfers: usize,
}

impl UsbPlatform {
    /// Latencies are checked by the models that take them.
    pub(super) fn check(&self) -> Result<(), RoadError> {
        let Self { fx2, host, driver, .. } = self;
        ranges("bus.usb.", &[("fx2.clock_mhz", fx2.clock_mhz, 5.0, 48.0)])?;
        let transfers = match driver {
            UsbDriver::Serial(serial) => [serial.out_transfers, serial.in_transfers],
            UsbDriver::Bulk(bulk) => [bulk.out_transfers, bulk.in_transfers],
        };
        let counts = [
            ("driver.out_transfers", transfers[0]),
            ("driver.in_transfers", transfers[1]),
            ("host.cores", host.cores),
        ];
        let counts = counts.map(|(key, value)| (key, value as f64, 1.0, 1_024.0));
        ranges("bus.usb.", &counts)
    }
}
