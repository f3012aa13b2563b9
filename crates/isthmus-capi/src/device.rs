// SPDX-License-Identifier: Apache-2.0
//! Sockets, devices and cycles of a master.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::pin::pin;
use std::ptr;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use isthmus_host::etherbone::{Access, Client, ClientConfig, Cycle, Ended, Error, Width};
use isthmus_host::transport::{block_on, open};

use crate::limited::{Limit, Limited, limit};
use crate::status::{
    ABI, ABI_CODE, ADDRESS, BUSY, ENDIAN, Fault, OK, Status, WIDTH, fault, give, masks, null,
    open_handle, remember, run,
};

const LITTLE_ENDIAN: u8 = 0x20;
const BIG_ENDIAN: u8 = 0x10;
const DATAX: u8 = 0x0F;
/// Cycles whose operations' memory is kept for reuse: their number, and the operations of each, at most.
const SPARES: usize = 256;
const SPARE_OPERATIONS: usize = 1024;

pub type Callback = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        device: *mut Device,
        operations: *const Operation,
        status: Status,
    ),
>;

pub struct Socket {
    widths: u8,
    timeout: Duration,
    devices: Vec<*mut Device>,
}

pub struct Device {
    socket: *mut Socket,
    pub(crate) client: Client<Limited>,
    /// All that were made, one of each index. They live as long as the device.
    cycles: Vec<*mut OpenCycle>,
    /// Those that are not in use.
    spare: Vec<*mut OpenCycle>,
    open_cycles: usize,
    /// Cycles that were closed.
    closed: u64,
    /// The statuses of blocking cycles that have ended, until their callers take them.
    blocked: Vec<(u64, Status)>,
}

impl Device {
    /// Takes a cycle that has ended.
    ///
    /// # Safety
    /// It is the device's, and no reference into it lives.
    unsafe fn recycle(&mut self, cycle: *mut OpenCycle) {
        // SAFETY: the caller's word.
        let ended = unsafe { &mut *cycle };
        ended.number = None;
        if ended.index < SPARES && ended.operations.capacity() <= SPARE_OPERATIONS {
            ended.operations.clear();
        } else {
            ended.operations = Vec::new();
        }
        self.spare.push(cycle);
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        for &cycle in &self.cycles {
            // SAFETY: made by `new_cycle`, and used through its device only.
            drop(unsafe { Box::from_raw(cycle) });
        }
    }
}

pub struct OpenCycle {
    device: *mut Device,
    user: *mut c_void,
    callback: Callback,
    operations: Vec<Operation>,
    /// Among the device's cycles.
    index: usize,
    /// How many were closed before it, while its end has not been reported.
    number: Option<u64>,
}

