// SPDX-License-Identifier: Apache-2.0
//! A device written in Rust, for tests that need no model: it answers ARP, and UDP with an echo.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;

use isthmus_sim::kernel::{Description, Direction, Model, PinStorage, PortInfo};
use isthmus_sim::world::ethernet::{from_wire, to_wire};
use isthmus_sim::world::packet::{self, Arp, Packet, Udp};
use isthmus_sim::world::{
    Cable, CableConfig, CpuConfig, EthernetPort, GmiiPhy, Host, HostConfig, MacAddress, NetConfig,
    NicConfig, PhyConfig, UdpSocket,
};
use isthmus_sim::{
    ClockConfig, DeviceConfig, DeviceHandle, Hertz, Picoseconds, SimConfig, Simulation,
};

pub const DEVICE_MAC: MacAddress = MacAddress([2, 0, 0, 0, 0, 0xfd]);
pub const DEVICE_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
pub const DEVICE_PORT: u16 = 7;
pub const GIGABIT: u64 = 1_000_000_000;

const PORTS: [(&str, u32, Direction); 20] = [
    ("clk_i", 1, Direction::Input),
    ("gmii_rx_clk_i", 1, Direction::Input),
    ("rst_ni", 1, Direction::Input),
    ("time_ns_i", 64, Direction::Input),
    ("cfg_mac_i", 48, Direction::Input),
    ("cfg_ip_i", 32, Direction::Input),
    ("trigger_i", 4, Direction::Input),
    ("gmii_rxd_i", 8, Direction::Input),
    ("gmii_rx_dv_i", 1, Direction::Input),
    ("gmii_rx_er_i", 1, Direction::Input),
    ("gmii_txd_o", 8, Direction::Output),
    ("gmii_tx_en_o", 1, Direction::Output),
    ("gmii_tx_er_o", 1, Direction::Output),
    ("probe_o", 3, Direction::Output),
    ("probe_tag_o", 24, Direction::Output),
    ("status_frames_o", 32, Direction::Output),
    ("status_bad_o", 32, Direction::Output),
    ("status_latched_ns_o", 64, Direction::Output),
    ("status_resets_o", 32, Direction::Output),
    ("idle_o", 1, Direction::Output),
];

/// Cycles between the end of a request and the first octet of its reply.
pub const DWELL_CYCLES: u64 = 20;

pub struct EchoDevice {
    description: Description,
    pins: Vec<PinStorage>,
    clk: u64,
    rx_clk: u64,
    receiving: Vec<u8>,
    bad: bool,
    /// Replies, with the `clk_i` cycles still to wait.
    replies: VecDeque<(u64, Vec<u8>, u8)>,
    sending: VecDeque<u8>,
    /// Two registered copies of the time input: what an RTL time path looks like.
    time: [u64; 2],
    triggers: u64,
    tag: u8,
    strobes: u64,
    tags: [u8; 3],
    /// A broken device: reports idle although a reply is waiting.
    lies_about_idle: bool,
    restless: bool,
}

impl EchoDevice {
    pub fn boxed() -> Box<dyn Model> {
        Self::make(false)
    }

    pub fn lying() -> Box<dyn Model> {
        Self::make(true)
    }

    /// It never says that it is idle, and never does anything.
    pub fn restless() -> Box<dyn Model> {
        Box::new(Self { restless: true, ..Self::new(false) })
    }

    fn make(lies_about_idle: bool) -> Box<dyn Model> {
        Box::new(Self::new(lies_about_idle))
    }

