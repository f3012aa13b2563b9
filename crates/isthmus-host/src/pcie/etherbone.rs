// SPDX-License-Identifier: Apache-2.0

use std::collections::VecDeque;
use std::time::Duration;

use super::{DmaMemory, Mmio};
use crate::regs::pcie_dma as regs;
use crate::transport::{Kind, Transport, TransportError};

const IDENTITY: u32 = 0x5044_4D41;
/// Map version 1, and the service behind it: Etherbone.
const VERSION: u32 = 0x4E6F_0001;
const RUNNING: u32 = 1;
const ENABLE: u32 = 1;
/// The names of the bits of ERRORS.
const ERRORS: [&str; 6] =
    ["config_bad", "tail_bad", "consumed_bad", "push_refused", "read_response", "write_response"];

const PUSH_WINDOW: u64 = 0x1000;
const PUSH_BYTES: usize = 0x1000;
const LINE: usize = 64;
const WORD: usize = 4;
/// How long the device may take to stop, and to read a request or a reply to leave its ring.
const STALL: Duration = Duration::from_secs(10);

/// How large the rings are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PcieRings {
    /// Bytes of the request ring: a power of two from 64 to 2^24.
    pub request: usize,
    /// Bytes of the reply ring: the same.
    pub reply: usize,
    /// Longer requests go through the request ring even when they fit the push window.
    pub push_most: usize,
}

impl Default for PcieRings {
    /// Rings of 64 KiB, and every request that fits is pushed.
    fn default() -> Self {
        Self { request: 1 << 16, reply: 1 << 16, push_most: usize::MAX }
    }
}

impl PcieRings {
    /// The memory they need: the rings, and a line for the status word.
    pub fn bytes(&self) -> usize {
        self.request + self.reply + LINE
    }
}

/// The Etherbone board's stream: a push window for small requests, rings for everything else.
///
/// A small request is stores to the push window, and its reply is found in memory: no load from the
/// device and no read by it. Requests end on a line of the window wherever the next one of their
/// size would not fit the line, by words of zeros, which are empty records.
///
/// Positions are the same as the device's: byte counts modulo 2^32.
#[derive(Debug)]
pub struct EtherbonePcie<M, D> {
    mmio: M,
    memory: D,
    rings: PcieRings,
    push_limit: usize,
    /// Bytes given to the device, by either way, and by the ring alone.
    sent: u32,
    tail: u32,
    push_next: usize,
    /// The status word as last seen: reply tail, and above it request head.
    status: u64,
    /// Reply bytes copied out of the ring, and how many of them the device knows of.
    consumed: u32,
    released: u32,
    received: VecDeque<u8>,
}

impl<M: Mmio, D: DmaMemory> EtherbonePcie<M, D> {
    /// Stops any stream on the board, places the rings in `memory`, and starts the stream.
    pub async fn open(mmio: M, memory: D, rings: PcieRings) -> Result<Self, TransportError> {
        for (name, size) in [("request", rings.request), ("reply", rings.reply)] {
            if !size.is_power_of_two() || !(LINE..=1 << 24).contains(&size) {
                return Err(failed(format!(
                    "{name} ring of {size} bytes: a power of two from 64 to 2^24 expected"
                )));
            }
        }
        if memory.size() < rings.bytes() || !memory.bus_address().is_multiple_of(LINE as u64) {
            return Err(failed(format!(
                "DMA memory of {} bytes at {:#x}: {} bytes at a multiple of 64 needed",
                memory.size(),
                memory.bus_address(),
                rings.bytes()
            )));
        }
        let mut board = Self {
            mmio,
            memory,
            rings,
            push_limit: 0,
            sent: 0,
            tail: 0,
            push_next: 0,
            status: 0,
            consumed: 0,
            released: 0,
            received: VecDeque::new(),
        };
        board.start().await?;
        Ok(board)
    }

