// SPDX-License-Identifier: Apache-2.0
//! What programs on several hosts may rely on, over a model of their interfaces in memory.

use crate::soft_network;

use std::pin::Pin;
use std::time::Duration;

use isthmus_host::rdma::{
    Descriptor, Endpoint, EndpointConfig, Fault, HostId, Inbox, Key, Layout, Message, Options,
    Posting, QueueEntry, RdmaError, Region,
};
use proptest::prelude::*;
use soft_network::{Faults, Machine, Network, base};

const MEMORY: usize = 0x40000;
const DATA: usize = 0x8000;
const QUEUE_AT: usize = 0x4000;
const QUEUE_BYTES: u64 = 0x2000;
const QUEUE: u8 = 5;

type Host = Endpoint<Machine, Machine>;
type Program<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

fn config(host: usize) -> EndpointConfig {
    let (host, timeout) = (host as HostId, TIMEOUT);
    EndpointConfig { host, session: 3, timeout, ..EndpointConfig::default() }
}

/// An endpoint whose whole data area each host may write with its number's entry, or with key 20.
async fn open(network: &Network, host: usize, hosts: usize) -> Result<(Host, Inbox), RdmaError> {
    let machine = network.machine(host);
    let mut endpoint = Endpoint::open(machine.clone(), machine, config(host)).await?;
    let region = Region {
        base: base(host) + DATA as u64,
        bytes: (MEMORY - DATA) as u64,
        sources: 0xFF,
        nonce: 0xABCDE,
        queue: None,
    };
    for index in 0..hosts as u8 {
        endpoint.register(index, &region).await?;
    }
    endpoint.register(20, &Region { queue: Some(QUEUE), ..region }).await?;
    endpoint.register(21, &Region { nonce: 5, ..region }).await?;
    let entry = QueueEntry {
        base: base(host) + QUEUE_AT as u64,
        bytes: QUEUE_BYTES,
        layout: Layout::Slots(512),
        sources: 0xFF,
    };
    let inbox = endpoint.open_queue(QUEUE, &entry).await?;
    Ok((endpoint, inbox))
}

fn transfer(from: usize, at: usize, to: usize, target: usize, bytes: usize) -> Descriptor {
    Descriptor {
        source: base(from) + (DATA + at) as u64,
        target: base(to) + (DATA + target) as u64,
        bytes,
        host: to as HostId,
        options: Options::default(),
        key: None,
        start: false,
    }
}

const KEY: Key = Key::new(20, 0xABCDE);

/// Bytes that tell their place and whose they are.
fn pattern(bytes: usize, seed: u64) -> Vec<u8> {
    let beats = (0..bytes.div_ceil(8) as u64).map(|at| (seed + 1) << 32 | at);
    let mixed = beats.map(|beat| beat.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23));
    mixed.flat_map(u64::to_le_bytes).take(bytes).collect()
}

fn programs<'a, T, F: Future<Output = T> + 'a>(
    hosts: usize,
    program: impl Fn(usize) -> F,
) -> Vec<Program<'a, T>> {
    (0..hosts).map(|host| Box::pin(program(host)) as Program<'a, T>).collect()
}

const TIMEOUT: Duration = Duration::from_millis(5);
/// No host sends before all are open.
const SETTLE: Duration = Duration::from_micros(100);

fn spread() -> Faults {
    Faults { spread: Duration::from_micros(9), ..Faults::default() }
}

