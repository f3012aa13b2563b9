// SPDX-License-Identifier: Apache-2.0
//! Datagrams of one length to one peer, sent with one call (generic segmentation offload).

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use quinn_udp::{Transmit, UdpSockRef, UdpSocketState};

use super::wait_writable;

/// Limit of one call: the longest UDP payload.
pub(crate) const BATCH_BYTES: usize = 65_000;
/// How long a full send buffer may take to empty.
const SEND_STALL: Duration = Duration::from_secs(1);

/// Messages of `segment` bytes, of which the last may be shorter.
#[derive(Debug)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    segment: usize,
    peer: SocketAddr,
    /// The socket is connected to the peer.
    connected: bool,
}

impl Batch {
    pub(crate) fn new(peer: SocketAddr, connected: bool) -> Self {
        Self { bytes: Vec::new(), segment: 0, peer, connected }
    }

    /// Adds a message; if it does not fit to the batch, the batch is sent first.
    pub(crate) fn push(
        &mut self,
        socket: &UdpSocket,
        state: &UdpSocketState,
        peer: SocketAddr,
        message: &[u8],
    ) -> std::io::Result<()> {
        let fits = self.fits(state, peer, message);
        let sent = if fits { Ok(()) } else { self.send(socket, state) };
        if self.bytes.is_empty() {
            self.segment = message.len();
            self.peer = peer;
        }
        self.bytes.extend_from_slice(message);
        sent
    }

    /// True if a message fits without sending the batch first.
    pub(crate) fn fits(&self, state: &UdpSocketState, peer: SocketAddr, message: &[u8]) -> bool {
        // A shorter one ends the batch, a longer one begins another.
        self.bytes.is_empty()
            || self.peer == peer
                && self.bytes.len().is_multiple_of(self.segment.max(1))
                && message.len() <= self.segment
                && self.bytes.len() + message.len() <= BATCH_BYTES
                && self.bytes.len() < state.max_gso_segments() * self.segment
    }

    /// Sends what waits, unless the system has no room: then `false`. On an error it is lost.
    pub(crate) fn try_send(
        &mut self,
        socket: &UdpSocket,
        state: &UdpSocketState,
    ) -> std::io::Result<bool> {
        if self.bytes.is_empty() {
            return Ok(true);
        }
        let sent = self.send_once(socket, state);
        if sent.as_ref().is_err_and(|e| e.kind() == ErrorKind::WouldBlock) {
            return Ok(false);
        }
        self.bytes.clear();
        sent.map(|()| true)
    }

    /// Sends what waits. On an error it is lost.
    pub(crate) fn send(
        &mut self,
        socket: &UdpSocket,
        state: &UdpSocketState,
    ) -> std::io::Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let sent = self.send_now(socket, state);
        self.bytes.clear();
        sent
    }

    fn send_now(&self, socket: &UdpSocket, state: &UdpSocketState) -> std::io::Result<()> {
        loop {
            match self.send_once(socket, state) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    if !wait_writable(socket, SEND_STALL)? {
                        return Err(e);
                    }
                }
                ended => return ended,
            }
        }
    }

    fn send_once(&self, socket: &UdpSocket, state: &UdpSocketState) -> std::io::Result<()> {
        let mut refused = false;
        loop {
            let sent = if self.bytes.len() <= self.segment {
                match self.connected {
                    true => socket.send(&self.bytes).map(drop),
                    false => socket.send_to(&self.bytes, self.peer).map(drop),
                }
            } else {
                let transmit = Transmit {
                    destination: self.peer,
                    ecn: None,
                    contents: &self.bytes,
                    segment_size: Some(self.segment),
                    src_ip: None,
                };
                state.try_send(UdpSockRef::from(socket), &transmit)
            };
            match sent {
                // The answer to an earlier datagram (ICMP port unreachable) surfaces here once.
                Err(e) if e.kind() == ErrorKind::ConnectionRefused && !refused => refused = true,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                ended => return ended,
            }
        }
    }
}
