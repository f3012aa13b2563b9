// SPDX-License-Identifier: Apache-2.0
//! Reading the self-description of a device: bridges, identities, and tables that lead nowhere.

use isthmus_host::etherbone::sdb::{
    self, Limits, Product, Record, ScanError, TableBuilder, Tree, scan,
};
use isthmus_host::etherbone::{
    AddressMap, Bus, BusFault, Client, ClientConfig, MapError, Memory, SlaveConfig, SoftSlave,
    Width, Widths,
};
use isthmus_host::transport::{MemoryTransport, block_on};
use proptest::prelude::*;

fn product(device: u32, name: &str) -> Product {
    Product { vendor: 0x651, device, name: name.to_owned(), ..Product::default() }
}

/// Tables at their addresses.
struct Rom(Vec<Memory>);

impl Rom {
    fn new(tables: impl IntoIterator<Item = (u64, TableBuilder)>) -> Self {
        let memory = |(base, table): (u64, TableBuilder)| Memory::from_bytes(base, table.bytes());
        Self(tables.into_iter().map(memory).collect())
    }
}

impl Bus for Rom {
    fn read(&mut self, address: u64, width: Width, enable: u8) -> Result<u64, BusFault> {
        self.0.iter_mut().find_map(|m| m.read(address, width, enable).ok()).ok_or(BusFault)
    }
    fn write(&mut self, _: u64, _: Width, _: u8, _: u64) -> Result<(), BusFault> {
        Err(BusFault)
    }
}

fn scanned<B: Bus>(bus: B, root: u64, widths: Widths) -> Result<Tree, ScanError> {
    let slave = SoftSlave::new(bus).with_widths(widths).with_sdb_address(root);
    block_on(async {
        let transport = MemoryTransport::new(slave);
        let mut client = Client::connect(transport, ClientConfig::default()).await?;
        scan(&mut client, Limits::default()).await
    })
}

fn bus(name: &str) -> TableBuilder {
    TableBuilder::new(product(0xE6A5_42C9, name), 0, 0xFFFF_FFFF)
}

/// A top bus with a bridge at 0x40000 whose bus has a bridge at 0x2000 (so at 0x42000) to a device
/// at 0x100 (so at 0x42100).
fn nested() -> Rom {
    let (ram, eca) = (product(0x66CF_EB52, "RAM"), product(0xB2AF_C251, "ECA_UNIT:CONTROL"));
    let top = bus("top")
        .device(ram.clone(), 0x1000, 0x1FFF)
        .bridge(product(1, "bridge"), 0x4_0000, 0x4_FFFF, 0x4_F000)
        .record(Record::Integration(product(7, "a board")))
        .device(ram, 0x2000, 0x2FFF);
    let middle = bus("middle").bridge(product(1, "inner"), 0x2000, 0x2FFF, 0x2800);
    let inner = bus("inner").device(eca, 0x100, 0x1FF);
    Rom::new([(0x8000, top), (0x4_F000, middle), (0x4_2800, inner)])
}

#[test]
fn addresses_behind_bridges_are_rebased() {
    for widths in [Widths::W32, Widths { address: 4, data: 8 }, Widths { address: 8, data: 2 }] {
        let tree = scanned(nested(), 0x8000, widths).expect("scans");
        let lines: Vec<_> =
            tree.entries.iter().map(|e| (e.bus_path(), e.record.kind(), e.first, e.last)).collect();
        let line = |path: &str, kind, first, last| (path.to_owned(), kind, first, last);
        assert_eq!(
            lines,
            [
                line("", "interconnect", 0, 0xFFFF_FFFF),
                line("1", "device", 0x1000, 0x1FFF),
                line("2", "bridge", 0x4_0000, 0x4_FFFF),
                line("2.1", "bridge", 0x4_2000, 0x4_2FFF),
                line("2.1.1", "device", 0x4_2100, 0x4_21FF),
                line("3", "integration", 0, 0),
                line("4", "device", 0x2000, 0x2FFF),
            ]
        );
        let text = tree.entries[4].to_string();
        assert!(text.contains("0000000000000651:b2afc251") && text.contains("42100"), "{text}");
    }
}

#[test]
fn devices_are_found_by_identity_and_address() {
    let tree = scanned(nested(), 0x8000, Widths::W32).expect("scans");
    let firsts: Vec<_> = tree.find(0x651, 0x66CF_EB52).map(|e| e.first).collect();
    assert_eq!(firsts, [0x1000, 0x2000]);
    assert_eq!(tree.find(0x651, 5).count(), 0);
    let name = |address| tree.find_by_address(address).map(|e| e.bus_path());
    assert_eq!(name(0x4_2104).as_deref(), Some("2.1.1"));
    assert_eq!(name(0x4_2300).as_deref(), Some("2.1"));
    assert_eq!(name(0x1FFF).as_deref(), Some("1"));
    assert_eq!(name(0x9000_0000), None);
}

