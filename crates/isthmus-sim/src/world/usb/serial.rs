// SPDX-License-Identifier: Apache-2.0
//! The device as a program sees it: a serial port of the kernel's usb-serial drivers.
//!
//! `write` fills the port's FIFO and starts the free transfers before it returns; the completion of
//! one starts the next. Reads are always in progress; what arrives goes through the terminal
//! layer's work queue into the buffer that `read` empties.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::signal::Signal;
use super::{Costs, UsbHost, Way};
use crate::kernel::{Picoseconds, SERVICE, SimError};

/// A serial port's driver.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SerialConfig {
    /// The port's transmit FIFO.
    pub write_fifo_bytes: usize,
    /// The size of each transfer to the device, and how many there are.
    pub out_transfer_bytes: usize,
    /// See above.
    pub out_transfers: usize,
    /// The size of each transfer from the device, and how many are always in progress.
    pub in_transfer_bytes: usize,
    /// See above.
    pub in_transfers: usize,
    /// The terminal layer's part of a write: line discipline and driver.
    pub write_path_ns: f64,
    /// From received bytes to their being readable: work queue, line discipline.
    pub receive_work_ns: f64,
    /// Time of opening or closing, until the device has been notified by a control transfer.
    pub open_ns: f64,
}

struct Shared {
    host: UsbHost,
    config: SerialConfig,
    write_path: Picoseconds,
    receive_work: Picoseconds,
    open: Picoseconds,
    to_send: RefCell<VecDeque<u8>>,
    free: Cell<usize>,
    space: Signal,
    arrived: RefCell<Vec<u8>>,
    work_queued: Cell<bool>,
    /// Transfers from the device that are done, and the first whose bytes have not arrived.
    done: Cell<u64>,
    next: Cell<u64>,
    /// Bytes of transfers that were copied before one that came first.
    copied: RefCell<BTreeMap<u64, Vec<u8>>>,
    readable: RefCell<VecDeque<u8>>,
    data: Signal,
    blocked: Cell<Picoseconds>,
}

/// An open serial port. One program reads, and one writes, at a time.
#[derive(Clone)]
pub struct SerialPort(Rc<Shared>);

impl SerialPort {
    pub(super) async fn open(host: &UsbHost, config: &SerialConfig) -> Result<Self, SimError> {
        let name = host.name();
        let ns = |field, value| crate::world::time(name, field, value);
        let sizes = [
            config.write_fifo_bytes,
            config.out_transfer_bytes,
            config.out_transfers,
            config.in_transfer_bytes,
            config.in_transfers,
        ];
        if sizes.contains(&0) {
            let reason = "serial port: sizes and numbers of transfers of at least 1 expected";
            return Err(crate::world::config_error(name, reason.into()));
        }
        let shared = Rc::new(Shared {
            host: host.clone(),
            write_path: ns("write_path_ns", config.write_path_ns)?,
            receive_work: ns("receive_work_ns", config.receive_work_ns)?,
            open: ns("open_ns", config.open_ns)?,
            to_send: RefCell::default(),
            free: Cell::new(config.out_transfers),
            space: Signal::default(),
            arrived: RefCell::default(),
            work_queued: Cell::default(),
            done: Cell::default(),
            next: Cell::default(),
            copied: RefCell::default(),
            readable: RefCell::default(),
            data: Signal::default(),
            blocked: Cell::default(),
            config: config.clone(),
        });
        host.sim().sleep(shared.open).await;
        host.fx2().set_open(true);
        for _ in 0..config.in_transfers {
            let this = Rc::clone(&shared);
            let name = format!("{SERVICE}{name} read");
            host.sim().spawn_named(&name, async move { this.receive().await });
        }
        Ok(Self(shared))
    }

    /// Writes all of `bytes`; returns once the last of them is in the port's FIFO.
    pub async fn write(&self, bytes: &[u8]) {
        let this = &self.0;
        let costs = this.costs();
        let start = this.host.sim().now();
        let entry = costs.syscall + this.write_path + costs.copy(bytes.len());
        this.host.cpu().run(entry).await;
        let mut left = bytes;
        loop {
            let room = this.config.write_fifo_bytes - this.to_send.borrow().len();
            let (now, later) = left.split_at(room.min(left.len()));
            this.to_send.borrow_mut().extend(now);
            left = later;
            Rc::clone(this).start().await;
            if left.is_empty() {
                break;
            }
            let asleep = this.host.sim().now();
            this.space.wait().await;
            self.waited(asleep);
            this.host.cpu().run(costs.wakeup).await;
        }
        this.host.span("write call", start, this.host.sim().now(), bytes.len() as u64);
    }

