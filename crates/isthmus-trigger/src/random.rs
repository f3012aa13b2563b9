// SPDX-License-Identifier: Apache-2.0
//! Random numbers by counter: the same numbers on every processor, in any order of events.
//!
//! Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). What is
//! made of them uses only additions, multiplications, divisions and square roots of IEEE doubles, so that
//! any language that rounds to nearest gives the same bits.

/// One block of four random words: ten rounds of Philox 4x32.
#[must_use]
pub fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
        }
        let a = u64::from(counter[0]) * 0xD251_1F53;
        let b = u64::from(counter[2]) * 0xCD9E_8D57;
        counter = [
            (b >> 32) as u32 ^ counter[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ counter[3] ^ key[1],
            a as u32,
        ];
    }
    counter
}

/// The random numbers of one event: blocks (event, 0), (event, 1), ... under the seed.
#[derive(Clone, Debug)]
pub struct Draws {
    key: [u32; 2],
    event: u64,
    block: u32,
    words: [u32; 4],
    used: usize,
}

impl Draws {
    /// Those of event `event` under `seed`.
    #[must_use]
    pub fn new(seed: u64, event: u64) -> Self {
        Self { key: [seed as u32, (seed >> 32) as u32], event, block: 0, words: [0; 4], used: 4 }
    }

    /// The next 32 random bits.
    pub fn word(&mut self) -> u32 {
        if self.used == 4 {
            let counter = [self.event as u32, (self.event >> 32) as u32, self.block, 0];
            self.words = philox(counter, self.key);
            self.block = self.block.wrapping_add(1);
            self.used = 0;
        }
        self.used += 1;
        self.words[self.used - 1]
    }

    /// Uniform in (0, 1): never an end.
    pub fn uniform(&mut self) -> f64 {
        (f64::from(self.word()) + 0.5) / 4_294_967_296.0
    }

    /// An integer below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.word()) * u64::from(bound)) >> 32) as u32
    }

    /// Near to normal, mean 0, standard deviation 1: the sum of twelve uniform numbers, less 6.
    pub fn normal(&mut self) -> f64 {
        let mut sum = 0u32;
        for _ in 0..6 {
            let word = self.word();
            sum += (word & 0xFFFF) + (word >> 16);
        }
        // The twelve lattice offsets of half a step each.
        (f64::from(sum) + 6.0) / 65_536.0 - 6.0
    }

    /// Cosine and sine of a uniform angle.
    pub fn direction(&mut self) -> (f64, f64) {
        cos_sin(self.word())
    }

    /// Poisson with this mean, by inversion.
    pub fn poisson(&mut self, mean: f64) -> u32 {
        let wanted = self.uniform();
        let mut probability = exp_minus(mean);
        let mut below = probability;
        let mut count = 0;
        while wanted > below && count < 1000 {
            count += 1;
            probability = probability * mean / f64::from(count);
            below += probability;
        }
        count
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -ln(self.uniform())
    }
}

/// Cosine and sine of `turn` / 2^32 turns.
#[must_use]
pub fn cos_sin(turn: u32) -> (f64, f64) {
    // Within an eighth of a turn of the nearest quarter.
    let quarter = turn.wrapping_add(1 << 29) >> 30;
    let rest = turn.wrapping_sub(quarter << 30) as i32;
    let x = f64::from(rest) * (std::f64::consts::TAU / 4_294_967_296.0);
    let y = x * x;
    let (mut cos, mut sin) = (0.0, 0.0);
    for k in (1..=8u32).rev() {
        let n = f64::from(2 * k);
        cos = (1.0 + cos) * -y / (n * (n - 1.0));
        sin = (1.0 + sin) * -y / (n * (n + 1.0));
    }
    let (cos, sin) = (1.0 + cos, x * (1.0 + sin));
    match quarter {
        0 => (cos, sin),
        1 => (-sin, cos),
        2 => (-cos, -sin),
        _ => (sin, -cos),
    }
}

/// e^-x for x >= 0.
pub(crate) fn exp_minus(x: f64) -> f64 {
    let part = -x / 1024.0;
    let mut value = 1.0;
    for k in (1..=10u32).rev() {
        value = 1.0 + value * part / f64::from(k);
    }
    for _ in 0..10 {
        value *= value;
    }
    value
}

/// Natural logarithm of x in (0, 1].
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i32 - 1022;
    // Mantissa in [0.5, 1): 2 atanh((m - 1) / (m + 1)).
    let m = f64::from_bits(bits & 0x000F_FFFF_FFFF_FFFF | 1022 << 52);
    let t = (m - 1.0) / (m + 1.0);
    let mut sum = 0.0;
    for k in (0..=20u32).rev() {
        sum = sum * (t * t) + 1.0 / f64::from(2 * k + 1);
    }
    2.0 * t * sum + f64::from(exponent) * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_gives_the_known_answers_of_its_authors() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([!0; 4], [!0; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn functions_of_draws_are_those_of_the_library_to_a_trillionth() {
        for k in 0..1000u32 {
            let turn = k.wrapping_mul(4_294_967);
            let angle = f64::from(turn) * std::f64::consts::TAU / 4_294_967_296.0;
            let (cos, sin) = cos_sin(turn);
            assert!(
                (cos - angle.cos()).abs() < 1e-12 && (sin - angle.sin()).abs() < 1e-12,
                "{angle}"
            );
            let x = f64::from(k) / 20.0;
            assert!((exp_minus(x) / (-x).exp() - 1.0).abs() < 1e-11, "{x}");
            let u = (f64::from(k) + 0.5) / 1000.0;
            assert!((ln(u) - u.ln()).abs() < 1e-12, "{u}");
        }
    }

    #[test]
    fn draws_have_the_mean_and_the_spread_of_their_kind() {
        let n = 20_000;
        let mut d = Draws::new(7, 0);
        let spread = |values: Vec<f64>| {
            let mean = values.iter().sum::<f64>() / f64::from(n);
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / f64::from(n);
            (mean, variance)
        };
        // Five standard errors of the mean, and of the variance with it.
        let near = |(mean, variance): (f64, f64), expected: (f64, f64), fourth: f64| {
            let n = f64::from(n);
            assert!((mean - expected.0).abs() < 5.0 * (expected.1 / n).sqrt(), "{mean}");
            assert!(
                (variance - expected.1).abs() < 5.0 * expected.1 * (fourth / n).sqrt(),
                "{variance}"
            );
        };
        near(spread((0..n).map(|_| d.uniform()).collect()), (0.5, 1.0 / 12.0), 1.8);
        near(spread((0..n).map(|_| d.normal()).collect()), (0.0, 1.0), 3.0);
        near(spread((0..n).map(|_| f64::from(d.poisson(18.0))).collect()), (18.0, 18.0), 3.1);
        near(spread((0..n).map(|_| d.exponential()).collect()), (1.0, 1.0), 9.0);
    }
}
