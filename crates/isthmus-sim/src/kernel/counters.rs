// SPDX-License-Identifier: Apache-2.0
//! Named counters of the world's models: transfers, drops and others.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A counter; clones count together.
#[derive(Clone, Debug, Default)]
pub struct Counter(Rc<Cell<u64>>);

impl Counter {
    /// Adds one.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds `count`.
    pub fn add(&self, count: u64) {
        self.0.set(self.0.get() + count);
    }

    /// Its value.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.get()
    }
}

/// All counters of a simulation, by name.
#[derive(Debug, Default)]
pub struct Counters(RefCell<BTreeMap<String, Counter>>);

impl Counters {
    /// The counter `name`; the same one for the same name.
    #[must_use]
    pub fn counter(&self, name: impl Into<String>) -> Counter {
        self.0.borrow_mut().entry(name.into()).or_default().clone()
    }

    /// The values of all counters.
    #[must_use]
    pub fn values(&self) -> BTreeMap<String, u64> {
        self.0.borrow().iter().map(|(name, counter)| (name.clone(), counter.get())).collect()
    }
}
