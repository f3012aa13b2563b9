// SPDX-License-Identifier: Apache-2.0
//! Where something happened: a simulation and its device.

use isthmus_sim::{DeviceHandle, Simulation};

/// The simulation of a world and its device, without the bus.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) simulation: &'a Simulation,
    pub(super) device: &'a DeviceHandle,
}

impl Scene<'_> {
    /// The name of one of the device's probes.
    pub(super) fn stage(&self, stage: u16) -> Option<&str> {
        self.device.stages().get(usize::from(stage)).map(String::as_str)
    }
}
