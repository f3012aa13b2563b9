// SPDX-License-Identifier: Apache-2.0
//! Two hosts stress each other: their buses have no pause, and all data is right.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::rdma::MAX_TRANSFER;
use isthmus_road::rdma::Network;
use isthmus_sim::Picoseconds;
use serde_json::{Value, json};

use crate::Settings;
use crate::common::{Failure, MEMORY, SOURCE, TARGET, Task, open, write};

const TIMEOUT_US: u64 = 20_000;

pub fn run(scenario: &str, settings: &Settings) -> Result<Value, Failure> {
    let network = Rc::new(Network::build(scenario, MEMORY)?);
    let lasting_us = settings.get("lasting_us", 1_000);
    let data = |host: u64| -> Vec<u8> {
        (0..MAX_TRANSFER as u64).map(|at| (at * 7 + host * 13) as u8).collect()
    };
    let opened = Rc::new(Cell::new(0));
    let programs = [0_u8, 1].map(|host| {
        let (network, opened) = (Rc::clone(&network), Rc::clone(&opened));
        Box::pin(async move {
            let (own, far) = (network.machine(host), network.machine(1 - host));
            let config = network.config(host, host + 1, TIMEOUT_US);
            let mut endpoint = open(&own, config).await?;
            own.poke(SOURCE, &data(host.into()));
            let sim = network.sim();
            opened.set(opened.get() + 1);
            while opened.get() < 2 {
                sim.sleep(Picoseconds::from_us(1)).await;
            }
            let busy = network.bus_busy(host);
            let transfer = write(&own, 1 - host, SOURCE, TARGET, MAX_TRANSFER);
            let done = endpoint.stress(&transfer, Duration::from_micros(lasting_us)).await?;
            let after = network.bus_busy(host);
            let shares: Vec<f64> = after
                .iter()
                .zip(&busy)
                .map(|(after, before)| {
                    (*after - *before).0 as f64 / 1e3 / done.lasted.as_nanos() as f64
                })
                .collect();
            Ok(json!({
                "transfers": done.transfers,
                "bytes": done.bytes,
                "refused": done.refused,
                "lasted_ns": done.lasted.as_nanos() as u64,
                "busy": shares,
                "right": far.peek(TARGET, MAX_TRANSFER) == Some(data(host.into())),
                "error": endpoint.error().await?.is_some(),
            }))
        }) as Task<Value>
    });
    Ok(Value::Array(network.run(programs.into())?))
}
