// SPDX-License-Identifier: Apache-2.0
//! Streams: TCP connections and character devices.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::net::{RecvFlags, SendFlags};
use rustix::termios::{OptionalActions, QueueSelector, tcflush, tcgetattr, tcsetattr};

use super::waiting::ReadTimeout;
use super::{
    DeviceName, Kind, Transport, TransportError, WithoutWaiting, wait_either, wait_readable,
};

/// Timeout of a send without progress; then the connection counts as closed.
const SEND_STALL: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The default rate of serial lines.
const BAUD: u32 = 115_200;

/// Unsent bytes of a transport that never waits, beyond which it takes no more.
const BACKLOG: usize = 1 << 18;
/// Bytes that one look takes from a stream whose other direction is full.
const STASH: usize = 1 << 16;

/// What a stream lies on.
trait Line: AsFd {
    /// Does not wait.
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize>;

    /// Does not wait.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize>;

    /// Waits for something to read and reads it, in one system call; not much longer than this time
    /// and perhaps less. `None`: this takes two here.
    fn read_within(
        &mut self,
        _buffer: &mut [u8],
        _time: Duration,
    ) -> Option<std::io::Result<usize>> {
        None
    }
}

/// A stream of the operating system: what TCP and serial devices have in common.
///
/// If the remote end does not accept a request because its answers fill the buffers, these answers
/// are read while the request waits: a long cycle would otherwise block both sides.
#[derive(Debug)]
struct Stream<S> {
    io: S,
    name: String,
    origin: Instant,
    spin: Duration,
    /// Bytes waiting to be sent, from `sent` on.
    out: Vec<u8>,
    sent: usize,
    /// Bytes received while others waited to be sent, from `taken` on.
    inbox: Vec<u8>,
    taken: usize,
}

impl<S: Line> Stream<S> {
    fn new(io: S, name: String) -> Self {
        Self {
            io,
            name,
            origin: Instant::now(),
            spin: Duration::ZERO,
            out: Vec::new(),
            sent: 0,
            inbox: Vec::new(),
            taken: 0,
        }
    }

    fn failed(&self, action: &str, source: std::io::Error) -> TransportError {
        match gone(&source) {
            true => TransportError::Closed,
            false => TransportError::Io { action: format!("{action} {}", self.name), source },
        }
    }

