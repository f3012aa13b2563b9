// SPDX-License-Identifier: Apache-2.0
//! NVIDIA's driver, loaded when it is asked for: a program without it runs, and says so.
#![allow(unsafe_code, reason = "calls into a library of C functions")]

use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

/// Why there is no GPU, or what it refused.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// No library.
    #[error("no GPU here: {0} cannot be loaded")]
    Library(String),
    /// A library without one of the functions.
    #[error("no GPU here: {library} has no {function}")]
    Function {
        /// Which.
        library: String,
        /// It.
        function: &'static str,
    },
    /// No device.
    #[error("no GPU here: the driver has no device")]
    Device,
    /// An error of the driver.
    #[error("{call}: {error}")]
    Call {
        /// What was called.
        call: &'static str,
        /// The driver's name of the error.
        error: String,
    },
    /// Another thread ended the run.
    #[error("stopped")]
    Stopped,
    /// A kernel ended before it was stopped, or did not answer.
    #[error("{0}")]
    Kernel(String),
}

type Status = c_int;

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($type:ty),*);)*) => {
        struct Functions { $($name: unsafe extern "C" fn($($type),*) -> Status,)* }

        impl Functions {
            fn load(library: &Library, path: &str) -> Result<Self, GpuError> {
                $(
                    // SAFETY: the type is that of the driver's documentation for this symbol.
                    let $name = *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }.map_err(
                        |_| GpuError::Function { library: path.to_owned(), function: $symbol },
                    )?;
                )*
                Ok(Self { $($name,)* })
            }
        }
    };
}

functions! {
    init = "cuInit"(c_uint);
    device_count = "cuDeviceGetCount"(*mut c_int);
    device = "cuDeviceGet"(*mut c_int, c_int);
    device_name = "cuDeviceGetName"(*mut c_char, c_int, c_int);
    retain = "cuDevicePrimaryCtxRetain"(*mut *mut c_void, c_int);
    release = "cuDevicePrimaryCtxRelease_v2"(c_int);
    current = "cuCtxSetCurrent"(*mut c_void);
    host_alloc = "cuMemHostAlloc"(*mut *mut c_void, usize, c_uint);
    host_address = "cuMemHostGetDevicePointer_v2"(*mut u64, *mut c_void, c_uint);
    host_free = "cuMemFreeHost"(*mut c_void);
    alloc = "cuMemAlloc_v2"(*mut u64, usize);
    free = "cuMemFree_v2"(u64);
    upload = "cuMemcpyHtoD_v2"(u64, *const c_void, usize);
    download = "cuMemcpyDtoH_v2"(*mut c_void, u64, usize);
    load = "cuModuleLoadData"(*mut *mut c_void, *const c_void);
    unload = "cuModuleUnload"(*mut c_void);
    function = "cuModuleGetFunction"(*mut *mut c_void, *mut c_void, *const c_char);
    stream = "cuStreamCreate"(*mut *mut c_void, c_uint);
    stream_end = "cuStreamDestroy_v2"(*mut c_void);
    query = "cuStreamQuery"(*mut c_void);
    wait = "cuStreamSynchronize"(*mut c_void);
    launch = "cuLaunchKernel"(
        *mut c_void, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, *mut c_void,
        *mut *mut c_void, *mut *mut c_void
    );
    attribute = "cuDeviceGetAttribute"(*mut c_int, c_int, c_int);
    managed = "cuMemAllocManaged"(*mut u64, usize, c_uint);
    advise = "cuMemAdvise"(u64, usize, c_int, c_int);
    prefetch = "cuMemPrefetchAsync"(u64, usize, c_int, *mut c_void);
    upload_async = "cuMemcpyHtoDAsync_v2"(u64, *const c_void, usize, *mut c_void);
    download_async = "cuMemcpyDtoHAsync_v2"(*mut c_void, u64, usize, *mut c_void);
    capture = "cuStreamBeginCapture_v2"(*mut c_void, c_int);
    captured = "cuStreamEndCapture"(*mut c_void, *mut *mut c_void);
    instantiate = "cuGraphInstantiateWithFlags"(*mut *mut c_void, *mut c_void, u64);
    graph_launch = "cuGraphLaunch"(*mut c_void, *mut c_void);
    graph_end = "cuGraphDestroy"(*mut c_void);
    graph_exec_end = "cuGraphExecDestroy"(*mut c_void);
    error_name = "cuGetErrorName"(Status, *mut *const c_char);
}

