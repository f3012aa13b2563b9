// SPDX-License-Identifier: Apache-2.0
//! The simulated host's program: it takes datagrams out of their buffers, and reads the counters.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::nic::{Counters, NicConfig, Policy};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::host::MmioHost;

use super::super::world::World;
use crate::error::RoadError;
use crate::host_bus::{Bar, HostMemory};

/// Name of the count of datagrams that were not sent back for want of room.
const NOT_ECHOED: &str = "not_echoed";

/// What the program and the server share.
#[derive(Default)]
pub(super) struct Shared {
    /// Payloads.
    delivered: RefCell<Vec<Vec<u8>>>,
    failed: RefCell<Option<RoadError>>,
    counters: RefCell<Option<Counters<Bar>>>,
    /// A reading of the counters is under way.
    reading: Cell<bool>,
    last: RefCell<Vec<BTreeMap<&'static str, u64>>>,
    totals: RefCell<Vec<BTreeMap<&'static str, u64>>>,
}

impl Shared {
    /// Takes what was delivered.
    pub(super) fn take(&self) -> Result<Vec<Vec<u8>>, RoadError> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => Ok(self.delivered.take()),
        }
    }

    /// The counters of each port, since the start, as they were read last.
    pub(super) fn totals(&self) -> Vec<BTreeMap<&'static str, u64>> {
        self.totals.borrow().clone()
    }

    /// Whether a reading of the counters has not ended yet.
    pub(super) fn is_reading(&self) -> bool {
        self.reading.get()
    }

    /// A reading of the counters is to begin: none may be under way.
    pub(super) fn begin_reading(&self) {
        self.reading.set(true);
    }

    /// Adds what a port counted since its counters were read last: those of 16 bits wrap.
    fn add(&self, port: usize, counts: impl Iterator<Item = (&'static str, u64)>) {
        let (mut last, mut totals) = (self.last.borrow_mut(), self.totals.borrow_mut());
        if last.len() <= port {
            last.resize_with(port + 1, BTreeMap::new);
            totals.resize_with(port + 1, BTreeMap::new);
        }
        for (name, now) in counts {
            let before = last[port].insert(name, now).unwrap_or_default();
            let more = match name {
                "delivered" => u64::from((now as u32).wrapping_sub(before as u32)),
                _ => u64::from((now as u16).wrapping_sub(before as u16)),
            };
            *totals[port].entry(name).or_default() += more;
        }
    }
}

/// Opens the interface and takes datagrams for as long as it is simulated. `work` is the time that the
/// program needs for each before it gives the buffer back.
pub(super) async fn program(
    (sim, host): (Sim, MmioHost),
    config: NicConfig,
    work: Picoseconds,
    shared: Rc<Shared>,
) {
    let ended = take_all(&sim, &host, &config, work, &shared).await;
    *shared.failed.borrow_mut() = ended.err();
}

async fn take_all(
    sim: &Sim,
    host: &MmioHost,
    config: &NicConfig,
    work: Picoseconds,
    shared: &Shared,
) -> Result<(), RoadError> {
    let failed = |error| RoadError::program("nanet", error);
    let memory = HostMemory::new(sim, host);
    let mut nic = World::open(host, memory, config).await.map_err(failed)?;
    *shared.counters.borrow_mut() = Some(nic.counters());
    loop {
        let Some(event) = nic.next(Duration::MAX).await.map_err(failed)? else { continue };
        if event.error {
            return Err(RoadError::Violation("nanet: memory refused a write".to_owned()));
        }
        let list = &config.lists[usize::from(event.list)];
        let offset = list.offsets[usize::from(event.index)];
        // The program works in place: this copy is the server's.
        let payload = host.memory().read(offset, event.bytes as usize);
        let payload = payload.map_err(|error| RoadError::Violation(format!("nanet: {error}")))?;
        let intact =
            list.policy != Policy::Oldest || nic.is_intact(&event).await.map_err(failed)?;
        if intact {
            shared.delivered.borrow_mut().push(payload);
            if work > Picoseconds::ZERO {
                host.cpu().run(work).await;
            }
        }
        nic.recycle(event.list).await.map_err(failed)?;
    }
}

/// Reads the counters of all ports.
pub(super) async fn read_counters(shared: Rc<Shared>, ports: usize) {
    let counters = shared.counters.borrow().clone();
    if let Some(mut counters) = counters {
        for port in 0..ports {
            match counters.statistics(port as u8).await {
                Ok(statistics) => {
                    shared.add(port, statistics.named());
                    if let Ok(count) = counters.not_echoed(port as u8).await {
                        shared.add(port, [(NOT_ECHOED, u64::from(count))].into_iter());
                    }
                }
                Err(error) => {
                    *shared.failed.borrow_mut() = Some(RoadError::program("nanet", error));
                }
            }
        }
    }
    shared.reading.set(false);
}
