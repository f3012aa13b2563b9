// SPDX-License-Identifier: Apache-2.0
//! The simulated FPGA and the cable to it: frames go in, time passes, frames come out.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use isthmus_host::etherbone::UDP_MTU;
use isthmus_sim::world::packet::{self, Packet, Udp};
use isthmus_sim::world::{Cable, CableConfig, EndpointConfig, FrameEndpoint, MacAddress};
use isthmus_sim::{Limit, Picoseconds, SimConfig, SimError, Simulation, Stop};

use super::super::device;
use super::super::scenario::{Fpga, GigePhy};
use super::config::{BATCH, ServeScenario, ServeStatus};
use crate::error::RoadError;
use crate::model::MakeModel;
use crate::scenario::Limits;
use crate::tap::{MAX_TAGGED, is_whole};

/// International Atomic Time is ahead of UTC by this since 2017.
const TAI_MINUS_UTC_S: u64 = 37;
/// Source port of requests from streams; no other sender uses port 0.
const STREAM_PORT: u16 = 0;

/// The sender of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    /// A sender of datagrams.
    Udp(SocketAddr),
    /// A stream, by its number.
    Stream(u64),
}

/// A frame from the device, and its destination.
#[derive(Debug)]
pub(super) enum Output {
    Datagram(SocketAddr, Vec<u8>),
    Stream(u64, Vec<u8>),
    /// For a station that is not one of ours.
    Frame(Vec<u8>),
    /// A reply that is not pending.
    Lost,
}

/// A sender, and the station it is on the simulated wire.
struct Station {
    peer: Peer,
    last_heard: u64,
}

pub(super) struct Wire {
    simulation: Simulation,
    endpoint: FrameEndpoint,
    device_mac: MacAddress,
    device: SocketAddrV4,
    /// Replies go there instead of to the request's port.
    reply_port: Option<u16>,
    limit: Picoseconds,
    max_clients: usize,
    /// By the number that makes a sender's simulated addresses.
    stations: BTreeMap<u16, Station>,
    heard: u64,
}

impl Wire {
    pub(super) fn open(
        scenario: &ServeScenario,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let simulation = Simulation::new(SimConfig {
            skip_idle: true,
            simulated_limit_ps: None,
            wall_limit_ms: None,
            ..Limits::default().simulation(scenario.seed)
        });
        let now = || {
            let utc = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            utc.as_secs() + TAI_MINUS_UTC_S
        };
        let fpga = Fpga {
            clock_mhz: scenario.clock_mhz,
            epoch_s: scenario.epoch_s.unwrap_or_else(now),
            clock_offset_ppm: 0.0,
        };
        let phy = GigePhy { tx_ns: 0.0, rx_ns: 8.0 };
        let (_, phy) =
            device::attach_gige(&simulation, &scenario.device, &fpga, &phy, None, make_model)?;
        let endpoint = FrameEndpoint::new(
            &simulation,
            &EndpointConfig {
                name: "socket".to_owned(),
                bit_rate_bit_s: 1_000_000_000,
                // A batch of datagrams and one of frames.
                queue_bytes: 2 * (BATCH * (MAX_TAGGED + 24)) as u64,
            },
        )?;
        let cable = CableConfig {
            name: "cable".to_owned(),
            length_m: 0.0,
            delay_ns_per_m: 0.0,
            fault_delay_ns: 0.0,
        };
        Cable::connect(&simulation, &endpoint, &phy, &cable)?;
        simulation.run_for(Picoseconds::from_us(10))?;
        Ok(Self {
            simulation,
            endpoint,
            device_mac: scenario.device.mac,
            device: SocketAddrV4::new(scenario.device.ip, scenario.device.udp_port),
            reply_port: Some(scenario.device.reply_port).filter(|port| *port != 0),
            limit: Picoseconds::from_us(scenario.datagram_limit_us),
            max_clients: scenario.max_clients,
            stations: BTreeMap::new(),
            heard: 0,
        })
    }

    /// Senders that are remembered.
    pub(super) fn clients(&self) -> usize {
        self.stations.len()
    }

    /// Puts a datagram onto the wire. Whether it fits there.
    pub(super) fn put(&mut self, payload: &[u8], peer: Peer) -> bool {
        if payload.len() > UDP_MTU {
            return false;
        }
        let station = self.station(peer);
        let port = match peer {
            Peer::Udp(peer) => peer.port(),
            Peer::Stream(_) => STREAM_PORT,
        };
        let frame = Udp {
            source_mac: station_mac(station),
            destination_mac: self.device_mac,
            source: SocketAddrV4::new(station_ip(station), port),
            destination: self.device,
            payload: payload.to_vec(),
        }
        .to_frame();
        frame.and_then(|frame| self.endpoint.send(&frame)).is_some()
    }

