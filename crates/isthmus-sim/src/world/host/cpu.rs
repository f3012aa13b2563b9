// SPDX-License-Identifier: Apache-2.0
//! Cores: running work occupies one core; other work waits in a queue.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use serde::{Deserialize, Serialize};

use crate::kernel::{Picoseconds, Sim, SimError};

/// The cores of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuConfig {
    /// How many.
    pub cores: usize,
}

struct Waiter {
    granted: Cell<bool>,
    waker: RefCell<Waker>,
}

struct Shared {
    sim: Sim,
    cores: usize,
    free: Cell<usize>,
    waiting: RefCell<VecDeque<Rc<Waiter>>>,
    busy: Cell<Picoseconds>,
}

/// A host's cores. Work is not preempted, and starts in the order of the requests, for interrupts
/// and programs alike.
#[derive(Clone)]
pub struct Cpu(Rc<Shared>);

impl Cpu {
    /// Cores, all free; `host` is whose they are, for messages.
    ///
    /// # Errors
    /// When there are none.
    pub fn new(sim: &Sim, host: &str, config: &CpuConfig) -> Result<Self, SimError> {
        if config.cores == 0 {
            return Err(crate::world::config_error(host, "cores = 0: at least 1 expected".into()));
        }
        Ok(Self(Rc::new(Shared {
            sim: sim.clone(),
            cores: config.cores,
            free: Cell::new(config.cores),
            waiting: RefCell::default(),
            busy: Cell::default(),
        })))
    }

    /// Occupies a core for this long, from when one is free.
    pub async fn run(&self, duration: Picoseconds) {
        if duration == Picoseconds::ZERO {
            return;
        }
        let core = Acquire { cpu: &self.0, waiter: None }.await;
        self.0.busy.set(self.0.busy.get() + duration);
        self.0.sim.sleep(duration).await;
        drop(core);
    }

    /// Occupies a core until `work` ends, from when one is free: a load that stalls it.
    pub async fn stall<F: Future>(&self, work: F) -> F::Output {
        let core = Acquire { cpu: &self.0, waiter: None }.await;
        let start = self.0.sim.now();
        let output = work.await;
        self.0.busy.set(self.0.busy.get() + (self.0.sim.now() - start));
        drop(core);
        output
    }

    /// How many cores there are.
    #[must_use]
    pub fn cores(&self) -> usize {
        self.0.cores
    }

    /// The time all cores together were occupied.
    #[must_use]
    pub fn busy(&self) -> Picoseconds {
        self.0.busy.get()
    }
}

struct Core<'a>(&'a Shared);

impl Drop for Core<'_> {
    fn drop(&mut self) {
        match self.0.waiting.borrow_mut().pop_front() {
            Some(next) => {
                next.granted.set(true);
                next.waker.borrow().wake_by_ref();
            }
            None => self.0.free.set(self.0.free.get() + 1),
        }
    }
}

struct Acquire<'a> {
    cpu: &'a Shared,
    waiter: Option<Rc<Waiter>>,
}

impl<'a> Future for Acquire<'a> {
    type Output = Core<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Core<'a>> {
        let cpu = self.cpu;
        match &self.waiter {
            Some(waiter) if waiter.granted.get() => {
                self.waiter = None;
                return Poll::Ready(Core(cpu));
            }
            Some(waiter) => waiter.waker.borrow_mut().clone_from(context.waker()),
            None if cpu.free.get() > 0 => {
                cpu.free.set(cpu.free.get() - 1);
                return Poll::Ready(Core(cpu));
            }
            None => {
                let waiter = Rc::new(Waiter {
                    granted: Cell::new(false),
                    waker: RefCell::new(context.waker().clone()),
                });
                cpu.waiting.borrow_mut().push_back(Rc::clone(&waiter));
                self.waiter = Some(waiter);
            }
        }
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        let Some(waiter) = self.waiter.take() else { return };
        if waiter.granted.get() {
            drop(Core(self.cpu));
        } else {
            self.cpu.waiting.borrow_mut().retain(|other| !Rc::ptr_eq(other, &waiter));
        }
    }
}
