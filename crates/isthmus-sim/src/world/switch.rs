// SPDX-License-Identifier: Apache-2.0
//! A store-and-forward Ethernet switch that learns addresses.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use serde::{Deserialize, Serialize};

use super::ethernet::{
    InFlight, MacAddress, Port, ReceiveCheck, Sink, Transmitter, named, to_wire,
};
use crate::kernel::{Picoseconds, Sim, SimError};

/// A switch.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchConfig {
    /// Its name in this world.
    pub name: String,
    /// Its ports.
    pub ports: usize,
    /// The rate of each.
    pub bit_rate_bit_s: u64,
    /// From a frame's last bit in to its first bit out of a free port.
    pub forwarding_latency_ns: f64,
    /// How much waits for each port before frames are dropped; preamble and FCS count.
    pub queue_bytes: u64,
}

struct SwitchPort {
    number: usize,
    port: Port,
    transmitter: Rc<Transmitter>,
    check: ReceiveCheck,
    shared: Weak<Shared>,
}

struct Shared {
    sim: Sim,
    latency: Picoseconds,
    ports: RefCell<Vec<Rc<SwitchPort>>>,
    learned: RefCell<BTreeMap<MacAddress, usize>>,
    stage: Rc<str>,
}

/// A switch: each frame is received whole, its FCS checked, and sent on by its destination's port,
/// or by all others when that is not known. Learned addresses do not age.
pub struct Switch {
    shared: Rc<Shared>,
    ports: Vec<Port>,
}

impl Switch {
    /// A switch with all ports free, which has learned nothing yet.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn new(sim: &Sim, config: &SwitchConfig) -> Result<Self, SimError> {
        let name = named(&config.name)?;
        if !(2..=1_024).contains(&config.ports) {
            let reason = format!("ports = {}: 2 to 1024 expected", config.ports);
            return Err(super::config_error(name, reason));
        }
        let bit_rate = super::bit_rate(name, config.bit_rate_bit_s)?;
        let shared = Rc::new(Shared {
            sim: sim.clone(),
            latency: super::time(name, "forwarding_latency_ns", config.forwarding_latency_ns)?,
            ports: RefCell::default(),
            learned: RefCell::default(),
            stage: "forward".into(),
        });
        let mut ports = Vec::new();
        for number in 0..config.ports {
            let port_name = format!("{name}.port{number}");
            let port = Port::new(sim, &port_name);
            let switch_port = Rc::new(SwitchPort {
                number,
                transmitter: Transmitter::new(sim, &port, bit_rate, config.queue_bytes),
                check: ReceiveCheck::new(sim, &port_name),
                port: port.clone(),
                shared: Rc::downgrade(&shared),
            });
            let weak = Rc::downgrade(&switch_port);
            port.set_sink(weak);
            shared.ports.borrow_mut().push(switch_port);
            ports.push(port);
        }
        sim.keep(shared.clone());
        Ok(Self { shared, ports })
    }

    /// Port `number`.
    ///
    /// # Errors
    /// When there is no such port.
    pub fn port(&self, number: usize) -> Result<&Port, SimError> {
        self.ports.get(number).ok_or_else(|| {
            let name = self.ports[0].name().split('.').next().unwrap_or_default();
            let last = self.ports.len() - 1;
            super::config_error(name, format!("no port {number}: 0 to {last} expected"))
        })
    }

    /// The port behind which an address was seen.
    #[must_use]
    pub fn learned(&self, address: MacAddress) -> Option<usize> {
        self.shared.learned.borrow().get(&address).copied()
    }
}

impl Sink for SwitchPort {
    fn begin(&self, _frame: &Rc<InFlight>) {}

    fn end(&self, frame: &Rc<InFlight>) {
        let Some(shared) = self.shared.upgrade() else { return };
        let Some(bytes) = self.check.frame(frame) else { return };
        let address = |at: usize| {
            let mut octets = [0; 6];
            octets.copy_from_slice(&bytes[at..at + 6]);
            MacAddress(octets)
        };
        let (destination, source) = (address(0), address(6));
        if !source.is_group() {
            shared.learned.borrow_mut().insert(source, self.number);
        }
        let known = shared.learned.borrow().get(&destination).copied();
        let (sim, id, arrived, here) =
            (shared.sim.clone(), frame.id, shared.sim.now(), self.number);
        let name = Rc::clone(self.port.name());
        sim.clone().after(shared.latency, move || {
            let wire = to_wire(&bytes);
            sim.spans().record(&name, &shared.stage, arrived, sim.now(), id.0);
            let ports = shared.ports.borrow();
            match known {
                // Its destination is where it came from: nothing to do.
                Some(out) if out == here => {}
                Some(out) => {
                    ports[out].transmitter.send(id, wire);
                }
                None => {
                    for out in ports.iter() {
                        if out.number != here && out.port.is_connected() {
                            out.transmitter.send(id, wire.clone());
                        }
                    }
                }
            }
        });
    }
}
