// SPDX-License-Identifier: Apache-2.0
//! Sending: datagrams from the send memory, a post each.
//!
//! The MAC addresses of stations are asked for by ARP and kept for as long as the interface is open.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

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
const ANSWER_VALID: u32 = 1 << 24;
/// Requests for a MAC address, and the wait for an answer to each.
pub(super) const ASKS: u32 = 3;
pub(super) const ANSWER_WAIT: Duration = Duration::from_millis(2);

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
    /// Up to 16 destinations; others are added by [`Nic::peer`](super::Nic::peer).
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

/// A destination that is set in the interface.
struct Set {
    peer: Peer,
    /// Number of the last post to it, or of the one before which it was set.
    used: u32,
}

/// State of an open send queue.
pub(super) struct Sending {
    bytes: usize,
    peers: Vec<Set>,
    /// The destination of each post that is not announced.
    waiting: VecDeque<usize>,
    /// Stations that have answered.
    neighbours: Vec<(Ipv4Addr, [u8; 6])>,
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
            stores.extend(peer_stores(number, peer));
        }
        for (register, value) in stores {
            bar.write32(u64::from(MAP + register), value).await?;
        }
        Ok(Self {
            bytes: memory.bytes,
            peers: memory.peers.iter().map(|peer| Set { peer: *peer, used: 0 }).collect(),
            waiting: VecDeque::new(),
            neighbours: memory.peers.iter().map(|peer| (*peer.address.ip(), peer.mac)).collect(),
            posted: 0,
            announced: 0,
        })
    }

    /// The number of a destination that is set.
    pub(super) fn number(&self, to: SocketAddrV4) -> Option<usize> {
        self.peers.iter().position(|set| set.peer.address == to)
    }

    /// The MAC address of a station that has answered.
    pub(super) fn neighbour(&self, station: Ipv4Addr) -> Option<[u8; 6]> {
        self.neighbours.iter().find(|known| known.0 == station).map(|known| known.1)
    }

    /// Keeps the MAC address of a station.
    pub(super) fn learn(&mut self, station: Ipv4Addr, mac: [u8; 6]) {
        match self.neighbours.iter_mut().find(|known| known.0 == station) {
            Some(known) => known.1 = mac,
            None => self.neighbours.push((station, mac)),
        }
    }

    /// Sets a destination, in place of the one that was used longest ago where all are set.
    pub(super) async fn set<M: Mmio>(
        &mut self,
        bar: &mut M,
        peer: Peer,
    ) -> Result<usize, NicError> {
        let number = if self.peers.len() < MAX_PEERS {
            self.peers.len()
        } else {
            // Posts that wait are sent to what is set when they are checked.
            (0..MAX_PEERS)
                .filter(|number| !self.waiting.contains(number))
                .max_by_key(|number| self.posted.wrapping_sub(self.peers[*number].used))
                .ok_or(NicError::SendQueueFull)?
        };
        for (register, value) in peer_stores(number, &peer) {
            bar.write32(u64::from(MAP + register), value).await?;
        }
        let set = Set { peer, used: self.posted };
        match self.peers.get_mut(number) {
            Some(before) => *before = set,
            None => self.peers.push(set),
        }
        Ok(number)
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
        let set = self.peers.len();
        let Some(to) = self.peers.get_mut(peer) else {
            return refuse(format!("peer {peer}: {set} are set"));
        };
        if self.posted.wrapping_sub(self.announced) >= MAX_POSTS {
            return Err(NicError::SendQueueFull);
        }
        let post = (peer as u32) << 27 | (bytes as u32) << 16 | (offset / PLACE_BYTES) as u32;
        bar.write32(u64::from(MAP + regs::POST), post).await?;
        let sequence = self.posted;
        to.used = sequence;
        self.waiting.push_back(peer);
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
        self.waiting.pop_front();
        Ok(())
    }
}

/// The stores that set a destination.
fn peer_stores(number: usize, peer: &Peer) -> [(u32, u32); 4] {
    let mac = peer.mac.iter().fold(0_u64, |mac, byte| mac << 8 | u64::from(*byte));
    let port = u32::from(peer.address.port());
    [
        (regs::PEER_MAC, mac as u32),
        (regs::PEER_PORT, port << 16 | (mac >> 32) as u32),
        (regs::PEER_IP, u32::from(*peer.address.ip())),
        (regs::PEER_SET, PEER_VALID | number as u32),
    ]
}

/// Sends a request for a station's MAC address.
pub(super) async fn ask<M: Mmio>(bar: &mut M, station: Ipv4Addr) -> Result<(), TransportError> {
    bar.write32(u64::from(MAP + regs::ASK), u32::from(station)).await
}

/// The answer to the last request, if it is there.
pub(super) async fn answer<M: Mmio>(bar: &mut M) -> Result<Option<[u8; 6]>, TransportError> {
    let high = bar.read32(u64::from(MAP + regs::ANSWER)).await?;
    if high & ANSWER_VALID == 0 {
        return Ok(None);
    }
    let low = bar.read32(u64::from(MAP + regs::ANSWER_MAC)).await?;
    let [_, _, a, b] = high.to_be_bytes();
    let [c, d, e, f] = low.to_be_bytes();
    Ok(Some([a, b, c, d, e, f]))
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
