// SPDX-License-Identifier: Apache-2.0
//! Random writes of all hosts to all hosts, and whole memories compared byte for byte.
//!
//! Each host writes into an area of its own in every other's memory, with and without a key, by descriptors one by
//! one, in clusters and long ones, and inline; places between them are guards. After each round it waits at a
//! fence to each host and compares its area there at once. A round that a restart has cut is written again.

use std::cell::RefCell;
use std::rc::Rc;

use isthmus_host::rdma::{
    Descriptor, EndpointConfig, HostId, InlineWrite, MAX_INLINE, MAX_TRANSFER, Options, Posting,
    RdmaError,
};
use isthmus_road::rdma::{Machine, Network};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::RandomStream;
use serde_json::{Value, json};

use crate::Settings;
use crate::common::{
    Failure, Interface, MEMORY, SOURCE, TARGET, TARGET_BYTES, Task, keyed, open, write,
};

const AREA: usize = TARGET_BYTES / 8;
const LONGEST: usize = 20_000;
/// Slots of a request queue: a keyed write takes two.
const CLUSTER: usize = 40;
const RESET_US: u64 = 60;

/// What is written in one call.
enum Call {
    Put(Descriptor),
    Cluster(Vec<Descriptor>),
    Long(Descriptor),
    Inline(Descriptor, Vec<u8>),
}

#[derive(Default)]
struct Counts {
    transfers: u64,
    keyed: u64,
    bytes: u64,
    wrong: usize,
    again: u64,
    restarts: u64,
    reopened: u64,
}

struct Host {
    network: Rc<Network>,
    number: HostId,
    config: EndpointConfig,
    own: Machine,
    all: Vec<Machine>,
    endpoint: Interface,
    images: Rc<RefCell<Vec<Vec<u8>>>>,
    random: RandomStream,
    keyed_only: bool,
    counts: Counts,
}

impl Host {
    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    /// New bytes in this host's memory at `from`, and in the picture of `peer`'s at `to`.
    fn transfer(
        &mut self,
        peer: HostId,
        from: usize,
        to: usize,
        bytes: usize,
    ) -> (Descriptor, Vec<u8>) {
        let data: Vec<u8> = (0..bytes / 8).flat_map(|_| self.random.bits().to_le_bytes()).collect();
        self.own.poke(from, &data);
        self.images.borrow_mut()[usize::from(peer)][to - TARGET..][..bytes].copy_from_slice(&data);
        let plain = write(&self.own, peer, from, to, bytes);
        self.counts.transfers += 1;
        self.counts.bytes += bytes as u64;
        if self.keyed_only || self.random.below(2) == 0 {
            self.counts.keyed += 1;
            return (keyed(plain), data);
        }
        (plain, data)
    }

    /// What it writes to a host in this round: places do not overlap.
    fn calls(&mut self, peer: HostId, from: &mut usize) -> Vec<Call> {
        let end = TARGET + AREA * (usize::from(self.number) + 1);
        let mut to = end - AREA + 8 * self.below(64);
        let mut calls = Vec::new();
        for _ in 0..1 + self.below(6) {
            let kind = self.below(5);
            // A key takes the place of 8 bytes of an inline write.
            let most = [MAX_TRANSFER, 512, LONGEST, MAX_INLINE - 8, 64][kind];
            let mut one = |host: &mut Self| {
                let bytes = 8 * (1 + host.below(most / 8));
                if to + bytes > end {
                    return None;
                }
                let made = host.transfer(peer, *from, to, bytes);
                *from += bytes;
                to += bytes + 8 * host.below(4);
                Some(made)
            };
            calls.extend(match kind {
                1 => {
                    let count = 1 + self.below(CLUSTER);
                    let cluster: Vec<_> =
                        (0..count).map_while(|_| one(self)).map(|made| made.0).collect();
                    (!cluster.is_empty()).then_some(Call::Cluster(cluster))
                }
                2 => one(self).map(|made| Call::Long(made.0)),
                3 | 4 => one(self).map(|(put, data)| Call::Inline(put, data)),
                _ => one(self).map(|made| Call::Put(made.0)),
            });
        }
        calls
    }

    async fn post(&mut self, peer: HostId, calls: &[Call]) -> Result<(), RdmaError> {
        // The last of each kind asks for an answer at once.
        let last = |inline: bool| {
            calls.iter().rposition(|call| matches!(call, Call::Inline(..)) == inline)
        };
        let asks = [last(false), last(true)];
        for (at, call) in calls.iter().enumerate() {
            let options = Options { completion: asks.contains(&Some(at)), ..Options::default() };
            let endpoint = &mut self.endpoint;
            match call {
                Call::Put(put) => endpoint.put(&Descriptor { options, ..*put }).await?,
                Call::Long(put) => endpoint.put_long(&Descriptor { options, ..*put }).await?,
                Call::Cluster(cluster) => {
                    let mut cluster = cluster.clone();
                    if let Some(put) = cluster.last_mut() {
                        put.options = options;
                    }
                    endpoint.post(peer, &cluster, Posting::default()).await?;
                }
                Call::Inline(put, body) => {
                    let one = InlineWrite { body, target: put.target, options, key: put.key };
                    endpoint.put_inline(peer, &[one]).await?;
                }
            }
        }
        Ok(())
    }

