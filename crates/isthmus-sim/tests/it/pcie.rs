// SPDX-License-Identifier: Apache-2.0
//! The PCIe link, transaction by transaction: rates, credits, tags, ordering, faults. The device is
//! a few lines of Rust behind the hard block.

use crate::pcie_support;

use std::cell::RefCell;
use std::rc::Rc;

use isthmus_sim::world::pcie::{
    BarTarget, Direction, DmaError, Endpoint, Generation, MmioError, Pcie, PcieConfig,
    PcieHostConfig, ReadReply, StrayWrite, Taken, TlpKind,
};
use isthmus_sim::{FaultSpec, Picoseconds};
use pcie_support::*;

/// The device writes host memory in writes of `bytes`, back to back; gives GB/s of payload.
fn write_rate(config: &PcieConfig, bytes: usize) -> f64 {
    let world = world(config);
    let endpoint = world.link.endpoint();
    world.run(async move {
        for number in 0..400 {
            let at = number * 1024 % MEMORY_BYTES;
            endpoint.write(MEMORY_BASE + at as u64, &vec![1; bytes]).await;
        }
    });
    world.settle();
    payload_rate(&world.tlps(Direction::Up, TlpKind::Write))
}

/// The device reads host memory in reads of `bytes`, as many at once as it likes.
fn read_rate(config: &PcieConfig, bytes: usize) -> f64 {
    let world = world(config);
    for number in 0..800 {
        let endpoint = world.link.endpoint();
        let at = MEMORY_BASE + number * 1024 % MEMORY_BYTES as u64;
        world.sim.spawn(async move { endpoint.read(at, bytes).await.expect("data") });
    }
    world.settle();
    payload_rate(&world.tlps(Direction::Down, TlpKind::Completion))
}

/// 16 lanes of 8 GT/s, 128b/130b.
const GEN3_X16: f64 = 16.0 * 8.0 / 8.0 * 128.0 / 130.0;

#[test]
fn writes_reach_the_links_rate_less_framing_and_headers() {
    // formula: raw * MPS / (8 framing + 16 header + MPS); figures of the public formula, GB/s
    for (mps, figure) in [(256, 14.40), (512, 15.05)] {
        let config = PcieConfig { max_payload_bytes: mps, ..config() };
        let measured = write_rate(&config, 1024);
        close(measured, GEN3_X16 * f64::from(mps) / f64::from(24 + mps), 1e-5);
        close(measured, figure, 5e-4);
    }
}

#[test]
fn reads_reach_the_links_rate_less_the_headers_of_completions() {
    // formula: raw * completion / (8 framing + 12 header + completion)
    for (completion, figure) in [(64, 12.00), (128, 13.62), (256, 14.61)] {
        let config = PcieConfig { read_completion_bytes: completion, ..config() };
        let measured = read_rate(&config, 512);
        close(measured, GEN3_X16 * f64::from(completion) / f64::from(20 + completion), 1e-5);
        close(measured, figure, 5e-4);
    }
}

#[test]
fn every_generation_and_width_has_its_own_rate() {
    for (generation, lanes, raw) in [
        (Generation::Gen1, 1, 0.25),
        (Generation::Gen1, 4, 1.0),
        (Generation::Gen2, 8, 4.0),
        (Generation::Gen3, 8, GEN3_X16 / 2.0),
        (Generation::Gen4, 8, GEN3_X16),
    ] {
        let config = PcieConfig { generation, lanes, ..config() };
        close(write_rate(&config, 1024), raw * 256.0 / 280.0, 1e-5);
    }
}

#[test]
fn the_pcie_bench_table_follows_from_its_own_share_of_dllps() {
    // pcie-model reserves 8/168 for acknowledgements, 8/168 for credits and 4/1538 for SKP at
    // MPS 256 (8/182 each at 512), of both directions. Its table is rounded to 0.1 Gb/s; ours has
    // no other difference, since its reads and writes are aligned.
    for (mps, limit, rows) in [
        (256, 168.0, [(64, 82.7, 86.6), (128, 95.8, 98.3), (1024, 104.0, 105.5)]),
        (512, 182.0, [(64, 83.4, 87.3), (128, 96.5, 99.1), (1024, 109.5, 110.3)]),
    ] {
        let config = PcieConfig {
            max_payload_bytes: mps,
            read_completion_bytes: mps,
            max_read_request_bytes: 512,
            reserved_share: 2.0 * 8.0 / limit + 4.0 / 1538.0,
            ..config()
        };
        for (bytes, write, read) in rows {
            close(8.0 * write_rate(&config, bytes), write, 1e-3);
            close(8.0 * read_rate(&config, bytes), read, 1e-3);
        }
    }
}

