// SPDX-License-Identifier: Apache-2.0
//! Both ends of the link for programs of one's own.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::coherent::{
    Atomic, Caching, FPGA_MEMORY, Features, LineAccess, LineRequest, Memory, Port, Update,
};
use isthmus_host::transport::TransportError;
use isthmus_sim::kernel::{
    DeviceHandle, OneshotSender, Receiver, Sender, Sim, SimError, channel, oneshot,
};
use isthmus_sim::world::lines::{
    self, LINE_BYTES, Line, LineAtomic, LineKind, LineUser, LineUserPins,
};
use isthmus_sim::world::words::{WordEvent, WordKind, WordPins, WordRequest, WordUser};
use isthmus_sim::{Picoseconds, Simulation};

use super::scenario::{EciScenario, WORD_BYTES};
use super::world::World;
use crate::error::RoadError;
use crate::model::MakeModel;
use crate::together::try_all;

/// Interrupts that no program has taken: more are an error.
const MOST_INTERRUPTS: usize = 4_096;
/// The number of the first line of the FPGA's memory, where the host has some too.
const FPGA_LINE: u64 = FPGA_MEMORY / LINE_BYTES as u64;
/// Words of a line.
const LINE_WORDS: usize = LINE_BYTES / WORD_BYTES;
/// Bits of an atomic at the pins.
const ATOMIC_BITS: u32 = 15;
/// I/O accesses that the gateware keeps open.
const WORD_TAGS: u8 = 32;

/// The gateware of both ends, the lanes between them and memory at one of them or at both, simulated, for a program at
/// each end.
///
/// It is made from a scenario with a driver through the FPGA's cache; of its workload only `links`, `policy` and `homes`
/// count, and where that is one, whose memory it is: the host's of `device-read`, the FPGA's of `host-read`.
/// `isthmus bench eci --driver cached --print-scenario` prints one, with its models built.
pub struct CoherentLink {
    world: World,
    homes: Homes,
    host: RefCell<Option<LinkPort>>,
    fpga: RefCell<Option<LinkPort>>,
}

/// Whose memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Homes {
    /// The host's, from address 0 on.
    Host,
    /// The FPGA's, from address 0 on.
    Fpga,
    /// Each end has some: the host's from address 0 on, the FPGA's from `FPGA_MEMORY` on.
    Both,
}

impl Homes {
    const fn of(self, fpga: bool) -> bool {
        match self {
            Self::Host => !fpga,
            Self::Fpga => fpga,
            Self::Both => true,
        }
    }

    /// The number of the first line of the FPGA's memory, or of the host's.
    const fn first(self, fpga: bool) -> u64 {
        match self {
            Self::Both if fpga => FPGA_LINE,
            _ => 0,
        }
    }
}

/// A program at one end.
pub type NodeProgram<T, E> = Pin<Box<dyn Future<Output = Result<T, E>>>>;

impl CoherentLink {
    /// Loads the models that the scenario names, clears memory, and runs until all links are up.
    ///
    /// # Errors
    /// The scenario is invalid or has no caches, a model cannot be loaded, or a link does not come up.
    pub fn build(scenario: &str) -> Result<Self, RoadError> {
        Self::of(&EciScenario::parse(scenario)?, &crate::load)
    }

    pub(super) fn of(scenario: &EciScenario, make_model: MakeModel<'_>) -> Result<Self, RoadError> {
        if !scenario.has_caches() {
            let name = scenario.workload.driver.name();
            let reason = format!("{name} has no caches; expected cached");
            return Err(RoadError::scenario("workload.driver", reason));
        }
        let world = World::build(scenario, make_model)?;
        world.start()?;
        for memory in [false, true].into_iter().filter_map(|fpga| world.memory(fpga)) {
            memory.borrow_mut().clear();
        }
        let sim = world.simulation.handle();
        let lines = scenario.memory_lines();
        let core = Picoseconds::from_ns_f64(scenario.platform.core_ns);
        let homes = match (scenario.both_homes(), scenario.home_at_fpga()) {
            (true, _) => Homes::Both,
            (false, true) => Homes::Fpga,
            (false, false) => Homes::Host,
        };
        let port = |device: &DeviceHandle, at_fpga: bool, core| {
            let atomics = device.input("lines_req_atomic_i", ATOMIC_BITS).is_ok();
            let memory = |fpga: bool| {
                let far = fpga != at_fpga;
                let features = Features { uncached: far, updates: true, atomics: far && atomics };
                homes.of(fpga).then_some(Memory { first: homes.first(fpga), lines, features })
            };
            let memories = [false, true].into_iter().filter_map(memory).collect();
            // The host's memory has a core's way in its latency.
            let far_from = match (at_fpga, homes) {
                (false, Homes::Both | Homes::Fpga) => homes.first(true),
                _ => u64::MAX,
            };
            LinkPort::attach(&sim, device, memories, core, far_from)
        };
        let host = port(&world.host, false, core)?;
        let fpga = port(&world.fpga, true, Picoseconds::ZERO)?;
        let [host, fpga] = [host, fpga].map(|port| RefCell::new(Some(port)));
        Ok(Self { world, homes, host, fpga })
    }

