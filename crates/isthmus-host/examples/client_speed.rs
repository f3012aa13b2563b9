// SPDX-License-Identifier: Apache-2.0
//! Bus reads a second of one client of one device: the loop of
//! `benchmarks/peers/libetherbone/client_speed.c`, through the Rust client.
//!
//! `client_speed DEVICE CYCLES READS SECONDS [tags]`: CYCLES checked cycles of READS reads each are
//! submitted, then all are waited for, as futures or by their tags; 0 cycles: blocking, one read in
//! a cycle of its own. Every value is compared with what was written before. Prints reads and
//! seconds. `client_speed serve` is a slave for it, 16 KiB of memory at address 0: it prints its
//! UDP and its TCP port and serves until its input ends.

use std::error::Error;
use std::io::Read;
use std::time::{Duration, Instant};

use isthmus_host::etherbone::{
    Access, Client, ClientConfig, Cycle, Memory, Pending, Server, ServerConfig, Widths,
};
use isthmus_host::transport::{AnyTransport, block_on, open};

fn value(index: u64) -> u64 {
    0x0101_0101 * (index + 1)
}

/// Cycles whose ends are futures.
async fn futures(
    client: &mut Client<AnyTransport>,
    cycles: usize,
    expected: &[u64],
    pending: &mut Vec<Pending>,
) -> Result<(), Box<dyn Error>> {
    let reads = expected.len() as u64;
    for _ in 0..cycles {
        pending.push(client.submit(&Cycle::new().reads((0..reads).map(|i| 4 * i)))?);
    }
    client.flush().await?;
    client.settle().await?;
    for pending in pending.drain(..) {
        let reply = pending.take().ok_or("a cycle has not ended")??;
        same(&reply.reads, expected)?;
    }
    Ok(())
}

/// Cycles with tags.
async fn tags(
    client: &mut Client<AnyTransport>,
    cycles: usize,
    expected: &[u64],
) -> Result<(), Box<dyn Error>> {
    let reads = expected.len() as u64;
    for tag in 0..cycles as u64 {
        client.submit_tagged(tag, |cycle| {
            (0..reads).for_each(|i| cycle.add(Access::Read, 4 * i, 0, None));
        })?;
    }
    client.flush().await?;
    client.settle().await?;
    let mut left = cycles;
    while let Some(ended) = client.next_ended() {
        same(ended.result?, expected)?;
        left -= 1;
    }
    if left == 0 { Ok(()) } else { Err("a cycle has not ended".into()) }
}

fn same(reads: &[u64], expected: &[u64]) -> Result<(), Box<dyn Error>> {
    match reads == expected {
        true => Ok(()),
        false => Err(format!("read {reads:x?} instead of {expected:x?}").into()),
    }
}

/// Reads, and the seconds that they took.
async fn measure(
    device: &str,
    cycles: usize,
    reads: u64,
    time: f64,
    tagged: bool,
) -> Result<(u64, f64), Box<dyn Error>> {
    let config = ClientConfig { widths: Widths::W32, ..ClientConfig::default() };
    let mut client = Client::connect(open(device)?, config).await?;
    let expected: Vec<u64> = (0..reads).map(value).collect();
    for index in 0..reads {
        client.write(4 * index, value(index)).await?;
    }
    let mut pending = Vec::with_capacity(cycles);
    let (started, mut count) = (Instant::now(), 0);
    let time = Duration::from_secs_f64(time);
    while started.elapsed() < time {
        if cycles == 0 {
            let word = client.read(0).await?;
            if word != value(0) {
                return Err(format!("read {word:#x} instead of {:#x}", value(0)).into());
            }
            count += 1;
        } else {
            match tagged {
                true => tags(&mut client, cycles, &expected).await?,
                false => futures(&mut client, cycles, &expected, &mut pending).await?,
            }
            count += cycles as u64 * reads;
        }
    }
    Ok((count, started.elapsed().as_secs_f64()))
}

fn serve() -> Result<(), Box<dyn Error>> {
    let config = ServerConfig::listen(([127, 0, 0, 1], 0).into());
    let server = Server::bind(Memory::new(0, 1 << 14), config)?.spawn()?;
    let port = |addresses: &[std::net::SocketAddr]| addresses.first().map_or(0, |a| a.port());
    println!("{} {}", port(server.udp_addresses()), port(server.tcp_addresses()));
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [serve_here] if serve_here == "serve" => serve(),
        [device, cycles, reads, time, rest @ ..] => {
            let tagged = matches!(rest, [word] if word == "tags");
            let (cycles, reads, time) = (cycles.parse()?, reads.parse()?, time.parse()?);
            let measured = measure(device, cycles, reads, time, tagged);
            let (count, seconds) = block_on(measured)?;
            println!("{count} {seconds:.6}");
            Ok(())
        }
        _ => {
            Err("usage: client_speed DEVICE CYCLES READS SECONDS [tags], or: client_speed serve"
                .into())
        }
    }
}
