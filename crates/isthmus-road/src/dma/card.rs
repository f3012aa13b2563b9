// SPDX-License-Identifier: Apache-2.0
//! The FPGA on PCIe: its gateware, its link, and what it says of itself.

use std::path::Path;

use isthmus_sim::kernel::OutputPin;
use isthmus_sim::{DeviceHandle, Simulation};

use crate::error::RoadError;
use crate::model::{Board, MakeModel, clock};
use crate::platform::PcieMemory;

/// An FPGA with a DMA engine, and where it is.
#[derive(Clone, Copy)]
pub(crate) struct Card<'a> {
    /// The shared object of its model.
    pub(crate) model_path: &'a Path,
    pub(crate) reset_cycles: u32,
    pub(crate) waveform: Option<&'a Path>,
    /// Of its logic and of its hard block's user side.
    pub(crate) clock_mhz: f64,
    pub(crate) pcie: PcieMemory,
}

impl Card<'_> {
    /// Adds it to a simulation.
    pub(crate) fn add(
        &self,
        simulation: &Simulation,
        make_model: MakeModel<'_>,
    ) -> Result<DeviceHandle, RoadError> {
        let board = Board {
            waveform: self.waveform,
            ..Board::new(
                "fpga".to_owned(),
                self.model_path,
                vec![clock("clk_i", self.clock_mhz)],
                self.reset_cycles,
            )
        };
        Ok(board.add(simulation, make_model)?)
    }
}

/// What the engine says of itself.
pub(crate) struct Status {
    /// Lines that it read with other bytes than the pattern's.
    wrong: OutputPin,
    fail: OutputPin,
}

impl Status {
    pub(crate) fn new(device: &DeviceHandle) -> Result<Self, RoadError> {
        let (wrong, fail) =
            (device.output("status_wrong_o", 32)?, device.output("status_fail_o", 1)?);
        Ok(Self { wrong, fail })
    }

    /// What is wrong, if anything is. The engine compares each line that it reads: of `descriptors`, which are none
    /// of the pattern's, every one differs. `at_rest`: all of them have been compared.
    pub(crate) fn problem(&self, descriptors: u64, at_rest: bool) -> Option<String> {
        let differ = self.wrong.get();
        if differ > descriptors {
            let lines = differ - descriptors;
            return Some(format!("{lines} lines came to the FPGA with wrong bytes"));
        }
        if at_rest && differ < descriptors {
            let less = descriptors - differ;
            return Some(format!("{less} descriptors came to the FPGA as data"));
        }
        (self.fail.get() != 0).then(|| "the FPGA's contract with its block broke".to_owned())
    }
}
