// SPDX-License-Identifier: Apache-2.0
//! The program of the example `nic_receive` over mapped memory: a thread writes datagrams and events as the gateware does.

#[path = "../../../examples/nic_receive/receive.rs"]
mod receive;

use std::sync::Arc;
use std::time::Duration;

use isthmus_host::board::{Bar, Memory, Window};
use isthmus_host::nic::{EVENT_BYTES, NicError};
use isthmus_host::pcie::Mmio;
use isthmus_host::regs::nanet as regs;
use isthmus_host::transport::{TransportError, block_on};
use receive::{LARGEST, Stream, receive};

use super::{Device, Folder, Table, at};

const REGISTERS: usize = 0x1000;
const BUS: u64 = 0x1_0000_0000;
/// Behind the registers, what a PCIe link is for a device: the stores one after the other, and which of them it has taken.
const STORES: usize = REGISTERS;
const STORED: usize = REGISTERS + 8;
const TAKEN: usize = REGISTERS + 16;
const BAR_BYTES: usize = 2 * REGISTERS;

/// A BAR in memory keeps the last value of a register only. So each store waits until the device has seen it, as if it
/// went over a link.
struct Posted {
    bar: Bar,
    stores: u64,
}

impl Mmio for Posted {
    async fn read32(&mut self, offset: u64) -> Result<u32, TransportError> {
        self.bar.read32(offset).await
    }

    async fn write32(&mut self, offset: u64, value: u32) -> Result<(), TransportError> {
        self.stores += 1;
        self.bar.write32(offset, value).await?;
        self.bar.write64(STORED as u64, offset).await?;
        self.bar.write64(STORES as u64, self.stores).await?;
        while self.bar.read32(TAKEN as u64).await? != self.stores as u32 {
            std::thread::yield_now();
        }
        Ok(())
    }

    async fn write_combined(&mut self, offset: u64, data: &[u8]) -> Result<(), TransportError> {
        self.bar.write_combined(offset, data).await
    }
}

/// The interface, with one port.
struct Gateware {
    bar: Window,
    table: Arc<Table>,
    taken: u64,
    running: bool,
    buffers: [u64; 64],
    size: u32,
    returned: u16,
    sent: u32,
    total: u32,
}

fn length(number: u32) -> usize {
    number as usize * 131 % LARGEST + 1
}

fn payload(number: u32) -> Vec<u8> {
    (0..length(number)).map(|at| (at as u32 * 3 + number * 7) as u8).collect()
}

impl Gateware {
    fn get(&self, register: u32) -> u32 {
        let mut bytes = [0; 4];
        self.bar.load(register as usize, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    }

    fn set(&self, register: u32, value: u32) {
        self.bar.store(register as usize, &value.to_le_bytes()).unwrap();
    }

    fn pair(&self, low: u32, high: u32) -> u64 {
        u64::from(self.get(high)) << 32 | u64::from(self.get(low))
    }

    fn clock(&mut self) {
        if self.bar.load64(STORES).unwrap() != self.taken {
            self.taken += 1;
            let register = self.bar.load64(STORED).unwrap() as u32;
            self.stored(register, self.get(register));
            self.bar.store64(TAKEN, self.taken).unwrap();
        }
        let filled = (self.sent as u16).wrapping_sub(self.returned);
        if self.running && self.sent < self.total && u32::from(filled) < self.size {
            self.deliver();
        }
    }

    fn stored(&mut self, register: u32, value: u32) {
        match register {
            regs::CONTROL => {
                self.running = value & 1 == 1;
                self.set(regs::CONTROL, value | u32::from(!self.running) << 8);
            }
            regs::BUFFER_SET => {
                assert_eq!(value >> 8, 0, "of list 0");
                self.buffers[value as usize] = self.pair(regs::BUFFER_LO, regs::BUFFER_HI);
            }
            regs::LIST0 => self.size = value >> 8 & 0x7f,
            regs::LIST_RETURNED0 => self.returned = value as u16,
            _ => {}
        }
    }

    fn deliver(&mut self) {
        let index = self.sent % self.size;
        let (memory, place) = self.table.at(self.buffers[index as usize]);
        let bytes = payload(self.sent);
        memory.store(place, &bytes).unwrap();
        self.sent += 1;
        self.set(regs::DELIVERED0, self.sent);

        let number = self.sent - 1;
        let events = 1 << self.get(regs::QUEUE_SIZE);
        let phase = u64::from((number / events).is_multiple_of(2));
        let address = self.pair(regs::QUEUE_LO, regs::QUEUE_HI);
        let (memory, place) =
            self.table.at(address + u64::from(number % events) * EVENT_BYTES as u64);
        let words = [
            u64::from(index) << 16 | (bytes.len() as u64) << 32,
            u64::from(number) | 0xC0A8_1401 << 32,
            6000 | 1 << 16,
        ];
        for (at, word) in words.into_iter().enumerate() {
            memory.store(place + 8 * at, &word.to_le_bytes()).unwrap();
        }
        // Last, and behind all before it: the word that the program polls.
        memory.store64(place + 24, phase << 63 | u64::from(number)).unwrap();
    }
}

/// Runs the program; what it gave, and the numbers it consumed.
fn run(total: u32, wanted: u64, version: u32) -> (Result<u32, NicError>, u32) {
    let folder = Folder::new();
    let path = folder.file("resource0", BAR_BYTES);
    let table = Arc::new(Table::default());
    let patience = if wanted > u64::from(total) { 50 } else { 60_000 };
    let stream = Stream {
        ports: 1,
        buffers: 4,
        datagrams: wanted,
        patience: Duration::from_millis(patience),
    };
    let memory = Memory::new(stream.memory_bytes(), &at(BUS), table.clone()).unwrap();
    let bar = Bar::open(&path, BAR_BYTES).unwrap();
    let mut gateware = Gateware {
        bar: Window::open(&path, BAR_BYTES).unwrap(),
        table,
        taken: 0,
        running: false,
        buffers: [0; 64],
        size: 1,
        returned: 0,
        sent: 0,
        total,
    };
    gateware.set(regs::ID, 0x4E41_4E45);
    gateware.set(regs::VERSION, 64 << 16 | 1 << 8 | version);
    let device = Device::start(move || gateware.clock());
    let mut next = 0;
    let done = block_on(receive(
        Posted { bar, stores: 0 },
        memory,
        &stream,
        || {},
        |event, datagram| {
            assert_eq!((event.sequence, event.index), (next, (next % 4) as u16));
            assert_eq!(event.source, "192.168.20.1:6000".parse().unwrap());
            assert_eq!(datagram, payload(next), "datagram {next}");
            next += 1;
        },
    ));
    drop(device);
    (done.map(|statistics| statistics[0].delivered), next)
}

#[test]
fn a_stream_is_received_over_mapped_memory_without_a_wrong_byte() {
    // The four buffers and the eight events are used over and over.
    let (delivered, consumed) = run(300, 300, 3);
    assert_eq!((delivered.unwrap(), consumed), (300, 300));
}

#[test]
fn a_stream_that_ends_is_waited_for_and_another_board_is_refused() {
    let (delivered, consumed) = run(10, 11, 3);
    assert_eq!((delivered.unwrap(), consumed), (10, 10));
    let (refused, _) = run(1, 1, 2);
    assert!(matches!(refused, Err(NicError::Board { version: 2, .. })), "{refused:?}");
}
