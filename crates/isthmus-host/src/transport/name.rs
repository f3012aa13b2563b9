// SPDX-License-Identifier: Apache-2.0

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

use super::DEFAULT_PORT;
use super::TransportError;

/// Which Internet protocol a name allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// The first address that the host name resolves to.
    Any,
    /// IPv4 only.
    V4,
    /// IPv6 only.
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

    fn digit(self) -> &'static str {
        match self {
            Family::Any => "",
            Family::V4 => "4",
            Family::V6 => "6",
        }
    }
}

/// A host and a port of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Host {
    /// Which address of the host is wanted.
    pub family: Family,
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl Host {
    /// The first address of the family that the host has.
    pub fn resolve(&self) -> Result<SocketAddr, TransportError> {
        (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(|source| match self.host.rsplit_once(':') {
                // As a URL has it; a colon is part of an IPv6 address, and that resolves.
                Some((host, port))
                    if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) =>
                {
                    let (host, whole) = (host.trim_matches(['[', ']']), &self.host);
                    TransportError::Other(format!(
                        "{whole:?}: expected udp/{host}/{port}, a slash before the port"
                    ))
                }
                _ => TransportError::Io { action: format!("resolve {:?}", self.host), source },
            })?
            .find(|address| self.family.accepts(address))
            .ok_or_else(|| {
                let family = if self.family == Family::V6 { "IPv6" } else { "IPv4" };
                TransportError::Other(format!("{:?} has no {family} address", self.host))
            })
    }
}

/// A device's name, as Etherbone's tools write it.
///
/// | text | meaning |
/// |---|---|
/// | `udp/HOST[/PORT]`, `udp4/…`, `udp6/…` | datagrams; port 60368 |
/// | `tcp/HOST[/PORT]`, `tcp4/…`, `tcp6/…` | a TCP connection; port 60368 |
/// | `dev/NAME` | the character device `/dev/NAME` as a stream |
/// | `HOST[:PORT]`, `[IPV6]:PORT` | short for `udp/…` |
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DeviceName {
    /// Datagrams.
    Udp(Host),
    /// A connection.
    Tcp(Host),
    /// A path below `/dev`, without `/dev/`.
    Dev(String),
}

/// A device name that cannot be read: one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("device {text:?}: {what}; expected {right}")]
pub struct NameError {
    text: String,
    what: String,
    right: &'static str,
}

const RIGHT: &str = "udp/HOST[/PORT], tcp/HOST[/PORT] or dev/NAME";

impl DeviceName {
    /// The path of a character device.
    pub fn path(&self) -> Option<PathBuf> {
        match self {
            DeviceName::Dev(name) => Some(PathBuf::from("/dev").join(name)),
            DeviceName::Udp(_) | DeviceName::Tcp(_) => None,
        }
    }

    fn short(text: &str) -> Result<Self, String> {
        let (family, host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (host, tail) = rest.split_once(']').ok_or("no closing ]")?;
            match tail.strip_prefix(':') {
                Some(port) => (Family::V6, host, number(port)?),
                None if tail.is_empty() => (Family::V6, host, DEFAULT_PORT),
                None => return Err("text after ]".to_owned()),
            }
        } else {
            match text.split_once(':') {
                // More than one colon: a bare IPv6 address.
                Some((_, tail)) if tail.contains(':') => (Family::V6, text, DEFAULT_PORT),
                Some((host, port)) => (Family::Any, host, number(port)?),
                None => (Family::Any, text, DEFAULT_PORT),
            }
        };
        Ok(DeviceName::Udp(host_of(family, host, port)?))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let Some((protocol, rest)) = text.split_once('/') else {
            return Self::short(text);
        };
        if protocol == "dev" {
            return device(rest).map(DeviceName::Dev);
        }
        let (kind, family) = match protocol.strip_suffix(['4', '6']) {
            Some(kind) if protocol.ends_with('4') => (kind, Family::V4),
            Some(kind) => (kind, Family::V6),
            None => (protocol, Family::Any),
        };
        let host = || {
            let (host, port) = match rest.split_once('/') {
                Some((host, port)) => (host, number(port)?),
                None => (rest, DEFAULT_PORT),
            };
            host_of(family, host, port)
        };
        match kind {
            "udp" => Ok(DeviceName::Udp(host()?)),
            "tcp" => Ok(DeviceName::Tcp(host()?)),
            _ => Err(format!("unknown protocol {protocol:?}")),
        }
    }
}

