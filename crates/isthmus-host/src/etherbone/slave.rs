// SPDX-License-Identifier: Apache-2.0

use std::fmt;
use std::net::SocketAddr;

use super::guard::{self, Session, Verdict};
use super::wire::{
    Codec, Dialect, Flags, Format, Header, LiteCodec, Message, OhwrCodec, PROBE_LENGTH, RecordView,
    Width, Widths, put_data_header, put_lite_header, put_slot,
};

/// A bus access that ended with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusFault;

/// The requesting master.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Peer {
    /// This process.
    Local,
    /// The sender of a datagram.
    Udp(SocketAddr),
    /// The other end of a connection.
    Tcp(SocketAddr),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Peer::Local => f.write_str("local"),
            Peer::Udp(address) => write!(f, "udp/{}/{}", address.ip(), address.port()),
            Peer::Tcp(address) => write!(f, "tcp/{}/{}", address.ip(), address.port()),
        }
    }
}

/// The Wishbone side of a slave: a program implements it to be accessible over Etherbone.
pub trait Bus {
    /// Reads the word at `address`, a multiple of the width; lanes that are not enabled may hold
    /// anything.
    fn read(&mut self, address: u64, width: Width, byte_enable: u8) -> Result<u64, BusFault>;

    /// Writes the enabled lanes of the word at `address`, a multiple of the width.
    fn write(
        &mut self,
        address: u64,
        width: Width,
        byte_enable: u8,
        data: u64,
    ) -> Result<(), BusFault>;

    /// The cycle line rises: until [`end_cycle`](Self::end_cycle) all operations are this peer's.
    fn begin_cycle(&mut self, _peer: Peer) {}

    /// The cycle line falls.
    fn end_cycle(&mut self) {}
}

impl<B: Bus + ?Sized> Bus for Box<B> {
    fn read(&mut self, address: u64, width: Width, byte_enable: u8) -> Result<u64, BusFault> {
        (**self).read(address, width, byte_enable)
    }

    fn write(
        &mut self,
        address: u64,
        width: Width,
        byte_enable: u8,
        data: u64,
    ) -> Result<(), BusFault> {
        (**self).write(address, width, byte_enable, data)
    }

    fn begin_cycle(&mut self, peer: Peer) {
        (**self).begin_cycle(peer);
    }

    fn end_cycle(&mut self) {
        (**self).end_cycle();
    }
}

/// Big-endian memory at a base address; everything else is a bus error.
#[derive(Debug, Clone)]
pub struct Memory {
    base: u64,
    bytes: Vec<u8>,
}

impl Memory {
    /// Memory of zeros.
    pub fn new(base: u64, length: usize) -> Self {
        Self::from_bytes(base, vec![0; length])
    }

    /// Memory with contents, lowest address first.
    pub fn from_bytes(base: u64, bytes: Vec<u8>) -> Self {
        Self { base, bytes }
    }

    /// The bytes, lowest address first.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn word(&mut self, address: u64, width: Width) -> Result<&mut [u8], BusFault> {
        let offset = address.checked_sub(self.base).ok_or(BusFault)?;
        let start = usize::try_from(offset).map_err(|_| BusFault)?;
        let end = start.checked_add(width.bytes()).ok_or(BusFault)?;
        self.bytes.get_mut(start..end).ok_or(BusFault)
    }
}

impl Bus for Memory {
    fn read(&mut self, address: u64, width: Width, _byte_enable: u8) -> Result<u64, BusFault> {
        let word = self.word(address, width)?;
        Ok(match <[u8; 4]>::try_from(&*word) {
            Ok(word) => u64::from(u32::from_be_bytes(word)),
            Err(_) => word.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)),
        })
    }

    fn write(
        &mut self,
        address: u64,
        width: Width,
        byte_enable: u8,
        data: u64,
    ) -> Result<(), BusFault> {
        let word = self.word(address, width)?;
        for (lane, byte) in word.iter_mut().rev().enumerate() {
            if byte_enable >> lane & 1 == 1 {
                *byte = (data >> (8 * lane)) as u8;
            }
        }
        Ok(())
    }
}

