// SPDX-License-Identifier: Apache-2.0
//! The world of one run: host, cables, switch, device.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use serde::Serialize;

use isthmus_host::etherbone::Statistics;
use isthmus_sim::kernel::JoinHandle;
use isthmus_sim::trace::perfetto_trace;
use isthmus_sim::world::ethernet::INTERFRAME_GAP_BYTES;
use isthmus_sim::world::{
    Cable, CableConfig, CpuConfig, GmiiPhy, Host, HostConfig, MacAddress, NetConfig, NicConfig,
    PhyFrame, Switch, SwitchConfig,
};
use isthmus_sim::{DeviceHandle, Limit, Picoseconds, SimConfig, SimError, Simulation};

use super::program::{Outcome, Program, Task};
use crate::error::RoadError;
use crate::gige::{self, MakeModel};
use crate::scenario::{Library, Platform, Scenario};

const HOST_MAC: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const HOST_IP: Ipv4Addr = Ipv4Addr::new(192, 168, 10, 1);
/// Linux: net.core.rmem_default.
const SOCKET_BUFFER_BYTES: usize = 212_992;
/// Linux: three requests, a second apart (neigh/default/mcast_solicit, retrans_time_ms).
const ARP_ATTEMPTS: u32 = 3;
const ARP_TIMEOUT_NS: f64 = 1e9;
/// Linux: neigh/default/unres_qlen.
const ARP_QUEUE_FRAMES: usize = 101;
/// Linux: txqueuelen of 1000 frames.
const TRANSMIT_QUEUE_BYTES: u64 = 1_526_000;
/// The e1000e and igb drivers' default ring.
const RECEIVE_RING_FRAMES: usize = 256;
/// Enough for every datagram a client keeps in flight; a switch that drops shows in its counters.
const SWITCH_QUEUE_BYTES: u64 = 262_144;
/// How late the second copy of a doubled frame comes, and a frame that is overtaken.
pub(super) const FAULT_DELAY_NS: f64 = 50_000.0;
/// A device comes to rest after a run: longer than the gateware's bus time-out of 12,500 clocks.
const SETTLE: Picoseconds = Picoseconds::from_us(200);

/// What the protocol library's work costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct LibraryCosts {
    build_cycle: f64,
    build_operation: f64,
    parse_cycle: f64,
    parse_operation: f64,
    pub(super) event_loop: Picoseconds,
    /// A receive call that finds a datagram, or was waiting for it.
    pub(super) receive_call: Picoseconds,
}

impl LibraryCosts {
    fn new(library: &Library, platform: &Platform) -> Self {
        Self {
            build_cycle: library.build_cycle_ns,
            build_operation: library.build_operation_ns,
            parse_cycle: library.parse_cycle_ns,
            parse_operation: library.parse_operation_ns,
            event_loop: Picoseconds::from_ns_f64(library.event_loop_ns),
            receive_call: Picoseconds::from_ns_f64(platform.host.receive_call_ns),
        }
    }

    pub(super) fn build(&self, operations: usize) -> Picoseconds {
        Picoseconds::from_ns_f64(self.build_cycle + self.build_operation * operations as f64)
    }

    pub(super) fn complete(&self, operations: usize) -> Picoseconds {
        Picoseconds::from_ns_f64(self.parse_cycle + self.parse_operation * operations as f64)
    }
}

/// A built world.
pub(super) struct World {
    pub(super) simulation: Simulation,
    pub(super) device: DeviceHandle,
    pub(super) phy: GmiiPhy,
    pub(super) host: Host,
    pub(super) epoch_ns: u64,
    address: SocketAddrV4,
    costs: LibraryCosts,
    timeline: Option<PathBuf>,
}

/// Clocks inside the gateware.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct PathClocks {
    turnaround: u64,
    first_to_last: u64,
}

