// SPDX-License-Identifier: Apache-2.0
//! The self-describing bus: tables of 64-byte records that describe the devices on a bus.
//!
//! - [`scan`]: reads the tables of a device, through all bridges
//! - [`parse`]: one table as bytes
//! - [`TableBuilder`]: the table of a software slave
//!
//! A bridge's own range and the address of its table are relative to the bus that the bridge is on;
//! all addresses behind it are relative to the first address of the bridge. [`scan`] adds these up.

use std::collections::HashSet;
use std::fmt;

use super::{Client, Cycle, Error, Meter};
use crate::transport::Transport;

/// The first word of a table: "SDB-".
pub const MAGIC: u32 = 0x5344_422D;
/// Bytes of a record.
pub const RECORD: usize = 64;
/// The configuration register that holds the address of the first table.
pub const ROOT_REGISTER: u64 = 0x08;
const VERSION: u8 = 1;
const NAME: usize = 19;

/// Vendor and product of a component.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Product {
    /// Vendor number.
    pub vendor: u64,
    /// The vendor's number of the device.
    pub device: u32,
    /// Version.
    pub version: u32,
    /// Date, its digits as hexadecimal ones: 0x20260131.
    pub date: u32,
    /// Name, up to 19 characters.
    pub name: String,
}

/// Something that occupies addresses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Component {
    /// First byte address.
    pub first: u64,
    /// Last byte address.
    pub last: u64,
    /// Its kind.
    pub product: Product,
}

/// One record of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// The head of a table: the bus itself.
    Interconnect {
        /// Records of the table, this one among them.
        records: u16,
        /// Version of the format.
        version: u8,
        /// 0: Wishbone.
        bus_type: u8,
        /// The bus.
        component: Component,
    },
    /// A device.
    Device {
        /// Class of its interface.
        abi_class: u16,
        /// Version of its interface.
        abi_version: (u8, u8),
        /// Wishbone: data widths in bits 3 to 0 (1: 8 bit … 8: 64 bit), 0x80 little-endian.
        bus_specific: u32,
        /// The device.
        component: Component,
    },
    /// A way to another bus.
    Bridge {
        /// Address of the other bus's table.
        child: u64,
        /// The bridge.
        component: Component,
    },
    /// A target for message-signalled interrupts.
    Msi {
        /// Bit 31: this is the port through which the reader comes.
        flags: u32,
        /// As of a device.
        bus_specific: u32,
        /// The target.
        component: Component,
    },
    /// The integrated design.
    Integration(Product),
    /// Text about the sources (type 0x81) or the synthesis (0x82), unchanged.
    Meta {
        /// Record type.
        kind: u8,
        /// The text's bytes, without the record's type.
        bytes: [u8; RECORD - 1],
    },
    /// Nothing.
    Empty,
    /// A type this crate does not know.
    Unknown {
        /// Record type.
        kind: u8,
    },
}

impl Record {
    /// The addresses it occupies.
    pub fn component(&self) -> Option<&Component> {
        match self {
            Record::Interconnect { component, .. }
            | Record::Device { component, .. }
            | Record::Bridge { component, .. }
            | Record::Msi { component, .. } => Some(component),
            _ => None,
        }
    }

    /// Its kind.
    pub fn product(&self) -> Option<&Product> {
        match self {
            Record::Integration(product) => Some(product),
            other => other.component().map(|component| &component.product),
        }
    }

