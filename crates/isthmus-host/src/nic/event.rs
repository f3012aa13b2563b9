// SPDX-License-Identifier: Apache-2.0

use std::net::{Ipv4Addr, SocketAddrV4};

/// Bytes of an event in memory.
pub const EVENT_BYTES: usize = 32;

/// A full buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its list: the port.
    pub list: u8,
    /// The buffer's number in the list.
    pub index: u16,
    /// From the buffer's begin to the end of its last datagram.
    pub bytes: u32,
    /// Datagrams in it; each begins at a multiple of [`PLACE_BYTES`](super::PLACE_BYTES).
    pub datagrams: u16,
    /// Number of this filling in its list, from 0 on.
    pub sequence: u32,
    /// Sender of the last datagram.
    pub source: SocketAddrV4,
    /// Datagrams of the list that found no buffer so far, modulo 2^32.
    pub lost: u32,
    /// The interface's clock when the last datagram's end had come.
    pub cycles: u64,
    /// Memory answered a write to the buffer with an error: its bytes are not to be used.
    pub error: bool,
}

impl Event {
    /// An event as the interface writes it; the phase is not checked.
    #[must_use]
    pub fn decode(bytes: &[u8; EVENT_BYTES]) -> Self {
        let word = |at: usize| {
            bytes[8 * at..8 * at + 8]
                .iter()
                .rev()
                .fold(0_u64, |word, byte| word << 8 | u64::from(*byte))
        };
        let words = [word(0), word(1), word(2), word(3)];
        Self {
            error: words[0] & 1 != 0,
            list: (words[0] >> 8) as u8,
            index: (words[0] >> 16) as u16,
            bytes: (words[0] >> 32) as u32,
            sequence: words[1] as u32,
            source: SocketAddrV4::new(Ipv4Addr::from((words[1] >> 32) as u32), words[2] as u16),
            datagrams: (words[2] >> 16) as u16,
            lost: (words[2] >> 32) as u32,
            cycles: words[3] & !(1 << 63),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_where_the_interface_writes_it() {
        let words: [u64; 4] = [
            0x0000_05C0_0007_0201,
            0xC0A8_0A01_0000_0009,
            0x0000_0003_0004_1F90,
            0x8000_0000_0000_1234,
        ];
        let mut bytes = [0; EVENT_BYTES];
        for (at, word) in words.iter().enumerate() {
            bytes[8 * at..8 * at + 8].copy_from_slice(&word.to_le_bytes());
        }
        let expected = Event {
            error: true,
            list: 2,
            index: 7,
            bytes: 1472,
            sequence: 9,
            source: "192.168.10.1:8080".parse().unwrap(),
            datagrams: 4,
            lost: 3,
            cycles: 0x1234,
        };
        assert_eq!(Event::decode(&bytes), expected);
    }
}
