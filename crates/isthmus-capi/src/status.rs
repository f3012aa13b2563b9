// SPDX-License-Identifier: Apache-2.0
//! Statuses, the text of the last error, and how calls of C are run.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use isthmus_host::etherbone::{Error, Widths};
use isthmus_host::transport::TransportError;

pub const ABI_CODE: u16 = 1;

pub type Status = i32;
pub const OK: Status = 0;
pub const FAIL: Status = -1;
pub const ADDRESS: Status = -2;
pub const WIDTH: Status = -3;
pub const OVERFLOW: Status = -4;
pub const ENDIAN: Status = -5;
pub const BUSY: Status = -6;
pub const TIMEOUT: Status = -7;
pub const ABI: Status = -9;
pub const SEGFAULT: Status = -10;

pub(crate) type Fault = (Status, String);

thread_local! {
    static LAST: RefCell<CString> = RefCell::new(CString::default());
}

pub(crate) fn remember(text: &str) {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // No text here contains a zero byte, but a device's name may.
    let line = CString::new(line.replace('\0', "?")).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = line);
}

/// Runs the inside of a function: faults become their status, and a panic ends here.
pub(crate) fn run(inside: impl FnOnce() -> Result<Status, Fault>) -> Status {
    match catch_unwind(AssertUnwindSafe(inside)) {
        Ok(Ok(status)) => status,
        Ok(Err((status, text))) => {
            remember(&text);
            status
        }
        Err(_) => {
            remember("internal error of isthmus_eb");
            FAIL
        }
    }
}

pub(crate) fn fault(error: &Error) -> Fault {
    let status = match error {
        Error::NoDevice { .. } | Error::TimedOut { .. } => TIMEOUT,
        Error::Widths { .. } => WIDTH,
        Error::Bus { .. } => SEGFAULT,
        Error::Overflow { .. } => OVERFLOW,
        Error::Busy(_) => BUSY,
        Error::Transport(inner) if matches!(**inner, TransportError::Name(_)) => ADDRESS,
        _ => FAIL,
    };
    (status, error.to_string())
}

pub(crate) fn null(what: &str) -> Fault {
    (FAIL, format!("{what} is NULL"))
}

pub(crate) fn masks(widths: u8) -> Widths {
    Widths { address: widths >> 4, data: widths & 0xF }
}

/// The object behind an open handle.
///
/// # Safety
/// `handle` is NULL or a handle that is open, and no other reference into it lives.
pub(crate) unsafe fn open_handle<'a, T>(handle: *mut T, what: &str) -> Result<&'a mut T, Fault> {
    // SAFETY: an open handle points to the box that its opening made; the rest is the caller's word.
    unsafe { handle.as_mut() }.ok_or_else(|| null(what))
}

/// Stores a result at the caller's place.
///
/// # Safety
/// `place` is NULL or can be written.
pub(crate) unsafe fn give<T>(place: *mut T, value: T, what: &str) -> Result<(), Fault> {
    if place.is_null() {
        return Err(null(what));
    }
    // SAFETY: not NULL, and writable by the caller's word.
    unsafe { place.write(value) };
    Ok(())
}

#[unsafe(no_mangle)]
pub extern "C" fn ieb_status(status: Status) -> *const c_char {
    let text = match status {
        OK => c"success",
        FAIL => c"system failure",
        ADDRESS => c"invalid address",
        WIDTH => c"width mismatch",
        OVERFLOW => c"cycle too long for a datagram",
        ENDIAN => c"byte order needed",
        BUSY => c"resource busy",
        TIMEOUT => c"no answer in time",
        -8 => c"out of memory",
        ABI => c"interface version mismatch",
        SEGFAULT => c"bus error",
        _ => c"unknown status",
    };
    text.as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn ieb_last_error() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}
