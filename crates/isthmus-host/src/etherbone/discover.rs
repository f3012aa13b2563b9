// SPDX-License-Identifier: Apache-2.0

use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use super::wire::{Dialect, Message, Widths};
use crate::transport::{DeviceName, TransportError, wait_readable};

/// A device that answered a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discovered {
    /// Its address and port.
    pub address: SocketAddr,
    /// The widths it offers.
    pub widths: Widths,
}

/// Longer than any sensible timeout, and short enough for any clock.
const FOR_EVER: Duration = Duration::from_secs(1 << 28);

/// Sends one probe to every device behind an address (`udp/255.255.255.255`, a subnet's broadcast
/// address, or one host) and collects answers until none has arrived for `silence`, and for at most
/// ten times that long. Etherbone's tools wait for 1 s.
///
/// Each address is listed once, in the order of the answers. Blocks the calling thread.
pub fn discover(
    name: &str,
    dialect: Dialect,
    silence: Duration,
) -> Result<Vec<Discovered>, TransportError> {
    let name: DeviceName = name.parse()?;
    let DeviceName::Udp(host) = &name else {
        return Err(TransportError::Other(format!("{name} cannot be probed, only udp can")));
    };
    let target = host.resolve()?;
    let io =
        |action: &str, source| TransportError::Io { action: format!("{action} {name}"), source };
    // LiteEth's gateware answers to its own port, regardless of the sender's port.
    let port = match dialect {
        Dialect::Ohwr => 0,
        Dialect::LiteEth => dialect.default_port(),
    };
    let local: SocketAddr = match target {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, port).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, port).into(),
    };
    let socket = UdpSocket::bind(local).map_err(|e| io("open a socket for", e))?;
    socket.set_nonblocking(true).map_err(|e| io("set up", e))?;
    if target.is_ipv4() {
        socket.set_broadcast(true).map_err(|e| io("broadcast to", e))?;
    }
    let widths = if dialect == Dialect::Ohwr { Widths::ANY } else { Widths::W32 };
    let mut probe = Vec::new();
    let encoded = dialect.codec().encode(&Message::Probe { widths, id: 0 }, &mut probe);
    encoded.map_err(|error| TransportError::Other(error.to_string()))?;
    socket.send_to(&probe, target).map_err(|e| io("send to", e))?;

    let silence = silence.min(FOR_EVER);
    let last = Instant::now() + silence * 10;
    let mut until = Instant::now() + silence;
    let mut found: Vec<Discovered> = Vec::new();
    let mut buffer = [0; 64];
    loop {
        let left = until.min(last).saturating_duration_since(Instant::now());
        if left.is_zero() || !wait_readable(&socket, left).map_err(|e| io("wait for", e))? {
            return Ok(found);
        }
        let (length, address) = match socket.recv_from(&mut buffer) {
            Ok(received) => received,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                continue;
            }
            // A host without the port says so; others may still answer.
            Err(e) if e.kind() == ErrorKind::ConnectionRefused => continue,
            Err(e) => return Err(io("receive from", e)),
        };
        let answer = dialect.codec().decode(&buffer[..length]);
        if let Ok(Message::ProbeReply { widths, .. }) = answer
            && found.iter().all(|device| device.address != address)
        {
            found.push(Discovered { address, widths });
            until = Instant::now() + silence;
        }
    }
}
