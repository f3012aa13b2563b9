// SPDX-License-Identifier: Apache-2.0
//! A simulated FPGA behind a real UDP socket.
//!
//! Each datagram becomes a frame on the FPGA's wire, as if its sender sat on the other end of the
//! cable; simulated time runs until the device is at rest again, and what comes out goes back to
//! the sender. Simulated time stands still between datagrams.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use isthmus_host::etherbone::UDP_MTU;
use isthmus_sim::world::packet::{self, Packet, Udp};
use isthmus_sim::world::{Cable, CableConfig, EndpointConfig, FrameEndpoint, MacAddress};
use isthmus_sim::{Limit, Picoseconds, SimConfig, SimError, Simulation, Stop};

use crate::device::{self, MakeModel};
use crate::error::RoadError;
use crate::scenario::{self, Device, Fpga, Phy, RoadName};

/// How often the watcher is called at least.
const TICK: Duration = Duration::from_millis(200);
/// Datagrams taken together, so that a client that keeps many in flight gets its pipeline.
const BATCH: usize = 16;
/// International Atomic Time is ahead of UTC by this since 2017.
const TAI_MINUS_UTC_S: u64 = 37;

/// What to serve, and where.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeScenario {
    /// Which road.
    pub road: RoadName,
    /// The address to bind; port 0 picks a free one.
    pub bind: SocketAddr,
    /// Seed of all random streams.
    pub seed: u64,
    /// The FPGA.
    pub device: Device,
    /// Its clock.
    #[serde(default = "default_clock")]
    pub clock_mhz: f64,
    /// TAI seconds at the start; the machine's clock if absent.
    #[serde(default)]
    pub epoch_s: Option<u64>,
    /// Simulated time after which a batch of datagrams is given up.
    #[serde(default = "default_bound")]
    pub datagram_limit_us: u64,
    /// Senders that are remembered; the one that was silent longest makes room.
    #[serde(default = "default_clients")]
    pub max_clients: usize,
}

const fn default_clock() -> f64 {
    125.0
}
const fn default_bound() -> u64 {
    20_000
}
const fn default_clients() -> usize {
    64
}

/// What a server counted so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServeStatus {
    /// Where it listens.
    pub address: SocketAddr,
    /// Senders it remembers.
    pub clients: usize,
    /// Datagrams received.
    pub datagrams: u64,
    /// Datagrams sent back.
    pub replies: u64,
    /// Datagrams refused, given up or not deliverable.
    pub errors: u64,
    /// Device cycles evaluated.
    pub device_cycles: u64,
    /// Device cycles evaluated a second of wall time, while anything was simulated.
    pub cycles_per_s: f64,
    /// Simulated time.
    pub simulated_ps: u64,
}

impl ServeStatus {
    /// As a JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Called when the socket is open and then a few times a second; `Break` ends the server.
pub type ServeWatch<'a> = &'a mut dyn FnMut(&ServeStatus) -> ControlFlow<()>;

/// Serves a scenario given as JSON until `watch` breaks.
///
/// # Errors
/// When the scenario is wrong, the address is taken, or the simulation fails.
pub fn serve_json(json: &str, watch: ServeWatch<'_>) -> Result<(), RoadError> {
    serve_with(&scenario::parse(json)?, &device::load, watch)
}

/// Serves a scenario, with models that the caller makes.
///
/// # Errors
/// As [`serve_json`].
pub fn serve_with(
    scenario: &ServeScenario,
    make_model: MakeModel<'_>,
    watch: ServeWatch<'_>,
) -> Result<(), RoadError> {
    Server::open(scenario, make_model)?.run(watch)
}

/// A sender, and the station it is on the simulated wire.
struct Client {
    peer: SocketAddr,
    last_heard: u64,
}

struct Server<'a> {
    scenario: &'a ServeScenario,
    socket: UdpSocket,
    simulation: Simulation,
    endpoint: FrameEndpoint,
    /// By the number that makes a client's simulated addresses.
    clients: BTreeMap<u16, Client>,
    status: ServeStatus,
}

