// SPDX-License-Identifier: Apache-2.0
//! What the server listens on: TCP connections, a pseudo-terminal.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use super::stream::{Expect, Framer};
use crate::error::{RoadError, io};

/// Bytes that are taken from a stream at a time.
const READ: usize = 16_384;
/// Reply bytes that a stream's reader may leave before its requests wait.
const BACKLOG: usize = 1 << 20;

/// The other end of a stream.
#[derive(Debug)]
enum End {
    Tcp(TcpStream),
    Terminal(File),
}

impl End {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Tcp(socket) => socket.read(buffer),
            Self::Terminal(file) => file.read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Tcp(socket) => socket.write(bytes),
            Self::Terminal(file) => file.write(bytes),
        }
    }
}

/// A client's byte stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) id: u64,
    end: End,
    pub(super) framer: Framer,
    /// The outstanding replies, in order.
    pub(super) owed: VecDeque<Expect>,
    out: Vec<u8>,
    sent: usize,
    pub(super) active: Instant,
    /// When the connection was accepted.
    begun: Instant,
    /// Since when a bus cycle waits for its end.
    pub(super) held: Option<Instant>,
    /// A terminal that no program has open.
    pub(super) unused: bool,
    /// No more input will arrive; received requests are still answered.
    pub(super) closing: bool,
}

impl Stream {
    fn new(id: u64, end: End, unused: bool) -> Self {
        Self {
            id,
            end,
            framer: Framer::default(),
            owed: VecDeque::new(),
            out: Vec::new(),
            sent: 0,
            active: Instant::now(),
            begun: Instant::now(),
            held: None,
            unused,
            closing: false,
        }
    }

    /// A connection.
    pub(super) fn tcp(id: u64, socket: TcpStream) -> std::io::Result<Self> {
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        Ok(Self::new(id, End::Tcp(socket), false))
    }

    /// A new pseudo-terminal, in raw mode, and the path of its other side.
    pub(super) fn terminal(id: u64) -> Result<(Self, PathBuf), RoadError> {
        let open = || -> rustix::io::Result<(File, PathBuf)> {
            let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
            grantpt(&ours)?;
            unlockpt(&ours)?;
            let path = PathBuf::from(ptsname(&ours, Vec::new())?.to_string_lossy().into_owned());
            // Opened and closed once: from now on the system reports whether a program has it open.
            let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
            let theirs = rustix::fs::open(&path, flags, Mode::empty())?;
            let mut settings = tcgetattr(&theirs)?;
            settings.make_raw();
            tcsetattr(&theirs, OptionalActions::Now, &settings)?;
            rustix::io::ioctl_fionbio(&ours, true)?;
            Ok((File::from(ours), path))
        };
        let (file, path) = open().map_err(|e| io("open a pseudo-terminal")(e.into()))?;
        Ok((Self::new(id, End::Terminal(file), true), path))
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self.end, End::Terminal(_))
    }

    /// Forgets the conversation and waits for the terminal's next user.
    pub(super) fn restart(&mut self) {
        self.framer = Framer::default();
        self.owed.clear();
        self.out.clear();
        self.sent = 0;
        self.held = None;
        self.unused = true;
        self.closing = false;
    }

    /// Timeout of a connection's probe; none once it has arrived, or for a terminal.
    pub(super) fn unprobed(&self) -> Option<Duration> {
        let waits = !self.is_terminal() && !self.framer.has_probed();
        waits.then(|| self.begun.elapsed())
    }

    /// True if everything has been sent.
    pub(super) fn is_sent(&self) -> bool {
        self.sent == self.out.len()
    }

    fn may_read(&self) -> bool {
        !self.closing && self.framer.room() >= READ && self.out.len() - self.sent < BACKLOG
    }

    pub(super) fn events(&self) -> PollFlags {
        let mut events = PollFlags::empty();
        if self.may_read() {
            events |= PollFlags::IN;
        }
        if !self.is_sent() {
            events |= PollFlags::OUT;
        }
        events
    }

    /// Whether a program has the terminal open; a connection always is.
    pub(super) fn looked_at(&mut self) -> bool {
        if self.unused {
            let mut fds = [PollFd::new(&self.end, PollFlags::IN)];
            let polled = poll(&mut fds, Some(&Timespec::default()));
            self.unused = polled.is_err() || fds[0].revents().contains(PollFlags::HUP);
        }
        !self.unused
    }

    /// Takes received bytes.
    pub(super) fn receive(&mut self) {
        let mut buffer = [0; READ];
        while self.may_read() {
            match self.end.read(&mut buffer) {
                Ok(length) if length > 0 => {
                    self.framer.push(&buffer[..length]);
                    self.active = Instant::now();
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                _ => self.closing = true,
            }
        }
    }

    pub(super) fn answer(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Sends as much as the system accepts. Returns whether the remote end is still connected.
    pub(super) fn send(&mut self) -> bool {
        while self.sent < self.out.len() {
            match self.end.write(&self.out[self.sent..]) {
                Ok(length) if length > 0 => {
                    self.sent += length;
                    self.active = Instant::now();
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return true,
                _ => return false,
            }
        }
        self.out.clear();
        self.sent = 0;
        true
    }
}

impl AsFd for End {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(socket) => socket.as_fd(),
            Self::Terminal(file) => file.as_fd(),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

/// True if a connection could not be accepted because descriptors or memory are exhausted.
pub(super) fn is_starved(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let starved = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    starved.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// A listener that never makes the server wait.
pub(super) fn tcp_listener(address: SocketAddr) -> Result<TcpListener, RoadError> {
    let failed = || io(format!("bind tcp {address}"));
    let listener = TcpListener::bind(address).map_err(failed())?;
    listener.set_nonblocking(true).map_err(failed())?;
    Ok(listener)
}
