// SPDX-License-Identifier: Apache-2.0
//! The program of an interface: on its host's processor, or a kernel of a GPU beside the interface.
//!
//! A kernel stores into the interface's BAR, and looks at the GPU's own memory, where its events are. The host opens the
//! interface for it, and reads counters; it takes no part in transfers.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::pcie::{DmaMemory, Mmio};
use isthmus_host::transport::TransportError;
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::Gpu;
use isthmus_sim::world::host::MmioHost;

use crate::host_bus::{self, BAR_BASE, Bar, HostMemory, Waits, Watched, failed};

/// Bytes of a kernel's store: each is a write of its own on the GPU's link.
const STORE_BYTES: usize = 8;

/// A kernel that never ends.
#[derive(Clone)]
pub(crate) struct Kernel {
    sim: Sim,
    gpu: Gpu,
    /// From data that is visible in the GPU's memory until the store that answers it is at the GPU's port: a look at
    /// the memory, and the store's way. Paid for with each look.
    turn: Picoseconds,
    /// The host has set the interface up: stores are the kernel's.
    started: Rc<Cell<bool>>,
    waits: Waits,
}

impl Kernel {
    pub(crate) fn new(sim: &Sim, gpu: &Gpu, turn: Picoseconds) -> Self {
        let (sim, gpu, waits) = (sim.clone(), gpu.clone(), Waits::new(sim));
        Self { sim, gpu, turn, started: Rc::default(), waits }
    }

    async fn store(&self, offset: u64, data: &[u8]) {
        for (at, piece) in (offset..).step_by(STORE_BYTES).zip(data.chunks(STORE_BYTES)) {
            self.gpu.store(BAR_BASE + at, piece).await;
        }
    }

    /// What is there now, a turn later.
    async fn look(&self, offset: usize, buffer: &mut [u8]) -> Result<(), TransportError> {
        let found = self.gpu.memory().read(offset, buffer.len()).map_err(failed)?;
        buffer.copy_from_slice(&found);
        self.sim.sleep(self.turn).await;
        Ok(())
    }
}

/// The BAR of an interface, as its program stores into it.
#[derive(Clone)]
pub(crate) enum ProgramBar {
    Host(Bar),
    Kernel(Bar, Kernel),
}

impl ProgramBar {
    fn host(&mut self) -> &mut Bar {
        match self {
            Self::Host(bar) | Self::Kernel(bar, _) => bar,
        }
    }

    fn kernel(&self) -> Option<&Kernel> {
        match self {
            Self::Kernel(_, kernel) if kernel.started.get() => Some(kernel),
            _ => None,
        }
    }
}

impl Mmio for ProgramBar {
    async fn read32(&mut self, offset: u64) -> Result<u32, TransportError> {
        self.host().read32(offset).await
    }

    async fn write32(&mut self, offset: u64, value: u32) -> Result<(), TransportError> {
        if let Some(kernel) = self.kernel() {
            kernel.store(offset, &value.to_le_bytes()).await;
            return Ok(());
        }
        self.host().write32(offset, value).await
    }

    async fn write64(&mut self, offset: u64, value: u64) -> Result<(), TransportError> {
        if let Some(kernel) = self.kernel() {
            kernel.store(offset, &value.to_le_bytes()).await;
            return Ok(());
        }
        self.host().write64(offset, value).await
    }

    async fn write_combined(&mut self, offset: u64, data: &[u8]) -> Result<(), TransportError> {
        if let Some(kernel) = self.kernel() {
            kernel.store(offset, data).await;
            return Ok(());
        }
        self.host().write_combined(offset, data).await
    }
}

/// The memory of an interface's program, where its events are: its host's, or with a kernel the GPU's.
#[derive(Clone)]
pub(crate) enum ProgramMemory {
    Host(HostMemory),
    Kernel(Kernel),
}

/// What a program drives its interface with.
pub(crate) fn program(
    sim: &Sim,
    host: &MmioHost,
    kernel: Option<Kernel>,
) -> (ProgramBar, ProgramMemory) {
    let bar = Bar::new(host);
    match kernel {
        None => (ProgramBar::Host(bar), ProgramMemory::Host(HostMemory::new(sim, host))),
        Some(kernel) => (ProgramBar::Kernel(bar, kernel.clone()), ProgramMemory::Kernel(kernel)),
    }
}

impl ProgramMemory {
    /// The host has set the interface up: from now on a kernel stores what its program does.
    pub(crate) fn start(&self) {
        if let Self::Kernel(kernel) = self {
            kernel.started.set(true);
        }
    }

    /// The time that the program waited for the device to change its memory.
    pub(crate) fn blocked(&self) -> Picoseconds {
        match self {
            Self::Host(memory) => memory.blocked(),
            Self::Kernel(kernel) => kernel.waits.blocked(),
        }
    }
}

impl Watched for ProgramMemory {
    async fn changed(
        &self,
        offset: usize,
        seen: u64,
        deadline: Duration,
    ) -> Result<bool, TransportError> {
        match self {
            Self::Host(memory) => memory.changed(offset, seen, deadline).await,
            Self::Kernel(kernel) => {
                kernel.waits.changed(kernel.gpu.memory(), offset, seen, deadline).await
            }
        }
    }
}

impl DmaMemory for ProgramMemory {
    fn bus_address(&self) -> u64 {
        match self {
            Self::Host(memory) => memory.bus_address(),
            Self::Kernel(kernel) => kernel.gpu.bus_address(),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Host(memory) => memory.size(),
            Self::Kernel(kernel) => kernel.gpu.memory().size(),
        }
    }

    fn now(&self) -> Duration {
        match self {
            Self::Host(memory) => memory.now(),
            Self::Kernel(kernel) => Duration::from_nanos(kernel.sim.now().0 / 1_000),
        }
    }

    async fn read(&mut self, offset: usize, buffer: &mut [u8]) -> Result<(), TransportError> {
        match self {
            Self::Host(memory) => memory.read(offset, buffer).await,
            Self::Kernel(kernel) => kernel.look(offset, buffer).await,
        }
    }

    // A kernel's own memory; nothing that is measured stores there.
    async fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), TransportError> {
        match self {
            Self::Host(memory) => memory.write(offset, data).await,
            Self::Kernel(kernel) => kernel.gpu.memory().write(offset, data).map_err(failed),
        }
    }

    async fn load64(&mut self, offset: usize) -> Result<u64, TransportError> {
        match self {
            Self::Host(memory) => memory.load64(offset).await,
            Self::Kernel(kernel) => {
                let mut bytes = [0; 8];
                kernel.look(offset, &mut bytes).await?;
                Ok(u64::from_le_bytes(bytes))
            }
        }
    }

    async fn poll64(
        &mut self,
        offset: usize,
        seen: u64,
        deadline: Duration,
    ) -> Result<u64, TransportError> {
        host_bus::poll64(self, offset, seen, deadline).await
    }

    async fn load_line(&mut self, offset: usize, line: &mut [u8]) -> Result<(), TransportError> {
        self.read(offset, line).await
    }

    async fn poll_line(
        &mut self,
        offset: usize,
        line: &mut [u8],
        deadline: Duration,
    ) -> Result<bool, TransportError> {
        host_bus::poll_line(self, offset, line, deadline).await
    }
}
