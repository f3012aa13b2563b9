// SPDX-License-Identifier: Apache-2.0
//! Loads and stores, memory and interrupts, each alone.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use isthmus_host::board::{Bar, EventLine, Memory, MemoryOptions, Vfio};
use isthmus_host::pcie::{DmaMemory, Interrupt, Mmio};
use isthmus_host::transport::block_on;

use super::{Folder, Table, at};

#[test]
fn stores_to_a_bar_are_little_endian_in_its_file_and_loads_come_from_it() {
    let folder = Folder::new();
    let path = folder.file("resource0", 4096);
    let mut bar = Bar::open(&path, 4096).unwrap();
    assert_eq!((bar.bytes(), bar.combines()), (4096, false));
    block_on(async {
        bar.write32(4, 0x0403_0201).await.unwrap();
        bar.write64(16, 0x0807_0605_0403_0201).await.unwrap();
        bar.write_combined(35, &[9; 14]).await.unwrap();
        bar.write32(4092, 7).await.unwrap();
    });
    let mut expected = vec![0; 4096];
    expected[4..8].copy_from_slice(&[1, 2, 3, 4]);
    expected[16..24].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
    expected[35..49].fill(9);
    expected[4092] = 7;
    assert_eq!(std::fs::read(&path).unwrap(), expected);
    std::fs::write(&path, [5; 4096]).unwrap();
    assert_eq!(block_on(bar.read32(4092)).unwrap(), 0x0505_0505);
}

#[test]
fn an_access_outside_a_bar_or_between_its_registers_is_refused() {
    let folder = Folder::new();
    let mut bar = Bar::open(&folder.file("resource0", 4096), 4096).unwrap();
    block_on(async {
        for offset in [4096, 4094, 2, u64::MAX, u64::MAX - 3] {
            let load = bar.read32(offset).await.unwrap_err().to_string();
            assert!(load.starts_with("4 bytes at "), "{load}");
            assert!(bar.write32(offset, 1).await.is_err());
        }
        for offset in [4092, 4, u64::MAX - 7] {
            assert!(bar.write64(offset, 1).await.is_err());
        }
        for offset in [4095, u64::MAX] {
            assert!(bar.write_combined(offset, &[1, 2]).await.is_err());
        }
    });
    let refused = folder.file("small", 4095);
    let text = Bar::open(&refused, 4096).unwrap_err().to_string();
    assert!(
        text.ends_with("small: 4096 bytes are not mapped: 4095 bytes, 4096 expected"),
        "{text}"
    );
    let text = Bar::open(&PathBuf::from("/nothing"), 4096).unwrap_err().to_string();
    assert!(text.starts_with("/nothing: 4096 bytes are not mapped: No such file"), "{text}");
}

#[test]
fn combined_stores_go_through_the_write_combining_mapping_where_there_is_one() {
    let folder = Folder::new();
    // In sysfs both are the same memory; here they tell which was used.
    let paths = [folder.file("resource0", 4096), folder.file("resource0_wc", 4096)];
    let mut bar = Bar::open(&paths[0], 4096).unwrap();
    assert!(bar.combines());
    block_on(async {
        bar.write32(0, 1).await.unwrap();
        bar.write_combined(64, &[2; 64]).await.unwrap();
    });
    let [plain, combined] = paths.map(|path| std::fs::read(path).unwrap());
    assert_eq!((plain[0], plain[64], combined[0], combined[64]), (1, 0, 0, 2));
    assert_eq!(combined[64..128], [2; 64]);
}

#[test]
fn memory_is_mapped_at_its_bus_address_until_its_last_clone_is_dropped() {
    let table = Arc::new(Table::default());
    let mut memory = Memory::new(5000, &at(0x4_0000), table.clone()).unwrap();
    assert_eq!((memory.bus_address(), memory.size()), (0x4_0000, 5000));
    let (window, offset) = table.at(0x4_0000 + 4099);
    assert_eq!((window.bytes(), offset), (8192, 4099));
    block_on(async {
        memory.write(4099, &[1; 21]).await.unwrap();
        let mut there = [9; 23];
        window.load(4098, &mut there).unwrap();
        let mut expected = [1; 23];
        (expected[0], expected[22]) = (0, 0);
        assert_eq!(there, expected);

        window.store64(4096, 0x0102_0304_0506_0708).unwrap();
        assert_eq!(memory.load64(4096).await.unwrap(), 0x0102_0304_0506_0708);
        let mut first = [0; 3];
        memory.read(4096, &mut first).await.unwrap();
        assert_eq!(first, [8, 7, 6]);
        // What has not changed is what it was, at the deadline.
        let now = memory.now();
        assert_eq!(memory.poll64(0, 0, now).await.unwrap(), 0);
        assert!(memory.load64(8192).await.is_err());
        assert!(memory.load64(4).await.is_err());
        assert!(memory.read(8192, &mut [0]).await.is_err());
    });
    drop(window);
    let clone = memory.clone();
    drop(memory);
    assert_eq!(table.mapped.lock().unwrap().len(), 1);
    drop(clone);
    assert_eq!(table.mapped.lock().unwrap().len(), 0);
}

#[test]
fn memory_that_cannot_be_is_refused_in_one_line() {
    let make = |bytes, options: &MemoryOptions, full| {
        let table = Table { full, ..Table::default() };
        match Memory::new(bytes, options, Arc::new(table)) {
            Ok(_) => "made".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(make(1, &at(0x1000), false), "made");
    assert_eq!(
        make(1, &at(0x1800), false),
        "1 bytes of memory at bus address 0x1800: at least 1, at a multiple of 4096, expected"
    );
    for (bytes, address) in [(0, 0x1000), (usize::MAX, 0x1000), (8192, u64::MAX - 4095)] {
        let text = make(bytes, &at(address), false);
        assert!(text.contains("at least 1, at a multiple of 4096, expected"), "{text}");
    }
    let text = make(1, &at(0x1000), true);
    assert_eq!(text, "4096 bytes at bus address 0x1000 are not mapped: no entry left");
}

#[test]
fn an_interrupt_counts_once_whenever_it_comes() {
    let mut line = EventLine::new().unwrap();
    assert!(!line.wait(Duration::ZERO).unwrap());
    line.raise().unwrap();
    line.raise().unwrap();
    block_on(line.raised()).unwrap();
    assert!(!line.wait(Duration::from_millis(1)).unwrap(), "two before a wait are one");
}

#[test]
fn what_was_written_before_an_interrupt_is_there_behind_it() {
    let mut memory = Memory::new(4096, &at(0x1000), Arc::new(Table::default())).unwrap();
    let (writer, mut line) = (memory.clone(), EventLine::new().unwrap());
    let device = line.clone();
    let thread = std::thread::spawn(move || {
        writer.window().store64(8, 42).unwrap();
        device.raise().unwrap();
    });
    block_on(line.raised()).unwrap();
    assert_eq!(block_on(memory.load64(8)).unwrap(), 42);
    thread.join().unwrap();
}

#[test]
fn a_board_that_is_not_there_is_named() {
    let text = |address| Vfio::open(address).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        text("fffffff0:ff:1f.7"),
        "no PCI function fffffff0:ff:1f.7: lspci -D lists what there is"
    );
    assert!(text("eth0").starts_with("PCI address \"eth0\": expected DOMAIN:BUS:DEVICE.FUNCTION"));
}
