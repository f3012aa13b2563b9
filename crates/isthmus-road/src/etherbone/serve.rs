// SPDX-License-Identifier: Apache-2.0
//! A simulated FPGA for real programs: behind a UDP socket, TCP connections, a pseudo-terminal or a
//! TAP interface.
//!
//! Each datagram becomes a frame on the FPGA's wire, as if its sender were at the other end of the
//! cable. Simulated time runs until the device is idle again, and its output is returned to the
//! sender. Streams are split into datagrams. Simulated time stops between requests.

mod config;
mod listen;
mod stream;
mod wire;

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, TcpListener, UdpSocket};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use isthmus_host::etherbone::UDP_MTU;

use self::config::BATCH;
pub use self::config::{ServeScenario, ServeStatus};
use self::listen::{Stream, tcp_listener};
use self::wire::{Output, Peer, Wire};
use super::scenario::{Dialect, EtherboneDevice};
use crate::error::{RoadError, io};
use crate::model::MakeModel;
use crate::tap::Tap;

/// How often the watcher is called at least.
const TICK: Duration = Duration::from_millis(200);
/// How often a terminal that no program has open is polled.
const LOOK: Duration = Duration::from_millis(50);
/// How long a stream's bus cycle may pause before it is split.
const HOLD: Duration = Duration::from_millis(5);
/// Connections wait for this long where the process has no descriptor left for one.
const PAUSE: Duration = Duration::from_millis(100);
/// Datagrams of streams in flight at a time. The device's buffers can always hold these, so that
/// none of them is dropped.
const STREAM_BATCH: usize = 2;

/// Called when everything is open and then a few times a second; `Break` ends the server.
pub type ServeWatch<'a> = &'a mut dyn FnMut(&ServeStatus) -> ControlFlow<()>;

/// Serves a scenario until `watch` breaks, with models that the caller makes.
///
/// # Errors
/// When the scenario is wrong, an address is taken, or the simulation fails.
pub fn serve_with(
    scenario: &ServeScenario,
    make_model: MakeModel<'_>,
    watch: ServeWatch<'_>,
) -> Result<(), RoadError> {
    Server::open(scenario, make_model)?.run(watch)
}

struct Server<'a> {
    scenario: &'a ServeScenario,
    wire: Wire,
    udp: Option<UdpSocket>,
    listener: Option<TcpListener>,
    tap: Option<Tap>,
    streams: Vec<Stream>,
    next_stream: u64,
    /// No connection is accepted before this.
    paused: Option<Instant>,
    status: ServeStatus,
}

impl<'a> Server<'a> {
    fn open(scenario: &'a ServeScenario, make_model: MakeModel<'_>) -> Result<Self, RoadError> {
        scenario.device.check()?;
        for (key, value, low, high) in [
            ("clock_mhz", scenario.clock_mhz, 1.0, 1_000.0),
            ("datagram_limit_us", scenario.datagram_limit_us as f64, 1.0, 10_000_000.0),
            ("max_clients", scenario.max_clients as f64, 1.0, 4_096.0),
            ("max_connections", scenario.max_connections as f64, 1.0, 1_024.0),
            ("probe_timeout_s", scenario.probe_timeout_s as f64, 1.0, 1e6),
            ("idle_timeout_s", scenario.idle_timeout_s as f64, 1.0, 1e6),
        ] {
            if !(low..=high).contains(&value) {
                let reason = format!("{value} is outside {low} to {high}");
                return Err(RoadError::scenario(key, reason));
            }
        }
        if scenario.device.dialect == Dialect::Litex && (scenario.tcp.is_some() || scenario.pty) {
            let reason = "litex has no streams: tcp and pty speak ohwr";
            return Err(RoadError::scenario("device.dialect", reason));
        }
        // The device is ready before a client can connect.
        let wire = Wire::open(scenario, make_model)?;
        let mut server = Self {
            scenario,
            wire,
            udp: None,
            listener: None,
            tap: None,
            streams: Vec::new(),
            next_stream: 0,
            paused: None,
            status: ServeStatus::default(),
        };
        server.listen()?;
        Ok(server)
    }

    fn listen(&mut self) -> Result<(), RoadError> {
        let listening = &mut self.status.listening;
        if let Some(address) = self.scenario.udp {
            let failed = || io(format!("bind udp {address}"));
            let socket = UdpSocket::bind(address).map_err(failed())?;
            socket.set_nonblocking(true).map_err(failed())?;
            listening.push(format!("udp {}", socket.local_addr().map_err(failed())?));
            self.udp = Some(socket);
        }
        if let Some(address) = self.scenario.tcp {
            let listener = tcp_listener(address)?;
            let address = listener.local_addr().map_err(io(format!("bind tcp {address}")))?;
            listening.push(format!("tcp {address}"));
            self.listener = Some(listener);
        }
        if self.scenario.pty {
            let (stream, path) = Stream::terminal(self.next_stream)?;
            listening.push(format!("pty {}", path.display()));
            self.streams.push(stream);
            self.next_stream += 1;
        }
        if let Some(name) = &self.scenario.tap {
            self.tap = Some(Tap::open(name)?);
            let EtherboneDevice { ip, udp_port, .. } = self.scenario.device;
            listening.push(format!("tap {name} {ip}:{udp_port}"));
        }
        if listening.is_empty() {
            let reason = "nothing to listen on: at least one of udp, tcp, tap and pty";
            return Err(RoadError::scenario("document", reason));
        }
        Ok(())
    }

