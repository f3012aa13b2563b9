// SPDX-License-Identifier: Apache-2.0
//! Hosts, nodes and the links between them.

use std::rc::Rc;

use isthmus_host::nic::{EVENT_BYTES, KEY, NicConfig, PageSize, Paging, Place, PutMemory, Target};
use isthmus_sim::world::CpuConfig;
use isthmus_sim::world::flits::{FlitLine, FlitLink, FlitPins};
use isthmus_sim::world::host::{Cpu, MmioHost};
use isthmus_sim::world::pcie::{Pcie, PciePins};
use isthmus_sim::{ClockConfig, DeviceConfig, DeviceHandle, Hertz, Picoseconds, Simulation};

use super::scenario::ApenetScenario;
use crate::error::RoadError;
use crate::host_bus::{self, pcie_config};
use crate::model::MakeModel;

const BAR_BYTES: u64 = 0x1000;
const PAGE: PageSize = PageSize::K64;

/// A host with its node.
pub(super) struct Node {
    pub(super) device: DeviceHandle,
    pub(super) host: MmioHost,
    pub(super) config: NicConfig,
}

/// Reads registered pages: offset, bytes.
pub(super) type Pages = Rc<dyn Fn(usize, usize) -> Result<Vec<u8>, RoadError>>;

/// All of it.
pub(super) struct World {
    pub(super) simulation: Simulation,
    pub(super) nodes: Vec<Node>,
    pub(super) period: Picoseconds,
    /// By node: what it sends towards the next one and the one before.
    lines: Vec<[Rc<std::cell::RefCell<FlitLine>>; 2]>,
}

impl World {
    pub(super) fn build(
        scenario: &ApenetScenario,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let simulation = Simulation::new(scenario.limits.simulation(scenario.seed));
        let count = scenario.workload.nodes;
        let lines: Vec<[_; 2]> = (0..count)
            .map(|_| std::array::from_fn(|_| FlitLine::new(scenario.hop_clocks())))
            .collect();
        let nodes = (0..count)
            .map(|number| Node::build(&simulation, scenario, make_model, (number, &lines)))
            .collect::<Result<Vec<_>, _>>()?;
        simulation.spans().set_enabled(false);
        let period = nodes[0].device.clock_period("clk_i").unwrap_or_default();
        Ok(Self { simulation, nodes, period, lines })
    }

    /// Flits that the first node has sent.
    pub(super) fn carried(&self) -> impl Fn() -> u64 + 'static {
        let lines = self.lines[0].clone();
        move || lines.iter().map(|line| line.borrow().carried()).sum()
    }
}

impl Node {
    fn build(
        simulation: &Simulation,
        scenario: &ApenetScenario,
        make_model: MakeModel<'_>,
        (number, lines): (usize, &[[Rc<std::cell::RefCell<FlitLine>>; 2]]),
    ) -> Result<Self, RoadError> {
        let (node, platform, count) = (&scenario.node, &scenario.platform, lines.len());
        let firmware = node.firmware.map_or([0; 3], |firmware| {
            let wake = scenario.cycles(firmware.wake_min_us);
            let span = scenario.cycles(firmware.wake_max_us) - wake;
            [wake, span, scenario.cycles(firmware.work_us)]
        });
        let config = DeviceConfig {
            name: format!("node{number}"),
            model_path: node.model_path.clone(),
            clocks: vec![ClockConfig::new("clk_i", Hertz((node.clock_mhz * 1e6).round() as u64))],
            reset_cycles: node.reset_cycles,
            cfg: [
                ("here", number as u64),
                ("last", count as u64 - 1),
                ("firmware_wake_min", firmware[0]),
                ("firmware_wake_span", firmware[1]),
                ("firmware_work", firmware[2]),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
            epoch_ns: 0,
            trace: None,
            resets: Vec::new(),
            holds: Vec::new(),
        };
        let device = simulation.add_model(make_model(&node.model_path, None)?, &config)?;
        let links = (0..2).map(|port| {
            // Port 0 leads to the next node, port 1 to the one before.
            let neighbour = (number + if port == 0 { 1 } else { count - 1 }) % count;
            FlitLink {
                away: Rc::clone(&lines[number][port]),
                towards: Rc::clone(&lines[neighbour][port ^ 1]),
            }
        });
        FlitPins::attach_links(&device, links.collect())?;
        let (config, bytes) = layout(scenario, number);
        let name = format!("host{number}");
        let memory = host_bus::memory(&name, bytes, &platform.host)?;
        let cpu = Cpu::new(simulation, &name, &CpuConfig { cores: platform.host.cores })?;
        let ends = [&platform.root, &platform.endpoint];
        let pcie = format!("pcie{number}");
        let pcie = pcie_config(&pcie, &platform.link, ends, &platform.memory, BAR_BYTES);
        let link = Pcie::new(simulation, &pcie, &memory)?;
        PciePins::attach(simulation, &device, &link)?;
        let host = link.host(&host_bus::host_config(&name, &platform.host), &cpu, &memory)?;
        link.remember(false);
        Ok(Self { device, host, config })
    }

    /// Reads the registered pages, from an offset in them on; it takes no simulated time.
    pub(super) fn reader(&self) -> Pages {
        let (host, paging) = (self.host.clone(), self.config.paging.clone());
        let pages = paging.map_or(Vec::new(), |paging| paging.pages);
        Rc::new(move |offset, bytes| {
            let page = PAGE.bytes();
            let (mut at, mut found) = (offset, Vec::with_capacity(bytes));
            while found.len() < bytes {
                let Some(begin) = pages.get(at / page) else {
                    return Err(RoadError::Inconsistent(format!("apenet: no page at {at:#x}")));
                };
                let some = (bytes - found.len()).min(page - at % page);
                let read = host.memory().read(begin + at % page, some);
                found.extend(read.map_err(|error| RoadError::Inconsistent(error.to_string()))?);
                at += some;
            }
            Ok(found)
        })
    }
}

/// Layout of a host's memory: registered pages, put memory, event queue, page table; and its size.
fn layout(scenario: &ApenetScenario, number: usize) -> (NicConfig, usize) {
    let window = scenario.workload.window as usize;
    let bytes = scenario.place_bytes() * window;
    let pages = bytes.div_ceil(PAGE.bytes());
    let put_offset = pages * PAGE.bytes();
    let queue_offset = put_offset + bytes;
    let far = if number == 0 { scenario.far() } else { 0 };
    let target = Target { node: Place { x: far as u8, y: 0, z: 0 }, key: KEY, offset: 0 };
    let mut config = NicConfig {
        lists: Vec::new(),
        queue_offset,
        interrupt_gap_cycles: None,
        paging: None,
        send: None,
        put: Some(PutMemory {
            offset: put_offset,
            bytes,
            targets: vec![target],
            arrivals: 2 * window,
        }),
    };
    let table_offset = queue_offset + config.queue_events() * EVENT_BYTES;
    // The last page first: a program's pages are in no order.
    let pages = (0..pages).rev().map(|page| page * PAGE.bytes()).collect();
    let paging = Paging { size: PAGE, pages, table_offset };
    let size = table_offset + paging.table_bytes();
    config.paging = Some(paging);
    (config, size)
}
