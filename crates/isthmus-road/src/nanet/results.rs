// SPDX-License-Identifier: Apache-2.0
//! The interface's result pins.

use std::cell::RefCell;
use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{DeviceHandle, OutputPin, PinAgent, SimError};

/// Words that came out, and when.
#[derive(Clone, Default)]
pub(crate) struct ResultPins(Rc<RefCell<Vec<(Picoseconds, u32)>>>);

struct Agent {
    valid: OutputPin,
    word: OutputPin,
    seen: ResultPins,
}

impl ResultPins {
    /// Watches the pins of a device.
    pub(crate) fn attach(device: &DeviceHandle) -> Result<Self, SimError> {
        let seen = Self::default();
        let agent = Agent {
            valid: device.output("result_valid_o", 1)?,
            word: device.output("result_o", 32)?,
            seen: seen.clone(),
        };
        device.attach("clk_i", Box::new(agent))?;
        Ok(seen)
    }

    /// How many came.
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Takes them.
    pub(crate) fn take(&self) -> Vec<(Picoseconds, u32)> {
        self.0.take()
    }
}

impl PinAgent for Agent {
    fn sample(&mut self, time: Picoseconds) {
        if self.valid.get() != 0 {
            self.seen.0.borrow_mut().push((time, self.word.get() as u32));
        }
    }

    fn drive(&mut self, _: Picoseconds) {}

    fn quiet(&self) -> bool {
        true
    }
}
