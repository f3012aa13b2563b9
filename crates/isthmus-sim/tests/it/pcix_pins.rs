// SPDX-License-Identifier: Apache-2.0
//! A PCI-X core's user side at a device's pins.

use crate::copier;
use crate::pcix_support;

use copier::{
    BEATS, BETWEEN, Copier, DESTINATION, GO, LENGTH, Misdeed, Pins, SOON, SOURCE, STUTTER,
    device_config,
};
use isthmus_sim::kernel::{ResetSpec, SimError};
use isthmus_sim::world::pcix::{
    Interrupts, MmioError, PcixConfig, PcixHost, PcixKind, PcixOutcome, PcixPins, PcixRecord,
    StrayWrite,
};
use isthmus_sim::{ClockConfig, DeviceHandle, FaultSpec, Hertz, Picoseconds, SimConfig};
use pcix_support::*;

const ROWS: Pins = Pins { rows: true, clock: "clk_i" };
const BURSTS: Pins = Pins { rows: false, clock: "clk_i" };

fn board_with(
    sim: SimConfig,
    config: &PcixConfig,
    misdeed: Misdeed,
    pins: Pins,
) -> (World, DeviceHandle) {
    let world = world_with(sim, config).expect("a world");
    let mut device = device_config();
    device.clocks = vec![ClockConfig::new("clk_i", Hertz::from_mhz(100))];
    if pins.clock != "clk_i" {
        device.clocks.push(ClockConfig::new(pins.clock, Hertz::from_mhz(125)));
    }
    let model = Copier::with_pins(misdeed, pins);
    let device = world.sim.add_model(model, &device).expect("a device");
    PcixPins::attach(&world.sim, &device, &world.bus, pins.clock).expect("pins");
    (world, device)
}

