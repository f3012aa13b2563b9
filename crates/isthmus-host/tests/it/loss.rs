// SPDX-License-Identifier: Apache-2.0
//! Lost, doubled and overtaken datagrams: what a client may rely on, with a device that knows
//! sessions and with one that does not.

use isthmus_host::etherbone::{
    Bus, BusFault, Client, ClientConfig, Cycle, Dialect, Error, Memory, SlaveConfig, SoftSlave,
    Width, Widths,
};
use isthmus_host::transport::{Kind, Transport, TransportError, block_on};
use proptest::prelude::*;
use std::collections::HashMap;
use std::time::Duration;

/// Reads give back the address; writes to one address are taken down, each value by itself.
#[derive(Default)]
struct Journal {
    written: HashMap<u64, usize>,
    reads: usize,
}

const JOURNAL: u64 = 0x8000;

impl Bus for Journal {
    fn read(&mut self, address: u64, _: Width, _: u8) -> Result<u64, BusFault> {
        self.reads += 1;
        Ok(address)
    }
    fn write(&mut self, address: u64, _: Width, _: u8, data: u64) -> Result<(), BusFault> {
        if address != JOURNAL {
            return Err(BusFault);
        }
        *self.written.entry(data).or_default() += 1;
        Ok(())
    }
}

/// How often, of 100 datagrams, each thing goes wrong.
#[derive(Debug, Clone, Copy)]
struct Rates {
    lost: u64,
    doubled: u64,
    late: u64,
}

impl Rates {
    fn all(percent: u64) -> Self {
        Self { lost: percent, doubled: percent, late: percent }
    }
}

const LATENCY: Duration = Duration::from_micros(20);
const TIMEOUT: Duration = Duration::from_millis(1);

/// A network in its own time. What is late comes after up to four time-outs.
struct Network<B> {
    slave: SoftSlave<B>,
    rates: Rates,
    seed: u64,
    now: Duration,
    /// When, in which order, to the slave or to the client, what.
    flying: Vec<(Duration, usize, bool, Vec<u8>)>,
    sent: usize,
    calls: usize,
}

impl<B: Bus> Network<B> {
    fn new(slave: SoftSlave<B>, rates: Rates, seed: u64) -> Self {
        let seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        Self { slave, rates, seed, now: Duration::ZERO, flying: Vec::new(), sent: 0, calls: 0 }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 16) % below
    }

    fn put(&mut self, to_slave: bool, bytes: &[u8]) {
        let copies = if self.random(100) < self.rates.doubled { 2 } else { 1 };
        for _ in 0..copies {
            if self.random(100) < self.rates.lost {
                continue;
            }
            let late = self.random(100) < self.rates.late;
            let extra = if late { self.random(4 * TIMEOUT.as_micros() as u64) } else { 0 };
            self.sent += 1;
            let due = self.now + LATENCY + Duration::from_micros(extra);
            self.flying.push((due, self.sent, to_slave, bytes.to_vec()));
        }
    }
}

impl<B: Bus> Transport for Network<B> {
    fn kind(&self) -> Kind {
        Kind::Datagram
    }

    fn now(&self) -> Duration {
        self.now
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        self.put(true, message);
        Ok(())
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        self.calls += 1;
        assert!(self.calls < 1_000_000, "the client hangs");
        loop {
            let next =
                (0..self.flying.len()).min_by_key(|i| (self.flying[*i].0, self.flying[*i].1));
            let Some(next) = next.filter(|i| self.flying[*i].0 <= deadline) else {
                self.now = self.now.max(deadline);
                return Err(TransportError::TimedOut);
            };
            let (due, _, to_slave, bytes) = self.flying.swap_remove(next);
            self.now = self.now.max(due);
            if !to_slave {
                buffer[..bytes.len()].copy_from_slice(&bytes);
                return Ok(bytes.len());
            }
            if let Some(reply) = self.slave.datagram(&bytes) {
                self.put(false, &reply);
            }
        }
    }
}