#[test]
fn dllps_take_wire_time_in_the_direction_against_their_tlps() {
    let mut config = PcieConfig { ack_every_tlps: 1, update_every_tlps: 2, ..config() };
    config.read_completion_bytes = 256;
    // One way, they cost the other way only.
    close(write_rate(&config, 1024), GEN3_X16 * 256.0 / 280.0, 1e-5);

    // Both ways at once, w writes and r reads of 512 bytes in each nanosecond, with 8 + 4 bytes of
    // DLLPs against each TLP:  up 280 w + 24 r + 12 (2 r) = raw, down 2 * 276 r + 12 (w + r) = raw.
    let world = world(&config);
    let endpoint = world.link.endpoint();
    world.sim.spawn(async move {
        for _ in 0..1_000 {
            endpoint.write(MEMORY_BASE, &[1; 256]).await;
        }
    });
    for _ in 0..8 {
        let endpoint = world.link.endpoint();
        world.sim.spawn(async move {
            for _ in 0..100 {
                endpoint.read(MEMORY_BASE, 4096).await.expect("data");
            }
        });
    }
    world.settle();
    let until = Picoseconds::from_us(15);
    let rate = |direction, kind| {
        let mut records = world.tlps(direction, kind);
        records.retain(|record| record.start > Picoseconds::from_us(3) && record.end < until);
        payload_rate(&records)
    };
    let writes = (GEN3_X16 - 48.0 / 564.0 * GEN3_X16) / (280.0 - 48.0 * 12.0 / 564.0);
    let reads = (GEN3_X16 - 12.0 * writes) / 564.0;
    close(rate(Direction::Up, TlpKind::Write), 256.0 * writes, 0.01);
    close(rate(Direction::Down, TlpKind::Completion), 512.0 * reads, 0.01);
}

#[test]
fn posted_credits_bound_writes_to_credits_per_round_trip() {
    // 280 bytes of wire, 5 ns way, 30 ns receive, 50 ns update.
    let loop_ns = 280.0 / GEN3_X16 + 5.0 + 30.0 + 50.0;
    let mut few_headers = config();
    few_headers.root.port.credits.posted_headers = 3;
    close(write_rate(&few_headers, 1024), 3.0 * 256.0 / loop_ns, 0.002);

    let mut little_data = config();
    little_data.root.port.credits.posted_data = 35; // two TLPs of 16 units, and no third
    close(write_rate(&little_data, 1024), 2.0 * 256.0 / loop_ns, 0.002);

    let mut enough = config();
    enough.root.port.credits.posted_headers = 6; // 6 TLPs last 106.6 ns, the loop 102.8
    close(write_rate(&enough, 1024), GEN3_X16 * 256.0 / 280.0, 1e-5);
}

#[test]
fn a_tlp_without_credits_says_that_it_waited_for_them() {
    let mut config = config();
    config.root.port.credits.posted_headers = 1;
    let world = world(&config);
    let endpoint = world.link.endpoint();
    world.run(async move { endpoint.write(MEMORY_BASE, &[1; 512]).await });
    world.settle();
    let second = world.tlps(Direction::Up, TlpKind::Write)[1];
    let wait = world.spans(second.id.0).into_iter().find(|span| &*span.stage == "wait for credits");
    let wait = wait.expect("a wait");
    assert_eq!((wait.start, wait.end), (second.handed + Picoseconds::from_ns(20), second.start));
}

#[test]
fn tags_bound_reads_to_tags_per_round_trip() {
    let mut config = config();
    config.endpoint.tags = 4;
    let measured = read_rate(&config, 64);
    // Up: 20 block + 24 bytes + 5 way + 30 block; 150 memory; down: 20 + 84 bytes + 5 + 30.
    let round_trip_ns = 260.0 + (24.0 + 84.0) / GEN3_X16;
    close(measured, 4.0 * 64.0 / round_trip_ns, 0.01);
}