impl World {
    pub(super) fn build(
        scenario: &Scenario,
        make_model: MakeModel<'_>,
        traced: bool,
    ) -> Result<Self, RoadError> {
        let platform = &scenario.platform;
        let trace = if traced { scenario.trace.clone() } else { Default::default() };
        let simulation = Simulation::new(SimConfig {
            seed: scenario.seed,
            skip_idle: scenario.skip_idle,
            check_idle: scenario.check_idle,
            idle_confirm_cycles: IDLE_CONFIRM_CYCLES,
            wake_cycles: WAKE_CYCLES,
            simulated_limit_ps: Some(scenario.limits.simulated_ms.saturating_mul(1_000_000_000)),
            wall_limit_ms: Some(scenario.limits.wall_s.saturating_mul(1_000)),
        });
        let epoch_ns = platform.fpga.epoch_s.saturating_mul(1_000_000_000);
        if let Some(path) = &trace.pcap {
            simulation.capture_to(path, epoch_ns)?;
        }
        let gige::Attached { device, phy } = gige::attach(
            &simulation,
            &scenario.device,
            &platform.fpga,
            trace.waveform.clone(),
            make_model,
        )?;
        let host = Host::new(&simulation, &host_config(platform))?;
        let cable = |name: &str| CableConfig {
            name: name.to_owned(),
            length_m: platform.link.length_m,
            delay_ns_per_m: platform.link.delay_ns_per_m,
            fault_delay_ns: FAULT_DELAY_NS,
        };
        match platform.switch {
            None => Cable::connect(&simulation, &host, &phy, &cable("cable"))?,
            Some(switch) => {
                let config = SwitchConfig {
                    name: "switch".to_owned(),
                    ports: 2,
                    bit_rate_bit_s: bit_rate(platform),
                    forwarding_latency_ns: switch.latency_ns,
                    queue_bytes: SWITCH_QUEUE_BYTES,
                };
                let switch = Switch::new(&simulation, &config)?;
                Cable::connect(&simulation, &host, switch.port(0)?, &cable("cable"))?;
                Cable::connect(&simulation, switch.port(1)?, &phy, &cable("cable.fpga"))?;
            }
        }
        for (name, spec) in &scenario.faults {
            simulation.faults().inject(name, spec.clone())?;
        }
        Ok(Self {
            simulation,
            device,
            phy,
            host,
            epoch_ns,
            address: SocketAddrV4::new(scenario.device.ip, scenario.device.udp_port),
            costs: LibraryCosts::new(&platform.library, platform),
            timeline: trace.timeline,
        })
    }

    /// Starts the host program.
    pub(super) fn start(&self, task: &Task) -> JoinHandle<super::program::Finished> {
        let program = Program::new(self, self.address, self.costs);
        let task = task.clone();
        self.simulation.spawn_named("host program", async move { program.run(task).await })
    }

    pub(super) fn settle(&self) -> Result<(), SimError> {
        let limit = Limit {
            simulated: Some(self.simulation.now() + SETTLE),
            wall: self.simulation.config().wall_limit_ms.map(std::time::Duration::from_millis),
        };
        self.simulation.run_until_idle(&limit).map(drop)
    }

    pub(super) fn write_timeline(&self) -> Result<(), SimError> {
        let Some(path) = &self.timeline else { return Ok(()) };
        let bytes = perfetto_trace(&self.simulation.spans().since(0));
        std::fs::write(path, bytes).map_err(|source| SimError::Trace { path: path.clone(), source })
    }

    /// Bytes on the wire towards the host of frames that left the device in this span of time.
    pub(super) fn wire_bytes(&self, from: Picoseconds, until: Picoseconds) -> u64 {
        let frames = self.phy.sent_since(0);
        let inside = |frame: &&PhyFrame| frame.first >= from && frame.last <= until;
        frames.iter().filter(inside).map(|frame| frame.bytes + INTERFRAME_GAP_BYTES).sum()
    }

    pub(super) fn counters(&self, client: &Statistics) -> BTreeMap<String, u64> {
        let mut counters = self.simulation.counters().values();
        for (name, value) in self.device.status() {
            counters.insert(format!("device.{name}"), value);
        }
        for (name, value) in self.simulation.faults().fired() {
            counters.insert(format!("fault.{name}"), value);
        }
        let Statistics {
            messages_sent,
            bytes_sent,
            messages_received,
            bytes_received,
            cycles,
            timed_out,
            malformed,
            stale,
        } = *client;
        for (name, value) in [
            ("messages_sent", messages_sent),
            ("bytes_sent", bytes_sent),
            ("messages_received", messages_received),
            ("bytes_received", bytes_received),
            ("cycles", cycles),
            ("timed_out", timed_out),
            ("malformed", malformed),
            ("stale", stale),
        ] {
            counters.insert(format!("client.{name}"), value);
        }
        counters
    }