#[test]
fn a_long_put_is_told_when_all_of_it_is_there_over_paths_of_any_length() {
    for bytes in [8, 512, 4096, 4104, 70_000] {
        let network = Network::new(2, MEMORY, bytes as u64, spread());
        let data = pattern(bytes, 7);
        network.run(programs(2, |host| {
            let (network, data) = (&network, &data);
            async move {
                let (mut endpoint, mut inbox) = open(network, host, 2).await.unwrap();
                let machine = network.machine(host);
                machine.sleep(SETTLE).await;
                if host == 0 {
                    machine.poke(DATA, data);
                    endpoint.put_notify(&transfer(0, 0, 1, 64, bytes), false).await.unwrap();
                    let keyed = Descriptor {
                        key: Some((KEY, 0xFEED)),
                        ..transfer(0, 0, 1, 0x18000, bytes)
                    };
                    endpoint.put_notify(&keyed, true).await.unwrap();
                    assert_eq!(endpoint.fence(1).await.unwrap(), 0);
                } else {
                    let told = endpoint.notified(0, 0).await.unwrap().unwrap();
                    assert!(!told.failed && told.count == 1);
                    assert_eq!(told.address, base(1) + (DATA + 64 + bytes - 8) as u64);
                    assert_eq!(machine.peek(DATA + 64, bytes), *data);
                    let (frame, body) = inbox.wait(&mut endpoint, TIMEOUT).await.unwrap().unwrap();
                    assert!(frame.notification && frame.bytes == 0 && body.is_empty());
                    assert_eq!((frame.source, frame.immediate), (0, 0xFEED));
                    assert_eq!(machine.peek(DATA + 0x18000, bytes), *data);
                }
                assert_eq!(endpoint.error().await.unwrap(), None);
            }
        }));
        assert_eq!(network.statistics().overruns, 0);
    }
}

#[test]
fn a_key_s_slot_is_there_before_its_descriptor_starts() {
    // At every odd place of the ring, so also the last of a line of 64 bytes and the last of all.
    let network = Network::new(2, MEMORY, 1, Faults::default());
    network.run(programs(2, |host| {
        let network = &network;
        async move {
            let (mut endpoint, mut inbox) = open(network, host, 2).await.unwrap();
            network.machine(host).sleep(SETTLE).await;
            if host == 0 {
                endpoint.put(&transfer(0, 0, 1, 0, 8)).await.unwrap();
            }
            for number in 0..300 {
                let options = Options { notify: true, ..Options::default() };
                let key = Some((KEY, number));
                let keyed = Descriptor { key, options, ..transfer(0, 0, 1, 0, 8) };
                if host == 0 {
                    endpoint.put(&keyed).await.unwrap();
                } else {
                    let (frame, _) = inbox.wait(&mut endpoint, TIMEOUT).await.unwrap().unwrap();
                    assert_eq!(frame.immediate, number);
                }
            }
        }
    }));
    assert_eq!(network.statistics().overruns, 0);
}

#[test]
fn a_fence_ends_when_all_is_in_far_memory_and_not_before() {
    for completion in [false, true] {
        for seed in 0..20 {
            let network = Network::new(2, MEMORY, seed, spread());
            let data = pattern(40_000, seed);
            network.run(programs(2, |host| {
                let (network, data) = (&network, &data);
                async move {
                    let (mut endpoint, _inbox) = open(network, host, 2).await.unwrap();
                    let machine = network.machine(host);
                    machine.sleep(SETTLE).await;
                    if host == 1 {
                        return;
                    }
                    assert_eq!(endpoint.flush_all().await.unwrap(), 0, "nothing was sent");
                    machine.poke(DATA, data);
                    let options = Options { completion, ..Options::default() };
                    let put = Descriptor { options, ..transfer(0, 0, 1, 0, data.len()) };
                    endpoint.put_long(&put).await.unwrap();
                    endpoint.send(1, QUEUE, &data[..64], options, 9).await.unwrap();
                    assert_eq!(endpoint.fence(1).await.unwrap(), 0);
                    let far = network.machine(1);
                    assert_eq!(far.peek(DATA, data.len()), *data);
                    assert_eq!(far.peek(QUEUE_AT + 8, 64), data[..64]);
                    assert_eq!(endpoint.flush_all().await.unwrap(), 0);
                }
            }));
        }
    }
}

#[test]
fn a_stress_run_lasts_as_long_as_asked_and_counts_what_it_sent() {
    let network = Network::new(2, MEMORY, 1, Faults::default());
    let lasting = Duration::from_micros(500);
    network.run(programs(2, |host| {
        let network = &network;
        async move {
            let (mut endpoint, _inbox) = open(network, host, 2).await.unwrap();
            let machine = network.machine(host);
            machine.sleep(SETTLE).await;
            machine.poke(DATA, &pattern(4096, host as u64));
            let other = 1 - host;
            let done = endpoint.stress(&transfer(host, 0, other, 0x4000, 4096), lasting).await;
            let done = done.unwrap();
            assert!(done.lasted >= lasting && done.lasted < lasting + TIMEOUT);
            assert!(done.transfers > 128, "more than a queue holds");
            assert_eq!((done.bytes, done.refused), (4096 * done.transfers, 0));
            let far = network.machine(other);
            assert_eq!(far.peek(DATA + 0x4000, 4096), pattern(4096, host as u64));
            // What cannot be posted is refused, not repeated for ever.
            let refused = transfer(host, 0, other, 0x100_0000, 8);
            let done = endpoint.stress(&refused, Duration::ZERO).await.unwrap();
            assert_eq!((done.transfers, done.refused), (1, 1));
            let wrong = Descriptor { bytes: 12, ..refused };
            assert!(endpoint.stress(&wrong, lasting).await.is_err());
        }
    }));
}