#[test]
fn nonposted_credits_bound_reads_too() {
    let mut config = config();
    config.root.port.credits.nonposted_headers = 1;
    // One request per 24 bytes of wire, way, receive block and update.
    close(read_rate(&config, 64), 64.0 / (24.0 / GEN3_X16 + 5.0 + 30.0 + 50.0), 0.01);
}

fn lengths(world: &World, direction: Direction, kind: TlpKind) -> Vec<(u64, u64)> {
    let records = world.tlps(direction, kind);
    records.iter().map(|r| (r.address - MEMORY_BASE, r.payload_bytes)).collect()
}

#[test]
fn completions_end_at_read_completion_boundaries() {
    let world = world(&config());
    let data = pattern(MEMORY_BYTES);
    world.memory.write(0, &data).unwrap();
    let endpoint = world.link.endpoint();
    let read = world.run(async move { endpoint.read(MEMORY_BASE + 0x1010, 200).await });
    assert_eq!(read.unwrap(), data[0x1010..0x1010 + 200]);
    let expected = [(0x1010, 48), (0x1040, 64), (0x1080, 64), (0x10C0, 24)];
    assert_eq!(lengths(&world, Direction::Down, TlpKind::Completion), expected);
    // Wire bytes: 8 + 12, and whole double words.
    let first = world.tlps(Direction::Down, TlpKind::Completion)[0];
    assert_eq!(first.wire_bytes, 68);
    assert_eq!(first.request, Some(world.tlps(Direction::Up, TlpKind::Read)[0].id));
}

#[test]
fn requests_end_at_their_largest_size_and_at_4_kib() {
    let world = world(&config());
    let data = pattern(MEMORY_BYTES);
    world.memory.write(0, &data).unwrap();
    let endpoint = world.link.endpoint();
    let read = world.run(async move { endpoint.read(MEMORY_BASE + 0x0E80, 1_500).await });
    assert_eq!(read.unwrap(), data[0x0E80..0x0E80 + 1_500]);
    let starts: Vec<u64> =
        lengths(&world, Direction::Up, TlpKind::Read).iter().map(|(at, _)| *at).collect();
    assert_eq!(starts, [0x0E80, 0x1000, 0x1200, 0x1400]);

    let endpoint = world.link.endpoint();
    world.run(async move { endpoint.write(MEMORY_BASE + 0x2F60, &pattern(500)).await });
    world.settle();
    let written = lengths(&world, Direction::Up, TlpKind::Write);
    assert_eq!(written, [(0x2F60, 160), (0x3000, 256), (0x3100, 84)]);
    assert_eq!(world.memory.read(0x2F60, 500).unwrap(), pattern(500));
}

#[test]
fn a_read_sees_the_writes_before_it_even_when_memory_reads_faster() {
    let mut config = config();
    config.root.memory_write_ns = 2_000.0;
    config.root.memory_read_ns = 10.0;
    let world = world(&config);
    let endpoint = world.link.endpoint();
    let read = world.run(async move {
        endpoint.write(MEMORY_BASE, &[7; 64]).await;
        endpoint.read(MEMORY_BASE, 64).await
    });
    assert_eq!(read, Ok(vec![7; 64]));
}

#[test]
fn a_read_does_not_pass_writes_that_wait_for_credits() {
    let mut config = config();
    config.root.port.credits.posted_headers = 1;
    let world = world(&config);
    let endpoint = world.link.endpoint();
    world
        .run(async move {
            endpoint.write(MEMORY_BASE, &[1; 1024]).await;
            endpoint.read(MEMORY_BASE, 4).await
        })
        .unwrap();
    let kinds: Vec<TlpKind> =
        world.link.records_since(Direction::Up, 0).iter().map(|record| record.kind).collect();
    use TlpKind::{Read, Write};
    assert_eq!(kinds, [Write, Write, Write, Write, Read]);
}

