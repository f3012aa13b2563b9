// SPDX-License-Identifier: Apache-2.0
//! The device's core: rows of bursts become sequences, loads and stores reach BAR 0.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::task::Waker;

use super::bus::{Body, Item, Running, Shared};
use super::config::{Interrupts, PcixConfig};
use super::record::{PcixAgent, PcixOutcome, cut, phases};
use crate::kernel::{Counter, FrameId, Picoseconds, Sim};
use crate::world::axi::{Access, BarTarget, DmaError, ReadReply, ReadSink, Taken};

/// Bytes of the device's writes, as many as the row of bursts has.
pub(super) struct WriteSequence {
    pub(super) address: u64,
    boundary: u32,
    total: Cell<usize>,
    /// Bytes received; end of the complete blocks in flight to the bus side, and of those known
    /// there; bytes sent.
    received: Cell<usize>,
    told: Cell<usize>,
    known: Cell<usize>,
    sent: Cell<usize>,
    /// Received bytes, and whether each is to be written.
    octets: RefCell<Vec<(u8, bool)>>,
    /// The rest of it is discarded.
    dropped: Cell<bool>,
    item: RefCell<Weak<Item>>,
}

impl WriteSequence {
    pub(super) fn total(&self) -> usize {
        self.total.get()
    }

    pub(super) fn next_address(&self) -> u64 {
        self.address.wrapping_add(self.sent.get() as u64)
    }

    /// The end of the longest transaction of at most `most` bytes that may be next.
    pub(super) fn cut(&self, most: usize) -> usize {
        cut(self.address, self.sent.get(), self.total.get(), most, self.boundary)
    }

    /// The end of the block that begins at `from`.
    fn block(&self, from: usize) -> usize {
        cut(self.address, from, self.total.get(), 0, self.boundary)
    }

    /// The bytes up to the next boundary.
    pub(super) fn next_block(&self) -> usize {
        self.block(self.sent.get()) - self.sent.get()
    }

    pub(super) fn next_block_is_here(&self) -> bool {
        let sent = self.sent.get();
        sent < self.total.get() && self.known.get() >= self.block(sent)
    }

    /// End of the complete blocks received.
    fn whole(&self) -> usize {
        let received = self.received.get();
        if received >= self.total.get() {
            return received;
        }
        let boundary = u64::from(self.boundary);
        let end = self.address.wrapping_add(received as u64) / boundary * boundary;
        end.saturating_sub(self.address) as usize
    }
}

/// Destination of a part of a read sequence's data: offset in the sequence, number of bytes, offset
/// in the sink.
struct Part {
    from: usize,
    bytes: usize,
    at: usize,
    sink: Rc<dyn ReadSink>,
}

/// Bytes of a read, or how many have failed, and why.
pub(super) type Come = Result<Vec<u8>, (usize, DmaError)>;

/// Bytes that the device reads, as many as the row of bursts has.
pub(super) struct ReadSequence {
    pub(super) address: u64,
    pub(super) total: usize,
    parts: RefCell<Vec<Part>>,
    /// Data received so far, for bursts whose address follows later.
    come: RefCell<Vec<(usize, Come)>>,
}

impl ReadSequence {
    fn attach(&self, part: Part) {
        for (from, what) in &*self.come.borrow() {
            give(&part, *from, what);
        }
        self.parts.borrow_mut().push(part);
    }

    /// Bytes from there on are about to come.
    pub(super) fn early(&self, from: usize) {
        for part in &*self.parts.borrow() {
            if (part.from..part.from + part.bytes).contains(&from) {
                part.sink.early(part.at + from - part.from);
            }
        }
    }

    fn attached(&self) -> usize {
        self.parts.borrow().last().map_or(0, |part| part.from + part.bytes)
    }

    pub(super) fn come(&self, from: usize, what: Come) {
        for part in &*self.parts.borrow() {
            give(part, from, &what);
        }
        if self.attached() < self.total {
            self.come.borrow_mut().push((from, what));
        }
    }

