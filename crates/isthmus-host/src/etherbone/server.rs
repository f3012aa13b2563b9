// SPDX-License-Identifier: Apache-2.0

use std::collections::HashMap;
use std::io::{ErrorKind, IoSliceMut, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ipnet::IpNet;
use quinn_udp::{RecvMeta, UdpSockRef, UdpSocketState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::slave::{Engine, Master, Peer, SlaveConfig, SlaveStatistics};
use super::{Bus, DEFAULT_PORT};
use crate::transport::TransportError;
use crate::transport::batch::Batch;

/// Receive calls bring this many times up to 64 KiB.
const RECEIVE_BUFFERS: usize = 4;
const RECEIVE_BUFFER: usize = 65_536;
/// Bytes that are taken from a connection at a time.
const STREAM_BUFFER: usize = 65_536;
/// Reply bytes that a connection may leave unread before its requests wait.
const STREAM_BACKLOG: usize = 1 << 20;
/// Receive calls on one socket before the others have their turn.
const TURNS: usize = 16;
/// For this long after its last datagram a session is kept, however many masters there are.
const SESSION_LIFE: Duration = Duration::from_secs(60);
/// Connections wait for this long where the process has no descriptor left for one.
const PAUSE: Duration = Duration::from_millis(100);

/// How a [`Server`] listens and which clients it serves.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// UDP addresses to listen on.
    pub udp: Vec<SocketAddr>,
    /// TCP addresses to listen on.
    pub tcp: Vec<SocketAddr>,
    /// Networks whose hosts are served; empty: every host that can reach the sockets.
    pub allow: Vec<IpNet>,
    /// TCP connections at a time; more are closed at once.
    pub max_connections: usize,
    /// A connection that has not sent its whole probe after this long is closed, so that silent ones
    /// do not keep the places of others.
    pub probe_timeout: Duration,
    /// A connection that sends nothing for this long is closed.
    pub idle_timeout: Duration,
    /// A connection may hold the cycle line for this long; then the line falls and the connection
    /// is closed. Meanwhile all others wait.
    pub cycle_timeout: Duration,
    /// Senders of datagrams whose error register and session are remembered; the one that was
    /// silent longest is forgotten first.
    pub max_peers: usize,
    /// Poll for this long after the last request before the thread sleeps: answers sooner, for a
    /// busy processor.
    pub spin: Duration,
    /// The offered slave.
    pub slave: SlaveConfig,
}

impl Default for ServerConfig {
    /// UDP and TCP on 127.0.0.1:60368, for 16 connections and 256 peers.
    fn default() -> Self {
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT));
        Self {
            udp: vec![local],
            tcp: vec![local],
            allow: Vec::new(),
            max_connections: 16,
            probe_timeout: Duration::from_secs(3),
            idle_timeout: Duration::from_secs(600),
            cycle_timeout: Duration::from_millis(100),
            max_peers: 256,
            spin: Duration::ZERO,
            slave: SlaveConfig::default(),
        }
    }
}

impl ServerConfig {
    /// UDP and TCP on one address; port 0 lets the system pick one for each.
    pub fn listen(address: SocketAddr) -> Self {
        Self { udp: vec![address], tcp: vec![address], ..Self::default() }
    }
}

/// Counters of a server, in addition to those of its slave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerStatistics {
    /// Counters of executed and dropped requests.
    pub slave: SlaveStatistics,
    /// Datagrams received.
    pub datagrams: u64,
    /// Connections accepted.
    pub connections: u64,
    /// Datagrams and connections of hosts that are not allowed.
    pub not_allowed: u64,
    /// Connections closed because there were too many.
    pub too_many: u64,
    /// Connections closed because they sent nothing.
    pub idle: u64,
    /// Connections closed because no probe came.
    pub unprobed: u64,
    /// Pauses because the process or the system had no descriptor left for a connection.
    pub no_descriptor: u64,
    /// Connections closed because they held the cycle line too long.
    pub line_held: u64,
    /// Replies that the system did not take.
    pub send_errors: u64,
}

#[derive(Debug)]
struct Datagrams {
    socket: UdpSocket,
    state: UdpSocketState,
    peers: HashMap<SocketAddr, Known>,
    batch: Batch,
}

#[derive(Debug)]
struct Known {
    master: Master,
    seen: Instant,
}

impl Known {
    fn forgettable(&self, now: Instant) -> bool {
        !self.master.session.is_open() || now - self.seen > SESSION_LIFE
    }
}