/// A device whose BAR is a row of bytes; it can keep reads to itself.
struct Registers {
    bytes: RefCell<Vec<u8>>,
    kept: RefCell<Vec<ReadReply>>,
    keep_reads: bool,
    log: RefCell<Vec<&'static str>>,
    /// Writes this much to host memory before it answers a read.
    push_first: Option<(Endpoint, usize)>,
    sim: isthmus_sim::kernel::Sim,
}

impl Registers {
    fn serve(world: &World, keep_reads: bool, push_first: Option<usize>) -> Rc<Self> {
        let registers = Rc::new(Self {
            bytes: RefCell::new(vec![0; BAR_BYTES as usize]),
            kept: RefCell::default(),
            keep_reads,
            log: RefCell::default(),
            push_first: push_first.map(|bytes| (world.link.endpoint(), bytes)),
            sim: world.sim.handle(),
        });
        world.link.endpoint().serve(Rc::<Self>::clone(&registers));
        registers
    }
}

impl BarTarget for Registers {
    fn write(&self, offset: u64, data: Vec<u8>, _taken: Taken) {
        self.log.borrow_mut().push("write");
        let at = offset as usize;
        self.bytes.borrow_mut()[at..at + data.len()].copy_from_slice(&data);
    }

    fn read(&self, offset: u64, bytes: usize, reply: ReadReply) {
        self.log.borrow_mut().push("read");
        let at = offset as usize;
        let data = self.bytes.borrow()[at..at + bytes].to_vec();
        if self.keep_reads {
            self.kept.borrow_mut().push(reply);
        } else if let Some((endpoint, length)) = self.push_first.clone() {
            self.sim.spawn(async move {
                endpoint.write(MEMORY_BASE, &vec![9; length]).await;
                reply.send(data);
            });
        } else {
            reply.send(data);
        }
    }
}

#[test]
fn a_store_is_there_for_the_load_behind_it() {
    let world = world(&config());
    let _device = Registers::serve(&world, false, None);
    let host = world.host.clone();
    let values = world.run(async move {
        host.mmio_write32(0x10, 0xCAFE_F00D).await.unwrap();
        host.mmio_write64(0x18, 0x0123_4567_89AB_CDEF).await.unwrap();
        (host.mmio_read32(0x10).await, host.mmio_read64(0x18).await, host.mmio_read32(0x1C).await)
    });
    assert_eq!(values, (Ok(0xCAFE_F00D), Ok(0x0123_4567_89AB_CDEF), Ok(0x0123_4567)));
}

#[test]
fn a_load_does_not_pass_a_store_that_leaves_the_core_late() {
    let world = world(&config());
    let device = Registers::serve(&world, false, None);
    let costs = PcieHostConfig { load_issue_ns: 1.0, store_issue_ns: 900.0, ..host_config() };
    let host = world.link.host(&costs, world.host.cpu(), &world.memory).unwrap();
    let value = world.run(async move {
        host.mmio_write32(0, 7).await.unwrap();
        host.write_combined(8, &[1; 8]).await.unwrap();
        host.mmio_read32(0).await
    });
    assert_eq!(value, Ok(7));
    assert_eq!(*device.log.borrow(), ["write", "write", "read"]);
}

#[test]
fn a_load_takes_the_sum_of_its_parts_and_its_spans_say_so() {
    let world = world(&config());
    let _device = Registers::serve(&world, false, None);
    let (host, sim) = (world.host.clone(), world.sim.handle());
    let took = world.run(async move {
        let start = sim.now();
        host.mmio_read64(8).await.unwrap();
        sim.now() - start
    });
    let request = world.tlps(Direction::Down, TlpKind::Read)[0];
    let completion = world.tlps(Direction::Up, TlpKind::Completion)[0];
    let wire = (request.end - request.start) + (completion.end - completion.start);
    // A request to above 4 GiB: 24 bytes. A completion of 8 bytes: 28.
    assert_eq!((request.wire_bytes, completion.wire_bytes), (24, 28));
    close(wire.as_ns_f64(), 52.0 / GEN3_X16, 1e-3);
    let constants = 60 + (20 + 5 + 30) + (20 + 5 + 30) + 70;
    assert_eq!(took, Picoseconds::from_ns(constants) + wire);

    let mut spans = world.spans(request.id.0);
    let mut back = world.spans(completion.id.0);
    let last = spans.pop().expect("load return");
    spans.append(&mut back);
    spans.push(last);
    let stages: Vec<&str> = spans.iter().map(|span| &*span.stage).collect();
    assert_eq!(
        stages,
        [
            "load issue",
            "transmit",
            "serialise",
            "propagate",
            "receive",
            "device",
            "transmit",
            "serialise",
            "propagate",
            "receive",
            "load return",
        ]
    );
    let mut at = Picoseconds::ZERO;
    for span in &spans {
        assert_eq!(span.start, at, "{} begins where the one before ends", span.stage);
        at = span.end;
    }
    assert_eq!(at, took);
}

