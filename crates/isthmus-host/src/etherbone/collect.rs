// SPDX-License-Identifier: Apache-2.0
//! What the replies of a cycle bring.

use std::ops::Range;

use super::Error;
use super::cycle::Cycle;
use super::encode::Frame;
use super::wire::{Flags, Format};

/// The expected kind of a reply's next word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Value,
    Status,
    Nothing,
}

/// Takes the words of a cycle's reply in the order of its operations.
#[derive(Debug)]
pub(super) struct Collector {
    cycle: Cycle,
    format: Format,
    /// Only full words are read, in one record and with one read of the error register unless
    /// silent.
    plain: bool,
    /// The next operation, and bus operations since the error register was last read.
    next: usize,
    unchecked: usize,
    reads: Vec<u64>,
    /// Words that came, and words that must.
    words: usize,
    expected: usize,
    /// Data of rare cycles, kept apart to make the others smaller.
    rare: Option<Box<Rare>>,
}

#[derive(Debug, Default)]
struct Rare {
    failed: Vec<usize>,
    /// A word for the wrong return address.
    wrong: Option<usize>,
    /// LiteEth: its datagrams.
    frames: Vec<Frame>,
    /// LiteEth: which reads the replies that are not here yet bring; they come in any order.
    parts: Vec<Option<Range<usize>>>,
}

impl Default for Collector {
    fn default() -> Self {
        Self {
            cycle: Cycle::new(),
            format: Format::W32,
            plain: false,
            next: 0,
            unchecked: 0,
            reads: Vec::new(),
            words: 0,
            expected: 0,
            rare: None,
        }
    }
}

impl Collector {
    /// The place of the cycle that [`begin`](Self::begin) is called for.
    pub(super) fn cycle_mut(&mut self) -> &mut Cycle {
        &mut self.cycle
    }

    /// The cycle's reply will have `expected` words; `plain`: it was encoded by
    /// [`encode_reads`](Cycle::encode_reads).
    pub(super) fn begin(
        &mut self,
        format: Format,
        expected: usize,
        plain: bool,
        frames: Vec<Frame>,
    ) {
        self.reads.clear();
        self.rare = None;
        if !frames.is_empty() {
            let mut end = 0;
            let part = |frame: &Frame| {
                end += frame.reads;
                Some(end - frame.reads..end)
            };
            let parts = frames.iter().filter(|f| f.reads > 0).map(part).collect();
            self.reads.resize(expected, 0);
            self.rare = Some(Box::new(Rare { frames, parts, ..Rare::default() }));
        }
        self.format = format;
        self.plain = plain;
        (self.next, self.unchecked) = (0, 0);
        (self.words, self.expected) = (0, expected);
    }

