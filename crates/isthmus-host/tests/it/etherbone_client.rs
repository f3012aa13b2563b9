// SPDX-License-Identifier: Apache-2.0
//! The client against the software slave: every method, every width, both transports, and loss.

use isthmus_host::etherbone::{
    Access, Bus, BusFault, Client, ClientConfig, Cycle, Error, Format, Memory, SoftSlave, Width,
    Widths,
};
use isthmus_host::transport::{Faults, MemoryTransport, block_on};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const BASE: u64 = 0x1000;
const SIZE: usize = 0x1000;

fn connect(
    slave: SoftSlave<Memory>,
    stream: bool,
    faults: Faults,
) -> Result<Client<MemoryTransport<Memory>>, Error> {
    let transport =
        if stream { MemoryTransport::stream(slave) } else { MemoryTransport::new(slave) };
    block_on(Client::connect(transport.with_faults(faults), ClientConfig::default()))
}

fn plain() -> Client<MemoryTransport<Memory>> {
    connect(SoftSlave::new(Memory::new(BASE, SIZE)), false, Faults::default()).expect("probes")
}

#[test]
fn negotiation_picks_the_largest_of_each() {
    let client = |widths| {
        connect(SoftSlave::new(Memory::new(0, 64)).with_widths(widths), false, Faults::default())
    };
    let format = client(Widths { address: 0b0110, data: 0b1001 }).expect("common").format();
    assert_eq!(format, Format { address: Width::W32, data: Width::W64 });
    let error = client(Widths { address: 1, data: 4 }).expect_err("8-bit addresses only");
    assert!(error.to_string().starts_with("no common width"), "{error}");
}

#[test]
fn nobody_there() {
    let faults = Faults { lost_requests: vec![0, 1, 2], ..Faults::default() };
    let error = connect(SoftSlave::new(Memory::new(0, 4)), false, faults).expect_err("no reply");
    assert_eq!(error.to_string(), "no Etherbone device answered 3 probes of 3s");
}

#[test]
fn a_lost_probe_is_repeated() {
    let faults = Faults { lost_requests: vec![0], lost_replies: vec![1], ..Faults::default() };
    connect(SoftSlave::new(Memory::new(0, 4)), false, faults).expect("third probe");
}

#[test]
fn config_space_and_sdb() {
    let slave = SoftSlave::new(Memory::new(BASE, 16)).with_sdb_address(0x10_0000);
    let mut client = connect(slave, false, Faults::default()).expect("probes");
    let reply = block_on(client.execute(Cycle::new().read_config(0xC).read_config(0x8)));
    assert_eq!(reply.expect("reads").reads, [0x10_0000, 0]);
}

#[test]
fn bus_errors_name_the_operation() {
    let mut client = plain();
    let cycle = Cycle::new().write(BASE, 5).read(BASE).read(0x4).read(BASE).write(0x8, 0);
    let Err(Error::Bus { first, failed, operations, reads }) = block_on(client.execute(cycle))
    else {
        panic!("the errors went unnoticed");
    };
    assert_eq!((first.address, failed, operations), (4, vec![2, 4], 5));
    assert_eq!((reads[0], reads[2]), (5, 5));
    let error = block_on(client.write(0x8, 0)).expect_err("nothing there");
    assert_eq!(
        error.to_string(),
        "write 0x00000008 (operation 0): bus error (1 of 1 operations failed)"
    );
    // Silent cycles do not look.
    block_on(client.execute(Cycle::new().read(0x4).silent())).expect("silent");
}

#[test]
fn errors_beyond_the_first_group_are_found() {
    let mut client = plain();
    let cycle = Cycle::new().reads((0..100).map(|i| if i == 70 { 0 } else { BASE }));
    let Err(Error::Bus { first, failed, .. }) = block_on(client.execute(cycle)) else {
        panic!("the error went unnoticed");
    };
    assert_eq!((first.index, failed), (70, vec![70]));
}

/// A FIFO at address 0: every read pops.
struct Fifo(Vec<u64>);

impl Bus for Fifo {
    fn read(&mut self, _: u64, _: Width, _: u8) -> Result<u64, BusFault> {
        if self.0.is_empty() { Err(BusFault) } else { Ok(self.0.remove(0)) }
    }
    fn write(&mut self, address: u64, _: Width, _: u8, data: u64) -> Result<(), BusFault> {
        if address != 0 {
            return Err(BusFault);
        }
        self.0.push(data);
        Ok(())
    }
}

