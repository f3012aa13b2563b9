// SPDX-License-Identifier: Apache-2.0
//! Reference model of the Etherbone slave and the board's bus: the expected effect of a frame, and
//! its expected reply, word by word.
//!
//! Each word of a request makes one word of the reply. Where the device is free (a value read with an
//! error, a time, a counter) the model says which values it allows.

use isthmus_host::regs::{eca, gige_ctrl, tlu};

use super::stack::{Allow, Station};

pub(in super::super) const RAM_WORDS: usize = 0x4000;
pub(in super::super) const SDB: u32 = 0x0010_0000;
/// First word of the self-description.
pub(in super::super) const SDB_MAGIC: u32 = 0x5344_422D;
pub(in super::super) const ECA: u32 = 0x0020_0000;
const TLU: u32 = 0x0030_0000;
pub(in super::super) const CTRL: u32 = 0x0040_0000;
pub(in super::super) const SILENT: u32 = 0x0050_0000;
pub(in super::super) const UNMAPPED: u32 = 0x0060_0000;
/// One interconnect record and four devices.
pub(in super::super) const SDB_WORDS: usize = 5 * 16;
/// Registers of a device: what its window on the bus holds.
const REGISTERS: u32 = 0x100;
const CHANNELS: u32 = 4;
const FIFO_DEPTH: u32 = 32;

/// Allowed values of a reply's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Word {
    /// This, in the bits of the mask.
    Is(u32, u32),
    /// The low word of a time in nanoseconds within the frame's life.
    TimeLow,
    /// The high word of such a time.
    TimeHigh,
}

impl Word {
    const ANY: Self = Self::Is(0, 0);

    const fn exactly(value: u32) -> Self {
        Self::Is(value, u32::MAX)
    }

    /// True if `word` is possible here; the frame existed between these two times.
    pub(in super::super) fn allows(self, word: u32, since_ns: u64, until_ns: u64) -> bool {
        match self {
            Self::Is(value, mask) => (word ^ value) & mask == 0,
            Self::TimeLow => {
                u64::from(word.wrapping_sub(since_ns as u32)) <= until_ns.saturating_sub(since_ns)
            }
            Self::TimeHigh => (since_ns >> 32..=until_ns >> 32).contains(&u64::from(word)),
        }
    }
}

/// Kind of a frame's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Shape {
    Malformed,
    Probe,
    Data,
}

/// True if a payload is a message, by its structure alone.
pub(in super::super) fn shape(words: &[u32]) -> Shape {
    let Some(head) = words.first() else { return Shape::Malformed };
    if head >> 12 != 0x4E6F1 {
        return Shape::Malformed;
    }
    if head & 0x0100 != 0 {
        return if words.len() == 2 { Shape::Probe } else { Shape::Malformed };
    }
    if head & 0x0200 != 0 || head & 0xff != 0x44 {
        return Shape::Malformed;
    }
    let mut at = 1;
    while let Some(record) = words.get(at) {
        let [writes, reads] = [record >> 8 & 0xff, record & 0xff].map(|n| n as usize);
        at += 1 + (writes + usize::from(writes > 0)) + (reads + usize::from(reads > 0));
    }
    if at == words.len() { Shape::Data } else { Shape::Malformed }
}

/// A record's header with the bits of its flags in reverse order.
pub(in super::super) const fn mirrored(head: u32) -> u32 {
    head & 0x00ff_ffff | (((head >> 24) as u8).reverse_bits() as u32) << 24
}

/// A message in LiteEth's dialect as one of the standard: a probe of three words, or a header, a word
/// of 0 and one record that fills the rest.
fn from_lite(words: &[u32]) -> Option<Vec<u32>> {
    let (probe, zero) = (words.first()? & 0x0100 != 0, *words.get(1)? == 0);
    let message = match (probe, words) {
        (true, [head, number, _]) => vec![*head, *number],
        (false, [head, _, record, rest @ ..]) if zero => {
            let section = |count: u32| if count == 0 { 0 } else { 1 + count as usize };
            if rest.len() != section(record >> 8 & 0xff) + section(record & 0xff) {
                return None;
            }
            [&[*head, mirrored(*record)], rest].concat()
        }
        _ => return None,
    };
    (shape(&message) != Shape::Malformed).then_some(message)
}

