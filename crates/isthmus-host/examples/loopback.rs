// SPDX-License-Identifier: Apache-2.0
//! How fast the client and the software slave are together, over the loopback interface: two
//! threads, real sockets. `cargo run --release -p isthmus-host --example loopback [-- --check]`; words
//! such as `udp pipelined` choose some of the figures, `--spin=200` lets both sides poll for so many
//! microseconds before they sleep (faster where each has a processor to itself, slower elsewhere).
//!
//! Every value read is compared. Each figure is measured several times; best and worst are shown,
//! for whatever else runs on the machine only takes time away. `--check` makes it exit 1 where the
//! best misses the target.

use std::time::{Duration, Instant};

use isthmus_host::etherbone::{
    Bus, Client, ClientConfig, Cycle, Error, Memory, Server, ServerConfig, Width,
};
use isthmus_host::transport::{AnyTransport, block_on};

/// Cycles submitted before waiting for all of them.
const BATCH: usize = 90;
const REPEATS: usize = 7;
const ROUND: Duration = Duration::from_millis(400);

struct Case {
    name: &'static str,
    protocol: &'static str,
    /// Cycles in a batch: 1 is the blocking method.
    cycles: usize,
    reads: u64,
    silent: bool,
    /// Bus reads a second that must be reached.
    target: Option<f64>,
}

const CASES: [Case; 12] = [
    Case::new("blocking, 1 read", "udp", 1, 1, Some(60e3)),
    Case::new("blocking, 16 reads", "udp", 1, 16, None),
    Case::new("pipelined, 90 x 1", "udp", BATCH, 1, None),
    Case::new("pipelined, 90 x 2", "udp", BATCH, 2, None),
    Case::new("pipelined, 90 x 16", "udp", BATCH, 16, Some(13.1e6)),
    Case::silent("pipelined silent, 90 x 16", "udp", 16, Some(13.1e6)),
    Case::new("blocking, 1 read", "tcp", 1, 1, None),
    Case::new("blocking, 16 reads", "tcp", 1, 16, None),
    Case::new("pipelined, 90 x 1", "tcp", BATCH, 1, None),
    Case::new("pipelined, 90 x 2", "tcp", BATCH, 2, None),
    Case::new("pipelined, 90 x 16", "tcp", BATCH, 16, Some(15e6)),
    Case::silent("pipelined silent, 90 x 16", "tcp", 16, Some(15e6)),
];

impl Case {
    const fn new(
        name: &'static str,
        protocol: &'static str,
        cycles: usize,
        reads: u64,
        target: Option<f64>,
    ) -> Self {
        Self { name, protocol, cycles, reads, silent: false, target }
    }

    const fn silent(
        name: &'static str,
        protocol: &'static str,
        reads: u64,
        target: Option<f64>,
    ) -> Self {
        Self { name, protocol, cycles: BATCH, reads, silent: true, target }
    }

    /// Bus reads a second in one round.
    async fn round(&self, client: &mut Client<AnyTransport>) -> Result<f64, Error> {
        let addresses: Vec<u64> = (0..self.reads).map(|i| 4 * i).collect();
        let cycle = Cycle::new().reads(addresses.iter().copied());
        let cycle = if self.silent { cycle.silent() } else { cycle };
        let (started, mut count) = (Instant::now(), 0u64);
        let mut pending = Vec::with_capacity(self.cycles);
        while started.elapsed() < ROUND {
            if self.cycles == 1 {
                let reply = client.execute(cycle.clone()).await?;
                assert_eq!(reply.reads, addresses);
            } else {
                for _ in 0..self.cycles {
                    pending.push(client.submit(&cycle)?);
                }
                client.flush().await?;
                client.settle().await?;
                for pending in pending.drain(..) {
                    let reply = pending.take().unwrap_or(Err(Error::Dropped))?;
                    assert_eq!(reply.reads, addresses);
                }
            }
            count += self.cycles as u64 * self.reads;
        }
        Ok(count as f64 / started.elapsed().as_secs_f64())
    }
}

fn main() -> Result<(), Error> {
    let check = std::env::args().any(|arg| arg == "--check");
    let only: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let spin = std::env::args().find_map(|arg| arg.strip_prefix("--spin=")?.parse().ok());
    let spin = Duration::from_micros(spin.unwrap_or(0));
    let mut memory = Memory::new(0, 4096);
    for address in (0..4096).step_by(4) {
        // Inside the memory.
        let _ = memory.write(address, Width::W32, 0xF, address);
    }
    println!(
        "{:<4} {:<26} {:>12} {:>12} {:>10} {:>6}",
        "", "method", "best k/s", "worst k/s", "target k/s", "ratio"
    );
    let mut missed = false;
    let config = ServerConfig {
        spin,
        ..ServerConfig::listen("127.0.0.1:0".parse().unwrap_or_else(|_| unreachable!()))
    };
    let server = Server::bind(memory.clone(), config)?.spawn()?;
    for case in &CASES {
        let title = format!("{} {}", case.protocol, case.name);
        if !only.iter().all(|word| title.contains(word)) {
            continue;
        }
        let address = match case.protocol {
            "udp" => server.udp_addresses(),
            _ => server.tcp_addresses(),
        };
        let name = format!("{}/127.0.0.1/{}", case.protocol, address[0].port());
        let transport = isthmus_host::transport::open(&name)?.with_spin(spin);
        let (mut best, mut worst) = (0.0f64, f64::MAX);
        block_on(async {
            let mut client = Client::connect(transport, ClientConfig::default()).await?;
            for _ in 0..REPEATS {
                let rate = case.round(&mut client).await?;
                best = best.max(rate);
                worst = worst.min(rate);
            }
            Ok::<(), Error>(())
        })?;
        let target = case.target.map_or(String::new(), |t| format!("{:.0}", t / 1e3));
        let ratio = case.target.map_or(String::new(), |t| format!("{:.2}", best / t));
        println!(
            "{:<4} {:<26} {:>12.1} {:>12.1} {:>10} {:>6}",
            case.protocol,
            case.name,
            best / 1e3,
            worst / 1e3,
            target,
            ratio
        );
        missed |= case.target.is_some_and(|target| best < target);
    }
    std::process::exit(i32::from(check && missed));
}
