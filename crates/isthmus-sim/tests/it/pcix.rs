// SPDX-License-Identifier: Apache-2.0
//! The PCI-X bus, transaction by transaction: the document's figures from their parts, arbitration,
//! splits, retries, cuts, ordering, faults. The device is a few lines of Rust behind the core.

use crate::pcix_support;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use isthmus_sim::kernel::RandomStream;
use isthmus_sim::world::pcix::{
    DmaError, Interrupts, MmioError, PcixAgent, PcixConfig, PcixKind, PcixOutcome, PcixRecord,
    StrayWrite,
};
use isthmus_sim::{FaultSpec, Picoseconds};
use pcix_support::*;

const IDLE: Picoseconds = Picoseconds::ZERO;

/// What a host's stores cost on the bus: clocks from the first REQ# to the end of the last.
fn stored(program: impl FnOnce(isthmus_sim::world::pcix::PcixHost) -> LocalFuture) -> (u64, usize) {
    let world = world(&config());
    let _device = Registers::serve(&world, IDLE);
    world.run(program(world.host.clone()));
    world.settle();
    let stores = world.of(PcixKind::Store);
    let (first, last) = (stores.first().expect("a store"), stores.last().expect("a store"));
    (cycles(last.end - first.requested), stores.len())
}

type LocalFuture = std::pin::Pin<Box<dyn Future<Output = ()>>>;

fn words(count: u64) -> impl FnOnce(isthmus_sim::world::pcix::PcixHost) -> LocalFuture {
    move |host| {
        Box::pin(async move {
            for at in 0..count {
                host.mmio_write32(4 * at, at as u32).await.expect("a store");
            }
        })
    }
}

fn combined(bytes: usize) -> impl FnOnce(isthmus_sim::world::pcix::PcixHost) -> LocalFuture {
    move |host| {
        Box::pin(async move {
            host.write_combined(0x100, &pattern(bytes)).await.expect("stores");
            host.fence().await;
        })
    }
}

#[test]
fn a_word_of_the_host_takes_ten_clocks_and_a_descriptor_forty() {
    // arbitration 4, address, attribute, response, one data phase, one for its being the only one,
    // turn-around
    assert_eq!(stored(words(1)), (10, 1));
    assert_eq!(stored(words(4)), (40, 4));
}

#[test]
fn a_combined_line_takes_24_clocks_and_not_160() {
    assert_eq!(stored(combined(64)), (24, 1));
    assert_eq!(stored(words(16)), (160, 16));
    // "at a small incremental cost of 1 PCI-cycle per word ... beyond the first two words"
    for count in 2..=16 {
        assert_eq!(stored(combined(4 * count)).0, 8 + count as u64, "{count} words");
    }
}

/// The device writes 4 KB so many times, one right behind the other.
fn written(config: &PcixConfig, times: usize) -> Vec<PcixRecord> {
    let world = world(config);
    let (endpoint, data) = (world.bus.endpoint(), pattern(4096));
    world.run(async move {
        for _ in 0..times {
            endpoint.write(MEMORY_BASE + 0x1000, &data).await;
        }
    });
    world.settle();
    assert_eq!(world.memory.read(0x1000, 4096).unwrap(), pattern(4096));
    world.of(PcixKind::Write)
}

/// The device reads 4 KB so many times, with the next request always at hand.
fn read(config: &PcixConfig, times: usize) -> Vec<PcixRecord> {
    let world = world(config);
    world.memory.write(0, &pattern(MEMORY_BYTES)).unwrap();
    for _ in 0..times {
        let endpoint = world.bus.endpoint();
        world.sim.spawn(async move {
            let data = endpoint.read(MEMORY_BASE + 0x1000, 4096).await.expect("data");
            assert!(data == pattern(0x2000)[0x1000..], "the bytes read");
        });
    }
    world.settle();
    world.records()
}

/// MiB a second of sequences of 4 KB, from one sequence's REQ# to another's.
fn mebibytes(records: &[PcixRecord], kind: PcixKind, sequences: usize) -> f64 {
    let mut starts = BTreeMap::new();
    for record in records.iter().filter(|record| record.kind == kind) {
        starts.entry(record.id.0).or_insert(record.requested);
    }
    assert_eq!(starts.len(), sequences);
    let (first, last) = (*starts.values().next().unwrap(), *starts.values().last().unwrap());
    (4096 * (sequences - 1)) as f64 / (1 << 20) as f64 / (last - first).as_secs_f64()
}

