// SPDX-License-Identifier: Apache-2.0
//! The switch that no switch can beat: every output takes any number of packets at once and serves them in
//! the order in which they were made, a word a clock.

use isthmus_sim::SimError;
use isthmus_sim::world::link::Key;

use super::link::{Delivery, Packet, Source, TrafficConfig};

/// Packets in the order in which they were made, each with what becomes of it.
pub(super) struct Ideal {
    sources: Vec<Source>,
    next: Vec<Option<Packet>>,
    free: Vec<u64>,
    sequence: Vec<u32>,
    framing: u64,
    /// From a packet's making to its first word at the sink, without other traffic.
    unloaded: u64,
    /// From a packet's making to its first word at the source's transceiver.
    transmit: u64,
}

impl Ideal {
    pub(super) fn new(
        traffic: &TrafficConfig,
        transmit: u64,
        unloaded: u64,
    ) -> Result<Self, SimError> {
        let mut sources = traffic.sources()?;
        let ports = sources.len();
        Ok(Self {
            next: sources.iter_mut().map(|source| source.next(0)).collect(),
            sources,
            free: vec![0; ports],
            sequence: vec![0; ports * ports],
            framing: u64::from(traffic.framing),
            unloaded,
            transmit,
        })
    }

    /// When the next packet is made.
    pub(super) fn next_created(&self) -> Option<u64> {
        self.next.iter().flatten().map(|packet| packet.created).min()
    }

    /// Result of the next packet.
    pub(super) fn step(&mut self) -> Option<Delivery> {
        let made = |(port, packet): (usize, &Option<Packet>)| packet.map(|p| (p.created, port));
        let (created, port) = self.next.iter().enumerate().filter_map(made).min()?;
        let packet = self.next[port].take()?;
        self.next[port] = self.sources[port].next(created);
        let output = usize::from(packet.destination);
        let begin = created.max(self.free[output]);
        self.free[output] = begin + u64::from(packet.words) + self.framing;
        let flow = port * self.free.len() + output;
        let sequence = self.sequence[flow];
        self.sequence[flow] += 1;
        let (source, destination) = (port as u8, packet.destination);
        let arrived = begin + self.unloaded;
        Some(Delivery {
            key: Key { source, destination, sequence },
            words: packet.words,
            created: created as u32,
            left: (created + self.transmit) as u32,
            entered: 0,
            departed: 0,
            arrived: arrived as u32,
        })
    }
}
