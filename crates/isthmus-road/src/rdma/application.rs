// SPDX-License-Identifier: Apache-2.0
//! Programs of all hosts together: a personalised exchange, and a sort that overlaps computing and sending.

use std::rc::Rc;
use std::time::Duration;

use isthmus_host::rdma::{Group, GroupConfig, HostId, Phases, RdmaError, Window};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};
use isthmus_sim::world::host::MmioHost;

use super::program::{ProgramOutcome, Task};
use super::scenario::memory::{Layout, SOURCE_SPARE};
use super::scenario::{RdmaScenario, RdmaTest};
use super::sort::{SortError, sort};
use super::world::{Program, World};
use crate::error::RoadError;
use crate::together::try_all;

/// The queue and the region entry of the group.
const QUEUE: u8 = 1;
const REGION: u8 = 60;
const SLOT: usize = 512;
const BEAT: usize = 8;

struct Member {
    sim: Sim,
    host: MmioHost,
    number: HostId,
    program: Program,
    group: Group,
    scenario: Rc<RdmaScenario>,
    layout: Layout,
    sources: Vec<Rc<Vec<u8>>>,
}

fn failed(host: HostId, during: &'static str) -> impl Fn(RdmaError) -> RoadError {
    move |source| RoadError::of_host(host, during, source)
}

fn picoseconds(span: Duration) -> Picoseconds {
    Picoseconds::from_ns(span.as_nanos() as u64)
}

/// What came of it, and the slowest host's phases.
pub(super) type Done = (Vec<ProgramOutcome>, Phases);

/// Runs the application on all hosts.
pub(super) fn run(
    world: &World,
    scenario: &RdmaScenario,
    programs: Vec<Program>,
) -> Result<Done, RoadError> {
    let sim = world.simulation.handle();
    let layout = world.layout;
    let hosts = scenario.workload.hosts;
    let opening = programs.into_iter().enumerate().map(|(number, mut program)| {
        let config = GroupConfig {
            members: (0..hosts as HostId).collect(),
            queue: QUEUE,
            ring: layout.group..layout.bytes,
            slot: SLOT,
            region: REGION,
            nonce: 1,
            window: layout.target..layout.inbox,
        };
        let task: Task<_> = Box::pin(async move {
            let opened = Group::open(&mut program.endpoint, &config).await;
            opened.map(|group| (program, group)).map_err(failed(number as HostId, "open a group"))
        });
        task
    });
    let all = try_all(opening.collect());
    let members = world.simulation.run_until_complete(&sim.spawn(all))??;
    let windows: Vec<Window> = members.iter().map(|(_, group)| group.window()).collect();
    let shared = Rc::new(scenario.clone());
    let sources: Vec<_> = world.nodes.iter().map(|node| Rc::new(node.source.clone())).collect();
    let mut tasks: Vec<Task<_>> = Vec::new();
    for (node, (program, mut group)) in world.nodes.iter().zip(members) {
        group.know(&windows).map_err(failed(node.number, "know the others' windows"))?;
        let member = Member {
            sim: sim.clone(),
            host: node.host.clone(),
            number: node.number,
            program,
            group,
            scenario: Rc::clone(&shared),
            layout,
            sources: sources.clone(),
        };
        match scenario.workload.test {
            RdmaTest::Sort => tasks.push(Box::pin(member.sort())),
            _ => tasks.push(Box::pin(member.exchange())),
        }
    }
    let done = world.simulation.run_until_complete(&sim.spawn(try_all(tasks)))??;
    let slowest = done.iter().map(|(_, phases)| *phases).max_by_key(Phases::total);
    Ok((done.into_iter().map(|(outcome, _)| outcome).collect(), slowest.unwrap_or_default()))
}

impl Member {
    /// Exchanges one after the other, each behind a barrier.
    async fn exchange(mut self) -> Result<(ProgramOutcome, Phases), RoadError> {
        let workload = self.scenario.workload.clone();
        let (hosts, block) = (workload.hosts, workload.size_bytes);
        let (mut outcome, mut phases) = (ProgramOutcome::default(), Phases::default());
        let mut begin = self.sim.now();
        for number in 0..workload.warmup + workload.iterations {
            let wrong = failed(self.number, "exchange");
            let endpoint = &mut self.program.endpoint;
            let entered = self.sim.now();
            self.group.barrier(endpoint).await.map_err(&wrong)?;
            let start = self.sim.now();
            if number == workload.warmup {
                begin = start;
            }
            let shift = BEAT * (number as usize % (SOURCE_SPARE / BEAT));
            let to = (number as usize % 2) * hosts * block;
            let from = self.layout.source + shift;
            let spent = self.group.all_to_all(endpoint, from, to, block).await.map_err(&wrong)?;
            if number >= workload.warmup {
                outcome.samples.push(self.sim.now() - start);
                phases.wait += Duration::from_nanos((start - entered).0 / 1_000);
                phases += spent;
            }
            for rank in 0..hosts {
                let at = self.layout.target + to + rank * block;
                let found = self.host.memory().read(at, block);
                let right =
                    &self.sources[rank][shift + usize::from(self.number) * block..][..block];
                if found.ok().as_deref() != Some(right) {
                    return Err(RoadError::Violation(format!(
                        "rdma: host {}: the block of host {rank} in exchange {number} is wrong; seed {}",
                        self.number, self.scenario.seed
                    )));
                }
                outcome.checked += block as u64;
            }
            self.sim.count_transfers(1);
        }
        outcome.interval = Some((begin, self.sim.now()));
        outcome.arrived = workload.iterations * (hosts as u64 - 1);
        Ok((outcome, phases))
    }

    /// A sort of as many chunks at each host as there are iterations.
    async fn sort(mut self) -> Result<(ProgramOutcome, Phases), RoadError> {
        let workload = &self.scenario.workload;
        let count = workload.size_bytes / BEAT * workload.iterations as usize;
        let mut random =
            RandomStream::new(self.scenario.seed, &format!("rdma:keys:{}", self.number));
        let keys: Vec<u64> = (0..count).map(|_| random.bits()).collect();
        let config = self.scenario.sort_config(self.layout.source);
        let wrong = failed(self.number, "sort");
        let endpoint = &mut self.program.endpoint;
        self.group.barrier(endpoint).await.map_err(&wrong)?;
        let begin = self.sim.now();
        let cpu = self.host.cpu().clone();
        let compute = async |span: Duration| cpu.run(picoseconds(span)).await;
        let sorted = sort(&mut self.group, endpoint, &keys, &config, compute).await;
        let sorted = sorted.map_err(|error| match error {
            SortError::Rdma(error) => wrong(error),
            SortError::Check { .. } => {
                let (host, seed) = (self.number, self.scenario.seed);
                RoadError::Violation(format!("rdma: host {host}: sort: {error}; seed {seed}"))
            }
        })?;
        let took = picoseconds(sorted.phases.total());
        if sorted.all != (count * workload.hosts) as u64 || !sorted.keys.is_sorted() {
            return Err(RoadError::Violation(format!(
                "rdma: host {}: a sort of {count} keys a host gave {} in all, in order: {}; seed {}",
                self.number,
                sorted.all,
                sorted.keys.is_sorted(),
                self.scenario.seed
            )));
        }
        let outcome = ProgramOutcome {
            samples: vec![took],
            interval: Some((begin, begin + took)),
            arrived: workload.iterations,
            checked: (sorted.keys.len() * BEAT) as u64,
            ..ProgramOutcome::default()
        };
        Ok((outcome, sorted.phases))
    }
}
