// SPDX-License-Identifier: Apache-2.0
//! Hosts, interfaces, links and switches, wired up.

use isthmus_host::rdma::{
    Endpoint, EndpointConfig, HostId, Inbox, Layout as QueueLayout, QueueEntry, RdmaError, Region,
};
use isthmus_sim::kernel::RandomStream;
use isthmus_sim::kernel::ResetSpec;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::host::{Cpu, MmioHost};
use isthmus_sim::world::link::{SerialPorts, WireConfig, WireCut};
use isthmus_sim::world::pcie::{Direction, Pcie as PcieLink, PciePins};
use isthmus_sim::world::pcix::{Pcix, PcixPins};
use isthmus_sim::world::{CpuConfig, Memory};
use isthmus_sim::{DeviceHandle, Picoseconds, Simulation};

use super::scenario::memory::Layout;
use super::scenario::{INBOX_SLOTS, RdmaBus, RdmaScenario};
use crate::error::RoadError;
use crate::host_bus::{self, Bar, HostMemory, pcie_config};
use crate::model::{Board, MakeModel, clock};

/// Offsets of request and message queues in the BAR: what a program posts to.
const QUEUES: std::ops::Range<u64> = 0x4000..0xC000;
const BAR_BYTES: u64 = 0x1_0000;
/// Links that have not come up after this long are an error.
const UP_LIMIT: Picoseconds = Picoseconds::from_ms(2);
const UP_STEP: Picoseconds = Picoseconds::from_us(5);
/// The remote queue that programs send to.
pub(super) const QUEUE: u8 = 0;

/// A host's bus.
#[derive(Clone)]
pub(super) enum NodeBus {
    Pcix(Pcix),
    Pcie(PcieLink),
}

impl NodeBus {
    /// How long each of its wires has been busy so far: PCI-X has one, PCI Express one each way.
    pub(super) fn busy(&self) -> Vec<Picoseconds> {
        match self {
            Self::Pcix(bus) => vec![bus.busy()],
            Self::Pcie(link) => [Direction::Down, Direction::Up].map(|way| link.busy(way)).to_vec(),
        }
    }

    /// Whether it remembers what goes over it: of millions of transfers it must not.
    pub(super) fn remember(&self, on: bool) {
        match self {
            Self::Pcix(bus) => bus.remember(on),
            Self::Pcie(link) => link.remember(on),
        }
    }
}

/// One host with its interface.
pub(super) struct Node {
    pub(super) number: HostId,
    pub(super) host: MmioHost,
    pub(super) bus: NodeBus,
    pub(super) device: DeviceHandle,
    pub(super) ports: SerialPorts,
    /// What it sends from.
    pub(super) source: Vec<u8>,
}

/// All of it.
pub(super) struct World {
    pub(super) simulation: Simulation,
    pub(super) nodes: Vec<Node>,
    pub(super) switches: Vec<(DeviceHandle, SerialPorts)>,
    pub(super) layout: Layout,
}

/// A host program's hold of its interface.
pub(super) struct Program {
    pub(super) endpoint: Endpoint<Bar, HostMemory>,
    pub(super) inbox: Inbox,
    /// The memory that the endpoint uses.
    pub(super) memory: HostMemory,
}

impl World {
    pub(super) fn build(
        scenario: &RdmaScenario,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        Self::with_layout(scenario, make_model, scenario.layout())
    }

    /// One whose hosts' memories are laid out so.
    pub(super) fn with_layout(
        scenario: &RdmaScenario,
        make_model: MakeModel<'_>,
        layout: Layout,
    ) -> Result<Self, RoadError> {
        let simulation = Simulation::new(scenario.limits.simulation(scenario.seed));
        let link_mhz = scenario.platform.link_mhz;
        let switches = (0..scenario.interface.links)
            .map(|link| {
                let switch = &scenario.switch;
                // Host n is at port n.
                let sources =
                    (0..switch.ports as u64).fold(0, |all, port| all | port << (4 * port));
                let (name, clocks) = (format!("switch{link}"), vec![clock("clk_i", link_mhz)]);
                let board = Board {
                    cfg: vec![
                        ("bench", u64::from(scenario.bench)),
                        ("bind", u64::from(switch.bind_sources)),
                        ("source", sources),
                    ],
                    ..Board::new(name, &switch.model_path, clocks, switch.reset_cycles)
                };
                let device = board.add(&simulation, make_model)?;
                let ports = SerialPorts::attach(&simulation, &device, "clk_i", switch.ports)?;
                Ok((device, ports))
            })
            .collect::<Result<Vec<_>, RoadError>>()?;
        let nodes = (0..scenario.workload.hosts)
            .map(|number| Node::build(&simulation, scenario, make_model, number, &layout))
            .collect::<Result<Vec<_>, _>>()?;
        for (host, node) in nodes.iter().enumerate() {
            for (link, (_, switch)) in switches.iter().enumerate() {
                let cuts = scenario.faults.resets.iter();
                let config = WireConfig {
                    name: format!("link{host}.{link}"),
                    hop_clocks: scenario.hop_clocks(),
                    faults: scenario.faults.line(),
                    cuts: cuts
                        .filter(|cut| (cut.0, cut.1) == (host, link))
                        .map(|cut| WireCut { at: cut.2, clocks: cut.3 })
                        .collect(),
                };
                node.ports.connect(link, switch, host, &config)?;
            }
        }
        Ok(Self { simulation, nodes, switches, layout })
    }

