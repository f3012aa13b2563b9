// SPDX-License-Identifier: Apache-2.0
//! The packets of the observed transfer: where each was when, from the words at pins and what was on the buses.

use serde::Serialize;

use isthmus_host::rdma::HostId;
use isthmus_sim::Picoseconds;
use isthmus_sim::world::link::PacketMark;

use super::work::{BusWork, WorkKind};
use crate::error::RoadError;

/// Kind of a packet that speaks of others and belongs to no transfer (docs/explanation/cores/rdma.md).
const CONTROL: u32 = 2;
const MESSAGE: u32 = 1;
/// A message whose header is one beat.
const SHORT: u32 = 3;
const BEAT: u64 = 8;

/// What a packet's first two beats say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    sequence: u16,
    source: HostId,
    destination: HostId,
    bytes: u64,
    kind: u32,
    last: bool,
    /// Its data were posted, and not read.
    posted: bool,
    /// Of a write: where it goes.
    address: u64,
}

impl Header {
    fn of(words: &[u32]) -> Option<Self> {
        let [low, high, address, above] = *words else { return None };
        let beat = u64::from(high) << 32 | u64::from(low);
        Some(Self {
            sequence: low as u16,
            source: (beat >> 24 & 0x7F) as HostId,
            destination: (beat >> 31 & 0x7F) as HostId,
            bytes: BEAT * (beat >> 38 & 0x7F),
            kind: (beat >> 45 & 3) as u32,
            last: beat >> 47 & 1 == 1,
            posted: beat >> 59 & 1 == 1,
            address: u64::from(above) << 32 | u64::from(address),
        })
    }

    const fn is_message(&self) -> bool {
        matches!(self.kind, MESSAGE | SHORT)
    }
}

/// First and last word of a packet at some pins.
type Words = [Picoseconds; 2];

/// A packet in flight from pins to pins.
#[derive(Debug, Clone)]
pub(super) struct Flight {
    header: Header,
    pub(super) link: usize,
    /// Out of its source's pins.
    pub(super) left: Words,
    /// Into the switch.
    pub(super) entered: Words,
    /// Out of the switch.
    pub(super) departed: Words,
    /// Into its destination.
    pub(super) reached: Words,
}

/// What the pins showed: of both hosts' interfaces, then of each link's switch.
pub(super) struct Pins<'a> {
    pub(super) marks: &'a [Vec<PacketMark>],
    /// How many of them are hosts'.
    pub(super) hosts: usize,
    /// A word of the links.
    pub(super) word: Picoseconds,
}

impl Pins<'_> {
    /// Out of pins a word is seen a clock after it was shown.
    pub(super) fn shown(&self, mark: &PacketMark) -> Picoseconds {
        if mark.inward { mark.time } else { mark.time.saturating_sub(self.word) }
    }

    /// The packets at a port whose first word lies in a span of time.
    fn at(&self, side: usize, inward: bool, port: usize, span: Words) -> Vec<(Header, Words)> {
        let Some(marks) = self.marks.get(side) else { return Vec::new() };
        let mine: Vec<&PacketMark> =
            marks.iter().filter(|mark| mark.inward == inward && mark.port == port).collect();
        let whole = mine.windows(2).filter(|pair| pair[0].first && !pair[1].first);
        whole
            .filter_map(|pair| {
                Some((Header::of(&pair[0].header)?, [self.shown(pair[0]), self.shown(pair[1])]))
            })
            .filter(|(_, words)| words[0] > span[0] && words[0] < span[1])
            .collect()
    }

    /// The packets from one host to another in a span of time, in the order of their numbers; control packets
    /// are none of them.
    pub(super) fn flights(
        &self,
        [source, destination]: [usize; 2],
        links: usize,
        span: Words,
    ) -> Result<Vec<Flight>, RoadError> {
        let mine = |header: &Header| {
            header.kind != CONTROL
                && usize::from(header.source) == source
                && usize::from(header.destination) == destination
        };
        let mut flights = Vec::new();
        for link in 0..links {
            let switch = self.hosts + link;
            for (header, left) in self.at(source, false, link, span) {
                if !mine(&header) {
                    continue;
                }
                let seen = |side, inward, port, what: &str| {
                    let found = self.at(side, inward, port, span).into_iter();
                    found.filter(|(other, _)| *other == header).map(|(_, words)| words).next().ok_or_else(
                        || {
                            let number = header.sequence;
                            RoadError::Inconsistent(format!(
                                "rdma: packet {number} left over link {link} and was not seen {what}"
                            ))
                        },
                    )
                };
                flights.push(Flight {
                    header,
                    link,
                    left,
                    entered: seen(switch, true, source, "at the switch")?,
                    departed: seen(switch, false, destination, "behind the switch")?,
                    reached: seen(destination, true, link, "at its destination")?,
                });
            }
        }
        // Numbers wrap, and no two of a flow are further apart than its window.
        let base = flights.first().map_or(0, |one| one.header.sequence);
        flights.sort_by_key(|one| one.header.sequence.wrapping_sub(base) as i16);
        Ok(flights)
    }
}

