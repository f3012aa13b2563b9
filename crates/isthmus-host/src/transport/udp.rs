// SPDX-License-Identifier: Apache-2.0

use std::io::{ErrorKind, IoSliceMut};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use quinn_udp::{RecvMeta, UdpSockRef, UdpSocketState};

use super::batch::{BATCH_BYTES, Batch};
use super::waiting::ReadTimeout;
use super::{DeviceName, Kind, Transport, TransportError, WithoutWaiting, wait_readable};

/// One receive call brings at most this many bytes: 64 merged datagrams or one of any length.
const BUFFER: usize = 1 << 17;
/// The requested receive buffer.
const RECEIVE_ROOM: usize = 1 << 22;

/// Etherbone's `udp`, `udp4` and `udp6` over a socket of the operating system.
///
/// The socket is connected: datagrams of other senders never reach the client. Receiving blocks
/// the calling thread until the deadline. If the system supports it, datagrams of equal length are
/// passed to the kernel together (generic segmentation offload) and received together; on the wire
/// each is one datagram.
#[derive(Debug)]
pub struct UdpTransport {
    socket: UdpSocket,
    state: UdpSocketState,
    peer: SocketAddr,
    /// The receive buffer, as the system counts it.
    room: Option<usize>,
    origin: Instant,
    spin: Duration,
    /// The receive call blocks, up to `timeout`.
    blocking: bool,
    timeout: ReadTimeout,
    mtu: usize,
    batch: Batch,
    /// Data of the last receive call: `received[at..end]` in messages of `stride` bytes.
    received: Vec<u8>,
    at: usize,
    end: usize,
    stride: usize,
}

impl UdpTransport {
    /// Connects to a [`DeviceName`] of UDP, from a port that the system picks.
    pub fn connect(name: &str) -> Result<Self, TransportError> {
        match name.parse()? {
            DeviceName::Udp(host) => Self::connect_socket(host.resolve()?),
            other => Err(TransportError::Other(format!("{other} is not udp"))),
        }
    }

    /// Connects to a resolved address, from a port that the system picks.
    pub fn connect_socket(peer: SocketAddr) -> Result<Self, TransportError> {
        Self::connect_from(0, peer)
    }

    /// Connects from a port of this host: LiteEth gateware answers to port 1234 only.
    pub fn connect_from(port: u16, peer: SocketAddr) -> Result<Self, TransportError> {
        let io = |action: &str, source| TransportError::Io {
            action: format!("{action} udp {peer}"),
            source,
        };
        let local: SocketAddr = match peer {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, port).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, port).into(),
        };
        let socket = UdpSocket::bind(local).map_err(|e| io("open", e))?;
        socket.connect(peer).map_err(|e| io("connect", e))?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket)).map_err(|e| io("set up", e))?;
        let buffer = socket2::SockRef::from(&socket);
        // The system's limit is enough.
        let _ = buffer.set_recv_buffer_size(RECEIVE_ROOM);
        let room = buffer.recv_buffer_size().ok();
        let transport = Self {
            socket,
            state,
            peer,
            room,
            origin: Instant::now(),
            spin: Duration::ZERO,
            blocking: false,
            timeout: ReadTimeout::default(),
            mtu: super::UDP_MTU,
            batch: Batch::new(peer, true),
            received: vec![0; BUFFER],
            at: 0,
            end: 0,
            stride: 0,
        };
        Ok(transport.with_spin(Duration::ZERO))
    }

    /// Polls for up to `spin` before the thread sleeps: answers sooner, for a busy processor.
    pub fn with_spin(mut self, spin: Duration) -> Self {
        self.spin = spin;
        // A polling transport must not sleep in the receive call.
        self.blocking = spin.is_zero() && self.socket.set_nonblocking(false).is_ok();
        if !self.blocking {
            let _ = self.socket.set_nonblocking(true);
        }
        self
    }

    /// Sends datagrams of up to `mtu` bytes of payload instead of 1472: less where the path carries
    /// less, more where it carries jumbo frames.
    pub fn with_mtu(mut self, mtu: usize) -> Self {
        self.mtu = mtu.clamp(64, BATCH_BYTES);
        self
    }

    /// The device's address.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    fn io(&self, action: &str, source: std::io::Error) -> TransportError {
        TransportError::Io { action: format!("{action} udp {}", self.peer), source }
    }

    fn send_batch(&mut self) -> Result<(), TransportError> {
        let sent = self.batch.send(&self.socket, &self.state);
        sent.map_err(|e| self.io("send to", e))
    }

    /// Waits until something can be received, unless the receive call does so; `false` when the
    /// deadline has passed.
    fn wait(&mut self, deadline: Duration) -> std::io::Result<bool> {
        let left = deadline.saturating_sub(self.now());
        if !self.blocking || left.is_zero() {
            return wait_readable(&self.socket, left);
        }
        self.timeout.set(&self.socket, left)?;
        Ok(true)
    }

    /// The next message of those that the last receive call brought.
    fn next(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let message = self.received.get(self.at..self.end.min(self.at + self.stride))?;
        if message.is_empty() {
            return None;
        }
        self.at += message.len();
        let length = message.len().min(buffer.len());
        buffer[..length].copy_from_slice(&message[..length]);
        Some(length)
    }

    /// One receive call.
    fn fill(&mut self) -> std::io::Result<()> {
        let mut meta = [RecvMeta::default()];
        let mut buffers = [IoSliceMut::new(&mut self.received)];
        self.state.recv(UdpSockRef::from(&self.socket), &mut buffers, &mut meta)?;
        let [meta] = meta;
        (self.at, self.end, self.stride) = (0, meta.len, meta.stride.max(1));
        Ok(())
    }
}

