// SPDX-License-Identifier: Apache-2.0
//! The FPGA of a scenario as a device of the simulation: what all buses have in common.

use std::path::PathBuf;

use isthmus_sim::world::{GmiiPhy, PhyConfig};
use isthmus_sim::{ClockConfig, DeviceConfig, DeviceHandle, SimError, Simulation};

use super::scenario::{Dialect, EtherboneDevice, Fpga, GigePhy};
use crate::model::MakeModel;

/// Nominal rate of GMII's receive clock (IEEE 802.3 clause 35.2.2.2).
const GMII_CLOCK_HZ: u64 = 125_000_000;

/// Adds the device to the world. `clocks`: its clocks in addition to `clk_i`, by port, in hertz.
/// `cfg`: its configuration inputs by name.
pub(super) fn attach(
    simulation: &Simulation,
    device: &EtherboneDevice,
    fpga: &Fpga,
    clocks: &[(&str, u64)],
    cfg: &[(&str, u64)],
    waveform: Option<PathBuf>,
    make_model: MakeModel<'_>,
) -> Result<DeviceHandle, SimError> {
    let main = ClockConfig {
        port: "clk_i".to_owned(),
        frequency_hz: (fpga.clock_mhz * 1e6).round() as u64,
        offset_ppm: fpga.clock_offset_ppm,
        phase_ps: 0,
    };
    let others = clocks.iter().map(|(port, frequency_hz)| ClockConfig {
        port: (*port).to_owned(),
        frequency_hz: *frequency_hz,
        offset_ppm: 0.0,
        phase_ps: 0,
    });
    let config = DeviceConfig {
        name: "fpga".to_owned(),
        model_path: device.model_path.clone(),
        clocks: std::iter::once(main).chain(others).collect(),
        reset_cycles: device.reset_cycles,
        cfg: cfg.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        epoch_ns: fpga.epoch_s.saturating_mul(1_000_000_000),
        trace: waveform.clone(),
        resets: device.resets.clone(),
        holds: device.holds.clone(),
    };
    let model = make_model(&device.model_path, waveform.as_deref())?;
    simulation.add_model(model, &config)
}

/// A device with one Gigabit port, and its PHY.
pub(super) fn attach_gige(
    simulation: &Simulation,
    device: &EtherboneDevice,
    fpga: &Fpga,
    phy: &GigePhy,
    waveform: Option<PathBuf>,
    make_model: MakeModel<'_>,
) -> Result<(DeviceHandle, GmiiPhy), SimError> {
    let cfg = [
        ("mac", device.mac.as_u64()),
        ("ip", u64::from(u32::from(device.ip))),
        ("netmask", u64::from(u32::from(device.netmask))),
        ("udp_port", u64::from(device.udp_port)),
        ("dialect", u64::from(device.dialect == Dialect::Litex)),
        ("reply_port", u64::from(device.reply_port)),
    ];
    let clocks = [("gmii_rx_clk_i", GMII_CLOCK_HZ)];
    let device = attach(simulation, device, fpga, &clocks, &cfg, waveform, make_model)?;
    let config = PhyConfig {
        name: "phy".to_owned(),
        transmit_latency_ns: phy.tx_ns,
        receive_latency_ns: phy.rx_ns,
    };
    let phy = GmiiPhy::attach(simulation, &device, "gmii", &config)?;
    Ok((device, phy))
}
