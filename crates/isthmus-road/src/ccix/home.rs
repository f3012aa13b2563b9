// SPDX-License-Identifier: Apache-2.0
//! The home agent of the host's memory, and that memory: what a designer buys with the host.
//!
//! It answers requests after their own times and has no limit of rate. Messages are those of
//! `rtl/ccix/ccix_pkg.sv`.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use isthmus_host::coherent::protocol::Message;
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::ccix::CcixLink;

use super::directory::{Action, Directory, Waiting};
use super::messages::{
    CACHE_REQUEST, CACHE_RESPONSE, COMP, COMP_DATA, CREDIT, DIRECT, FAULT, FAULTED, INVALIDATED,
    LOCK, READ, SNOOP, TRANSLATE, WRITE, WRITE_PART, header, is_of_a_line,
};
use super::scenario::{CcixHome, LINE_BYTES};
use super::svm::Translator;
use crate::dma::{Line, Stored, pattern};

/// Lines that have the pattern of their numbers, from `base` on, where nothing was stored.
#[derive(Debug, Default)]
pub(super) struct Content {
    base: u64,
    seed: u32,
    changed: HashMap<u64, Line>,
}

impl Content {
    pub(super) fn new(base: u64, seed: u32) -> Self {
        Self { base, seed, changed: HashMap::new() }
    }

    /// The line that was stored as `key`, or the first content of line `number`.
    fn at(&self, key: u64, number: u64) -> Line {
        let first = || pattern(self.base + number, self.seed);
        self.changed.get(&key).copied().unwrap_or_else(first)
    }

    pub(super) fn line(&self, number: u64) -> Line {
        self.at(number, number)
    }

    pub(super) fn line_mut(&mut self, number: u64) -> &mut Line {
        let first = pattern(self.base + number, self.seed);
        self.changed.entry(number).or_insert(first)
    }

    /// Numbers of lines that were stored.
    pub(super) fn changed(&self) -> impl Iterator<Item = u64> {
        self.changed.keys().copied()
    }
}

/// Lines of a frame that the host takes back from the FPGA at once: half of the forwards that it has room for.
const TAKEN_AT_ONCE: usize = 8;

/// What an access of the host does to its line.
pub(super) type Touch = Box<dyn FnOnce(&mut Line)>;

/// Takes lock messages at the port.
pub(super) type LockSink = Box<dyn Fn(&[u64])>;

/// Lines that changed sides so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Transfers {
    /// To the FPGA.
    pub(super) granted: u64,
    /// To the host, which the FPGA had.
    pub(super) taken: u64,
}

/// The home agent.
pub(super) struct Home {
    sim: Sim,
    link: CcixLink,
    gateway: Picoseconds,
    read: Picoseconds,
    write: Picoseconds,
    /// Free buffers, for requests and for lines; and all of them.
    free: [Cell<u32>; 2],
    places: [u32; 2],
    /// Lines of memory without translation: physical ones from 0 on.
    lines: u64,
    /// By physical lines.
    memory: RefCell<Content>,
    translator: Option<Rc<Translator>>,
    /// Of an agent with a cache.
    directory: Option<RefCell<Directory>>,
    /// Open accesses of the host, by their numbers; and whether they store.
    accesses: RefCell<HashMap<u64, (bool, Touch)>>,
    last_access: Cell<u64>,
    locks: RefCell<Option<LockSink>>,
    transfers: Cell<Transfers>,
    stored: RefCell<Vec<Stored>>,
    wrong: RefCell<Option<String>>,
}

/// A line of eight words.
fn bytes_of(words: &[u64]) -> Line {
    let mut line = [0; LINE_BYTES];
    for (bytes, word) in line.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    line
}

/// The words of a line.
fn words_of(line: &Line) -> impl Iterator<Item = u64> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
    line.chunks_exact(8).map(word)
}

