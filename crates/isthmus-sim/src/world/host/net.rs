// SPDX-License-Identifier: Apache-2.0
//! UDP sockets over a network interface: what each step of a kernel's path costs.
//!
//! A datagram's spans lie end to end. Sending: `send call` (system call, copy, protocol), then the
//! NIC's. Receiving, after the NIC's: `interrupt` (moderation, interrupt, waiting for a core and
//! for frames before it), `protocol receive` (soft interrupt), then `wake-up` when the program
//! was waiting or `socket wait` when it was not, and `receive call` (the copy to the program).

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::{Rc, Weak};
use std::task::{Poll, Waker};

use serde::{Deserialize, Serialize};

use super::cpu::Cpu;
use crate::kernel::{Counter, FrameId, Picoseconds, Sim, SimError};
use crate::world::ethernet::{MacAddress, note_drop, to_wire};
use crate::world::nic::{Nic, RingFrame};
use crate::world::packet::{self, Arp, IPV4_UDP_HEADER_BYTES, Packet, PacketError, Udp};

/// A network stack.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetConfig {
    /// The host's address. All other addresses are on the same link.
    pub ip: Ipv4Addr,
    /// Entering and leaving the kernel.
    pub syscall_ns: f64,
    /// Copying between program and kernel.
    pub copy_ns_per_byte: f64,
    /// Transmit cost of socket, UDP, IP and driver, for each datagram.
    pub send_protocol_ns: f64,
    /// From an interrupt to the first instruction of the soft interrupt it causes.
    pub interrupt_ns: f64,
    /// Receive cost of driver, IP, UDP and socket, for each frame.
    pub receive_protocol_ns: f64,
    /// From a datagram in the socket's buffer to the program that waits for it running again.
    pub wakeup_ns: f64,
    /// How much a socket's buffer holds before datagrams are dropped; payloads count.
    pub socket_buffer_bytes: usize,
    /// The link's largest IP packet.
    pub mtu_bytes: usize,
    /// How long an ARP request waits for its answer.
    pub arp_timeout_ns: f64,
    /// How many ARP requests are sent before the waiting datagrams are dropped.
    pub arp_attempts: u32,
    /// How many datagrams wait for one address to be resolved.
    pub arp_queue_frames: usize,
    /// Addresses that are known from the start.
    #[serde(default)]
    pub arp_table: BTreeMap<Ipv4Addr, MacAddress>,
}

/// Why a socket call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// Nothing arrived before the timeout.
    #[error("nothing received within {0}")]
    TimedOut(Picoseconds),
    /// The datagram does not fit the link's MTU.
    #[error("a datagram of {bytes} bytes: at most {limit} fit the MTU")]
    TooLong {
        /// The requested payload.
        bytes: usize,
        /// The largest there is.
        limit: usize,
    },
    /// Another socket has the port.
    #[error("port {0} is taken")]
    PortTaken(u16),
    /// The address is not this host's.
    #[error("address {0} is not this host's")]
    NotLocal(Ipv4Addr),
}

/// A received datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The sender.
    pub from: SocketAddrV4,
    /// The sent datagram.
    pub payload: Vec<u8>,
    /// The frame that carried it.
    pub frame: FrameId,
}

struct Costs {
    syscall: Picoseconds,
    copy_ns_per_byte: f64,
    send_protocol: Picoseconds,
    interrupt: Picoseconds,
    receive_protocol: Picoseconds,
    wakeup: Picoseconds,
    arp_timeout: Picoseconds,
}

struct Stages {
    send: Rc<str>,
    resolve: Rc<str>,
    interrupt: Rc<str>,
    protocol: Rc<str>,
    wakeup: Rc<str>,
    socket_wait: Rc<str>,
    receive: Rc<str>,
}

struct Unresolved {
    waiting: VecDeque<(FrameId, Udp, Picoseconds)>,
    attempts: u32,
}

pub(super) struct NetStack {
    this: Weak<NetStack>,
    sim: Sim,
    name: Rc<str>,
    cpu: Cpu,
    nic: Nic,
    ip: Ipv4Addr,
    mtu_bytes: usize,
    socket_buffer_bytes: usize,
    arp_attempts: u32,
    arp_queue_frames: usize,
    costs: Costs,
    stages: Stages,
    sockets: RefCell<BTreeMap<u16, Weak<SocketState>>>,
    next_port: Cell<u16>,
    neighbours: RefCell<BTreeMap<Ipv4Addr, MacAddress>>,
    unresolved: RefCell<BTreeMap<Ipv4Addr, Unresolved>>,
    dropped_checksum: Counter,
    dropped_malformed: Counter,
    dropped_no_socket: Counter,
    dropped_socket_full: Counter,
    dropped_unresolved: Counter,
}

