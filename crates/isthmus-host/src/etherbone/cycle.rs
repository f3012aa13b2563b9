// SPDX-License-Identifier: Apache-2.0

use std::ops::Range;
use std::sync::Arc;

use super::wire::{Codec, Flags, Format, LiteCodec, MAX_COUNT, Message, Record, Width, put_slot};
use super::{Access, Error, Operation};

/// Operations that the slave executes in order with the bus cycle line held, so that nobody else
/// comes between them.
///
/// A cycle is *checked* unless made [`silent`](Cycle::silent): after every 32 bus operations (at 32
/// bit) and at the end, the slave's error register is read along, and failed operations are named.
/// Addresses are byte addresses; sub-word data lies in the lanes of a big-endian bus. Clones share
/// their operations.
#[derive(Debug, Clone, Default)]
pub struct Cycle {
    operations: Operations,
    silent: bool,
    repeatable: bool,
}

#[derive(Debug, Clone, Copy)]
struct Planned {
    address: u64,
    data: u64,
    access: Access,
    /// `None`: the width of the data port.
    width: Option<Width>,
}

/// So many operations stand in the cycle itself and need no memory of their own.
const FEW: usize = 2;

#[derive(Debug, Clone)]
enum Operations {
    Few {
        count: usize,
        planned: [Planned; FEW],
    },
    /// Clones share them.
    Many(Arc<Vec<Planned>>),
}

impl Default for Operations {
    fn default() -> Self {
        let none = Planned { address: 0, data: 0, access: Access::Read, width: None };
        Self::Few { count: 0, planned: [none; FEW] }
    }
}

impl Operations {
    #[inline]
    fn as_slice(&self) -> &[Planned] {
        match self {
            Self::Few { count, planned } => planned.get(..*count).unwrap_or_default(),
            Self::Many(planned) => planned,
        }
    }

    #[inline]
    fn push(&mut self, operation: Planned) {
        if let Self::Few { count, planned } = self
            && let Some(place) = planned.get_mut(*count)
        {
            *place = operation;
            *count += 1;
            return;
        }
        self.many(1).push(operation);
    }

    fn extend(&mut self, operations: impl Iterator<Item = Planned>) {
        let least = operations.size_hint().0;
        if self.as_slice().len() + least > FEW {
            self.many(least).extend(operations);
        } else {
            operations.for_each(|operation| self.push(operation));
        }
    }

    /// The operations in memory of their own, with room for so many more.
    fn many(&mut self, more: usize) -> &mut Vec<Planned> {
        if let Self::Few { count, planned } = self {
            let mut operations = Vec::with_capacity((*count + more).max(4 * FEW));
            operations.extend_from_slice(planned.get(..*count).unwrap_or_default());
            *self = Self::Many(Arc::new(operations));
        }
        match self {
            Self::Many(operations) => Arc::make_mut(operations),
            Self::Few { .. } => unreachable!("replaced just now"),
        }
    }

    /// Becomes a clone of `other`; only operations that there are are copied.
    #[inline]
    fn assign(&mut self, other: &Self) {
        match (self, other) {
            (Self::Few { count, planned }, Self::Few { count: length, planned: others }) => {
                *count = *length;
                for (place, operation) in planned.iter_mut().zip(others).take(*length) {
                    *place = *operation;
                }
            }
            (place, other) => *place = other.clone(),
        }
    }

    /// Forgets the operations and frees their memory.
    fn forget(&mut self) {
        match self {
            Self::Few { count, .. } => *count = 0,
            Self::Many(_) => *self = Self::default(),
        }
    }

    /// Forgets the operations; memory that no clone shares is kept for others.
    fn clear(&mut self) {
        match self {
            Self::Few { count, .. } => *count = 0,
            Self::Many(planned) => match Arc::get_mut(planned) {
                Some(planned) => planned.clear(),
                None => *self = Self::default(),
            },
        }
    }
}

/// Where a 32-bit data port finds the low word of the error register.
const STATUS_REGISTER_W32: u32 = 4;

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

/// What a cycle read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CycleReply {
    /// Values of all reads, on the bus and in configuration space, in order.
    pub reads: Vec<u64>,
}

impl Cycle {
    /// A cycle without operations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Leaves out the reads of the error register: shorter, and errors go unnoticed.
    pub fn silent(mut self) -> Self {
        self.make_silent();
        self
    }

