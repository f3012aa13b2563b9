// SPDX-License-Identifier: Apache-2.0
//! Datagrams that were sent on each port and received by the program: every byte is compared.

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::FrameId;

use super::scenario::{NanetFaults, NanetScenario};
use super::world::Spoil;
use crate::error::RoadError;

/// A datagram of a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) id: FrameId,
    /// Intended time of sending.
    pub(super) due: Picoseconds,
    pub(super) good: bool,
    /// When the program received its event.
    pub(super) seen: Option<Picoseconds>,
}

/// Datagrams of one port.
pub(super) struct Ledger {
    port: usize,
    bytes: usize,
    place: usize,
    seed: u64,
    faults: NanetFaults,
    pub(super) sent: Vec<Sent>,
    /// The first datagram without an event.
    next: usize,
    /// Number of correct datagrams that were sent and not yet received.
    pub(super) in_flight: u64,
    pub(super) seen: u64,
    pub(super) compared: u64,
}

impl Ledger {
    pub(super) fn new(scenario: &NanetScenario, port: usize) -> Self {
        Self {
            port,
            bytes: scenario.workload.bytes,
            place: scenario.place_bytes(),
            seed: scenario.seed,
            faults: scenario.faults,
            sent: Vec::new(),
            next: 0,
            in_flight: 0,
            seen: 0,
            compared: 0,
        }
    }

    /// Payload of the next datagram, and the fault in it, if any.
    pub(super) fn make(&self) -> (Vec<u8>, Spoil) {
        let number = self.sent.len() as u64;
        let every = |period: u64| period != 0 && number % period == period - 1;
        let spoil = match self.faults {
            faults if every(faults.bad_checksum_every) => Spoil::Checksum,
            faults if every(faults.bad_fcs_every) => Spoil::Fcs,
            _ => Spoil::Nothing,
        };
        (self.payload(self.sent.len()), spoil)
    }

    /// Notes that the next datagram is sent.
    pub(super) fn send(&mut self, id: FrameId, due: Picoseconds, spoil: Spoil) {
        let good = spoil == Spoil::Nothing;
        self.sent.push(Sent { id, due, good, seen: None });
        self.in_flight += u64::from(good);
    }

    /// Checks a received buffer with `datagrams` of this port.
    pub(super) fn buffer(
        &mut self,
        datagrams: usize,
        bytes: &[u8],
        now: Picoseconds,
    ) -> Result<(), RoadError> {
        let wrong = |port: usize, what: String| {
            Err(RoadError::Violation(format!("nanet: port {port}: {what}")))
        };
        let expected = datagrams.saturating_sub(1) * self.place + self.bytes;
        if datagrams == 0 || bytes.len() != expected {
            let got = bytes.len();
            return wrong(
                self.port,
                format!("{datagrams} datagrams in {got} bytes: {expected} expected"),
            );
        }
        for place in bytes.chunks(self.place) {
            let data = &place[..self.bytes];
            let mut number = [0; 4];
            number.copy_from_slice(&data[..4]);
            let number = u32::from_le_bytes(number) as usize;
            if number < self.next || number >= self.sent.len() || !self.sent[number].good {
                let next = self.next;
                return wrong(
                    self.port,
                    format!("datagram {number} came, {next} or a later one expected"),
                );
            }
            if self.payload(number) != data {
                return wrong(self.port, format!("datagram {number} has wrong bytes"));
            }
            self.sent[number].seen = Some(now);
            self.next = number + 1;
            self.in_flight = self.in_flight.saturating_sub(1);
            self.seen += 1;
            self.compared += data.len() as u64;
        }
        Ok(())
    }

    /// A unique number, and bytes that depend on it, on the port and on the seed.
    fn payload(&self, number: usize) -> Vec<u8> {
        let mut state = (self.seed ^ (self.port as u64) << 56)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(number as u64)
            | 1;
        let mut bytes = (number as u32).to_le_bytes().to_vec();
        while bytes.len() < self.bytes {
            // xorshift64*
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            bytes.extend(state.wrapping_mul(0x2545_F491_4F6C_DD1D).to_le_bytes());
        }
        bytes.truncate(self.bytes);
        bytes
    }
}
