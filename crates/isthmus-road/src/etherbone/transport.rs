// SPDX-License-Identifier: Apache-2.0
//! The client's transport over a simulated socket, and the log that measurements are made from.

use std::cell::RefCell;
use std::net::SocketAddrV4;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::transport::{Kind, Transport, TransportError, Work};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{FrameId, Sim};
use isthmus_sim::world::{Host, NetError, UdpSocket};

use super::world::LibraryCosts;

/// One Etherbone cycle, from the program's call to its result.
#[derive(Debug, Clone, Default)]
pub(super) struct CycleLog {
    /// The library begins to build the request.
    pub(super) begin: Picoseconds,
    /// It is built.
    pub(super) built: Picoseconds,
    /// The frame that carries the request, and when its send call began.
    pub(super) request: Option<(FrameId, Picoseconds)>,
    /// The frame that carried the reply, and when the receive call had returned.
    pub(super) reply: Option<(FrameId, Picoseconds)>,
    /// The library begins to take the reply apart.
    pub(super) matched: Picoseconds,
    /// The program has the result.
    pub(super) end: Picoseconds,
}

/// All cycles of a client, in the order in which they were built.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) cycles: Vec<CycleLog>,
    sent: usize,
    completed: usize,
    reply: Option<(FrameId, Picoseconds)>,
}

/// A socket of the simulated host, with the cost of the library's own work.
pub(super) struct SimTransport {
    sim: Sim,
    host: Host,
    socket: UdpSocket,
    device: SocketAddrV4,
    costs: LibraryCosts,
    log: Rc<RefCell<Log>>,
}

impl SimTransport {
    pub(super) fn new(
        sim: &Sim,
        host: &Host,
        device: SocketAddrV4,
        costs: LibraryCosts,
    ) -> Result<(Self, Rc<RefCell<Log>>), NetError> {
        let any = SocketAddrV4::new(std::net::Ipv4Addr::UNSPECIFIED, 0);
        let socket = host.udp_bind(any)?;
        let log = Rc::new(RefCell::new(Log::default()));
        let transport = Self {
            sim: sim.clone(),
            host: host.clone(),
            socket,
            device,
            costs,
            log: Rc::clone(&log),
        };
        Ok((transport, log))
    }

    fn span(&self, stage: &str, start: Picoseconds, end: Picoseconds, tag: u64) {
        if end > start {
            self.sim.spans().record(self.host.name(), &stage.into(), start, end, tag);
        }
    }
}

fn failed(error: NetError) -> TransportError {
    match error {
        NetError::TimedOut(_) => TransportError::TimedOut,
        other => TransportError::Other(other.to_string()),
    }
}

impl Transport for SimTransport {
    fn kind(&self) -> Kind {
        Kind::Datagram
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.sim.now().0 / 1_000)
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        let start = self.sim.now();
        let frame = self.socket.send_to(message, self.device).await.map_err(failed)?;
        let mut log = self.log.borrow_mut();
        let first = log.sent;
        log.sent = log.cycles.len();
        for cycle in &mut log.cycles[first..] {
            cycle.request = Some((frame, start));
            self.span("build request", cycle.begin, cycle.built, frame.0);
        }
        Ok(())
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        self.host.cpu().run(self.costs.event_loop).await;
        loop {
            let deadline = Picoseconds(deadline.as_nanos() as u64 * 1_000);
            let left = deadline.saturating_sub(self.sim.now());
            let datagram = self.socket.recv_from(Some(left)).await.map_err(failed)?;
            // A connected socket: what others send does not reach the program.
            if datagram.from != self.device {
                continue;
            }
            let received = self.sim.now();
            self.host.cpu().run(self.costs.receive_call).await;
            let now = self.sim.now();
            self.span("receive call", received, now, datagram.frame.0);
            self.log.borrow_mut().reply = Some((datagram.frame, now));
            let length = datagram.payload.len().min(buffer.len());
            buffer[..length].copy_from_slice(&datagram.payload[..length]);
            return Ok(length);
        }
    }

    async fn charge(&mut self, work: Work) {
        let begin = self.sim.now();
        match work {
            Work::Build { operations } => {
                self.host.cpu().run(self.costs.build(operations)).await;
                let built = self.sim.now();
                self.log.borrow_mut().cycles.push(CycleLog { begin, built, ..CycleLog::default() });
            }
            Work::Complete { operations } => {
                self.host.cpu().run(self.costs.complete(operations)).await;
                let end = self.sim.now();
                let mut log = self.log.borrow_mut();
                let (index, reply) = (log.completed, log.reply);
                log.completed += 1;
                if let Some(cycle) = log.cycles.get_mut(index) {
                    cycle.matched = begin;
                    cycle.end = end;
                    cycle.reply = reply;
                }
                if let Some((frame, _)) = reply {
                    self.span("take reply apart", begin, end, frame.0);
                }
            }
        }
    }
}
