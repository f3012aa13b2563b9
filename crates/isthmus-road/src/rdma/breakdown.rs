// SPDX-License-Identifier: Apache-2.0
//! Where the time of one transfer goes, from what its buses, pins and probes showed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use isthmus_host::rdma::{HostId, notified_offset};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::link::{PacketMark, SerialPorts};

use super::packets::{Flight, Packet, Pins, Seen};
use super::scenario::RdmaScenario;
use super::work::{BusWork, WorkKind, memory_write, work};
use super::world::{NodeBus, World};
use crate::error::RoadError;
use crate::host_bus::BAR_BASE;
use crate::measurement::{Stage, TimelineSpan};
use crate::stages::Way;

/// Requests and messages in the BAR.
const QUEUES: std::ops::Range<u64> = 0x4000..0xC000;
/// The observed transfer goes from this host to the next.
const SOURCE: usize = 0;
const DESTINATION: usize = 1;
const BEGUN: &str = "PacketBegun";

/// Switches recording on for one transfer.
pub(super) struct Observer {
    sim: Sim,
    buses: Vec<NodeBus>,
    ports: Vec<SerialPorts>,
    /// How many of `ports` are hosts'.
    hosts: usize,
    on: Cell<bool>,
    marks: RefCell<Vec<Vec<PacketMark>>>,
}

impl Observer {
    pub(super) fn new(world: &World) -> Rc<Self> {
        let hosts = world.nodes.iter().take(2).map(|node| node.ports.clone());
        let switches = world.switches.iter().map(|(_, ports)| ports.clone());
        Rc::new(Self {
            sim: world.simulation.handle(),
            buses: world.nodes.iter().take(2).map(|node| node.bus.clone()).collect(),
            ports: hosts.chain(switches).collect(),
            hosts: 2,
            on: Cell::new(false),
            marks: RefCell::default(),
        })
    }

    /// Records from now on, or no more.
    pub(super) fn observe(&self, on: bool) {
        if on == self.on.replace(on) {
            return;
        }
        self.sim.probes().set_enabled(on);
        self.buses.iter().for_each(|bus| bus.remember(on));
        if !on {
            *self.marks.borrow_mut() = self.ports.iter().map(SerialPorts::take_marks).collect();
        }
        for ports in &self.ports {
            ports.watch(on);
        }
    }
}

/// What is known of the observed transfer.
#[derive(Debug, Default)]
pub(super) struct Breakdown {
    pub(super) stages: Vec<Stage>,
    pub(super) timeline: Vec<TimelineSpan>,
    pub(super) components: Option<BTreeMap<&'static str, u64>>,
    /// From the first request for the sender's bus to the last byte of data in its interface.
    pub(super) injection_ps: Option<u64>,
    pub(super) network_ps: Option<u64>,
    pub(super) packets: Vec<Packet>,
}