#[test]
fn a_program_that_starts_again_is_written_into_only_where_it_has_opened_itself() {
    let network = Network::new(2, MEMORY, 1, Faults::default());
    network.run(programs(2, |host| {
        let network = &network;
        async move {
            let machine = network.machine(host);
            if host == 0 {
                drop(open(network, host, 2).await.unwrap());
                let anew = EndpointConfig { session: 4, ..config(host) };
                let _again = Endpoint::open(machine.clone(), machine.clone(), anew).await.unwrap();
                machine.sleep(20 * SETTLE).await;
                let left = machine.peek(QUEUE_AT, MEMORY - QUEUE_AT);
                assert!(left.iter().all(|byte| *byte == 0), "memory of the program before");
            } else {
                let (mut endpoint, _inbox) = open(network, host, 2).await.unwrap();
                machine.sleep(SETTLE).await;
                machine.poke(DATA, &pattern(64, 1));
                let plain = transfer(host, 0, 0, 0, 64);
                for descriptor in [plain, Descriptor { key: Some((KEY, 1)), ..plain }] {
                    endpoint.put(&descriptor).await.unwrap();
                }
                endpoint.send(0, QUEUE, &[7; 64], Options::default(), 1).await.unwrap();
                assert_eq!(endpoint.fence(0).await.unwrap(), 3);
            }
        }
    }));
}

#[test]
fn counts_of_16_bits_begin_anew_without_anybody_s_notice() {
    // More than 65536 slots, packets and beats of messages.
    const ROUNDS: u64 = 1100;
    let network = Network::new(2, MEMORY, 5, Faults::default());
    network.run(programs(2, |host| {
        let network = &network;
        async move {
            let (mut endpoint, mut inbox) = open(network, host, 2).await.unwrap();
            let machine = network.machine(host);
            machine.sleep(SETTLE).await;
            for round in 0..ROUNDS {
                let body = pattern(504, round);
                if host == 1 {
                    let (frame, found) = inbox.wait(&mut endpoint, TIMEOUT).await.unwrap().unwrap();
                    assert_eq!((u64::from(frame.immediate), found), (round, body));
                    continue;
                }
                let cluster: Vec<_> = (0..60).map(|at| transfer(0, 8 * at, 1, 8 * at, 8)).collect();
                machine.poke(DATA, &body[..480]);
                endpoint.post(1, &cluster, Posting::Circular).await.unwrap();
                let options = Options { completion: true, ..Options::default() };
                endpoint.send(1, QUEUE, &body, options, round as u32).await.unwrap();
                if round % 8 == 7 || round + 1 == ROUNDS {
                    assert_eq!(endpoint.fence(1).await.unwrap(), 0);
                    assert_eq!(network.machine(1).peek(DATA, 480), body[..480]);
                } else {
                    endpoint.departed(1).await.unwrap();
                }
            }
        }
    }));
    let statistics = network.statistics();
    assert_eq!((statistics.packets, statistics.overruns), (61 * ROUNDS, 0));
}