#[test]
fn fifo_access() {
    block_on(async {
        let transport = MemoryTransport::new(SoftSlave::new(Fifo(Vec::new())));
        let mut client = Client::connect(transport, ClientConfig::default()).await?;
        client.execute(Cycle::new().write_fifo(0, 1..=40)).await?;
        let reply = client.execute(Cycle::new().read_fifo(0, 40)).await?;
        assert_eq!(reply.reads, (1..=40).collect::<Vec<u64>>());
        assert!(matches!(client.read(0).await, Err(Error::Bus { .. })));
        Ok::<(), Error>(())
    })
    .expect("works");
}

#[test]
fn a_cycle_beyond_the_mtu_is_refused() {
    let mut client = plain();
    let fits = Cycle::new().reads((0..255).map(|i| BASE + 4 * i));
    block_on(client.execute(fits)).expect("1184 bytes");
    let error = client.submit(&Cycle::new().read_fifo(BASE, 400)).expect_err("too long");
    assert!(error.to_string().ends_with("the transport carries 1472"), "{error}");
    assert_eq!(client.outstanding(), 0);
}

#[test]
fn pipelined_cycles_share_datagrams() {
    // 8 checked timestamps: 84 bytes of records; 17 of them and the header fill 1432 bytes.
    let mut client = plain();
    let cycle = Cycle::new().reads((0..16).map(|i| BASE + 4 * i));
    let pending: Vec<_> = (0..90).map(|_| client.submit(&cycle).expect("fits")).collect();
    let before = client.transport().sent();
    block_on(async {
        client.flush().await?;
        client.settle().await
    })
    .expect("answers");
    assert_eq!(client.transport().sent() - before, 6);
    assert!(pending.iter().all(|p| p.take().is_some_and(|r| r.is_ok())));
    assert_eq!(client.statistics().cycles, 90);
}

#[test]
fn sequence_numbers_wrap() {
    let mut client = plain();
    let count = Arc::new(AtomicU32::new(0));
    for round in 0..3u64 {
        block_on(client.write(BASE, round)).expect("writes");
        for _ in 0..10_000 {
            let count = Arc::clone(&count);
            let done = move |result: Result<isthmus_host::etherbone::CycleReply, Error>| {
                assert_eq!(result.expect("reads").reads, [round]);
                count.fetch_add(1, Ordering::Relaxed);
            };
            client.submit_with(&Cycle::new().read(BASE), done).expect("fits");
        }
        block_on(async {
            client.flush().await?;
            client.settle().await
        })
        .expect("answers");
    }
    assert_eq!(count.load(Ordering::Relaxed), 30_000);
    assert_eq!(client.statistics().stale, 0);
}

#[test]
fn tagged_cycles_end_once_each_with_their_own_values() {
    for stream in [false, true] {
        let slave = SoftSlave::new(Memory::new(BASE, SIZE));
        let mut client = connect(slave, stream, Faults::default()).expect("probes");
        for lot in 0..40 {
            for tag in 0..7 {
                let describe = |cycle: &mut Cycle| {
                    assert!(cycle.is_empty(), "nothing of an earlier cycle");
                    cycle.add(Access::Write, BASE + 8 * tag, lot + tag, None);
                    (0..=lot % 4).for_each(|_| cycle.add(Access::Read, BASE + 8 * tag, 0, None));
                };
                client.submit_tagged(100 + tag, describe).expect("queued");
            }
            let wrong = client.submit_tagged(6, |cycle| cycle.add(Access::Read, 2, 0, None));
            assert!(matches!(wrong, Err(Error::Operation { .. })), "not queued: {wrong:?}");
            let bus = client.submit_tagged(7, |cycle| *cycle = Cycle::new().read(BASE).read(4));
            bus.expect("queued");
            let silent = Cycle::new().write(BASE, lot).silent();
            client.submit_tagged(8, |cycle| *cycle = silent).expect("queued");
            assert!(client.next_ended().is_none(), "nothing was sent");
            block_on(client.flush()).expect("sent");
            block_on(client.settle()).expect("ended");
            let mut tags = Vec::new();
            while let Some(ended) = client.next_ended() {
                tags.push(ended.tag);
                match (ended.tag, ended.result) {
                    (7, Err(Error::Bus { failed, .. })) => assert_eq!(failed, [1]),
                    (8, Ok(reads)) => assert!(reads.is_empty()),
                    (tag, Ok(reads)) => {
                        let values = vec![lot + tag - 100; (lot % 4 + 1) as usize];
                        assert_eq!(reads, values);
                    }
                    (tag, other) => panic!("cycle {tag}: {other:?}"),
                }
            }
            tags.sort_unstable();
            assert_eq!(tags, [7, 8, 100, 101, 102, 103, 104, 105, 106]);
            assert_eq!(client.outstanding(), 0);
        }
    }
}