/// Takes the observed transfer apart.
pub(super) fn of(
    world: &World,
    scenario: &RdmaScenario,
    observer: &Observer,
    (from, until): (Picoseconds, Picoseconds),
) -> Result<Breakdown, RoadError> {
    let missing = |what: &str| {
        RoadError::Inconsistent(format!(
            "rdma: the transfer from {from} to {until} shows no {what}"
        ))
    };
    let sent = work(&world.nodes[SOURCE], scenario, from, until);
    let arrived = work(&world.nodes[DESTINATION], scenario, from, until);
    let marks = observer.marks.borrow();
    let word = world.nodes[SOURCE].device.clock_period("link_clk_i").unwrap_or_default();
    let pins = Pins { marks: &marks, hosts: observer.hosts, word };
    let links = scenario.interface.links;
    let flights = pins.flights([SOURCE, DESTINATION], links, [from, until])?;
    let first = |of: fn(&Flight) -> Picoseconds, what| {
        flights.iter().map(of).min().ok_or_else(|| missing(what))
    };
    let in_queue = |one: &&BusWork| {
        one.kind == WorkKind::Store && QUEUES.contains(&one.address.wrapping_sub(BAR_BASE))
    };
    let stores = || sent.iter().filter(in_queue);
    let posted = stores().map(|one| one.begin).min().ok_or_else(|| missing("store to a queue"))?;
    let of_kind = |kind| sent.iter().filter(move |one| one.kind == kind && one.begin >= posted);
    let read = of_kind(WorkKind::Read).map(|one| one.begin).min();
    // Of several descriptors the first is read while others are posted.
    let before_read = |end: &Picoseconds| read.is_none_or(|read| *end <= read);
    let taken = stores().map(|one| one.end).filter(before_read).max().unwrap_or(posted);
    let came = of_kind(WorkKind::Completion).map(|one| one.end).max();
    let injected = came.or_else(|| stores().map(|one| one.end).max()).unwrap_or(posted);
    // Of several descriptors the first is read for before the last has been stored.
    let taken = read.map_or(taken, |read| taken.min(read));
    let left = first(|one| one.left[0], "packet out of its source")?;
    let entered = first(|one| one.entered[0], "packet at the switch")?;
    let departed = first(|one| one.departed[0], "packet out of the switch")?;
    let reached = first(|one| one.reached[0], "packet at its destination")?;
    let whole = flights.iter().map(|one| one.reached[1]).max().unwrap_or(reached);
    // Payload, and of a message its frame word; not the notification's word.
    let base = crate::host_bus::MEMORY_BASE;
    let target = base + world.layout.target as u64;
    let data = |one: &&BusWork| one.kind == WorkKind::Write && one.address >= target;
    let writes = || arrived.iter().filter(data);
    let write = writes().map(|one| one.begin).min().ok_or_else(|| missing("write to memory"))?;
    let written = writes().map(|one| one.end).max().unwrap_or(write);
    let visible = written + memory_write(scenario);

    let mut way = Way::new(from);
    way.until("host", "program posts", posted)?;
    way.until("bus", "send initiation", taken)?;
    let mut components = BTreeMap::from([("send_initiation", (taken - posted).0)]);
    let mut at_interface = taken;
    let mut in_interface = Picoseconds::ZERO;
    let mut dma = Picoseconds::ZERO;
    if let Some((read, came)) = read.zip(came) {
        // Of several packets the first leaves before all is read.
        let came = came.min(left);
        way.until("nic", "descriptor to read", read)?;
        way.until("bus", "read DMA", came)?;
        (in_interface, dma, at_interface) = (read - taken, came - read, came);
    }
    way.until("nic", "to the link", left)?;
    in_interface += left.saturating_sub(at_interface);
    way.until("wire", "transceivers and cable to the switch", entered)?;
    way.until("switch", "switch", departed)?;
    way.until("wire", "transceivers and cable to the destination", reached)?;
    way.until("nic", "receive and check", write)?;
    way.until("bus", "write DMA", written.min(until))?;
    way.until("host", "bridge to memory", visible.min(until))?;
    way.until("host", "until the program sees it", until)?;
    for (name, span) in [
        ("send_dma", dma),
        ("send_nic", in_interface),
        ("switch", departed - entered),
        ("propagation", (entered - left) + (reached - departed)),
        ("rcv_nic", write.saturating_sub(reached)),
        ("rcv_dma", written - write),
        ("total", written - posted),
    ] {
        components.insert(name, span.0);
    }
    let begun = begun(world, from, until);
    let seen = Seen {
        posted: [posted, taken],
        sent: &sent,
        arrived: &arrived,
        begun: &begun,
        told: base + notified_offset(SOURCE as HostId) as u64,
        data: target,
        frames: !scenario.workload.packed,
    };
    // Packets of several descriptors would be more than a reader needs.
    let packets = match scenario.descriptors() {
        1 => seen.packets(&flights, from)?,
        _ => Vec::new(),
    };
    Ok(Breakdown {
        stages: way.finish(until)?,
        timeline: timeline(scenario, &pins, [&sent, &arrived], from),
        components: Some(components),
        injection_ps: Some((injected - posted).0),
        network_ps: begun.first().map(|(_, begun)| (whole.saturating_sub(*begun)).0),
        packets,
    })
}

/// When each packet was made, with its tag.
fn begun(world: &World, from: Picoseconds, until: Picoseconds) -> Vec<(u8, Picoseconds)> {
    let device = &world.nodes[SOURCE].device;
    let Some(stage) = device.stages().iter().position(|stage| stage == BEGUN) else {
        return Vec::new();
    };
    let records = world.simulation.probes().since(0);
    let mine = records.iter().filter(|one| {
        one.device == device.index() && usize::from(one.stage) == stage && one.time >= from
    });
    mine.filter(|one| one.time < until).map(|one| (one.tag, one.time)).collect()
}

/// Bars: what was on the buses, and each packet at the pins of both ends.
fn timeline(
    scenario: &RdmaScenario,
    pins: &Pins<'_>,
    buses: [&[BusWork]; 2],
    from: Picoseconds,
) -> Vec<TimelineSpan> {
    let bar =
        |track: String, name: &str, start: Picoseconds, end: Picoseconds, tag: u64| TimelineSpan {
            track,
            name: name.to_owned(),
            start_ps: start.saturating_sub(from).0,
            end_ps: end.saturating_sub(from).0,
            tag,
        };
    let mut bars = Vec::new();
    for (host, work) in buses.iter().enumerate() {
        for (tag, one) in work.iter().enumerate().filter(|(_, one)| one.kind != WorkKind::Other) {
            let track = format!("host {host} bus");
            bars.push(bar(track, one.kind.name(), one.start, one.end, tag as u64));
        }
    }
    for (host, inward) in [(SOURCE, false), (DESTINATION, true)] {
        for link in 0..scenario.interface.links {
            let ends = pins.marks.get(host).into_iter().flatten();
            let ends: Vec<&PacketMark> =
                ends.filter(|mark| mark.inward == inward && mark.port == link).collect();
            for (tag, pair) in
                ends.windows(2).filter(|pair| pair[0].first && !pair[1].first).enumerate()
            {
                let way = if inward { "in" } else { "out" };
                let track = format!("host {host} link {link} {way}");
                let (start, end) = (pins.shown(pair[0]), pins.shown(pair[1]));
                bars.push(bar(track, "packet", start, end, tag as u64));
            }
        }
    }
    bars
}
