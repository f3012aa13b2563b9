// SPDX-License-Identifier: Apache-2.0
//! Words at a device's pins beside cache lines: I/O loads and stores, interrupts and barriers of a node.

use std::cell::RefCell;
use std::rc::Rc;

use crate::kernel::{DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, SimError};

/// What is asked for, by its code at the pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// An I/O load at the far end.
    Load = 0,
    /// An I/O store there, of the bytes of the mask.
    Store = 1,
    /// An interrupt for the far end; its number is the address. It has no response.
    Interrupt = 2,
    /// A barrier: its response says that all older stores of lines are visible.
    Barrier = 3,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordRequest {
    /// What.
    pub kind: WordKind,
    /// Address of a byte.
    pub address: u64,
    /// Bytes of the word.
    pub mask: u8,
    /// Comes back with the response.
    pub tag: u8,
    /// The word to store.
    pub data: u64,
}

/// What the far end's request did here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordEvent {
    /// A store at this address is done.
    Stored(u64),
    /// This interrupt came.
    Interrupt(u64),
}

/// A node's logic, or a program.
pub trait WordUser {
    /// The request to offer from `time` on, if any; it is offered until it is taken.
    fn offer(&mut self, time: Picoseconds) -> Option<WordRequest>;
    /// The response to a tag, of a load with its word.
    fn response(&mut self, time: Picoseconds, tag: u8, data: u64);
    /// What the far end did here.
    fn event(&mut self, time: Picoseconds, event: WordEvent);
}

/// Ties a user to the bundle `io` of a device.
pub struct WordPins<U> {
    user: Rc<RefCell<U>>,
    offered: bool,
    ready: OutputPin,
    valid: InputPin,
    kind: InputPin,
    address: InputPin,
    mask: InputPin,
    tag: InputPin,
    data: InputPin,
    rsp_valid: OutputPin,
    rsp_tag: OutputPin,
    rsp_data: OutputPin,
    event_valid: OutputPin,
    event_ipi: OutputPin,
    event_address: OutputPin,
}

impl<U: WordUser + 'static> WordPins<U> {
    /// Attaches it.
    ///
    /// # Errors
    /// When the device has no such pins.
    pub fn attach(device: &DeviceHandle, user: &Rc<RefCell<U>>) -> Result<(), SimError> {
        let agent = Self {
            user: Rc::clone(user),
            offered: false,
            ready: device.output("io_req_ready_o", 1)?,
            valid: device.input("io_req_valid_i", 1)?,
            kind: device.input("io_req_kind_i", 2)?,
            address: device.input("io_req_address_i", 40)?,
            mask: device.input("io_req_mask_i", 8)?,
            tag: device.input("io_req_tag_i", 8)?,
            data: device.input("io_req_data_i", 64)?,
            rsp_valid: device.output("io_rsp_valid_o", 1)?,
            rsp_tag: device.output("io_rsp_tag_o", 8)?,
            rsp_data: device.output("io_rsp_data_o", 64)?,
            event_valid: device.output("io_event_valid_o", 1)?,
            event_ipi: device.output("io_event_ipi_o", 1)?,
            event_address: device.output("io_event_address_o", 40)?,
        };
        device.attach("clk_i", Box::new(agent))
    }
}

impl<U: WordUser> PinAgent for WordPins<U> {
    fn sample(&mut self, time: Picoseconds) {
        if self.offered && self.ready.get() != 0 {
            self.offered = false;
        }
        let mut user = self.user.borrow_mut();
        if self.rsp_valid.get() != 0 {
            user.response(time, self.rsp_tag.get() as u8, self.rsp_data.get());
        }
        if self.event_valid.get() != 0 {
            let address = self.event_address.get();
            let ipi = self.event_ipi.get() != 0;
            let event =
                if ipi { WordEvent::Interrupt(address) } else { WordEvent::Stored(address) };
            user.event(time, event);
        }
    }

    fn drive(&mut self, time: Picoseconds) {
        if self.offered {
            return;
        }
        let request = self.user.borrow_mut().offer(time);
        self.offered = request.is_some();
        self.valid.set(u64::from(self.offered));
        let Some(request) = request else { return };
        self.kind.set(request.kind as u64);
        self.address.set(request.address);
        self.mask.set(u64::from(request.mask));
        self.tag.set(u64::from(request.tag));
        self.data.set(request.data);
    }

    fn quiet(&self) -> bool {
        false
    }
}
