// SPDX-License-Identifier: Apache-2.0
//! Headers of the packets that hosts exchange: Ethernet, ARP, IPv4, UDP.

use std::net::{Ipv4Addr, SocketAddrV4};

use etherparse::{
    ArpEthIpv4Packet, ArpOperation, EtherType, Ethernet2Header, NetSlice, PacketBuilder,
    SlicedPacket, TransportSlice,
};

use super::ethernet::MacAddress;

/// The octets of IPv4 and UDP headers, which share the MTU with a datagram's payload.
pub const IPV4_UDP_HEADER_BYTES: usize = 28;
const TIME_TO_LIVE: u8 = 64;

/// A UDP datagram in its frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Udp {
    /// The sender's station.
    pub source_mac: MacAddress,
    /// The receiver's station.
    pub destination_mac: MacAddress,
    /// The sender's socket.
    pub source: SocketAddrV4,
    /// The receiver's socket.
    pub destination: SocketAddrV4,
    /// The payload.
    pub payload: Vec<u8>,
}

/// An ARP packet in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arp {
    /// Request or reply.
    pub is_request: bool,
    /// The sender's station.
    pub sender_mac: MacAddress,
    /// The sender's address.
    pub sender_ip: Ipv4Addr,
    /// The target station: zero in a request.
    pub target_mac: MacAddress,
    /// The target address.
    pub target_ip: Ipv4Addr,
}

/// A frame, decoded as far as a host does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet {
    /// A UDP datagram whose checksums hold.
    Udp(Udp),
    /// An ARP packet.
    Arp(Arp),
    /// Anything else that is well formed.
    Other,
}

/// Why a host throws a packet away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// A header is cut short, or contradicts itself.
    #[error("malformed packet")]
    Malformed,
    /// The IPv4 header checksum, or the UDP checksum, is wrong.
    #[error("wrong checksum")]
    Checksum,
}

impl Udp {
    /// The frame, from its destination address to the payload's last octet; `None` when the payload
    /// is too long for IPv4.
    #[must_use]
    pub fn to_frame(&self) -> Option<Vec<u8>> {
        let builder = PacketBuilder::ethernet2(self.source_mac.0, self.destination_mac.0)
            .ipv4(self.source.ip().octets(), self.destination.ip().octets(), TIME_TO_LIVE)
            .udp(self.source.port(), self.destination.port());
        let mut frame = Vec::with_capacity(builder.size(self.payload.len()));
        builder.write(&mut frame, &self.payload).ok()?;
        Some(frame)
    }
}

impl Arp {
    /// The frame that carries this packet to `destination`.
    #[must_use]
    pub fn to_frame(&self, destination: MacAddress) -> Vec<u8> {
        let ethernet = Ethernet2Header {
            source: self.sender_mac.0,
            destination: destination.0,
            ether_type: EtherType::ARP,
        };
        let packet = ArpEthIpv4Packet {
            operation: if self.is_request { ArpOperation::REQUEST } else { ArpOperation::REPLY },
            sender_mac: self.sender_mac.0,
            sender_ipv4: self.sender_ip.octets(),
            target_mac: self.target_mac.0,
            target_ipv4: self.target_ip.octets(),
        };
        let mut frame = ethernet.to_bytes().to_vec();
        frame.extend(packet.to_bytes());
        frame
    }
}

/// Reads a frame, from its destination address on; padding may follow the packet.
///
/// # Errors
/// When a host would throw it away.
pub fn parse(frame: &[u8]) -> Result<Packet, PacketError> {
    let sliced = SlicedPacket::from_ethernet(frame).map_err(|_| PacketError::Malformed)?;
    match (sliced.net, sliced.transport) {
        (Some(NetSlice::Arp(arp)), _) => {
            let Ok(arp) = arp.to_packet().try_eth_ipv4() else { return Ok(Packet::Other) };
            Ok(Packet::Arp(Arp {
                is_request: arp.operation == ArpOperation::REQUEST,
                sender_mac: MacAddress(arp.sender_mac),
                sender_ip: arp.sender_ipv4_addr(),
                target_mac: MacAddress(arp.target_mac),
                target_ip: arp.target_ipv4_addr(),
            }))
        }
        (Some(NetSlice::Ipv4(ip)), transport) => {
            let header = ip.header().to_header();
            if header.calc_header_checksum() != header.header_checksum {
                return Err(PacketError::Checksum);
            }
            let Some(TransportSlice::Udp(udp)) = transport else { return Ok(Packet::Other) };
            // A checksum of zero means the sender computed none (RFC 768).
            if udp.checksum() != 0 {
                let computed = udp
                    .to_header()
                    .calc_checksum_ipv4_raw(header.source, header.destination, udp.payload())
                    .map_err(|_| PacketError::Malformed)?;
                if computed != udp.checksum() {
                    return Err(PacketError::Checksum);
                }
            }
            let station = |at: usize| {
                let mut octets = [0; 6];
                octets.copy_from_slice(&frame[at..at + 6]);
                MacAddress(octets)
            };
            Ok(Packet::Udp(Udp {
                source_mac: station(6),
                destination_mac: station(0),
                source: SocketAddrV4::new(header.source.into(), udp.source_port()),
                destination: SocketAddrV4::new(header.destination.into(), udp.destination_port()),
                payload: udp.payload().to_vec(),
            }))
        }
        _ => Ok(Packet::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram() -> Udp {
        Udp {
            source_mac: MacAddress([2, 0, 0, 0, 0, 1]),
            destination_mac: MacAddress([2, 0, 0, 0, 0, 2]),
            source: SocketAddrV4::new([10, 0, 0, 1].into(), 4_000),
            destination: SocketAddrV4::new([10, 0, 0, 2].into(), 60_368),
            payload: (0..37).collect(),
        }
    }

    #[test]
    fn a_datagram_survives_its_frame_and_padding() {
        let mut frame = datagram().to_frame().unwrap();
        frame.extend([0; 9]);
        assert_eq!(parse(&frame), Ok(Packet::Udp(datagram())));
    }

    #[test]
    fn an_arp_packet_survives_its_frame() {
        let arp = Arp {
            is_request: true,
            sender_mac: MacAddress([2, 0, 0, 0, 0, 1]),
            sender_ip: [10, 0, 0, 1].into(),
            target_mac: MacAddress([0; 6]),
            target_ip: [10, 0, 0, 2].into(),
        };
        let mut frame = arp.to_frame(MacAddress::BROADCAST);
        frame.resize(60, 0);
        assert_eq!(parse(&frame), Ok(Packet::Arp(arp)));
    }

    #[test]
    fn a_wrong_checksum_is_told_apart_from_a_malformed_packet() {
        let frame = datagram().to_frame().unwrap();
        for at in [14 + 12, 14 + 20, 14 + 28 + 5] {
            let mut bad = frame.clone();
            bad[at] ^= 0x40;
            assert_eq!(parse(&bad), Err(PacketError::Checksum), "octet {at}");
        }
        for length in 0..frame.len() {
            assert_eq!(parse(&frame[..length]), Err(PacketError::Malformed), "{length} octets");
        }
    }

    #[test]
    fn a_payload_too_long_for_ipv4_makes_no_frame() {
        let long = Udp { payload: vec![0; 65_536], ..datagram() };
        assert!(long.to_frame().is_none());
    }
}
