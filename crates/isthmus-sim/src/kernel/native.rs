// SPDX-License-Identifier: Apache-2.0
//! Loads Verilated models through the C ABI, version 3.
//!
//! This file holds all `unsafe` of the project. It relies on the guarantees of the ABI (see
//! `docs/explanation/architecture.md`). Everything that can be checked at load time is checked.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::rc::Rc;

use libloading::Library;
use serde::Deserialize;

use super::error::SimError;
use super::model::{Description, Direction, Model, PortInfo};
use super::pin::PinStorage;
use super::units::Picoseconds;

const ABI_VERSION: u32 = 3;
/// A model with more ports than this, or wider ones, is a damaged description.
const MAX_PORTS: u32 = 4_096;
const MAX_WIDTH: u32 = 65_536;

#[repr(C)]
struct RawPort {
    name: *const c_char,
    width: u32,
    dir: u32,
}

#[repr(C)]
struct RawDescription {
    abi: u32,
    top: *const c_char,
    source_hash: *const c_char,
    info_json: *const c_char,
    num_ports: u32,
    ports: *const RawPort,
}

type DescribeFn = unsafe extern "C" fn() -> *const RawDescription;
type CreateFn = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type PortFn = unsafe extern "C" fn(*mut c_void, u32) -> *mut c_void;
type EvalFn = unsafe extern "C" fn(*mut c_void, u64) -> i32;
type ErrorFn = unsafe extern "C" fn(*mut c_void) -> *const c_char;
type DestroyFn = unsafe extern "C" fn(*mut c_void);

#[derive(Deserialize)]
struct Info {
    #[serde(default)]
    parameters: serde_json::Value,
    #[serde(default)]
    probes: Vec<String>,
    #[serde(default)]
    trace: String,
}

/// One created model, and the library whose code it runs.
struct Instance {
    model: NonNull<c_void>,
    eval: EvalFn,
    edge: EvalFn,
    error: ErrorFn,
    destroy: DestroyFn,
    // Last: the code must stay mapped until `drop` has called into it.
    _library: Library,
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: `model` came from `isthmus_create` of this library, is destroyed only here, and
        // no pin is left that points into it: each pin keeps the instance alive.
        unsafe { (self.destroy)(self.model.as_ptr()) }
    }
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    U8,
    U16,
    U32,
    U64,
    Words(usize),
}

impl Shape {
    fn of_width(width: u32) -> Self {
        match width {
            0..=8 => Self::U8,
            9..=16 => Self::U16,
            17..=32 => Self::U32,
            33..=64 => Self::U64,
            _ => Self::Words(width.div_ceil(32) as usize),
        }
    }
}

/// The storage of one port inside a Verilated model.
#[derive(Clone)]
pub(crate) struct NativePin {
    storage: NonNull<c_void>,
    shape: Shape,
    mask: u64,
    _keep_alive: Rc<Instance>,
}

impl std::fmt::Debug for NativePin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativePin").field("shape", &self.shape).finish_non_exhaustive()
    }
}

// SAFETY, for every access below: the ABI promises storage of the width's shape, aligned for it,
// valid as long as the model is (`_keep_alive`). Everything runs on one thread (`Rc` forbids
// another), never during `eval`, and no Rust reference to the storage is ever formed.
impl NativePin {
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        let storage = self.storage.as_ptr();
        unsafe {
            match self.shape {
                Shape::U8 => u64::from(storage.cast::<u8>().read()),
                Shape::U16 => u64::from(storage.cast::<u16>().read()),
                Shape::U32 => u64::from(storage.cast::<u32>().read()),
                Shape::U64 => storage.cast::<u64>().read(),
                // Wider than 64 bits: at least three words.
                Shape::Words(_) => {
                    let words = storage.cast::<u32>();
                    u64::from(words.read()) | u64::from(words.add(1).read()) << 32
                }
            }
        }
    }

    #[inline]
    pub(crate) fn set(&self, value: u64) {
        let storage = self.storage.as_ptr();
        // Verilated code relies on unused high bits being zero.
        let value = value & self.mask;
        unsafe {
            match self.shape {
                Shape::U8 => storage.cast::<u8>().write(value as u8),
                Shape::U16 => storage.cast::<u16>().write(value as u16),
                Shape::U32 => storage.cast::<u32>().write(value as u32),
                Shape::U64 => storage.cast::<u64>().write(value),
                Shape::Words(_) => {
                    let words = storage.cast::<u32>();
                    words.write(value as u32);
                    words.add(1).write((value >> 32) as u32);
                }
            }
        }
    }

    #[inline]
    pub(crate) fn word(&self, index: usize) -> u32 {
        match self.shape {
            Shape::Words(count) if index < count => unsafe {
                self.storage.as_ptr().cast::<u32>().add(index).read()
            },
            Shape::Words(_) => 0,
            _ if index < 2 => (self.get() >> (32 * index)) as u32,
            _ => 0,
        }
    }

    pub(crate) fn set_word(&self, index: usize, value: u32) {
        match self.shape {
            Shape::Words(count) if index < count => unsafe {
                self.storage.as_ptr().cast::<u32>().add(index).write(value);
            },
            Shape::Words(_) => {}
            _ if index < 2 => {
                let kept = self.get() & !(0xffff_ffff << (32 * index));
                self.set(kept | u64::from(value) << (32 * index));
            }
            _ => {}
        }
    }
}

