// SPDX-License-Identifier: Apache-2.0

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::BoardError;

const DRIVER: &str = "vfio-pci";

/// Where the kernel shows its devices.
#[derive(Clone, Debug)]
pub struct Sysfs {
    root: PathBuf,
}

impl Default for Sysfs {
    fn default() -> Self {
        Self { root: PathBuf::from("/") }
    }
}

/// A PCI function that VFIO can open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its address, such as `0000:01:00.0`.
    pub address: String,
    /// Its folder in sysfs.
    pub path: PathBuf,
    /// The number of its IOMMU group.
    pub group: u32,
}

impl Sysfs {
    /// A tree in another folder: for tests.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Finds a function, and what would keep VFIO from opening it.
    ///
    /// # Errors
    /// One line that says what is missing, and how to get it.
    pub fn find(&self, address: &str) -> Result<Function, BoardError> {
        let address =
            normal(address).ok_or_else(|| BoardError::Address { text: address.to_owned() })?;
        let pci = self.root.join("sys/bus/pci");
        let path = pci.join("devices").join(&address);
        if !path.exists() {
            return Err(BoardError::NoDevice { address });
        }
        let driver = link(&path.join("driver"));
        if driver.as_deref() != Some(DRIVER) {
            let own = path.display().to_string();
            let unbind = match &driver {
                Some(_) => format!("echo {address} > {own}/driver/unbind; "),
                None => String::new(),
            };
            return Err(BoardError::NotBound {
                driver: driver.unwrap_or_else(|| "no driver".to_owned()),
                path: own,
                unbind,
                probe: pci.join("drivers_probe").display().to_string(),
                address,
            });
        }
        let group = link(&path.join("iommu_group")).and_then(|name| name.parse::<u32>().ok());
        let Some(group) = group else { return Err(BoardError::NoIommu { address }) };
        for name in [group.to_string(), "vfio".to_owned()] {
            let file = self.root.join("dev/vfio").join(name);
            if let Err(error) = access(&file, Access::READ_OK | Access::WRITE_OK) {
                return Err(closed(file, &error.into()));
            }
        }
        Ok(Function { address, path, group })
    }
}

/// Why a file of VFIO is not opened.
fn closed(path: PathBuf, error: &io::Error) -> BoardError {
    match error.kind() {
        io::ErrorKind::NotFound => BoardError::NoGroup { path },
        _ => BoardError::Permission { path },
    }
}

/// The last part of what a link points to.
fn link(path: &Path) -> Option<String> {
    let target = std::fs::read_link(path).ok()?;
    Some(target.file_name()?.to_str()?.to_owned())
}

/// The address with its domain, in lower case; none if it is no address. It becomes part of a path.
fn normal(text: &str) -> Option<String> {
    let (front, function) = text.rsplit_once('.')?;
    let parts: Vec<&str> = front.split(':').collect();
    let (domain, bus, device) = match parts[..] {
        [domain, bus, device] => (domain, bus, device),
        [bus, device] => ("0000", bus, device),
        _ => return None,
    };
    let number = |text: &str, digits: std::ops::RangeInclusive<usize>, last: u32| {
        let hex = digits.contains(&text.len()) && text.bytes().all(|c| c.is_ascii_hexdigit());
        u32::from_str_radix(text, 16).ok().filter(|value| hex && *value <= last)
    };
    let domain = number(domain, 4..=8, u32::MAX)?;
    let bus = number(bus, 2..=2, 0xff)?;
    let device = number(device, 2..=2, 0x1f)?;
    let function = number(function, 1..=1, 7)?;
    Some(format!("{domain:04x}:{bus:02x}:{device:02x}.{function}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_domain_and_leaves_no_folder() {
        for (text, expected) in [
            ("0000:01:00.0", Some("0000:01:00.0")),
            ("C1:1F.7", Some("0000:c1:1f.7")),
            ("10000:e1:00.0", Some("10000:e1:00.0")),
            ("01:20.0", None),
            ("01:00.8", None),
            ("1:00.0", None),
            ("0000:01:00", None),
            ("+001:01:00.0", None),
            ("../../0000:01:00.0", None),
            ("", None),
        ] {
            assert_eq!(normal(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_file_that_is_there_lacks_a_permission() {
        let of = |kind| closed(PathBuf::from("/dev/vfio/7"), &io::Error::from(kind)).to_string();
        assert!(of(io::ErrorKind::PermissionDenied).starts_with("no permission for /dev/vfio/7:"));
        assert!(of(io::ErrorKind::NotFound).starts_with("/dev/vfio/7: no such file"));
    }
}