#[test]
fn a_dma_write_of_4_kb_takes_570_clocks() {
    let config = config();
    let records = written(&config, 1);
    let whole = records.last().unwrap().end - records[0].requested;
    // 4 arbitration, 6 transactions of 4 protocol phases, 5 gaps of 6, 512 data phases.
    assert_eq!((records.len(), cycles(whole)), (6, 570));
    let bytes: Vec<u64> = records.iter().map(|record| record.bytes).collect();
    assert_eq!(bytes, [768, 768, 768, 768, 768, 256]);
    // "685 MBytes/sec", MiB as in its 762.9 of 800 MB/s.
    assert_eq!(mebibytes(&written(&config, 50), PcixKind::Write, 50).round(), 685.0);
}

#[test]
fn a_bridge_that_cuts_writes_more_or_less_often_gives_other_totals() {
    for (accept_bytes, total) in [(512, 590), (640, 580), (768, 570), (1024, 550), (4096, 520)] {
        let mut config = config();
        config.bridge.accept_bytes = accept_bytes;
        let records = written(&config, 1);
        let whole = records.last().unwrap().end - records[0].requested;
        assert_eq!(cycles(whole), total, "accept_bytes = {accept_bytes}");
    }
}

#[test]
fn a_dma_read_of_4_kb_takes_592_clocks() {
    for completion_bytes in [1408, 1920] {
        let mut config = config();
        config.bridge.completion_bytes = completion_bytes;
        four_kilobytes_take_592(&config);
    }
}

fn four_kilobytes_take_592(config: &PcixConfig) {
    let records = read(config, 1);
    let kinds: Vec<PcixKind> = records.iter().map(|record| record.kind).collect();
    use PcixKind::{Completion, Read};
    assert_eq!(kinds, [Read, Completion, Completion, Completion]);
    assert_eq!(records[0].outcome, PcixOutcome::Split);
    // To the first data word, and between the completions, as the document says.
    let first_data = records[1].data + CYCLE - records[0].end;
    assert_eq!(cycles(first_data), u64::from(FIRST_DATA));
    for pair in records[1..].windows(2) {
        assert_eq!(cycles(pair[1].start - pair[0].end), u64::from(BETWEEN));
    }
    // The request takes what a word takes, 10; 50; 511 more data phases; 2 gaps of 6 with 3 phases
    // and a turn-around each; the last turn-around.
    let whole = records[3].end - records[0].requested;
    assert_eq!(cycles(whole), 592);
    // "662 MBytes/sec": the next request's arbitration overlaps the last data phase and the
    // turn-around, 590 clocks a read.
    assert_eq!(mebibytes(&read(config, 50), Read, 50).round(), 662.0);
}

#[test]
fn more_outstanding_reads_hide_the_latency() {
    let mut config = config();
    config.core.reads = 2;
    let world = world(&config);
    for _ in 0..50 {
        let endpoint = world.bus.endpoint();
        world.sim.spawn(async move { endpoint.read(MEMORY_BASE, 4096).await.expect("data") });
    }
    world.settle();
    // What is left: data, three transactions, two gaps; the next request begins 2 clocks after the
    // last completion and takes 6, and the other read's first completion is right behind it.
    let ends: Vec<Picoseconds> = world
        .of(PcixKind::Completion)
        .iter()
        .filter(|record| record.outcome == PcixOutcome::Whole)
        .map(|record| record.end)
        .collect();
    assert_eq!(cycles(ends[40] - ends[10]), 30 * (512 + 3 * 4 + 2 * 6 + 2 + 6));
}

/// Checks a trace against the bus's rules; gives the clocks that transactions have it.
fn obeys(records: &[PcixRecord], config: &PcixConfig) -> u64 {
    let mut busy = 0;
    let mut free = Picoseconds::ZERO;
    for record in records {
        assert!(record.start >= free, "{record:?} overlaps the one before, which ends at {free}");
        free = record.end;
        assert!(record.start >= record.requested + CYCLE * u64::from(config.arbitration_cycles));
        let head = config.address_cycles + config.attribute_cycles + config.response_cycles;
        if record.outcome != PcixOutcome::MasterAbort {
            let waited = CYCLE * record.wait_cycles;
            assert_eq!(record.data, record.start + CYCLE * u64::from(head) + waited);
        }
        assert_eq!(record.data_end, record.data + CYCLE * record.data_phases);
        let single = if record.data_phases == 1 { config.single_cycles } else { 0 };
        let tail = CYCLE * u64::from(single + config.turnaround_cycles);
        assert_eq!(record.end, record.data_end + tail);
        let cut_at = (record.address + record.bytes) % u64::from(config.boundary_bytes);
        if record.outcome == PcixOutcome::Cut {
            assert_eq!(cut_at, 0, "{record:?} is cut beside a boundary");
        }
        busy += cycles(record.end - record.start);
    }
    busy
}