    /// Waits for bytes, and returns the available ones: at least one, at most `limit`.
    pub async fn read(&self, limit: usize) -> Vec<u8> {
        self.read_until(limit, None).await
    }

    /// As [`read`](Self::read), but returns without bytes when there are none at `deadline`.
    pub async fn read_until(&self, limit: usize, deadline: Option<Picoseconds>) -> Vec<u8> {
        let this = &self.0;
        let costs = this.costs();
        this.host.cpu().run(costs.syscall).await;
        while this.readable.borrow().is_empty() {
            let sim = this.host.sim();
            let asleep = sim.now();
            let late = match deadline {
                None => {
                    this.data.wait().await;
                    false
                }
                Some(deadline) => {
                    let left = deadline.saturating_sub(asleep);
                    sim.timeout(left, this.data.wait()).await.is_err()
                }
            };
            self.waited(asleep);
            if late {
                return Vec::new();
            }
            if !this.readable.borrow().is_empty() {
                this.host.cpu().run(costs.wakeup).await;
            }
        }
        let bytes = this.take(limit);
        this.host.cpu().run(costs.copy(bytes.len())).await;
        bytes
    }

    fn waited(&self, since: Picoseconds) {
        let more = self.0.host.sim().now() - since;
        self.0.blocked.set(self.0.blocked.get() + more);
    }

    /// The time that calls waited for the device, when the program did nothing.
    #[must_use]
    pub fn blocked(&self) -> Picoseconds {
        self.0.blocked.get()
    }

    /// Bytes that a read would return without waiting.
    #[must_use]
    pub fn readable_bytes(&self) -> usize {
        self.0.readable.borrow().len()
    }

    /// Closes and opens the port again: the device drops its buffered data and begins a new stream.
    pub async fn reopen(&self) {
        let this = &self.0;
        for open in [false, true] {
            this.host.sim().sleep(this.open).await;
            this.host.fx2().set_open(open);
            this.readable.borrow_mut().clear();
            this.to_send.borrow_mut().clear();
        }
    }
}

impl Shared {
    fn costs(&self) -> &Costs {
        self.host.costs()
    }

    /// Appends copied data to the received bytes, in the order in which transfers were done: a
    /// short transfer may be copied on another core before an earlier long one. Returns whether any
    /// bytes were appended.
    fn take_copied(&self) -> bool {
        let mut any = false;
        while let Some(bytes) = self.copied.borrow_mut().remove(&self.next.get()) {
            self.next.set(self.next.get() + 1);
            any |= !bytes.is_empty();
            self.arrived.borrow_mut().extend(bytes);
        }
        any
    }

    fn take(&self, limit: usize) -> Vec<u8> {
        let mut readable = self.readable.borrow_mut();
        let count = limit.min(readable.len());
        readable.drain(..count).collect()
    }

    /// Starts transfers while there are bytes to send and transfers free. Boxed: the end of each
    /// starts others.
    fn start(self: Rc<Self>) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            while self.free.get() > 0 && !self.to_send.borrow().is_empty() {
                self.free.set(self.free.get() - 1);
                let bytes: Vec<u8> = {
                    let mut fifo = self.to_send.borrow_mut();
                    let count = self.config.out_transfer_bytes.min(fifo.len());
                    fifo.drain(..count).collect()
                };
                let done = self.host.submit(Way::Out, bytes, 0).await;
                let this = Rc::clone(&self);
                let name = format!("{SERVICE}{} write", self.host.name());
                self.host.sim().spawn_named(&name, async move {
                    done.recv().await;
                    this.free.set(this.free.get() + 1);
                    Rc::clone(&this).start().await;
                    this.space.raise();
                });
            }
        })
    }

    async fn receive(self: Rc<Self>) {
        loop {
            let limit = self.config.in_transfer_bytes;
            let Some(done) = self.host.submit(Way::In, Vec::new(), limit).await.recv().await else {
                return;
            };
            let number = self.done.replace(self.done.get() + 1);
            self.host.cpu().run(self.costs().copy(done.bytes.len())).await;
            self.copied.borrow_mut().insert(number, done.bytes);
            if self.take_copied() && !self.work_queued.replace(true) {
                let this = Rc::clone(&self);
                let name = format!("{SERVICE}{} receive work", self.host.name());
                let in_memory = done.in_memory;
                self.host.sim().spawn_named(&name, async move {
                    this.host.cpu().run(this.receive_work).await;
                    this.work_queued.set(false);
                    let bytes = std::mem::take(&mut *this.arrived.borrow_mut());
                    this.readable.borrow_mut().extend(bytes);
                    let now = this.host.sim().now();
                    this.host.span("interrupt to readable", in_memory, now, done.id.0);
                    this.data.raise();
                });
            }
        }
    }
}
