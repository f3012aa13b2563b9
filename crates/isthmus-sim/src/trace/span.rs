// SPDX-License-Identifier: Apache-2.0
//! Spans: what each model spent simulated time on, and for which frame.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::kernel::Picoseconds;

/// A stretch of simulated time spent on one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The model that spent the time, by name.
    pub track: Rc<str>,
    /// On what.
    pub stage: Rc<str>,
    /// From when.
    pub start: Picoseconds,
    /// Until when.
    pub end: Picoseconds,
    /// For which frame: its number.
    pub tag: u64,
}

/// All spans, in the order in which they ended.
///
/// The models lay a frame's spans end to end: the start of each is the end of the previous one,
/// from the send call of one program to the return of the receive call of another, pins of devices
/// apart. Probes show what happens inside a device.
#[derive(Debug)]
pub struct SpanLog {
    enabled: Cell<bool>,
    spans: RefCell<Vec<Span>>,
}

impl Default for SpanLog {
    fn default() -> Self {
        Self { enabled: Cell::new(true), spans: RefCell::default() }
    }
}

impl SpanLog {
    /// Switches recording of spans on or off; the default is on.
    pub fn set_enabled(&self, enabled: bool) {
        self.enabled.set(enabled);
    }

    /// Records a span. Host programs may add their own.
    pub fn record(
        &self,
        track: &Rc<str>,
        stage: &Rc<str>,
        start: Picoseconds,
        end: Picoseconds,
        tag: u64,
    ) {
        if self.enabled.get() {
            let span = Span { track: Rc::clone(track), stage: Rc::clone(stage), start, end, tag };
            self.spans.borrow_mut().push(span);
        }
    }

    /// How many are recorded.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.borrow().len()
    }

    /// True without any recorded span.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy of all spans from number `first` on.
    #[must_use]
    pub fn since(&self, first: usize) -> Vec<Span> {
        self.spans.borrow().get(first..).map_or_else(Vec::new, <[_]>::to_vec)
    }

    /// Takes all spans, leaving none.
    #[must_use]
    pub fn take(&self) -> Vec<Span> {
        std::mem::take(&mut *self.spans.borrow_mut())
    }
}
