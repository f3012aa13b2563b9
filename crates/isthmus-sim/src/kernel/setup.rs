// SPDX-License-Identifier: Apache-2.0
//! What a device is set up with: its clocks, its configuration ports and its probes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::clock::{ClockConfig, Grid};
use super::model::Description;
use super::pin::{InputPin, OutputPin};
use super::units::Picoseconds;

/// How a device is set up.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceConfig {
    /// Its name in this world.
    pub name: String,
    /// The shared object of its model.
    #[serde(default)]
    pub model_path: PathBuf,
    /// Its clocks: one for each clock port of the model.
    pub clocks: Vec<ClockConfig>,
    /// How many cycles of `clk_i` a reset lasts.
    pub reset_cycles: u32,
    /// The value of each `cfg_<name>_i` port, by `<name>`.
    #[serde(default)]
    pub cfg: BTreeMap<String, u64>,
    /// Value of `time_ns_i` and `<clock>_time_ns_i` at simulated time zero.
    #[serde(default)]
    pub epoch_ns: u64,
    /// File for a waveform trace; needs a model built for it.
    #[serde(default)]
    pub trace: Option<PathBuf>,
    /// Resets injected during the run.
    #[serde(default)]
    pub resets: Vec<ResetSpec>,
    /// Inputs held at a value for a while.
    #[serde(default)]
    pub holds: Vec<HoldSpec>,
}

/// A reset injected during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetSpec {
    /// When `rst_ni` falls.
    pub at_ps: u64,
    /// After how many rising edges of `clk_i` it rises again.
    pub cycles: u32,
}

/// An input held at a value, regardless of its driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldSpec {
    /// The port's name.
    pub port: String,
    /// The value it is held at.
    pub value: u64,
    /// From when.
    pub from_ps: u64,
    /// Until when; to the end of the run if absent.
    #[serde(default)]
    pub until_ps: Option<u64>,
}

pub(super) const CLOCK: &str = "clk_i";
pub(super) const RESET: &str = "rst_ni";
pub(super) const TIME: &str = "time_ns_i";
pub(super) const CYCLES: &str = "time_cycles_i";

pub(super) fn is_clock(port: &str) -> bool {
    port == CLOCK || port.ends_with("_clk_i")
}

/// Inputs that show the time, which the kernel drives.
pub(super) fn is_time(port: &str) -> bool {
    port == CYCLES || clock_of(port).is_some()
}

/// The clock that a time input belongs to: `<name>_time_ns_i` to `<name>_clk_i`.
pub(super) fn clock_of(port: &str) -> Option<String> {
    port.strip_suffix(TIME).map(|name| format!("{name}{CLOCK}"))
}

pub(super) struct Clock {
    pub(super) name: String,
    pub(super) pin: InputPin,
    pub(super) grid: Grid,
    /// Shows the time of its coming rising edge.
    pub(super) time_pin: Option<InputPin>,
    /// The number of the next edge: even ones rise.
    pub(super) edge: u64,
    pub(super) time: Picoseconds,
}

pub(super) struct ProbePins {
    pub(super) strobes: OutputPin,
    pub(super) tags: OutputPin,
    pub(super) words: usize,
}

pub(super) fn make_clocks(
    config: &DeviceConfig,
    inputs: &BTreeMap<String, InputPin>,
) -> Result<Vec<Clock>, String> {
    let mut clocks: Vec<Clock> = Vec::new();
    for clock in &config.clocks {
        let Some(pin) = inputs.get(&clock.port).filter(|_| is_clock(&clock.port)) else {
            return Err(format!("clock {} is not a clock port of the model", clock.port));
        };
        if clocks.iter().any(|known| known.name == clock.port) {
            return Err(format!("clock {} is configured twice", clock.port));
        }
        let grid = Grid::new(clock).ok_or_else(|| {
            format!(
                "clock {}: {} Hz with {} ppm is not a usable frequency (1 Hz to 500 GHz)",
                clock.port, clock.frequency_hz, clock.offset_ppm
            )
        })?;
        clocks.push(Clock {
            name: clock.port.clone(),
            pin: pin.clone(),
            grid,
            time_pin: clock
                .port
                .strip_suffix(CLOCK)
                .and_then(|name| inputs.get(&format!("{name}{TIME}")).cloned()),
            edge: 0,
            time: Picoseconds::ZERO,
        });
    }
    let missing: Vec<&str> = inputs
        .keys()
        .map(String::as_str)
        .filter(|port| is_clock(port) && !clocks.iter().any(|clock| clock.name == *port))
        .collect();
    if !missing.is_empty() {
        return Err(format!("no frequency is configured for {}", missing.join(", ")));
    }
    if clocks.len() > 32 {
        return Err(format!("{} clocks: at most 32", clocks.len()));
    }
    Ok(clocks)
}

pub(super) fn apply_cfg(
    config: &DeviceConfig,
    inputs: &BTreeMap<String, InputPin>,
) -> Result<(), String> {
    let ports: BTreeMap<&str, &InputPin> = inputs
        .iter()
        .filter_map(|(port, pin)| Some((port.strip_prefix("cfg_")?.strip_suffix("_i")?, pin)))
        .collect();
    for name in config.cfg.keys() {
        if !ports.contains_key(name.as_str()) {
            return Err(format!("cfg {name}: the model has no port cfg_{name}_i"));
        }
    }
    for (name, pin) in ports {
        let Some(&value) = config.cfg.get(name) else {
            return Err(format!("cfg {name} is missing: the model's port cfg_{name}_i needs it"));
        };
        check_width(&format!("cfg {name}"), pin, value)?;
        pin.set(value);
    }
    Ok(())
}

pub(super) fn check_width(what: &str, pin: &InputPin, value: u64) -> Result<(), String> {
    if pin.width() < 64 && value >> pin.width() != 0 {
        return Err(format!("{what}: {value:#x} does not fit into {} bits", pin.width()));
    }
    Ok(())
}

pub(super) fn probe_pins(
    description: &Description,
    outputs: &BTreeMap<String, OutputPin>,
) -> Result<Option<ProbePins>, String> {
    let stages = description.probes.len();
    match (outputs.get("probe_o"), outputs.get("probe_tag_o")) {
        (None, None) if stages == 0 => Ok(None),
        (Some(strobes), Some(tags)) => {
            if strobes.width() as usize != stages || tags.width() as usize != 8 * stages {
                return Err(format!(
                    "probe_o is {} and probe_tag_o {} bits wide, for {stages} stage names: \
                     one and eight bits a stage expected",
                    strobes.width(),
                    tags.width()
                ));
            }
            let words = stages.div_ceil(32);
            Ok(Some(ProbePins { strobes: strobes.clone(), tags: tags.clone(), words }))
        }
        _ => Err("probe_o, probe_tag_o and stage names come together or not at all".into()),
    }
}
