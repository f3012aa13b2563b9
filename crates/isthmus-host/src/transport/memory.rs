// SPDX-License-Identifier: Apache-2.0

use std::collections::VecDeque;
use std::time::Duration;

use super::{Kind, Transport, TransportError};
use crate::etherbone::{Bus, SoftSlave};

/// Faults in flight, by the position of the datagram (0 is the first one sent).
///
/// A list that names no position does nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    /// Requests that never reach the slave.
    pub lost_requests: Vec<usize>,
    /// Requests that the slave executes but whose replies are lost.
    pub lost_replies: Vec<usize>,
    /// Requests whose replies arrive twice.
    pub doubled_replies: Vec<usize>,
    /// Requests whose replies arrive after the next request's.
    pub late_replies: Vec<usize>,
    /// Requests whose replies are cut to half their length.
    pub cut_replies: Vec<usize>,
}

/// A transport whose other end is a [`SoftSlave`] in the same process. Its clock only advances
/// while waiting for a reply that does not arrive, so tests of timeouts take no time.
#[derive(Debug)]
pub struct MemoryTransport<B> {
    slave: SoftSlave<B>,
    kind: Kind,
    faults: Faults,
    sent: usize,
    replies: VecDeque<Vec<u8>>,
    late: Option<Vec<u8>>,
    now: Duration,
}

impl<B: Bus> MemoryTransport<B> {
    /// Datagrams, without faults.
    pub fn new(slave: SoftSlave<B>) -> Self {
        Self {
            slave,
            kind: Kind::Datagram,
            faults: Faults::default(),
            sent: 0,
            replies: VecDeque::new(),
            late: None,
            now: Duration::ZERO,
        }
    }

    /// A byte stream. Replies arrive in pieces of 7 bytes, so that nothing is ever aligned.
    pub fn stream(slave: SoftSlave<B>) -> Self {
        Self { kind: Kind::Stream, ..Self::new(slave) }
    }

    /// The same with faults (datagrams only).
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// The slave behind the transport.
    pub fn slave(&mut self) -> &mut SoftSlave<B> {
        &mut self.slave
    }

    /// Messages sent so far.
    pub fn sent(&self) -> usize {
        self.sent
    }
}

impl<B: Bus> Transport for MemoryTransport<B> {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn now(&self) -> Duration {
        self.now
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        let position = self.sent;
        self.sent += 1;
        if self.kind == Kind::Stream {
            let reply = self.slave.stream(message);
            self.replies.extend(reply.chunks(7).map(<[u8]>::to_vec));
            return Ok(());
        }
        let hit = |list: &[usize]| list.contains(&position);
        if hit(&self.faults.lost_requests) {
            return Ok(());
        }
        let overdue = self.late.take();
        if let Some(mut reply) = self.slave.datagram(message)
            && !hit(&self.faults.lost_replies)
        {
            if hit(&self.faults.cut_replies) {
                reply.truncate(reply.len() / 2);
            }
            if hit(&self.faults.doubled_replies) {
                self.replies.push_back(reply.clone());
            }
            if hit(&self.faults.late_replies) {
                self.late = Some(reply);
            } else {
                self.replies.push_back(reply);
            }
        }
        self.replies.extend(overdue);
        Ok(())
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        match self.replies.pop_front() {
            Some(reply) => {
                let length = reply.len().min(buffer.len());
                buffer[..length].copy_from_slice(&reply[..length]);
                Ok(length)
            }
            None => {
                self.now = self.now.max(deadline);
                Err(TransportError::TimedOut)
            }
        }
    }
}
