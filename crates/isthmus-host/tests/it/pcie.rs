// SPDX-License-Identifier: Apache-2.0
//! The driver of the Etherbone board behind PCIe, against a model of the board that checks every
//! rule of the driver sequence (docs/explanation/cores/pcie.md).

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::etherbone::{Client, ClientConfig, Cycle, Error, Memory, SoftSlave};
use isthmus_host::pcie::{DmaMemory, EtherbonePcie, Mmio, PcieRings};
use isthmus_host::regs::pcie_dma as regs;
use isthmus_host::transport::{Transport, TransportError, block_on};

const BASE: u64 = 0x1_2345_0040;
const PUSH_LIMIT: usize = 512;

struct Board {
    slave: SoftSlave<Memory>,
    memory: Vec<u8>,
    registers: [u32; 64],
    running: bool,
    /// Positions: rung, read, answered, consumed, and what the status word has shown.
    tail: u32,
    head: u32,
    replied: u32,
    consumed: u32,
    shown: u32,
    push_next: usize,
    pushed: Vec<u8>,
    /// A record that has not come whole.
    partial: Vec<u8>,
    probed: bool,
    /// Replies that wait for room in the ring.
    replies: Vec<u8>,
    now: Duration,
    /// Bytes of the request ring that it reads each time somebody looks at the status word.
    pace: usize,
    /// It stops with this in ERRORS once it has read so many bytes.
    dies_at: Option<(u32, u32)>,
    log: Log,
}

/// What the host did.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Log {
    loads: usize,
    stores: usize,
    /// Lines of 64 bytes that pushes touched: writes on the bus.
    lines: usize,
    pushes: usize,
    doorbells: usize,
    /// Bytes that the device read from host memory.
    fetched: usize,
    looks: usize,
    status_writes: usize,
}

impl Board {
    fn size(&self, register: u32) -> usize {
        1 << self.registers[register as usize / 4]
    }

    fn base(&self, low: u32) -> usize {
        let at = low as usize / 4;
        let address = u64::from(self.registers[at]) | u64::from(self.registers[at + 1]) << 32;
        assert!(address >= BASE, "{address:#x}");
        (address - BASE) as usize
    }

    fn store(&mut self, register: u32, value: u32) {
        self.log.stores += 1;
        match register {
            regs::CONTROL => {
                self.running = value & 1 == 1;
                (self.tail, self.head, self.replied) = (0, 0, 0);
                (self.consumed, self.shown, self.push_next) = (0, 0, 0);
            }
            regs::ERRORS => self.registers[regs::ERRORS as usize / 4] &= !value,
            regs::REQ_TAIL => {
                self.log.doorbells += 1;
                assert!(self.running && value.is_multiple_of(4));
                let ahead = value.wrapping_sub(self.head) as usize;
                assert!(ahead <= self.size(regs::REQ_SIZE), "{ahead} bytes in the request ring");
                self.tail = value;
            }
            regs::REP_CONSUMED => {
                assert!(
                    value.wrapping_sub(self.consumed) <= self.shown.wrapping_sub(self.consumed)
                );
                self.consumed = value;
            }
            _ => {
                assert!(!self.running, "configuration stored while running");
                self.registers[register as usize / 4] = value;
            }
        }
    }

    fn push(&mut self, offset: u64, data: &[u8]) {
        let line = |at: u64| at / 64;
        self.log.pushes += 1;
        self.log.lines += (line(offset + data.len() as u64 - 1) - line(offset) + 1) as usize;
        assert_eq!(offset, 0x1000 + self.push_next as u64, "a push elsewhere than at PUSH_NEXT");
        assert!(self.running && data.len().is_multiple_of(4));
        assert_eq!(self.head, self.tail, "a push before the ring was read");
        let waiting = self.pushed.len() + self.partial.len() + self.replies.len();
        let unseen = self.replied.wrapping_sub(self.shown) as usize;
        assert!(waiting + unseen + data.len() <= PUSH_LIMIT, "more pushed than the limit");
        self.push_next = (self.push_next + data.len()) % 0x1000;
        assert!(self.push_next == 0 || self.push_next >= data.len(), "a push across the wrap");
        self.pushed.extend(data);
    }

