// SPDX-License-Identifier: Apache-2.0
//! Reads of remote memory by rendezvous: what comes is what is there, and what may not be read is not.
//!
//! Host 0 reads from host 1, one after the other and several at a time, while host 2 writes to both.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::rdma::{
    Key, Layout, QueueEntry, ReadError, Readable, Reader, ReaderConfig, Remote, Served, serve_reads,
};
use isthmus_road::rdma::Network;
use serde_json::{Value, json};

use crate::Settings;
use crate::common::{Failure, MEMORY, SOURCE, TARGET, TARGET_BYTES, Task, open, write};

const TIMEOUT_US: u64 = 20_000;
/// Where host 1 serves, and its readable memory: the second of a list.
const SERVES: u8 = 3;
const REQUESTS: usize = 0x4000;
const KEY: Key = Key::new(1, 0x1234);
const DATA_BYTES: usize = 0x8_0000;
/// Where host 0 has its answers.
const ANSWERS: usize = 0x8000;
const PLACE: usize = 0x8_0000;

const SIZES: [usize; 6] = [8, 64, 512, 4096, 4104, 20_000];
const AT_ONCE: usize = 8;

pub fn run(scenario: &str, settings: &Settings) -> Result<Value, Failure> {
    let network = Network::build(scenario, MEMORY)?;
    let rounds = settings.get("rounds", 30) as usize;
    let [reads, serves, writes] = [0, 1, 2].map(|host| network.machine(host));
    let configs = [0, 1, 2].map(|host| network.config(host, host + 1, TIMEOUT_US));
    let (ready, over) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
    let sim = network.sim();
    let data: Vec<u8> = (0..DATA_BYTES as u64 / 8)
        .flat_map(|at| (at << 8 | 1).rotate_left(13).to_le_bytes())
        .collect();
    serves.poke(SOURCE, &data);
    let base = serves.address(SOURCE);
    let remote = move |at: usize, bytes: usize| Remote {
        host: 1,
        queue: SERVES,
        address: base + at as u64,
        bytes,
        key: KEY,
    };

    let reader = {
        let (sim, ready, over) = (sim.clone(), Rc::clone(&ready), Rc::clone(&over));
        Box::pin(async move {
            let mut endpoint = open(&reads, configs[0]).await?;
            let config = ReaderConfig {
                queue: 4,
                ring: ANSWERS..ANSWERS + 0x1000,
                regions: 16..32,
                nonce: 0x51,
                timeout: Duration::from_micros(TIMEOUT_US),
            };
            let mut reader = Reader::open(&mut endpoint, config).await?;
            while ready.get() < 2 {
                sim.sleep(isthmus_sim::Picoseconds::from_us(1)).await;
            }
            let right = |place, at: usize, bytes| {
                reads.peek(place, bytes).as_deref() == data.get(at..at + bytes)
            };
            let mut good = 0;
            for round in 0..rounds {
                let (at, bytes) = (8 * 37 * round, SIZES[round % SIZES.len()]);
                let done = reader.read(&mut endpoint, &remote(at, bytes), PLACE).await?;
                good += usize::from(done == Ok(()) && right(PLACE, at, bytes));
            }
            // Several at a time, each to a place of its own.
            let mut begun = Vec::new();
            for number in 0..AT_ONCE {
                let (at, bytes) = (0x1_0000 + 0x100 * number, 4096 + 8 * number);
                let place = PLACE + 0x4000 * number;
                let ticket = reader.begin(&mut endpoint, &remote(at, bytes), place).await?;
                begun.push((ticket, place, at, bytes));
            }
            let mut together = 0;
            while let Some(ended) =
                reader.ended(&mut endpoint, Duration::from_micros(TIMEOUT_US)).await?
            {
                let found = begun.iter().find(|(ticket, ..)| *ticket == ended.ticket);
                together += usize::from(
                    ended.result == Ok(())
                        && found.is_some_and(|(_, place, at, bytes)| right(*place, *at, *bytes)),
                );
            }
            // What may not be read leaves its place as it was.
            reads.poke(PLACE, &[0xEE; 4096]);
            let mut refused = 0;
            let good_one = remote(0, 4096);
            for (wrong, error) in [
                (Remote { key: Key::new(1, 0x1235), ..good_one }, ReadError::Key),
                (Remote { key: Key::new(0, 0), ..good_one }, ReadError::Key),
                (Remote { address: base - 8, ..good_one }, ReadError::Bounds),
                (remote(DATA_BYTES - 4088, 4096), ReadError::Bounds),
            ] {
                let done = reader.read(&mut endpoint, &wrong, PLACE).await?;
                refused += u32::from(done == Err(error));
            }
            let untouched = reads.peek(PLACE, 4096) == Some(vec![0xEE; 4096]);
            over.set(true);
            let record = endpoint.error().await?;
            Ok(json!({
                "asked": rounds, "right": good, "at_once": AT_ONCE, "right_at_once": together,
                "refused": refused, "untouched": untouched, "records": u32::from(record.is_some()),
            }))
        }) as Task<Value>
    };
    let server = {
        let (ready, over) = (Rc::clone(&ready), Rc::clone(&over));
        Box::pin(async move {
            let mut endpoint = open(&serves, configs[1]).await?;
            let entry = QueueEntry {
                base: serves.address(REQUESTS),
                bytes: 0x2000,
                layout: Layout::Slots(64),
                sources: 0xFF,
            };
            let mut inbox = endpoint.open_queue(SERVES, &entry).await?;
            ready.set(ready.get() + 1);
            let none = Readable { base: 0, bytes: 0, sources: 0, nonce: 0 };
            let bytes = DATA_BYTES as u64;
            let readable = [none, Readable { base, bytes, sources: 0b1, nonce: 0x1234 }];
            let mut served = Served::default();
            while !over.get() {
                let wait = Duration::from_micros(20);
                let now = serve_reads(&mut endpoint, &mut inbox, &readable, wait).await?;
                served.reads += now.reads;
                served.refused += now.refused;
                served.strange += now.strange;
            }
            Ok(json!([served.reads, served.refused, served.strange]))
        }) as Task<Value>
    };
    let writer = Box::pin(async move {
        let mut endpoint = open(&writes, configs[2]).await?;
        ready.set(ready.get() + 1);
        let mut sent = 0;
        while !over.get() {
            for host in [0, 1] {
                let to = TARGET + 4096 * (sent % (TARGET_BYTES / 4096));
                endpoint.put(&write(&writes, host, SOURCE, to, 4096)).await?;
            }
            sent += 1;
            // Not all the time: else the buses have nothing else to do.
            sim.sleep(isthmus_sim::Picoseconds::from_us(40)).await;
        }
        Ok(json!(sent))
    }) as Task<Value>;
    let mut found = network.run(vec![reader, server, writer])?;
    let (sent, served) = (found.pop(), found.pop());
    let mut outcome = found.swap_remove(0);
    outcome["served"] = served.unwrap_or_default();
    outcome["beside"] = sent.unwrap_or_default();
    Ok(outcome)
}