#[test]
fn the_clocks_of_a_trace_add_up() {
    let mut config = config();
    config.bridge.split_reads = 1;
    config.core.reads = 3;
    config.core.immediate_cycles = 16;
    let world = world(&config);
    let _device = Registers::serve(&world, Picoseconds::from_ns(60));
    for number in 0..6 {
        let endpoint = world.bus.endpoint();
        world.sim.spawn(async move {
            let at = MEMORY_BASE + 5000 * number;
            endpoint.write(at, &pattern(3000)).await;
            assert_eq!(endpoint.read(at, 3000).await.expect("data"), pattern(3000));
        });
    }
    let host = world.host.clone();
    world.run(async move {
        for at in 0..50 {
            host.mmio_write32(4 * at, 1).await.unwrap();
            host.write_combined(0x400, &pattern(100)).await.unwrap();
            assert_eq!(host.mmio_read32(4 * at).await, Ok(1));
        }
    });
    world.settle();
    let records = world.records();
    let busy = obeys(&records, &config);
    let mut counted = 0;
    for agent in ["bridge", "device"] {
        for kind in ["data_cycles", "wait_cycles", "protocol_cycles"] {
            counted += world.counter(&format!("pcix.{agent}.{kind}"));
        }
    }
    assert_eq!(counted, busy);
    // With the clocks in which the bus is idle they are all that there are.
    let idle: Picoseconds = records.windows(2).map(|pair| pair[1].start - pair[0].end).sum();
    let whole = records.last().unwrap().end - records[0].start;
    assert_eq!(cycles(whole), busy + cycles(idle));
    let outcomes: Vec<PcixOutcome> = records.iter().map(|record| record.outcome).collect();
    for outcome in [PcixOutcome::Retry, PcixOutcome::Cut, PcixOutcome::Split, PcixOutcome::Whole] {
        assert!(outcomes.contains(&outcome), "no {outcome:?} in the trace");
    }
    assert!(records.iter().any(|record| record.wait_cycles > 0), "no wait in the trace");
    let bytes: u64 = records.iter().map(|record| record.bytes).sum();
    let counted =
        world.counter("pcix.bridge.payload_bytes") + world.counter("pcix.device.payload_bytes");
    assert_eq!(counted, bytes);
}

#[test]
fn a_sequence_shows_where_its_time_goes_without_a_gap() {
    let world = world(&config());
    let (endpoint, sim) = (world.bus.endpoint(), world.sim.handle());
    let took = world.run(async move {
        let start = sim.now();
        endpoint.read(MEMORY_BASE, 4096).await.expect("data");
        sim.now() - start
    });
    let spans = world.spans(world.of(PcixKind::Read)[0].id.0);
    let mut at = Picoseconds::ZERO;
    for span in &spans {
        assert_eq!(span.start, at, "{} begins where the one before ends", span.stage);
        at = span.end;
    }
    // The last word is at the user side a clock after it was on the bus.
    assert_eq!(at + CYCLE, took);
    let named: Vec<&str> = spans.iter().map(|span| &*span.stage).collect();
    let phases = ["arbitrate", "address, attribute, response", "data", "turn round"];
    let mut expected = vec!["queue"];
    expected.extend(phases);
    expected.push("memory read");
    expected.extend(phases);
    expected.push("queue");
    expected.extend(phases);
    expected.push("queue");
    expected.extend(&phases[..3]);
    assert_eq!(named, expected);
    let total = |stage: &str| -> Picoseconds {
        let of = spans.iter().filter(|span| &*span.stage == stage);
        of.map(|span| span.end - span.start).sum()
    };
    assert_eq!(cycles(total("data")), 1 + 512);
    assert_eq!(cycles(total("memory read")), 42);
}

