// SPDX-License-Identifier: Apache-2.0
//! A host's translation agent: walks the page tables in its memory for a device.
//!
//! Tables are ARMv8 VMSA, stage 1, granule of 4 KiB, 48 bits of address, four levels. A walk costs one memory access
//! a level, less what the walk cache knows; there are so many walkers, and further requests wait in their order.
//! An access brings a line of 64 bytes: eight neighbouring entries cost what one does. Each access sees memory as
//! it is at its end.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::Memory;
use crate::kernel::{Picoseconds, Sim, SimError};

const LEVELS: usize = 4;
const LINE_ENTRIES: u64 = 8;
const ADDRESS: u64 = 0x0000_FFFF_FFFF_F000;
const VALID: u64 = 1;
const TABLE: u64 = 1 << 1;
const PROGRAM: u64 = 1 << 6;
const READ_ONLY: u64 = 1 << 7;
const ACCESSED: u64 = 1 << 10;

/// A translation agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IommuConfig {
    /// Its name in this world.
    pub name: String,
    /// A walker's access to memory, from its request to its line.
    pub access_ns: f64,
    /// Walks at once.
    pub walkers: usize,
    /// Tables of each level but the root that the walk cache knows; 0: no walk cache.
    pub cache_entries: usize,
}

/// A page that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The physical address of its first byte.
    pub frame: u64,
    /// The logarithm of its bytes: 12, 21 or 30.
    pub log2: u32,
    /// It may be written.
    pub write: bool,
}

/// What a walk found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// One page around all that was asked for, or each page of 4 KiB by itself; none where nothing is mapped.
    pub pages: Vec<Option<Leaf>>,
    /// Accesses to memory that it took.
    pub accesses: u32,
}

/// What an agent has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IommuCounters {
    /// Walks that have ended.
    pub walks: u64,
    /// Accesses to memory.
    pub accesses: u64,
    /// Walks that began below the root.
    pub cached: u64,
    /// Pages that were asked for and are not mapped.
    pub unmapped: u64,
    /// Tables that are not in the memory: their pages are not mapped.
    pub bad_tables: u64,
}

/// A table that is known: of which addresses, at which level, and where.
#[derive(Clone, Copy)]
struct Known {
    prefix: u64,
    table: u64,
}

type Done = Box<dyn FnOnce(Walk)>;

struct Running {
    address: u64,
    pages_log2: u32,
    level: usize,
    table: u64,
    accesses: u32,
    done: Done,
}

struct Shared {
    sim: Sim,
    memory: Memory,
    access: Picoseconds,
    walkers: usize,
    cache_entries: usize,
    state: RefCell<State>,
}

struct State {
    root: u64,
    busy: usize,
    waiting: VecDeque<Running>,
    /// By the level of the table; the last is the one that was used last.
    cache: [Vec<Known>; LEVELS],
    counters: IommuCounters,
}

/// A translation agent. Clones are the same.
#[derive(Clone)]
pub struct Iommu(Rc<Shared>);