impl Home {
    /// A home whose memory has `lines` lines, or those that `translator` maps; it gives all its credits at once.
    pub(super) fn serve(
        sim: &Sim,
        link: &CcixLink,
        config: &CcixHome,
        lines: u64,
        first: Content,
        translator: Option<Rc<Translator>>,
        cached: bool,
    ) -> Rc<Self> {
        let home = Rc::new(Self {
            sim: sim.clone(),
            link: link.clone(),
            gateway: Picoseconds::from_ns_f64(config.gateway_ns),
            read: Picoseconds::from_ns_f64(config.memory_read_ns),
            write: Picoseconds::from_ns_f64(config.memory_write_ns),
            free: [Cell::new(config.requests), Cell::new(config.lines)],
            places: [config.requests, config.lines],
            lines,
            memory: RefCell::new(first),
            translator,
            directory: cached.then(RefCell::default),
            accesses: RefCell::default(),
            last_access: Cell::new(0),
            locks: RefCell::default(),
            transfers: Cell::default(),
            stored: RefCell::default(),
            wrong: RefCell::default(),
        });
        let served = Rc::clone(&home);
        link.serve(Box::new(move |words| served.packet(words)));
        home.give_credits();
        home
    }

    fn give_credits(&self) {
        self.link.send(vec![header(CREDIT, 1, 0, self.places)]);
    }

    /// The FPGA is gone, with all that it has of lines and has asked for: the home's accesses that wait for it take
    /// effect in memory as it is.
    pub(super) fn lose_fpga(self: &Rc<Self>) {
        self.free.iter().zip(self.places).for_each(|(free, places)| free.set(places));
        let Some(directory) = &self.directory else { return };
        let waiting = directory.borrow_mut().lose();
        waiting.into_iter().for_each(|(line, access)| self.act(line, Action::Host(access)));
    }

    /// The FPGA begins anew: it gets its credits.
    pub(super) fn meet_fpga(&self) {
        self.give_credits();
    }

    /// Writes that became visible since the last call.
    pub(super) fn take_stored(&self) -> Vec<Stored> {
        self.stored.take()
    }

    /// The first illegal message that it received.
    pub(super) fn wrong(&self) -> Option<String> {
        self.wrong.borrow().clone()
    }

    /// The content of a line, counted as the FPGA does; `None`: it is not in memory.
    pub(super) fn line(&self, number: u64) -> Option<Line> {
        let physical = match &self.translator {
            Some(translator) => translator.physical_of(number)?,
            None => number,
        };
        (self.number_of(physical)? == number).then(|| self.memory.borrow().at(physical, number))
    }

    /// Lines that were stored.
    pub(super) fn changed(&self) -> usize {
        self.memory.borrow().changed.len()
    }

    /// The number of a physical line, as the FPGA counts.
    fn number_of(&self, physical: u64) -> Option<u64> {
        match &self.translator {
            Some(translator) => translator.line_of(physical),
            None => (physical < self.lines).then_some(physical),
        }
    }

    fn fail(&self, reason: String) {
        self.wrong.borrow_mut().get_or_insert(reason);
    }

    fn packet(self: &Rc<Self>, words: &[u64]) {
        let mut rest = words;
        while let Some(first) = rest.first() {
            let (kind, length) = (first >> 60, (first >> 56 & 0xF) as usize);
            let expected = match kind {
                CACHE_REQUEST if self.directory.is_some() => 2,
                CACHE_RESPONSE if self.directory.is_some() => {
                    if length == 10 {
                        10
                    } else {
                        2
                    }
                }
                READ => 2,
                // An agent with a cache has no write that goes around it.
                WRITE if self.directory.is_none() => 10,
                WRITE_PART if self.directory.is_none() => 11,
                TRANSLATE | FAULT if self.translator.is_some() => 2,
                INVALIDATED if self.translator.is_some() => 1,
                LOCK if self.locks.borrow().is_some() => {
                    if length == 3 {
                        3
                    } else {
                        1
                    }
                }
                _ => 0,
            };
            if length != expected || length == 0 || rest.len() < length {
                let have = rest.len();
                return self.fail(format!("a message of kind {kind}, {length} words, in {have}"));
            }
            let (message, behind) = rest.split_at(length);
            match &self.translator {
                _ if kind == LOCK => {
                    if let Some(sink) = &*self.locks.borrow() {
                        sink(message);
                    }
                }
                _ if kind == CACHE_REQUEST || kind == CACHE_RESPONSE => {
                    self.coherent(kind, message.to_vec());
                }
                Some(translator) if !is_of_a_line(kind) => {
                    self.translation(translator, kind, message);
                }
                _ => self.request(kind, message),
            }
            rest = behind;
        }
    }

    fn translation(self: &Rc<Self>, translator: &Rc<Translator>, kind: u64, message: &[u64]) {
        match kind {
            TRANSLATE => translator.ask(message[0] >> 48 & 0xFF, message[1]),
            FAULT => translator.fault(),
            _ => match translator.leave() {
                Some(frame) => self.take_back(&frame),
                None => self.fail("a completion of no invalidation".to_owned()),
            },
        }
    }

