// SPDX-License-Identifier: Apache-2.0
//! How bytes reach a device: the [`Transport`] trait and its implementations over the operating
//! system ([`UdpTransport`], [`TcpTransport`], [`SerialTransport`]) and over memory
//! ([`MemoryTransport`]). A simulated network implements the same trait where the simulator is
//! known.
//!
//! [`open`] takes a [`DeviceName`] and returns whichever it names. The transports of the operating
//! system block the calling thread: their futures are ready at once, so that [`block_on`] is all
//! the runtime they need. In tasks of tokio [`AsyncTransport`] is the one to use: it waits without
//! holding a thread.

#[cfg(feature = "tokio")]
mod asynchronous;
pub(crate) mod batch;
mod memory;
mod name;
mod stream;
mod udp;
mod waiting;

#[cfg(feature = "tokio")]
pub use asynchronous::AsyncTransport;
pub use memory::{Faults, MemoryTransport};
pub use name::{DeviceName, Family, Host, NameError};
pub use stream::{SerialTransport, TcpTransport};
pub use udp::UdpTransport;
pub use waiting::{Wait, Waiting};

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The UDP port of a device's name without one: Etherbone's (0xEBD0).
pub const DEFAULT_PORT: u16 = 60368;

/// The largest UDP payload that fits an Ethernet frame of 1500 bytes.
pub const UDP_MTU: usize = 1472;

/// True if the transport preserves message boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Every send is one message; messages may be lost, doubled or overtake each other.
    Datagram,
    /// An ordered stream of bytes without boundaries.
    Stream,
}

/// Why a transport could not send or receive.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// Nothing arrived before the deadline.
    #[error("nothing received before the deadline")]
    TimedOut,
    /// The remote end has closed the connection.
    #[error("the peer closed the connection")]
    Closed,
    /// The operating system refused.
    #[error("{action}: {source}")]
    Io {
        /// The attempted action, with its address.
        action: String,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The device's name cannot be read.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A transport of another crate failed, or does not support the request.
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
    /// True if message boundaries are preserved.
    fn kind(&self) -> Kind;

    /// The largest message in bytes. A stream ignores it.
    fn mtu(&self) -> usize {
        UDP_MTU
    }

    /// Bytes of the buffer in which messages wait to be received, including the system's overhead
    /// for each; `None`: unknown, or nothing is lost for lack of space.
    fn room(&self) -> Option<usize> {
        None
    }

    /// The time now, for deadlines.
    fn now(&self) -> Duration;

    /// Sends one whole message (or, on a stream, all the bytes). It may wait for more to send with
    /// it until [`flush`](Self::flush) or [`recv`](Self::recv).
    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError>;

    /// Sends what still waits.
    async fn flush(&mut self) -> Result<(), TransportError> {
        Ok(())
    }

    /// Waits until `deadline` for one message (or, on a stream, at least one byte) and copies it
    /// to `buffer`, whose excess is cut off. Returns the number of bytes.
    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError>;
}

/// A transport of the operating system whose descriptor is watched by another event loop.
pub(crate) trait WithoutWaiting: AsFd {
    /// From now on nothing waits. Only these functions may be used then.
    fn prepare(&mut self) -> Result<(), TransportError>;

    /// Takes a message to send; `false`: it must come again when the descriptor can be written.
    fn try_queue(&mut self, message: &[u8]) -> Result<bool, TransportError>;

    /// Sends the accepted messages; returns true if none is left.
    fn try_flush(&mut self) -> Result<bool, TransportError>;

    /// Receives a pending message; `None`: none is pending.
    fn try_recv(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, TransportError>;
}

/// Whichever transport a [`DeviceName`] names.
#[derive(Debug)]
pub enum AnyTransport {
    /// Datagrams.
    Udp(Box<UdpTransport>),
    /// A TCP connection.
    Tcp(TcpTransport),
    /// A character device.
    Serial(SerialTransport),
}

/// Opens a device by its name: `udp/HOST[/PORT]`, `tcp/HOST[/PORT]`, `dev/NAME` and the others of
/// [`DeviceName`].
pub fn open(name: &str) -> Result<AnyTransport, TransportError> {
    let name: DeviceName = name.parse()?;
    Ok(match &name {
        DeviceName::Udp(host) => {
            AnyTransport::Udp(Box::new(UdpTransport::connect_socket(host.resolve()?)?))
        }
        DeviceName::Tcp(host) => AnyTransport::Tcp(TcpTransport::connect_socket(host.resolve()?)?),
        DeviceName::Dev(_) => AnyTransport::Serial(SerialTransport::connect(&name.to_string())?),
    })
}

impl AnyTransport {
    /// Polls for up to `spin` before the thread sleeps: answers sooner, for a busy processor.
    pub fn with_spin(self, spin: Duration) -> Self {
        match self {
            AnyTransport::Udp(udp) => AnyTransport::Udp(Box::new(udp.with_spin(spin))),
            AnyTransport::Tcp(tcp) => AnyTransport::Tcp(tcp.with_spin(spin)),
            AnyTransport::Serial(serial) => AnyTransport::Serial(serial.with_spin(spin)),
        }
    }
}

impl Transport for AnyTransport {
    fn kind(&self) -> Kind {
        match self {
            AnyTransport::Udp(_) => Kind::Datagram,
            AnyTransport::Tcp(_) | AnyTransport::Serial(_) => Kind::Stream,
        }
    }