    fn new(lies_about_idle: bool) -> Self {
        let port = |&(name, width, direction): &(&str, u32, Direction)| PortInfo {
            name: name.to_owned(),
            width,
            direction,
        };
        let words = |&(_, width, _): &(&str, u32, Direction)| {
            let words: Rc<[Cell<u32>]> = (0..width.div_ceil(32)).map(|_| Cell::new(0)).collect();
            PinStorage::words(words)
        };
        Self {
            description: Description {
                top: "echo".into(),
                probes: ["RxFirst", "RxLast", "TxFirst"].map(str::to_owned).to_vec(),
                ports: PORTS.iter().map(port).collect(),
                ..Description::default()
            },
            pins: PORTS.iter().map(words).collect(),
            clk: 0,
            rx_clk: 0,
            receiving: Vec::new(),
            bad: false,
            replies: VecDeque::new(),
            sending: VecDeque::new(),
            time: [0; 2],
            triggers: 0,
            tag: 0,
            strobes: 0,
            tags: [0; 3],
            lies_about_idle,
            restless: false,
        }
    }

    fn pin(&self, name: &str) -> &PinStorage {
        let index = PORTS.iter().position(|port| port.0 == name).expect("a port of this device");
        &self.pins[index]
    }

    fn count(&self, name: &str) {
        self.pin(name).set(self.pin(name).get() + 1);
    }

    fn probe(&mut self, stage: usize) {
        self.strobes |= 1 << stage;
        self.tags[stage] = self.tag;
    }

    fn on_rx_clock(&mut self) {
        if self.pin("gmii_rx_dv_i").get() != 0 {
            if self.receiving.is_empty() {
                self.tag = self.tag.wrapping_add(1);
                self.probe(0);
            }
            self.bad |= self.pin("gmii_rx_er_i").get() != 0;
            self.receiving.push(self.pin("gmii_rxd_i").get() as u8);
        } else if !self.receiving.is_empty() {
            self.probe(1);
            let wire = std::mem::take(&mut self.receiving);
            match (std::mem::take(&mut self.bad), from_wire(&wire)) {
                (false, Ok(frame)) => {
                    self.count("status_frames_o");
                    if let Some(reply) = self.answer(frame) {
                        self.replies.push_back((DWELL_CYCLES, to_wire(&reply), self.tag));
                    }
                }
                _ => self.count("status_bad_o"),
            }
        }
    }

    fn answer(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let mac = self.pin("cfg_mac_i").get().to_be_bytes();
        let mac = MacAddress(mac[2..].try_into().expect("six octets"));
        let ip = Ipv4Addr::from(self.pin("cfg_ip_i").get() as u32);
        match packet::parse(frame).ok()? {
            Packet::Arp(arp) if arp.is_request && arp.target_ip == ip => {
                let answer = Arp {
                    is_request: false,
                    sender_mac: mac,
                    sender_ip: ip,
                    target_mac: arp.sender_mac,
                    target_ip: arp.sender_ip,
                };
                Some(answer.to_frame(arp.sender_mac))
            }
            Packet::Udp(udp) if *udp.destination.ip() == ip && udp.destination_mac == mac => {
                // The time comes first, so that a wrong one changes the bytes on the wire.
                let mut payload = self.time[1].to_be_bytes().to_vec();
                payload.extend(udp.payload);
                Udp {
                    source_mac: mac,
                    destination_mac: udp.source_mac,
                    source: udp.destination,
                    destination: udp.source,
                    payload,
                }
                .to_frame()
            }
            _ => None,
        }
    }

    /// Asks all stations for the address of the usual device.
    fn ask(&mut self) {
        let mac = self.pin("cfg_mac_i").get().to_be_bytes();
        let question = Arp {
            is_request: true,
            sender_mac: MacAddress(mac[2..].try_into().expect("six octets")),
            sender_ip: Ipv4Addr::from(self.pin("cfg_ip_i").get() as u32),
            target_mac: MacAddress([0; 6]),
            target_ip: DEVICE_IP,
        };
        let wire = to_wire(&question.to_frame(MacAddress::BROADCAST));
        self.replies.push_back((DWELL_CYCLES, wire, self.tag));
    }

