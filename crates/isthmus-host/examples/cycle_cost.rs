// SPDX-License-Identifier: Apache-2.0
//! What the client's own work costs on this machine: time to build a request and to take its reply
//! apart, for pipelined checked cycles. Print with
//! `cargo run --release -p isthmus-host --example cycle_cost`.
//!
//! The transport answers with replies that were made before, so that only the client is measured.
//! The best of several rounds is shown: everything else that runs on the machine only adds time.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use isthmus_host::etherbone::{Client, ClientConfig, Cycle, Error, Memory, SoftSlave};
use isthmus_host::transport::{Kind, Transport, TransportError, block_on};

const CYCLES: usize = 90;
const ROUNDS: usize = 2_000;

/// Time spent in the client before it sends, and after it receives.
#[derive(Default)]
struct Stopwatch {
    paused: Duration,
}

struct Replay {
    slave: SoftSlave<Memory>,
    replies: Vec<Vec<u8>>,
    watch: Rc<RefCell<Stopwatch>>,
}

impl Transport for Replay {
    fn kind(&self) -> Kind {
        Kind::Datagram
    }
    fn now(&self) -> Duration {
        Duration::ZERO
    }
    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        let start = Instant::now();
        self.replies.extend(self.slave.datagram(message));
        self.watch.borrow_mut().paused += start.elapsed();
        Ok(())
    }
    async fn recv(&mut self, buffer: &mut [u8], _: Duration) -> Result<usize, TransportError> {
        let start = Instant::now();
        let reply = self.replies.pop().ok_or(TransportError::TimedOut)?;
        buffer[..reply.len()].copy_from_slice(&reply);
        self.watch.borrow_mut().paused += start.elapsed();
        Ok(reply.len())
    }
}

/// Best nanoseconds per cycle: building and sending, receiving and taking apart.
async fn measure(operations: u64) -> Result<(f64, f64), Error> {
    let watch = Rc::new(RefCell::new(Stopwatch::default()));
    let slave = SoftSlave::new(Memory::new(0, 4096));
    let transport = Replay { slave, replies: Vec::new(), watch: Rc::clone(&watch) };
    let mut client = Client::connect(transport, ClientConfig::default()).await?;
    let (mut build, mut complete) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        watch.borrow_mut().paused = Duration::ZERO;
        let start = Instant::now();
        let pending: Vec<_> = (0..CYCLES)
            .map(|_| client.submit(&Cycle::new().reads((0..operations).map(|i| 4 * i))))
            .collect::<Result<_, _>>()?;
        client.flush().await?;
        let sent = start.elapsed() - watch.borrow().paused;
        watch.borrow_mut().paused = Duration::ZERO;
        let start = Instant::now();
        client.settle().await?;
        for result in pending {
            std::hint::black_box(result.take());
        }
        let settled = start.elapsed() - watch.borrow().paused;
        let per_cycle = |time: Duration| time.as_secs_f64() * 1e9 / CYCLES as f64;
        build = build.min(per_cycle(sent));
        complete = complete.min(per_cycle(settled));
    }
    Ok((build, complete))
}

fn main() -> Result<(), Error> {
    println!("ns per checked cycle, best of {ROUNDS} rounds of {CYCLES} cycles");
    println!("{:>10} {:>10} {:>10}", "reads", "build", "complete");
    for operations in [1, 2, 16, 64] {
        let (build, complete) = block_on(measure(operations))?;
        println!("{operations:>10} {build:>10.0} {complete:>10.0}");
    }
    Ok(())
}
