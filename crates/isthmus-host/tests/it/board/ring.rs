// SPDX-License-Identifier: Apache-2.0
//! Plain DMA: a doorbell in the BAR, descriptors and records in memory.

use std::sync::Arc;
use std::time::Duration;

use isthmus_host::board::{Bar, Memory, Window};
use isthmus_host::pcie::{
    DESCRIPTOR_BYTES, DOORBELL, Descriptor, DescriptorRing, DmaMemory, RECORD_BYTES, RECORD_STRIDE,
    RingPlace,
};
use isthmus_host::transport::block_on;

use super::{Device, Folder, Table, at};

const BUS: u64 = 0x40_0000;
const PLACE: RingPlace = RingPlace { descriptors: 0, records: 0x1000, slots: 8 };
const OUT: usize = 0x2000;
const BACK: usize = 0x3000;
const BLOCK: usize = 256;
const ROUNDS: u64 = 200;

#[test]
fn blocks_go_to_a_device_and_come_back_over_mapped_memory() {
    let folder = Folder::new();
    let path = folder.file("resource0", 4096);
    let table = Arc::new(Table::default());
    let mut memory = Memory::new(0x4000, &at(BUS), table.clone()).unwrap();
    let bar = Bar::open(&path, 4096).unwrap();

    let registers = Window::open(&path, 4096).unwrap();
    let (mut done, mut own) = (0, vec![0_u8; BLOCK]);
    let _device = Device::start(move || {
        let posted = registers.load64(DOORBELL as usize).unwrap() as u32;
        while done < posted {
            let slot = u64::from(done) % PLACE.slots;
            let mut line = [0; DESCRIPTOR_BYTES];
            let (memory, base) = table.at(BUS);
            memory.load(base + slot as usize * DESCRIPTOR_BYTES, &mut line).unwrap();
            let block = Descriptor::decode(&line).expect("a descriptor behind its doorbell");
            let (there, place) = table.at(block.address);
            if block.to_host {
                own.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
                there.store(place, &own).unwrap();
            } else {
                there.load(place, &mut own).unwrap();
            }
            let record = base + PLACE.records + slot as usize * RECORD_STRIDE + RECORD_BYTES - 8;
            memory.store64(record, 1).unwrap();
            done += 1;
        }
    });

    block_on(async {
        let mut ring = DescriptorRing::new(bar, memory.clone(), PLACE);
        for round in 0..ROUNDS {
            memory.write(OUT, &[round as u8; BLOCK]).await.unwrap();
            for (place, to_host) in [(OUT, false), (BACK, true)] {
                let address = BUS + place as u64;
                ring.post(Descriptor { address, bytes: BLOCK as u32, to_host }).await.unwrap();
            }
            for number in [2 * round, 2 * round + 1] {
                let deadline = memory.now() + Duration::from_secs(60);
                assert_eq!(ring.next(deadline).await.unwrap(), Some(number));
            }
            let mut back = [0; BLOCK];
            memory.read(BACK, &mut back).await.unwrap();
            assert_eq!(back, [(round as u8).wrapping_add(1); BLOCK], "round {round}");
        }
    });
}
