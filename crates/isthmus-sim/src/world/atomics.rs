// SPDX-License-Identifier: Apache-2.0
//! Commands of an AXI master of atomics at a device's pins.

use std::cell::RefCell;
use std::rc::Rc;

use crate::kernel::{DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, SimError};

/// AWATOP of an AtomicLoad that adds.
pub const ATOMIC_LOAD_ADD: u8 = 0b10_0000;
/// AWATOP of an AtomicSwap.
pub const ATOMIC_SWAP: u8 = 0b11_0000;
/// No atomic: of a device with AtomicCompare, its operand is what that swaps in.
pub const ATOMIC_NEW: u8 = 0;
/// AWATOP of an AtomicCompare.
pub const ATOMIC_COMPARE: u8 = 0b11_0001;

/// A change of a word of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// AWATOP.
    pub code: u8,
    /// The word's first byte, a multiple of 8.
    pub address: u64,
    /// The operand; of [`ATOMIC_COMPARE`] what the word must be.
    pub operand: u64,
}

/// Who gives the commands.
pub trait AtomicUser {
    /// The change to offer from `time` on, if any; it is offered until it is taken.
    fn change(&mut self, time: Picoseconds) -> Option<Atomic>;
    /// It is done; what the word was, of a code that answers it.
    fn changed(&mut self, time: Picoseconds, old: u64);
}

/// Ties a user to the bundle `atomic` of a device.
pub struct AtomicPins<U> {
    user: Rc<RefCell<U>>,
    offered: bool,
    valid: InputPin,
    ready: OutputPin,
    code: InputPin,
    address: InputPin,
    operand: InputPin,
    done: OutputPin,
    old: OutputPin,
}

impl<U: AtomicUser + 'static> AtomicPins<U> {
    /// Attaches it.
    ///
    /// # Errors
    /// When the device has no such pins.
    pub fn attach(device: &DeviceHandle, user: &Rc<RefCell<U>>) -> Result<(), SimError> {
        let agent = Self {
            user: Rc::clone(user),
            offered: false,
            valid: device.input("atomic_valid_i", 1)?,
            ready: device.output("atomic_ready_o", 1)?,
            code: device.input("atomic_code_i", 6)?,
            address: device.input("atomic_address_i", 48)?,
            operand: device.input("atomic_operand_i", 64)?,
            done: device.output("atomic_done_o", 1)?,
            old: device.output("atomic_old_o", 64)?,
        };
        device.attach("clk_i", Box::new(agent))
    }
}

impl<U: AtomicUser> PinAgent for AtomicPins<U> {
    fn sample(&mut self, time: Picoseconds) {
        if self.offered && self.ready.get() != 0 {
            self.offered = false;
        }
        if self.done.get() != 0 {
            self.user.borrow_mut().changed(time, self.old.get());
        }
    }

    fn drive(&mut self, time: Picoseconds) {
        if self.offered {
            return;
        }
        let change = self.user.borrow_mut().change(time);
        self.offered = change.is_some();
        self.valid.set(u64::from(self.offered));
        let Some(change) = change else { return };
        self.code.set(u64::from(change.code));
        self.address.set(change.address);
        self.operand.set(change.operand);
    }

    fn quiet(&self) -> bool {
        false
    }
}
