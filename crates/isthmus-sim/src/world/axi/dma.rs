// SPDX-License-Identifier: Apache-2.0
//! The device's access to host memory, at its `dma` master.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use super::bus::{Access, DmaError, HostBus, ReadSink};
use super::pins::{
    AddressOut, Bundle, Burst, OKAY, SLVERR, changed, fell, octets, put_octets, strobes, violation,
};
use crate::kernel::{DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, Sim, SimError};

/// Write bursts whose data the block may still be waiting for.
const WRITE_BURSTS: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Octet {
    Missing,
    Good,
    Bad,
}

/// A read burst of the device, and the data received so far.
struct DmaRead {
    device: DeviceHandle,
    burst: Burst,
    data: RefCell<Vec<u8>>,
    state: RefCell<Vec<Octet>>,
    /// Position of data that is announced but has not arrived.
    early: Cell<Option<usize>>,
}

impl DmaRead {
    /// Beat `beat` is announced, and this has not been reported yet.
    fn tells_early(&self, beat: u64) -> bool {
        let (start, end) = self.burst.beat(beat);
        let next = self.early.get().is_some_and(|at| (start..end).contains(&at));
        if next {
            self.early.set(None);
        }
        next
    }

    /// A beat whose octets have all arrived: the octets, and whether all are valid.
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
        if self.early.get().is_some_and(|at| (offset..offset + bytes).contains(&at)) {
            self.early.set(None);
        }
    }
}

impl ReadSink for DmaRead {
    fn early(&self, offset: usize) {
        self.device.wake();
        self.early.set(Some(offset));
    }

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
pub(super) struct DmaAgent {
    sim: Sim,
    device: DeviceHandle,
    bus: Rc<dyn HostBus>,
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
    /// Announces that the next beat comes soon, for a device with such a pin.
    rearly: Option<InputPin>,
    /// Optional outputs by which the device announces that a write or a read will probably follow
    /// within a few clocks, with their last values.
    soon: [Option<OutputPin>; 2],
    said: [bool; 2],
    /// Write bursts whose data has not all come, and beats of the first that have.
    bursts: VecDeque<Burst>,
    beat: u64,
    /// The data beat that was offered and not taken.
    held: Option<(Vec<u8>, u128, bool)>,
    /// IDs of bursts that are to be answered.
    answers: VecDeque<u64>,
    reads: VecDeque<Rc<DmaRead>>,
    read_beat: u64,
}

impl DmaAgent {
    pub(super) fn new(sim: &Sim, bundle: &Bundle, bus: &Rc<dyn HostBus>) -> Result<Self, SimError> {
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
            bus: Rc::clone(bus),
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
            rearly: bundle.optional_input("rearly")?,
            soon: [bundle.optional_output("awsoon")?, bundle.optional_output("arsoon")?],
            said: [false; 2],
            bursts: VecDeque::new(),
            beat: 0,
            held: None,
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
        self.bus.abort();
        self.answers.clear();
        // Their completions still arrive, and are dropped.
        self.reads.clear();
        self.read_beat = 0;
    }

    fn sample_addresses(&mut self) -> Result<(), (String, String)> {
        if let Some(burst) = self.write_address.sample()? {
            if let Some(fault) = burst.fault("aw", self.bus_bytes) {
                return Err(fault);
            }
            let bytes = burst.bytes();
            if !self.bus.may_write(burst.address, bytes) {
                let reason = format!("{bytes} bytes to {:#x}: no host memory", burst.address);
                return Err(("awaddr".into(), reason));
            }
            let access = Access { address: burst.address, bytes, follows: burst.user };
            self.bus.write(access).map_err(|reason| ("awuser".to_owned(), reason))?;
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
                early: Cell::default(),
            });
            self.reads.push_back(Rc::clone(&read));
            let access = Access { address: burst.address, bytes, follows: burst.user };
            self.bus.read(access, read).map_err(|reason| ("aruser".to_owned(), reason))?;
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
        self.bus.data(address, &data[lane..lane + (end - start)], enabled >> lane);
        self.beat += 1;
        if last {
            self.bus.written();
            self.bursts.pop_front();
            self.beat = 0;
            self.answers.push_back(burst.id);
        }
        Ok(())
    }

    fn sample_soon(&mut self) {
        let says = |pin: &OutputPin| !self.in_reset && pin.get() != 0;
        let soon = self.soon.each_ref().map(|pin| pin.as_ref().is_some_and(says));
        if soon != self.said {
            self.said = soon;
            self.bus.soon(soon[0], soon[1]);
        }
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
        !self.in_reset && self.bus.takes_reads()
    }
}

impl PinAgent for DmaAgent {
    fn sample(&mut self, time: Picoseconds) {
        self.in_reset = self.reset.get() == 0;
        if self.in_reset {
            self.abort();
            self.sample_soon();
            return;
        }
        self.sample_answers();
        // Data first: it never belongs to an address of the same edge.
        if let Err(fault) = self.sample_data().and_then(|()| self.sample_addresses()) {
            self.sim.fail(violation(&self.device, "dma", fault, time));
        }
        // Behind what comes at this edge, which it may be about.
        self.sample_soon();
    }

    fn drive(&mut self, _time: Picoseconds) {
        self.write_address.ready(!self.in_reset && self.bursts.len() < WRITE_BURSTS);
        self.wready.set((!self.bursts.is_empty() && self.bus.has_room(self.bus_bytes)).into());
        self.read_address.ready(self.takes_reads());
        self.bvalid.set(u64::from(!self.answers.is_empty()));
        if let Some(id) = self.answers.front() {
            self.bid.set(*id);
            self.bresp.set(OKAY);
        }
        self.drive_data();
        if let Some(pin) = &self.rearly {
            let next = self.reads.front();
            pin.set(next.is_some_and(|read| read.tells_early(self.read_beat)).into());
        }
    }

    fn quiet(&self) -> bool {
        let front = self.reads.front();
        let data = front.is_some_and(|read| read.beat(self.read_beat).is_some());
        let early = self.rearly.as_ref().is_some_and(|pin| {
            pin.get() != 0 || front.is_some_and(|read| read.early.get().is_some())
        });
        !self.in_reset
            && !early
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