fn config(retries: u32) -> ClientConfig {
    ClientConfig {
        reply_timeout: TIMEOUT,
        probe_timeout: TIMEOUT,
        probe_attempts: 30,
        retries,
        ..ClientConfig::default()
    }
}

/// What a run came to.
#[derive(Debug, Default)]
struct Outcome {
    done: usize,
    failed: usize,
    repeated: u64,
    session: bool,
}

/// Batches of cycles that read and write, some of them silent; every value read is compared, every
/// value written is unique. Returns an error text instead of panicking half-way.
fn run(slave: SlaveConfig, rates: Rates, seed: u64, retries: u32) -> Result<Outcome, String> {
    run_with(slave, rates, seed, config(retries))
}

fn run_with(
    slave: SlaveConfig,
    rates: Rates,
    seed: u64,
    config: ClientConfig,
) -> Result<Outcome, String> {
    let lite = slave.dialect == Dialect::LiteEth;
    let once = slave.sessions && !lite || rates.doubled == 0;
    let network = Network::new(SoftSlave::with_config(Journal::default(), slave), rates, seed);
    let mut outcome = Outcome::default();
    let mut states: HashMap<u64, bool> = HashMap::new();
    let mut client =
        block_on(Client::connect(network, config)).map_err(|error| format!("connects: {error}"))?;
    outcome.session = client.has_session();
    let mut value = 0;
    for batch in 1..=40u64 {
        let mut pending = Vec::new();
        for i in 0..batch {
            value += 1;
            let address = 4 * (value % 500);
            let (cycle, reads) = match i % 5 {
                0 => (Cycle::new().write(JOURNAL, value), vec![]),
                1 => (Cycle::new().write(JOURNAL, value).silent(), vec![]),
                2 => (Cycle::new().read(address).write(JOURNAL, value).read(4), vec![address, 4]),
                3 => (Cycle::new().read(address).read(8).repeatable(), vec![address, 8]),
                _ => {
                    let reads: Vec<u64> = (0..20).map(|n| address + 4 * n).collect();
                    (Cycle::new().write(JOURNAL, value).reads(reads.clone()).silent(), reads)
                }
            };
            let submitted = client.submit(&cycle).map_err(|error| error.to_string())?;
            pending.push(((i % 5 != 3).then_some(value), reads, submitted));
        }
        let settled = block_on(async {
            client.flush().await?;
            client.settle().await
        });
        settled.map_err(|error| error.to_string())?;
        for (value, expected, pending) in pending {
            match pending.take() {
                Some(Ok(reply)) if reply.reads == expected => {
                    // Without a session a silent write ends when it is sent, and in LiteEth's dialect
                    // nothing says that a datagram of writes arrived.
                    let certain = outcome.session || !lite && !expected.is_empty();
                    states.extend(value.map(|value| (value, certain)));
                    outcome.done += 1;
                }
                Some(Err(Error::TimedOut { .. })) => {
                    states.extend(value.map(|value| (value, false)));
                    outcome.failed += 1;
                }
                other => return Err(format!("value {value:?}: {other:?}")),
            }
        }
    }
    if client.outstanding() > 0 {
        return Err(format!("{} cycles are left", client.outstanding()));
    }
    outcome.repeated = client.statistics().repeated;
    // What is still in flight arrives.
    let end = client.transport().now() + Duration::from_secs(1);
    while block_on(client.transport().recv(&mut [0; 2048], end)).is_ok() {}
    let written = &client.transport().slave.bus().written;
    for (value, certain) in states {
        let times = written.get(&value).copied().unwrap_or(0);
        // What the network doubles, a plain device executes twice; nothing else may.
        let most = if once { 1 } else { 2 };
        if times > most || certain && times == 0 {
            return Err(format!("value {value} was written {times} times, certain: {certain}"));
        }
    }
    Ok(outcome)
}

#[test]
fn in_a_session_every_cycle_is_executed_exactly_once() {
    for percent in [1, 10] {
        let mut repeated = 0;
        for seed in 0..30 {
            let outcome = run(SlaveConfig::default(), Rates::all(percent), seed, 12)
                .unwrap_or_else(|error| panic!("{percent} %, seed {seed}: {error}"));
            assert!(outcome.session);
            assert_eq!((outcome.done, outcome.failed), (820, 0), "{percent} %, seed {seed}");
            repeated += outcome.repeated;
        }
        assert!(repeated > 10 * percent, "nothing was lost: {repeated} repeated");
    }
}