/// Device and offset of an address: a window ends where its device does.
enum Place {
    Ram(usize),
    Sdb(usize),
    Eca(u32),
    Tlu(u32),
    Control(u32),
    Silent,
    Nowhere,
}

impl Place {
    fn of(address: u32) -> Self {
        let within = |base: u32| address >= base && address - base < REGISTERS;
        let register = address & (REGISTERS - 4);
        let word = (address >> 2) as usize;
        match address {
            _ if word < RAM_WORDS => Self::Ram(word),
            _ if address >= SDB && word - SDB as usize / 4 < SDB_WORDS => {
                Self::Sdb(word - SDB as usize / 4)
            }
            _ if within(ECA) => Self::Eca(register),
            _ if within(TLU) => Self::Tlu(register),
            _ if within(CTRL) => Self::Control(register),
            _ if within(SILENT) => Self::Silent,
            _ => Self::Nowhere,
        }
    }
}

/// How a bus operation ends.
enum Outcome {
    Acknowledged(Word),
    Error,
    /// Either: it depends on state that the model does not follow.
    Either,
}

/// The slave, and the state behind it.
pub(in super::super) struct Slave {
    pub(in super::super) ram: Vec<u32>,
    pub(in super::super) sdb: Vec<u32>,
    /// The device holds a slave that never answers.
    pub(in super::super) silent: bool,
    identity: [u32; 4],
    armed: u32,
    rising: u32,
    irq_mask: u32,
    irq_enable: u32,
    select: u32,
    errors: u64,
    /// Bits of the error register that are known.
    known: u64,
    /// The bus cycle timed out: all of it is answered with an error.
    dead: bool,
    /// Operations answered with an error, and bus cycles that timed out.
    pub(in super::super) errors_seen: u64,
    pub(in super::super) timeouts: u64,
    /// Set where operations were done that these two do not count.
    pub(in super::super) uncertain: bool,
    /// It uses LiteEth's dialect.
    lite: bool,
}

impl Slave {
    pub(in super::super) fn new(station: &Station) -> Self {
        let [a, b, c, d, e, f] = station.mac;
        Self {
            ram: vec![0; RAM_WORDS],
            sdb: Vec::new(),
            silent: false,
            identity: [
                u32::from(u16::from_be_bytes([a, b])),
                u32::from_be_bytes([c, d, e, f]),
                u32::from(station.ip),
                u32::from(station.port),
            ],
            armed: 0,
            rising: (1 << CHANNELS) - 1,
            irq_mask: 0,
            irq_enable: 0,
            select: 0,
            errors: 0,
            known: u64::MAX,
            dead: false,
            errors_seen: 0,
            timeouts: 0,
            uncertain: false,
            lite: station.lite,
        }
    }

    /// True if a payload is a probe of the slave's dialect.
    pub(in super::super) fn is_probe(&self, words: &[u32]) -> bool {
        self.is_message(words) && words[0] & 0x0100 != 0
    }

    /// True if a payload is a message of the slave's dialect.
    pub(in super::super) fn is_message(&self, words: &[u32]) -> bool {
        match self.lite {
            true => from_lite(words).is_some(),
            false => shape(words) != Shape::Malformed,
        }
    }

    /// Reads of a frame that proved bad at its end may have been done, and their errors noted.
    pub(in super::super) fn forget_errors(&mut self) {
        self.known = 0;
        self.uncertain = true;
    }

    /// Executes a well-formed message. Returns the reply, unless the message requests none.
    pub(in super::super) fn serve(
        &mut self,
        words: &[u32],
        station: &mut Station,
    ) -> Option<Vec<Word>> {
        if !self.lite {
            return self.serve_ohwr(words, station);
        }
        let mut reply = self.serve_ohwr(&from_lite(words)?, station)?;
        let zero = Word::exactly(0);
        if words[0] & 0x0100 != 0 {
            return Some(vec![Word::exactly(0x4E6F_1244), Word::exactly(words[1]), zero]);
        }
        // One record of answers, or none; its header, and a word of 0 behind that.
        let reads = (words[2] & 0xff) as usize;
        let mut record = reply.split_off(reply.len() - (reads + 2).min(reply.len()));
        let Some(Word::Is(head, _)) = record.first_mut().filter(|_| reads > 0) else {
            return None;
        };
        *head = mirrored(*head);
        Some([vec![Word::exactly(0x4E6F_1044), zero], record].concat())
    }

