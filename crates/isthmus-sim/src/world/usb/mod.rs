// SPDX-License-Identifier: Apache-2.0
//! USB 2.0 at high speed: a host controller, one device behind an FX2LP, and the kernel's drivers.
//!
//! The bus is computed in bit times from the specification ([`bus`]). The costs of the controller
//! and of the software come from the configuration.

pub mod bus;
mod controller;
mod fx2;
mod serial;
mod signal;

use std::rc::Rc;

use serde::{Deserialize, Serialize};

pub use controller::{ControllerConfig, ControllerKind};
pub use fx2::{Fx2, Fx2Config};
pub use serial::{SerialConfig, SerialPort};

use self::controller::{Controller, Done, Way};
use super::host::Cpu;
use crate::kernel::{FrameId, OneshotReceiver, Picoseconds, SERVICE, Sim, SimError};

/// A host's USB: the controller, and what software costs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsbHostConfig {
    /// Its name in this world.
    pub name: String,
    /// The controller.
    pub controller: ControllerConfig,
    /// Entry and exit of a system call.
    pub syscall_ns: f64,
    /// Copying between program and kernel.
    pub copy_ns_per_byte: f64,
    /// Handing a transfer to the controller's driver.
    pub submit_ns: f64,
    /// An interrupt, until its handler looks for finished transfers.
    pub interrupt_ns: f64,
    /// Giving a finished transfer back to its owner, in the bottom half.
    pub giveback_ns: f64,
    /// From a task's being woken to its running.
    pub wakeup_ns: f64,
}

struct Costs {
    syscall: Picoseconds,
    copy_ns_per_byte: f64,
    submit: Picoseconds,
    interrupt: Picoseconds,
    giveback: Picoseconds,
    wakeup: Picoseconds,
}

impl Costs {
    fn copy(&self, bytes: usize) -> Picoseconds {
        Picoseconds::from_ns_f64(self.copy_ns_per_byte * bytes as f64)
    }
}

struct Shared {
    sim: Sim,
    name: Rc<str>,
    cpu: Cpu,
    fx2: Fx2,
    controller: Controller,
    costs: Costs,
}

/// A host's USB with one device; clones are the same.
#[derive(Clone)]
pub struct UsbHost(Rc<Shared>);

/// A transfer in progress, of a program that submits them itself.
pub struct Transfer {
    host: UsbHost,
    id: FrameId,
    done: OneshotReceiver<Done>,
}