/// cudaErrorNotReady: the stream is still at work.
const NOT_READY: Status = 600;
/// Host memory that the device may address, under one address for all contexts.
const HOST_PORTABLE_MAPPED: c_uint = 1 | 2;
/// A stream that does not wait for the default one.
const NON_BLOCKING: c_uint = 1;
/// `CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST`: a store of the host to memory that lies in the GPU goes
/// there, and the pages stay.
const HOST_REACHES_DEVICE: c_int = 101;
/// `CU_MEM_ATTACH_GLOBAL`.
const ATTACH_GLOBAL: c_uint = 1;
/// `CU_MEM_ADVISE_SET_PREFERRED_LOCATION` and `CU_MEM_ADVISE_SET_ACCESSED_BY`.
const PREFERRED_LOCATION: c_int = 3;
const ACCESSED_BY: c_int = 5;
/// `CU_DEVICE_CPU`.
const HOST: c_int = -1;
/// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`.
const THREAD_LOCAL: c_int = 1;

/// One GPU, with a module loaded.
pub struct Driver {
    calls: Functions,
    device: c_int,
    module: *mut c_void,
    /// For kernels.
    stream: *mut c_void,
    /// For copies beside a kernel that never leaves.
    copies: *mut c_void,
    /// Its name.
    name: String,
    _library: Library,
}

/// Memory that both address: of the host, or of the GPU (`Driver::stored`). It is freed with `Driver::free_mapped`.
pub(super) struct Mapped {
    host: *mut u32,
    pub(super) device: u64,
    words: usize,
    of_device: bool,
}

/// Work of the GPU that one call starts again and again.
pub(super) struct Graph {
    graph: *mut c_void,
    exec: *mut c_void,
}

impl Mapped {
    /// A word. Each is an atomic for the host; the GPU reads and writes lines of them.
    pub(super) fn word(&self, at: usize) -> &AtomicU32 {
        assert!(at < self.words);
        // SAFETY: within the allocation, aligned, and only used as atomics on this side.
        unsafe { AtomicU32::from_ptr(self.host.add(at)) }
    }

    /// Writes words one after another, the last one last.
    pub(super) fn write(&self, first: usize, words: &[u32]) {
        for (at, &value) in words.iter().enumerate() {
            let last = at + 1 == words.len();
            let order = if last { Ordering::Release } else { Ordering::Relaxed };
            self.word(first + at).store(value, order);
        }
    }

