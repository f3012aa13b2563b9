// SPDX-License-Identifier: Apache-2.0
//! Commands of a traffic generator at a device's pins.

use std::cell::RefCell;
use std::rc::Rc;

use crate::kernel::{DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, SimError};

/// A range of memory that the device reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// It writes.
    pub write: bool,
    /// Comes back when it is done.
    pub tag: u8,
    /// The first byte: a line's first.
    pub address: u64,
    /// How many.
    pub bytes: u32,
    /// Of the data's pattern.
    pub seed: u32,
}

/// Who gives the commands.
pub trait TaskUser {
    /// The task to offer from `time` on, if any; it is offered until it is taken.
    fn offer(&mut self, time: Picoseconds) -> Option<Task>;
    /// The task of a tag is done. `fault`: a page of it was not mapped, or did not allow the access; that part of
    /// it was not accessed.
    fn done(&mut self, time: Picoseconds, tag: u8, fault: bool);
}

/// Ties a user to the bundle `task` of a device.
pub struct TaskPins<U> {
    user: Rc<RefCell<U>>,
    offered: bool,
    valid: InputPin,
    ready: OutputPin,
    write: InputPin,
    tag: InputPin,
    address: InputPin,
    bytes: InputPin,
    seed: InputPin,
    done: OutputPin,
    done_tag: OutputPin,
    done_fault: OutputPin,
}

impl<U: TaskUser + 'static> TaskPins<U> {
    /// Attaches it.
    ///
    /// # Errors
    /// When the device has no such pins.
    pub fn attach(device: &DeviceHandle, user: &Rc<RefCell<U>>) -> Result<(), SimError> {
        let agent = Self {
            user: Rc::clone(user),
            offered: false,
            valid: device.input("task_valid_i", 1)?,
            ready: device.output("task_ready_o", 1)?,
            write: device.input("task_write_i", 1)?,
            tag: device.input("task_tag_i", 8)?,
            address: device.input("task_address_i", 48)?,
            bytes: device.input("task_bytes_i", 17)?,
            seed: device.input("task_seed_i", 32)?,
            done: device.output("task_done_o", 1)?,
            done_tag: device.output("task_done_tag_o", 8)?,
            done_fault: device.output("task_done_fault_o", 1)?,
        };
        device.attach("clk_i", Box::new(agent))
    }
}

impl<U: TaskUser> PinAgent for TaskPins<U> {
    fn sample(&mut self, time: Picoseconds) {
        if self.offered && self.ready.get() != 0 {
            self.offered = false;
        }
        if self.done.get() != 0 {
            let (tag, fault) = (self.done_tag.get() as u8, self.done_fault.get() != 0);
            self.user.borrow_mut().done(time, tag, fault);
        }
    }

    fn drive(&mut self, time: Picoseconds) {
        if self.offered {
            return;
        }
        let task = self.user.borrow_mut().offer(time);
        self.offered = task.is_some();
        self.valid.set(u64::from(self.offered));
        let Some(task) = task else { return };
        self.write.set(u64::from(task.write));
        self.tag.set(u64::from(task.tag));
        self.address.set(task.address);
        self.bytes.set(u64::from(task.bytes));
        self.seed.set(u64::from(task.seed));
    }

    fn quiet(&self) -> bool {
        false
    }
}