fn board(config: &PcixConfig, pins: Pins) -> (World, DeviceHandle) {
    board_with(sim_config(), config, Misdeed::None, pins)
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

async fn start(host: &PcixHost, job: Job) {
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

async fn copy(host: PcixHost, job: Job) -> Vec<u8> {
    start(&host, job).await;
    host.interrupt(1).await;
    host.memory().read(job.to, job.bytes).expect("inside")
}

const JOB: Job = Job { from: 0x1000, to: 0x8000, bytes: 4096, beats: 256, stutter: false };

fn message() -> PcixConfig {
    let mut config = config();
    // The copy is there when the interrupt is.
    config.core.interrupts = Interrupts::Message;
    config
}

#[test]
fn a_copy_by_dma_is_whole_whatever_its_alignment_and_the_device_stutters() {
    for number in 0..40_usize {
        let mut config = message();
        config.core.reads = 1 + number % 3;
        config.core.write_buffer_bytes = 128 * (1 + number as u32 % 3);
        config.bridge.accept_bytes = 128 * (1 + number as u32 % 5);
        config.bridge.write_buffer_bytes = 128 * (1 + number as u32 % 4);
        config.core.immediate_cycles = 16 * (number as u32 % 2);
        let pins = Pins { rows: number % 4 < 2, clock: ["clk_i", "bus_clk_i"][number % 2] };
        let (world, device) = board_with(sim_config(), &config, Misdeed::None, pins);
        let data = pattern(MEMORY_BYTES);
        world.memory.write(0, &data).unwrap();
        let (from, to) = (0x1000 + 13 * number, 0x8FE0 + 7 * number);
        let bytes = 1 + 211 * number;
        let beats = [0, 1, 7, 256][number % 4];
        let job = Job { from, to, bytes, beats, stutter: number % 3 == 1 };
        let host = world.host.clone();
        assert!(world.run(copy(host, job)) == data[from..from + bytes], "{job:?}");
        // Not a byte beside it.
        let around = world.memory.read(to - 16, bytes + 32).unwrap();
        assert!(around[..16] == data[to - 16..to], "{job:?}: before");
        assert!(around[16 + bytes..] == data[to + bytes..to + bytes + 16], "{job:?}: behind");
        assert_eq!(device.status()["errors"], 0);
        let mut free = Picoseconds::ZERO;
        for record in world.records() {
            assert!(record.start >= free, "{record:?} overlaps the one before");
            free = record.end;
        }
    }
}

fn shape(records: &[PcixRecord]) -> Vec<(u64, PcixOutcome)> {
    records.iter().map(|record| (record.bytes, record.outcome)).collect()
}

#[test]
fn a_row_of_bursts_is_one_sequence() {
    let (world, device) = board(&message(), ROWS);
    world.memory.write(0, &pattern(MEMORY_BYTES)).unwrap();
    let copied = world.run(copy(world.host.clone(), Job { beats: 64, ..JOB }));
    assert!(copied == pattern(MEMORY_BYTES)[0x1000..0x2000]);
    assert_eq!(device.status()["copies"], 1);
    use PcixOutcome::{Cut, Split, Whole};
    // Eight bursts of 512 bytes each way: one read, one write.
    assert_eq!(shape(&world.of(PcixKind::Read)), [(0, Split)]);
    let completions = shape(&world.of(PcixKind::Completion));
    assert_eq!(completions, [(1408, Cut), (1408, Cut), (1280, Whole)]);
    // Each was announced at its address phase: attribute, response and a word before it is there.
    assert_eq!((device.status()["early"], device.status()["lead"]), (3, 3 * 3));
    let writes = world.of(PcixKind::Write);
    let mut expected = vec![(768, Cut); 5];
    expected.push((256, Whole));
    assert_eq!(shape(&writes), expected);
    // A device that gives a beat a clock never has the bus wait: 570 from REQ# on.
    let whole = writes[5].end - writes[0].requested;
    assert_eq!(cycles(whole), 570);
}

#[test]
fn what_the_device_says_ahead_at_its_pins_hides_arbitration() {
    // REQ# says nothing of what it is for: either hides both.
    for (says, hidden) in [(0, [0, 0]), (1, [4, 4]), (2, [4, 4]), (3, [4, 4])] {
        let (world, _device) = board(&message(), ROWS);
        world.memory.write(0, &pattern(MEMORY_BYTES)).unwrap();
        let (host, sim) = (world.host.clone(), world.sim.handle());
        let copied = world.run(async move {
            host.mmio_write64(SOON, says).await.unwrap();
            // What is said stands while the device is idle.
            sim.sleep(Picoseconds::from_us(5)).await;
            copy(host, Job { bytes: 64, ..JOB }).await
        });
        assert!(copied == pattern(MEMORY_BYTES)[0x1000..0x1040]);
        let (read, write) = (world.of(PcixKind::Read)[0], world.of(PcixKind::Write)[0]);
        let seen = [read, write].map(|one| 4 - cycles(one.start - one.requested));
        assert_eq!(seen, hidden, "what is said is {says}");
    }
}

#[test]
fn what_comes_between_the_bursts_of_a_row_ends_its_sequence_and_keeps_its_place() {
    let (world, _device) = board_with(sim_config(), &message(), Misdeed::Between, ROWS);
    world.memory.write(0, &pattern(MEMORY_BYTES)).unwrap();
    let copied = world.run(copy(world.host.clone(), Job { beats: 64, ..JOB }));
    assert!(copied == pattern(MEMORY_BYTES)[0x1000..0x2000]);
    let at = (BETWEEN - MEMORY_BASE) as usize;
    assert_eq!(world.memory.read(at, 8).unwrap(), [0xFF; 8]);
    use PcixOutcome::{Cut, Whole};
    let mut expected = vec![(512, Whole), (8, Whole)];
    expected.extend([(768, Cut); 4]);
    expected.push((512, Whole));
    assert_eq!(shape(&world.of(PcixKind::Write)), expected);
    assert_eq!(world.counter("pcix.device.broken_sequences"), 1);
}

#[test]
fn without_rows_each_burst_is_a_sequence() {
    let (world, _device) = board(&message(), BURSTS);
    world.run(copy(world.host.clone(), Job { beats: 64, ..JOB }));
    assert_eq!(world.of(PcixKind::Read).len(), 8);
    let writes = shape(&world.of(PcixKind::Write));
    assert_eq!(writes, [(512, PcixOutcome::Whole); 8]);
}

#[test]
fn a_write_waits_for_whole_blocks_and_is_cut_where_the_device_is_slow() {
    let mut config = message();
    config.bridge.accept_bytes = 4096;
    let (world, _device) = board(&config, ROWS);
    world.run(copy(world.host.clone(), Job { stutter: true, bytes: 2048, ..JOB }));
    let writes = world.of(PcixKind::Write);
    assert!(writes.len() > 1, "{writes:?}");
    for record in &writes[..writes.len() - 1] {
        assert_eq!(record.outcome, PcixOutcome::Cut);
        assert_eq!((record.address + record.bytes) % 128, 0, "{record:?}");
    }
}

#[test]
fn bytes_without_a_strobe_stay_as_they_are() {
    let (world, _device) = board_with(sim_config(), &message(), Misdeed::Holes, ROWS);
    let data = pattern(MEMORY_BYTES);
    world.memory.write(0, &data).unwrap();
    let job = Job { bytes: 64, ..JOB };
    let copied = world.run(copy(world.host.clone(), job));
    for (at, byte) in copied.iter().enumerate() {
        let from = if (2..6).contains(&(at % 8)) { job.from } else { job.to };
        assert_eq!(*byte, data[from + at], "byte {at}");
    }
    // Byte enables, not a transaction for each run of bytes.
    assert_eq!(shape(&world.of(PcixKind::Write)), [(64, PcixOutcome::Whole)]);
}

#[test]
fn a_load_is_one_narrow_or_one_whole_beat_and_a_combined_line_one_burst() {
    for immediate in [0, 16] {
        let mut config = config();
        config.core.immediate_cycles = immediate;
        let (world, device) = board(&config, ROWS);
        let host = world.host.clone();
        let line = pattern(64);
        let stored = line.clone();
        let values = world.run(async move {
            host.mmio_write64(0x100, 0x8899_AABB_CCDD_EEFF).await.unwrap();
            host.mmio_write32(0x104, 0x0123_4567).await.unwrap();
            host.write_combined(0x1000, &stored).await.unwrap();
            let mut read = Vec::new();
            for at in (0..64).step_by(8) {
                read.extend(host.mmio_read64(0x1000 + at).await.unwrap().to_le_bytes());
            }
            (host.mmio_read64(0x100).await.unwrap(), host.mmio_read32(0x104).await.unwrap(), read)
        });
        assert_eq!(values, (0x0123_4567_CCDD_EEFF, 0x0123_4567, line));
        assert_eq!(device.status()["narrow"], 2);
        assert_eq!(device.status()["bursts"], 3);
        let stores: Vec<u64> = world.of(PcixKind::Store).iter().map(|r| r.data_phases).collect();
        assert_eq!(stores, [2, 1, 16]);
        let answers = world.of(PcixKind::Answer).len();
        assert_eq!(answers, if immediate == 0 { 10 } else { 0 });
    }
}

#[test]
fn a_failed_read_is_a_slave_error_in_its_beats_alone() {
    let (world, device) = board(&message(), ROWS);
    // Stores come first: 6 of two words. Then the second completion, 1408 bytes.
    let spec = FaultSpec { at_count: vec![7], ..FaultSpec::default() };
    world.sim.faults().inject("pcix.parity_error", spec).unwrap();
    world.run(copy(world.host.clone(), JOB));
    assert_eq!(device.status()["errors"], 1408 / 8);

    let (world, device) = board(&message(), ROWS);
    let job = Job { from: MEMORY_BYTES, bytes: 64, ..JOB };
    world.run(copy(world.host.clone(), job));
    assert_eq!(device.status()["errors"], 8);
    assert_eq!(world.outcomes(PcixKind::Read), [PcixOutcome::MasterAbort]);
}

/// What the run says of a device that does this.
fn complaint(misdeed: Misdeed, job: Job) -> String {
    let mut config = message();
    config.core.write_buffer_bytes = 128;
    let (world, _device) = board_with(sim_config(), &config, misdeed, ROWS);
    let handle = world.sim.spawn_named("copy", copy(world.host.clone(), job));
    match world.sim.run_until_complete(&handle) {
        Err(error @ SimError::Pin { .. }) => error.to_string(),
        other => panic!("{misdeed:?}: {other:?}"),
    }
}

#[test]
fn a_broken_protocol_fails_the_run_and_names_the_signal_and_the_time() {
    let short = Job { beats: 16, ..JOB };
    for (misdeed, job, signal, words) in [
        (Misdeed::CrossPage, Job { from: 0x1FE0, ..JOB }, "dma_araddr_o", "crosses 4 KiB"),
        (Misdeed::WrongRow, short, "dma_aruser_o", "8: 128 (this burst) to 4096 expected"),
        (Misdeed::DropData, JOB, "dma_wvalid_o", "fell before it was taken"),
        (Misdeed::NoLast, short, "dma_wlast_o", "in beat 16 of 16"),
        (Misdeed::AnswerNothing, short, "bar_bvalid_o", "an answer to no write"),
        (Misdeed::None, Job { to: MEMORY_BYTES, ..JOB }, "dma_awaddr_o", "no host memory"),
    ] {
        let line = complaint(misdeed, job);
        assert!(line.starts_with(&format!("device fpga: {signal} at ")), "{misdeed:?}: {line}");
        assert!(line.contains(words), "{misdeed:?}: {line}");
    }
}

#[test]
fn a_dropped_stray_write_is_answered_and_counted() {
    let mut config = message();
    config.bridge.stray_writes = StrayWrite::Drop;
    let (world, device) = board(&config, ROWS);
    let host = world.host.clone();
    world.run(async move {
        start(&host, Job { to: MEMORY_BYTES, bytes: 512, ..JOB }).await;
        host.interrupt(1).await;
    });
    assert_eq!(device.status()["copies"], 1);
    assert_eq!(world.counter("pcix.bridge.stray_writes"), 1);
}

#[test]
fn a_reset_in_the_middle_of_a_row_leaves_the_bus_usable() {
    for at_us in [1, 2, 4, 6, 8, 9, 10, 12, 14] {
        let (world, device) = board(&message(), ROWS);
        world.memory.write(0, &pattern(MEMORY_BYTES)).unwrap();
        device.reset_at(ResetSpec { at_ps: at_us * 1_000_000 + 3_000, cycles: 8 });
        let (host, sim) = (world.host.clone(), world.sim.handle());
        let copied = world.run(async move {
            start(&host, Job { beats: 16, ..JOB }).await;
            sim.sleep(Picoseconds::from_us(20)).await;
            let _ = host.mmio_read32(0).await;
            // One that was raised before the reset.
            let _ = sim.timeout(Picoseconds::from_us(1), host.interrupt(1)).await;
            copy(host, Job { to: 0x20000, ..JOB }).await
        });
        assert!(copied == pattern(MEMORY_BYTES)[0x1000..0x2000], "reset at {at_us} us");
    }
}

#[test]
fn a_load_in_a_reset_ends_in_an_error() {
    let (world, device) = board(&message(), ROWS);
    let (host, sim) = (world.host.clone(), world.sim.handle());
    // Until the answer is on the bus: the request is at the pins 170 ns after the load.
    device.reset_at(ResetSpec { at_ps: 1_185_000, cycles: 8 });
    let (broken, after) = world.run(async move {
        sim.sleep(Picoseconds::from_us(1)).await;
        let broken = host.mmio_read32(0).await;
        (broken, host.mmio_read32(0).await)
    });
    assert_eq!(broken, Err(MmioError::Unsupported { offset: 0 }));
    assert_eq!(after, Ok(0));
}

#[test]
fn a_device_without_any_of_the_bundles_or_the_clock_is_refused() {
    let world = world(&config());
    let mut device = device_config();
    device.clocks = vec![ClockConfig::new("clk_i", Hertz::from_mhz(100))];
    let bare = world.sim.add_model(copier::bare(), &device).unwrap();
    let line = PcixPins::attach(&world.sim, &bare, &world.bus, "clk_i").unwrap_err().to_string();
    assert!(line.contains("fpga") && line.contains("bar, dma and irq"), "{line}");
    device.name = "other".into();
    let other = world.sim.add_model(Copier::boxed(Misdeed::None), &device).unwrap();
    let line = PcixPins::attach(&world.sim, &other, &world.bus, "link_clk_i");
    assert!(line.unwrap_err().to_string().contains("no clock link_clk_i"));
}

/// Everything a run leaves behind, with copies, loads, faults, resets and pauses.
fn outcome(sim: SimConfig) -> (String, (u64, u64)) {
    let mut config = message();
    config.core.reads = 2;
    config.bridge.split_reads = 1;
    config.bridge.write_buffer_bytes = 256;
    let (world, device) = board_with(sim, &config, Misdeed::None, ROWS);
    world.memory.write(0, &pattern(MEMORY_BYTES)).unwrap();
    let spec = FaultSpec { rate: 0.02, ..FaultSpec::default() };
    world.sim.faults().inject("pcix.parity_error", spec).unwrap();
    device.reset_at(ResetSpec { at_ps: 61_234_567, cycles: 20 });
    let (host, handle) = (world.host.clone(), world.sim.handle());
    let log = world.run(async move {
        let mut log = Vec::new();
        for number in 0..12 {
            let job = Job {
                from: 0x1000 + 64 * number,
                to: 0x8000 + 100 * number,
                bytes: 300 * number + 8,
                beats: 32,
                stutter: false,
            };
            host.mmio_write64(SOON, number as u64 % 4).await.unwrap();
            start(&host, job).await;
            // A reset or a fault may have eaten the copy.
            let _ = handle.timeout(Picoseconds::from_us(30), host.interrupt(1)).await;
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
        world.records(),
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
