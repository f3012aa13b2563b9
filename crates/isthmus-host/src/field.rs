// SPDX-License-Identifier: Apache-2.0
//! Some bits of a word of 64.

/// The place of a field in its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Lowest bit.
    pub low: u32,
    /// How many, 1 to 64.
    pub bits: u32,
}

impl Field {
    /// The largest value it holds.
    #[must_use]
    pub const fn most(self) -> u64 {
        u64::MAX >> (u64::BITS - self.bits)
    }

    /// A word with `value` in this field and zeros elsewhere; bits that do not fit are dropped.
    #[must_use]
    pub fn put(self, value: impl Into<u64>) -> u64 {
        (value.into() & self.most()) << self.low
    }

    /// The value of this field.
    #[must_use]
    pub const fn get(self, word: u64) -> u64 {
        word >> self.low & self.most()
    }

    /// True if this field is not zero.
    #[must_use]
    pub const fn is_set(self, word: u64) -> bool {
        self.get(word) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_what_is_got_and_nothing_else_moves() {
        for (low, bits) in [(0, 1), (63, 1), (0, 64), (7, 31), (32, 32)] {
            let field = Field { low, bits };
            let word = field.put(u64::MAX);
            assert_eq!((word.count_ones(), word.trailing_zeros()), (bits, low));
            assert_eq!(field.get(word), field.most());
            assert_eq!(field.get(!word), 0);
            assert!(field.is_set(word) && !field.is_set(!word));
            assert_eq!(field.get(field.put(1_u64)), 1);
        }
    }
}
