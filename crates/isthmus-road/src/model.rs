// SPDX-License-Identifier: Apache-2.0
//! Where the models of devices come from.

use std::path::Path;

use isthmus_sim::SimError;
use isthmus_sim::kernel::Model;

/// Gives the model behind a path. [`load`] for real ones; tests bring their own.
pub type MakeModel<'a> = &'a dyn Fn(&Path, Option<&Path>) -> Result<Box<dyn Model>, SimError>;

/// Loads a Verilated shared object.
///
/// # Errors
/// When it is missing or not a model.
pub fn load(path: &Path, trace: Option<&Path>) -> Result<Box<dyn Model>, SimError> {
    isthmus_sim::kernel::load_model(path, trace)
}