    /// Bytes of the record that begins here, once its head is there.
    fn record(&self) -> Option<usize> {
        let head = self.partial.get(..4)?;
        if !self.probed {
            return Some(8);
        }
        let words = |count: u8| if count == 0 { 0 } else { usize::from(count) + 1 };
        Some(4 * (1 + words(head[2]) + words(head[3])))
    }

    fn step(&mut self) {
        self.now += Duration::from_micros(1);
        if !self.running {
            return;
        }
        let mut bytes = std::mem::take(&mut self.pushed);
        let size = self.size(regs::REQ_SIZE);
        let base = self.base(regs::REQ_BASE_LO);
        let room = self.size(regs::REP_SIZE) - self.replied.wrapping_sub(self.consumed) as usize;
        // It reads no more than it can answer.
        let rung = self.tail.wrapping_sub(self.head) as usize;
        let fetched = rung.min(self.pace).min(room.saturating_sub(self.replies.len()));
        for _ in 0..fetched {
            bytes.push(self.memory[base + self.head as usize % size]);
            self.head = self.head.wrapping_add(1);
        }
        self.log.fetched += fetched;
        if let Some((at, errors)) = self.dies_at
            && self.head >= at
        {
            self.running = false;
            self.registers[regs::ERRORS as usize / 4] |= errors;
            return;
        }
        self.partial.extend(bytes);
        while let Some(length) = self.record().filter(|length| self.partial.len() >= *length) {
            let record: Vec<u8> = self.partial.drain(..length).collect();
            self.probed = true;
            let reply = self.slave.stream(&record);
            // One word for each word: what a record does not answer are zeros, in front.
            self.replies.extend(vec![0; length - reply.len()]);
            self.replies.extend(reply);
        }
        let size = self.size(regs::REP_SIZE);
        let base = self.base(regs::REP_BASE_LO);
        let length = self.replies.len().min(room);
        for byte in self.replies.drain(..length) {
            self.memory[base + self.replied as usize % size] = byte;
            self.replied = self.replied.wrapping_add(1);
        }
        let status = u64::from(self.replied) | u64::from(self.head) << 32;
        let at = self.base(regs::STATUS_LO);
        if self.memory[at..at + 8] != status.to_le_bytes() {
            self.memory[at..at + 8].copy_from_slice(&status.to_le_bytes());
            self.log.status_writes += 1;
            self.shown = self.replied;
        }
    }
}

#[derive(Clone)]
struct Handle(Rc<RefCell<Board>>);

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a model of the board")
    }
}

impl Mmio for Handle {
    async fn read32(&mut self, offset: u64) -> Result<u32, TransportError> {
        let mut board = self.0.borrow_mut();
        board.log.loads += 1;
        board.now += Duration::from_millis(1);
        Ok(match offset as u32 {
            regs::STATE => u32::from(board.running),
            register => board.registers[register as usize / 4],
        })
    }

    async fn write32(&mut self, offset: u64, value: u32) -> Result<(), TransportError> {
        self.0.borrow_mut().store(offset as u32, value);
        Ok(())
    }

    async fn write_combined(&mut self, offset: u64, data: &[u8]) -> Result<(), TransportError> {
        self.0.borrow_mut().push(offset, data);
        Ok(())
    }
}

impl DmaMemory for Handle {
    fn bus_address(&self) -> u64 {
        BASE
    }

    fn size(&self) -> usize {
        self.0.borrow().memory.len()
    }

    fn now(&self) -> Duration {
        self.0.borrow().now
    }

    async fn read(&mut self, offset: usize, buffer: &mut [u8]) -> Result<(), TransportError> {
        buffer.copy_from_slice(&self.0.borrow().memory[offset..offset + buffer.len()]);
        Ok(())
    }

