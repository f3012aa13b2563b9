// SPDX-License-Identifier: Apache-2.0
//! REQ# before there is anything to send: what the device says ahead hides its arbitration, and costs
//! the bridge nothing.

use crate::pcix_support;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};
use isthmus_sim::trace::Span;
use isthmus_sim::world::pcix::{PcixAgent, PcixEndpoint, PcixKind, PcixOutcome, PcixRecord};
use pcix_support::*;

const BEGIN: Picoseconds = Picoseconds::from_us(1);
const ARB: u64 = ARBITRATION as u64;
/// From the user side to the bus side: `transmit_cycles` of the bus in the tests.
const TRANSMIT: u64 = 1;

fn clock(number: u64) -> Picoseconds {
    BEGIN + CYCLE * number
}

/// Sets what the device says of writes and reads at a clock of `BEGIN`.
fn say(world: &World, at: u64, [write, read]: [bool; 2]) {
    let (endpoint, sim) = (world.bus.endpoint(), world.sim.handle());
    world.sim.spawn(async move {
        sim.sleep_until(clock(at)).await;
        endpoint.soon(write, read);
    });
}

async fn access(sim: Sim, endpoint: PcixEndpoint, at: u64, kind: PcixKind) {
    sim.sleep_until(clock(at)).await;
    match kind {
        PcixKind::Read => drop(endpoint.read(MEMORY_BASE + 0x1000, 8).await.expect("data")),
        _ => endpoint.write(MEMORY_BASE + 0x1000, &pattern(8)).await,
    }
}

fn start(world: &World, at: u64, kind: PcixKind) {
    world.sim.spawn(access(world.sim.handle(), world.bus.endpoint(), at, kind));
}

/// A store that is at the bridge at a clock of `BEGIN`.
fn store(world: &World, at: u64) {
    let (host, sim) = (world.host.clone(), world.sim.handle());
    let issue = Picoseconds::from_ns_f64(host_config().store_issue_ns + host_config().store_ns);
    world.sim.spawn(async move {
        sim.sleep_until(clock(at) - issue).await;
        host.mmio_write32(0, 1).await.expect("a store");
    });
}

#[test]
fn what_is_said_ahead_hides_as_many_clocks_of_arbitration() {
    for kind in [PcixKind::Write, PcixKind::Read] {
        for ahead in 0..8 {
            let world = world(&config());
            let of_kind = [kind == PcixKind::Write, kind == PcixKind::Read];
            say(&world, 20, of_kind);
            start(&world, 20 + ahead, kind);
            // It falls a clock behind the access, as a device sees it taken.
            say(&world, 20 + ahead + 1, [false; 2]);
            world.settle();
            let record = world.of(kind)[0];
            assert_eq!(record.requested, clock(20 + ahead + TRANSMIT), "{kind:?} {ahead} ahead");
            let arbitrated = cycles(record.start - record.requested);
            assert_eq!(arbitrated, ARB.saturating_sub(ahead), "{kind:?} {ahead} ahead");
            // All that it takes still lies end to end, and what is hidden is not shown.
            let spans = world.spans(record.id.0);
            let mut at = clock(20 + ahead);
            for span in &spans {
                assert_eq!(span.start, at, "{} begins where the one before ends", span.stage);
                at = span.end;
            }
            let mine = |span: &&Span| &*span.track == "pcix.device" && &*span.stage == "arbitrate";
            let shown = spans.iter().filter(mine).map(|span| span.end - span.start).sum();
            assert_eq!(cycles(shown), arbitrated);
            if kind == PcixKind::Read {
                // The completion is the bridge's, and has its own.
                let completion = world.of(PcixKind::Completion)[0];
                assert_eq!(cycles(completion.start - completion.requested), ARB);
            }
        }
    }
}

#[test]
fn a_core_that_asks_only_when_it_has_something_hides_no_arbitration() {
    let mut config = config();
    config.core.ahead = false;
    for kind in [PcixKind::Write, PcixKind::Read] {
        let world = world(&config);
        say(&world, 20, [true; 2]);
        start(&world, 26, kind);
        say(&world, 27, [false; 2]);
        world.settle();
        let record = world.of(kind)[0];
        assert_eq!(record.requested, clock(26 + TRANSMIT), "{kind:?}");
        assert_eq!(cycles(record.start - record.requested), ARB, "{kind:?}");
    }
}