fn number(port: &str) -> Result<u16, String> {
    match port.parse() {
        Ok(0) | Err(_) => Err(format!("{port:?} is not a port (1 to 65535)")),
        Ok(port) => Ok(port),
    }
}

fn host_of(family: Family, host: &str, port: u16) -> Result<Host, String> {
    let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    if host.is_empty() {
        return Err("no host".to_owned());
    }
    Ok(Host { family, host: host.to_owned(), port })
}

/// A name below `/dev` that cannot leave it.
fn device(name: &str) -> Result<String, String> {
    let plain =
        |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
    if !name.split('/').all(plain) {
        return Err("no device below /dev".to_owned());
    }
    Ok(name.to_owned())
}

impl FromStr for DeviceName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::parse(text).map_err(|what| NameError { text: text.to_owned(), what, right: RIGHT })
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, host) = match self {
            DeviceName::Udp(host) => ("udp", host),
            DeviceName::Tcp(host) => ("tcp", host),
            DeviceName::Dev(name) => return write!(f, "dev/{name}"),
        };
        write!(f, "{kind}{}/{}/{}", host.family.digit(), host.host, host.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_behind_a_colon_is_told_where_it_goes() {
        for (host, right) in [("127.0.0.1:1", "udp/127.0.0.1/1"), ("[::1]:60368", "udp/::1/60368")]
        {
            let name: DeviceName = format!("udp/{host}").parse().unwrap();
            let DeviceName::Udp(found) = name else { panic!("{name}") };
            let said = found.resolve().unwrap_err().to_string();
            assert!(said.contains(&format!("expected {right}")), "{said}");
        }
    }

    #[test]
    fn names_of_the_tools() {
        let cases = [
            ("udp/fpga", "udp/fpga/60368"),
            ("udp4/10.0.0.1/9", "udp4/10.0.0.1/9"),
            ("udp6/::1", "udp6/::1/60368"),
            ("udp6/[::1]/7", "udp6/::1/7"),
            ("tcp/fpga", "tcp/fpga/60368"),
            ("tcp4/fpga/1234", "tcp4/fpga/1234"),
            ("tcp6/fe80::1%eth0", "tcp6/fe80::1%eth0/60368"),
            ("dev/wbm0", "dev/wbm0"),
            ("dev/serial/by-id/usb-x", "dev/serial/by-id/usb-x"),
            ("fpga", "udp/fpga/60368"),
            ("fpga:5", "udp/fpga/5"),
            ("[::1]:7", "udp6/::1/7"),
            ("::1", "udp6/::1/60368"),
        ];
        for (text, expected) in cases {
            let name: DeviceName = text.parse().expect(text);
            assert_eq!(name.to_string(), expected);
            // The printed name parses to the same value.
            assert_eq!(expected.parse(), Ok(name));
        }
        let path = "dev/pts/3".parse::<DeviceName>().map(|name| name.path());
        assert_eq!(path, Ok(Some(PathBuf::from("/dev/pts/3"))));
    }

    #[test]
    fn wrong_names_are_one_clear_line() {
        let cases = [
            ("", "no host"),
            (":5", "no host"),
            ("udp//5", "no host"),
            ("usb/x", "unknown protocol \"usb\""),
            ("udp5/x", "unknown protocol \"udp5\""),
            ("udp/x/y", "\"y\" is not a port"),
            ("tcp/x/0", "\"0\" is not a port"),
            ("x:99999", "\"99999\" is not a port"),
            ("[::1", "no closing ]"),
            ("[::1]7", "text after ]"),
            ("dev/", "no device below /dev"),
            ("dev/../etc/passwd", "no device below /dev"),
            ("dev//x", "no device below /dev"),
        ];
        for (text, expected) in cases {
            let error = text.parse::<DeviceName>().expect_err(text).to_string();
            assert!(error.contains(expected), "{error}");
            assert!(error.contains("; expected udp/HOST[/PORT]"), "{error}");
            assert!(!error.contains('\n'));
        }
    }
}