#[test]
fn a_load_stalls_its_core_and_a_store_does_not() {
    let world = world(&config());
    let _device = Registers::serve(&world, false, None);
    let host = world.host.clone();
    world.run(async move { host.mmio_write32(0, 1).await.unwrap() });
    assert_eq!(world.host.cpu().busy(), Picoseconds::from_ns(10));
    let (host, sim) = (world.host.clone(), world.sim.handle());
    let took = world.run(async move {
        let start = sim.now();
        host.mmio_read32(0).await.unwrap();
        sim.now() - start
    });
    assert_eq!(world.host.cpu().busy(), Picoseconds::from_ns(10) + took);
}

#[test]
fn what_a_device_wrote_before_it_answered_is_there_when_the_load_returns() {
    let mut config = config();
    config.root.memory_write_ns = 5_000.0;
    let world = world(&config);
    let _device = Registers::serve(&world, false, Some(300));
    let (host, memory) = (world.host.clone(), world.memory.clone());
    let seen = world.run(async move {
        host.mmio_read32(0).await.unwrap();
        memory.read(0, 300).unwrap()
    });
    assert_eq!(seen, vec![9; 300]);
}

#[test]
fn a_store_passes_a_load_that_the_device_has_no_room_for() {
    let mut config = config();
    config.endpoint.port.credits.nonposted_headers = 1;
    let world = world(&config);
    let device = Registers::serve(&world, true, None);
    for _ in 0..2 {
        let host = world.host.clone();
        world.sim.spawn(async move { host.mmio_read32(0).await });
    }
    let (host, sim) = (world.host.clone(), world.sim.handle());
    world.sim.spawn(async move {
        sim.sleep(Picoseconds::from_us(1)).await;
        // Both cores stall: this store is one of a third.
        host.mmio_write32(4, 1).await
    });
    world.settle();
    // The second load was still in the root port when the first was given up.
    assert_eq!(*device.log.borrow(), ["read", "write"]);
}

#[test]
fn an_interrupt_comes_after_the_data_written_before_it() {
    let mut config = config();
    config.root.memory_write_ns = 3_000.0;
    let world = world(&config);
    let (endpoint, host, memory) =
        (world.link.endpoint(), world.host.clone(), world.memory.clone());
    world.sim.spawn(async move {
        endpoint.write(MEMORY_BASE, &[5; 4_096]).await;
        endpoint.interrupt(3);
    });
    let sim = world.sim.handle();
    let (seen, when) = world.run(async move {
        host.interrupt(3).await;
        (memory.read(0, 4_096).unwrap(), sim.now())
    });
    assert_eq!(seen, vec![5; 4_096]);
    let message = world.tlps(Direction::Up, TlpKind::Interrupt)[0];
    assert_eq!(message.wire_bytes, 8 + 12 + 4);
    // In memory 3 us after it came, 1 us interrupt, 2 us wake-up.
    assert_eq!(when, message.delivered + Picoseconds::from_us(6));
    assert_eq!(world.counter("pcie.endpoint.interrupts"), 1);
    let last: Vec<_> = world.spans(message.id.0).into_iter().rev().take(3).collect();
    let stages: Vec<&str> = last.iter().map(|span| &*span.stage).collect();
    assert_eq!(stages, ["wake-up", "interrupt", "memory write"]);
    assert!(last[0].end == when && last[0].start == last[1].end && last[1].start == last[2].end);
}