#[test]
fn what_is_said_and_does_not_come_is_nothing() {
    for kind in [PcixKind::Write, PcixKind::Read] {
        for until in 1..12 {
            let world = world(&config());
            say(&world, 20, [true; 2]);
            say(&world, 20 + until, [false; 2]);
            // The clock behind: REQ# has been down for one.
            start(&world, 21 + until, kind);
            world.settle();
            let records = world.records();
            assert_eq!(cycles(records[0].start - records[0].requested), ARB, "up for {until}");
            let written = [world.counter("pcix.device.transactions"), records.len() as u64];
            assert_eq!(written, if kind == PcixKind::Write { [1, 1] } else { [1, 2] });
        }
    }
}

#[test]
fn a_bridge_that_wants_the_bus_meanwhile_is_not_a_clock_later() {
    // The same with and without: a store at any clock, and a write behind it in the clock named.
    let run = |says: bool, stored: u64, written: Option<u64>| {
        let world = world(&config());
        let _device = Registers::serve(&world, Picoseconds::ZERO);
        if says {
            say(&world, 20, [true; 2]);
            say(&world, 60, [false; 2]);
        }
        store(&world, stored);
        if let Some(at) = written {
            start(&world, at, PcixKind::Write);
        }
        world.settle();
        world.records()
    };
    for stored in 15..65 {
        let (with, without) = (run(true, stored, None), run(false, stored, None));
        assert_eq!(with, without, "a store in clock {stored}");
        assert_eq!(cycles(with[0].start - clock(stored)), ARB);
    }
    for stored in 30..40 {
        for behind in 1..10 {
            // Its data is at the bus side so many clocks behind the bridge's REQ#.
            let written = Some(stored + behind - TRANSMIT);
            let (with, without) = (run(true, stored, written), run(false, stored, written));
            assert_eq!(with[0], without[0], "a store in clock {stored}, a write {behind} behind");
            // The device's is right behind it.
            assert_eq!((with[1].kind, with[1].start), (PcixKind::Write, with[0].end));
        }
    }
}

#[test]
fn of_two_that_wait_for_the_bus_only_a_whole_arbitration_counts() {
    // The bridge had the bus last, and wants it again at its end. The write's turn it would be, but that
    // its data is there too late for a request of its own.
    for before in 0..8 {
        let world = world(&config());
        let _device = Registers::serve(&world, Picoseconds::ZERO);
        say(&world, 0, [true, false]);
        store(&world, 20);
        store(&world, 22);
        // The first has the bus from clock 24 to 30, then asks again.
        start(&world, 34 - before - TRANSMIT, PcixKind::Write);
        world.settle();
        let order: Vec<PcixKind> = world.records().iter().map(|record| record.kind).collect();
        use PcixKind::{Store, Write};
        let write = world.of(Write)[0];
        let at = 34 - before;
        assert_eq!(write.requested, clock(at));
        // Before the second store asks (30) it goes as soon as the bus is free, in the same clock as
        // well; behind that it waits for a turn.
        let expected = if at <= 30 { [Store, Write, Store] } else { [Store, Store, Write] };
        assert_eq!(order, expected, "{before} clocks before the second store");
        if at <= 30 {
            assert_eq!(write.start, clock(30));
        }
    }
}

/// Writes one behind the other, with REQ# worth having all the time.
fn writes(bytes: usize, times: usize, says: bool) -> Vec<PcixRecord> {
    let world = world(&config());
    let (endpoint, data) = (world.bus.endpoint(), pattern(bytes));
    say(&world, 0, [says, false]);
    let sim = world.sim.handle();
    world.run(async move {
        sim.sleep_until(clock(20)).await;
        for _ in 0..times {
            endpoint.write(MEMORY_BASE + 0x1000, &data).await;
        }
    });
    world.settle();
    world.of(PcixKind::Write)
}

