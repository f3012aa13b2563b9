// SPDX-License-Identifier: Apache-2.0
//! Atomics of the FPGA's AXI master on words of host memory that the host changes too.
//!
//! Each change finds the word as another one left it. So all changes of a word, of both sides, are one chain from its
//! first content to its last: a lost change or one that is made twice is a gap or a fork.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Value, json};

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};
use isthmus_sim::world::atomics::{
    ATOMIC_COMPARE, ATOMIC_LOAD_ADD, ATOMIC_NEW, ATOMIC_SWAP, Atomic, AtomicPins, AtomicUser,
};
use isthmus_sim::world::ccix::Way;

use super::breakdown;
use super::home::Content;
use super::program::{Counts, Outcome};
use super::scenario::{CcixChange, CcixScenario, CcixUpdates, LINE_BYTES};
use super::world::{Agent, Progress, World};
use crate::dma::{Line, first_seed};
use crate::error::RoadError;
use crate::measurement::Stage;
use crate::series::Times;

const STUCK: Picoseconds = Picoseconds::from_us(500);
/// Until the host looks again whether a page is mapped.
const AGAIN: Picoseconds = Picoseconds::from_ns(200);
const WORD_BYTES: usize = 8;

/// A word, and what was done to it.
struct Word {
    /// Its line, as the FPGA counts.
    line: u64,
    first: u64,
    /// As the FPGA left it.
    known: u64,
    /// What a change found, to what it left.
    changes: HashMap<u64, u64>,
    /// What comparisons found that did not swap.
    refused: Vec<u64>,
    /// The first content and all that was added.
    sum: u64,
}

impl Word {
    /// The content behind all changes, each of which follows from another.
    fn last(&self) -> Option<u64> {
        let (mut now, mut made) = (self.first, 0);
        let mut seen = vec![now];
        while let Some(next) = self.changes.get(&now) {
            now = *next;
            made += 1;
            seen.push(now);
            if made > self.changes.len() {
                return None;
            }
        }
        let known = self.refused.iter().all(|found| seen.contains(found));
        (made == self.changes.len() && known).then_some(now)
    }
}

/// The FPGA's atomic that is open.
#[derive(Clone, Copy)]
struct Open {
    word: usize,
    atomic: Atomic,
    /// What a comparison is to swap in.
    new: Option<u64>,
}

struct Logic {
    sim: Sim,
    scenario: CcixScenario,
    of: CcixUpdates,
    agent: Rc<Agent>,
    random: RandomStream,
    words: Vec<Word>,
    /// Changes of each side.
    limit: u64,
    chosen: u64,
    begun: u64,
    ended: u64,
    /// The next one, and whether its page is to move first.
    next: Option<Open>,
    open: Option<Open>,
    /// The new word of a comparison is on its way to the device.
    preparing: bool,
    moves: u32,
    moves_first: bool,
    host_random: RandomStream,
    host_begun: u64,
    host_ended: u64,
    host_waits: bool,
    last: Picoseconds,
    wrong: Option<String>,
    outcome: Outcome,
}

