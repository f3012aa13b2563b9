// SPDX-License-Identifier: Apache-2.0
//! A PCIe hard block's user side at a device's pins.

use crate::copier;
use crate::pcie_support;

use copier::{BEATS, Copier, DESTINATION, GO, LENGTH, Misdeed, SOURCE, STUTTER, device_config};
use isthmus_sim::kernel::{ResetSpec, SimError};
use isthmus_sim::world::pcie::{
    Direction, MmioError, PcieConfig, PcieHost, PciePins, StrayWrite, TlpKind,
};
use isthmus_sim::{DeviceHandle, FaultSpec, Picoseconds, SimConfig};
use pcie_support::*;

fn board_with(sim: SimConfig, config: &PcieConfig, misdeed: Misdeed) -> (World, DeviceHandle) {
    let world = world_with(sim, config).expect("a world");
    let device = world.sim.add_model(Copier::boxed(misdeed), &device_config()).expect("a device");
    PciePins::attach(&world.sim, &device, &world.link).expect("pins");
    (world, device)
}

fn board(config: &PcieConfig) -> (World, DeviceHandle) {
    board_with(sim_config(), config, Misdeed::None)
}

/// Memory offsets, and what the copy is like.
#[derive(Clone, Copy, Debug)]
struct Job {
    from: usize,
    to: usize,
    bytes: usize,
    beats: u64,
    stutter: bool,
}

async fn start(host: &PcieHost, job: Job) {
    for (register, value) in [
        (STUTTER, job.stutter.into()),
        (SOURCE, host.bus_address(job.from)),
        (DESTINATION, host.bus_address(job.to)),
        (LENGTH, job.bytes as u64),
        (BEATS, job.beats),
        (GO, 1),
    ] {
        host.mmio_write64(register, value).await.expect("a store");
    }
}

async fn copy(host: PcieHost, job: Job) -> Vec<u8> {
    start(&host, job).await;
    assert_eq!(host.mmio_read64(GO).await, Ok(1), "a load behind the stores");
    host.interrupt(1).await;
    host.memory().read(job.to, job.bytes).expect("inside")
}

const JOB: Job = Job { from: 0x1000, to: 0x8000, bytes: 1_000, beats: 16, stutter: false };

#[test]
fn a_copy_by_dma_is_whole_whatever_its_alignment_and_the_device_stutters() {
    for (number, stutter) in (0..40).map(|number| (number, number % 2 == 1)) {
        let mut config = config();
        config.endpoint.tags = 1 + number % 3;
        config.endpoint.port.transmit_queue_tlps = 1 + number as usize % 2;
        config.root.port.credits.posted_headers = number % 3;
        let (world, device) = board(&config);
        let data = pattern(MEMORY_BYTES);
        world.memory.write(0, &data).unwrap();
        let (from, to) = (0x1000 + 13 * number as usize, 0x8FE0 + 7 * number as usize);
        let bytes = 1 + 211 * number as usize;
        let beats = [0, 1, 7, 256][number as usize % 4];
        let job = Job { from, to, bytes, beats, stutter };
        let host = world.host.clone();
        assert!(world.run(copy(host, job)) == data[from..from + bytes], "{job:?}");
        // Not a byte beside it.
        let around = world.memory.read(to - 16, bytes + 32).unwrap();
        assert!(around[..16] == data[to - 16..to], "{job:?}: before");
        assert!(around[16 + bytes..] == data[to + bytes..to + bytes + 16], "{job:?}: behind");
        assert_eq!(device.status()["errors"], 0);
    }
}

#[test]
fn bursts_become_tlps_of_at_most_the_largest_payload_and_request() {
    let (world, _device) = board(&config());
    let job = Job { bytes: 1_024, beats: 128, ..JOB };
    world.run(copy(world.host.clone(), job));
    let lengths = |kind| -> Vec<u64> {
        world.tlps(Direction::Up, kind).iter().map(|tlp| tlp.payload_bytes).collect()
    };
    assert_eq!(lengths(TlpKind::Write), [256; 4]);
    let starts: Vec<u64> = world
        .tlps(Direction::Up, TlpKind::Read)
        .iter()
        .map(|tlp| tlp.address - MEMORY_BASE)
        .collect();
    assert_eq!(starts, [0x1000, 0x1200]);
}

