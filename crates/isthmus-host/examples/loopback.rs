// SPDX-License-Identifier: Apache-2.0
//! How fast the client and the software slave are together, over the loopback interface: two
//! threads, real sockets. `cargo run --release -p isthmus-host --example loopback [-- --check]`; words
//! such as `udp pipelined` choose some of the figures, `--spin=200` lets both sides poll for so many
//! microseconds before they sleep (faster where each has a processor to itself, slower elsewhere).
//!
//! Every value read is compared. All methods take turns in many short rounds, so that each has its
//! share of quiet moments; best, median and worst round are shown, for whatever else runs on the
//! machine only takes time away. `--rounds=N` makes more or fewer, `--check` makes it exit 1 where
//! the best misses the target.

use std::time::{Duration, Instant};

use isthmus_host::etherbone::{
    Bus, Client, ClientConfig, Cycle, Error, Memory, Server, ServerConfig, Width,
};
use isthmus_host::transport::{AnyTransport, block_on};

/// Cycles submitted before waiting for all of them.
const BATCH: usize = 90;
const ROUNDS: usize = 40;
const ROUND: Duration = Duration::from_millis(60);

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

/// The number behind an option such as `--rounds=`.
fn option(name: &str) -> Option<u64> {
    std::env::args().find_map(|argument| argument.strip_prefix(name)?.parse().ok())
}

fn main() -> Result<(), Error> {
    let check = std::env::args().any(|arg| arg == "--check");
    let only: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let spin = Duration::from_micros(option("--spin=").unwrap_or(0));
    let rounds = option("--rounds=").map_or(ROUNDS, |rounds| rounds as usize).max(1);
    let mut memory = Memory::new(0, 4096);
    for address in (0..4096).step_by(4) {
        // Inside the memory.
        let _ = memory.write(address, Width::W32, 0xF, address);
    }
    let config = ServerConfig { spin, ..ServerConfig::listen(([127, 0, 0, 1], 0).into()) };
    let server = Server::bind(memory, config)?.spawn()?;
    let mut measured = Vec::new();
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
        measured.push((case, name, Vec::with_capacity(rounds)));
    }
    for _ in 0..rounds {
        for (case, name, rates) in &mut measured {
            // One client at a time: the others' connections would cost the server a look each.
            let transport = isthmus_host::transport::open(name)?.with_spin(spin);
            let mut client = block_on(Client::connect(transport, ClientConfig::default()))?;
            rates.push(block_on(case.round(&mut client))?);
        }
    }
    println!(
        "{:<4} {:<26} {:>10} {:>10} {:>10} {:>10} {:>6}   thousand reads a second, {rounds} rounds",
        "", "method", "best", "median", "worst", "target", "ratio"
    );
    let mut missed = false;
    for (case, _, rates) in &mut measured {
        rates.sort_by(f64::total_cmp);
        let (worst, best) = (rates[0], rates[rates.len() - 1]);
        let median = rates[rates.len() / 2];
        let target = case.target.map_or(String::new(), |t| format!("{:.0}", t / 1e3));
        let ratio = case.target.map_or(String::new(), |t| format!("{:.2}", best / t));
        println!(
            "{:<4} {:<26} {:>10.1} {:>10.1} {:>10.1} {target:>10} {ratio:>6}",
            case.protocol,
            case.name,
            best / 1e3,
            median / 1e3,
            worst / 1e3,
        );
        missed |= case.target.is_some_and(|target| best < target);
    }
    std::process::exit(i32::from(check && missed));
}
