// SPDX-License-Identifier: Apache-2.0
//! The host's bridge: memory below the device's reads and writes, and the answers to loads.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::Waker;

use super::StrayWrite;
use super::bus::{Body, Item, Running, Shared};
use super::config::PcixConfig;
use super::core::{ReadSequence, WriteSequence};
use super::record::{PcixAgent, PcixOutcome, cut};
use crate::kernel::{Counter, FrameId, OneshotSender, Picoseconds, Sim, SimError};
use crate::world::axi::DmaError;
use crate::world::host::{Memory, OnInterrupt, runs};

/// A read of the device that the bridge answers as initiator.
pub(super) struct Split {
    sequence: Rc<ReadSequence>,
    pub(super) bytes: usize,
    data: Vec<u8>,
    pub(super) sent: Cell<usize>,
}

impl Split {
    pub(super) fn next_address(&self) -> u64 {
        self.sequence.address.wrapping_add(self.sent.get() as u64)
    }

    /// The bytes of the next transaction.
    pub(super) fn next_piece(&self, config: &PcixConfig) -> usize {
        let (sent, most) = (self.sent.get(), config.bridge.completion_bytes as usize);
        cut(self.sequence.address, sent, self.bytes, most, config.boundary_bytes) - sent
    }
}

pub(super) struct Bridge {
    pub(super) memory: Memory,
    /// Time at which all writes received so far are visible.
    visible: Cell<Picoseconds>,
    /// Bytes that are not in memory yet.
    occupied: Cell<usize>,
    /// Reads of the device whose data has not been sent completely.
    held: Cell<usize>,
    loads: RefCell<BTreeMap<u64, OneshotSender<Option<Vec<u8>>>>>,
    blocked: RefCell<Vec<Waker>>,
    on_interrupt: RefCell<Option<OnInterrupt>>,
    stray: Counter,
    stage_read: Rc<str>,
    stage_write: Rc<str>,
    buffer: usize,
    splits: usize,
}

impl Bridge {
    pub(super) fn new(sim: &Sim, config: &PcixConfig, memory: &Memory) -> Self {
        Self {
            memory: memory.clone(),
            visible: Cell::default(),
            occupied: Cell::default(),
            held: Cell::default(),
            loads: RefCell::default(),
            blocked: RefCell::default(),
            on_interrupt: RefCell::default(),
            stray: sim.counters().counter(format!("{}.bridge.stray_writes", config.name)),
            stage_read: "memory read".into(),
            stage_write: "memory write".into(),
            buffer: config.bridge.write_buffer_bytes as usize,
            splits: config.bridge.split_reads,
        }
    }

    pub(super) fn disconnect(&self) {
        drop(self.on_interrupt.take());
    }

    /// Room for bytes of the device.
    pub(super) fn room(&self) -> usize {
        self.buffer - self.occupied.get()
    }

    pub(super) fn may_split(&self) -> bool {
        self.held.get() < self.splits
    }

    /// All data of a read has been sent.
    pub(super) fn done(&self) {
        self.held.set(self.held.get() - 1);
    }

    pub(super) fn block(&self, waker: &Waker) {
        self.blocked.borrow_mut().push(waker.clone());
    }

    /// A store has left for the device.
    pub(super) fn unblock(&self) {
        for waker in self.blocked.take() {
            waker.wake();
        }
    }

    pub(super) fn expect(&self, id: FrameId, answer: OneshotSender<Option<Vec<u8>>>) {
        self.loads.borrow_mut().insert(id.0, answer);
    }

    pub(super) fn forget(&self, id: FrameId) {
        self.loads.borrow_mut().remove(&id.0);
    }

    /// A load has ended.
    pub(super) fn loaded(&self, id: FrameId, data: Option<Vec<u8>>) {
        // The program's wait may have timed out.
        if let Some(load) = self.loads.borrow_mut().remove(&id.0) {
            let _ = load.send(data);
        }
    }

    pub(super) fn on_interrupt(&self, call: OnInterrupt) {
        *self.on_interrupt.borrow_mut() = Some(call);
    }

    pub(super) fn interrupted(&self, vector: u32, id: FrameId) {
        if let Some(call) = &*self.on_interrupt.borrow() {
            call(vector, id);
        }
    }
}

impl Shared {
    /// Time at which data received now is visible: nothing overtakes a write, not even on the path
    /// to memory.
    fn visible(&self) -> Picoseconds {
        let at = (self.sim.now() + self.times.memory_write).max(self.bridge.visible.get());
        self.bridge.visible.set(at);
        at
    }

    /// Bytes of the device have arrived.
    pub(super) fn take_write(
        self: &Rc<Self>,
        item: &Item,
        sequence: &WriteSequence,
        bytes: usize,
        bad: bool,
    ) {
        let (from, id) = (item.since(), item.id);
        let address = sequence.next_address();
        let octets = self.written(sequence, bytes);
        let whole = sequence.next_address() >= sequence.address + sequence.total() as u64;
        let bridge = &self.bridge;
        bridge.occupied.set(bridge.occupied.get() + bytes);
        let this = Rc::clone(self);
        self.sim.at(self.visible(), move || {
            let bridge = &this.bridge;
            bridge.occupied.set(bridge.occupied.get() - bytes);
            let (data, enabled): (Vec<u8>, Vec<bool>) = octets.into_iter().unzip();
            let at = this.place(address, bytes).filter(|_| !bad);
            for (run, data) in runs(&data, |at| enabled[at]) {
                let _ = at.map(|at| bridge.memory.write(at + run, data));
            }
            if whole {
                let track = this.track(PcixAgent::Bridge);
                this.sim.spans().record(track, &bridge.stage_write, from, this.sim.now(), id.0);
            }
        });
    }