#[test]
fn eight_combined_stores_are_one_tlp_and_a_fence_sends_the_rest() {
    let world = world(&config());
    let device = Registers::serve(&world, false, None);
    let (host, sim) = (world.host.clone(), world.sim.handle());
    let data = pattern(88);
    let stored = data.clone();
    let took = world.run(async move {
        let start = sim.now();
        host.write_combined(0x1000, &stored).await.unwrap();
        let combined = sim.now() - start;
        host.fence().await;
        (combined, sim.now() - start)
    });
    // 11 stores of 2 ns; the rest of a line is out of the core 40 ns later, and the fence takes 15.
    assert_eq!(took, (Picoseconds::from_ns(22), Picoseconds::from_ns(22 + 40 + 15)));
    world.settle();
    let writes = world.tlps(Direction::Down, TlpKind::Write);
    let sizes: Vec<u64> = writes.iter().map(|record| record.payload_bytes).collect();
    assert_eq!(sizes, [64, 24]);
    assert_eq!(device.bytes.borrow()[0x1000..0x1058], data);
}

#[test]
fn stores_wait_for_room_in_the_root_port() {
    let mut config = config();
    config.root.port.transmit_queue_tlps = 1;
    config.endpoint.port.credits.posted_headers = 1;
    let world = world(&config);
    let _device = Registers::serve(&world, false, None);
    let (host, sim) = (world.host.clone(), world.sim.handle());
    let took = world.run(async move {
        for at in 0..100 {
            host.mmio_write32(4 * at, 1).await.unwrap();
        }
        sim.now()
    });
    // One store for each credit's round trip: 28 bytes of wire, 5 + 30 + 50 ns.
    close(took.as_ns_f64(), 100.0 * (28.0 / GEN3_X16 + 85.0), 0.06);
}

#[test]
fn accesses_that_cannot_be_are_refused_by_name() {
    let world = world(&config());
    let _device = Registers::serve(&world, false, None);
    let host = world.host.clone();
    let errors = world.run(async move {
        [
            host.mmio_read32(BAR_BYTES).await.unwrap_err(),
            host.mmio_read64(4).await.unwrap_err(),
            host.write_combined(BAR_BYTES - 8, &[0; 16]).await.unwrap_err(),
        ]
    });
    assert!(matches!(errors[0], MmioError::OutOfRange { offset: BAR_BYTES, bytes: 4, .. }));
    assert!(matches!(errors[1], MmioError::Unaligned { offset: 4, bytes: 8 }));
    assert!(matches!(errors[2], MmioError::OutOfRange { .. }));
}

#[test]
fn a_device_that_does_not_answer_costs_a_load_its_time_out() {
    let world = world(&config());
    let _device = Registers::serve(&world, true, None);
    let (host, sim) = (world.host.clone(), world.sim.handle());
    let (error, when) = world.run(async move { (host.mmio_read32(0).await, sim.now()) });
    let limit = Picoseconds::from_us(20);
    assert_eq!(error, Err(MmioError::Timeout { offset: 0, limit }));
    assert_eq!(when, limit + Picoseconds::from_ns(60));
}

#[test]
fn without_a_device_behind_the_bar_a_load_is_unsupported() {
    let world = world(&config());
    let host = world.host.clone();
    let error = world.run(async move { host.mmio_read32(0).await });
    assert_eq!(error, Err(MmioError::Unsupported { offset: 0 }));
}

#[test]
fn a_read_outside_the_memory_is_unsupported_and_counted() {
    let world = world(&config());
    let endpoint = world.link.endpoint();
    let result = world.run(async move {
        let below = endpoint.read(MEMORY_BASE - 8, 8).await;
        let across = endpoint.read(MEMORY_BASE + MEMORY_BYTES as u64 - 8, 16).await;
        (below, across)
    });
    assert_eq!(result, (Err(DmaError::Unsupported), Err(DmaError::Unsupported)));
    assert_eq!(world.counter("pcie.root.unsupported_requests"), 2);
    assert_eq!(world.counter("pcie.endpoint.unsupported_completions"), 2);
}

