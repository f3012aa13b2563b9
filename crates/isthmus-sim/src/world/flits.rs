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

/// One direction of a link: flits, and credits for those of the other direction, a fixed number of clocks
/// later at the other end. Nothing is lost.
pub struct FlitLine {
    clocks: u64,
    /// Places by clock modulo a power of two, as many as there are clocks at the least.
    places: Vec<(Option<Flit>, u8)>,
    carried: u64,
}

impl FlitLine {
    /// A line of so many clocks, at least one.
    #[must_use]
    pub fn new(clocks: u64) -> Rc<RefCell<Self>> {
        let clocks = clocks.max(1);
        let places = vec![(None, 0); clocks.next_power_of_two() as usize];
        Rc::new(RefCell::new(Self { clocks, places, carried: 0 }))
    }

    fn place(&self, clock: u64) -> usize {
        clock as usize & (self.places.len() - 1)
    }

    fn put(&mut self, clock: u64, flit: Option<Flit>, freed: u8) {
        let place = self.place(clock);
        self.carried += u64::from(flit.is_some());
        self.places[place] = (flit, freed);
    }

    fn get(&self, clock: u64) -> (Option<&Flit>, u8) {
        let (flit, freed) = &self.places[self.place((clock + 1).wrapping_sub(self.clocks))];
        (flit.as_ref(), *freed)
    }

    /// Flits so far.
    #[must_use]
    pub fn carried(&self) -> u64 {
        self.carried
    }
}

/// The two lines at one port: away from the router, and towards it.
#[derive(Clone)]
pub struct FlitLink {
    /// What the router sends.
    pub away: Rc<RefCell<FlitLine>>,
    /// What it receives.
    pub towards: Rc<RefCell<FlitLine>>,
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
    clock: u64,
    /// From the router, sampled before the edge; the local port's is kept for the step behind it.
    out: Option<Flit>,
    freed: bool,
    tx: Sampled,
    rx: Driven,
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
    /// Ties `links`, in the order of the router's ports, and what is behind its local port to its pins.
    ///
    /// # Errors
    /// When the device has no such pins for this number of links.
    pub fn attach(
        device: &DeviceHandle,
        links: Vec<FlitLink>,
        local: &Rc<RefCell<L>>,
    ) -> Result<(), SimError> {
        Self::attach_ports(device, links, Some(Rc::clone(local)))
    }

    fn attach_ports(
        device: &DeviceHandle,
        links: Vec<FlitLink>,
        local: Option<Rc<RefCell<L>>>,
    ) -> Result<(), SimError> {
        let ports = links.len() as u32 + u32::from(local.is_some());
        let (bits, channels) = (32 * FLIT_WORDS as u32 * ports, CHANNELS as u32 * ports);
        let agent = Self {
            local,
            links,
            clock: 0,
            out: None,
            freed: false,
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
    /// Ties `links` to the pins of a device whose router's local port is inside it.
    ///
    /// # Errors
    /// When the device has no such pins for this number of links.
    pub fn attach_links(device: &DeviceHandle, links: Vec<FlitLink>) -> Result<(), SimError> {
        Self::attach_ports(device, links, None)
    }
}

impl Sampled {
    fn flit(&self, port: usize, valid: u64, flags: [u64; 3]) -> Option<Flit> {
        let bit = |word: u64| word >> port & 1 != 0;
        bit(valid).then(|| Flit {
            head: bit(flags[0]),
            tail: bit(flags[1]),
            channel: u8::from(bit(flags[2])),
            data: std::array::from_fn(|word| self.data.word(FLIT_WORDS * port + word)),
        })
    }
}

impl<L: LocalPort> PinAgent for FlitPins<L> {
    fn sample(&mut self, _time: Picoseconds) {
        let (valid, freed) = (self.tx.valid.get(), self.tx.freed.get());
        let flags = match valid {
            0 => [0; 3],
            _ => [self.tx.head.get(), self.tx.tail.get(), self.tx.channel.get()],
        };
        if self.local.is_some() {
            self.out = self.tx.flit(0, valid, flags);
            self.freed = freed & 1 != 0;
        }
        let first = usize::from(self.local.is_some());
        for (number, link) in self.links.iter().enumerate() {
            let port = number + first;
            let flit = self.tx.flit(port, valid, flags);
            link.away.borrow_mut().put(self.clock, flit, (freed >> (CHANNELS * port)) as u8 & 3);
        }
    }

    fn drive(&mut self, _time: Picoseconds) {
        let (mut valid, mut head, mut tail, mut channel, mut freed) = (0, 0, 0, 0, 0);
        let mut show = |port: usize, flit: &Flit| {
            valid |= 1 << port;
            head |= u64::from(flit.head) << port;
            tail |= u64::from(flit.tail) << port;
            channel |= u64::from(flit.channel) << port;
            for (word, value) in flit.data.iter().enumerate() {
                self.rx.data.set_word(FLIT_WORDS * port + word, *value);
            }
        };
        if let Some(local) = &self.local {
            let (flit, taken) = local.borrow_mut().step(self.out.as_ref(), self.freed);
            if let Some(flit) = &flit {
                show(0, flit);
            }
            freed |= u64::from(taken);
        }
        let first = usize::from(self.local.is_some());
        for (number, link) in self.links.iter().enumerate() {
            let line = link.towards.borrow();
            let (flit, back) = line.get(self.clock);
            if let Some(flit) = flit {
                show(number + first, flit);
            }
            freed |= u64::from(back) << (CHANNELS * (number + first));
        }
        self.rx.valid.set(valid);
        self.rx.head.set(head);
        self.rx.tail.set(tail);
        self.rx.channel.set(channel);
        self.rx.freed.set(freed);
        self.clock += 1;
    }

    fn quiet(&self) -> bool {
        // A link is never silent.
        false
    }
}
