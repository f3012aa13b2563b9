// SPDX-License-Identifier: Apache-2.0
//! Python bindings of isthmus-road, isthmus-host and isthmus-trigger: conversion only. `python/isthmus/native.py` and
//! `python/isthmus/eb` are the typed side.

mod eb;
mod trigger;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use isthmus_road::{RoadError, Step, Watch};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

#[allow(missing_docs, reason = "the macro takes the documentation as an argument")]
mod exceptions {
    use pyo3::create_exception;
    use pyo3::exceptions::PyException;

    create_exception!(_native, ScenarioError, PyException, "The caller gave something wrong.");
    create_exception!(_native, RunError, PyException, "The run went wrong.");
}
use exceptions::{RunError, ScenarioError};

fn to_python(error: &RoadError) -> PyErr {
    // One line, even if a library's message has several.
    let line = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    if error.is_callers() { ScenarioError::new_err(line) } else { RunError::new_err(line) }
}

/// Holds the interpreter for a call-back, and keeps what Python raised in it.
fn call_back(
    raised: &mut Option<PyErr>,
    call: impl FnOnce(Python<'_>) -> PyResult<()>,
) -> ControlFlow<()> {
    Python::attach(|py| {
        // Control-C reaches Python code only when signals are checked.
        match py.check_signals().and_then(|()| call(py)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                *raised = Some(error);
                ControlFlow::Break(())
            }
        }
    })
}

/// The argument of `progress`.
fn steps(step: Step) -> (usize, usize, u64, u64, u64, u64) {
    let Step { done, total, transfers, transfers_total, now, device_cycles } = step;
    (done, total, transfers, transfers_total, now.0, device_cycles)
}

fn finish<T>(result: Result<T, RoadError>, raised: Option<PyErr>) -> PyResult<T> {
    match raised {
        Some(error) => Err(error),
        None => result.map_err(|error| to_python(&error)),
    }
}

/// Runs a scenario and returns the JSON list of its measurements. `progress` is called a few times
/// a second with (measurements done, measurements in all, transfers of this one done, transfers of
/// this one, simulated ps, device cycles); an exception in it ends the run.
#[pyfunction]
#[pyo3(signature = (scenario, progress=None))]
fn run_scenario(py: Python<'_>, scenario: String, progress: Option<Py<PyAny>>) -> PyResult<String> {
    let (result, raised) = py.detach(move || {
        let raised = Rc::new(RefCell::new(None));
        let kept = Rc::clone(&raised);
        let watch: Watch = Rc::new(RefCell::new(move |step: Step| {
            call_back(&mut kept.borrow_mut(), |py| match &progress {
                Some(progress) => progress.call1(py, steps(step)).map(drop),
                None => Ok(()),
            })
        }));
        let result = isthmus_road::run_json(&scenario, &watch);
        (result, raised.take())
    });
    finish(result, raised)
}

/// Serves until Control-C, or until all is done, and returns the server's last counters as JSON. `status`
/// is called with such counters when everything is open and then a few times a second; another exception
/// in it ends the server and comes out here.
#[pyfunction]
fn serve(py: Python<'_>, scenario: String, status: Py<PyAny>) -> PyResult<String> {
    let (result, raised, last) = py.detach(move || {
        let (mut raised, mut last) = (None, String::new());
        let result = isthmus_road::serve_json(&scenario, &mut |now: &str| {
            now.clone_into(&mut last);
            call_back(&mut raised, |py| status.call1(py, (last.as_str(),)).map(drop))
        });
        (result, raised, last)
    });
    let stopped =
        raised.as_ref().is_some_and(|error| error.is_instance_of::<PyKeyboardInterrupt>(py));
    finish(result, if stopped { None } else { raised }).map(|()| last)
}

/// The version of the native part.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("RunError", module.py().get_type::<RunError>())?;
    module.add_function(wrap_pyfunction!(run_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(serve, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    trigger::register(module)?;
    eb::register(module)
}