#[test]
fn tagged_cycles_that_nobody_asks_for_take_up_the_numbers() {
    let mut client = plain();
    let mut queued = 0;
    loop {
        match client.submit_tagged(queued, |cycle| cycle.add(Access::Read, BASE, 0, None)) {
            Ok(()) => queued += 1,
            Err(Error::Busy(most)) => break assert_eq!((queued, most), (1 << 14, 1 << 14)),
            Err(other) => panic!("{other}"),
        }
    }
    block_on(client.flush()).expect("sent");
    block_on(client.settle()).expect("ended");
    let busy = client.submit(&Cycle::new().read(BASE));
    assert!(matches!(busy, Err(Error::Busy(_))), "their ends wait to be handed out");
    assert_eq!(client.next_ended().map(|ended| ended.tag), Some(0));
    client.submit(&Cycle::new().read(BASE)).expect("one number is free");
}

#[test]
fn a_lost_tagged_cycle_ends_with_a_timeout() {
    let slave = SoftSlave::new(Memory::new(BASE, SIZE));
    let faults = Faults { lost_requests: vec![1], ..Faults::default() };
    let mut client = connect(slave, false, faults).expect("probes");
    let read = |cycle: &mut Cycle| cycle.add(Access::Read, BASE, 0, None);
    client.submit_tagged(5, read).expect("queued");
    block_on(client.flush()).expect("sent");
    block_on(client.settle()).expect("ended");
    let ended = client.next_ended().expect("it ended");
    assert_eq!(ended.tag, 5);
    assert!(matches!(ended.result, Err(Error::TimedOut { .. })));
    assert!(client.next_ended().is_none());
}

#[test]
fn results_wait_for_their_own_futures_however_many_cycles_follow() {
    let mut client = plain();
    let mut kept = Vec::new();
    for number in 0..100 {
        block_on(client.write(BASE, number)).expect("written");
        let dropped = client.submit(&Cycle::new().read(BASE)).expect("queued");
        let pending = client.submit(&Cycle::new().read(BASE)).expect("queued");
        assert!(!pending.is_ready() && pending.take().is_none(), "no result of an earlier cycle");
        block_on(client.flush()).expect("sent");
        if number % 3 == 0 {
            drop(dropped);
        }
        block_on(client.settle()).expect("ended");
        kept.push(pending);
    }
    for (number, pending) in kept.into_iter().enumerate() {
        assert!(pending.is_ready());
        let reply = pending.take().expect("ended").expect("read");
        assert_eq!(reply.reads, [number as u64]);
        assert!(pending.take().is_none(), "once");
    }
}

#[test]
fn dropping_the_client_tells_the_owner() {
    let mut client = plain();
    let pending = client.submit(&Cycle::new().read(BASE)).expect("fits");
    drop(client);
    assert!(matches!(block_on(pending), Err(Error::Dropped)));
}

