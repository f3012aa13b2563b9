// SPDX-License-Identifier: Apache-2.0
//! Reads by rendezvous, over a model of the interfaces in memory.

use crate::soft_network;

use std::cell::Cell;
use std::pin::Pin;
use std::time::Duration;

use isthmus_host::rdma::{
    Descriptor, Endpoint, EndpointConfig, Fault, Frame, HostId, Inbox, Key, Layout, Options,
    QueueEntry, ReadError, Readable, Reader, ReaderConfig, Remote, Served, answer_read,
    serve_reads,
};
use proptest::prelude::*;
use soft_network::{Faults, Machine, Network, base};

const MEMORY: usize = 0x80000;
const REQUESTS: usize = 0x2000;
const ANSWERS: usize = 0x4000;
const DATA: usize = 0x10000;
const DATA_BYTES: usize = 0x20000;
const PLACE: usize = 0x40000;
const SERVES: u8 = 3;
const KEY: Key = Key::new(1, 0x1234);
const SETTLE: Duration = Duration::from_micros(100);

type Host = Endpoint<Machine, Machine>;

fn us(time: u64) -> Duration {
    Duration::from_micros(time)
}

fn run<T, F: Future<Output = T>>(network: &Network, f: impl Fn(usize) -> F) -> Vec<T> {
    let programs = (0..2).map(|host| Box::pin(f(host)) as Pin<Box<dyn Future<Output = T>>>);
    network.run(programs.collect())
}

fn data(host: usize) -> Vec<u8> {
    let mixed = (0..DATA_BYTES as u64 / 8).map(|at| (at << 8 | (host as u64 + 1)).rotate_left(13));
    mixed.flat_map(u64::to_le_bytes).collect()
}

fn readable(host: usize) -> [Readable; 2] {
    let none = Readable { base: 0, bytes: 0, sources: 0, nonce: 0 };
    let base = base(host) + DATA as u64;
    [none, Readable { base, bytes: DATA_BYTES as u64, sources: 0b11, nonce: 0x1234 }]
}

async fn open(network: &Network, host: usize) -> (Host, Inbox, Reader) {
    let machine = network.machine(host);
    let config = EndpointConfig { host: host as HostId, ..EndpointConfig::default() };
    let mut endpoint = Endpoint::open(machine.clone(), machine.clone(), config).await.unwrap();
    machine.poke(DATA, &data(host));
    let entry = QueueEntry {
        base: base(host) + REQUESTS as u64,
        bytes: 0x2000,
        layout: Layout::Slots(64),
        sources: 0xFF,
    };
    let inbox = endpoint.open_queue(SERVES, &entry).await.unwrap();
    let config = ReaderConfig {
        queue: 4,
        ring: ANSWERS..ANSWERS + 0x800,
        regions: 16..24,
        nonce: 0xFF_FFF0,
        timeout: us(500),
    };
    let reader = Reader::open(&mut endpoint, config).await.unwrap();
    machine.sleep(SETTLE).await;
    (endpoint, inbox, reader)
}

fn remote(host: usize, at: usize, bytes: usize) -> Remote {
    let address = base(host) + (DATA + at) as u64;
    Remote { host: host as HostId, queue: SERVES, address, bytes, key: KEY }
}

fn spread() -> Faults {
    Faults { spread: us(9), ..Faults::default() }
}

