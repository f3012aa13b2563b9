// SPDX-License-Identifier: Apache-2.0
//! Sources, cables, the interface, its host.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;

use isthmus_host::nic::{
    EVENT_BYTES, List, MAX_POSTS, Nic, NicConfig, NicError, Paging, Peer, Policy, SendMemory,
    Statistics,
};
use isthmus_sim::kernel::FrameId;
use isthmus_sim::world::ethernet::{
    EthernetPort, FCS_BYTES, INTERFRAME_GAP_BYTES, MIN_FRAME_BYTES, PREAMBLE, Port, to_wire,
};
use isthmus_sim::world::host::MmioHost;
use isthmus_sim::world::packet::{IPV4_UDP_HEADER_BYTES, Udp};
use isthmus_sim::world::pcie::Pcie;
use isthmus_sim::world::{
    Cable, CableConfig, EndpointConfig, FrameEndpoint, GmiiPhy, MacAddress, PhyConfig, PhyFrame,
    XgmiiPhy,
};
use isthmus_sim::{ClockConfig, DeviceHandle, Hertz, SimConfig, Simulation};
use isthmus_trigger::geometry::Geometry;
use isthmus_trigger::rings::{Config, Finder};

use super::release::{self, Release};
use super::results::ResultPins;
use super::scenario::{
    MAX_GIGABIT, MAX_TEN_GIGABIT, NAME, NanetDriver, NanetPolicy, NanetScenario,
};
use super::search::{self, Loaded};
use crate::error::RoadError;
use crate::gpu::{Bus, Data, DataMemory};
use crate::host_bus::{self, Bar, HostMemory, pcie_config};
use crate::model::{Board, MakeModel};
use crate::platform::{Firmware, PcieHost};

const BAR_BYTES: u64 = 0x1000;
const GIGABIT: Hertz = Hertz(125_000_000);
/// Eight octets a clock.
const TEN_GIGABIT: Hertz = Hertz(156_250_000);
pub(super) const SOURCE_MAC: MacAddress = MacAddress([2, 0, 0, 0, 1, 0]);
pub(super) const SOURCE_IP: Ipv4Addr = Ipv4Addr::new(192, 168, 20, 1);
pub(super) const SOURCE_PORT: u16 = 6_000;
const MAC: MacAddress = MacAddress([2, 0, 0, 0, 0, 0x10]);
pub(super) const IP: Ipv4Addr = Ipv4Addr::new(192, 168, 20, 16);
pub(super) const UDP_PORT: u16 = 6_666;
/// Queue size of a source: more than a run can have in flight.
const QUEUE_BYTES: u64 = 64 << 20;
const ETHERNET_HEADER_BYTES: usize = 14;

/// The host library's driver over the simulated host.
pub(super) type Driver = Nic<Bar, HostMemory>;

/// Addresses of the interface, and how much may wait before each port.
#[derive(Debug, Clone, Copy)]
pub(super) struct Station {
    /// Of port 0, as `ip`; each further port has the next one.
    pub(super) mac: MacAddress,
    pub(super) ip: Ipv4Addr,
    pub(super) udp_port: u16,
    pub(super) queue_bytes: u64,
    /// Whether datagrams are sent back too.
    pub(super) echo: bool,
    /// The host has at least so much memory.
    pub(super) memory_bytes: usize,
}

impl Default for Station {
    fn default() -> Self {
        Self {
            mac: MAC,
            ip: IP,
            udp_port: UDP_PORT,
            queue_bytes: QUEUE_BYTES,
            echo: false,
            memory_bytes: 0,
        }
    }
}

impl Station {
    /// The station whose addresses are `number` further.
    pub(super) fn further(&self, number: usize) -> Self {
        let mut further = *self;
        further.mac.0[5] = self.mac.0[5].wrapping_add(number as u8);
        further.ip = Ipv4Addr::from(u32::from(self.ip).wrapping_add(number as u32));
        further
    }
}

/// One port with its source and cable.
pub(super) struct NanetPort {
    pub(super) source: FrameEndpoint,
    phy: Phy,
    number: u8,
}

