// SPDX-License-Identifier: Apache-2.0
//! Where the models of devices come from.

use std::path::Path;

use isthmus_sim::kernel::{Model, ResetSpec};
use isthmus_sim::{ClockConfig, DeviceConfig, DeviceHandle, Hertz, SimError, Simulation};

/// Gives the model behind a path. [`load`] for real ones; tests bring their own.
pub type MakeModel<'a> = &'a dyn Fn(&Path, Option<&Path>) -> Result<Box<dyn Model>, SimError>;

/// Loads a Verilated shared object.
///
/// # Errors
/// When it is missing or not a model.
pub fn load(path: &Path, trace: Option<&Path>) -> Result<Box<dyn Model>, SimError> {
    isthmus_sim::kernel::load_model(path, trace)
}

/// A clock of so many MHz.
pub(crate) fn clock(port: &str, mhz: f64) -> ClockConfig {
    ClockConfig::new(port, Hertz((mhz * 1e6).round() as u64))
}

/// A device's gateware, and what is done to it.
pub(crate) struct Board<'a> {
    pub(crate) name: String,
    /// The shared object of its model, and the waveform that it writes.
    pub(crate) model_path: &'a Path,
    pub(crate) waveform: Option<&'a Path>,
    pub(crate) clocks: Vec<ClockConfig>,
    pub(crate) reset_cycles: u32,
    /// What its `cfg_*` inputs are.
    pub(crate) cfg: Vec<(&'a str, u64)>,
    pub(crate) resets: Vec<ResetSpec>,
}

impl<'a> Board<'a> {
    /// One that is left alone.
    pub(crate) fn new(
        name: String,
        model_path: &'a Path,
        clocks: Vec<ClockConfig>,
        reset_cycles: u32,
    ) -> Self {
        let (cfg, resets) = (Vec::new(), Vec::new());
        Self { name, model_path, waveform: None, clocks, reset_cycles, cfg, resets }
    }

    /// Adds it to a simulation.
    pub(crate) fn add(
        self,
        simulation: &Simulation,
        make_model: MakeModel<'_>,
    ) -> Result<DeviceHandle, SimError> {
        let config = DeviceConfig {
            name: self.name,
            model_path: self.model_path.to_owned(),
            clocks: self.clocks,
            reset_cycles: self.reset_cycles,
            cfg: self.cfg.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            epoch_ns: 0,
            trace: self.waveform.map(Path::to_owned),
            resets: self.resets,
            holds: Vec::new(),
        };
        simulation.add_model(make_model(self.model_path, self.waveform)?, &config)
    }
}
