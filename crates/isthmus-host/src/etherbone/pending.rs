// SPDX-License-Identifier: Apache-2.0
//! The result of a cycle in flight, and its notification.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::{CycleReply, Error};

pub(super) type CycleResult = Result<CycleReply, Error>;

/// Where the end of one cycle after the other is put. A value or two need no lock: they are the most
/// frequent result, and the receiver gives the memory that they are handed out in back at once.
#[derive(Default)]
pub(super) struct Slot {
    /// [`EMPTY`], [`WAITED_FOR`], [`OTHER`], or that and the number of values.
    state: AtomicU8,
    values: [AtomicU64; FEW],
    rest: Mutex<Rest>,
}

#[derive(Default)]
struct Rest {
    /// With [`OTHER`].
    result: Option<CycleResult>,
    /// From [`WAITED_FOR`] on.
    waker: Option<Waker>,
}

/// No result: the cycle has not ended, or its result was taken.
const EMPTY: u8 = 0;
/// As [`EMPTY`], and the slot may have a waker.
const WAITED_FOR: u8 = 1;
/// A result that needs the lock. Above: the cycle has read that many more values than this.
const OTHER: u8 = 2;
/// Values that the slot itself has places for.
const FEW: usize = 2;

impl Slot {
    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For the next cycle. Nobody else has the slot.
    fn reset(&self) {
        // What the last future did came before it let the slot go.
        fence(Ordering::Acquire);
        let state = self.state.load(Ordering::Relaxed);
        if state == OTHER || state == WAITED_FOR {
            *self.rest() = Rest::default();
        }
        self.state.store(EMPTY, Ordering::Relaxed);
    }

    fn take(&self) -> Option<CycleResult> {
        match self.state.load(Ordering::Acquire) {
            EMPTY | WAITED_FOR => None,
            OTHER => {
                let result = self.rest().result.take()?;
                self.state.store(EMPTY, Ordering::Release);
                Some(result)
            }
            state => {
                let values = self.values.iter().take(usize::from(state - OTHER));
                let reads = values.map(|value| value.load(Ordering::Relaxed)).collect();
                // Of two that take at once, one does.
                let order = (Ordering::AcqRel, Ordering::Relaxed);
                self.state.compare_exchange(state, EMPTY, order.0, order.1).ok()?;
                Some(Ok(CycleReply { reads }))
            }
        }
    }