    /// One write; 0: the line takes nothing now.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, TransportError> {
        loop {
            match self.io.write(bytes) {
                Ok(0) => return Err(TransportError::Closed),
                Ok(length) => return Ok(length),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(0),
                Err(e) => return Err(self.failed("send to", e)),
            }
        }
    }

    /// One read, or what came before; `None`: nothing is available.
    fn try_recv(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, TransportError> {
        if let Some(waiting) = self.inbox.get(self.taken..).filter(|bytes| !bytes.is_empty()) {
            let length = waiting.len().min(buffer.len());
            buffer[..length].copy_from_slice(&waiting[..length]);
            self.taken += length;
            if self.taken == self.inbox.len() {
                self.inbox.clear();
                self.taken = 0;
            }
            return Ok(Some(length));
        }
        self.read(buffer)
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, TransportError> {
        loop {
            match self.io.read(buffer) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                read => return self.came(read),
            }
        }
    }

    /// What a read brought; `None`: nothing is available.
    fn came(&self, read: std::io::Result<usize>) -> Result<Option<usize>, TransportError> {
        match read {
            Ok(0) => Err(TransportError::Closed),
            Ok(length) => Ok(Some(length)),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(None)
            }
            Err(e) => Err(self.failed("receive from", e)),
        }
    }

    /// Keeps what can be read now for later; whether that was anything.
    fn stash(&mut self) -> Result<bool, TransportError> {
        let start = self.inbox.len();
        self.inbox.resize(start + STASH, 0);
        let mut inbox = std::mem::take(&mut self.inbox);
        let came = self.read(&mut inbox[start..]);
        inbox.truncate(start + came.as_ref().map_or(0, |length| length.unwrap_or(0)));
        self.inbox = inbox;
        Ok(came?.is_some())
    }

    fn send(&mut self, mut message: &[u8]) -> Result<(), TransportError> {
        while !message.is_empty() {
            let length = self.write(message)?;
            message = &message[length..];
            if length > 0 {
                continue;
            }
            let ready = wait_either(&self.io, SEND_STALL);
            let (readable, writable) = ready.map_err(|e| self.failed("send to", e))?;
            if !readable && !writable {
                return Err(TransportError::TimedOut);
            }
            if readable {
                self.stash()?;
            }
        }
        Ok(())
    }

    /// Takes a message to send, and sends what goes at once; `false`: too much waits already.
    fn try_queue(&mut self, message: &[u8]) -> Result<bool, TransportError> {
        if self.out.len() - self.sent > BACKLOG {
            return Ok(false);
        }
        self.out.extend_from_slice(message);
        Ok(true)
    }

    /// Sends what goes; whether nothing is left. What cannot be sent makes room by reading.
    fn try_flush(&mut self) -> Result<bool, TransportError> {
        let out = std::mem::take(&mut self.out);
        let mut result = Ok(true);
        while self.sent < out.len() {
            match self.write(&out[self.sent..]) {
                Ok(0) => {
                    // To the end: readiness is reported once.
                    result = loop {
                        match self.stash() {
                            Ok(true) => {}
                            nothing => break nothing,
                        }
                    };
                    break;
                }
                Ok(length) => self.sent += length,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        self.out = out;
        if self.sent == self.out.len() {
            self.out.clear();
            self.sent = 0;
        }
        result
    }

    fn recv(&mut self, buffer: &mut [u8], deadline: Duration) -> Result<usize, TransportError> {
        let spin_until = match self.spin.is_zero() {
            true => Duration::ZERO,
            false => self.origin.elapsed() + self.spin,
        };
        loop {
            let waiting = self.taken < self.inbox.len();
            let now = self.origin.elapsed();
            if !waiting && now >= spin_until {
                let left = deadline.saturating_sub(now);
                if self.spin.is_zero()
                    && !left.is_zero()
                    && let Some(read) = self.io.read_within(buffer, left)
                {
                    match self.came(read)? {
                        Some(length) => return Ok(length),
                        None => continue,
                    }
                }
                if !wait_readable(&self.io, left).map_err(|e| self.failed("wait for", e))? {
                    return Err(TransportError::TimedOut);
                }
            }
            match self.try_recv(buffer)? {
                Some(length) => return Ok(length),
                None => std::thread::yield_now(),
            }
        }
    }
}

/// A pseudo-terminal or serial adapter whose other side has left answers with EIO.
fn gone(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
        || error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}

macro_rules! stream_transport {
    ($name:ident) => {
        impl $name {
            /// Polls for up to `spin` before the thread sleeps: answers sooner, for a busy
            /// processor.
            pub fn with_spin(mut self, spin: Duration) -> Self {
                self.0.spin = spin;
                self
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.0.io.as_fd()
            }
        }

        impl WithoutWaiting for $name {
            fn prepare(&mut self) -> Result<(), TransportError> {
                // Only `recv` waits.
                Ok(())
            }

            fn try_queue(&mut self, message: &[u8]) -> Result<bool, TransportError> {
                self.0.try_queue(message)
            }

            fn try_flush(&mut self) -> Result<bool, TransportError> {
                self.0.try_flush()
            }

            fn try_recv(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, TransportError> {
                self.0.try_recv(buffer)
            }
        }

        impl Transport for $name {
            fn kind(&self) -> Kind {
                Kind::Stream
            }

            fn now(&self) -> Duration {
                self.0.origin.elapsed()
            }

            async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
                self.0.send(message)
            }

            async fn recv(
                &mut self,
                buffer: &mut [u8],
                deadline: Duration,
            ) -> Result<usize, TransportError> {
                self.0.recv(buffer, deadline)
            }
        }
    };
}

/// Etherbone's `tcp`, `tcp4` and `tcp6`: one connection, without delay by Nagle's algorithm.
#[derive(Debug)]
pub struct TcpTransport(Stream<Connection>);

#[derive(Debug)]
struct Connection {
    socket: TcpStream,
    timeout: ReadTimeout,
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Line for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let (_, length) = rustix::net::recv(&self.socket, buffer, RecvFlags::DONTWAIT)?;
        Ok(length)
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        Ok(rustix::net::send(&self.socket, bytes, flags)?)
    }

    fn read_within(&mut self, buffer: &mut [u8], time: Duration) -> Option<std::io::Result<usize>> {
        Some(match self.timeout.set(&self.socket, time) {
            Ok(()) => self.socket.read(buffer),
            Err(error) => Err(error),
        })
    }
}