    fn run(mut self, watch: ServeWatch<'_>) -> Result<(), RoadError> {
        if watch(&self.status).is_break() {
            return Ok(());
        }
        let mut told = Instant::now();
        loop {
            self.wait()?;
            self.accept();
            self.hear_streams();
            let arrived = self.take_datagrams()? | self.take_frames()?;
            if arrived && self.simulate(watch)?.is_break() {
                return Ok(());
            }
            // At most this many turns before the others are served.
            let mut drained = false;
            for _ in 0..BATCH {
                drained = !self.take_stream_requests();
                if drained {
                    break;
                }
                if self.simulate(watch)?.is_break() {
                    return Ok(());
                }
                self.close_unanswered();
            }
            self.send_streams(drained);
            let used = self.streams.iter().filter(|stream| !stream.unused).count();
            self.status.clients = self.wire.clients() + used;
            if told.elapsed() >= TICK {
                told = Instant::now();
                if watch(&self.status).is_break() {
                    return Ok(());
                }
            }
        }
    }

    /// Waits until something comes, or for a tick.
    fn wait(&self) -> Result<(), RoadError> {
        let mut fds = Vec::with_capacity(3 + self.streams.len());
        fds.extend(self.udp.as_ref().map(|socket| PollFd::new(socket, PollFlags::IN)));
        let listener = self.listener.as_ref().filter(|_| self.paused.is_none());
        fds.extend(listener.map(|socket| PollFd::new(socket, PollFlags::IN)));
        fds.extend(self.tap.as_ref().map(|tap| PollFd::new(tap, PollFlags::IN)));
        let mut timeout = if self.paused.is_some() { PAUSE } else { TICK };
        for stream in &self.streams {
            match (stream.unused, stream.held) {
                // The system would report a terminal without a user repeatedly.
                (true, _) => timeout = timeout.min(LOOK),
                (false, held) => {
                    fds.push(PollFd::new(stream, stream.events()));
                    let left = held.map(|since| HOLD.saturating_sub(since.elapsed()));
                    timeout = timeout.min(left.unwrap_or(TICK));
                }
            }
        }
        let timeout = Timespec {
            tv_sec: 0,
            // Below a second.
            tv_nsec: timeout.subsec_nanos().into(),
        };
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(io("wait for requests")(error.into())),
        }
    }

    fn allowed(&self, address: IpAddr) -> bool {
        let nets = &self.scenario.allow;
        nets.is_empty() || nets.iter().any(|net| net.contains(&address.to_canonical()))
    }

    fn accept(&mut self) {
        let Some(listener) = &self.listener else { return };
        self.paused = self.paused.filter(|until| *until > Instant::now());
        let mut arrived = Vec::new();
        while self.paused.is_none() && arrived.len() < BATCH {
            match listener.accept() {
                Ok(connection) => arrived.push(connection),
                Err(error) if listen::is_starved(&error) => {
                    // It stays ready: polling again at once would keep a processor busy.
                    self.paused = Some(Instant::now() + PAUSE);
                    self.status.errors += 1;
                }
                Err(_) => break,
            }
        }
        for (socket, peer) in arrived {
            let connections = self.streams.iter().filter(|stream| !stream.is_terminal()).count();
            if !self.allowed(peer.ip()) {
                self.status.not_allowed += 1;
            } else if connections >= self.scenario.max_connections {
                self.status.errors += 1;
            } else if let Ok(stream) = Stream::tcp(self.next_stream, socket) {
                self.streams.push(stream);
                self.next_stream += 1;
            }
        }
    }

    /// Takes received datagrams. Returns whether there was one for the device.
    fn take_datagrams(&mut self) -> Result<bool, RoadError> {
        let mut any = false;
        // One byte more than allowed detects datagrams that are too long.
        let mut buffer = [0; UDP_MTU + 1];
        for _ in 0..BATCH {
            let Some(socket) = &self.udp else { break };
            match socket.recv_from(&mut buffer) {
                Ok((_, peer)) if !self.allowed(peer.ip()) => self.status.not_allowed += 1,
                Ok((length, peer)) => {
                    self.status.requests += 1;
                    let put = self.wire.put(&buffer[..length], Peer::Udp(peer));
                    self.status.errors += u64::from(!put);
                    any |= put;
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::Interrupted => break,
                    // A client has closed its socket: its system's answer to an earlier reply shows
                    // it.
                    ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused => {
                        self.status.errors += 1;
                    }
                    _ => return Err(io("receive on udp")(error)),
                },
            }
        }
        Ok(any)
    }

    /// Takes received frames. Returns whether there was one for the device.
    fn take_frames(&mut self) -> Result<bool, RoadError> {
        let mut any = false;
        for _ in 0..BATCH {
            let Some(tap) = &self.tap else { break };
            let Some(frame) = tap.receive().map_err(io("receive on tap"))? else { break };
            if !self.scenario.allow.is_empty()
                && !sender(&frame).is_some_and(|address| self.allowed(address.into()))
            {
                self.status.not_allowed += 1;
                continue;
            }
            self.status.requests += 1;
            let put = self.wire.put_frame(&frame);
            self.status.errors += u64::from(!put);
            any |= put;
        }
        Ok(any)
    }

    fn hear_streams(&mut self) {
        for stream in self.streams.iter_mut().filter_map(|s| s.looked_at().then_some(s)) {
            stream.receive();
        }
    }

    /// Ends a connection; a terminal waits for its next user.
    fn close(&mut self, id: u64) {
        self.wire.forget(id);
        self.streams.retain_mut(|stream| {
            if stream.id == id {
                stream.restart();
            }
            stream.id != id || stream.is_terminal()
        });
    }

    /// Puts a few datagrams of streams onto the wire, of each stream in its turn.
    fn take_stream_requests(&mut self) -> bool {
        let (mut taken, mut broken) = (0, Vec::new());
        for stream in &mut self.streams {
            while taken < STREAM_BATCH {
                let late = stream.held.is_some_and(|since| since.elapsed() >= HOLD);
                match stream.framer.next(late || stream.closing) {
                    Ok(Some(request)) => {
                        stream.held = None;
                        stream.owed.push_back(request.expect);
                        self.status.requests += 1;
                        self.wire.put(&request.payload, Peer::Stream(stream.id));
                        taken += 1;
                    }
                    Ok(None) => {
                        let holds = stream.framer.holds();
                        stream.held = holds.then(|| stream.held.unwrap_or_else(Instant::now));
                        break;
                    }
                    Err(_) => {
                        broken.push(stream.id);
                        break;
                    }
                }
            }
        }
        self.status.errors += broken.len() as u64;
        for id in broken {
            self.close(id);
        }
        // The next turn begins with the next stream.
        if taken > 0 && !self.streams.is_empty() {
            self.streams.rotate_left(1);
        }
        taken > 0
    }

    /// Runs until the device is idle and returns the frames it sent.
    fn simulate(&mut self, watch: ServeWatch<'_>) -> Result<ControlFlow<()>, RoadError> {
        let flow = self.wire.run(&mut self.status, TICK, watch)?;
        for output in self.wire.take() {
            let delivered = match output {
                Output::Datagram(peer, payload) => match &self.udp {
                    Some(socket) => socket.send_to(&payload, peer).is_ok(),
                    None => false,
                },
                Output::Stream(id, payload) => self.answer(id, &payload),
                Output::Frame(frame) => self.tap.as_ref().is_some_and(|tap| tap.send(&frame)),
                Output::Lost => false,
            };
            match delivered {
                true => self.status.replies += 1,
                false => self.status.errors += 1,
            }
        }
        Ok(flow)
    }

    fn answer(&mut self, id: u64, payload: &[u8]) -> bool {
        let stream = self.streams.iter_mut().find(|stream| stream.id == id);
        let Some(stream) = stream else { return false };
        let Some(expect) = stream.owed.pop_front() else { return false };
        match expect.bytes_of(payload) {
            Some(bytes) => {
                stream.answer(bytes);
                true
            }
            None => false,
        }
    }

    /// A stream cannot continue without a part of its answer: the device was reset, or timed out.
    fn close_unanswered(&mut self) {
        let lost: Vec<u64> =
            self.streams.iter().filter(|s| !s.owed.is_empty()).map(|s| s.id).collect();
        self.status.errors += lost.len() as u64;
        for id in lost {
            self.close(id);
        }
    }

    /// Sends answers, and closes ended connections. `drained`: all received requests have been
    /// answered.
    fn send_streams(&mut self, drained: bool) {
        let idle = Duration::from_secs(self.scenario.idle_timeout_s);
        let probe = Duration::from_secs(self.scenario.probe_timeout_s);
        let mut gone = Vec::new();
        for stream in self.streams.iter_mut().filter(|stream| !stream.unused) {
            let there = stream.send();
            let ended = stream.closing && drained && stream.is_sent();
            let idle = !stream.is_terminal() && stream.active.elapsed() > idle;
            let silent = stream.unprobed().is_some_and(|waited| waited >= probe);
            self.status.errors += u64::from(silent);
            if !there || ended || idle || silent {
                gone.push(stream.id);
            }
        }
        for id in gone {
            self.close(id);
        }
    }
}

/// Whose frame it is, by IPv4 or ARP.
fn sender(frame: &[u8]) -> Option<Ipv4Addr> {
    let at = match frame.get(12..14)? {
        [8, 0] => 26,
        [8, 6] => 28,
        _ => return None,
    };
    <[u8; 4]>::try_from(frame.get(at..at + 4)?).ok().map(Ipv4Addr::from)
}
