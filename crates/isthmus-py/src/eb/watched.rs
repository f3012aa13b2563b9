// SPDX-License-Identifier: Apache-2.0
//! A transport that lets Control-C in.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use isthmus_host::etherbone::{self as host, Dialect};
use isthmus_host::transport::{
    self, AnyTransport, DeviceName, Transport, TransportError, UdpTransport, Wait, Waiting,
};
use pyo3::prelude::*;

use super::errors::lock;

/// How long Control-C can wait.
pub(super) const SLICE: Duration = Duration::from_millis(100);

/// Ends the waits of a transport when Python has a signal to handle.
#[derive(Debug)]
pub(super) struct Signals {
    pub(super) raised: Raised,
    /// Time at which Python was last checked for signals.
    looked: Duration,
}

/// A transport that lets Control-C in.
pub(super) type Watched = Waiting<AnyTransport, Signals>;

pub(super) fn watched(inner: AnyTransport, raised: Raised) -> Watched {
    let looked = inner.now();
    Waiting::new(inner, Signals { raised, looked })
}

impl Wait for Signals {
    fn until(
        &mut self,
        now: Duration,
        deadline: Duration,
        _again: bool,
    ) -> Result<Option<Duration>, TransportError> {
        // Long transfers, which never wait, look as well.
        if now.saturating_sub(self.looked) >= SLICE {
            self.looked = now;
            Python::attach(|py| py.check_signals()).map_err(|error| {
                *lock(&self.raised) = Some(error);
                TransportError::Other("interrupted".to_owned())
            })?;
        }
        Ok(Some(deadline.min(now + SLICE)))
    }
}

/// The Python exception raised during a wait.
pub(super) type Raised = Arc<Mutex<Option<PyErr>>>;

pub(super) type Inner = host::Client<Watched>;

pub(super) fn open_transport(name: &str, dialect: Dialect) -> Result<AnyTransport, TransportError> {
    let parsed: DeviceName = name.parse()?;
    if let (Dialect::LiteEth, DeviceName::Udp(host)) = (dialect, &parsed) {
        // Gateware answers to port 1234, regardless of the sender's port; a software slave on this
        // host holds it.
        let peer = host.resolve()?;
        let transport = UdpTransport::connect_from(host::LITE_PORT, peer);
        let transport = transport.or_else(|_| UdpTransport::connect_socket(peer))?;
        return Ok(AnyTransport::Udp(Box::new(transport)));
    }
    transport::open(name)
}