    fn serve_ohwr(&mut self, words: &[u32], station: &mut Station) -> Option<Vec<Word>> {
        let mut reply = Vec::with_capacity(words.len());
        if shape(words) == Shape::Probe {
            return Some(vec![Word::exactly(0x4E6F_1644), Word::exactly(words[1])]);
        }
        reply.push(Word::exactly(0x4E6F_1444));
        let mut at = 1;
        while at < words.len() {
            at += self.record(&words[at..], station, &mut reply);
        }
        // The bus cycle ends with the frame.
        self.dead = false;
        (words[0] & 0x0400 == 0).then_some(reply)
    }

    /// One record; its length in words.
    fn record(&mut self, words: &[u32], station: &mut Station, reply: &mut Vec<Word>) -> usize {
        let head = words[0];
        let flag = |bit: u32| head >> (24 + bit) & 1;
        let (writes, reads) = ((head >> 8 & 0xff) as usize, (head & 0xff) as usize);
        let enable = head >> 16 & 0xff;
        let select = enable & 0xf;
        // BCA becomes WCA, RFF becomes WFF, CYC stays.
        let flags = flag(7) << 2 | flag(5) << 1 | flag(3) << 3;
        let answer = Word::exactly(flags << 24 | enable << 16 | (reads as u32) << 8);
        let nothing = Word::exactly(0);
        let mut at = 1;
        reply.push(if writes == 0 && reads > 0 { answer } else { nothing });
        if writes > 0 {
            let mut address = words[1];
            reply.push(nothing);
            for (index, value) in words[2..2 + writes].iter().enumerate() {
                if flag(2) == 0 {
                    let outcome = self.write(address, select, *value, station);
                    self.note(&outcome);
                }
                if flag(1) == 0 {
                    address = address.wrapping_add(4);
                }
                let last = index + 1 == writes && reads > 0;
                reply.push(if last { answer } else { nothing });
            }
            at += 1 + writes;
        }
        if reads > 0 {
            reply.push(Word::exactly(words[at]));
            for address in &words[at + 1..at + 1 + reads] {
                let word = if flag(6) == 1 {
                    self.config(*address)
                } else {
                    let outcome = self.read(*address, station);
                    self.note(&outcome);
                    match outcome {
                        Outcome::Acknowledged(word) => word,
                        Outcome::Error | Outcome::Either => Word::ANY,
                    }
                };
                reply.push(word);
            }
            at += 1 + reads;
        }
        if flag(3) == 1 {
            self.dead = false;
        }
        at
    }

    fn note(&mut self, outcome: &Outcome) {
        let (error, known) = match outcome {
            Outcome::Acknowledged(_) => (0, 1),
            Outcome::Error => (1, 1),
            Outcome::Either => (0, 0),
        };
        self.errors_seen += error;
        self.uncertain |= known == 0;
        self.errors = self.errors << 1 | error;
        self.known = self.known << 1 | known;
    }

    fn config(&self, address: u32) -> Word {
        let low = address & 4 != 0;
        let half = |value: u64| (if low { value } else { value >> 32 }) as u32;
        let [mac_high, mac_low, ip, port] = self.identity;
        if address & 0xffc0 != 0 {
            return Word::exactly(0);
        }
        match address >> 3 & 7 {
            0 => Word::Is(half(self.errors), half(self.known)),
            1 => Word::exactly(half(u64::from(SDB))),
            2 => Word::exactly(if low { mac_low } else { mac_high }),
            3 => Word::exactly(if low { port } else { ip }),
            5 => Word::exactly(half(2)),
            _ => Word::exactly(0),
        }
    }

    /// An operation without an answer costs the bus cycle.
    fn silence(&mut self) -> Outcome {
        if self.silent {
            self.dead = true;
            self.timeouts += 1;
        }
        Outcome::Error
    }