    /// Whose memory it is. Both ends have updates of its words, the other end atomics in its cache.
    #[must_use]
    pub fn homes(&self) -> Homes {
        self.homes
    }

    /// The port of a core of the host; there is one.
    pub fn host(&self) -> Option<LinkPort> {
        self.host.borrow_mut().take()
    }

    /// The port of the FPGA's logic; there is one.
    pub fn fpga(&self) -> Option<LinkPort> {
        self.fpga.borrow_mut().take()
    }

    /// The simulated time, sleeping and spawning.
    #[must_use]
    pub fn sim(&self) -> Sim {
        self.world.simulation.handle()
    }

    /// The simulation.
    #[must_use]
    pub fn simulation(&self) -> &Simulation {
        &self.world.simulation
    }

    /// What is in memory itself, whatever caches have of it; takes no simulated time. None behind its end.
    #[must_use]
    pub fn peek(&self, line: u64) -> Option<Line> {
        let fpga = self.homes == Homes::Fpga || line >= FPGA_LINE;
        let at = usize::try_from(line.checked_sub(self.homes.first(fpga))?).ok()?;
        self.world.memory(fpga)?.borrow().lines().get(at).copied()
    }

    /// The counters of both ends.
    ///
    /// # Errors
    /// When a device broke its contract.
    pub fn counters(&self) -> Result<BTreeMap<String, u64>, RoadError> {
        self.world.counters()
    }

    /// Runs programs side by side until all have ended, or the first has failed.
    ///
    /// # Errors
    /// The first one's that failed, or what went wrong in the simulation.
    pub fn run<T: 'static, E: From<SimError> + 'static>(
        &self,
        programs: Vec<NodeProgram<T, E>>,
    ) -> Result<Vec<T>, E> {
        let all = self.world.simulation.spawn(try_all(programs));
        self.world.simulation.run_until_complete(&all)?
    }
}

/// A request for a line, without its tag, and the receiver of the answer.
type Asked<R, A> = (R, OneshotSender<A>);

struct Lines {
    /// From when on each is at the pins.
    waiting: VecDeque<(Picoseconds, Asked<lines::LineRequest, Line>)>,
    tags: VecDeque<u8>,
    open: BTreeMap<u8, OneshotSender<Line>>,
    sim: Sim,
}

/// Ends the simulation: the gateware has answered with a tag that no request has.
fn unasked(sim: &Sim, signal: &str, tag: u8) {
    sim.fail(SimError::Pin {
        device: "eci".to_owned(),
        signal: signal.to_owned(),
        at: sim.now(),
        reason: format!("{tag}, which no open request has"),
    });
}

impl LineUser for Lines {
    fn offer(&mut self, time: Picoseconds) -> Option<lines::LineRequest> {
        let tag = self.tags.front().copied()?;
        self.waiting.front().filter(|(due, _)| *due <= time)?;
        let (_, (request, answer)) = self.waiting.pop_front()?;
        self.tags.pop_front();
        self.open.insert(tag, answer);
        Some(lines::LineRequest { tag, ..request })
    }

    fn response(&mut self, _: Picoseconds, tag: u8, line: &Line) {
        let Some(answer) = self.open.remove(&tag) else {
            return unasked(&self.sim, "lines_rsp_tag_o", tag);
        };
        self.tags.push_back(tag);
        // A program that has ended waits no more.
        let _ = answer.send(*line);
    }
}