#[test]
fn a_write_outside_the_memory_fails_the_run_or_is_dropped() {
    let stray = |stray_writes| {
        let mut config = config();
        config.root.stray_writes = stray_writes;
        let world = world(&config);
        let endpoint = world.link.endpoint();
        world.run(async move { endpoint.write(0x1234, &[1; 4]).await });
        (world.sim.run_for(Picoseconds::from_us(10)), world)
    };
    let (failed, _world) = stray(StrayWrite::Fail);
    let line = failed.unwrap_err().to_string();
    assert!(line.contains("pcie") && line.contains("0x1234"), "{line}");
    let (dropped, world) = stray(StrayWrite::Drop);
    dropped.unwrap();
    assert_eq!(world.counter("pcie.root.unsupported_requests"), 1);
}

fn fault(at: u64) -> FaultSpec {
    FaultSpec { at_count: vec![at], ..FaultSpec::default() }
}

#[test]
fn a_lost_completion_ends_in_a_time_out_and_frees_the_tag() {
    let mut config = config();
    config.endpoint.tags = 1;
    let world = world(&config);
    world.sim.faults().inject("pcie.root.completion_lost", fault(1)).unwrap();
    let (endpoint, sim) = (world.link.endpoint(), world.sim.handle());
    let (lost, when, next) = world.run(async move {
        let lost = endpoint.read(MEMORY_BASE, 256).await;
        (lost, sim.now(), endpoint.read(MEMORY_BASE, 256).await)
    });
    assert_eq!(lost, Err(DmaError::Timeout));
    assert_eq!(when, Picoseconds::from_us(50));
    assert_eq!(next, Ok(vec![0; 256]));
    assert_eq!(world.counter("pcie.endpoint.completion_timeouts"), 1);
}

#[test]
fn two_lost_completions_of_one_read_are_one_time_out_and_no_other_reads() {
    let mut config = config();
    config.endpoint.tags = 1;
    let world = world(&config);
    let spec = FaultSpec { at_count: vec![1, 2], ..FaultSpec::default() };
    world.sim.faults().inject("pcie.root.completion_lost", spec).unwrap();
    let endpoint = world.link.endpoint();
    world.sim.spawn(async move { endpoint.read(MEMORY_BASE, 256).await });
    let endpoint = world.link.endpoint();
    // It waits for the tag.
    let next = world.run(async move { endpoint.read(MEMORY_BASE, 256).await });
    assert_eq!(next, Ok(vec![0; 256]));
    assert_eq!(world.counter("pcie.endpoint.completion_timeouts"), 1);
}

#[test]
fn a_completion_after_the_time_out_is_unexpected() {
    let mut config = config();
    config.endpoint.completion_timeout_ns = 264.0; // the last of four completions comes later
    let world = world(&config);
    world.sim.faults().inject("pcie.root.completion_lost", fault(0)).unwrap();
    let endpoint = world.link.endpoint();
    let lost = world.run(async move { endpoint.read(MEMORY_BASE, 512).await });
    assert_eq!(lost, Err(DmaError::Timeout));
    world.settle();
    assert!(world.counter("pcie.endpoint.unexpected_completions") > 0);
}

#[test]
fn a_poisoned_completion_is_an_error_of_its_read_alone() {
    let world = world(&config());
    world.sim.faults().inject("pcie.root.completion_poisoned", fault(2)).unwrap();
    let endpoint = world.link.endpoint();
    let results = world.run(async move {
        (endpoint.read(MEMORY_BASE, 256).await, endpoint.read(MEMORY_BASE, 256).await)
    });
    assert_eq!(results, (Err(DmaError::Poisoned), Ok(vec![0; 256])));
    assert_eq!(world.counter("pcie.endpoint.poisoned_completions"), 1);
}

#[test]
fn a_wrong_lcrc_costs_the_tlp_and_the_replay() {
    let arrival = |faulty| {
        let world = world(&config());
        if faulty {
            world.sim.faults().inject("pcie.up.lcrc_error", fault(1)).unwrap();
        }
        let endpoint = world.link.endpoint();
        world.run(async move { endpoint.write(MEMORY_BASE, &pattern(768)).await });
        world.settle();
        assert_eq!(world.memory.read(0, 768).unwrap(), pattern(768));
        let records = world.tlps(Direction::Up, TlpKind::Write);
        (records[0].end, records[2].end, world.counter("pcie.up.wire_bytes"))
    };
    let (clean, faulty) = (arrival(false), arrival(true));
    assert_eq!(faulty.0, clean.0);
    let lost = Picoseconds::from_ns(400).as_ns_f64() + 280.0 / GEN3_X16;
    close((faulty.1 - clean.1).as_ns_f64(), lost, 1e-4);
    assert_eq!((clean.2, faulty.2), (3 * 280, 4 * 280));
}

