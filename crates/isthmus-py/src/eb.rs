// SPDX-License-Identifier: Apache-2.0
//! Etherbone for Python: conversion only. `python/isthmus/eb` is the typed side.
//!
//! All waits release the interpreter, and check it for Control-C every 0.1 s.

mod cycle;
mod device;
mod errors;
mod slave;
mod watched;

use pyo3::prelude::*;

use cycle::{PyCycle, PyPending};
use device::PyDevice;
use errors::EbError;
use slave::PySlave;

/// Adds all this to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("EbError", module.py().get_type::<EbError>())?;
    module.add_class::<PyCycle>()?;
    module.add_class::<PyPending>()?;
    module.add_class::<PyDevice>()?;
    module.add_class::<PySlave>()?;
    module.add_function(wrap_pyfunction!(slave::describe, module)?)?;
    module.add_function(wrap_pyfunction!(device::discover, module)?)
}