    pub(super) fn ended(&self) {
        for part in &*self.parts.borrow() {
            part.sink.ended();
        }
    }
}

/// Hands on what lies in a part.
fn give(part: &Part, from: usize, what: &Come) {
    let bytes = what.as_ref().map_or_else(|(bytes, _)| *bytes, Vec::len);
    let (begin, end) = (from.max(part.from), (from + bytes).min(part.from + part.bytes));
    if begin >= end {
        return;
    }
    let at = part.at + begin - part.from;
    match what {
        Ok(data) => part.sink.data(at, &data[begin - from..end - from]),
        Err((_, error)) => part.sink.failed(at, end - begin, *error),
    }
}

/// The sequence that the last burst of a channel belongs to: where the next has to be, and how many
/// bytes are to come.
struct Open<T> {
    sequence: Rc<T>,
    next: u64,
    left: u64,
}

pub(super) struct Core {
    target: RefCell<Option<Rc<dyn BarTarget>>>,
    /// Bytes of stores that the device has not taken.
    stores: Cell<usize>,
    /// Reads whose data has not all come.
    outstanding: Cell<usize>,
    /// Bytes of writes that are not on the bus yet.
    buffered: Cell<usize>,
    blocked: RefCell<Vec<Waker>>,
    /// Bursts whose data is to come, and how many bytes of it.
    bursts: RefCell<VecDeque<Rc<WriteSequence>>>,
    open_write: RefCell<Option<Open<WriteSequence>>>,
    open_read: RefCell<Option<Open<ReadSequence>>>,
    /// The device says that a write, a read, will be there soon; as the bus side knows it.
    announced: Cell<[bool; 2]>,
    /// The load that waits on the bus for its answer, and until when it may.
    held: RefCell<Option<(Running, Picoseconds)>>,
    stage_receive: Rc<str>,
    stage_device: Rc<str>,
    interrupts: Counter,
    broken: Counter,
    reads: usize,
    store_room: usize,
    write_room: usize,
}

impl Core {
    pub(super) fn new(sim: &Sim, config: &PcixConfig) -> Self {
        let counter = |what: &str| sim.counters().counter(format!("{}.device.{what}", config.name));
        Self {
            target: RefCell::default(),
            stores: Cell::default(),
            outstanding: Cell::default(),
            buffered: Cell::default(),
            blocked: RefCell::default(),
            bursts: RefCell::default(),
            open_write: RefCell::default(),
            open_read: RefCell::default(),
            announced: Cell::default(),
            held: RefCell::default(),
            stage_receive: "receive".into(),
            stage_device: "device".into(),
            interrupts: counter("interrupts"),
            broken: counter("broken_sequences"),
            reads: config.core.reads,
            store_room: config.core.store_buffer_bytes as usize,
            write_room: config.core.write_buffer_bytes as usize,
        }
    }

    pub(super) fn disconnect(&self) {
        drop(self.target.take());
        drop(self.held.take());
        drop(self.bursts.take());
        drop(self.open_write.take());
        drop(self.open_read.take());
    }

    pub(super) fn may_read(&self) -> bool {
        self.outstanding.get() < self.reads
    }

    /// True if REQ# may be asserted before a transaction is pending.
    pub(super) fn announces(&self) -> bool {
        let [write, read] = self.announced.get();
        write || (read && self.may_read())
    }

    pub(super) fn stores_fit(&self, bytes: usize) -> bool {
        self.stores.get() + bytes <= self.store_room
    }

    /// True if there is free space for `bytes` of a write; a write longer than the buffer needs all
    /// of it.
    pub(super) fn writes_fit(&self, bytes: usize) -> bool {
        self.buffered.get() + bytes <= self.write_room || self.buffered.get() == 0
    }

