// SPDX-License-Identifier: Apache-2.0

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant};

use super::{Kind, Transport, TransportError};
use crate::etherbone::DEFAULT_PORT;

/// Etherbone's `udp`, `udp4` and `udp6` over a socket of the operating system.
///
/// The socket is connected: datagrams of other senders never reach the client. Receiving blocks
/// the calling thread until the deadline.
#[derive(Debug)]
pub struct UdpTransport {
    socket: UdpSocket,
    peer: SocketAddr,
    origin: Instant,
    read_timeout: Option<Duration>,
}

impl UdpTransport {
    /// Connects to `HOST[:PORT]`, `[IPV6]:PORT` or Etherbone's `udp/HOST[/PORT]`, `udp4/…`,
    /// `udp6/…`. The default port is 60368.
    pub fn connect(address: &str) -> Result<Self, TransportError> {
        let wanted = Address::parse(address)?;
        let peer = (wanted.host.as_str(), wanted.port)
            .to_socket_addrs()
            .map_err(|source| TransportError::Io {
                action: format!("resolve {address:?}"),
                source,
            })?
            .find(|peer| wanted.family.accepts(peer))
            .ok_or_else(|| {
                TransportError::Other(format!("{address:?} has no address of the family asked for"))
            })?;
        Self::connect_socket(peer)
    }

    /// Connects to a resolved address.
    pub fn connect_socket(peer: SocketAddr) -> Result<Self, TransportError> {
        let io = |action: &str, source| TransportError::Io {
            action: format!("{action} udp {peer}"),
            source,
        };
        let local: SocketAddr = match peer {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(local).map_err(|e| io("open", e))?;
        socket.connect(peer).map_err(|e| io("connect", e))?;
        Ok(Self { socket, peer, origin: Instant::now(), read_timeout: None })
    }

    /// The device's address.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    fn io(&self, action: &str, source: std::io::Error) -> TransportError {
        TransportError::Io { action: format!("{action} udp {}", self.peer), source }
    }
}

impl Transport for UdpTransport {
    fn kind(&self) -> Kind {
        Kind::Datagram
    }

    fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        match self.socket.send(message) {
            Ok(_) => Ok(()),
            // The answer to an earlier datagram (ICMP port unreachable) surfaces here once.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                self.socket.send(message).map(drop).map_err(|e| self.io("send to", e))
            }
            Err(error) => Err(self.io("send to", error)),
        }
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        use std::io::ErrorKind;
        // A zero time-out means "for ever" to the system; the shortest wait still polls once.
        let left = deadline.saturating_sub(self.now()).max(Duration::from_micros(1));
        if self.read_timeout != Some(left) {
            self.socket
                .set_read_timeout(Some(left))
                .map_err(|e| self.io("set the time-out of", e))?;
            self.read_timeout = Some(left);
        }
        loop {
            match self.socket.recv(buffer) {
                Ok(length) => return Ok(length),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err(TransportError::TimedOut);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {
                    if self.now() >= deadline {
                        return Err(TransportError::TimedOut);
                    }
                }
                Err(e) => return Err(self.io("receive from", e)),
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Any,
    V4,
    V6,
}

impl Family {
    fn accepts(self, address: &SocketAddr) -> bool {
        match self {
            Family::Any => true,
            Family::V4 => address.is_ipv4(),
            Family::V6 => address.is_ipv6(),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Address {
    family: Family,
    host: String,
    port: u16,
}

impl Address {
    fn parse(text: &str) -> Result<Self, TransportError> {
        let wrong = |what: &str| {
            TransportError::Other(format!(
                "address {text:?}: {what}; right would be HOST[:PORT] or udp/HOST[/PORT]"
            ))
        };
        let number = |port: &str| port.parse::<u16>().map_err(|_| wrong("no port number"));
        let (family, host, port) = if let Some((protocol, rest)) = text.split_once('/') {
            let family = match protocol {
                "udp" => Family::Any,
                "udp4" => Family::V4,
                "udp6" => Family::V6,
                _ => return Err(wrong("unknown protocol")),
            };
            match rest.split_once('/') {
                Some((host, port)) => (family, host, number(port)?),
                None => (family, rest, DEFAULT_PORT),
            }
        } else if let Some(rest) = text.strip_prefix('[') {
            let (host, tail) = rest.split_once(']').ok_or_else(|| wrong("no closing ]"))?;
            match tail.strip_prefix(':') {
                Some(port) => (Family::V6, host, number(port)?),
                None if tail.is_empty() => (Family::V6, host, DEFAULT_PORT),
                None => return Err(wrong("text after ]")),
            }
        } else {
            match text.split_once(':') {
                // More than one colon: a bare IPv6 address.
                Some((_, tail)) if tail.contains(':') => (Family::V6, text, DEFAULT_PORT),
                Some((host, port)) => (Family::Any, host, number(port)?),
                None => (Family::Any, text, DEFAULT_PORT),
            }
        };
        if host.is_empty() {
            return Err(wrong("no host"));
        }
        Ok(Self { family, host: host.to_owned(), port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Family, String, u16) {
        let a = Address::parse(text).expect(text);
        (a.family, a.host, a.port)
    }

    #[test]
    fn addresses() {
        let h = |f, host: &str, port| (f, host.to_owned(), port);
        assert_eq!(parsed("fpga"), h(Family::Any, "fpga", 60368));
        assert_eq!(parsed("fpga:5"), h(Family::Any, "fpga", 5));
        assert_eq!(parsed("udp/fpga"), h(Family::Any, "fpga", 60368));
        assert_eq!(parsed("udp4/10.0.0.1/9"), h(Family::V4, "10.0.0.1", 9));
        assert_eq!(parsed("udp6/::1"), h(Family::V6, "::1", 60368));
        assert_eq!(parsed("[::1]:7"), h(Family::V6, "::1", 7));
        assert_eq!(parsed("::1"), h(Family::V6, "::1", 60368));
        for wrong in ["", ":5", "tcp/x", "udp/x/y", "x:99999", "[::1", "[::1]7"] {
            let error = Address::parse(wrong).expect_err(wrong).to_string();
            assert!(error.contains("right would be"), "{error}");
        }
    }
}
