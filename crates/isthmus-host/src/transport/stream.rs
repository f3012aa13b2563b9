// SPDX-License-Identifier: Apache-2.0
//! Streams: TCP connections and character devices.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::termios::{OptionalActions, QueueSelector, tcflush, tcgetattr, tcsetattr};

use super::{DeviceName, Kind, Transport, TransportError, wait_readable, wait_writable};

/// How long a send may make no progress before the other side counts as gone.
const SEND_STALL: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Serial lines run at this rate unless told otherwise.
const BAUD: u32 = 115_200;

/// A non-blocking stream of the operating system: what TCP and serial devices have in common.
#[derive(Debug)]
struct Stream<S> {
    io: S,
    name: String,
    origin: Instant,
    spin: Duration,
}

impl<S: Read + Write + AsFd> Stream<S> {
    fn new(io: S, name: String) -> Self {
        Self { io, name, origin: Instant::now(), spin: Duration::ZERO }
    }

    fn error(&self, action: &str, source: std::io::Error) -> TransportError {
        TransportError::Io { action: format!("{action} {}", self.name), source }
    }

    fn send(&mut self, mut message: &[u8]) -> Result<(), TransportError> {
        while !message.is_empty() {
            match self.io.write(message) {
                Ok(0) => return Err(TransportError::Closed),
                Ok(length) => message = &message[length..],
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    match wait_writable(&self.io, SEND_STALL) {
                        Ok(true) => {}
                        Ok(false) => return Err(TransportError::TimedOut),
                        Err(e) => return Err(self.error("send to", e)),
                    }
                }
                Err(e) if gone(&e) => return Err(TransportError::Closed),
                Err(e) => return Err(self.error("send to", e)),
            }
        }
        Ok(())
    }

    fn recv(&mut self, buffer: &mut [u8], deadline: Duration) -> Result<usize, TransportError> {
        let now = || self.origin.elapsed();
        let spin_until = if self.spin.is_zero() { Duration::ZERO } else { now() + self.spin };
        loop {
            if self.origin.elapsed() >= spin_until {
                let left = deadline.saturating_sub(self.origin.elapsed());
                if !wait_readable(&self.io, left).map_err(|e| self.error("wait for", e))? {
                    return Err(TransportError::TimedOut);
                }
            }
            match self.io.read(buffer) {
                Ok(0) => return Err(TransportError::Closed),
                Ok(length) => return Ok(length),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    std::thread::yield_now();
                }
                Err(e) if gone(&e) => return Err(TransportError::Closed),
                Err(e) => return Err(self.error("receive from", e)),
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
pub struct TcpTransport(Stream<TcpStream>);

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
        socket.set_nonblocking(true).map_err(io)?;
        Ok(Self(Stream::new(socket, format!("tcp {peer}"))))
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
