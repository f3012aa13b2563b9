// SPDX-License-Identifier: Apache-2.0
//! Sending: datagrams from the send memory, a post each.

use std::net::SocketAddrV4;

use super::{EVENT_BYTES, Event, NicError, PLACE_BYTES};
use crate::pcie::Mmio;
use crate::regs::nanet_send as regs;
use crate::transport::TransportError;

/// Where the send queue's registers are.
const MAP: u32 = 0x100;
/// Longest payload of a datagram.
pub const MAX_SEND_BYTES: usize = 1472;
/// Longest send memory.
const MAX_MEMORY_BYTES: usize = 4 << 20;
const MAX_PEERS: usize = 16;
/// Posts that may wait, beside those under way.
pub const MAX_POSTS: u32 = 16;
/// The list in events of datagrams sent.
pub(super) const LIST: u8 = 0x80;
const PEER_VALID: u32 = 1 << 24;

/// Where datagrams may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its MAC address, or a router's.
    pub mac: [u8; 6],
    /// Its address and UDP port.
    pub address: SocketAddrV4,
}

/// The memory that datagrams are sent from, and their destinations. The interface reads no other memory to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendMemory {
    /// Where it begins in the memory: a multiple of [`PLACE_BYTES`].
    pub offset: usize,
    /// Its length: a multiple of [`PLACE_BYTES`], at most 4 MiB.
    pub bytes: usize,
    /// Up to 16 destinations.
    pub peers: Vec<Peer>,
}

/// Why the interface refused a post; the driver's own checks find each before it posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Longer than a datagram of Ethernet.
    Long,
    /// It leaves the send memory.
    Outside,
    /// Its peer is not set.
    Peer,
}

/// The outcome of a post: its place may be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Number of the post, from 0 on.
    pub sequence: u32,
    /// Where its payload was, from the send memory's begin.
    pub offset: usize,
    /// Bytes of payload.
    pub bytes: usize,
    /// Where it was sent.
    pub peer: SocketAddrV4,
    /// Memory answered a read with an error: the frame was sent with a wrong frame check sequence.
    pub error: bool,
    /// Nothing was sent.
    pub refused: Option<Refusal>,
}

impl Sent {
    pub(super) fn decode(bytes: &[u8; EVENT_BYTES]) -> Self {
        let event = Event::decode(bytes);
        let refused = match bytes[0] >> 1 {
            0 => None,
            1 => Some(Refusal::Long),
            2 => Some(Refusal::Outside),
            _ => Some(Refusal::Peer),
        };
        Self {
            sequence: event.sequence,
            offset: usize::from(event.index) * PLACE_BYTES,
            bytes: event.bytes as usize,
            peer: event.source,
            error: event.error,
            refused,
        }
    }
}

/// State of an open send queue.
pub(super) struct Sending {
    bytes: usize,
    peers: usize,
    posted: u32,
    announced: u32,
}

impl Sending {
    /// Sets the queue up.
    pub(super) async fn open<M: Mmio>(
        bar: &mut M,
        base: u64,
        memory: &SendMemory,
    ) -> Result<Self, TransportError> {
        let at = base + memory.offset as u64;
        let mut stores = vec![
            (regs::SEND_LO, at as u32),
            (regs::SEND_HI, (at >> 32) as u32),
            (regs::SEND_BYTES, memory.bytes as u32),
        ];
        for (number, peer) in memory.peers.iter().enumerate() {
            let mac = peer.mac.iter().fold(0_u64, |mac, byte| mac << 8 | u64::from(*byte));
            let port = u32::from(peer.address.port());
            stores.extend([
                (regs::PEER_MAC, mac as u32),
                (regs::PEER_PORT, port << 16 | (mac >> 32) as u32),
                (regs::PEER_IP, u32::from(*peer.address.ip())),
                (regs::PEER_SET, PEER_VALID | number as u32),
            ]);
        }
        for (register, value) in stores {
            bar.write32(u64::from(MAP + register), value).await?;
        }
        Ok(Self { bytes: memory.bytes, peers: memory.peers.len(), posted: 0, announced: 0 })
    }

    /// Posts a datagram.
    pub(super) async fn post<M: Mmio>(
        &mut self,
        bar: &mut M,
        offset: usize,
        bytes: usize,
        peer: usize,
    ) -> Result<u32, NicError> {
        let refuse = |what: String| Err(NicError::Send { what });
        if bytes > MAX_SEND_BYTES {
            return refuse(format!("{bytes} bytes: a datagram has at most {MAX_SEND_BYTES}"));
        }
        let end = offset.checked_add(bytes);
        if !offset.is_multiple_of(PLACE_BYTES) || end.is_none_or(|end| end > self.bytes) {
            return refuse(format!(
                "{bytes} bytes at {offset:#x}: inside the send memory of {} bytes, at a multiple of {PLACE_BYTES}, \
                 expected",
                self.bytes
            ));
        }
        if peer >= self.peers {
            return refuse(format!("peer {peer}: {} are set", self.peers));
        }
        if self.posted.wrapping_sub(self.announced) >= MAX_POSTS {
            return Err(NicError::SendQueueFull);
        }
        let post = (peer as u32) << 27 | (bytes as u32) << 16 | (offset / PLACE_BYTES) as u32;
        bar.write32(u64::from(MAP + regs::POST), post).await?;
        let sequence = self.posted;
        self.posted = self.posted.wrapping_add(1);
        Ok(sequence)
    }

    /// Notes an announced datagram.
    pub(super) fn announce(&mut self, sent: &Sent) -> Result<(), NicError> {
        if sent.sequence != self.announced || self.posted == self.announced {
            let reason = format!("datagram {} sent, {} expected", sent.sequence, self.announced);
            return Err(NicError::Event { reason });
        }
        self.announced = self.announced.wrapping_add(1);
        Ok(())
    }
}

/// Frames of posts that were sent with a wrong frame check sequence: memory answered with an error, or too late.
/// Modulo 2^16.
pub(super) async fn spoiled<M: Mmio>(bar: &mut M) -> Result<u16, TransportError> {
    Ok((bar.read32(u64::from(MAP + regs::SENT)).await? >> 16) as u16)
}

/// What is wrong with a send memory, if anything is.
pub(super) fn fault(memory: &SendMemory, size: usize, version: u32) -> Option<String> {
    let SendMemory { offset, bytes, peers } = memory;
    if version >> 29 & 1 == 0 {
        return Some("this interface sends no datagrams of a program".to_owned());
    }
    if !offset.is_multiple_of(PLACE_BYTES)
        || !bytes.is_multiple_of(PLACE_BYTES)
        || *bytes > MAX_MEMORY_BYTES
        || offset.checked_add(*bytes).is_none_or(|end| end > size)
    {
        return Some(format!(
            "a send memory of {bytes} bytes at {offset:#x}: inside the memory of {size} bytes, multiples of \
             {PLACE_BYTES}, at most 4 MiB, expected"
        ));
    }
    (peers.len() > MAX_PEERS).then(|| format!("{} peers: at most {MAX_PEERS}", peers.len()))
}
