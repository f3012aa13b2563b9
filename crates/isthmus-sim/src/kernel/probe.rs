// SPDX-License-Identifier: Apache-2.0
//! What the probes inside the devices reported.

use std::cell::{Cell, RefCell};

use super::units::Picoseconds;

/// One strobe of one probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeRecord {
    /// The `clk_i` edge at which the strobe was sampled.
    pub time: Picoseconds,
    /// The device's index, see [`DeviceHandle::index`](super::DeviceHandle::index).
    pub device: u16,
    /// The stage: an index into [`DeviceHandle::stages`](super::DeviceHandle::stages).
    pub stage: u16,
    /// The tag the device gave the frame.
    pub tag: u8,
}

/// All strobes, in the order of time.
#[derive(Debug)]
pub struct ProbeLog {
    enabled: Cell<bool>,
    records: RefCell<Vec<ProbeRecord>>,
}

impl Default for ProbeLog {
    fn default() -> Self {
        Self { enabled: Cell::new(true), records: RefCell::default() }
    }
}

impl ProbeLog {
    /// Switches recording of strobes on or off; the default is on.
    pub fn set_enabled(&self, enabled: bool) {
        self.enabled.set(enabled);
    }

    /// How many are recorded.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.borrow().len()
    }

    /// True without any recorded strobe.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy of all records from number `first` on.
    #[must_use]
    pub fn since(&self, first: usize) -> Vec<ProbeRecord> {
        self.records.borrow().get(first..).map_or_else(Vec::new, <[_]>::to_vec)
    }

    /// Takes all records, leaving none.
    #[must_use]
    pub fn take(&self) -> Vec<ProbeRecord> {
        std::mem::take(&mut *self.records.borrow_mut())
    }

    pub(crate) fn push(&self, record: ProbeRecord) {
        if self.enabled.get() {
            self.records.borrow_mut().push(record);
        }
    }
}