    /// The kind of record in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Record::Interconnect { .. } => "interconnect",
            Record::Device { .. } => "device",
            Record::Bridge { .. } => "bridge",
            Record::Msi { .. } => "msi",
            Record::Integration(_) => "integration",
            Record::Meta { kind: 0x81, .. } => "repository",
            Record::Meta { .. } => "synthesis",
            Record::Empty => "empty",
            Record::Unknown { .. } => "unknown",
        }
    }

    /// The text of a [`Meta`](Record::Meta) record: its printable characters.
    pub fn text(&self) -> Option<String> {
        match self {
            Record::Meta { bytes, .. } => Some(printable(bytes)),
            _ => None,
        }
    }

    fn decode(bytes: &[u8; RECORD]) -> Self {
        let kind = bytes[RECORD - 1];
        let half = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        let long = |at: usize| u64::from(word(at)) << 32 | u64::from(word(at + 4));
        let product = || Product {
            vendor: long(24),
            device: word(32),
            version: word(36),
            date: word(40),
            name: printable(&bytes[44..44 + NAME]),
        };
        let component = || Component { first: long(8), last: long(16), product: product() };
        match kind {
            0x00 => Record::Interconnect {
                records: half(4),
                version: bytes[6],
                bus_type: bytes[7],
                component: component(),
            },
            0x01 => Record::Device {
                abi_class: half(0),
                abi_version: (bytes[2], bytes[3]),
                bus_specific: word(4),
                component: component(),
            },
            0x02 => Record::Bridge { child: long(0), component: component() },
            0x03 => Record::Msi { flags: word(0), bus_specific: word(4), component: component() },
            0x80 => Record::Integration(product()),
            0x81 | 0x82 => {
                let mut text = [0; RECORD - 1];
                text.copy_from_slice(&bytes[..RECORD - 1]);
                Record::Meta { kind, bytes: text }
            }
            0xFF => Record::Empty,
            kind => Record::Unknown { kind },
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let head = |out: &mut Vec<u8>, a: u32, b: u32| {
            out.extend(a.to_be_bytes());
            out.extend(b.to_be_bytes());
        };
        let kind = match self {
            Record::Interconnect { records, version, bus_type, .. } => {
                let second =
                    u32::from(*records) << 16 | u32::from(*version) << 8 | u32::from(*bus_type);
                head(out, MAGIC, second);
                0x00
            }
            Record::Device { abi_class, abi_version: (major, minor), bus_specific, .. } => {
                let first =
                    u32::from(*abi_class) << 16 | u32::from(*major) << 8 | u32::from(*minor);
                head(out, first, *bus_specific);
                0x01
            }
            Record::Bridge { child, .. } => {
                out.extend(child.to_be_bytes());
                0x02
            }
            Record::Msi { flags, bus_specific, .. } => {
                head(out, *flags, *bus_specific);
                0x03
            }
            Record::Integration(_) => 0x80,
            Record::Meta { kind, bytes } => {
                out.extend(bytes);
                *kind
            }
            Record::Empty => 0xFF,
            Record::Unknown { kind } => *kind,
        };
        if let Some(component) = self.component() {
            out.extend(component.first.to_be_bytes());
            out.extend(component.last.to_be_bytes());
        }
        if let Some(product) = self.product() {
            out.resize(start + 24, 0);
            out.extend(product.vendor.to_be_bytes());
            out.extend(product.device.to_be_bytes());
            out.extend(product.version.to_be_bytes());
            out.extend(product.date.to_be_bytes());
            let name = product.name.bytes().chain(std::iter::repeat(b' ')).take(NAME);
            out.extend(name);
        }
        out.resize(start + RECORD - 1, 0);
        out.push(kind);
    }
}

fn printable(bytes: &[u8]) -> String {
    let text: String = bytes
        .iter()
        .take_while(|byte| **byte != 0)
        .map(|byte| if (0x20..0x7F).contains(byte) { *byte as char } else { '?' })
        .collect();
    text.trim_end().to_owned()
}

/// Why bytes are not a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The first word is another.
    #[error("no self-description: begins with {0:#010x}, not with 0x5344422d")]
    Magic(u32),
    /// The first record is not an interconnect of version 1.
    #[error("self-description of version {version}, record type {kind:#04x}: not supported")]
    Version {
        /// Version of the format.
        version: u8,
        /// Type of the first record.
        kind: u8,
    },
    /// The bytes end before the last record.
    #[error("self-description of {records} records is cut off after {bytes} bytes")]
    Short {
        /// Records announced.
        records: u16,
        /// Bytes there are.
        bytes: usize,
    },
}

/// How many records the table has whose first record this is.
fn head(bytes: &[u8]) -> Result<u16, TableError> {
    let Some(first) = bytes.first_chunk::<RECORD>() else {
        return Err(TableError::Short { records: 1, bytes: bytes.len() });
    };
    let magic = u32::from_be_bytes([first[0], first[1], first[2], first[3]]);
    if magic != MAGIC {
        return Err(TableError::Magic(magic));
    }
    match Record::decode(first) {
        Record::Interconnect { records, version: VERSION, .. } => Ok(records.max(1)),
        _ => Err(TableError::Version { version: first[6], kind: first[RECORD - 1] }),
    }
}

/// Reads one table, the interconnect record first.
pub fn parse(bytes: &[u8]) -> Result<Vec<Record>, TableError> {
    let records = head(bytes)?;
    let Some(table) = bytes.get(..usize::from(records) * RECORD) else {
        return Err(TableError::Short { records, bytes: bytes.len() });
    };
    Ok(table.as_chunks::<RECORD>().0.iter().map(Record::decode).collect())
}