#[test]
fn a_read_brings_what_is_there_or_says_why_not() {
    let network = Network::new(2, MEMORY, 4, spread());
    let done = Cell::new(false);
    run(&network, |host| {
        let (network, done) = (&network, &done);
        async move {
            let (mut endpoint, mut inbox, mut reader) = open(network, host).await;
            if host == 1 {
                let mut served = Served::default();
                while !done.get() {
                    let readable = readable(1);
                    let now = serve_reads(&mut endpoint, &mut inbox, &readable, us(20)).await;
                    let now = now.unwrap();
                    served.reads += now.reads;
                    served.refused += now.refused;
                    assert_eq!(now.strange, 0);
                }
                assert_eq!((served.reads, served.refused), (20, 6));
                return;
            }
            let machine = network.machine(0);
            for number in 0..20 {
                let bytes = [8, 512, 4096, 4104, 65536][number % 5];
                let remote = remote(1, 8 * number, bytes);
                let read = reader.read(&mut endpoint, &remote, PLACE).await.unwrap();
                assert_eq!(read, Ok(()));
                assert!(machine.peek(PLACE, bytes) == data(1)[8 * number..][..bytes], "{bytes}");
            }
            machine.poke(PLACE, &[0xEE; 64]);
            let good = remote(1, 0, 64);
            for (bad, error) in [
                (Remote { key: Key::new(1, 0x1235), ..good }, ReadError::Key),
                (Remote { key: Key::new(0, 0), ..good }, ReadError::Key),
                (Remote { key: Key::new(9, 0x1234), ..good }, ReadError::Key),
                (Remote { address: good.address - 8, ..good }, ReadError::Bounds),
                (remote(1, DATA_BYTES - 56, 64), ReadError::Bounds),
                (remote(1, 0x2000, 0x1_F000), ReadError::Bounds),
            ] {
                assert_eq!(reader.read(&mut endpoint, &bad, PLACE).await.unwrap(), Err(error));
            }
            // No program serves the other queue.
            let unserved = Remote { queue: 99, ..good };
            let read = reader.read(&mut endpoint, &unserved, PLACE).await.unwrap();
            assert_eq!(read, Err(ReadError::TimedOut(us(500))));
            assert_eq!(machine.peek(PLACE, 64), [0xEE; 64]);
            assert_eq!(reader.in_flight(), 0);
            done.set(true);
        }
    });
}

#[test]
fn what_cannot_be_read_is_not_asked_for() {
    let network = Network::new(2, MEMORY, 4, spread());
    run(&network, |host| {
        let network = &network;
        async move {
            let (mut endpoint, _inbox, mut reader) = open(network, host).await;
            let good = remote(1, 0, 64);
            for (remote, place, expected) in [
                (Remote { bytes: 0, ..good }, PLACE, "size,"),
                (Remote { bytes: 12, ..good }, PLACE, "size 0xc"),
                (Remote { address: 12, ..good }, PLACE, "0xc is not a multiple of 8"),
                (Remote { host: 2, ..good }, PLACE, "host 2"),
                (good, PLACE + 4, "place 0x40004"),
                (good, 0, "no word"),
                (good, MEMORY - 56, "no word"),
                (
                    Remote { bytes: 32 * 4096, ..good },
                    PLACE,
                    "transfers in progress to a reader: 32 needed, 31 available",
                ),
            ] {
                let error = reader.begin(&mut endpoint, &remote, place).await.unwrap_err();
                assert!(error.to_string().contains(expected), "{error}");
            }
            assert_eq!(reader.in_flight(), 0);
            assert_eq!(reader.ended(&mut endpoint, us(1)).await.unwrap(), None);
            let ring = ANSWERS..ANSWERS + 0x800;
            for regions in [0..8, 16..65, 20..20] {
                let ring = ring.clone();
                let config = ReaderConfig { queue: 4, ring, regions, nonce: 0, timeout: us(1) };
                assert!(Reader::open(&mut endpoint, config).await.is_err());
            }
        }
    });
    assert_eq!(network.statistics().packets, 0);
}

