// SPDX-License-Identifier: Apache-2.0
//! A transport that lets Control-C in.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use isthmus_host::etherbone::{self as host, Dialect};
use isthmus_host::transport::{
    self, AnyTransport, DeviceName, Kind, Transport, TransportError, UdpTransport,
};
use pyo3::prelude::*;

use super::errors::lock;

/// How long Control-C can wait.
pub(super) const SLICE: Duration = Duration::from_millis(100);

/// A transport whose waits end when Python has a signal to handle, and so do long transfers.
#[derive(Debug)]
pub(super) struct Watched {
    inner: AnyTransport,
    pub(super) raised: Raised,
    /// When Python was asked for signals last.
    looked: Duration,
}

impl Watched {
    pub(super) fn new(inner: AnyTransport, raised: Raised) -> Self {
        let looked = inner.now();
        Self { inner, raised, looked }
    }

    /// Asks Python for signals, where the last time is long enough ago.
    fn look(&mut self) -> Result<(), TransportError> {
        let now = self.inner.now();
        if now.saturating_sub(self.looked) < SLICE {
            return Ok(());
        }
        self.looked = now;
        Python::attach(|py| py.check_signals()).map_err(|error| {
            *lock(&self.raised) = Some(error);
            TransportError::Other("interrupted".to_owned())
        })
    }
}

/// What Python raised while something waited.
pub(super) type Raised = Arc<Mutex<Option<PyErr>>>;

impl Transport for Watched {
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
        loop {
            self.look()?;
            let slice = deadline.min(self.inner.now() + SLICE);
            match self.inner.recv(buffer, slice).await {
                Err(TransportError::TimedOut) if self.inner.now() < deadline => {}
                ended => return ended,
            }
        }
    }
}

pub(super) type Inner = host::Client<Watched>;

pub(super) fn open_transport(name: &str, dialect: Dialect) -> Result<AnyTransport, TransportError> {
    let parsed: DeviceName = name.parse()?;
    if let (Dialect::LiteEth, DeviceName::Udp(host)) = (dialect, &parsed) {
        // Gateware answers to port 1234, whatever the sender's port is; a software slave on this
        // very host holds it.
        let peer = host.resolve()?;
        let transport = UdpTransport::connect_from(host::LITE_PORT, peer);
        let transport = transport.or_else(|_| UdpTransport::connect_socket(peer))?;
        return Ok(AnyTransport::Udp(Box::new(transport)));
    }
    transport::open(name)
}
