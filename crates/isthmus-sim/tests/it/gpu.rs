// SPDX-License-Identifier: Apache-2.0
//! A GPU beside a device on the same root complex: peer-to-peer writes and reads, their order, and copies.

use std::cell::RefCell;
use std::rc::Rc;

use isthmus_sim::kernel::{Sim, SimError};
use isthmus_sim::world::gpu::{CopyWay, Gpu, GpuConfig};
use isthmus_sim::world::pcie::{
    BarTarget, Direction, DmaError, Generation, PcieConfig, PcieEndpointConfig, ReadReply, Taken,
    TlpKind, wire_bytes,
};
use isthmus_sim::{FaultSpec, Picoseconds};

use crate::pcie_support::*;

const GPU_BASE: u64 = 0x8000_0000;
const GPU_BYTES: u64 = 1 << 20;
const READ_NS: f64 = 300.0;
const WRITE_NS: f64 = 40.0;
const COPY_NS: f64 = 9_000.0;
/// Both ports and the propagation of a link.
const LINK_NS: f64 = 20.0 + 5.0 + 30.0;

fn gpu_config() -> GpuConfig {
    let endpoint =
        PcieEndpointConfig { bar_base: GPU_BASE, bar_bytes: GPU_BYTES, ..config().endpoint };
    let link = PcieConfig { name: "gpu".into(), endpoint, ..config() };
    GpuConfig { name: "gpu".into(), link, read_ns: READ_NS, write_ns: WRITE_NS, copy_ns: COPY_NS }
}

fn with_gpu() -> (World, Gpu) {
    let world = world(&config());
    let gpu = Gpu::new(&world.sim, &gpu_config(), &world.memory).expect("a GPU");
    gpu.reached_by(&world.link).expect("a peer");
    (world, gpu)
}

/// Nanoseconds of this many bytes on 16 lanes of 8 GT/s.
fn wire_ns(bytes: u64) -> f64 {
    bytes as f64 / (16.0 * 8.0 / 8.0 * 128.0 / 130.0)
}

#[test]
fn a_read_costs_both_links_there_and_back_and_the_gpus_own_latency() {
    let (world, gpu) = with_gpu();
    let bytes = pattern(64);
    gpu.memory().write(0x1040, &bytes).expect("inside");
    let (endpoint, handle) = (world.link.endpoint(), world.sim.handle());
    let took = world.run(async move {
        let begin = handle.now();
        assert_eq!(endpoint.read(GPU_BASE + 0x1040, 64).await, Ok(bytes));
        handle.now() - begin
    });
    let request = wire_bytes(TlpKind::Read, GPU_BASE, 0, false);
    let answer = wire_bytes(TlpKind::Completion, GPU_BASE, 64, false);
    let expected = 4.0 * LINK_NS + 2.0 * wire_ns(request + answer) + READ_NS;
    close(took.0 as f64 / 1e3, expected, 1e-4);
}

#[test]
fn long_reads_come_back_in_the_gpus_pieces_at_the_devices_own_rate() {
    let (world, gpu) = with_gpu();
    let bytes = pattern(GPU_BYTES as usize);
    gpu.memory().write(0, &bytes).expect("inside");
    let endpoint = world.link.endpoint();
    world.run(async move {
        assert_eq!(
            endpoint.read(GPU_BASE + 0x123, 200_000).await.unwrap(),
            bytes[0x123..][..200_000]
        );
    });
    let answers = world.tlps(Direction::Down, TlpKind::Completion);
    assert!(answers.iter().all(|one| one.address % 64 + one.payload_bytes <= 64));
    assert_eq!(answers.iter().map(|one| one.payload_bytes).sum::<u64>(), 200_000);
    close(payload_rate(&answers[16..]), 16.0 * 8.0 / 8.0 * 128.0 / 130.0 * 64.0 / 84.0, 0.01);
}