#[test]
fn each_transaction_has_an_arbitration_of_its_own() {
    // An agent has REQ# up for the next one from the end of one on: none is hidden but the first.
    let records = writes(8, 5, true);
    assert_eq!(records[0].start, records[0].requested);
    for pair in records.windows(2) {
        assert_eq!(cycles(pair[1].start - pair[0].end), ARB);
    }
    // REQ# is held back after a cut as ever: 570 clocks for 4 KB, less those four.
    let took = |records: &[PcixRecord]| {
        cycles(records.last().expect("a write").end - records[0].requested)
    };
    assert_eq!(took(&writes(4096, 1, false)), 570);
    assert_eq!(took(&writes(4096, 1, true)), 570 - ARB);
}

#[test]
fn a_read_that_may_not_go_yet_is_not_asked_for() {
    // One read may be outstanding: what is said of the next holds no REQ# up until the data has come.
    let world = world(&config());
    say(&world, 0, [false, true]);
    for at in [20, 22] {
        start(&world, at, PcixKind::Read);
    }
    world.settle();
    let (reads, data) = (world.of(PcixKind::Read), world.of(PcixKind::Completion));
    assert_eq!(reads[0].start, reads[0].requested);
    assert_eq!(reads[1].requested, data[0].data_end - CYCLE);
    assert_eq!(cycles(reads[1].start - reads[1].requested), ARB);
}

#[test]
fn what_is_said_forever_starves_nobody_and_breaks_no_rule() {
    let mut config = config();
    config.bridge.posted_stores = 64;
    config.bridge.split_reads = 1;
    config.bridge.write_buffer_bytes = 256;
    config.core.reads = 2;
    let run = |says: [bool; 2]| {
        let world = world(&config);
        let _device = Registers::serve(&world, Picoseconds::ZERO);
        let mut random = RandomStream::new(3, "traffic");
        world.bus.endpoint().soon(says[0], says[1]);
        for core in 0..2 {
            let host = world.host.clone();
            world.sim.spawn(async move {
                for _ in 0..300 {
                    host.mmio_write32(4 * core, 1).await.expect("a store");
                }
            });
        }
        let (endpoint, sim) = (world.bus.endpoint(), world.sim.handle());
        world.run(async move {
            for number in 0..150_u64 {
                let bytes = 8 * (1 + random.below(100) as usize);
                let at = MEMORY_BASE + 1024 * number;
                endpoint.write(at, &pattern(bytes)).await;
                sim.sleep(CYCLE * random.below(60)).await;
                assert_eq!(endpoint.read(at, bytes).await, Ok(pattern(bytes)));
            }
        });
        world.settle();
        let (mut free, mut busy) = (Picoseconds::ZERO, 0);
        let records = world.records();
        for record in &records {
            assert!(record.start >= free, "{record:?} overlaps the one before, up to {free}");
            assert!(record.start >= record.requested);
            let whole = record.start >= record.requested + CYCLE * ARB;
            assert!(whole || record.initiator == PcixAgent::Device, "{record:?}");
            busy += cycles(record.end - record.start);
            free = record.end;
        }
        let counted: u64 = ["data", "wait", "protocol"]
            .iter()
            .flat_map(|what| ["bridge", "device"].map(|agent| (agent, what)))
            .map(|(agent, what)| world.counter(&format!("pcix.{agent}.{what}_cycles")))
            .sum();
        assert_eq!(counted, busy, "clocks with REQ# alone are idle");
        let refused = world.outcomes(PcixKind::Write).contains(&PcixOutcome::Retry);
        assert!(refused, "no write was refused");
        records
    };
    let hidden = |records: &[PcixRecord]| {
        let early = |record: &&PcixRecord| record.start < record.requested + CYCLE * ARB;
        records.iter().filter(early).count()
    };
    assert_eq!(hidden(&run([false; 2])), 0);
    assert!(hidden(&run([true; 2])) > 50);
    assert!(hidden(&run([true, false])) > 50);
    // While both want it they take turns, whatever is said.
    let records = run([true; 2]);
    let stores = records.iter().rposition(|record| record.kind == PcixKind::Store);
    let busy = &records[..stores.expect("stores")];
    let row = |pair: &[PcixRecord]| pair.iter().all(|one| one.initiator == PcixAgent::Device);
    let asked =
        busy.windows(3).filter(|three| row(&three[..2]) && three[2].requested < three[1].requested);
    assert_eq!(asked.count(), 0, "the device had the bus twice while the bridge asked");
}
