// SPDX-License-Identifier: Apache-2.0
//! Hosts that do something together, over a model of their interfaces in memory.

use crate::soft_network;

use std::cell::RefCell;
use std::pin::Pin;
use std::time::Duration;

use isthmus_host::pcie::DmaMemory;
use isthmus_host::rdma::{Endpoint, EndpointConfig, Fault, Group, GroupConfig, HostId, RdmaError};
use proptest::prelude::*;
use soft_network::{Faults, Machine, Network};

const MEMORY: usize = 0x80000;
const RING: usize = 0x2000;
const RING_BYTES: usize = 0x10000;
const WINDOW: usize = 0x20000;
const WINDOW_BYTES: usize = 0x20000;
const SEND: usize = 0x50000;
const TIMEOUT: Duration = Duration::from_millis(5);

type Host = Endpoint<Machine, Machine>;

fn group_config(members: usize) -> GroupConfig {
    GroupConfig {
        members: (0..members as HostId).collect(),
        queue: 9,
        ring: RING..RING + RING_BYTES,
        slot: 512,
        region: 30,
        nonce: 77,
        window: WINDOW..WINDOW + WINDOW_BYTES,
    }
}

async fn open(network: &Network, host: usize) -> Host {
    let machine = network.machine(host);
    let (host, timeout) = (host as HostId, TIMEOUT);
    let config = EndpointConfig { host, timeout, ..EndpointConfig::default() };
    Endpoint::open(machine.clone(), machine, config).await.unwrap()
}

/// A member that has met all others; they come one after the other.
async fn join(network: &Network, host: usize, members: usize) -> (Host, Group) {
    let mut endpoint = open(network, host).await;
    network.machine(host).sleep(Duration::from_micros(7 * (host as u64 % 3))).await;
    let mut group = Group::open(&mut endpoint, &group_config(members)).await.unwrap();
    group.join(&mut endpoint).await.unwrap();
    // Questions that came too early.
    network.machine(host).sleep(Duration::from_micros(200)).await;
    while let Some(record) = endpoint.error().await.unwrap() {
        assert_eq!(record.fault, Some(Fault::Queue));
    }
    (endpoint, group)
}

/// Runs a program at each of so many hosts.
fn run<T, F: Future<Output = T>>(
    network: &Network,
    hosts: usize,
    f: impl Fn(usize) -> F,
) -> Vec<T> {
    let programs = (0..hosts).map(|host| Box::pin(f(host)) as Pin<Box<dyn Future<Output = T>>>);
    network.run(programs.collect())
}

fn spread() -> Faults {
    Faults { spread: Duration::from_micros(9), ..Faults::default() }
}

#[test]
fn members_find_each_other_in_whatever_order_they_come() {
    for members in [1, 2, 5, 8] {
        for seed in 0..6 {
            let network = Network::new(members, MEMORY, seed, spread());
            let windows = run(&network, members, |host| {
                let network = &network;
                async move {
                    let mut endpoint = open(network, host).await;
                    // Later ones refuse what comes before they are there.
                    let late = Duration::from_micros((host as u64 * 37 + seed * 11) % 200);
                    network.machine(host).sleep(late).await;
                    let config = group_config(members);
                    let mut group = Group::open(&mut endpoint, &config).await.unwrap();
                    group.join(&mut endpoint).await.unwrap();
                    assert_eq!((group.len(), group.rank()), (members, host));
                    group.barrier(&mut endpoint).await.unwrap();
                    network.machine(host).sleep(Duration::from_micros(500)).await;
                    while let Some(record) = endpoint.error().await.unwrap() {
                        assert_eq!(record.fault, Some(Fault::Queue));
                    }
                    group.window()
                }
            });
            assert_eq!(windows.len(), members);
        }
    }
}

#[test]
fn nobody_leaves_a_barrier_before_all_have_come() {
    for members in [2, 3, 4, 7, 8] {
        let network = Network::new(members, MEMORY, members as u64, spread());
        let entered = RefCell::new(vec![0; members]);
        run(&network, members, |host| {
            let (network, entered) = (&network, &entered);
            async move {
                let (mut endpoint, mut group) = join(network, host, members).await;
                for round in 1..40_u64 {
                    let late = (host as u64 * 7 + round * 13) % 23;
                    network.machine(host).sleep(Duration::from_micros(late)).await;
                    entered.borrow_mut()[host] = round;
                    group.barrier(&mut endpoint).await.unwrap();
                    let all = entered.borrow();
                    assert!(all.iter().all(|others| *others >= round), "{round}: {all:?}");
                }
            }
        });
    }
}

