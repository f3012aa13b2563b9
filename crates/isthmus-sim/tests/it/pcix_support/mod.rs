// SPDX-License-Identifier: Apache-2.0
//! A bus, a host and a memory for the PCI-X tests.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use isthmus_sim::kernel::{Sim, SimError};
use isthmus_sim::trace::Span;
use isthmus_sim::world::host::{Cpu, CpuConfig, Memory, MemoryConfig};
use isthmus_sim::world::pcix::{
    BarTarget, BridgeConfig, CoreConfig, Interrupts, Pcix, PcixConfig, PcixHost, PcixHostConfig,
    PcixKind, PcixOutcome, PcixRecord, ReadReply, StrayWrite, Taken,
};
use isthmus_sim::{Picoseconds, SimConfig, Simulation};

pub const MEMORY_BASE: u64 = 0x1000_0000;
pub const MEMORY_BYTES: usize = 1 << 20;
pub const BAR_BASE: u64 = 0xE000_0000;
pub const BAR_BYTES: u64 = 0x2000;
pub const CYCLE: Picoseconds = Picoseconds::from_ns(10);

pub fn sim_config() -> SimConfig {
    SimConfig {
        seed: 1,
        skip_idle: true,
        check_idle: false,
        idle_confirm_cycles: 4,
        wake_cycles: 4,
        simulated_limit_ps: Some(Picoseconds::from_ms(100).0),
        wall_limit_ms: Some(60_000),
    }
}

// The parts that the FORTH document gives of its bus (section V-C unless another is named).
/// "The theoretical maximum throughput of a 64-bit 100MHz PCI-X bus".
pub const CLOCK_MHZ: f64 = 100.0;
pub const DATA_BYTES: u32 = 8;
/// "we also need 4 cycles for the PCI-X protocol phases in every transaction": address, attribute,
/// response and turn-around, one clock each.
pub const PROTOCOL: u32 = 4;
/// "an average latency of 6 cycles between them".
pub const BETWEEN: u32 = 6;
/// "50 cycles are consumed until we receive the first data word".
pub const FIRST_DATA: u32 = 50;
/// "a split completion sequence completes on average in 3 transactions", of 4 KB.
pub const COMPLETIONS: u32 = 3;
/// "we can write a burst of 64 bytes of data in 24 PCI-X cycles".
pub const COMBINED_LINE: u32 = 24;
/// V-E: "1 PCI-cycle per word"; two of them are its 8-byte message, so a word has 4 bytes.
pub const STORE_BYTES: u32 = 4;
/// What the combined line leaves for arbitration.
pub const ARBITRATION: u32 = COMBINED_LINE - PROTOCOL - 64 / STORE_BYTES;

/// The bus of the document: its parts, what follows from them, and assumptions where it is silent.
pub fn config() -> PcixConfig {
    let cycle_ns = 1e3 / CLOCK_MHZ;
    PcixConfig {
        name: "pcix".into(),
        clock_mhz: CLOCK_MHZ,
        data_bytes: DATA_BYTES,
        address_cycles: 1,
        attribute_cycles: 1,
        response_cycles: 1,
        turnaround_cycles: PROTOCOL - 3,
        // Assumption, from how PCI-X initiators end: docs/explanation/pcix-model.md.
        single_cycles: 1,
        arbitration_cycles: ARBITRATION,
        release_cycles: BETWEEN - ARBITRATION,
        master_abort_cycles: 6,
        boundary_bytes: 128,
        sequence_bytes: 4096,
        bridge: BridgeConfig {
            memory_base: MEMORY_BASE,
            store_bytes: STORE_BYTES,
            posted_stores: 8,
            // The one part that comes out of a total: see the page.
            accept_bytes: 768,
            write_buffer_bytes: 4096,
            memory_write_ns: 100.0,
            memory_read_ns: f64::from(FIRST_DATA - ARBITRATION - (PROTOCOL - 1) - 1) * cycle_ns,
            // Any of 1408 to 1920 bytes makes three of 4 KB.
            completion_bytes: 1408,
            split_reads: 8,
            stray_writes: StrayWrite::Fail,
        },
        core: CoreConfig {
            bar_base: BAR_BASE,
            bar_bytes: BAR_BYTES,
            transmit_cycles: 1,
            ahead: true,
            receive_cycles: 1,
            reads: 1,
            write_buffer_bytes: 8192,
            store_buffer_bytes: 512,
            immediate_cycles: 0,
            interrupts: Interrupts::Pin,
            interrupt_pin_ns: 50.0,
        },
    }
}

pub fn host_config() -> PcixHostConfig {
    PcixHostConfig {
        name: "host".into(),
        load_issue_ns: 60.0,
        load_return_ns: 70.0,
        store_ns: 10.0,
        store_issue_ns: 40.0,
        combine_ns: 2.0,
        fence_ns: 15.0,
        interrupt_ns: 1_000.0,
        wakeup_ns: 2_000.0,
        load_timeout_ns: 500_000.0,
    }
}

