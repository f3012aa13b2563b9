// SPDX-License-Identifier: Apache-2.0
//! Host memory: devices write it by DMA, programs load, store, copy and watch it.

use std::cell::RefCell;
use std::future::poll_fn;
use std::ops::Range;
use std::rc::Rc;
use std::task::{Poll, Waker};

use serde::{Deserialize, Serialize};

use super::Cpu;
use crate::kernel::{Picoseconds, SimError};

/// A memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryConfig {
    /// Its name in this world.
    pub name: String,
    /// Its size.
    pub size_bytes: usize,
    /// Cost of a load that misses all caches.
    pub load_ns: f64,
    /// Cost of a store.
    pub store_ns: f64,
    /// Cost of copying beyond the first access.
    pub copy_ns_per_byte: f64,
}

/// An access outside a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("address {address:#x}, {bytes} bytes: outside the memory of {size} bytes")]
pub struct OutOfRange {
    address: usize,
    bytes: usize,
    size: usize,
}

struct Shared {
    bytes: RefCell<Vec<u8>>,
    watchers: RefCell<Vec<(Range<usize>, Waker)>>,
    load: Picoseconds,
    store: Picoseconds,
    copy_ns_per_byte: f64,
}

/// A memory. Clones are the same memory.
#[derive(Clone)]
pub struct Memory(Rc<Shared>);

impl Memory {
    /// A memory full of zeros.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn new(config: &MemoryConfig) -> Result<Self, SimError> {
        let ns = |field, value| crate::world::time(&config.name, field, value);
        ns("copy_ns_per_byte", config.copy_ns_per_byte)?;
        Ok(Self(Rc::new(Shared {
            bytes: RefCell::new(vec![0; config.size_bytes]),
            watchers: RefCell::default(),
            load: ns("load_ns", config.load_ns)?,
            store: ns("store_ns", config.store_ns)?,
            copy_ns_per_byte: config.copy_ns_per_byte,
        })))
    }

    /// Its size in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.bytes.borrow().len()
    }

    /// Reads without cost: for a device's DMA, whose own model has the cost.
    ///
    /// # Errors
    /// When the range is not inside the memory.
    pub fn read(&self, address: usize, bytes: usize) -> Result<Vec<u8>, OutOfRange> {
        let range = self.range(address, bytes)?;
        Ok(self.0.bytes.borrow()[range].to_vec())
    }

    /// Writes, at no cost, and wakes the tasks that watch the range.
    ///
    /// # Errors
    /// When the range is not inside the memory.
    pub fn write(&self, address: usize, data: &[u8]) -> Result<(), OutOfRange> {
        let range = self.range(address, data.len())?;
        self.0.bytes.borrow_mut()[range.clone()].copy_from_slice(data);
        self.0.watchers.borrow_mut().retain(|(watched, waker)| {
            let touched = watched.start < range.end && range.start < watched.end;
            if touched {
                waker.wake_by_ref();
            }
            !touched
        });
        Ok(())
    }

    /// A program loads: one access, and the copy of what lies beyond a word.
    ///
    /// # Errors
    /// When the range is not inside the memory.
    pub async fn load(
        &self,
        cpu: &Cpu,
        address: usize,
        bytes: usize,
    ) -> Result<Vec<u8>, OutOfRange> {
        self.range(address, bytes)?;
        cpu.run(self.0.load + self.copy_time(bytes)).await;
        self.read(address, bytes)
    }

    /// A program stores. The bytes are visible after the store's cost.
    ///
    /// # Errors
    /// When the range is not inside the memory.
    pub async fn store(&self, cpu: &Cpu, address: usize, data: &[u8]) -> Result<(), OutOfRange> {
        self.range(address, data.len())?;
        cpu.run(self.0.store + self.copy_time(data.len())).await;
        self.write(address, data)
    }

    /// Waits until the bytes of a range satisfy `ready`: the earliest moment at which a program
    /// that polls could see them. It costs nothing; the load that follows does.
    ///
    /// # Errors
    /// When the range is not inside the memory.
    pub async fn watch(
        &self,
        address: usize,
        bytes: usize,
        ready: impl Fn(&[u8]) -> bool,
    ) -> Result<(), OutOfRange> {
        let range = self.range(address, bytes)?;
        poll_fn(|context| {
            if ready(&self.0.bytes.borrow()[range.clone()]) {
                return Poll::Ready(());
            }
            self.0.watchers.borrow_mut().push((range.clone(), context.waker().clone()));
            Poll::Pending
        })
        .await;
        Ok(())
    }

    fn copy_time(&self, bytes: usize) -> Picoseconds {
        let beyond_a_word = bytes.saturating_sub(size_of::<u64>());
        Picoseconds::from_ns_f64(self.0.copy_ns_per_byte * beyond_a_word as f64)
    }

    fn range(&self, address: usize, bytes: usize) -> Result<Range<usize>, OutOfRange> {
        let size = self.0.bytes.borrow().len();
        match address.checked_add(bytes) {
            Some(end) if end <= size => Ok(address..end),
            _ => Err(OutOfRange { address, bytes, size }),
        }
    }
}
