// SPDX-License-Identifier: Apache-2.0
//! Host programs: plain futures, polled on one thread in a fixed order.
//!
//! A wake-up does not poll: it schedules a poll as an event of the present time, so tasks and other
//! events of equal time keep the order in which they were scheduled.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use super::simulation::Sim;
use super::units::Picoseconds;

pub(crate) type TaskId = usize;

/// Tasks woken and not yet scheduled. Behind a lock only because `Waker` must be `Send`.
#[derive(Default)]
pub(crate) struct ReadyQueue {
    any: AtomicBool,
    ids: Mutex<VecDeque<TaskId>>,
}

impl ReadyQueue {
    fn push(&self, id: TaskId) {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).push_back(id);
        self.any.store(true, Ordering::Release);
    }

    /// Takes the oldest wake-up; costs one load in the most frequent case, an empty queue.
    #[inline]
    pub(crate) fn pop(&self) -> Option<TaskId> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let id = ids.pop_front();
        if ids.is_empty() {
            self.any.store(false, Ordering::Release);
        }
        id
    }
}

struct TaskWaker {
    id: TaskId,
    queued: AtomicBool,
    ready: Arc<ReadyQueue>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.ready.push(self.id);
        }
    }
}

struct Task {
    name: Rc<str>,
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    waker: Arc<TaskWaker>,
}

/// All tasks of a simulation. An id is never used twice.
#[derive(Default)]
pub(crate) struct Tasks {
    tasks: RefCell<Vec<Option<Task>>>,
    pub(crate) ready: Arc<ReadyQueue>,
}

impl Tasks {
    pub(crate) fn spawn(&self, name: &str, future: Pin<Box<dyn Future<Output = ()>>>) {
        let mut tasks = self.tasks.borrow_mut();
        let id = tasks.len();
        let waker = Arc::new(TaskWaker {
            id,
            queued: AtomicBool::new(true),
            ready: Arc::clone(&self.ready),
        });
        tasks.push(Some(Task { name: name.into(), future: Some(future), waker }));
        self.ready.push(id);
    }

    pub(crate) fn poll(&self, id: TaskId) {
        // The task is taken out while it runs: it may spawn others.
        let (mut future, task_waker) = {
            let mut tasks = self.tasks.borrow_mut();
            let Some(Some(task)) = tasks.get_mut(id) else { return };
            let Some(future) = task.future.take() else { return };
            (future, Arc::clone(&task.waker))
        };
        task_waker.queued.store(false, Ordering::Release);
        let waker = Waker::from(task_waker);
        let done = future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        let mut tasks = self.tasks.borrow_mut();
        if let Some(slot) = tasks.get_mut(id) {
            if done {
                *slot = None;
            } else if let Some(task) = slot {
                task.future = Some(future);
                return;
            }
        }
        drop(tasks);
        drop(future);
    }

    /// The names of all unfinished tasks but those of the world's own services.
    pub(crate) fn waiting(&self) -> String {
        let tasks = self.tasks.borrow();
        let mut names: Vec<&str> = tasks
            .iter()
            .flatten()
            .map(|task| &*task.name)
            .filter(|name| !name.starts_with(SERVICE))
            .collect();
        names.truncate(16);
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    pub(crate) fn take_all(&self) -> impl Sized + use<> {
        std::mem::take(&mut *self.tasks.borrow_mut())
    }
}

/// Names of tasks that wait forever by design begin with this.
pub const SERVICE: &str = "service:";

pub(crate) struct JoinState<T> {
    result: RefCell<Option<T>>,
    finished: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl<T> JoinState<T> {
    pub(crate) fn new() -> Rc<Self> {
        Rc::new(Self {
            result: RefCell::new(None),
            finished: Cell::new(false),
            waker: RefCell::new(None),
        })
    }

    pub(crate) fn finish(&self, value: T) {
        *self.result.borrow_mut() = Some(value);
        self.finished.set(true);
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }
}

/// A spawned task. Await it for its result; dropping it lets the task run on.
pub struct JoinHandle<T>(pub(crate) Rc<JoinState<T>>);

impl<T> JoinHandle<T> {
    /// True when the task has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.finished.get()
    }

    /// The task's result, once: `None` while it runs, and after it was taken.
    #[must_use]
    pub fn try_take(&self) -> Option<T> {
        self.0.result.borrow_mut().take()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        if let Some(value) = self.try_take() {
            return Poll::Ready(value);
        }
        *self.0.waker.borrow_mut() = Some(context.waker().clone());
        Poll::Pending
    }
}

/// A timer in the event queue. Dropping the future cancels it, and a cancelled timer neither fires
/// nor moves time.
#[derive(Default)]
pub(crate) struct Timer {
    waker: RefCell<Option<Waker>>,
    fired: Cell<bool>,
    cancelled: Cell<bool>,
}

impl Timer {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.get()
    }

    pub(crate) fn fire(&self) {
        self.fired.set(true);
        let waker = self.waker.borrow_mut().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The future of [`Sim::sleep`].
pub struct Sleep {
    sim: Sim,
    until: Picoseconds,
    timer: Option<Rc<Timer>>,
}

impl Sleep {
    pub(crate) fn new(sim: Sim, until: Picoseconds) -> Self {
        Self { sim, until, timer: None }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match &self.timer {
            Some(timer) if timer.fired.get() => return Poll::Ready(()),
            Some(timer) => *timer.waker.borrow_mut() = Some(context.waker().clone()),
            None if self.until <= self.sim.now() => return Poll::Ready(()),
            None => {
                let timer = Rc::new(Timer::default());
                *timer.waker.borrow_mut() = Some(context.waker().clone());
                self.sim.schedule_timer(self.until, Rc::clone(&timer));
                self.timer = Some(timer);
            }
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(timer) = &self.timer
            && !timer.fired.get()
        {
            timer.cancelled.set(true);
            self.sim.timer_cancelled();
        }
    }
}

/// A time-out ran off before the future ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no result within {0}")]
pub struct Elapsed(pub Picoseconds);

/// The future of [`Sim::timeout`].
pub struct Timeout<F> {
    future: Pin<Box<F>>,
    sleep: Sleep,
    limit: Picoseconds,
}

impl<F> Timeout<F> {
    pub(crate) fn new(future: F, sleep: Sleep, limit: Picoseconds) -> Self {
        Self { future: Box::pin(future), sleep, limit }
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // The future first: a result that comes at the very time of the limit counts.
        if let Poll::Ready(value) = self.future.as_mut().poll(context) {
            return Poll::Ready(Ok(value));
        }
        let limit = self.limit;
        Pin::new(&mut self.sleep).poll(context).map(|()| Err(Elapsed(limit)))
    }
}