/// Each fault alone and all at once, at both rates, with each kind of device: no hang (the network
/// counts calls), no wrong value, nothing written more often than the network delivered it.
#[test]
fn every_fault_at_1_and_10_percent_with_every_device() {
    let plain = SlaveConfig { sessions: false, ..SlaveConfig::default() };
    let lite = SlaveConfig { dialect: Dialect::LiteEth, ..SlaveConfig::default() };
    let none = Rates { lost: 0, doubled: 0, late: 0 };
    for percent in [1, 10] {
        let faults = [
            ("loss", Rates { lost: percent, ..none }),
            ("doubling", Rates { doubled: percent, ..none }),
            ("lateness", Rates { late: percent, ..none }),
            ("all", Rates::all(percent)),
        ];
        for (fault, rates) in faults {
            for (device, slave) in [
                ("session", SlaveConfig::default()),
                ("plain", plain.clone()),
                ("liteeth", lite.clone()),
            ] {
                // LiteEth's window is 1 by default; here it is as wide as the other's.
                let client = ClientConfig { dialect: slave.dialect, ..config(12) };
                let mut sum = Outcome::default();
                for seed in 0..6 {
                    let what = format!("{fault} at {percent} %, {device}, seed {seed}");
                    let outcome = run_with(slave.clone(), rates, seed, client.clone())
                        .unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert_eq!(outcome.done + outcome.failed, 820, "{what}");
                    assert_eq!(outcome.session, device == "session", "{what}");
                    assert!(device != "session" || outcome.failed == 0, "{what}");
                    sum.failed += outcome.failed;
                    sum.repeated += outcome.repeated;
                }
                let lossy = rates.lost > 0;
                assert!(
                    !lossy || sum.repeated > 0,
                    "{fault} at {percent} %, {device}: nothing lost"
                );
                assert!(
                    fault != "doubling" || sum.failed + sum.repeated as usize == 0,
                    "{fault} at {percent} %, {device}: doubling alone loses nothing"
                );
            }
        }
    }
}

#[test]
fn in_a_session_that_gives_up_nothing_is_executed_twice() {
    let mut failed = 0;
    for seed in 0..60 {
        let outcome = run(SlaveConfig::default(), Rates::all(10), seed, 1)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        failed += outcome.failed;
    }
    assert!(failed > 0, "one retry is too few at 10 %");
}

#[test]
fn without_a_session_writes_are_never_sent_twice() {
    // A network that doubles datagrams doubles what a plain device executes, unnoticed.
    for percent in [1, 10] {
        let rates = Rates { doubled: 0, ..Rates::all(percent) };
        let (mut failed, mut repeated) = (0, 0);
        for seed in 0..30 {
            let plain = SlaveConfig { sessions: false, ..SlaveConfig::default() };
            let outcome = run(plain, rates, seed, 12)
                .unwrap_or_else(|error| panic!("{percent} %, seed {seed}: {error}"));
            assert!(!outcome.session);
            failed += outcome.failed;
            repeated += outcome.repeated;
        }
        assert!(failed > 0, "losses are reported");
        assert!(repeated > 0, "the repeatable ones are sent again");
    }
}

/// Reads alone, marked as repeatable.
fn repeatable_reads(slave: SlaveConfig, client: ClientConfig, seed: u64) -> Result<u64, Error> {
    let network =
        Network::new(SoftSlave::with_config(Journal::default(), slave), Rates::all(10), seed);
    block_on(async {
        let mut client = Client::connect(network, client).await?;
        assert!(!client.has_session());
        for start in 0..100u64 {
            let addresses: Vec<u64> = (0..40).map(|i| 4 * (start + i)).collect();
            let cycle = Cycle::new().reads(addresses.clone()).repeatable();
            assert_eq!(client.execute(cycle).await?.reads, addresses);
        }
        Ok(client.statistics().repeated)
    })
}

