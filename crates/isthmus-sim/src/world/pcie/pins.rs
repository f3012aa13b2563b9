// SPDX-License-Identifier: Apache-2.0
//! A hard block's user side at a device's pins: `bar`, `dma` and `irq_o`.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use super::axi::{
    AddressIn, AddressOut, Bundle, Burst, OKAY, SLVERR, changed, fell, octets, put_octets,
    put_strobes, strobes, violation,
};
use super::config::StrayWrite;
use super::endpoint::{BarTarget, DmaError, ReadReply, ReadSink, Taken};
use super::link::{Pcie, Shared};
use super::wire::Direction;
use crate::kernel::{
    Counter, DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, Sim, SimError,
};
use crate::world::host::runs;

/// Write bursts whose data the block may still be waiting for.
const WRITE_BURSTS: usize = 4;

/// The user side of an endpoint's hard block.
#[derive(Clone, Copy, Debug)]
pub struct PciePins;

impl PciePins {
    /// Attaches the device's end of a link to those of the ports `bar_...`, `dma_...` and `irq_o`
    /// that the device has.
    ///
    /// # Errors
    /// When it has none, a bundle is not whole, or a port has a width that does not fit.
    pub fn attach(sim: &Sim, device: &DeviceHandle, link: &Pcie) -> Result<(), SimError> {
        let (bar, dma) = (Bundle { device, name: "bar" }, Bundle { device, name: "dma" });
        let irq = device.description().ports.iter().find(|port| port.name == "irq_o");
        let has_irq = irq.is_some();
        if !bar.exists() && !dma.exists() && !has_irq {
            return Err(bar.refuse("has no port of the bundles bar, dma and irq".into()));
        }
        if bar.exists() {
            let agent = BarAgent::new(sim, &bar, &link.0)?;
            device.attach("clk_i", Box::new(agent))?;
        }
        if dma.exists() {
            let agent = DmaAgent::new(sim, &dma, &link.0)?;
            device.attach("clk_i", Box::new(agent))?;
        }
        if let Some(port) = irq {
            let pin = device.output("irq_o", port.width)?;
            let reset = device.input("rst_ni", 1)?;
            device.attach("clk_i", Box::new(IrqAgent { link: Rc::clone(&link.0), pin, reset }))?;
        }
        Ok(())
    }
}

struct IrqAgent {
    link: Rc<Shared>,
    pin: OutputPin,
    reset: InputPin,
}

impl PinAgent for IrqAgent {
    #[inline]
    fn sample(&mut self, _time: Picoseconds) {
        if self.reset.get() == 0 {
            return;
        }
        for word in 0..self.pin.width().div_ceil(32) {
            let strobes = self.pin.word(word as usize);
            for bit in (0..32).filter(|bit| strobes >> bit & 1 == 1) {
                self.link.interrupt(word * 32 + bit);
            }
        }
    }

    fn drive(&mut self, _time: Picoseconds) {}

    fn quiet(&self) -> bool {
        true
    }
}

enum BarRequest {
    Write { offset: u64, data: Vec<u8>, taken: Taken },
    Read { offset: u64, bytes: usize, reply: ReadReply },
}

/// Where accesses to the BAR wait for the device's clock.
struct BarQueue {
    device: DeviceHandle,
    requests: RefCell<VecDeque<BarRequest>>,
    /// Something waits, or is under way.
    busy: Cell<bool>,
}

impl BarQueue {
    fn push(&self, request: BarRequest) {
        self.device.wake();
        self.requests.borrow_mut().push_back(request);
        self.busy.set(true);
    }
}

impl BarTarget for BarQueue {
    fn write(&self, offset: u64, data: Vec<u8>, taken: Taken) {
        self.push(BarRequest::Write { offset, data, taken });
    }

    fn read(&self, offset: u64, bytes: usize, reply: ReadReply) {
        self.push(BarRequest::Read { offset, bytes, reply });
    }
}

struct WriteBeat {
    octets: Vec<u8>,
    strobes: u128,
    /// Of the last beat: what to give back once the device has it.
    last: Option<Taken>,
}

