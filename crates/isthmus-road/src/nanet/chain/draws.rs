// SPDX-License-Identifier: Apache-2.0
//! Times from a measured distribution.

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::RandomStream;

/// Draws times, each as often as it was measured.
pub(super) struct Draws {
    /// Samples up to a bucket's end, and its time.
    upto: Vec<(u64, Picoseconds)>,
    random: RandomStream,
}

impl Draws {
    /// From buckets of highest time in ns and samples. At least one has a sample.
    pub(super) fn new(buckets: &[(u64, u64)], random: RandomStream) -> Self {
        let mut all = 0;
        let upto = buckets.iter().map(|(ns, count)| {
            all += count;
            (all, Picoseconds::from_ns(*ns))
        });
        Self { upto: upto.collect(), random }
    }

    pub(super) fn draw(&mut self) -> Picoseconds {
        let all = self.upto.last().map_or(1, |last| last.0.max(1));
        let at = self.random.below(all);
        let place = self.upto.partition_point(|(upto, _)| *upto <= at);
        self.upto.get(place).map_or(Picoseconds::ZERO, |one| one.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_comes_as_often_as_it_was_measured() {
        let mut draws = Draws::new(&[(10, 1), (20, 0), (30, 3)], RandomStream::new(7, "draws"));
        let drawn: Vec<u64> = (0..40_000).map(|_| draws.draw().0 / 1_000).collect();
        let share = |ns| drawn.iter().filter(|one| **one == ns).count() as f64 / 40_000.0;
        assert!((share(10) - 0.25).abs() < 0.02 && (share(30) - 0.75).abs() < 0.02);
        assert!(share(20) < 1e-9);
    }
}
