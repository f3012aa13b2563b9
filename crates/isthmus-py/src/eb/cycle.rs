// SPDX-License-Identifier: Apache-2.0
//! Cycles, and the results of those in flight.

use std::sync::Mutex;

use isthmus_host::etherbone::{self as host, Width};
use pyo3::prelude::*;

use super::errors::{lock, request, to_python};

/// Operations that one call adds to a cycle, at most.
const MOST_OPERATIONS: usize = 1 << 24;

fn width(bytes: usize) -> PyResult<Width> {
    let found = Width::ALL.into_iter().find(|width| width.bytes() == bytes);
    found.ok_or_else(|| request(format!("size {bytes}: expected 1, 2, 4 or 8")))
}

/// Operations that are executed together.
#[pyclass(module = "isthmus._native", name = "EbCycle")]
#[derive(Default)]
pub struct PyCycle {
    pub(super) cycle: host::Cycle,
}

impl PyCycle {
    fn add(&mut self, add: impl FnOnce(host::Cycle) -> host::Cycle) {
        self.cycle = add(std::mem::take(&mut self.cycle));
    }
}

#[pymethods]
impl PyCycle {
    #[new]
    fn new(silent: bool, repeatable: bool) -> Self {
        let mut cycle = host::Cycle::new();
        if silent {
            cycle = cycle.silent();
        }
        if repeatable {
            cycle = cycle.repeatable();
        }
        Self { cycle }
    }

    fn __len__(&self) -> usize {
        self.cycle.len()
    }

    /// `size` 0: the data port's.
    fn read(&mut self, address: u64, size: usize) -> PyResult<()> {
        if size == 0 {
            self.add(|cycle| cycle.read(address));
        } else {
            let width = width(size)?;
            self.add(|cycle| cycle.read_width(address, width));
        }
        Ok(())
    }

    fn write(&mut self, address: u64, data: u64, size: usize) -> PyResult<()> {
        if size == 0 {
            self.add(|cycle| cycle.write(address, data));
        } else {
            let width = width(size)?;
            self.add(|cycle| cycle.write_width(address, data, width));
        }
        Ok(())
    }

    fn read_config(&mut self, address: u64) {
        self.add(|cycle| cycle.read_config(address));
    }

    fn write_config(&mut self, address: u64, data: u64) {
        self.add(|cycle| cycle.write_config(address, data));
    }

    /// `count` reads, `step` bytes apart.
    fn read_range(&mut self, address: u64, count: usize, step: u64) -> PyResult<()> {
        if count > MOST_OPERATIONS {
            let text =
                format!("{count} operations: a call adds up to {MOST_OPERATIONS} to a cycle");
            return Err(request(text));
        }
        let step = |index: u64| index.wrapping_mul(step);
        let addresses = (0..count as u64).map(|index| address.wrapping_add(step(index)));
        self.add(|cycle| cycle.reads(addresses));
        Ok(())
    }

    fn write_range(&mut self, address: u64, values: Vec<u64>, step: u64) {
        let address = |index: usize| address.wrapping_add((index as u64).wrapping_mul(step));
        let pairs = values.into_iter().enumerate().map(|(index, value)| (address(index), value));
        self.add(|cycle| cycle.writes(pairs));
    }
}

pub(super) enum State {
    Flying(host::Pending),
    Taken,
}

/// A cycle in flight.
#[pyclass(module = "isthmus._native", name = "EbPending", frozen)]
pub struct PyPending {
    pub(super) state: Mutex<State>,
}

#[pymethods]
impl PyPending {
    fn is_ready(&self) -> bool {
        match &*lock(&self.state) {
            State::Flying(pending) => pending.is_ready(),
            State::Taken => true,
        }
    }

    /// The values read, once; `None` while the cycle has not ended.
    fn take(&self) -> PyResult<Option<Vec<u64>>> {
        let mut state = lock(&self.state);
        let State::Flying(pending) = &*state else {
            return Err(request("the result was taken before"));
        };
        let Some(result) = pending.take() else { return Ok(None) };
        *state = State::Taken;
        result.map(|reply| Some(reply.reads)).map_err(to_python)
    }
}