    async fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), TransportError> {
        self.0.borrow_mut().memory[offset..offset + data.len()].copy_from_slice(data);
        Ok(())
    }

    async fn load64(&mut self, offset: usize) -> Result<u64, TransportError> {
        let board = self.0.borrow();
        Ok(u64::from_le_bytes(board.memory[offset..offset + 8].try_into().expect("8 bytes")))
    }

    async fn poll64(
        &mut self,
        offset: usize,
        seen: u64,
        deadline: Duration,
    ) -> Result<u64, TransportError> {
        loop {
            let word = self.load64(offset).await?;
            self.0.borrow_mut().log.looks += 1;
            if word != seen || self.0.borrow().now >= deadline {
                return Ok(word);
            }
            self.0.borrow_mut().step();
        }
    }
}

fn board(rings: PcieRings) -> Handle {
    let mut registers = [0; 64];
    registers[regs::ID as usize / 4] = 0x5044_4D41;
    registers[regs::VERSION as usize / 4] = 0x4E6F_0001;
    registers[regs::LIMITS as usize / 4] = (PUSH_LIMIT as u32) << 16 | 256;
    Handle(Rc::new(RefCell::new(Board {
        slave: SoftSlave::new(Memory::new(0x1000, 4096)).with_zero_padding(),
        memory: vec![0xEE; rings.bytes()],
        registers,
        running: true, // its last user left it running
        tail: 0,
        head: 0,
        replied: 0,
        consumed: 0,
        shown: 0,
        push_next: 0,
        pushed: Vec::new(),
        partial: Vec::new(),
        probed: false,
        replies: Vec::new(),
        now: Duration::ZERO,
        pace: 4096,
        dies_at: None,
        log: Log::default(),
    })))
}

type Driver = EtherbonePcie<Handle, Handle>;

async fn client(board: &Handle, rings: PcieRings) -> Client<Driver> {
    let transport = EtherbonePcie::open(board.clone(), board.clone(), rings).await.expect("open");
    Client::connect(transport, ClientConfig::default()).await.expect("connected")
}

#[test]
fn a_blocking_cycle_is_one_write_out_and_no_read_by_anybody() {
    let rings = PcieRings::default();
    let handle = board(rings);
    block_on(async {
        let mut client = client(&handle, rings).await;
        for round in 0..500 {
            let before = handle.0.borrow().log;
            // A timestamp: two reads.
            let reply = client.execute(Cycle::new().read(0x1000).read(0x1004)).await.unwrap();
            assert_eq!(reply.reads, [0, 0]);
            let after = handle.0.borrow().log;
            assert_eq!(after.lines - before.lines, 1, "round {round}: one write on the bus");
            assert_eq!((after.loads, after.doorbells), (before.loads, before.doorbells));
            assert_eq!(after.fetched, 0, "the device reads nothing");
            assert!(after.stores - before.stores <= 1, "at most what releases replies");
            assert_eq!(after.status_writes - before.status_writes, 1);
        }
        // 28 bytes a request, and 8 of zeros in every other one.
        assert!(handle.0.borrow().log.pushes > 500);
    });
}

#[test]
fn values_written_are_read_back_over_either_way() {
    for push_most in [0, 64, usize::MAX] {
        let rings = PcieRings { request: 256, reply: 128, push_most };
        let handle = board(rings);
        block_on(async {
            let mut client = client(&handle, rings).await;
            for number in 0..200_u64 {
                let address = 0x1000 + 4 * (number % 100);
                client.write(address, number * 0x0101_0101).await.unwrap();
                assert_eq!(client.read(address).await.unwrap(), number * 0x0101_0101);
            }
        });
        let log = handle.0.borrow().log;
        assert_eq!(log.doorbells > 0, push_most < 28, "{push_most}: {log:?}");
        assert_eq!(log.pushes > 0, push_most > 0, "{push_most}: {log:?}");
    }
}