impl NativeModel {
    #[cold]
    fn fault(&self) -> String {
        // SAFETY: the model lives; its text does until the model is evaluated or destroyed, and is
        // copied before either.
        let said = unsafe { (self.instance.error)(self.instance.model.as_ptr()) };
        text(said, "isthmus_error").unwrap_or_else(|error| error)
    }
}

struct NativeModel {
    description: Description,
    pins: Vec<NonNull<c_void>>,
    instance: Rc<Instance>,
}

impl Model for NativeModel {
    fn description(&self) -> &Description {
        &self.description
    }

    fn pin(&self, index: usize) -> PinStorage {
        let width = self.description.ports[index].width;
        PinStorage::native(NativePin {
            storage: self.pins[index],
            shape: Shape::of_width(width),
            mask: if width >= 64 { u64::MAX } else { (1 << width) - 1 },
            _keep_alive: Rc::clone(&self.instance),
        })
    }

    #[inline]
    fn eval(&mut self, time: Picoseconds) -> Result<(), String> {
        // SAFETY: the model lives as long as the instance, and is not evaluated already: eval does
        // not call back.
        let status = unsafe { (self.instance.eval)(self.instance.model.as_ptr(), time.0) };
        if status == 0 { Ok(()) } else { Err(self.fault()) }
    }

    #[inline]
    fn eval_edge(&mut self, time: Picoseconds) -> Result<(), String> {
        // SAFETY: as `eval`.
        let status = unsafe { (self.instance.edge)(self.instance.model.as_ptr(), time.0) };
        if status == 0 { Ok(()) } else { Err(self.fault()) }
    }
}

