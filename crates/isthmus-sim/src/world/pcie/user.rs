// SPDX-License-Identifier: Apache-2.0
//! The link's two interfaces: the bus behind a device's AXI pins, and the bus below a processor.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::Waker;

use super::config::StrayWrite;
use super::link::{Pcie, Shared};
use super::wire::Direction;
use crate::kernel::{DeviceHandle, FrameId, OneshotSender, Sim, SimError};
use crate::world::axi::{self, Access, BarTarget, HostBus, ReadSink};
use crate::world::host::{Cpu, Memory, MmioBus, MmioHost, MmioHostConfig, OnInterrupt, runs};

/// The user side of an endpoint's hard block.
#[derive(Clone, Copy, Debug)]
pub struct PciePins;

impl PciePins {
    /// Attaches the device's end of a link to those of the ports `bar_...`, `dma_...` and `irq_o`
    /// that the device has; they belong to `clk_i`.
    ///
    /// # Errors
    /// When it has none, a bundle is not whole, or a port has a width that does not fit.
    pub fn attach(sim: &Sim, device: &DeviceHandle, link: &Pcie) -> Result<(), SimError> {
        Self::attach_to(sim, device, link, "clk_i")
    }

    /// The same for a device whose hard block runs on another clock.
    ///
    /// # Errors
    /// As [`attach`](Self::attach), and when it has no such clock.
    pub fn attach_to(
        sim: &Sim,
        device: &DeviceHandle,
        link: &Pcie,
        clock: &str,
    ) -> Result<(), SimError> {
        let bus: Rc<dyn HostBus> =
            Rc::new(HardBlock { link: Rc::clone(&link.0), run: RefCell::default() });
        axi::attach(sim, device, &bus, clock)
    }
}

struct HardBlock {
    link: Rc<Shared>,
    /// Bytes that have arrived and are not yet in a TLP, with the address of the first.
    run: RefCell<(u64, Vec<u8>)>,
}

impl HardBlock {
    /// Adds to the run of bytes, which becomes a TLP when it ends or is as long as one can be.
    fn append(&self, address: u64, octets: &[u8]) {
        let mut run = self.run.borrow_mut();
        if address != run.0 + run.1.len() as u64 {
            self.flush(&mut run);
        }
        if run.1.is_empty() {
            run.0 = address;
        }
        run.1.extend_from_slice(octets);
        let most = self.link.config.max_payload_bytes as usize;
        while run.1.len() >= most {
            let rest = run.1.split_off(most);
            self.flush(&mut run);
            *run = (run.0 + most as u64, rest);
        }
    }

    fn flush(&self, run: &mut (u64, Vec<u8>)) {
        self.link.write(Direction::Up, run.0, &run.1);
        run.1.clear();
    }
}

impl HostBus for HardBlock {
    fn side(&self) -> String {
        format!("{}.endpoint", self.link.config.name)
    }

    fn bar_bytes(&self) -> u64 {
        self.link.config.endpoint.bar_bytes
    }

    fn serve(&self, target: Rc<dyn BarTarget>) {
        self.link.serve(target);
    }

    fn may_write(&self, address: u64, bytes: usize) -> bool {
        self.link.config.root.stray_writes == StrayWrite::Drop
            || self.link.place(address, bytes).is_some()
            || self.link.peer_at(address, bytes).is_some()
    }

    fn write(&self, _access: Access) -> Result<(), String> {
        Ok(())
    }

    fn data(&self, address: u64, lanes: &[u8], enabled: u128) {
        for (at, octets) in runs(lanes, |at| enabled >> at & 1 == 1) {
            self.append(address + at as u64, octets);
        }
    }

    fn written(&self) {
        self.flush(&mut self.run.borrow_mut());
    }

    fn abort(&self) {
        self.run.borrow_mut().1.clear();
    }

    fn has_room(&self, _bytes: usize) -> bool {
        self.link.lane(Direction::Up).has_room()
    }

    fn read(&self, access: Access, sink: Rc<dyn ReadSink>) -> Result<(), String> {
        self.link.read(access.address, access.bytes, &sink);
        Ok(())
    }

    fn takes_reads(&self) -> bool {
        self.link.reads_flow()
    }

    fn interrupt(&self, vector: u32) {
        self.link.interrupt(vector);
    }
}

impl Pcie {
    /// The host's end, whose programs run on `cpu`.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn host(
        &self,
        config: &MmioHostConfig,
        cpu: &Cpu,
        memory: &Memory,
    ) -> Result<MmioHost, SimError> {
        let port = Rc::new(RootPort(Rc::clone(&self.0)));
        MmioHost::new(&self.0.sim, port, config, cpu, memory)
    }
}

struct RootPort(Rc<Shared>);

impl MmioBus for RootPort {
    fn memory_base(&self) -> u64 {
        self.0.config.root.memory_base
    }

    fn bar_bytes(&self) -> u64 {
        self.0.config.endpoint.bar_bytes
    }

    fn has_room(&self) -> bool {
        self.0.lane(Direction::Down).has_room()
    }

    fn block(&self, waker: &Waker) {
        self.0.lane(Direction::Down).block(waker);
    }

    fn store(&self, offset: u64, data: &[u8]) -> Vec<FrameId> {
        self.0.write(Direction::Down, self.0.config.endpoint.bar_base + offset, data)
    }

    fn load(&self, offset: u64, bytes: usize, answer: OneshotSender<Option<Vec<u8>>>) -> FrameId {
        self.0.load(offset, bytes, answer)
    }

    fn forget_load(&self, id: FrameId) {
        self.0.forget_load(id);
    }

    fn on_interrupt(&self, call: OnInterrupt) {
        *self.0.root.on_interrupt.borrow_mut() = Some(call);
    }
}
