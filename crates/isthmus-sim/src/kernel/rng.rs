// SPDX-License-Identifier: Apache-2.0
//! Named random streams of one seed: what one model draws never shifts what another draws.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// A stream of random numbers, named by its user.
#[derive(Clone, Debug)]
pub struct RandomStream(ChaCha8Rng);

impl RandomStream {
    /// The stream `name` of `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(fnv1a(name));
        Self(rng)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `[0, 1)`, with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Uniform in `0..bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // Multiply-shift: its bias is below bound / 2^64.
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// How many trials of probability `p` fail before one succeeds.
    pub fn failures_before_success(&mut self, p: f64) -> u64 {
        if p <= 0.0 {
            return u64::MAX;
        }
        if p >= 1.0 {
            return 0;
        }
        // ln of (0, 1]: never of zero. The cast saturates.
        ((1.0 - self.unit()).ln() / (-p).ln_1p()) as u64
    }

    /// Exponentially distributed with the given mean: gaps of a Poisson arrival process.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -(1.0 - self.unit()).ln() * mean
    }
}

fn fnv1a(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_name_give_one_stream() {
        let draw = |seed, name| {
            let mut stream = RandomStream::new(seed, name);
            [stream.bits(), stream.bits(), stream.bits()]
        };
        assert_eq!(draw(1, "cable"), draw(1, "cable"));
        assert_ne!(draw(1, "cable"), draw(2, "cable"));
        assert_ne!(draw(1, "cable"), draw(1, "switch"));
    }

    #[test]
    fn failures_before_success_have_the_mean_of_a_geometric_distribution() {
        let mut stream = RandomStream::new(7, "geometric");
        let draws = 20_000;
        let total: u64 = (0..draws).map(|_| stream.failures_before_success(0.01)).sum();
        let mean = total as f64 / f64::from(draws);
        assert!((mean - 99.0).abs() < 3.0, "mean {mean}");
        assert_eq!(stream.failures_before_success(0.0), u64::MAX);
        assert_eq!(stream.failures_before_success(1.0), 0);
    }

    #[test]
    fn numbers_below_a_bound_stay_below_it() {
        let mut stream = RandomStream::new(7, "below");
        assert!((0..1_000).all(|_| stream.below(3) < 3));
        assert_eq!(stream.below(0), 0);
    }
}