/// Properties of a slave, and its strictness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlaveConfig {
    /// Its dialect; frames of the other one are dropped and counted.
    pub dialect: Dialect,
    /// Widths it offers (LiteEth: 32 bit).
    pub widths: Widths,
    /// Address of the self-description, as reported by the bus (configuration register 8).
    pub sdb_address: u64,
    /// Answer as gateware does, which never changes a frame's length: writes become empty records
    /// in front of the reply.
    pub zero_padding: bool,
    /// Execute datagrams that look like replies. A reply is a write record: a slave that receives a
    /// misdirected or forged reply would write to its bus. A reply differs from a request: its
    /// header announces no reads, and no record requests an answer of any kind (BCA and RFF clear).
    /// Etherbone's masters set these in every request. Set this for a sender that pushes plain
    /// writes.
    pub accept_replies: bool,
    /// Offer sessions, in which a request that comes again is answered but not executed again.
    /// Without, the slave is as plain as gateware.
    pub sessions: bool,
}

impl Default for SlaveConfig {
    /// The standard dialect, 32-bit addresses and data, replies dropped.
    fn default() -> Self {
        Self {
            dialect: Dialect::Ohwr,
            widths: Widths::W32,
            sdb_address: 0,
            zero_padding: false,
            accept_replies: false,
            sessions: true,
        }
    }
}

/// Counters of a slave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SlaveStatistics {
    /// Probes answered.
    pub probes: u64,
    /// Records executed.
    pub records: u64,
    /// Operations on the bus.
    pub operations: u64,
    /// Of those, the ones that ended with an error.
    pub bus_errors: u64,
    /// Messages dropped because they cannot be read.
    pub malformed: u64,
    /// Messages dropped because they are of the other dialect.
    pub foreign: u64,
    /// Replies that arrived here and were not executed.
    pub replies_dropped: u64,
    /// Requests that came again and were answered from memory, not executed.
    pub repeats: u64,
    /// Requests of a session that is not known or that came too late, not executed.
    pub out_of_session: u64,
}

/// State of a slave for each of its masters.
#[derive(Debug, Default)]
pub(super) struct Master {
    errors: u64,
    stream: StreamState,
    pub(super) session: Session,
}

impl Master {
    /// True if its stream has delivered a complete probe.
    pub(super) fn has_probed(&self) -> bool {
        !matches!(self.stream, StreamState::Start(_))
    }
}

#[derive(Debug)]
enum StreamState {
    /// The first bytes of the probe.
    Start(Vec<u8>),
    /// The beginning of the next record, shorter than the longest record.
    Open(Format, Vec<u8>),
    Broken,
}

impl Default for StreamState {
    fn default() -> Self {
        StreamState::Start(Vec::new())
    }
}

/// The other side of a stream broke its rules; nothing more can be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken;

/// Executes what masters ask: no I/O, one bus, any number of masters.
#[derive(Debug)]
pub(super) struct Engine<B> {
    pub(super) bus: B,
    pub(super) config: SlaveConfig,
    pub(super) statistics: SlaveStatistics,
    /// The bus cycle line.
    line: bool,
}

impl<B: Bus> Engine<B> {
    pub(super) fn new(bus: B, config: SlaveConfig) -> Self {
        Self { bus, config, statistics: SlaveStatistics::default(), line: false }
    }

    /// True if a stream left its cycle open.
    pub(super) fn holds_line(&self) -> bool {
        self.line
    }

    /// The cycle line falls.
    pub(super) fn drop_line(&mut self) {
        if std::mem::take(&mut self.line) {
            self.bus.end_cycle();
        }
    }

    /// Executes one datagram and appends the reply to `out`, if there is one. A datagram that is
    /// malformed anywhere is dropped whole.
    pub(super) fn datagram(
        &mut self,
        peer: Peer,
        master: &mut Master,
        request: &[u8],
        out: &mut Vec<u8>,
    ) {
        match self.config.dialect {
            Dialect::Ohwr => self.ohwr(peer, master, request, out),
            Dialect::LiteEth => self.lite(peer, master, request, out),
        }
        // A cycle ends with its datagram.
        self.drop_line();
    }