/// Limits of [`scan`], so that no table can keep it busy forever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bridges behind one another.
    pub depth: usize,
    /// Records in all tables together.
    pub records: usize,
}

impl Default for Limits {
    /// 8 bridges, 4096 records.
    fn default() -> Self {
        Self { depth: 8, records: 4096 }
    }
}

/// Why a device's tables cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ScanError {
    /// A read failed.
    #[error("{0}")]
    Read(#[from] Error),
    /// The device says that it has no table.
    #[error("the device has no self-description (configuration register 8 is 0)")]
    None,
    /// There is no table at this address.
    #[error("table at {address:#x}: {source}")]
    Table {
        /// Its address.
        address: u64,
        /// The problem.
        source: TableError,
    },
    /// More than [`Limits`] allows.
    #[error("table at {address:#x}: {what}")]
    Limit {
        /// Its address.
        address: u64,
        /// Which limit.
        what: String,
    },
}

/// A record, and its place in the whole device.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Position in its table, after the positions of the bridges that lead there; the
    /// interconnect of the first table has an empty path, its first device `[1]`.
    pub path: Vec<usize>,
    /// First address as the client sees it.
    pub first: u64,
    /// Last address as the client sees it.
    pub last: u64,
    /// The record as stored in its table.
    pub record: Record,
    /// Why nothing behind a bridge is listed.
    pub problem: Option<ScanError>,
}

impl Entry {
    /// The path as tools print it: `3.1`.
    pub fn bus_path(&self) -> String {
        let parts: Vec<String> = self.path.iter().map(usize::to_string).collect();
        parts.join(".")
    }
}

impl fmt::Display for Entry {
    /// Path, vendor and device, first address, name: one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<16}", self.bus_path())?;
        match self.record.product() {
            Some(product) => write!(
                f,
                "{:016x}:{:08x}  {:>16x}  {}",
                product.vendor, product.device, self.first, product.name
            ),
            None => write!(f, "{}", self.record.kind()),
        }
    }
}

/// The complete self-description of a device, in the order of its tables; entries behind a bridge
/// follow the bridge.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// All records.
    pub entries: Vec<Entry>,
}

impl Tree {
    /// The innermost device, bridge or MSI target at an address.
    pub fn find_by_address(&self, address: u64) -> Option<&Entry> {
        let at = |entry: &&Entry| {
            let leaf = !matches!(entry.record, Record::Interconnect { .. });
            leaf && entry.record.component().is_some()
                && (entry.first..=entry.last).contains(&address)
        };
        self.entries.iter().filter(at).max_by_key(|entry| entry.path.len())
    }

    /// All devices with this identity.
    pub fn find(&self, vendor: u64, device: u32) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| match &entry.record {
            Record::Device { component, .. } => {
                (component.product.vendor, component.product.device) == (vendor, device)
            }
            _ => false,
        })
    }
}

struct Table {
    address: u64,
    /// Base of its relative addresses.
    base: u64,
    path: Vec<usize>,
    /// The entry of the bridge that leads here.
    bridge: Option<usize>,
}

