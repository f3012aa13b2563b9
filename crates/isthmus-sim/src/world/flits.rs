// SPDX-License-Identifier: Apache-2.0
//! Links between routers, and the ends of a network behind their local ports: the bundle `flits`.

use std::cell::RefCell;
use std::rc::Rc;

use crate::kernel::{DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, SimError};

/// 32-bit words of a flit's data.
pub const FLIT_WORDS: usize = 4;

/// The virtual channels of a link.
const CHANNELS: usize = 2;

/// A flit on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flit {
    /// First of its packet.
    pub head: bool,
    /// Last of its packet.
    pub tail: bool,
    /// Its virtual channel.
    pub channel: u8,
    /// Least significant word first.
    pub data: [u32; FLIT_WORDS],
}

/// What is behind a router's local port.
pub trait LocalPort {
    /// One clock: `flit` has come out of the network, and the router has freed a place of its input
    /// buffer or not. Gives the flit that goes in, and whether a place for flits from the network is free
    /// again.
    fn step(&mut self, flit: Option<&Flit>, freed: bool) -> (Option<Flit>, bool);
}

/// Ports of a router, at most.
const MAX_PORTS: usize = 16;

/// What comes to a router at one clock: a bit a port, and as many a channel.
#[derive(Clone, Copy, Default)]
struct Marks {
    flits: u16,
    freed: u32,
}

/// All that is on its way to one router's links: flits, and credits for those of the other direction, a
/// fixed number of clocks behind the senders' pins. Nothing is lost.
pub struct FlitInbox {
    ports: usize,
    /// By clock, modulo the number of clocks of the links.
    marks: Vec<Marks>,
    /// By clock and port, valid with its mark.
    flits: Vec<Flit>,
    carried: Vec<u64>,
}

impl FlitInbox {
    /// The ends of `ports` links of so many clocks, at least one.
    ///
    /// # Panics
    /// With more than 16 ports.
    #[must_use]
    pub fn new(ports: usize, clocks: u64) -> Rc<RefCell<Self>> {
        assert!(ports <= MAX_PORTS, "{ports} ports: at most {MAX_PORTS}");
        let clocks = clocks.max(1) as usize;
        Rc::new(RefCell::new(Self {
            ports,
            marks: vec![Marks::default(); clocks],
            flits: vec![Flit::default(); clocks * ports],
            carried: vec![0; ports],
        }))
    }

    fn clocks(&self) -> usize {
        self.marks.len()
    }

    #[inline]
    fn put(&mut self, place: usize, port: usize, flit: Option<&Flit>, freed: u32) {
        let marks = &mut self.marks[place];
        marks.freed |= freed << (CHANNELS * port);
        if let Some(flit) = flit {
            marks.flits |= 1 << port;
            self.flits[place * self.ports + port] = *flit;
            self.carried[port] += 1;
        }
    }

    /// Flits so far, by the port to which they come.
    #[must_use]
    pub fn carried(&self) -> &[u64] {
        &self.carried
    }
}

/// Where one of a router's links leads.
#[derive(Clone)]
pub struct FlitLink {
    /// Of the router at the far end.
    pub inbox: Rc<RefCell<FlitInbox>>,
    /// The far end's number there.
    pub port: usize,
}

/// What is behind the pins of a device whose router's local port is inside it.
pub struct NoLocal;

impl LocalPort for NoLocal {
    fn step(&mut self, _flit: Option<&Flit>, _freed: bool) -> (Option<Flit>, bool) {
        (None, false)
    }
}

/// Moves flits between a router's pins and its links and local port, once a clock.
pub struct FlitPins<L> {
    /// None: the pins begin with those of the first link.
    local: Option<Rc<RefCell<L>>>,
    links: Vec<FlitLink>,
    inbox: Rc<RefCell<FlitInbox>>,
    /// This clock's number, modulo the clocks of the links.
    place: usize,
    clocks: usize,
    /// From the router, sampled before the edge; the local port's is kept for the step behind it.
    out: Option<Flit>,
    freed: bool,
    /// What the pins show: most clocks of most routers change little of it.
    shown: Shown,
    tx: Sampled,
    rx: Driven,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Shown {
    valid: u64,
    head: u64,
    tail: u64,
    channel: u64,
    freed: u64,
}

struct Sampled {
    valid: OutputPin,
    channel: OutputPin,
    head: OutputPin,
    tail: OutputPin,
    data: OutputPin,
    freed: OutputPin,
}

struct Driven {
    valid: InputPin,
    channel: InputPin,
    head: InputPin,
    tail: InputPin,
    data: InputPin,
    freed: InputPin,
}

impl<L: LocalPort + 'static> FlitPins<L> {
    /// Ties `links`, in the order of the router's ports, what comes by them, and what is behind its local port
    /// to its pins.
    ///
    /// # Errors
    /// When the device has no such pins for this number of links.
    pub fn attach(
        device: &DeviceHandle,
        links: Vec<FlitLink>,
        inbox: &Rc<RefCell<FlitInbox>>,
        local: &Rc<RefCell<L>>,
    ) -> Result<(), SimError> {
        Self::attach_ports(device, links, inbox, Some(Rc::clone(local)))
    }