    fn ohwr(&mut self, peer: Peer, master: &mut Master, request: &[u8], out: &mut Vec<u8>) {
        let Ok(header) = Header::decode(request) else {
            self.statistics.malformed += 1;
            return;
        };
        if header.is_probe() {
            return self.probe(request, out);
        }
        let format = match header.format() {
            Ok(format) if self.config.widths.offers(format) => format,
            _ => {
                self.statistics.malformed += 1;
                return;
            }
        };
        let Some(records) = request.get(format.header()..) else {
            self.statistics.malformed += 1;
            return;
        };
        let shape = match Shape::of(format, records) {
            Some(shape) => shape,
            None => {
                self.statistics.malformed += 1;
                return;
            }
        };
        if shape.lite {
            self.statistics.foreign += 1;
            return;
        }
        if header.no_reads() && shape.reply && !self.config.accept_replies {
            self.statistics.replies_dropped += 1;
            return;
        }
        let start = out.len();
        let stamp = guard::request(format, records).filter(|_| self.config.sessions);
        if let Some(stamp) = stamp {
            match master.session.judge(stamp) {
                Verdict::Execute => {}
                Verdict::Repeat(reply) => {
                    self.statistics.repeats += 1;
                    out.extend_from_slice(reply);
                    return;
                }
                Verdict::Drop => {
                    self.statistics.out_of_session += 1;
                    return;
                }
            }
        }
        put_data_header(out, format, true);
        if let Some(stamp) = stamp {
            stamp.put_reply(format, out);
        }
        let first = out.len();
        let mut rest = records;
        while let Some((record, length)) = RecordView::decode(format, rest) {
            self.execute(peer, master, &record, format, out);
            rest = &rest[length..];
        }
        if let Some(stamp) = stamp {
            master.session.keep(stamp, &out[start..]);
        } else if header.no_reads() || out.len() == first {
            out.truncate(start);
        }
    }

    fn probe(&mut self, request: &[u8], out: &mut Vec<u8>) {
        let codec = self.config.dialect.codec();
        match codec.decode(request) {
            Ok(Message::Probe { id, .. }) => {
                self.statistics.probes += 1;
                let reply = Message::ProbeReply { widths: self.config.widths, id };
                // A probe reply has no field that could overflow.
                let _ = codec.encode(&reply, out);
            }
            Ok(_) => self.statistics.replies_dropped += 1,
            Err(_)
                if self.config.dialect == Dialect::Ohwr && LiteCodec::probe(request).is_some() =>
            {
                self.statistics.foreign += 1;
            }
            Err(_) if self.config.dialect == Dialect::LiteEth && request.len() == PROBE_LENGTH => {
                self.statistics.foreign += 1;
            }
            Err(_) => self.statistics.malformed += 1,
        }
    }

    fn lite(&mut self, peer: Peer, master: &mut Master, request: &[u8], out: &mut Vec<u8>) {
        let Ok(header) = Header::decode(request) else {
            self.statistics.malformed += 1;
            return;
        };
        if header.is_probe() {
            return self.probe(request, out);
        }
        let record = match LiteCodec::record(request) {
            Ok(record) => record,
            Err(_) if OhwrCodec.decode(request).is_ok() => {
                self.statistics.foreign += 1;
                return;
            }
            Err(_) => {
                self.statistics.malformed += 1;
                return;
            }
        };
        // LiteEth's own core ignores all flags, and its masters set none. Here they mean what they say,
        // as in the gateware.
        let start = out.len();
        put_lite_header(out, false);
        let first = out.len();
        self.execute(peer, master, &record, Format::W32, out);
        if header.no_reads() || out.len() == first {
            out.truncate(start);
        }
    }