#[test]
fn a_plain_device_is_asked_again_for_what_may_be_repeated() {
    let plain = SlaveConfig { sessions: false, ..SlaveConfig::default() };
    let lite = SlaveConfig { dialect: Dialect::LiteEth, ..SlaveConfig::default() };
    for seed in 0..20 {
        for slave in [&plain, &lite] {
            let client = ClientConfig { dialect: slave.dialect, ..config(20) };
            let repeated = repeatable_reads(slave.clone(), client, seed)
                .unwrap_or_else(|error| panic!("{slave:?} seed {seed}: {error}"));
            assert!(repeated > 0);
        }
    }
}

#[test]
fn a_time_out_names_all_the_time_waited() {
    let rates = Rates { lost: 0, doubled: 0, late: 0 };
    let network = Network::new(SoftSlave::new(Memory::new(0, 64)), rates, 1);
    let error = block_on(async {
        let mut client = Client::connect(network, config(4)).await?;
        client.transport().rates.lost = 100;
        client.write(0, 0).await
    })
    .expect_err("all is lost");
    let expected =
        "write 0x00000000 (operation 0): no reply within 5ms (1 operations in the cycle)";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn what_was_given_up_is_not_executed_late() {
    let rates = Rates { lost: 0, doubled: 0, late: 0 };
    let slave = SoftSlave::new(Journal::default());
    let network = Network::new(slave, rates, 1);
    block_on(async {
        let mut client = Client::connect(network, config(1)).await?;
        // The request is in flight for longer than the client waits.
        client.transport().rates.late = 100;
        client.transport().seed = 99;
        let mut given_up = Vec::new();
        for value in 0..200 {
            if client.write(JOURNAL, value).await.is_err() {
                given_up.push(value);
            }
        }
        assert!(!given_up.is_empty());
        let before = client.transport().slave.bus().written.clone();
        client.transport().rates.late = 0;
        client.write(JOURNAL, 1000).await?;
        let end = client.transport().now() + Duration::from_secs(1);
        while client.transport().recv(&mut [0; 2048], end).await.is_ok() {}
        for value in given_up {
            let after = client.transport().slave.bus().written.get(&value);
            assert_eq!(after, before.get(&value), "{value} came late");
        }
        Ok::<(), Error>(())
    })
    .expect("works");
}

/// Real sockets and long runs: fewer cases than elsewhere, still scaled by `PROPTEST_CASES`.
fn fewer() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: config.cases.div_ceil(10), ..config }
}

proptest! {
    #![proptest_config(fewer())]

    /// Any rates up to a third of all datagrams, any widths that carry a session.
    #[test]
    fn sessions_hold_at_any_rate(
        lost in 0u64..34, doubled in 0u64..34, late in 0u64..34, seed in any::<u64>(),
        wide in any::<bool>(),
    ) {
        let widths = if wide { Widths { address: 8, data: 8 } } else { Widths::W32 };
        let slave = SlaveConfig { widths, ..SlaveConfig::default() };
        let outcome = if wide { run_wide(slave, Rates { lost, doubled, late }, seed) }
            else { run(slave, Rates { lost, doubled, late }, seed, 40).map(drop) };
        prop_assert!(outcome.is_ok(), "{:?}", outcome);
    }
}

/// 64-bit words: each write exactly once.
fn run_wide(slave: SlaveConfig, rates: Rates, seed: u64) -> Result<(), String> {
    let network = Network::new(SoftSlave::with_config(Journal::default(), slave), rates, seed);
    block_on(async {
        let mut client = Client::connect(network, config(40)).await?;
        for value in 0..100 {
            client.write(JOURNAL, value << 40).await?;
        }
        let written = &client.transport().slave.bus().written;
        let once = (0..100).all(|value: u64| written.get(&(value << 40)) == Some(&1));
        assert!(once && written.len() == 100, "{written:?}");
        Ok::<(), Error>(())
    })
    .map_err(|error| error.to_string())
}
