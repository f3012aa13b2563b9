// SPDX-License-Identifier: Apache-2.0
//! Frames that no honest host sends, and some that one does.

use std::net::Ipv4Addr;

use isthmus_sim::kernel::RandomStream;
use isthmus_sim::world::ethernet::PREAMBLE;

use super::super::reference::slave::{CTRL, ECA, SDB, SILENT, UNMAPPED, mirrored};
use super::super::reference::stack::{PAYLOAD, Station, fcs, pseudo, sum};

pub(super) const HOST_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// The most that a frame of 1500 octets carries.
const MAX_WORDS: usize = 368;

/// The octets on the wire, preamble first, and the first one that is marked bad.
#[derive(Debug, Clone)]
pub(super) struct Shot {
    pub(super) class: Class,
    pub(super) wire: Vec<u8>,
    pub(super) error_at: Option<usize>,
}

/// Kinds of frames; the names of the counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Valid,
    Noise,
    Message,
    Unrepaired,
    Header,
    Length,
    Foreign,
    Broadcast,
    Marked,
    Dialect,
    Arp,
    Icmp,
    Preamble,
    Allow,
    Storm,
}

impl Class {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Noise => "random_payload",
            Self::Message => "mutated_message",
            Self::Unrepaired => "mutated_unrepaired",
            Self::Header => "mutated_headers",
            Self::Length => "cut_or_extended",
            Self::Foreign => "vlan_fragment_option",
            Self::Broadcast => "broadcast",
            Self::Marked => "rx_er",
            Self::Dialect => "other_dialect",
            Self::Arp => "arp",
            Self::Icmp => "icmp",
            Self::Preamble => "preamble",
            Self::Allow => "allow_list",
            Self::Storm => "storm",
        }
    }
}

/// How often each class comes, of the sum of these.
const WEIGHTS: [(Class, u64); 14] = [
    (Class::Valid, 30),
    (Class::Message, 24),
    (Class::Noise, 8),
    (Class::Unrepaired, 10),
    (Class::Header, 12),
    (Class::Length, 8),
    (Class::Foreign, 5),
    (Class::Broadcast, 5),
    (Class::Marked, 3),
    (Class::Dialect, 3),
    (Class::Arp, 4),
    (Class::Icmp, 4),
    (Class::Preamble, 2),
    (Class::Allow, 1),
];

/// One of so many frames, of any class, has a tag.
const TAG_PERIOD: u64 = 8;

/// Makes frames out of a random stream.
pub(super) struct Generator {
    rng: RandomStream,
    port: u16,
    /// The device uses LiteEth's dialect.
    lite: bool,
}

impl Generator {
    pub(super) fn new(rng: RandomStream, lite: bool) -> Self {
        Self { rng, port: 1_023, lite }
    }

    /// A message of the standard, in the device's dialect: of several records the first.
    fn spoken(&self, words: Vec<u32>) -> Vec<u32> {
        match (self.lite, words.as_slice()) {
            (true, [head, number]) if head & 0x0100 != 0 => vec![*head, *number, 0],
            (true, [head, record, rest @ ..]) => {
                let section = |count: u32| if count == 0 { 0 } else { 1 + count as usize };
                let length = section(record >> 8 & 0xff) + section(record & 0xff);
                let rest = &rest[..length.min(rest.len())];
                [&[*head, 0, mirrored(*record)], rest].concat()
            }
            // No record at all is not a message in the other dialect.
            (true, [head]) => vec![*head, 0, 0],
            _ => words,
        }
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.rng.below(bound)
    }

    fn word(&mut self) -> u32 {
        self.rng.bits() as u32
    }