struct BarRead {
    reply: ReadReply,
    offset: u64,
    bytes: usize,
    /// The burst: where it begins, octets a beat as a power of two, beats less one.
    first: u64,
    size: u64,
    len: u64,
    beat: u64,
    data: Vec<u8>,
    failed: bool,
}

/// Masters the device's `bar` slave.
struct BarAgent {
    sim: Sim,
    queue: Rc<BarQueue>,
    reset: InputPin,
    bus_bytes: usize,
    write_address: AddressIn,
    read_address: AddressIn,
    wvalid: InputPin,
    wready: OutputPin,
    wdata: InputPin,
    wstrb: InputPin,
    wlast: InputPin,
    bvalid: OutputPin,
    bresp: OutputPin,
    bready: InputPin,
    rvalid: OutputPin,
    rdata: OutputPin,
    rresp: OutputPin,
    rlast: OutputPin,
    rready: InputPin,
    /// What the address channels offer: address, beats less one, size.
    offered: [Option<(u64, u64, u64)>; 2],
    beats: VecDeque<WriteBeat>,
    answers_due: u64,
    reads: VecDeque<BarRead>,
    in_reset: bool,
    write_errors: Counter,
}

/// Address, beats less one, and size of an access. What lies in one double word is a narrow access,
/// which reaches no register beside it; everything else takes whole beats.
fn shape(offset: u64, bytes: usize, bus_bytes: usize) -> (u64, u64, u64) {
    let narrow = offset % 4 + bytes as u64 <= 4;
    let beat = if narrow { 4 } else { bus_bytes as u64 };
    let first = offset - offset % beat;
    let beats = (offset + bytes as u64 - first).div_ceil(beat);
    (first, beats - 1, beat.trailing_zeros().into())
}

/// The data beats of a burst that writes `data` at `offset`.
fn write_beats(
    bus_bytes: usize,
    (first, len, size): (u64, u64, u64),
    offset: u64,
    data: &[u8],
    taken: Taken,
) -> Vec<WriteBeat> {
    let bus = bus_bytes as u64;
    let mut taken = Some(taken);
    let beat = |beat: u64| {
        let address = first + (beat << size);
        let base = address - address % bus;
        let mut octets = vec![0; bus_bytes];
        let mut strobes = 0;
        for lane in address % bus..address % bus + (1 << size) {
            let at = (base + lane).checked_sub(offset).and_then(|at| data.get(at as usize));
            if let Some(octet) = at {
                octets[lane as usize] = *octet;
                strobes |= 1 << lane;
            }
        }
        WriteBeat { octets, strobes, last: if beat == len { taken.take() } else { None } }
    };
    (0..=len).map(beat).collect()
}

impl BarAgent {
    fn new(sim: &Sim, bundle: &Bundle, link: &Rc<Shared>) -> Result<Self, SimError> {
        let (wdata, wstrb) = (bundle.input("wdata", None)?, bundle.input("wstrb", None)?);
        let rdata = bundle.output("rdata", None)?;
        let bus_bytes = bundle.data_bytes(wdata.width(), wstrb.width())?;
        if rdata.width() != wdata.width() {
            return Err(bundle.refuse("bar_rdata_o and bar_wdata_i differ in width".into()));
        }
        let write_address = AddressIn::new(bundle, "aw")?;
        let read_address = AddressIn::new(bundle, "ar")?;
        for channel in [&write_address, &read_address] {
            let width = channel.address_width();
            if width < 64 && link.config.endpoint.bar_bytes >> width > 1 {
                return Err(bundle.refuse(format!(
                    "its bar addresses of {width} bits do not reach a BAR of {:#x} bytes",
                    link.config.endpoint.bar_bytes
                )));
            }
        }
        let queue = Rc::new(BarQueue {
            device: bundle.device.clone(),
            requests: RefCell::default(),
            busy: Cell::default(),
        });
        link.serve(Rc::<BarQueue>::clone(&queue));
        let name = &link.config.name;
        Ok(Self {
            sim: sim.clone(),
            queue,
            reset: bundle.device.input("rst_ni", 1)?,
            bus_bytes,
            write_address,
            read_address,
            wvalid: bundle.input("wvalid", Some(1))?,
            wready: bundle.output("wready", Some(1))?,
            wdata,
            wstrb,
            wlast: bundle.input("wlast", Some(1))?,
            bvalid: bundle.output("bvalid", Some(1))?,
            bresp: bundle.output("bresp", Some(2))?,
            bready: bundle.input("bready", Some(1))?,
            rvalid: bundle.output("rvalid", Some(1))?,
            rdata,
            rresp: bundle.output("rresp", Some(2))?,
            rlast: bundle.output("rlast", Some(1))?,
            rready: bundle.input("rready", Some(1))?,
            offered: [None; 2],
            beats: VecDeque::new(),
            answers_due: 0,
            reads: VecDeque::new(),
            in_reset: true,
            write_errors: sim.counters().counter(format!("{name}.endpoint.bar_write_errors")),
        })
    }