pub struct World {
    pub sim: Simulation,
    pub memory: Memory,
    pub bus: Pcix,
    pub host: PcixHost,
}

pub fn world(config: &PcixConfig) -> World {
    world_with(sim_config(), config).expect("a world")
}

pub fn world_with(sim_config: SimConfig, config: &PcixConfig) -> Result<World, SimError> {
    let sim = Simulation::new(sim_config);
    let memory = Memory::new(&MemoryConfig {
        name: "memory".into(),
        size_bytes: MEMORY_BYTES,
        load_ns: 5.0,
        store_ns: 1.0,
        copy_ns_per_byte: 0.1,
    })?;
    let bus = Pcix::new(&sim, config, &memory)?;
    let cpu = Cpu::new(&sim, "host", &CpuConfig { cores: 2 })?;
    let host = bus.host(&host_config(), &cpu, &memory)?;
    Ok(World { sim, memory, bus, host })
}

impl World {
    pub fn run<T: 'static>(&self, program: impl Future<Output = T> + 'static) -> T {
        let handle = self.sim.spawn_named("program", program);
        self.sim.run_until_complete(&handle).expect("a run")
    }

    pub fn settle(&self) {
        self.sim.run_for(Picoseconds::from_ms(1)).expect("a run");
    }

    pub fn records(&self) -> Vec<PcixRecord> {
        self.bus.records_since(0)
    }

    pub fn of(&self, kind: PcixKind) -> Vec<PcixRecord> {
        let mut records = self.records();
        records.retain(|record| record.kind == kind);
        records
    }

    pub fn outcomes(&self, kind: PcixKind) -> Vec<PcixOutcome> {
        self.of(kind).iter().map(|record| record.outcome).collect()
    }

    pub fn counter(&self, name: &str) -> u64 {
        *self.sim.counters().values().get(name).unwrap_or_else(|| panic!("counter {name}"))
    }

    /// The spans of one sequence, in the order of time.
    pub fn spans(&self, tag: u64) -> Vec<Span> {
        let mut spans = self.sim.spans().since(0);
        spans.retain(|span| span.tag == tag);
        spans.sort_by_key(|span| (span.start, span.end));
        spans
    }
}

pub fn cycles(span: Picoseconds) -> u64 {
    assert_eq!(span.0 % CYCLE.0, 0, "{span} is no whole number of clocks");
    span.0 / CYCLE.0
}

pub fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at.wrapping_mul(167) >> 3) as u8 ^ at as u8).collect()
}

pub fn close(measured: f64, expected: f64, tolerance: f64) {
    let ratio = measured / expected;
    assert!((ratio - 1.0).abs() <= tolerance, "{measured} measured, {expected} expected: {ratio}");
}

/// A device whose BAR is a row of bytes. It takes stores when it is told to, and answers a load
/// after a while.
pub struct Registers {
    pub bytes: RefCell<Vec<u8>>,
    pub log: RefCell<Vec<(u64, Vec<u8>)>>,
    /// Keeps what it gets until this is false.
    pub stuck: Cell<bool>,
    kept: RefCell<Vec<(u64, Vec<u8>, Taken)>>,
    answer_after: Picoseconds,
    sim: Sim,
}

impl Registers {
    pub fn serve(world: &World, answer_after: Picoseconds) -> Rc<Self> {
        let registers = Rc::new(Self {
            bytes: RefCell::new(vec![0; BAR_BYTES as usize]),
            log: RefCell::default(),
            stuck: Cell::default(),
            kept: RefCell::default(),
            answer_after,
            sim: world.sim.handle(),
        });
        world.bus.endpoint().serve(Rc::<Self>::clone(&registers));
        registers
    }

    fn store(&self, offset: u64, data: Vec<u8>) {
        let at = offset as usize;
        self.bytes.borrow_mut()[at..at + data.len()].copy_from_slice(&data);
        self.log.borrow_mut().push((offset, data));
    }

    pub fn unstick(&self) {
        self.stuck.set(false);
        for (offset, data, _taken) in self.kept.take() {
            self.store(offset, data);
        }
    }
}

impl BarTarget for Registers {
    fn write(&self, offset: u64, data: Vec<u8>, taken: Taken) {
        if self.stuck.get() {
            self.kept.borrow_mut().push((offset, data, taken));
        } else {
            self.store(offset, data);
        }
    }

    fn read(&self, offset: u64, bytes: usize, reply: ReadReply) {
        let at = offset as usize;
        let data = self.bytes.borrow()[at..at + bytes].to_vec();
        self.sim.after(self.answer_after, move || reply.send(data));
    }
}