    pub(super) fn block(&self, waker: &Waker) {
        self.blocked.borrow_mut().push(waker.clone());
    }

    fn unbuffer(&self, bytes: usize) {
        self.buffered.set(self.buffered.get() - bytes);
        for waker in self.blocked.take() {
            waker.wake();
        }
    }
}

/// Relation of a burst to the previous one on its channel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    /// It continues the sequence.
    GoesOn,
    /// A row begins.
    Begins,
    /// A row begins, though of the one before more was to come.
    Breaks,
}

/// `Err`: the byte count of a burst contradicts its sequence.
fn row<T>(open: Option<&Open<T>>, access: &Access, most: u32) -> Result<Row, String> {
    let Access { address, bytes, follows } = *access;
    let follows = follows.unwrap_or(bytes as u64);
    if follows < bytes as u64 || follows > most.into() {
        return Err(format!("{follows}: {bytes} (this burst) to {most} expected"));
    }
    Ok(match open.filter(|open| open.left > 0) {
        Some(open) if address == open.next && follows == open.left => Row::GoesOn,
        Some(_) => Row::Breaks,
        None => Row::Begins,
    })
}

impl Shared {
    pub(super) fn serve(&self, target: Rc<dyn BarTarget>) {
        *self.core.target.borrow_mut() = Some(target);
    }

    /// A sequence of writes, to which data comes as it comes.
    fn begin_write(self: &Rc<Self>, address: u64, total: usize) -> Rc<WriteSequence> {
        let sequence = Rc::new(WriteSequence {
            address,
            boundary: self.config.boundary_bytes,
            total: Cell::new(total),
            received: Cell::default(),
            told: Cell::default(),
            known: Cell::default(),
            sent: Cell::default(),
            octets: RefCell::default(),
            dropped: Cell::default(),
            item: RefCell::default(),
        });
        let body = Body::Write(Rc::clone(&sequence));
        let item = self.hand(PcixAgent::Device, self.sim.new_frame_id(), body, 0);
        *sequence.item.borrow_mut() = Rc::downgrade(&item);
        sequence
    }

    fn fill(
        self: &Rc<Self>,
        sequence: &Rc<WriteSequence>,
        octets: impl Iterator<Item = (u8, bool)>,
    ) {
        let mut kept = sequence.octets.borrow_mut();
        let length = kept.len();
        kept.extend(octets);
        let bytes = kept.len() - length;
        drop(kept);
        sequence.received.set(sequence.received.get() + bytes);
        if sequence.dropped.get() {
            return;
        }
        self.core.buffered.set(self.core.buffered.get() + bytes);
        self.announce(sequence);
    }

    /// Notifies the bus side of complete blocks.
    fn announce(self: &Rc<Self>, sequence: &Rc<WriteSequence>) {
        let whole = sequence.whole();
        if whole > sequence.told.replace(whole) {
            let at = self.edge(self.sim.now()) + self.cycles(self.config.core.transmit_cycles);
            let (this, sequence) = (Rc::clone(self), Rc::clone(sequence));
            self.sim.at(at, move || {
                sequence.known.set(sequence.known.get().max(whole));
                this.kick();
            });
        }
    }

    /// A sequence of writes that has arrived completely.
    pub(super) fn write_whole(self: &Rc<Self>, address: u64, data: &[u8]) {
        let sequence = self.begin_write(address, data.len());
        self.fill(&sequence, data.iter().map(|octet| (*octet, true)));
    }

    pub(super) fn write_burst(self: &Rc<Self>, access: Access) -> Result<(), String> {
        let mut open = self.core.open_write.borrow_mut();
        let bytes = access.bytes as u64;
        let row = row(open.as_ref(), &access, self.config.sequence_bytes)?;
        if let Some(open) = open.as_mut() {
            match row {
                Row::GoesOn => {
                    open.next += bytes;
                    open.left -= bytes;
                }
                Row::Breaks => self.end_early(&open.sequence, open.left),
                Row::Begins => {}
            }
        }
        if row != Row::GoesOn {
            let total = access.follows.unwrap_or(bytes);
            let sequence = self.begin_write(access.address, total as usize);
            let next = access.address + bytes;
            *open = Some(Open { sequence, next, left: total - bytes });
        }
        if let Some(open) = open.as_ref() {
            self.core.bursts.borrow_mut().push_back(Rc::clone(&open.sequence));
        }
        Ok(())
    }

