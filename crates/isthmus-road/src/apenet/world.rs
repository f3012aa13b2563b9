// SPDX-License-Identifier: Apache-2.0
//! Hosts, nodes and the links between them.

use std::cell::RefCell;
use std::rc::Rc;

use isthmus_host::nic::{
    EVENT_BYTES, KEY, List, NicConfig, PageSize, Paging, Place, Policy, PutMemory, Target,
};
use isthmus_sim::kernel::{Counter, RandomStream};
use isthmus_sim::world::flits::{FlitInbox, FlitLink, FlitPins};
use isthmus_sim::world::host::MmioHost;
use isthmus_sim::world::lanes::{LaneEnd, LaneLine, LanePins};
use isthmus_sim::{DeviceHandle, Picoseconds, Simulation};

use super::scenario::{ApenetScenario, ApenetTest, NAME};
use crate::error::RoadError;
use crate::gpu::{Bus, Data, DataMemory};
use crate::host_bus::{machine, pcie_config};
use crate::model::{Board, MakeModel, clock};
use crate::platform::Firmware;

const BAR_BYTES: u64 = 0x2000;
/// Clocks between two looks at the links, and those in which all must have come up: several times those of a
/// start.
const UP_STEP: u64 = 256;
const UP_CLOCKS: u64 = 1 << 15;
const PAGE: PageSize = PageSize::K64;
/// Key of a put memory that other nodes may get from: any.
const SERVED: u16 = 0x6E7;
/// Key of a list that other nodes may put into: any.
const LISTED: u16 = 0x115;

/// What links have carried.
#[derive(Clone, Copy, Default)]
pub(super) struct Sent {
    /// Flits that a node has sent.
    pub(super) flits: u64,
    /// Octets of both buses, each way.
    bus: [u64; 4],
}

impl Sent {
    /// Octets since `before` of the way of a bus that carried the most.
    pub(super) fn busiest_bus(&self, before: &Self) -> u64 {
        let ways = self.bus.iter().zip(before.bus);
        ways.map(|(now, then)| now - then).max().unwrap_or_default()
    }
}

/// A host with its node.
pub(super) struct Node {
    pub(super) device: DeviceHandle,
    pub(super) host: MmioHost,
    pub(super) config: NicConfig,
    pub(super) data: Rc<Data>,
}

/// What is between the nodes of the ring.
enum Links {
    /// By node: what comes to it, from the next one and from the one before.
    Delays(Vec<Rc<RefCell<FlitInbox>>>),
    /// By node: the lines out of it, to the next one and to the one before.
    Lanes(Vec<[Rc<RefCell<LaneLine>>; 2]>),
}

impl Links {
    fn new(scenario: &ApenetScenario) -> Self {
        let (nodes, clocks) = (0..scenario.workload.nodes, scenario.hop_clocks());
        if !scenario.over_lanes() {
            return Self::Delays(nodes.map(|_| FlitInbox::new(2, clocks)).collect());
        }
        let line = |node: usize, port: usize| {
            let name = format!("apenet line {node}.{port}");
            LaneLine::new(clocks, RandomStream::new(scenario.seed, &name))
        };
        Self::Lanes(nodes.map(|node| [0, 1].map(|port| line(node, port))).collect())
    }

    fn attach(&self, device: &DeviceHandle, number: usize) -> Result<(), RoadError> {
        // Port 0 leads to the next node, port 1 to the one before.
        let far =
            |port: usize, count: usize| (number + if port == 0 { 1 } else { count - 1 }) % count;
        match self {
            Self::Delays(inboxes) => {
                let links = (0..2).map(|port| {
                    let inbox = Rc::clone(&inboxes[far(port, inboxes.len())]);
                    FlitLink { inbox, port: port ^ 1 }
                });
                FlitPins::attach_links(device, links.collect(), &inboxes[number])?;
            }
            Self::Lanes(lines) => {
                let ends = (0..2).map(|port| LaneEnd {
                    out: Rc::clone(&lines[number][port]),
                    into: Rc::clone(&lines[far(port, lines.len())][port ^ 1]),
                });
                LanePins::attach(device, ends.collect())?;
            }
        }
        Ok(())
    }

    /// Flits that a node has sent.
    fn sent(&self, node: usize) -> Box<dyn Fn() -> u64> {
        match self {
            Self::Delays(inboxes) => {
                let count = inboxes.len();
                // Port 1 of the next node, and port 0 of the one before.
                let ends = [((node + 1) % count, 1), ((node + count - 1) % count, 0)];
                let ends = ends.map(|(node, port)| (Rc::clone(&inboxes[node]), port));
                Box::new(move || {
                    ends.iter().map(|(inbox, port)| inbox.borrow().carried()[*port]).sum()
                })
            }
            Self::Lanes(lines) => {
                let lines = lines[node].clone();
                Box::new(move || lines.iter().map(|line| line.borrow().counts().data).sum())
            }
        }
    }
}

/// All of it.
pub(super) struct World {
    pub(super) simulation: Simulation,
    pub(super) nodes: Vec<Node>,
    pub(super) period: Picoseconds,
    links: Links,
}

impl World {
    pub(super) fn build(
        scenario: &ApenetScenario,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let simulation = Simulation::new(scenario.limits.simulation(scenario.seed));
        let count = scenario.workload.nodes;
        let links = Links::new(scenario);
        let nodes = (0..count)
            .map(|number| Node::build(&simulation, scenario, make_model, (number, &links)))
            .collect::<Result<Vec<_>, _>>()?;
        simulation.spans().set_enabled(false);
        let period = nodes[0].device.clock_period("clk_i").unwrap_or_default();
        let world = Self { simulation, nodes, period, links };
        if scenario.over_lanes() {
            world.come_up()?;
        }
        Ok(world)
    }

