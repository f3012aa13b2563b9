// SPDX-License-Identifier: Apache-2.0
//! UDP over Gigabit Ethernet: host, network interface, cables, switch, PHY.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use serde::Serialize;

use isthmus_host::transport::{Kind, TransportError};
use isthmus_sim::kernel::{FrameId, Sim};
use isthmus_sim::world::ethernet::INTERFRAME_GAP_BYTES;
use isthmus_sim::world::host::Cpu;
use isthmus_sim::world::{
    Cable, CableConfig, CpuConfig, GmiiPhy, Host, HostConfig, MacAddress, NetConfig, NetError,
    NicConfig, PhyFrame, Switch, SwitchConfig, UdpSocket,
};
use isthmus_sim::{DeviceHandle, Picoseconds, Simulation};

use super::super::breakdown::{Breakdown, Trip, along, bars, timeline};
use super::super::device;
use super::super::scenario::{EtherbonePlatform, EtherboneScenario, GigeLink, GigePlatform};
use super::super::scene::Scene;
use super::super::transport::{Carrier, CycleLog, Until};
use crate::error::RoadError;
use crate::model::MakeModel;
use crate::stages::Way;

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
pub(in super::super) const FAULT_DELAY_NS: f64 = 50_000.0;

/// The probe that ends each stage inside the device, by the name the gateware gives it.
const FPGA_STAGES: &[(&str, &str)] = &[
    ("MacRxLast", "clock crossing"),
    ("MacRxVerdict", "frame check"),
    ("EbFirstWord", "take request"),
    ("WbIssue", "bus operations"),
    ("EbReplyWhole", "finish reply"),
    ("MacTxFirst", "begin transmit"),
];
/// Pairs of probes that enclose what overlaps with other things.
const FPGA_BARS: &[(&str, &str, &str)] = &[
    ("receive", "MacRxFirst", "MacRxLast"),
    ("execute", "EbFirstWord", "EbReplyWhole"),
    ("transmit", "MacTxFirst", "MacTxLast"),
];

/// The path between a program's socket and the device's GMII.
pub(in super::super) struct GigeBus {
    host: Host,
    phy: GmiiPhy,
    address: SocketAddrV4,
    receive_call: Picoseconds,
    /// The time of one octet on the wire.
    octet: Picoseconds,
}

/// Clocks inside the gateware.
#[derive(Debug, Clone, Copy, Serialize)]
pub(in super::super) struct PathClocks {
    turnaround: u64,
    first_to_last: u64,
}

impl GigeBus {
    pub(super) fn build(
        simulation: &Simulation,
        scenario: &EtherboneScenario,
        platform: &GigePlatform,
        waveform: Option<PathBuf>,
        make_model: MakeModel<'_>,
    ) -> Result<(DeviceHandle, Self), RoadError> {
        let fpga = &scenario.platform.fpga;
        let (device, phy) = device::attach_gige(
            simulation,
            &scenario.device,
            fpga,
            &platform.phy,
            waveform,
            make_model,
        )?;
        let host = Host::new(simulation, &host_config(&scenario.platform, platform))?;
        let cable = |name: &str| CableConfig {
            name: name.to_owned(),
            length_m: platform.link.length_m,
            delay_ns_per_m: platform.link.delay_ns_per_m,
            fault_delay_ns: FAULT_DELAY_NS,
        };
        match platform.switch {
            None => Cable::connect(simulation, &host, &phy, &cable("cable"))?,
            Some(switch) => {
                let config = SwitchConfig {
                    name: "switch".to_owned(),
                    ports: 2,
                    bit_rate_bit_s: bit_rate(&platform.link),
                    forwarding_latency_ns: switch.latency_ns,
                    queue_bytes: SWITCH_QUEUE_BYTES,
                };
                let switch = Switch::new(simulation, &config)?;
                Cable::connect(simulation, &host, switch.port(0)?, &cable("cable"))?;
                Cable::connect(simulation, switch.port(1)?, &phy, &cable("cable.fpga"))?;
            }
        }
        let address = SocketAddrV4::new(scenario.device.ip, scenario.device.udp_port);
        let receive_call = Picoseconds::from_ns_f64(platform.host.receive_call_ns);
        let octet = Picoseconds(8_000_000_000_000 / bit_rate(&platform.link));
        Ok((device, Self { host, phy, address, receive_call, octet }))
    }

