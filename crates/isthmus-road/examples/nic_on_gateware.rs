// SPDX-License-Identifier: Apache-2.0
//! The program of isthmus-host's example `nic_receive` over the simulated interface, with a stream to each of its ports.
//!
//!     ./isthmus bench nanet -s 1024 --window 1 --profile isthmus --ports 2 --print-scenario > scenario.json
//!     cargo run --release -p isthmus-road --example nic_on_gateware -- scenario.json

#[path = "../../isthmus-host/examples/nic_receive/receive.rs"]
mod receive;

use std::error::Error;
use std::time::Duration;

use isthmus_road::nanet::{Interface, Machine, Source};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use receive::{Stream, receive};

/// Of each port.
const DATAGRAMS: usize = 200;
const BYTES: usize = 1024;
/// From one to the next: more than the wire needs.
const GAP: Picoseconds = Picoseconds::from_us(10);

fn payload(port: usize, number: usize) -> Vec<u8> {
    (0..BYTES).map(|at| (port * 101 + number * 7 + at) as u8).collect()
}

async fn send(sim: Sim, source: Source, port: usize) {
    for number in 0..DATAGRAMS {
        assert!(source.send(&payload(port, number)), "the queue is full");
        sim.sleep(GAP).await;
    }
}

async fn program(sim: Sim, machine: Machine, sources: Vec<Source>) -> Result<(), Box<dyn Error>> {
    let ports = sources.len();
    let stream = Stream {
        ports,
        buffers: 64,
        datagrams: (ports * DATAGRAMS) as u64,
        patience: Duration::from_millis(1),
    };
    let started = || {
        for (port, source) in sources.into_iter().enumerate() {
            sim.spawn(send(sim.clone(), source, port));
        }
    };
    let mut wrong = 0;
    let begin = sim.now();
    let done = receive(machine.mmio, machine.memory, &stream, started, |event, datagram| {
        let sent = payload(usize::from(event.list), event.sequence as usize);
        wrong += usize::from(datagram != sent);
    });
    for (port, of) in done.await?.iter().enumerate() {
        println!("port {port}: {} datagrams of {BYTES} bytes, {} lost", of.delivered, of.no_buffer);
    }
    println!("{wrong} wrong, after {}", sim.now() - begin);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: nic_on_gateware SCENARIO.json")?;
    // The program's own memory: as much as its layout needs for the ports that there can be.
    let most = Stream { ports: 4, buffers: 64, datagrams: 0, patience: Duration::ZERO };
    let interface = Interface::build(&std::fs::read_to_string(path)?, most.memory_bytes())?;
    let sources = (0..interface.ports()).filter_map(|port| interface.source(port)).collect();
    interface.run(program(interface.sim(), interface.machine(), sources))
}