/// Reads the tables of a device, beginning with the one that configuration register 8 names, and
/// follows every bridge.
///
/// A bridge whose table cannot be read keeps its entry, with the reason; only the first table must
/// be right. No table is read twice, so that bridges in a circle end.
pub async fn scan<T: Transport, M: Meter>(
    client: &mut Client<T, M>,
    limits: Limits,
) -> Result<Tree, ScanError> {
    let root = root(client).await?;
    let mut tree = Tree::default();
    let mut seen = HashSet::new();
    // The next table to read is the last one: entries behind a bridge come before its siblings.
    let mut left = vec![Table { address: root, base: 0, path: Vec::new(), bridge: None }];
    while let Some(table) = left.pop() {
        let read = match () {
            _ if table.path.len() > limits.depth => Err(ScanError::Limit {
                address: table.address,
                what: format!("more than {} bridges deep", limits.depth),
            }),
            _ if !seen.insert(table.address) => Err(ScanError::Limit {
                address: table.address,
                what: "was read before: bridges in a circle".to_owned(),
            }),
            _ => {
                let room = limits.records.saturating_sub(tree.entries.len());
                read_table(client, table.address, room).await
            }
        };
        let records = match (read, table.bridge) {
            (Ok(records), _) => records,
            (Err(error), None) => return Err(error),
            (Err(error), Some(bridge)) => {
                if let Some(entry) = tree.entries.get_mut(bridge) {
                    entry.problem = Some(error);
                }
                continue;
            }
        };
        // Behind their bridge: in place, so that the order is that of a walk.
        let at = table.bridge.map_or(0, |bridge| bridge + 1);
        let skip = usize::from(table.bridge.is_some());
        let mut children = Vec::new();
        let mut entries = Vec::new();
        for (position, record) in records.into_iter().enumerate().skip(skip) {
            let mut path = table.path.clone();
            if position > 0 {
                path.push(position);
            }
            let (first, last) = record.component().map_or((0, 0), |component| {
                let rebased = |address: u64| table.base.wrapping_add(address);
                (rebased(component.first), rebased(component.last))
            });
            if let Record::Bridge { child, .. } = &record {
                children.push(Table {
                    address: table.base.wrapping_add(*child),
                    base: first,
                    path: path.clone(),
                    bridge: Some(at + entries.len()),
                });
            }
            entries.push(Entry { path, first, last, record, problem: None });
        }
        let added = entries.len();
        tree.entries.splice(at..at, entries);
        // Every waiting entry is before this table's bridge, or behind all inserted ones.
        for waiting in &mut left {
            if let Some(bridge) = waiting.bridge.as_mut().filter(|bridge| **bridge >= at) {
                *bridge += added;
            }
        }
        left.extend(children.into_iter().rev());
    }
    Ok(tree)
}

/// The address of the first table.
async fn root<T: Transport, M: Meter>(client: &mut Client<T, M>) -> Result<u64, ScanError> {
    let width = client.format().data.bytes() as u64;
    let registers = (0..8 / width).map(|word| ROOT_REGISTER + word * width);
    let cycle = registers.fold(Cycle::new().silent(), Cycle::read_config);
    let words = client.execute(cycle).await?.reads;
    let root = words.iter().fold(0, |root, word| join(root, width, *word));
    // A table at the first address of a wide bus is possible; a bus of 32 bit hides it nowhere.
    if root == 0 && read_head(client, 0).await.is_err() {
        return Err(ScanError::None);
    }
    Ok(root & client.format().address.mask())
}

fn join(high: u64, width: u64, word: u64) -> u64 {
    if width == 8 { word } else { high << (8 * width) | word }
}

async fn read_head<T: Transport, M: Meter>(
    client: &mut Client<T, M>,
    address: u64,
) -> Result<(), ScanError> {
    let bytes = read_bytes(client, address, RECORD).await?;
    head(&bytes).map(drop).map_err(|source| ScanError::Table { address, source })
}

async fn read_table<T: Transport, M: Meter>(
    client: &mut Client<T, M>,
    address: u64,
    room: usize,
) -> Result<Vec<Record>, ScanError> {
    let failed = |source| ScanError::Table { address, source };
    let mut bytes = read_bytes(client, address, RECORD).await?;
    let records = usize::from(head(&bytes).map_err(failed)?);
    if records > room {
        let what = format!("{records} records, {room} may still come");
        return Err(ScanError::Limit { address, what });
    }
    let rest = (records - 1) * RECORD;
    bytes.extend(read_bytes(client, address.wrapping_add(RECORD as u64), rest).await?);
    parse(&bytes).map_err(failed)
}

/// Reads bytes of the bus, a few records a cycle, so that each fits any datagram.
async fn read_bytes<T: Transport, M: Meter>(
    client: &mut Client<T, M>,
    address: u64,
    length: usize,
) -> Result<Vec<u8>, Error> {
    let width = client.format().data.bytes();
    let mask = client.format().address.mask();
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        let words = ((length - bytes.len()) / width).min(64);
        let start = address.wrapping_add(bytes.len() as u64);
        let addresses = (0..words).map(|i| start.wrapping_add((i * width) as u64) & mask);
        let reply = client.execute(Cycle::new().reads(addresses)).await?;
        for word in reply.reads {
            bytes.extend_from_slice(&word.to_be_bytes()[8 - width..]);
        }
    }
    Ok(bytes)
}

