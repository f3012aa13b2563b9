// SPDX-License-Identifier: Apache-2.0
//! Messages of a coherent link one by one, and the state of a line, as a tracer in the gateware has seen them.
//!
//! Each end of the link has a tracer, whose registers the *other* end reads: a [`Node`] reads that of the far end, and
//! its own end's is read by the far node. Both see all messages, one when they are sent and one when they are received.

use super::protocol::{Directory, Home, LINE_CIRCUITS, Message, Remote};
use super::{CoherentError, FPGA_MEMORY, LINE_BYTES, Node, Port};

/// The registers of a tracer among those of its end: 8 bytes each.
const REGISTERS: u64 = 0x8000;
const CONTROL: u64 = 0;
const LINE: u64 = 1;
const MASK: u64 = 2;
const STATUS: u64 = 3;
const TAKE: u64 = 4;
const HEADER: u64 = 5;
const TIME: u64 = 6;
const LOOK: u64 = 7;
/// The control register.
const ON: u64 = 1;
const OLDEST: u64 = 2;
const CLEAR: u64 = 1 << 63;
/// Of answers: there is one.
const VALID: u64 = 1 << 63;
/// Bits of a line's number in a message.
const INDEX: u64 = (1 << 33) - 1;
/// The number of the FPGA's first line, where both ends have memory: messages do not have this bit.
const FPGA_LINE: u64 = FPGA_MEMORY / LINE_BYTES as u64;
/// A question for a line is answered in a cycle in which its agent has nothing else: so many loads see it.
const LOOKS: u32 = 1_000;
/// Records that the largest ring has, with the place in front of it.
const MOST_RECORDS: usize = 4_097;

/// Circuits of I/O requests and answers, of interrupts, and of messages about lines: all 13.
pub const ALL_CIRCUITS: u16 = 0x1FFF;

/// What a tracer keeps when its ring is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The newest records: each one more takes the oldest one's place.
    #[default]
    Newest,
    /// The oldest ones: no more are taken.
    Oldest,
}

/// What a tracer records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Of messages about lines, those of this one; all, if none is given. Of two lines whose numbers differ in whose
    /// memory it is alone, both.
    pub line: Option<u64>,
    /// A bit for each circuit.
    pub circuits: u16,
    /// What is kept.
    pub keep: Keep,
}

impl Default for Filter {
    /// All messages about lines; the newest are kept.
    fn default() -> Self {
        let circuits = LINE_CIRCUITS.fold(0, |all, circuit| all | 1 << circuit);
        Self { line: None, circuits, keep: Keep::Newest }
    }
}

/// A message that the far end has sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When its first word was sent or taken, in clocks of that end; it wraps.
    pub ticks: u32,
    /// Its virtual circuit.
    pub circuit: u8,
    /// Whether that end received it, and did not send it.
    pub received: bool,
    /// Over which link it was received.
    pub link: u8,
    /// Whether messages before it were lost for want of a place.
    pub gap: bool,
    /// Its code.
    pub code: u8,
    /// What it is, if it is about a line.
    pub message: Option<Message>,
    /// The number by which an answer finds its request.
    pub id: u8,
    /// The line's number in the memory of its home, if it is about a line.
    pub line: Option<u64>,
    /// Whether memory lacks what it carries.
    pub dirty: bool,
}

impl Record {
    fn of(rest: u64, header: u64) -> Self {
        let circuit = (rest >> 32 & 15) as u8;
        let code = (header >> 59) as u8;
        let message = match LINE_CIRCUITS.contains(&circuit) {
            true => Message::of(circuit, code),
            false => None,
        };
        Self {
            ticks: rest as u32,
            circuit,
            received: rest >> 36 & 1 != 0,
            link: (rest >> 37 & 1) as u8,
            gap: rest >> 62 & 1 != 0,
            code,
            message,
            id: (header >> 50 & 31) as u8,
            line: message.map(|_| header >> 7 & INDEX),
            dirty: header >> 41 & 15 != 0,
        }
    }
}

