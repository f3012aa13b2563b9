// SPDX-License-Identifier: Apache-2.0
//! A program that starts again works, whatever number its session begins with.
//!
//! Host 0 writes and waits at fences, then opens its interface anew with a session number that its peer has
//! open: the same one, or, after the peer was reset `resets` times, the one that the gateware has counted to.

use isthmus_host::pcie::DmaMemory;
use isthmus_host::rdma::{Options, RdmaError};
use isthmus_road::rdma::{Machine, Network};
use isthmus_sim::Picoseconds;
use serde_json::{Value, json};

use crate::Settings;
use crate::common::{Failure, Interface, MEMORY, SOURCE, TARGET, Task, open, write};

const BYTES: usize = 2048;
const TIMEOUT_US: u64 = 5_000;
const FIRST: u8 = 10;

/// A write and its fence; whether the data was there when the fence ended well.
async fn give(
    endpoint: &mut Interface,
    [near, far]: [&Machine; 2],
    value: u8,
) -> Result<Result<bool, RdmaError>, Failure> {
    endpoint.memory().write(SOURCE, &[value; BYTES]).await?;
    let transfer = write(near, 1, SOURCE, TARGET, BYTES);
    let options = Options { completion: true, ..Options::default() };
    endpoint.put(&isthmus_host::rdma::Descriptor { options, ..transfer }).await?;
    Ok(endpoint.fence(1).await.map(|_| far.peek(TARGET, BYTES) == Some(vec![value; BYTES])))
}

pub fn run(scenario: &str, settings: &Settings) -> Result<Value, Failure> {
    let network = Network::build(scenario, MEMORY)?;
    let resets = settings.get("resets", 0) as u8;
    let again = settings.get("session", u64::from(FIRST + resets)) as u8;
    let sim = network.sim();
    let [near, far] = [0, 1].map(|host| network.machine(host));
    let near_config = |session| network.config(0, session, TIMEOUT_US);
    let (first, second) = (near_config(FIRST), near_config(again));
    let far_config =
        move |session| isthmus_host::rdma::EndpointConfig { host: 1, session, ..first };
    // The far interface is reset in the pauses below.
    for reset in 0..resets {
        network.reset(1, Picoseconds::from_us(1_000 * (u64::from(reset) + 1)));
    }
    let program = Box::pin(async move {
        let _served = open(&far, far_config(100)).await?;
        let mut endpoint = open(&near, first).await?;
        let mut right = 0;
        let mut ended = 0;
        for packet in 0..40 {
            right += u32::from(give(&mut endpoint, [&near, &far], packet).await??);
        }
        for reset in 0..resets {
            let due = Picoseconds::from_us(1_000 * (u64::from(reset) + 1) + 200);
            sim.sleep(due - sim.now().min(due)).await;
            let _served = open(&far, far_config(101 + reset)).await?;
            match give(&mut endpoint, [&near, &far], 50 + reset).await? {
                Err(RdmaError::Session { .. }) => ended += 1,
                other => drop(other?),
            }
            right += u32::from(give(&mut endpoint, [&near, &far], 60 + reset).await??);
        }
        // The program ends, and another one starts.
        drop(endpoint);
        let mut endpoint = open(&near, second).await?;
        for packet in 0..100 {
            right += u32::from(give(&mut endpoint, [&near, &far], packet + 100).await??);
        }
        let mut records = 0;
        while endpoint.error().await?.is_some() {
            records += 1;
        }
        Ok(json!({
            "sessions_ended": ended,
            "right": right,
            "asked": 40 + u32::from(resets) + 100,
            "records": records,
        }))
    }) as Task<Value>;
    let mut found = network.run(vec![program])?;
    Ok(found.swap_remove(0))
}
