// SPDX-License-Identifier: Apache-2.0
//! A link, a host and a memory for the PCIe tests.
#![allow(dead_code, reason = "each test file uses its own part")]

use isthmus_sim::kernel::SimError;
use isthmus_sim::trace::Span;
use isthmus_sim::world::host::{Cpu, CpuConfig, Memory, MemoryConfig};
use isthmus_sim::world::pcie::{
    CreditConfig, Direction, Generation, Pcie, PcieConfig, PcieEndpointConfig, PcieHost,
    PcieHostConfig, PortConfig, RootConfig, StrayWrite, TlpKind, TlpRecord,
};
use isthmus_sim::{Picoseconds, SimConfig, Simulation};

pub const MEMORY_BASE: u64 = 0x1_0000_0000;
pub const MEMORY_BYTES: usize = 1 << 20;
pub const BAR_BASE: u64 = 0x2_0000_0000;
pub const BAR_BYTES: u64 = 0x2000;

pub const NO_LIMIT: CreditConfig = CreditConfig {
    posted_headers: 0,
    posted_data: 0,
    nonposted_headers: 0,
    completion_headers: 0,
    completion_data: 0,
};

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

fn port() -> PortConfig {
    PortConfig {
        transmit_latency_ns: 20.0,
        receive_latency_ns: 30.0,
        transmit_queue_tlps: 8,
        credits: NO_LIMIT,
        credit_update_ns: 50.0,
    }
}

/// Gen3 x16, MPS 256, MRRS 512, nothing reserved, no limits but the wire.
pub fn config() -> PcieConfig {
    PcieConfig {
        name: "pcie".into(),
        generation: Generation::Gen3,
        lanes: 16,
        max_payload_bytes: 256,
        max_read_request_bytes: 512,
        read_completion_bytes: 64,
        ecrc: false,
        reserved_share: 0.0,
        ack_every_tlps: 0,
        update_every_tlps: 0,
        propagation_ns: 5.0,
        replay_ns: 400.0,
        root: RootConfig {
            port: port(),
            memory_base: MEMORY_BASE,
            memory_read_ns: 150.0,
            memory_write_ns: 100.0,
            stray_writes: StrayWrite::Fail,
        },
        endpoint: PcieEndpointConfig {
            port: port(),
            bar_base: BAR_BASE,
            bar_bytes: BAR_BYTES,
            tags: 1024,
            completion_timeout_ns: 50_000.0,
        },
    }
}

pub fn host_config() -> PcieHostConfig {
    PcieHostConfig {
        name: "host".into(),
        load_issue_ns: 60.0,
        load_return_ns: 70.0,
        store_ns: 10.0,
        store_issue_ns: 40.0,
        combine_ns: 2.0,
        fence_ns: 15.0,
        interrupt_ns: 1_000.0,
        wakeup_ns: 2_000.0,
        load_timeout_ns: 20_000.0,
    }
}

pub struct World {
    pub sim: Simulation,
    pub memory: Memory,
    pub link: Pcie,
    pub host: PcieHost,
}

pub fn world(config: &PcieConfig) -> World {
    world_with(sim_config(), config).expect("a world")
}

pub fn world_with(sim_config: SimConfig, config: &PcieConfig) -> Result<World, SimError> {
    let sim = Simulation::new(sim_config);
    let memory = Memory::new(&MemoryConfig {
        name: "memory".into(),
        size_bytes: MEMORY_BYTES,
        load_ns: 5.0,
        store_ns: 1.0,
        copy_ns_per_byte: 0.1,
    })?;
    let link = Pcie::new(&sim, config, &memory)?;
    let cpu = Cpu::new(&sim, "host", &CpuConfig { cores: 2 })?;
    let host = link.host(&host_config(), &cpu, &memory)?;
    Ok(World { sim, memory, link, host })
}

impl World {
    pub fn run<T: 'static>(&self, program: impl Future<Output = T> + 'static) -> T {
        let handle = self.sim.spawn_named("program", program);
        self.sim.run_until_complete(&handle).expect("a run")
    }

    pub fn settle(&self) {
        self.sim.run_for(Picoseconds::from_us(100)).expect("a run");
    }

    pub fn tlps(&self, direction: Direction, kind: TlpKind) -> Vec<TlpRecord> {
        let mut records = self.link.records_since(direction, 0);
        records.retain(|record| record.kind == kind);
        records
    }

    pub fn counter(&self, name: &str) -> u64 {
        *self.sim.counters().values().get(name).unwrap_or_else(|| panic!("counter {name}"))
    }

    /// The spans of one TLP, in the order of time.
    pub fn spans(&self, tag: u64) -> Vec<Span> {
        let mut spans = self.sim.spans().since(0);
        spans.retain(|span| span.tag == tag);
        spans.sort_by_key(|span| (span.start, span.end));
        spans
    }
}

/// Gigabytes a second of payload, from the first symbol to the last.
pub fn payload_rate(records: &[TlpRecord]) -> f64 {
    let bytes: u64 = records.iter().map(|record| record.payload_bytes).sum();
    let first = records.first().expect("a TLP").start;
    let last = records.last().expect("a TLP").end;
    bytes as f64 / (last - first).0 as f64 * 1e3
}

pub fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at.wrapping_mul(167) >> 3) as u8 ^ at as u8).collect()
}

pub fn close(measured: f64, expected: f64, tolerance: f64) {
    let ratio = measured / expected;
    assert!((ratio - 1.0).abs() <= tolerance, "{measured} measured, {expected} expected: {ratio}");
}
