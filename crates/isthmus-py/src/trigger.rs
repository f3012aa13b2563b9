// SPDX-License-Identifier: Apache-2.0
//! The trigger for Python: conversion only. `python/isthmus/trigger/native.py` is the typed side.

use isthmus_trigger::events::Sample;
use isthmus_trigger::file;
use isthmus_trigger::geometry::Geometry;
use isthmus_trigger::gpu;
use isthmus_trigger::record::Record;
use isthmus_trigger::report::{self, ReportError};
use isthmus_trigger::rings::{Config, Finder};
use isthmus_trigger::send;
use isthmus_trigger::serve;
use isthmus_trigger::simd::Level;
use isthmus_trigger::times;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use std::net::{SocketAddr, UdpSocket};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use crate::exceptions::{RunError, ScenarioError};

/// Between two calls of a measurement's progress.
const TICK: Duration = Duration::from_millis(100);

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

/// Measured times of a trigger's steps, as JSON. `progress` is called with jobs done and jobs in all.
#[pyfunction]
fn trigger_times(
    py: Python<'_>,
    sample: &str,
    seed: u64,
    sizes: Vec<usize>,
    samples: usize,
    progress: Py<PyAny>,
) -> PyResult<String> {
    let (result, raised) = py.detach(|| {
        let mut raised = None;
        let result = times::measure(sample, seed, &sizes, samples, |done, total| {
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

/// Circles of records as words; see `report::circles`, or `report::single_circles`.
#[pyfunction]
#[pyo3(signature = (records, single, level))]
fn trigger_circles<'py>(
    py: Python<'py>,
    records: &[u8],
    single: bool,
    level: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let made = py.detach(|| {
        if single {
            report::single_circles(records, level)
        } else {
            report::circles(records, level)
        }
    });
    Ok(PyBytes::new(py, &made.map_err(|error| refused(&error))?))
}

fn finder() -> Finder {
    Finder::new(&Geometry::na62(), &Config::default())
}

/// The tables of the GPU's kernels.
#[pyfunction]
fn trigger_gpu_tables(py: Python<'_>) -> Bound<'_, PyBytes> {
    let words = gpu::tables(&finder());
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    PyBytes::new(py, &bytes)
}

/// Name of the GPU. An error of one line if the machine has none.
#[pyfunction]
fn trigger_gpu_name(library: &str) -> PyResult<String> {
    gpu::Driver::probe(library).map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// Events that a GPU makes, and their truths, without the headers of files; `together` at a time.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "by name in Python")]
fn trigger_gpu_events<'py>(
    py: Python<'py>,
    library: &str,
    cubin: &[u8],
    sample: &str,
    seed: u64,
    count: usize,
    rate_hz: f64,
    together: u32,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let sample = report::asked(sample, count, rate_hz).map_err(|error| refused(&error))?;
    let source = gpu::Source { sample, seed };
    let made = py.detach(|| {
        let driver = gpu::Driver::open(library, cubin)?;
        gpu::generate(&driver, &Geometry::na62(), &source, count, together)
    });
    let made = made.map_err(|error: gpu::GpuError| ScenarioError::new_err(error.to_string()));
    let (records, truths) = made?;
    Ok((PyBytes::new(py, records.as_flattened()), PyBytes::new(py, &truths)))
}

/// Events on a GPU, as JSON. `file` is one of events; the method `resident` makes them again, by the origin that it
/// names. `progress` is called ten times a second
/// with the events answered and those in all, by another thread than the one that measures.
#[pyfunction]
#[pyo3(signature = (library, cubin, file, method, batch, rate_hz, events, blocks, lines, watchdog_s, progress))]
#[allow(clippy::too_many_arguments, reason = "the fields of Settings, by name in Python")]
fn trigger_gpu_run(
    py: Python<'_>,
    library: &str,
    cubin: &[u8],
    file: &[u8],
    method: &str,
    batch: usize,
    rate_hz: f64,
    events: usize,
    blocks: u32,
    lines: u32,
    watchdog_s: f64,
    progress: Py<PyAny>,
) -> PyResult<String> {
    let method = gpu::Method::of(method)
        .ok_or_else(|| ScenarioError::new_err(format!("no method '{method}'")))?;
    let watchdog = Duration::try_from_secs_f64(watchdog_s)
        .map_err(|error| ScenarioError::new_err(format!("watchdog: {error}")))?;
    let (origin, records) =
        file::decode(file).map_err(|error| ScenarioError::new_err(error.to_string()))?;
    let known = origin.known();
    let source = known.map(|sample| gpu::Source {
        sample: Sample { rate_hz: origin.rate_hz, ..sample },
        seed: origin.seed,
    });
    let settings =
        gpu::Settings { method, batch, rate_hz, events, blocks, lines, watchdog, source };
    let watch = gpu::Watch::default();
    let (made, raised) = py.detach(|| {
        let mut raised = None;
        let made = thread::scope(|scope| {
            let measuring = scope.spawn(|| {
                let driver = gpu::Driver::open(library, cubin)?;
                gpu::run(&driver, &finder(), records, &settings, &watch)
            });
            while !measuring.is_finished() {
                let answered = watch.answered.load(Ordering::Relaxed);
                let told = |py: Python<'_>| progress.call1(py, (answered, events)).map(drop);
                if crate::call_back(&mut raised, told).is_break() {
                    watch.stop.store(true, Ordering::Relaxed);
                    break;
                }
                thread::park_timeout(TICK);
            }
            measuring.join()
        });
        (made, raised)
    });
    if let Some(error) = raised {
        return Err(error);
    }
    let made = made.map_err(|_| RunError::new_err("the measuring thread panicked"))?;
    json(&made.map_err(|error| ScenarioError::new_err(error.to_string()))?)
}

/// Answers datagrams until `tick` raises KeyboardInterrupt; the counts as JSON. `tick` is called with the socket's
/// address and the counts, at the start and ten times a second.
#[pyfunction]
fn trigger_serve(py: Python<'_>, address: &str, tick: Py<PyAny>) -> PyResult<String> {
    let (counts, raised) = py.detach(|| {
        let failed =
            |error: std::io::Error| ScenarioError::new_err(format!("--udp {address}: {error}"));
        let socket = UdpSocket::bind(address).map_err(failed)?;
        let own = socket.local_addr().map_err(failed)?.to_string();
        let mut raised = None;
        let counts = serve::serve(&socket, &finder(), Level::best(), |counts| {
            let text = serde_json::to_string(counts).unwrap_or_default();
            let go = crate::call_back(&mut raised, |py| tick.call1(py, (&own, text)).map(drop));
            matches!(go, ControlFlow::Continue(()))
        });
        Ok::<_, PyErr>((counts.map_err(failed)?, raised))
    })?;
    match raised {
        Some(error) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
        _ => json(&counts),
    }
}

/// Sends records, those of a file without its header, to a UDP address; what was sent and came back as JSON. `tick` is
/// called with datagrams sent and in all; if it raises, the sending ends.
#[pyfunction]
fn trigger_send(
    py: Python<'_>,
    address: &str,
    records: &[u8],
    rate_hz: f64,
    tick: Py<PyAny>,
) -> PyResult<String> {
    let (sent, raised) = py.detach(|| {
        let failed = |error: std::io::Error| ScenarioError::new_err(format!("{address}: {error}"));
        let to: SocketAddr = address
            .parse()
            .map_err(|_| ScenarioError::new_err(format!("{address}: no IP:PORT")))?;
        let own = if to.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
        let socket = UdpSocket::bind(own).map_err(failed)?;
        socket.connect(to).map_err(failed)?;
        let mut raised = None;
        let records: &[Record] = records.as_chunks().0;
        let sent = send::send(&socket, &finder(), records, rate_hz, |done, total| {
            let go = crate::call_back(&mut raised, |py| tick.call1(py, (done, total)).map(drop));
            matches!(go, ControlFlow::Continue(()))
        });
        Ok::<_, PyErr>((sent.map_err(failed)?, raised))
    })?;
    match raised {
        Some(error) => Err(error),
        None => json(&sent),
    }
}

/// Adds all this to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(trigger_events, module)?)?;
    module.add_function(wrap_pyfunction!(trigger_find, module)?)?;
    module.add_function(wrap_pyfunction!(trigger_circles, module)?)?;
    module.add_function(wrap_pyfunction!(trigger_gpu_tables, module)?)?;
    module.add_function(wrap_pyfunction!(trigger_gpu_name, module)?)?;
    module.add_function(wrap_pyfunction!(trigger_gpu_events, module)?)?;
    module.add_function(wrap_pyfunction!(trigger_gpu_run, module)?)?;
    module.add_function(wrap_pyfunction!(trigger_serve, module)?)?;
    module.add_function(wrap_pyfunction!(trigger_send, module)?)?;
    module.add_function(wrap_pyfunction!(trigger_times, module)?)?;
    module.add_function(wrap_pyfunction!(trigger_bench, module)?)
}
