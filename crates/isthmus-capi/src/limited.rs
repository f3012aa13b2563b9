// SPDX-License-Identifier: Apache-2.0

use std::time::Duration;

use isthmus_host::transport::{AnyTransport, Kind, Transport, TransportError};

/// A transport that can stop waiting before the protocol's own deadline: beyond the limit its
/// `recv` stays pending, and the caller that polls drops it.
#[derive(Debug)]
pub(crate) struct Limited {
    inner: AnyTransport,
    limit: Option<Duration>,
}

impl Limited {
    pub(crate) fn new(inner: AnyTransport) -> Self {
        Self { inner, limit: None }
    }

    /// Waits end after this time from now; `None`: with the protocol's deadlines only.
    pub(crate) fn limit(&mut self, time: Option<Duration>) {
        self.limit = time.map(|time| self.inner.now().saturating_add(time));
    }
}

impl Transport for Limited {
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
        let until = self.limit.map_or(deadline, |limit| limit.min(deadline));
        match self.inner.recv(buffer, until).await {
            Err(TransportError::TimedOut) if until < deadline => std::future::pending().await,
            ended => ended,
        }
    }
}