#[test]
fn a_batch_many_times_the_rings_keeps_them_full() {
    for pace in [4, 40, 1_000] {
        let rings = PcieRings { request: 1024, reply: 512, push_most: usize::MAX };
        let handle = board(rings);
        handle.0.borrow_mut().pace = pace;
        block_on(async {
            let mut client = client(&handle, rings).await;
            for address in (0x1000..0x1400).step_by(4) {
                client.submit(&Cycle::new().write(address, address ^ 0x5555)).unwrap();
            }
            client.flush().await.unwrap();
            client.settle().await.unwrap();
            let cycles: Vec<_> = (0..2_000)
                .map(|n| (n, 0x1000 + 4 * (n % 256)))
                .map(|(n, at)| (at, n, client.submit(&Cycle::new().read(at)).unwrap()))
                .collect();
            client.flush().await.unwrap();
            client.settle().await.unwrap();
            for (address, number, pending) in cycles {
                let reads = pending.take().expect("an end").expect("a reply").reads;
                assert_eq!(reads, [address ^ 0x5555], "cycle {number}");
            }
        });
        let log = handle.0.borrow().log;
        // 24 bytes a read: each doorbell but the last hands over a quarter of the ring or more.
        assert!(log.doorbells <= (2_000 * 24 + 256 * 40) / 256 + 2, "{log:?}");
    }
}

#[test]
fn positions_wrap_with_the_rings_and_at_the_end_of_the_window() {
    let rings = PcieRings { request: 64, reply: 64, push_most: 32 };
    let handle = board(rings);
    block_on(async {
        let mut client = client(&handle, rings).await;
        for number in 0..1_000 {
            // Pushed, then through the ring in pieces.
            client.write(0x1004, number).await.unwrap();
            let cycle = (0..12).fold(Cycle::new(), |cycle, _| cycle.read(0x1004));
            assert_eq!(client.execute(cycle).await.unwrap().reads, [number; 12]);
        }
    });
}

#[test]
fn a_board_that_is_none_is_refused() {
    let rings = PcieRings::default();
    let handle = board(rings);
    handle.0.borrow_mut().registers[0] = u32::MAX;
    let open = EtherbonePcie::open(handle.clone(), handle, rings);
    let line = block_on(open).unwrap_err().to_string();
    assert!(line.contains("0xffffffff") && line.contains("0x50444d41"), "{line}");
}

#[test]
fn rings_and_memory_that_do_not_fit_are_refused() {
    for (rings, words) in [
        (PcieRings { request: 100, ..PcieRings::default() }, "request ring of 100 bytes"),
        (PcieRings { reply: 32, ..PcieRings::default() }, "reply ring of 32 bytes"),
        (PcieRings { reply: 1 << 20, ..PcieRings::default() }, "DMA memory of"),
    ] {
        let handle = board(PcieRings::default());
        let line = block_on(EtherbonePcie::open(handle.clone(), handle, rings));
        let line = line.unwrap_err().to_string();
        assert!(line.contains(words), "{line}");
    }
}

#[test]
fn a_board_that_stops_is_an_error_that_names_why() {
    let rings = PcieRings { push_most: 0, ..PcieRings::default() };
    let handle = board(rings);
    handle.0.borrow_mut().dies_at = Some((100, 1 << 4));
    let error = block_on(async {
        let mut client = client(&handle, rings).await;
        loop {
            if let Err(error) = client.read(0x1000).await {
                return error;
            }
        }
    });
    let line = error.to_string();
    assert!(line.contains("stopped") && line.contains("read_response"), "{line}");
}

#[test]
fn a_reply_that_does_not_come_is_a_time_out() {
    let rings = PcieRings { push_most: 0, ..PcieRings::default() };
    let handle = board(rings);
    block_on(async {
        let mut client = client(&handle, rings).await;
        handle.0.borrow_mut().pace = 0;
        assert!(matches!(client.read(0x1000).await, Err(Error::TimedOut { .. })));
    });
}

#[test]
fn closing_stops_the_board_and_it_opens_again() {
    let rings = PcieRings::default();
    let handle = board(rings);
    block_on(async {
        let transport = EtherbonePcie::open(handle.clone(), handle.clone(), rings).await.unwrap();
        let (mmio, memory) = transport.close().await.unwrap();
        assert!(!handle.0.borrow().running);
        let mut again = EtherbonePcie::open(mmio, memory, rings).await.unwrap();
        let odd = again.send(&[0; 3]).await.unwrap_err().to_string();
        assert!(odd.contains("3 bytes"), "{odd}");
    });
}