/// Loads a Verilated model and creates one instance of it.
///
/// # Errors
/// If the file cannot be loaded, has another version of the ABI or violates it, or if a trace is
/// requested from a model that was built without one.
pub fn load_model(path: &Path, trace: Option<&Path>) -> Result<Box<dyn Model>, SimError> {
    let broken = |reason: String| SimError::ModelAbi { path: path.to_owned(), reason };
    // A bare file name would be searched on the linker's path instead of here.
    let full: PathBuf = path.canonicalize().map_err(|error| SimError::ModelLoad {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    // SAFETY: loading runs the object's static constructors. It is an object our own builder wrote
    // for this purpose; one that is not lacks the symbols below and is unloaded again.
    let library = unsafe { Library::new(&full) }.map_err(|error| SimError::ModelLoad {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    macro_rules! symbol {
        ($name:literal, $type:ty) => {
            // SAFETY: the type is the ABI's for this name; the copied pointer stays valid because
            // `library` moves into the instance that uses it.
            *unsafe { library.get::<$type>(concat!($name, "\0").as_bytes()) }
                .map_err(|_| broken(format!("exports no {}: it was not built by isthmus", $name)))?
        };
    }
    let describe = symbol!("isthmus_describe", DescribeFn);
    let create = symbol!("isthmus_create", CreateFn);
    let port = symbol!("isthmus_port", PortFn);
    let eval = symbol!("isthmus_eval", EvalFn);
    let edge = symbol!("isthmus_edge", EvalFn);
    let error = symbol!("isthmus_error", ErrorFn);
    let destroy = symbol!("isthmus_destroy", DestroyFn);

    // SAFETY: takes nothing, and returns a pointer to static data, checked by `describe_checked`.
    let raw = unsafe { describe() };
    let description = describe_checked(raw).map_err(broken)?;
    let trace = match trace {
        None => None,
        Some(_) if !description.can_trace => {
            return Err(broken("was built without tracing: build it with trace = fst".into()));
        }
        Some(file) => Some(
            CString::new(file.as_os_str().as_encoded_bytes())
                .map_err(|_| broken("the trace's path holds a zero byte".into()))?,
        ),
    };
    // SAFETY: the argument is NULL or a string that outlives the call.
    let model = unsafe { create(trace.as_ref().map_or(std::ptr::null(), |t| t.as_ptr())) };
    let model = NonNull::new(model)
        .ok_or_else(|| broken("isthmus_create gave no model (can the trace be written?)".into()))?;
    let instance = Rc::new(Instance { model, eval, edge, error, destroy, _library: library });

    let mut pins = Vec::with_capacity(description.ports.len());
    for (index, info) in description.ports.iter().enumerate() {
        // SAFETY: the model is alive, and the index below the number of ports.
        let storage = unsafe { port(model.as_ptr(), index as u32) };
        let storage = NonNull::new(storage)
            .ok_or_else(|| broken(format!("port {} has no storage", info.name)))?;
        let align = match Shape::of_width(info.width) {
            Shape::U8 => 1,
            Shape::U16 => 2,
            Shape::U32 | Shape::Words(_) => 4,
            Shape::U64 => 8,
        };
        if !(storage.as_ptr() as usize).is_multiple_of(align) {
            return Err(broken(format!("the storage of port {} is not aligned", info.name)));
        }
        pins.push(storage);
    }
    Ok(Box::new(NativeModel { description, pins, instance }))
}

fn describe_checked(raw: *const RawDescription) -> Result<Description, String> {
    if raw.is_null() {
        return Err("isthmus_describe returned NULL".into());
    }
    // SAFETY: not NULL; `abi` is the first field in every version of the ABI.
    let abi = unsafe { (*raw).abi };
    if abi != ABI_VERSION {
        return Err(format!("has ABI version {abi}, this program {ABI_VERSION}: rebuild it"));
    }
    // SAFETY: the version is ours, so the layout is; the description is static data of the library.
    let raw = unsafe { &*raw };
    let top = text(raw.top, "top")?;
    let source_hash = text(raw.source_hash, "source_hash")?;
    let info = text(raw.info_json, "info_json")?;
    let info: Info =
        serde_json::from_str(&info).map_err(|error| format!("info_json is not valid: {error}"))?;
    if raw.num_ports == 0 || raw.num_ports > MAX_PORTS {
        return Err(format!("has {} ports: 1 to {MAX_PORTS} are accepted", raw.num_ports));
    }
    if raw.ports.is_null() {
        return Err("ports is NULL".into());
    }
    let mut ports = Vec::with_capacity(raw.num_ports as usize);
    for index in 0..raw.num_ports as usize {
        // SAFETY: the ABI promises `num_ports` entries.
        let port = unsafe { &*raw.ports.add(index) };
        let name = text(port.name, &format!("the name of port {index}"))?;
        if port.width == 0 || port.width > MAX_WIDTH {
            return Err(format!("port {name} is {} bits wide: 1 to {MAX_WIDTH}", port.width));
        }
        let direction = match port.dir {
            0 => Direction::Input,
            1 => Direction::Output,
            other => return Err(format!("port {name} has direction {other}: 0 in, 1 out")),
        };
        ports.push(PortInfo { name, width: port.width, direction });
    }
    Ok(Description {
        top,
        source_hash,
        probes: info.probes,
        can_trace: info.trace == "fst",
        parameters: info.parameters,
        ports,
    })
}

fn text(pointer: *const c_char, what: &str) -> Result<String, String> {
    if pointer.is_null() {
        return Err(format!("{what} is NULL"));
    }
    // SAFETY: not NULL, and the ABI promises a zero-terminated string that outlives this call.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map(str::to_owned).map_err(|_| format!("{what} is not UTF-8"))
}