struct Words {
    waiting: VecDeque<Asked<WordRequest, u64>>,
    tags: VecDeque<u8>,
    open: BTreeMap<u8, OneshotSender<u64>>,
    interrupts: Sender<u64>,
    sim: Sim,
}

impl WordUser for Words {
    fn offer(&mut self, _: Picoseconds) -> Option<WordRequest> {
        let tag = self.tags.front().copied()?;
        let (request, answer) = self.waiting.pop_front()?;
        if request.kind == WordKind::Interrupt {
            let _ = answer.send(0);
        } else {
            self.tags.pop_front();
            self.open.insert(tag, answer);
        }
        Some(WordRequest { tag, ..request })
    }

    fn response(&mut self, _: Picoseconds, tag: u8, data: u64) {
        let Some(answer) = self.open.remove(&tag) else {
            return unasked(&self.sim, "io_rsp_tag_o", tag);
        };
        self.tags.push_back(tag);
        let _ = answer.send(data);
    }

    fn event(&mut self, _: Picoseconds, event: WordEvent) {
        if let WordEvent::Interrupt(number) = event
            && self.interrupts.try_send(number).is_err()
        {
            let reason = format!("{MOST_INTERRUPTS} interrupts wait, and no program takes them");
            self.sim.fail(SimError::Config { model: "eci".to_owned(), reason });
        }
    }
}

/// A node's port at simulated gateware.
pub struct LinkPort {
    sim: Sim,
    memories: Vec<Memory>,
    /// From the program to the link's logic, and back: of words, and of lines from this one on.
    core: Picoseconds,
    far_from: u64,
    lines: Rc<RefCell<Lines>>,
    words: Rc<RefCell<Words>>,
    interrupts: Receiver<u64>,
}

fn gone() -> TransportError {
    TransportError::Other("the simulation has ended".to_owned())
}

impl LinkPort {
    fn attach(
        sim: &Sim,
        device: &DeviceHandle,
        memories: Vec<Memory>,
        core: Picoseconds,
        far_from: u64,
    ) -> Result<Self, RoadError> {
        let (send, interrupts) = channel(MOST_INTERRUPTS);
        let lines = Lines {
            waiting: VecDeque::new(),
            tags: (0..=u8::MAX).collect(),
            open: BTreeMap::new(),
            sim: sim.clone(),
        };
        let words = Words {
            waiting: VecDeque::new(),
            tags: (0..WORD_TAGS).collect(),
            open: BTreeMap::new(),
            interrupts: send,
            sim: sim.clone(),
        };
        let (lines, words) = (Rc::new(RefCell::new(lines)), Rc::new(RefCell::new(words)));
        LineUserPins::attach(device, &lines)?;
        WordPins::attach(device, &words)?;
        let sim = sim.clone();
        Ok(Self { sim, memories, core, far_from, lines, words, interrupts })
    }

    async fn word(
        &self,
        kind: WordKind,
        address: u64,
        mask: u8,
        data: u64,
    ) -> Result<u64, TransportError> {
        self.sim.sleep(self.core).await;
        let (answer, came) = oneshot();
        let request = WordRequest { kind, address, mask, tag: 0, data };
        self.words.borrow_mut().waiting.push_back((request, answer));
        let word = came.recv().await.ok_or_else(gone)?;
        if kind != WordKind::Interrupt {
            self.sim.sleep(self.core).await;
        }
        Ok(word)
    }
}

/// A request as the gateware takes it.
fn at_pins(request: &LineRequest) -> lines::LineRequest {
    let caching = |caching: Caching| match caching {
        Caching::Cached => LineKind::Cached,
        Caching::Uncached => LineKind::Uncached,
    };
    let (kind, store) = match &request.access {
        LineAccess::Load(how) => (caching(*how), None),
        LineAccess::Store(how, mask, line) => (caching(*how), Some((*mask, **line))),
        LineAccess::Flush => (LineKind::Evict, None),
        LineAccess::Update { word, how } => {
            let mut line = [0; LINE_BYTES];
            let kind = match how {
                Update::Increment => LineKind::Increment,
                Update::Decrement => LineKind::Decrement,
                Update::CompareSwap { expected, new } => {
                    line[..8].copy_from_slice(&expected.to_le_bytes());
                    line[8..16].copy_from_slice(&new.to_le_bytes());
                    LineKind::Swap
                }
            };
            (kind, Some((0xFF << (8 * (word % 16)), line)))
        }
        LineAccess::Atomic { word, how } => (LineKind::Cached, Some((0, operands(*word, *how)))),
    };
    let atomic = match &request.access {
        LineAccess::Atomic { word, how } => Some(LineAtomic {
            function: function(*how),
            size: 3,
            offset: (word % LINE_WORDS * WORD_BYTES) as u8,
        }),
        _ => None,
    };
    lines::LineRequest { kind, index: request.line, tag: 0, store, atomic }
}