    /// A socket on the host, connected to the device.
    pub(super) fn open(&self, sim: &Sim) -> Result<Socket, NetError> {
        let any = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);
        Ok(Socket {
            sim: sim.clone(),
            host: self.host.clone(),
            socket: self.host.udp_bind(any)?,
            device: self.address,
            receive_call: self.receive_call,
            blocked: Picoseconds::ZERO,
        })
    }

    /// Bytes on the wire towards the host of frames that left the device in this span of time.
    pub(super) fn wire_bytes(&self, from: Picoseconds, until: Picoseconds) -> u64 {
        let frames = self.phy.sent_since(0);
        let inside = |frame: &&PhyFrame| frame.first >= from && frame.last <= until;
        frames.iter().filter(inside).map(|frame| frame.bytes + INTERFRAME_GAP_BYTES).sum()
    }

    /// The request's and the reply's time on the device's pins.
    fn pins(&self, request: FrameId, reply: FrameId) -> Option<(PhyFrame, PhyFrame)> {
        Some((find(self.phy.received_since(0), request)?, find(self.phy.sent_since(0), reply)?))
    }

    pub(super) fn path_clocks(
        &self,
        device: &DeviceHandle,
        cycle: &CycleLog,
    ) -> Result<PathClocks, RoadError> {
        let missing = || RoadError::Inconsistent("the cycle's frames are not on the pins".into());
        let (Some((request, _)), Some((reply, _))) = (cycle.request, cycle.reply) else {
            return Err(missing());
        };
        let (request, reply) = self.pins(request, reply).ok_or_else(missing)?;
        let (receive, main) = periods(device);
        let clocks =
            |from: Picoseconds, to: Picoseconds| to.saturating_sub(from).0.div_ceil(main.0.max(1));
        Ok(PathClocks {
            // The device takes an octet one receive clock after it was driven onto the pins.
            turnaround: clocks(request.last + receive, reply.first),
            first_to_last: clocks(request.first + receive, reply.last),
        })
    }

    /// The time for which frames and the gaps behind them had the device's pins, of the busier direction.
    pub(super) fn wire_busy(&self, from: Picoseconds, until: Picoseconds) -> Picoseconds {
        let inside = |frame: &&PhyFrame| frame.first >= from && frame.last <= until;
        let busy = |frames: Vec<PhyFrame>| -> Picoseconds {
            let bytes = frames.iter().filter(inside).map(|f| f.bytes + INTERFRAME_GAP_BYTES);
            self.octet * bytes.sum()
        };
        busy(self.phy.received_since(0)).max(busy(self.phy.sent_since(0)))
    }

    /// One transfer, from the library's first instruction to its last, or to the device.
    pub(super) fn breakdown(&self, scene: Scene<'_>, trip: &Trip) -> Result<Breakdown, RoadError> {
        let missing = |what: &str| RoadError::Inconsistent(format!("the transfer has no {what}"));
        let cycle = &trip.cycle;
        let (first, first_call) = cycle.request.ok_or_else(|| missing("request"))?;
        // A write ends with its last part in the device, and so does its way.
        let last = trip.last_request.filter(|_| trip.taken.is_some());
        let (request, send_call) = last.unwrap_or((first, first_call));
        let spans = scene.simulation.spans().since(0);

        let mut way = Way::new(cycle.asked);
        way.until("host", "wait to be built", cycle.begin)?;
        way.until("host", "build request", cycle.built)?;
        way.until("host", "build further requests", first_call)?;
        if request != first {
            let (place, name) = trip.parts("host", "earlier parts");
            way.until(place, name, send_call)?;
        }
        let pins_in = find(self.phy.received_since(0), request);
        let pins_in = pins_in.ok_or_else(|| missing("request on the device's pins"))?;
        along(&mut way, &spans, request.0, (send_call, pins_in.last))?;
        // The device takes the last octet one receive clock after it was driven onto the pins.
        let (receive_period, main_period) = periods(scene.device);
        let received = pins_in.last + receive_period;
        let mut tags = vec![request.0];
        let reply = match trip.taken {
            Some(_) => None,
            None => {
                let (reply, received) = cycle.reply.ok_or_else(|| missing("reply"))?;
                let pins_out = find(self.phy.sent_since(0), reply);
                tags.push(reply.0);
                Some((pins_out.ok_or_else(|| missing("reply on the device's pins"))?, received))
            }
        };
        let leaves = reply.map_or(trip.end(), |(pins_out, _)| pins_out.first);
        let taken = received.min(leaves);
        way.until("wire", "PHY receive", taken)?;
        let tag = tag_of(scene, taken, main_period);
        let mut probes = scene.simulation.probes().since(0);
        probes.retain(|probe| Some(probe.tag) == tag && probe.device == scene.device.index());
        for probe in &probes {
            let known = FPGA_STAGES.iter().find(|(end, _)| Some(*end) == scene.stage(probe.stage));
            if let Some((_, stage)) = known
                && (taken..=leaves).contains(&probe.time)
            {
                way.until("fpga", stage, probe.time)?;
            }
        }
        match reply {
            None => way.until("fpga", "bus operations", trip.end())?,
            Some((pins_out, received)) => {
                let (place, name) = trip.parts("fpga", "begin transmit");
                way.until(place, name, pins_out.first)?;
                let reply = tags[tags.len() - 1];
                along(&mut way, &spans, reply, (pins_out.first, received))?;
                way.until("host", "operating system", cycle.resumed)?;
                way.until("host", "take earlier replies apart", cycle.matched)?;
                way.until("host", "take reply apart", cycle.end)?;
            }
        }
        let stages = way.finish(trip.end())?;

        let bars = bars(scene, &probes, FPGA_BARS, pins_in.first, request.0);
        let timeline = timeline(&spans, &tags, bars, (cycle.asked, trip.end()));
        Ok(Breakdown { stages, timeline })
    }
}

