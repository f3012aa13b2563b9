// SPDX-License-Identifier: Apache-2.0
//! Breakdown of the observed transfer's latency, from the lanes' records and the devices' probes.

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{DeviceHandle, ProbeRecord};
use isthmus_sim::world::blocks::BlockRecord;

use super::program::Outcome;
use super::scenario::{EciDriver, EciScenario};
use super::world::World;
use crate::error::RoadError;
use crate::measurement::Stage;
use crate::stages::Way;

/// Virtual circuits of loads and of stores from the end that asks, and of lines from their home.
const LOADS: [u32; 2] = [6, 7];
const STORES: [u32; 2] = [2, 3];
const LINES: [u32; 2] = [4, 5];
/// Of I/O requests and answers, of interrupts, of what ends a barrier.
const IO: [u32; 2] = [0, 0];
const IO_ANSWERS: [u32; 2] = [1, 1];
const INTERRUPTS: [u32; 2] = [12, 12];
const ACKS: [u32; 2] = [10, 11];
const NUMBERED: [u32; 2] = [0b100, 0b101];

/// Whether a block carries a word of one of two virtual circuits.
fn carries(record: &BlockRecord, circuits: [u32; 2]) -> bool {
    let [low, high] = [record.block[14], record.block[15]];
    if !NUMBERED.contains(&(high >> 29)) {
        return false;
    }
    // Seven circuits of 4 bits, above the 24 bits of the check.
    let fields = (u64::from(high) << 32 | u64::from(low)) >> 24;
    (0..7).any(|word| circuits.contains(&((fields >> (4 * word)) as u32 & 0xF)))
}

struct Seen<'a> {
    probes: &'a [ProbeRecord],
    begin: Picoseconds,
}

impl Seen<'_> {
    /// The strobes of a stage since the transfer's begin, with their tags.
    fn of(&self, device: &DeviceHandle, stage: &str) -> Vec<(Picoseconds, u8)> {
        let number = device.stages().iter().position(|name| name == stage);
        let mine = |one: &&ProbeRecord| {
            one.device == device.index()
                && Some(usize::from(one.stage)) == number
                && one.time >= self.begin
        };
        self.probes.iter().filter(mine).map(|one| (one.time, one.tag)).collect()
    }
}

/// Accesses of memory for the transfer's first line, until the home's answer: when memory took each, and when
/// its answer was taken.
fn accesses(
    seen: &Seen<'_>,
    home: &DeviceHandle,
    until: Picoseconds,
) -> Vec<(Picoseconds, Picoseconds)> {
    let loads = seen.of(home, "LookedUp");
    let Some(tag) = loads.first().map(|one| one.1) else { return Vec::new() };
    let mut taken: Vec<_> = loads.into_iter().chain(seen.of(home, "Stored")).collect();
    taken.sort_unstable();
    let answers = seen.of(home, "Answered");
    let mine = |list: Vec<(Picoseconds, u8)>| {
        list.into_iter().filter(|one| one.1 == tag).map(|one| one.0).collect::<Vec<_>>()
    };
    let pairs = mine(taken).into_iter().zip(mine(answers));
    pairs.filter(|(taken, answered)| taken <= answered && *answered <= until).collect()
}

