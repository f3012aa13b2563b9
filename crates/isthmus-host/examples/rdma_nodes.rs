// SPDX-License-Identifier: Apache-2.0
//! Four hosts with RDMA interfaces: write, send, read, exchange, and an error, over a model of the
//! interfaces in memory. `cargo run -p isthmus-host --example rdma_nodes`

#[path = "../tests/it/soft_network/mod.rs"]
mod soft_network;

use std::pin::Pin;
use std::time::Duration;

use isthmus_host::pcie::DmaMemory;
use isthmus_host::rdma::{
    Descriptor, Endpoint, EndpointConfig, Group, GroupConfig, HostId, Key, Layout, Options,
    QueueEntry, RdmaError, Readable, Reader, ReaderConfig, Region, Remote, serve_reads,
};
use soft_network::{Faults, Network, base};

const HOSTS: usize = 4;
const DATA: usize = 0x1_0000;
const MEMORY: usize = 0x8_0000;

async fn node(network: &Network, rank: usize) -> Result<(), RdmaError> {
    let (machine, host) = (network.machine(rank), rank as HostId);
    let config = EndpointConfig { host, ..EndpointConfig::default() };
    let mut endpoint = Endpoint::open(machine.clone(), machine.clone(), config).await?;
    let own = base(rank);
    let region = Region {
        base: own + DATA as u64,
        bytes: 0x1_0000,
        sources: 0b1111,
        nonce: 0x5EED,
        queue: None,
    };
    endpoint.register(8, &region).await?;
    let entry = QueueEntry {
        base: own + 0x1000,
        bytes: 0x2000,
        layout: Layout::Slots(512),
        sources: 0b1111,
    };
    let mut inbox = endpoint.open_queue(0, &entry).await?;
    let group = GroupConfig {
        members: (0..HOSTS as HostId).collect(),
        queue: 2,
        ring: 0x8000..0x1_0000,
        slot: 512,
        region: 9,
        nonce: 0xC0DE,
        window: 0x4_0000..0x6_0000,
    };
    let mut group = Group::open(&mut endpoint, &group).await?;
    group.join(&mut endpoint).await?;
    let timeout = Duration::from_millis(1);

    // Each writes to the next one, says so, and waits until it is there.
    let next = (rank + 1) % HOSTS;
    let text = format!("host {rank} was here");
    let place = DATA + 0x8000;
    let padded: Vec<u8> = text.bytes().chain(std::iter::repeat(b' ')).take(24).collect();
    endpoint.memory().write(place, &padded).await?;
    let put = Descriptor {
        source: own + place as u64,
        target: base(next) + DATA as u64,
        bytes: padded.len(),
        host: next as HostId,
        options: Options::default(),
        key: Some((Key::new(8, 0x5EED), 0)),
        start: false,
    };
    endpoint.put_notify(&put, true).await?;
    endpoint.fence(put.host).await?;
    endpoint.send(put.host, 0, b"look now", Options::default(), 24).await?;
    if let Some((frame, _)) = inbox.wait(&mut endpoint, timeout).await? {
        let mut found = vec![0; frame.immediate as usize];
        endpoint.memory().read(DATA, &mut found).await?;
        let found = String::from_utf8_lossy(&found);
        println!("{rank}: host {} wrote \"{}\"", frame.source, found.trim_end());
    }
    // With another nonce it is refused, and this host gets an error. The notification reaches the
    // other one, so that no later one has to.
    let wrong = Descriptor { key: Some((Key::new(8, 1), 0)), ..put };
    endpoint.put_notify(&wrong, false).await?;
    endpoint.fence(put.host).await?;
    group.barrier(&mut endpoint).await?;
    while let Some(record) = endpoint.error().await? {
        if let (false, Some(fault)) = (record.ours, record.fault) {
            println!("{rank}: host {} refused: {fault}", record.host);
        }
    }

    // Host 0 reads what host 1 serves.
    if rank == 0 {
        let config =
            ReaderConfig { queue: 1, ring: 0x3000..0x3800, regions: 16..24, nonce: 0, timeout };
        let mut reader = Reader::open(&mut endpoint, config).await?;
        let address = base(1) + DATA as u64;
        let key = Key::new(0, 0xFEED);
        let remote = Remote { host: 1, queue: 0, address, bytes: 24, key };
        match reader.read(&mut endpoint, &remote, place).await? {
            Ok(()) => println!("0: read \"{}\"", String::from_utf8_lossy(&machine.peek(place, 18))),
            Err(why) => println!("0: host 1: {why}"),
        }
    } else if rank == 1 {
        let base = own + DATA as u64;
        let readable = [Readable { base, bytes: 0x1000, sources: 0b1111, nonce: 0xFEED }];
        serve_reads(&mut endpoint, &mut inbox, &readable, timeout / 10).await?;
    }
    group.barrier(&mut endpoint).await?;

    // Each gives each 1 KiB of its own, to the begin of its window.
    endpoint.memory().write(DATA, &vec![rank as u8; HOSTS * 1024]).await?;
    let spent = group.all_to_all(&mut endpoint, DATA, 0, 1024).await?;
    println!("{rank}: an exchange of 1 KiB with each: {spent:?}");
    Ok(())
}

fn main() -> Result<(), RdmaError> {
    let network = Network::new(HOSTS, MEMORY, 1, Faults::default());
    let nodes = (0..HOSTS)
        .map(|rank| Box::pin(node(&network, rank)) as Pin<Box<dyn Future<Output = _>>>)
        .collect();
    network.run(nodes).into_iter().collect()
}
