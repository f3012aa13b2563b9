// SPDX-License-Identifier: Apache-2.0
//! A program at each end of a coherent link, over the simulated gateware: what `isthmus_host::coherent` promises.
//!
//!     ./isthmus bench eci --driver cached --op device-read -s 128 --window 1 --print-scenario > scenario.json
//!     # or --op host-read: the memory is the FPGA's, and the host's cache has its lines
//!     # or with --homes both: each end has memory, and both ends access both at random
//!     cargo run --release -p isthmus-road --example coherent_programs -- scenario.json

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::coherent::{
    Atomic, Caching, CoherentError, FPGA_MEMORY, LINE_BYTES, Line, LineAccess, LineRequest, Node,
    Port, Region, Update,
};
use isthmus_road::eci::{CoherentLink, Homes, LinkPort, NodeProgram};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};

type Failed = Box<dyn Error>;

/// The region that both sides keep in their caches, and one that the agent does not.
const SHARED: u64 = 0;
const SHARED_BYTES: u64 = 64 << 10;
const PLAIN: u64 = SHARED + SHARED_BYTES;
const PLAIN_BYTES: u64 = 4 << 10;
/// Where in the shared region what is.
const MESSAGE: u64 = 100;
const ANSWER: u64 = 0x2000 + 3;
const WORDS: u64 = 0x4000;
/// In the plain region.
const SPLIT: u64 = 0x800;
const COUNTER: u64 = 0x5000;
/// What both sides change: the agent one word of the line by atomics, the home the one beside it.
const CHANGED: u64 = 0x5800;
/// What both sides count in at the same time: by atomics of both; by atomics of the agent, and by a load and a store of
/// the home, which is wrong. In the plain region by atomics of both at the home.
const TOGETHER: u64 = 0x7028;
const WRONG: u64 = 0x7108;
const TOGETHER_PLAIN: u64 = 0x418;
const FLUSHED: u64 = 0x6000;
const KEPT: u64 = 0x6080;
const BYTES: usize = 1000;
const UPDATES: u64 = 200;
const ROUNDS: u64 = 50;
const ATOMICS: u64 = 200;
const COUNTS: u64 = 200;
/// Longer than an atomic of the other end takes.
const BETWEEN: Picoseconds = Picoseconds(300_000);
/// About a clock and a half: the first line of a store has left, and others have not.
const BEGUN: Picoseconds = Picoseconds(5_000);
/// Longer than a line takes.
const SETTLED: Picoseconds = Picoseconds(1_000_000);
const PATIENCE: Duration = Duration::from_millis(1);
/// Numbers of interrupts: something is there; the program has ended.
const THERE: u64 = 7;
const ENDED: u64 = (1 << 40) - 1;

fn pattern(seed: u8) -> Vec<u8> {
    (0..BYTES).map(|byte| (byte * 31) as u8 ^ seed).collect()
}

async fn wait(node: &mut Node<LinkPort>, number: u64) -> Result<(), Failed> {
    match node.interrupted(PATIENCE).await? {
        Some(came) if came == number => Ok(()),
        other => Err(format!("interrupt {number} expected, not {other:?}").into()),
    }
}

async fn expect(
    node: &mut Node<LinkPort>,
    region: &Region,
    at: u64,
    must: &[u8],
) -> Result<(), Failed> {
    let mut is = vec![0; must.len()];
    node.load(region, at, &mut is).await?;
    if is == must { Ok(()) } else { Err(format!("wrong bytes at {at:#x}").into()) }
}

