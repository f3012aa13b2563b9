// SPDX-License-Identifier: Apache-2.0
//! A program that sleeps until an interrupt finds everything that was sent before it in memory.
//!
//! Host 0 sleeps; hosts 1 and 2 write 4 KiB each and ask for an interrupt, host 2's masked at first.

use isthmus_host::pcie::DmaMemory;
use isthmus_host::rdma::{Descriptor, Options};
use isthmus_road::rdma::Network;
use isthmus_sim::Picoseconds;
use serde_json::{Value, json};

use crate::Settings;
use crate::common::{Failure, MEMORY, SOURCE, TARGET, Task, open, write};

const TIMEOUT_US: u64 = 20_000;
const BYTES: usize = 4096;

pub fn run(scenario: &str, settings: &Settings) -> Result<Value, Failure> {
    let network = Network::build(scenario, MEMORY)?;
    let sim = network.sim();
    let rounds = settings.get("rounds", 10) as usize;
    let machines = [0, 1, 2].map(|host| network.machine(host));
    let configs = [0, 1, 2].map(|host| network.config(host, host + 1, TIMEOUT_US));
    let program = Box::pin(async move {
        let mut sleeper = open(&machines[0], configs[0]).await?;
        let mut one = open(&machines[1], configs[1]).await?;
        let mut two = open(&machines[2], configs[2]).await?;
        let mut line = machines[0].interrupt.clone();
        let options = Options { interrupt: true, completion: true, ..Options::default() };
        let place = |host: usize, round: usize| TARGET + BYTES * (2 * (round % 64) + host - 1);
        let data = |host: usize, round: usize| vec![(16 * host + round % 16) as u8 | 1; BYTES];
        let there = |host: usize, round: usize| {
            machines[0].peek(place(host, round), BYTES) == Some(data(host, round))
        };
        sleeper.unmask_interrupts(0b010).await?;
        let (mut woken, mut masked) = (0, 0);
        for round in 0..rounds {
            // The masked one's is in memory first: it is pending, and wakes nobody.
            two.memory().write(SOURCE, &data(2, round)).await?;
            let transfer = write(&machines[2], 0, SOURCE, place(2, round), BYTES);
            two.put(&Descriptor { options, ..transfer }).await?;
            two.fence(0).await?;
            let begin = sim.now();
            let late = Picoseconds::from_us(30);
            let sends = async {
                sim.sleep(late).await;
                one.memory().write(SOURCE, &data(1, round)).await?;
                let transfer = write(&machines[1], 0, SOURCE, place(1, round), BYTES);
                one.put(&Descriptor { options, ..transfer }).await
            };
            let (sent, woke) = both(sends, sleeper.wait_interrupt(&mut line)).await;
            sent?;
            let asleep = sim.now() - begin;
            woken += usize::from(woke? == 0b010 && there(1, round) && asleep > late);
            let pending = sleeper.pending_interrupts().await?;
            masked += usize::from(pending == 0b100 && there(2, round));
            sleeper.clear_interrupts(0b100).await?;
        }
        let clear = sleeper.pending_interrupts().await? == 0;
        // One that was pending before it is unmasked is not waited for in vain.
        let transfer = write(&machines[2], 0, SOURCE, place(2, 0), BYTES);
        two.put(&Descriptor { options, ..transfer }).await?;
        two.fence(0).await?;
        sleeper.unmask_interrupts(0b110).await?;
        let unmasked = sleeper.wait_interrupt(&mut line).await? == 0b100;
        Ok(json!({
            "rounds": rounds, "woken": woken, "masked": masked, "clear": clear, "unmasked": unmasked,
        }))
    }) as Task<Value>;
    let mut found = network.run(vec![program])?;
    Ok(found.swap_remove(0))
}

/// Both, side by side.
async fn both<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (Box::pin(a), Box::pin(b));
    let (mut first, mut second) = (None, None);
    std::future::poll_fn(move |context| {
        if first.is_none()
            && let std::task::Poll::Ready(value) = a.as_mut().poll(context)
        {
            first = Some(value);
        }
        if second.is_none()
            && let std::task::Poll::Ready(value) = b.as_mut().poll(context)
        {
            second = Some(value);
        }
        match (first.take(), second.take()) {
            (Some(one), Some(two)) => std::task::Poll::Ready((one, two)),
            (one, two) => {
                (first, second) = (one, two);
                std::task::Poll::Pending
            }
        }
    })
    .await
}
