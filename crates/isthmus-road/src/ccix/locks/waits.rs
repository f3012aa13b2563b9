// SPDX-License-Identifier: Apache-2.0
//! What of the waits for locks the load itself makes: a lock that is held is waited for, however fast its table is.
//!
//! A table that answers each order as it does one alone, at the rate and with the holds that were measured: an order
//! finds its lock held for longer than `t` with the share of time in which the lock has more than `t` of a hold left,
//! that is the sum of what each hold of it has above `t`, over all time. Of the others under way one is not itself, so
//! it sees `requesters` - 1 of them. Two that wait for one lock are not in it, so it is a floor.

use isthmus_sim::Picoseconds;
use serde::Serialize;

/// A transaction of one lock.
pub(super) struct Hold {
    pub(super) record: u16,
    /// How long the table has the lock held by it.
    pub(super) held: Picoseconds,
    /// What its side waits for a lock that is free, with a table that nobody else uses.
    pub(super) alone: Picoseconds,
}

/// The floor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Load {
    /// Mean of the holds.
    pub(super) hold_ps: u64,
    /// The share of orders that meet a lock that is held: by Little's law held locks are rate times hold.
    pub(super) met: f64,
    /// 99 of 100 waits are no longer.
    pub(super) p99_ps: u64,
}

impl Load {
    pub(super) fn of(holds: &[Hold], requesters: u32, elapsed: Picoseconds) -> Self {
        let count = holds.len().max(2) as f64;
        let mut orders = vec![0_u32; usize::from(u16::MAX) + 1];
        holds.iter().for_each(|hold| orders[usize::from(hold.record)] += 1);
        // Of one hold: the share of time, times the share of other orders that are for its lock.
        let others = f64::from(requesters - 1) / f64::from(requesters);
        let weight = |hold: &Hold| {
            f64::from(orders[usize::from(hold.record)] - 1) / (count - 1.0) * others
                / elapsed.0.max(1) as f64
        };
        let weighted: Vec<(u64, f64)> =
            holds.iter().map(|hold| (hold.held.0, weight(hold))).collect();
        let beyond = |left: u64| -> f64 {
            weighted.iter().map(|(held, weight)| held.saturating_sub(left) as f64 * weight).sum()
        };
        let mut sides: Vec<(u64, f64)> = Vec::new();
        for hold in holds {
            match sides.iter_mut().find(|side| side.0 == hold.alone.0) {
                Some(side) => side.1 += 1.0 / count,
                None => sides.push((hold.alone.0, 1.0 / count)),
            }
        }
        let longer = |wait: u64| -> f64 {
            let of =
                |(alone, share): &(u64, f64)| share * wait.checked_sub(*alone).map_or(1.0, &beyond);
            sides.iter().map(of).sum()
        };
        let longest = holds.iter().map(|hold| hold.held.0 + hold.alone.0).max().unwrap_or_default();
        let (mut low, mut high) = (0, longest);
        while low < high {
            let middle = low.midpoint(high);
            if longer(middle) <= 0.01 { high = middle } else { low = middle + 1 }
        }
        let total: u64 = holds.iter().map(|hold| hold.held.0).sum();
        Self { hold_ps: total / holds.len().max(1) as u64, met: beyond(0), p99_ps: low }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(rows: u16) -> Vec<Hold> {
        let hold = |number: u16| Hold {
            record: number % rows,
            held: Picoseconds::from_ns(100),
            alone: Picoseconds::from_ns(10),
        };
        (0..1000).map(hold).collect()
    }

    #[test]
    fn one_at_a_time_meets_no_lock_and_waits_as_alone() {
        let load = Load::of(&holds(10), 1, Picoseconds::from_ns(100_000));
        assert_eq!(load, Load { hold_ps: 100_000, met: 0.0, p99_ps: 10_000 });
    }

    #[test]
    fn held_locks_are_rate_times_hold_and_what_is_left_of_a_hold_is_any_part_of_it() {
        // Two under way for 100 ns each, on ten locks: an order sees one other, which has 1 of 10 locks.
        let load = Load::of(&holds(10), 2, Picoseconds::from_ns(50_000));
        assert!((load.met - 0.1).abs() < 1e-3, "{load:?}");
        // 1 of 10 of those that meet it waits for 90 ns and more: 1 of 100 of all.
        assert!(load.p99_ps.abs_diff(100_000) < 200, "{load:?}");
    }
}
