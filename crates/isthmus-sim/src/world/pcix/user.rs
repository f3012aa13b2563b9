// SPDX-License-Identifier: Apache-2.0
//! The users of a bus: the pins of a device, a device in Rust, the host.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use super::bus::{Body, Pcix, Shared};
use super::record::PcixAgent;
use super::{PcixHost, PcixHostConfig};
use crate::kernel::{DeviceHandle, FrameId, OneshotSender, Sim, SimError, oneshot};
use crate::world::axi::{self, Access, BarTarget, Collect, DmaError, HostBus, ReadSink};
use crate::world::host::{Cpu, Memory, MmioBus, OnInterrupt};

/// The user side of a device's PCI-X core.
#[derive(Clone, Copy, Debug)]
pub struct PcixPins;

impl PcixPins {
    /// Attaches the device's end of a bus to those of the ports `bar_...`, `dma_...` and `irq_o`
    /// that the device has; they belong to `clock`. With `dma_awuser_o` or `dma_aruser_o` a row of
    /// bursts is one sequence.
    ///
    /// # Errors
    /// When it has none or no such clock, a bundle is not whole, or a width does not fit.
    pub fn attach(
        sim: &Sim,
        device: &DeviceHandle,
        bus: &Pcix,
        clock: &str,
    ) -> Result<(), SimError> {
        let user: Rc<dyn HostBus> = Rc::new(User(Rc::clone(&bus.0)));
        axi::attach(sim, device, &user, clock)
    }
}

struct User(Rc<Shared>);

impl HostBus for User {
    fn side(&self) -> String {
        format!("{}.device", self.0.config.name)
    }

    fn bar_bytes(&self) -> u64 {
        self.0.config.core.bar_bytes
    }

    fn serve(&self, target: Rc<dyn BarTarget>) {
        self.0.serve(target);
    }

    fn may_write(&self, address: u64, bytes: usize) -> bool {
        self.0.may_write(address, bytes)
    }

    fn write(&self, access: Access) -> Result<(), String> {
        self.0.write_burst(access)
    }

    fn data(&self, _address: u64, lanes: &[u8], enabled: u128) {
        self.0.write_data(lanes, enabled);
    }

    fn written(&self) {
        self.0.write_end();
    }

    fn abort(&self) {
        self.0.abandon();
    }

    fn has_room(&self, bytes: usize) -> bool {
        // Beats end at boundaries: a buffer of a block always fills up to one.
        self.0.core.writes_fit(bytes)
    }

    fn read(&self, access: Access, sink: Rc<dyn ReadSink>) -> Result<(), String> {
        self.0.read_burst(access, sink)
    }

    fn takes_reads(&self) -> bool {
        self.0.requests(PcixAgent::Device) == 0
    }

    fn soon(&self, write: bool, read: bool) {
        self.0.announce_soon(write, read);
    }

    fn interrupt(&self, vector: u32) {
        self.0.interrupt(vector);
    }
}

/// The device's end of a bus, for devices that are modelled in Rust. Gateware is attached to its pins
/// by [`PcixPins`].
#[derive(Clone)]
pub struct PcixEndpoint(Rc<Shared>);

impl Pcix {
    /// The device's end.
    #[must_use]
    pub fn endpoint(&self) -> PcixEndpoint {
        PcixEndpoint(Rc::clone(&self.0))
    }

    /// The host's end, whose programs run on `cpu`.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn host(
        &self,
        config: &PcixHostConfig,
        cpu: &Cpu,
        memory: &Memory,
    ) -> Result<PcixHost, SimError> {
        PcixHost::new(&self.0.sim, Rc::new(Port(Rc::clone(&self.0))), config, cpu, memory)
    }
}

impl PcixEndpoint {
    /// Sets the target of the host's accesses to BAR 0.
    pub fn serve(&self, target: Rc<dyn BarTarget>) {
        self.0.serve(target);
    }

    /// The sequences that an access of any length is: none longer than one may be.
    fn sequences(&self, bytes: usize) -> Vec<(usize, usize)> {
        let most = self.0.config.sequence_bytes as usize;
        (0..bytes).step_by(most).map(|at| (at, most.min(bytes - at))).collect()
    }

    /// Reads host memory. The range may have any length.
    ///
    /// # Errors
    /// When no target answered, the target aborted, or data came with wrong parity.
    pub async fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, DmaError> {
        let (sender, receiver) = oneshot();
        let sequences = self.sequences(bytes);
        let sink = Rc::new(Collect::new(bytes, sequences.len(), sender));
        for (at, length) in &sequences {
            let sink: Rc<dyn ReadSink> = Rc::<Collect>::clone(&sink);
            self.0.read_whole(address + *at as u64, *length, *at, sink);
        }
        if !sequences.is_empty() {
            receiver.recv().await;
        }
        sink.take()
    }

    /// Writes host memory: ends when the last byte is in the core.
    pub async fn write(&self, address: u64, data: &[u8]) {
        for (at, length) in self.sequences(data.len()) {
            poll_fn(|context| {
                if self.0.core.writes_fit(length) {
                    return Poll::Ready(());
                }
                self.0.core.block(context.waker());
                Poll::Pending
            })
            .await;
            self.0.write_whole(address + at as u64, &data[at..at + length]);
        }
    }

    /// Says from now on whether a write, a read, will probably be there within a few clocks: the
    /// core then has REQ# up for it.
    pub fn soon(&self, write: bool, read: bool) {
        self.0.announce_soon(write, read);
    }

    /// Raises an interrupt.
    pub fn interrupt(&self, vector: u32) {
        self.0.interrupt(vector);
    }
}

struct Port(Rc<Shared>);

impl MmioBus for Port {
    fn memory_base(&self) -> u64 {
        self.0.config.bridge.memory_base
    }

    fn bar_bytes(&self) -> u64 {
        self.0.config.core.bar_bytes
    }

    fn has_room(&self) -> bool {
        self.0.posted(PcixAgent::Bridge) < self.0.config.bridge.posted_stores
    }

    fn block(&self, waker: &Waker) {
        self.0.bridge.block(waker);
    }

    fn store(&self, offset: u64, data: &[u8]) -> Vec<FrameId> {
        let id = self.0.sim.new_frame_id();
        self.0.hand(PcixAgent::Bridge, id, Body::Store { offset, data: data.to_vec() }, 0);
        vec![id]
    }

    fn load(&self, offset: u64, bytes: usize, answer: OneshotSender<Option<Vec<u8>>>) -> FrameId {
        let id = self.0.sim.new_frame_id();
        self.0.bridge.expect(id, answer);
        self.0.hand(PcixAgent::Bridge, id, Body::Load { offset, bytes }, 0);
        id
    }

    fn forget_load(&self, id: FrameId) {
        self.0.bridge.forget(id);
    }

    fn on_interrupt(&self, call: OnInterrupt) {
        self.0.bridge.on_interrupt(call);
    }
}