/// Lists that fill the sender's queue more than once, and such whose messages cross its end.
#[test]
fn a_list_of_messages_comes_whole_and_in_its_order() {
    const LISTS: [usize; 6] = [1, 4, 100, 7, 64, 100];
    const SMALL: u8 = 6;
    for seed in 0..4 {
        let network = Network::new(2, MEMORY, seed, Faults::default());
        let bodies: Vec<Vec<u8>> = (0..LISTS.iter().sum::<usize>())
            .map(|index| pattern(8 * (1 + (index * (seed as usize + 3)) % 7), index as u64))
            .collect();
        network.run(programs(2, |host| {
            let (network, bodies) = (&network, &bodies);
            async move {
                let (mut endpoint, mut told) = open(network, host, 2).await.unwrap();
                // 128 slots, of which 27 may be taken and not given back: the longest list just fits.
                let entry = QueueEntry {
                    base: base(host) + DATA as u64,
                    bytes: 0x2000,
                    layout: Layout::Slots(64),
                    sources: 0xFF,
                };
                let mut inbox = endpoint.open_queue(SMALL, &entry).await.unwrap();
                assert_eq!(inbox.room(), 127);
                inbox.give_back_every(if seed % 2 == 0 { 1 } else { 28 });
                assert_eq!(inbox.room(), if seed % 2 == 0 { 127 } else { 100 });
                network.machine(host).sleep(SETTLE).await;
                let mut first = 0;
                for length in LISTS {
                    let numbers = first..first + length;
                    first += length;
                    if host == 1 {
                        for index in numbers {
                            let (frame, found) =
                                inbox.wait(&mut endpoint, TIMEOUT).await.unwrap().unwrap();
                            assert_eq!((frame.immediate as usize, &found), (index, &bodies[index]));
                        }
                        endpoint.send(0, QUEUE, &[0; 8], Options::default(), 0).await.unwrap();
                        continue;
                    }
                    let message = |index: usize| Message {
                        body: bodies[index].as_slice(),
                        options: Options::default(),
                        immediate: index as u32,
                    };
                    let list: Vec<_> = numbers.map(message).collect();
                    endpoint.send_list(1, SMALL, &list).await.unwrap();
                    assert!(told.wait(&mut endpoint, TIMEOUT).await.unwrap().is_some());
                }
            }
        }));
        assert_eq!(network.statistics().overruns, 0);
    }
}

#[test]
fn a_list_with_a_message_that_is_not_legal_is_not_begun() {
    let network = Network::new(2, MEMORY, 5, Faults::default());
    network.run(programs(2, |host| {
        let network = &network;
        async move {
            let (mut endpoint, mut inbox) = open(network, host, 2).await.unwrap();
            network.machine(host).sleep(SETTLE).await;
            if host == 1 {
                assert!(inbox.wait(&mut endpoint, SETTLE).await.unwrap().is_none());
                return;
            }
            let message = |body| Message { body, options: Options::default(), immediate: 0 };
            let list = [message(&[0; 8][..]), message(&[0; 12])];
            let text = endpoint.send_list(1, QUEUE, &list).await.unwrap_err().to_string();
            assert!(text.contains("message"), "{text}");
        }
    }));
    assert_eq!(network.statistics().packets, 0);
}

/// 7 messages of 40 bytes go through a ring of 64: some cross its end.
#[test]
fn a_packed_queue_gives_each_message_when_its_last_word_is_there() {
    let network = Network::new(2, MEMORY, 5, Faults::default());
    network.run(programs(2, |host| {
        let network = &network;
        async move {
            let (mut endpoint, mut slotted) = open(network, host, 2).await.unwrap();
            let machine = network.machine(host);
            let (bytes, layout) = (64, Layout::Packed);
            let base = base(host) + DATA as u64;
            let entry = QueueEntry { base, bytes, layout, sources: u8::MAX };
            let mut packed = endpoint.open_queue(9, &entry).await.unwrap();
            machine.sleep(SETTLE).await;
            for round in 0..7 {
                let mut body = pattern(40, round);
                body[39] |= 1;
                if host == 0 {
                    endpoint.send(1, 9, &body, Options::default(), 0).await.unwrap();
                    // It has no room for a second one before the first is taken.
                    machine.sleep(SETTLE).await;
                    continue;
                }
                let found = packed.receive_packed(&mut endpoint, 40, TIMEOUT).await.unwrap();
                assert_eq!(found, Some(body));
            }
            if host == 1 {
                let none = packed.receive_packed(&mut endpoint, 40, Duration::ZERO).await;
                assert_eq!(none.unwrap(), None);
                let wrong = [
                    packed.receive_packed(&mut endpoint, 36, TIMEOUT).await,
                    packed.receive_packed(&mut endpoint, 72, TIMEOUT).await,
                    slotted.receive_packed(&mut endpoint, 40, TIMEOUT).await,
                ];
                for refused in wrong {
                    let line = refused.unwrap_err().to_string();
                    assert!(line.contains("multiples of 8"), "{line}");
                }
            }
        }
    }));
}

