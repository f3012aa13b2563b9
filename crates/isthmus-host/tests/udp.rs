// SPDX-License-Identifier: Apache-2.0
//! The client over real UDP sockets on the loopback interface.

use isthmus_host::etherbone::{Client, ClientConfig, Cycle, Error, Memory, SoftSlave};
use isthmus_host::transport::{UdpTransport, block_on};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// A slave thread that answers `requests` datagrams and ends. `None`: the family is missing here.
fn slave(address: &str, requests: usize) -> Option<SocketAddr> {
    let socket = UdpSocket::bind(address).ok()?;
    socket.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let local = socket.local_addr().ok()?;
    std::thread::spawn(move || {
        let mut slave = SoftSlave::new(Memory::new(0, 4096));
        let mut buffer = [0; 2048];
        for _ in 0..requests {
            let Ok((length, peer)) = socket.recv_from(&mut buffer) else { return };
            if let Some(reply) = slave.datagram(&buffer[..length]) {
                let _ = socket.send_to(&reply, peer);
            }
        }
    });
    Some(local)
}

async fn exercise(address: SocketAddr) -> Result<(), Error> {
    let transport = UdpTransport::connect(&address.to_string())?;
    let mut client = Client::connect(transport, ClientConfig::default()).await?;
    client.write(8, 0x1234_5678).await?;
    assert_eq!(client.read(8).await?, 0x1234_5678);
    let cycle = Cycle::new().write(12, 1).read(12).read(8);
    let pending: Vec<_> = (0..50).map(|_| client.submit(&cycle)).collect::<Result<_, _>>()?;
    client.flush().await?;
    client.settle().await?;
    for pending in pending {
        assert_eq!(pending.take().expect("settled")?.reads, [1, 0x1234_5678]);
    }
    Ok(())
}

#[test]
fn ipv4() {
    let address = slave("127.0.0.1:0", 20).expect("loopback");
    block_on(exercise(address)).expect("works");
}

#[test]
fn ipv6_where_there_is_one() {
    if let Some(address) = slave("[::1]:0", 20) {
        block_on(exercise(address)).expect("works");
    }
}

#[test]
fn silence_is_a_time_out() {
    // Answers the probe only.
    let address = slave("127.0.0.1:0", 1).expect("loopback");
    let config =
        ClientConfig { reply_timeout: Duration::from_millis(50), ..ClientConfig::default() };
    let started = Instant::now();
    let error = block_on(async {
        let transport = UdpTransport::connect_socket(address)?;
        let mut client = Client::connect(transport, config).await?;
        client.read(0x10).await
    })
    .expect_err("nobody answers");
    let text = error.to_string();
    let expected = text.starts_with("read 0x00000010 (operation 0): no reply within 50ms")
        || text.contains("refused");
    assert!(expected, "{text}");
    assert!(started.elapsed() < Duration::from_secs(2));
}
