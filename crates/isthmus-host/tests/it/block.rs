// SPDX-License-Identifier: Apache-2.0
//! Blocks: any length, width and transport, and what cannot be transferred.

use isthmus_host::etherbone::{
    BlockOptions, Client, ClientConfig, Cycle, Error, Memory, SoftSlave, Widths,
};
use isthmus_host::transport::{MemoryTransport, block_on};

const BASE: u64 = 0x1000;
const SIZE: usize = 0x10_0000;

fn client(widths: Widths) -> Client<MemoryTransport<Memory>> {
    let slave = SoftSlave::new(Memory::new(BASE, SIZE)).with_widths(widths);
    let transport = MemoryTransport::new(slave);
    block_on(Client::connect(transport, ClientConfig::default())).unwrap()
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at as u8).wrapping_mul(31) ^ (at >> 8) as u8).collect()
}

#[test]
fn what_was_written_is_read_whatever_its_length() {
    for widths in [Widths::W32, Widths::ANY] {
        let mut client = client(widths);
        let width = client.format().data.bytes();
        for words in [0, 1, 2, 255, 256, 341, 5_000] {
            for per_cycle in [0, 1, 7, 10_000] {
                let options = BlockOptions { per_cycle, ..BlockOptions::default() };
                let data = pattern(words * width);
                block_on(client.write_block(BASE, &data, options)).unwrap();
                let mut found = vec![0xEE; data.len()];
                block_on(client.read_block(BASE, &mut found, options)).unwrap();
                assert!(found == data, "{words} words of {width} bytes, {per_cycle} a cycle");
            }
        }
    }
}

#[test]
fn words_are_those_of_a_big_endian_bus() {
    let mut client = client(Widths::W32);
    let data = [1, 2, 3, 4, 5, 6, 7, 8];
    block_on(client.write_block(BASE, &data, BlockOptions::default())).unwrap();
    let reply = block_on(client.execute(Cycle::new().read(BASE).read(BASE + 4))).unwrap();
    assert_eq!(reply.reads, [0x0102_0304, 0x0506_0708]);
}

#[test]
fn a_fixed_block_stays_at_its_address() {
    let mut client = client(Widths::W32);
    let options = BlockOptions { fixed: true, silent: true, per_cycle: 0 };
    block_on(client.write_block(BASE, &pattern(40), options)).unwrap();
    let mut found = vec![0; 8];
    let options = BlockOptions { fixed: true, ..BlockOptions::default() };
    block_on(client.read_block(BASE, &mut found, options)).unwrap();
    let last = &pattern(40)[36..];
    assert_eq!(found, [last, last].concat());
}

#[test]
fn what_cannot_be_a_block_is_refused_before_anything_is_sent() {
    let mut client = client(Widths::W32);
    let before = client.statistics().messages_sent;
    for (address, bytes, line) in [
        (BASE + 2, 8, "0x1002/0x8: both must be multiples of 4"),
        (BASE, 6, "0x1000/0x6: both must be multiples of 4"),
        (0xFFFF_FFFC, 8, "0xfffffffc/0x8: beyond 32 bit of address"),
        (u64::MAX - 3, 8, "beyond 32 bit of address"),
    ] {
        let mut buffer = vec![0; bytes];
        let read = client.read_block(address, &mut buffer, BlockOptions::default());
        let error = block_on(read).unwrap_err();
        assert!(
            matches!(error, Error::Block { .. }) && error.to_string().contains(line),
            "{error}"
        );
        assert!(client.check_block(address, bytes).is_err());
    }
    assert_eq!(client.statistics().messages_sent, before);
}

#[test]
fn the_first_error_is_given_and_what_follows_its_batch_is_not_sent() {
    let mut client = client(Widths::W32);
    let beyond = BASE + SIZE as u64;
    let mut buffer = vec![0; 16];
    let read = client.read_block(
        beyond - 8,
        &mut buffer,
        BlockOptions { per_cycle: 1, ..BlockOptions::default() },
    );
    let error = block_on(read).unwrap_err();
    assert!(matches!(&error, Error::Bus { first, .. } if first.address == beyond), "{error}");
    assert_eq!(client.outstanding(), 0);
}