/// Codes of AXI5, and of a swap and a compare.
const fn function(how: Atomic) -> u8 {
    match how {
        Atomic::Add(_) => 0,
        Atomic::Clear(_) => 1,
        Atomic::Xor(_) => 2,
        Atomic::Set(_) => 3,
        Atomic::SignedMax(_) => 4,
        Atomic::SignedMin(_) => 5,
        Atomic::Max(_) => 6,
        Atomic::Min(_) => 7,
        Atomic::Swap(_) => 8,
        Atomic::CompareSwap { .. } => 9,
    }
}

/// A line with the operand where the word is; a new value that is compared for is in the other half of its block.
fn operands(word: usize, how: Atomic) -> Line {
    let (operand, new) = match how {
        Atomic::Add(one)
        | Atomic::Clear(one)
        | Atomic::Xor(one)
        | Atomic::Set(one)
        | Atomic::Max(one)
        | Atomic::Min(one)
        | Atomic::Swap(one) => (one, None),
        Atomic::SignedMax(one) | Atomic::SignedMin(one) => (one.cast_unsigned(), None),
        Atomic::CompareSwap { expected, new } => (expected, Some(new)),
    };
    let mut line = [0; LINE_BYTES];
    let at = word % LINE_WORDS;
    for (at, value) in std::iter::once((at, operand)).chain(new.map(|new| (at ^ 1, new))) {
        line[at * WORD_BYTES..][..WORD_BYTES].copy_from_slice(&value.to_le_bytes());
    }
    line
}

impl Port for LinkPort {
    fn memories(&self) -> Vec<Memory> {
        self.memories.clone()
    }

    async fn access(&mut self, requests: Vec<LineRequest>) -> Result<Vec<Line>, TransportError> {
        let mut answers = Vec::with_capacity(requests.len());
        for request in &requests {
            let (answer, came) = oneshot();
            let far = request.line >= self.far_from;
            let due = self.sim.now() + if far { self.core } else { Picoseconds::ZERO };
            self.lines.borrow_mut().waiting.push_back((due, (at_pins(request), answer)));
            answers.push(came);
        }
        let mut lines = Vec::with_capacity(answers.len());
        for came in answers {
            lines.push(came.recv().await.ok_or_else(gone)?);
        }
        let far = requests.iter().any(|request| request.line >= self.far_from);
        if far && self.core > Picoseconds::ZERO {
            self.sim.sleep(self.core).await;
        }
        Ok(lines)
    }

    async fn load_register(&mut self, address: u64) -> Result<u64, TransportError> {
        self.word(WordKind::Load, address, 0xFF, 0).await
    }

    async fn store_register(
        &mut self,
        address: u64,
        mask: u8,
        word: u64,
    ) -> Result<(), TransportError> {
        self.word(WordKind::Store, address, mask, word).await.map(|_| ())
    }

    async fn barrier(&mut self) -> Result<(), TransportError> {
        self.word(WordKind::Barrier, 0, 0, 0).await.map(|_| ())
    }

    async fn interrupt(&mut self, number: u64) -> Result<(), TransportError> {
        self.word(WordKind::Interrupt, number, 0, 0).await.map(|_| ())
    }

    async fn interrupted(&mut self, within: Duration) -> Result<Option<u64>, TransportError> {
        let limit = u64::try_from(within.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1_000);
        match self.sim.timeout(Picoseconds(limit), self.interrupts.recv()).await {
            Ok(Some(number)) => {
                self.sim.sleep(self.core).await;
                Ok(Some(number))
            }
            Ok(None) => Err(gone()),
            Err(_) => Ok(None),
        }
    }
}
