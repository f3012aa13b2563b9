// SPDX-License-Identifier: Apache-2.0
//! The client in LiteEth's dialect, against the software slave of that dialect.

use isthmus_host::etherbone::{
    Client, ClientConfig, Cycle, Dialect, Error, Memory, Server, ServerConfig, SlaveConfig,
    SoftSlave, Width,
};
use isthmus_host::transport::{MemoryTransport, block_on};
use std::net::UdpSocket;
use std::time::Duration;

fn slave() -> SoftSlave<Memory> {
    let config = SlaveConfig { dialect: Dialect::LiteEth, ..SlaveConfig::default() };
    SoftSlave::with_config(Memory::new(0, 4096), config)
}

fn client() -> Client<MemoryTransport<Memory>> {
    block_on(Client::connect(MemoryTransport::new(slave()), ClientConfig::lite_eth()))
        .expect("answers the probe of 12 bytes")
}

#[test]
fn reads_and_writes_in_datagrams_of_one_record() {
    let mut client = client();
    block_on(async {
        // 40 writes to consecutive addresses, 40 reads: 3 datagrams each of at most 16 operations.
        let before = client.transport().sent();
        let pairs = (0..40).map(|i| (4 * i, 100 + i));
        let cycle = Cycle::new().writes(pairs).reads((0..40).rev().map(|i| 4 * i));
        let reads = client.execute(cycle).await?.reads;
        assert_eq!(reads, (0..40).rev().map(|i| 100 + i).collect::<Vec<u64>>());
        assert_eq!(client.transport().sent() - before, 6);
        // One address repeatedly is one record of reads, but a record for each write.
        let before = client.transport().sent();
        let cycle = Cycle::new().write_fifo(0x80, [1, 2, 3]).read_fifo(0x80, 5);
        assert_eq!(client.execute(cycle).await?.reads, [3; 5]);
        assert_eq!(client.transport().sent() - before, 4);
        let bytes = Cycle::new()
            .write(0x90, 0x1122_3344)
            .write_width(0x92, 0xAB, Width::W8)
            .read(0x90)
            .read_width(0x90, Width::W16)
            .read_width(0x93, Width::W8);
        assert_eq!(client.execute(bytes).await?.reads, [0x1122_AB44, 0x1122, 0x44]);
        assert_eq!(client.outstanding(), 0);
        Ok::<(), Error>(())
    })
    .expect("works");
}

#[test]
fn many_cycles_in_flight() {
    let config = ClientConfig { window: 8, ..ClientConfig::lite_eth() };
    block_on(async {
        let mut client = Client::connect(MemoryTransport::new(slave()), config).await?;
        for round in 0..300u64 {
            let cycle = |i: u64| Cycle::new().write(4 * i, round).reads([4 * i, 0, 4 * i]);
            let pending: Vec<_> =
                (1..60).map(|i| client.submit(&cycle(i))).collect::<Result<_, _>>()?;
            client.flush().await?;
            client.settle().await?;
            for pending in pending {
                let reads = pending.take().expect("settled")?.reads;
                assert_eq!(reads, [round, 0, round]);
            }
        }
        assert_eq!(client.statistics().stale, 0);
        Ok::<(), Error>(())
    })
    .expect("works");
}

