// SPDX-License-Identifier: Apache-2.0
//! A write-combining buffer: stores to one line gather until the line leaves for the bus.

/// The bytes of a line, and of a buffer.
pub const LINE_BYTES: usize = 64;

/// One buffer, as a core has several. It holds stores to one line; a store to another line, a full
/// line or a fence sends it off. Each run of bytes without a hole becomes one write.
#[derive(Clone, Debug)]
pub struct WriteCombiner {
    line: u64,
    bytes: [u8; LINE_BYTES],
    written: u64,
}

impl Default for WriteCombiner {
    fn default() -> Self {
        Self { line: 0, bytes: [0; LINE_BYTES], written: 0 }
    }
}

impl WriteCombiner {
    /// Stores `data`; gives the writes that leave for the bus because of it.
    #[must_use]
    pub fn store(&mut self, address: u64, data: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut leaving = Vec::new();
        for (at, byte) in data.iter().enumerate() {
            let address = address.wrapping_add(at as u64);
            let offset = (address % LINE_BYTES as u64) as usize;
            let line = address - offset as u64;
            if line != self.line {
                leaving.extend(self.flush());
                self.line = line;
            }
            self.bytes[offset] = *byte;
            self.written |= 1 << offset;
            if self.written == u64::MAX {
                leaving.extend(self.flush());
            }
        }
        leaving
    }

    /// Empties the buffer; gives the writes that leave.
    #[must_use]
    pub fn flush(&mut self) -> Vec<(u64, Vec<u8>)> {
        let written = std::mem::take(&mut self.written);
        runs(&self.bytes, |at| written >> at & 1 == 1)
            .map(|(at, bytes)| (self.line + at as u64, bytes.to_vec()))
            .collect()
    }
}

/// The runs of bytes for which `enabled` holds, each with its offset.
pub(crate) fn runs(
    bytes: &[u8],
    enabled: impl Fn(usize) -> bool,
) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = (at..bytes.len()).find(|at| enabled(*at))?;
        let end = (start..bytes.len()).find(|at| !enabled(*at)).unwrap_or(bytes.len());
        at = end;
        Some((start, &bytes[start..end]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_stores_that_fill_a_line_leave_as_one_write() {
        let mut buffer = WriteCombiner::default();
        let line: Vec<u8> = (0..64).collect();
        for at in 0..7 {
            assert_eq!(buffer.store(0x1000 + 8 * at as u64, &line[8 * at..8 * at + 8]), []);
        }
        assert_eq!(buffer.store(0x1038, &line[56..]), [(0x1000, line)]);
        assert_eq!(buffer.flush(), []);
    }

    #[test]
    fn a_part_of_a_line_waits_for_a_fence_or_for_another_line() {
        let mut buffer = WriteCombiner::default();
        assert_eq!(buffer.store(0x1010, &[1; 16]), []);
        assert_eq!(buffer.store(0x2000, &[2; 4]), [(0x1010, vec![1; 16])]);
        assert_eq!(buffer.flush(), [(0x2000, vec![2; 4])]);
    }

    #[test]
    fn a_store_across_lines_is_cut_at_the_line() {
        let mut buffer = WriteCombiner::default();
        assert_eq!(buffer.store(0x103C, &[7; 8]), [(0x103C, vec![7; 4])]);
        assert_eq!(buffer.flush(), [(0x1040, vec![7; 4])]);
    }

    #[test]
    fn bytes_with_a_hole_leave_as_two_writes() {
        let mut buffer = WriteCombiner::default();
        assert_eq!(buffer.store(0x1000, &[1; 4]), []);
        assert_eq!(buffer.store(0x1008, &[2; 4]), []);
        assert_eq!(buffer.flush(), [(0x1000, vec![1; 4]), (0x1008, vec![2; 4])]);
    }

    #[test]
    fn a_later_store_to_the_same_bytes_wins() {
        let mut buffer = WriteCombiner::default();
        assert_eq!(buffer.store(0, &[1, 1, 1, 1]), []);
        assert_eq!(buffer.store(2, &[9]), []);
        assert_eq!(buffer.flush(), [(0, vec![1, 1, 9, 1])]);
    }
}
