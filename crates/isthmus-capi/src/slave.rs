// SPDX-License-Identifier: Apache-2.0
//! The software slave: a program's own functions behind addresses of a bus.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use isthmus_host::etherbone::sdb::Product;
use isthmus_host::etherbone::{
    AddressMap, Bus, BusFault, Dialect, MapError, Server, ServerConfig, SlaveConfig, Width,
};

use crate::sdb::SdbDevice;
use crate::status::{
    ABI, ABI_CODE, ADDRESS, BUSY, FAIL, Fault, OK, Status, WIDTH, fault, give, masks, null, run,
};

/// Address of the self-description: at the end of 32 and of 16 bit, with space for many devices.
const TABLE: u64 = 0xFFFF_0000;
const TABLE_16: u64 = 0xF000;
/// How long the slave may not look whether it shall stop.
const LOOK: Duration = Duration::from_millis(100);

type Read = unsafe extern "C" fn(*mut c_void, u64, u8, *mut u64) -> Status;
type Write = unsafe extern "C" fn(*mut c_void, u64, u8, u64) -> Status;

/// `struct ieb_handler`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Handler {
    device: SdbDevice,
    user: *mut c_void,
    read: Option<Read>,
    write: Option<Write>,
}

// SAFETY: a slave and its handlers are used by one thread at a time, by the header's contract.
unsafe impl Send for Handler {}

/// A slave is borrowed while it runs, and a handler may call back in: it has no other user then.
pub struct Slave {
    running: Cell<bool>,
    stop: AtomicBool,
    names: Vec<CString>,
    server: UnsafeCell<Server<AddressMap>>,
}

/// Bytes of an operation, its first byte's distance in the word, and its lowest bit.
fn part(width: Width, byte_enable: u8) -> (u8, u64, u32) {
    // One aligned group of lanes: the slave refuses all else.
    let (size, lane) = (byte_enable.count_ones(), byte_enable.trailing_zeros());
    (size as u8, width.bytes() as u64 - u64::from(size + lane), 8 * lane)
}

fn mask(size: u8) -> u64 {
    u64::MAX >> (64 - 8 * u32::from(size).clamp(1, 8))
}

impl Bus for Handler {
    fn read(&mut self, address: u64, width: Width, byte_enable: u8) -> Result<u64, BusFault> {
        let (size, offset, shift) = part(width, byte_enable);
        let address = self.device.first + address + offset;
        let (read, mut data) = (self.read.ok_or(BusFault)?, 0);
        // SAFETY: the program's own function, which lives as long as it is attached.
        match unsafe { read(self.user, address, size, &raw mut data) } {
            OK => Ok((data & mask(size)) << shift),
            _ => Err(BusFault),
        }
    }

    fn write(
        &mut self,
        address: u64,
        width: Width,
        byte_enable: u8,
        data: u64,
    ) -> Result<(), BusFault> {
        let (size, offset, shift) = part(width, byte_enable);
        let address = self.device.first + address + offset;
        let write = self.write.ok_or(BusFault)?;
        // SAFETY: as above.
        match unsafe { write(self.user, address, size, data >> shift & mask(size)) } {
            OK => Ok(()),
            _ => Err(BusFault),
        }
    }
}

fn map_fault(error: &MapError) -> Fault {
    (ADDRESS, error.to_string())
}