/// Writes a table.
///
/// ```
/// use isthmus_host::etherbone::sdb::{Product, TableBuilder, parse};
/// let ram = Product { vendor: 0x651, device: 0x66cf_eb52, name: "RAM".into(), ..Product::default() };
/// let table = TableBuilder::new(Product::default(), 0, 0xFFFF).device(ram, 0x1000, 0x1FFF).bytes();
/// assert_eq!(parse(&table)?.len(), 2);
/// # Ok::<(), isthmus_host::etherbone::sdb::TableError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TableBuilder {
    bus: Component,
    records: Vec<Record>,
}

impl TableBuilder {
    /// A bus from `first` to `last`.
    pub fn new(product: Product, first: u64, last: u64) -> Self {
        Self { bus: Component { first, last, product }, records: Vec::new() }
    }

    /// Adds a record unchanged.
    pub fn record(mut self, record: Record) -> Self {
        self.records.push(record);
        self
    }

    /// Adds a big-endian Wishbone device of any width.
    pub fn device(self, product: Product, first: u64, last: u64) -> Self {
        self.record(Record::Device {
            abi_class: 0,
            abi_version: (1, 0),
            bus_specific: 0xF,
            component: Component { first, last, product },
        })
    }

    /// Adds a bridge, whose own table lies at `child` on this bus.
    pub fn bridge(self, product: Product, first: u64, last: u64, child: u64) -> Self {
        self.record(Record::Bridge { child, component: Component { first, last, product } })
    }

    /// The table: [`RECORD`] bytes each for the bus and every record; records beyond 65534 are
    /// omitted.
    pub fn bytes(&self) -> Vec<u8> {
        let count = self.records.len().min(usize::from(u16::MAX) - 1);
        let mut out = Vec::with_capacity((1 + count) * RECORD);
        let interconnect = Record::Interconnect {
            records: count as u16 + 1,
            version: VERSION,
            bus_type: 0,
            component: self.bus.clone(),
        };
        interconnect.encode(&mut out);
        for record in self.records.iter().take(count) {
            record.encode(&mut out);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(device: u32, name: &str) -> Product {
        Product { vendor: 0x651, device, version: 1, date: 0x2026_0131, name: name.to_owned() }
    }

    #[test]
    fn a_device_as_bytes() {
        let table = TableBuilder::new(product(0xE6A5_42C9, "WB4-Crossbar-GSI"), 0, 0xFFFF)
            .device(product(0xB2AF_C251, "ECA_UNIT:CONTROL"), 0x100, 0x1FF)
            .bytes();
        assert_eq!(table.len(), 128);
        assert_eq!(table[..8], [0x53, 0x44, 0x42, 0x2D, 0, 2, 1, 0]);
        assert_eq!(table[64..72], [0, 0, 1, 0, 0, 0, 0, 0xF]);
        assert_eq!(table[72..88], [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF]);
        assert_eq!(table[88..100], [0, 0, 0, 0, 0, 0, 6, 0x51, 0xB2, 0xAF, 0xC2, 0x51]);
        assert_eq!(&table[108..127], b"ECA_UNIT:CONTROL   ");
        assert_eq!((table[63], table[127]), (0, 1));
    }

    #[test]
    fn every_kind_is_read_back() {
        let component = Component { first: 1, last: 2, product: product(3, "x") };
        let mut text = [0; 63];
        text[..4].copy_from_slice(b"git\xFF");
        let records = [
            Record::Bridge { child: 0x1_0000_0000, component: component.clone() },
            Record::Msi { flags: 1 << 31, bus_specific: 7, component },
            Record::Integration(product(9, "nineteen characters")),
            Record::Meta { kind: 0x81, bytes: text },
            Record::Empty,
            Record::Unknown { kind: 0x7E },
        ];
        let builder = TableBuilder::new(Product::default(), 0, u64::MAX);
        let table = records.iter().cloned().fold(builder, TableBuilder::record).bytes();
        let parsed = parse(&table).expect("a table");
        assert_eq!(parsed[1..], records);
        assert_eq!(parsed[4].text().as_deref(), Some("git?"));
    }

    #[test]
    fn what_is_no_table_says_why() {
        let table = TableBuilder::new(Product::default(), 0, 1).device(Product::default(), 0, 1);
        let table = table.bytes();
        let error = |bytes: &[u8]| parse(bytes).expect_err("no table").to_string();
        assert!(error(&[]).contains("cut off"));
        assert!(error(&table[..127]).contains("2 records is cut off after 127 bytes"));
        assert!(error(&[0; 64]).contains("begins with 0x00000000"));
        let mut wrong = table.clone();
        wrong[6] = 2;
        assert!(error(&wrong).contains("version 2"));
    }
}
