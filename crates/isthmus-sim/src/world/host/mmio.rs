// SPDX-License-Identifier: Apache-2.0
//! A processor in front of a device on a bus: what loads, stores, fences and interrupts cost a
//! program.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use serde::{Deserialize, Serialize};

use super::{Cpu, Memory, WriteCombiner};
use crate::kernel::{FrameId, OneshotSender, Picoseconds, Sim, SimError, oneshot};

/// Called on an interrupt, with its vector and its number.
pub(in crate::world) type OnInterrupt = Box<dyn Fn(u32, FrameId)>;

/// The bus below a processor, from the port on that takes its accesses: a root port, a bridge.
pub(in crate::world) trait MmioBus {
    /// The bus address of the host memory's first byte.
    fn memory_base(&self) -> u64;
    /// The size of BAR 0.
    fn bar_bytes(&self) -> u64;
    /// True if the port has space for another store.
    fn has_room(&self) -> bool;
    /// Wakes once there is room again.
    fn block(&self, waker: &Waker);
    /// Accepts a store; returns the numbers of the resulting transfers.
    fn store(&self, offset: u64, data: &[u8]) -> Vec<FrameId>;
    /// Takes a load; its data goes to `answer`, or nothing where the device answers with an error.
    fn load(&self, offset: u64, bytes: usize, answer: OneshotSender<Option<Vec<u8>>>) -> FrameId;
    /// This load is no longer pending: its answer is dropped.
    fn forget_load(&self, id: FrameId);
    /// Sets the call that is notified of interrupts from now on.
    fn on_interrupt(&self, call: OnInterrupt);
}

/// Costs of a host program's accesses to the device. The port is the root port or the bridge below
/// the cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MmioHostConfig {
    /// The host's name in this world.
    pub name: String,
    /// An uncached load: from the core to the port.
    pub load_issue_ns: f64,
    /// Its data: from the port to the core.
    pub load_return_ns: f64,
    /// An uncached store: how long it keeps the core.
    pub store_ns: f64,
    /// From a store out of the core to the port.
    pub store_issue_ns: f64,
    /// A store of 8 bytes into a write-combining buffer: how long it keeps the core.
    pub combine_ns: f64,
    /// A store fence: how long it keeps the core, once the port has taken all earlier stores.
    pub fence_ns: f64,
    /// From an interrupt at the port to the handler's first instruction.
    pub interrupt_ns: f64,
    /// From there to the program that waited running again, on a core.
    pub wakeup_ns: f64,
    /// Timeout of a load.
    pub load_timeout_ns: f64,
}

/// Why an access to the device failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MmioError {
    /// It is not inside BAR 0.
    #[error("BAR offset {offset:#x}, {bytes} bytes: outside the BAR of {size:#x} bytes")]
    OutOfRange {
        /// The requested offset.
        offset: u64,
        /// The requested bytes.
        bytes: usize,
        /// The size of the BAR.
        size: u64,
    },
    /// It is not aligned to its size.
    #[error("BAR offset {offset:#x}: not a multiple of {bytes}")]
    Unaligned {
        /// The requested offset.
        offset: u64,
        /// The requested bytes.
        bytes: usize,
    },
    /// The device answered with an error. A processor would read all ones.
    #[error("BAR offset {offset:#x}: the device answered with an error")]
    Unsupported {
        /// The requested offset.
        offset: u64,
    },
    /// The device did not answer.
    #[error("BAR offset {offset:#x}: no answer within {limit}")]
    Timeout {
        /// The requested offset.
        offset: u64,
        /// How long the load waited.
        limit: Picoseconds,
    },
}

struct Costs {
    load_issue: Picoseconds,
    load_return: Picoseconds,
    store: Picoseconds,
    store_issue: Picoseconds,
    combine: Picoseconds,
    fence: Picoseconds,
    interrupt: Picoseconds,
    wakeup: Picoseconds,
    load_timeout: Picoseconds,
}

#[derive(Default)]
struct Vector {
    raised: Option<(Picoseconds, FrameId)>,
    waiting: Option<Waker>,
}

struct HostState {
    bus: Rc<dyn MmioBus>,
    sim: Sim,
    name: Rc<str>,
    cpu: Cpu,
    memory: Memory,
    costs: Costs,
    combiner: RefCell<WriteCombiner>,
    vectors: RefCell<BTreeMap<u32, Vector>>,
    /// Stores out of the core and not yet in the root port.
    leaving: Cell<u64>,
    drained: RefCell<Vec<Waker>>,
}

/// The host's end of a bus, for host programs: loads and stores to BAR 0, the memory that the
/// device's DMA reaches, interrupts. Clones are the same host.
#[derive(Clone)]
pub struct MmioHost(Rc<HostState>);