/// What a tracer did not keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Messages that found no place; the record behind each gap says so.
    pub messages: u32,
    /// Whether records were overwritten by newer ones.
    pub overwritten: bool,
}

/// What the far end knows of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineState {
    /// Of a line of this end's memory: the state in the far end's cache.
    Cached(Remote),
    /// Of a line of its own memory, none of which it has noted anything: no cache has a copy.
    NoEntry,
    /// Of a line of its own memory.
    Home {
        /// The state of the far end's own copy.
        home: Home,
        /// What this end has, as the far end knows it.
        directory: Directory,
        /// Whether its entry holds the line's bytes.
        has: bool,
        /// Whether memory lacks them.
        dirty: bool,
        /// Whether a transaction of the line is open.
        pinned: bool,
    },
}

/// The tracer at the far end of a node's link.
pub struct Tracer<'a, P> {
    node: &'a mut Node<P>,
}

impl<P: Port> Node<P> {
    /// The tracer at the far end.
    ///
    /// # Errors
    /// When the gateware there has none, or the port fails.
    pub async fn tracer(&mut self) -> Result<Tracer<'_, P>, CoherentError> {
        let mut tracer = Tracer { node: self };
        // A register that is memory does not count clocks.
        if tracer.time().await? == tracer.time().await? {
            return Err(CoherentError::Unsupported { what: "tracer at the other end" });
        }
        Ok(tracer)
    }
}

impl<P: Port> Tracer<'_, P> {
    /// Forgets all records, and records what the filter chooses from now on.
    ///
    /// # Errors
    /// When the port fails.
    pub async fn start(&mut self, filter: &Filter) -> Result<(), CoherentError> {
        self.store(CONTROL, 0).await?;
        let (line, mask) = match filter.line {
            Some(line) => (line & (FPGA_LINE - 1), INDEX),
            None => (0, 0),
        };
        self.store(LINE, line).await?;
        self.store(MASK, mask).await?;
        let keep = if filter.keep == Keep::Oldest { OLDEST } else { 0 };
        let circuits = u64::from(filter.circuits & ALL_CIRCUITS) << 16;
        self.store(CONTROL, CLEAR | circuits | keep | ON).await
    }

    /// Records nothing more; what is recorded stays.
    ///
    /// # Errors
    /// When the port fails.
    pub async fn stop(&mut self) -> Result<(), CoherentError> {
        let control = self.load(CONTROL).await?;
        self.store(CONTROL, control & !ON).await
    }

    /// Takes all records, of each circuit in the order of its messages. While it records the circuits of I/O, each
    /// load of a record makes more of them: stop it first.
    ///
    /// # Errors
    /// When the port fails.
    pub async fn records(&mut self) -> Result<Vec<Record>, CoherentError> {
        let mut found = Vec::new();
        while found.len() < MOST_RECORDS {
            let rest = self.load(TAKE).await?;
            if rest & VALID == 0 {
                break;
            }
            found.push(Record::of(rest, self.load(HEADER).await?));
        }
        Ok(found)
    }

    /// What it did not keep since it was started.
    ///
    /// # Errors
    /// When the port fails.
    pub async fn lost(&mut self) -> Result<Lost, CoherentError> {
        let status = self.load(STATUS).await?;
        Ok(Lost { messages: (status >> 16) as u32, overwritten: status >> 48 & 1 != 0 })
    }

    /// Clocks of the far end since its reset; it wraps.
    ///
    /// # Errors
    /// When the port fails.
    pub async fn time(&mut self) -> Result<u32, CoherentError> {
        Ok(self.load(TIME).await? as u32)
    }

    /// The state of a line at the far end: the line with this number, an address divided by the bytes of a line.
    ///
    /// # Errors
    /// When the line is in no memory of this link, when no answer comes because the far end's agent is never idle, or
    /// the port fails.
    pub async fn state(&mut self, line: u64) -> Result<LineState, CoherentError> {
        let memories = self.node.port().memories();
        let lines = |of: &super::Memory| of.first..of.first.saturating_add(of.lines);
        let Some(memory) = memories.iter().find(|of| lines(of).contains(&line)) else {
            let end = memories.iter().map(|of| of.range().end).max().unwrap_or(0);
            let address = line.saturating_mul(LINE_BYTES as u64);
            return Err(CoherentError::Range { address, bytes: LINE_BYTES as u64, end });
        };
        // What this node reaches uncached is the far end's memory: it is at home there.
        let at_home = memory.features.uncached;
        self.store(LOOK, line & INDEX).await?;
        for _ in 0..LOOKS {
            let state = self.load(LOOK).await?;
            if state & VALID != 0 {
                let unknown = CoherentError::State { state: state as u16 };
                return line_state(state, at_home).ok_or(unknown);
            }
        }
        Err(CoherentError::Busy { line })
    }

    async fn load(&mut self, register: u64) -> Result<u64, CoherentError> {
        Ok(self.node.port().load_register(REGISTERS + 8 * register).await?)
    }

    async fn store(&mut self, register: u64, value: u64) -> Result<(), CoherentError> {
        Ok(self.node.port().store_register(REGISTERS + 8 * register, 0xFF, value).await?)
    }
}