#[test]
fn bytes_without_a_strobe_stay_as_they_are() {
    let (world, _device) = board_with(sim_config(), &config(), Misdeed::Holes);
    let data = pattern(MEMORY_BYTES);
    world.memory.write(0, &data).unwrap();
    let job = Job { bytes: 64, ..JOB };
    let copied = world.run(copy(world.host.clone(), job));
    for (at, byte) in copied.iter().enumerate() {
        let from = if (2..6).contains(&(at % 8)) { job.from } else { job.to };
        assert_eq!(*byte, data[from + at], "byte {at}");
    }
    assert_eq!(world.tlps(Direction::Up, TlpKind::Write).len(), 8);
}

#[test]
fn a_full_posted_queue_holds_the_devices_data_back() {
    let mut config = config();
    config.root.port.credits.posted_headers = 1;
    config.endpoint.port.transmit_queue_tlps = 2;
    let (world, _device) = board(&config);
    world.run(copy(world.host.clone(), Job { bytes: 4_096, ..JOB }));
    // A TLP waits for the one before it and for itself, each a credit's round trip of 85 ns and at
    // most 13 ns of wire. Without a limit the last of 32 would wait for 1 us.
    let writes = world.tlps(Direction::Up, TlpKind::Write);
    let longest = writes.iter().map(|tlp| tlp.start - tlp.handed).max().expect("writes");
    assert!(longest > Picoseconds::from_ns(98 + 20), "{longest}: the queue is never full");
    assert!(longest < Picoseconds::from_ns(2 * 98 + 20), "{longest}: longer than the queue");
}

#[test]
fn a_load_is_one_narrow_or_one_whole_beat() {
    let (world, device) = board(&config());
    let host = world.host.clone();
    let values = world.run(async move {
        host.mmio_write64(0x100, 0x8899_AABB_CCDD_EEFF).await.unwrap();
        host.mmio_write32(0x104, 0x0123_4567).await.unwrap();
        (
            host.mmio_read64(0x100).await.unwrap(),
            host.mmio_read32(0x100).await.unwrap(),
            host.mmio_read32(0x104).await.unwrap(),
        )
    });
    assert_eq!(values, (0x0123_4567_CCDD_EEFF, 0xCCDD_EEFF, 0x0123_4567));
    // The store and the two loads of 4 bytes.
    assert_eq!(device.status()["narrow"], 3);
}

#[test]
fn a_load_takes_its_parts_and_the_devices_cycles() {
    let (world, _device) = board(&config());
    let (host, sim) = (world.host.clone(), world.sim.handle());
    let took = world.run(async move {
        sim.sleep(Picoseconds::from_us(1)).await;
        let start = sim.now();
        host.mmio_read64(8).await.unwrap();
        sim.now() - start
    });
    let request = world.tlps(Direction::Down, TlpKind::Read)[0];
    let completion = world.tlps(Direction::Up, TlpKind::Completion)[0];
    let spans = world.spans(request.id.0);
    let device = spans.iter().find(|span| &*span.stage == "device").expect("the device's part");
    // The edge that drives arvalid, one that takes it, one that takes the data: 2 cycles of 4 ns
    // after the first edge behind the request's arrival.
    let first_edge = request.delivered.0.next_multiple_of(4_000);
    assert_eq!((device.start, device.end.0), (request.delivered, first_edge + 2 * 4_000));
    let wire = (request.end - request.start) + (completion.end - completion.start);
    let constants = Picoseconds::from_ns(60 + 70 + 2 * (20 + 5 + 30));
    assert_eq!(took, constants + wire + (device.end - device.start));
}

