// SPDX-License-Identifier: Apache-2.0
//! Two interfaces with a host each, a cable between their ports.

use std::net::{Ipv4Addr, SocketAddrV4};

use isthmus_host::nic::NicConfig;
use isthmus_sim::world::Cable;
use isthmus_sim::world::host::MmioHost;
use isthmus_sim::world::pcie::Pcie;
use isthmus_sim::{DeviceHandle, Simulation};

use super::scenario::NanetScenario;
use super::world::{
    Phy, Station, cable_config, device, layout, machine, phy_config, send_memory, simulation,
};
use crate::error::RoadError;
use crate::model::MakeModel;

/// How many there are.
pub(super) const ENDS: usize = 2;

/// One interface.
pub(super) struct End {
    pub(super) phy: Phy,
    pub(super) device: DeviceHandle,
    pub(super) link: Pcie,
    pub(super) host: MmioHost,
    pub(super) config: NicConfig,
    /// The other one.
    pub(super) peer: SocketAddrV4,
}

/// Both, and their cable.
pub(super) struct Pair {
    pub(super) simulation: Simulation,
    pub(super) ends: Vec<End>,
}

impl Pair {
    pub(super) fn build(
        scenario: &NanetScenario,
        station: &Station,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let simulation = simulation(scenario);
        let ends = (0..ENDS)
            .map(|number| End::build(&simulation, scenario, (station, number), make_model))
            .collect::<Result<Vec<_>, _>>()?;
        let cable = cable_config(scenario, "cable");
        Cable::connect(&simulation, &ends[0].phy, &ends[1].phy, &cable)?;
        Ok(Self { simulation, ends })
    }

    /// Forgets the frames on the pins so far.
    pub(super) fn forget(&self) {
        self.ends.iter().for_each(|end| end.phy.forget());
    }
}

impl End {
    fn build(
        simulation: &Simulation,
        scenario: &NanetScenario,
        (station, number): (&Station, usize),
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let own = station.further(number);
        let device = device(simulation, scenario, (&own, &format!("nic{number}")), make_model)?;
        let phy = phy_config(scenario, number);
        let phy = Phy::attach(simulation, &device, 0, &phy, scenario.ten_gigabit())?;
        let (mut config, bytes) = layout(scenario, false);
        let (mut send, behind) = send_memory(scenario, bytes);
        send.peers.clear();
        config.send = Some(send);
        // The queue has room for its events before its place is laid out.
        config.queue_offset = behind;
        let bytes = config.queue_offset + config.queue_bytes();
        let (link, host) = machine(simulation, &device, scenario, (bytes, &number.to_string()))?;
        let other = station.further(ENDS - 1 - number);
        let peer = SocketAddrV4::new(Ipv4Addr::from(u32::from(other.ip)), other.udp_port);
        Ok(Self { phy, device, link, host, config, peer })
    }

    /// Name of the clock of its receive pins.
    pub(super) fn receive_clock(&self) -> String {
        self.phy.receive_clock(0)
    }
}