#[test]
fn both_agents_get_the_bus_in_turn() {
    let mut config = config();
    config.bridge.posted_stores = 64;
    let world = world(&config);
    let _device = Registers::serve(&world, IDLE);
    let (host, endpoint) = (world.host.clone(), world.bus.endpoint());
    world.sim.spawn(async move {
        for number in 0..200 {
            endpoint.write(MEMORY_BASE + 64 * number, &[1; 64]).await;
        }
    });
    for core in 0..2 {
        let host = host.clone();
        world.sim.spawn(async move {
            for _ in 0..400 {
                host.mmio_write32(4 * core, 1).await.unwrap();
            }
        });
    }
    world.settle();
    let records = world.records();
    obeys(&records, &config);
    let both_want: Vec<PcixAgent> = records
        .iter()
        .filter(|record| record.start > Picoseconds::from_us(1))
        .map(|record| record.initiator)
        .take(150)
        .collect();
    assert!(both_want.windows(2).all(|pair| pair[0] != pair[1]), "{both_want:?}");
}

#[test]
fn of_two_that_ask_in_the_same_clock_the_one_goes_that_did_not_have_the_bus_last() {
    for before in PcixAgent::BOTH {
        let world = world(&config());
        let _device = Registers::serve(&world, IDLE);
        let (host, endpoint) = (world.host.clone(), world.bus.endpoint());
        let sim = world.sim.handle();
        world.run(async move {
            match before {
                PcixAgent::Bridge => host.mmio_write32(0, 1).await.unwrap(),
                PcixAgent::Device => endpoint.write(MEMORY_BASE, &[1; 8]).await,
            }
            sim.sleep_until(Picoseconds::from_us(1)).await;
            // The store is at the bridge 50 ns later, the write at the bus side 10 ns later.
            host.mmio_write32(4, 1).await.unwrap();
            sim.sleep_until(Picoseconds::from_ns(1_040)).await;
            endpoint.write(MEMORY_BASE + 64, &[1; 8]).await;
        });
        world.settle();
        let records = world.records();
        assert_eq!(records[1].requested, records[2].requested, "both ask in the same clock");
        assert_eq!(records[0].initiator, before);
        assert_ne!(records[1].initiator, before);
    }
}

#[test]
fn what_the_device_has_no_room_for_is_refused_and_comes_again() {
    let mut config = config();
    config.core.store_buffer_bytes = 64;
    let world = world(&config);
    let device = Registers::serve(&world, IDLE);
    device.stuck.set(true);
    let (host, sim) = (world.host.clone(), world.sim.handle());
    let freed = Rc::clone(&device);
    world.run(async move {
        host.write_combined(0, &pattern(192)).await.unwrap();
        sim.sleep(Picoseconds::from_us(2)).await;
        freed.unstick();
        host.fence().await;
    });
    world.settle();
    assert_eq!(device.bytes.borrow()[..192], pattern(192));
    let outcomes = world.outcomes(PcixKind::Store);
    assert_eq!(outcomes[0], PcixOutcome::Whole);
    assert_eq!(outcomes[1], PcixOutcome::Retry);
    let retries = outcomes.iter().filter(|outcome| **outcome == PcixOutcome::Retry).count();
    assert_eq!(outcomes.len(), 3 + retries);
    assert_eq!(world.counter("pcix.bridge.retries"), retries as u64);
    // A refusal has the bus for 6 clocks, and REQ# goes up 2 later: one in 12.
    let stores = world.of(PcixKind::Store);
    assert_eq!(cycles(stores[2].start - stores[1].start), 12);
}

#[test]
fn a_full_bridge_cuts_and_refuses_writes() {
    let mut config = config();
    config.bridge.write_buffer_bytes = 256;
    config.bridge.memory_write_ns = 1_000.0;
    let world = world(&config);
    let endpoint = world.bus.endpoint();
    world.run(async move { endpoint.write(MEMORY_BASE + 0x40, &pattern(640)).await });
    world.settle();
    assert_eq!(world.memory.read(0x40, 640).unwrap(), pattern(640));
    let records = world.of(PcixKind::Write);
    obeys(&records, &config);
    let moved: Vec<u64> =
        records.iter().map(|record| record.bytes).filter(|bytes| *bytes > 0).collect();
    // Up to a boundary with what there is room for: 64 + 128, then as bytes get into memory.
    assert_eq!(moved, [192, 256, 192]);
    let refused = records.iter().filter(|record| record.outcome == PcixOutcome::Retry).count();
    assert!(refused > 10, "{refused}");
}