    /// A write went nowhere.
    pub(super) fn refuse_write(&self, sequence: &WriteSequence, outcome: PcixOutcome) {
        let (address, bytes) = (sequence.address, sequence.total());
        self.drop_write(sequence);
        if self.place(address, bytes).is_none() {
            self.bridge.stray.increment();
            if outcome == PcixOutcome::MasterAbort
                && self.config.bridge.stray_writes == StrayWrite::Fail
            {
                self.sim.fail(self.stray(address, bytes));
            }
        }
    }

    fn stray(&self, address: u64, bytes: usize) -> SimError {
        let base = self.config.bridge.memory_base;
        SimError::Pin {
            device: self.config.name.clone(),
            signal: "a posted write".into(),
            at: self.sim.now(),
            reason: format!(
                "{bytes} bytes to {address:#x}: outside the host memory {base:#x} to {:#x}",
                base + self.bridge.memory.size() as u64
            ),
        }
    }

    pub(super) fn may_write(&self, address: u64, bytes: usize) -> bool {
        self.config.bridge.stray_writes == StrayWrite::Drop || self.place(address, bytes).is_some()
    }

    /// An interrupt message has arrived.
    pub(super) fn message(self: &Rc<Self>, id: FrameId, vector: u32) {
        let (this, from) = (Rc::clone(self), self.sim.now());
        self.sim.at(self.visible(), move || {
            let track = this.track(PcixAgent::Bridge);
            this.sim.spans().record(track, &this.bridge.stage_write, from, this.sim.now(), id.0);
            this.bridge.interrupted(vector, id);
        });
    }

    /// A read of the device whose request's transaction is over at `end`.
    pub(super) fn split(
        self: &Rc<Self>,
        item: &Rc<Item>,
        sequence: &Rc<ReadSequence>,
        end: Picoseconds,
    ) {
        self.read_outstanding();
        self.bridge.held.set(self.bridge.held.get() + 1);
        let at = (end + self.times.memory_read).max(self.bridge.visible.get());
        let (this, item, sequence) = (Rc::clone(self), Rc::clone(item), Rc::clone(sequence));
        self.sim.at(at, move || {
            let bridge = &this.bridge;
            let track = this.track(PcixAgent::Bridge);
            let since = item.since();
            this.sim.spans().record(track, &bridge.stage_read, since, this.sim.now(), item.id.0);
            let bytes = sequence.total;
            let place = this.place(sequence.address, bytes);
            let data = place.and_then(|at| bridge.memory.read(at, bytes).ok());
            let data = data.unwrap_or_else(|| vec![0; bytes]);
            let split = Rc::new(Split { sequence, bytes, data, sent: Cell::default() });
            this.hand(PcixAgent::Bridge, item.id, Body::Completion(split), 0);
        });
    }

    /// A read without an answer.
    pub(super) fn fail_read(&self, sequence: &ReadSequence, outcome: PcixOutcome) {
        let error = match outcome {
            PcixOutcome::TargetAbort => DmaError::Aborted,
            _ => DmaError::Unsupported,
        };
        sequence.come(0, Err((sequence.total, error)));
        sequence.ended();
    }

    /// Sends `bytes` of a read, a data phase at a time.
    pub(super) fn complete(self: &Rc<Self>, split: &Rc<Split>, bytes: usize, running: &Running) {
        let from = split.sent.get();
        let (width, cycle) = (u64::from(self.config.data_bytes), self.times.cycle);
        let receive = self.cycles(self.config.core.receive_cycles);
        let address = running.record.address;
        // The address phase identifies the data: requester and sequence number.
        let known = running.record.start + self.cycles(self.config.address_cycles) + receive;
        let sequence = Rc::clone(&split.sequence);
        self.sim.at(known, move || sequence.early(from));
        let (mut at, mut phase) = (0, 0);
        while at < bytes {
            let begin = address + at as u64;
            let length = ((width - begin % width) as usize).min(bytes - at);
            phase += 1;
            let what = if running.bad {
                Err((length, DmaError::Poisoned))
            } else {
                Ok(split.data[from + at..from + at + length].to_vec())
            };
            let sequence = Rc::clone(&split.sequence);
            let last = from + at + length == split.bytes;
            let came = running.record.data + cycle * phase + receive;
            let offset = from + at;
            self.sim.at(came, move || {
                sequence.come(offset, what);
                if last {
                    sequence.ended();
                }
            });
            at += length;
        }
        if from + bytes == split.bytes {
            // FRAME# falls a clock before the last data phase: the core knows it as it begins.
            let this = Rc::clone(self);
            self.sim.at(running.record.data + cycle * (phase - 1), move || this.read_done());
        }
    }
}