    fn on_clock(&mut self) {
        let triggers = self.pin("trigger_i").get();
        if triggers & !self.triggers != 0 {
            self.pin("status_latched_ns_o").set(self.time[1]);
        }
        if triggers & !self.triggers & 8 != 0 {
            self.ask();
        }
        self.triggers = triggers;
        self.time = [self.pin("time_ns_i").get(), self.time[0]];
        for reply in &mut self.replies {
            reply.0 = reply.0.saturating_sub(1);
        }
        if self.sending.is_empty()
            && self.pin("gmii_tx_en_o").get() == 0
            && self.replies.front().is_some_and(|reply| reply.0 == 0)
        {
            let (_, wire, tag) = self.replies.pop_front().expect("a reply");
            self.sending = wire.into();
            self.strobes |= 1 << 2;
            self.tags[2] = tag;
        }
        let octet = self.sending.pop_front();
        self.pin("gmii_tx_en_o").set(u64::from(octet.is_some()));
        self.pin("gmii_txd_o").set(u64::from(octet.unwrap_or(0)));
        let tags = self.tags.iter().rev().fold(0, |all, tag| all << 8 | u64::from(*tag));
        self.pin("probe_o").set(self.strobes);
        self.pin("probe_tag_o").set(if self.strobes == 0 { 0 } else { tags });
        self.strobes = 0;
    }
}

impl Model for EchoDevice {
    fn description(&self) -> &Description {
        &self.description
    }

    fn pin(&self, index: usize) -> PinStorage {
        self.pins[index].clone()
    }

    fn eval(&mut self, _time: Picoseconds) -> Result<(), String> {
        let (clk, rx_clk) = (self.pin("clk_i").get(), self.pin("gmii_rx_clk_i").get());
        let (rises, rx_rises) = (clk > self.clk, rx_clk > self.rx_clk);
        (self.clk, self.rx_clk) = (clk, rx_clk);
        if self.pin("rst_ni").get() == 0 {
            let held = self.receiving.len() + self.replies.len() + self.sending.len();
            if held > 0 {
                self.count("status_resets_o");
            }
            self.receiving.clear();
            self.replies.clear();
            self.sending.clear();
            self.bad = false;
            self.strobes = 0;
            for pin in ["gmii_tx_en_o", "gmii_txd_o", "probe_o", "probe_tag_o"] {
                self.pin(pin).set(0);
            }
            self.time = [0; 2];
        } else {
            if rx_rises {
                self.on_rx_clock();
            }
            if rises {
                self.on_clock();
            }
        }
        let idle = !self.restless
            && self.receiving.is_empty()
            && (self.replies.is_empty() || self.lies_about_idle)
            && self.sending.is_empty()
            && self.strobes == 0
            && self.pin("probe_o").get() == 0
            && self.pin("gmii_tx_en_o").get() == 0
            && self.pin("gmii_rx_dv_i").get() == 0
            && self.pin("trigger_i").get() == self.triggers
            && self.pin("rst_ni").get() != 0;
        self.pin("idle_o").set(u64::from(idle));
        Ok(())
    }
}

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

pub fn device_config() -> DeviceConfig {
    let clock = |port| ClockConfig::new(port, Hertz::from_mhz(125));
    DeviceConfig {
        name: "fpga".into(),
        model_path: "echo".into(),
        clocks: vec![clock("clk_i"), ClockConfig { phase_ps: 2_000, ..clock("gmii_rx_clk_i") }],
        reset_cycles: 4,
        cfg: BTreeMap::from([
            ("mac".into(), DEVICE_MAC.as_u64()),
            ("ip".into(), u64::from(u32::from(DEVICE_IP))),
        ]),
        epoch_ns: 1_000_000_000,
        trace: None,
        resets: vec![],
        holds: vec![],
    }
}

pub fn phy_config(name: &str) -> PhyConfig {
    PhyConfig { name: name.into(), transmit_latency_ns: 100.0, receive_latency_ns: 200.0 }
}