#[test]
fn reads_that_the_bridge_cannot_hold_are_refused_and_let_writes_pass() {
    let mut config = config();
    config.bridge.split_reads = 1;
    config.bridge.memory_read_ns = 5_000.0;
    config.core.reads = 2;
    let world = world(&config);
    for _ in 0..2 {
        let endpoint = world.bus.endpoint();
        world.sim.spawn(async move { endpoint.read(MEMORY_BASE, 64).await.expect("data") });
    }
    let endpoint = world.bus.endpoint();
    world.run(async move { endpoint.write(MEMORY_BASE + 0x1000, &[3; 64]).await });
    world.settle();
    let reads = world.outcomes(PcixKind::Read);
    assert_eq!(reads[..2], [PcixOutcome::Split, PcixOutcome::Retry]);
    assert_eq!(reads.last(), Some(&PcixOutcome::Split));
    let (write, first) = (world.of(PcixKind::Write)[0], world.of(PcixKind::Completion)[0]);
    assert!(write.end < first.start, "the write waits for the refused read");
}

#[test]
fn a_read_sees_the_writes_before_it_even_when_memory_reads_faster() {
    let mut config = config();
    config.bridge.memory_write_ns = 2_000.0;
    config.bridge.memory_read_ns = 10.0;
    let world = world(&config);
    let endpoint = world.bus.endpoint();
    let read = world.run(async move {
        endpoint.write(MEMORY_BASE, &[7; 4096]).await;
        endpoint.read(MEMORY_BASE, 4096).await
    });
    assert_eq!(read, Ok(vec![7; 4096]));
}

#[test]
fn bytes_arrive_once_in_order_whatever_the_traffic() {
    for seed in 0..25 {
        let mut random = RandomStream::new(seed, "pcix property");
        let mut config = config();
        config.bridge.accept_bytes = 128 * (1 + random.below(8) as u32);
        config.bridge.completion_bytes = 128 * (1 + random.below(12) as u32);
        config.bridge.write_buffer_bytes = 128 * (1 + random.below(8) as u32);
        config.bridge.memory_write_ns = 10.0 * random.below(100) as f64;
        config.bridge.memory_read_ns = 10.0 * random.below(100) as f64;
        config.bridge.split_reads = 1 + random.below(3) as usize;
        config.bridge.posted_stores = 1 + random.below(8) as usize;
        config.core.reads = 1 + random.below(4) as usize;
        config.core.store_buffer_bytes = 64 * (1 + random.below(3) as u32);
        config.core.immediate_cycles = 16 * random.below(2) as u32;
        config.core.interrupts = Interrupts::Message;
        let world = world(&config);
        let device = Registers::serve(&world, Picoseconds::from_ns(5 * random.below(60)));
        // Each round the device overwrites a range, reads it back without waiting, and raises an
        // interrupt; the read must see this round's bytes, the interrupted program too.
        let (endpoint, sim) = (world.bus.endpoint(), world.sim.handle());
        let rounds = 12;
        let plan: Vec<(u64, usize)> =
            (0..rounds).map(|_| (random.below(5_000), 1 + random.below(4_096) as usize)).collect();
        let read_back = Rc::new(Cell::new(0));
        let (counted, device_plan) = (Rc::clone(&read_back), plan.clone());
        world.sim.spawn(async move {
            for (round, (at, bytes)) in device_plan.into_iter().enumerate() {
                let data: Vec<u8> = pattern(bytes).iter().map(|b| b ^ round as u8).collect();
                endpoint.write(MEMORY_BASE + at, &data).await;
                let (endpoint, counted) = (endpoint.clone(), Rc::clone(&counted));
                let handle = sim.spawn(async move {
                    let back = endpoint.read(MEMORY_BASE + at, bytes).await.expect("data");
                    assert!(back == data, "round {round}: {bytes} bytes at {at:#x}");
                    counted.set(counted.get() + 1);
                });
                while !handle.is_finished() {
                    sim.sleep(Picoseconds::from_ns(100)).await;
                }
            }
        });
        let log = Rc::new(RefCell::new(Vec::new()));
        let (host, stored) = (world.host.clone(), Rc::clone(&log));
        let stores = 40;
        let sizes: Vec<u64> = (0..stores).map(|_| random.below(4)).collect();
        world.run(async move {
            for (number, size) in sizes.into_iter().enumerate() {
                let at = 8 * (number as u64 * 37 % 900);
                let data = pattern(8).iter().map(|b| b ^ number as u8).collect::<Vec<u8>>();
                match size {
                    0 => {
                        let word = u32::from_le_bytes(data[..4].try_into().unwrap());
                        host.mmio_write32(at, word).await.unwrap();
                        stored.borrow_mut().push((at, data[..4].to_vec()));
                    }
                    1 => {
                        host.write_combined(at, &data).await.unwrap();
                        host.fence().await;
                        stored.borrow_mut().push((at, data));
                    }
                    _ => {
                        let word = u64::from_le_bytes(data[..].try_into().unwrap());
                        host.mmio_write64(at, word).await.unwrap();
                        if size == 3 {
                            assert_eq!(host.mmio_read64(at).await, Ok(word), "behind its store");
                        }
                        stored.borrow_mut().push((at, data));
                    }
                }
            }
        });
        world.settle();
        world.settle();
        assert_eq!(read_back.get(), rounds, "seed {seed}");
        // Every store once, in order.
        assert_eq!(*device.log.borrow(), *log.borrow(), "seed {seed}");
        let records = world.records();
        obeys(&records, &config);
        // Every byte once: of each sequence as many as it has, from its beginning on.
        let mut at: BTreeMap<(u64, PcixKind), u64> = BTreeMap::new();
        let mut moved: BTreeMap<PcixKind, u64> = BTreeMap::new();
        for record in records.iter().filter(|record| record.bytes > 0) {
            let next = at.entry((record.id.0, record.kind)).or_insert(record.address);
            assert_eq!(record.address, *next, "seed {seed}: {record:?}");
            *next += record.bytes;
            *moved.entry(record.kind).or_default() += record.bytes;
        }
        let bytes: u64 = plan.iter().map(|(_, bytes)| *bytes as u64).sum();
        assert_eq!((moved[&PcixKind::Write], moved[&PcixKind::Completion]), (bytes, bytes));
    }
}

