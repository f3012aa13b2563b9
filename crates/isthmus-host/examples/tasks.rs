// SPDX-License-Identifier: Apache-2.0
//! One device for many tasks of tokio and a plain thread, over a real UDP socket:
//! `cargo run -p isthmus-host --example tasks [-- udp/HOST[/PORT]]`. Without a name it starts a software
//! slave of its own; with one it reads the device's first words and writes nothing.

use std::time::Instant;

use isthmus_host::etherbone::{
    AsyncClient, ClientConfig, Cycle, Error, Memory, Server, ServerConfig,
};
use isthmus_host::transport::{TransportError, block_on};

const TASKS: u64 = 8;
const CYCLES: u64 = 1000;

async fn task(device: AsyncClient, number: u64) -> Result<u64, Error> {
    let cycle = Cycle::new().reads((0..4).map(|word| 4 * (number + word)));
    // All are in flight before the first one is awaited.
    let pending: Vec<_> = (0..CYCLES).map(|_| device.submit(cycle.clone())).collect();
    let mut words = 0;
    for pending in pending {
        words += pending.await?.reads.len() as u64;
    }
    Ok(words)
}

async fn all(name: &str) -> Result<(), Error> {
    let device = AsyncClient::open(name, ClientConfig::default()).await?;
    let started = Instant::now();
    let tasks: Vec<_> = (0..TASKS).map(|n| tokio::spawn(task(device.clone(), n))).collect();
    // A thread that knows nothing of tokio.
    let plain = device.clone();
    let thread = std::thread::spawn(move || block_on(plain.read(0)));
    let mut words = 0;
    for task in tasks {
        words += task.await.unwrap_or(Err(Error::Dropped))?;
    }
    let first = thread.join().unwrap_or(Err(Error::Dropped))?;
    let (took, statistics) = (started.elapsed(), device.statistics());
    println!("the first word is {first:#010x}");
    println!(
        "{words} words for {TASKS} tasks in {took:.1?}: {} cycles in {} datagrams",
        statistics.cycles, statistics.messages_sent
    );
    device.close().await;
    Ok(())
}

fn main() -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime
        .map_err(|source| TransportError::Io { action: "start a runtime".to_owned(), source })?;
    if let Some(name) = std::env::args().nth(1) {
        return runtime.block_on(all(&name));
    }
    let config = ServerConfig::listen(([127, 0, 0, 1], 0).into());
    let server = Server::bind(Memory::new(0, 4096), config)?.spawn()?;
    runtime.block_on(all(&server.udp_addresses()[0].to_string()))
}
