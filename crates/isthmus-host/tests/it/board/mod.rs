// SPDX-License-Identifier: Apache-2.0
//! Drivers over the mappings that a board has: a file in shared memory is the BAR, memory is mapped by a table, and a
//! thread plays the device, in mappings of its own.

mod mappings;
mod nic;
mod ring;
mod sysfs;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use isthmus_host::board::{Iommu, MemoryOptions, Window};

/// A folder in shared memory that goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let shared = Path::new("/dev/shm");
        let base = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("isthmus-board-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// A file of so many zeros.
    fn file(&self, name: &str, bytes: usize) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, vec![0; bytes]).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What an IOMMU does: a device's accesses go to the memory that is mapped at their addresses, or fail.
#[derive(Default)]
struct Table {
    mapped: Mutex<BTreeMap<u64, Arc<Window>>>,
    /// Refuses to map.
    full: bool,
}

impl Table {
    /// The memory behind a bus address, and the place in it.
    fn at(&self, address: u64) -> (Arc<Window>, usize) {
        let mapped = self.mapped.lock().unwrap();
        let (base, window) = mapped.range(..=address).next_back().expect("a mapped address");
        let offset = (address - base) as usize;
        assert!(offset < window.bytes(), "{address:#x} is not mapped");
        (Arc::clone(window), offset)
    }
}

impl Iommu for Table {
    fn map(&self, iova: u64, window: &Arc<Window>) -> io::Result<()> {
        if self.full {
            return Err(io::Error::other("no entry left"));
        }
        self.mapped.lock().unwrap().insert(iova, Arc::clone(window));
        Ok(())
    }

    fn unmap(&self, iova: u64, bytes: usize) -> io::Result<()> {
        let window = self.mapped.lock().unwrap().remove(&iova);
        assert_eq!(window.map(|window| window.bytes()), Some(bytes));
        Ok(())
    }
}

fn at(bus_address: u64) -> MemoryOptions {
    MemoryOptions { bus_address: Some(bus_address), yields: true, ..MemoryOptions::default() }
}

/// A thread that plays a device until it is dropped.
struct Device {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Device {
    /// Each call of `clock` is one look at the BAR.
    fn start(mut clock: impl FnMut() + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                clock();
                std::thread::yield_now();
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || matches!(ended, Some(Ok(()))), "the device failed");
    }
}
