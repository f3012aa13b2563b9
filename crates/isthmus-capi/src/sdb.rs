// SPDX-License-Identifier: Apache-2.0
//! What the bus of a device says is attached to it.

use std::ffi::c_int;

use isthmus_host::etherbone::sdb;
use isthmus_host::transport::block_on;

use crate::device::Device;
use crate::status::{ADDRESS, FAIL, Fault, OK, Status, fault, give, null, open_handle, run};

/// `struct ieb_sdb_device`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SdbDevice {
    pub(crate) first: u64,
    pub(crate) last: u64,
    vendor: u64,
    device: u32,
    version: u32,
    date: u32,
    bus_specific: u32,
    name: [u8; 20],
}

impl SdbDevice {
    /// How a slave describes a device.
    pub(crate) fn product(&self) -> sdb::Product {
        let name: Vec<u8> = self.name.iter().copied().take_while(|byte| *byte != 0).collect();
        sdb::Product {
            vendor: self.vendor,
            device: self.device,
            version: self.version,
            date: self.date,
            name: String::from_utf8_lossy(&name).into_owned(),
        }
    }

    fn new(entry: &sdb::Entry) -> Self {
        let product = entry.record.product().cloned().unwrap_or_default();
        let mut name = [0; 20];
        // The last byte stays 0; a name has 19 at most.
        for (place, byte) in name.iter_mut().take(19).zip(product.name.bytes()) {
            *place = byte;
        }
        Self {
            first: entry.first,
            last: entry.last,
            vendor: product.vendor,
            device: product.device,
            version: product.version,
            date: product.date,
            bus_specific: match entry.record {
                sdb::Record::Device { bus_specific, .. } => bus_specific,
                _ => 0,
            },
            name,
        }
    }
}

/// Reads the tables of a device.
///
/// # Safety
/// `device` is NULL or open.
unsafe fn scan(device: *mut Device) -> Result<sdb::Tree, Fault> {
    let tree = {
        // SAFETY: the caller's word.
        let opened = unsafe { open_handle(device, "device") }?;
        block_on(sdb::scan(&mut opened.client, sdb::Limits::default()))
    };
    tree.map_err(|error| match &error {
        sdb::ScanError::Read(error) => fault(error),
        _ => (FAIL, error.to_string()),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_sdb_find_by_identity(
    device: *mut Device,
    vendor: u64,
    product: u32,
    result: *mut SdbDevice,
    count: *mut c_int,
) -> Status {
    run(|| {
        // SAFETY: NULL or a number of the caller's, by the header's contract.
        let room = unsafe { count.as_ref() }.copied().ok_or_else(|| null("count"))?;
        let room = usize::try_from(room).unwrap_or_default();
        if room > 0 && result.is_null() {
            return Err(null("result"));
        }
        // SAFETY: an open handle, by the header's contract.
        let tree = unsafe { scan(device) }?;
        let mut found = 0;
        for entry in tree.find(vendor, product) {
            if found < room {
                // SAFETY: `result` has space for this many, by the header's contract.
                unsafe { result.add(found).write(SdbDevice::new(entry)) };
            }
            found += 1;
        }
        // SAFETY: not NULL, as above.
        unsafe { give(count, c_int::try_from(found).unwrap_or(c_int::MAX), "count") }?;
        Ok(OK)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ieb_sdb_find_by_address(
    device: *mut Device,
    address: u64,
    result: *mut SdbDevice,
) -> Status {
    run(|| {
        // SAFETY: an open handle, by the header's contract.
        let tree = unsafe { scan(device) }?;
        let entry = tree
            .find_by_address(address)
            .ok_or_else(|| (ADDRESS, format!("the bus names no device at {address:#x}")))?;
        // SAFETY: the caller's place for it.
        unsafe { give(result, SdbDevice::new(entry), "result") }?;
        Ok(OK)
    })
}