#[derive(Debug, Clone)]
enum Op {
    Read(u64, Width),
    Write(u64, Width, u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let place = (0..16u64, prop::sample::select(Width::ALL.to_vec()), any::<bool>(), any::<u64>());
    let op = place.prop_map(|(slot, width, write, value)| {
        let address = BASE + (slot * 4 / width.bytes() as u64) * width.bytes() as u64;
        match write {
            true => Op::Write(address, width, value & width.mask()),
            false => Op::Read(address, width),
        }
    });
    prop::collection::vec(op, 1..80)
}

/// What the operations must read, computed byte by byte.
fn model(ops: &[Op], memory: &mut [u8]) -> Vec<u64> {
    let mut reads = Vec::new();
    for op in ops {
        match *op {
            Op::Read(address, width) => {
                let at = (address - BASE) as usize;
                let bytes = &memory[at..at + width.bytes()];
                reads.push(bytes.iter().fold(0, |v, b| v << 8 | u64::from(*b)));
            }
            Op::Write(address, width, value) => {
                let at = (address - BASE) as usize;
                let bytes = value.to_be_bytes();
                memory[at..at + width.bytes()].copy_from_slice(&bytes[8 - width.bytes()..]);
            }
        }
    }
    reads
}

fn cycle(ops: &[Op]) -> Cycle {
    ops.iter().fold(Cycle::new(), |cycle, op| match *op {
        Op::Read(address, width) => cycle.read_width(address, width),
        Op::Write(address, width, value) => cycle.write_width(address, value, width),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Mixed cycles of every width give what a byte array gives, over datagrams and streams, with
    /// and without the empty records of gateware.
    #[test]
    fn cycles_against_a_byte_array(
        ops in ops(),
        wide_address in any::<bool>(),
        stream in any::<bool>(),
        padding in any::<bool>(),
        silent in any::<bool>(),
    ) {
        let widths = Widths { address: if wide_address { 8 } else { 4 }, data: 8 };
        let mut slave = SoftSlave::new(Memory::new(BASE, SIZE)).with_widths(widths);
        if padding {
            slave = slave.with_zero_padding();
        }
        let mut client = connect(slave, stream, Faults::default()).expect("probes");
        let mut memory = vec![0; SIZE];
        let expected = model(&ops, &mut memory);
        let cycle = if silent { cycle(&ops).silent() } else { cycle(&ops) };
        let reply = block_on(client.execute(cycle));
        if let Err(Error::Overflow { .. }) = reply {
            prop_assert!(!stream);
            return Ok(());
        }
        prop_assert_eq!(reply.expect("executes").reads, expected);
        prop_assert_eq!(client.transport().slave().bus().bytes(), &memory[..]);
    }

    /// Whatever is lost, doubled, late or cut: a value is right or there is an error.
    #[test]
    fn faults_never_give_a_wrong_value(
        lost_requests in prop::collection::vec(1usize..40, 0..4),
        lost_replies in prop::collection::vec(1usize..40, 0..4),
        doubled_replies in prop::collection::vec(1usize..40, 0..4),
        late_replies in prop::collection::vec(1usize..40, 0..4),
        cut_replies in prop::collection::vec(1usize..40, 0..4),
        batch in 1usize..30,
    ) {
        let faults =
            Faults { lost_requests, lost_replies, doubled_replies, late_replies, cut_replies };
        let harmless = faults.lost_requests.is_empty()
            && faults.lost_replies.is_empty()
            && faults.cut_replies.is_empty();
        let mut slave = SoftSlave::new(Memory::new(BASE, SIZE));
        // Every word holds its own address.
        let fill = |address: u64| {
            isthmus_host::etherbone::Bus::write(
                slave.bus(), address, Width::W32, 0xF, address,
            )
        };
        (0..SIZE as u64 / 4).map(|i| BASE + 4 * i).try_for_each(fill).expect("inside");
        let mut client = connect(slave, false, faults).expect("the probe is not lost");
        let mut wrong_or_late = 0;
        for round in 0..20u64 {
            let pending: Vec<_> = (0..batch as u64)
                .map(|i| {
                    let start = BASE + 4 * ((round * 7 + i * 13) % 900);
                    let addresses: Vec<u64> = (0..=i % 40).map(|n| start + 4 * n).collect();
                    let cycle = Cycle::new().reads(addresses.clone());
                    (addresses, client.submit(&cycle).expect("fits"))
                })
                .collect();
            block_on(async {
                client.flush().await?;
                client.settle().await
            }).expect("the transport holds");
            for (addresses, pending) in pending {
                match pending.take() {
                    Some(Ok(reply)) => prop_assert_eq!(reply.reads, addresses),
                    Some(Err(Error::TimedOut { .. } | Error::Reply { .. })) => wrong_or_late += 1,
                    other => return Err(TestCaseError::fail(format!("{other:?}"))),
                }
            }
            prop_assert_eq!(client.outstanding(), 0);
        }
        // Late replies of the last message of a round come too late; the others do no harm.
        if harmless && batch > 0 {
            let timed_out = client.statistics().timed_out;
            prop_assert_eq!(timed_out, wrong_or_late);
        }
    }
}
