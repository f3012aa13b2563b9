// SPDX-License-Identifier: Apache-2.0
//! A level that one task waits for.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::{Poll, Waker};

#[derive(Default)]
pub(super) struct Signal {
    raised: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Signal {
    pub(super) fn raise(&self) {
        self.raised.set(true);
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    /// Waits until it is raised, and lowers it.
    pub(super) async fn wait(&self) {
        poll_fn(|context| {
            if self.raised.replace(false) {
                return Poll::Ready(());
            }
            *self.waker.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
