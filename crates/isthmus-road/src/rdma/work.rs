// SPDX-License-Identifier: Apache-2.0
//! What a host's bus did, from the records of either kind of bus.

use isthmus_sim::Picoseconds;
use isthmus_sim::world::pcie::{Direction, Pcie, TlpKind};
use isthmus_sim::world::pcix::{Pcix, PcixAgent, PcixKind};

use super::scenario::{RdmaBus, RdmaScenario};
use super::world::{Node, NodeBus};

/// A piece of work of a bus.
#[derive(Clone, Copy, Debug)]
pub(super) struct BusWork {
    pub(super) kind: WorkKind,
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// Asked for.
    pub(super) begin: Picoseconds,
    /// On the bus.
    pub(super) start: Picoseconds,
    /// Its data are on the bus from here to there, evenly.
    pub(super) data: [Picoseconds; 2],
    /// Its data are on the other side.
    pub(super) end: Picoseconds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkKind {
    Store,
    Write,
    Read,
    Completion,
    Other,
}

impl WorkKind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Write => "write",
            Self::Read => "read request",
            Self::Completion => "read data",
            Self::Other => "other",
        }
    }
}

fn pcix_work(bus: &Pcix, receive: Picoseconds) -> Vec<BusWork> {
    let kind = |agent, kind| match (agent, kind) {
        (PcixAgent::Bridge, PcixKind::Store) => WorkKind::Store,
        (PcixAgent::Device, PcixKind::Write) => WorkKind::Write,
        (PcixAgent::Device, PcixKind::Read) => WorkKind::Read,
        (PcixAgent::Bridge, PcixKind::Completion) => WorkKind::Completion,
        _ => WorkKind::Other,
    };
    let records = bus.records_since(0);
    let work = records.iter().map(|record| BusWork {
        kind: kind(record.initiator, record.kind),
        address: record.address,
        bytes: record.bytes,
        begin: record.requested,
        start: record.start,
        data: [record.data, record.data_end],
        end: record.data_end
            + if record.initiator == PcixAgent::Bridge { receive } else { Picoseconds::ZERO },
    });
    work.collect()
}

fn pcie_work(link: &Pcie) -> Vec<BusWork> {
    let both = [Direction::Down, Direction::Up];
    let tlps = both.into_iter().flat_map(|way| link.records_since(way, 0));
    let work = tlps.map(|tlp| BusWork {
        kind: match (tlp.direction, tlp.kind) {
            (Direction::Down, TlpKind::Write) => WorkKind::Store,
            (Direction::Up, TlpKind::Write) => WorkKind::Write,
            (Direction::Up, TlpKind::Read) => WorkKind::Read,
            (Direction::Down, TlpKind::Completion) => WorkKind::Completion,
            _ => WorkKind::Other,
        },
        address: tlp.address,
        bytes: tlp.payload_bytes,
        begin: tlp.handed,
        start: tlp.start,
        data: [tlp.start, tlp.end],
        end: tlp.delivered,
    });
    let mut work: Vec<BusWork> = work.collect();
    work.sort_by_key(|one| one.begin);
    work
}

/// All that a host's bus did in a span of time.
pub(super) fn work(
    node: &Node,
    scenario: &RdmaScenario,
    from: Picoseconds,
    until: Picoseconds,
) -> Vec<BusWork> {
    let mut work = match (&node.bus, &scenario.platform.bus) {
        (NodeBus::Pcix(bus), RdmaBus::Pcix(config)) => {
            pcix_work(bus, bus.cycle() * u64::from(config.core.receive_cycles))
        }
        (NodeBus::Pcie(link), _) => pcie_work(link),
        _ => Vec::new(),
    };
    work.retain(|one| one.begin >= from && one.begin < until);
    work
}

/// From a write's last data to its being visible.
pub(super) fn memory_write(scenario: &RdmaScenario) -> Picoseconds {
    Picoseconds::from_ns_f64(match &scenario.platform.bus {
        RdmaBus::Pcix(config) => config.bridge.memory_write_ns,
        RdmaBus::Pcie(pcie) => pcie.memory.write_ns,
    })
}