/// A packet's steps from the program's store to memory, overlapping where they do.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Packet {
    number: usize,
    link: usize,
    bytes: u64,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Serialize)]
struct Step {
    name: &'static str,
    begin_ps: u64,
    end_ps: u64,
}

/// What both hosts' buses and the source's probes showed of a transfer of one descriptor, or of a message.
pub(super) struct Seen<'a> {
    /// The store to the queue: asked for, and in the interface.
    pub(super) posted: Words,
    pub(super) sent: &'a [BusWork],
    pub(super) arrived: &'a [BusWork],
    /// When each packet's header entered its queue, with the probe's tag.
    pub(super) begun: &'a [(u8, Picoseconds)],
    /// Where the remote program is notified, and where data comes from.
    pub(super) told: u64,
    pub(super) data: u64,
    /// A message is followed by its frame word.
    pub(super) frames: bool,
}

/// From which byte of `work` to which a range of addresses lies in it, as times.
fn carried(work: &BusWork, from: u64, until: u64) -> Option<Words> {
    let (low, high) = (from.max(work.address), until.min(work.address + work.bytes));
    if low >= high {
        return None;
    }
    let [begin, end] = work.data;
    let at = |address: u64| {
        let share = u128::from((end - begin).0) * u128::from(address - work.address);
        begin + Picoseconds((share / u128::from(work.bytes)) as u64)
    };
    Some([at(low), at(high) + (work.end - end)])
}

fn hull(spans: impl Iterator<Item = Words>) -> Option<Words> {
    spans.reduce(|one, other| [one[0].min(other[0]), one[1].max(other[1])])
}