    /// The cycle's end, once.
    fn fill(slot: &Arc<Self>, end: End<'_>) {
        if Arc::strong_count(slot) == 1 {
            // The future was dropped: the result is no longer needed.
            return;
        }
        let state = match end {
            End::Few(values) => {
                for (place, value) in slot.values.iter().zip(values) {
                    place.store(*value, Ordering::Relaxed);
                }
                OTHER + values.len() as u8
            }
            End::Other(result) => {
                slot.rest().result = Some(result);
                OTHER
            }
        };
        if slot.state.swap(state, Ordering::AcqRel) == WAITED_FOR {
            let waker = slot.rest().waker.take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

/// The end of a cycle.
enum End<'a> {
    /// At most [`FEW`] values, and one at least.
    Few(&'a [u64]),
    Other(CycleResult),
}

/// The result of a cycle in flight: a future, and a slot to look into. It does not drive a
/// [`Client`]: other code must call [`Client::flush`] and [`Client::settle`].
pub struct Pending {
    slot: Arc<Slot>,
}

impl Pending {
    /// The result, once; `None` before the cycle ends and after the result was taken.
    pub fn take(&self) -> Option<CycleResult> {
        self.slot.take()
    }

    /// True if a result is pending.
    pub fn is_ready(&self) -> bool {
        self.slot.state.load(Ordering::Acquire) >= OTHER
    }
}

impl Future for Pending {
    type Output = CycleResult;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<CycleResult> {
        if let Some(result) = self.slot.take() {
            return Poll::Ready(result);
        }
        self.slot.rest().waker = Some(context.waker().clone());
        let (empty, waited_for) = (EMPTY, WAITED_FOR);
        let order = (Ordering::AcqRel, Ordering::Acquire);
        match self.slot.state.compare_exchange(empty, waited_for, order.0, order.1) {
            Ok(_) | Err(WAITED_FOR) => Poll::Pending,
            // It has ended since.
            Err(_) => {
                self.slot.rest().waker = None;
                self.slot.take().map_or(Poll::Pending, Poll::Ready)
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
    Slot(Arc<Slot>),
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
    kept: Option<Arc<Slot>>,
}

impl Completion {
    /// Tells a future.
    #[cfg(feature = "tokio")]
    pub(super) fn pending() -> (Self, Pending) {
        let slot: Arc<Slot> = Arc::default();
        let owner = Some(Owner::Slot(Arc::clone(&slot)));
        (Self { owner, kept: None }, Pending { slot })
    }

    /// A future is notified, by the slot that is kept or, where that one's last future still lives, by a
    /// new one.
    pub(super) fn pend(&mut self) -> Pending {
        let kept = match &self.kept {
            // Only futures share it, and none can become one of several any more.
            Some(kept) if Arc::strong_count(kept) == 1 => {
                kept.reset();
                kept
            }
            _ => self.kept.insert(Arc::default()),
        };
        self.owner = Some(Owner::Kept);
        Pending { slot: Arc::clone(kept) }
    }

    /// The cycle has read these values.
    #[inline]
    pub(super) fn tell_reads(&mut self, reads: &mut Vec<u64>) {
        if let (Some(Owner::Kept), Some(slot), 1..=FEW) = (&self.owner, &self.kept, reads.len()) {
            self.owner = None;
            Slot::fill(slot, End::Few(reads));
        } else {
            self.tell(Ok(CycleReply { reads: std::mem::take(reads) }));
        }
    }

    pub(super) fn tell(&mut self, result: CycleResult) {
        match self.owner.take() {
            Some(Owner::Kept) => {
                if let Some(slot) = &self.kept {
                    Slot::fill(slot, End::Other(result));
                }
            }
            #[cfg(feature = "tokio")]
            Some(Owner::Slot(slot)) => Slot::fill(&slot, End::Other(result)),
            Some(Owner::Callback(callback)) => callback(result),
            // A tag has no receiver to notify.
            Some(Owner::Tag(_)) | None => {}
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

#[cfg(test)]
mod tests {
    use std::task::Wake;
    use std::thread;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicU64);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn poll(pending: &mut Pending, woken: &Arc<Woken>) -> Option<Vec<u64>> {
        let waker = Waker::from(Arc::clone(woken));
        match Pin::new(pending).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => Some(result.expect("a good end").reads),
            Poll::Pending => None,
        }
    }

    fn taken(pending: &Pending) -> Option<Vec<u64>> {
        pending.take().map(|result| result.expect("a good end").reads)
    }

    #[test]
    fn a_result_of_any_length_is_taken_once() {
        let mut completion = Completion::default();
        for reads in [vec![], vec![7], vec![7, 8], vec![7, 8, 9]] {
            let pending = completion.pend();
            assert!(!pending.is_ready());
            assert_eq!(taken(&pending), None);
            completion.tell_reads(&mut reads.clone());
            assert!(pending.is_ready());
            assert_eq!(taken(&pending), Some(reads));
            assert!(!pending.is_ready());
            assert_eq!(taken(&pending), None);
        }
    }

    #[test]
    fn a_future_that_was_dropped_leaves_nothing_to_the_next() {
        let mut completion = Completion::default();
        let woken = Arc::new(Woken::default());
        for reads in [vec![1], vec![1, 2], vec![1, 2, 3]] {
            // One that waited and never ended, then one that ended and was never looked at.
            drop(Some(completion.pend()).map(|mut pending| poll(&mut pending, &woken)));
            let ended = completion.pend();
            completion.tell_reads(&mut reads.clone());
            drop(ended);
            let next = completion.pend();
            assert!(!next.is_ready());
            completion.tell_reads(&mut vec![9]);
            assert_eq!(taken(&next), Some(vec![9]));
        }
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_future_that_waits_is_woken_by_its_last_waker() {
        let mut completion = Completion::default();
        let (first, last) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
        for reads in [vec![1], vec![1, 2], vec![1, 2, 3]] {
            let mut pending = completion.pend();
            assert_eq!(poll(&mut pending, &first), None);
            assert_eq!(poll(&mut pending, &last), None);
            completion.tell_reads(&mut reads.clone());
            assert_eq!(poll(&mut pending, &last), Some(reads));
        }
        assert_eq!(first.0.load(Ordering::Relaxed), 0);
        assert_eq!(last.0.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn a_result_of_another_thread_is_whole_and_its_waker_is_called_if_it_was_there_in_time() {
        let woken = Arc::new(Woken::default());
        for number in 0..2_000_u64 {
            let mut completion = Completion::default();
            let mut pending = completion.pend();
            let before = woken.0.load(Ordering::Relaxed);
            let reads: Vec<u64> = (0..1 + number % 3).map(|i| number + i).collect();
            let mut values = reads.clone();
            let teller = thread::spawn(move || completion.tell_reads(&mut values));
            let early = poll(&mut pending, &woken);
            teller.join().expect("no panic");
            let got = match early {
                Some(got) => got,
                None => {
                    assert_eq!(woken.0.load(Ordering::Relaxed), before + 1, "cycle {number}");
                    poll(&mut pending, &woken).expect("ended")
                }
            };
            assert_eq!(got, reads);
        }
    }
}
