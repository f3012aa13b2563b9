// SPDX-License-Identifier: Apache-2.0

use std::io;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::{AnyTransport, Kind, Transport, TransportError};

/// Any transport of the operating system in a task of tokio: waiting holds no thread.
///
/// The same sockets as in [`AnyTransport`], the same calls into the kernel; only the waiting is
/// tokio's. It must be made and used where a runtime with I/O and time runs.
#[derive(Debug)]
pub struct AsyncTransport {
    fd: AsyncFd<AnyTransport>,
}

impl AsyncTransport {
    /// Opens a [`DeviceName`](super::DeviceName). Resolving and connecting take place on a thread
    /// that may block.
    pub async fn open(name: &str) -> Result<Self, TransportError> {
        let name = name.to_owned();
        let opened = tokio::task::spawn_blocking(move || super::open(&name)).await;
        let transport = opened.map_err(|error| TransportError::Other(error.to_string()))??;
        Self::new(transport)
    }

    /// Takes a transport over. Polling ([`AnyTransport::with_spin`]) is switched off.
    pub fn new(mut transport: AnyTransport) -> Result<Self, TransportError> {
        transport.without_waiting().prepare()?;
        #[allow(
            deprecated,
            reason = "its successor is unsafe; a transport keeps its one descriptor"
        )]
        let fd = AsyncFd::new(transport).map_err(failed)?;
        Ok(Self { fd })
    }

    /// Waits until the descriptor is ready, and does with it what `work` does; `None` there: it was
    /// not ready after all.
    async fn when<R>(
        &mut self,
        interest: Interest,
        mut work: impl FnMut(&mut AnyTransport) -> Result<Option<R>, TransportError>,
    ) -> Result<R, TransportError> {
        loop {
            let mut guard = self.fd.ready_mut(interest).await.map_err(failed)?;
            let ready = guard.ready();
            match work(guard.get_inner_mut())? {
                Some(done) => {
                    guard.retain_ready();
                    return Ok(done);
                }
                None => guard.clear_ready_matching(ready),
            }
        }
    }

    async fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, TransportError> {
        loop {
            let transport = self.fd.get_mut().without_waiting();
            let left = !transport.try_flush()?;
            if let Some(length) = transport.try_recv(buffer)? {
                return Ok(length);
            }
            let interest = match left {
                true => Interest::READABLE | Interest::WRITABLE,
                false => Interest::READABLE,
            };
            let came = self.when(interest, |transport| {
                let transport = transport.without_waiting();
                if left && transport.try_flush()? {
                    // From here on only readability is waited for.
                    return Ok(Some(None));
                }
                Ok(transport.try_recv(buffer)?.map(Some))
            });
            if let Some(length) = came.await? {
                return Ok(length);
            }
        }
    }
}

fn failed(source: io::Error) -> TransportError {
    TransportError::Io { action: "watch the device".to_owned(), source }
}

impl Transport for AsyncTransport {
    fn kind(&self) -> Kind {
        self.fd.get_ref().kind()
    }

    fn mtu(&self) -> usize {
        self.fd.get_ref().mtu()
    }

    fn room(&self) -> Option<usize> {
        self.fd.get_ref().room()
    }

    fn now(&self) -> Duration {
        self.fd.get_ref().now()
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        while !self.fd.get_mut().without_waiting().try_queue(message)? {
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), TransportError> {
        if self.fd.get_mut().without_waiting().try_flush()? {
            return Ok(());
        }
        // A stream makes room by reading: both directions count.
        let interest = match self.kind() {
            Kind::Datagram => Interest::WRITABLE,
            Kind::Stream => Interest::READABLE | Interest::WRITABLE,
        };
        self.when(interest, |transport| Ok(transport.without_waiting().try_flush()?.then_some(())))
            .await
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        let left = deadline.saturating_sub(self.now());
        match tokio::time::timeout(left, self.receive(buffer)).await {
            Ok(received) => received,
            Err(_) => Err(TransportError::TimedOut),
        }
    }
}