#[test]
fn bridges_in_a_circle_end() {
    let table = bus("circle").bridge(product(1, "to itself"), 0, 0xFFFF, 0x8000);
    let tree = scanned(Rom::new([(0x8000, table)]), 0x8000, Widths::W32).expect("scans");
    assert_eq!(tree.entries.len(), 2);
    let problem = tree.entries[1].problem.as_ref().expect("named").to_string();
    assert_eq!(problem, "table at 0x8000: was read before: bridges in a circle");
    // Each child table is new, but for the same bytes.
    struct Mirror(Memory);
    impl Bus for Mirror {
        fn read(&mut self, address: u64, width: Width, enable: u8) -> Result<u64, BusFault> {
            self.0.read(address % 0x1000, width, enable)
        }
        fn write(&mut self, _: u64, _: Width, _: u8, _: u64) -> Result<(), BusFault> {
            Err(BusFault)
        }
    }
    let table = bus("mirror").bridge(product(1, "deeper"), 0x1000, 0xFFFF, 0x2000).bytes();
    let tree = scanned(Mirror(Memory::from_bytes(0, table)), 0x1000, Widths::W32).expect("scans");
    let last = tree.entries.last().and_then(|e| e.problem.as_ref()).expect("named").to_string();
    assert!(last.contains("more than 8 bridges deep"), "{last}");
}

#[test]
fn a_bridge_to_nowhere_leaves_the_rest() {
    let table = bus("top").bridge(product(1, "lost"), 0x10_0000, 0x1F_FFFF, 0x10_0000).device(
        product(2, "here"),
        0,
        0xFF,
    );
    let tree = scanned(Rom::new([(0x8000, table)]), 0x8000, Widths::W32).expect("scans");
    assert_eq!(tree.entries.len(), 3);
    let problem = tree.entries[1].problem.as_ref().expect("named").to_string();
    assert!(problem.starts_with("read 0x00100000 (operation 0): bus error"), "{problem}");
}

#[test]
fn a_device_without_description_says_so() {
    let error = |bus: Memory, root| scanned(bus, root, Widths::W32).expect_err("none").to_string();
    let none = error(Memory::new(0x100, 64), 0);
    assert_eq!(none, "the device has no self-description (configuration register 8 is 0)");
    let zeros = error(Memory::new(0x100, 64), 0x100);
    assert!(zeros.contains("table at 0x100: no self-description: begins with 0x00000000"));
    let long = TableBuilder::new(Product::default(), 0, 1).bytes();
    let mut long = long;
    long[4..6].copy_from_slice(&[0xFF, 0xFF]);
    let text = error(Memory::from_bytes(0x100, long), 0x100);
    assert!(text.contains("65535 records, 4096 may still come"), "{text}");
}

#[test]
fn an_address_map_describes_itself() {
    let map = AddressMap::new(product(0xE6A5_42C9, "software"), 0x1_0000)
        .add(product(1, "low"), 0, 0xFF, Memory::new(0, 0x100))
        .and_then(|map| map.add(product(2, "high"), 0x400, 0x4FF, Memory::new(0, 0x100)))
        .expect("no overlap");
    let config = SlaveConfig { sdb_address: map.sdb_address(), ..SlaveConfig::default() };
    block_on(async {
        let transport = MemoryTransport::new(SoftSlave::with_config(map, config));
        let mut client = Client::connect(transport, ClientConfig::default()).await?;
        let tree = scan(&mut client, Limits::default()).await?;
        assert_eq!(tree.find(0x651, 2).map(|e| e.first).collect::<Vec<_>>(), [0x400]);
        client.write(0x404, 5).await?;
        assert_eq!((client.read(4).await?, client.read(0x404).await?), (0, 5));
        assert!(client.read(0x200).await.is_err());
        assert!(client.write(0x1_0000, 0).await.is_err(), "the table is read-only");
        Ok::<(), ScanError>(())
    })
    .expect("works");
    let add = |first, last| {
        AddressMap::new(Product::default(), 0x1000)
            .add(product(1, "a"), 0, 0xFF, Memory::new(0, 1))
            .and_then(|map| map.add(product(2, "b"), first, last, Memory::new(0, 1)))
            .map(drop)
    };
    assert_eq!(
        add(0xFF, 0x1FF).expect_err("overlaps").to_string(),
        "range 0xff to 0x1ff overlaps \"a\" at 0x0"
    );
    assert!(matches!(add(0x10BF, 0x10FF), Err(MapError::Overlap { .. })), "the table grew");
    assert!(add(0x10C0, 0x10FF).is_ok());
    assert!(matches!(add(5, 4), Err(MapError::Empty { .. })));
}

proptest! {
    /// Whatever a device answers, a scan ends.
    #[test]
    fn any_table_gives_a_tree_or_an_error(
        kinds in prop::collection::vec(prop::sample::select(vec![0u8, 1, 2, 3, 0x80, 0x81, 0xFF, 9]), 1..12),
        noise in prop::collection::vec(any::<u8>(), 64 * 12),
        count in 0u16..20,
    ) {
        let mut table = TableBuilder::new(Product::default(), 0, 1).bytes();
        table[4..6].copy_from_slice(&count.to_be_bytes());
        for (kind, noise) in kinds.iter().zip(noise.chunks(64)) {
            table.extend_from_slice(&noise[..63]);
            table.push(*kind);
        }
        let _ = sdb::parse(&table);
        let _ = scanned(Memory::from_bytes(0, table), 0, Widths::W32);
    }
}