    /// Puts a frame onto the wire. Whether it fits there.
    pub(super) fn put_frame(&mut self, frame: &[u8]) -> bool {
        is_whole(frame) && self.endpoint.send(frame).is_some()
    }

    /// The station number of a sender, new or known.
    fn station(&mut self, peer: Peer) -> u16 {
        self.heard += 1;
        let last_heard = self.heard;
        if let Some((number, station)) = self.stations.iter_mut().find(|(_, s)| s.peer == peer) {
            station.last_heard = last_heard;
            return *number;
        }
        let datagrams = self.stations.iter().filter(|(_, s)| matches!(s.peer, Peer::Udp(_)));
        let number = match datagrams.clone().min_by_key(|(_, station)| station.last_heard) {
            Some((silent, _))
                if matches!(peer, Peer::Udp(_)) && datagrams.count() >= self.max_clients =>
            {
                *silent
            }
            // Both kinds of senders are limited: there is always a free number.
            _ => (0..=u16::MAX).find(|n| !self.stations.contains_key(n)).unwrap_or_default(),
        };
        self.stations.insert(number, Station { peer, last_heard });
        number
    }

    /// Forgets a stream.
    pub(super) fn forget(&mut self, stream: u64) {
        self.stations.retain(|_, station| station.peer != Peer::Stream(stream));
    }

    /// Runs until the device is at rest, or the bound of simulated time. `tick` is called now and
    /// then, and may end it.
    pub(super) fn run(
        &mut self,
        status: &mut ServeStatus,
        period: Duration,
        tick: &mut dyn FnMut(&ServeStatus) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, RoadError> {
        let before = self.simulation.statistics();
        let limit = Limit {
            simulated: Some(self.simulation.now().saturating_add(self.limit)),
            wall: Some(period),
        };
        let flow = loop {
            match self.simulation.run_until_idle(&limit) {
                Ok(Stop::Idle | Stop::Done) => break ControlFlow::Continue(()),
                Ok(Stop::TimeReached) => {
                    status.errors += 1;
                    break ControlFlow::Continue(());
                }
                Err(SimError::WallTimeLimit { .. }) => {
                    if tick(status).is_break() {
                        break ControlFlow::Break(());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        };
        let after = self.simulation.statistics();
        let wall = after.wall_s - before.wall_s;
        if wall > 0.0 {
            let cycles = after.evaluated_cycles - before.evaluated_cycles;
            status.cycles_per_s = cycles as f64 / wall;
        }
        status.device_cycles = after.evaluated_cycles;
        status.simulated_ps = self.simulation.now().0;
        // The logs of a measurement would grow for as long as the server runs.
        drop((self.simulation.spans().take(), self.simulation.probes().take()));
        Ok(flow)
    }

    /// Everything that came out of the device.
    pub(super) fn take(&mut self) -> Vec<Output> {
        let frames = self.endpoint.take();
        frames.into_iter().map(|frame| self.output(frame.bytes)).collect()
    }

    fn output(&self, frame: Vec<u8>) -> Output {
        let Some(number) = frame.get(..6).and_then(station_of) else {
            return Output::Frame(frame);
        };
        let Ok(Packet::Udp(udp)) = packet::parse(&frame) else { return Output::Lost };
        let port = udp.destination.port();
        // The number may have passed to another sender since.
        let theirs = |own: u16| self.reply_port.unwrap_or(own) == port;
        match self.stations.get(&number).map(|station| station.peer) {
            Some(Peer::Udp(peer)) if theirs(peer.port()) => {
                Output::Datagram(SocketAddr::new(peer.ip(), port), udp.payload)
            }
            Some(Peer::Stream(stream)) if theirs(STREAM_PORT) => {
                Output::Stream(stream, udp.payload)
            }
            _ => Output::Lost,
        }
    }
}

/// Addresses of the simulated stations: 10.0.0.0/16 and locally administered MACs.
fn station_ip(number: u16) -> Ipv4Addr {
    let [high, low] = number.to_be_bytes();
    Ipv4Addr::new(10, 0, high, low)
}

fn station_mac(number: u16) -> MacAddress {
    let [high, low] = number.to_be_bytes();
    MacAddress([2, 0, 0, 1, high, low])
}

fn station_of(mac: &[u8]) -> Option<u16> {
    match *mac {
        [2, 0, 0, 1, high, low] => Some(u16::from_be_bytes([high, low])),
        _ => None,
    }
}