/// Ports that bind to port 0 get (RFC 6335).
const FIRST_DYNAMIC_PORT: u16 = 49_152;

struct Queued {
    datagram: Datagram,
    delivered: Picoseconds,
}

struct SocketState {
    stack: Rc<NetStack>,
    port: u16,
    queue: RefCell<VecDeque<Queued>>,
    queued_bytes: Cell<usize>,
    waiting: RefCell<Vec<Waker>>,
}

/// An open UDP socket; dropping it closes it.
pub struct UdpSocket(Rc<SocketState>);

impl NetStack {
    pub(super) fn new(
        sim: &Sim,
        name: &Rc<str>,
        cpu: &Cpu,
        nic: &Nic,
        config: &NetConfig,
    ) -> Result<Rc<Self>, SimError> {
        let ns = |field, value| crate::world::time(name, field, value);
        ns("copy_ns_per_byte", config.copy_ns_per_byte)?;
        if !(68..=9_216).contains(&config.mtu_bytes) {
            let reason = format!("mtu_bytes = {}: 68 to 9216 expected", config.mtu_bytes);
            return Err(crate::world::config_error(name, reason));
        }
        let costs = Costs {
            syscall: ns("syscall_ns", config.syscall_ns)?,
            copy_ns_per_byte: config.copy_ns_per_byte,
            send_protocol: ns("send_protocol_ns", config.send_protocol_ns)?,
            interrupt: ns("interrupt_ns", config.interrupt_ns)?,
            receive_protocol: ns("receive_protocol_ns", config.receive_protocol_ns)?,
            wakeup: ns("wakeup_ns", config.wakeup_ns)?,
            arp_timeout: ns("arp_timeout_ns", config.arp_timeout_ns)?,
        };
        let counter = |what: &str| sim.counters().counter(format!("{name}.{what}"));
        let stack = Rc::new_cyclic(|this: &Weak<Self>| Self {
            this: this.clone(),
            sim: sim.clone(),
            name: Rc::clone(name),
            cpu: cpu.clone(),
            nic: nic.clone(),
            ip: config.ip,
            mtu_bytes: config.mtu_bytes,
            socket_buffer_bytes: config.socket_buffer_bytes,
            arp_attempts: config.arp_attempts,
            arp_queue_frames: config.arp_queue_frames,
            costs,
            stages: Stages {
                send: "send call".into(),
                resolve: "resolve address".into(),
                interrupt: "interrupt".into(),
                protocol: "protocol receive".into(),
                wakeup: "wake-up".into(),
                socket_wait: "socket wait".into(),
                receive: "receive call".into(),
            },
            sockets: RefCell::default(),
            next_port: Cell::new(FIRST_DYNAMIC_PORT),
            neighbours: RefCell::new(config.arp_table.clone()),
            unresolved: RefCell::default(),
            dropped_checksum: counter("datagrams_dropped_checksum"),
            dropped_malformed: counter("datagrams_dropped_malformed"),
            dropped_no_socket: counter("datagrams_dropped_no_socket"),
            dropped_socket_full: counter("datagrams_dropped_socket_full"),
            dropped_unresolved: counter("datagrams_dropped_unresolved"),
        });
        sim.keep(stack.clone());
        let service = Rc::clone(&stack);
        sim.spawn_named(&format!("{}{name}.network", crate::kernel::SERVICE), async move {
            service.serve().await
        });
        Ok(stack)
    }

    /// Interrupt and soft interrupt: takes frames until the ring is empty.
    async fn serve(&self) {
        loop {
            self.nic.interrupt().await;
            self.cpu.run(self.costs.interrupt).await;
            loop {
                while let Some(frame) = self.nic.poll() {
                    self.receive(frame).await;
                }
                if self.nic.rearm() {
                    break;
                }
            }
        }
    }

    async fn receive(&self, frame: RingFrame) {
        let begin = self.sim.now();
        self.span(&self.stages.interrupt, frame.in_memory, begin, frame.id);
        self.cpu.run(self.costs.receive_protocol).await;
        self.span(&self.stages.protocol, begin, self.sim.now(), frame.id);
        match packet::parse(&frame.bytes) {
            Ok(Packet::Udp(udp)) if *udp.destination.ip() == self.ip => {
                self.deliver(frame.id, udp, &frame.bytes);
            }
            Ok(Packet::Arp(arp)) => self.receive_arp(&arp),
            Ok(_) => {}
            Err(error) => {
                let counter = match error {
                    PacketError::Checksum => &self.dropped_checksum,
                    PacketError::Malformed => &self.dropped_malformed,
                };
                counter.increment();
                self.note(&frame.bytes, &format!("dropped: {error}"));
            }
        }
    }