    /// The last `left` bytes of a sequence will not come: others came in between.
    fn end_early(self: &Rc<Self>, sequence: &Rc<WriteSequence>, left: u64) {
        self.core.broken.increment();
        sequence.total.set(sequence.total.get() - left as usize);
        if !sequence.dropped.get() {
            self.announce(sequence);
            self.tidy(sequence);
        }
    }

    pub(super) fn write_data(self: &Rc<Self>, lanes: &[u8], enabled: u128) {
        let sequence = self.core.bursts.borrow().front().cloned();
        if let Some(sequence) = sequence {
            let enabled = |lane: usize| enabled >> lane & 1 == 1;
            let octets = lanes.iter().enumerate().map(|(lane, octet)| (*octet, enabled(lane)));
            self.fill(&sequence, octets);
        }
    }

    pub(super) fn write_end(&self) {
        self.core.bursts.borrow_mut().pop_front();
    }

    /// Announced bytes that have not arrived will not arrive.
    pub(super) fn abandon(&self) {
        let core = &self.core;
        let open = core.open_write.take().filter(|open| open.left > 0);
        drop(core.open_read.take());
        let bursts = core.bursts.take();
        for sequence in bursts.into_iter().chain(open.map(|open| open.sequence)) {
            let received = sequence.received.get();
            sequence.total.set(received);
            sequence.told.set(received);
            sequence.known.set(received);
            self.tidy(&sequence);
        }
    }

    /// Takes a sequence off the queue that has nothing to send any more.
    fn tidy(&self, sequence: &WriteSequence) {
        if sequence.sent.get() == sequence.total.get()
            && let Some(item) = sequence.item.borrow().upgrade()
        {
            self.withdraw(PcixAgent::Device, &item);
        }
    }

    /// Continues a write up to the end of a block, and further if more data has arrived by then.
    pub(super) fn write_block(self: &Rc<Self>, mut running: Running, limit: usize) {
        let item = Rc::clone(&running.item);
        let Body::Write(sequence) = &item.body else { return };
        let width = self.config.data_bytes;
        let from = sequence.sent.get();
        let end = sequence.block(from + running.record.bytes as usize);
        running.record.bytes = (end - from) as u64;
        let count = phases(running.record.address, end - from, width);
        // The bus master announces one clock ahead which data phase is the last.
        let last = running.record.data + self.times.cycle * (count - 1);
        let (this, sequence) = (Rc::clone(self), Rc::clone(sequence));
        self.sim.at(last, move || {
            let more =
                end < limit.min(sequence.total()) && sequence.known.get() >= sequence.block(end);
            if more {
                this.write_block(running, limit);
            } else {
                let whole = end >= sequence.total.get();
                let outcome = if whole { PcixOutcome::Whole } else { PcixOutcome::Cut };
                this.finish(running, count, outcome);
            }
        });
    }

    /// Returns the next `bytes` of a write, which have been sent.
    pub(super) fn written(&self, sequence: &WriteSequence, bytes: usize) -> Vec<(u8, bool)> {
        let sent = sequence.sent.get();
        sequence.sent.set(sent + bytes);
        self.core.unbuffer(bytes);
        self.tidy(sequence);
        sequence.octets.borrow()[sent..sent + bytes].to_vec()
    }

    /// Discards the rest of a write.
    pub(super) fn drop_write(&self, sequence: &WriteSequence) {
        sequence.dropped.set(true);
        self.core.unbuffer(sequence.received.get() - sequence.sent.get());
        sequence.sent.set(sequence.total.get());
    }

