// SPDX-License-Identifier: Apache-2.0
//! Cycles as records of either dialect.

use super::Error;
use super::cycle::{Cycle, Planned};
use super::wire::{Codec, Flags, Format, LiteCodec, MAX_COUNT, Message, Record, Width, put_slot};

/// Address of the error register's low word for a 32-bit data port.
pub(super) const STATUS_REGISTER_W32: u32 = 4;

/// Bits of a LiteEth return address that number the datagrams of a cycle.
pub(super) const LITE_PART_BITS: u32 = 10;

/// A datagram of LiteEth's dialect.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) bytes: usize,
    /// Reads in it.
    pub(super) reads: usize,
    /// Number among the datagrams with reads.
    pub(super) part: usize,
}

impl Cycle {
    /// Bytes of the whole datagram with this cycle alone.
    pub fn message_len(&self, format: Format) -> Result<usize, Error> {
        let mut records = Vec::new();
        self.encode(format, 0x8000, &mut records)?;
        Ok(format.header() + records.len())
    }

    /// As [`encode_reads`](Self::encode_reads) or, for other cycles, [`encode_any`](Self::encode_any).
    pub(super) fn encode(
        &self,
        format: Format,
        tag: u64,
        out: &mut Vec<u8>,
    ) -> Result<usize, Error> {
        match self.encode_reads(format, tag, out) {
            Some(words) => Ok(words),
            None => self.encode_any(format, tag, out),
        }
    }

    /// Fast path for the most frequent cycle: only full words to read, which fit one record and one
    /// read of the error register. Gives the same bytes as [`encode_any`](Self::encode_any);
    /// `None`: the cycle is of another kind.
    #[inline]
    pub(super) fn encode_reads(
        &self,
        format: Format,
        tag: u64,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let operations = self.operations();
        let most = if self.silent { MAX_COUNT } else { 8 * Width::W32.bytes() };
        let easy = |planned: &Planned| {
            planned.is_plain_read()
                && planned.address & 3 == 0
                && planned.address <= Width::W32.mask()
        };
        let count = operations.len();
        if format != Format::W32 || count == 0 || count > most || !operations.iter().all(easy) {
            return None;
        }
        let [_, .., tag_high, tag_low] = tag.to_be_bytes();
        let lanes = Width::W32.mask_of_lanes();
        let flags = Flags::BCA | Flags::RFF;
        let read = if self.silent { flags | Flags::CYC } else { flags };
        let status = flags | Flags::RCA | Flags::CYC;
        let word = |planned: &Planned| (planned.address as u32).to_be_bytes();
        let head = [read.0, lanes, 0, count as u8, 0, 0, tag_high, tag_low];
        let [a, b, c, d] = STATUS_REGISTER_W32.to_be_bytes();
        let check = [status.0, lanes, 0, 1, 0, 0, tag_high, tag_low | 1, a, b, c, d];
        if let ([one], false) = (operations, self.silent) {
            // In one piece: the length of the buffer is looked at once.
            let mut all = [0; 24];
            all[..8].copy_from_slice(&head);
            all[8..12].copy_from_slice(&word(one));
            all[12..].copy_from_slice(&check);
            out.extend_from_slice(&all);
            return Some(2);
        }
        out.reserve(4 * count + 20);
        out.extend_from_slice(&head);
        let start = out.len();
        out.resize(start + 4 * count, 0);
        let (places, _) = out.get_mut(start..).unwrap_or_default().as_chunks_mut::<4>();
        for (place, planned) in places.iter_mut().zip(operations) {
            *place = word(planned);
        }
        if self.silent {
            return Some(count);
        }
        out.extend_from_slice(&check);
        Some(count + 1)
    }

    /// Appends the cycle's records, whose results return to `tag` and, for the error register, to
    /// `tag + 1`. Returns how many words the reply brings; on an error nothing is appended.
    pub(super) fn encode_any(
        &self,
        format: Format,
        tag: u64,
        out: &mut Vec<u8>,
    ) -> Result<usize, Error> {
        let start = out.len();
        let mut encoder = Encoder { format, tag, out, open: None, last: start, words: 0 };
        let done = encoder.cycle(self);
        let words = encoder.words;
        match done {
            Ok(()) => Ok(words),
            Err(error) => {
                out.truncate(start);
                Err(error)
            }
        }
    }