#[test]
fn writes_are_visible_behind_both_links_and_a_settled_gpu_has_them_all() {
    let (world, gpu) = with_gpu();
    let (endpoint, handle, seen) = (world.link.endpoint(), world.sim.handle(), gpu.clone());
    world.run(async move {
        let begin = handle.now();
        endpoint.write(GPU_BASE + 0x2000, &pattern(256)).await;
        seen.memory().watch(0x2000, 256, |bytes| bytes == pattern(256)).await.expect("inside");
        let write = wire_bytes(TlpKind::Write, GPU_BASE, 256, false);
        let expected = 2.0 * LINK_NS + 2.0 * wire_ns(write) + WRITE_NS;
        close((handle.now() - begin).0 as f64 / 1e3, expected, 1e-4);
    });
    let (endpoint, host) = (world.link.endpoint(), world.memory.clone());
    world.run(async move {
        let data = pattern(40_000);
        endpoint.write(GPU_BASE + 0x4000, &data).await;
        // What a device writes behind its data, as an event, is in the host's memory before they are in the GPU's.
        endpoint.write(MEMORY_BASE, &[1]).await;
        host.watch(0, 1, |bytes| bytes == [1]).await.expect("inside");
        assert_ne!(gpu.memory().read(0x4000, data.len()).unwrap(), data);
        gpu.settled().await;
        assert_eq!(gpu.memory().read(0x4000, data.len()).unwrap(), data);
    });
}

#[test]
fn a_device_reads_its_own_writes() {
    let (world, gpu) = with_gpu();
    let endpoint = world.link.endpoint();
    world.run(async move {
        for round in 0..20_u8 {
            endpoint.write(GPU_BASE + 0x800, &[round; 700]).await;
            assert_eq!(endpoint.read(GPU_BASE + 0x800, 700).await.unwrap(), [round; 700]);
        }
    });
    assert_eq!(gpu.memory().read(0x800, 700).unwrap(), [19; 700]);
}

#[test]
fn a_read_waits_for_a_write_that_takes_longer_than_it() {
    let world = world(&config());
    let slow = GpuConfig { read_ns: 10.0, write_ns: 500.0, ..gpu_config() };
    let gpu = Gpu::new(&world.sim, &slow, &world.memory).expect("a GPU");
    gpu.reached_by(&world.link).expect("a peer");
    let endpoint = world.link.endpoint();
    world.run(async move {
        endpoint.write(GPU_BASE, &[9; 64]).await;
        assert_eq!(endpoint.read(GPU_BASE, 64).await.unwrap(), [9; 64]);
    });
}

#[test]
fn a_bad_tlp_of_the_gpu_is_repeated_and_an_address_outside_is_answered_as_unsupported() {
    let (world, _gpu) = with_gpu();
    // A bad LCRC on the GPU's link is repeated there.
    let first = FaultSpec { at_count: vec![0], ..FaultSpec::default() };
    world.sim.faults().inject("gpu.up.lcrc_error", first).unwrap();
    let endpoint = world.link.endpoint();
    world.run(async move {
        assert_eq!(endpoint.read(GPU_BASE, 64).await, Ok(vec![0; 64]));
        // A range that ends outside of the GPU's memory is nobody's.
        let outside = endpoint.read(GPU_BASE + GPU_BYTES - 32, 64).await;
        assert_eq!(outside, Err(DmaError::Unsupported));
    });
    assert_eq!(world.counter("gpu.up.replays"), 1);
}

