// SPDX-License-Identifier: Apache-2.0
//! A device's AXI4 pins: `bar`, which the host's accesses reach, `dma`, by which the device reaches
//! the host's memory, and `irq_o`. What lies behind them is a [`HostBus`].

mod bar;
mod bus;
mod dma;
mod pins;

use std::rc::Rc;

pub(in crate::world) use bus::{Access, Collect, HostBus, ReadSink};
pub use bus::{BarTarget, DmaError, ReadReply, Taken};

use self::bar::BarAgent;
use self::dma::DmaAgent;
use self::pins::Bundle;
use crate::kernel::{DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, Sim, SimError};

/// Attaches `bus` to those of the ports `bar_...`, `dma_...` and `irq_o` that the device has; all
/// belong to `clock`.
///
/// # Errors
/// When the device has none or no such clock, a bundle is not whole, or a width does not fit.
pub(in crate::world) fn attach(
    sim: &Sim,
    device: &DeviceHandle,
    bus: &Rc<dyn HostBus>,
    clock: &str,
) -> Result<(), SimError> {
    let (bar, dma) = (Bundle { device, name: "bar" }, Bundle { device, name: "dma" });
    let irq = device.description().ports.iter().find(|port| port.name == "irq_o");
    if !bar.exists() && !dma.exists() && irq.is_none() {
        return Err(bar.refuse("has no port of the bundles bar, dma and irq".into()));
    }
    if bar.exists() {
        device.attach(clock, Box::new(BarAgent::new(sim, &bar, bus)?))?;
    }
    if dma.exists() {
        device.attach(clock, Box::new(DmaAgent::new(sim, &dma, bus)?))?;
    }
    if let Some(port) = irq {
        let pin = device.output("irq_o", port.width)?;
        let reset = device.input("rst_ni", 1)?;
        device.attach(clock, Box::new(IrqAgent { bus: Rc::clone(bus), pin, reset }))?;
    }
    Ok(())
}

struct IrqAgent {
    bus: Rc<dyn HostBus>,
    pin: OutputPin,
    reset: InputPin,
}

impl PinAgent for IrqAgent {
    #[inline]
    fn sample(&mut self, _time: Picoseconds) {
        if self.reset.get() == 0 {
            return;
        }
        for word in 0..self.pin.width().div_ceil(32) {
            let strobes = self.pin.word(word as usize);
            for bit in (0..32).filter(|bit| strobes >> bit & 1 == 1) {
                self.bus.interrupt(word * 32 + bit);
            }
        }
    }

    fn drive(&mut self, _time: Picoseconds) {}

    fn quiet(&self) -> bool {
        true
    }
}