impl Iommu {
    /// An idle one, on tables in `memory` whose root is at the physical address `root`.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn new(
        sim: &Sim,
        config: &IommuConfig,
        memory: &Memory,
        root: u64,
    ) -> Result<Self, SimError> {
        if config.walkers == 0 {
            let reason = "walkers = 0: at least 1 expected".to_owned();
            return Err(super::config_error(&config.name, reason));
        }
        Ok(Self(Rc::new(Shared {
            sim: sim.clone(),
            memory: memory.clone(),
            access: super::time(&config.name, "access_ns", config.access_ns)?,
            walkers: config.walkers,
            cache_entries: config.cache_entries,
            state: RefCell::new(State {
                root: root & ADDRESS,
                busy: 0,
                waiting: VecDeque::new(),
                cache: Default::default(),
                counters: IommuCounters::default(),
            }),
        })))
    }

    /// Translates the aligned block of 2^`pages_log2` pages of 4 KiB around an address, 8 pages at most; `done` is
    /// called at the end of the walk.
    pub fn translate(&self, address: u64, pages_log2: u32, done: impl FnOnce(Walk) + 'static) {
        let pages_log2 = pages_log2.min(LINE_ENTRIES.ilog2());
        let address = address >> (12 + pages_log2) << (12 + pages_log2);
        let walk =
            Running { address, pages_log2, level: 0, table: 0, accesses: 0, done: Box::new(done) };
        let mut state = self.0.state.borrow_mut();
        if state.busy == self.0.walkers {
            state.waiting.push_back(walk);
            return;
        }
        state.busy += 1;
        drop(state);
        self.begin(walk);
    }

    /// Forgets what the walk cache knows of 2^`pages_log2` pages from an address on. A walk that runs may still see
    /// the old tables.
    pub fn invalidate(&self, address: u64, pages_log2: u32) {
        let last = address.saturating_add((1u64 << (12 + pages_log2.min(51))) - 1);
        let mut state = self.0.state.borrow_mut();
        for (level, known) in state.cache.iter_mut().enumerate().skip(1) {
            let range = prefix(address, level)..=prefix(last, level);
            known.retain(|one| !range.contains(&one.prefix));
        }
    }

    /// What it has done so far.
    #[must_use]
    pub fn counters(&self) -> IommuCounters {
        self.0.state.borrow().counters
    }

    fn begin(&self, mut walk: Running) {
        // Addresses above 48 bits have no table.
        if walk.address >> 48 != 0 {
            self.end(walk, Vec::new());
            return;
        }
        let mut state = self.0.state.borrow_mut();
        (walk.level, walk.table) = (0, state.root);
        for level in (1..LEVELS).rev() {
            let wanted = prefix(walk.address, level);
            let known = &mut state.cache[level];
            if let Some(place) = known.iter().position(|one| one.prefix == wanted) {
                let one = known.remove(place);
                known.push(one);
                (walk.level, walk.table) = (level, one.table);
                state.counters.cached += 1;
                break;
            }
        }
        drop(state);
        self.access(walk);
    }

    fn access(&self, mut walk: Running) {
        let agent = self.clone();
        self.0.sim.after(self.0.access, move || {
            walk.accesses += 1;
            agent.0.state.borrow_mut().counters.accesses += 1;
            agent.line(walk);
        });
    }

    /// The line of the entries has come.
    fn line(&self, mut walk: Running) {
        let shift = 12 + 9 * (LEVELS - 1 - walk.level);
        let index = walk.address >> shift & 511;
        let pages = if walk.level == LEVELS - 1 { 1 << walk.pages_log2 } else { 1 };
        let words = usize::try_from(walk.table + 8 * index)
            .ok()
            .and_then(|at| self.0.memory.read(at, 8 * pages).ok());
        let Some(words) = words else {
            self.0.state.borrow_mut().counters.bad_tables += 1;
            self.end(walk, Vec::new());
            return;
        };
        let words: Vec<u64> = words
            .chunks_exact(8)
            .map(|word| word.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)))
            .collect();
        if walk.level < LEVELS - 1 && words[0] & (VALID | TABLE) == VALID | TABLE {
            walk.level += 1;
            walk.table = words[0] & ADDRESS;
            self.remember(&walk);
            self.access(walk);
            return;
        }
        let level = walk.level;
        let leaves = words.into_iter().map(|word| leaf(word, level)).collect();
        self.end(walk, leaves);
    }

    fn remember(&self, walk: &Running) {
        if self.0.cache_entries == 0 {
            return;
        }
        let mut state = self.0.state.borrow_mut();
        let known = &mut state.cache[walk.level];
        let one = Known { prefix: prefix(walk.address, walk.level), table: walk.table };
        known.retain(|other| other.prefix != one.prefix);
        if known.len() == self.0.cache_entries {
            known.remove(0);
        }
        known.push(one);
    }

    fn end(&self, walk: Running, mut pages: Vec<Option<Leaf>>) {
        // A larger page is around the whole block, and so is a table that is not there.
        if pages.first().is_none_or(Option::is_none) && pages.len() <= 1 {
            pages = vec![None; 1 << walk.pages_log2];
        }
        let mut state = self.0.state.borrow_mut();
        state.counters.walks += 1;
        state.counters.unmapped += pages.iter().filter(|page| page.is_none()).count() as u64;
        let next = state.waiting.pop_front();
        state.busy -= usize::from(next.is_none());
        drop(state);
        (walk.done)(Walk { pages, accesses: walk.accesses });
        if let Some(next) = next {
            self.begin(next);
        }
    }
}

/// What the addresses under one table of a level have in common.
fn prefix(address: u64, level: usize) -> u64 {
    address >> (12 + 9 * (LEVELS - level))
}

fn leaf(word: u64, level: usize) -> Option<Leaf> {
    let page = word & TABLE != 0;
    let kind = match level {
        1 | 2 => !page,
        3 => page,
        _ => false,
    };
    if word & VALID == 0 || !kind || word & (PROGRAM | ACCESSED) != PROGRAM | ACCESSED {
        return None;
    }
    let log2 = 12 + 9 * (LEVELS - 1 - level) as u32;
    Some(Leaf { frame: word & (ADDRESS >> log2 << log2), log2, write: word & READ_ONLY == 0 })
}
