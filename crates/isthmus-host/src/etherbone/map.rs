// SPDX-License-Identifier: Apache-2.0

use super::sdb::{Product, TableBuilder};
use super::{Bus, BusFault, Memory, Peer, Width};

/// A device on an [`AddressMap`].
struct Mapped {
    first: u64,
    last: u64,
    product: Product,
    device: Box<dyn Bus + Send>,
}

/// Why a device cannot be mapped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// The last address lies before the first one.
    #[error("range {first:#x} to {last:#x} is empty")]
    Empty {
        /// First address.
        first: u64,
        /// Last address.
        last: u64,
    },
    /// Two ranges overlap.
    #[error("range {first:#x} to {last:#x} overlaps {name:?} at {other:#x}")]
    Overlap {
        /// First address.
        first: u64,
        /// Last address.
        last: u64,
        /// The device at this address.
        name: String,
        /// Its first address.
        other: u64,
    },
}

/// A bus with several devices, each at its own addresses, that describes itself: the crossbar of a
/// software slave.
///
/// A device sees addresses from its own first one on. Where no device is, there is a bus error.
pub struct AddressMap {
    product: Product,
    table_first: u64,
    table: Memory,
    devices: Vec<Mapped>,
}

impl std::fmt::Debug for AddressMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ranges = self.devices.iter().map(|d| (d.first, d.last, &d.product.name));
        f.debug_list().entries(ranges).finish()
    }
}

impl AddressMap {
    /// A bus without devices, whose SDB table lies at `table`.
    pub fn new(product: Product, table: u64) -> Self {
        let mut map =
            Self { product, table_first: table, table: Memory::new(0, 0), devices: Vec::new() };
        map.describe();
        map
    }

    /// Address of the table: [`SlaveConfig::sdb_address`](super::SlaveConfig::sdb_address).
    pub fn sdb_address(&self) -> u64 {
        self.table_first
    }

    /// Adds a device from `first` to `last`. The table grows by 64 bytes.
    pub fn add(
        mut self,
        product: Product,
        first: u64,
        last: u64,
        device: impl Bus + Send + 'static,
    ) -> Result<Self, MapError> {
        self.insert(product, first, last, device).map(|()| self)
    }

    /// The same for a map that is in use. On an error nothing changes.
    pub fn insert(
        &mut self,
        product: Product,
        first: u64,
        last: u64,
        device: impl Bus + Send + 'static,
    ) -> Result<(), MapError> {
        if last < first {
            return Err(MapError::Empty { first, last });
        }
        self.devices.push(Mapped { first, last, product, device: Box::new(device) });
        self.describe();
        let overlap = self.overlap();
        if overlap.is_err() {
            self.devices.pop();
            self.describe();
        }
        overlap
    }

    /// Takes the device away that begins at `first`; whether there was one.
    pub fn remove(&mut self, first: u64) -> bool {
        let before = self.devices.len();
        self.devices.retain(|device| device.first != first);
        self.describe();
        self.devices.len() < before
    }

    fn overlap(&self) -> Result<(), MapError> {
        let table_last = self.table_first.saturating_add(self.table.bytes().len() as u64 - 1);
        let others = self.devices.iter().map(|d| (d.first, d.last, d.product.name.as_str()));
        let mut ranges: Vec<_> = others.chain([(self.table_first, table_last, "table")]).collect();
        ranges.sort_unstable();
        for pair in ranges.windows(2) {
            if let [(other, end, name), (first, last, _)] = *pair
                && first <= end
            {
                return Err(MapError::Overlap { first, last, name: name.to_owned(), other });
            }
        }
        Ok(())
    }

    fn describe(&mut self) {
        let builder = TableBuilder::new(self.product.clone(), 0, u64::MAX);
        let table = self.devices.iter().fold(builder, |table, device| {
            table.device(device.product.clone(), device.first, device.last)
        });
        self.table = Memory::from_bytes(self.table_first, table.bytes());
    }

    /// The device at an address, and where the address lies in it.
    fn at(&mut self, address: u64) -> Result<(&mut (dyn Bus + Send + 'static), u64), BusFault> {
        let hit = |device: &&mut Mapped| (device.first..=device.last).contains(&address);
        let found = self.devices.iter_mut().find(hit).ok_or(BusFault)?;
        Ok((found.device.as_mut(), address - found.first))
    }
}

impl Bus for AddressMap {
    fn read(&mut self, address: u64, width: Width, byte_enable: u8) -> Result<u64, BusFault> {
        match self.at(address) {
            Ok((device, offset)) => device.read(offset, width, byte_enable),
            Err(BusFault) => self.table.read(address, width, byte_enable),
        }
    }

    fn write(
        &mut self,
        address: u64,
        width: Width,
        byte_enable: u8,
        data: u64,
    ) -> Result<(), BusFault> {
        let (device, offset) = self.at(address)?;
        device.write(offset, width, byte_enable, data)
    }

    fn begin_cycle(&mut self, peer: Peer) {
        for mapped in &mut self.devices {
            mapped.device.begin_cycle(peer);
        }
    }

    fn end_cycle(&mut self) {
        for mapped in &mut self.devices {
            mapped.device.end_cycle();
        }
    }
}