    /// As [`silent`](Self::silent), in place.
    pub fn make_silent(&mut self) {
        self.silent = true;
    }

    /// Says that executing the cycle twice does no harm: it reads registers that a read does not
    /// change, or writes what may be written again. Such a cycle is sent again when its reply is
    /// lost, also to a device without sessions ([`ClientConfig::retries`](super::ClientConfig)).
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    pub(super) fn is_repeatable(&self) -> bool {
        self.repeatable
    }

    /// Becomes a clone of `other`.
    #[inline]
    pub(super) fn assign(&mut self, other: &Self) {
        self.operations.assign(&other.operations);
        self.silent = other.silent;
        self.repeatable = other.repeatable;
    }

    fn operations(&self) -> &[Planned] {
        self.operations.as_slice()
    }

    /// Operations so far.
    pub fn len(&self) -> usize {
        self.operations().len()
    }

    /// Whether there is no operation yet.
    pub fn is_empty(&self) -> bool {
        self.operations().is_empty()
    }

    /// Makes it a new cycle that has no operation and is neither silent nor repeatable, and keeps its
    /// memory.
    pub fn clear(&mut self) {
        self.operations.clear();
        self.silent = false;
        self.repeatable = false;
    }

    /// Adds one operation in place; `width` is `None` for the data port's, and always in
    /// configuration space. A read has no `data`.
    #[inline]
    pub fn add(&mut self, access: Access, address: u64, data: u64, width: Option<Width>) {
        self.operations.push(Planned { address, data, access, width });
    }

    fn push(mut self, access: Access, address: u64, data: u64, width: Option<Width>) -> Self {
        self.add(access, address, data, width);
        self
    }

    /// Reads one word of the data port's width.
    pub fn read(self, address: u64) -> Self {
        self.push(Access::Read, address, 0, None)
    }

    /// Writes one word of the data port's width.
    pub fn write(self, address: u64, data: u64) -> Self {
        self.push(Access::Write, address, data, None)
    }

    /// Reads `width` bits only: byte enables select the lanes.
    pub fn read_width(self, address: u64, width: Width) -> Self {
        self.push(Access::Read, address, 0, Some(width))
    }

    /// Writes `width` bits only: byte enables select the lanes.
    pub fn write_width(self, address: u64, data: u64, width: Width) -> Self {
        self.push(Access::Write, address, data, Some(width))
    }

    /// Reads several addresses.
    pub fn reads(mut self, addresses: impl IntoIterator<Item = u64>) -> Self {
        self.operations.extend(addresses.into_iter().map(|address| Planned {
            address,
            data: 0,
            access: Access::Read,
            width: None,
        }));
        self
    }

    /// Writes several pairs of address and value. Consecutive addresses share one record.
    pub fn writes(self, pairs: impl IntoIterator<Item = (u64, u64)>) -> Self {
        pairs.into_iter().fold(self, |cycle, (address, data)| cycle.write(address, data))
    }

    /// Reads one address `count` times: drains a FIFO.
    pub fn read_fifo(self, address: u64, count: usize) -> Self {
        self.reads(std::iter::repeat_n(address, count))
    }

    /// Writes all values to one address: fills a FIFO.
    pub fn write_fifo(self, address: u64, values: impl IntoIterator<Item = u64>) -> Self {
        self.writes(values.into_iter().map(|value| (address, value)))
    }

    /// Reads one word of the slave's configuration space.
    pub fn read_config(self, address: u64) -> Self {
        self.push(Access::ReadConfig, address, 0, None)
    }

    /// Writes one word of the slave's configuration space.
    pub fn write_config(self, address: u64, data: u64) -> Self {
        self.push(Access::WriteConfig, address, data, None)
    }

    /// Bytes of the whole datagram with this cycle alone.
    pub fn message_len(&self, format: Format) -> Result<usize, Error> {
        let mut records = Vec::new();
        self.encode(format, 0x8000, &mut records)?;
        Ok(format.header() + records.len())
    }

    /// As [`encode_reads`](Self::encode_reads) or, for other cycles, [`encode_any`](Self::encode_any).
    fn encode(&self, format: Format, tag: u64, out: &mut Vec<u8>) -> Result<usize, Error> {
        match self.encode_reads(format, tag, out) {
            Some(words) => Ok(words),
            None => self.encode_any(format, tag, out),
        }
    }