    /// Until all links can carry packets.
    fn come_up(&self) -> Result<(), RoadError> {
        let up = |node: &Node| node.device.status().get("up") == Some(&3);
        let mut clocks = 0;
        while !self.nodes.iter().all(up) {
            if clocks > UP_CLOCKS {
                let reason = format!("apenet: links are not up after {clocks} clocks");
                return Err(RoadError::Violation(reason));
            }
            self.simulation.run_for(self.period * UP_STEP)?;
            clocks += UP_STEP;
        }
        // Both ends have the other one's first credits by then.
        self.simulation.run_for(self.period * UP_STEP)?;
        Ok(())
    }

    /// What a node has sent, and the buses of both ends have carried.
    pub(super) fn carried(&self, sender: usize, far: usize) -> impl Fn() -> Sent + 'static {
        let flits = self.links.sent(sender);
        let counter = |node: usize, way: &str, what: &str| {
            self.simulation.counters().counter(format!("pcie{node}.{way}.{what}"))
        };
        let ways = [(0, "down"), (0, "up"), (far, "down"), (far, "up")];
        let octets = ways.map(|(node, way)| {
            [counter(node, way, "wire_bytes"), counter(node, way, "dllp_bytes")]
        });
        move || Sent {
            flits: flits(),
            bus: std::array::from_fn(|way| octets[way].iter().map(Counter::get).sum()),
        }
    }
}

impl Node {
    fn build(
        simulation: &Simulation,
        scenario: &ApenetScenario,
        make_model: MakeModel<'_>,
        (number, links): (usize, &Links),
    ) -> Result<Self, RoadError> {
        let (node, platform, count) = (&scenario.node, &scenario.platform, scenario.workload.nodes);
        let here = [("here", number as u64), ("last", count as u64 - 1)];
        let firmware = Firmware::inputs(node.firmware.as_ref(), node.clock_mhz);
        let board = Board {
            cfg: here.into_iter().chain(firmware).collect(),
            ..Board::new(
                format!("node{number}"),
                &node.model_path,
                vec![clock("clk_i", node.clock_mhz)],
                node.reset_cycles,
            )
        };
        let device = board.add(simulation, make_model)?;
        links.attach(&device, number)?;
        let (mut config, bytes) = layout(scenario, number);
        let name = format!("host{number}");
        let ends = [&platform.root, &platform.endpoint];
        let pcie = format!("pcie{number}");
        let pcie = pcie_config(&pcie, &platform.link, ends, &platform.memory, BAR_BYTES);
        let (link, host) = machine(simulation, &device, &name, &pcie, &platform.host, bytes)?;
        link.remember(false);
        let mut data = Data::new(NAME, &host, &config);
        let kind = scenario.memory(number);
        if kind != DataMemory::Host {
            let (root, memory) = (&platform.root, &platform.memory);
            let bus = Bus { link: &platform.link, root, memory };
            let named = (format!("gpu{number}"), kind);
            let costs = (&platform.gpu, &bus);
            data = data.in_gpu(simulation, named, costs, (&link, &mut config))?;
        }
        let data = Rc::new(data);
        Ok(Self { device, host, config, data })
    }
}

/// Layout of a host's memory: registered pages, put memory, event queue, page table; and its size.
fn layout(scenario: &ApenetScenario, number: usize) -> (NicConfig, usize) {
    let window = scenario.workload.window as usize;
    let bytes = scenario.place_bytes() * window;
    let buffers = scenario.buffers();
    let place = scenario.place_bytes();
    let pages = bytes.max(place * buffers).div_ceil(PAGE.bytes());
    let put_offset = pages * PAGE.bytes();
    let queue_offset = put_offset + bytes;
    let burst = scenario.workload.list;
    let far = if number == 0 || burst.is_some() { scenario.far() } else { 0 };
    let get = scenario.workload.test == ApenetTest::Get;
    let listed = buffers > 0;
    let key = match burst {
        Some(list) if list.wrong_key => LISTED ^ 1,
        _ if listed => LISTED,
        _ if get => SERVED,
        _ => KEY,
    };
    let target = Target { node: Place { x: far as u8, y: 0, z: 0 }, key, offset: 0, list: listed };
    let list = listed.then(|| List {
        offsets: (0..buffers).map(|buffer| buffer * place).collect(),
        bytes: place,
        datagrams: 1,
        flush_cycles: 0,
        policy: burst.map_or(Policy::Hold, |list| list.policy.policy()),
        echo: false,
        window: None,
    });
    let mut config = NicConfig {
        lists: list.into_iter().collect(),
        queue_offset,
        interrupt_gap_cycles: None,
        paging: None,
        send: None,
        put: Some(PutMemory {
            offset: put_offset,
            window: None,
            bytes,
            targets: vec![target],
            arrivals: 2 * window,
            gets: if get { window as u32 } else { 0 },
            serves: get.then_some(SERVED),
            messages: listed.then_some(LISTED),
        }),
    };
    let table_offset = queue_offset + config.queue_events() * EVENT_BYTES;
    // The last page first: a program's pages are in no order.
    let pages = (0..pages).rev().map(|page| page * PAGE.bytes()).collect();
    let paging = Paging { size: PAGE, pages, window: None, table_offset };
    let size = table_offset + paging.table_bytes();
    config.paging = Some(paging);
    (config, size)
}