    fn abort(&mut self) {
        self.offered = [None; 2];
        self.beats.clear();
        self.answers_due = 0;
        // Dropped unanswered: the host sees an error.
        self.reads.clear();
    }

    fn sample_write(&mut self) -> Result<(), (String, String)> {
        if self.write_address.taken() {
            self.offered[0] = None;
        }
        if self.wvalid.get() != 0 && self.wready.get() != 0 {
            self.beats.pop_front();
        }
        if self.bvalid.get() != 0 {
            if self.answers_due == 0 {
                return Err(("bvalid".into(), "an answer to no write".into()));
            }
            self.answers_due -= 1;
            if self.bresp.get() != OKAY {
                self.write_errors.increment();
            }
        }
        Ok(())
    }

    fn sample_read(&mut self) -> Result<(), (String, String)> {
        if self.read_address.taken() {
            self.offered[1] = None;
            if let Some(read) = self.reads.back_mut() {
                read.reply.taken();
            }
        }
        if self.rvalid.get() == 0 {
            return Ok(());
        }
        let waiting = self.reads.len() - usize::from(self.offered[1].is_some());
        let Some(read) = self.reads.front_mut().filter(|_| waiting > 0) else {
            return Err(("rvalid".into(), "data of no read".into()));
        };
        let last = read.beat == read.len;
        if last != (self.rlast.get() != 0) {
            let reason = format!("in beat {} of {}", read.beat + 1, read.len + 1);
            return Err(("rlast".into(), reason));
        }
        let beat = 1_u64 << read.size;
        let lane = ((read.first + read.beat * beat) % self.bus_bytes as u64) as usize;
        let all = octets(&self.rdata, self.bus_bytes);
        read.data.extend_from_slice(&all[lane..lane + beat as usize]);
        read.failed |= self.rresp.get() != OKAY;
        read.beat += 1;
        if last && let Some(read) = self.reads.pop_front() {
            let skip = (read.offset - read.first) as usize;
            if !read.failed {
                read.reply.send(read.data[skip..skip + read.bytes].to_vec());
            }
        }
        Ok(())
    }

    /// Moves requests to the channels: a read waits for the answers to all writes before it.
    fn advance(&mut self) {
        let mut requests = self.queue.requests.borrow_mut();
        loop {
            match requests.front() {
                Some(BarRequest::Write { .. }) if self.offered[0].is_none() => {}
                Some(BarRequest::Read { .. })
                    if self.offered[1].is_none() && self.answers_due == 0 => {}
                _ => return,
            }
            match requests.pop_front() {
                Some(BarRequest::Write { offset, data, taken }) => {
                    let burst = shape(offset, data.len(), self.bus_bytes);
                    self.offered[0] = Some(burst);
                    self.answers_due += 1;
                    self.beats.extend(write_beats(self.bus_bytes, burst, offset, &data, taken));
                }
                Some(BarRequest::Read { offset, bytes, reply }) => {
                    let (first, len, size) = shape(offset, bytes, self.bus_bytes);
                    self.offered[1] = Some((first, len, size));
                    self.reads.push_back(BarRead {
                        reply,
                        offset,
                        bytes,
                        first,
                        size,
                        len,
                        beat: 0,
                        data: Vec::new(),
                        failed: false,
                    });
                }
                None => return,
            }
        }
    }
}

