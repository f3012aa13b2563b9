// SPDX-License-Identifier: Apache-2.0
//! Frames from TAP interfaces: a thread each, a bounded queue each.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::{RoadError, io};
use crate::tap::{Tap, is_whole};

/// How often a thread looks whether it is to end.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// A wait at an interface that is down: the system reports it as ready.
const DOWN: Duration = Duration::from_millis(20);

/// The queue before one port.
#[derive(Default)]
struct Queue {
    frames: VecDeque<Vec<u8>>,
    counts: Counts,
    failed: Option<std::io::Error>,
}

/// Frames of one port so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) arrived: u64,
    pub(super) unusable: u64,
    pub(super) not_kept_up: u64,
    /// In the queue now.
    pub(super) queued: u64,
}

struct Shared {
    queues: Mutex<Vec<Queue>>,
    arrived: Condvar,
    ends: AtomicBool,
    bound: usize,
}

impl Shared {
    fn queues(&self) -> MutexGuard<'_, Vec<Queue>> {
        // A thread that panicked left whole frames.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, port: usize, frame: Vec<u8>) {
        let mut queues = self.queues();
        let queue = &mut queues[port];
        queue.counts.arrived += 1;
        if !is_whole(&frame) {
            queue.counts.unusable += 1;
        } else if queue.frames.len() >= self.bound {
            queue.counts.not_kept_up += 1;
        } else {
            queue.frames.push_back(frame);
            self.arrived.notify_one();
        }
    }

    /// Reads an interface until the server ends.
    fn read(&self, port: usize, tap: &Tap) {
        while !self.ends.load(Ordering::Relaxed) {
            match tap.receive() {
                Ok(Some(frame)) => self.put(port, frame),
                Ok(None) => {
                    let fd = tap.as_fd();
                    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
                    let _ = poll(&mut fds, Some(&LOOK));
                    if fds[0].revents().contains(PollFlags::ERR) {
                        std::thread::sleep(DOWN);
                    }
                }
                Err(error) => {
                    self.queues()[port].failed = Some(error);
                    self.arrived.notify_one();
                    return;
                }
            }
        }
    }
}

/// All of them.
pub(super) struct Inbox {
    shared: Arc<Shared>,
    taps: Vec<Arc<Tap>>,
    /// What the system had dropped at each before.
    dropped_before: Vec<u64>,
    threads: Vec<JoinHandle<()>>,
}

impl Inbox {
    /// Opens the interfaces, and begins to read when all of them are open.
    pub(super) fn open(names: &[String], bound: usize) -> Result<Self, RoadError> {
        let taps = names
            .iter()
            .map(|name| Tap::open(name).map(Arc::new))
            .collect::<Result<Vec<_>, _>>()?;
        let shared = Arc::new(Shared {
            queues: Mutex::new(taps.iter().map(|_| Queue::default()).collect()),
            arrived: Condvar::new(),
            ends: AtomicBool::new(false),
            bound,
        });
        let dropped_before = taps.iter().map(|tap| tap.dropped()).collect();
        let mut inbox = Self { shared, taps, dropped_before, threads: Vec::new() };
        for (port, tap) in inbox.taps.iter().enumerate() {
            let (shared, tap) = (Arc::clone(&inbox.shared), Arc::clone(tap));
            let thread = std::thread::Builder::new().name(format!("tap{port}"));
            let thread = thread.spawn(move || shared.read(port, &tap));
            inbox.threads.push(thread.map_err(io("start a thread"))?);
        }
        Ok(inbox)
    }

    /// The next frame of a port.
    pub(super) fn take(&self, port: usize) -> Result<Option<Vec<u8>>, RoadError> {
        let queue = &mut self.shared.queues()[port];
        match queue.failed.take() {
            Some(error) => Err(io(format!("receive on tap of port {port}"))(error)),
            None => Ok(queue.frames.pop_front()),
        }
    }

    /// Waits for a frame of any port, up to `limit`.
    pub(super) fn wait(&self, limit: Duration) {
        let nothing = |queues: &mut Vec<Queue>| {
            queues.iter().all(|queue| queue.frames.is_empty() && queue.failed.is_none())
        };
        drop(self.shared.arrived.wait_timeout_while(self.shared.queues(), limit, nothing));
    }

    /// Sends a frame to the interface of a port. True if the system accepted it.
    pub(super) fn send(&self, port: usize, frame: &[u8]) -> bool {
        self.taps.get(port).is_some_and(|tap| tap.send(frame))
    }

    /// Frames that the system dropped before a thread took them.
    pub(super) fn dropped_by_system(&self) -> u64 {
        let both = self.taps.iter().zip(&self.dropped_before);
        both.map(|(tap, before)| tap.dropped().saturating_sub(*before)).sum()
    }

    /// Of all ports together.
    pub(super) fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        for queue in self.shared.queues().iter() {
            sum.arrived += queue.counts.arrived;
            sum.unusable += queue.counts.unusable;
            sum.not_kept_up += queue.counts.not_kept_up;
            sum.queued += queue.frames.len() as u64;
        }
        sum
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
