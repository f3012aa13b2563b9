// SPDX-License-Identifier: Apache-2.0
//! UDP sockets: several datagrams in and out at a time, a system call each where the system has no call for more.

use crate::serve::LONGEST;
use std::io::{ErrorKind, Result};
use std::net::UdpSocket;

/// Bytes that are asked for as the socket's buffer: some ten milliseconds at the rate of one core, which is about
/// what a scheduler takes the core away for.
const BUFFER: usize = 8 << 20;

pub(crate) use system::{Batch, grow};

/// Whether a call that failed so can be made again: the other side is not there (any more), or there was a signal.
pub(crate) fn passing(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset | ErrorKind::Interrupted
    )
}

#[cfg(target_os = "linux")]
mod system {
    use super::{BUFFER, ErrorKind, LONGEST, Result, UdpSocket, passing};
    use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce};
    use nix::sys::socket::{
        MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, sendmmsg, setsockopt,
    };
    use std::io::{Error, IoSlice, IoSliceMut};
    use std::os::fd::AsRawFd;

    /// The socket's buffer for what comes grows as far as the system allows.
    pub(crate) fn grow(socket: &UdpSocket) {
        // Above the system's limit only with privileges. A smaller buffer loses more, but works.
        if setsockopt(socket, RcvBufForce, &BUFFER).is_err() {
            let _ = setsockopt(socket, RcvBuf, &BUFFER);
        }
    }

    /// Datagrams received together, and their answers.
    pub(crate) struct Batch {
        buffers: Box<[[u8; LONGEST + 1]]>,
        received: MultiHeaders<SockaddrStorage>,
        sent: MultiHeaders<SockaddrStorage>,
        senders: Vec<Option<SockaddrStorage>>,
    }

    impl Batch {
        /// For so many. The socket's buffer grows as far as the system allows.
        pub(crate) fn new(socket: &UdpSocket, together: usize) -> Self {
            grow(socket);
            Self {
                // A byte more than the longest: what is longer is cut, and the length is then wrong.
                buffers: vec![[0; LONGEST + 1]; together].into_boxed_slice(),
                received: MultiHeaders::preallocate(together, None),
                sent: MultiHeaders::preallocate(together, None),
                senders: Vec::with_capacity(together),
            }
        }

        /// What waits now, to `each`, which says whether it is answered.
        pub(crate) fn receive(
            &mut self,
            socket: &UdpSocket,
            mut each: impl FnMut(&[u8]) -> bool,
        ) -> Result<()> {
            self.senders.clear();
            let mut slices: Vec<[IoSliceMut<'_>; 1]> =
                self.buffers.iter_mut().map(|one| [IoSliceMut::new(one)]).collect();
            let (socket, flags) = (socket.as_raw_fd(), MsgFlags::MSG_DONTWAIT);
            match recvmmsg(socket, &mut self.received, slices.iter_mut(), flags, None) {
                Ok(all) => {
                    for one in all {
                        if each(one.iovs().next().unwrap_or_default()) {
                            self.senders.push(one.address);
                        }
                    }
                    Ok(())
                }
                Err(error) => match Error::from(error) {
                    error if error.kind() == ErrorKind::WouldBlock || passing(error.kind()) => {
                        Ok(())
                    }
                    error => Err(error),
                },
            }
        }

        /// Answers those to be answered, in their order. How many the system did not take.
        pub(crate) fn answer(&mut self, socket: &UdpSocket, answers: &[Vec<u8>]) -> u64 {
            let slices: Vec<[IoSlice<'_>; 1]> =
                answers.iter().map(|one| [IoSlice::new(one)]).collect();
            let (mut at, mut unsent) = (0, 0);
            while at < self.senders.len().min(slices.len()) {
                let (to, rest) = (&self.senders[at..], slices[at..].iter());
                let flags = MsgFlags::MSG_DONTWAIT;
                match sendmmsg(socket.as_raw_fd(), &mut self.sent, rest, to, [], flags) {
                    Ok(all) => at += all.count().max(1),
                    // The first of them failed: the answers to others must not wait for it.
                    Err(_) => {
                        unsent += 1;
                        at += 1;
                    }
                }
            }
            unsent
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{ErrorKind, LONGEST, Result, UdpSocket, passing};
    use std::net::SocketAddr;

    /// The buffer stays what it is.
    pub(crate) fn grow(_: &UdpSocket) {}

    /// Datagrams received together, and their answers.
    pub(crate) struct Batch {
        together: usize,
        senders: Vec<SocketAddr>,
    }

    impl Batch {
        /// For so many.
        pub(crate) fn new(_: &UdpSocket, together: usize) -> Self {
            Self { together, senders: Vec::with_capacity(together) }
        }

        /// What waits now, to `each`, which says whether it is answered.
        pub(crate) fn receive(
            &mut self,
            socket: &UdpSocket,
            mut each: impl FnMut(&[u8]) -> bool,
        ) -> Result<()> {
            self.senders.clear();
            // A byte more than the longest: the system cuts what is longer, and the length is then wrong.
            let mut buffer = [0; LONGEST + 1];
            for _ in 0..self.together {
                match socket.recv_from(&mut buffer) {
                    Ok((length, from)) if each(&buffer[..length]) => self.senders.push(from),
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if passing(error.kind()) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        }

        /// Answers those to be answered, in their order. How many the system did not take.
        pub(crate) fn answer(&mut self, socket: &UdpSocket, answers: &[Vec<u8>]) -> u64 {
            let sent = answers.iter().zip(&self.senders);
            sent.filter(|(answer, to)| socket.send_to(answer, to).is_err()).count() as u64
        }
    }
}