impl Seen<'_> {
    /// Each packet's steps, times relative to `from`.
    pub(super) fn packets(
        &self,
        flights: &[Flight],
        from: Picoseconds,
    ) -> Result<Vec<Packet>, RoadError> {
        let first = flights.iter().map(|one| one.header.address).min().unwrap_or_default();
        flights
            .iter()
            .enumerate()
            .map(|(number, flight)| self.packet(number, flight, first, from))
            .collect()
    }

    fn packet(
        &self,
        number: usize,
        flight: &Flight,
        first: u64,
        from: Picoseconds,
    ) -> Result<Packet, RoadError> {
        let header = &flight.header;
        let name = match (header.is_message(), header.posted) {
            (true, _) => "message",
            (false, true) => "inline write",
            (false, false) => "descriptor",
        };
        let missing = |what: &str| {
            RoadError::Inconsistent(format!(
                "rdma: packet {number} of the transfer shows no {what}"
            ))
        };
        let mut steps: Vec<(&'static str, Words)> = Vec::new();
        steps.push((name, self.posted));
        if !header.posted {
            let read = self.read(header.address - first, header.bytes);
            steps.push(("bus read", read.ok_or_else(|| missing("read of its data"))?));
        }
        let tag = header.destination << 5 | (header.sequence & 0x1F) as u8;
        let begun = self.begun.iter().find(|(seen, _)| *seen == tag).map(|(_, time)| *time);
        steps
            .push(("VOQ", [begun.ok_or_else(|| missing("entry into its queue"))?, flight.left[0]]));
        steps.push(("link to the switch", [flight.left[0], flight.entered[1]]));
        steps.push(("switch", [flight.entered[0], flight.departed[0]]));
        steps.push(("link from the switch", [flight.departed[0], flight.reached[1]]));
        let (written, notice) = self.written(header);
        let written = written.ok_or_else(|| missing("write to memory"))?;
        steps.push(("receive", [flight.reached[0], written[0]]));
        steps.push(("write", written));
        steps.extend(notice.filter(|_| header.last).map(|notice| ("notification", notice)));
        // What causes another cannot begin after it.
        let ordered = steps.windows(2).all(|pair| pair[0].1[0] <= pair[1].1[0]);
        if !ordered || steps.iter().any(|(_, [begin, end])| begin > end) {
            return Err(RoadError::Inconsistent(format!(
                "rdma: the steps of packet {number} are out of order: {steps:?}"
            )));
        }
        let steps = steps.into_iter().map(|(name, [begin, end])| Step {
            name,
            begin_ps: begin.saturating_sub(from).0,
            end_ps: end.saturating_sub(from).0,
        });
        Ok(Packet { number, link: flight.link, bytes: header.bytes, steps: steps.collect() })
    }

    /// When its bytes came over the source's bus: a place in the source is as far from the first as in the
    /// destination.
    fn read(&self, offset: u64, bytes: u64) -> Option<Words> {
        let came = || {
            let data =
                self.sent.iter().filter(|one| one.kind == WorkKind::Completion && one.bytes > 0);
            data.filter(|one| one.begin >= self.posted[0])
        };
        let base = came().map(|one| one.address).min()? + offset;
        hull(came().filter_map(|one| carried(one, base, base + bytes)))
    }

    /// When it went over the destination's bus, and what then notified the program: a notification,
    /// or a message's frame word, which goes last.
    fn written(&self, header: &Header) -> (Option<Words>, Option<Words>) {
        let writes =
            || self.arrived.iter().filter(|one| one.kind == WorkKind::Write && one.bytes > 0);
        let span = |one: &BusWork| [one.begin, one.end];
        if header.is_message() {
            let mut data: Vec<&BusWork> = writes().filter(|one| one.address >= self.data).collect();
            data.sort_by_key(|one| one.begin);
            let frame = if self.frames && data.len() > 1 { data.pop().map(span) } else { None };
            return (hull(data.into_iter().map(span)), frame);
        }
        let until = header.address + header.bytes;
        let mine = |one: &&BusWork| one.address < until && one.address + one.bytes > header.address;
        let notice = writes().filter(|one| one.address == self.told).map(span).next_back();
        (hull(writes().filter(mine).map(span)), notice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(value: u64) -> Picoseconds {
        Picoseconds::from_ns(value)
    }

    #[test]
    fn a_header_is_that_of_the_page() {
        // Sequence 0x1234, session 0x56, from host 3 to host 5, 64 beats, a message, the last, posted.
        let low = 0x1234 | 0x56 << 16 | 3 << 24 | 5 << 31 | 64 << 38;
        let beat = low | 1 << 45 | 1 << 47 | 1_u64 << 59;
        let header = Header::of(&[beat as u32, (beat >> 32) as u32, 0x2000, 0x1]).unwrap();
        let expected = Header {
            sequence: 0x1234,
            source: 3,
            destination: 5,
            bytes: 512,
            kind: MESSAGE,
            last: true,
            posted: true,
            address: 0x1_0000_2000,
        };
        assert_eq!(header, expected);
        assert!(header.is_message() && Header { kind: SHORT, ..header }.is_message());
        assert!(!Header { kind: 0, ..header }.is_message());
    }

    #[test]
    fn a_part_of_a_transaction_has_a_part_of_its_time() {
        let work = BusWork {
            kind: WorkKind::Completion,
            address: 0x1000,
            bytes: 1024,
            begin: ns(0),
            start: ns(40),
            data: [ns(100), ns(1380)],
            end: ns(1390),
        };
        // 8 bytes a clock of 10 ns; the last byte is in the interface a clock after it was on the bus.
        assert_eq!(carried(&work, 0x1000, 0x1200), Some([ns(100), ns(750)]));
        assert_eq!(carried(&work, 0x1200, 0x1600), Some([ns(740), ns(1390)]));
        assert_eq!(carried(&work, 0x1400, 0x1600), None);
        let whole = hull([0x1000, 0x1200].iter().filter_map(|at| carried(&work, *at, at + 0x200)));
        assert_eq!(whole, Some([ns(100), ns(1390)]));
    }
}
