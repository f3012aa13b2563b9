// SPDX-License-Identifier: Apache-2.0
//! Reference model of the network side: what must become of a frame, and the frames that answer.
//!
//! Written from the verdicts' definitions in `rtl/ethernet/eth_pkg.sv`, byte by byte and without the
//! code that the world's hosts use.

use std::net::Ipv4Addr;

use isthmus_sim::world::ethernet::{PREAMBLE, SFD};

use super::super::scenario::{Dialect, EtherboneDevice};

/// Ethernet header, IPv4 header and UDP header without options: where a UDP payload begins.
pub(in super::super) const PAYLOAD: usize = 42;
const MIN_BYTES: usize = 64;
const MAX_BYTES: usize = 1_518;
/// An IEEE 802.1Q tag: its EtherType stands behind both addresses.
const TAG: [u8; 2] = [0x81, 0];
const TAG_BYTES: usize = 4;

/// One entry of the device's list of allowed senders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in super::super) struct Allow {
    pub(in super::super) enable: bool,
    pub(in super::super) ip: u32,
    pub(in super::super) mask: u32,
}

/// The device's addresses and its list of allowed senders.
#[derive(Debug, Clone)]
pub(in super::super) struct Station {
    pub(in super::super) mac: [u8; 6],
    pub(in super::super) ip: Ipv4Addr,
    pub(in super::super) netmask: Ipv4Addr,
    pub(in super::super) port: u16,
    /// Its service uses LiteEth's dialect.
    pub(in super::super) lite: bool,
    /// Destination port of replies, if not the source port of requests.
    reply_port: u16,
    pub(in super::super) allow: [Allow; 4],
}

/// Why a frame is dropped, by the name of its status counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Drop {
    Size,
    Fcs,
    Mac,
    Ip,
    Other,
    Denied,
    Port,
    Udp,
    Align,
}

impl Drop {
    pub(in super::super) const fn counter(self) -> &'static str {
        match self {
            Self::Size => "drop_size",
            Self::Fcs => "drop_fcs",
            Self::Mac => "drop_mac",
            Self::Ip => "drop_ip",
            Self::Other => "rx_other",
            Self::Denied => "drop_denied",
            Self::Port => "drop_port",
            Self::Udp => "drop_udp",
            Self::Align => "drop_align",
        }
    }
}

/// Expected outcome of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Fate {
    Dropped(Drop),
    /// An ARP request for us: the frame that answers.
    Arp(Vec<u8>),
    /// An ICMP echo request: the frame that answers.
    Icmp(Vec<u8>),
    /// A datagram for the service.
    Datagram(Datagram),
}

/// A datagram for the service, and where the answer goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Datagram {
    mac: [u8; 6],
    ip: Ipv4Addr,
    port: u16,
    /// Sent to a broadcast address: nothing but a probe is answered.
    pub(in super::super) broadcast: bool,
    pub(in super::super) words: Vec<u32>,
}

impl Datagram {
    /// True if a frame from the device goes to the source port of this datagram.
    pub(in super::super) fn is_answered_by(&self, reply: &[u8]) -> bool {
        reply.get(36..38) == Some(&self.port.to_be_bytes())
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn ip_at(bytes: &[u8], at: usize) -> Ipv4Addr {
    Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3])
}

/// The one's complement sum of RFC 1071, an odd last octet filled with zero.
pub(in super::super) fn sum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0_u64;
    for part in parts {
        for pair in part.chunks(2) {
            sum += u64::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The pseudo-header of a datagram of `length` octets, UDP header included.
pub(in super::super) fn pseudo(source: Ipv4Addr, destination: Ipv4Addr, length: u16) -> Vec<u8> {
    let mut header = [source.octets(), destination.octets()].concat();
    header.extend([0, 17]);
    header.extend(length.to_be_bytes());
    header
}

/// The CRC-32 of IEEE 802.3 clause 3.2.9, bit by bit.
pub(in super::super) fn fcs(frame: &[u8]) -> [u8; 4] {
    let crc = frame.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    });
    (!crc).to_le_bytes()
}

impl Station {
    pub(in super::super) fn new(device: &EtherboneDevice) -> Self {
        let EtherboneDevice { mac, ip, netmask, udp_port, dialect, reply_port, .. } = device;
        Self {
            mac: mac.0,
            ip: *ip,
            netmask: *netmask,
            port: *udp_port,
            lite: *dialect == Dialect::Litex,
            reply_port: *reply_port,
            allow: Default::default(),
        }
    }