/// At the end with the memory.
async fn home(port: LinkPort, sim: Sim) -> Result<Vec<String>, Failed> {
    let mut node = Node::new(port);
    let shared = node.map(SHARED, SHARED_BYTES, Caching::Cached)?;
    let plain = node.map(PLAIN, PLAIN_BYTES, Caching::Cached)?;
    let mut said = Vec::new();

    // Without a flush each end loads what is in the other's cache.
    node.store(&shared, MESSAGE, &pattern(1)).await?;
    node.interrupt(THERE).await?;
    wait(&mut node, THERE).await?;
    expect(&mut node, &shared, ANSWER, &pattern(2)).await?;
    expect(&mut node, &plain, 40, &pattern(3)).await?;

    // The agent has given one of two lines up: its load does not ask the agent.
    let mut times = [0; 2];
    for (at, time) in [FLUSHED, KEPT].into_iter().zip(&mut times) {
        let begin = sim.now();
        let word = node.load64(&shared, at).await?;
        *time = (sim.now() - begin).0 / 1_000;
        if word != at {
            return Err(format!("{word:#x} at {at:#x}").into());
        }
    }
    said.push(format!("flushed ns {}", times[0]));
    said.push(format!("kept ns {}", times[1]));
    node.flush(&shared, FLUSHED, 8).await?;
    said.push(format!("after a flush {:#x}", node.load64(&shared, FLUSHED).await?));

    // It stores to other words of the line that the agent counts in.
    for round in 0..UPDATES {
        node.store64(&shared, COUNTER + 8, round).await?;
    }
    node.barrier().await?;
    wait(&mut node, THERE).await?;
    said.push(format!("counter {}", node.load64(&shared, COUNTER).await?));
    said.push(format!("beside it {}", node.load64(&shared, COUNTER + 8).await?));

    // The same with the agent's atomics, which are done in its cache: the line goes to and fro.
    let mut most = 0;
    for round in 0..ATOMICS {
        node.store64(&shared, CHANGED + 8, round).await?;
        let sum = node.load64(&shared, CHANGED).await?;
        if sum < most {
            return Err(format!("{sum} after {most}").into());
        }
        most = sum;
    }
    wait(&mut node, THERE).await?;
    said.push(format!("sum {}", node.load64(&shared, CHANGED).await?));
    said.push(format!("beside the sum {}", node.load64(&shared, CHANGED + 8).await?));
    said.push(format!("seen before its end {}", most > 0));
    let atomic = node.atomic(&shared, CHANGED, Atomic::Add(1)).await;
    said.push(format!("atomic: {}", atomic.err().map_or_else(String::new, |e| e.to_string())));

    // Both sides count in the same words at the same time.
    node.interrupt(THERE).await?;
    for _ in 0..COUNTS {
        node.update(&shared, TOGETHER, Update::Increment).await?;
        node.update(&plain, TOGETHER_PLAIN, Update::Increment).await?;
        let word = node.load64(&shared, WRONG).await?;
        sim.sleep(BETWEEN).await;
        node.store64(&shared, WRONG, word + 1).await?;
    }
    wait(&mut node, THERE).await?;
    said.push(format!("together {}", node.load64(&shared, TOGETHER).await?));
    said.push(format!("together, not cached {}", node.load64(&plain, TOGETHER_PLAIN).await?));
    said.push(format!("by a load and a store {}", node.load64(&shared, WRONG).await?));
    let swap = |expected, new| Update::CompareSwap { expected, new };
    let kept = node.update(&shared, TOGETHER, swap(1, 5)).await?;
    let gone = node.update(&shared, TOGETHER, swap(2 * COUNTS, 1000)).await?;
    let less = node.update(&shared, TOGETHER, Update::Decrement).await?;
    said.push(format!("old values {kept} {gone} {less}"));
    let begin = sim.now();
    node.update(&shared, TOGETHER, Update::Increment).await?;
    said.push(format!("update of an own line ns {}", (sim.now() - begin).0 / 1_000));
    said.push(format!("together in the end {}", node.load64(&shared, TOGETHER).await?));

    // Registers of the other end, with byte enables.
    node.io_store(0x20, &0x1122_3344_5566_7788_u64.to_le_bytes()).await?;
    node.io_store(0x23, &[0xAA, 0xBB]).await?;
    let mut bytes = [0; 8];
    node.io_load(0x20, &mut bytes).await?;
    said.push(format!("register {:#x}", u64::from_le_bytes(bytes)));

    // A round trip: a word and an interrupt to the other side, and a word and an interrupt from it.
    let begin = sim.now();
    for round in 1..=ROUNDS {
        node.store64(&shared, WORDS + 256, round).await?;
        node.interrupt(round).await?;
        wait(&mut node, round).await?;
        let back = node.load64(&shared, WORDS + 512).await?;
        if back != 3 * round {
            return Err(format!("round {round}: {back}").into());
        }
    }
    said.push(format!("round ns {}", (sim.now() - begin).0 / 1_000 / ROUNDS));
    node.interrupt(ENDED).await?;
    let silent = node.interrupted(Duration::from_micros(2)).await?;
    said.push(format!("interrupts left {silent:?}"));
    Ok(said)
}