#[derive(Debug)]
struct Connection {
    socket: TcpStream,
    peer: SocketAddr,
    master: Master,
    out: Vec<u8>,
    sent: usize,
    active: Instant,
    accepted: Instant,
    /// No more input will arrive; `out` is still sent.
    closing: bool,
}

/// One [`Bus`] behind real sockets, for many clients at once, on the calling thread.
///
/// - Each client has its own error register, session and stream state.
/// - A cycle is never interrupted: a datagram is executed whole, and while a connection holds the
///   cycle line, all others wait (bounded by [`ServerConfig::cycle_timeout`]).
/// - What is malformed is dropped and counted: a datagram whole, a connection by closing it.
#[derive(Debug)]
pub struct Server<B> {
    engine: Engine<B>,
    config: ServerConfig,
    datagrams: Vec<Datagrams>,
    listeners: Vec<TcpListener>,
    connections: Vec<Connection>,
    /// The connection that holds the cycle line, and until when.
    holder: Option<(SocketAddr, Instant)>,
    /// No connection is accepted before this.
    paused: Option<Instant>,
    statistics: ServerStatistics,
    receive: Vec<u8>,
    reply: Vec<u8>,
    active: Instant,
}

impl<B: Bus> Server<B> {
    /// Opens the sockets.
    pub fn bind(bus: B, config: ServerConfig) -> Result<Self, TransportError> {
        let io = |action: &str, address: SocketAddr| {
            let action = format!("{action} {address}");
            move |source| TransportError::Io { action, source }
        };
        let mut datagrams = Vec::new();
        for address in &config.udp {
            let failed = || io("listen on udp", *address);
            let socket = bound_udp(*address).map_err(failed())?;
            let state = UdpSocketState::new(UdpSockRef::from(&socket)).map_err(failed())?;
            let batch = Batch::new(*address, false);
            datagrams.push(Datagrams { socket, state, peers: HashMap::new(), batch });
        }
        let mut listeners = Vec::new();
        for address in &config.tcp {
            let failed = || io("listen on tcp", *address);
            let listener = bound_tcp(*address).map_err(failed())?;
            listener.set_nonblocking(true).map_err(failed())?;
            listeners.push(listener);
        }
        Ok(Self {
            engine: Engine::new(bus, config.slave.clone()),
            config,
            datagrams,
            listeners,
            connections: Vec::new(),
            holder: None,
            paused: None,
            statistics: ServerStatistics::default(),
            receive: vec![0; RECEIVE_BUFFERS * RECEIVE_BUFFER],
            reply: Vec::new(),
            active: Instant::now(),
        })
    }

    /// Addresses on which datagrams are received, with the ports that the system picked.
    pub fn udp_addresses(&self) -> Vec<SocketAddr> {
        self.datagrams.iter().filter_map(|d| d.socket.local_addr().ok()).collect()
    }

