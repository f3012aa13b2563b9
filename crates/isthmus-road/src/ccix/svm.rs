// SPDX-License-Identifier: Apache-2.0
//! The host's side of virtual addresses: page tables in its memory, the translation agent that walks them, and pages
//! that the host moves while the FPGA uses them.
//!
//! The tables are those of `isthmus_host::svm`. Frames lie in a random order, so a wrong translation is a wrong byte
//! or an access to a frame that no page has.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use isthmus_host::svm::{Access, AddressSpace, Invalidation, PhysicalMemory, SvmError};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};
use isthmus_sim::world::ccix::CcixLink;
use isthmus_sim::world::host::{Memory, MemoryConfig};
use isthmus_sim::world::{Iommu, IommuConfig, IommuCounters, Walk};

use super::messages::{INVALIDATE, TRANSLATED};
use super::scenario::{CcixIommu, CcixTranslation, LINE_BYTES};
use crate::error::RoadError;

/// Memory of the page tables, from physical address 0 on.
const TABLE_BYTES: usize = 16 << 20;
/// Frames lie behind it.
const FRAMES: u64 = 1 << 46;
/// Those of lines that the FPGA caches: it takes addresses below 2^39, and frames end there.
pub(super) const CACHED_FRAMES: u64 = 1 << 38;
/// The first virtual address.
const FIRST: u64 = 0x7F40_0000_0000;
const LINE_LOG2: u32 = LINE_BYTES.ilog2();
/// Walks whose ends are kept, for the stages of one transfer: one a page, and a transfer has 17 pages at most.
const RECORDED: usize = 32;

/// Memory of the host that has its tables.
struct Tables(Memory);

impl PhysicalMemory for Tables {
    fn read(&self, physical: u64, buffer: &mut [u8]) -> Result<(), SvmError> {
        let bytes = buffer.len();
        let all = usize::try_from(physical).ok().and_then(|at| self.0.read(at, bytes).ok());
        buffer.copy_from_slice(&all.ok_or(SvmError::Outside { physical, bytes })?);
        Ok(())
    }

    fn write(&mut self, physical: u64, data: &[u8]) -> Result<(), SvmError> {
        let bytes = data.len();
        let done = usize::try_from(physical).ok().and_then(|at| self.0.write(at, data).ok());
        done.ok_or(SvmError::Outside { physical, bytes })
    }
}

/// A page on its way from one frame to another.
struct Move {
    address: u64,
    from: u64,
    to: u64,
    /// The FPGA has completed the invalidation.
    completed: bool,
}

/// What has happened besides walks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Events {
    /// Faults that the FPGA reported.
    pub(super) faults: u64,
    /// Pages moved.
    pub(super) moves: u64,
    /// Accesses that came with virtual addresses.
    pub(super) direct: u64,
}

/// The host's side.
pub(super) struct Translator {
    sim: Sim,
    link: CcixLink,
    gateway: Picoseconds,
    access: Access,
    of: CcixTranslation,
    iommu: Iommu,
    space: RefCell<AddressSpace<Tables>>,
    /// Pages by their frames: numbers of pages of this size.
    frames: RefCell<HashMap<u64, u64>>,
    /// Frames that no page has yet.
    free: RefCell<VecDeque<u64>>,
    moving: RefCell<Option<Move>>,
    /// When the last walks for accesses with virtual addresses ended.
    located: RefCell<VecDeque<Picoseconds>>,
    events: Cell<Events>,
}

fn wrong(error: &SvmError) -> RoadError {
    RoadError::Inconsistent(format!("ccix: page tables: {error}"))
}

impl Translator {
    /// Tables of the whole footprint, and the agent on them.
    pub(super) fn new(
        sim: &Sim,
        link: &CcixLink,
        gateway: Picoseconds,
        iommu: &CcixIommu,
        of: CcixTranslation,
        cached: bool,
        seed: u64,
    ) -> Result<Rc<Self>, RoadError> {
        let memory = Memory::new(&MemoryConfig {
            name: "host.tables".to_owned(),
            size_bytes: TABLE_BYTES,
            load_ns: 0.0,
            store_ns: 0.0,
            copy_ns_per_byte: 0.0,
        })?;
        let mut space = AddressSpace::new(Tables(memory.clone()), 0..TABLE_BYTES as u64)
            .map_err(|error| wrong(&error))?;
        let config = IommuConfig {
            name: "host.iommu".to_owned(),
            access_ns: iommu.access_ns,
            walkers: iommu.walkers as usize,
            cache_entries: iommu.cache_entries as usize,
        };
        let iommu = Iommu::new(sim, &config, &memory, space.root())?;
        let mut random = RandomStream::new(seed, "ccix:frames");
        let size = of.page.size();
        let first = if cached { CACHED_FRAMES } else { FRAMES };
        let mut free: Vec<u64> = (0..of.pages() + u64::from(of.moves))
            .map(|frame| (first >> size.log2()) + frame)
            .collect();
        for place in (1..free.len()).rev() {
            free.swap(place, random.below(place as u64 + 1) as usize);
        }
        let mut free = VecDeque::from(free);
        let mut frames = HashMap::new();
        let access = Access::ReadWrite;
        for (page, frame) in (0..of.pages()).zip(free.drain(..of.pages() as usize)) {
            let address = FIRST + (page << size.log2());
            space
                .map(address, frame << size.log2(), size, access)
                .map_err(|error| wrong(&error))?;
            frames.insert(frame, page);
        }
        Ok(Rc::new(Self {
            sim: sim.clone(),
            link: link.clone(),
            gateway,
            access,
            of,
            iommu,
            space: RefCell::new(space),
            frames: RefCell::new(frames),
            free: RefCell::new(free),
            moving: RefCell::default(),
            located: RefCell::default(),
            events: Cell::default(),
        }))
    }