/// At the other end.
async fn agent(port: LinkPort, sim: Sim) -> Result<Vec<String>, Failed> {
    let mut node = Node::new(port);
    let shared = node.map(SHARED, SHARED_BYTES, Caching::Cached)?;
    let plain = node.map(PLAIN, PLAIN_BYTES, Caching::Uncached)?;
    let mut said = Vec::new();

    wait(&mut node, THERE).await?;
    expect(&mut node, &shared, MESSAGE, &pattern(1)).await?;
    node.store(&shared, ANSWER, &pattern(2)).await?;
    node.store(&plain, 40, &pattern(3)).await?;
    for at in [FLUSHED, KEPT] {
        node.store64(&shared, at, at).await?;
    }
    node.flush(&shared, FLUSHED, 8).await?;
    node.barrier().await?;
    node.interrupt(THERE).await?;

    let mut last = 0;
    for _ in 0..UPDATES {
        last = node.update(&shared, COUNTER, Update::Increment).await?;
    }
    let swap = |expected, new| Update::CompareSwap { expected, new };
    let kept = node.update(&shared, COUNTER, swap(1, 5)).await?;
    let gone = node.update(&shared, COUNTER, swap(UPDATES, 1000)).await?;
    let less = node.update(&shared, COUNTER, Update::Decrement).await?;
    said.push(format!("old values {last} {kept} {gone} {less}"));
    node.interrupt(THERE).await?;

    let mut sum = 0;
    for number in 1..=ATOMICS {
        let old = node.atomic(&shared, CHANGED, Atomic::Add(number)).await?;
        if old != sum {
            return Err(format!("atomic {number}: {old} and not {sum}").into());
        }
        sum += number;
    }
    node.interrupt(THERE).await?;
    // Each function once, on a line that is now its own: its word is what the same change of a number makes.
    let swap = |expected, new| Atomic::CompareSwap { expected, new };
    let changes = [
        Atomic::Add(u64::MAX - 20),
        Atomic::SignedMin(-5),
        Atomic::SignedMax(-9),
        Atomic::Min(u64::MAX - 7),
        Atomic::Max(12),
        Atomic::Clear(0xFF),
        Atomic::Set(0x18),
        Atomic::Xor(0x81),
        swap(1, 2),
        Atomic::Swap(77),
        swap(77, 123),
    ];
    let mut word = 0;
    for how in changes {
        let old = node.atomic(&shared, CHANGED + 128 + 40, how).await?;
        if old != word {
            return Err(format!("{how:?}: {old:#x} and not {word:#x}").into());
        }
        word = how.apply(word);
    }
    said.push(format!("changed to {}", node.load64(&shared, CHANGED + 128 + 40).await?));
    let mut times = [0; 2];
    for time in &mut times {
        let begin = sim.now();
        node.atomic(&shared, CHANGED + 256, Atomic::Add(1)).await?;
        *time = (sim.now() - begin).0 / 1_000;
    }
    said.push(format!("atomic of a line of the home ns {}", times[0]));
    said.push(format!("atomic of an own line ns {}", times[1]));

    wait(&mut node, THERE).await?;
    for _ in 0..COUNTS {
        node.atomic(&shared, TOGETHER, Atomic::Add(1)).await?;
        node.update(&plain, TOGETHER_PLAIN, Update::Increment).await?;
        node.atomic(&shared, WRONG, Atomic::Add(1)).await?;
    }
    node.interrupt(THERE).await?;

    // A barrier while a store of several lines is being sent: the lines behind the barrier wait
    // for it, and none is lost.
    let store = sim.timeout(BEGUN, node.store(&plain, SPLIT, &pattern(4))).await;
    node.barrier().await?;
    sim.sleep(SETTLED).await;
    expect(&mut node, &plain, SPLIT, &pattern(4)).await?;
    said.push(format!("store cut off {}", store.is_err()));

    // Registers of the home.
    node.io_store(0x08, &[9; 8]).await?;
    let mut byte = [0];
    node.io_load(0x0F, &mut byte).await?;
    said.push(format!("register {}", byte[0]));

    let mut rounds = 0;
    loop {
        match node.interrupted(PATIENCE).await? {
            Some(ENDED) => break,
            Some(round) => {
                let word = node.load64(&shared, WORDS + 256).await?;
                if word != round {
                    return Err(format!("round {round}: {word}").into());
                }
                node.store64(&shared, WORDS + 512, 3 * word).await?;
                node.interrupt(round).await?;
                rounds += 1;
            }
            None => return Err("no interrupt".into()),
        }
    }
    said.push(format!("rounds {rounds}"));
    let outside: Result<Region, CoherentError> = node.map(64, 128, Caching::Cached);
    said.push(outside.err().map_or_else(String::new, |error| error.to_string()));
    Ok(said)
}