impl<'a> Server<'a> {
    fn open(scenario: &'a ServeScenario, make_model: MakeModel<'_>) -> Result<Self, RoadError> {
        scenario.device.check()?;
        for (key, value, low, high) in [
            ("clock_mhz", scenario.clock_mhz, 1.0, 1_000.0),
            ("datagram_limit_us", scenario.datagram_limit_us as f64, 1.0, 10_000_000.0),
            ("max_clients", scenario.max_clients as f64, 1.0, 4_096.0),
        ] {
            if !(low..=high).contains(&value) {
                let reason = format!("{value} is outside {low} to {high}");
                return Err(RoadError::scenario(key, reason));
            }
        }
        let simulation = Simulation::new(SimConfig {
            seed: scenario.seed,
            skip_idle: true,
            check_idle: false,
            idle_confirm_cycles: 16,
            wake_cycles: 8,
            simulated_limit_ps: None,
            wall_limit_ms: None,
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
        let phy = Phy { tx_ns: 0.0, rx_ns: 8.0 };
        let (_, phy) =
            device::attach_gige(&simulation, &scenario.device, &fpga, &phy, None, make_model)?;
        let endpoint = FrameEndpoint::new(
            &simulation,
            &EndpointConfig {
                name: "socket".to_owned(),
                bit_rate_bit_s: 1_000_000_000,
                queue_bytes: 2 * (BATCH * (UDP_MTU + 66)) as u64,
            },
        )?;
        let cable = CableConfig {
            name: "cable".to_owned(),
            length_m: 0.0,
            delay_ns_per_m: 0.0,
            fault_delay_ns: 0.0,
        };
        Cable::connect(&simulation, &endpoint, &phy, &cable)?;
        // The socket is opened last: whoever can connect finds a device that answers.
        simulation.run_for(Picoseconds::from_us(10))?;
        let io = |action: &str, source| RoadError::Io {
            action: format!("{action} udp {}", scenario.bind),
            source,
        };
        let socket = UdpSocket::bind(scenario.bind).map_err(|e| io("bind", e))?;
        socket.set_read_timeout(Some(TICK)).map_err(|e| io("set the time-out of", e))?;
        let address = socket.local_addr().map_err(|e| io("ask the address of", e))?;
        let status = ServeStatus {
            address,
            clients: 0,
            datagrams: 0,
            replies: 0,
            errors: 0,
            device_cycles: 0,
            cycles_per_s: 0.0,
            simulated_ps: 0,
        };
        Ok(Self { scenario, socket, simulation, endpoint, clients: BTreeMap::new(), status })
    }

    fn run(mut self, watch: ServeWatch<'_>) -> Result<(), RoadError> {
        if watch(&self.status).is_break() {
            return Ok(());
        }
        let mut told = std::time::Instant::now();
        loop {
            if self.take_datagrams()? && self.simulate(watch)?.is_break() {
                return Ok(());
            }
            self.send_replies();
            if told.elapsed() >= TICK {
                told = std::time::Instant::now();
                if watch(&self.status).is_break() {
                    return Ok(());
                }
            }
        }
    }

    /// Waits for a datagram, and takes those that came with it. Whether there was one.
    fn take_datagrams(&mut self) -> Result<bool, RoadError> {
        // One byte more than is allowed shows what is too long.
        let mut buffer = [0; UDP_MTU + 1];
        for position in 0..BATCH {
            let received = match position {
                0 => self.socket.recv_from(&mut buffer),
                _ => self
                    .socket
                    .set_nonblocking(true)
                    .and_then(|()| self.socket.recv_from(&mut buffer)),
            };
            match received {
                Ok((length, peer)) => self.put_on_wire(&buffer[..length], peer),
                Err(error) => {
                    self.socket.set_nonblocking(false).map_err(|e| self.io(e))?;
                    return match error.kind() {
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
                            Ok(position > 0)
                        }
                        // A client is gone: its system answered an earlier reply so.
                        ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused => {
                            self.status.errors += 1;
                            Ok(position > 0)
                        }
                        _ => Err(self.io(error)),
                    };
                }
            }
        }
        self.socket.set_nonblocking(false).map_err(|e| self.io(e))?;
        Ok(true)
    }

    fn io(&self, source: std::io::Error) -> RoadError {
        RoadError::Io { action: format!("receive on udp {}", self.status.address), source }
    }

    fn put_on_wire(&mut self, payload: &[u8], peer: SocketAddr) {
        self.status.datagrams += 1;
        if payload.len() > UDP_MTU {
            self.status.errors += 1;
            return;
        }
        let station = self.station(peer);
        let frame = Udp {
            source_mac: station_mac(station),
            destination_mac: self.scenario.device.mac,
            source: SocketAddrV4::new(station_ip(station), peer.port()),
            destination: SocketAddrV4::new(self.scenario.device.ip, self.scenario.device.udp_port),
            payload: payload.to_vec(),
        }
        .to_frame();
        if frame.and_then(|frame| self.endpoint.send(&frame)).is_none() {
            self.status.errors += 1;
        }
    }

    /// The station number of a sender, new or known.
    fn station(&mut self, peer: SocketAddr) -> u16 {
        let heard = self.status.datagrams;
        if let Some((number, client)) = self.clients.iter_mut().find(|(_, c)| c.peer == peer) {
            client.last_heard = heard;
            return *number;
        }
        let number = match self.clients.iter().min_by_key(|(_, client)| client.last_heard) {
            Some((silent, _)) if self.clients.len() >= self.scenario.max_clients => *silent,
            // At most 4096 stations: there is always a free number.
            _ => (0..=u16::MAX).find(|n| !self.clients.contains_key(n)).unwrap_or_default(),
        };
        self.clients.insert(number, Client { peer, last_heard: heard });
        self.status.clients = self.clients.len();
        number
    }

    /// Runs until the device is at rest, or the bound of simulated time.
    fn simulate(&mut self, watch: ServeWatch<'_>) -> Result<ControlFlow<()>, RoadError> {
        let bound = Picoseconds::from_us(self.scenario.datagram_limit_us);
        let before = self.simulation.statistics();
        let limit = Limit {
            simulated: Some(self.simulation.now().saturating_add(bound)),
            wall: Some(TICK),
        };
        let flow = loop {
            match self.simulation.run_until_idle(&limit) {
                Ok(Stop::Idle | Stop::Done) => break ControlFlow::Continue(()),
                Ok(Stop::TimeReached) => {
                    self.status.errors += 1;
                    break ControlFlow::Continue(());
                }
                Err(SimError::WallTimeLimit { .. }) => {
                    if watch(&self.status).is_break() {
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
            self.status.cycles_per_s = cycles as f64 / wall;
        }
        self.status.device_cycles = after.evaluated_cycles;
        self.status.simulated_ps = self.simulation.now().0;
        // The logs of a measurement would grow for as long as the server runs.
        drop((self.simulation.spans().take(), self.simulation.probes().take()));
        Ok(flow)
    }

    fn send_replies(&mut self) {
        for frame in self.endpoint.take() {
            let Ok(Packet::Udp(udp)) = packet::parse(&frame.bytes) else { continue };
            let station = station_of(*udp.destination.ip());
            let peer = station.and_then(|number| self.clients.get(&number)).map(|c| c.peer);
            match peer.filter(|peer| peer.port() == udp.destination.port()) {
                Some(peer) if self.socket.send_to(&udp.payload, peer).is_ok() => {
                    self.status.replies += 1;
                }
                _ => self.status.errors += 1,
            }
        }
    }
}

/// Addresses of the simulated stations: 10.0.0.0/16 and locally administered MACs.
fn station_ip(number: u16) -> Ipv4Addr {
    let [high, low] = number.to_be_bytes();
    Ipv4Addr::new(10, 0, high, low)
}

fn station_of(ip: Ipv4Addr) -> Option<u16> {
    match ip.octets() {
        [10, 0, high, low] => Some(u16::from_be_bytes([high, low])),
        _ => None,
    }
}

fn station_mac(number: u16) -> MacAddress {
    let [high, low] = number.to_be_bytes();
    MacAddress([2, 0, 0, 1, high, low])
}