impl PinAgent for BarAgent {
    fn sample(&mut self, time: Picoseconds) {
        self.in_reset = self.reset.get() == 0;
        if self.in_reset {
            self.abort();
            return;
        }
        if !self.queue.busy.get() && self.bvalid.get() == 0 && self.rvalid.get() == 0 {
            return;
        }
        if let Err(fault) = self.sample_write().and_then(|()| self.sample_read()) {
            self.sim.fail(violation(&self.queue.device, "bar", fault, time));
        }
    }

    fn drive(&mut self, _time: Picoseconds) {
        self.bready.set(1);
        self.rready.set(1);
        if !self.in_reset {
            self.advance();
        }
        self.write_address.offer(self.offered[0]);
        self.read_address.offer(self.offered[1]);
        self.wvalid.set(u64::from(!self.beats.is_empty()));
        if let Some(beat) = self.beats.front() {
            put_octets(&self.wdata, &beat.octets);
            put_strobes(&self.wstrb, beat.strobes);
            self.wlast.set(u64::from(beat.last.is_some()));
        }
        self.queue.busy.set(
            self.offered != [None; 2]
                || !self.beats.is_empty()
                || self.answers_due > 0
                || !self.reads.is_empty()
                || !self.queue.requests.borrow().is_empty(),
        );
    }