/// Lines of each memory that both ends access: many of few sets, so that caches evict them.
const LINES: u64 = 72;
const LINE_SETS: u64 = 6;
const ALL_SETS: u64 = 64;
/// So many groups of accesses of each end, each of at most so many lines at once.
const GROUPS: u64 = 700;
const AT_ONCE: u64 = 24;
/// Every so many lines one that the end without the memory does not cache.
const UNCACHED: u64 = 8;
/// Words of a line: each end stores to one of its own, and the end without the memory counts in a third.
const STORED: [usize; 2] = [0, 8];
const COUNTED: usize = 3;
/// Both ends count in it.
const TOGETHER_WORD: usize = 5;

/// What is known of a word: the last value stored, and the last one whose store has been answered.
#[derive(Clone, Copy, Default)]
struct Word {
    stored: u64,
    answered: u64,
}

/// What both ends have done with each line.
#[derive(Default)]
struct Board {
    /// By line: the host's word, the FPGA's, the one that is counted in.
    lines: BTreeMap<u64, [Word; 3]>,
    /// By line: the old values of the word that both ends count in.
    counted: BTreeMap<u64, BTreeSet<u64>>,
    /// Ends that access nothing more.
    ended: usize,
    checked: u64,
    /// Words of the other end that were loaded while it stored to them, or newer than known to be stored.
    raced: u64,
}

/// A line of the traffic: of the host's memory, or of the FPGA's.
fn line_of(number: u64) -> (bool, u64) {
    let (fpga, at) = (number >= LINES, number % LINES);
    let memory = if fpga { FPGA_MEMORY / LINE_BYTES as u64 } else { 0 };
    (fpga, memory + at % LINE_SETS + at / LINE_SETS * ALL_SETS)
}