    /// The request's and the reply's time on the device's pins.
    pub(super) fn pins(
        &self,
        request: isthmus_sim::kernel::FrameId,
        reply: isthmus_sim::kernel::FrameId,
    ) -> Option<(PhyFrame, PhyFrame)> {
        let find = |frames: Vec<PhyFrame>, id| frames.into_iter().find(|frame| frame.id == id);
        Some((find(self.phy.received_since(0), request)?, find(self.phy.sent_since(0), reply)?))
    }

    /// One cycle of the receive clock, and of the main clock.
    pub(super) fn periods(&self) -> (Picoseconds, Picoseconds) {
        let period = |clock| self.device.clock_period(clock).unwrap_or_default();
        (period("gmii_rx_clk_i"), period("clk_i"))
    }

    pub(super) fn path_clocks(&self, outcome: &Outcome) -> Result<PathClocks, RoadError> {
        let missing = || RoadError::Inconsistent("the cycle's frames are not on the pins".into());
        let cycle = outcome.log.first().ok_or_else(missing)?;
        let (Some((request, _)), Some((reply, _))) = (cycle.request, cycle.reply) else {
            return Err(missing());
        };
        let (request, reply) = self.pins(request, reply).ok_or_else(missing)?;
        let (receive, main) = self.periods();
        let clocks =
            |from: Picoseconds, to: Picoseconds| to.saturating_sub(from).0.div_ceil(main.0.max(1));
        Ok(PathClocks {
            // The device takes an octet one receive clock after it was driven onto the pins.
            turnaround: clocks(request.last + receive, reply.first),
            first_to_last: clocks(request.first + receive, reply.last),
        })
    }
}

/// A device that says it is idle is believed after this many cycles.
pub(super) const IDLE_CONFIRM_CYCLES: u32 = 16;
/// Registered copies of the time input are up to date after this many.
pub(super) const WAKE_CYCLES: u32 = 8;

pub(super) fn bit_rate(platform: &Platform) -> u64 {
    (platform.link.rate_mbit_s * 1e6).round() as u64
}

fn host_config(platform: &Platform) -> HostConfig {
    let Platform { nic, host, library, .. } = platform;
    let polls = library.poll == 1;
    HostConfig {
        name: "host".to_owned(),
        cpu: CpuConfig { cores: host.cores },
        nic: NicConfig {
            mac: HOST_MAC,
            bit_rate_bit_s: bit_rate(platform),
            transmit_latency_ns: nic.doorbell_ns + nic.tx_dma_ns + nic.phy_tx_ns,
            receive_latency_ns: nic.phy_rx_ns + nic.rx_dma_ns,
            interrupt_gap_ns: if polls { 0.0 } else { library.interrupt_gap_us * 1e3 },
            transmit_queue_bytes: TRANSMIT_QUEUE_BYTES,
            receive_ring_frames: RECEIVE_RING_FRAMES,
        },
        net: NetConfig {
            ip: HOST_IP,
            // A platform's receive call counts once the datagram is there: the transport charges it.
            // Entering the kernel before that overlaps with the wait.
            syscall_ns: 0.0,
            copy_ns_per_byte: host.copy_ns_per_byte,
            send_protocol_ns: host.send_call_ns,
            // The platform's wake-up counts from the interrupt on.
            interrupt_ns: 0.0,
            receive_protocol_ns: host.frame_ns,
            wakeup_ns: if polls { 0.0 } else { host.wakeup_ns },
            socket_buffer_bytes: SOCKET_BUFFER_BYTES,
            mtu_bytes: 1_500,
            arp_timeout_ns: ARP_TIMEOUT_NS,
            arp_attempts: ARP_ATTEMPTS,
            arp_queue_frames: ARP_QUEUE_FRAMES,
            arp_table: BTreeMap::new(),
        },
    }
}