    fn mtu(&self) -> usize {
        match self {
            AnyTransport::Udp(udp) => udp.mtu(),
            AnyTransport::Tcp(tcp) => tcp.mtu(),
            AnyTransport::Serial(serial) => serial.mtu(),
        }
    }

    fn room(&self) -> Option<usize> {
        match self {
            AnyTransport::Udp(udp) => udp.room(),
            AnyTransport::Tcp(_) | AnyTransport::Serial(_) => None,
        }
    }

    fn now(&self) -> Duration {
        match self {
            AnyTransport::Udp(udp) => udp.now(),
            AnyTransport::Tcp(tcp) => tcp.now(),
            AnyTransport::Serial(serial) => serial.now(),
        }
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        match self {
            AnyTransport::Udp(udp) => udp.send(message).await,
            AnyTransport::Tcp(tcp) => tcp.send(message).await,
            AnyTransport::Serial(serial) => serial.send(message).await,
        }
    }

    async fn flush(&mut self) -> Result<(), TransportError> {
        match self {
            AnyTransport::Udp(udp) => udp.flush().await,
            AnyTransport::Tcp(_) | AnyTransport::Serial(_) => Ok(()),
        }
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        match self {
            AnyTransport::Udp(udp) => udp.recv(buffer, deadline).await,
            AnyTransport::Tcp(tcp) => tcp.recv(buffer, deadline).await,
            AnyTransport::Serial(serial) => serial.recv(buffer, deadline).await,
        }
    }
}

impl AnyTransport {
    fn without_waiting(&mut self) -> &mut dyn WithoutWaiting {
        match self {
            AnyTransport::Udp(udp) => &mut **udp,
            AnyTransport::Tcp(tcp) => tcp,
            AnyTransport::Serial(serial) => serial,
        }
    }
}

impl AsFd for AnyTransport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            AnyTransport::Udp(udp) => udp.as_fd(),
            AnyTransport::Tcp(tcp) => tcp.as_fd(),
            AnyTransport::Serial(serial) => serial.as_fd(),
        }
    }
}

impl AsRawFd for AnyTransport {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

/// Waits until there is something to read, an error among it; `false` when `time` is over.
pub(crate) fn wait_readable(fd: &impl AsFd, time: Duration) -> std::io::Result<bool> {
    wait(fd, PollFlags::IN, time)
}

pub(crate) fn wait_writable(fd: &impl AsFd, time: Duration) -> std::io::Result<bool> {
    wait(fd, PollFlags::OUT, time)
}

/// Waits for whichever comes first: something to read, room to write; neither when `time` is over.
pub(crate) fn wait_either(fd: &impl AsFd, time: Duration) -> std::io::Result<(bool, bool)> {
    let ready = events(fd, PollFlags::IN | PollFlags::OUT, time)?;
    // An error is found by the next read or write.
    let readable = ready.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR);
    Ok((readable, ready.contains(PollFlags::OUT)))
}

fn wait(fd: &impl AsFd, wanted: PollFlags, time: Duration) -> std::io::Result<bool> {
    Ok(!events(fd, wanted, time)?.is_empty())
}

fn events(fd: &impl AsFd, wanted: PollFlags, time: Duration) -> std::io::Result<PollFlags> {
    let mut fds = [PollFd::new(fd, wanted)];
    // A time beyond the system's range is as good as a year.
    let time = time.min(Duration::from_secs(31_536_000));
    let time = Timespec::try_from(time).map_err(std::io::Error::other)?;
    match poll(&mut fds, Some(&time)) {
        Ok(_) => Ok(fds.map(|fd| fd.revents())[0]),
        // As if something had come: the caller looks, and waits again with the time that is left.
        Err(rustix::io::Errno::INTR) => Ok(wanted),
        Err(error) => Err(error.into()),
    }
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