/// Stages of the observed transfer, which ran alone.
pub(super) fn stages(
    world: &World,
    scenario: &EciScenario,
    outcome: &Outcome,
) -> Result<Vec<Stage>, RoadError> {
    if !scenario.faults.is_empty() || scenario.workload.beside.is_some() {
        // A block that is sent again has no one way, and what is done beside others is not alone.
        return Ok(Vec::new());
    }
    let missing = || RoadError::Inconsistent("eci: the observed transfer left no trace".to_owned());
    let begin = *outcome.times.due.last().ok_or_else(missing)?;
    let end = *outcome.times.done.last().ok_or_else(missing)?;
    let probes = world.simulation.probes().since(0);
    let seen = Seen { probes: &probes, begin };
    let [to_host, to_fpga] = world.lanes.each_ref().map(|lanes| {
        // Of both links, in the order in which they were taken.
        let records = lanes.iter().flat_map(|lanes| lanes.borrow().records().to_vec());
        let mut records: Vec<_> = records.collect();
        records.sort_by_key(|one| (one.taken, one.arrived));
        records
    });
    if scenario.words() {
        return words(scenario, begin, end, &to_host, &to_fpga);
    }
    let tags = |stage| {
        let mut tags: Vec<_> =
            seen.of(world.agent(scenario), stage).iter().map(|one| one.1).collect();
        tags.sort_unstable();
        tags
    };
    if tags("Accepted") != tags("Completed") {
        let reason = "eci: probes have other responses than requests";
        return Err(RoadError::Inconsistent(reason.to_owned()));
    }
    let first = |device, stage| seen.of(device, stage).first().map(|one| one.0);
    let mut way = Way::new(begin);
    let [near, far] = scenario.places();
    let (asks, answers) = match scenario.home_at_fpga() {
        true => (&to_fpga, &to_host),
        false => (&to_host, &to_fpga),
    };
    let core = scenario.core();
    // Of a store without a cache the last stage is memory.
    let back = if scenario.writes() && scenario.workload.driver == EciDriver::Uncached {
        Picoseconds::ZERO
    } else {
        core
    };
    if core > Picoseconds::ZERO {
        way.until(near, "core", begin + core)?;
    }
    let agent = |stage| first(world.agent(scenario), stage).ok_or_else(missing);
    let axi = scenario.over_axi();
    if axi {
        way.until(near, "task taken", agent("Taken")?)?;
        let wrote = scenario.writes() || scenario.updates();
        let began = if wrote { "Wrote" } else { "Asked" };
        way.until(near, "AXI master", agent(began)?)?;
    } else {
        way.until(near, "request taken", agent("Accepted")?)?;
    }
    let driver = scenario.workload.driver;
    let cache = if axi { "port, cache" } else { "cache" };
    if driver == EciDriver::CachedHit && axi {
        let answered = if scenario.writes() { "Stored" } else { "Read" };
        way.until(near, cache, agent(answered)?)?;
        way.until(near, "AXI master", end)?;
    } else if driver == EciDriver::CachedHit {
        way.until(near, cache, end - back)?;
    } else if driver == EciDriver::Uncached && scenario.writes() {
        let stored = seen.of(world.home(scenario), "Stored");
        lanes(&mut way, near, "pack", asks, STORES).ok_or_else(missing)??;
        way.until(far, "check, collect, look up", stored.last().ok_or_else(missing)?.0)?;
        way.until(far, "memory", end)?;
    } else {
        let cached = matches!(driver, EciDriver::Cached | EciDriver::CachedDirty);
        if cached {
            way.until(near, cache, agent("Requested")?)?;
        }
        let asked = asks.iter().find(|one| one.taken >= begin && carries(one, LOADS));
        let asked = std::slice::from_ref(asked.ok_or_else(missing)?);
        lanes(&mut way, near, "pack", asked, LOADS).ok_or_else(missing)??;
        let answer = answers.iter().find(|one| one.taken >= begin && carries(one, LINES));
        let accesses = accesses(&seen, world.home(scenario), answer.ok_or_else(missing)?.taken);
        for (number, (taken, answered)) in accesses.iter().enumerate() {
            way.until(far, if number == 0 { "check, look up" } else { "change" }, *taken)?;
            way.until(far, "memory", *answered)?;
        }
        let pack = match (cached, accesses.is_empty()) {
            (_, true) => "check, look up, pack",
            (true, false) => "grant, pack",
            (false, false) => "pack",
        };
        lanes(&mut way, far, pack, answers, LINES).ok_or_else(missing)??;
        let last = match (cached, axi) {
            (true, true) => "check, collect, cache, port",
            (true, false) => "check, collect, cache",
            (false, _) => "check, collect",
        };
        way.until(near, last, end - back)?;
    }
    if back > Picoseconds::ZERO {
        way.until(near, "core", end)?;
    }
    way.finish(end)
}

/// Stages of an I/O access, an interrupt or a barrier.
fn words(
    scenario: &EciScenario,
    begin: Picoseconds,
    end: Picoseconds,
    to_host: &[BlockRecord],
    to_fpga: &[BlockRecord],
) -> Result<Vec<Stage>, RoadError> {
    let missing = || RoadError::Inconsistent("eci: the observed word left no trace".to_owned());
    // All registers are read afterwards.
    let within = |records: &[BlockRecord]| -> Vec<_> {
        records.iter().filter(|one| begin <= one.taken && one.taken < end).copied().collect()
    };
    let (to_host, to_fpga) = (&within(to_host), &within(to_fpga));
    let core = Picoseconds::from_ns_f64(scenario.platform.core_ns);
    let driver = scenario.workload.driver;
    let (near, far, out, back) = match scenario.by_host() {
        true => ("host", "fpga", to_fpga, to_host),
        false => ("fpga", "host", to_host, to_fpga),
    };
    let (asks, answers) = match driver {
        EciDriver::Io if scenario.reads_words() => (IO, Some(IO_ANSWERS)),
        EciDriver::Io => (IO, None),
        EciDriver::Barrier => (LOADS, Some(ACKS)),
        _ => (INTERRUPTS, None),
    };
    let mut way = Way::new(begin);
    if near == "host" {
        way.until("host", "core", begin + core)?;
    }
    lanes(&mut way, near, "issue, pack", out, asks).ok_or_else(missing)??;
    let last = match answers {
        Some(circuits) => {
            lanes(&mut way, far, "check, answer, pack", back, circuits).ok_or_else(missing)??;
            near
        }
        None => far,
    };
    let at_core = last == "host";
    way.until(last, "check", if at_core { end - core } else { end })?;
    if at_core {
        way.until("host", "core", end)?;
    }
    way.finish(end)
}

/// Time on the lanes, from the first block with a word of these circuits to the last; `None`: no such block.
fn lanes(
    way: &mut Way,
    from: &str,
    before: &str,
    records: &[BlockRecord],
    circuits: [u32; 2],
) -> Option<Result<(), RoadError>> {
    let blocks = || records.iter().filter(|one| carries(one, circuits));
    let first = blocks().next()?;
    let last = blocks().max_by_key(|one| one.arrived)?;
    let marks = [
        (from, before, first.taken),
        ("wire", "bits", last.sent),
        ("wire", "transceivers and traces", last.arrived),
    ];
    Some(marks.into_iter().try_for_each(|(place, name, time)| way.until(place, name, time)))
}
