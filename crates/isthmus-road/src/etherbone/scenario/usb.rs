// SPDX-License-Identifier: Apache-2.0
//! The constants of USB 2.0 at high speed.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::scenario::two;

/// USB 2.0 at high speed, to an FX2LP next to the FPGA.
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
    #[schemars(range(min = 8, max = 16))]
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
    /// Interrupts come at multiples of this many microframes.
    #[schemars(range(min = 1, max = 64))]
    pub interrupt_threshold_microframes: u64,
    /// Consecutive refusals after which the controller pauses.
    #[schemars(range(min = 1, max = 15))]
    pub nak_reload: u64,
    /// Length of the pause before it checks the list again.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub async_sleep_ns: f64,
    /// The driver's last write to descriptor and data in the controller.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub fetch_latency_ns: f64,
    /// Last handshake to status and data in host memory.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub completion_latency_ns: f64,
}

/// Extensible host controller interface.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Xhci {
    /// Least time between two interrupts.
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    pub interrupt_moderation_ns: f64,
    /// From a refusal to the next try.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub nak_retry_ns: f64,
    /// The driver's last write to descriptor and data in the controller.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub fetch_latency_ns: f64,
    /// Last handshake to status and data in host memory.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub completion_latency_ns: f64,
}

/// Costs of USB's software.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsbHost {
    /// Entry and exit of a system call.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub syscall_ns: f64,
    /// Copy between program and kernel.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub copy_ns_per_byte: f64,
    /// Handing a transfer to the controller's driver.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub submit_ns: f64,
    /// Interrupt until its handler looks for finished transfers.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub interrupt_ns: f64,
    /// Giving one finished transfer back.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub giveback_ns: f64,
    /// From a task's being woken to its running.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
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
    /// With its own transfers, several in flight.
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
    #[schemars(range(min = 1, max = 1_048_576))]
    pub write_fifo_bytes: usize,
    /// The size of each transfer to the device.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub out_transfer_bytes: usize,
    /// How many of these there are.
    #[schemars(range(min = 1, max = 1024))]
    pub out_transfers: usize,
    /// The size of each transfer from the device.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub in_transfer_bytes: usize,
    /// Number of these that are always in flight.
    #[schemars(range(min = 1, max = 1024))]
    pub in_transfers: usize,
    /// The terminal layer's part of a write.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub write_path_ns: f64,
    /// From received bytes to their being readable.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub receive_work_ns: f64,
    /// Time to open it.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub open_us: f64,
}

/// Transfers of a program's own.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsbBulk {
    /// The most bytes of each transfer to the device.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub out_transfer_bytes: usize,
    /// Maximum number of these in flight.
    #[schemars(range(min = 1, max = 1024))]
    pub out_transfers: usize,
    /// The most bytes of each transfer from the device.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub in_transfer_bytes: usize,
    /// Number of these that are always in flight.
    #[schemars(range(min = 1, max = 1024))]
    pub in_transfers: usize,
}