    fn read(&mut self, address: u32, station: &Station) -> Outcome {
        if self.dead {
            return Outcome::Error;
        }
        let known = |word| Outcome::Acknowledged(Word::exactly(word));
        match Place::of(address) {
            Place::Ram(word) => known(self.ram[word]),
            Place::Sdb(word) => match self.sdb.get(word) {
                Some(word) => known(*word),
                None => Outcome::Acknowledged(Word::ANY),
            },
            Place::Eca(register) => match register {
                eca::CHANNELS | eca::LATENCY => known(0),
                eca::TIME_HI_GET => Outcome::Acknowledged(Word::TimeHigh),
                eca::TIME_LO_GET => Outcome::Acknowledged(Word::TimeLow),
                _ => Outcome::Error,
            },
            Place::Tlu(register) => self.read_tlu(register),
            Place::Control(register) => self.read_control(register, station),
            Place::Silent => self.silence(),
            Place::Nowhere => Outcome::Error,
        }
    }

    fn read_tlu(&self, register: u32) -> Outcome {
        Outcome::Acknowledged(match register {
            tlu::ARMSTAT => Word::exactly(self.armed),
            tlu::EDGESTAT => Word::exactly(self.rising),
            tlu::IRQ_MASKSTAT => Word::exactly(self.irq_mask),
            tlu::IRQ_ENABLE => Word::exactly(self.irq_enable),
            tlu::CH_SELECT => Word::exactly(self.select),
            tlu::CHNS_TOTAL => Word::exactly(CHANNELS),
            tlu::FIFOSIZE => Word::exactly(FIFO_DEPTH),
            // Values latched by the channels are not modelled here.
            tlu::FIFO_READY
            | tlu::ATSHI
            | tlu::ATSLO
            | tlu::FIFO_CNT
            | tlu::FTSHI
            | tlu::FTSLO
            | tlu::FTSSUB => Word::ANY,
            _ => return Outcome::Error,
        })
    }

    fn read_control(&self, register: u32, station: &Station) -> Outcome {
        let entry = |register: u32| &station.allow[(register >> 4 & 3) as usize];
        Outcome::Acknowledged(match register {
            gige_ctrl::PROTOCOL => Word::exactly(0x4E6F_0101),
            gige_ctrl::MAC_HI => Word::exactly(self.identity[0]),
            gige_ctrl::MAC_LO => Word::exactly(self.identity[1]),
            gige_ctrl::IPV4 => Word::exactly(self.identity[2]),
            gige_ctrl::UDP_PORT => Word::exactly(self.identity[3]),
            gige_ctrl::NETMASK => Word::exactly(u32::from(station.netmask)),
            0x40..=0x7c => match register & 0xf {
                0 => Word::exactly(u32::from(entry(register).enable)),
                4 => Word::exactly(entry(register).ip),
                8 => Word::exactly(entry(register).mask),
                _ => return Outcome::Error,
            },
            // Counters: compared at the device's pins.
            gige_ctrl::RX_GOOD..=gige_ctrl::DROP_BROADCAST => Word::ANY,
            _ => return Outcome::Error,
        })
    }

    fn write(&mut self, address: u32, select: u32, value: u32, station: &mut Station) -> Outcome {
        if self.dead {
            return Outcome::Error;
        }
        let lanes = (0..4).filter(|lane| select >> lane & 1 == 1);
        let mask = lanes.fold(0_u32, |mask, lane| mask | 0xff << (8 * lane));
        let merged = |old: u32| old & !mask | value & mask;
        let done = Outcome::Acknowledged(Word::ANY);
        match Place::of(address) {
            Place::Ram(word) => {
                let word = &mut self.ram[word];
                *word = merged(*word);
                done
            }
            Place::Tlu(register) if select == 0xf => self.write_tlu(register, value),
            Place::Control(register) => {
                let Some(entry) = (0x40..0x80)
                    .contains(&register)
                    .then(|| &mut station.allow[(register >> 4 & 3) as usize])
                else {
                    return Outcome::Error;
                };
                let Allow { enable, ip, mask } = entry;
                match register & 0xf {
                    0 => *enable = merged(u32::from(*enable)) & 1 == 1,
                    4 => *ip = merged(*ip),
                    8 => *mask = merged(*mask),
                    _ => return Outcome::Error,
                }
                done
            }
            Place::Silent => self.silence(),
            _ => Outcome::Error,
        }
    }

