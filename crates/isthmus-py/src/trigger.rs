// SPDX-License-Identifier: Apache-2.0
//! The trigger for Python: conversion only. `python/isthmus/trigger/native.py` is the typed side.

use isthmus_trigger::report::{self, ReportError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use std::ops::ControlFlow;

use crate::exceptions::{RunError, ScenarioError};

fn refused(error: &ReportError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| RunError::new_err(error.to_string()))
}

/// A file of events and that of their truths.
#[pyfunction]
fn trigger_events<'py>(
    py: Python<'py>,
    sample: &str,
    seed: u64,
    count: usize,
    rate_hz: f64,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let made = py.detach(|| report::events(sample, seed, count, rate_hz));
    let (events, truths) = made.map_err(|error| refused(&error))?;
    Ok((PyBytes::new(py, &events), PyBytes::new(py, &truths)))
}

/// What a finder made of a file of events, as JSON.
#[pyfunction]
#[pyo3(signature = (events, truths, finder, level, passes))]
fn trigger_find(
    py: Python<'_>,
    events: &[u8],
    truths: Option<&[u8]>,
    finder: &str,
    level: Option<&str>,
    passes: usize,
) -> PyResult<String> {
    let found = py.detach(|| report::find(events, truths, finder, level, passes));
    json(&found.map_err(|error| refused(&error))?)
}

/// All finders on one sample, as JSON. `progress` is called with jobs done and jobs in all.
#[pyfunction]
fn trigger_bench(
    py: Python<'_>,
    sample: &str,
    seed: u64,
    count: usize,
    passes: usize,
    progress: Py<PyAny>,
) -> PyResult<String> {
    let (result, raised) = py.detach(|| {
        let mut raised = None;
        let result = report::bench(sample, seed, count, passes, |done, total| {
            let go =
                crate::call_back(&mut raised, |py| progress.call1(py, (done, total)).map(drop));
            matches!(go, ControlFlow::Continue(()))
        });
        (result, raised)
    });
    match raised {
        Some(error) => Err(error),
        None => json(&result.map_err(|error| refused(&error))?),
    }
}

/// Adds all this to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(trigger_events, module)?)?;
    module.add_function(wrap_pyfunction!(trigger_find, module)?)?;
    module.add_function(wrap_pyfunction!(trigger_bench, module)?)
}
