// SPDX-License-Identifier: Apache-2.0
//! How bytes reach a device: the [`Transport`] trait and its implementations over a real UDP
//! socket ([`UdpTransport`]) and over memory ([`MemoryTransport`]). A simulated network implements
//! the same trait where the simulator is known.

mod memory;
mod udp;

pub use memory::{Faults, MemoryTransport};
pub use udp::UdpTransport;

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Whether message boundaries survive the transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Every send is one message; messages may be lost, doubled or overtake each other.
    Datagram,
    /// An ordered stream of bytes without boundaries.
    Stream,
}

/// Work a protocol's client does on the host's processor. On real hardware it takes the time it
/// takes; a simulated transport charges a platform's cost for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// One cycle was turned into protocol records.
    Build {
        /// Bus operations in the cycle.
        operations: usize,
    },
    /// The reply of one cycle was taken apart and handed to its owner.
    Complete {
        /// Bus operations in the cycle.
        operations: usize,
    },
}

/// Why a transport could not send or receive.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// Nothing arrived before the deadline.
    #[error("nothing received before the deadline")]
    TimedOut,
    /// The other side is gone.
    #[error("the peer closed the connection")]
    Closed,
    /// The operating system refused.
    #[error("{action}: {source}")]
    Io {
        /// What was attempted, with its address.
        action: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A transport of another crate failed.
    #[error("{0}")]
    Other(String),
}

/// One client's connection to one device.
///
/// Times are durations since an origin the transport chooses, so that a simulated transport can
/// use simulated time.
#[allow(
    async_fn_in_trait,
    reason = "simulated transports are single-threaded: no Send bound is wanted"
)]
pub trait Transport {
    /// Whether message boundaries survive.
    fn kind(&self) -> Kind;

    /// The largest message in bytes. A stream ignores it.
    fn mtu(&self) -> usize {
        crate::etherbone::UDP_MTU
    }

    /// The time now, for deadlines.
    fn now(&self) -> Duration;

    /// Sends one whole message (or, on a stream, all the bytes).
    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError>;

    /// Waits until `deadline` for one message (or, on a stream, at least one byte) and copies it
    /// to `buffer`, whose excess is cut off. Returns the number of bytes.
    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError>;

    /// Accounts for work of the client itself. Costs nothing unless a transport says otherwise.
    async fn charge(&mut self, _work: Work) {}
}

struct ThreadWaker(std::thread::Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread, for programs without an async runtime.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(ThreadWaker(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