fn find(frames: Vec<PhyFrame>, id: FrameId) -> Option<PhyFrame> {
    frames.into_iter().find(|frame| frame.id == id)
}

/// The number the device gave the frame whose last octet it took at `taken`.
fn tag_of(scene: Scene<'_>, taken: Picoseconds, period: Picoseconds) -> Option<u8> {
    let stages = scene.device.stages();
    let last = stages.iter().position(|stage| stage == "MacRxLast")?;
    let window = taken..=taken + period * 16;
    let probes = scene.simulation.probes().since(0);
    let found = probes.iter().find(|probe| {
        probe.device == scene.device.index()
            && usize::from(probe.stage) == last
            && window.contains(&probe.time)
    })?;
    Some(found.tag)
}

/// One cycle of the receive clock, and of the main clock.
fn periods(device: &DeviceHandle) -> (Picoseconds, Picoseconds) {
    let period = |clock| device.clock_period(clock).unwrap_or_default();
    (period("gmii_rx_clk_i"), period("clk_i"))
}

pub(in super::super) fn bit_rate(link: &GigeLink) -> u64 {
    (link.rate_mbit_s * 1e6).round() as u64
}

fn host_config(platform: &EtherbonePlatform, gige: &GigePlatform) -> HostConfig {
    let library = &platform.library;
    let GigePlatform { nic, host, link, .. } = gige;
    let polls = library.poll == 1;
    HostConfig {
        name: "host".to_owned(),
        cpu: CpuConfig { cores: host.cores },
        nic: NicConfig {
            mac: HOST_MAC,
            bit_rate_bit_s: bit_rate(link),
            transmit_latency_ns: nic.doorbell_ns + nic.tx_dma_ns + nic.phy_tx_ns,
            receive_latency_ns: nic.phy_rx_ns + nic.rx_dma_ns,
            interrupt_gap_ns: if polls { 0.0 } else { nic.interrupt_gap_us * 1e3 },
            transmit_queue_bytes: TRANSMIT_QUEUE_BYTES,
            receive_ring_frames: RECEIVE_RING_FRAMES,
        },
        net: NetConfig {
            ip: HOST_IP,
            // A platform's receive call counts once the datagram has arrived: the transport charges
            // it. Entering the kernel before that overlaps with the wait.
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

/// A socket of the simulated host, connected to the device.
pub(in super::super) struct Socket {
    sim: Sim,
    host: Host,
    socket: UdpSocket,
    device: SocketAddrV4,
    receive_call: Picoseconds,
    blocked: Picoseconds,
}

fn failed(error: NetError) -> TransportError {
    match error {
        NetError::TimedOut(_) => TransportError::TimedOut,
        other => TransportError::Other(other.to_string()),
    }
}

impl Carrier for Socket {
    fn kind(&self) -> Kind {
        Kind::Datagram
    }

    fn cpu(&self) -> &Cpu {
        self.host.cpu()
    }

    async fn send(&mut self, message: &[u8]) -> Result<FrameId, TransportError> {
        self.socket.send_to(message, self.device).await.map_err(failed)
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        until: Until,
    ) -> Result<(usize, FrameId), TransportError> {
        loop {
            let asleep = self.sim.now();
            let left = until.time.saturating_sub(asleep);
            let received = self.socket.recv_from(Some(left)).await;
            self.blocked += self.sim.now() - asleep;
            let datagram = received.map_err(failed)?;
            // A connected socket: what others send does not reach the program.
            if datagram.from != self.device {
                continue;
            }
            let received = self.sim.now();
            self.cpu().run(self.receive_call).await;
            let (now, tag) = (self.sim.now(), datagram.frame.0);
            if now > received {
                let stage = "receive call".into();
                self.sim.spans().record(self.host.name(), &stage, received, now, tag);
            }
            let length = datagram.payload.len().min(buffer.len());
            buffer[..length].copy_from_slice(&datagram.payload[..length]);
            return Ok((length, datagram.frame));
        }
    }

    fn blocked(&self) -> Picoseconds {
        self.blocked
    }
}