    fn deliver(&self, frame: FrameId, udp: Udp, bytes: &[u8]) {
        let socket = self.sockets.borrow().get(&udp.destination.port()).and_then(Weak::upgrade);
        let Some(socket) = socket else {
            self.dropped_no_socket.increment();
            return self.note(bytes, "dropped: no socket");
        };
        let queued = socket.queued_bytes.get() + udp.payload.len();
        if queued > self.socket_buffer_bytes {
            self.dropped_socket_full.increment();
            return self.note(bytes, "dropped: socket buffer full");
        }
        socket.queued_bytes.set(queued);
        let datagram = Datagram { from: udp.source, payload: udp.payload, frame };
        let delivered = self.sim.now();
        socket.queue.borrow_mut().push_back(Queued { datagram, delivered });
        // All of them: one whose time-out has just run off must not swallow the wake-up.
        for waker in socket.waiting.borrow_mut().drain(..) {
            waker.wake();
        }
    }

    fn receive_arp(&self, arp: &Arp) {
        if arp.target_ip != self.ip {
            return;
        }
        self.neighbours.borrow_mut().insert(arp.sender_ip, arp.sender_mac);
        if arp.is_request {
            let answer = Arp {
                is_request: false,
                sender_mac: self.nic.mac(),
                sender_ip: self.ip,
                target_mac: arp.sender_mac,
                target_ip: arp.sender_ip,
            };
            self.nic.transmit(self.sim.new_frame_id(), &answer.to_frame(arp.sender_mac));
        }
        let resolved = self.unresolved.borrow_mut().remove(&arp.sender_ip);
        for (id, mut udp, since) in resolved.into_iter().flat_map(|entry| entry.waiting) {
            self.span(&self.stages.resolve, since, self.sim.now(), id);
            udp.destination_mac = arp.sender_mac;
            self.transmit(id, &udp);
        }
    }

    fn send(&self, id: FrameId, mut udp: Udp) {
        let destination = *udp.destination.ip();
        let neighbour = self.neighbours.borrow().get(&destination).copied();
        if let Some(mac) = neighbour {
            udp.destination_mac = mac;
            return self.transmit(id, &udp);
        }
        let mut unresolved = self.unresolved.borrow_mut();
        let new = !unresolved.contains_key(&destination);
        let entry = unresolved
            .entry(destination)
            .or_insert_with(|| Unresolved { waiting: VecDeque::new(), attempts: 0 });
        if entry.waiting.len() >= self.arp_queue_frames {
            self.dropped_unresolved.increment();
        } else {
            entry.waiting.push_back((id, udp, self.sim.now()));
        }
        drop(unresolved);
        if new {
            self.ask_for(destination);
        }
    }

    fn ask_for(&self, address: Ipv4Addr) {
        let mut unresolved = self.unresolved.borrow_mut();
        let Some(entry) = unresolved.get_mut(&address) else { return };
        if entry.attempts >= self.arp_attempts {
            self.dropped_unresolved.add(entry.waiting.len() as u64);
            unresolved.remove(&address);
            return;
        }
        entry.attempts += 1;
        let attempt = entry.attempts;
        drop(unresolved);
        let question = Arp {
            is_request: true,
            sender_mac: self.nic.mac(),
            sender_ip: self.ip,
            target_mac: MacAddress([0; 6]),
            target_ip: address,
        };
        self.nic.transmit(self.sim.new_frame_id(), &question.to_frame(MacAddress::BROADCAST));
        let this = self.this.clone();
        self.sim.after(self.costs.arp_timeout, move || {
            let Some(this) = this.upgrade() else { return };
            let unanswered = this
                .unresolved
                .borrow()
                .get(&address)
                .is_some_and(|entry| entry.attempts == attempt);
            if unanswered {
                this.ask_for(address);
            }
        });
    }

    fn transmit(&self, id: FrameId, udp: &Udp) {
        // The payload fits the MTU, which is far below what IPv4 can carry.
        if let Some(frame) = udp.to_frame() {
            self.nic.transmit(id, &frame);
        }
    }

    pub(super) fn bind(stack: &Rc<Self>, address: SocketAddrV4) -> Result<UdpSocket, NetError> {
        if *address.ip() != stack.ip && !address.ip().is_unspecified() {
            return Err(NetError::NotLocal(*address.ip()));
        }
        let mut sockets = stack.sockets.borrow_mut();
        sockets.retain(|_, socket| socket.strong_count() > 0);
        let port = match address.port() {
            0 => {
                let dynamic = FIRST_DYNAMIC_PORT..=u16::MAX;
                let start = stack.next_port.get();
                let port = (start..=u16::MAX)
                    .chain(dynamic)
                    .find(|port| !sockets.contains_key(port))
                    .ok_or(NetError::PortTaken(0))?;
                stack.next_port.set(port.checked_add(1).unwrap_or(FIRST_DYNAMIC_PORT));
                port
            }
            port if sockets.contains_key(&port) => return Err(NetError::PortTaken(port)),
            port => port,
        };
        let state = Rc::new(SocketState {
            stack: Rc::clone(stack),
            port,
            queue: RefCell::default(),
            queued_bytes: Cell::default(),
            waiting: RefCell::default(),
        });
        sockets.insert(port, Rc::downgrade(&state));
        Ok(UdpSocket(state))
    }