#[test]
fn two_hosts_read_from_each_other_many_at_a_time() {
    for seed in 0..8 {
        let network = Network::new(2, MEMORY, seed, spread());
        let left = Cell::new(2);
        let most = run(&network, |host| {
            let (network, left) = (&network, &left);
            async move {
                let (mut endpoint, mut inbox, mut reader) = open(network, host).await;
                let far = 1 - host;
                let (mut begun, mut ended, mut most) = (vec![], 0, 0);
                while left.get() > 0 {
                    serve_reads(&mut endpoint, &mut inbox, &readable(host), Duration::ZERO)
                        .await
                        .unwrap();
                    let number = begun.len();
                    let bytes = 8 * (1 + number * 97 % 1200);
                    if number < 60 && reader.has_room(bytes) {
                        let (at, place) =
                            (8 * (number * 31 % 5000), PLACE + 0x4000 * (number % 16));
                        let remote = remote(far, at, bytes);
                        let ticket = reader.begin(&mut endpoint, &remote, place).await.unwrap();
                        begun.push((ticket, at, bytes, place));
                        most = most.max(reader.in_flight());
                    }
                    while let Some(end) = reader.ended(&mut endpoint, us(1)).await.unwrap() {
                        assert_eq!((end.host, end.result), (far as HostId, Ok(())));
                        let found = begun.iter().find(|(ticket, ..)| *ticket == end.ticket);
                        let (_, at, bytes, place) = *found.unwrap();
                        let found = network.machine(host).peek(place, bytes);
                        assert!(found == data(far)[at..at + bytes]);
                        ended += 1;
                        if ended == 60 {
                            left.set(left.get() - 1);
                        }
                    }
                }
                most
            }
        });
        assert!(most.iter().all(|most| (3..=8).contains(most)), "{most:?}");
    }
}

#[test]
fn an_answer_that_is_late_or_comes_twice_is_not_written() {
    let network = Network::new(2, MEMORY, 4, Faults::default());
    run(&network, |host| {
        let network = &network;
        async move {
            let (mut endpoint, mut inbox, mut reader) = open(network, host).await;
            let machine = network.machine(host);
            let readable = readable(1);
            if host == 1 {
                // The first is answered after its timeout, the second at once and again.
                let (late, late_body) = inbox.wait(&mut endpoint, us(400)).await.unwrap().unwrap();
                machine.sleep(us(800)).await;
                let served = answer_read(&mut endpoint, &readable, &late, &late_body).await;
                assert_eq!(served.unwrap().reads, 1);
                let (frame, body) = inbox.wait(&mut endpoint, us(900)).await.unwrap().unwrap();
                answer_read(&mut endpoint, &readable, &frame, &body).await.unwrap();
                machine.sleep(us(200)).await;
                answer_read(&mut endpoint, &readable, &frame, &body).await.unwrap();
                machine.sleep(us(200)).await;
                // What is not a request is not answered.
                for (body, notification) in [
                    (vec![1; 48], false),
                    (body[..40].to_vec(), false),
                    (vec![], false),
                    (body.clone(), true),
                ] {
                    let frame = Frame { notification, ..frame };
                    let served = answer_read(&mut endpoint, &readable, &frame, &body).await;
                    assert_eq!(served.unwrap(), Served { strange: 1, ..Served::default() });
                }
                return;
            }
            let remote = remote(1, 0, 8192);
            let read = reader.read(&mut endpoint, &remote, PLACE).await.unwrap();
            assert_eq!(read, Err(ReadError::TimedOut(us(500))));
            machine.poke(PLACE, &[0xEE; 8192]);
            machine.sleep(us(500)).await;
            assert_eq!(machine.peek(PLACE, 8192), [0xEE; 8192], "late");
            let read = reader.read(&mut endpoint, &remote, PLACE).await.unwrap();
            assert_eq!(read, Ok(()));
            assert!(machine.peek(PLACE, 8192) == data(1)[..8192]);
            machine.poke(PLACE, &[0xEE; 8192]);
            machine.sleep(us(500)).await;
            assert_eq!(machine.peek(PLACE, 8192), [0xEE; 8192], "twice");
            assert_eq!(reader.ended(&mut endpoint, us(1)).await.unwrap(), None);
            let mut refused = 0;
            while let Some(record) = endpoint.error().await.unwrap() {
                assert_eq!(record.fault, Some(Fault::Key));
                refused += 1;
            }
            assert_eq!(refused, 2 * 16, "each packet of both");
        }
    });
}