/// The word that member `from` has for `to`.
fn word(from: usize, to: usize, round: usize, beat: usize) -> u64 {
    (from * 1_000_000_000 + to * 100_000_000 + round * 1_000_000 + beat) as u64
}

fn beats(words: impl Iterator<Item = u64>) -> Vec<u8> {
    words.flat_map(u64::to_le_bytes).collect()
}

#[test]
fn in_an_exchange_each_gets_what_each_has_for_it() {
    for (members, block) in [(2, 8), (3, 4104), (4, 512), (5, 6400), (8, 1024)] {
        let network = Network::new(members, MEMORY, block as u64, spread());
        run(&network, members, |host| {
            let network = &network;
            async move {
                let (mut endpoint, mut group) = join(network, host, members).await;
                for round in 0..6 {
                    let late = (host as u64 * 31 + round as u64 * 17) % 41;
                    network.machine(host).sleep(Duration::from_micros(late)).await;
                    let from: Vec<u8> = (0..members)
                        .flat_map(|to| beats((0..block / 8).map(move |b| word(host, to, round, b))))
                        .collect();
                    let expected: Vec<u8> = (0..members)
                        .flat_map(|from| {
                            beats((0..block / 8).map(move |b| word(from, host, round, b)))
                        })
                        .collect();
                    endpoint.memory().write(SEND, &from).await.unwrap();
                    // Two windows in turn: what has come is read while others go on.
                    let to = round % 2 * members * block;
                    group.all_to_all(&mut endpoint, SEND, to, block).await.unwrap();
                    let found = network.machine(host).peek(WINDOW + to, expected.len());
                    assert!(found == expected, "round {round} at {host}");
                    // The send buffer may be used again at once.
                    endpoint.memory().write(SEND, &vec![0xEE; from.len()]).await.unwrap();
                }
            }
        });
    }
}

#[test]
fn short_blocks_go_by_messages_long_ones_in_parts() {
    for (members, beat) in [(2, 1), (3, 63), (4, 64), (8, 200)] {
        let network = Network::new(members, MEMORY, beat, spread());
        run(&network, members, |host| {
            let network = &network;
            async move {
                let (mut endpoint, mut group) = join(network, host, members).await;
                for round in 0..5 {
                    let late = (host as u64 * 31 + round as u64 * 17) % 41;
                    network.machine(host).sleep(Duration::from_micros(late)).await;
                    // Another length for each.
                    let block = |from: usize, to: usize| {
                        let count = (from + to) % beat as usize + 1;
                        beats((0..count).map(move |beat| word(from, to, round, beat)))
                    };
                    let blocks: Vec<_> = (0..members).map(|to| block(host, to)).collect();
                    let found = group.all_to_all_messages(&mut endpoint, &blocks).await.unwrap();
                    let expected: Vec<_> = (0..members).map(|from| block(from, host)).collect();
                    assert_eq!(found, expected);
                }
                let all = group.all_gather(&mut endpoint, &[host as u8; 8]).await.unwrap();
                assert!(all.iter().enumerate().all(|(from, block)| *block == [from as u8; 8]));
            }
        });
    }
}

/// What all members do together.
#[derive(Clone, Copy, Debug)]
enum Call {
    Barrier,
    Exchange { beats: usize },
    Messages { beats: usize },
    Rounds { beats: usize },
}

/// A call made of its parts: four rounds over two places in turn, each free again when its reader says so.
/// They are in the upper half of the window: exchanges before and after use the lower one.
async fn rounds(
    endpoint: &mut Host,
    group: &mut Group,
    machine: &Machine,
    (number, many): (usize, usize),
) {
    let (members, rank, bytes) = (group.len(), group.rank(), 8 * many);
    group.require_slots("rounds", 6 * (members - 1)).unwrap();
    let (place, half) = (group.window_range().start, WINDOW_BYTES / 2);
    group.begin();
    for round in 0..4_usize {
        let turn = round % 2;
        for step in 1..members {
            let remote = (rank + step) % members;
            if round >= 2 {
                group.released(endpoint, remote, round as u32 - 2).await.unwrap();
            }
            let from = SEND + (turn * members + remote) * bytes;
            let data = beats((0..many).map(|b| word(rank, remote, number + round, b)));
            endpoint.memory().write(from, &data).await.unwrap();
            let to = half + (turn * members + rank) * bytes;
            group.put_block(endpoint, remote, (from, to, bytes), round as u32).await.unwrap();
        }
        for step in 1..members {
            let remote = (rank + members - step) % members;
            group.take_block(endpoint, remote, round as u32).await.unwrap();
            let at = place + half + (turn * members + remote) * bytes;
            let expected = beats((0..many).map(|b| word(remote, rank, number + round, b)));
            assert!(machine.peek(at, bytes) == expected, "call {number}, round {round}");
            group.release(endpoint, remote, round as u32).await.unwrap();
        }
    }
    for step in 1..members {
        let remote = (rank + step) % members;
        for round in 2..4 {
            group.released(endpoint, remote, round).await.unwrap();
        }
    }
}

