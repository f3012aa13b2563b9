// SPDX-License-Identifier: Apache-2.0
//! The client over what the operating system offers: UDP and TCP of both families on the loopback
//! interface, and a pseudo-terminal.

use isthmus_host::etherbone::{
    Client, ClientConfig, Cycle, Error, Memory, Server, ServerConfig, ServerHandle, SoftSlave,
};
use isthmus_host::transport::{
    AnyTransport, TcpTransport, Transport, TransportError, UdpTransport, block_on,
};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::time::{Duration, Instant};

fn server(address: &str) -> Option<ServerHandle<Memory>> {
    let config = ServerConfig::listen(address.parse().ok()?);
    Server::bind(Memory::new(0, 4096), config).ok()?.spawn().ok()
}

async fn exercise(name: &str) -> Result<(), Error> {
    let mut client = Client::open(name, ClientConfig::default()).await?;
    client.write(8, 0x1234_5678).await?;
    assert_eq!(client.read(8).await?, 0x1234_5678);
    let cycle = Cycle::new().write(12, 1).read(12).read(8);
    let pending: Vec<_> = (0..200).map(|_| client.submit(&cycle)).collect::<Result<_, _>>()?;
    client.flush().await?;
    client.settle().await?;
    for pending in pending {
        assert_eq!(pending.take().expect("settled")?.reads, [1, 0x1234_5678]);
    }
    let error = client.read(0x8000).await.expect_err("nothing there");
    assert!(error.to_string().starts_with("read 0x00008000 (operation 0): bus error"), "{error}");
    Ok(())
}

fn names(kind: &str, address: SocketAddr) -> [String; 2] {
    let family = if address.is_ipv4() { "4" } else { "6" };
    let rest = format!("{}/{}", address.ip(), address.port());
    [format!("{kind}/{rest}"), format!("{kind}{family}/{rest}")]
}

fn both_transports(address: &str) {
    let Some(server) = server(address) else {
        assert!(address.starts_with('['), "every host has IPv4");
        return;
    };
    let udp = server.udp_addresses().iter().flat_map(|a| names("udp", *a));
    let tcp = server.tcp_addresses().iter().flat_map(|a| names("tcp", *a));
    for name in udp.chain(tcp) {
        block_on(exercise(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn udp_and_tcp_over_ipv4() {
    both_transports("127.0.0.1:0");
}

#[test]
fn udp_and_tcp_over_ipv6_where_there_is_one() {
    both_transports("[::1]:0");
}

/// A slave at the other end of a terminal line; the device's name for the near end.
fn terminal() -> (String, std::thread::JoinHandle<()>) {
    let far = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&far).expect("grants");
    unlockpt(&far).expect("unlocks");
    let path = ptsname(&far, Vec::new()).expect("has a name").into_string().expect("is text");
    let name = path.replacen("/dev/", "dev/", 1);
    let mut far = File::from(far);
    let thread = std::thread::spawn(move || {
        let mut slave = SoftSlave::new(Memory::new(0, 4096));
        let mut buffer = [0; 512];
        // Ends with an error when the near end closes.
        while let Ok(length) = far.read(&mut buffer) {
            if far.write_all(&slave.stream(&buffer[..length])).is_err() {
                break;
            }
        }
    });
    (name, thread)
}

#[test]
fn a_terminal_line_carries_every_byte() {
    let (name, thread) = terminal();
    block_on(async {
        let mut client = Client::open(&name, ClientConfig::default()).await?;
        assert!(matches!(client.transport(), AnyTransport::Serial(_)));
        // Control characters that a line discipline would swallow or translate.
        for value in [0x0D0A_0304, 0x1113_1A7F, 0x0000_0000, 0xFFFF_FFFF] {
            client.write(0x40, value).await?;
            assert_eq!(client.read(0x40).await?, value);
        }
        let cycle = Cycle::new().reads((0..700).map(|i| 4 * i));
        assert_eq!(client.execute(cycle).await?.reads.len(), 700);
        Ok::<(), Error>(())
    })
    .expect("works");
    thread.join().expect("the slave ends");
}

#[test]
fn what_cannot_be_opened_is_one_clear_line() {
    let refused = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("loopback");
    let cases = [
        (format!("tcp/127.0.0.1/{}", refused.port()), "connect tcp 127.0.0.1:"),
        ("dev/null/x".to_owned(), "open /dev/null/x: Not a directory"),
        ("dev/shm".to_owned(), "/dev/shm"),
        ("udp6/127.0.0.1".to_owned(), "\"127.0.0.1\" has no IPv6 address"),
        ("wire/x".to_owned(), "unknown protocol \"wire\"; expected"),
    ];
    for (name, expected) in cases {
        let error = block_on(Client::open(&name, ClientConfig::default())).expect_err(&name);
        let error = error.to_string();
        assert!(error.contains(expected) && !error.contains('\n'), "{name}: {error}");
    }
}

/// Answers the given number of datagrams, then none.
fn silent_after(requests: usize) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    socket.set_read_timeout(Some(Duration::from_secs(5))).expect("sets");
    let local = socket.local_addr().expect("bound");
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
    local
}

#[test]
fn a_tcp_receive_ends_at_its_own_deadline_whatever_the_last_one_was() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let mut transport = TcpTransport::connect_socket(address).expect("connects");
    let (mut far, _) = listener.accept().expect("accepts");
    block_on(async {
        let mut buffer = [0; 8];
        for _ in 0..2 {
            far.write_all(b"word").expect("sends");
            let hour = transport.now() + Duration::from_secs(3600);
            assert!(matches!(transport.recv(&mut buffer, hour).await, Ok(4)));
            for wait in [0, 20] {
                let soon = transport.now() + Duration::from_millis(wait);
                let nothing = transport.recv(&mut buffer, soon).await;
                assert!(matches!(nothing, Err(TransportError::TimedOut)), "{nothing:?}");
                assert!(transport.now() >= soon);
            }
        }
        drop(far);
        let later = transport.now() + Duration::from_secs(3600);
        let closed = transport.recv(&mut buffer, later).await;
        assert!(matches!(closed, Err(TransportError::Closed)), "{closed:?}");
    });
}

#[test]
fn silence_is_a_time_out() {
    // Answers the probe only.
    let address = silent_after(1);
    let config =
        ClientConfig { reply_timeout: Duration::from_millis(50), ..ClientConfig::default() };
    let started = Instant::now();
    let error = block_on(async {
        let transport = UdpTransport::connect_socket(address)?;
        let mut client = Client::connect(transport, config).await?;
        client.read(0x10).await
    })
    .expect_err("no answer");
    let text = error.to_string();
    let expected = text.starts_with("read 0x00000010 (operation 0): no reply within 50ms")
        || text.contains("refused");
    assert!(expected, "{text}");
    assert!(started.elapsed() < Duration::from_secs(30));
}