    fn attach_ports(
        device: &DeviceHandle,
        links: Vec<FlitLink>,
        inbox: &Rc<RefCell<FlitInbox>>,
        local: Option<Rc<RefCell<L>>>,
    ) -> Result<(), SimError> {
        let ports = links.len() as u32 + u32::from(local.is_some());
        let (bits, channels) = (32 * FLIT_WORDS as u32 * ports, CHANNELS as u32 * ports);
        let agent = Self {
            local,
            links,
            inbox: Rc::clone(inbox),
            place: 0,
            clocks: inbox.borrow().clocks(),
            out: None,
            freed: false,
            shown: Shown::default(),
            tx: Sampled {
                valid: device.output("flits_tx_valid_o", ports)?,
                channel: device.output("flits_tx_vc_o", ports)?,
                head: device.output("flits_tx_head_o", ports)?,
                tail: device.output("flits_tx_tail_o", ports)?,
                data: device.output("flits_tx_data_o", bits)?,
                freed: device.output("flits_rx_freed_o", channels)?,
            },
            rx: Driven {
                valid: device.input("flits_rx_valid_i", ports)?,
                channel: device.input("flits_rx_vc_i", ports)?,
                head: device.input("flits_rx_head_i", ports)?,
                tail: device.input("flits_rx_tail_i", ports)?,
                data: device.input("flits_rx_data_i", bits)?,
                freed: device.input("flits_tx_freed_i", channels)?,
            },
        };
        device.attach("clk_i", Box::new(agent))
    }
}

impl FlitPins<NoLocal> {
    /// Ties `links` and what comes by them to the pins of a device whose router's local port is inside it.
    ///
    /// # Errors
    /// When the device has no such pins for this number of links.
    pub fn attach_links(
        device: &DeviceHandle,
        links: Vec<FlitLink>,
        inbox: &Rc<RefCell<FlitInbox>>,
    ) -> Result<(), SimError> {
        Self::attach_ports(device, links, inbox, None)
    }
}

impl Sampled {
    fn flit(&self, port: usize, flags: [u64; 3]) -> Flit {
        let bit = |word: u64| word >> port & 1 != 0;
        Flit {
            head: bit(flags[0]),
            tail: bit(flags[1]),
            channel: u8::from(bit(flags[2])),
            data: std::array::from_fn(|word| self.data.word(FLIT_WORDS * port + word)),
        }
    }
}

/// Calls `each` with the number of every bit that is set.
fn for_bits(mut word: u64, mut each: impl FnMut(usize)) {
    while word != 0 {
        each(word.trailing_zeros() as usize);
        word &= word - 1;
    }
}

/// A bit where any of a port's channels has one.
fn ports_of(freed: u64) -> u64 {
    let (mut any, mut ports) = (freed | freed >> 1, 0);
    any &= 0x5555_5555_5555_5555;
    for_bits(any, |bit| ports |= 1 << (bit / CHANNELS));
    ports
}

impl<L: LocalPort> PinAgent for FlitPins<L> {
    fn sample(&mut self, _time: Picoseconds) {
        let (valid, freed) = (self.tx.valid.get(), self.tx.freed.get());
        let flags = match valid {
            0 => [0; 3],
            _ => [self.tx.head.get(), self.tx.tail.get(), self.tx.channel.get()],
        };
        let first = usize::from(self.local.is_some());
        if first != 0 {
            self.out = (valid & 1 != 0).then(|| self.tx.flit(0, flags));
            self.freed = freed & 1 != 0;
        }
        let busy = (valid | ports_of(freed)) >> first;
        for_bits(busy, |number| {
            let port = number + first;
            let flit = (valid >> port & 1 != 0).then(|| self.tx.flit(port, flags));
            let freed = (freed >> (CHANNELS * port)) as u32 & 3;
            let link = &self.links[number];
            link.inbox.borrow_mut().put(self.place, link.port, flit.as_ref(), freed);
        });
    }

    fn drive(&mut self, _time: Picoseconds) {
        let data = &self.rx.data;
        let mut now = Shown::default();
        let mut show = |port: usize, flit: &Flit| {
            now.valid |= 1 << port;
            now.head |= u64::from(flit.head) << port;
            now.tail |= u64::from(flit.tail) << port;
            now.channel |= u64::from(flit.channel) << port;
            for (word, value) in flit.data.iter().enumerate() {
                data.set_word(FLIT_WORDS * port + word, *value);
            }
        };
        let mut back = 0;
        if let Some(local) = &self.local {
            let (flit, taken) = local.borrow_mut().step(self.out.as_ref(), self.freed);
            if let Some(flit) = &flit {
                show(0, flit);
            }
            back = u64::from(taken);
        }
        let first = usize::from(self.local.is_some());
        // The next place is the oldest: what was sent so many clocks ago.
        self.place = if self.place + 1 == self.clocks { 0 } else { self.place + 1 };
        let inbox = &mut *self.inbox.borrow_mut();
        let marks = std::mem::take(&mut inbox.marks[self.place]);
        for_bits(u64::from(marks.flits), |number| {
            show(number + first, &inbox.flits[self.place * inbox.ports + number]);
        });
        now.freed = back | u64::from(marks.freed) << (CHANNELS * first);
        if now != self.shown {
            self.shown = now;
            self.rx.valid.set(now.valid);
            self.rx.head.set(now.head);
            self.rx.tail.set(now.tail);
            self.rx.channel.set(now.channel);
            self.rx.freed.set(now.freed);
        }
    }

    fn quiet(&self) -> bool {
        // A link is never silent.
        false
    }
}