/// What is at the pins of a port.
pub(super) enum Phy {
    Gmii(GmiiPhy),
    Xgmii(XgmiiPhy),
}

impl Phy {
    /// Attaches it to the pins of port `number`.
    pub(super) fn attach(
        simulation: &Simulation,
        device: &DeviceHandle,
        number: usize,
        config: &PhyConfig,
        ten_gigabit: bool,
    ) -> Result<Self, RoadError> {
        let bundle = bundle(number, ten_gigabit);
        Ok(if ten_gigabit {
            Self::Xgmii(XgmiiPhy::attach(simulation, device, &bundle, config)?)
        } else {
            Self::Gmii(GmiiPhy::attach(simulation, device, &bundle, config)?)
        })
    }

    /// Name of the clock of its receive pins, at port `number`.
    pub(super) fn receive_clock(&self, number: usize) -> String {
        format!("{}_rx_clk_i", bundle(number, matches!(self, Self::Xgmii(_))))
    }

    /// The frames on the receive pins so far, from number `first` on.
    pub(super) fn received_since(&self, first: usize) -> Vec<PhyFrame> {
        match self {
            Self::Gmii(phy) => phy.received_since(first),
            Self::Xgmii(phy) => phy.received_since(first),
        }
    }

    /// The frames on the transmit pins so far, from number `first` on.
    pub(super) fn sent_since(&self, first: usize) -> Vec<PhyFrame> {
        match self {
            Self::Gmii(phy) => phy.sent_since(first),
            Self::Xgmii(phy) => phy.sent_since(first),
        }
    }

    /// Forgets the frames on its pins so far.
    pub(super) fn forget(&self) {
        match self {
            Self::Gmii(phy) => phy.forget(),
            Self::Xgmii(phy) => phy.forget(),
        }
    }
}

impl EthernetPort for Phy {
    fn port(&self) -> &Port {
        match self {
            Self::Gmii(phy) => phy.port(),
            Self::Xgmii(phy) => phy.port(),
        }
    }
}

/// First part of the names of a port's pins.
fn bundle(number: usize, ten_gigabit: bool) -> String {
    let name = if ten_gigabit { "xgmii" } else { "gmii" };
    if number == 0 { name.to_owned() } else { format!("{name}{number}") }
}

/// The simulated world.
pub(super) struct World {
    pub(super) simulation: Simulation,
    pub(super) device: DeviceHandle,
    pub(super) ports: Vec<NanetPort>,
    pub(super) link: Pcie,
    pub(super) host: MmioHost,
    pub(super) config: NicConfig,
    /// What the buffers hold.
    pub(super) data: Rc<Data>,
    /// What a program sends out by the interface.
    pub(super) results: ResultPins,
    /// State of loading the memories of the interface's search; `None` without a search.
    pub(super) loaded: Option<Loaded>,
    /// What the trigger lines do; `None` without a release in the interface.
    pub(super) release: Option<Release>,
}

impl World {
    pub(super) fn build(
        scenario: &NanetScenario,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        Self::build_as(scenario, &Station::default(), make_model)
    }

    /// As [`build`](Self::build), with addresses of the caller.
    pub(super) fn build_as(
        scenario: &NanetScenario,
        station: &Station,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let simulation = simulation(scenario);
        let device = device(&simulation, scenario, (station, "nic"), make_model)?;
        let ports = (0..scenario.interface.ports)
            .map(|number| NanetPort::build(&simulation, &device, (scenario, station), number))
            .collect::<Result<Vec<_>, _>>()?;
        let (mut config, bytes) = layout(scenario, station.echo);
        let bytes = bytes.max(station.memory_bytes);
        let (link, host) = machine(&simulation, &device, scenario, (bytes, ""))?;
        let (platform, memory) = (&scenario.platform, scenario.workload.memory);
        let mut data = Data::new(NAME, &host, &config);
        if let Some(gpu) = platform.gpu.filter(|_| memory != DataMemory::Host) {
            let (link_costs, root) = (&platform.link, &platform.root);
            let bus = Bus { link: link_costs, root, memory: &platform.memory };
            let named = ("gpu".to_owned(), memory);
            data = data.in_gpu(&simulation, named, (&gpu, &bus), (&link, &mut config))?;
        }
        let data = Rc::new(data);
        let results = ResultPins::attach(&device)?;
        let searches = scenario.chain.as_ref().is_some_and(|chain| chain.search.is_some());
        let words = || Finder::new(&Geometry::na62(), &Config::default()).gateware();
        let loaded =
            searches.then(|| search::load(&device, words().words().collect())).transpose()?;
        let release = release_clocks(scenario).map(|_| Release::attach(&device)).transpose()?;
        Ok(Self { simulation, device, ports, link, host, config, data, results, loaded, release })
    }