    /// Addresses on which connections are accepted.
    pub fn tcp_addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().filter_map(|l| l.local_addr().ok()).collect()
    }

    /// The bus.
    pub fn bus(&mut self) -> &mut B {
        &mut self.engine.bus
    }

    /// The counters so far.
    pub fn statistics(&self) -> ServerStatistics {
        ServerStatistics { slave: self.engine.statistics, ..self.statistics }
    }

    /// Connections open now.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Serves until `stop` is set, which is noticed within 0.1 s.
    pub fn run(&mut self, stop: &AtomicBool) -> Result<(), TransportError> {
        while !stop.load(Ordering::Relaxed) {
            self.step(Duration::from_millis(100))?;
        }
        Ok(())
    }

    /// Waits up to `timeout` for requests and serves the pending ones. Returns whether there was
    /// one.
    pub fn step(&mut self, timeout: Duration) -> Result<bool, TransportError> {
        self.expire();
        if !self.config.spin.is_zero() {
            let until = self.active + self.config.spin;
            loop {
                if self.pass(|_, _| true) {
                    self.active = Instant::now();
                    return Ok(true);
                }
                if Instant::now() >= until {
                    break;
                }
                std::thread::yield_now();
            }
        }
        let Some(ready) = self.wait(timeout)? else { return Ok(false) };
        let busy = self.pass(|kind, index| ready.contains(&(kind, index)));
        if busy && !self.config.spin.is_zero() {
            self.active = Instant::now();
        }
        Ok(busy)
    }

    /// Sockets that can be served, or `None` when the time is over.
    fn wait(&mut self, timeout: Duration) -> Result<Option<Vec<(Kind, usize)>>, TransportError> {
        let now = Instant::now();
        let mut timeout = timeout;
        let (mut fds, mut names) = (Vec::new(), Vec::new());
        for (index, connection) in self.connections.iter().enumerate() {
            let mut events = PollFlags::empty();
            if self.may_read(connection) {
                events |= PollFlags::IN;
            }
            if connection.sent < connection.out.len() {
                events |= PollFlags::OUT;
            }
            timeout = timeout.min(self.left(connection, now));
            if !events.is_empty() {
                fds.push(PollFd::new(&connection.socket, events));
                names.push((Kind::Connection, index));
            }
        }
        if let Some((_, until)) = self.holder {
            timeout = timeout.min(until.saturating_duration_since(now));
        } else {
            for (index, datagrams) in self.datagrams.iter().enumerate() {
                fds.push(PollFd::new(&datagrams.socket, PollFlags::IN));
                names.push((Kind::Datagrams, index));
            }
        }
        if let Some(until) = self.paused {
            timeout = timeout.min(until.saturating_duration_since(now));
        }
        let listeners = if self.paused.is_some() { &[][..] } else { &self.listeners };
        for (index, listener) in listeners.iter().enumerate() {
            fds.push(PollFd::new(listener, PollFlags::IN));
            names.push((Kind::Listener, index));
        }
        let failed = |source| TransportError::Io { action: "wait for requests".into(), source };
        let time = Timespec::try_from(timeout).map_err(|e| failed(std::io::Error::other(e)))?;
        match poll(&mut fds, Some(&time)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => Ok(None),
            Ok(_) => {
                let events = fds.iter().map(|fd| !fd.revents().is_empty());
                Ok(Some(names.into_iter().zip(events).filter(|n| n.1).map(|n| n.0).collect()))
            }
            Err(error) => Err(failed(error.into())),
        }
    }

    /// How long a connection may still stay silent.
    fn left(&self, connection: &Connection, now: Instant) -> Duration {
        let idle = self.config.idle_timeout.saturating_sub(now - connection.active);
        match connection.master.has_probed() {
            true => idle,
            false => idle.min(self.config.probe_timeout.saturating_sub(now - connection.accepted)),
        }
    }

    fn may_read(&self, connection: &Connection) -> bool {
        let theirs = self.holder.is_none_or(|(holder, _)| holder == connection.peer);
        theirs && !connection.closing && connection.out.len() - connection.sent < STREAM_BACKLOG
    }

    /// Serves every socket that is ready.
    fn pass(&mut self, ready: impl Fn(Kind, usize) -> bool) -> bool {
        let mut busy = false;
        // The client that holds the cycle line comes first, and then alone.
        for index in 0..self.connections.len() {
            if ready(Kind::Connection, index) {
                busy |= self.serve_connection(index);
            }
        }
        for index in 0..self.datagrams.len() {
            if ready(Kind::Datagrams, index) && self.holder.is_none() {
                busy |= self.serve_datagrams(index);
            }
        }
        for index in 0..self.listeners.len() {
            if ready(Kind::Listener, index) && self.paused.is_none() {
                busy |= self.accept(index);
            }
        }
        self.connections.retain(|c| !c.closing || c.sent < c.out.len());
        busy
    }

    fn allowed(&self, address: SocketAddr) -> bool {
        let address = address.ip();
        self.config.allow.is_empty() || self.config.allow.iter().any(|net| net.contains(&address))
    }

    fn serve_datagrams(&mut self, index: usize) -> bool {
        let mut receive = std::mem::take(&mut self.receive);
        let mut busy = false;
        for _ in 0..TURNS {
            let Some(datagrams) = self.datagrams.get(index) else { break };
            let mut meta = [RecvMeta::default(); RECEIVE_BUFFERS];
            let received = {
                let mut buffers = receive.chunks_exact_mut(RECEIVE_BUFFER).map(IoSliceMut::new);
                let mut buffers: [IoSliceMut<'_>; RECEIVE_BUFFERS] =
                    std::array::from_fn(|_| buffers.next().unwrap_or(IoSliceMut::new(&mut [])));
                let socket = UdpSockRef::from(&datagrams.socket);
                datagrams.state.recv(socket, &mut buffers, &mut meta)
            };
            // Errors that earlier replies brought back are of no interest.
            let Ok(count) = received else { break };
            busy = true;
            for (meta, bytes) in meta.iter().zip(receive.chunks_exact(RECEIVE_BUFFER)).take(count) {
                let bytes = &bytes[..meta.len.min(RECEIVE_BUFFER)];
                if bytes.is_empty() {
                    self.serve_peer(index, meta.addr, std::iter::once(bytes));
                } else {
                    self.serve_peer(index, meta.addr, bytes.chunks(meta.stride.max(1)));
                }
            }
            if let Some(Datagrams { socket, state, batch, .. }) = self.datagrams.get_mut(index) {
                self.statistics.send_errors += u64::from(batch.send(socket, state).is_err());
            }
            if count < RECEIVE_BUFFERS {
                break;
            }
        }
        self.receive = receive;
        busy
    }

    fn serve_peer<'a>(
        &mut self,
        index: usize,
        peer: SocketAddr,
        requests: impl ExactSizeIterator<Item = &'a [u8]>,
    ) {
        self.statistics.datagrams += requests.len() as u64;
        if !self.allowed(peer) {
            self.statistics.not_allowed += requests.len() as u64;
            return;
        }
        let Some(datagrams) = self.datagrams.get_mut(index) else { return };
        let Datagrams { socket, state, peers, batch } = datagrams;
        let now = Instant::now();
        if !peers.contains_key(&peer) && peers.len() >= self.config.max_peers {
            let oldest = peers.iter().filter(|(_, known)| known.forgettable(now));
            let oldest = oldest.min_by_key(|(_, known)| known.seen).map(|(peer, _)| *peer);
            if let Some(oldest) = oldest {
                peers.remove(&oldest);
            }
        }
        let full = peers.len() >= self.config.max_peers;
        let known = match peers.get_mut(&peer) {
            Some(known) => Some(known),
            // All places have live sessions: this peer is served without memory.
            None if full => None,
            None => {
                let known = Known { master: Master::default(), seen: now };
                Some(peers.entry(peer).or_insert(known))
            }
        };
        let mut passing = Master::default();
        let master = match known {
            Some(known) => {
                known.seen = now;
                &mut known.master
            }
            None => {
                passing.session.refuse();
                &mut passing
            }
        };
        for request in requests {
            self.reply.clear();
            self.engine.datagram(Peer::Udp(peer), master, request, &mut self.reply);
            if !self.reply.is_empty() {
                let sent = batch.push(socket, state, peer, &self.reply);
                self.statistics.send_errors += u64::from(sent.is_err());
            }
        }
    }

    fn accept(&mut self, index: usize) -> bool {
        let mut busy = false;
        for _ in 0..TURNS {
            let (socket, peer) = match self.listeners.get(index).map(TcpListener::accept) {
                Some(Ok(accepted)) => accepted,
                Some(Err(error)) if is_starved(&error) => {
                    // It stays ready: polling again at once would keep a processor busy.
                    self.paused = Some(Instant::now() + PAUSE);
                    self.statistics.no_descriptor += 1;
                    break;
                }
                _ => break,
            };
            busy = true;
            if !self.allowed(peer) {
                self.statistics.not_allowed += 1;
                continue;
            }
            if self.connections.len() >= self.config.max_connections {
                self.statistics.too_many += 1;
                continue;
            }
            if socket.set_nonblocking(true).is_err() || socket.set_nodelay(true).is_err() {
                continue;
            }
            self.statistics.connections += 1;
            let now = Instant::now();
            self.connections.push(Connection {
                socket,
                peer,
                master: Master::default(),
                out: Vec::new(),
                sent: 0,
                active: now,
                accepted: now,
                closing: false,
            });
        }
        busy
    }

    fn serve_connection(&mut self, index: usize) -> bool {
        let mut busy = false;
        for _ in 0..TURNS {
            let Some(connection) = self.connections.get(index) else { return busy };
            if !self.may_read(connection) {
                break;
            }
            let Some(connection) = self.connections.get_mut(index) else { return busy };
            let Some(receive) = self.receive.get_mut(..STREAM_BUFFER) else { return busy };
            let length = match connection.socket.read(receive) {
                Ok(0) => 0,
                Ok(length) => length,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(_) => 0,
            };
            busy = true;
            let Connection { peer, master, out, .. } = connection;
            connection.active = Instant::now();
            let bytes = &receive[..length];
            let ok = length > 0 && self.engine.stream(Peer::Tcp(*peer), master, bytes, out).is_ok();
            if !ok {
                connection.closing = true;
                self.engine.drop_line();
            }
            self.holder = match (self.engine.holds_line(), self.holder) {
                (false, _) => None,
                (true, None) => Some((*peer, connection.active + self.config.cycle_timeout)),
                (true, held) => held,
            };
            if length < STREAM_BUFFER {
                break;
            }
        }
        if let Some(connection) = self.connections.get_mut(index) {
            busy |= connection.send();
        }
        busy
    }

    /// Closes connections that were idle or held the cycle line too long.
    fn expire(&mut self) {
        if self.connections.is_empty() && self.paused.is_none() {
            return;
        }
        let now = Instant::now();
        self.paused = self.paused.filter(|until| *until > now);
        if let Some((holder, _)) = self.holder.take_if(|(_, until)| *until <= now) {
            self.engine.drop_line();
            self.statistics.line_held += 1;
            self.connections.retain(|c| c.peer != holder);
        }
        let holder = self.holder.map(|(peer, _)| peer);
        let mut connections = std::mem::take(&mut self.connections);
        connections.retain(|connection| {
            let stays = Some(connection.peer) == holder || !self.left(connection, now).is_zero();
            let probed = connection.master.has_probed();
            self.statistics.idle += u64::from(!stays && probed);
            self.statistics.unprobed += u64::from(!stays && !probed);
            stays
        });
        self.connections = connections;
    }
}