#[test]
fn a_split_load_takes_the_sum_of_its_parts_and_its_spans_say_so() {
    let world = world(&config());
    let _device = Registers::serve(&world, Picoseconds::from_ns(200));
    let (host, sim) = (world.host.clone(), world.sim.handle());
    let took = world.run(async move {
        let start = sim.now();
        host.mmio_read64(8).await.unwrap();
        sim.now() - start
    });
    // To the bridge 60 ns; 10 clocks; receive 1; 20 in the device; transmit 1; 4 + 3 + 1; 70 ns.
    assert_eq!(took, Picoseconds::from_ns(60 + 100 + 10 + 200 + 10 + 80 + 70));
    let spans = world.spans(world.of(PcixKind::Load)[0].id.0);
    let mut at = Picoseconds::ZERO;
    for span in &spans {
        assert_eq!(span.start, at, "{} begins where the one before ends", span.stage);
        at = span.end;
    }
    assert_eq!(at, took);
    let device = spans.iter().find(|span| &*span.stage == "device").expect("the device's part");
    assert_eq!(device.end - device.start, Picoseconds::from_ns(10 + 200));
}

#[test]
fn an_answer_in_time_comes_in_the_same_transaction_and_a_late_one_is_split() {
    let load = |answer_ns: u64| {
        let mut config = config();
        config.core.immediate_cycles = 16;
        let world = world(&config);
        let device = Registers::serve(&world, Picoseconds::from_ns(answer_ns));
        device.bytes.borrow_mut()[8..16].copy_from_slice(&[5; 8]);
        let (host, sim) = (world.host.clone(), world.sim.handle());
        let took = world.run(async move {
            let start = sim.now();
            assert_eq!(host.mmio_read64(8).await, Ok(u64::from_le_bytes([5; 8])));
            sim.now() - start
        });
        let records = world.records();
        obeys(&records, &config);
        (took, records.iter().map(|r| (r.outcome, r.wait_cycles)).collect::<Vec<_>>())
    };
    // 60 ns, arbitration 4, to the user side 2 + 1, the device, back 1, the data phase, 70 ns.
    let (took, outcomes) = load(50);
    assert_eq!(took, Picoseconds::from_ns(60 + 40 + 30 + 50 + 10 + 10 + 70));
    assert_eq!(outcomes, [(PcixOutcome::Whole, 6)]);
    // The data phase is at the latest 16 clocks after the address phase: 3 + 12 + 1 still are.
    assert_eq!(load(120).1, [(PcixOutcome::Whole, 13)]);
    let late = load(130).1;
    assert_eq!(late, [(PcixOutcome::Split, 13), (PcixOutcome::Whole, 0)]);
}

#[test]
fn what_the_device_wrote_before_it_answered_is_on_the_bus_before_the_answer() {
    for immediate in [0, 16] {
        let mut config = config();
        config.core.immediate_cycles = immediate;
        config.bridge.memory_write_ns = 0.0;
        let world = world(&config);
        let _device = Registers::serve(&world, Picoseconds::from_ns(20));
        let (host, memory) = (world.host.clone(), world.memory.clone());
        let (endpoint, sim) = (world.bus.endpoint(), world.sim.handle());
        let seen = world.run(async move {
            sim.spawn({
                let sim = sim.clone();
                async move {
                    // While the load is in flight.
                    sim.sleep(Picoseconds::from_ns(110)).await;
                    endpoint.write(MEMORY_BASE, &[9; 300]).await;
                }
            });
            host.mmio_read32(0).await.unwrap();
            memory.read(0, 300).unwrap()
        });
        assert_eq!(seen, vec![9; 300], "immediate_cycles = {immediate}");
    }
}