    /// Appends the cycle's datagrams in LiteEth's dialect: each one record, of at most `depth`
    /// operations of one kind. Reads return to `tag` plus the number of their part. Returns how many
    /// words the replies bring, and where the datagrams end.
    pub(super) fn encode_lite(
        &self,
        tag: u64,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Vec<Frame>), Error> {
        let start = out.len();
        let done = self.lite_frames(tag, depth.clamp(1, MAX_COUNT), out);
        if done.is_err() {
            out.truncate(start);
        }
        done
    }

    fn lite_frames(
        &self,
        tag: u64,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Vec<Frame>), Error> {
        let (mut frames, mut words, mut parts, mut index) = (Vec::new(), 0, 0, 0);
        while let Some(first) = self.operations().get(index) {
            let failed = |index: usize, reason: String| Error::Operation {
                operation: self.operation(index),
                reason,
            };
            let (base, lane) = first.lanes(Format::W32);
            let width = first.width.unwrap_or(Width::W32);
            let mut record = Record {
                byte_enable: width.mask_of_lanes() << lane,
                write_base: if first.is_read() { 0 } else { base },
                return_base: if first.is_read() { tag | parts as u64 } else { 0 },
                ..Record::default()
            };
            while let Some(planned) = self.operations().get(index) {
                let (address, lane) = planned.lanes(Format::W32);
                let lanes = planned.width.unwrap_or(Width::W32).mask_of_lanes() << lane;
                let next = base.wrapping_add(4 * record.writes.len() as u64);
                let joins = lanes == record.byte_enable
                    && planned.is_read() == first.is_read()
                    && record.reads.len() + record.writes.len() < depth
                    && (planned.is_read() || address == next);
                if !joins {
                    break;
                }
                planned.check(Format::W32).map_err(|reason| failed(index, reason))?;
                if planned.is_config() {
                    let reason = "LiteEth's dialect has no configuration space".to_owned();
                    return Err(failed(index, reason));
                }
                match planned.is_read() {
                    true => record.reads.push(address),
                    false => record.writes.push(planned.data << (8 * lane)),
                }
                index += 1;
            }
            let (reads, part) = (record.reads.len(), parts);
            if reads > 0 {
                parts += 1;
                words += reads;
                if parts > 1 << LITE_PART_BITS {
                    let reason = format!("more than {} datagrams with reads", 1 << LITE_PART_BITS);
                    return Err(failed(index, reason));
                }
            }
            let start = out.len();
            let no_reads = reads == 0;
            let message = Message::Data { no_reads, format: Format::W32, records: vec![record] };
            LiteCodec.encode(&message, out).map_err(|error| failed(index, error.to_string()))?;
            frames.push(Frame { bytes: out.len() - start, reads, part });
        }
        if frames.is_empty() { Err(Error::Empty) } else { Ok((words, frames)) }
    }
}

/// Writes records in one pass: counts and flags are put in when a record ends.
struct Encoder<'a> {
    format: Format,
    tag: u64,
    out: &'a mut Vec<u8>,
    open: Option<Open>,
    /// Begin of the last record.
    last: usize,
    words: usize,
}

/// The record that is being written.
#[derive(Clone, Copy)]
struct Open {
    start: usize,
    flags: Flags,
    byte_enable: u8,
    writes: usize,
    reads: usize,
    write_base: u64,
}