    /// Opens the interface.
    pub(super) async fn open(
        host: &MmioHost,
        memory: HostMemory,
        config: &NicConfig,
    ) -> Result<Driver, NicError> {
        Nic::open(Bar::new(host), memory, config).await
    }
}

/// Clocks of the experiment from an event to its release, if the interface releases.
fn release_clocks(scenario: &NanetScenario) -> Option<u64> {
    let chain = scenario.chain.as_ref().filter(|chain| chain.release)?;
    Some(release::clocks(chain.release_us))
}

/// The simulation of a scenario.
pub(super) fn simulation(scenario: &NanetScenario) -> Simulation {
    Simulation::new(SimConfig {
        skip_idle: scenario.skip_idle,
        ..scenario.limits.simulation(scenario.seed)
    })
}

/// The host of an interface, with this much memory, at its pins. `suffix` tells its names from those of another.
pub(super) fn machine(
    simulation: &Simulation,
    device: &DeviceHandle,
    scenario: &NanetScenario,
    (bytes, suffix): (usize, &str),
) -> Result<(Pcie, MmioHost), RoadError> {
    let platform = &scenario.platform;
    let name = format!("host{suffix}");
    // Cores that find rings also send their answers themselves.
    let cores = scenario.chain.as_ref().map_or(platform.host.cores, |chain| 1 + chain.cores);
    let costs = PcieHost { cores, ..platform.host };
    let ends = [&platform.root, &platform.endpoint];
    let pcie = format!("pcie{suffix}");
    let pcie = pcie_config(&pcie, &platform.link, ends, &platform.memory, BAR_BYTES);
    let (link, host) = host_bus::machine(simulation, device, &name, &pcie, &costs, bytes)?;
    link.remember(false);
    simulation.spans().set_enabled(false);
    Ok((link, host))
}

/// The cable of a port.
pub(super) fn cable_config(scenario: &NanetScenario, name: &str) -> CableConfig {
    let cable = &scenario.platform.cable;
    CableConfig {
        name: name.to_owned(),
        length_m: cable.length_m,
        delay_ns_per_m: cable.delay_ns_per_m,
        fault_delay_ns: 0.0,
    }
}

/// The PHY of a port.
pub(super) fn phy_config(scenario: &NanetScenario, number: usize) -> PhyConfig {
    let phy = &scenario.platform.phy;
    PhyConfig {
        name: format!("phy{number}"),
        transmit_latency_ns: phy.tx_ns,
        receive_latency_ns: phy.rx_ns,
    }
}