    /// Nothing uses a translation to this frame any more: the host takes the lines that the FPGA's cache has of it, as the
    /// next owner of the frame would, and then moves the page.
    fn take_back(self: &Rc<Self>, frame: &Range<u64>) {
        let held = self
            .directory
            .as_ref()
            .map_or_else(Vec::new, |directory| directory.borrow().held(frame));
        let held = Rc::new(RefCell::new(VecDeque::from(held)));
        // One more until all that can be at once have begun: some are done as they begin.
        let open = Rc::new(Cell::new(1_u32));
        for _ in 0..TAKEN_AT_ONCE {
            self.take_one(&held, &open);
        }
        open.set(open.get() - 1);
        if open.get() == 0 {
            self.end_move();
        }
    }

    /// Takes the next of these lines back; with the last one the page moves.
    fn take_one(self: &Rc<Self>, held: &Rc<RefCell<VecDeque<u64>>>, open: &Rc<Cell<u32>>) {
        let Some(line) = held.borrow_mut().pop_front() else { return };
        let Some(directory) = &self.directory else { return };
        open.set(open.get() + 1);
        let access = self.last_access.get() + 1;
        self.last_access.set(access);
        let (home, held, left) = (Rc::clone(self), Rc::clone(held), Rc::clone(open));
        let taken = move |_: &mut Line| {
            left.set(left.get() - 1);
            home.take_one(&held, &left);
            if left.get() == 0 {
                home.end_move();
            }
        };
        self.accesses.borrow_mut().insert(access, (false, Box::new(taken)));
        let steps = directory.borrow_mut().ask(line, Waiting::Host { store: true, access });
        self.follow(line, steps);
    }

    fn end_move(&self) {
        match self.translator.as_ref().and_then(|translator| translator.end_move()) {
            Some((from, to, lines)) => self.move_lines(from, to, lines),
            None => self.fail("the end of no move".to_owned()),
        }
    }

    /// A message of an agent with a cache: it is at the directory after the way there.
    fn coherent(self: &Rc<Self>, kind: u64, message: Vec<u64>) {
        let (opcode, line) = (message[1] >> 59, message[1] >> 7 & ((1 << 33) - 1));
        let asks = kind == CACHE_REQUEST;
        let leaves = self.translator.as_ref().is_some_and(|translator| translator.leaves(line));
        if self.number_of(line).is_none() || asks && leaves {
            return self.fail(format!("a request for line {line:#x}, which is not its memory"));
        }
        let home = Rc::clone(self);
        self.sim.after(self.gateway, move || {
            let Some(directory) = &home.directory else { return };
            // Requests have a circuit, and so have responses with and without the line.
            let circuit = match (asks, message.len()) {
                (true, _) => 6,
                (false, 10) => 4,
                (false, _) => 10,
            };
            let code = u8::try_from(opcode).unwrap_or(u8::MAX);
            let Some(what) = Message::of(circuit, code).filter(|what| !what.from_home()) else {
                let (kind, words) = (if asks { "request" } else { "response" }, message.len());
                return home.fail(format!("a {kind} of {words} words with the code {opcode}"));
            };
            let done = if asks {
                let id = message[0] >> 48 & 0xFF;
                directory.borrow_mut().ask(line, Waiting::Fpga(what, id))
            } else {
                if message.len() == 10 {
                    home.memory.borrow_mut().changed.insert(line, bytes_of(&message[2..]));
                }
                directory.borrow_mut().respond(line, what)
            };
            home.follow(line, done);
        });
    }

    /// Does what the directory says.
    fn follow(self: &Rc<Self>, line: u64, steps: Result<Vec<Action>, &'static str>) {
        match steps {
            Ok(actions) => actions.into_iter().for_each(|action| self.act(line, action)),
            Err(reason) => self.fail(format!("line {line:#x}: {reason}")),
        }
    }

