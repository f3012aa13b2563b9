// SPDX-License-Identifier: Apache-2.0
//! The published drivers of PCIe and VME: a character device whose write call takes the stream of
//! records apart in the kernel and does one load or store for each bus operation, one after the
//! other; the read call returns the replies.

use std::collections::VecDeque;

use isthmus_host::etherbone::wire::{Flags, Format, PROBE_LENGTH, Record, Width};
use isthmus_host::transport::{Kind, TransportError};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{FrameId, Sim};
use isthmus_sim::world::host::Cpu;

use super::super::scenario::WordsDriver;
use super::super::transport::{Carrier, Until};

/// A window onto the device's Wishbone: every method is one or more loads and stores.
pub(super) trait Words {
    /// Opens or closes the bus cycle.
    async fn cycle(&mut self, open: bool) -> Result<(), TransportError>;
    /// One bus read.
    async fn read(&mut self, address: u32) -> Result<u32, TransportError>;
    /// One bus write.
    async fn write(&mut self, address: u32, value: u32) -> Result<(), TransportError>;
    /// A register of Etherbone's configuration space: errors at 0 and 4, SDB table at 12.
    async fn config(&mut self, address: u32) -> Result<u32, TransportError>;
}

/// Header of a stream's probe up to its widths, and of the answer (both with 32-bit widths).
const PROBE: [u8; 3] = [0x4E, 0x6F, 0x11];
const PROBE_REPLY: [u8; 4] = [0x4E, 0x6F, 0x16, 0x44];
const FORMAT: Format = Format { address: Width::W32, data: Width::W32 };
const ALL_LANES: u8 = 0xF;

/// An open character device.
pub(in super::super) struct WordDriver<W> {
    sim: Sim,
    cpu: Cpu,
    words: W,
    costs: WordsDriver,
    greeted: bool,
    in_cycle: bool,
    input: Vec<u8>,
    output: VecDeque<u8>,
}

impl<W: Words> WordDriver<W> {
    pub(super) fn new(sim: &Sim, cpu: &Cpu, words: W, costs: WordsDriver) -> Self {
        Self {
            sim: sim.clone(),
            cpu: cpu.clone(),
            words,
            costs,
            greeted: false,
            in_cycle: false,
            input: Vec::new(),
            output: VecDeque::new(),
        }
    }

    async fn work(&self, ns: f64) {
        self.cpu.run(Picoseconds::from_ns_f64(ns)).await;
    }

    /// Processes the bytes of a write call.
    async fn process(&mut self) -> Result<(), TransportError> {
        if !self.greeted {
            let Some(probe) = self.input.get(..PROBE_LENGTH) else { return Ok(()) };
            if probe[..3] != PROBE {
                return Err(TransportError::Other("the stream does not begin with a probe".into()));
            }
            let id = [probe[4], probe[5], probe[6], probe[7]];
            self.output.extend(PROBE_REPLY);
            self.output.extend(id);
            self.input.drain(..PROBE_LENGTH);
            self.greeted = true;
        }
        while let Some((record, length)) = Record::decode(FORMAT, &self.input) {
            self.input.drain(..length);
            self.execute(&record).await?;
        }
        Ok(())
    }

    async fn execute(&mut self, record: &Record) -> Result<(), TransportError> {
        self.work(self.costs.parse_record_ns).await;
        if !record.is_empty() && record.byte_enable != ALL_LANES {
            let lanes = record.byte_enable;
            let reason = format!("byte enable {lanes:#x}: the driver knows whole words only");
            return Err(TransportError::Other(reason));
        }
        let on_bus = !(record.flags.has(Flags::WCA) || record.writes.is_empty())
            || !(record.flags.has(Flags::RCA) || record.reads.is_empty());
        if on_bus && !self.in_cycle {
            self.words.cycle(true).await?;
            self.in_cycle = true;
        }
        let step = if record.flags.has(Flags::WFF) { 0 } else { 4 };
        let mut address = record.write_base as u32;
        for value in &record.writes {
            self.work(self.costs.parse_operation_ns).await;
            // Writes to configuration space are taken and do nothing, as in the gateware.
            if !record.flags.has(Flags::WCA) {
                self.words.write(address, *value as u32).await?;
            }
            address = address.wrapping_add(step);
        }
        let mut values = Vec::with_capacity(record.reads.len());
        for address in &record.reads {
            self.work(self.costs.parse_operation_ns).await;
            let address = *address as u32;
            let value = if record.flags.has(Flags::RCA) {
                self.words.config(address).await?
            } else {
                self.words.read(address).await?
            };
            values.push(u64::from(value));
        }
        if record.flags.has(Flags::CYC) && self.in_cycle {
            self.words.cycle(false).await?;
            self.in_cycle = false;
        }
        if !values.is_empty() {
            let reply = Record {
                flags: record.flags.reply(),
                byte_enable: record.byte_enable,
                write_base: record.return_base,
                writes: values,
                ..Record::default()
            };
            let mut bytes = Vec::new();
            reply
                .encode(FORMAT, &mut bytes)
                .map_err(|error| TransportError::Other(error.to_string()))?;
            self.output.extend(bytes);
        }
        Ok(())
    }

    fn copy_ns(&self, bytes: usize) -> f64 {
        self.costs.copy_ns_per_byte * bytes as f64
    }
}

impl<W: Words> Carrier for WordDriver<W> {
    fn kind(&self) -> Kind {
        Kind::Stream
    }

    fn cpu(&self) -> &Cpu {
        &self.cpu
    }

    async fn send(&mut self, message: &[u8]) -> Result<FrameId, TransportError> {
        let (id, start) = (self.sim.new_frame_id(), self.sim.now());
        self.work(self.costs.syscall_ns + self.copy_ns(message.len())).await;
        self.input.extend(message);
        self.process().await?;
        let track = "host".into();
        self.sim.spans().record(&track, &"write call".into(), start, self.sim.now(), id.0);
        Ok(id)
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        _until: Until,
    ) -> Result<(usize, FrameId), TransportError> {
        let count = buffer.len().min(self.output.len());
        self.work(self.costs.syscall_ns + self.copy_ns(count)).await;
        // Every request was carried out in its write call: nothing more can come.
        if count == 0 {
            return Err(TransportError::TimedOut);
        }
        for (place, byte) in buffer.iter_mut().zip(self.output.drain(..count)) {
            *place = byte;
        }
        Ok((count, self.sim.new_frame_id()))
    }
    /// Every call returns when its loads and stores are done: they keep the processor.
    fn blocked(&self) -> Picoseconds {
        Picoseconds::ZERO
    }
}
