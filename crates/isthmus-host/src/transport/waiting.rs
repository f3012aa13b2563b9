// SPDX-License-Identifier: Apache-2.0
//! A transport whose waits the caller's own rule cuts into parts, or ends.

use std::os::fd::AsFd;
use std::time::Duration;

use super::{Kind, Transport, TransportError};

/// How long a receive waits at a time.
pub trait Wait {
    /// Until when to wait now, at most `deadline`; `None`: no longer, and the receive stays pending,
    /// so that the caller that polls it drops it. `again`: a part has ended with nothing received.
    ///
    /// # Errors
    /// The error that ends the receive.
    fn until(
        &mut self,
        now: Duration,
        deadline: Duration,
        again: bool,
    ) -> Result<Option<Duration>, TransportError>;
}

/// A transport that waits by the rule `W`; all else is the inner one's.
#[derive(Debug)]
pub struct Waiting<T, W> {
    inner: T,
    wait: W,
}

/// How long a read of a socket may wait, as it was set last: nothing yet.
#[derive(Debug, Default)]
pub(super) struct ReadTimeout(Duration);

impl ReadTimeout {
    /// Reads wait for about this time. Setting it for every call would cost a system call each: a
    /// tenth too long is no harm, and after too short a time the caller waits again.
    pub(super) fn set(&mut self, socket: &impl AsFd, time: Duration) -> std::io::Result<()> {
        if time < self.0 - self.0 / 10 || time > self.0 * 2 {
            let socket = socket2::SockRef::from(socket);
            socket.set_read_timeout(Some(time.max(Duration::from_micros(1))))?;
            self.0 = time;
        }
        Ok(())
    }
}

impl<T: Transport, W: Wait> Waiting<T, W> {
    /// `inner`, waiting by `wait`.
    pub fn new(inner: T, wait: W) -> Self {
        Self { inner, wait }
    }

    /// The rule.
    pub fn wait(&self) -> &W {
        &self.wait
    }

    /// The rule, to change it.
    pub fn wait_mut(&mut self) -> &mut W {
        &mut self.wait
    }
}

impl<T: Transport, W: Wait> Transport for Waiting<T, W> {
    fn kind(&self) -> Kind {
        self.inner.kind()
    }

    fn mtu(&self) -> usize {
        self.inner.mtu()
    }

    fn room(&self) -> Option<usize> {
        self.inner.room()
    }

    fn now(&self) -> Duration {
        self.inner.now()
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        self.inner.send(message).await
    }

    async fn flush(&mut self) -> Result<(), TransportError> {
        self.inner.flush().await
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        let mut again = false;
        loop {
            let Some(until) = self.wait.until(self.inner.now(), deadline, again)? else {
                return std::future::pending().await;
            };
            match self.inner.recv(buffer, until).await {
                Err(TransportError::TimedOut) if until < deadline => again = true,
                ended => return ended,
            }
        }
    }
}