    /// The number of the first line of virtual memory.
    pub(super) const fn base() -> u64 {
        FIRST >> LINE_LOG2
    }

    /// Lines of a page, as a logarithm.
    fn page_lines_log2(&self) -> u32 {
        self.of.page.size().log2() - LINE_LOG2
    }

    /// Which line of virtual memory a physical line is, counted from the first; `None`: of no page.
    pub(super) fn line_of(&self, physical: u64) -> Option<u64> {
        let log2 = self.page_lines_log2();
        let page = *self.frames.borrow().get(&(physical >> log2))?;
        let line = (page << log2) + (physical & ((1 << log2) - 1));
        (line < self.of.lines()).then_some(line)
    }

    /// The physical line of one of virtual memory, as the tables say.
    pub(super) fn physical_of(&self, line: u64) -> Option<u64> {
        let to = self.space.borrow().translate(FIRST + (line << LINE_LOG2)).ok()?;
        Some(to.physical >> LINE_LOG2)
    }

    /// All lines of a range are mapped.
    pub(super) fn mapped(&self, mut line: u64, lines: u64) -> bool {
        let page = 1 << self.page_lines_log2();
        let end = line + lines;
        while line < end {
            if self.physical_of(line).is_none() {
                return false;
            }
            line = (line / page + 1) * page;
        }
        true
    }

    /// What the agent has done.
    pub(super) fn walks(&self) -> IommuCounters {
        self.iommu.counters()
    }

    pub(super) fn events(&self) -> Events {
        self.events.get()
    }

    fn count(&self, add: impl FnOnce(&mut Events)) {
        let mut events = self.events.get();
        add(&mut events);
        self.events.set(events);
    }

    /// The FPGA reports a fault.
    pub(super) fn fault(&self) {
        self.count(|events| events.faults += 1);
    }

    /// The FPGA asks for the block of pages around an address: bits 3:1 are the logarithm of its pages.
    pub(super) fn ask(self: &Rc<Self>, id: u64, word: u64) {
        let (address, pages_log2) = (word & !0xFFF, (word >> 1 & 7) as u32);
        let agent = Rc::clone(self);
        self.sim.after(self.gateway, move || {
            let answers = Rc::clone(&agent);
            agent.iommu.translate(address, pages_log2, move |walk| {
                completions(id, &walk).into_iter().for_each(|word| answers.link.send(vec![word]));
            });
        });
    }

    /// The host translates an access that came with its virtual address: the physical line, or `None` where the page is
    /// not mapped or does not allow it.
    pub(super) fn locate(
        self: &Rc<Self>,
        line: u64,
        write: bool,
        done: impl FnOnce(Option<u64>) + 'static,
    ) {
        let agent = Rc::clone(self);
        self.sim.after(self.gateway, move || {
            let address = line << LINE_LOG2;
            let located = Rc::clone(&agent);
            agent.iommu.translate(address, 0, move |walk| {
                located.record();
                located.count(|events| events.direct += 1);
                done(physical(&walk, address, write));
            });
        });
    }

    fn record(&self) {
        let mut located = self.located.borrow_mut();
        if located.len() == RECORDED {
            located.pop_front();
        }
        located.push_back(self.sim.now());
    }

    /// When the last walks for accesses with virtual addresses ended.
    pub(super) fn located(&self) -> Vec<Picoseconds> {
        self.located.borrow().iter().copied().collect()
    }

    /// Begins to move the page around a line to another frame: no access may begin in it until it is there.
    /// False: another one is moving, or there is no free frame.
    pub(super) fn begin_move(&self, line: u64) -> Result<bool, RoadError> {
        if self.moving.borrow().is_some() {
            return Ok(false);
        }
        let Some(frame) = self.free.borrow_mut().pop_front() else { return Ok(false) };
        let size = self.of.page.size();
        let address = (FIRST + (line << LINE_LOG2)) & !(size.bytes() - 1);
        let (from, _) = self.space.borrow_mut().unmap(address).map_err(|error| wrong(&error))?;
        let to = frame << size.log2();
        *self.moving.borrow_mut() = Some(Move { address, from, to, completed: false });
        for one in Invalidation::cover(address, size.bytes()) {
            self.iommu.invalidate(one.address, one.log2_pages);
            let log2 = u64::from(one.log2_pages);
            self.link.send(vec![INVALIDATE << 60 | 1 << 56 | log2 << 42 | one.address >> 12]);
        }
        Ok(true)
    }