    fn begin_read(self: &Rc<Self>, address: u64, total: usize, part: Part) -> Rc<ReadSequence> {
        let sequence = Rc::new(ReadSequence {
            address,
            total,
            parts: RefCell::new(vec![part]),
            come: RefCell::default(),
        });
        let body = Body::Read(Rc::clone(&sequence));
        let delay = self.config.core.transmit_cycles;
        self.hand(PcixAgent::Device, self.sim.new_frame_id(), body, delay);
        sequence
    }

    /// A read of one sequence, whose data goes to `sink` from `at` on.
    pub(super) fn read_whole(
        self: &Rc<Self>,
        address: u64,
        bytes: usize,
        at: usize,
        sink: Rc<dyn ReadSink>,
    ) {
        self.begin_read(address, bytes, Part { from: 0, bytes, at, sink });
    }

    pub(super) fn read_burst(
        self: &Rc<Self>,
        access: Access,
        sink: Rc<dyn ReadSink>,
    ) -> Result<(), String> {
        let mut open = self.core.open_read.borrow_mut();
        let bytes = access.bytes as u64;
        let row = row(open.as_ref(), &access, self.config.sequence_bytes)?;
        if row == Row::Breaks {
            // The requested data still arrives, and is dropped.
            self.core.broken.increment();
        }
        if row == Row::GoesOn
            && let Some(open) = open.as_mut()
        {
            open.next += bytes;
            open.left -= bytes;
            let from = (access.address - open.sequence.address) as usize;
            open.sequence.attach(Part { from, bytes: access.bytes, at: 0, sink });
        } else {
            let total = access.follows.unwrap_or(bytes);
            let part = Part { from: 0, bytes: access.bytes, at: 0, sink };
            let sequence = self.begin_read(access.address, total as usize, part);
            *open = Some(Open { sequence, next: access.address + bytes, left: total - bytes });
        }
        Ok(())
    }

    pub(super) fn read_outstanding(&self) {
        self.core.outstanding.set(self.core.outstanding.get() + 1);
    }

    pub(super) fn read_done(self: &Rc<Self>) {
        self.core.outstanding.set(self.core.outstanding.get() - 1);
        self.kick();
    }

    /// A store of the host has arrived.
    pub(super) fn deliver_store(self: &Rc<Self>, id: FrameId, offset: u64, data: Vec<u8>) {
        let came = self.sim.now();
        let bytes = data.len();
        self.core.stores.set(self.core.stores.get() + bytes);
        let this = Rc::clone(self);
        self.sim.after(self.cycles(self.config.core.receive_cycles), move || {
            let core = &this.core;
            let track = this.track(PcixAgent::Device);
            this.sim.spans().record(track, &core.stage_receive, came, this.sim.now(), id.0);
            let release = Rc::clone(&this);
            let taken = Taken::new(move || {
                release.core.stores.set(release.core.stores.get() - bytes);
            });
            let target = core.target.borrow().clone();
            if let Some(target) = target {
                target.write(offset, data, taken);
            }
        });
    }

    /// A load of the host comes in at `at`.
    pub(super) fn deliver_load(
        self: &Rc<Self>,
        item: &Rc<Item>,
        at: Picoseconds,
        offset: u64,
        bytes: usize,
    ) {
        let (this, item) = (Rc::clone(self), Rc::clone(item));
        self.sim.at(at, move || {
            let bus = Rc::clone(&this);
            let reply = ReadReply::new(bytes, None, move |data| {
                bus.load_answered(&item, offset, bytes, data);
            });
            let target = this.core.target.borrow().clone();
            if let Some(target) = target {
                target.read(offset, bytes, reply);
            }
        });
    }