pub struct Operation {
    address: u64,
    data: u64,
    format: u8,
    read: bool,
    config: bool,
    had_error: bool,
    last: bool,
    target: *mut u64,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_socket_open(
    abi_code: u16,
    widths: u8,
    result: *mut *mut Socket,
) -> Status {
    run(|| {
        if abi_code != ABI_CODE {
            return Err((ABI, format!("built against interface {abi_code}, this is {ABI_CODE}")));
        }
        let timeout = ClientConfig::default().reply_timeout;
        let socket = Box::into_raw(Box::new(Socket { widths, timeout, devices: Vec::new() }));
        // SAFETY: `result` is the caller's place for the handle.
        unsafe { give(result, socket, "result") }.inspect_err(|_| {
            // SAFETY: made above, and not shared.
            drop(unsafe { Box::from_raw(socket) });
        })?;
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_socket_close(socket: *mut Socket) -> Status {
    run(|| {
        // SAFETY: an open handle, by the header's contract.
        let open = unsafe { open_handle(socket, "socket") }?.devices.len();
        if open > 0 {
            return Err((BUSY, format!("{open} devices of the socket are open")));
        }
        // SAFETY: made by `ieb_socket_open`, and the caller gives it back.
        drop(unsafe { Box::from_raw(socket) });
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_socket_set_timeout(socket: *mut Socket, timeout_us: u64) -> Status {
    run(|| {
        // SAFETY: an open handle, by the header's contract.
        unsafe { open_handle(socket, "socket") }?.timeout = Duration::from_micros(timeout_us);
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_socket_run(socket: *mut Socket, timeout_us: i64) -> i64 {
    let mut left = 0;
    let status = run(|| {
        // SAFETY: an open handle, by the header's contract.
        let devices = unsafe { open_handle(socket, "socket") }?.devices.clone();
        let limit = u64::try_from(timeout_us).ok().map(Duration::from_micros);
        let started = std::time::Instant::now();
        let mut first = Ok(OK);
        for &device in &devices {
            // SAFETY: a socket's list holds open devices only.
            let opened = unsafe { open_handle(device, "device") }?;
            if let Err(error) = block_on(opened.client.flush()) {
                first = first.and(Err(fault(&error)));
            }
        }
        for &device in &devices {
            {
                // SAFETY: as above; a callback must not close a device.
                let opened = unsafe { open_handle(device, "device") }?;
                let time = limit.map(|limit| limit.saturating_sub(started.elapsed()));
                if let Err(error) = settle(&mut opened.client, time) {
                    first = first.and(Err(fault(&error)));
                }
            }
            // SAFETY: as above, and no reference into the device lives.
            unsafe { tell(device) }?;
        }
        for &device in &devices {
            // SAFETY: as above.
            left += unsafe { open_handle(device, "device") }?.client.outstanding();
        }
        first
    });
    if status < 0 { i64::from(status) } else { i64::try_from(left).unwrap_or(i64::MAX) }
}

/// Waits until every cycle has ended, or for a time.
fn settle(client: &mut Client<Limited>, time: Option<Duration>) -> Result<(), Error> {
    limit(client.transport(), time);
    let ended = {
        let mut settled = pin!(client.settle());
        // The transport blocks: pending means that the timeout has passed.
        match settled.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(ended) => ended,
            Poll::Pending => Ok(()),
        }
    };
    limit(client.transport(), None);
    ended
}

/// Runs the callbacks of a device's cycles that have ended.
///
/// # Safety
/// `device` is open, and no reference into it lives.
unsafe fn tell(device: *mut Device) -> Result<(), Fault> {
    loop {
        // SAFETY: the caller's word; the reference ends before the callback, which may call back in.
        let opened = unsafe { open_handle(device, "device") }?;
        let Some(Ended { tag, result }) = opened.client.next_ended() else { return Ok(()) };
        let Some(&place) = opened.cycles.get(tag as usize) else { continue };
        // SAFETY: the device's; its handle was given back when it was closed.
        let cycle = unsafe { &mut *place };
        // Without a number it is over for the program.
        let Some(number) = cycle.number else { continue };
        // SAFETY: the targets live until now, by the header's contract.
        let status = unsafe { finish(&mut cycle.operations, result) };
        if cycle.callback.is_none() {
            opened.blocked.push((number, status));
        } else {
            // SAFETY: as the caller says; `opened` is not used any more.
            unsafe { call(device, cycle, status) };
        }
        // SAFETY: as above; the callback must not close the device.
        unsafe { open_handle(device, "device")?.recycle(place) };
    }
}

/// Runs a cycle's callback.
///
/// # Safety
/// `device` is open, and no reference into it lives.
unsafe fn call(device: *mut Device, cycle: &OpenCycle, status: Status) {
    if let Some(callback) = cycle.callback {
        let first = cycle.operations.first().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: the program's own function; operations live until it returns.
        unsafe { callback(cycle.user, device, first, status) };
    }
}

/// Puts values where they are wanted and marks what failed.
///
/// # Safety
/// Every operation's target is NULL or can be written.
#[inline]
unsafe fn finish(operations: &mut [Operation], result: Result<&[u64], Error>) -> Status {
    match result {
        // SAFETY: the caller's word.
        Ok(reads) => unsafe { deliver(operations, reads, &[], OK) },
        // SAFETY: as above.
        Err(error) => unsafe { fail(operations, error) },
    }
}

/// # Safety
/// As of [`finish`].
#[cold]
unsafe fn fail(operations: &mut [Operation], error: Error) -> Status {
    let (status, text) = fault(&error);
    remember(&text);
    let (reads, failed) = match error {
        Error::Bus { reads, failed, .. } => (reads, failed),
        _ => (Vec::new(), Vec::new()),
    };
    // SAFETY: as above.
    unsafe { deliver(operations, &reads, &failed, status) }
}

/// # Safety
/// As of [`finish`].
#[inline]
unsafe fn deliver(
    operations: &mut [Operation],
    reads: &[u64],
    failed: &[usize],
    status: Status,
) -> Status {
    let reading = operations.iter_mut().filter(|operation| operation.read);
    for (operation, value) in reading.zip(reads) {
        operation.data = *value;
        if !operation.target.is_null() {
            // SAFETY: not NULL, and the caller's word.
            unsafe { operation.target.write(*value) };
        }
    }
    for index in failed {
        if let Some(operation) = operations.get_mut(*index) {
            operation.had_error = true;
        }
    }
    if let Some(last) = operations.last_mut() {
        last.last = true;
    }
    status
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_device_open(
    socket: *mut Socket,
    name: *const c_char,
    widths: u8,
    attempts: c_int,
    result: *mut *mut Device,
) -> Status {
    run(|| {
        if name.is_null() || result.is_null() {
            return Err(null(if name.is_null() { "name" } else { "result" }));
        }
        // SAFETY: not NULL; a string of C, by the header's contract.
        let name = unsafe { CStr::from_ptr(name) };
        let name = name.to_str().map_err(|_| (ADDRESS, "the name is not UTF-8".to_owned()))?;
        let client = {
            // SAFETY: an open handle, by the header's contract.
            let socket = unsafe { open_handle(socket, "socket") }?;
            let config = ClientConfig {
                widths: masks(socket.widths & widths),
                probe_attempts: u32::try_from(attempts).unwrap_or_default().max(1),
                reply_timeout: socket.timeout,
                ..ClientConfig::default()
            };
            let opened = open(name).map_err(|error| fault(&error.into()))?;
            let client = block_on(Client::connect(Limited::new(opened, Limit::default()), config));
            client.map_err(|error| fault(&error))?
        };
        let device = Device {
            socket,
            client,
            cycles: Vec::new(),
            spare: Vec::new(),
            open_cycles: 0,
            closed: 0,
            blocked: Vec::new(),
        };
        let device = Box::into_raw(Box::new(device));
        // SAFETY: as above.
        unsafe { open_handle(socket, "socket") }?.devices.push(device);
        // SAFETY: `result` is the caller's place for the handle, and not NULL.
        unsafe { give(result, device, "result") }?;
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_device_close(device: *mut Device) -> Status {
    run(|| {
        {
            // SAFETY: an open handle, by the header's contract.
            let opened = unsafe { open_handle(device, "device") }?;
            if opened.open_cycles > 0 {
                return Err((BUSY, format!("{} cycles are open", opened.open_cycles)));
            }
        }
        // Ended cycles are reported with their result, the rest as failed.
        // SAFETY: open, and no reference into it lives.
        unsafe { tell(device) }?;
        // SAFETY: as above; the reference ends here.
        let mut left = unsafe { open_handle(device, "device") }?.cycles.clone();
        // SAFETY: the device's, and no reference into one lives.
        left.retain(|cycle| unsafe { &**cycle }.number.is_some());
        // SAFETY: as above.
        left.sort_by_key(|cycle| unsafe { &**cycle }.number);
        for &place in &left {
            // SAFETY: as above. A callback that runs the socket must not end the others.
            unsafe { (*place).number = None };
        }
        for place in left {
            // SAFETY: as above; a callback cannot reach it.
            let cycle = unsafe { &mut *place };
            // SAFETY: the targets live until the end is reported, by the header's contract.
            let status = unsafe { finish(&mut cycle.operations, Err(Error::Dropped)) };
            // SAFETY: open, and no reference into it lives.
            unsafe { call(device, cycle, status) };
        }
        // SAFETY: made by `ieb_device_open`, and the caller gives it back.
        let owned = unsafe { Box::from_raw(device) };
        // SAFETY: a socket with an open device cannot be closed.
        unsafe { open_handle(owned.socket, "socket") }?.devices.retain(|other| *other != device);
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_device_width(device: *mut Device) -> u8 {
    // SAFETY: an open handle, by the header's contract.
    let format = unsafe { device.as_ref() }.map(|device| device.client.format());
    format.map_or(0, |format| (format.address as u8) << 4 | format.data as u8)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_device_socket(device: *mut Device) -> *mut Socket {
    // SAFETY: an open handle, by the header's contract.
    unsafe { device.as_ref() }.map_or(ptr::null_mut(), |device| device.socket)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_cycle_open(
    device: *mut Device,
    user: *mut c_void,
    callback: Callback,
    result: *mut *mut OpenCycle,
) -> Status {
    run(|| {
        if result.is_null() {
            return Err(null("result"));
        }
        // SAFETY: an open handle, by the header's contract.
        let cycle = unsafe { new_cycle(device, user, callback) }?;
        // SAFETY: `result` is the caller's place for the handle, and not NULL.
        unsafe { give(result, cycle, "result") }?;
        Ok(OK)
    })
}

/// A cycle that is being described.
///
/// # Safety
/// `device` is NULL or open, and no reference into it lives.
unsafe fn new_cycle(
    device: *mut Device,
    user: *mut c_void,
    callback: Callback,
) -> Result<*mut OpenCycle, Fault> {
    // SAFETY: the caller's word.
    let opened = unsafe { open_handle(device, "device") }?;
    opened.open_cycles += 1;
    if let Some(place) = opened.spare.pop() {
        // SAFETY: the device's, and not in use.
        let cycle = unsafe { &mut *place };
        (cycle.user, cycle.callback) = (user, callback);
        return Ok(place);
    }
    let index = opened.cycles.len();
    let operations = Vec::new();
    let cycle = OpenCycle { device, user, callback, operations, index, number: None };
    let place = Box::into_raw(Box::new(cycle));
    opened.cycles.push(place);
    Ok(place)
}

/// Adds an operation. What is wrong with it waits for the cycle's end.
///
/// # Safety
/// `cycle` is NULL or an open handle.
unsafe fn add(cycle: *mut OpenCycle, operation: Operation) {
    // SAFETY: the caller's word.
    if let Some(cycle) = unsafe { cycle.as_mut() } {
        cycle.operations.push(operation);
    }
}

fn operation(address: u64, format: u8, data: u64, target: *mut u64) -> Operation {
    Operation {
        address,
        data,
        format,
        read: false,
        config: false,
        had_error: false,
        last: false,
        target,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_cycle_read(
    cycle: *mut OpenCycle,
    address: u64,
    format: u8,
    data: *mut u64,
) {
    let operation = Operation { read: true, ..operation(address, format, 0, data) };
    // SAFETY: an open handle, by the header's contract.
    unsafe { add(cycle, operation) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_cycle_write(
    cycle: *mut OpenCycle,
    address: u64,
    format: u8,
    data: u64,
) {
    // SAFETY: an open handle, by the header's contract.
    unsafe { add(cycle, operation(address, format, data, ptr::null_mut())) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_cycle_read_config(
    cycle: *mut OpenCycle,
    address: u64,
    format: u8,
    data: *mut u64,
) {
    let operation = Operation { read: true, config: true, ..operation(address, format, 0, data) };
    // SAFETY: an open handle, by the header's contract.
    unsafe { add(cycle, operation) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_cycle_write_config(
    cycle: *mut OpenCycle,
    address: u64,
    format: u8,
    data: u64,
) {
    let operation = Operation { config: true, ..operation(address, format, data, ptr::null_mut()) };
    // SAFETY: an open handle, by the header's contract.
    unsafe { add(cycle, operation) };
}

/// Adds an operation in the terms of the host library.
fn plan(cycle: &mut Cycle, operation: &Operation, port: Width, most: u64) -> Result<(), Fault> {
    let &Operation { address, data, format, read, config, .. } = operation;
    let at = |text: &str| format!("{} {address:#x}: {text}", if read { "read" } else { "write" });
    if address > most {
        return Err((ADDRESS, at("beyond the device's addresses")));
    }
    let access = match (read, config) {
        (true, false) => Access::Read,
        (false, false) => Access::Write,
        (true, true) => Access::ReadConfig,
        (false, true) => Access::WriteConfig,
    };
    if config {
        cycle.add(access, address, data & port.mask(), None);
        return Ok(());
    }
    let size = match format & DATAX {
        DATAX => port,
        mask if mask == port as u8 => port,
        mask => Width::ALL
            .into_iter()
            .find(|width| *width as u8 == mask)
            .ok_or_else(|| (WIDTH, at("the format must name one size, or IEB_DATAX")))?,
    };
    if size > port {
        return Err((WIDTH, at(&format!("{} bytes, the port has {}", size.bytes(), port.bytes()))));
    }
    let (bytes, stride) = (size.bytes() as u64, port.bytes() as u64);
    // A width is a power of two.
    if address & (bytes - 1) != 0 {
        return Err((ADDRESS, at(&format!("must be a multiple of {bytes}"))));
    }
    if size == port {
        cycle.add(access, address, data & port.mask(), None);
        return Ok(());
    }
    let within = address % stride;
    let lane = match format & (BIG_ENDIAN | LITTLE_ENDIAN) {
        BIG_ENDIAN => address,
        // Lanes are counted from the other end.
        LITTLE_ENDIAN => address - within + stride - bytes - within,
        _ => {
            return Err((
                ENDIAN,
                at("narrower than the port: IEB_BIG_ENDIAN or IEB_LITTLE_ENDIAN"),
            ));
        }
    };
    cycle.add(access, lane, data & size.mask(), Some(size));
    Ok(())
}

/// Ends a cycle's description.
///
/// # Safety
/// `cycle` is an open handle, its operations' targets NULL or writable until the cycle's end is reported.
unsafe fn close(cycle: *mut OpenCycle, silent: bool) -> Result<Status, Fault> {
    if cycle.is_null() {
        return Err(null("cycle"));
    }
    // SAFETY: the caller's word.
    unsafe { submit(cycle, silent) }
}

/// Queues a cycle, and waits for its end if it has no callback.
///
/// # Safety
/// It is open, its device is open and no reference into either lives; its operations' targets are NULL or
/// writable until the cycle's end is reported.
unsafe fn submit(place: *mut OpenCycle, silent: bool) -> Result<Status, Fault> {
    // SAFETY: the caller's word.
    let cycle = unsafe { &mut *place };
    let device = cycle.device;
    let number = {
        // SAFETY: a device with an open cycle cannot be closed.
        let opened = unsafe { open_handle(device, "device") }?;
        opened.open_cycles = opened.open_cycles.saturating_sub(1);
        let format = opened.client.format();
        let (port, most) = (format.data, format.address.mask());
        let mut wrong = None;
        let submitted = opened.client.submit_tagged(cycle.index as u64, |planned| {
            for operation in &cycle.operations {
                if let Err(fault) = plan(planned, operation, port, most) {
                    wrong = Some(fault);
                    // Nothing to send.
                    planned.clear();
                    return;
                }
            }
            if silent {
                planned.make_silent();
            }
        });
        if let Err(error) = submitted {
            // SAFETY: the device's, and the reference into it is not used any more.
            unsafe { opened.recycle(place) };
            return Err(wrong.unwrap_or_else(|| fault(&error)));
        }
        let number = opened.closed;
        cycle.number = Some(number);
        opened.closed += 1;
        if cycle.callback.is_some() {
            return Ok(OK);
        }
        let settled = block_on(async {
            opened.client.flush().await?;
            opened.client.settle().await
        });
        // A transport that failed has ended the cycle, too.
        drop(settled);
        number
    };
    // SAFETY: open, and no reference into it lives. Other cycles have ended with this one.
    unsafe { tell(device) }?;
    // SAFETY: as above.
    let opened = unsafe { open_handle(device, "device") }?;
    match opened.blocked.iter().position(|(ended, _)| *ended == number) {
        Some(index) => Ok(opened.blocked.swap_remove(index).1),
        None => {
            // It was not sent, but may be yet: its place is not used again. Its targets belong to the
            // caller in any case.
            // SAFETY: the device's, and no reference into it lives.
            unsafe { (*place).number = None };
            Err(fault(&Error::Dropped))
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_cycle_close(cycle: *mut OpenCycle) -> Status {
    // SAFETY: an open handle, by the header's contract.
    run(|| unsafe { close(cycle, false) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_cycle_close_silently(cycle: *mut OpenCycle) -> Status {
    // SAFETY: an open handle, by the header's contract.
    run(|| unsafe { close(cycle, true) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_cycle_abort(cycle: *mut OpenCycle) {
    if cycle.is_null() {
        return;
    }
    // SAFETY: an open handle, by the header's contract.
    let device = unsafe { (*cycle).device };
    // SAFETY: a device with an open cycle cannot be closed.
    if let Some(device) = unsafe { device.as_mut() } {
        device.open_cycles = device.open_cycles.saturating_sub(1);
        // SAFETY: the device's, and the caller gives it back.
        unsafe { device.recycle(cycle) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_cycle_device(cycle: *mut OpenCycle) -> *mut Device {
    // SAFETY: an open handle, by the header's contract.
    unsafe { cycle.as_ref() }.map_or(ptr::null_mut(), |cycle| cycle.device)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_operation_next(operation: *const Operation) -> *const Operation {
    // SAFETY: an operation of a running callback, by the header's contract.
    match unsafe { operation.as_ref() } {
        // SAFETY: not the last one, so that another follows in the same allocation.
        Some(this) if !this.last => unsafe { operation.add(1) },
        _ => ptr::null(),
    }
}

macro_rules! of_operation {
    ($name:ident, $type:ty, $field:expr) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(operation: *const Operation) -> $type {
            let field: fn(&Operation) -> $type = $field;
            // SAFETY: an operation of a running callback, by the header's contract.
            unsafe { operation.as_ref() }.map_or(0, field)
        }
    };
}

of_operation!(ieb_operation_is_read, c_int, |operation| c_int::from(operation.read));
of_operation!(ieb_operation_is_config, c_int, |operation| c_int::from(operation.config));
of_operation!(ieb_operation_had_error, c_int, |operation| c_int::from(operation.had_error));
of_operation!(ieb_operation_address, u64, |operation| operation.address);
of_operation!(ieb_operation_data, u64, |operation| operation.data);
of_operation!(ieb_operation_format, u8, |operation| operation.format);

/// A cycle of one operation.
///
/// # Safety
/// As of the functions of the header that use it.
unsafe fn single(
    device: *mut Device,
    user: *mut c_void,
    callback: Callback,
    operation: Operation,
) -> Status {
    run(|| {
        // SAFETY: an open handle, by the header's contract.
        let cycle = unsafe { new_cycle(device, user, callback) }?;
        // SAFETY: made just now.
        unsafe { add(cycle, operation) };
        // SAFETY: the caller's word.
        unsafe { submit(cycle, false) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_device_read(
    device: *mut Device,
    address: u64,
    format: u8,
    data: *mut u64,
    user: *mut c_void,
    callback: Callback,
) -> Status {
    let operation = Operation { read: true, ..operation(address, format, 0, data) };
    // SAFETY: passed on.
    unsafe { single(device, user, callback, operation) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_device_write(
    device: *mut Device,
    address: u64,
    format: u8,
    data: u64,
    user: *mut c_void,
    callback: Callback,
) -> Status {
    // SAFETY: passed on.
    unsafe { single(device, user, callback, operation(address, format, data, ptr::null_mut())) }
}