    /// Executes the bytes of a stream, however they are cut, and appends the bytes of the reply.
    pub(super) fn stream(
        &mut self,
        peer: Peer,
        master: &mut Master,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Broken> {
        let result = self.stream_bytes(peer, master, bytes, out);
        if result.is_err() {
            self.statistics.malformed += 1;
            master.stream = StreamState::Broken;
            self.drop_line();
        }
        result
    }

    fn stream_bytes(
        &mut self,
        peer: Peer,
        master: &mut Master,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Broken> {
        let mut bytes = bytes;
        if let StreamState::Broken = master.stream {
            return Err(Broken);
        }
        if let StreamState::Start(handshake) = &mut master.stream {
            let wanted = PROBE_LENGTH - handshake.len().min(PROBE_LENGTH);
            let (first, rest) = bytes.split_at(wanted.min(bytes.len()));
            handshake.extend_from_slice(first);
            bytes = rest;
            if handshake.len() < PROBE_LENGTH {
                return Ok(());
            }
            let Ok(Message::Probe { widths, id }) = OhwrCodec.decode(handshake) else {
                return Err(Broken);
            };
            let format = self.config.widths.negotiate(widths).ok_or(Broken)?;
            let reply = Message::ProbeReply { widths: self.config.widths, id };
            OhwrCodec.encode(&reply, out).map_err(|_| Broken)?;
            self.statistics.probes += 1;
            master.stream = StreamState::Open(format, Vec::new());
        }
        let StreamState::Open(format, rest) = &mut master.stream else {
            return Err(Broken);
        };
        let (format, mut buffer) = (*format, std::mem::take(rest));
        // Complete records are used in place; only records cut at either end are copied.
        let mut used = 0;
        if !buffer.is_empty() {
            buffer.extend_from_slice(bytes);
            bytes = &buffer;
        }
        while let Some((record, length)) = RecordView::decode(format, &bytes[used..]) {
            self.execute(peer, master, &record, format, out);
            used += length;
        }
        let rest = bytes[used..].to_vec();
        master.stream = StreamState::Open(format, rest);
        Ok(())
    }

    fn execute(
        &mut self,
        peer: Peer,
        master: &mut Master,
        record: &RecordView<'_>,
        format: Format,
        out: &mut Vec<u8>,
    ) {
        let (width, enable, word) = (format.data, record.byte_enable, format.word());
        let stride = width.bytes() as u64;
        let aligned = |address: u64| address & !(stride - 1);
        let legal = legal(enable, width);
        let (writes, reads) = (record.writes(), record.reads());
        let bus_writes = writes.len() > 0 && !record.flags.has(Flags::WCA);
        let bus_reads = reads.len() > 0 && !record.flags.has(Flags::RCA);
        if (bus_writes || bus_reads) && !self.line {
            self.line = true;
            self.bus.begin_cycle(peer);
        }
        self.statistics.records += u64::from(record.has_writes() || record.has_reads());
        let mut errors = master.errors;
        let mut count = 0;
        let mut note = |failed: bool| {
            errors = errors << 1 | u64::from(failed);
            count += u64::from(failed);
        };
        if bus_writes {
            self.statistics.operations += writes.len() as u64;
            let mut address = record.write_base;
            for value in writes {
                let done = match legal {
                    true => self.bus.write(aligned(address), width, enable, value),
                    false => Err(BusFault),
                };
                note(done.is_err());
                if !record.flags.has(Flags::WFF) {
                    address = address.wrapping_add(stride) & format.address.mask();
                }
            }
        }
        if self.config.zero_padding && record.has_writes() && word >= 4 {
            out.resize(out.len() + (record.writes().len() + 1) * word, 0);
        }
        if reads.len() > 0 {
            let start = out.len();
            let flags = match self.config.dialect {
                Dialect::Ohwr => record.flags.reply(),
                Dialect::LiteEth => record.flags.reply().mirrored(),
            };
            // One record holds at most 255 reads.
            out.extend_from_slice(&[flags.0, enable, reads.len() as u8, 0]);
            out.resize(start + format.header(), 0);
            put_slot(out, word, record.return_base);
            if bus_reads {
                self.statistics.operations += reads.len() as u64;
                for address in reads {
                    let value = match legal {
                        true => self.bus.read(aligned(address), width, enable),
                        false => Err(BusFault),
                    };
                    note(value.is_err());
                    put_slot(out, word, value.unwrap_or(0) & width.mask());
                }
            } else {
                let space = u128::from(errors) << 64 | u128::from(self.config.sdb_address);
                for address in reads {
                    let session = master.session.register(address, width);
                    let session = session.filter(|_| self.config.sessions);
                    let value = session.unwrap_or_else(|| config_word(space, address, width));
                    put_slot(out, word, value & width.mask());
                }
            }
        }
        master.errors = errors;
        self.statistics.bus_errors += count;
        if record.flags.has(Flags::CYC) {
            self.drop_line();
        }
    }
}

/// Kind of a datagram's records.
struct Shape {
    /// It requests no answer.
    reply: bool,
    /// It is LiteEth's: an empty word, then one record that fills the rest, without a flag that
    /// Etherbone's masters set.
    lite: bool,
}

impl Shape {
    /// `None` if a record is cut off.
    fn of(format: Format, records: &[u8]) -> Option<Self> {
        let asks = Flags(Flags::BCA.0 | Flags::RCA.0 | Flags::RFF.0);
        let (mut rest, mut count, mut asking, mut full) = (records, 0, false, 0);
        while !rest.is_empty() {
            let (record, length) = RecordView::decode(format, rest)?;
            count += 1;
            full += usize::from(record.has_writes() || record.has_reads());
            asking |= record.flags.0 & asks.0 != 0 || record.has_reads();
            rest = &rest[length..];
        }
        let lite = format == Format::W32
            && count == 2
            && full == 1
            && records.starts_with(&[0; 4])
            && records.get(4).is_some_and(|flags| flags & asks.0 == 0);
        Some(Self { reply: full > 0 && !asking, lite })
    }
}

fn config_word(space: u128, address: u64, width: Width) -> u64 {
    let bytes = space.to_be_bytes();
    usize::try_from(address)
        .ok()
        .map(|start| start - start % width.bytes())
        .and_then(|start| bytes.get(start..start + width.bytes()))
        .map_or(0, |word| word.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// Byte enables must be one aligned group of 1, 2, 4 or 8 lanes of the port.
fn legal(byte_enable: u8, width: Width) -> bool {
    let lanes = byte_enable.count_ones() as usize;
    let first = byte_enable.trailing_zeros() as usize;
    lanes.is_power_of_two()
        && first.is_multiple_of(lanes)
        && first + lanes <= width.bytes()
        && byte_enable.leading_zeros() as usize == 8 - first - lanes
}

/// A software Etherbone slave with one master: the reference model that clients and gateware are
/// tested against. [`Server`](super::Server) puts a [`Bus`] onto the network for many.
///
/// It executes operations one after the other, keeps the error register, answers probes, and
/// ignores what is malformed.
#[derive(Debug)]
pub struct SoftSlave<B> {
    engine: Engine<B>,
    master: Master,
}

impl<B: Bus> SoftSlave<B> {
    /// A slave with 32-bit addresses and data.
    pub fn new(bus: B) -> Self {
        Self::with_config(bus, SlaveConfig::default())
    }

    /// A slave with all its settings.
    pub fn with_config(bus: B, config: SlaveConfig) -> Self {
        Self { engine: Engine::new(bus, config), master: Master::default() }
    }

    /// Offers other widths.
    pub fn with_widths(mut self, widths: Widths) -> Self {
        self.engine.config.widths = widths;
        self
    }

    /// Address of the self-description, as reported by the bus (configuration register 8).
    pub fn with_sdb_address(mut self, address: u64) -> Self {
        self.engine.config.sdb_address = address;
        self
    }

    /// Answers as gateware does: [`SlaveConfig::zero_padding`].
    pub fn with_zero_padding(mut self) -> Self {
        self.engine.config.zero_padding = true;
        self
    }

    /// The bus behind the slave.
    pub fn bus(&mut self) -> &mut B {
        &mut self.engine.bus
    }

    /// Its properties.
    pub fn config(&self) -> &SlaveConfig {
        &self.engine.config
    }

    /// The counters so far.
    pub fn statistics(&self) -> SlaveStatistics {
        self.engine.statistics
    }

    /// Executes one datagram and returns the reply, if there is one.
    pub fn datagram(&mut self, request: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        self.engine.datagram(Peer::Local, &mut self.master, request, &mut out);
        (!out.is_empty()).then_some(out)
    }

    /// Executes the bytes of a stream, however they are cut, and returns the bytes of the reply.
    /// A stream that does not begin with a probe gets no answer at all.
    pub fn stream(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        // A broken stream stays silent; no other master shares the line here.
        let _ = self.engine.stream(Peer::Local, &mut self.master, bytes, &mut out);
        out
    }
}