fn word_of(line: &Line, word: usize) -> u64 {
    line[8 * word..8 * word + 8].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

/// A store to a line's word.
fn store(caching: Caching, word: usize, value: u64) -> LineAccess {
    let mut line = [0; LINE_BYTES];
    line[8 * word..8 * word + 8].copy_from_slice(&value.to_le_bytes());
    LineAccess::Store(caching, 0xFF << (8 * word), Box::new(line))
}

/// Random accesses of both memories. A load of a word gives a value that is no older than the last one whose store was
/// answered before the load began, and none that is not yet stored; this end's own words exactly.
async fn traffic(
    mut port: LinkPort,
    sim: Sim,
    at_fpga: bool,
    board: Rc<RefCell<Board>>,
) -> Result<Vec<String>, Failed> {
    let mut random = RandomStream::new(7, if at_fpga { "traffic:fpga" } else { "traffic:host" });
    let (me, other) = (usize::from(at_fpga), usize::from(!at_fpga));
    let mut counts = BTreeMap::<&str, u64>::new();
    let mut groups = 0;
    // In the end all lines are loaded once more, when nothing is stored.
    while groups < GROUPS || board.borrow().ended < 2 {
        let last = groups >= GROUPS;
        if groups == GROUPS {
            board.borrow_mut().ended += 1;
        }
        groups += 1;
        if last && board.borrow().ended < 2 {
            sim.sleep(SETTLED).await;
            continue;
        }
        let chosen: BTreeSet<u64> = match last {
            true => (0..2 * LINES).collect(),
            false => {
                (0..1 + random.bits() % AT_ONCE).map(|_| random.bits() % (2 * LINES)).collect()
            }
        };
        let mut requests = Vec::new();
        let mut known = Vec::new();
        for number in chosen {
            let (fpga, line) = line_of(number);
            let far = fpga != at_fpga;
            let caching = match far && number % UNCACHED == UNCACHED - 1 {
                true => Caching::Uncached,
                false => Caching::Cached,
            };
            let mut all = board.borrow_mut();
            let words = all.lines.entry(line).or_default();
            let before = *words;
            let add = |word| match far && caching == Caching::Cached {
                true => LineAccess::Atomic { word, how: Atomic::Add(1) },
                false => LineAccess::Update { word, how: Update::Increment },
            };
            let (what, access) = match random.bits() % 9 {
                _ if last => ("load", LineAccess::Load(caching)),
                0..3 => ("load", LineAccess::Load(caching)),
                3..6 => {
                    words[me].stored += 1;
                    ("store", store(caching, STORED[me], words[me].stored))
                }
                6 => ("together", add(TOGETHER_WORD)),
                7 if caching == Caching::Cached => ("flush", LineAccess::Flush),
                _ if far && caching == Caching::Uncached => {
                    words[2].stored += 1;
                    ("update", add(COUNTED))
                }
                _ if far => {
                    words[2].stored += 1;
                    ("atomic", add(COUNTED))
                }
                _ => ("load", LineAccess::Load(caching)),
            };
            *counts.entry(what).or_default() += 1;
            known.push((line, what, far && caching == Caching::Cached, far, before));
            requests.push(LineRequest { line, access });
        }
        let lines = port.access(requests).await?;
        let mut all = board.borrow_mut();
        let Board { lines: known_now, counted, checked, raced, .. } = &mut *all;
        for ((line, what, in_cache, far, before), came) in known.into_iter().zip(lines) {
            let now = known_now.entry(line).or_default();
            let mut check = |name: &str, is: u64, least: u64, most: u64| {
                *checked += 1;
                *raced += u64::from(least < most);
                match (least..=most).contains(&is) {
                    true => Ok(()),
                    false => {
                        Err(format!("{what} of line {line:#x}: {name} {is} of {least} to {most}"))
                    }
                }
            };
            let counted = counted.entry(line).or_default();
            if what == "together" {
                let old = word_of(&came, if in_cache { TOGETHER_WORD } else { 0 });
                if !counted.insert(old) {
                    return Err(format!("line {line:#x}: two atomics found {old}").into());
                }
            }
            if last {
                let count = counted.len() as u64;
                check("count of both", word_of(&came, TOGETHER_WORD), count, count)?;
            }
            if matches!(what, "load" | "atomic") {
                // What this end has stored or counted before this group is there exactly.
                check(
                    "own word",
                    word_of(&came, STORED[me]),
                    before[me].stored,
                    before[me].stored,
                )?;
                let theirs = word_of(&came, STORED[other]);
                check("other's word", theirs, before[other].answered, now[other].stored)?;
                let most = if far { before[2].stored } else { now[2].stored };
                let least = if far { most } else { before[2].answered };
                check("count", word_of(&came, COUNTED), least, most)?;
                // What was seen once is not undone.
                now[other].answered = now[other].answered.max(theirs);
            } else if what == "update" {
                check("old count", word_of(&came, 0), before[2].stored, before[2].stored)?;
            }
            if what == "store" {
                now[me].answered = now[me].stored;
            }
            if far {
                now[2].answered = now[2].stored;
            }
        }
        if last {
            break;
        }
    }
    Ok(counts.into_iter().map(|(what, count)| format!("{what} {count}")).collect())
}

fn main() -> Result<(), Failed> {
    let path = std::env::args().nth(1).ok_or("usage: coherent_programs SCENARIO.json")?;
    let link = CoherentLink::build(&std::fs::read_to_string(path)?)?;
    let host = link.host().ok_or("the host's port is taken")?;
    let fpga = link.fpga().ok_or("the FPGA's port is taken")?;
    let board = Rc::new(RefCell::new(Board::default()));
    let programs: Vec<NodeProgram<Vec<String>, Failed>> = match link.homes() {
        Homes::Both => vec![
            Box::pin(traffic(host, link.sim(), false, Rc::clone(&board))),
            Box::pin(traffic(fpga, link.sim(), true, Rc::clone(&board))),
        ],
        Homes::Fpga => {
            vec![Box::pin(home(fpga, link.sim())), Box::pin(agent(host, link.sim()))]
        }
        Homes::Host => {
            vec![Box::pin(home(host, link.sim())), Box::pin(agent(fpga, link.sim()))]
        }
    };
    let names = if link.homes() == Homes::Both { ["host", "fpga"] } else { ["home", "agent"] };
    for (name, said) in names.into_iter().zip(link.run(programs)?) {
        said.iter().for_each(|line| println!("{name}: {line}"));
    }
    let (checked, raced) = (board.borrow().checked, board.borrow().raced);
    println!("words checked: {checked}");
    println!("of them raced: {raced}");
    println!("bad blocks: {}", link.counters()?["host.bad"] + link.counters()?["fpga.bad"]);
    Ok(())
}
