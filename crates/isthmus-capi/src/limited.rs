// SPDX-License-Identifier: Apache-2.0

use std::time::Duration;

use isthmus_host::transport::{AnyTransport, Transport, TransportError, Wait, Waiting};

/// A transport that can stop waiting before the protocol's own deadline: beyond the limit its
/// `recv` stays pending, and the caller that polls drops it.
pub(crate) type Limited = Waiting<AnyTransport, Limit>;

/// When waits end; `None`: with the protocol's deadlines only.
#[derive(Debug, Default)]
pub(crate) struct Limit(Option<Duration>);

impl Wait for Limit {
    fn until(
        &mut self,
        _now: Duration,
        deadline: Duration,
        again: bool,
    ) -> Result<Option<Duration>, TransportError> {
        let until = self.0.map_or(deadline, |limit| limit.min(deadline));
        Ok((!again).then_some(until))
    }
}

/// Waits end after this time from now; `None`: with the protocol's deadlines only.
pub(crate) fn limit(transport: &mut Limited, time: Option<Duration>) {
    let now = transport.now();
    transport.wait_mut().0 = time.map(|time| now.saturating_add(time));
}
