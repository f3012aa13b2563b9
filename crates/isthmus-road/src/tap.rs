// SPDX-License-Identifier: Apache-2.0
//! A TAP interface: Ethernet frames of this machine.

use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::error::{RoadError, io};

/// The shortest frame, an Ethernet header, and the longest one; without preamble and FCS.
const MIN_FRAME: usize = 14;
const MAX_FRAME: usize = 1_514;
/// The longest one with an IEEE 802.1Q tag.
pub(crate) const MAX_TAGGED: usize = MAX_FRAME + 4;
/// Longest name of an interface: IFNAMSIZ less its end.
const MAX_NAME: usize = 15;

/// Column of an interface in /proc/net/dev: eight of reception, then bytes, packets, errors.
const TRANSMIT_DROPPED: usize = 11;

/// Whether a line takes a frame of this length.
pub(crate) fn is_whole(frame: &[u8]) -> bool {
    let tagged = frame.get(12..14) == Some(&[0x81, 0]);
    (MIN_FRAME..=if tagged { MAX_TAGGED } else { MAX_FRAME }).contains(&frame.len())
}

/// An open interface. It is created if it does not exist, and then ends with this; its addresses and
/// whether it is up are configured by the system.
pub(crate) struct Tap {
    name: String,
    device: SyncDevice,
}

impl Tap {
    pub(crate) fn open(name: &str) -> Result<Self, RoadError> {
        let wrong = |byte: u8| byte == b'/' || byte == b'%' || byte.is_ascii_whitespace();
        if name.is_empty() || name.len() > MAX_NAME || name.bytes().any(wrong) {
            let reason = format!("{name:?} is not a name of an interface: 1 to 15 bytes");
            return Err(RoadError::scenario("tap", reason));
        }
        let failed = || io(format!("open tap {name}"));
        let builder = DeviceBuilder::new().name(name).layer(Layer::L2).inherit_enable_state();
        let device = builder.build_sync().map_err(|error| failed()(explained(name, error)))?;
        device.set_nonblocking(true).map_err(failed())?;
        Ok(Self { name: name.to_owned(), device })
    }

    /// A received frame.
    pub(crate) fn receive(&self) -> std::io::Result<Option<Vec<u8>>> {
        // One byte more than allowed detects frames that are too long.
        let mut buffer = [0; MAX_TAGGED + 1];
        match self.device.recv(&mut buffer) {
            Ok(length) => Ok(Some(buffer[..length].to_vec())),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(None)
            }
            // The interface is down.
            Err(e) if e.raw_os_error() == Some(Errno::IO.raw_os_error()) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Frames that the system had for it and dropped since the interface was created, because they were not
    /// taken in time.
    pub(crate) fn dropped(&self) -> u64 {
        // Of the network namespace of this process, unlike /sys.
        let all = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
        let counts = all
            .lines()
            .find_map(|line| line.trim_start().strip_prefix(self.name.as_str())?.strip_prefix(':'));
        let dropped = counts.and_then(|of| of.split_whitespace().nth(TRANSMIT_DROPPED));
        dropped.and_then(|count| count.parse().ok()).unwrap_or_default()
    }

    /// True if the system accepted it.
    pub(crate) fn send(&self, frame: &[u8]) -> bool {
        self.device.send(frame).is_ok_and(|length| length == frame.len())
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

/// The system's error with what can be done about it.
fn explained(name: &str, error: std::io::Error) -> std::io::Error {
    let more = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NODEV | Errno::NXIO) => {
            "the kernel has no /dev/net/tun; modprobe tun loads it".to_owned()
        }
        Some(Errno::PERM | Errno::ACCESS) => format!(
            "run as root, or have root create it: ip tuntap add dev {name} mode tap user NAME"
        ),
        Some(Errno::BUSY) => "another program has it".to_owned(),
        Some(Errno::INVAL) => "an interface of this name exists and is no TAP interface".to_owned(),
        _ => return error,
    };
    std::io::Error::new(error.kind(), format!("{error}; {more}"))
}
