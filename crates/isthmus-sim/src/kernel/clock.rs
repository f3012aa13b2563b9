// SPDX-License-Identifier: Apache-2.0
//! Clock grids: edge times computed from the edge's number, never accumulated.

use serde::{Deserialize, Serialize};

use super::units::{Hertz, Picoseconds};

/// One clock input of a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockConfig {
    /// The port it drives: `clk_i`, or `<x>_clk_i`.
    pub port: String,
    /// Its nominal frequency.
    pub frequency_hz: u64,
    /// Frequency error of the oscillator in parts per million; applied in steps of 0.001.
    #[serde(default)]
    pub offset_ppm: f64,
    /// The time of the first rising edge.
    #[serde(default)]
    pub phase_ps: u64,
}

impl ClockConfig {
    /// A clock without frequency offset, whose first rising edge falls at time zero.
    #[must_use]
    pub fn new(port: &str, frequency: Hertz) -> Self {
        Self { port: port.to_owned(), frequency_hz: frequency.0, offset_ppm: 0.0, phase_ps: 0 }
    }
}

const FRACTION_BITS: u32 = 40;

/// The edges of one clock: number 0 is the first rising edge, 1 the falling edge after it, and so on.
///
/// The half period is a fixed-point number with 40 fractional bits: an edge is off its true time by
/// less than a picosecond after 10^11 edges, and equal numbers give equal times on every machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    half_period: u128,
    phase: u64,
}

impl Grid {
    /// `None` when the frequency gives no usable period (zero, or above 500 GHz).
    pub(crate) fn new(config: &ClockConfig) -> Option<Self> {
        if !config.offset_ppm.is_finite() || config.offset_ppm.abs() > 1e5 {
            return None;
        }
        let parts_per_billion = 1_000_000_000 + (config.offset_ppm * 1_000.0).round() as i128;
        let rate = u128::from(config.frequency_hz) * 2 * parts_per_billion as u128;
        if rate == 0 {
            return None;
        }
        let seconds = (1_000_000_000_000_u128 * 1_000_000_000) << FRACTION_BITS;
        let half_period = (seconds + rate / 2) / rate;
        // A period beyond half a second is a mistake, and would overflow the edge times.
        let usable = (1_u128 << FRACTION_BITS)..(1_u128 << (FRACTION_BITS + 39));
        usable.contains(&half_period).then_some(Self { half_period, phase: config.phase_ps })
    }

    /// The time of edge number `edge`.
    #[inline]
    pub(crate) fn time(&self, edge: u64) -> Picoseconds {
        Picoseconds(self.phase + ((u128::from(edge) * self.half_period) >> FRACTION_BITS) as u64)
    }

    /// The number of the first edge at or after `time`.
    pub(crate) fn first_at_or_after(&self, time: Picoseconds) -> u64 {
        if time.0 <= self.phase {
            return 0;
        }
        let elapsed = u128::from(time.0 - self.phase) << FRACTION_BITS;
        let mut edge = (elapsed / self.half_period) as u64;
        while self.time(edge) < time {
            edge += 1;
        }
        while edge > 0 && self.time(edge - 1) >= time {
            edge -= 1;
        }
        edge
    }

    /// One period, rounded up.
    pub(crate) fn period(&self) -> Picoseconds {
        Picoseconds(((2 * self.half_period) >> FRACTION_BITS) as u64 + 1)
    }

    /// Rising edges at or before `time`.
    pub(crate) fn rising_until(&self, time: Picoseconds) -> u64 {
        self.first_at_or_after(time + Picoseconds(1)).div_ceil(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(frequency_hz: u64, offset_ppm: f64, phase_ps: u64) -> Grid {
        Grid::new(&ClockConfig { port: "clk_i".into(), frequency_hz, offset_ppm, phase_ps })
            .unwrap()
    }

    #[test]
    fn a_125_mhz_clock_rises_every_8000_ps_and_falls_between() {
        let grid = grid(125_000_000, 0.0, 250);
        let times: Vec<u64> = (0..4).map(|edge| grid.time(edge).0).collect();
        assert_eq!(times, [250, 4250, 8250, 12250]);
    }

    #[test]
    fn a_period_that_is_no_whole_number_of_picoseconds_does_not_drift() {
        let grid = grid(3_000_000_000, 0.0, 0);
        // After three thousand million cycles, one second has passed.
        assert!(grid.time(6_000_000_000).0.abs_diff(1_000_000_000_000) <= 1);
    }

    #[test]
    fn twenty_ppm_fast_gains_twenty_cycles_in_a_million() {
        let nominal = grid(125_000_000, 0.0, 0);
        let fast = grid(125_000_000, 20.0, 0);
        // 20 cycles are 40 edges.
        assert!(fast.time(2_000_040).0.abs_diff(nominal.time(2_000_000).0) <= 1);
    }

    #[test]
    fn the_first_edge_at_or_after_a_time_is_on_the_grid() {
        let grid = grid(156_250_000, -37.5, 1234);
        for time in [0, 1, 1233, 1234, 1235, 4434, 999_999, 123_456_789] {
            let edge = grid.first_at_or_after(Picoseconds(time));
            assert!(grid.time(edge).0 >= time);
            assert!(edge == 0 || grid.time(edge - 1).0 < time);
        }
    }

    #[test]
    fn a_frequency_without_a_period_is_refused() {
        for (frequency_hz, offset_ppm) in [(0, 0.0), (u64::MAX, 0.0), (1_000, f64::NAN)] {
            let config = ClockConfig { port: String::new(), frequency_hz, offset_ppm, phase_ps: 0 };
            assert!(Grid::new(&config).is_none());
        }
    }
}
