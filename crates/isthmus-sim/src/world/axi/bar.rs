// SPDX-License-Identifier: Apache-2.0
//! The host's accesses to BAR 0, at the device's `bar` slave.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use super::bus::{BarTarget, HostBus, ReadReply, Taken};
use super::pins::{AddressIn, Bundle, OKAY, octets, put_octets, put_strobes, violation};
use crate::kernel::{
    Counter, DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, Sim, SimError,
};

enum BarRequest {
    Write { offset: u64, data: Vec<u8>, taken: Taken },
    Read { offset: u64, bytes: usize, reply: ReadReply },
}

/// Queue of accesses to the BAR that wait for the device's clock.
struct BarQueue {
    device: DeviceHandle,
    requests: RefCell<VecDeque<BarRequest>>,
    /// Something waits, or is in progress.
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
    /// Last beat only: the completion to return once the device has accepted it.
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
pub(super) struct BarAgent {
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
    /// The offer of the address channels: address, beats minus one, size.
    offered: [Option<(u64, u64, u64)>; 2],
    beats: VecDeque<WriteBeat>,
    answers_due: u64,
    reads: VecDeque<BarRead>,
    in_reset: bool,
    write_errors: Counter,
}

/// Address, beats minus one, and size of an access. An access inside one double word is narrow, so
/// that neighbouring registers are not accessed; all other accesses take full beats.
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
    pub(super) fn new(sim: &Sim, bundle: &Bundle, bus: &Rc<dyn HostBus>) -> Result<Self, SimError> {
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
            if width < 64 && bus.bar_bytes() >> width > 1 {
                return Err(bundle.refuse(format!(
                    "its bar addresses of {width} bits do not reach a BAR of {:#x} bytes",
                    bus.bar_bytes()
                )));
            }
        }
        let queue = Rc::new(BarQueue {
            device: bundle.device.clone(),
            requests: RefCell::default(),
            busy: Cell::default(),
        });
        bus.serve(Rc::<BarQueue>::clone(&queue));
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
            write_errors: sim.counters().counter(format!("{}.bar_write_errors", bus.side())),
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