impl Encoder<'_> {
    fn cycle(&mut self, cycle: &Cycle) -> Result<(), Error> {
        let group = 8 * self.format.data.bytes();
        let operations = cycle.operations();
        let (mut unchecked, mut index) = (0, 0);
        while let Some(planned) = operations.get(index) {
            planned
                .check(self.format)
                .map_err(|reason| Error::Operation { operation: cycle.operation(index), reason })?;
            let mut count = 1;
            if planned.is_read() {
                self.read(planned);
                if planned.is_plain_read() {
                    let room = if cycle.silent { MAX_COUNT } else { group - unchecked - 1 };
                    count += self.more_reads(&operations[index + 1..], room);
                }
            } else {
                self.write(planned);
            }
            index += count;
            if !cycle.silent && !planned.is_config() {
                unchecked += count;
                if unchecked == group {
                    unchecked = 0;
                    self.status();
                }
            }
        }
        if unchecked > 0 {
            self.status();
        }
        self.close();
        match self.out.get_mut(self.last) {
            Some(flags) if !cycle.is_empty() => *flags |= Flags::CYC.0,
            _ => return Err(Error::Empty),
        }
        Ok(())
    }

    fn read(&mut self, planned: &Planned) {
        let (base, byte_enable) = self.place(planned);
        let config = planned.is_config();
        let word = self.format.word();
        let mut open = self.record(byte_enable, |open| {
            open.reads < MAX_COUNT && (open.reads == 0 || open.flags.has(Flags::RCA) == config)
        });
        if open.reads == 0 {
            put_slot(self.out, word, self.tag);
            if config {
                open.flags |= Flags::RCA;
            }
        }
        put_slot(self.out, word, base);
        open.reads += 1;
        self.words += 1;
        self.open = Some(open);
    }

    /// Adds plain reads to the open record, up to `room` or to one that needs more care. Returns how
    /// many.
    fn more_reads(&mut self, operations: &[Planned], room: usize) -> usize {
        let Some(open) = &mut self.open else { return 0 };
        let room = room.min(MAX_COUNT - open.reads);
        let (last, below) = (self.format.address.mask(), self.format.data.bytes() as u64 - 1);
        let easy = |planned: &&Planned| {
            planned.is_plain_read() && planned.address <= last && planned.address & below == 0
        };
        let word = self.format.word();
        let count = operations.iter().take(room).take_while(easy).count();
        self.out.reserve(count * word);
        for planned in operations.iter().take(count) {
            put_slot(self.out, word, planned.address);
        }
        open.reads += count;
        self.words += count;
        count
    }

    fn write(&mut self, planned: &Planned) {
        let (base, byte_enable) = self.place(planned);
        let (config, stride) = (planned.is_config(), self.format.data.bytes() as u64);
        let word = self.format.word();
        let mut open = self.record(byte_enable, |open| {
            open.reads == 0
                && (open.writes == 0
                    || open.flags.has(Flags::WCA) == config && open.continues(base, stride))
        });
        match open.writes {
            0 => {
                open.write_base = base;
                put_slot(self.out, word, base);
                if config {
                    open.flags |= Flags::WCA;
                }
            }
            1 if open.write_base == base => open.flags |= Flags::WFF,
            _ => {}
        }
        let (_, lane) = planned.lanes(self.format);
        put_slot(self.out, word, planned.data << (8 * lane));
        open.writes += 1;
        self.open = Some(open);
    }

    /// A separate record that reads the error register.
    fn status(&mut self) {
        let width = self.format.data.bytes();
        self.close();
        self.last = self.out.len();
        let byte_enable = self.format.data.mask_of_lanes();
        let flags = Flags::BCA | Flags::RCA | Flags::RFF;
        self.header([flags.0, byte_enable, 0, 1]);
        put_slot(self.out, self.format.word(), self.tag | 1);
        put_slot(self.out, self.format.word(), 8 - width as u64);
        self.words += 1;
    }

    fn place(&self, planned: &Planned) -> (u64, u8) {
        let (base, lane) = planned.lanes(self.format);
        let width = planned.width.unwrap_or(self.format.data);
        // Accesses that do not fit the port are refused before.
        (base, ((u16::from(width.mask_of_lanes())) << lane) as u8)
    }

    /// The open record if the operation fits it, otherwise a new one.
    fn record(&mut self, byte_enable: u8, fits: impl Fn(&Open) -> bool) -> Open {
        match self.open {
            Some(open) if open.byte_enable == byte_enable && fits(&open) => open,
            _ => {
                self.close();
                let start = self.out.len();
                self.last = start;
                self.header([0; 4]);
                Open {
                    start,
                    flags: Flags::BCA | Flags::RFF,
                    byte_enable,
                    writes: 0,
                    reads: 0,
                    write_base: 0,
                }
            }
        }
    }

    fn header(&mut self, bytes: [u8; 4]) {
        let start = self.out.len();
        self.out.extend_from_slice(&bytes);
        self.out.resize(start + self.format.header(), 0);
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        // Both counts stop at 255.
        let header = [open.flags.0, open.byte_enable, open.writes as u8, open.reads as u8];
        if let Some(place) = self.out.get_mut(open.start..open.start + 4) {
            place.copy_from_slice(&header);
        }
    }
}

impl Open {
    fn continues(&self, base: u64, stride: u64) -> bool {
        let next = self.write_base.wrapping_add(stride * self.writes as u64);
        match self.writes {
            1 => base == self.write_base || base == next,
            MAX_COUNT.. => false,
            _ if self.flags.has(Flags::WFF) => base == self.write_base,
            _ => base == next,
        }
    }
}
