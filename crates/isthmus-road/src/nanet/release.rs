// SPDX-License-Identifier: Apache-2.0
//! The experiment's clock at the interface, and the trigger lines that change in it a fixed time after their events.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{DeviceHandle, InputPin, OutputPin, PinAgent, SimError};
use isthmus_trigger::record::TDC_NS;

/// Name of the experiment's clock.
pub(super) const CLOCK: &str = "ttc_clk_i";
/// Its period, ns.
const PERIOD_NS: f64 = 256.0 * TDC_NS;
/// The longest time from an answer to its release, clocks: slots of the gateware.
const SLOTS: u64 = 4_096;
/// Clocks behind reset until slots are empty, with some to spare.
const READY: u64 = SLOTS / 2 + 64;
/// From an event until its lines have changed, if they do.
pub(super) fn rest(us: f64) -> Picoseconds {
    span(clocks(us) + 2)
}

/// Clocks from asking for a burst until it begins.
const AHEAD: u64 = 64;
/// An answer that leaves the program's pins earlier before its release is in time: 8 answers at once, each of two
/// clocks, and the crossing.
const NEAR: Picoseconds = Picoseconds::from_us(1);

/// Clocks of a time, rounded up.
pub(super) fn clocks(us: f64) -> u64 {
    (us * 1e3 / PERIOD_NS).ceil() as u64
}

/// The clock's rate.
pub(super) fn rate_hz() -> f64 {
    1e9 / PERIOD_NS
}

fn span(clocks: u64) -> Picoseconds {
    Picoseconds::from_ns_f64(clocks as f64 * PERIOD_NS)
}

#[derive(Default)]
struct State {
    /// Edges so far, and the time of the last one.
    edges: u64,
    last: Picoseconds,
    /// The edge with which the burst begins, and its time.
    burst: Option<(u64, Picoseconds)>,
    /// Clocks of the burst in which lines changed, and which.
    seen: Vec<(u64, u8)>,
}

/// What the lines did.
#[derive(Clone, Default)]
pub(super) struct Release(Rc<RefCell<State>>);

/// An event for the lines.
pub(super) struct Answer {
    /// Clock of the burst in which it was.
    pub(super) stamp: u64,
    pub(super) rings: u8,
    /// When its answer was at the interface's pins.
    pub(super) answered: Option<Picoseconds>,
}

struct Agent {
    reset: InputPin,
    start: InputPin,
    trigger: OutputPin,
    lines: OutputPin,
    release: Release,
}

impl Release {
    /// Ties it to the pins of a device.
    pub(super) fn attach(device: &DeviceHandle) -> Result<Self, SimError> {
        let release = Self::default();
        let agent = Agent {
            reset: device.input("rst_ni", 1)?,
            start: device.input("ttc_start_i", 1)?,
            trigger: device.output("trigger_o", 1)?,
            lines: device.output("trigger_lines_o", 4)?,
            release: release.clone(),
        };
        device.attach(CLOCK, Box::new(agent))?;
        Ok(release)
    }

    /// Whether the gateware takes answers.
    pub(super) fn is_ready(&self) -> bool {
        self.0.borrow().edges > READY
    }

    /// Lets a burst begin soon: the time from which time stamps count.
    pub(super) fn begin(&self) -> Picoseconds {
        let mut state = self.0.borrow_mut();
        let start = state.last + span(AHEAD);
        state.burst = Some((state.edges + AHEAD, start));
        start
    }

    /// Compares what the lines did with what they must, `latency` clocks after each event. How many clocks had a
    /// trigger.
    pub(super) fn check(&self, answers: &[Answer], latency: u64) -> Result<u64, String> {
        let state = self.0.borrow();
        let Some((_, start)) = state.burst else { return Err("no burst began".to_owned()) };
        // What must be released, and what may be: an answer that comes about in time.
        let mut due = BTreeMap::<u64, (u8, u8)>::new();
        for one in answers {
            let Some(answered) = one.answered else { continue };
            let clock = one.stamp + latency;
            let end = start + span(clock);
            let line = 1 << one.rings.min(3);
            let entry = due.entry(clock).or_default();
            if answered + NEAR <= end {
                entry.0 |= line;
            }
            if answered < end {
                entry.1 |= line;
            }
        }
        let seen: BTreeMap<u64, u8> = state.seen.iter().copied().collect();
        for (clock, (must, may)) in &due {
            let lines = seen.get(clock).copied().unwrap_or_default();
            if lines & must != *must || lines & !may != 0 {
                return Err(format!(
                    "lines {lines:#06b} in clock {clock} of the burst, {must:#06b} at the least and {may:#06b} at \
                     the most expected"
                ));
            }
        }
        match seen.keys().find(|clock| !due.contains_key(clock)) {
            Some(clock) => {
                Err(format!("lines changed in clock {clock} of the burst, in which none is due"))
            }
            None => Ok(seen.len() as u64),
        }
    }
}

impl PinAgent for Agent {
    fn sample(&mut self, time: Picoseconds) {
        let mut state = self.release.0.borrow_mut();
        state.last = time;
        if self.trigger.get() != 0 {
            // The lines have had their value since the edge before.
            let burst = state.burst.map_or(0, |burst| burst.0);
            let clock = state.edges.wrapping_sub(burst);
            state.seen.push((clock, self.lines.get() as u8));
        }
    }

    fn drive(&mut self, _: Picoseconds) {
        let mut state = self.release.0.borrow_mut();
        if self.reset.get() != 0 {
            state.edges += 1;
        }
        // Taken with the edge with which the burst begins.
        let next = state.burst.is_some_and(|burst| burst.0 == state.edges + 1);
        self.start.set(u64::from(next));
    }

    fn quiet(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(seen: &[(u64, u8)]) -> Release {
        let release = Release::default();
        release.0.borrow_mut().burst = Some((100, Picoseconds::from_us(10)));
        release.0.borrow_mut().seen = seen.to_vec();
        release
    }

    fn answer(stamp: u64, rings: u8, before_us: f64) -> Answer {
        let end = Picoseconds::from_us(10) + span(stamp + 400);
        let answered = Some(Picoseconds((end.0 as f64 - before_us * 1e6) as u64));
        Answer { stamp, rings, answered }
    }

    #[test]
    fn an_answer_in_time_must_be_released_in_its_clock() {
        let given = [answer(7, 2, 3.0), answer(7, 5, 3.0), answer(9, 0, 2.0)];
        assert_eq!(of(&[(407, 0b1100), (409, 1)]).check(&given, 400), Ok(2));
        for wrong in [
            &[(407, 0b1100)][..],
            &[(407, 0b0100), (409, 1)],
            &[(407, 0b1101), (409, 1)],
            &[(408, 0b1100), (409, 1)],
            &[(407, 0b1100), (409, 1), (500, 1)],
        ] {
            assert!(of(wrong).check(&given, 400).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn one_that_comes_about_in_time_may_be_late_and_one_behind_it_is() {
        assert_eq!(of(&[(407, 2)]).check(&[answer(7, 1, 0.5)], 400), Ok(1));
        assert_eq!(of(&[]).check(&[answer(7, 1, 0.5)], 400), Ok(0));
        assert_eq!(of(&[]).check(&[answer(7, 1, -0.1)], 400), Ok(0));
        assert!(of(&[(407, 2)]).check(&[answer(7, 1, -0.1)], 400).is_err());
        let none = Answer { stamp: 7, rings: 1, answered: None };
        assert_eq!(of(&[]).check(&[none], 400), Ok(0));
    }
}