/// Memory layout of buffers, event queue and page table, and the size of memory.
pub(super) fn layout(scenario: &NanetScenario, echo: bool) -> (NicConfig, usize) {
    let workload = &scenario.workload;
    let bytes = scenario.buffer_bytes();
    let policy = match workload.policy {
        NanetPolicy::Newest => Policy::Newest,
        NanetPolicy::Oldest => Policy::Oldest,
        NanetPolicy::Hold => Policy::Hold,
    };
    let mut at = 0;
    let mut lists = Vec::new();
    for _ in 0..scenario.interface.ports {
        let offsets = (0..workload.buffers).map(|buffer| at + buffer * bytes).collect();
        at += workload.buffers * bytes;
        lists.push(List {
            offsets,
            bytes,
            datagrams: workload.datagrams,
            flush_cycles: scenario.cycles(workload.flush_us) as u32,
            policy,
            echo,
            window: None,
        });
    }
    let paging = scenario.page().map(|size| {
        let pages = shuffled(at.div_ceil(size.bytes()), scenario.seed);
        at = pages.len() * size.bytes();
        Paging {
            size,
            pages: pages.into_iter().map(|page| page * size.bytes()).collect(),
            window: None,
            table_offset: 0,
        }
    });
    let interrupts = workload.driver == NanetDriver::Interrupt;
    let interrupt_gap_cycles = interrupts.then_some(0);
    let mut config =
        NicConfig { lists, queue_offset: at, interrupt_gap_cycles, paging, send: None, put: None };
    if scenario.sends() {
        // The queue has room for its events before its place is laid out.
        let (send, behind) = send_memory(scenario, at);
        config.send = Some(send);
        config.queue_offset = behind;
        at = behind;
    }
    let mut size = at + config.queue_bytes();
    if let Some(paging) = &mut config.paging {
        paging.table_offset = size;
        size += paging.table_bytes();
    }
    (config, size)
}

/// A random permutation of the numbers below `count`: a program's pages are scattered.
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    for last in (1..count).rev() {
        // xorshift64*
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let random = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        numbers.swap(last, random as usize % (last + 1));
    }
    numbers
}

/// The interface itself.
pub(super) fn device(
    simulation: &Simulation,
    scenario: &NanetScenario,
    (station, name): (&Station, &str),
    make_model: MakeModel<'_>,
) -> Result<DeviceHandle, RoadError> {
    let interface = &scenario.interface;
    let own = Hertz((interface.clock_mhz * 1e6).round() as u64);
    // A model has the pins of all ports that there can be, whatever it has behind them.
    let ten_gigabit = scenario.ten_gigabit();
    let (pins, rate) =
        if ten_gigabit { (MAX_TEN_GIGABIT, TEN_GIGABIT) } else { (MAX_GIGABIT, GIGABIT) };
    let receive = (0..pins).map(|number| format!("{}_rx_clk_i", bundle(number, ten_gigabit)));
    let ethernet = receive.chain(["eth_clk_i".to_owned()]);
    // Without a search its clock moves nothing: the same edges as the bus's cost no evaluation.
    let search = (!ten_gigabit).then(|| {
        let chain = scenario.chain.as_ref().and_then(|chain| chain.search);
        let rate = chain.map_or(own, |one| Hertz((one.clock_mhz * 1e6).round() as u64));
        ClockConfig::new(search::CLOCK, rate)
    });
    let latency = release_clocks(scenario);
    let experiment = (!ten_gigabit).then(|| {
        let rate = latency.map_or(own, |_| Hertz(release::rate_hz().round() as u64));
        ClockConfig::new(release::CLOCK, rate)
    });
    let clocks = std::iter::once(ClockConfig::new("clk_i", own))
        .chain(ethernet.map(|port| ClockConfig::new(&port, rate)))
        .chain(search)
        .chain(experiment);
    let address = [
        ("mac", station.mac.as_u64()),
        ("ip", u64::from(u32::from(station.ip))),
        ("udp_port", u64::from(station.udp_port)),
    ];
    let release = (!ten_gigabit).then(|| ("release_latency", latency.unwrap_or_default()));
    let firmware = Firmware::inputs(interface.firmware.as_ref(), interface.clock_mhz);
    let board = Board {
        waveform: scenario.waveform.as_deref(),
        cfg: address.into_iter().chain(firmware).chain(release).collect(),
        ..Board::new(
            name.to_owned(),
            &interface.model_path,
            clocks.collect(),
            interface.reset_cycles,
        )
    };
    Ok(board.add(simulation, make_model)?)
}