impl UsbHost {
    /// A controller with `fx2` on its bus, whose software runs on `cpu`.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn new(sim: &Sim, cpu: &Cpu, fx2: &Fx2, config: &UsbHostConfig) -> Result<Self, SimError> {
        let name = super::ethernet::named(&config.name)?;
        let ns = |field, value| super::time(name, field, value);
        ns("copy_ns_per_byte", config.copy_ns_per_byte)?;
        let costs = Costs {
            syscall: ns("syscall_ns", config.syscall_ns)?,
            copy_ns_per_byte: config.copy_ns_per_byte,
            submit: ns("submit_ns", config.submit_ns)?,
            interrupt: ns("interrupt_ns", config.interrupt_ns)?,
            giveback: ns("giveback_ns", config.giveback_ns)?,
            wakeup: ns("wakeup_ns", config.wakeup_ns)?,
        };
        let controller = Controller::new(sim, name, fx2, &config.controller)?;
        let this = Self(Rc::new(Shared {
            sim: sim.clone(),
            name: name.into(),
            cpu: cpu.clone(),
            fx2: fx2.clone(),
            controller,
            costs,
        }));
        let driver = this.clone();
        sim.spawn_named(&format!("{SERVICE}{name} driver"), async move { driver.serve().await });
        Ok(this)
    }

    /// Opens the device as a serial port.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub async fn open_serial(&self, config: &SerialConfig) -> Result<SerialPort, SimError> {
        SerialPort::open(self, config).await
    }

    /// Tells the device that a program has opened it, for programs that submit transfers
    /// themselves. Takes no time.
    pub fn set_open(&self, open: bool) {
        self.0.fx2.set_open(open);
    }

    /// Writes with one transfer, and waits until the device has taken it.
    pub async fn bulk_write(&self, bytes: &[u8]) {
        self.submit_out(bytes).await.wait().await;
    }

    /// Reads with one transfer: it ends with a short packet, or after `limit` bytes.
    pub async fn bulk_read(&self, limit: usize) -> Vec<u8> {
        self.submit_in(limit).await.wait().await
    }

    /// Submits a transfer to the device, as one of several in flight.
    pub async fn submit_out(&self, bytes: &[u8]) -> Transfer {
        let costs = self.costs();
        self.cpu().run(costs.syscall + costs.copy(bytes.len()) + costs.submit).await;
        self.transfer(Way::Out, bytes.to_vec(), 0)
    }

    /// Submits a transfer from the device, as one of several in flight.
    pub async fn submit_in(&self, limit: usize) -> Transfer {
        let costs = self.costs();
        self.cpu().run(costs.syscall + costs.submit).await;
        self.transfer(Way::In, Vec::new(), limit)
    }

    /// Bytes' times on the bus that packets from the device took between two times, with tokens,
    /// handshakes and the gaps between packets.
    #[must_use]
    pub fn bus_bytes_in(&self, from: Picoseconds, until: Picoseconds) -> u64 {
        self.0.controller.read_bits(from, until) / 8
    }

    /// The time that the bus spent between two times on packets with data, both ways, with tokens,
    /// handshakes and the gaps between packets.
    #[must_use]
    pub fn bus_busy(&self, from: Picoseconds, until: Picoseconds) -> Picoseconds {
        let controller = &self.0.controller;
        bus::bit_times(controller.read_bits(from, until) + controller.written_bits(from, until))
    }

    fn transfer(&self, way: Way, bytes: Vec<u8>, limit: usize) -> Transfer {
        let (id, done) = self.0.controller.submit(way, bytes, limit);
        Transfer { host: self.clone(), id, done }
    }

    /// Submits from inside the kernel.
    async fn submit(&self, way: Way, bytes: Vec<u8>, limit: usize) -> OneshotReceiver<Done> {
        self.cpu().run(self.costs().submit).await;
        self.0.controller.submit(way, bytes, limit).1
    }

    /// The interrupt handler and its bottom half.
    async fn serve(&self) {
        loop {
            self.0.controller.interrupt().await;
            self.cpu().run(self.costs().interrupt).await;
            while let Some((done, owner)) = self.0.controller.finished() {
                self.cpu().run(self.costs().giveback).await;
                // The owner may have been dropped.
                let _ = owner.send(done);
            }
        }
    }

    fn sim(&self) -> &Sim {
        &self.0.sim
    }

    fn name(&self) -> &Rc<str> {
        &self.0.name
    }

    fn cpu(&self) -> &Cpu {
        &self.0.cpu
    }

    fn fx2(&self) -> &Fx2 {
        &self.0.fx2
    }

    fn costs(&self) -> &Costs {
        &self.0.costs
    }

    fn span(&self, stage: &str, start: Picoseconds, end: Picoseconds, tag: u64) {
        self.sim().spans().record(self.name(), &stage.into(), start, end, tag);
    }
}

impl Transfer {
    /// Waits until it is done: the bytes read, or those written.
    pub async fn wait(self) -> Vec<u8> {
        let costs = self.host.costs();
        let Some(done) = self.done.recv().await else { return Vec::new() };
        self.host.cpu().run(costs.wakeup + costs.copy(done.bytes.len())).await;
        let now = self.host.sim().now();
        self.host.span("interrupt to program", done.in_memory, now, self.id.0);
        done.bytes
    }
}
