// SPDX-License-Identifier: Apache-2.0
//! Errors as Python sees them, and small conversions.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use isthmus_host::etherbone::{Error, Widths};
use isthmus_host::transport::TransportError;
use pyo3::prelude::*;

#[allow(missing_docs, reason = "the macro takes the documentation as an argument")]
mod exceptions {
    use pyo3::create_exception;
    use pyo3::exceptions::PyException;

    create_exception!(
        _native,
        EbError,
        PyException,
        "Etherbone failed: kind, one line, positions of failed operations, values read."
    );
}
pub(super) use exceptions::EbError;

pub(super) fn failed(
    kind: &'static str,
    message: &str,
    failed: Vec<usize>,
    reads: Vec<u64>,
) -> PyErr {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    EbError::new_err((kind, line, failed, reads))
}

pub(super) fn request(message: impl std::fmt::Display) -> PyErr {
    failed("request", &message.to_string(), Vec::new(), Vec::new())
}

pub(super) fn transport_error(error: &TransportError) -> PyErr {
    let kind = if matches!(error, TransportError::Name(_)) { "request" } else { "transport" };
    failed(kind, &error.to_string(), Vec::new(), Vec::new())
}

pub(super) fn to_python(error: Error) -> PyErr {
    let line = error.to_string();
    let kind = match error {
        Error::Bus { failed: positions, reads, .. } => {
            return failed("bus", &line, positions, reads);
        }
        Error::NoDevice { .. } | Error::TimedOut { .. } => "timeout",
        Error::Operation { .. }
        | Error::Block { .. }
        | Error::Empty
        | Error::Overflow { .. }
        | Error::Busy(_) => "request",
        Error::Transport(error) => return transport_error(&error),
        _ => "reply",
    };
    failed(kind, &line, Vec::new(), Vec::new())
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn masks(address: u8, data: u8) -> Widths {
    Widths { address, data }
}

/// Longer waits are as long as this one, 30 years: the system's clock does not overflow with it.
const LONGEST_S: f64 = 1e9;

pub(super) fn seconds(name: &str, value: f64) -> PyResult<Duration> {
    let bounded = if value > LONGEST_S { LONGEST_S } else { value };
    Duration::try_from_secs_f64(bounded)
        .map_err(|_| request(format!("{name} {value}: expected seconds, 0 or more")))
}