    fn byte(&mut self) -> u8 {
        self.rng.bits() as u8
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.below(of.len() as u64) as usize]
    }

    /// The next frame, from a host at `ip`.
    pub(super) fn shot(&mut self, station: &Station, ip: Ipv4Addr) -> Shot {
        let total = WEIGHTS.iter().map(|(_, weight)| weight).sum();
        let mut draw = self.rng.below(total);
        let drawn = WEIGHTS.iter().find(|(_, weight)| {
            let here = draw < *weight;
            draw = draw.saturating_sub(*weight);
            here
        });
        let class = drawn.map_or(Class::Valid, |(class, _)| *class);
        let mut shot = Shot { class, wire: Vec::new(), error_at: None };
        shot.wire = match class {
            Class::Valid | Class::Storm => {
                let words = self.message();
                self.datagram(station, ip, &octets(&words))
            }
            Class::Noise => {
                let length = 4 * self.below(90) as usize + self.pick(&[0, 0, 0, 0, 1, 2, 3]);
                let payload = self.bytes(length);
                self.datagram(station, ip, &payload)
            }
            Class::Message => {
                let payload = self.mutated_message();
                self.datagram(station, ip, &payload)
            }
            Class::Unrepaired => {
                let words = self.message();
                let mut wire = self.datagram(station, ip, &octets(&words));
                self.flip(&mut wire[PREAMBLE.len()..]);
                wire
            }
            Class::Header => self.mutated_headers(station, ip),
            Class::Length => self.cut_or_extended(station, ip),
            Class::Foreign => self.foreign(station, ip),
            Class::Broadcast => self.broadcast(station, ip),
            Class::Marked => {
                let words = self.message();
                let wire = self.datagram(station, ip, &octets(&words));
                shot.error_at = Some(self.below(wire.len() as u64) as usize);
                wire
            }
            Class::Dialect => {
                let words = if self.lite { self.standard() } else { self.liteeth() };
                self.datagram(station, ip, &octets(&words))
            }
            Class::Arp => self.arp(station, ip),
            Class::Icmp => self.icmp(station, ip),
            Class::Preamble => self.broken_preamble(station, ip),
            Class::Allow => {
                let words = self.allow_write(ip);
                self.datagram(station, ip, &octets(&words))
            }
        };
        if self.rng.below(TAG_PERIOD) == 0 {
            self.tag(&mut shot.wire);
        }
        shot
    }

    /// An IEEE 802.1Q tag behind the addresses. A wrong FCS stays wrong.
    fn tag(&mut self, wire: &mut Vec<u8>) {
        let begin = PREAMBLE.len();
        if !wire.starts_with(&PREAMBLE) || wire.len() < begin + 18 {
            return;
        }
        let end = wire.len() - 4;
        let mut check = fcs(&wire[begin..end]);
        let tag = self.bytes(2);
        wire.splice(begin + 12..begin + 12, [&[0x81, 0], &tag[..]].concat());
        for (octet, new) in check.iter_mut().zip(fcs(&wire[begin..end + 4])) {
            *octet ^= new;
        }
        for (octet, change) in wire[end + 4..].iter_mut().zip(check) {
            *octet ^= change;
        }
    }

    /// A frame whose reads a slave that never answers holds up for long.
    pub(super) fn hold_up(&mut self, station: &Station, ip: Ipv4Addr, cycles: usize) -> Shot {
        let mut words = vec![0x4E6F_1044];
        for _ in 0..cycles {
            words.extend([0xA80F_0001, 0x8000, SILENT]);
        }
        let words = self.spoken(words);
        let wire = self.datagram(station, ip, &octets(&words));
        Shot { class: Class::Storm, wire, error_at: None }
    }

    /// A frame of reads.
    pub(super) fn reads(&mut self, station: &Station, ip: Ipv4Addr, count: usize) -> Shot {
        let mut words = vec![0x4E6F_1044, 0xA80F_0000 | count as u32, 0x8000];
        words.extend((0..count).map(|_| self.rng.below(0x1_0000) as u32));
        let words = self.spoken(words);
        let wire = self.datagram(station, ip, &octets(&words));
        Shot { class: Class::Storm, wire, error_at: None }
    }

    /// The wire octets of a datagram with these words.
    pub(super) fn request(&mut self, station: &Station, ip: Ipv4Addr, words: &[u32]) -> Shot {
        let words = self.spoken(words.to_vec());
        let wire = self.datagram(station, ip, &octets(&words));
        Shot { class: Class::Valid, wire, error_at: None }
    }

    /// An address in one of the windows, or in none.
    fn address(&mut self, write: bool) -> u32 {
        let offset = self.rng.below(0x100) as u32;
        match self.rng.below(100) {
            0..64 => self.rng.below(0x1_0000) as u32,
            // Past its end, where nothing is.
            64..70 => self.rng.below(0x10_0000) as u32,
            70..75 => SDB + self.rng.below(0x240) as u32,
            75..82 => ECA + offset,
            82..90 => 0x0030_0000 + offset,
            90..94 if !write => CTRL + offset,
            94..96 => SILENT + offset,
            _ => {
                let edges = [UNMAPPED, 0x00FF_FFFC, 0xFFFF_FFFC, 0x8000_0000, 0x000F_FFF8];
                // One past a window, and where a shorter address would fall into it again.
                let past = [0x1_0000, SDB + 0x140, SDB + 0x1000, ECA + 0x118, CTRL + 0x140];
                let list = if self.rng.below(2) == 0 { edges } else { past };
                self.pick(&list) + (offset & 3)
            }
        }
    }

    /// A well-formed message.
    fn message(&mut self) -> Vec<u32> {
        let words = self.standard();
        self.spoken(words)
    }

    /// A well-formed message of the standard.
    fn standard(&mut self) -> Vec<u32> {
        if self.rng.below(8) == 0 {
            let widths = u32::from(self.byte());
            return vec![0x4E6F_1100 | widths, self.word()];
        }
        let mut words = vec![if self.rng.below(12) == 0 { 0x4E6F_1444 } else { 0x4E6F_1044 }];
        for _ in 0..=self.rng.below(4) {
            let record = self.record();
            if words.len() + record.len() <= MAX_WORDS {
                words.extend(record);
            }
        }
        words
    }

    fn record(&mut self) -> Vec<u32> {
        let counts = [0, 0, 1, 1, 2, 3, 4, 5, 8, 16];
        let (mut writes, mut reads) = (self.pick(&counts), self.pick(&counts));
        match self.rng.below(40) {
            0 => reads = 255,
            1 => writes = 255,
            _ => {}
        }
        let flags = match self.rng.below(4) {
            0 => u32::from(self.byte()),
            _ => self.pick(&[0xA8, 0xA0, 0xE8, 0x08, 0x00, 0xAA]),
        };
        let select = match self.rng.below(4) {
            0 => u32::from(self.byte()),
            _ => 0x0F,
        };
        let mut words = vec![flags << 24 | select << 16 | writes << 8 | reads];
        if writes > 0 {
            words.push(self.address(true));
            words.extend((0..writes).map(|_| self.word()));
        }
        if reads > 0 {
            words.push(self.word());
            // In the configuration space the first registers hold something.
            let config = flags & 0x40 != 0;
            words.extend((0..reads).map(|_| match config {
                true => self.rng.below(0x50) as u32,
                false => self.address(false),
            }));
        }
        words
    }

    /// Opens or closes the list of allowed senders; this host stays on it.
    fn allow_write(&mut self, ip: Ipv4Addr) -> Vec<u32> {
        let mut words = vec![0x4E6F_1044];
        if self.rng.below(2) == 0 {
            for entry in 0..4 {
                words.extend([0xA80F_0100, CTRL + 0x40 + 0x10 * entry, 0]);
            }
        } else {
            let entry = CTRL + 0x40 + 0x10 * self.rng.below(4) as u32;
            let bits = self.rng.below(33) as u32;
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            words.extend([0xA80F_0200, entry + 4, u32::from(ip), mask]);
            words.extend([0xA80F_0100, entry, 1]);
        }
        if self.lite {
            // One record a message: all of the list, or an entry and its switch in front of it.
            words = match words.as_slice() {
                [head, .., 0] => [&[*head, 0xA80F_1000, CTRL + 0x40][..], &[0; 16]].concat(),
                [head, _, at, ip, mask, ..] => vec![*head, 0xA80F_0300, at - 4, 1, *ip, *mask],
                _ => words,
            };
        }
        self.spoken(words)
    }

    fn mutated_message(&mut self) -> Vec<u8> {
        let mut words = self.message();
        let at = self.rng.below(words.len() as u64) as usize;
        match self.rng.below(11) {
            0 => words.truncate(at),
            1 => words.extend((0..=at).map(|_| self.word()).collect::<Vec<_>>()),
            // Some part of it twice.
            2 => words.extend(words[at..].to_vec()),
            3 => words[0] = words[0] & !0xff | u32::from(self.byte()),
            4 => words[0] = words[0] & !0xff00 | u32::from(self.byte()) << 8,
            5 => words[0] ^= 1 << self.rng.below(32),
            6 => words[at] = words[at] & !0xffff | u32::from(self.word() as u16),
            7 => {
                let other = self.rng.below(words.len() as u64) as usize;
                words.swap(at, other);
            }
            // A reply, as it reaches its master: here it is a message to a slave.
            8 => words[0] = self.pick(&[0x4E6F_1444, 0x4E6F_1644, 0x4E6F_1244, 0x4E6F_1744]),
            9 => words[at] = self.word(),
            _ => {
                let mut payload = octets(&words);
                self.flip(&mut payload);
                if self.rng.below(3) == 0 {
                    let length = self.rng.below(payload.len() as u64 + 1) as usize;
                    payload.truncate(length);
                }
                return payload;
            }
        }
        words.truncate(MAX_WORDS);
        octets(&words)
    }

    /// The format of LiteX's tools: eight octets of header, twelve of probe, flags bit-reversed.
    fn liteeth(&mut self) -> Vec<u32> {
        if self.rng.below(3) == 0 {
            return vec![0x4E6F_1144, 0, 0];
        }
        let mut words = vec![0x4E6F_1044, 0];
        let flags = self.pick(&[0x00, 0x01, 0x10, 0x15]) << 24;
        let count = 1 + self.rng.below(16) as u32;
        if self.rng.below(2) == 0 {
            words.extend([flags | 0x0F_0000 | count << 8, self.address(true)]);
            words.extend((0..count).map(|_| self.word()));
        } else {
            words.extend([flags | 0x0F_0000 | count, self.word()]);
            words.extend((0..count).map(|_| self.address(false)));
        }
        words
    }

    /// Flips one to eight bits.
    fn flip(&mut self, bytes: &mut [u8]) {
        for _ in 0..=self.rng.below(8) {
            let at = self.rng.below(bytes.len() as u64) as usize;
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << self.rng.below(8);
            }
        }
    }

    /// A frame without preamble and FCS, with a unique source port.
    fn frame(&mut self, station: &Station, ip: Ipv4Addr, payload: &[u8]) -> Vec<u8> {
        self.port = if self.port == u16::MAX { 1_024 } else { self.port + 1 };
        let length = (8 + payload.len()) as u16;
        let mut message = [self.port.to_be_bytes(), station.port.to_be_bytes()].concat();
        message.extend(length.to_be_bytes());
        message.extend([0, 0]);
        message.extend(payload);
        if self.rng.below(16) != 0 {
            put_udp_check(&mut message, ip, station.ip);
        }
        ip_frame(station, ip, 17, &message)
    }

    fn datagram(&mut self, station: &Station, ip: Ipv4Addr, payload: &[u8]) -> Vec<u8> {
        let frame = self.frame(station, ip, payload);
        wire(frame)
    }

    /// To a broadcast address: probes, and operations that must not be executed there.
    fn broadcast(&mut self, station: &Station, ip: Ipv4Addr) -> Vec<u8> {
        let words = match self.rng.below(4) {
            0 | 1 => {
                let words = vec![0x4E6F_1100 | u32::from(self.byte()), self.word()];
                self.spoken(words)
            }
            2 => {
                // As long as a probe.
                let words = vec![0x4E6F_1044, self.pick(&[0, 0x0800_0000, 0xA80F_0001])];
                self.spoken(words)
            }
            _ => self.message(),
        };
        let mut frame = self.frame(station, ip, &octets(&words));
        if self.rng.below(4) != 0 {
            frame[..6].fill(0xff);
        }
        let subnet = u32::from(station.ip) | !u32::from(station.netmask);
        let to = Ipv4Addr::from(self.pick(&[u32::MAX, subnet, subnet, subnet ^ 0x100]));
        frame[30..34].copy_from_slice(&to.octets());
        frame[24..26].fill(0);
        let check = !sum(&[&frame[14..34]]);
        frame[24..26].copy_from_slice(&check.to_be_bytes());
        let end = frame.len().min(PAYLOAD + 4 * words.len());
        put_udp_check(&mut frame[34..end], ip, to);
        wire(frame)
    }

    /// One header field wrong or odd; the checks behind it repaired or not.
    fn mutated_headers(&mut self, station: &Station, ip: Ipv4Addr) -> Vec<u8> {
        let words = self.message();
        let mut frame = self.frame(station, ip, &octets(&words));
        match self.rng.below(8) {
            0 => {
                let at = self.rng.below(PAYLOAD as u64) as usize;
                frame[at] = self.byte();
            }
            1 => self.flip(&mut frame[..PAYLOAD]),
            2 => frame[..6].fill(0xff),
            3 => frame[..6].copy_from_slice(&[1, 0, 0x5e, 0, 0, 1]),
            4 => {
                // Total length, and then the datagram's own.
                let change = self.rng.below(60) as u16;
                let total = u16::from_be_bytes([frame[16], frame[17]])
                    .wrapping_add(change)
                    .wrapping_sub(30);
                frame[16..18].copy_from_slice(&total.to_be_bytes());
                if self.rng.below(2) == 0 {
                    let length = total.wrapping_sub(20);
                    frame[38..40].copy_from_slice(&length.to_be_bytes());
                }
            }
            5 => frame[23] = self.byte(),
            6 => {
                let port = self.word() as u16;
                frame[36..38].copy_from_slice(&port.to_be_bytes());
            }
            _ => {
                let other = self.word().to_be_bytes();
                let at = self.pick(&[26, 30]);
                frame[at..at + 4].copy_from_slice(&other);
            }
        }
        if self.rng.below(4) != 0 {
            frame[24..26].fill(0);
            let check = !sum(&[&frame[14..34]]);
            frame[24..26].copy_from_slice(&check.to_be_bytes());
        }
        if self.rng.below(4) != 0 {
            let [source, destination] = [26, 30]
                .map(|at| Ipv4Addr::new(frame[at], frame[at + 1], frame[at + 2], frame[at + 3]));
            let length = usize::from(u16::from_be_bytes([frame[38], frame[39]]));
            let end = (34 + length).clamp(PAYLOAD, frame.len());
            put_udp_check(&mut frame[34..end], source, destination);
        }
        wire(frame)
    }

    /// Runts, frames beyond the longest, frames cut off or with something behind.
    fn cut_or_extended(&mut self, station: &Station, ip: Ipv4Addr) -> Vec<u8> {
        let words = self.message();
        let mut frame = self.frame(station, ip, &octets(&words));
        let extra = match self.rng.below(6) {
            // Padding that belongs to no datagram.
            0 => self.rng.below(60) as usize,
            1 => 1_514_usize.saturating_sub(frame.len()),
            2 => 1_515_usize.saturating_sub(frame.len()),
            3 => (1_515 + self.rng.below(600) as usize).saturating_sub(frame.len()),
            _ => 0,
        };
        let behind = self.bytes(extra);
        frame.extend(behind);
        if extra > 0 {
            return wire(frame);
        }
        if self.rng.below(2) == 0 {
            // Truncated at a random place, with a correct or wrong FCS for the rest.
            let mut octets = wire(frame);
            octets.truncate(1 + self.rng.below(octets.len() as u64) as usize);
            octets
        } else {
            frame.truncate(1 + self.rng.below(frame.len() as u64) as usize);
            unpadded(&frame)
        }
    }

    /// Frames that are valid for other stations: other tags, fragments, options, other protocols.
    fn foreign(&mut self, station: &Station, ip: Ipv4Addr) -> Vec<u8> {
        let words = self.message();
        let mut frame = self.frame(station, ip, &octets(&words));
        let repair = |frame: &mut Vec<u8>| {
            frame[24..26].fill(0);
            let check = !sum(&[&frame[14..34]]);
            frame[24..26].copy_from_slice(&check.to_be_bytes());
        };
        match self.rng.below(6) {
            0 => {
                // Of a provider, or two of them; one is in `shot`.
                let kind = self.pick(&[[0x88, 0xa8], [0x91, 0], [0x81, 0]]);
                let tag = self.bytes(2);
                frame.splice(12..12, [&kind, &tag[..]].concat());
                if kind == [0x81, 0] || self.rng.below(2) == 0 {
                    let tag = self.bytes(2);
                    frame.splice(12..12, [&[0x81, 0], &tag[..]].concat());
                }
            }
            1 => {
                // More fragments, or not the first.
                let bits = self.pick(&[0x2000_u16, 0x0001, 0x1fff, 0x2001, 0x8000]);
                frame[20..22].copy_from_slice(&bits.to_be_bytes());
                repair(&mut frame);
            }
            2 => {
                frame[14] = 0x46;
                frame.splice(34..34, [1, 1, 1, 0]);
                let total = (frame.len() - 14) as u16;
                frame[16..18].copy_from_slice(&total.to_be_bytes());
                frame[24..26].fill(0);
                let check = !sum(&[&frame[14..38]]);
                frame[24..26].copy_from_slice(&check.to_be_bytes());
            }
            3 => {
                let kind = self.pick(&[0x86dd_u16, 0x8808, 0x88f7, 0x0040]);
                frame[12..14].copy_from_slice(&kind.to_be_bytes());
            }
            4 => {
                frame[23] = 6;
                repair(&mut frame);
            }
            _ => frame[14] = self.pick(&[0x55, 0x44, 0x65, 0x4f]),
        }
        wire(frame)
    }

    fn arp(&mut self, station: &Station, ip: Ipv4Addr) -> Vec<u8> {
        let to = if self.rng.below(4) == 0 { station.mac } else { [0xff; 6] };
        let mut frame = [&to[..], &HOST_MAC, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1], &HOST_MAC].concat();
        frame.extend(ip.octets());
        frame.extend([0; 6]);
        frame.extend(station.ip.octets());
        match self.rng.below(4) {
            0 => self.flip(&mut frame[12..]),
            1 => frame[21] = 2,
            _ => {}
        }
        wire(frame)
    }

    fn icmp(&mut self, station: &Station, ip: Ipv4Addr) -> Vec<u8> {
        let length = match self.rng.below(8) {
            0 => 1_472,
            1 => self.rng.below(4) as usize,
            _ => self.rng.below(100) as usize,
        };
        let mut message = [&[8, 0, 0, 0], &self.bytes(4)[..], &self.bytes(length)].concat();
        if self.rng.below(8) == 0 {
            message[0] = self.byte();
        }
        let check = !sum(&[&message]);
        message[2..4].copy_from_slice(&check.to_be_bytes());
        if self.rng.below(6) == 0 {
            self.flip(&mut message);
        }
        wire(ip_frame(station, ip, 1, &message))
    }

    fn broken_preamble(&mut self, station: &Station, ip: Ipv4Addr) -> Vec<u8> {
        let words = self.message();
        let mut octets = self.datagram(station, ip, &octets(&words));
        match self.rng.below(4) {
            0 => drop(octets.drain(..self.rng.below(9) as usize)),
            1 => octets[self.rng.below(8) as usize] = self.byte(),
            2 => octets.truncate(1 + self.rng.below(8) as usize),
            _ => drop(octets.splice(0..0, vec![PREAMBLE[0]; self.rng.below(20) as usize])),
        }
        octets
    }
}

