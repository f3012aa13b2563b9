// SPDX-License-Identifier: Apache-2.0
//! When a fence ends, the data is in the far host's memory, however busy the far host's bus is.
//!
//! Host 0 writes 4 KiB to host 1 and waits at a fence; host 1 sends blocks of 32 KiB to host 2 all the time, so
//! that its bus is always taken.

use std::cell::Cell;
use std::rc::Rc;

use isthmus_host::pcie::DmaMemory;
use isthmus_host::rdma::Options;
use isthmus_road::rdma::Network;
use isthmus_sim::Picoseconds;
use serde_json::{Value, json};

use crate::Settings;
use crate::common::{Failure, MEMORY, SOURCE, TARGET, Task, open, write};

const BLOCK: usize = 4096;
const LONG: usize = 32 * 1024;
const TIMEOUT_US: u64 = 20_000;

pub fn run(scenario: &str, settings: &Settings) -> Result<Value, Failure> {
    let network = Network::build(scenario, MEMORY)?;
    let (rounds, idle) = (settings.get("rounds", 200), settings.get("idle", 0) != 0);
    let sim = network.sim();
    let [near, far, third] = [0, 1, 2].map(|host| network.machine(host));
    let configs = [0, 1, 2].map(|host| network.config(host, host + 1, TIMEOUT_US));
    let (ready, over) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));

    let counted = {
        let (sim, ready, over, far) =
            (sim.clone(), Rc::clone(&ready), Rc::clone(&over), far.clone());
        Box::pin(async move {
            let mut endpoint = open(&near, configs[0]).await?;
            while ready.get() < 2 {
                sim.sleep(Picoseconds::from_us(1)).await;
            }
            let (mut early, mut missing, mut late) = (0_u64, 0, Picoseconds::ZERO);
            let mut spent = Vec::new();
            for round in 0..rounds {
                let data: Vec<u8> =
                    (0..BLOCK).map(|at| (at as u64 * 7 + round * 13 + 1) as u8).collect();
                endpoint.memory().write(SOURCE, &data).await?;
                let place = TARGET + BLOCK * (round as usize % 64);
                let transfer = write(&near, 1, SOURCE, place, BLOCK);
                let options = Options { completion: true, ..Options::default() };
                let begin = sim.now();
                endpoint.put(&isthmus_host::rdma::Descriptor { options, ..transfer }).await?;
                endpoint.fence(1).await?;
                let end = sim.now();
                spent.push((end - begin).0);
                let there = || far.peek(place, BLOCK).unwrap_or_default();
                let lacks = there().iter().zip(&data).filter(|(a, b)| a != b).count();
                if lacks > 0 {
                    early += 1;
                    missing = missing.max(lacks);
                    while there() != data {
                        sim.sleep(Picoseconds::from_ns(20)).await;
                    }
                    late = late.max(sim.now() - end);
                }
                far.poke(place, &[0; BLOCK]);
            }
            over.set(true);
            spent.sort_unstable();
            Ok(json!({
                "rounds": rounds,
                "early": early,
                "missing_bytes": missing,
                "late_ps": late.0,
                "fence_ps": [spent[0], spent[spent.len() / 2], spent[spent.len() - 1]],
            }))
        }) as Task<Value>
    };
    let busy = {
        let (sim, ready, over) = (sim.clone(), Rc::clone(&ready), Rc::clone(&over));
        Box::pin(async move {
            let mut endpoint = open(&far, configs[1]).await?;
            ready.set(ready.get() + 1);
            while !over.get() {
                if idle {
                    sim.sleep(Picoseconds::from_us(1)).await;
                    continue;
                }
                endpoint.put_long(&write(&far, 2, SOURCE, TARGET, LONG)).await?;
            }
            Ok(Value::Null)
        }) as Task<Value>
    };
    let sink = Box::pin(async move {
        let _endpoint = open(&third, configs[2]).await?;
        ready.set(ready.get() + 1);
        while !over.get() {
            sim.sleep(Picoseconds::from_us(5)).await;
        }
        Ok(Value::Null)
    }) as Task<Value>;
    let mut found = network.run(vec![counted, busy, sink])?;
    Ok(found.swap_remove(0))
}