impl MmioHost {
    /// The host above `bus`, whose programs run on `cpu`.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub(in crate::world) fn new(
        sim: &Sim,
        bus: Rc<dyn MmioBus>,
        config: &MmioHostConfig,
        cpu: &Cpu,
        memory: &Memory,
    ) -> Result<Self, SimError> {
        let name = crate::world::ethernet::named(&config.name)?;
        let ns = |field, value| crate::world::time(name, field, value);
        let state = Rc::new(HostState {
            bus: Rc::clone(&bus),
            sim: sim.clone(),
            name: name.into(),
            cpu: cpu.clone(),
            memory: memory.clone(),
            costs: Costs {
                load_issue: ns("load_issue_ns", config.load_issue_ns)?,
                load_return: ns("load_return_ns", config.load_return_ns)?,
                store: ns("store_ns", config.store_ns)?,
                store_issue: ns("store_issue_ns", config.store_issue_ns)?,
                combine: ns("combine_ns", config.combine_ns)?,
                fence: ns("fence_ns", config.fence_ns)?,
                interrupt: ns("interrupt_ns", config.interrupt_ns)?,
                wakeup: ns("wakeup_ns", config.wakeup_ns)?,
                load_timeout: ns("load_timeout_ns", config.load_timeout_ns)?,
            },
            combiner: RefCell::default(),
            vectors: RefCell::default(),
            leaving: Cell::default(),
            drained: RefCell::default(),
        });
        let host = Rc::clone(&state);
        bus.on_interrupt(Box::new(move |vector, id| {
            let mut vectors = host.vectors.borrow_mut();
            let vector = vectors.entry(vector).or_default();
            // As a pending bit: a second message before the first is taken adds nothing.
            vector.raised.get_or_insert((host.sim.now(), id));
            if let Some(waker) = vector.waiting.take() {
                waker.wake();
            }
        }));
        Ok(Self(state))
    }

    /// The cores that programs run on.
    #[must_use]
    pub fn cpu(&self) -> &Cpu {
        &self.0.cpu
    }

    /// The memory that the device's DMA reaches.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.0.memory
    }

    /// The bus address of an offset in the memory.
    #[must_use]
    pub fn bus_address(&self, offset: usize) -> u64 {
        self.0.bus.memory_base() + offset as u64
    }

    /// An uncached load of 4 bytes: the core stalls for the round trip.
    ///
    /// # Errors
    /// When the offset is not aligned in the BAR, or the device does not answer with data.
    pub async fn mmio_read32(&self, offset: u64) -> Result<u32, MmioError> {
        let mut bytes = [0; 4];
        self.load(offset, &mut bytes).await?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// An uncached load of 8 bytes: the core stalls for the round trip.
    ///
    /// # Errors
    /// When the offset is not aligned in the BAR, or the device does not answer with data.
    pub async fn mmio_read64(&self, offset: u64) -> Result<u64, MmioError> {
        let mut bytes = [0; 8];
        self.load(offset, &mut bytes).await?;
        Ok(u64::from_le_bytes(bytes))
    }

    async fn load(&self, offset: u64, bytes: &mut [u8]) -> Result<(), MmioError> {
        self.check(offset, bytes.len(), true)?;
        self.flush_combined();
        let state = &*self.0;
        let load = async {
            let start = state.sim.now();
            state.sim.sleep(state.costs.load_issue).await;
            // A load does not pass stores of the same program.
            self.stores_drained().await;
            let (sender, receiver) = oneshot();
            let id = state.bus.load(offset, bytes.len(), sender);
            state.span("load issue", start, id);
            let limit = state.costs.load_timeout;
            let Ok(answer) = state.sim.timeout(limit, receiver.recv()).await else {
                state.bus.forget_load(id);
                return Err(MmioError::Timeout { offset, limit });
            };
            let answered = state.sim.now();
            state.sim.sleep(state.costs.load_return).await;
            state.span("load return", answered, id);
            answer.flatten().ok_or(MmioError::Unsupported { offset })
        };
        let data = state.cpu.stall(load).await?;
        bytes.copy_from_slice(&data[..bytes.len()]);
        Ok(())
    }

    /// An uncached store of 4 bytes: posted. It returns when the core may continue.
    ///
    /// # Errors
    /// When the offset is not aligned in the BAR.
    pub async fn mmio_write32(&self, offset: u64, value: u32) -> Result<(), MmioError> {
        self.store(offset, &value.to_le_bytes()).await
    }

    /// An uncached store of 8 bytes: posted. It returns when the core may continue.
    ///
    /// # Errors
    /// When the offset is not aligned in the BAR.
    pub async fn mmio_write64(&self, offset: u64, value: u64) -> Result<(), MmioError> {
        self.store(offset, &value.to_le_bytes()).await
    }

    async fn store(&self, offset: u64, bytes: &[u8]) -> Result<(), MmioError> {
        self.check(offset, bytes.len(), true)?;
        self.flush_combined();
        let start = self.0.sim.now();
        self.posted(self.0.costs.store).await;
        self.leave(start, offset, bytes.to_vec());
        Ok(())
    }

    /// Stores through a write-combining mapping, 8 bytes at a time. Full lines of 64 bytes are sent
    /// at once, as one write each. A partial line waits for a store to another line, for
    /// [`fence`](Self::fence), or for an uncached access.
    ///
    /// # Errors
    /// When it is not inside the BAR.
    pub async fn write_combined(&self, offset: u64, data: &[u8]) -> Result<(), MmioError> {
        self.check(offset, data.len(), false)?;
        let costs = &self.0.costs;
        let mut at = 0;
        while at < data.len() {
            let to_word = 8 - ((offset + at as u64) % 8) as usize;
            let length = to_word.min(data.len() - at);
            let start = self.0.sim.now();
            self.posted(costs.combine).await;
            let piece = &data[at..at + length];
            let leaving = self.0.combiner.borrow_mut().store(offset + at as u64, piece);
            for (offset, line) in leaving {
                self.leave(start, offset, line);
            }
            at += length;
        }
        Ok(())
    }

    /// A store fence: sends the combined data, and returns when the port has accepted all stores.
    pub async fn fence(&self) {
        self.flush_combined();
        let state = &*self.0;
        let fence = async {
            self.stores_drained().await;
            state.sim.sleep(state.costs.fence).await;
        };
        state.cpu.stall(fence).await;
    }

    /// Waits for an interrupt of this vector, as a program that sleeps until then: interrupt and
    /// wake-up are paid for. One that came before is taken at once, and paid for as well.
    pub async fn interrupt(&self, vector: u32) {
        let state = &*self.0;
        let (raised, id) = poll_fn(|context| {
            let mut vectors = state.vectors.borrow_mut();
            let vector = vectors.entry(vector).or_default();
            if let Some(raised) = vector.raised.take() {
                return Poll::Ready(raised);
            }
            vector.waiting = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
        state.cpu.run(state.costs.interrupt).await;
        state.span("interrupt", raised, id);
        let handled = state.sim.now();
        state.cpu.run(state.costs.wakeup).await;
        state.span("wake-up", handled, id);
    }

    /// Occupies a core for a store, and before that for as long as the port has no room.
    async fn posted(&self, cost: Picoseconds) {
        let state = &*self.0;
        let store = async {
            room(&*state.bus).await;
            state.sim.sleep(cost).await;
        };
        state.cpu.stall(store).await;
    }

    /// A store that began at `start` leaves the core.
    fn leave(&self, start: Picoseconds, offset: u64, data: Vec<u8>) {
        let state = Rc::clone(&self.0);
        state.leaving.set(state.leaving.get() + 1);
        let left = state.sim.now();
        state.sim.clone().after(state.costs.store_issue, move || {
            for id in state.bus.store(offset, &data) {
                state.sim.spans().record(&state.name, &"store".into(), start, left, id.0);
                state.span("store issue", left, id);
            }
            state.leaving.set(state.leaving.get() - 1);
            for waker in state.drained.take() {
                waker.wake();
            }
        });
    }

    fn flush_combined(&self) {
        let leaving = self.0.combiner.borrow_mut().flush();
        for (offset, line) in leaving {
            self.leave(self.0.sim.now(), offset, line);
        }
    }

    async fn stores_drained(&self) {
        let state = &*self.0;
        poll_fn(|context| {
            if state.leaving.get() == 0 {
                return Poll::Ready(());
            }
            state.drained.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn check(&self, offset: u64, bytes: usize, aligned: bool) -> Result<(), MmioError> {
        let size = self.0.bus.bar_bytes();
        if offset.checked_add(bytes as u64).is_none_or(|end| end > size) {
            return Err(MmioError::OutOfRange { offset, bytes, size });
        }
        if aligned && !offset.is_multiple_of(bytes as u64) {
            return Err(MmioError::Unaligned { offset, bytes });
        }
        Ok(())
    }
}

/// Waits until the port has room.
async fn room(bus: &dyn MmioBus) {
    poll_fn(|context| {
        if bus.has_room() {
            return Poll::Ready(());
        }
        bus.block(context.waker());
        Poll::Pending
    })
    .await;
}

impl HostState {
    fn span(&self, stage: &str, start: Picoseconds, id: FrameId) {
        self.sim.spans().record(&self.name, &stage.into(), start, self.sim.now(), id.0);
    }
}