pub fn cable_config(name: &str) -> CableConfig {
    CableConfig { name: name.into(), length_m: 2.0, delay_ns_per_m: 5.0, fault_delay_ns: 20_000.0 }
}

pub fn host_config(name: &str, number: u8) -> HostConfig {
    HostConfig {
        name: name.into(),
        cpu: CpuConfig { cores: 2 },
        nic: NicConfig {
            mac: MacAddress([2, 0, 0, 0, 0, number]),
            bit_rate_bit_s: GIGABIT,
            transmit_latency_ns: 600.0,
            receive_latency_ns: 500.0,
            interrupt_gap_ns: 0.0,
            transmit_queue_bytes: 1_000_000,
            receive_ring_frames: 256,
        },
        net: NetConfig {
            ip: Ipv4Addr::new(10, 0, 0, number),
            syscall_ns: 200.0,
            copy_ns_per_byte: 0.1,
            send_protocol_ns: 900.0,
            interrupt_ns: 700.0,
            receive_protocol_ns: 800.0,
            wakeup_ns: 1_500.0,
            socket_buffer_bytes: 200_000,
            mtu_bytes: 1_500,
            arp_timeout_ns: 1e6,
            arp_attempts: 3,
            arp_queue_frames: 16,
            arp_table: BTreeMap::new(),
        },
    }
}

/// A host, a cable, and the echo device behind a PHY.
pub struct Direct {
    pub sim: Simulation,
    pub device: DeviceHandle,
    pub phy: GmiiPhy,
    pub host: Host,
}

pub fn direct(sim_config: SimConfig, device_config: &DeviceConfig) -> Direct {
    direct_with(sim_config, device_config, EchoDevice::boxed())
}

pub fn direct_with(
    sim_config: SimConfig,
    device_config: &DeviceConfig,
    model: Box<dyn Model>,
) -> Direct {
    let sim = Simulation::new(sim_config);
    let device = sim.add_model(model, device_config).expect("a device");
    let phy = GmiiPhy::attach(&sim, &device, "gmii", &phy_config("phy")).expect("a PHY");
    let host = Host::new(&sim, &host_config("host", 1)).expect("a host");
    Cable::connect(&sim, &host, &phy, &cable_config("cable")).expect("a cable");
    Direct { sim, device, phy, host }
}

pub fn any_port(ip: Ipv4Addr) -> SocketAddrV4 {
    SocketAddrV4::new(ip, 0)
}

pub fn device_address() -> SocketAddrV4 {
    SocketAddrV4::new(DEVICE_IP, DEVICE_PORT)
}

/// Sends `count` datagrams one after another, each waiting for its echo or a time-out; gives the
/// time of each round trip and the payload that came back.
pub async fn ping(
    sim: isthmus_sim::kernel::Sim,
    socket: UdpSocket,
    count: usize,
    gap: Picoseconds,
) -> Vec<(Picoseconds, Option<Vec<u8>>)> {
    let mut results = Vec::new();
    for number in 0..count {
        let payload: Vec<u8> = (0..32 + 16 * (number % 5)).map(|at| (at + number) as u8).collect();
        let start = sim.now();
        socket.send_to(&payload, device_address()).await.expect("sent");
        let reply = socket.recv_from(Some(Picoseconds::from_us(200))).await.ok();
        let reply = reply.map(|datagram| datagram.payload);
        match &reply {
            Some(reply) => {
                let echoed = &reply[8..];
                sim.scoreboard().compare(|| format!("echo {number}"), &payload, echoed);
            }
            None => sim.scoreboard().lost(|| format!("echo {number}"), payload.len() as u64),
        }
        results.push((sim.now() - start, reply));
        sim.sleep(gap).await;
    }
    results
}

/// A port that stands for nothing: to leave an end free.
pub fn free(port: &impl EthernetPort) -> bool {
    !port.port().is_connected()
}
