// SPDX-License-Identifier: Apache-2.0
//! A host program over the simulated gateware: every host writes to the next one and waits until it is there.
//!
//!     ./isthmus bench rdma write-lat --hosts 4 --links 2 --print-scenario > scenario.json
//!     cargo run --release -p isthmus-road --example rdma_on_gateware -- scenario.json

use std::error::Error;

use isthmus_host::pcie::DmaMemory;
use isthmus_host::rdma::{Descriptor, Endpoint, EndpointConfig, HostId, Key, Options, Region};
use isthmus_road::rdma::{HostProgram, Machine, Network};
use isthmus_sim::kernel::Sim;

const MEMORY: usize = 1 << 20;
const SOURCE: usize = 0x1_0000;
const TARGET: usize = 0x2_0000;
const BYTES: usize = 4096;
const TIMEOUT_US: u64 = 10_000;

async fn program(
    sim: Sim,
    machine: Machine,
    config: EndpointConfig,
    hosts: HostId,
) -> Result<(), Box<dyn Error>> {
    let mut endpoint = Endpoint::open(machine.mmio.clone(), machine.memory.clone(), config).await?;
    let region = Region {
        base: machine.address(TARGET),
        bytes: BYTES as u64,
        sources: 0xFF,
        nonce: 0x5EED,
        queue: None,
    };
    endpoint.register(8, &region).await?;

    let (own, next) = (config.host, (config.host + 1) % hosts);
    let before = (own + hosts - 1) % hosts;
    endpoint.memory().write(SOURCE, &[own + 1; BYTES]).await?;
    let put = Descriptor {
        source: machine.address(SOURCE),
        target: machine.address(TARGET), // all hosts' memories are alike
        bytes: BYTES,
        host: next,
        options: Options::default(),
        key: Some((Key::new(8, 0x5EED), 0)),
        start: true,
    };
    let begin = sim.now();
    endpoint.put_notify(&put, true).await?;
    let refused = endpoint.fence(next).await?;
    println!("host {own}: {BYTES} bytes are in host {next} after {}", sim.now() - begin);
    assert_eq!(refused, 0);
    if endpoint.notified(before, 0).await?.is_none() {
        return Err(format!("host {own}: nothing came from host {before}").into());
    }
    assert_eq!(machine.peek(TARGET, BYTES), Some(vec![before + 1; BYTES]));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: rdma_on_gateware SCENARIO.json")?;
    let network = Network::build(&std::fs::read_to_string(path)?, MEMORY)?;
    let hosts = network.hosts();
    let programs = (0..hosts)
        .map(|host| -> HostProgram<(), Box<dyn Error>> {
            let config = network.config(host, 0, TIMEOUT_US);
            Box::pin(program(network.sim(), network.machine(host), config, hosts))
        })
        .collect();
    network.run(programs)?;
    Ok(())
}