#[test]
fn what_the_dialect_lacks_is_refused() {
    let mut client = client();
    let text = |result: Result<_, Error>| result.expect_err("refused").to_string();
    assert_eq!(
        text(block_on(client.execute(Cycle::new().read(0).read_config(8)))),
        "config read 0x00000008 (operation 1): LiteEth's dialect has no configuration space"
    );
    assert!(text(block_on(client.execute(Cycle::new()))).contains("no operation"));
    assert!(
        text(block_on(client.read(2)).map(drop).map(|()| unreachable!())).contains("multiple of 4")
    );
    let stream = MemoryTransport::stream(slave());
    let error = block_on(Client::connect(stream, ClientConfig::lite_eth())).expect_err("refused");
    assert_eq!(error.to_string(), "liteeth's dialect has no streams");
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// LiteEth's own core ignores the flags that its layout has, and no master of its dialect sets any.
/// Software slave and gateware take them by their meaning, in the layout's order of bits
/// (`tests/system/test_serve_litex.py` compares both).
#[test]
fn mirrored_flags_mean_what_they_say() {
    const BCA: u32 = 0x0100_0000;
    const RCA: u32 = 0x0200_0000;
    const RFF: u32 = 0x0400_0000;
    const CYC: u32 = 0x1000_0000;
    const WFF: u32 = 0x4000_0000;
    let mut slave = slave();
    let mut ask = |words: &[u32]| {
        slave.datagram(&bytes(&[&[0x4E6F_1044, 0], words].concat())).map(|reply| {
            let word = |chunk: &[u8]| u32::from_be_bytes(chunk.try_into().expect("four"));
            assert_eq!(reply[..8], bytes(&[0x4E6F_1044, 0]));
            reply[8..].chunks(4).map(word).collect::<Vec<_>>()
        })
    };
    // Without a flag nothing is different from LiteEth.
    assert_eq!(ask(&[0x000F_0200, 0x40, 1, 2]), None);
    assert_eq!(ask(&[0x000F_0002, 9, 0x40, 0x44]), Some(vec![0x000F_0200, 9, 1, 2]));
    // All values to one address.
    assert_eq!(ask(&[WFF | 0x000F_0200, 0x40, 7, 8]), None);
    assert_eq!(ask(&[0x000F_0002, 9, 0x40, 0x44]), Some(vec![0x000F_0200, 9, 8, 2]));
    // The error register: two reads, of which the first failed.
    assert_eq!(ask(&[0x000F_0002, 9, 0x8000, 0x40]).map(|reply| reply[3]), Some(8));
    let errors = ask(&[RCA | 0x000F_0001, 9, 4]).expect("answers");
    assert_eq!(errors[2] & 3, 0b10);
    // The answer says WCA for BCA, WFF for RFF, and CYC again.
    let reply = ask(&[BCA | RFF | CYC | 0x000F_0001, 9, 0x40]);
    assert_eq!(reply, Some(vec![0x700F_0100, 9, 8]));
}

#[test]
fn a_device_of_the_other_dialect_does_not_answer() {
    let short = ClientConfig { probe_attempts: 1, ..ClientConfig::lite_eth() };
    let ohwr = MemoryTransport::new(SoftSlave::new(Memory::new(0, 64)));
    let error = block_on(Client::connect(ohwr, short.clone())).expect_err("silent");
    assert!(matches!(error, Error::NoDevice { .. }), "{error}");
    let config = ClientConfig { dialect: Dialect::Ohwr, ..short };
    let error =
        block_on(Client::connect(MemoryTransport::new(slave()), config)).expect_err("silent");
    assert!(matches!(error, Error::NoDevice { .. }), "{error}");
}

/// A request as LiteX's tools write it (no flags, base return address 0), and the answer as they
/// read it: header of 8 bytes, no flags, the values behind the echoed address.
#[test]
fn the_software_slave_serves_other_tools() {
    let slave = SlaveConfig { dialect: Dialect::LiteEth, ..SlaveConfig::default() };
    let config = ServerConfig {
        udp: vec!["127.0.0.1:0".parse().expect("an address")],
        tcp: Vec::new(),
        slave,
        ..ServerConfig::default()
    };
    let server = Server::bind(Memory::new(0, 64), config).and_then(Server::spawn).expect("starts");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    socket.set_read_timeout(Some(Duration::from_secs(2))).expect("sets");
    let to = server.udp_addresses()[0];
    let write =
        [0x4E, 0x6F, 0x10, 0x44, 0, 0, 0, 0, 0, 0xF, 2, 0, 0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8];
    let read =
        [0x4E, 0x6F, 0x10, 0x44, 0, 0, 0, 0, 0, 0xF, 0, 2, 0, 0, 0, 9, 0, 0, 0, 12, 0, 0, 0, 8];
    socket.send_to(&write, to).expect("sends");
    socket.send_to(&read, to).expect("sends");
    let mut buffer = [0; 128];
    let (length, from) = socket.recv_from(&mut buffer).expect("answers");
    let answer =
        [0x4E, 0x6F, 0x10, 0x44, 0, 0, 0, 0, 0, 0xF, 2, 0, 0, 0, 0, 9, 5, 6, 7, 8, 1, 2, 3, 4];
    assert_eq!((&buffer[..length], from), (&answer[..], to));
}
