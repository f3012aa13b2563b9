// SPDX-License-Identifier: Apache-2.0
//! A link that is cut for good is taken out of use, and the flows over it go on.
//!
//! Host 0 writes to hosts 1 and 2 while its link 1 is cut by the scenario's fault. It sees which links are up, takes
//! the other one out of use, and every packet is in memory or was told as lost.

use isthmus_host::pcie::DmaMemory;
use isthmus_host::rdma::{Descriptor, Options, RdmaError};
use isthmus_road::rdma::Network;
use isthmus_sim::Picoseconds;
use serde_json::{Value, json};

use crate::Settings;
use crate::common::{Failure, MEMORY, SOURCE, TARGET, Task, open, write};

const BYTES: usize = 4096;
const PACKETS: u32 = (BYTES / 512) as u32;
/// Of the fence that shows that a flow stands, and of all.
const TIMEOUT_US: u64 = 1_000;
const ROUNDS: usize = 20;

pub fn run(scenario: &str, settings: &Settings) -> Result<Value, Failure> {
    let network = Network::build(scenario, MEMORY)?;
    let sim = network.sim();
    let machines = [0, 1, 2].map(|host| network.machine(host));
    let configs = [0, 1, 2].map(|host| network.config(host, host + 1, TIMEOUT_US));
    let all = (1_u8 << network.links()) - 1;
    let wait = Picoseconds::from_us(settings.get("until_us", 0));
    let program = Box::pin(async move {
        let _one = open(&machines[1], configs[1]).await?;
        let _two = open(&machines[2], configs[2]).await?;
        let near = &machines[0];
        let mut endpoint = open(near, configs[0]).await?;
        let (mut fences_before, mut stuck) = (0, 0);
        let place = |round: usize| BYTES * (round % 128);
        let mut round = 0;
        let options = Options { completion: true, ..Options::default() };
        // Until the link is cut, and flows stand.
        loop {
            for host in [1_u8, 2] {
                let data = vec![round as u8 + 1; BYTES];
                endpoint.memory().write(SOURCE + place(round), &data).await?;
                let transfer =
                    write(near, host, SOURCE + place(round), TARGET + place(round), BYTES);
                endpoint.put(&Descriptor { options, ..transfer }).await?;
            }
            round += 1;
            if endpoint.links_up().await? == all && sim.now() < wait {
                continue;
            }
            // The notification of what has left is late, too, so a queue may be full.
            for host in [1_u8, 2] {
                match endpoint.fence(host).await {
                    Ok(_) => fences_before += 1,
                    Err(RdmaError::Fence { .. }) => stuck += 1,
                    Err(other) => return Err(other.into()),
                }
            }
            break;
        }
        let up = endpoint.links_up().await?;
        endpoint.use_links(up).await?;
        let mut refused = [0; 3];
        for host in [1_u8, 2] {
            refused[usize::from(host)] = endpoint.fence(host).await?;
        }
        // And they go on.
        let mut right = 0;
        for round in 0..ROUNDS {
            for host in [1_u8, 2] {
                let data = vec![round as u8 ^ 0x5A; BYTES];
                endpoint.memory().write(SOURCE + place(round), &data).await?;
                let transfer =
                    write(near, host, SOURCE + place(round), TARGET + place(round), BYTES);
                endpoint.put(&Descriptor { options, ..transfer }).await?;
                let lost = endpoint.fence(host).await?;
                let there = machines[usize::from(host)].peek(TARGET + place(round), BYTES);
                right += usize::from(lost == 0 && there == Some(data));
            }
        }
        let mut lost = 0;
        while let Some(record) = endpoint.error().await? {
            lost += u32::from(record.fault.is_some()) + u32::from(record.more);
        }
        let none = endpoint.use_links(0).await.is_err();
        Ok(json!({
            "up": up,
            "stuck": stuck,
            "fences_before": fences_before,
            "told_lost": refused[1] + refused[2],
            "records": lost,
            "packets": 2 * round as u32 * PACKETS,
            "right_after": right,
            "asked_after": 2 * ROUNDS,
            "none_refused": none,
        }))
    }) as Task<Value>;
    let mut found = network.run(vec![program])?;
    Ok(found.swap_remove(0))
}