#[test]
fn a_copy_costs_its_call_and_its_bytes_on_the_link() {
    let (world, gpu) = with_gpu();
    gpu.memory().write(0x100, &pattern(0x3000)).expect("inside");
    let (host, handle, copied) = (world.host.clone(), world.sim.handle(), gpu.clone());
    world.run(async move {
        let begin = handle.now();
        let pieces = [(0x100, 0x1000), (0x2100, 0x1000)];
        copied.copy(host.cpu(), CopyWay::Out, &pieces).await.expect("inside");
        let out = (handle.now() - begin).0 as f64 / 1e3;
        close(out, COPY_NS + wire_ns(0x2000) * 276.0 / 256.0, 0.01);
        assert_eq!(copied.copy_time(CopyWay::In, 0), Picoseconds::from_ns_f64(COPY_NS));
        assert!(copied.copy_time(CopyWay::In, 0x2000) > copied.copy_time(CopyWay::Out, 0x2000));
        host.memory().write(0, &[7; 64]).expect("inside");
        copied.copy(host.cpu(), CopyWay::In, &[(0, 64)]).await.expect("inside");
    });
    assert_eq!(world.memory.read(0x100, 0x1000).unwrap(), pattern(0x3000)[..0x1000]);
    assert_eq!(world.memory.read(0x1100, 0x1000).unwrap(), vec![0; 0x1000]);
    assert_eq!(world.memory.read(0x2100, 0x1000).unwrap(), pattern(0x3000)[0x2000..][..0x1000]);
    assert_eq!(gpu.memory().read(0, 64).unwrap(), [7; 64]);
}

#[test]
fn a_gpu_that_overlaps_or_is_slower_is_refused() {
    let world = world(&config());
    let refused = |change: fn(&mut GpuConfig)| {
        let mut config = gpu_config();
        change(&mut config);
        let gpu = Gpu::new(&world.sim, &config, &world.memory).expect("a GPU");
        match gpu.reached_by(&world.link) {
            Err(SimError::Config { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    };
    let overlaps = "a peer's BAR at 0x100000000 overlaps what begins at 0x100000000";
    assert_eq!(refused(|config| config.link.endpoint.bar_base = MEMORY_BASE), overlaps);
    let slower = refused(|config| config.link.generation = Generation::Gen2);
    assert!(slower.contains("is slower: not modelled"), "{slower}");
    let gpu = || Gpu::new(&world.sim, &gpu_config(), &world.memory).expect("a GPU");
    gpu().reached_by(&world.link).expect("a peer");
    let twice = gpu().reached_by(&world.link);
    assert!(matches!(twice, Err(SimError::Config { reason, .. }) if reason.contains("overlaps")));
}

/// What a device was stored: when, where and what.
struct Stored(Sim, RefCell<Vec<(Picoseconds, u64, Vec<u8>)>>);

impl BarTarget for Stored {
    fn write(&self, offset: u64, data: Vec<u8>, _taken: Taken) {
        self.1.borrow_mut().push((self.0.now(), offset, data));
    }

    fn read(&self, _offset: u64, _bytes: usize, _reply: ReadReply) {
        unreachable!("a kernel stores");
    }
}

#[test]
fn a_kernels_stores_reach_another_devices_bar_in_their_order_behind_both_links() {
    let world = world(&config());
    // A link that is faster than the device's.
    let mut fast = gpu_config();
    fast.link.generation = Generation::Gen4;
    let gpu = Gpu::new(&world.sim, &fast, &world.memory).expect("a GPU");
    gpu.reaches(&world.link).expect("a peer");
    let stored = Rc::new(Stored(world.sim.handle(), RefCell::default()));
    world.link.endpoint().serve(Rc::<Stored>::clone(&stored));
    let (handle, kernel) = (world.sim.handle(), gpu.clone());
    let begin = world.run(async move {
        let begin = handle.now();
        for (at, piece) in (BAR_BASE + 0x40..).step_by(8).zip(pattern(72).chunks(8)) {
            kernel.store(at, piece).await;
        }
        handle.sleep(Picoseconds::from_us(2)).await;
        begin
    });
    let found = stored.1.borrow();
    let bytes: Vec<u8> = found.iter().flat_map(|(_, _, data)| data.clone()).collect();
    assert_eq!(bytes, pattern(72));
    assert!(found.iter().zip((0x40..).step_by(8)).all(|((_, at, _), expected)| *at == expected));
    let write = wire_bytes(TlpKind::Write, BAR_BASE, 8, false);
    let expected = 2.0 * LINK_NS + 1.5 * wire_ns(write);
    close((found[0].0 - begin).0 as f64 / 1e3, expected, 1e-3);
}