#[test]
fn bytes_are_counted_on_the_wire_and_as_payload() {
    let world = world(&PcieConfig { ecrc: true, ..config() });
    let endpoint = world.link.endpoint();
    world.run(async move { endpoint.read(MEMORY_BASE, 100).await }).unwrap();
    assert_eq!(world.counter("pcie.up.wire_bytes"), 24 + 4);
    assert_eq!(world.counter("pcie.up.payload_bytes"), 0);
    assert_eq!(world.counter("pcie.down.wire_bytes"), (84 + 4) + (20 + 36 + 4));
    assert_eq!(world.counter("pcie.down.payload_bytes"), 100);
    assert_eq!(world.counter("pcie.down.tlps"), 2);
}

type Change = fn(&mut PcieConfig);

#[test]
fn a_configuration_that_cannot_be_is_refused_by_its_key() {
    let changes: [(&str, Change); 12] = [
        ("lanes", |c| c.lanes = 3),
        ("max_payload_bytes", |c| c.max_payload_bytes = 300),
        ("max_read_request_bytes", |c| c.max_read_request_bytes = 64),
        ("read_completion_bytes", |c| c.read_completion_bytes = 512),
        ("reserved_share", |c| c.reserved_share = 1.0),
        ("propagation_ns", |c| c.propagation_ns = -1.0),
        ("endpoint.bar_bytes", |c| c.endpoint.bar_bytes = 1000),
        ("endpoint.bar_base", |c| c.endpoint.bar_base = 0x100),
        ("endpoint.tags", |c| c.endpoint.tags = 0),
        ("root.memory_read_ns", |c| c.root.memory_read_ns = f64::NAN),
        ("root.port.credits.posted_data", |c| c.root.port.credits.posted_data = 8),
        ("endpoint.port.transmit_queue_tlps", |c| c.endpoint.port.transmit_queue_tlps = 0),
    ];
    for (key, change) in changes {
        let mut config = config();
        change(&mut config);
        let Err(error) = world_with(sim_config(), &config) else { panic!("{key} accepted") };
        let line = error.to_string();
        assert!(line.contains(key) && line.contains("pcie"), "{key}: {line}");
    }
}

#[test]
fn an_unknown_key_is_refused_by_name() {
    let mut json = serde_json::to_value(config()).unwrap();
    assert!(serde_json::from_value::<PcieConfig>(json.clone()).is_ok());
    json["root"]["memory_raed_ns"] = 1.0.into();
    let line = serde_json::from_value::<PcieConfig>(json).unwrap_err().to_string();
    assert!(line.contains("memory_raed_ns"), "{line}");
}

#[test]
fn one_seed_gives_one_result() {
    let run = || {
        let mut config = config();
        config.root.port.credits.posted_headers = 5;
        let world = world(&config);
        let spec = FaultSpec { rate: 0.1, ..FaultSpec::default() };
        world.sim.faults().inject("pcie.up.lcrc_error", spec.clone()).unwrap();
        world.sim.faults().inject("pcie.root.completion_lost", spec).unwrap();
        for number in 0..20 {
            let endpoint = world.link.endpoint();
            world.sim.spawn(async move {
                let at = MEMORY_BASE + 4_000 * number;
                endpoint.write(at, &pattern(700)).await;
                let _ = endpoint.read(at, 700).await;
            });
        }
        world.settle();
        (records(&world.link), world.sim.counters().values(), world.sim.spans().len())
    };
    assert_eq!(run(), run());
}

fn records(link: &Pcie) -> Vec<isthmus_sim::world::pcie::TlpRecord> {
    let mut all = link.records_since(Direction::Up, 0);
    all.extend(link.records_since(Direction::Down, 0));
    all
}