    /// Expected outcome of the octets of a frame, preamble first; those from `error_at` on are
    /// marked bad. The order is the device's: the first reason that applies counts.
    pub(in super::super) fn receive(&self, wire: &[u8], error_at: Option<usize>) -> Fate {
        let delimiter = wire.iter().position(|octet| *octet != PREAMBLE[0]);
        let frame = match delimiter {
            Some(at) if wire[at] == SFD => &wire[at + 1..],
            _ => return Fate::Dropped(Drop::Size),
        };
        let tagged = frame.get(12..14) == Some(&TAG);
        let most = if tagged { MAX_BYTES + TAG_BYTES } else { MAX_BYTES };
        if !(MIN_BYTES..=most).contains(&frame.len()) {
            return Fate::Dropped(Drop::Size);
        }
        let (body, check) = frame.split_at(frame.len() - 4);
        if error_at.is_some_and(|at| at < wire.len()) || fcs(body) != check {
            return Fate::Dropped(Drop::Fcs);
        }
        if body[..6] != self.mac && body[..6] != [0xff; 6] {
            return Fate::Dropped(Drop::Mac);
        }
        // One tag is as if it were not there.
        let mut plain = body.to_vec();
        if tagged {
            plain.drain(12..12 + TAG_BYTES);
        }
        match u16_at(&plain, 12) {
            0x0806 => self.receive_arp(&plain),
            0x0800 => self.receive_ip(&plain),
            _ => Fate::Dropped(Drop::Other),
        }
    }

