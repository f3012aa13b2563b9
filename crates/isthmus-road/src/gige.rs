// SPDX-License-Identifier: Apache-2.0
//! A device with one Gigabit port: what every road over Ethernet has in common.

use std::path::{Path, PathBuf};

use isthmus_sim::kernel::Model;
use isthmus_sim::world::{GmiiPhy, PhyConfig};
use isthmus_sim::{ClockConfig, DeviceConfig, DeviceHandle, SimError, Simulation};

use crate::scenario::{Device, Fpga};

/// Gives the model behind a path. [`load`] for real ones; tests bring their own.
pub type MakeModel<'a> = &'a dyn Fn(&Path, Option<&Path>) -> Result<Box<dyn Model>, SimError>;

/// Loads a Verilated shared object.
///
/// # Errors
/// When it is missing or not a model.
pub fn load(path: &Path, trace: Option<&Path>) -> Result<Box<dyn Model>, SimError> {
    isthmus_sim::kernel::load_model(path, trace)
}

/// Nominal rate of GMII's receive clock (IEEE 802.3 clause 35.2.2.2).
const GMII_CLOCK_HZ: u64 = 125_000_000;

/// A device and its PHY.
pub(crate) struct Attached {
    pub(crate) device: DeviceHandle,
    pub(crate) phy: GmiiPhy,
}

/// Puts the device into the world, with a PHY at its GMII.
pub(crate) fn attach(
    simulation: &Simulation,
    device: &Device,
    fpga: &Fpga,
    waveform: Option<PathBuf>,
    make_model: MakeModel<'_>,
) -> Result<Attached, SimError> {
    let clock = ClockConfig {
        port: "clk_i".to_owned(),
        frequency_hz: (fpga.clock_mhz * 1e6).round() as u64,
        offset_ppm: fpga.clock_offset_ppm,
        phase_ps: 0,
    };
    let receive_clock = ClockConfig {
        port: "gmii_rx_clk_i".to_owned(),
        frequency_hz: GMII_CLOCK_HZ,
        offset_ppm: 0.0,
        phase_ps: 0,
    };
    let cfg = [
        ("mac", device.mac.as_u64()),
        ("ip", u64::from(u32::from(device.ip))),
        ("udp_port", u64::from(device.udp_port)),
    ];
    let config = DeviceConfig {
        name: "fpga".to_owned(),
        model_path: device.model_path.clone(),
        clocks: vec![clock, receive_clock],
        reset_cycles: device.reset_cycles,
        cfg: cfg.map(|(name, value)| (name.to_owned(), value)).into(),
        epoch_ns: fpga.epoch_s.saturating_mul(1_000_000_000),
        trace: waveform.clone(),
        resets: device.resets.clone(),
        holds: device.holds.clone(),
    };
    let model = make_model(&device.model_path, waveform.as_deref())?;
    let device = simulation.add_model(model, &config)?;
    let phy_config = PhyConfig {
        name: "phy".to_owned(),
        transmit_latency_ns: fpga.phy_tx_ns,
        receive_latency_ns: fpga.phy_rx_ns,
    };
    let phy = GmiiPhy::attach(simulation, &device, "gmii", &phy_config)?;
    Ok(Attached { device, phy })
}
