// SPDX-License-Identifier: Apache-2.0
//! The words of a link at a transceiver's user side, and the arithmetic of their checks
//! (docs/explanation/cores/link.md).

/// One clock of one direction: 32 data bits and 4 K flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The data bits.
    pub data: u32,
    /// One flag a byte: the byte is a K symbol.
    pub k: u8,
}

/// Meaning of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A data word.
    Data(u32),
    /// Idle.
    Idle,
    /// A packet begins.
    Sop {
        /// The buffer it goes to.
        id: u8,
        /// Words sent to that buffer before it, modulo 1024.
        count: u16,
    },
    /// A packet ends, with its `crc24`.
    Eop(u32),
    /// A bad packet ends.
    Edb(u32),
    /// Words that left a buffer.
    Credit {
        /// The buffer.
        id: u8,
        /// Words in all, modulo 1024.
        count: u16,
    },
    /// Words sent to a buffer.
    Check {
        /// The buffer.
        id: u8,
        /// Words in all, modulo 1024.
        count: u16,
    },
    /// The link starts.
    Init {
        /// The second phase.
        ready: bool,
    },
    /// One instant on all lanes of a bundle.
    Align,
    /// Anything else.
    Invalid,
}

/// Credits count words modulo this.
pub const COUNT_MODULUS: u16 = 1_024;
/// The deepest buffer that such a counter can describe.
pub const DEPTH_MAX: u16 = 512;
/// Buffers that an `id` can name.
pub const IDS_MAX: usize = 64;

const CONTROL: u8 = 0b1000;
const IDLE: u8 = 0xBC;
const SOP: u8 = 0xFB;
const EOP: u8 = 0xFD;
const EDB: u8 = 0xFE;
const CREDIT: u8 = 0x5C;
const CHECK: u8 = 0x7C;
/// INIT and READY have IDLE's symbol, and a check that is never 0.
const INIT: u8 = IDLE;
const ALIGN: u8 = 0x3C;
/// The symbols with a comma: K28.1, K28.5, K28.7.
const COMMAS: [u8; 3] = [0x3C, 0xBC, 0xFC];

const READY_PHASE: u8 = 1;

impl Word {
    /// A word that carries nothing.
    pub const IDLE: Self = Self { data: (IDLE as u32) << 24, k: CONTROL };
    /// A word that a transceiver may remove or add.
    pub const ALIGN: Self = Self { data: (ALIGN as u32) << 24, k: CONTROL };
    /// A word that no transceiver accepts as a symbol.
    pub const INVALID: Self = Self { data: 0, k: 0b1111 };

    /// A data word.
    #[must_use]
    pub const fn data(data: u32) -> Self {
        Self { data, k: 0 }
    }

    /// The word that says this.
    #[inline]
    #[must_use]
    pub fn of(token: Token) -> Self {
        let data = match token {
            Token::Data(data) => return Self::data(data),
            Token::Invalid => return Self::INVALID,
            Token::Idle => u32::from(IDLE) << 24,
            Token::Align => u32::from(ALIGN) << 24,
            Token::Sop { id, count } => counted(SOP, id, count),
            Token::Credit { id, count } => counted(CREDIT, id, count),
            Token::Check { id, count } => counted(CHECK, id, count),
            Token::Init { ready } => counted(INIT, if ready { READY_PHASE } else { 0 }, 0),
            Token::Eop(crc) => u32::from(EOP) << 24 | crc & CRC24_MASK,
            Token::Edb(crc) => u32::from(EDB) << 24 | crc & CRC24_MASK,
        };
        Self { data, k: CONTROL }
    }

    /// Its meaning.
    #[inline]
    #[must_use]
    pub fn token(self) -> Token {
        match self.k {
            0 => Token::Data(self.data),
            CONTROL => self.control(),
            _ => Token::Invalid,
        }
    }

    /// True for a word of a packet: data, or the word at its begin or end.
    #[inline]
    #[must_use]
    pub fn is_of_packet(self) -> bool {
        self.k == 0 || self.k == CONTROL && matches!((self.data >> 24) as u8, SOP | EOP | EDB)
    }

    /// True if a transceiver can align its bytes on it.
    #[inline]
    #[must_use]
    pub fn has_comma(self) -> bool {
        self.k == CONTROL && COMMAS.contains(&((self.data >> 24) as u8))
    }

    fn control(self) -> Token {
        let symbol = (self.data >> 24) as u8;
        let argument = self.data & CRC24_MASK;
        let (id, count) = ((argument >> 18) as u8, (argument >> 8) as u16 & (COUNT_MODULUS - 1));
        let checked = crc8(self.data >> 8) == self.data as u8;
        match symbol {
            IDLE if argument == 0 => Token::Idle,
            ALIGN if argument == 0 => Token::Align,
            EOP => Token::Eop(argument),
            EDB => Token::Edb(argument),
            SOP if checked => Token::Sop { id, count },
            CREDIT if checked => Token::Credit { id, count },
            CHECK if checked => Token::Check { id, count },
            INIT if checked && count == 0 && id <= READY_PHASE => {
                Token::Init { ready: id == READY_PHASE }
            }
            _ => Token::Invalid,
        }
    }
}

fn counted(symbol: u8, id: u8, count: u16) -> u32 {
    let covered = u32::from(symbol) << 16 | u32::from(id) << 10 | u32::from(count);
    covered << 8 | u32::from(crc8(covered))
}

const CRC24_MASK: u32 = 0x00FF_FFFF;
const CRC24_POLY: u32 = 0x0032_8B63;
const CRC8_POLY: u8 = 0x07;