#[test]
fn a_fence_counts_refusals_and_the_records_say_which() {
    let network = Network::new(2, MEMORY, 3, Faults::default());
    network.run(programs(2, |host| {
        let network = &network;
        async move {
            let (mut endpoint, _inbox) = open(network, host, 2).await.unwrap();
            network.machine(host).sleep(SETTLE).await;
            if host == 1 {
                return;
            }
            let outside = Descriptor { target: base(1), ..transfer(0, 0, 1, 0, 8) };
            let wrong = Key::new(20, 1);
            let keyed = Descriptor { key: Some((wrong, 0)), ..transfer(0, 0, 1, 0, 8) };
            endpoint.put(&outside).await.unwrap();
            endpoint.put(&keyed).await.unwrap();
            endpoint.send(1, 9, &[0; 8], Options::default(), 0).await.unwrap();
            endpoint.send(1, QUEUE, &[0; 512], Options::default(), 0).await.unwrap();
            let good = transfer(0, 0, 1, 0, 8);
            endpoint.put(&good).await.unwrap();
            assert_eq!(endpoint.fence(1).await.unwrap(), 4);
            network.machine(0).sleep(SETTLE).await;
            assert_eq!(endpoint.fence(1).await.unwrap(), 0, "all were known");
            let mut faults = vec![];
            while let Some(record) = endpoint.error().await.unwrap() {
                assert!(!record.ours && record.host == 1);
                faults.push((record.fault.unwrap(), record.message, record.tag));
            }
            // Messages and transfers of one flow have no order between them.
            faults.sort_by_key(|fault| (fault.1, fault.2));
            faults[2..].sort_by_key(|fault| format!("{:?}", fault.0));
            let (bounds, key) = ((Fault::Bounds, false, 0), (Fault::Key, false, 1));
            assert_eq!(faults[..2], [bounds, key]);
            assert_eq!([faults[2].0, faults[3].0], [Fault::Bounds, Fault::Queue]);
        }
    }));
}

#[test]
fn a_fence_to_who_does_not_answer_says_how_much_is_missing_and_one_over_a_reset_says_so() {
    let network = Network::new(3, MEMORY, 3, Faults::default());
    network.run(programs(2, |host| {
        let network = &network;
        async move {
            let (mut endpoint, _inbox) = open(network, host, 2).await.unwrap();
            let machine = network.machine(host);
            machine.sleep(SETTLE).await;
            if host == 1 {
                // It is reset while nothing is in progress, and starts again.
                machine.sleep(SETTLE).await;
                network.reset(1);
                open(network, host, 2).await.unwrap();
                return;
            }
            endpoint.put_long(&transfer(0, 0, 1, 0, 8192)).await.unwrap();
            assert_eq!(endpoint.fence(1).await.unwrap(), 0);
            machine.sleep(2 * SETTLE).await;
            endpoint.put_long(&transfer(0, 0, 1, 0, 8192)).await.unwrap();
            let error = endpoint.fence(1).await.unwrap_err().to_string();
            assert!(error.contains("host 1 was reset"), "{error}");
            endpoint.put_long(&transfer(0, 0, 1, 0, 8192)).await.unwrap();
            assert_eq!(endpoint.fence(1).await.unwrap(), 0, "told once");
            // Host 2 was never switched on.
            endpoint.put_long(&transfer(0, 0, 2, 0, 1024)).await.unwrap();
            let error = endpoint.fence(2).await.unwrap_err().to_string();
            let expected = "host 2: 2 packets before the fence were not acknowledged in 5ms";
            assert_eq!(error, expected);
            assert_eq!(endpoint.flush_all().await.unwrap_err().to_string(), expected);
        }
    }));
}

