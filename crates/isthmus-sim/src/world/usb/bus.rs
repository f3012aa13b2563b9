// SPDX-License-Identifier: Apache-2.0
//! High-speed packets in bit times, from the USB 2.0 specification alone.
//!
//! Section 5.8.4, table 5-10: a bulk transaction costs 55 bytes beside its data, made of three
//! packets with SYNC, PID, address or CRC, and after each the EOP and an inter-packet delay of
//! 11 bytes. 13 transactions of 512 bytes fit into a microframe: 53.248 MB/s.

use crate::kernel::Picoseconds;

/// Time between two starts of frame (section 8.4.3.1).
pub const MICROFRAME: Picoseconds = Picoseconds::from_us(125);
/// Bit times of a microframe at 480 Mb/s.
pub const MICROFRAME_BITS: u64 = 60_000;
/// The largest bulk packet at high speed (section 5.8.3).
pub const MAX_PACKET_BYTES: usize = 512;

/// Section 7.1.10: 15 K-J pairs and two K.
const SYNC_BITS: u64 = 32;
const PID_BITS: u64 = 8;
/// Address, endpoint and CRC5 of a token, or frame number and CRC5 (section 8.4.1).
const TOKEN_BITS: u64 = 16;
const CRC16_BITS: u64 = 16;
/// Section 7.1.13.2.
const EOP_BITS: u64 = 8;
/// The longer EOP of a start of frame, by which a hub detects a disconnect (section 7.1.13.2).
const SOF_EOP_BITS: u64 = 40;
/// Section 7.1.18.2: the least delay between two packets of a host; table 5-10 counts it for
/// each packet.
const GAP_BITS: u64 = 88;

const TOKEN: u64 = SYNC_BITS + PID_BITS + TOKEN_BITS + EOP_BITS;
const HANDSHAKE: u64 = SYNC_BITS + PID_BITS + EOP_BITS;

/// A start of frame and the gap after it.
pub const START_OF_FRAME_BITS: u64 = SYNC_BITS + PID_BITS + TOKEN_BITS + SOF_EOP_BITS + GAP_BITS;
/// A token answered by a handshake alone, and the gap after it: a NAK to IN, or a PING.
pub const REFUSED_BITS: u64 = TOKEN + GAP_BITS + HANDSHAKE + GAP_BITS;

/// This many bit times.
#[must_use]
pub const fn bit_times(bits: u64) -> Picoseconds {
    // A bit time is 6250/3 ps.
    Picoseconds((bits * 6_250 + 1) / 3)
}

/// When the parts of a transaction with data end, in bit times from its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The data packet is whole at its receiver.
    pub data: u64,
    /// The handshake is whole: the transaction has happened.
    pub handshake: u64,
    /// The next transaction may begin.
    pub next: u64,
}

impl Transaction {
    /// A transaction whose data packet carries `payload`; IN and OUT take the same time. Bits are
    /// stuffed as these bytes need it.
    #[must_use]
    pub fn new(data_pid: u8, payload: &[u8]) -> Self {
        let packet = SYNC_BITS
            + PID_BITS
            + 8 * payload.len() as u64
            + CRC16_BITS
            + stuffed_bits(data_pid, payload)
            + EOP_BITS;
        let data = TOKEN + GAP_BITS + packet;
        let handshake = data + GAP_BITS + HANDSHAKE;
        Self { data, handshake, next: handshake + GAP_BITS }
    }
}

/// PID bytes of DATA0 and DATA1, check bits included (table 8-1).
pub const DATA_PIDS: [u8; 2] = [0xC3, 0x4B];

/// Zeros inserted after each six ones (section 7.1.9), from the PID to the CRC16; the last bit of
/// SYNC is a one and counts.
fn stuffed_bits(pid: u8, payload: &[u8]) -> u64 {
    let crc = crc16(payload);
    let mut ones = 1;
    let mut stuffed = 0;
    for byte in std::iter::once(pid).chain(payload.iter().copied()).chain(crc.to_le_bytes()) {
        if byte == 0 {
            ones = 0;
            continue;
        }
        for bit in 0..8 {
            ones = if byte >> bit & 1 == 1 { ones + 1 } else { 0 };
            if ones == 6 {
                stuffed += 1;
                ones = 0;
            }
        }
    }
    stuffed
}

/// Section 8.3.5.2: polynomial 0x8005, least significant bit first, complemented.
fn crc16(payload: &[u8]) -> u16 {
    let mut crc = 0xFFFF_u16;
    for byte in payload {
        crc ^= u16::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xA001 } else { crc >> 1 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crc_is_that_of_the_published_check_value() {
        // CRC-16/USB of "123456789".
        assert_eq!(crc16(b"123456789"), 0xB4C8);
    }

    #[test]
    fn a_transaction_costs_55_bytes_beside_its_data_as_table_5_10_has_it() {
        assert_eq!(Transaction::new(DATA_PIDS[0], &[0; 512]).next, 8 * (55 + 512));
        assert_eq!(Transaction::new(DATA_PIDS[1], &[]).next, 8 * 55);
    }

    #[test]
    fn six_ones_cost_a_bit() {
        let plain = Transaction::new(DATA_PIDS[0], &[0; 64]).next;
        // 512 ones, 85 groups of six; the CRC16 of the two differs, and has no additional group.
        let ones = Transaction::new(DATA_PIDS[0], &[0xFF; 64]).next - plain;
        assert!((85..=87).contains(&ones), "{ones}");
        // A run continues from byte to byte: ones 8 to 13.
        let pair = stuffed_bits(DATA_PIDS[1], &[0xE0, 0x07]);
        assert_eq!(pair - stuffed_bits(DATA_PIDS[1], &[0xC0, 0x07]), 1);
    }

    #[test]
    fn a_microframe_is_60000_bits() {
        assert_eq!(bit_times(MICROFRAME_BITS), MICROFRAME);
    }
}
