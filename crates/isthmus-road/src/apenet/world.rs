// SPDX-License-Identifier: Apache-2.0
//! Hosts, nodes and the links between them.

use std::cell::RefCell;
use std::rc::Rc;

use isthmus_host::nic::{
    EVENT_BYTES, KEY, List, NicConfig, PageSize, Paging, Place, Policy, PutMemory, Target,
};
use isthmus_sim::kernel::Counter;
use isthmus_sim::world::flits::{FlitInbox, FlitLink, FlitPins};
use isthmus_sim::world::host::MmioHost;
use isthmus_sim::{DeviceHandle, Picoseconds, Simulation};

use super::scenario::{ApenetScenario, ApenetTest, NAME};
use crate::error::RoadError;
use crate::gpu::{Bus, Data, DataMemory};
use crate::host_bus::{machine, pcie_config};
use crate::model::{Board, MakeModel, clock};
use crate::platform::Firmware;

const BAR_BYTES: u64 = 0x1000;
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

/// What comes to one node.
type Inbox = Rc<RefCell<FlitInbox>>;

/// All of it.
pub(super) struct World {
    pub(super) simulation: Simulation,
    pub(super) nodes: Vec<Node>,
    pub(super) period: Picoseconds,
    /// By node: what comes to it, from the next one and from the one before.
    inboxes: Vec<Inbox>,
}

impl World {
    pub(super) fn build(
        scenario: &ApenetScenario,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let simulation = Simulation::new(scenario.limits.simulation(scenario.seed));
        let count = scenario.workload.nodes;
        let inboxes: Vec<_> =
            (0..count).map(|_| FlitInbox::new(2, scenario.hop_clocks())).collect();
        let nodes = (0..count)
            .map(|number| Node::build(&simulation, scenario, make_model, (number, &inboxes)))
            .collect::<Result<Vec<_>, _>>()?;
        simulation.spans().set_enabled(false);
        let period = nodes[0].device.clock_period("clk_i").unwrap_or_default();
        Ok(Self { simulation, nodes, period, inboxes })
    }

    /// What a node has sent, and the buses of both ends have carried.
    pub(super) fn carried(&self, sender: usize, far: usize) -> impl Fn() -> Sent + 'static {
        let count = self.inboxes.len();
        // Port 1 of the next node, and port 0 of the one before.
        let lines = [((sender + 1) % count, 1), ((sender + count - 1) % count, 0)];
        let lines = lines.map(|(node, port)| (Rc::clone(&self.inboxes[node]), port));
        let counter = |node: usize, way: &str, what: &str| {
            self.simulation.counters().counter(format!("pcie{node}.{way}.{what}"))
        };
        let ways = [(0, "down"), (0, "up"), (far, "down"), (far, "up")];
        let octets = ways.map(|(node, way)| {
            [counter(node, way, "wire_bytes"), counter(node, way, "dllp_bytes")]
        });
        move || Sent {
            flits: lines.iter().map(|(inbox, port)| inbox.borrow().carried()[*port]).sum(),
            bus: std::array::from_fn(|way| octets[way].iter().map(Counter::get).sum()),
        }
    }
}

impl Node {
    fn build(
        simulation: &Simulation,
        scenario: &ApenetScenario,
        make_model: MakeModel<'_>,
        (number, inboxes): (usize, &[Inbox]),
    ) -> Result<Self, RoadError> {
        let (node, platform, count) = (&scenario.node, &scenario.platform, inboxes.len());
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
        let links = (0..2).map(|port| {
            // Port 0 leads to the next node, port 1 to the one before.
            let neighbour = (number + if port == 0 { 1 } else { count - 1 }) % count;
            FlitLink { inbox: Rc::clone(&inboxes[neighbour]), port: port ^ 1 }
        });
        FlitPins::attach_links(&device, links.collect(), &inboxes[number])?;
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