fn octets(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn ip_frame(station: &Station, ip: Ipv4Addr, protocol: u8, message: &[u8]) -> Vec<u8> {
    let mut header = [0x45, 0, 0, 0, 0x12, 0x34, 0, 0, 64, protocol, 0, 0].to_vec();
    header[2..4].copy_from_slice(&((20 + message.len()) as u16).to_be_bytes());
    header.extend(ip.octets());
    header.extend(station.ip.octets());
    let check = !sum(&[&header]);
    header[10..12].copy_from_slice(&check.to_be_bytes());
    [&station.mac[..], &HOST_MAC, &[8, 0], &header, message].concat()
}

fn put_udp_check(message: &mut [u8], source: Ipv4Addr, destination: Ipv4Addr) {
    message[6..8].fill(0);
    let length = u16::from_be_bytes([message[4], message[5]]);
    let check = !sum(&[&pseudo(source, destination, length), message]);
    message[6..8].copy_from_slice(&if check == 0 { 0xffff } else { check }.to_be_bytes());
}

/// Preamble, the frame padded to the least length, FCS.
fn wire(mut frame: Vec<u8>) -> Vec<u8> {
    frame.resize(frame.len().max(60), 0);
    unpadded(&frame)
}

fn unpadded(frame: &[u8]) -> Vec<u8> {
    [&PREAMBLE, frame, &fcs(frame)].concat()
}