    fn act(self: &Rc<Self>, line: u64, action: Action) {
        let mut transfers = self.transfers.get();
        match action {
            Action::Grant { .. } => transfers.granted += 1,
            Action::Forward(_) => transfers.taken += 1,
            Action::Host(_) => {}
        }
        self.transfers.set(transfers);
        match action {
            Action::Grant { id, answer: Message::Pack } => {
                self.link.send(vec![header(COMP, 1, id, [0, 0]) | Message::Pack.number()]);
            }
            Action::Grant { id, answer } => {
                let home = Rc::clone(self);
                self.sim.after(self.read, move || {
                    let Some(number) = home.number_of(line) else {
                        return home
                            .fail(format!("line {line:#x}: its page moved with an access open"));
                    };
                    let mut words = vec![header(COMP_DATA, 9, id, [0, 0]) | answer.number()];
                    words.extend(words_of(&home.memory.borrow().at(line, number)));
                    home.link.send(words);
                });
            }
            Action::Forward(forward) => {
                self.link.send(vec![SNOOP << 60 | 1 << 56 | forward.number() << 48 | line]);
            }
            Action::Host(access) => {
                let Some((store, touch)) = self.accesses.borrow_mut().remove(&access) else {
                    return;
                };
                self.touch(line, store, touch);
            }
        }
    }

    fn touch(&self, line: u64, store: bool, touch: Touch) {
        let number = match &self.translator {
            Some(translator) => translator.line_of(line),
            None => Some(line),
        };
        let Some(number) = number else {
            return self.fail(format!("line {line:#x}: the host has no page there"));
        };
        let mut content = self.memory.borrow().at(line, number);
        touch(&mut content);
        if store {
            self.memory.borrow_mut().changed.insert(line, content);
        }
    }

    /// A processor of the host loads a line, or stores to it: at the home after the time of a write, and done when
    /// the line is there. `touch` is called then.
    pub(super) fn access(self: &Rc<Self>, line: u64, store: bool, touch: Touch) {
        let home = Rc::clone(self);
        self.sim.after(self.write, move || {
            let Some(directory) = &home.directory else { return home.touch(line, store, touch) };
            // 0 is a load that nothing waits for.
            let access = home.last_access.get() + 1;
            home.last_access.set(access);
            home.accesses.borrow_mut().insert(access, (store, touch));
            let steps = directory.borrow_mut().ask(line, Waiting::Host { store, access });
            home.follow(line, steps);
        });
    }

    /// Changes a line that no one has read yet, or that no one else can reach.
    pub(super) fn begin_with(&self, line: u64, touch: impl FnOnce(&mut Line)) {
        touch(self.memory.borrow_mut().line_mut(line));
    }

    /// Sets what takes lock messages.
    pub(super) fn on_lock(&self, sink: LockSink) {
        *self.locks.borrow_mut() = Some(sink);
    }

    /// Lines that changed sides so far.
    pub(super) fn transfers(&self) -> Transfers {
        self.transfers.get()
    }

    /// The host loads a line, counted as the FPGA does, that the FPGA may have changed: the FPGA shares it.
    pub(super) fn load(self: &Rc<Self>, number: u64) {
        let Some(directory) = &self.directory else { return };
        let physical = match &self.translator {
            Some(translator) => translator.physical_of(number),
            None => Some(number),
        };
        let Some(line) = physical else { return };
        if !directory.borrow().is_away(line) {
            return;
        }
        let access = Waiting::Host { store: false, access: 0 };
        let steps = directory.borrow_mut().ask(line, access);
        self.follow(line, steps);
    }

    /// Nothing is open at the home, and memory has what the FPGA wrote to the lines that the host has loaded.
    pub(super) fn is_idle(&self) -> bool {
        self.directory.as_ref().is_none_or(|directory| directory.borrow().is_idle())
    }

    /// Moves the content of a frame.
    fn move_lines(&self, from: u64, to: u64, lines: u64) {
        let changed = &mut self.memory.borrow_mut().changed;
        let moved: Vec<u64> =
            changed.keys().copied().filter(|at| (from..from + lines).contains(at)).collect();
        for at in moved {
            if let Some(line) = changed.remove(&at) {
                changed.insert(at - from + to, line);
            }
        }
    }

    fn request(self: &Rc<Self>, kind: u64, message: &[u64]) {
        let (txn, index) = (message[0] >> 48 & 0xFF, message[1] >> 6);
        let line = u32::from(kind != READ);
        for (free, needed) in self.free.iter().zip([1, line]) {
            let Some(left) = free.get().checked_sub(needed) else {
                return self.fail("a request without a credit".to_owned());
            };
            free.set(left);
        }
        let mask = match kind {
            WRITE => u64::MAX,
            WRITE_PART => message[2],
            _ => 0,
        };
        let mut data = [0; LINE_BYTES];
        if kind != READ {
            data = bytes_of(&message[message.len() - 8..]);
        }
        if message[1] & DIRECT == 0 {
            if self.directory.is_some() {
                return self.fail(format!("a read of line {index:#x} around the cache"));
            }
            return self.line_request(kind, txn, index, mask, data, self.gateway);
        }
        let Some(translator) = &self.translator else {
            return self.fail("a virtual address at a home without translation".to_owned());
        };
        let home = Rc::clone(self);
        translator.locate(index, kind != READ, move |found| match found {
            Some(physical) if home.directory.is_some() => home.direct_read(txn, physical),
            Some(physical) => {
                home.line_request(kind, txn, physical, mask, data, Picoseconds::ZERO);
            }
            None => home.refuse(txn, line),
        });
    }