impl NanetPort {
    fn build(
        simulation: &Simulation,
        device: &DeviceHandle,
        (scenario, station): (&NanetScenario, &Station),
        number: usize,
    ) -> Result<Self, RoadError> {
        let platform = &scenario.platform;
        let phy = phy_config(scenario, number);
        let source = EndpointConfig {
            name: format!("source{number}"),
            bit_rate_bit_s: (platform.cable.rate_mbit_s * 1e6).round() as u64,
            queue_bytes: station.queue_bytes,
        };
        let source = FrameEndpoint::new(simulation, &source)?;
        let cable = cable_config(scenario, &format!("cable{number}"));
        let ten_gigabit = scenario.ten_gigabit();
        let phy = Phy::attach(simulation, device, number, &phy, ten_gigabit)?;
        Cable::connect(simulation, &source, &phy, &cable)?;
        Ok(Self { source, phy, number: number as u8 })
    }

    /// Name of the clock of its receive pins.
    pub(super) fn receive_clock(&self) -> String {
        self.phy.receive_clock(usize::from(self.number))
    }

    /// The frames on the receive pins so far, from number `first` on.
    pub(super) fn received_since(&self, first: usize) -> Vec<PhyFrame> {
        self.phy.received_since(first)
    }

    /// The frames on the transmit pins so far, from number `first` on.
    pub(super) fn sent_since(&self, first: usize) -> Vec<PhyFrame> {
        self.phy.sent_since(first)
    }

    /// Forgets the frames on its pins so far.
    pub(super) fn forget(&self) {
        self.phy.forget();
    }

    /// Sends a datagram; `spoil` corrupts it on the wire. `None`: the source's queue is full.
    pub(super) fn send(&self, payload: &[u8], spoil: Spoil) -> Option<FrameId> {
        let n = self.number;
        let mut mac = MAC.0;
        mac[5] += n;
        let datagram = Udp {
            source_mac: SOURCE_MAC,
            destination_mac: MacAddress(mac),
            source: SocketAddrV4::new(SOURCE_IP, SOURCE_PORT),
            destination: SocketAddrV4::new(Ipv4Addr::from(u32::from(IP) + u32::from(n)), UDP_PORT),
            payload: payload.to_vec(),
        };
        let mut frame = datagram.to_frame()?;
        if spoil == Spoil::Checksum {
            // The last byte of the UDP check sum, which stands right before the payload.
            frame[ETHERNET_HEADER_BYTES + IPV4_UDP_HEADER_BYTES - 1] ^= 1;
        }
        let mut wire = to_wire(&frame);
        if spoil == Spoil::Fcs
            && let Some(last) = wire.last_mut()
        {
            *last ^= 1;
        }
        self.source.send_wire(wire)
    }

    /// Bytes on the wire per datagram, with preamble, padding, frame check sequence and gap.
    pub(super) fn wire_bytes(payload: usize) -> u64 {
        Self::frame_bytes(payload) + INTERFRAME_GAP_BYTES
    }

    /// The same without the gap.
    pub(super) fn frame_bytes(payload: usize) -> u64 {
        let frame = ETHERNET_HEADER_BYTES + IPV4_UDP_HEADER_BYTES + payload;
        (PREAMBLE.len() + frame.max(MIN_FRAME_BYTES) + FCS_BYTES) as u64
    }
}

/// Injected fault of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spoil {
    Nothing,
    Checksum,
    Fcs,
}

/// All counters of the ports that are not zero.
pub(super) fn whereabouts(statistics: &[Statistics]) -> String {
    let mut text = Vec::new();
    for (port, of) in statistics.iter().enumerate() {
        for (name, count) in of.named().filter(|(_, count)| *count > 0) {
            text.push(format!("port {port} {name} {count}"));
        }
    }
    text.join(", ")
}

/// The send memory behind everything else that `config` has, and the size of memory with it.
pub(super) fn send_memory(scenario: &NanetScenario, size: usize) -> (SendMemory, usize) {
    let offset = size.next_multiple_of(EVENT_BYTES * 2);
    let bytes = scenario.place_bytes() * MAX_POSTS as usize;
    let address = SocketAddrV4::new(SOURCE_IP, SOURCE_PORT);
    let peers = vec![Peer { mac: SOURCE_MAC.0, address }];
    (SendMemory { offset, bytes, peers }, offset + bytes)
}