    fn receive_arp(&self, frame: &[u8]) -> Fate {
        // Ethernet, IPv4, their lengths, a request.
        if frame[14..22] != [0, 1, 8, 0, 6, 4, 0, 1] || ip_at(frame, 38) != self.ip {
            return Fate::Dropped(Drop::Other);
        }
        let (hardware, protocol) = (&frame[22..28], &frame[28..32]);
        let mut reply = [hardware, &self.mac, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 2], &self.mac].concat();
        reply.extend(self.ip.octets());
        reply.extend(hardware);
        reply.extend(protocol);
        Fate::Arp(padded(reply))
    }

    fn receive_ip(&self, frame: &[u8]) -> Fate {
        let header = &frame[14..34];
        let total = usize::from(u16_at(header, 2));
        let to = ip_at(header, 16);
        // Broadcast is for the UDP service alone.
        let service = header[9] == 17 && u16_at(frame, 36) == self.port;
        if to != self.ip && !(self.is_broadcast(to) && service) {
            return Fate::Dropped(Drop::Mac);
        }
        let fragment = u16_at(header, 6) & 0x3fff;
        if header[0] != 0x45
            || fragment != 0
            || sum(&[header]) != 0xffff
            || 14 + total > frame.len()
        {
            return Fate::Dropped(Drop::Ip);
        }
        let protocol = header[9];
        if protocol != 17 && !(protocol == 1 && frame[34..36] == [8, 0]) {
            return Fate::Dropped(Drop::Other);
        }
        let source = ip_at(header, 12);
        if !self.allows(source) {
            return Fate::Dropped(Drop::Denied);
        }
        if protocol == 17 && u16_at(frame, 36) != self.port {
            return Fate::Dropped(Drop::Port);
        }
        // At least the eight octets that both headers have.
        let Some(message) = frame.get(34..14 + total).filter(|message| message.len() >= 8) else {
            return Fate::Dropped(Drop::Udp);
        };
        if protocol == 17 {
            self.receive_udp(frame, source, message)
        } else {
            self.receive_icmp(frame, source, message)
        }
    }

    /// True if an address other than the device's own is its subnet's broadcast address, or the
    /// general one.
    pub(in super::super) fn is_broadcast(&self, to: Ipv4Addr) -> bool {
        let subnet = Ipv4Addr::from(u32::from(self.ip) | !u32::from(self.netmask));
        to != self.ip && (to == subnet || to == Ipv4Addr::BROADCAST)
    }

    fn allows(&self, source: Ipv4Addr) -> bool {
        let enabled = || self.allow.iter().filter(|entry| entry.enable);
        let source = u32::from(source);
        enabled().next().is_none() || enabled().any(|e| (source ^ e.ip) & e.mask == 0)
    }

    fn receive_udp(&self, frame: &[u8], source: Ipv4Addr, message: &[u8]) -> Fate {
        let length = u16_at(message, 4);
        let to = ip_at(frame, 30);
        let header = pseudo(source, to, length);
        let unchecked = u16_at(message, 6) == 0;
        if usize::from(length) != message.len()
            || !(unchecked || sum(&[&header, message]) == 0xffff)
        {
            return Fate::Dropped(Drop::Udp);
        }
        if !message.len().is_multiple_of(4) {
            return Fate::Dropped(Drop::Align);
        }
        let words = message[8..].chunks_exact(4);
        Fate::Datagram(Datagram {
            mac: [frame[6], frame[7], frame[8], frame[9], frame[10], frame[11]],
            ip: source,
            port: if self.reply_port == 0 { u16_at(message, 0) } else { self.reply_port },
            broadcast: self.is_broadcast(to),
            words: words.map(|w| u32::from_be_bytes([w[0], w[1], w[2], w[3]])).collect(),
        })
    }

    fn receive_icmp(&self, frame: &[u8], source: Ipv4Addr, message: &[u8]) -> Fate {
        if sum(&[message]) != 0xffff {
            return Fate::Dropped(Drop::Udp);
        }
        let mut answer = message.to_vec();
        answer[0] = 0;
        // Type 8 becomes 0. Where the rest sums to zero this decides which of the two zeros is sent.
        let check = sum(&[&message[2..4], &[8, 0]]);
        answer[2..4].copy_from_slice(&check.to_be_bytes());
        Fate::Icmp(self.ip_frame(&frame[6..12], source, 1, &answer))
    }

    /// The frame that carries `message` from the device.
    fn ip_frame(&self, mac: &[u8], ip: Ipv4Addr, protocol: u8, message: &[u8]) -> Vec<u8> {
        let total = (20 + message.len()) as u16;
        // Don't fragment, 64 hops.
        let mut header = [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0].to_vec();
        header[2..4].copy_from_slice(&total.to_be_bytes());
        header.extend(self.ip.octets());
        header.extend(ip.octets());
        let check = !sum(&[&header]);
        header[10..12].copy_from_slice(&check.to_be_bytes());
        padded([mac, &self.mac, &[8, 0], &header, message].concat())
    }

    /// The frame that carries `words` back to the sender of the datagram.
    pub(in super::super) fn reply(&self, to: &Datagram, words: &[u32]) -> Vec<u8> {
        let length = (8 + 4 * words.len()) as u16;
        let mut message = [self.port.to_be_bytes(), to.port.to_be_bytes()].concat();
        message.extend(length.to_be_bytes());
        message.extend([0, 0]);
        words.iter().for_each(|word| message.extend(word.to_be_bytes()));
        let check = match !sum(&[&pseudo(self.ip, to.ip, length), &message]) {
            // Zero would mean "no checksum" (RFC 768).
            0 => 0xffff,
            check => check,
        };
        message[6..8].copy_from_slice(&check.to_be_bytes());
        self.ip_frame(&to.mac, to.ip, 17, &message)
    }
}

fn padded(mut frame: Vec<u8>) -> Vec<u8> {
    frame.resize(frame.len().max(MIN_BYTES - 4), 0);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::etherbone::scenario::EtherboneDevice;

    /// The checksum field of the answer to an echo request that carries `rest` behind its own.
    fn echo_check(rest: &[u8]) -> u16 {
        let station = Station::new(
            &serde_json::from_value::<EtherboneDevice>(serde_json::json!({ "model_path": "" }))
                .unwrap(),
        );
        let mut request = [&[8, 0, 0, 0], rest].concat();
        let check = !sum(&[&request]);
        request[2..4].copy_from_slice(&check.to_be_bytes());
        match station.receive_icmp(&[0; 14], Ipv4Addr::LOCALHOST, &request) {
            Fate::Icmp(frame) => {
                assert_eq!(
                    sum(&[&frame[34..34 + request.len()]]),
                    0xffff,
                    "what a receiver checks"
                );
                u16_at(&frame, 36)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn of_the_two_zeros_an_echo_carries_the_one_that_is_right_for_every_message() {
        assert_eq!(echo_check(&[0; 4]), 0xffff);
        assert_eq!(echo_check(&[0xff, 0xff, 0, 0]), 0xffff);
        assert_eq!(echo_check(&[0, 0, 0, 1]), 0xfffe);
    }
}