#[test]
fn an_interrupt_message_comes_behind_the_data_and_a_signal_does_not_wait() {
    let seen = |interrupts| {
        let mut config = config();
        config.core.interrupts = interrupts;
        let world = world(&config);
        let (endpoint, host, memory) =
            (world.bus.endpoint(), world.host.clone(), world.memory.clone());
        world.sim.spawn(async move {
            endpoint.write(MEMORY_BASE, &[5; 4096]).await;
            endpoint.interrupt(3);
        });
        let sim = world.sim.handle();
        let (seen, when) = world.run(async move {
            host.interrupt(3).await;
            (memory.read(0, 4096).unwrap(), sim.now())
        });
        assert_eq!(world.counter("pcix.device.interrupts"), 1);
        (seen == vec![5; 4096], when)
    };
    assert!(seen(Interrupts::Message).0, "the data is there");
    let (whole, when) = seen(Interrupts::Pin);
    // 50 ns of signal, 1 us interrupt, 2 us wake-up.
    assert_eq!((whole, when), (false, Picoseconds::from_ns(3_050)));
}

#[test]
fn a_read_outside_the_memory_ends_in_a_master_abort() {
    let world = world(&config());
    let endpoint = world.bus.endpoint();
    let result = world.run(async move {
        let below = endpoint.read(MEMORY_BASE - 8, 8).await;
        (below, endpoint.read(MEMORY_BASE, 8).await)
    });
    assert_eq!(result, (Err(DmaError::Unsupported), Ok(vec![0; 8])));
    let aborted = world.of(PcixKind::Read)[0];
    assert_eq!(aborted.outcome, PcixOutcome::MasterAbort);
    // Address phase, six clocks without an answer, turn-around.
    assert_eq!(cycles(aborted.end - aborted.start), 1 + 6 + 1);
    assert_eq!(world.counter("pcix.master_aborts"), 1);
}

#[test]
fn a_write_outside_the_memory_fails_the_run_or_is_dropped() {
    let stray = |stray_writes| {
        let mut config = config();
        config.bridge.stray_writes = stray_writes;
        let world = world(&config);
        let endpoint = world.bus.endpoint();
        world.run(async move { endpoint.write(0x1234, &[1; 400]).await });
        (world.sim.run_for(Picoseconds::from_us(10)), world)
    };
    let (failed, _world) = stray(StrayWrite::Fail);
    let line = failed.unwrap_err().to_string();
    assert!(line.contains("pcix") && line.contains("0x1234"), "{line}");
    let (dropped, world) = stray(StrayWrite::Drop);
    dropped.unwrap();
    assert_eq!(world.counter("pcix.bridge.stray_writes"), 1);
    assert_eq!(world.outcomes(PcixKind::Write), [PcixOutcome::MasterAbort]);
}

fn fault(at: u64) -> FaultSpec {
    FaultSpec { at_count: vec![at], ..FaultSpec::default() }
}

#[test]
fn faults_cost_what_they_hit_and_nothing_else() {
    // The second transaction with data is the second completion.
    let bad = world(&config());
    bad.sim.faults().inject("pcix.parity_error", fault(1)).unwrap();
    let endpoint = bad.bus.endpoint();
    let results = bad.run(async move {
        (endpoint.read(MEMORY_BASE, 4096).await, endpoint.read(MEMORY_BASE, 64).await)
    });
    assert_eq!(results, (Err(DmaError::Poisoned), Ok(vec![0; 64])));
    assert_eq!(bad.counter("pcix.parity_errors"), 1);

    let aborted = world(&config());
    aborted.sim.faults().inject("pcix.target_abort", fault(0)).unwrap();
    let endpoint = aborted.bus.endpoint();
    let results = aborted.run(async move {
        (endpoint.read(MEMORY_BASE, 4096).await, endpoint.read(MEMORY_BASE, 64).await)
    });
    assert_eq!(results, (Err(DmaError::Aborted), Ok(vec![0; 64])));

    // A write that loses its target midway: what went before is there, what follows as well.
    let cut = world(&config());
    cut.sim.faults().inject("pcix.target_abort", fault(1)).unwrap();
    let endpoint = cut.bus.endpoint();
    cut.run(async move {
        endpoint.write(MEMORY_BASE, &[1; 4096]).await;
        endpoint.write(MEMORY_BASE + 4096, &[2; 4096]).await;
    });
    cut.settle();
    let memory = cut.memory.read(0, 8192).unwrap();
    assert_eq!(memory[..768], [1; 768]);
    assert_eq!(memory[768..4096], [0; 3328]);
    assert_eq!(memory[4096..], [2; 4096]);
    assert_eq!(cut.counter("pcix.target_aborts"), 1);

    let lost = world(&config());
    lost.sim.faults().inject("pcix.master_abort", fault(0)).unwrap();
    let _device = Registers::serve(&lost, IDLE);
    let host = lost.host.clone();
    let loads = lost.run(async move { (host.mmio_read32(4).await, host.mmio_read32(4).await) });
    assert_eq!(loads, (Err(MmioError::Unsupported { offset: 4 }), Ok(0)));
}