    /// Runs until every link is up.
    pub(super) fn bring_up(&self, scenario: &RdmaScenario) -> Result<(), RoadError> {
        let all = (1_u64 << scenario.interface.links) - 1;
        let up = |node: &Node| node.device.status().get("up").is_some_and(|up| *up == all);
        while !self.nodes.iter().all(up) {
            if self.simulation.now() > UP_LIMIT {
                let down = self.nodes.iter().filter(|node| !up(node)).map(|node| node.number);
                let down = down.map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
                return Err(RoadError::Inconsistent(format!(
                    "rdma: after {UP_LIMIT} not every link of these hosts is up: {down}"
                )));
            }
            self.simulation.run_for(UP_STEP)?;
        }
        Ok(())
    }
}

impl Node {
    fn build(
        simulation: &Simulation,
        scenario: &RdmaScenario,
        make_model: MakeModel<'_>,
        number: usize,
        layout: &Layout,
    ) -> Result<Self, RoadError> {
        let (interface, platform) = (&scenario.interface, &scenario.platform);
        let clocks =
            vec![clock("clk_i", interface.clock_mhz), clock("link_clk_i", platform.link_mhz)];
        let resets = scenario
            .faults
            .node_resets
            .iter()
            .filter(|reset| reset.0 == number)
            .map(|(_, at_ns, cycles)| ResetSpec {
                at_ps: Picoseconds::from_ns(*at_ns).0,
                cycles: *cycles,
            })
            .collect();
        let waveform = scenario.waveform.as_deref().filter(|_| number == 0);
        let (name, reset_cycles) = (format!("ni{number}"), interface.reset_cycles);
        let board = Board::new(name, &interface.model_path, clocks, reset_cycles);
        let device = Board { resets, waveform, ..board }.add(simulation, make_model)?;
        let ports = SerialPorts::attach(simulation, &device, "link_clk_i", interface.links)?;
        let name = format!("host{number}");
        let costs = &platform.host;
        let memory: Memory = host_bus::memory(&name, layout.bytes, costs)?;
        let cpu = Cpu::new(simulation, &name, &CpuConfig { cores: costs.cores })?;
        let host = host_bus::host_config(&name, costs);
        let bus_name = format!("{name}.bus");
        let (bus, host) = match &platform.bus {
            RdmaBus::Pcix(config) => {
                let mut config = (**config).clone();
                config.name = bus_name;
                let bus = Pcix::new(simulation, &config, &memory)?;
                PcixPins::attach(simulation, &device, &bus, "clk_i")?;
                let host = bus.host(&host, &cpu, &memory)?;
                (NodeBus::Pcix(bus), host)
            }
            RdmaBus::Pcie(pcie) => {
                let ports = [&pcie.root, &pcie.endpoint];
                let config = pcie_config(&bus_name, &pcie.link, ports, &pcie.memory, BAR_BYTES);
                let link = PcieLink::new(simulation, &config, &memory)?;
                PciePins::attach(simulation, &device, &link)?;
                let host = link.host(&host, &cpu, &memory)?;
                (NodeBus::Pcie(link), host)
            }
        };
        bus.remember(false);
        let mut random = RandomStream::new(scenario.seed, &format!("rdma:source:{number}"));
        let source: Vec<u8> =
            (0..scenario.source_bytes() / 8).flat_map(|_| random.bits().to_le_bytes()).collect();
        memory
            .write(layout.source, &source)
            .map_err(|error| RoadError::Inconsistent(format!("rdma: source: {error}")))?;
        Ok(Self { number: number as HostId, host, bus, device, ports, source })
    }

    /// BAR 0 as a program's stores reach it.
    pub(super) fn bar(host: &MmioHost, scenario: &RdmaScenario) -> Bar {
        match scenario.workload.combined {
            true => Bar::new(host),
            false => Bar::uncombined(host, QUEUES),
        }
    }

    /// How its interface is opened, with the platform's times.
    pub(super) fn config(
        number: HostId,
        session: u8,
        scenario: &RdmaScenario,
        timeout: Picoseconds,
    ) -> EndpointConfig {
        let cycles = |us: f64| (us * scenario.interface.clock_mhz).round() as u32;
        EndpointConfig {
            host: number,
            session,
            probe_cycles: cycles(scenario.interface.probe_us),
            lost_cycles: cycles(scenario.interface.lost_us),
            bench: scenario.bench,
            timeout: std::time::Duration::from_nanos(timeout.0 / 1_000),
        }
    }

    /// Opens the interface, lets every other host write and send here.
    pub(super) async fn open(
        sim: Sim,
        host: MmioHost,
        number: HostId,
        scenario: RdmaScenario,
        layout: Layout,
    ) -> Result<Program, RdmaError> {
        let bar = Self::bar(&host, &scenario);
        let session = (scenario.seed as u8).wrapping_mul(31).wrapping_add(number);
        let config = Self::config(number, session, &scenario, scenario.timeout());
        let memory = HostMemory::new(&sim, &host);
        let mut endpoint = Endpoint::open(bar, memory.clone(), config).await?;
        for source in (0..scenario.workload.hosts as HostId).filter(|source| *source != number) {
            let region = Region {
                base: host.bus_address(layout.words),
                bytes: (layout.inbox - layout.words) as u64,
                sources: 1 << source,
                nonce: 0,
                queue: None,
            };
            endpoint.register(source, &region).await?;
        }
        let inbox = layout.group - layout.inbox;
        let (bytes, slots) = match scenario.workload.packed {
            true => (INBOX_SLOTS * scenario.workload.size_bytes, QueueLayout::Packed),
            false => (inbox, QueueLayout::Slots(inbox / INBOX_SLOTS)),
        };
        let inbox = QueueEntry {
            base: host.bus_address(layout.inbox),
            bytes: bytes as u64,
            layout: slots,
            sources: u8::MAX,
        };
        let mut inbox = endpoint.open_queue(QUEUE, &inbox).await?;
        inbox.give_back_every(scenario.workload.post_list as usize);
        Ok(Program { endpoint, inbox, memory })
    }
}