impl<B: Bus + Send + 'static> Server<B> {
    /// Serves on a separate thread until the handle is stopped or dropped.
    pub fn spawn(mut self) -> Result<ServerHandle<B>, TransportError> {
        let stop = Arc::new(AtomicBool::new(false));
        let (udp, tcp) = (self.udp_addresses(), self.tcp_addresses());
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("etherbone server".into())
            .spawn(move || {
                let result = self.run(&seen);
                (self, result)
            })
            .map_err(|source| TransportError::Io { action: "start a thread".into(), source })?;
        Ok(ServerHandle { stop, thread: Some(thread), udp, tcp })
    }
}

/// The server back, and why it ended.
type Ended<B> = (Server<B>, Result<(), TransportError>);

/// A [`Server`] on its thread.
#[derive(Debug)]
pub struct ServerHandle<B> {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Ended<B>>>,
    udp: Vec<SocketAddr>,
    tcp: Vec<SocketAddr>,
}

impl<B> ServerHandle<B> {
    /// Addresses on which datagrams are received.
    pub fn udp_addresses(&self) -> &[SocketAddr] {
        &self.udp
    }

    /// Addresses on which connections are accepted.
    pub fn tcp_addresses(&self) -> &[SocketAddr] {
        &self.tcp
    }

    /// Ends the thread and returns the server, with its bus and its counts.
    pub fn stop(mut self) -> Result<Server<B>, TransportError> {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        match ended {
            Some(Ok((server, Ok(())))) => Ok(server),
            Some(Ok((_, Err(error)))) => Err(error),
            Some(Err(_)) | None => Err(TransportError::Other("the bus panicked".into())),
        }
    }
}