#[test]
fn stores_wait_for_room_in_the_bridge() {
    let mut config = config();
    config.bridge.posted_stores = 1;
    let world = world(&config);
    let _device = Registers::serve(&world, IDLE);
    let (host, sim) = (world.host.clone(), world.sim.handle());
    let took = world.run(async move {
        for at in 0..100 {
            host.mmio_write32(4 * at, 1).await.unwrap();
        }
        sim.now()
    });
    // 10 clocks each, as the core does not look ahead more than its own 50 ns.
    close(took.as_ns_f64(), 100.0 * 100.0, 0.15);
    assert_eq!(world.counter("pcix.bridge.retries"), 0);
}

type Change = fn(&mut PcixConfig);

#[test]
fn a_configuration_that_cannot_be_is_refused_by_its_key() {
    let changes: [(&str, Change); 13] = [
        ("clock_mhz", |c| c.clock_mhz = 0.0),
        ("data_bytes", |c| c.data_bytes = 16),
        ("bridge.store_bytes", |c| c.bridge.store_bytes = 3),
        ("turnaround_cycles", |c| c.turnaround_cycles = 0),
        ("boundary_bytes", |c| c.boundary_bytes = 64),
        ("sequence_bytes", |c| c.sequence_bytes = 8192),
        ("bridge.accept_bytes", |c| c.bridge.accept_bytes = 700),
        ("bridge.completion_bytes", |c| c.bridge.completion_bytes = 0),
        ("core.reads", |c| c.core.reads = 0),
        ("core.store_buffer_bytes", |c| c.core.store_buffer_bytes = 32),
        ("core.bar_bytes", |c| c.core.bar_bytes = 1000),
        ("bridge.memory_read_ns", |c| c.bridge.memory_read_ns = f64::NAN),
        ("core.interrupt_pin_ns", |c| c.core.interrupt_pin_ns = -1.0),
    ];
    for (key, change) in changes {
        let mut config = config();
        change(&mut config);
        let Err(error) = world_with(sim_config(), &config) else { panic!("{key} accepted") };
        let line = error.to_string();
        assert!(line.contains(key) && line.contains("pcix"), "{key}: {line}");
    }
}

#[test]
fn an_unknown_key_is_refused_by_name() {
    let mut json = serde_json::to_value(config()).unwrap();
    assert!(serde_json::from_value::<PcixConfig>(json.clone()).is_ok());
    json["bridge"]["memory_raed_ns"] = 1.0.into();
    let line = serde_json::from_value::<PcixConfig>(json).unwrap_err().to_string();
    assert!(line.contains("memory_raed_ns"), "{line}");
}

#[test]
fn one_seed_gives_one_result() {
    let run = || {
        let world = world(&config());
        let spec = FaultSpec { rate: 0.1, ..FaultSpec::default() };
        for point in ["pcix.parity_error", "pcix.target_abort", "pcix.master_abort"] {
            world.sim.faults().inject(point, spec.clone()).unwrap();
        }
        let mut config = config();
        config.bridge.stray_writes = StrayWrite::Drop;
        for number in 0..20 {
            let endpoint = world.bus.endpoint();
            world.sim.spawn(async move {
                let at = MEMORY_BASE + 4_000 * number;
                endpoint.write(at, &pattern(700)).await;
                let _ = endpoint.read(at, 700).await;
            });
        }
        world.settle();
        (world.records(), world.sim.counters().values(), world.sim.spans().len())
    };
    assert_eq!(run(), run());
}
