// SPDX-License-Identifier: Apache-2.0
//! The result of a cycle in flight, and its notification.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::{CycleReply, Error};

pub(super) type CycleResult = Result<CycleReply, Error>;

#[derive(Default)]
pub(super) struct Slot {
    /// Which of its cycles the rest belongs to.
    number: u64,
    /// The error is stored separately: a slot is accessed for every cycle, and a smaller slot is
    /// faster.
    result: Option<Result<Values, Box<Error>>>,
    waker: Option<Waker>,
}

/// The values of a cycle. A single one, the most frequent result, has no memory of its own before it is
/// handed out: the receiver gives that back at once, which costs the least.
enum Values {
    One(u64),
    All(Vec<u64>),
}

impl From<Values> for CycleReply {
    fn from(values: Values) -> Self {
        match values {
            Values::One(value) => CycleReply { reads: vec![value] },
            Values::All(reads) => CycleReply { reads },
        }
    }
}

/// The result of a cycle in flight: a future, and a slot to look into. It does not drive a
/// [`Client`]: other code must call [`Client::flush`] and [`Client::settle`].
pub struct Pending {
    slot: Arc<Mutex<Slot>>,
    /// A slot serves one cycle after the other; this is the number of ours.
    number: u64,
}

impl Pending {
    /// The slot, with nothing of an earlier cycle in it.
    fn lock(&self) -> MutexGuard<'_, Slot> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.number != self.number {
            *slot = Slot { number: self.number, ..Slot::default() };
        }
        slot
    }

    /// The result, once; `None` before the cycle ends and after the result was taken.
    pub fn take(&self) -> Option<CycleResult> {
        let result = self.lock().result.take();
        result.map(|result| result.map(CycleReply::from).map_err(|error| *error))
    }

    /// True if a result is pending.
    pub fn is_ready(&self) -> bool {
        self.lock().result.is_some()
    }
}

impl Future for Pending {
    type Output = CycleResult;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<CycleResult> {
        let mut slot = self.lock();
        match slot.result.take() {
            Some(result) => Poll::Ready(result.map(CycleReply::from).map_err(|error| *error)),
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("ready", &self.is_ready()).finish()
    }
}

/// Receives the end of a cycle: exactly once, also when the client is dropped.
pub(super) enum Owner {
    #[cfg(feature = "tokio")]
    Slot(Arc<Mutex<Slot>>),
    /// The slot that the completion keeps.
    Kept,
    Callback(Box<dyn FnOnce(CycleResult) + Send>),
    /// The client keeps the result.
    Tag(u64),
}

/// The end of a cycle that was submitted with a tag ([`Client::submit_tagged`]).
#[derive(Debug)]
pub struct Ended<'a> {
    /// The caller's.
    pub tag: u64,
    /// The values of all reads, in order, or what failed.
    pub result: Result<&'a [u64], Error>,
}

#[derive(Default)]
pub(super) struct Completion {
    pub(super) owner: Option<Owner>,
    /// A slot that serves one cycle after the other.
    kept: Option<Arc<Mutex<Slot>>>,
    /// The number of the last cycle that the kept slot served.
    number: u64,
}

impl Completion {
    /// Tells a future.
    #[cfg(feature = "tokio")]
    pub(super) fn pending() -> (Self, Pending) {
        let slot = Arc::new(Mutex::new(Slot::default()));
        let owner = Some(Owner::Slot(Arc::clone(&slot)));
        (Self { owner, kept: None, number: 0 }, Pending { slot, number: 0 })
    }

    /// A future is notified, by the slot that is kept or, where that one's last future still lives, by a
    /// new one.
    pub(super) fn pend(&mut self) -> Pending {
        let kept = match &self.kept {
            // Only futures share it, and none can become one of several any more.
            Some(kept) if Arc::strong_count(kept) == 1 => kept,
            _ => self.kept.insert(Arc::default()),
        };
        self.number += 1;
        self.owner = Some(Owner::Kept);
        Pending { slot: Arc::clone(kept), number: self.number }
    }

    /// The cycle has read these values.
    #[inline]
    pub(super) fn tell_reads(&mut self, reads: &mut Vec<u64>) {
        if let (Some(Owner::Kept), Some(slot), &[value]) =
            (&self.owner, &self.kept, reads.as_slice())
        {
            self.owner = None;
            Slot::fill(slot, self.number, Ok(Values::One(value)));
        } else {
            self.tell(Ok(CycleReply { reads: std::mem::take(reads) }));
        }
    }

    pub(super) fn tell(&mut self, result: CycleResult) {
        let told = |result: CycleResult| result.map(|reply| Values::All(reply.reads));
        match self.owner.take() {
            Some(Owner::Kept) => {
                if let Some(slot) = &self.kept {
                    Slot::fill(slot, self.number, told(result));
                }
            }
            #[cfg(feature = "tokio")]
            Some(Owner::Slot(slot)) => Slot::fill(&slot, 0, told(result)),
            Some(Owner::Callback(callback)) => callback(result),
            // A tag has no receiver to notify.
            Some(Owner::Tag(_)) | None => {}
        }
    }
}

impl Slot {
    fn fill(slot: &Arc<Mutex<Self>>, number: u64, result: Result<Values, Error>) {
        if Arc::strong_count(slot) == 1 {
            // The future was dropped: the result is no longer needed.
            return;
        }
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.result = Some(result.map_err(Box::new));
        // A waker of an earlier cycle is of no use any more.
        let ours = slot.number == number;
        let waker = slot.waker.take().filter(|_| ours);
        slot.number = number;
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        if self.owner.is_some() {
            self.tell(Err(Error::Dropped));
        }
    }
}
