// SPDX-License-Identifier: Apache-2.0
//! Benchmark mode end to end: the four time stamps of a write are those of its way, and all else is zero.
//!
//! Host 0 writes to host 1, one transfer at a time; the program prints each one's stamps, and when it was posted and
//! found in memory.

use isthmus_host::rdma::{Descriptor, Options};
use isthmus_road::rdma::Network;
use serde_json::{Value, json};

use crate::Settings;
use crate::common::{Failure, MEMORY, SOURCE, TARGET, Task, open, write};

const TIMEOUT_US: u64 = 20_000;

pub fn run(scenario: &str, settings: &Settings) -> Result<Value, Failure> {
    let network = Network::build_benchmark(scenario, MEMORY)?;
    let sim = network.sim();
    let rounds = settings.get("rounds", 16) as usize;
    let bytes = settings.get("bytes", 64) as usize;
    let machines = [0, 1].map(|host| network.machine(host));
    let configs = [0, 1].map(|host| network.config(host, host + 1, TIMEOUT_US));
    let program = Box::pin(async move {
        let _far = open(&machines[1], configs[1]).await?;
        let mut near = open(&machines[0], configs[0]).await?;
        machines[0].poke(SOURCE, &vec![0xAA; bytes]);
        let options = Options { completion: true, ..Options::default() };
        let mut transfers = Vec::new();
        for round in 0..rounds {
            let place = TARGET + 4096 * (round % 128);
            machines[1].poke(place, &vec![0xEE; bytes]);
            let begin = sim.now();
            let transfer = write(&machines[0], 1, SOURCE, place, bytes);
            near.put(&Descriptor { options, ..transfer }).await?;
            let lost = near.fence(1).await?;
            let end = sim.now();
            let there = machines[1].peek(place, bytes).unwrap_or_default();
            let beats: Vec<u64> =
                there.as_chunks::<8>().0.iter().map(|beat| u64::from_le_bytes(*beat)).collect();
            // The lower half of a beat is the link's first word.
            let halves = beats.iter().take(2).flat_map(|beat| [beat & 0xFFFF_FFFF, beat >> 32]);
            let stamps: Vec<u64> = halves.collect();
            transfers.push(json!({
                "begin_ps": begin.0,
                "end_ps": end.0,
                "refused": lost,
                "stamps": stamps,
                "rest_is_zero": beats.iter().skip(2).all(|beat| *beat == 0),
            }));
        }
        Ok(json!(transfers))
    }) as Task<Value>;
    let mut found = network.run(vec![program])?;
    Ok(found.swap_remove(0))
}
