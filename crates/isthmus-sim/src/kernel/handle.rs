// SPDX-License-Identifier: Apache-2.0
//! A device as models of the world and host programs see it.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::device::{Attached, Device, PinAgent};
use super::error::SimError;
use super::model::Description;
use super::pin::{InputPin, OutputPin};
use super::setup::ResetSpec;
use super::simulation::Sim;
use super::units::Picoseconds;

/// A device of a simulation.
#[derive(Clone)]
pub struct DeviceHandle {
    sim: Sim,
    device: Rc<Device>,
}

impl DeviceHandle {
    pub(crate) fn new(sim: &Sim, device: Rc<Device>) -> Self {
        Self { sim: sim.clone(), device }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.device.name
    }

    /// Its number, as probe records carry it.
    #[must_use]
    pub fn index(&self) -> u16 {
        self.device.index as u16
    }

    /// The description of its model.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.device.description
    }

    /// The names of its probes' stages.
    #[must_use]
    pub fn stages(&self) -> &[String] {
        &self.device.description.probes
    }

    /// The handle of an input port.
    ///
    /// # Errors
    /// When there is no such input, or it has another width.
    pub fn input(&self, port: &str, width: u32) -> Result<InputPin, SimError> {
        let pin = self.device.inputs.get(port).cloned();
        let found = pin.as_ref().map(InputPin::width);
        pin.filter(|pin| pin.width() == width)
            .ok_or_else(|| self.port_error("input", port, width, found))
    }

    /// The handle of an output port.
    ///
    /// # Errors
    /// When there is no such output, or it has another width.
    pub fn output(&self, port: &str, width: u32) -> Result<OutputPin, SimError> {
        let pin = self.device.outputs.get(port).cloned();
        let found = pin.as_ref().map(OutputPin::width);
        pin.filter(|pin| pin.width() == width)
            .ok_or_else(|| self.port_error("output", port, width, found))
    }

    /// Attaches an agent to the pins; it runs at the rising edges of `clock`.
    ///
    /// # Errors
    /// When the device has no such clock.
    pub fn attach(&self, clock: &str, agent: Box<dyn PinAgent>) -> Result<(), SimError> {
        let hot = &mut *self.device.hot.borrow_mut();
        let Some(clock) = hot.clocks.iter().position(|known| known.name == clock) else {
            return Err(self.error(format!("has no clock {clock}")));
        };
        hot.agents.push(Attached { clock: clock as u32, agent });
        Ok(())
    }

    /// One period of a clock, in whole picoseconds; `None` when the device has no such clock.
    #[must_use]
    pub fn clock_period(&self, clock: &str) -> Option<Picoseconds> {
        let hot = self.device.hot.borrow();
        let clock = hot.clocks.iter().find(|known| known.name == clock)?;
        Some(clock.grid.time(2) - clock.grid.time(0))
    }

    /// Call this before an input changes through anything but an agent's `drive`, and when an
    /// agent that was quiet has something to drive.
    pub fn wake(&self) {
        self.device.wake();
    }

    /// Sets bit `index` of `trigger_i`, now.
    ///
    /// # Errors
    /// When the device has no such trigger input.
    pub fn trigger(&self, index: u32, level: bool) -> Result<(), SimError> {
        let pin = self.trigger_pin(index)?;
        self.device.wake();
        set_bit(&pin, index, level);
        Ok(())
    }

    /// Raises bit `index` of `trigger_i` at `at`, and lowers it after `width`.
    ///
    /// # Errors
    /// When the device has no such trigger input.
    pub fn pulse(&self, index: u32, at: Picoseconds, width: Picoseconds) -> Result<(), SimError> {
        let pin = self.trigger_pin(index)?;
        for (time, level) in [(at, true), (at.saturating_add(width), false)] {
            let (device, pin) = (Rc::downgrade(&self.device), pin.clone());
            self.sim.at(time, move || {
                if let Some(device) = device.upgrade() {
                    device.wake();
                    set_bit(&pin, index, level);
                }
            });
        }
        Ok(())
    }

    /// Injects a reset.
    pub fn reset_at(&self, reset: ResetSpec) {
        self.device.schedule_reset(reset);
    }

    /// The values of all `status_<name>_o` ports, by `<name>`. A port wider than 64 bits is several
    /// counters of 32 bits, `<name>0` in its lowest.
    #[must_use]
    pub fn status(&self) -> BTreeMap<String, u64> {
        let mut values = BTreeMap::new();
        for (port, pin) in &self.device.outputs {
            let Some(name) = port.strip_prefix("status_").and_then(|rest| rest.strip_suffix("_o"))
            else {
                continue;
            };
            if pin.width() <= 64 {
                values.insert(name.to_owned(), pin.get());
            } else {
                for index in 0..pin.width().div_ceil(32) as usize {
                    values.insert(format!("{name}{index}"), u64::from(pin.word(index)));
                }
            }
        }
        values
    }

    /// Elapsed cycles of `clk_i`, and how many of them were evaluated.
    #[must_use]
    pub fn cycles(&self) -> (u64, u64) {
        (self.device.cycles(self.sim.now()), self.device.evaluated_cycles())
    }

    fn trigger_pin(&self, index: u32) -> Result<InputPin, SimError> {
        match self.device.inputs.get("trigger_i") {
            Some(pin) if index < pin.width().min(64) => Ok(pin.clone()),
            Some(pin) => {
                Err(self
                    .error(format!("trigger {index}: trigger_i has bits 0 to {}", pin.width() - 1)))
            }
            None => Err(self.error("has no port trigger_i".into())),
        }
    }

    fn port_error(&self, kind: &str, port: &str, width: u32, found: Option<u32>) -> SimError {
        self.error(match found {
            Some(found) => format!("{kind} {port} is {found} bits wide: {width} expected"),
            None => format!(
                "the model {} has no {kind} {port} of {width} bits",
                self.device.description.top
            ),
        })
    }

    fn error(&self, reason: String) -> SimError {
        SimError::Device { device: self.device.name.to_string(), reason }
    }
}

fn set_bit(pin: &InputPin, index: u32, level: bool) {
    let bit = 1 << index;
    pin.set(if level { pin.wanted() | bit } else { pin.wanted() & !bit });
}
