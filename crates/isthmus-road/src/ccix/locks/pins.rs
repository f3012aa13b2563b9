// SPDX-License-Identifier: Apache-2.0
//! The FPGA's transactions, at the pins of its unit.

use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{DeviceHandle, InputPin, OutputPin, PinAgent};

use super::recovery::{fall, lost};
use super::requests::{again, begin_later};
use super::state::Shared;
use crate::error::RoadError;

/// The probe of an order that waits at the FPGA's table: `ccix_locks_fpga_pkg::Queued`.
const QUEUED: u32 = 4;

/// Transactions at the FPGA's pins.
pub(super) struct Pins {
    shared: Shared,
    valid: InputPin,
    slot: InputPin,
    id: InputPin,
    last: InputPin,
    steps: InputPin,
    locked: [OutputPin; 2],
    refused: [OutputPin; 2],
    done: [OutputPin; 2],
    lost: [OutputPin; 2],
    whole: OutputPin,
    ready: OutputPin,
    aborted: OutputPin,
    digest: OutputPin,
    reset: InputPin,
    hold: InputPin,
    probes: [OutputPin; 2],
    /// At the port now.
    offered: Option<usize>,
}

impl Pins {
    pub(super) fn attach(device: &DeviceHandle, shared: &Shared) -> Result<(), RoadError> {
        let strobe = |name: &str| -> Result<[OutputPin; 2], RoadError> {
            let slot = device.output(&format!("update_{name}_slot_o"), 6)?;
            Ok([device.output(&format!("update_{name}_o"), 1)?, slot])
        };
        let agent = Self {
            shared: Rc::clone(shared),
            valid: device.input("update_valid_i", 1)?,
            slot: device.input("update_slot_i", 6)?,
            id: device.input("update_id_i", 32)?,
            last: device.input("update_last_i", 2)?,
            steps: device.input("update_steps_i", 72)?,
            locked: strobe("locked")?,
            refused: strobe("refused")?,
            done: strobe("done")?,
            lost: strobe("lost")?,
            whole: device.output("update_lost_whole_o", 1)?,
            ready: device.output("update_ready_o", 1)?,
            reset: device.input("update_reset_i", 1)?,
            hold: device.input("update_hold_i", 1)?,
            probes: [
                device.output("probe_o", QUEUED + 1)?,
                device.output("probe_tag_o", 8 * (QUEUED + 1))?,
            ],
            offered: None,
            aborted: device.output("update_done_aborted_o", 1)?,
            digest: device.output("update_done_digest_o", 64)?,
        };
        Ok(device.attach("clk_i", Box::new(agent))?)
    }

    fn of(&self, [valid, slot]: &[OutputPin; 2]) -> Option<usize> {
        if valid.get() == 0 {
            return None;
        }
        let slot = slot.get() as usize;
        let mut logic = self.shared.borrow_mut();
        let found = logic.at[1].get(slot).copied().flatten();
        if found.is_none() {
            logic.fail(format!("slot {slot} of the FPGA, which is free, says something"));
        }
        found
    }
}

impl PinAgent for Pins {
    fn sample(&mut self, _time: Picoseconds) {
        if self.shared.borrow().fpga.is_down {
            return;
        }
        if self.ready.get() != 0 {
            self.offered = None;
        }
        if self.probes[0].get() >> QUEUED & 1 != 0 {
            let owner = self.probes[1].word(1) as u8;
            self.shared.borrow_mut().queued(owner);
        }
        if let Some(number) = self.of(&self.lost) {
            lost(&self.shared, number, self.whole.get() != 0);
        }
        if let Some(number) = self.of(&self.locked) {
            self.shared.borrow_mut().locked(number);
        }
        if let Some(number) = self.of(&self.refused) {
            again(&self.shared, number);
        }
        if let Some(number) = self.of(&self.done) {
            if self.aborted.get() != 0 {
                again(&self.shared, number);
            } else {
                let digest = u64::from(self.digest.word(1)) << 32 | u64::from(self.digest.word(0));
                let mut logic = self.shared.borrow_mut();
                logic.states[number].digest = digest;
                logic.end(number);
                drop(logic);
                begin_later(&self.shared);
            }
        }
    }

    fn drive(&mut self, time: Picoseconds) {
        if self.shared.borrow().falls() {
            fall(&self.shared, time);
        }
        let mut logic = self.shared.borrow_mut();
        if logic.fpga.is_down {
            self.offered = None;
            self.valid.set(0);
            return;
        }
        let [reset, hold] = logic.stopped(time);
        self.reset.set(u64::from(reset));
        self.hold.set(u64::from(hold));
        if self.offered.is_none() {
            self.offered = logic.tasks.pop_front();
        }
        self.valid.set(u64::from(self.offered.is_some()));
        let Some(number) = self.offered else { return };
        self.slot.set(u64::from(logic.states[number].slot));
        self.id.set(number as u64 + 1);
        let steps = &logic.of(number).steps;
        self.last.set(steps.len() as u64 - 1);
        let packed = steps.iter().enumerate().fold(0_u128, |all, (at, step)| {
            let no_wait = u128::from(!logic.may_wait(number, at));
            all | (no_wait << 17 | u128::from(step.update) << 16 | u128::from(step.record))
                << (18 * at)
        });
        for at in 0..3 {
            self.steps.set_word(at, (packed >> (32 * at)) as u32);
        }
    }

    fn quiet(&self) -> bool {
        false
    }
}