fn line_state(state: u64, at_home: bool) -> Option<LineState> {
    let bit = |at: u32| state >> at & 1 != 0;
    Some(match (at_home, bit(14)) {
        (false, _) => LineState::Cached(Remote::of((state & 15) as u8)?),
        (true, false) => LineState::NoEntry,
        (true, true) => LineState::Home {
            home: Home::of((state >> 5 & 7) as u8)?,
            directory: Directory::of((state >> 9 & 3) as u8)?,
            has: bit(11),
            dirty: bit(12),
            pinned: bit(13),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coherent::SharedMemory;
    use crate::transport::block_on;

    #[test]
    fn a_record_has_the_parts_of_its_words() {
        // VICD of line 0x1_2345_6789 with id 19, dirty, on circuit 4; the message before it was lost.
        let header = 19 << 50 | 0xF << 46 | 0xF << 41 | 0x1_2345_6789 << 7;
        let record = Record::of(VALID | 1 << 62 | 1 << 37 | 1 << 36 | 4 << 32 | 77, header);
        assert_eq!(
            record,
            Record {
                ticks: 77,
                circuit: 4,
                received: true,
                link: 1,
                gap: true,
                code: 0,
                message: Some(Message::Vicd),
                id: 19,
                line: Some(0x1_2345_6789),
                dirty: true,
            }
        );
        // A barrier has a line's circuit, and is about none; nor is an interrupt.
        for (circuit, code) in [(6, 24), (12, 1)] {
            let other = Record::of(VALID | circuit << 32, code << 59 | 5 << 7);
            assert_eq!((other.message, other.line, other.code), (None, None, code as u8));
        }
        // The same code of a circuit with other messages.
        let clean = Record::of(VALID | 11 << 32, 1 << 59).message;
        assert_eq!(clean.map(Message::name), Some("VICC"));
        assert_eq!(clean.map(Message::from_home), Some(false));
    }

    #[test]
    fn a_state_is_that_of_a_cache_or_of_a_home() {
        assert_eq!(line_state(3, false), Some(LineState::Cached(Remote::M)));
        assert_eq!(line_state(15, false), None);
        assert_eq!(line_state(3, true), Some(LineState::NoEntry));
        let state = 1 << 14 | 1 << 12 | 1 << 11 | 3 << 9 | 1 << 5;
        let home = LineState::Home {
            home: Home::S,
            directory: Directory::O,
            has: true,
            dirty: true,
            pinned: false,
        };
        assert_eq!(line_state(state, true), Some(home));
        assert_eq!(line_state(state | 7 << 5, true), None);
    }

    #[test]
    fn all_messages_about_lines_are_recorded_unless_others_are_chosen() {
        assert_eq!(Filter::default().circuits, 0xFFC);
    }

    #[test]
    fn an_end_without_a_tracer_is_refused() {
        let mut host = Node::new(SharedMemory::new(4).host());
        let refused = block_on(async { host.tracer().await.err().map(|error| error.to_string()) });
        assert_eq!(refused.as_deref(), Some("this node has no tracer at the other end"));
    }
}