#[test]
fn what_cannot_be_posted_posts_nothing() {
    let network = Network::new(2, MEMORY, 3, Faults::default());
    network.run(programs(1, |host| {
        let network = &network;
        async move {
            let (mut endpoint, _inbox) = open(network, host, 2).await.unwrap();
            for (bytes, target, expected) in [
                (0, 0, "size is 0, legal is 8..4096"),
                (5004, 0, "size 0x138c is not a multiple of 8"),
                (8192, 4, "target 0x4 is not a multiple of 8"),
                (8192, 0xFFFF_F000, "target is 4294967296, legal is 0..4294967295"),
            ] {
                let put = Descriptor { target, ..transfer(0, 0, 1, 0, bytes) };
                assert_eq!(endpoint.put_long(&put).await.unwrap_err().to_string(), expected);
            }
            assert_eq!(
                endpoint.unregister(64).await.unwrap_err().to_string(),
                "region table has no entry 64"
            );
        }
    }));
    assert_eq!(network.statistics().packets, 0);
}

/// What a host does in one step.
#[derive(Clone, Debug)]
enum Step {
    Put { to: usize, beats: usize, keyed: bool },
    WrongKey { to: usize },
    Outside { to: usize },
    Send { to: usize, beats: usize },
    NoQueue { to: usize },
}

fn steps(hosts: usize) -> impl Strategy<Value = Vec<Step>> {
    let to = 0..hosts;
    let step = prop_oneof![
        4 => (to.clone(), 1..1200_usize, any::<bool>())
            .prop_map(|(to, beats, keyed)| Step::Put { to, beats, keyed }),
        1 => to.clone().prop_map(|to| Step::WrongKey { to }),
        1 => to.clone().prop_map(|to| Step::Outside { to }),
        3 => (to.clone(), 1..64_usize).prop_map(|(to, beats)| Step::Send { to, beats }),
        1 => to.prop_map(|to| Step::NoQueue { to }),
    ];
    prop::collection::vec(step, 1..24)
}

/// What a host has sent, the reports it got, and what arrived at it.
#[derive(Debug, Default)]
struct Ledger {
    /// Remote host, place in its memory, bytes.
    puts: Vec<(usize, usize, Vec<u8>)>,
    sent: Vec<(usize, Vec<u8>)>,
    refusable: usize,
    received: Vec<(usize, Vec<u8>)>,
    refused: Vec<(Fault, bool)>,
    own_records: usize,
    /// Refusals that the last fence told of.
    fenced: u32,
}

async fn drain(endpoint: &mut Host, inbox: &mut Inbox, ledger: &mut Ledger) {
    while let Some((frame, body)) = inbox.receive(endpoint).await.unwrap() {
        assert!(!frame.notification);
        ledger.received.push((frame.source.into(), body));
    }
    while let Some(record) = endpoint.error().await.unwrap() {
        assert_eq!(record.more, 0, "every one is itemised here");
        if record.ours {
            ledger.own_records += 1;
        } else {
            ledger.refused.push((record.fault.unwrap(), record.message));
        }
    }
}