    fn write_tlu(&mut self, register: u32, value: u32) -> Outcome {
        let channels = value & ((1 << CHANNELS) - 1);
        match register {
            tlu::ARMSET => self.armed |= channels,
            tlu::ARMCLR => self.armed &= !channels,
            tlu::EDGEPOS => self.rising |= channels,
            tlu::EDGENEG => self.rising &= !channels,
            tlu::IRQ_ENABLE => self.irq_enable = value & 1,
            tlu::IRQ_MASKSET => self.irq_mask |= channels,
            tlu::IRQ_MASKCLR => self.irq_mask &= !channels,
            tlu::CH_SELECT if value < CHANNELS => self.select = value,
            tlu::FIFO_CLEAR | tlu::TEST | tlu::CH_TEST => {}
            // An error when the channel holds nothing.
            tlu::FIFO_POP => return Outcome::Either,
            _ => return Outcome::Error,
        }
        Outcome::Acknowledged(Word::ANY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_that_their_records_fill_are_well_formed() {
        let read = [0x4E6F_1044, 0xA80F_0001, 0x8000, 0];
        assert_eq!(shape(&read), Shape::Data);
        assert_eq!(shape(&read[..1]), Shape::Data);
        for cut in 2..4 {
            assert_eq!(shape(&read[..cut]), Shape::Malformed, "{cut} words");
        }
        assert_eq!(shape(&[]), Shape::Malformed);
        assert_eq!(shape(&[0x4E6F_11FF, 7]), Shape::Probe);
        assert_eq!(shape(&[0x4E6F_11FF, 7, 0]), Shape::Malformed);
        for head in [0x4E6F_2044, 0x4E6E_1044, 0x4E6F_1244, 0x4E6F_1048, 0x4E6F_10CC] {
            assert_eq!(shape(&[head, 0]), Shape::Malformed, "{head:08x}");
        }
    }

    #[test]
    fn a_window_ends_with_its_device() {
        let place = |address| match Place::of(address) {
            Place::Ram(word) => ('r', word as u32),
            Place::Sdb(word) => ('s', word as u32),
            Place::Eca(register) => ('e', register),
            Place::Tlu(register) => ('t', register),
            Place::Control(register) => ('c', register),
            Place::Silent => ('-', 0),
            Place::Nowhere => ('n', 0),
        };
        assert_eq!([0xffff, 0x1_0000].map(place), [('r', 0x3fff), ('n', 0)]);
        assert_eq!([SDB - 4, SDB, SDB + 0x13c].map(place), [('n', 0), ('s', 0), ('s', 79)]);
        assert_eq!([SDB + 0x140, SDB + 0x1000].map(place), [('n', 0), ('n', 0)]);
        for (base, name) in [(ECA, 'e'), (TLU, 't'), (CTRL, 'c')] {
            assert_eq!(place(base + 0xff), (name, 0xfc));
            assert_eq!([base - 4, base + 0x100, base + 0x118].map(place), [('n', 0); 3]);
        }
        assert_eq!([SILENT, SILENT + 0x100, UNMAPPED].map(place), [('-', 0), ('n', 0), ('n', 0)]);
    }

    #[test]
    fn times_are_compared_across_the_wrap_of_the_low_word() {
        let (since, until) = (0x1_ffff_fff0, 0x2_0000_0010);
        for (word, inside) in [(0xffff_fff0, true), (0, true), (0x10, true), (0x11, false)] {
            assert_eq!(Word::TimeLow.allows(word, since, until), inside, "{word:x}");
        }
        assert!(!Word::TimeLow.allows(0xffff_ffef, since, until));
        assert!(Word::TimeHigh.allows(1, since, until) && Word::TimeHigh.allows(2, since, until));
        assert!(!Word::TimeHigh.allows(3, since, until));
    }
}
