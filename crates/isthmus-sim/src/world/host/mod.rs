// SPDX-License-Identifier: Apache-2.0
//! A computer: cores that take time, a network stack that costs it, memory.

mod combine;
mod cpu;
mod memory;
mod mmio;
mod net;

use std::net::SocketAddrV4;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

pub(crate) use combine::runs;
pub use combine::{LINE_BYTES, WriteCombiner};
pub use cpu::{Cpu, CpuConfig};
pub use memory::{Memory, MemoryConfig, OutOfRange};
pub(in crate::world) use mmio::{MmioBus, OnInterrupt};
pub use mmio::{MmioError, MmioHost, MmioHostConfig};
pub use net::{Datagram, NetConfig, NetError, UdpSocket};

use self::net::NetStack;
use super::ethernet::{EthernetPort, Port, named};
use super::nic::{Nic, NicConfig};
use crate::kernel::{Picoseconds, Sim, SimError};

/// A host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Its name in this world.
    pub name: String,
    /// Its cores.
    pub cpu: CpuConfig,
    /// Its network interface.
    pub nic: NicConfig,
    /// Its network stack.
    pub net: NetConfig,
}

/// A host with one network interface. Clones are the same host.
#[derive(Clone)]
pub struct Host {
    sim: Sim,
    name: Rc<str>,
    cpu: Cpu,
    nic: Nic,
    net: Rc<NetStack>,
}

impl Host {
    /// A host, running and idle.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn new(sim: &Sim, config: &HostConfig) -> Result<Self, SimError> {
        let name: Rc<str> = named(&config.name)?.into();
        let cpu = Cpu::new(sim, &name, &config.cpu)?;
        let nic = Nic::new(sim, &format!("{name}.nic"), &config.nic)?;
        let net = NetStack::new(sim, &name, &cpu, &nic, &config.net)?;
        Ok(Self { sim: sim.clone(), name, cpu, nic, net })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &Rc<str> {
        &self.name
    }

    /// Its cores.
    #[must_use]
    pub fn cpu(&self) -> &Cpu {
        &self.cpu
    }

    /// Its network interface.
    #[must_use]
    pub fn nic(&self) -> &Nic {
        &self.nic
    }

    /// Opens a UDP socket. The address is this host's, or unspecified; port 0 picks a free one.
    ///
    /// # Errors
    /// When the address is another's, or the port is taken.
    pub fn udp_bind(&self, address: SocketAddrV4) -> Result<UdpSocket, NetError> {
        NetStack::bind(&self.net, address)
    }

    /// Occupies a core for this long with the program's own work, and records it as `stage`.
    pub async fn compute(&self, stage: &str, duration: Picoseconds, tag: u64) {
        let start = self.sim.now();
        self.cpu.run(duration).await;
        self.sim.spans().record(&self.name, &stage.into(), start, self.sim.now(), tag);
    }
}

impl EthernetPort for Host {
    fn port(&self) -> &Port {
        self.nic.port()
    }
}