    fn copy_time(&self, bytes: usize) -> Picoseconds {
        Picoseconds::from_ns_f64(self.costs.copy_ns_per_byte * bytes as f64)
    }

    fn span(&self, stage: &Rc<str>, start: Picoseconds, end: Picoseconds, frame: FrameId) {
        self.sim.spans().record(&self.name, stage, start, end, frame.0);
    }

    fn note(&self, frame: &[u8], comment: &str) {
        if self.sim.capture().is_some() {
            note_drop(&self.sim, &self.name, &to_wire(frame), comment);
        }
    }
}

impl UdpSocket {
    /// The bound address.
    #[must_use]
    pub fn local_address(&self) -> SocketAddrV4 {
        SocketAddrV4::new(self.0.stack.ip, self.0.port)
    }

    /// Sends a datagram, and returns the number of the frame that carries it. As with a real
    /// socket, success means only that the stack has taken it.
    ///
    /// # Errors
    /// When it does not fit the MTU.
    pub async fn send_to(&self, payload: &[u8], to: SocketAddrV4) -> Result<FrameId, NetError> {
        let stack = &self.0.stack;
        let limit = stack.mtu_bytes - IPV4_UDP_HEADER_BYTES;
        if payload.len() > limit {
            return Err(NetError::TooLong { bytes: payload.len(), limit });
        }
        let start = stack.sim.now();
        let id = stack.sim.new_frame_id();
        let udp = Udp {
            source_mac: stack.nic.mac(),
            destination_mac: MacAddress([0; 6]),
            source: self.local_address(),
            destination: to,
            payload: payload.to_vec(),
        };
        let costs = &stack.costs;
        stack.cpu.run(costs.syscall + stack.copy_time(payload.len()) + costs.send_protocol).await;
        stack.span(&stack.stages.send, start, stack.sim.now(), id);
        stack.send(id, udp);
        Ok(id)
    }

    /// Waits for a datagram, at most for `timeout` if one is given.
    ///
    /// # Errors
    /// When none came in time.
    pub async fn recv_from(&self, timeout: Option<Picoseconds>) -> Result<Datagram, NetError> {
        let stack = &self.0.stack;
        stack.cpu.run(stack.costs.syscall).await;
        let called = stack.sim.now();
        let queued = match (self.pop(), timeout) {
            (Some(queued), _) => queued,
            (None, None) => self.arrival().await,
            (None, Some(limit)) => stack
                .sim
                .timeout(limit, self.arrival())
                .await
                .map_err(|elapsed| NetError::TimedOut(elapsed.0))?,
        };
        let id = queued.datagram.frame;
        if queued.delivered > called {
            stack.cpu.run(stack.costs.wakeup).await;
            stack.span(&stack.stages.wakeup, queued.delivered, stack.sim.now(), id);
        } else {
            stack.span(&stack.stages.socket_wait, queued.delivered, called, id);
        }
        let running = stack.sim.now();
        stack.cpu.run(stack.copy_time(queued.datagram.payload.len())).await;
        stack.span(&stack.stages.receive, running, stack.sim.now(), id);
        Ok(queued.datagram)
    }

    /// Takes a datagram if one has arrived: a non-blocking call for a program that polls.
    pub async fn try_recv_from(&self) -> Option<Datagram> {
        let stack = &self.0.stack;
        let start = stack.sim.now();
        stack.cpu.run(stack.costs.syscall).await;
        let queued = self.pop()?;
        let (id, begin) = (queued.datagram.frame, queued.delivered.max(start));
        stack.span(&stack.stages.socket_wait, queued.delivered, begin, id);
        stack.cpu.run(stack.copy_time(queued.datagram.payload.len())).await;
        stack.span(&stack.stages.receive, begin, stack.sim.now(), id);
        Some(queued.datagram)
    }

    fn pop(&self) -> Option<Queued> {
        let queued = self.0.queue.borrow_mut().pop_front()?;
        let left = self.0.queued_bytes.get() - queued.datagram.payload.len();
        self.0.queued_bytes.set(left);
        Some(queued)
    }

    async fn arrival(&self) -> Queued {
        poll_fn(|context| {
            if let Some(queued) = self.pop() {
                return Poll::Ready(queued);
            }
            let mut waiting = self.0.waiting.borrow_mut();
            if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}