/// A slave that is not in use.
///
/// # Safety
/// `slave` is NULL or open.
unsafe fn idle<'a>(slave: *mut Slave) -> Result<&'a Slave, Fault> {
    // SAFETY: the caller's word; only shared references are ever made.
    let slave = unsafe { slave.as_ref() }.ok_or_else(|| null("slave"))?;
    match slave.running.get() {
        true => Err((BUSY, "the slave runs: its handlers may stop it, and nothing else".into())),
        false => Ok(slave),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_slave_open(
    abi_code: u16,
    address: *const c_char,
    widths: u8,
    dialect: c_int,
    result: *mut *mut Slave,
) -> Status {
    run(|| {
        if abi_code != ABI_CODE {
            return Err((ABI, format!("built against interface {abi_code}, this is {ABI_CODE}")));
        }
        if address.is_null() || result.is_null() {
            return Err(null(if result.is_null() { "result" } else { "address" }));
        }
        // SAFETY: not NULL; a string of C, by the header's contract.
        let text = unsafe { CStr::from_ptr(address) }.to_string_lossy();
        let wrong = || (ADDRESS, format!("{text:?}: expected IP:PORT (port 0: any)"));
        let listen = ServerConfig::listen(text.parse().map_err(|_| wrong())?);
        let dialect = match dialect {
            0 => Dialect::Ohwr,
            1 => Dialect::LiteEth,
            _ => return Err((FAIL, format!("dialect {dialect}: IEB_OHWR or IEB_LITEETH"))),
        };
        let widths = masks(widths);
        let table = if widths.address & 0xC == 0 { TABLE_16 } else { TABLE };
        if widths.data == 0 || widths.address & 0xE == 0 {
            return Err((WIDTH, "a slave needs a data width and an address width of 16 up".into()));
        }
        let config = ServerConfig {
            // LiteEth's dialect has no streams.
            tcp: if dialect == Dialect::Ohwr { listen.tcp.clone() } else { Vec::new() },
            slave: SlaveConfig { dialect, widths, sdb_address: table, ..SlaveConfig::default() },
            ..listen
        };
        let bus = AddressMap::new(Product::default(), table);
        let server = Server::bind(bus, config).map_err(|error| fault(&error.into()))?;
        let udp = server.udp_addresses().into_iter().map(|at| ("udp", at));
        let tcp = server.tcp_addresses().into_iter().map(|at| ("tcp", at));
        let name = |(kind, at): (&str, std::net::SocketAddr)| {
            let family = if at.is_ipv4() { 4 } else { 6 };
            CString::new(format!("{kind}{family}/{}/{}", at.ip(), at.port())).unwrap_or_default()
        };
        let slave = Slave {
            running: Cell::new(false),
            stop: AtomicBool::new(false),
            names: udp.chain(tcp).map(name).collect(),
            server: UnsafeCell::new(server),
        };
        // SAFETY: `result` is the caller's place for the handle, and not NULL.
        unsafe { give(result, Box::into_raw(Box::new(slave)), "result") }?;
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_slave_close(slave: *mut Slave) -> Status {
    run(|| {
        // SAFETY: an open handle, by the header's contract.
        unsafe { idle(slave) }?;
        // SAFETY: made by `ieb_slave_open`, and the caller gives it back.
        drop(unsafe { Box::from_raw(slave) });
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_slave_name(slave: *mut Slave, index: c_int) -> *const c_char {
    // SAFETY: an open handle, by the header's contract; names never change.
    let names = unsafe { slave.as_ref() }.map(|slave| &slave.names);
    let name = usize::try_from(index).ok().and_then(|index| names?.get(index));
    name.map_or(ptr::null(), |name| name.as_ptr())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_slave_attach(slave: *mut Slave, handler: *const Handler) -> Status {
    run(|| {
        // SAFETY: an open handle, by the header's contract.
        let slave = unsafe { idle(slave) }?;
        // SAFETY: NULL or the caller's, by the header's contract.
        let handler = *unsafe { handler.as_ref() }.ok_or_else(|| null("handler"))?;
        let SdbDevice { first, last, .. } = handler.device;
        // SAFETY: it is not in use, and one thread at a time uses a slave.
        let map = unsafe { &mut *slave.server.get() }.bus();
        let product = handler.device.product();
        map.insert(product, first, last, handler).map_err(|error| map_fault(&error))?;
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_slave_detach(slave: *mut Slave, first: u64) -> Status {
    run(|| {
        // SAFETY: an open handle, by the header's contract.
        let slave = unsafe { idle(slave) }?;
        // SAFETY: as above.
        match unsafe { &mut *slave.server.get() }.bus().remove(first) {
            true => Ok(OK),
            false => Err((ADDRESS, format!("no handler begins at {first:#x}"))),
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_slave_run(slave: *mut Slave, timeout_us: i64) -> Status {
    run(|| {
        // SAFETY: an open handle, by the header's contract.
        let slave = unsafe { idle(slave) }?;
        let limit = u64::try_from(timeout_us).ok().map(Duration::from_micros);
        let started = Instant::now();
        slave.running.set(true);
        let ended = loop {
            let left = limit.map_or(LOOK, |limit| limit.saturating_sub(started.elapsed()));
            // SAFETY: `running` excludes all other functions until this reference is dropped.
            let served = unsafe { &mut *slave.server.get() }.step(left.min(LOOK));
            let over = limit.is_some_and(|limit| started.elapsed() >= limit);
            match served {
                Err(error) => break Err(fault(&error.into())),
                Ok(_) if over || slave.stop.swap(false, Ordering::Relaxed) => break Ok(OK),
                Ok(_) => {}
            }
        };
        slave.running.set(false);
        ended
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_slave_stop(slave: *mut Slave) {
    // SAFETY: an open handle, by the header's contract; the flag may be set from anywhere.
    if let Some(slave) = unsafe { slave.as_ref() } {
        slave.stop.store(true, Ordering::Relaxed);
    }
}