    /// LiteEth: the datagrams, once.
    pub(super) fn take_frames(&mut self) -> Vec<Frame> {
        self.rare.as_mut().map(|rare| std::mem::take(&mut rare.frames)).unwrap_or_default()
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Takes the whole reply of a cycle encoded by [`encode_reads`](Cycle::encode_reads), where nothing
    /// failed and nothing came before: `bytes` follow the return address, of which these are the
    /// low bytes, of a record of `count` values. Returns the bytes behind the reply; `None`: it is
    /// anything else, and nothing was taken.
    #[inline]
    pub(super) fn take_whole<'a>(
        &mut self,
        count: usize,
        [high, low]: [u8; 2],
        bytes: &'a [u8],
    ) -> Option<&'a [u8]> {
        let silent = self.cycle.silent;
        let reads = self.expected - usize::from(!silent);
        if !self.plain || self.words > 0 || count != reads {
            return None;
        }
        let (values, mut rest) = bytes.split_at_checked(4 * count)?;
        if !silent {
            let (&[flags, _, 1, 0, 0, 0, again, status, a, b, c, d], behind) =
                rest.split_first_chunk()?
            else {
                return None;
            };
            let failed = u32::from_be_bytes([a, b, c, d]) & (u32::MAX >> (32 - count));
            let ours = again == high && status == low | 1 && Flags(flags).has(Flags::WCA);
            if failed != 0 || !ours {
                return None;
            }
            rest = behind;
        }
        if let Some(&[_, _, _, _, 0, 0, next_high, next_low]) = rest.first_chunk()
            && next_high == high
            && next_low & !1 == low
        {
            // More of the same cycle, which is too much.
            return None;
        }
        if self.reads.capacity() == 0 {
            self.reads = Vec::with_capacity(count);
        }
        let (values, _) = values.as_chunks::<4>();
        self.reads.extend(values.iter().map(|value| u64::from(u32::from_be_bytes(*value))));
        self.words = self.expected;
        Some(rest)
    }

    /// LiteEth: takes the reply to one datagram. `false` if it came before or does not fit.
    pub(super) fn take_part(
        &mut self,
        part: usize,
        words: impl ExactSizeIterator<Item = u64>,
    ) -> bool {
        let Some(waiting) = self.rare.as_mut().and_then(|rare| rare.parts.get_mut(part)) else {
            return false;
        };
        let Some(Range { start, .. }) = waiting.take_if(|reads| reads.len() == words.len()) else {
            return false;
        };
        self.words += words.len();
        let reads = self.cycle.operations().iter().filter(|planned| planned.is_read()).skip(start);
        let slots = self.reads.iter_mut().skip(start);
        for ((slot, planned), word) in slots.zip(reads).zip(words) {
            *slot = planned.value(word, self.format);
        }
        true
    }

    pub(super) fn cycle(&self) -> &Cycle {
        &self.cycle
    }

    pub(super) fn is_complete(&self) -> bool {
        self.words >= self.expected
    }

    fn expects(&mut self) -> Expected {
        let group = 8 * self.format.data.bytes();
        loop {
            if self.unchecked == group {
                return Expected::Status;
            }
            match self.cycle.operations().get(self.next) {
                Some(planned) if planned.is_read() => return Expected::Value,
                Some(planned) => {
                    self.next += 1;
                    self.count(planned.is_config());
                }
                None if self.unchecked > 0 => return Expected::Status,
                None => return Expected::Nothing,
            }
        }
    }

    fn count(&mut self, config: bool) {
        if !config && !self.cycle.silent {
            self.unchecked += 1;
        }
    }

    /// Takes the words of one record; `status` says that they came for the error register.
    pub(super) fn take(&mut self, status: bool, mut words: impl ExactSizeIterator<Item = u64>) {
        while let Some(word) = words.next() {
            let position = self.words;
            self.words += 1;
            match self.expects() {
                Expected::Value if !status => {
                    // `expects` has seen the operation.
                    let Some(planned) = self.cycle.operations().get(self.next).copied() else {
                        return;
                    };
                    self.reads.push(planned.value(word, self.format));
                    self.next += 1;
                    self.count(planned.is_config());
                    if planned.is_plain_read() {
                        self.take_reads(&mut words);
                    }
                }
                Expected::Status if status => self.check(word),
                _ => {
                    self.rare().wrong.get_or_insert(position);
                }
            }
        }
    }

    /// Takes as many words as there are plain reads next.
    fn take_reads(&mut self, words: &mut impl ExactSizeIterator<Item = u64>) {
        let group = 8 * self.format.data.bytes();
        let room = if self.cycle.silent { usize::MAX } else { group - self.unchecked };
        let next = self.cycle.operations().get(self.next..).unwrap_or_default();
        let plain = next.iter().take(room.min(words.len())).take_while(|p| p.is_plain_read());
        let count = plain.count();
        self.reads.extend(words.take(count));
        self.next += count;
        self.words += count;
        if !self.cycle.silent {
            self.unchecked += count;
        }
    }

    /// The register's low bits are the results of the operations since it was last read, the last
    /// one in bit 0.
    fn check(&mut self, register: u64) {
        let count = std::mem::take(&mut self.unchecked);
        if register & (u64::MAX >> (64 - count)) == 0 {
            return;
        }
        let bus = |index: &usize| {
            self.cycle.operations().get(*index).is_some_and(|planned| !planned.is_config())
        };
        let covered = (0..self.next).rev().filter(bus).take(count);
        let mut failed: Vec<usize> = covered
            .enumerate()
            .filter(|(bit, _)| register >> bit & 1 == 1)
            .map(|(_, index)| index)
            .collect();
        failed.reverse();
        self.rare().failed.extend(failed);
    }

    /// The problem of the reply.
    pub(super) fn fault(&mut self) -> Option<Error> {
        let first = || self.cycle.operation(0);
        if self.words != self.expected {
            let reason = format!("{} words instead of {}", self.words, self.expected);
            return Some(Error::Reply { first: first(), reason });
        }
        let rare = self.rare.as_mut()?;
        if let Some(position) = rare.wrong {
            let reason = format!("word {position} came for the wrong return address");
            return Some(Error::Reply { first: first(), reason });
        }
        let index = *rare.failed.first()?;
        Some(Error::Bus {
            first: self.cycle.operation(index),
            operations: self.cycle.len(),
            failed: std::mem::take(&mut rare.failed),
            reads: std::mem::take(&mut self.reads),
        })
    }

    /// The values so far.
    pub(super) fn reads(&self) -> &[u64] {
        &self.reads
    }

    pub(super) fn reads_mut(&mut self) -> &mut Vec<u64> {
        &mut self.reads
    }

    pub(super) fn take_values(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.reads)
    }

    /// Frees the memory of the cycle and its values.
    pub(super) fn forget_cycle(&mut self) {
        self.cycle.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::Record;
    use super::*;
    use crate::etherbone::{Access, CycleReply, Width};

    fn encoded(cycle: &Cycle) -> Vec<Record> {
        let mut bytes = Vec::new();
        cycle.encode(Format::W32, 0x8006, &mut bytes).expect("encodes");
        let mut records = Vec::new();
        let mut rest = &bytes[..];
        while let Some((record, length)) = Record::decode(Format::W32, rest) {
            records.push(record);
            rest = &rest[length..];
        }
        assert!(rest.is_empty());
        records
    }

    fn shapes(cycle: &Cycle) -> Vec<(u8, u8, usize, usize)> {
        let shape = |r: &Record| (r.flags.0, r.byte_enable, r.writes.len(), r.reads.len());
        encoded(cycle).iter().map(shape).collect()
    }

    #[test]
    fn lengths_of_the_format_page() {
        // n reads: 16, 20, 28, 44, 76 bytes without and 28, 32, 40, 56, 88 with the check.
        for (n, bare, checked) in [(1, 16, 28), (2, 20, 32), (4, 28, 40), (8, 44, 56), (16, 76, 88)]
        {
            let cycle = Cycle::new().reads((0..n).map(|i| 4 * i));
            let length = |c: &Cycle| c.message_len(Format::W32).expect("encodes");
            assert_eq!(length(&cycle.clone().silent()), bare);
            assert_eq!(length(&cycle), checked);
        }
    }

    #[test]
    fn a_checked_read_as_bytes() {
        let mut bytes = Vec::new();
        let words = Cycle::new().read(0x20_0018).encode(Format::W32, 0x8002, &mut bytes);
        assert_eq!(words.expect("encodes"), 2);
        let expected = [
            0xA0, 0x0F, 0, 1, 0, 0, 0x80, 0x02, 0, 0x20, 0, 0x18, // the read
            0xE8, 0x0F, 0, 1, 0, 0, 0x80, 0x03, 0, 0, 0, 0x04, // the error register
        ];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn status_every_32_operations_and_at_the_end() {
        let counts = |n: u64| -> Vec<usize> {
            let cycle = Cycle::new().reads((0..n).map(|i| 4 * i));
            shapes(&cycle).iter().map(|r| r.3).collect()
        };
        assert_eq!(counts(31), [31, 1]);
        assert_eq!(counts(32), [32, 1]);
        assert_eq!(counts(33), [32, 1, 1, 1]);
        let silent = Cycle::new().read_fifo(0, 300).silent();
        assert_eq!(shapes(&silent), [(0xA0, 0xF, 0, 255), (0xA8, 0xF, 0, 45)]);
        let writes = Cycle::new().write_fifo(0, 0..300).silent();
        assert_eq!(shapes(&writes), [(0xA2, 0xF, 255, 0), (0xAA, 0xF, 45, 0)]);
    }

    #[test]
    fn grouping_keeps_the_order() {
        let cycle = Cycle::new()
            .write(0x10, 1)
            .write(0x14, 2)
            .read(0x10)
            .write(0x20, 3)
            .write(0x20, 4)
            .write(0x20, 5)
            .write(0x24, 6)
            .read_width(0x11, Width::W8)
            .read_config(0xC)
            .silent();
        assert_eq!(
            shapes(&cycle),
            [
                (0xA0, 0xF, 2, 1),
                (0xA2, 0xF, 3, 0),
                (0xA0, 0xF, 1, 0),
                (0xA0, 0b0100, 0, 1),
                (0xE8, 0xF, 0, 1),
            ]
        );
        let bases: Vec<(u64, u64)> =
            encoded(&cycle).iter().map(|r| (r.write_base, r.return_base)).collect();
        assert_eq!(bases, [(0x10, 0x8006), (0x20, 0), (0x24, 0), (0, 0x8006), (0, 0x8006)]);
    }

    #[test]
    fn bad_operations_are_named_and_leave_no_bytes() {
        let text = |cycle: Cycle| {
            let mut bytes = vec![1, 2, 3];
            let error = cycle.encode(Format::W32, 0x8000, &mut bytes).expect_err("refused");
            assert_eq!(bytes, [1, 2, 3]);
            error.to_string()
        };
        assert_eq!(
            text(Cycle::new().read(0).read(2)),
            "read 0x00000002 (operation 1): address must be a multiple of 4"
        );
        assert!(text(Cycle::new().read(1 << 32)).contains("address beyond 32 bit"));
        assert!(text(Cycle::new().write(0, 1 << 32)).contains("does not fit 32 bit"));
        assert!(text(Cycle::new().read_width(0, Width::W64)).contains("data port has 32"));
        assert_eq!(text(Cycle::new()), "the cycle has no operation");
    }

    fn collected(cycle: &Cycle, words: &[(bool, u64)]) -> Result<CycleReply, Error> {
        let expected = cycle.encode(Format::W32, 0x8000, &mut Vec::new())?;
        let mut collector = Collector::default();
        *collector.cycle_mut() = cycle.clone();
        collector.begin(Format::W32, expected, false, Vec::new());
        for (status, word) in words {
            collector.take(*status, std::iter::once(*word));
        }
        match collector.fault() {
            Some(error) => Err(error),
            None => Ok(CycleReply { reads: collector.take_values() }),
        }
    }

    /// The fast path for cycles that only read writes the same bytes as the general path.
    #[test]
    fn reads_in_one_go_are_the_same_bytes() {
        for count in 1..=300 {
            for silent in [false, true] {
                let cycle = Cycle::new().reads((0..count).map(|i| 0x1000 + 12 * i));
                let cycle = if silent { cycle.silent() } else { cycle };
                let (mut quick, mut any) = (vec![1, 2], vec![1, 2]);
                let words = cycle.encode_any(Format::W32, 0x8006, &mut any).expect("encodes");
                match cycle.encode_reads(Format::W32, 0x8006, &mut quick) {
                    Some(said) => assert_eq!((said, quick), (words, any), "{count} reads"),
                    None => assert!(count > if silent { 255 } else { 32 }, "{count} reads"),
                }
            }
        }
        let others = [
            Cycle::new(),
            Cycle::new().read(2),
            Cycle::new().read(1 << 32),
            Cycle::new().read(0).write(4, 1),
            Cycle::new().read_config(0xC),
            Cycle::new().read_width(0, Width::W8),
        ];
        for cycle in others {
            let mut bytes = Vec::new();
            assert_eq!(cycle.encode_reads(Format::W32, 0x8000, &mut bytes), None, "{cycle:?}");
            assert!(bytes.is_empty());
        }
        let wide = Format { address: Width::W64, data: Width::W64 };
        assert_eq!(Cycle::new().read(8).encode_reads(wide, 0x8000, &mut Vec::new()), None);
    }

    /// The whole reply to reads is taken in one go, unless anything in it is out of the ordinary.
    #[test]
    fn only_an_ordinary_reply_is_taken_in_one_go() {
        let taken = |bytes: &[u8]| {
            let mut collector = Collector::default();
            let cycle = Cycle::new().read(0).read(4);
            *collector.cycle_mut() = cycle;
            collector.begin(Format::W32, 3, true, Vec::new());
            let rest = collector.take_whole(2, [0x80, 6], bytes)?;
            assert!(collector.fault().is_none(), "ends well");
            Some((collector.take_values(), rest.to_vec()))
        };
        let reply = [0, 0, 0, 7, 0, 0, 0, 9, 0x0C, 0xF, 1, 0, 0, 0, 0x80, 7, 0, 0, 0, 0xF0];
        assert_eq!(taken(&reply), Some((vec![7, 9], vec![])));
        let more = |next: &[u8]| [&reply[..], next].concat();
        let other = [0, 0xF, 1, 0, 0, 0, 0x80, 8, 1, 2, 3, 4];
        assert_eq!(taken(&more(&other)), Some((vec![7, 9], other.to_vec())));
        let again = [0, 0xF, 1, 0, 0, 0, 0x80, 6, 1, 2, 3, 4];
        assert_eq!(taken(&more(&again)), None, "more of the same cycle");
        for (at, byte) in [(19, 0xF1), (19, 0xF2), (8, 8), (10, 2), (11, 1), (14, 0x81), (15, 6)] {
            let mut bytes = reply;
            bytes[at] = byte;
            assert_eq!(taken(&bytes), None, "byte {at} is {byte:#x}");
        }
        for length in 0..reply.len() {
            assert_eq!(taken(&reply[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn a_cleared_cycle_is_a_new_one() {
        let mut cycle = Cycle::new().reads([0, 4, 8]).silent().repeatable();
        let clone = cycle.clone();
        cycle.clear();
        assert!(cycle.is_empty() && !cycle.silent && !cycle.is_repeatable());
        assert_eq!(clone.len(), 3, "clones keep what they have");
        cycle.add(Access::Read, 0x10, 0, None);
        cycle.add(Access::Write, 0x14, 5, Some(Width::W8));
        cycle.add(Access::Write, 0x18, 6, None);
        assert_eq!(
            shapes(&cycle),
            shapes(&Cycle::new().read(0x10).write_width(0x14, 5, Width::W8).write(0x18, 6))
        );
    }

    #[test]
    fn failed_operations_come_from_the_register() {
        let cycle = Cycle::new().read(0).read_config(0xC).read(4).write(8, 1);
        let words = [(false, 7), (false, 9), (false, 0), (true, 0xF8 | 0b010)];
        let error = collected(&cycle, &words);
        let Err(Error::Bus { first, failed, reads, .. }) = error else {
            panic!("no bus error: {error:?}");
        };
        assert_eq!((first.address, failed, reads), (4, vec![2], vec![7, 9, 0]));
        assert!(matches!(collected(&cycle, &words[..2]), Err(Error::Reply { .. })));
        let swapped = [(true, 0), (false, 0), (false, 0), (false, 0)];
        assert!(matches!(collected(&cycle, &swapped), Err(Error::Reply { .. })));
        let more = [(false, 7), (false, 9), (false, 0), (true, 0), (false, 1)];
        assert!(matches!(collected(&cycle, &more), Err(Error::Reply { .. })));
    }
}