impl Line for File {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        Read::read(self, buffer)
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Write::write(self, bytes)
    }
}

impl TcpTransport {
    /// Connects to a [`DeviceName`] of TCP.
    pub fn connect(name: &str) -> Result<Self, TransportError> {
        match name.parse()? {
            DeviceName::Tcp(host) => Self::connect_socket(host.resolve()?),
            other => Err(TransportError::Other(format!("{other} is not tcp"))),
        }
    }

    /// Connects to a resolved address, within 5 s.
    pub fn connect_socket(peer: SocketAddr) -> Result<Self, TransportError> {
        let io = |source| TransportError::Io { action: format!("connect tcp {peer}"), source };
        let socket = TcpStream::connect_timeout(&peer, CONNECT_TIMEOUT).map_err(io)?;
        socket.set_nodelay(true).map_err(io)?;
        let connection = Connection { socket, timeout: ReadTimeout::default() };
        Ok(Self(Stream::new(connection, format!("tcp {peer}"))))
    }
}

stream_transport!(TcpTransport);

/// Etherbone's `dev`: a character device as a stream. A terminal (serial line, USB adapter,
/// pseudo-terminal) is put into raw mode: 8 bits, no echo, no translation, 115200 baud.
#[derive(Debug)]
pub struct SerialTransport(Stream<File>);

impl SerialTransport {
    /// Opens a [`DeviceName`] below `/dev`.
    pub fn connect(name: &str) -> Result<Self, TransportError> {
        let parsed: DeviceName = name.parse()?;
        match parsed.path() {
            Some(path) => Self::open(&path, BAUD),
            None => Err(TransportError::Other(format!("{parsed} is not dev"))),
        }
    }

    /// Opens a device by its path; `baud` counts for terminals only.
    pub fn open(path: &Path, baud: u32) -> Result<Self, TransportError> {
        let io = |action: &str, e: rustix::io::Errno| TransportError::Io {
            action: format!("{action} {}", path.display()),
            source: e.into(),
        };
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| io("open", e))?;
        let file_type = rustix::fs::fstat(&file).map_err(|e| io("look at", e))?.st_mode;
        if !rustix::fs::FileType::from_raw_mode(file_type).is_char_device() {
            return Err(TransportError::Other(format!(
                "{} is not a character device",
                path.display()
            )));
        }
        if rustix::termios::isatty(&file) {
            let mut settings = tcgetattr(&file).map_err(|e| io("set up", e))?;
            settings.make_raw();
            settings.set_speed(baud).map_err(|e| io("set the rate of", e))?;
            tcsetattr(&file, OptionalActions::Now, &settings).map_err(|e| io("set up", e))?;
            tcflush(&file, QueueSelector::IOFlush).map_err(|e| io("empty", e))?;
        }
        Ok(Self(Stream::new(File::from(file), path.display().to_string())))
    }
}

stream_transport!(SerialTransport);