    /// A load has the bus: the target takes it, or has it wait for the answer.
    pub(super) fn load_phase(self: &Rc<Self>, running: Running, offset: u64, bytes: usize) {
        let limit = self.config.core.immediate_cycles;
        if limit == 0 {
            self.finish(running, 1, PcixOutcome::Split);
            return;
        }
        let PcixConfig { address_cycles, attribute_cycles, .. } = self.config;
        let start = running.record.start;
        let known = address_cycles + attribute_cycles + self.config.core.receive_cycles;
        self.deliver_load(&running.item, start + self.cycles(known), offset, bytes);
        let limit = (start + self.cycles(limit)).max(running.record.data);
        *self.core.held.borrow_mut() = Some((running, limit));
        let this = Rc::clone(self);
        self.sim.at(limit, move || {
            if this.core.held.borrow().as_ref().is_some_and(|(_, until)| *until == limit) {
                this.release(limit, None);
            }
        });
    }

    /// Ends the transaction of a load that waits on the bus: with a data phase at `at`, or split.
    fn release(self: &Rc<Self>, at: Picoseconds, answer: Option<(Vec<u8>, u64)>) {
        let Some((mut running, _)) = self.core.held.take() else { return };
        let record = &mut running.record;
        record.wait_cycles = (at - record.data).0 / self.times.cycle.0;
        record.data = at;
        let Some((data, count)) = answer else {
            self.finish(running, 1, PcixOutcome::Split);
            return;
        };
        record.bytes = data.len() as u64;
        running.answer = Some(data);
        running.bad = self.has_bad_parity();
        self.finish(running, count, PcixOutcome::Whole);
    }

    fn load_answered(
        self: &Rc<Self>,
        item: &Rc<Item>,
        offset: u64,
        bytes: usize,
        data: Option<Vec<u8>>,
    ) {
        let now = self.sim.now();
        let delay = self.config.core.transmit_cycles;
        let at = self.edge(now) + self.cycles(delay);
        let held = match &*self.core.held.borrow() {
            Some((running, limit)) if Rc::ptr_eq(&running.item, item) => {
                Some((at.max(running.record.data), *limit))
            }
            _ => None,
        };
        if let Some((at, limit)) = held {
            // An answer does not pass the writes before it: with some in progress the load is
            // split.
            let first = self.posted(PcixAgent::Device) == 0;
            match data {
                Some(data) if first && at <= limit => {
                    let address = self.config.core.bar_base + offset;
                    let count = phases(address, bytes, self.config.data_bytes);
                    self.release(at, Some((data, count)));
                    return;
                }
                _ => self.release(at.min(limit), None),
            }
        } else {
            let since = item.since();
            if now > since {
                let track = self.track(PcixAgent::Device);
                let stage = &self.core.stage_device;
                self.sim.spans().record(track, stage, since, now, item.id.0);
            }
        }
        self.hand(PcixAgent::Device, item.id, Body::Answer { offset, bytes, data }, delay);
    }

    /// The device says from now on whether a write, a read, will be there soon.
    pub(super) fn announce_soon(self: &Rc<Self>, write: bool, read: bool) {
        if !self.config.core.ahead {
            return;
        }
        let at = self.edge(self.sim.now()) + self.cycles(self.config.core.transmit_cycles);
        let this = Rc::clone(self);
        self.sim.at(at, move || {
            this.core.announced.set([write, read]);
            this.kick();
        });
    }

    pub(super) fn interrupt(self: &Rc<Self>, vector: u32) {
        self.core.interrupts.increment();
        let id = self.sim.new_frame_id();
        match self.config.core.interrupts {
            Interrupts::Message => {
                let delay = self.config.core.transmit_cycles;
                self.hand(PcixAgent::Device, id, Body::Interrupt(vector), delay);
            }
            Interrupts::Pin => {
                let this = Rc::clone(self);
                self.sim.after(self.times.interrupt_pin, move || {
                    this.bridge.interrupted(vector, id);
                });
            }
        }
    }
}
