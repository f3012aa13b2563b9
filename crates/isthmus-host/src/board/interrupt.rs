// SPDX-License-Identifier: Apache-2.0

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};

use crate::pcie::Interrupt;
use crate::transport::{TransportError, wait_readable};

/// An interrupt of a board as an eventfd, which the kernel adds to with each. Clones are the same line.
#[derive(Clone, Debug)]
pub struct EventLine {
    fd: Arc<OwnedFd>,
}

impl EventLine {
    /// A line that nothing raises yet.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { fd: Arc::new(fd) })
    }

    /// Raises it, as the board does.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn raise(&self) -> io::Result<()> {
        rustix::io::write(&*self.fd, &1u64.to_ne_bytes())?;
        Ok(())
    }

    /// Waits until it is raised, and clears it; false when `time` is over first.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn wait(&self, time: Duration) -> io::Result<bool> {
        let begin = std::time::Instant::now();
        loop {
            let mut count = [0; 8];
            match rustix::io::read(&*self.fd, &mut count) {
                Ok(_) => return Ok(true),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let left = time.saturating_sub(begin.elapsed());
            if !wait_readable(&self.fd, left)? && begin.elapsed() >= time {
                return Ok(false);
            }
        }
    }
}

impl AsFd for EventLine {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Interrupt for EventLine {
    async fn raised(&mut self) -> Result<(), TransportError> {
        let waited = self.wait(Duration::MAX);
        let failed =
            |source| TransportError::Io { action: "waiting for an interrupt".to_owned(), source };
        waited.map(|_| ()).map_err(failed)
    }
}
