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
    pub(super) came: Option<Picoseconds>,
    /// When the data was also where it is used: in the host's memory it is before the event.
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
        self.sent.push(Sent { id, due, good, came: None, seen: None });
        self.in_flight += u64::from(good);
    }

    /// Whether a buffer holds `datagrams` that may be next.
    pub(super) fn holds(&self, datagrams: usize, bytes: &[u8]) -> bool {
        self.numbers(datagrams, bytes).is_ok()
    }

    /// Checks a received buffer with `datagrams` of this port: when its event came, and when the data was there too.
    pub(super) fn buffer(
        &mut self,
        datagrams: usize,
        bytes: &[u8],
        [came, seen]: [Picoseconds; 2],
    ) -> Result<(), RoadError> {
        for number in self.numbers(datagrams, bytes)? {
            (self.sent[number].came, self.sent[number].seen) = (Some(came), Some(seen));
            self.next = number + 1;
            self.in_flight = self.in_flight.saturating_sub(1);
            self.seen += 1;
            self.compared += self.bytes as u64;
        }
        Ok(())
    }

    /// Numbers of the datagrams in a buffer, of which every byte was compared.
    fn numbers(&self, datagrams: usize, bytes: &[u8]) -> Result<Vec<usize>, RoadError> {
        let wrong =
            |what: String| Err(RoadError::Violation(format!("nanet: port {}: {what}", self.port)));
        let expected = datagrams.saturating_sub(1) * self.place + self.bytes;
        if datagrams == 0 || bytes.len() != expected {
            let got = bytes.len();
            return wrong(format!("{datagrams} datagrams in {got} bytes: {expected} expected"));
        }
        let (mut next, mut numbers) = (self.next, Vec::with_capacity(datagrams));
        for place in bytes.chunks(self.place) {
            let data = &place[..self.bytes];
            let mut number = [0; 4];
            number.copy_from_slice(&data[..4]);
            let number = u32::from_le_bytes(number) as usize;
            if number < next || number >= self.sent.len() || !self.sent[number].good {
                return wrong(format!("datagram {number} came, {next} or a later one expected"));
            }
            if self.payload(number) != data {
                return wrong(format!("datagram {number} has wrong bytes"));
            }
            numbers.push(number);
            next = number + 1;
        }
        Ok(numbers)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        let faults = NanetFaults::default();
        let (sent, seed, bytes, place) = (Vec::new(), 3, 100, 128);
        let mut made = Ledger {
            port: 0,
            bytes,
            place,
            seed,
            faults,
            sent,
            next: 0,
            in_flight: 0,
            seen: 0,
            compared: 0,
        };
        (0..3).for_each(|id| made.send(FrameId(id), Picoseconds(id), Spoil::Nothing));
        made
    }

    /// Two datagrams in a buffer.
    fn buffer(of: &Ledger, numbers: [usize; 2]) -> Vec<u8> {
        let mut bytes = of.payload(numbers[0]);
        bytes.resize(of.place, 0);
        bytes.extend(of.payload(numbers[1]));
        bytes
    }

    #[test]
    fn a_buffer_is_whole_when_its_last_byte_is_right_and_is_received_once() {
        let mut ledger = ledger();
        let bytes = buffer(&ledger, [0, 1]);
        for wrong in [0, 50, 99, 128, 227] {
            let mut other = bytes.clone();
            other[wrong] ^= 1;
            assert!(!ledger.holds(2, &other), "byte {wrong}");
        }
        assert!(!ledger.holds(2, &bytes[..227]));
        assert!(!ledger.holds(2, &buffer(&ledger, [1, 0])));
        assert!(ledger.holds(2, &bytes));
        let [came, seen] = [Picoseconds(7), Picoseconds(9)];
        ledger.buffer(2, &bytes, [came, seen]).expect("right");
        let times: Vec<_> = ledger.sent.iter().map(|one| (one.came, one.seen)).collect();
        assert_eq!(times, [(Some(came), Some(seen)), (Some(came), Some(seen)), (None, None)]);
        assert_eq!((ledger.seen, ledger.in_flight, ledger.compared), (2, 1, 200));
        assert!(!ledger.holds(2, &bytes), "a second time");
    }

    #[test]
    fn a_wrong_buffer_changes_nothing() {
        let mut ledger = ledger();
        let mut bytes = buffer(&ledger, [0, 1]);
        bytes[227] ^= 1;
        let error =
            ledger.buffer(2, &bytes, [Picoseconds(7); 2]).map_err(|error| error.to_string());
        assert!(error.is_err_and(|error| error.contains("datagram 1 has wrong bytes")));
        assert_eq!((ledger.seen, ledger.in_flight, ledger.compared), (0, 3, 0));
    }
}