#[test]
fn a_read_over_a_network_that_loses_is_right_or_an_error() {
    let (mut right, mut wrong) = (0, 0);
    for seed in 0..12 {
        let network = Network::new(2, MEMORY, seed, Faults { lost: 15, ..spread() });
        let done = Cell::new(false);
        let counts = run(&network, |host| {
            let (network, done) = (&network, &done);
            async move {
                let (mut endpoint, mut inbox, mut reader) = open(network, host).await;
                if host == 1 {
                    while !done.get() {
                        serve_reads(&mut endpoint, &mut inbox, &readable(1), us(20)).await.unwrap();
                        // Other notifications do not hide what is lost.
                        let put = Descriptor {
                            source: base(1) + DATA as u64,
                            target: 0,
                            bytes: 8,
                            host: 0,
                            options: Options { notify: true, ..Options::default() },
                            key: None,
                            start: false,
                        };
                        endpoint.put(&put).await.unwrap();
                    }
                    return (0, 0);
                }
                let (mut right, mut wrong) = (0, 0);
                for number in 0..20 {
                    let machine = network.machine(0);
                    machine.poke(PLACE, &[0; 12288]);
                    let remote = remote(1, 4096 * number, 12288);
                    match reader.read(&mut endpoint, &remote, PLACE).await.unwrap() {
                        Ok(()) => {
                            let expected = &data(1)[4096 * number..][..12288];
                            assert!(machine.peek(PLACE, 12288) == expected);
                            right += 1;
                        }
                        Err(ReadError::Spoilt | ReadError::TimedOut(_)) => wrong += 1,
                        Err(other) => panic!("{other}"),
                    }
                }
                done.set(true);
                (right, wrong)
            }
        });
        right += counts[0].0;
        wrong += counts[0].1;
    }
    assert!(right > 20 && wrong > 20, "{right} right, {wrong} wrong");
}

/// Numbers about which a check may be wrong by one.
fn edges(around: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        (-3..4_i64).prop_map(move |step| around.wrapping_add_signed(8 * step)),
        (-9..9_i64).prop_map(move |step| around.wrapping_add_signed(step)),
        any::<u64>(),
        Just(0),
        Just(u64::MAX - 7),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn whoever_asks_gets_nothing_but_what_may_be_read(
        address in prop_oneof![
            edges(base(1) + DATA as u64),
            edges(base(1) + (DATA + DATA_BYTES) as u64 - 4096),
        ],
        bytes in prop_oneof![edges(4096), edges(DATA_BYTES as u64)],
        key in prop_oneof![3 => Just(KEY.bits()), 1 => any::<u32>()],
        reply in any::<u32>(),
        target in prop_oneof![any::<u64>().prop_map(|target| target & !7), any::<u64>()],
        cut in prop_oneof![4 => Just(48_usize), 1 => 0..64_usize],
    ) {
        let network = Network::new(2, MEMORY, 4, Faults::default());
        let words = [0x4441_4552 | 4 << 32, 7, address, bytes, u64::from(reply) << 32
            | u64::from(key), target];
        let mut body: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        body.resize(cut, 0);
        let served = run(&network, |host| {
            let (network, body) = (&network, &body);
            async move {
                let (mut endpoint, _inbox, _reader) = open(network, host).await;
                if host == 0 {
                    return Served::default();
                }
                let frame = Frame::from(6 << 1 | 1);
                let readable = readable(1);
                answer_read(&mut endpoint, &readable, &frame, body).await.unwrap()
            }
        })[1];
        let end = u128::from(address) + u128::from(bytes);
        let limit = u128::from(base(1)) + (DATA + DATA_BYTES) as u128;
        let whole = address % 8 == 0 && bytes % 8 == 0 && bytes > 0;
        let inside = address >= base(1) + DATA as u64 && end <= limit;
        let may = whole && inside && key == KEY.bits();
        let expected = match (cut, may, target % 8) {
            (48, true, 0) => Served { reads: 1, bytes, ..Served::default() },
            (48, false, _) => Served { refused: 1, ..Served::default() },
            _ => Served { strange: 1, ..Served::default() },
        };
        prop_assert_eq!(served, expected);
    }
}