    /// What is encoded most: nothing but whole words to read, which fit one record and one look at
    /// the error register. The same bytes as of [`encode_any`](Self::encode_any), in one go; `None`:
    /// the cycle is another one.
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
        out.reserve(4 * count + 20);
        out.extend_from_slice(&[read.0, lanes, 0, count as u8, 0, 0, tag_high, tag_low]);
        match operations {
            [one] => out.extend_from_slice(&word(one)),
            _ => {
                let start = out.len();
                out.resize(start + 4 * count, 0);
                let (places, _) = out.get_mut(start..).unwrap_or_default().as_chunks_mut::<4>();
                for (place, planned) in places.iter_mut().zip(operations) {
                    *place = word(planned);
                }
            }
        }
        if self.silent {
            return Some(count);
        }
        let [a, b, c, d] = STATUS_REGISTER_W32.to_be_bytes();
        out.extend_from_slice(&[status.0, lanes, 0, 1, 0, 0, tag_high, tag_low | 1, a, b, c, d]);
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

    /// The operation at `index`, as errors name it. The first one of an empty cycle is a read of 0.
    pub(super) fn operation(&self, index: usize) -> Operation {
        match self.operations().get(index) {
            Some(planned) => Operation { access: planned.access, address: planned.address, index },
            None => Operation { access: Access::Read, address: 0, index },
        }
    }
}

impl Planned {
    fn is_config(&self) -> bool {
        matches!(self.access, Access::ReadConfig | Access::WriteConfig)
    }

    fn is_read(&self) -> bool {
        matches!(self.access, Access::Read | Access::ReadConfig)
    }

    /// Reads a whole word of the bus.
    fn is_plain_read(&self) -> bool {
        self.access == Access::Read && self.width.is_none()
    }

    /// Aligned address, and the lowest lane of the operation.
    fn lanes(&self, format: Format) -> (u64, u32) {
        let stride = format.data.bytes() as u64;
        let within = self.address % stride;
        let width = self.width.unwrap_or(format.data).bytes() as u64;
        (self.address - within, stride.saturating_sub(width + within) as u32)
    }

    /// What a read brings, out of the whole word.
    fn value(&self, word: u64, format: Format) -> u64 {
        match self.width {
            None => word,
            Some(width) => word >> (8 * self.lanes(format).1) & width.mask(),
        }
    }

    fn check(&self, format: Format) -> Result<(), String> {
        let width = self.width.unwrap_or(format.data);
        if width > format.data {
            let (wide, port) = (8 * width.bytes(), 8 * format.data.bytes());
            return Err(format!("{wide} bit wide, the data port has {port}"));
        }
        if self.address > format.address.mask() {
            return Err(format!("address beyond {} bit", 8 * format.address.bytes()));
        }
        if self.address & (width.bytes() as u64 - 1) != 0 {
            return Err(format!("address must be a multiple of {}", width.bytes()));
        }
        if self.data > width.mask() {
            let bits = 8 * width.bytes();
            return Err(format!("value {:#x} does not fit {bits} bit", self.data));
        }
        Ok(())
    }
}

/// Writes records in one pass: counts and flags are put in when a record ends.
struct Encoder<'a> {
    format: Format,
    tag: u64,
    out: &'a mut Vec<u8>,
    open: Option<Open>,
    /// Where the last record began.
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

    /// A record of its own that reads the error register.
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
        // What does not fit the port is refused before.
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

/// What the next word of a reply must be.
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
    /// Whole words are read, of one record and with one look at the error register unless silent.
    plain: bool,
    /// The next operation, and bus operations since the error register was last read.
    next: usize,
    unchecked: usize,
    reads: Vec<u64>,
    /// Words that came, and words that must.
    words: usize,
    expected: usize,
    /// What few cycles need: it would only make the others larger.
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
    /// failed and nothing came before: `bytes` stand behind the return address, of which these are the
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

    /// The register's low bits stand for the operations since it was last read, the last in bit 0.
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

    /// What is wrong with the reply.
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

    pub(super) fn take_values(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.reads)
    }

    /// Frees what the cycle and its values hold.
    pub(super) fn forget_cycle(&mut self) {
        self.cycle.operations.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::Record;
    use super::*;

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

    /// The way for cycles that only read writes what the way for all cycles writes.
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
        assert!(cycle.is_empty() && !cycle.silent && !cycle.repeatable);
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