#[test]
fn a_combined_line_is_one_burst_of_the_device() {
    let (world, device) = board(&config());
    let host = world.host.clone();
    let data = pattern(128);
    let stored = data.clone();
    let read = world.run(async move {
        host.write_combined(0x1000, &stored[..64]).await.unwrap();
        host.write_combined(0x104A, &stored[74..101]).await.unwrap();
        // The load sends what is combined, and comes while the bursts are still in progress.
        let mut read = Vec::new();
        for at in (0..128).step_by(8) {
            read.extend(host.mmio_read64(0x1000 + at).await.unwrap().to_le_bytes());
        }
        read
    });
    assert_eq!(read[..64], data[..64]);
    assert_eq!(read[64..74], [0; 10]);
    assert_eq!(read[74..101], data[74..101]);
    assert_eq!(read[101..], [0; 27]);
    assert_eq!(device.status()["bursts"], 2);
    assert_eq!(world.tlps(Direction::Down, TlpKind::Write).len(), 2);
}

#[test]
fn a_failed_read_is_a_slave_error_in_its_beats_alone() {
    let faulty = |point: &str| {
        let (world, device) = board(&config());
        let spec = FaultSpec { at_count: vec![3], ..FaultSpec::default() };
        world.sim.faults().inject(point, spec).unwrap();
        world.run(copy(world.host.clone(), Job { bytes: 1_024, beats: 16, ..JOB }));
        (device.status()["errors"], world.sim.now())
    };
    // A poisoned completion of 64 bytes spoils 8 beats of 8 bytes; a lost one its request of 128.
    assert_eq!(faulty("pcie.root.completion_poisoned").0, 8);
    let (errors, when) = faulty("pcie.root.completion_lost");
    assert!((1..=16).contains(&errors), "{errors}");
    assert!(when > Picoseconds::from_us(50));
}

#[test]
fn a_read_outside_the_memory_is_a_slave_error() {
    let (world, device) = board(&config());
    let host = world.host.clone();
    let job = Job { from: MEMORY_BYTES, bytes: 64, ..JOB };
    world.run(copy(host, job));
    assert_eq!(device.status()["errors"], 8);
    assert_eq!(world.counter("pcie.root.unsupported_requests"), 1);
}

/// What the run says of a device that does this.
fn complaint(misdeed: Misdeed, job: Job) -> String {
    let mut config = config();
    config.root.port.credits.posted_headers = 1;
    config.endpoint.port.transmit_queue_tlps = 1;
    let (world, _device) = board_with(sim_config(), &config, misdeed);
    let host = world.host.clone();
    let handle = world.sim.spawn_named("copy", copy(host, job));
    match world.sim.run_until_complete(&handle) {
        Err(error @ SimError::Pin { .. }) => error.to_string(),
        other => panic!("{misdeed:?}: {other:?}"),
    }
}

#[test]
fn a_broken_protocol_fails_the_run_and_names_the_signal_and_the_time() {
    let long = Job { bytes: 4_096, ..JOB };
    for (misdeed, job, signal, words) in [
        (Misdeed::CrossPage, Job { from: 0x1FE0, ..JOB }, "dma_araddr_o", "crosses 4 KiB"),
        (Misdeed::MoveAddress, long, "dma_awaddr_o", "changed while awready was low"),
        (Misdeed::DropData, long, "dma_wvalid_o", "fell before it was taken"),
        (Misdeed::NoLast, JOB, "dma_wlast_o", "in beat 16 of 16"),
        (Misdeed::AnswerNothing, JOB, "bar_bvalid_o", "an answer to no write"),
        (Misdeed::FixedBurst, JOB, "dma_arburst_o", "1 (INCR) expected"),
        (Misdeed::None, Job { to: MEMORY_BYTES, ..JOB }, "dma_awaddr_o", "no host memory"),
    ] {
        let line = complaint(misdeed, job);
        assert!(line.starts_with(&format!("device fpga: {signal} at ")), "{misdeed:?}: {line}");
        assert!(line.contains(words), "{misdeed:?}: {line}");
    }
}