    /// Waits for bytes to receive; false: there are none at `deadline`. Asks nothing of the board itself, unlike
    /// [`recv`](Transport::recv) at its deadline.
    pub async fn wait(&mut self, deadline: Duration) -> Result<bool, TransportError> {
        while self.received.is_empty() {
            if !self.look(deadline).await? && self.memory.now() >= deadline {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn start(&mut self) -> Result<(), TransportError> {
        for (register, expected) in [(regs::ID, IDENTITY), (regs::VERSION, VERSION)] {
            let found = self.mmio.read32(register.into()).await?;
            if found != expected {
                return Err(failed(format!(
                    "no Etherbone board: register {register:#x} is {found:#010x}, \
                     {expected:#010x} expected"
                )));
            }
        }
        self.stop().await?;
        self.memory.write(self.status_at(), &[0; 8]).await?;
        let base = self.memory.bus_address();
        let reply_base = base + self.rings.request as u64;
        let status = base + self.status_at() as u64;
        for (register, value) in [
            (regs::REQ_BASE_LO, base as u32),
            (regs::REQ_BASE_HI, (base >> 32) as u32),
            (regs::REQ_SIZE, self.rings.request.trailing_zeros()),
            (regs::REP_BASE_LO, reply_base as u32),
            (regs::REP_BASE_HI, (reply_base >> 32) as u32),
            (regs::REP_SIZE, self.rings.reply.trailing_zeros()),
            (regs::STATUS_LO, status as u32),
            (regs::STATUS_HI, (status >> 32) as u32),
            (regs::ERRORS, u32::MAX),
            (regs::CONTROL, ENABLE),
        ] {
            self.mmio.write32(register.into(), value).await?;
        }
        if self.mmio.read32(regs::STATE.into()).await? != RUNNING {
            return Err(self.trouble("the board does not start").await);
        }
        self.push_limit = (self.mmio.read32(regs::LIMITS.into()).await? >> 16) as usize;
        Ok(())
    }

    /// Disables the board and waits until nothing is in flight.
    async fn stop(&mut self) -> Result<(), TransportError> {
        self.mmio.write32(regs::CONTROL.into(), 0).await?;
        let deadline = self.memory.now() + STALL;
        while self.mmio.read32(regs::STATE.into()).await? != 0 {
            if self.memory.now() >= deadline {
                return Err(self.trouble("the board does not stop").await);
            }
        }
        Ok(())
    }

    /// Ends the stream: once this has returned, the device writes no memory any more.
    pub async fn close(mut self) -> Result<(M, D), TransportError> {
        self.stop().await?;
        Ok((self.mmio, self.memory))
    }

    /// An error with the contents of the board's error register.
    async fn trouble(&mut self, what: &str) -> TransportError {
        match self.mmio.read32(regs::ERRORS.into()).await {
            Ok(bits) => {
                let names: Vec<&str> = ERRORS
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| bits >> bit & 1 == 1)
                    .map(|(_, name)| *name)
                    .collect();
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                failed(format!("{what}; its errors: {names}"))
            }
            Err(error) => error,
        }
    }

    fn status_at(&self) -> usize {
        self.rings.request + self.rings.reply
    }

    fn reply_tail(&self) -> u32 {
        self.status as u32
    }

    fn head(&self) -> u32 {
        (self.status >> 32) as u32
    }

    /// Bytes given to the device and not answered: every word is answered by one.
    fn unanswered(&self) -> usize {
        self.sent.wrapping_sub(self.reply_tail()) as usize
    }

    fn may_push(&self, bytes: usize) -> bool {
        self.head() == self.tail && self.unanswered() + bytes <= self.push_limit
    }

    async fn push(&mut self, message: &[u8]) -> Result<(), TransportError> {
        let end = self.push_next + message.len();
        let left = end.next_multiple_of(LINE) - end;
        // Zeros up to the line's end when a request like this one would not fit there.
        let padding =
            if left < message.len() && self.may_push(message.len() + left) { left } else { 0 };
        let mut bytes = message.to_vec();
        bytes.resize(message.len() + padding, 0);
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let length = rest.len().min(PUSH_BYTES - self.push_next);
            let (now, later) = rest.split_at(length);
            self.mmio.write_combined(PUSH_WINDOW + self.push_next as u64, now).await?;
            self.push_next = (self.push_next + length) % PUSH_BYTES;
            rest = later;
        }
        self.sent = self.sent.wrapping_add(bytes.len() as u32);
        Ok(())
    }

    async fn ring(&mut self, mut message: &[u8]) -> Result<(), TransportError> {
        let size = self.rings.request;
        while !message.is_empty() {
            // Few doorbells, and none of them late: a quarter of the ring at least.
            let wanted = message.len().min(size / 4);
            let free = self.room(wanted).await?;
            let length = message.len().min(free);
            let (now, later) = message.split_at(length);
            let at = self.tail as usize % size;
            let (first, wrapped) = now.split_at(length.min(size - at));
            self.memory.write(at, first).await?;
            if !wrapped.is_empty() {
                self.memory.write(0, wrapped).await?;
            }
            self.tail = self.tail.wrapping_add(length as u32);
            self.sent = self.sent.wrapping_add(length as u32);
            self.mmio.write32(regs::REQ_TAIL.into(), self.tail).await?;
            message = later;
        }
        Ok(())
    }

    /// Waits until the request ring has room for `wanted` bytes; gives all there is. Replies are
    /// taken meanwhile: a device whose reply ring is full reads no requests.
    async fn room(&mut self, wanted: usize) -> Result<usize, TransportError> {
        let mut deadline = self.memory.now() + STALL;
        loop {
            let free = self.rings.request - self.tail.wrapping_sub(self.head()) as usize;
            if free >= wanted {
                return Ok(free);
            }
            let seen = self.status;
            if self.look(deadline).await? {
                deadline = self.memory.now() + STALL;
            }
            if self.status == seen && self.memory.now() >= deadline {
                return Err(self.trouble("the board does not read its requests").await);
            }
        }
    }

    /// Waits for the status word to change, and takes the replies there are. False when it did not
    /// change in time.
    async fn look(&mut self, deadline: Duration) -> Result<bool, TransportError> {
        let status = self.memory.poll64(self.status_at(), self.status, deadline).await?;
        if status == self.status {
            return Ok(false);
        }
        self.status = status;
        self.take().await?;
        Ok(true)
    }

    /// Copies replies out of the ring.
    async fn take(&mut self) -> Result<(), TransportError> {
        let size = self.rings.reply;
        let there = self.reply_tail().wrapping_sub(self.consumed) as usize;
        if there > size {
            let what = format!("status word {:#x}: more replies than the ring holds", self.status);
            return Err(self.trouble(&what).await);
        }
        let at = self.consumed as usize % size;
        let mut replies = vec![0; there];
        let (first, wrapped) = replies.split_at_mut(there.min(size - at));
        self.memory.read(self.rings.request + at, first).await?;
        if !wrapped.is_empty() {
            self.memory.read(self.rings.request, wrapped).await?;
        }
        self.received.extend(replies);
        self.consumed = self.reply_tail();
        if self.consumed.wrapping_sub(self.released) as usize >= size / 4 {
            self.mmio.write32(regs::REP_CONSUMED.into(), self.consumed).await?;
            self.released = self.consumed;
        }
        Ok(())
    }
}

fn failed(reason: String) -> TransportError {
    TransportError::Other(reason)
}

impl<M: Mmio, D: DmaMemory> Transport for EtherbonePcie<M, D> {
    fn kind(&self) -> Kind {
        Kind::Stream
    }

    fn now(&self) -> Duration {
        self.memory.now()
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        if !message.len().is_multiple_of(WORD) {
            let reason = format!("{} bytes to send: the stream has words of 4", message.len());
            return Err(failed(reason));
        }
        if message.len() <= self.rings.push_most {
            if !self.may_push(message.len()) {
                self.status = self.memory.load64(self.status_at()).await?;
                self.take().await?;
            }
            if self.may_push(message.len()) {
                return self.push(message).await;
            }
        }
        self.ring(message).await
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        if !self.wait(deadline).await? {
            // A board that has stopped will not answer later either.
            if self.mmio.read32(regs::STATE.into()).await? != RUNNING {
                return Err(self.trouble("the board has stopped").await);
            }
            if self.mmio.read32(regs::ERRORS.into()).await? != 0 {
                return Err(self.trouble("the board refused a request").await);
            }
            return Err(TransportError::TimedOut);
        }
        let length = self.received.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(self.received.drain(..length)) {
            *to = from;
        }
        Ok(length)
    }
}