#[test]
fn a_round_beyond_its_range_is_refused_before_it_is_sent() {
    let network = Network::new(2, MEMORY, 1, Faults::default());
    run(&network, 2, |host| {
        let network = &network;
        async move {
            let (mut endpoint, mut group) = join(network, host, 2).await;
            group.begin();
            let put = group.put_block(&mut endpoint, 1 - host, (SEND, 0, 8), 1 << 20).await;
            let error = put.unwrap_err().to_string();
            assert!(error.contains("rounds: 1048577 needed, 1048576"), "{error}");
            group.barrier(&mut endpoint).await.unwrap();
        }
    });
}

/// A member's part of a row of calls, whatever time others take.
async fn calls(network: &Network, host: usize, members: usize, row: &[(Call, u64)]) {
    let (mut endpoint, mut group) = join(network, host, members).await;
    let machine = network.machine(host);
    for (number, (call, late)) in row.iter().enumerate() {
        machine.sleep(Duration::from_nanos((late >> (7 * host)) % 60_000)).await;
        match *call {
            Call::Barrier => group.barrier(&mut endpoint).await.unwrap(),
            Call::Exchange { beats: many } => {
                let block = |from, to| beats((0..many).map(move |b| word(from, to, number, b)));
                let own: Vec<u8> = (0..members).flat_map(|to| block(host, to)).collect();
                let theirs: Vec<u8> = (0..members).flat_map(|from| block(from, host)).collect();
                endpoint.memory().write(SEND, &own).await.unwrap();
                let to = number % 2 * WINDOW_BYTES / 4;
                group.all_to_all(&mut endpoint, SEND, to, 8 * many).await.unwrap();
                assert!(machine.peek(WINDOW + to, theirs.len()) == theirs, "call {number}");
            }
            Call::Messages { beats: many } => {
                let block = |from, to| beats((0..many).map(move |b| word(from, to, number, b)));
                let own: Vec<_> = (0..members).map(|to| block(host, to)).collect();
                let theirs: Vec<_> = (0..members).map(|from| block(from, host)).collect();
                let found = group.all_to_all_messages(&mut endpoint, &own).await.unwrap();
                assert!(found == theirs, "call {number}");
            }
            Call::Rounds { beats: many } => {
                rounds(&mut endpoint, &mut group, &machine, (number, many)).await;
            }
        }
    }
    assert_eq!(endpoint.error().await.unwrap(), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn calls_of_any_kind_follow_each_other_at_any_pace(
        members in 1..=8_usize,
        row in prop::collection::vec(
            (
                prop_oneof![
                    Just(Call::Barrier),
                    (1..512_usize).prop_map(|beats| Call::Exchange { beats }),
                    (1..250_usize).prop_map(|beats| Call::Messages { beats }),
                    (1..512_usize).prop_map(|beats| Call::Rounds { beats }),
                ],
                any::<u64>(),
            ),
            1..10,
        ),
        seed in any::<u64>(),
    ) {
        let network = Network::new(members, MEMORY, seed, spread());
        run(&network, members, |host| calls(&network, host, members, &row));
    }
}

#[test]
fn what_has_no_room_is_refused_before_anything_is_sent() {
    let network = Network::new(3, MEMORY, 1, Faults::default());
    run(&network, 3, |host| {
        let network = &network;
        async move {
            let mut endpoint = open(network, host).await;
            let good = group_config(3);
            for (config, expected) in [
                (GroupConfig { ring: RING..RING + 2048, ..good.clone() }, "two barriers: 4 needed"),
                (GroupConfig { ring: 0..2048, ..good.clone() }, "memory of 524288 bytes"),
                (GroupConfig { window: 0x2000..0x90000, ..good.clone() }, "589824 bytes"),
                (GroupConfig { members: vec![0, 1, 1, 2], ..good.clone() }, "host 1"),
                (GroupConfig { members: vec![0, 1, 2, 3], ..good.clone() }, "host 3"),
                (GroupConfig { members: vec![(host as u8 + 1) % 3], ..good.clone() }, "host"),
            ] {
                let error = Group::open(&mut endpoint, &config).await.unwrap_err().to_string();
                assert!(error.contains(expected), "{error}");
            }
            let mut group = Group::open(&mut endpoint, &good).await.unwrap();
            assert!(group.know(&[group.window()]).is_err());
            let error = group.all_to_all(&mut endpoint, SEND, 0, WINDOW_BYTES).await.unwrap_err();
            assert!(matches!(error, RdmaError::Room { .. } | RdmaError::Place { .. }), "{error}");
            let error = group.all_to_all(&mut endpoint, SEND, WINDOW_BYTES, 8).await.unwrap_err();
            assert!(matches!(error, RdmaError::Room { .. }), "{error}");
            let error = group.all_to_all(&mut endpoint, MEMORY - 16, 0, 8).await.unwrap_err();
            assert!(matches!(error, RdmaError::Place { .. }), "{error}");
            for (blocks, expected) in [
                (vec![vec![0; 8]; 2], "a block for each: 3 needed, 2 available"),
                (vec![vec![0; 12]; 3], "block 0xc is not a multiple of 8"),
                (vec![vec![]; 3], "block 0x0"),
                (vec![vec![0; 60_000]; 3], "the messages of two exchanges"),
            ] {
                let error = group.all_to_all_messages(&mut endpoint, &blocks).await.unwrap_err();
                assert!(error.to_string().contains(expected), "{error}");
            }
        }
    });
    assert_eq!(network.statistics().packets, 0);
}

#[test]
fn who_does_not_come_is_named() {
    let network = Network::new(3, MEMORY, 1, Faults::default());
    let errors = run(&network, 3, |host| {
        let network = &network;
        async move {
            let (mut endpoint, mut group) = join(network, host, 3).await;
            if host == 2 {
                return None;
            }
            group.all_to_all(&mut endpoint, SEND, 0, 64).await.err()
        }
    });
    for error in &errors[..2] {
        let error = error.as_ref().unwrap().to_string();
        assert_eq!(error, "host 2: its block did not arrive within 5ms");
    }
    let network = Network::new(2, MEMORY, 1, Faults::default());
    run(&network, 1, |host| {
        let network = &network;
        async move {
            let mut endpoint = open(network, host).await;
            let mut group = Group::open(&mut endpoint, &group_config(2)).await.unwrap();
            let error = group.join(&mut endpoint).await.unwrap_err().to_string();
            assert_eq!(error, "host 1: its window did not arrive within 5ms");
        }
    });
}

#[test]
fn an_exchange_over_a_network_that_loses_ends_in_an_error_or_is_right() {
    let (mut right, mut wrong) = (0, 0);
    for seed in 0..40 {
        let members = 4;
        let network = Network::new(members, MEMORY, seed, spread());
        let ends = run(&network, members, |host| {
            let network = &network;
            async move {
                let (mut endpoint, mut group) = join(network, host, members).await;
                group.barrier(&mut endpoint).await.unwrap();
                network.machine(host).sleep(Duration::from_micros(200)).await;
                network.set_lost(12);
                let block = 4096;
                let from: Vec<u8> = (0..members)
                    .flat_map(|to| beats((0..block / 8).map(move |b| word(host, to, 1, b))))
                    .collect();
                endpoint.memory().write(SEND, &from).await.unwrap();
                group.all_to_all(&mut endpoint, SEND, 0, block).await?;
                for from in 0..members {
                    let found = network.machine(host).peek(WINDOW + from * block, block);
                    let expected = beats((0..block / 8).map(|beat| word(from, host, 1, beat)));
                    assert!(found == expected, "{from} to {host}");
                }
                Ok::<(), RdmaError>(())
            }
        });
        for end in ends {
            match end {
                Ok(()) => right += 1,
                Err(RdmaError::Spoilt { .. } | RdmaError::Silent { .. }) => wrong += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(right > 10 && wrong > 10, "{right} right, {wrong} wrong");
}
