// SPDX-License-Identifier: Apache-2.0
//! Channels between tasks of one simulation. Passing a value costs no simulated time.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// The other end was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the receiving end is gone")]
pub struct SendError;

struct Shared<T> {
    queue: VecDeque<T>,
    capacity: usize,
    senders: usize,
    receiver_alive: bool,
    receiver: Option<Waker>,
    blocked: VecDeque<Waker>,
}

/// The sending end of a [`channel`]; clones send into the same queue.
pub struct Sender<T>(Rc<RefCell<Shared<T>>>);

/// The receiving end of a [`channel`].
pub struct Receiver<T>(Rc<RefCell<Shared<T>>>);

/// A first-in first-out queue of at most `capacity` values (at least one).
#[must_use]
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let shared = Rc::new(RefCell::new(Shared {
        queue: VecDeque::new(),
        capacity: capacity.max(1),
        senders: 1,
        receiver_alive: true,
        receiver: None,
        blocked: VecDeque::new(),
    }));
    (Sender(Rc::clone(&shared)), Receiver(shared))
}

impl<T> Sender<T> {
    /// Sends if there is room.
    ///
    /// # Errors
    /// Returns the value if the queue is full or the receiver was dropped.
    pub fn try_send(&self, value: T) -> Result<(), T> {
        let mut shared = self.0.borrow_mut();
        if !shared.receiver_alive || shared.queue.len() >= shared.capacity {
            return Err(value);
        }
        shared.queue.push_back(value);
        if let Some(waker) = shared.receiver.take() {
            waker.wake();
        }
        Ok(())
    }

    /// Sends, waiting for room.
    ///
    /// # Errors
    /// If the receiver was dropped.
    pub async fn send(&self, value: T) -> Result<(), SendError> {
        let mut value = Some(value);
        poll_fn(|context| {
            if !self.0.borrow().receiver_alive {
                return Poll::Ready(Err(SendError));
            }
            match value.take().map(|value| self.try_send(value)) {
                Some(Err(back)) => {
                    value = Some(back);
                    self.0.borrow_mut().blocked.push_back(context.waker().clone());
                    Poll::Pending
                }
                _ => Poll::Ready(Ok(())),
            }
        })
        .await
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.borrow_mut().senders += 1;
        Self(Rc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut shared = self.0.borrow_mut();
        shared.senders -= 1;
        if shared.senders == 0
            && let Some(waker) = shared.receiver.take()
        {
            waker.wake();
        }
    }
}

impl<T> Receiver<T> {
    /// The next value, if one is queued.
    pub fn try_recv(&mut self) -> Option<T> {
        let mut shared = self.0.borrow_mut();
        let value = shared.queue.pop_front()?;
        if let Some(waker) = shared.blocked.pop_front() {
            waker.wake();
        }
        Some(value)
    }

    /// The next value; `None` once the queue is empty and every sender was dropped.
    pub async fn recv(&mut self) -> Option<T> {
        poll_fn(|context| {
            if let Some(value) = self.try_recv() {
                return Poll::Ready(Some(value));
            }
            let mut shared = self.0.borrow_mut();
            if shared.senders == 0 {
                return Poll::Ready(None);
            }
            shared.receiver = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut shared = self.0.borrow_mut();
        shared.receiver_alive = false;
        let queue = std::mem::take(&mut shared.queue);
        for waker in shared.blocked.drain(..) {
            waker.wake();
        }
        drop(shared);
        drop(queue);
    }
}

/// The sending end of a [`oneshot`].
pub struct OneshotSender<T>(Sender<T>);

/// The receiving end of a [`oneshot`].
pub struct OneshotReceiver<T>(Receiver<T>);

/// A channel for one value.
#[must_use]
pub fn oneshot<T>() -> (OneshotSender<T>, OneshotReceiver<T>) {
    let (sender, receiver) = channel(1);
    (OneshotSender(sender), OneshotReceiver(receiver))
}

impl<T> OneshotSender<T> {
    /// Sends the value.
    ///
    /// # Errors
    /// Returns it if the receiver was dropped.
    pub fn send(self, value: T) -> Result<(), T> {
        self.0.try_send(value)
    }
}

impl<T> OneshotReceiver<T> {
    /// The value; `None` when the sender was dropped without sending.
    pub async fn recv(mut self) -> Option<T> {
        self.0.recv().await
    }
}