/// Each host of `hosts` writes to parts of remote memory that are its own.
async fn play(network: &Network, host: usize, hosts: usize, steps: &[Step]) -> Ledger {
    let (mut endpoint, mut inbox) = open(network, host, hosts).await.unwrap();
    let machine = network.machine(host);
    machine.sleep(SETTLE).await;
    let mut ledger = Ledger::default();
    let share = (MEMORY - DATA) / 2 / hosts;
    let (mut own, mut far) = (0, vec![share * host; hosts]);
    let half = (MEMORY - DATA) / 2;
    for (number, step) in steps.iter().enumerate() {
        let seed = (host * 1000 + number) as u64;
        match *step {
            Step::Put { to, beats, keyed } => {
                let bytes = 8 * beats;
                if own + bytes > half || far[to] + bytes > share * (host + 1) {
                    continue;
                }
                let data: Vec<u8> = pattern(bytes, seed).iter().map(|byte| byte | 1).collect();
                machine.poke(DATA + half + own, &data);
                let plain = transfer(host, half + own, to, far[to], bytes);
                let key = if keyed { Some((Key::new(21, 5), 0)) } else { None };
                endpoint.put_long(&Descriptor { key, ..plain }).await.unwrap();
                ledger.puts.push((to, DATA + far[to], data));
                own += bytes;
                far[to] += bytes;
            }
            Step::WrongKey { to } => {
                let key = Some((Key::new(21, 6), 0));
                let put = Descriptor { key, ..transfer(host, 0, to, far[to], 8) };
                endpoint.put(&put).await.unwrap();
                ledger.refusable += 1;
            }
            Step::Outside { to } => {
                let target = base(to) + QUEUE_AT as u64;
                let put = Descriptor { target, ..transfer(host, 0, to, 0, 16) };
                endpoint.put(&put).await.unwrap();
                ledger.refusable += 1;
            }
            Step::Send { to, beats } => {
                let body = pattern(8 * beats, seed);
                let options = Options::default();
                endpoint.send(to as HostId, QUEUE, &body, options, 0).await.unwrap();
                ledger.sent.push((to, body));
            }
            Step::NoQueue { to } => {
                endpoint.send(to as HostId, 77, &[1; 8], Options::default(), 0).await.unwrap();
                ledger.refusable += 1;
            }
        }
        drain(&mut endpoint, &mut inbox, &mut ledger).await;
    }
    ledger.fenced = endpoint.flush_all().await.unwrap();
    // Until the others' last ones have come, and what they refused.
    machine.sleep(Duration::from_millis(3)).await;
    drain(&mut endpoint, &mut inbox, &mut ledger).await;
    ledger
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_byte_is_wrong_and_every_refusal_reaches_its_sender(
        plans in prop::collection::vec(steps(4), 4),
        seed in any::<u64>(),
        lost in prop_oneof![Just(0_u64), 1..150_u64],
    ) {
        let faults = Faults { lost, ..spread() };
        let network = Network::new(4, MEMORY, seed, faults);
        let ledgers = network.run(programs(4, |host| play(&network, host, 4, &plans[host])));
        let region = DATA..DATA + (MEMORY - DATA) / 2;
        let mut expected: Vec<Vec<u8>> = vec![vec![0; region.len()]; 4];
        for (to, at, data) in ledgers.iter().flat_map(|ledger| &ledger.puts) {
            expected[*to][at - DATA..][..data.len()].copy_from_slice(data);
        }
        for (host, expected) in expected.iter().enumerate() {
            let found = network.machine(host).peek(DATA, region.len());
            // With losses a packet may be missing, whole; what is there is right.
            let right = found.iter().zip(expected).all(|(found, wanted)| {
                found == wanted || (lost > 0 && *found == 0)
            });
            prop_assert!(right, "wrong bytes at host {host}");
        }
        let statistics = network.statistics();
        let refusals: usize = ledgers.iter().map(|ledger| ledger.refused.len()).sum();
        let own: usize = ledgers.iter().map(|ledger| ledger.own_records).sum();
        let fenced: u32 = ledgers.iter().map(|ledger| ledger.fenced).sum();
        prop_assert_eq!(u64::from(fenced), statistics.refused, "fences know of all");
        // A host that waits in a fence reads no records: the rest of a full ring is a count.
        let untold: u32 = (0..4).map(|host| network.untold(host)).sum();
        let records = (refusals + own) as u64 + u64::from(untold);
        prop_assert_eq!(records, 2 * statistics.refused, "one at the sender, one where it was refused");
        if untold > 0 {
            return Ok(());
        }
        prop_assert_eq!(refusals as u64, statistics.refused, "all are reported to the sender");
        for ledger in &ledgers {
            prop_assert_eq!(ledger.refused.len(), ledger.fenced as usize, "a fence knows of all");
        }
        let told = |fault, message| {
            ledgers.iter().flat_map(|ledger| &ledger.refused)
                .filter(|record| **record == (fault, message)).count()
        };
        prop_assert_eq!(told(Fault::Lost, false) as u64, statistics.lost);
        for (host, ledger) in ledgers.iter().enumerate() {
            let mut arrived: Vec<_> = ledgers.iter().enumerate()
                .flat_map(|(to, far)| far.received.iter().filter(move |(from, _)| *from == host)
                    .map(move |(_, body)| (to, body.clone()))).collect();
            let mut sent = ledger.sent.clone();
            sent.sort();
            arrived.sort();
            let count = arrived.len();
            arrived.dedup();
            prop_assert_eq!(arrived.len(), count, "none twice");
            prop_assert!(arrived.iter().all(|message| sent.binary_search(message).is_ok()));
            if lost == 0 {
                let full = ledger.refused.iter().filter(|record| record.0 == Fault::Full).count();
                prop_assert_eq!(count + full, sent.len());
                prop_assert_eq!(ledger.refused.len(), ledger.refusable + full);
            }
        }
    }
}