    /// Reads words.
    pub(super) fn read(&self, first: usize, words: &mut [u32]) {
        for (at, value) in words.iter_mut().enumerate() {
            *value = self.word(first + at).load(Ordering::Acquire);
        }
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub(super) enum Argument {
    Address(u64),
    Word(u32),
    Long(u64),
}

impl Driver {
    /// The first GPU, by the library at `path` (`libcuda.so.1`), with the kernels of a cubin. Without one the error
    /// is a line that says why.
    pub fn open(path: &str, cubin: &[u8]) -> Result<Self, GpuError> {
        let calls = Calls::new(path)?;
        let Calls { functions: calls, library, device, name } = calls;
        let (module, stream, copies) = (null_mut(), null_mut(), null_mut());
        let mut made = Self { calls, device, module, stream, copies, name, _library: library };
        let (mut context, mut module, mut stream) = (null_mut(), null_mut(), null_mut());
        // SAFETY: out parameters are valid for the calls; the image outlives the call that copies it.
        unsafe {
            made.check("cuDevicePrimaryCtxRetain", (made.calls.retain)(&mut context, device))?;
            made.check("cuCtxSetCurrent", (made.calls.current)(context))?;
            let image = cubin.as_ptr().cast();
            made.check("cuModuleLoadData", (made.calls.load)(&mut module, image))?;
            made.module = module;
            let status = (made.calls.stream)(&mut stream, NON_BLOCKING);
            made.check("cuStreamCreate", status)?;
            made.stream = stream;
            let status = (made.calls.stream)(&mut stream, NON_BLOCKING);
            made.check("cuStreamCreate", status)?;
            made.copies = stream;
        }
        Ok(made)
    }

    /// Whether there is a GPU; its name.
    pub fn probe(path: &str) -> Result<String, GpuError> {
        Ok(Calls::new(path)?.name)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    fn check(&self, call: &'static str, status: Status) -> Result<(), GpuError> {
        check(&self.calls, call, status)
    }

    pub(super) fn mapped(&self, words: usize) -> Result<Mapped, GpuError> {
        let (mut host, mut device) = (null_mut(), 0);
        // SAFETY: out parameters are valid; the memory is initialised before it is used.
        unsafe {
            let status = (self.calls.host_alloc)(&mut host, 4 * words, HOST_PORTABLE_MAPPED);
            self.check("cuMemHostAlloc", status)?;
            let status = (self.calls.host_address)(&mut device, host, 0);
            host.cast::<u32>().write_bytes(0, words);
            let made = Mapped { host: host.cast(), device, words, of_device: false };
            if let Err(error) = self.check("cuMemHostGetDevicePointer", status) {
                self.free_mapped(made);
                return Err(error);
            }
            Ok(made)
        }
    }

    /// Memory of the GPU to which the host stores. An error where the machine has no way for such stores.
    pub(super) fn stored(&self, words: usize) -> Result<Mapped, GpuError> {
        let mut reaches = 0;
        // SAFETY: the out parameter is valid.
        let status =
            unsafe { (self.calls.attribute)(&mut reaches, HOST_REACHES_DEVICE, self.device) };
        self.check("cuDeviceGetAttribute", status)?;
        if reaches == 0 {
            let what = "not available: this machine's processor has no stores into the GPU's memory \
                        (DIRECT_MANAGED_MEM_ACCESS_FROM_HOST is 0)";
            return Err(GpuError::Kernel(what.into()));
        }
        let (bytes, mut device) = (4 * words, 0);
        // SAFETY: the out parameter is valid. The pages are moved to the GPU and initialised there before their use.
        let moved = unsafe {
            let status = (self.calls.managed)(&mut device, bytes, ATTACH_GLOBAL);
            self.check("cuMemAllocManaged", status)?;
            let there = (self.calls.advise)(device, bytes, PREFERRED_LOCATION, self.device);
            let seen = (self.calls.advise)(device, bytes, ACCESSED_BY, HOST);
            let moved = (self.calls.prefetch)(device, bytes, self.device, self.copies);
            self.check("cuMemAdvise", there)
                .and_then(|()| self.check("cuMemAdvise", seen))
                .and_then(|()| self.check("cuMemPrefetchAsync", moved))
                .and_then(|()| self.wait_copies())
        };
        let made = Mapped { host: device as *mut u32, device, words, of_device: true };
        if let Err(error) = moved {
            self.free_mapped(made);
            return Err(error);
        }
        // SAFETY: within the allocation; one address serves host and GPU.
        unsafe { made.host.write_bytes(0, words) };
        Ok(made)
    }

    #[allow(clippy::needless_pass_by_value, reason = "it is gone afterwards")]
    pub(super) fn free_mapped(&self, memory: Mapped) {
        if memory.of_device {
            return self.free(memory.device);
        }
        // SAFETY: allocated by `mapped`, freed once.
        unsafe { (self.calls.host_free)(memory.host.cast()) };
    }

    pub(super) fn alloc(&self, bytes: usize) -> Result<u64, GpuError> {
        let mut address = 0;
        // SAFETY: the out parameter is valid.
        self.check("cuMemAlloc", unsafe { (self.calls.alloc)(&mut address, bytes) })?;
        Ok(address)
    }

    pub(super) fn free(&self, address: u64) {
        // SAFETY: of `alloc`, freed once.
        unsafe { (self.calls.free)(address) };
    }

    pub(super) fn upload<T: Copy>(&self, to: u64, from: &[T]) -> Result<(), GpuError> {
        // SAFETY: the slice is valid for its bytes; the call ends when they are copied.
        let status = unsafe { (self.calls.upload)(to, from.as_ptr().cast(), size_of_val(from)) };
        self.check("cuMemcpyHtoD", status)
    }

    pub(super) fn download(&self, to: &mut [u32], from: u64) -> Result<(), GpuError> {
        // SAFETY: as above; any bytes are valid words.
        let status =
            unsafe { (self.calls.download)(to.as_mut_ptr().cast(), from, size_of_val(to)) };
        self.check("cuMemcpyDtoH", status)
    }

    /// Begins to copy words of the host's memory to the GPU's, beside kernels. `wait_copies` waits for all.
    pub(super) fn copy(
        &self,
        to: u64,
        from: &Mapped,
        first: usize,
        words: usize,
    ) -> Result<(), GpuError> {
        assert!(first + words <= from.words);
        // SAFETY: within the allocation, which outlives the copy: its owner waits for copies before it frees it.
        let status = unsafe {
            (self.calls.upload_async)(to, from.host.add(first).cast(), 4 * words, self.copies)
        };
        self.check("cuMemcpyHtoDAsync", status)
    }

    pub(super) fn wait_copies(&self) -> Result<(), GpuError> {
        // SAFETY: the stream is ours.
        self.check("cuStreamSynchronize", unsafe { (self.calls.wait)(self.copies) })
    }

    /// Copies all of `input` to `to`, starts a kernel, copies `from` to all of `output`: as one graph.
    pub(super) fn graph(
        &self,
        (input, to): (&Mapped, u64),
        kernel: (&str, [u32; 2], &mut [Argument]),
        (from, output): (u64, &Mapped),
    ) -> Result<Graph, GpuError> {
        let mut graph = null_mut();
        // SAFETY: both memories outlive the graph; the stream is ours, and only this thread uses it.
        let recorded = unsafe {
            let status = (self.calls.capture)(self.stream, THREAD_LOCAL);
            self.check("cuStreamBeginCapture", status)?;
            let (bytes, host) = (4 * input.words, input.host.cast());
            let status = (self.calls.upload_async)(to, host, bytes, self.stream);
            let recorded = self
                .check("cuMemcpyHtoDAsync", status)
                .and_then(|()| self.launch(kernel.0, kernel.1, kernel.2))
                .and_then(|()| {
                    let (bytes, host) = (4 * output.words, output.host.cast());
                    let status = (self.calls.download_async)(host, from, bytes, self.stream);
                    self.check("cuMemcpyDtoHAsync", status)
                });
            let status = (self.calls.captured)(self.stream, &mut graph);
            recorded.and_then(|()| self.check("cuStreamEndCapture", status))
        };
        let mut made = Graph { graph, exec: null_mut() };
        // SAFETY: the out parameter is valid.
        let made_exec = recorded.and_then(|()| {
            let status = unsafe { (self.calls.instantiate)(&mut made.exec, graph, 0) };
            self.check("cuGraphInstantiate", status)
        });
        match made_exec {
            Ok(()) => Ok(made),
            Err(error) => {
                self.free_graph(made);
                Err(error)
            }
        }
    }

    /// Starts a graph.
    pub(super) fn start(&self, graph: &Graph) -> Result<(), GpuError> {
        // SAFETY: of `graph`, not yet freed.
        let status = unsafe { (self.calls.graph_launch)(graph.exec, self.stream) };
        self.check("cuGraphLaunch", status)
    }

    #[allow(clippy::needless_pass_by_value, reason = "it is gone afterwards")]
    pub(super) fn free_graph(&self, graph: Graph) {
        // SAFETY: of `graph`, each freed once.
        unsafe {
            if !graph.exec.is_null() {
                (self.calls.graph_exec_end)(graph.exec);
            }
            if !graph.graph.is_null() {
                (self.calls.graph_end)(graph.graph);
            }
        }
    }

    /// Starts a kernel on the stream of this driver.
    pub(super) fn launch(
        &self,
        name: &str,
        [blocks, threads]: [u32; 2],
        arguments: &mut [Argument],
    ) -> Result<(), GpuError> {
        let wanted = CString::new(name).map_err(|_| GpuError::Kernel("no name".into()))?;
        let mut function = null_mut();
        let mut pointers: Vec<*mut c_void> = arguments
            .iter_mut()
            .map(|argument| match argument {
                Argument::Address(value) | Argument::Long(value) => {
                    std::ptr::from_mut(value).cast()
                }
                Argument::Word(value) => std::ptr::from_mut(value).cast(),
            })
            .collect();
        // SAFETY: the pointers are to the kernel's parameters, in their order, and live until the call returns.
        unsafe {
            let status = (self.calls.function)(&mut function, self.module, wanted.as_ptr());
            self.check("cuModuleGetFunction", status)?;
            let (stream, list) = (self.stream, pointers.as_mut_ptr());
            let status = (self.calls.launch)(
                function,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                0,
                stream,
                list,
                null_mut(),
            );
            self.check("cuLaunchKernel", status)
        }
    }

    /// Waits until the kernels of the stream have ended.
    pub(super) fn wait(&self) -> Result<(), GpuError> {
        // SAFETY: the stream is ours.
        self.check("cuStreamSynchronize", unsafe { (self.calls.wait)(self.stream) })
    }

    /// Whether a kernel is running. Does not wait.
    pub(super) fn running(&self) -> Result<bool, GpuError> {
        // SAFETY: the stream is ours.
        match unsafe { (self.calls.query)(self.stream) } {
            NOT_READY => Ok(true),
            status => self.check("cuStreamQuery", status).map(|()| false),
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // SAFETY: each object is destroyed once; in a destructor errors cannot be reported.
        unsafe {
            for stream in [self.stream, self.copies] {
                if !stream.is_null() {
                    (self.calls.wait)(stream);
                    (self.calls.stream_end)(stream);
                }
            }
            if !self.module.is_null() {
                (self.calls.unload)(self.module);
            }
            (self.calls.release)(self.device);
        }
    }
}

/// A driver with a device, before a context is made.
struct Calls {
    functions: Functions,
    library: Library,
    device: c_int,
    name: String,
}

impl Calls {
    fn new(path: &str) -> Result<Self, GpuError> {
        // SAFETY: the driver's initialisers are those of any program that links it.
        let library =
            unsafe { Library::new(path) }.map_err(|_| GpuError::Library(path.to_owned()))?;
        let functions = Functions::load(&library, path)?;
        let (mut number, mut device, mut name) = (0, 0, [0u8; 128]);
        // SAFETY: out parameters are valid for the calls, the name ends within its array.
        unsafe {
            check(&functions, "no GPU here: cuInit", (functions.init)(0))?;
            check(&functions, "cuDeviceGetCount", (functions.device_count)(&mut number))?;
            if number == 0 {
                return Err(GpuError::Device);
            }
            check(&functions, "cuDeviceGet", (functions.device)(&mut device, 0))?;
            let status = (functions.device_name)(name.as_mut_ptr().cast(), 127, device);
            check(&functions, "cuDeviceGetName", status)?;
        }
        let name = CStr::from_bytes_until_nul(&name).map_or("GPU".into(), CStr::to_string_lossy);
        Ok(Self { name: name.into_owned(), functions, library, device })
    }
}

fn check(functions: &Functions, call: &'static str, status: Status) -> Result<(), GpuError> {
    if status == 0 {
        return Ok(());
    }
    let mut name = null();
    // SAFETY: the driver's names are static texts.
    let error = unsafe {
        (functions.error_name)(status, &mut name);
        if name.is_null() {
            format!("error {status}")
        } else {
            CStr::from_ptr(name).to_string_lossy().into_owned()
        }
    };
    Err(GpuError::Call { call, error })
}