fn word_of(line: &Line) -> u64 {
    line[..WORD_BYTES].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

impl Logic {
    fn new(world: &World, scenario: &CcixScenario, of: CcixUpdates) -> Self {
        let (sim, agent) = (world.simulation.handle(), Rc::clone(&world.agent));
        let limit = scenario.series() + 1;
        let lines = Content::new(agent.base(), first_seed(scenario.seed));
        let stride = scenario.region_lines() / u64::from(of.words);
        let word = |number: u32| {
            let line = u64::from(number) * stride;
            let first = word_of(&lines.line(line));
            let (changes, refused) = (HashMap::new(), Vec::new());
            Word { line, first, known: first, changes, refused, sum: first }
        };
        Self {
            last: sim.now(),
            scenario: scenario.clone(),
            of,
            random: RandomStream::new(scenario.seed, "ccix:updates:fpga"),
            words: (0..of.words).map(word).collect(),
            limit,
            chosen: 0,
            begun: 0,
            ended: 0,
            next: None,
            open: None,
            preparing: false,
            moves: 0,
            moves_first: false,
            host_random: RandomStream::new(scenario.seed, "ccix:updates:host"),
            host_begun: 0,
            host_ended: 0,
            host_waits: false,
            wrong: None,
            outcome: Outcome { times: Times::new(limit as usize), lines, ..Outcome::default() },
            agent,
            sim,
        }
    }

    fn fail(&mut self, reason: String) {
        self.wrong.get_or_insert(reason);
    }

    /// Changes of the host in all.
    fn host_limit(&self) -> u64 {
        if self.of.host_window > 0 { self.limit } else { 0 }
    }

    /// No change of the host is beside those of the FPGA.
    fn runs_alone(&self) -> bool {
        self.host_limit() == 0
    }

    fn is_done(&self) -> bool {
        let still = self.agent.translator.as_ref().is_none_or(|translator| translator.is_still());
        self.ended == self.limit && self.host_ended == self.host_limit() && still
    }

    fn counts(&self) -> Counts {
        Counts {
            at: self.sim.now(),
            up: self.agent.link.carried(Way::Up),
            down: self.agent.link.carried(Way::Down),
            requests: self.ended,
            walks: self.agent.translator.as_ref().map_or(0, |translator| translator.walks().walks),
            granted: self.agent.home.transfers().granted,
            direct: self.agent.translator.as_ref().map_or(0, |one| one.events().direct),
        }
    }

    /// A change was made.
    fn made(&mut self, word: usize, old: u64, new: u64) {
        if self.words[word].changes.insert(old, new).is_some() {
            self.fail(format!("two changes found word {word} alike: one was lost"));
        }
        self.outcome.checked += WORD_BYTES as u64;
    }

    fn choose(&mut self) -> Open {
        let words = u64::from(self.of.words);
        let word = if self.of.in_turn { self.chosen % words } else { self.random.below(words) };
        let word = word as usize;
        self.chosen += 1;
        let change = match self.of.change {
            CcixChange::Mixed => [CcixChange::Add, CcixChange::Swap, CcixChange::CompareAndSwap]
                [self.random.below(3) as usize],
            one => one,
        };
        let (line, value, known) =
            (self.words[word].line, self.random.bits() | 1, self.words[word].known);
        let address = (self.agent.base() + line) * LINE_BYTES as u64;
        let (code, operand, new) = match change {
            CcixChange::Add => (ATOMIC_LOAD_ADD, value, None),
            CcixChange::Swap => (ATOMIC_SWAP, value, None),
            CcixChange::CompareAndSwap | CcixChange::Mixed => (ATOMIC_COMPARE, known, Some(value)),
        };
        Open { word, atomic: Atomic { code, address, operand }, new }
    }

    /// The page of the next word moves first, where one is to move now; false: not yet.
    fn moved(&mut self, word: usize) -> bool {
        let moves = self.scenario.workload.translation.map_or(0, |of| of.moves);
        let due = (u64::from(self.moves) + 1) * self.limit / (u64::from(moves) + 1);
        if self.moves == moves || self.begun < due {
            return true;
        }
        self.moves_first = true;
        if self.host_begun > self.host_ended {
            return false;
        }
        let line = self.words[word].line;
        match self.agent.translator.as_ref().map(|translator| translator.begin_move(line)) {
            Some(Ok(true)) => self.moves += 1,
            Some(Err(error)) => self.fail(error.to_string()),
            _ => return false,
        }
        self.moves_first = false;
        true
    }
}

impl AtomicUser for Logic {
    fn change(&mut self, time: Picoseconds) -> Option<Atomic> {
        if self.open.is_some() || self.preparing || self.begun == self.limit {
            return None;
        }
        let (next, prepared) = match self.next.take() {
            Some(next) => (next, true),
            None => (self.choose(), false),
        };
        if let Some(new) = next.new.filter(|_| !prepared) {
            (self.next, self.preparing) = (Some(next), true);
            return Some(Atomic { code: ATOMIC_NEW, address: 0, operand: new });
        }
        if !self.moved(next.word) {
            self.next = Some(next);
            return None;
        }
        if self.begun == self.scenario.counted().start {
            self.outcome.from = self.counts();
        }
        self.begun += 1;
        if self.begun == self.limit && self.runs_alone() {
            self.agent.link.remember(true);
        }
        self.outcome.times.due.push(time);
        self.open = Some(next);
        Some(next.atomic)
    }

    fn changed(&mut self, time: Picoseconds, old: u64) {
        self.last = time;
        if std::mem::take(&mut self.preparing) {
            return;
        }
        let Some(Open { word, atomic, new }) = self.open.take() else {
            return self.fail("an atomic, and none is open, is done".to_owned());
        };
        let new = match atomic.code {
            ATOMIC_LOAD_ADD => {
                self.words[word].sum = self.words[word].sum.wrapping_add(atomic.operand);
                Some(old.wrapping_add(atomic.operand))
            }
            ATOMIC_SWAP => Some(atomic.operand),
            _ => new.filter(|_| old == atomic.operand),
        };
        match new {
            Some(new) => self.made(word, old, new),
            None => self.words[word].refused.push(old),
        }
        self.words[word].known = new.unwrap_or(old);
        let number = self.ended as usize;
        self.outcome.times.done[number] = time;
        self.outcome.times.known[number] = time;
        self.ended += 1;
        self.sim.count_transfers(1);
        if self.ended == self.scenario.counted().end {
            self.outcome.until = self.counts();
        }
    }
}

/// The host begins as many additions as it may.
fn host_adds(logic: &Rc<RefCell<Logic>>) {
    loop {
        let mut now = logic.borrow_mut();
        let open = now.host_begun - now.host_ended;
        if now.host_begun == now.host_limit() || open >= u64::from(now.of.host_window) {
            return;
        }
        let words = u64::from(now.of.words);
        let translator = now.agent.translator.clone();
        let still = translator.as_ref().is_none_or(|translator| translator.is_still());
        if !still || now.moves_first {
            // No addition is on its way to a page that moves.
            if !now.host_waits {
                now.host_waits = true;
                let again = Rc::clone(logic);
                now.sim.clone().after(AGAIN, move || {
                    again.borrow_mut().host_waits = false;
                    host_adds(&again);
                });
            }
            return;
        }
        let word = now.host_random.below(words) as usize;
        let operand = now.host_random.bits() | 1;
        let line = now.words[word].line;
        let physical = match &translator {
            Some(translator) => translator.physical_of(line),
            None => Some(line),
        };
        let Some(physical) = physical else {
            return now.fail(format!("word {word} has no page, and none moves"));
        };
        now.host_begun += 1;
        let (home, shared) = (Rc::clone(&now.agent.home), Rc::clone(logic));
        drop(now);
        let add = move |content: &mut Line| {
            let old = word_of(content);
            let new = old.wrapping_add(operand);
            content[..WORD_BYTES].copy_from_slice(&new.to_le_bytes());
            let mut logic = shared.borrow_mut();
            logic.made(word, old, new);
            logic.words[word].sum = logic.words[word].sum.wrapping_add(operand);
            logic.host_ended += 1;
            logic.last = logic.sim.now();
            let (sim, next) = (logic.sim.clone(), Rc::clone(&shared));
            sim.after(Picoseconds::ZERO, move || host_adds(&next));
        };
        home.access(physical, true, Box::new(add));
    }
}

/// Runs all changes of both sides, and compares memory with what they leave; with the result what the table says of
/// them, and where the time of the last one went, if the FPGA alone made any.
pub(super) fn run(
    world: &World,
    scenario: &CcixScenario,
    of: CcixUpdates,
) -> Result<(Outcome, Value, Vec<Stage>), RoadError> {
    let logic = Rc::new(RefCell::new(Logic::new(world, scenario, of)));
    AtomicPins::attach(&world.fpga, &logic)?;
    host_adds(&logic);
    let seed = scenario.seed;
    world.complete(seed, STUCK, || {
        let logic = logic.borrow();
        match &logic.wrong {
            Some(wrong) => Progress::Wrong(wrong.clone()),
            None if logic.is_done() => Progress::Done,
            None => Progress::Going {
                last: logic.last,
                ended: format!(
                    "{} of {} atomics and {} additions of the host",
                    logic.ended, logic.limit, logic.host_ended
                ),
            },
        }
    })?;
    let mut logic = logic.borrow_mut();
    let mut outcome = std::mem::take(&mut logic.outcome);
    let added = of.change == CcixChange::Add;
    for (number, word) in logic.words.iter().enumerate() {
        let last = word.last().filter(|last| !added || *last == word.sum).ok_or_else(|| {
            RoadError::Violation(format!(
                "ccix: the changes of word {number} do not follow from each other; seed {seed}"
            ))
        })?;
        if !word.changes.is_empty() {
            outcome.lines.line_mut(word.line)[..WORD_BYTES].copy_from_slice(&last.to_le_bytes());
        }
    }
    let refused: usize = logic.words.iter().map(|word| word.refused.len()).sum();
    let described = json!({
        "change": of.change.name(),
        "words": of.words,
        "in_turn": of.in_turn,
        "host_window": of.host_window,
        "fpga": logic.ended,
        "host": logic.host_ended,
        "refused": refused,
    });
    let stages = if logic.runs_alone() && world.agent.translator.is_none() {
        breakdown::stages_of_update(world, scenario, &outcome)?
    } else {
        Vec::new()
    };
    Ok((outcome, described, stages))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(changes: &[(u64, u64)], refused: &[u64]) -> Word {
        let changes = changes.iter().copied().collect();
        Word { line: 0, first: 1, known: 1, changes, refused: refused.to_vec(), sum: 1 }
    }

    #[test]
    fn changes_that_follow_from_each_other_have_an_end() {
        assert_eq!(word(&[], &[1]).last(), Some(1));
        assert_eq!(word(&[(1, 5), (9, 3), (5, 9)], &[5, 3]).last(), Some(3));
    }

    #[test]
    fn a_lost_change_or_one_from_nowhere_has_none() {
        assert_eq!(word(&[(1, 5), (6, 9)], &[]).last(), None);
        assert_eq!(word(&[(1, 5), (5, 1)], &[]).last(), None);
        assert_eq!(word(&[(1, 5)], &[7]).last(), None);
    }
}
