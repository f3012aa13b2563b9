// SPDX-License-Identifier: Apache-2.0
//! What a device's AXI pins are the user side of: a host bus, whichever it is.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::kernel::OneshotSender;

/// Why a read of the device failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DmaError {
    /// There is nothing at the address.
    #[error("unsupported request: no host memory at the address")]
    Unsupported,
    /// The data is marked as bad, or its parity is wrong.
    #[error("poisoned completion")]
    Poisoned,
    /// The completions did not come.
    #[error("completion timeout")]
    Timeout,
    /// The target aborted.
    #[error("target abort")]
    Aborted,
}

/// Receiver of a read's data as it arrives.
pub(in crate::world) trait ReadSink {
    /// The bytes from `offset` on are at the bus's other end: they come within a few clocks.
    fn early(&self, _offset: usize) {}
    /// The bytes from `offset` on.
    fn data(&self, offset: usize, data: &[u8]);
    /// These will not come, or are bad.
    fn failed(&self, offset: usize, bytes: usize, error: DmaError);
    /// One of the requests that the read was cut into has ended.
    fn ended(&self) {}
}

/// The target behind BAR 0. Offsets are into the BAR; no access crosses its end.
pub trait BarTarget {
    /// The host's write. Until `taken` is dropped it occupies the receive buffer.
    fn write(&self, offset: u64, data: Vec<u8>, taken: Taken);
    /// The host's read.
    fn read(&self, offset: u64, bytes: usize, reply: ReadReply);
}

/// Called once, when its access ends.
type AtEnd<T> = Option<Box<dyn FnOnce(T)>>;

/// An access in the device's receive buffer; dropping it frees its room.
pub struct Taken(AtEnd<()>);

impl Taken {
    pub(in crate::world) fn new(release: impl FnOnce() + 'static) -> Self {
        Self(Some(Box::new(move |()| release())))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(release) = self.0.take() {
            release(());
        }
    }
}

/// A read of the host that waits for its answer. Dropped without one, the host sees an error.
pub struct ReadReply {
    bytes: usize,
    taken: Option<Taken>,
    answer: Option<Vec<u8>>,
    respond: AtEnd<Option<Vec<u8>>>,
}

impl ReadReply {
    /// A read of `bytes`; `respond` gets the answer, or nothing.
    pub(in crate::world) fn new(
        bytes: usize,
        taken: Option<Taken>,
        respond: impl FnOnce(Option<Vec<u8>>) + 'static,
    ) -> Self {
        Self { bytes, taken, answer: None, respond: Some(Box::new(respond)) }
    }

    /// The device's side has taken the request: its room is free.
    pub fn taken(&mut self) {
        self.taken = None;
    }

    /// Sends the data, exactly the requested number of bytes.
    pub fn send(mut self, mut data: Vec<u8>) {
        data.resize(self.bytes, 0);
        self.answer = Some(data);
    }
}

impl Drop for ReadReply {
    fn drop(&mut self) {
        self.taken = None;
        if let Some(respond) = self.respond.take() {
            respond(self.answer.take());
        }
    }
}

/// A burst of the device, as a host bus needs it.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct Access {
    pub(in crate::world) address: u64,
    /// Octets from there to the end of its last beat.
    pub(in crate::world) bytes: usize,
    /// Octets that are still to come in this row of bursts without a hole, this one included;
    /// `None`: the device does not say.
    pub(in crate::world) follows: Option<u64>,
}

/// The host's side of a device's AXI pins.
pub(in crate::world) trait HostBus {
    /// The block that has the pins, for counters.
    fn side(&self) -> String;
    /// The size of BAR 0.
    fn bar_bytes(&self) -> u64;
    /// Sets the target of the host's accesses to BAR 0.
    fn serve(&self, target: Rc<dyn BarTarget>);
    /// True if the device may write there; otherwise the run fails.
    fn may_write(&self, address: u64, bytes: usize) -> bool;
    /// A write burst's address was taken. `Err`: why it cannot be, as `follows` says.
    fn write(&self, access: Access) -> Result<(), String>;
    /// The next bytes of the oldest burst whose data has not all come: those of a beat's lanes
    /// whose bit in `enabled` is set, the lowest at `address`.
    fn data(&self, address: u64, lanes: &[u8], enabled: u128);
    /// The last beat of that burst has arrived.
    fn written(&self);
    /// No more data of writes in progress will come.
    fn abort(&self);
    /// True if there is buffer space for a beat of `bytes` bytes.
    fn has_room(&self, bytes: usize) -> bool;
    /// A read burst's address was taken.
    fn read(&self, access: Access, sink: Rc<dyn ReadSink>) -> Result<(), String>;
    /// True if another read could start without waiting.
    fn takes_reads(&self) -> bool;
    /// The device says, until it says otherwise, whether a write, a read, will probably be at its
    /// pins within a few clocks.
    fn soon(&self, _write: bool, _read: bool) {}
    /// The device raised an interrupt.
    fn interrupt(&self, vector: u32);
}

/// Collects a read for a caller that waits for all of its data.
pub(in crate::world) struct Collect {
    data: RefCell<Vec<u8>>,
    /// Requests that have not ended.
    left: Cell<usize>,
    error: Cell<Option<DmaError>>,
    done: RefCell<Option<OneshotSender<()>>>,
}

impl Collect {
    /// A read of `bytes` in `requests` requests; `done` is notified of its end.
    pub(in crate::world) fn new(bytes: usize, requests: usize, done: OneshotSender<()>) -> Self {
        Self {
            data: RefCell::new(vec![0; bytes]),
            left: Cell::new(requests),
            error: Cell::default(),
            done: RefCell::new(Some(done)),
        }
    }

    /// Data received so far.
    pub(in crate::world) fn take(&self) -> Result<Vec<u8>, DmaError> {
        match self.error.get() {
            Some(error) => Err(error),
            None => Ok(self.data.take()),
        }
    }
}

impl ReadSink for Collect {
    fn data(&self, offset: usize, data: &[u8]) {
        self.data.borrow_mut()[offset..offset + data.len()].copy_from_slice(data);
    }

    fn failed(&self, _offset: usize, _bytes: usize, error: DmaError) {
        self.error.set(Some(error));
    }

    fn ended(&self) {
        self.left.set(self.left.get() - 1);
        if self.left.get() == 0
            && let Some(done) = self.done.borrow_mut().take()
        {
            // The reader may have timed out.
            let _ = done.send(());
        }
    }
}
