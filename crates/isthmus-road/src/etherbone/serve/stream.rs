// SPDX-License-Identifier: Apache-2.0
//! Etherbone as a byte stream, cut into the datagrams that the device's wire carries, and back.
//!
//! A stream is one probe and then records without end; a datagram is a header and whole records. A
//! reply has a word for each word of its request, so a stream's reply is that of its datagrams
//! without their headers.

use isthmus_host::etherbone::UDP_MTU;

/// Length of a probe and of its reply.
const PROBE_LENGTH: usize = 8;
const HEADER: [u8; 4] = [0x4E, 0x6F, 0x10, 0x44];
/// Records of one datagram.
const ROOM: usize = UDP_MTU - HEADER.len();
/// Bytes that may wait here; the longest record has 2052.
const CAPACITY: usize = 65_536;
/// Drop the cycle line.
const CYC: u8 = 0x08;

/// Violations in a stream's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken;

/// A datagram for the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) payload: Vec<u8>,
    pub(super) expect: Expect,
}

/// Its expected reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Expect {
    length: usize,
    /// Bytes at its front that the stream does not carry.
    strip: usize,
}

impl Expect {
    /// The reply's part of the stream.
    pub(super) fn bytes_of(self, reply: &[u8]) -> Option<&[u8]> {
        (reply.len() == self.length).then(|| reply.get(self.strip..)).flatten()
    }
}

/// One stream.
#[derive(Debug, Default)]
pub(super) struct Framer {
    input: Vec<u8>,
    /// The probe has been seen.
    open: bool,
    /// The second half of a record too long for a datagram.
    rest: Option<Request>,
}

impl Framer {
    /// True if its probe has arrived.
    pub(super) fn has_probed(&self) -> bool {
        self.open
    }