#[test]
fn a_dropped_stray_write_is_answered_and_counted() {
    let mut config = config();
    config.root.stray_writes = StrayWrite::Drop;
    let (world, device) = board(&config);
    let host = world.host.clone();
    world.run(async move {
        start(&host, Job { to: MEMORY_BYTES, bytes: 64, ..JOB }).await;
        host.interrupt(1).await;
    });
    assert_eq!(device.status()["copies"], 1);
    assert_eq!(world.counter("pcie.root.unsupported_requests"), 1);
}

#[test]
fn a_load_in_a_reset_ends_in_an_error_and_the_device_works_afterwards() {
    let (world, device) = board(&config());
    let (host, sim) = (world.host.clone(), world.sim.handle());
    // The request is at the pins from 1.120 us on, and its data from 1.124 us to 1.128 us.
    device.reset_at(ResetSpec { at_ps: 1_126_000, cycles: 8 });
    let (broken, after) = world.run(async move {
        sim.sleep(Picoseconds::from_us(1)).await;
        let broken = host.mmio_read32(0).await;
        (broken, copy(host, JOB).await)
    });
    assert_eq!(broken, Err(MmioError::Unsupported { offset: 0 }));
    assert_eq!(after.len(), 1_000);
    assert_eq!(device.status()["copies"], 1);
}

#[test]
fn a_device_without_any_of_the_bundles_is_refused() {
    let world = world(&config());
    let device = world.sim.add_model(copier::bare(), &device_config()).unwrap();
    let line = PciePins::attach(&world.sim, &device, &world.link).unwrap_err().to_string();
    assert!(line.contains("fpga") && line.contains("bar, dma and irq"), "{line}");
}

/// Everything a run leaves behind, with copies, loads, faults, resets and pauses.
fn outcome(sim: SimConfig) -> (String, (u64, u64)) {
    let mut config = config();
    config.endpoint.tags = 2;
    config.root.port.credits.posted_headers = 2;
    config.root.memory_read_ns = 900.0;
    let (world, device) = board_with(sim, &config, Misdeed::None);
    world.memory.write(0, &pattern(MEMORY_BYTES)).unwrap();
    let spec = FaultSpec { rate: 0.02, ..FaultSpec::default() };
    for point in ["pcie.up.lcrc_error", "pcie.root.completion_lost"] {
        world.sim.faults().inject(point, spec.clone()).unwrap();
    }
    device.reset_at(ResetSpec { at_ps: 61_234_567, cycles: 20 });
    let (host, handle) = (world.host.clone(), world.sim.handle());
    let log = world.run(async move {
        let mut log = Vec::new();
        for number in 0..12 {
            let job = Job {
                from: 0x1000 + 64 * number,
                to: 0x8000 + 100 * number,
                bytes: 100 * number + 8,
                beats: 16,
                stutter: false,
            };
            start(&host, job).await;
            // A reset may have eaten the copy.
            let _ = handle.timeout(Picoseconds::from_us(90), host.interrupt(1)).await;
            log.push((handle.now(), format!("{:?}", host.mmio_read64(SOURCE).await)));
            handle.sleep(Picoseconds::from_us(5)).await;
        }
        log
    });
    world.settle();
    let everything = format!(
        "{log:?}{:?}{:?}{:?}{:?}{:?}",
        world.sim.counters().values(),
        world.sim.spans().since(0),
        device.status(),
        world.link.records_since(Direction::Up, 0),
        world.memory.read(0, 0x10000).unwrap(),
    );
    (everything, device.cycles())
}

#[test]
fn a_run_is_the_same_with_and_without_skipping_an_idle_device() {
    let (skipped, (cycles, evaluated)) = outcome(sim_config());
    let (whole, _) = outcome(SimConfig { skip_idle: false, ..sim_config() });
    assert!(evaluated * 2 < cycles, "{evaluated} of {cycles} cycles evaluated: nothing skipped");
    assert!(skipped == whole, "the outcomes differ");
    let at_once = SimConfig { idle_confirm_cycles: 0, ..sim_config() };
    assert!(outcome(at_once).0 == whole, "the outcome of a device skipped at once differs");
    let (checked, _) = outcome(SimConfig { check_idle: true, ..sim_config() });
    assert!(checked == whole, "the checked outcome differs");
}