impl Transport for UdpTransport {
    fn kind(&self) -> Kind {
        Kind::Datagram
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    fn room(&self) -> Option<usize> {
        self.room
    }

    fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        let sent = self.batch.push(&self.socket, &self.state, self.peer, message);
        sent.map_err(|e| self.io("send to", e))
    }

    async fn flush(&mut self) -> Result<(), TransportError> {
        self.send_batch()
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        self.send_batch()?;
        let spin_until = if self.spin.is_zero() { Duration::ZERO } else { self.now() + self.spin };
        loop {
            if let Some(length) = self.next(buffer) {
                return Ok(length);
            }
            // Without spinning, sleep first: an answer has rarely arrived yet.
            if self.now() >= spin_until
                && !self.wait(deadline).map_err(|e| self.io("wait for", e))?
            {
                return Err(TransportError::TimedOut);
            }
            match self.fill() {
                Ok(()) if self.end == 0 => return Ok(0),
                Ok(()) => {}
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    std::thread::yield_now();
                }
                Err(e) => return Err(self.io("receive from", e)),
            }
        }
    }
}

impl AsFd for UdpTransport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl WithoutWaiting for UdpTransport {
    fn prepare(&mut self) -> Result<(), TransportError> {
        self.spin = Duration::ZERO;
        self.blocking = false;
        self.socket.set_nonblocking(true).map_err(|e| self.io("set up", e))
    }

    fn try_queue(&mut self, message: &[u8]) -> Result<bool, TransportError> {
        if !self.batch.fits(&self.state, self.peer, message) && !self.try_flush()? {
            return Ok(false);
        }
        let sent = self.batch.push(&self.socket, &self.state, self.peer, message);
        sent.map(|()| true).map_err(|e| self.io("send to", e))
    }

    fn try_flush(&mut self) -> Result<bool, TransportError> {
        let sent = self.batch.try_send(&self.socket, &self.state);
        sent.map_err(|e| self.io("send to", e))
    }

    fn try_recv(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, TransportError> {
        loop {
            if let Some(length) = self.next(buffer) {
                return Ok(Some(length));
            }
            match self.fill() {
                Ok(()) if self.end == 0 => return Ok(Some(0)),
                Ok(()) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(self.io("receive from", e)),
            }
        }
    }
}