    /// A request that the host's translation agent does not let to memory.
    fn refuse(&self, txn: u64, line: u32) {
        if let Some(translator) = &self.translator {
            translator.fault();
        }
        self.free[0].set(self.free[0].get() + 1);
        self.free[1].set(self.free[1].get() + line);
        self.link.send(vec![header(COMP, 1, txn, [1, line]) | FAULTED]);
    }

    /// A read that came with a virtual address, of an FPGA that has a cache: a load of the host, which asks the
    /// FPGA's cache for the line where it may be changed there. The FPGA gets the bytes of that moment and no copy
    /// that the directory knows of.
    fn direct_read(self: &Rc<Self>, txn: u64, line: u64) {
        let Some(directory) = &self.directory else { return };
        if self.number_of(line).is_none() {
            return self.fail(format!("a read of line {line:#x}, which is not its memory"));
        }
        let access = self.last_access.get() + 1;
        self.last_access.set(access);
        let home = Rc::clone(self);
        let read = move |content: &mut Line| {
            let mut answer = vec![header(COMP_DATA, 9, txn, [1, 0])];
            answer.extend(words_of(content));
            let then = Rc::clone(&home);
            home.sim.after(home.read, move || {
                then.free[0].set(then.free[0].get() + 1);
                then.link.send(answer);
            });
        };
        self.accesses.borrow_mut().insert(access, (false, Box::new(read)));
        let steps = directory.borrow_mut().ask(line, Waiting::Host { store: false, access });
        self.follow(line, steps);
    }

    /// A request for a physical line, which is `way` from it.
    fn line_request(
        self: &Rc<Self>,
        kind: u64,
        txn: u64,
        index: u64,
        mask: u64,
        data: Line,
        way: Picoseconds,
    ) {
        if self.number_of(index).is_none() {
            return self.fail(format!("a request for line {index:#x}, which is not its memory"));
        }
        let line = u32::from(kind != READ);
        let access = if kind == READ { self.read } else { self.write };
        let home = Rc::clone(self);
        self.sim.after(way + access, move || {
            let Some(number) = home.number_of(index) else {
                return home.fail(format!("line {index:#x}: its page moved with an access open"));
            };
            let mut line_of = home.memory.borrow().at(index, number);
            (0..LINE_BYTES).filter(|byte| mask >> byte & 1 != 0).for_each(|byte| {
                line_of[byte] = data[byte];
            });
            if kind != READ {
                home.memory.borrow_mut().changed.insert(index, line_of);
            }
            home.free[0].set(home.free[0].get() + 1);
            home.free[1].set(home.free[1].get() + line);
            let mut answer = vec![if kind == READ {
                header(COMP_DATA, 9, txn, [1, 0])
            } else {
                let stored = Stored { index: number, at: home.sim.now(), line: line_of };
                home.stored.borrow_mut().push(stored);
                header(COMP, 1, txn, [1, 1])
            }];
            if kind == READ {
                answer.extend(words_of(&line_of));
            }
            home.link.send(answer);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_the_pattern_until_something_is_stored() {
        let mut content = Content::new(100, 7);
        assert_eq!(content.line(5), pattern(105, 7));
        content.line_mut(5)[3] ^= 1;
        assert_ne!(content.line(5), pattern(105, 7));
        assert_eq!(content.line(5)[4..], pattern(105, 7)[4..]);
        assert_eq!(content.changed().collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn the_pattern_depends_on_line_word_byte_and_seed() {
        let line = pattern(5, 7);
        assert_ne!(line, pattern(6, 7));
        assert_ne!(line, pattern(5, 8));
        let words: std::collections::BTreeSet<&[u8]> = line.chunks(4).collect();
        assert_eq!(words.len(), 16, "{line:?}");
    }
}