impl<B> Drop for ServerHandle<B> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic of the bus has been printed by then.
            let _ = thread.join();
        }
    }
}

/// True if a connection could not be accepted because descriptors or memory are exhausted.
fn is_starved(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let starved = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    starved.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Connection,
    Datagrams,
    Listener,
}

impl Connection {
    /// Sends as much as the system accepts; returns whether that was anything.
    fn send(&mut self) -> bool {
        let before = self.sent;
        while let Some(rest) = self.out.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match self.socket.write(rest) {
                Ok(length) if length > 0 => self.sent += length,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                _ => {
                    self.closing = true;
                    self.sent = self.out.len();
                }
            }
        }
        let busy = self.sent > before;
        if self.sent == self.out.len() {
            self.out.clear();
            self.sent = 0;
        }
        busy
    }
}

fn bound_udp(address: SocketAddr) -> std::io::Result<UdpSocket> {
    use socket2::{Domain, Protocol, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    // Bursts of pipelined requests wait here; the system's limit is enough.
    let _ = socket.set_recv_buffer_size(1 << 22);
    socket.bind(&address.into())?;
    Ok(socket.into())
}

fn bound_tcp(address: SocketAddr) -> std::io::Result<TcpListener> {
    use socket2::{Domain, Protocol, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(128)?;
    Ok(socket.into())
}