    /// The FPGA has completed the invalidation: no use can reach the old frame, whose lines these are. `None`: nothing
    /// was moving.
    pub(super) fn leave(&self) -> Option<Range<u64>> {
        let mut moving = self.moving.borrow_mut();
        let one = moving.as_mut().filter(|one| !one.completed)?;
        one.completed = true;
        let first = one.from >> LINE_LOG2;
        Some(first..first + (1 << self.page_lines_log2()))
    }

    /// The page of a physical line moves, and the FPGA has said that it uses that frame no more.
    pub(super) fn leaves(&self, physical: u64) -> bool {
        let moving = self.moving.borrow();
        let log2 = self.of.page.size().log2();
        moving
            .as_ref()
            .is_some_and(|one| one.completed && one.from >> log2 == physical >> (log2 - LINE_LOG2))
    }

    /// The page is at its new frame. The first lines of both frames, whose content the home moves. `None`: nothing was
    /// moving.
    pub(super) fn end_move(&self) -> Option<(u64, u64, u64)> {
        let Move { address, from, to, .. } = self.moving.borrow_mut().take()?;
        let size = self.of.page.size();
        let mut frames = self.frames.borrow_mut();
        let page = frames.remove(&(from >> size.log2()))?;
        frames.insert(to >> size.log2(), page);
        self.space.borrow_mut().map(address, to, size, self.access).ok()?;
        self.count(|events| events.moves += 1);
        Some((from >> LINE_LOG2, to >> LINE_LOG2, size.bytes() >> LINE_LOG2))
    }

    /// Nothing is moving.
    pub(super) fn is_still(&self) -> bool {
        self.moving.borrow().is_none()
    }
}

/// The physical line of an address whose walk has ended.
fn physical(walk: &Walk, address: u64, write: bool) -> Option<u64> {
    let leaf = walk.pages.first().copied().flatten().filter(|leaf| leaf.write || !write)?;
    Some((leaf.frame | (address & ((1 << leaf.log2) - 1))) >> LINE_LOG2)
}

/// The words of a walk's pages: `translated_t` of `rtl/ccix/ccix_pkg.sv`.
fn completions(id: u64, walk: &Walk) -> Vec<u64> {
    let head = TRANSLATED << 60 | 1 << 56 | id << 48;
    let mut words: Vec<u64> = Vec::new();
    for (page, leaf) in walk.pages.iter().enumerate() {
        let Some(leaf) = leaf else { continue };
        let size = u64::from((leaf.log2 - 12) / 9);
        let rights = 1 << 44 | u64::from(leaf.write) << 43;
        words.push(head | size << 45 | rights | (page as u64) << 40 | leaf.frame >> 12);
    }
    if words.is_empty() {
        words.push(head);
    }
    if let Some(last) = words.last_mut() {
        *last |= 1 << 47;
    }
    words
}

#[cfg(test)]
mod tests {
    use isthmus_sim::world::Leaf;

    use super::*;

    #[test]
    fn an_access_with_its_virtual_address_reaches_its_line_or_none() {
        let big = Leaf { frame: 5 << 21, log2: 21, write: false };
        let walk = |leaf| Walk { pages: vec![leaf], accesses: 1 };
        let address = 0x7F40_0012_3440;
        let line = (5 << 21 | 0x12_3440) >> 6;
        assert_eq!(physical(&walk(Some(big)), address, false), Some(line));
        assert_eq!(physical(&walk(Some(big)), address, true), None);
        assert_eq!(physical(&walk(None), address, false), None);
    }

    #[test]
    fn a_walk_is_a_word_for_each_mapped_page_and_the_last_says_so() {
        let base = Leaf { frame: 0x5000, log2: 12, write: true };
        let head = 0xA103 << 48;
        let walk = Walk { pages: vec![Some(base), None, Some(base), None], accesses: 1 };
        assert_eq!(
            completions(3, &walk),
            [head | 3 << 43 | 5, head | 1 << 47 | 3 << 43 | 2 << 40 | 5]
        );
        let large = Leaf { frame: 1 << 30, log2: 30, write: false };
        let walk = Walk { pages: vec![Some(large)], accesses: 2 };
        assert_eq!(completions(3, &walk), [head | 1 << 47 | 2 << 45 | 1 << 44 | 1 << 18]);
        let none = Walk { pages: vec![None; 8], accesses: 4 };
        assert_eq!(completions(3, &none), [head | 1 << 47]);
    }
}