    /// Writes until a fence says that all is there.
    async fn round(&mut self) -> Result<(), Failure> {
        let own = self.number;
        let mut from = SOURCE;
        let mut due = Vec::new();
        for peer in (0..self.all.len() as HostId).filter(|peer| *peer != own) {
            if self.below(3) < 2 {
                due.push((peer, self.calls(peer, &mut from)));
            }
        }
        let mut lost = false;
        loop {
            let mut left = Vec::new();
            for (peer, calls) in &due {
                match self.post(*peer, calls).await {
                    Err(RdmaError::Stuck { .. }) => lost = true,
                    other => other?,
                }
            }
            for (peer, calls) in due {
                match self.endpoint.fence(peer).await {
                    Ok(0) => self.compare(peer),
                    Ok(_) | Err(RdmaError::Session { .. }) => left.push((peer, calls)),
                    Err(RdmaError::Fence { .. }) => {
                        lost = true;
                        left.push((peer, calls));
                    }
                    Err(other) => return Err(other.into()),
                }
            }
            if left.is_empty() && !lost {
                return Ok(());
            }
            self.counts.again += left.len() as u64;
            // A transfer that a reset cut in two: only a new start helps.
            if std::mem::take(&mut lost) {
                self.counts.reopened += 1;
                self.endpoint = open(&self.own, self.config).await?;
            }
            due = left;
        }
    }

    /// Its whole area in a host's memory, guards and all.
    fn compare(&mut self, peer: HostId) {
        let at = AREA * usize::from(self.number);
        let found = self.all[usize::from(peer)].peek(TARGET + at, AREA).unwrap_or_default();
        let images = self.images.borrow();
        let expected = &images[usize::from(peer)][at..][..AREA];
        self.counts.wrong += found.iter().zip(expected).filter(|(a, b)| a != b).count();
    }

    /// Its program starts again, with the same session number; or its interface is reset first.
    async fn restart(&mut self, reset: bool) -> Result<(), Failure> {
        self.counts.restarts += 1;
        if reset {
            self.network.reset(self.number, Picoseconds::from_ns(100));
            self.network.sim().sleep(Picoseconds::from_us(RESET_US)).await;
        }
        self.endpoint = open(&self.own, self.config).await?;
        Ok(())
    }
}

pub fn run(scenario: &str, settings: &Settings) -> Result<Value, Failure> {
    let network = Rc::new(Network::build(scenario, MEMORY)?);
    let hosts = network.hosts();
    let (wanted, seed) = (settings.get("transfers", 1_000), settings.get("seed", 1));
    let (restarts, resets) = (settings.get("restarts", 0), settings.get("resets", 0));
    let timeout_us = settings.get("timeout_us", 20_000);
    let keyed_only = settings.get("keyed", 0) != 0;
    let all: Vec<Machine> = (0..hosts).map(|host| network.machine(host)).collect();
    let images = Rc::new(RefCell::new(vec![vec![0; TARGET_BYTES]; usize::from(hosts)]));
    let opened = Rc::new(std::cell::Cell::new(0));
    let over = Rc::new(std::cell::Cell::new(0));
    let programs = (0..hosts).map(|number| {
        let (network, images, all) = (Rc::clone(&network), Rc::clone(&images), all.clone());
        let (opened, over) = (Rc::clone(&opened), Rc::clone(&over));
        let config = network.config(number, seed as u8, timeout_us);
        Box::pin(async move {
            let own = all[usize::from(number)].clone();
            let endpoint = open(&own, config).await?;
            let random = RandomStream::new(seed, &format!("programs:{number}"));
            let counts = Counts::default();
            let mut host = Host {
                network,
                number,
                config,
                own,
                all,
                endpoint,
                images,
                random,
                keyed_only,
                counts,
            };
            let sim = host.network.sim();
            opened.set(opened.get() + 1);
            while opened.get() < hosts {
                sim.sleep(Picoseconds::from_us(1)).await;
            }
            let share = wanted / u64::from(hosts) + 1;
            let events = restarts + resets;
            while host.counts.transfers < share {
                let due = events * host.counts.transfers / share;
                if due > host.counts.restarts {
                    host.restart(host.counts.restarts % events < resets).await?;
                }
                host.round().await?;
            }
            // Others may still write here, and ask.
            over.set(over.get() + 1);
            while over.get() < hosts {
                sim.sleep(Picoseconds::from_us(5)).await;
            }
            Ok(host.counts)
        }) as Task<Counts>
    });
    let counts = network.run(programs.collect())?;
    let sum = |of: fn(&Counts) -> u64| counts.iter().map(of).sum::<u64>();
    let mut wrong: usize = counts.iter().map(|one| one.wrong).sum();
    for (machine, image) in all.iter().zip(images.borrow().iter()) {
        let found = machine.peek(TARGET, TARGET_BYTES).unwrap_or_default();
        wrong += found.iter().zip(image).filter(|(a, b)| a != b).count();
    }
    Ok(json!({
        "transfers": sum(|one| one.transfers),
        "keyed": sum(|one| one.keyed),
        "bytes": sum(|one| one.bytes),
        "wrong": wrong,
        "again": sum(|one| one.again),
        "restarts": sum(|one| one.restarts),
        "reopened": sum(|one| one.reopened),
        "simulated_us": network.sim().now().0 / 1_000_000,
    }))
}