const CRC8: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u8;
        let mut bit = 0;
        while bit < 8 {
            crc = crc << 1 ^ if crc & 0x80 == 0 { 0 } else { CRC8_POLY };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// The check of a control word's upper 24 bits.
fn crc8(covered: u32) -> u8 {
    let step = |crc: u8, byte: u32| CRC8[usize::from(crc ^ byte as u8)];
    step(step(step(0xFF, covered >> 16), covered >> 8), covered)
}

/// `CRC24[n][b]`: contribution of byte `b` followed by `n` zero bytes.
const CRC24: [[u32; 256]; 4] = {
    let mut tables = [[0; 256]; 4];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u32) << 16;
        let mut place = 0;
        while place < 4 {
            let mut bit = 0;
            while bit < 8 {
                crc = (crc << 1 ^ if crc & 0x0080_0000 == 0 { 0 } else { CRC24_POLY }) & CRC24_MASK;
                bit += 1;
            }
            tables[place][byte] = crc;
            place += 1;
        }
        byte += 1;
    }
    tables
};

/// The check over a packet's data words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crc24(u32);

impl Default for Crc24 {
    fn default() -> Self {
        Self(CRC24_MASK)
    }
}

impl Crc24 {
    /// Takes one data word, its most significant bit first.
    #[inline]
    pub fn add(&mut self, word: u32) {
        let x = self.0 << 8 ^ word;
        self.0 = CRC24[3][(x >> 24) as usize]
            ^ CRC24[2][(x >> 16 & 0xFF) as usize]
            ^ CRC24[1][(x >> 8 & 0xFF) as usize]
            ^ CRC24[0][(x & 0xFF) as usize];
    }

    /// The value that goes into the end word.
    #[inline]
    #[must_use]
    pub fn value(self) -> u32 {
        !self.0 & CRC24_MASK
    }
}

const MIX: u32 = 0x9E37_79B1;

/// The word of `lane` when lane 0 carries `data`.
#[inline]
#[must_use]
pub fn on_lane(data: u32, lane: usize) -> u32 {
    data.rotate_left(8 * lane as u32) ^ MIX.wrapping_mul(lane as u32)
}

/// The word of lane 0 when `lane` carries `data`.
#[inline]
#[must_use]
pub fn off_lane(data: u32, lane: usize) -> u32 {
    (data ^ MIX.wrapping_mul(lane as u32)).rotate_right(8 * lane as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit, straight from the page.
    fn crc(bits: impl Iterator<Item = bool>, width: u32, poly: u32, start: u32) -> u32 {
        bits.fold(start, |crc, bit| {
            let top = crc >> (width - 1) & 1 == 1;
            let next = crc << 1 & ((1 << width) - 1);
            if top != bit { next ^ poly } else { next }
        })
    }

    fn bits(value: u32, width: u32) -> impl Iterator<Item = bool> {
        (0..width).rev().map(move |bit| value >> bit & 1 == 1)
    }

    #[test]
    fn checks_are_those_of_the_page() {
        let words = [0, 0xFFFF_FFFF, 0x1234_5678, 0x8000_0001];
        let mut fast = Crc24::default();
        words.iter().for_each(|word| fast.add(*word));
        let slow = crc(words.iter().flat_map(|w| bits(*w, 32)), 24, 0x32_8B63, 0xFF_FFFF);
        assert_eq!(fast.value(), !slow & 0xFF_FFFF);
        for covered in [0, 0xFB_0000, 0x5C_1234, 0xFF_FFFF] {
            assert_eq!(u32::from(crc8(covered)), crc(bits(covered, 24), 8, 0x07, 0xFF));
        }
    }

    fn tokens() -> Vec<Token> {
        let mut all = vec![Token::Idle, Token::Align, Token::Data(7), Token::Data(0xBC00_0000)];
        all.extend([Token::Eop(0xABCDEF), Token::Edb(1)]);
        all.extend([true, false].map(|ready| Token::Init { ready }));
        for (id, count) in [(0, 0), (63, 1023), (5, 512)] {
            all.push(Token::Sop { id, count });
            all.push(Token::Credit { id, count });
            all.push(Token::Check { id, count });
        }
        all
    }

    #[test]
    fn every_token_survives_its_word() {
        for token in tokens() {
            assert_eq!(Word::of(token).token(), token);
        }
    }

    #[test]
    fn every_word_of_the_start_and_between_packets_has_a_comma() {
        for token in tokens() {
            let empty = matches!(token, Token::Idle | Token::Align | Token::Init { .. });
            assert_eq!(Word::of(token).has_comma(), empty, "{token:?}");
        }
    }

    #[test]
    fn no_single_bit_error_turns_a_counted_word_into_another() {
        for token in tokens() {
            let word = Word::of(token);
            if let Token::Sop { .. } | Token::Credit { .. } | Token::Check { .. } = token {
                for bit in 0..32 {
                    let hit = Word { data: word.data ^ 1 << bit, ..word };
                    assert_eq!(hit.token(), Token::Invalid, "{token:?} bit {bit}");
                }
            }
        }
    }

    #[test]
    fn what_a_lane_carries_leads_back() {
        for lane in 0..8 {
            assert_eq!(off_lane(on_lane(0x1234_5678, lane), lane), 0x1234_5678);
        }
        assert_ne!(on_lane(7, 1), on_lane(7, 2));
    }

    #[test]
    fn words_of_packets_are_told_from_those_between() {
        for token in [Token::Data(0xBC00_0000), Token::Sop { id: 1, count: 0 }, Token::Eop(7)] {
            assert!(Word::of(token).is_of_packet(), "{token:?}");
        }
        for token in [Token::Idle, Token::Credit { id: 1, count: 0 }, Token::Invalid, Token::Align]
        {
            assert!(!Word::of(token).is_of_packet(), "{token:?}");
        }
    }
}