    /// How many bytes it takes.
    pub(super) fn room(&self) -> usize {
        CAPACITY.saturating_sub(self.input.len())
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// True if a bus cycle is open.
    pub(super) fn holds(&self) -> bool {
        self.open && self.whole_records().0 > 0
    }

    /// The next datagram, if the stream holds one. A datagram ends where a bus cycle ends; one that
    /// is too long for a datagram is split, and so is one whose end does not come (`flush`).
    pub(super) fn next(&mut self, flush: bool) -> Result<Option<Request>, Broken> {
        if let Some(rest) = self.rest.take() {
            return Ok(Some(rest));
        }
        // A terminal's next user may come unseen. No record begins so: its byte enables would name
        // lanes that a 32-bit bus does not have.
        if self.input.get(..3).is_some_and(is_probe) {
            self.open = false;
        }
        if !self.open {
            let Some(probe) = self.input.get(..PROBE_LENGTH) else { return Ok(None) };
            if !is_probe(probe) {
                return Err(Broken);
            }
            self.open = true;
            let payload = self.input.drain(..PROBE_LENGTH).collect();
            let expect = Expect { length: PROBE_LENGTH, strip: 0 };
            return Ok(Some(Request { payload, expect }));
        }
        let (whole, closed, more) = self.whole_records();
        let length = match (closed, whole) {
            (0, 0) => return Ok(self.long_record()),
            (0, _) if !flush && !more => return Ok(None),
            (0, whole) => whole,
            (closed, _) => closed,
        };
        let payload = [&HEADER[..], &self.input[..length]].concat();
        self.input.drain(..length);
        let expect = Expect { length: payload.len(), strip: HEADER.len() };
        Ok(Some(Request { payload, expect }))
    }

    /// Bytes of the whole records at the front that fit a datagram, those of them up to the last end
    /// of a bus cycle, and whether a record behind them found no room.
    fn whole_records(&self) -> (usize, usize, bool) {
        let (mut whole, mut closed) = (0, 0);
        while let Some(length) = record_length(&self.input[whole..]) {
            let end = whole + length;
            if end > ROOM {
                return (whole, closed, true);
            }
            // The next user's probe.
            if end > self.input.len() || is_probe(&self.input[whole..]) {
                break;
            }
            if self.input[whole] & CYC != 0 {
                closed = end;
            }
            whole = end;
        }
        (whole, closed, false)
    }

    /// A record of more words than a datagram holds becomes one of its writes and one of its reads.
    fn long_record(&mut self) -> Option<Request> {
        let length = record_length(&self.input)?;
        if length <= ROOM || length > self.input.len() {
            return None;
        }
        let record: Vec<u8> = self.input.drain(..length).collect();
        let [flags, enable, writes, reads] = [record[0], record[1], record[2], record[3]];
        let (first, second) = record[4..].split_at(section(writes));
        let make = |head: [u8; 4], body: &[u8], strip| {
            let payload = [&HEADER[..], &head, body].concat();
            Request { expect: Expect { length: payload.len(), strip }, payload }
        };
        self.rest = Some(make([flags, enable, 0, reads], second, HEADER.len()));
        // The record's answer has one word for the two record headers.
        Some(make([flags & !CYC, enable, writes, 0], first, HEADER.len() + 4))
    }
}

fn is_probe(bytes: &[u8]) -> bool {
    matches!(bytes, [0x4E, 0x6F, 0x11, ..])
}

/// Bytes of a base address and its values.
fn section(count: u8) -> usize {
    if count == 0 { 0 } else { 4 * (1 + usize::from(count)) }
}

/// Length of the record whose header is at the front.
fn record_length(bytes: &[u8]) -> Option<usize> {
    let [_, _, writes, reads, ..] = *bytes else { return None };
    Some(4 + section(writes) + section(reads))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBE: [u8; 8] = [0x4E, 0x6F, 0x11, 0xFF, 1, 2, 3, 4];

    fn opened() -> Framer {
        let mut framer = Framer::default();
        framer.push(&PROBE);
        let request = framer.next(false).expect("no fault").expect("the probe");
        assert_eq!(request.payload, PROBE);
        assert_eq!(request.expect.bytes_of(&[7; 8]), Some(&[7; 8][..]));
        framer
    }

    fn record(flags: u8, writes: u8, reads: u8) -> Vec<u8> {
        let mut record = vec![flags, 0xF, writes, reads];
        record.resize(4 + section(writes) + section(reads), 0x5A);
        record
    }

    #[test]
    fn anything_but_a_probe_breaks_the_stream() {
        for first in [[0; 8], [0x4E, 0x6F, 0x10, 0x44, 0, 0, 0, 0], *b"GET / HT"] {
            let mut framer = Framer::default();
            framer.push(&first[..7]);
            assert_eq!(framer.next(true), Ok(None));
            framer.push(&first[7..]);
            assert_eq!(framer.next(true), Err(Broken));
        }
    }

    #[test]
    fn whole_cycles_travel_together_however_the_bytes_come() {
        let records = [record(0xA0, 2, 3), record(0xA8, 0, 1), record(0xA8, 1, 0)].concat();
        for cut in 0..records.len() {
            let mut framer = opened();
            let mut sent: Vec<u8> = Vec::new();
            for part in [&records[..cut], &records[cut..]] {
                framer.push(part);
                while let Some(request) = framer.next(false).expect("no fault") {
                    let last = sent.len() + request.payload.len() - 4;
                    assert!([record(0, 2, 3).len() + 12, records.len()].contains(&last), "{cut}");
                    assert_eq!(request.payload[..4], HEADER);
                    assert_eq!(request.expect.bytes_of(&request.payload), request.payload.get(4..));
                    sent.extend(&request.payload[4..]);
                }
            }
            assert_eq!(sent, records);
        }
    }

    #[test]
    fn an_open_cycle_waits_for_its_end_until_it_is_flushed() {
        let mut framer = opened();
        framer.push(&record(0xA0, 0, 1));
        assert_eq!(framer.next(false), Ok(None));
        assert!(framer.holds());
        assert_eq!(framer.next(true).expect("no fault").expect("flushed").payload.len(), 16);
        assert!(!framer.holds());
    }

    #[test]
    fn what_exceeds_a_datagram_is_split_between_records() {
        let mut framer = opened();
        let records = vec![record(0xA0, 0, 100); 10].concat();
        framer.push(&records);
        let mut lengths = Vec::new();
        while let Some(request) = framer.next(false).expect("no fault") {
            lengths.push(request.payload.len() - 4);
        }
        assert_eq!(lengths, [3 * 408, 3 * 408, 3 * 408]);
        assert_eq!(framer.next(true).expect("no fault").expect("rest").payload.len(), 412);
    }

    #[test]
    fn the_longest_record_is_split_into_its_halves() {
        let mut framer = opened();
        framer.push(&record(0xAF, 255, 255));
        let first = framer.next(false).expect("no fault").expect("writes");
        let second = framer.next(false).expect("no fault").expect("reads");
        assert_eq!(first.payload[4..8], [0xA7, 0xF, 255, 0], "the cycle goes on");
        assert_eq!(second.payload[4..8], [0xAF, 0xF, 0, 255]);
        let answers = [&first, &second].map(|r| r.expect.bytes_of(&r.payload).map(<[u8]>::len));
        assert_eq!(answers, [Some(1024), Some(1028)], "as many words as the record has");
        assert_eq!(first.expect.bytes_of(&[0; 8]), None, "a reply of another length");
    }

    #[test]
    fn a_probe_where_a_record_should_begin_starts_over() {
        let mut framer = opened();
        framer.push(&[&record(0xA8, 0, 1)[..], &PROBE].concat());
        assert_eq!(framer.next(false).expect("no fault").expect("record").payload.len(), 16);
        assert_eq!(framer.next(false).expect("no fault").expect("probe").payload, PROBE);
    }
}
