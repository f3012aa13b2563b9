// SPDX-License-Identifier: Apache-2.0
//! Whether a switch still passes words on.

use isthmus_sim::Picoseconds;

use super::link::Network;
use super::scenario::SwitchScenario;
use crate::error::RoadError;

/// Clocks without any word out of the switch, while packets are in flight to it, after which it
/// counts as stopped: longer than a link's start and than any refresh of credits.
pub(super) const STUCK_CLOCKS: u64 = 1 << 18;
/// So many flows are named where packets are stuck.
const NAMED_FLOWS: usize = 4;

/// True while there is progress.
pub(super) struct Motion {
    seed: u64,
    clock_ps: f64,
    /// Until then a fault may block everything. A fault without end does not extend this: the run
    /// ends.
    held_until: u64,
    /// Without faults each packet comes; with them some never do.
    faults: bool,
    words: u64,
    since: u64,
}

impl Motion {
    pub(super) fn new(scenario: &SwitchScenario) -> Self {
        Self {
            seed: scenario.seed,
            clock_ps: 1e6 / scenario.platform.clock_mhz,
            held_until: scenario.start_clock().max(scenario.faults.over(STUCK_CLOCKS)),
            faults: scenario.faults.any(),
            words: 0,
            since: 0,
        }
    }

    /// Once a chunk, in the part of the run that is called `phase`.
    pub(super) fn look(&mut self, network: &Network, phase: &str) -> Result<(), RoadError> {
        let (now, ledger) = (network.now(), network.ledger());
        let words = network.words_heard().data;
        let waits = network.waiting_words();
        // If faults hit packets, these may be the only ones in flight.
        let nothing_due = ledger.on_way() == 0 || (self.faults && waits == 0);
        if words != self.words || nothing_due || now <= self.held_until {
            (self.words, self.since) = (words, now);
            return Ok(());
        }
        if now - self.since < STUCK_CLOCKS {
            return Ok(());
        }
        let flows = ledger.outstanding();
        let named: Vec<String> = flows
            .iter()
            .take(NAMED_FLOWS)
            .map(|(from, to, packets)| format!("{packets} from port {from} to port {to}"))
            .collect();
        let more = match flows.len().saturating_sub(NAMED_FLOWS) {
            0 => String::new(),
            more => format!(", and {more} more flows"),
        };
        Err(RoadError::Violation(format!(
            "switch: stuck in the {phase}: no data word has come out for {} clocks, at clock {now} ({});              {} packets are outstanding: {}{more}; {waits} words wait at the sources; seed {}",
            now - self.since,
            Picoseconds((now as f64 * self.clock_ps) as u64),
            ledger.on_way(),
            named.join(", "),
            self.seed
        )))
    }
}