    fn quiet(&self) -> bool {
        !self.queue.busy.get()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Octet {
    Missing,
    Good,
    Bad,
}

/// A read burst of the device, and what has come of it.
struct DmaRead {
    device: DeviceHandle,
    burst: Burst,
    data: RefCell<Vec<u8>>,
    state: RefCell<Vec<Octet>>,
}

impl DmaRead {
    /// A beat all of whose octets have come: the octets, and whether all are good.
    fn beat(&self, beat: u64) -> Option<(Vec<u8>, bool)> {
        let (start, end) = self.burst.beat(beat);
        let state = &self.state.borrow()[start..end];
        if state.contains(&Octet::Missing) {
            return None;
        }
        Some((self.data.borrow()[start..end].to_vec(), !state.contains(&Octet::Bad)))
    }

    fn mark(&self, offset: usize, bytes: usize, state: Octet) {
        self.state.borrow_mut()[offset..offset + bytes].fill(state);
    }
}

impl ReadSink for DmaRead {
    fn data(&self, offset: usize, data: &[u8]) {
        self.device.wake();
        self.data.borrow_mut()[offset..offset + data.len()].copy_from_slice(data);
        self.mark(offset, data.len(), Octet::Good);
    }

    fn failed(&self, offset: usize, bytes: usize, _error: DmaError) {
        self.device.wake();
        self.mark(offset, bytes, Octet::Bad);
    }
}

/// Serves the device's `dma` master.
struct DmaAgent {
    sim: Sim,
    device: DeviceHandle,
    link: Rc<Shared>,
    reset: InputPin,
    in_reset: bool,
    bus_bytes: usize,
    write_address: AddressOut,
    read_address: AddressOut,
    wvalid: OutputPin,
    wready: InputPin,
    wdata: OutputPin,
    wstrb: OutputPin,
    wlast: OutputPin,
    bvalid: InputPin,
    bid: InputPin,
    bresp: InputPin,
    bready: OutputPin,
    rvalid: InputPin,
    rid: InputPin,
    rdata: InputPin,
    rresp: InputPin,
    rlast: InputPin,
    rready: OutputPin,
    /// Write bursts whose data has not all come, and beats of the first that have.
    bursts: VecDeque<Burst>,
    beat: u64,
    /// The data beat that was offered and not taken.
    held: Option<(Vec<u8>, u128, bool)>,
    /// Bytes that have come and are in no TLP yet, with the address of the first.
    run: (u64, Vec<u8>),
    /// IDs of bursts that are to be answered.
    answers: VecDeque<u64>,
    reads: VecDeque<Rc<DmaRead>>,
    read_beat: u64,
}

impl DmaAgent {
    fn new(sim: &Sim, bundle: &Bundle, link: &Rc<Shared>) -> Result<Self, SimError> {
        let (wdata, wstrb) = (bundle.output("wdata", None)?, bundle.output("wstrb", None)?);
        let rdata = bundle.input("rdata", None)?;
        let bus_bytes = bundle.data_bytes(wdata.width(), wstrb.width())?;
        if rdata.width() != wdata.width() {
            return Err(bundle.refuse("dma_rdata_i and dma_wdata_o differ in width".into()));
        }
        let write_address = AddressOut::new(bundle, "aw")?;
        let read_address = AddressOut::new(bundle, "ar")?;
        Ok(Self {
            sim: sim.clone(),
            device: bundle.device.clone(),
            link: Rc::clone(link),
            reset: bundle.device.input("rst_ni", 1)?,
            in_reset: true,
            bus_bytes,
            bid: bundle.input("bid", Some(write_address.id_width()))?,
            rid: bundle.input("rid", Some(read_address.id_width()))?,
            write_address,
            read_address,
            wvalid: bundle.output("wvalid", Some(1))?,
            wready: bundle.input("wready", Some(1))?,
            wdata,
            wstrb,
            wlast: bundle.output("wlast", Some(1))?,
            bvalid: bundle.input("bvalid", Some(1))?,
            bresp: bundle.input("bresp", Some(2))?,
            bready: bundle.output("bready", Some(1))?,
            rvalid: bundle.input("rvalid", Some(1))?,
            rdata,
            rresp: bundle.input("rresp", Some(2))?,
            rlast: bundle.input("rlast", Some(1))?,
            rready: bundle.output("rready", Some(1))?,
            bursts: VecDeque::new(),
            beat: 0,
            held: None,
            run: (0, Vec::new()),
            answers: VecDeque::new(),
            reads: VecDeque::new(),
            read_beat: 0,
        })
    }

    fn abort(&mut self) {
        self.write_address.reset();
        self.read_address.reset();
        self.bursts.clear();
        self.beat = 0;
        self.held = None;
        self.run.1.clear();
        self.answers.clear();
        // Their completions still come, to nobody.
        self.reads.clear();
        self.read_beat = 0;
    }

    fn sample_addresses(&mut self) -> Result<(), (String, String)> {
        if let Some(burst) = self.write_address.sample()? {
            if let Some(fault) = burst.fault("aw", self.bus_bytes) {
                return Err(fault);
            }
            let bytes = burst.bytes();
            if self.link.config.root.stray_writes == StrayWrite::Fail
                && self.link.place(burst.address, bytes).is_none()
            {
                let reason = format!("{bytes} bytes to {:#x}: no host memory", burst.address);
                return Err(("awaddr".into(), reason));
            }
            self.bursts.push_back(burst);
        }
        if let Some(burst) = self.read_address.sample()? {
            if let Some(fault) = burst.fault("ar", self.bus_bytes) {
                return Err(fault);
            }
            let bytes = burst.bytes();
            let read = Rc::new(DmaRead {
                device: self.device.clone(),
                burst,
                data: RefCell::new(vec![0; bytes]),
                state: RefCell::new(vec![Octet::Missing; bytes]),
            });
            self.reads.push_back(Rc::clone(&read));
            let sink: Rc<dyn ReadSink> = read;
            self.link.read(burst.address, bytes, &sink);
        }
        Ok(())
    }

    fn sample_data(&mut self) -> Result<(), (String, String)> {
        if self.wvalid.get() == 0 {
            return match self.held {
                Some(_) => Err(("wvalid".into(), fell("wready"))),
                None => Ok(()),
            };
        }
        let data = octets(&self.wdata, self.bus_bytes);
        let enabled = strobes(&self.wstrb);
        let last = self.wlast.get() != 0;
        let offered = (data, enabled, last);
        if self.held.as_ref().is_some_and(|before| *before != offered) {
            return Err(("wdata".into(), changed("wready")));
        }
        if self.wready.get() == 0 {
            self.held = Some(offered);
            return Ok(());
        }
        self.held = None;
        let (data, ..) = offered;
        let Some(burst) = self.bursts.front().copied() else { return Ok(()) };
        if last != (self.beat == burst.len) {
            let reason = format!("in beat {} of {}", self.beat + 1, burst.len + 1);
            return Err(("wlast".into(), reason));
        }
        let (start, end) = burst.beat(self.beat);
        let address = burst.address + start as u64;
        let lane = (address % self.bus_bytes as u64) as usize;
        let lanes = ((1_u128 << (end - start)) - 1) << lane;
        if enabled & !lanes != 0 {
            let reason =
                format!("{enabled:#x}: lanes outside {lanes:#x} in beat {}", self.beat + 1);
            return Err(("wstrb".into(), reason));
        }
        for (at, octets) in runs(&data, |at| enabled >> at & 1 == 1) {
            self.append(address - lane as u64 + at as u64, octets);
        }
        self.beat += 1;
        if last {
            self.flush();
            self.bursts.pop_front();
            self.beat = 0;
            self.answers.push_back(burst.id);
        }
        Ok(())
    }

    /// Adds to the run of bytes, which becomes a TLP when it ends or is as long as one can be.
    fn append(&mut self, address: u64, octets: &[u8]) {
        if address != self.run.0 + self.run.1.len() as u64 {
            self.flush();
        }
        if self.run.1.is_empty() {
            self.run.0 = address;
        }
        self.run.1.extend_from_slice(octets);
        let most = self.link.config.max_payload_bytes as usize;
        while self.run.1.len() >= most {
            let rest = self.run.1.split_off(most);
            self.flush();
            self.run = (self.run.0 + most as u64, rest);
        }
    }

    fn flush(&mut self) {
        self.link.write(Direction::Up, self.run.0, &self.run.1);
        self.run.1.clear();
    }

    fn sample_answers(&mut self) {
        if self.bvalid.get() != 0 && self.bready.get() != 0 {
            self.answers.pop_front();
        }
        if self.rvalid.get() != 0
            && self.rready.get() != 0
            && let Some(read) = self.reads.front()
        {
            self.read_beat += 1;
            if self.read_beat > read.burst.len {
                self.reads.pop_front();
                self.read_beat = 0;
            }
        }
    }

    fn drive_data(&self) {
        let ready = self.reads.front().and_then(|read| Some((read, read.beat(self.read_beat)?)));
        self.rvalid.set(ready.is_some().into());
        let Some((read, (data, good))) = ready else { return };
        let (start, _) = read.burst.beat(self.read_beat);
        let address = read.burst.address + start as u64;
        let lane = (address % self.bus_bytes as u64) as usize;
        let mut octets = vec![0; self.bus_bytes];
        octets[lane..lane + data.len()].copy_from_slice(&data);
        put_octets(&self.rdata, &octets);
        self.rid.set(read.burst.id);
        self.rresp.set(if good { OKAY } else { SLVERR });
        self.rlast.set((self.read_beat == read.burst.len).into());
    }

    fn takes_reads(&self) -> bool {
        !self.in_reset && self.link.reads_flow()
    }
}

impl PinAgent for DmaAgent {
    fn sample(&mut self, time: Picoseconds) {
        self.in_reset = self.reset.get() == 0;
        if self.in_reset {
            self.abort();
            return;
        }
        self.sample_answers();
        // Data first: it never belongs to an address of the same edge.
        if let Err(fault) = self.sample_data().and_then(|()| self.sample_addresses()) {
            self.sim.fail(violation(&self.device, "dma", fault, time));
        }
    }

    fn drive(&mut self, _time: Picoseconds) {
        self.write_address.ready(!self.in_reset && self.bursts.len() < WRITE_BURSTS);
        self.wready
            .set((!self.bursts.is_empty() && self.link.lane(Direction::Up).has_room()).into());
        self.read_address.ready(self.takes_reads());
        self.bvalid.set(u64::from(!self.answers.is_empty()));
        if let Some(id) = self.answers.front() {
            self.bid.set(*id);
            self.bresp.set(OKAY);
        }
        self.drive_data();
    }

    fn quiet(&self) -> bool {
        let data = self.reads.front().is_some_and(|read| read.beat(self.read_beat).is_some());
        !self.in_reset
            && self.bursts.is_empty()
            && self.answers.is_empty()
            && self.bvalid.get() == 0
            && !data
            && self.rvalid.get() == 0
            && self.write_address.is_ready()
            && self.read_address.is_ready()
            && self.takes_reads()
    }
}
