// SPDX-License-Identifier: Apache-2.0
//! Where payloads go: a file, a program on this machine.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};

use crate::error::{RoadError, io};

/// All of them.
pub(super) struct Sink {
    file: Option<(PathBuf, BufWriter<File>)>,
    socket: Option<UdpSocket>,
}

impl Sink {
    pub(super) fn open(out: Option<&Path>, to: Option<SocketAddr>) -> Result<Self, RoadError> {
        let file = match out {
            None => None,
            Some(path) => {
                let made = File::create(path).map_err(io(format!("write {}", path.display())))?;
                Some((path.to_owned(), BufWriter::new(made)))
            }
        };
        let socket = match to {
            None => None,
            Some(to) => {
                let own = match to.ip() {
                    IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
                    IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
                };
                let open = || {
                    let socket = UdpSocket::bind((own, 0))?;
                    socket.connect(to)?;
                    socket.set_nonblocking(true)?;
                    Ok(socket)
                };
                Some(open().map_err(io(format!("send to {to}")))?)
            }
        };
        Ok(Self { file, socket })
    }

    /// Passes a payload on. False: the receiving program did not take it.
    pub(super) fn put(&mut self, payload: &[u8]) -> Result<bool, RoadError> {
        if let Some((path, file)) = &mut self.file {
            file.write_all(payload).map_err(io(format!("write {}", path.display())))?;
        }
        // An error here may be that of an earlier datagram: nobody receives them.
        Ok(self.socket.as_ref().is_none_or(|socket| socket.send(payload).is_ok()))
    }

    pub(super) fn flush(&mut self) -> Result<(), RoadError> {
        match &mut self.file {
            Some((path, file)) => file.flush().map_err(io(format!("write {}", path.display()))),
            None => Ok(()),
        }
    }
}
