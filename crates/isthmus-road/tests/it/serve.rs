// SPDX-License-Identifier: Apache-2.0
//! The server on a real socket: the client of `isthmus-host`, raw datagrams, hostile datagrams.

use super::common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use common::{Misbehaviour, StandIn};
use isthmus_host::etherbone::{Client, ClientConfig, Cycle, Error};
use isthmus_host::transport::{Transport, UdpTransport, block_on, open};
use isthmus_road::serve::{ServeScenario, serve_with};
use isthmus_road::{RoadError, ServeStatus};

struct Server {
    listening: Vec<String>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<ServeStatus, RoadError>>,
}

fn scenario(change: impl FnOnce(&mut serde_json::Value)) -> ServeScenario {
    let mut scenario = serde_json::json!({
        "road": "etherbone", "udp": "127.0.0.1:0", "seed": 1, "device": {"model_path": "stand-in"}
    });
    change(&mut scenario);
    serde_json::from_value(scenario).expect("scenario")
}

fn start(scenario: ServeScenario) -> Server {
    let stop = Arc::new(AtomicBool::new(false));
    let (tell, told) = mpsc::channel();
    let asked = Arc::clone(&stop);
    let thread = std::thread::spawn(move || {
        let make = |_: &std::path::Path, _: Option<&std::path::Path>| {
            Ok(StandIn::boxed(Misbehaviour::None))
        };
        let mut last = None;
        serve_with(&scenario, &make, &mut |status: &ServeStatus| {
            let _ = tell.send(status.listening.clone());
            last = Some(status.clone());
            match asked.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(last.expect("told at least once"))
    });
    let listening = told.recv_timeout(Duration::from_secs(10)).expect("starts");
    Server { listening, stop, thread }
}

impl Server {
    /// Where it listens, by kind.
    fn at(&self, kind: &str) -> &str {
        let line = self.listening.iter().find_map(|line| line.strip_prefix(kind));
        line.expect("it listens there").trim()
    }

    fn address(&self) -> SocketAddr {
        self.at("udp").parse().expect("an address")
    }

    fn stop(self) -> ServeStatus {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("no panic").expect("no error")
    }
}

#[test]
fn the_real_client_reads_and_writes() {
    let server = start(scenario(|_| ()));
    assert_ne!(server.address().port(), 0);
    let result = block_on(async {
        let transport = UdpTransport::connect_socket(server.address())?;
        let mut client = Client::connect(transport, ClientConfig::default()).await?;
        client.write(0x40, 0xDEAD_BEEF).await?;
        assert_eq!(client.read(0x40).await?, 0xDEAD_BEEF);
        let time = client.execute(Cycle::new().read(0x20_0018).read(0x20_001C)).await?.reads;
        let ns = time[0] << 32 | time[1];
        assert!(ns > 1_700_000_000_000_000_000, "the machine's time: {ns}");
        let cycle = Cycle::new().write(0x44, 7).reads((0..16).map(|i| 4 * i)).read(0x44);
        let pending: Vec<_> = (0..200).map(|_| client.submit(&cycle)).collect::<Result<_, _>>()?;
        client.flush().await?;
        client.settle().await?;
        for pending in pending {
            assert_eq!(pending.take().expect("settled")?.reads[16], 7);
        }
        assert!(matches!(client.read(0x70_0000).await, Err(Error::Bus { .. })));
        Ok::<(), Error>(())
    });
    result.expect("works");
    let status = server.stop();
    assert_eq!((status.clients, status.errors), (1, 0));
    assert_eq!(status.replies, status.requests);
    assert!(status.device_cycles > 0 && status.simulated_ps > 0);
}

/// Everything a client does, over any transport.
async fn works<T: Transport>(transport: T, base: u64) -> Result<(), Error> {
    let mut client = Client::connect(transport, ClientConfig::default()).await?;
    client.write(base, 0xDEAD_BEEF).await?;
    assert_eq!(client.read(base).await?, 0xDEAD_BEEF);
    // More than a datagram holds, many times in flight, writes and reads in one record.
    let values = 0..250;
    let cycle = values.clone().fold(Cycle::new(), |c, i| c.write(base + 4 * i, i ^ base));
    let cycle = cycle.reads(values.clone().map(|i| base + 4 * i));
    let pending: Vec<_> = (0..20).map(|_| client.submit(&cycle)).collect::<Result<_, _>>()?;
    client.flush().await?;
    client.settle().await?;
    for pending in pending {
        let expected: Vec<u64> = values.clone().map(|i| i ^ base).collect();
        assert_eq!(pending.take().expect("settled")?.reads, expected);
    }
    assert!(matches!(client.read(0x70_0000).await, Err(Error::Bus { .. })));
    Ok(())
}

#[test]
fn the_real_client_works_over_tcp_and_over_a_terminal() {
    let server = start(scenario(|s| {
        s["udp"] = serde_json::Value::Null;
        s["tcp"] = "127.0.0.1:0".into();
        s["pty"] = true.into();
    }));
    let tcp = format!("tcp/{}", server.at("tcp").replace(':', "/"));
    let terminal = server.at("pty").trim_start_matches("/dev/").to_owned();
    // Two connections and the terminal at once, each with its own part of the RAM.
    std::thread::scope(|scope| {
        let names = [format!("dev/{}", terminal.trim_start_matches("dev/")), tcp.clone(), tcp];
        for (index, name) in names.into_iter().enumerate() {
            scope.spawn(move || {
                let transport = open(&name).expect("opens");
                block_on(works(transport, 0x1000 * index as u64)).expect("works");
            });
        }
    });
    // The terminal's next user finds it as the first did.
    let again = open(&format!("dev/{}", terminal.trim_start_matches("dev/"))).expect("opens");
    block_on(works(again, 0)).expect("works");
    let status = server.stop();
    assert_eq!(status.errors, 0);
    assert_eq!(status.replies, status.requests);
}

#[test]
fn streams_are_bounded_and_a_broken_one_harms_nobody() {
    let server = start(scenario(|s| {
        s["tcp"] = "127.0.0.1:0".into();
        s["max_connections"] = 2.into();
        // Longer than a busy machine holds this thread up.
        s["idle_timeout_s"] = 4.into();
    }));
    let connect = || {
        let stream = TcpStream::connect(server.at("tcp")).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("time-out");
        stream
    };
    let closed = |mut stream: TcpStream| match stream.read(&mut [0; 64]) {
        Ok(length) => length == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    };
    let mut good = connect();
    good.write_all(&[0x4E, 0x6F, 0x11, 0xFF, 1, 2, 3, 4]).expect("sends");
    let mut reply = [0; 8];
    good.read_exact(&mut reply).expect("answers");
    assert_eq!(reply, [0x4E, 0x6F, 0x16, 0x44, 1, 2, 3, 4]);
    let mut broken = connect();
    broken.write_all(b"GET / HTTP/1.1\r\n").expect("sends");
    assert!(closed(broken), "no Etherbone");
    let silent = connect();
    assert!(closed(connect()), "one too many");
    // A cycle without an end is split, so that its answer is sent.
    good.write_all(&[0xA0, 0xF, 0, 1, 0, 0, 0x80, 0, 0, 0, 0, 0]).expect("sends");
    let mut reply = [0; 12];
    good.read_exact(&mut reply).expect("answers");
    assert_eq!(reply[..8], [0x06, 0xF, 1, 0, 0, 0, 0x80, 0]);
    // Requests, and at once the end of them: they are answered.
    let mut hasty = good;
    hasty.write_all(&[0xA8, 0xF, 0, 1, 0, 0, 0x80, 0, 0, 0, 0, 0]).expect("sends");
    hasty.shutdown(std::net::Shutdown::Write).expect("ends");
    let mut rest = Vec::new();
    hasty.read_to_end(&mut rest).expect("answers");
    assert_eq!(rest.len(), 12);
    assert!(closed(silent), "nothing for too long");
    assert_eq!(server.stop().errors, 3, "broken, one too many, and the silent one");
}

#[test]
fn silent_connections_lock_nobody_out() {
    let server = start(scenario(|s| {
        s["tcp"] = "127.0.0.1:0".into();
        s["probe_timeout_s"] = 1.into();
    }));
    let connect = || TcpStream::connect(server.at("tcp")).expect("connects");
    let mut silent: Vec<TcpStream> = (0..24).map(|_| connect()).collect();
    silent[0].write_all(&[0x4E, 0x6F, 0x11]).expect("sends");
    let name = format!("tcp/{}", server.at("tcp").replace(':', "/"));
    let started = std::time::Instant::now();
    while open(&name).map_or(true, |transport| block_on(works(transport, 0)).is_err()) {
        assert!(started.elapsed() < Duration::from_secs(15), "locked out");
        std::thread::sleep(Duration::from_millis(50));
    }
    for mut socket in silent {
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("time-out");
        let ended = socket.read(&mut [0; 8]);
        let reset = |e: &std::io::Error| e.kind() == std::io::ErrorKind::ConnectionReset;
        assert!(ended.as_ref().map_or_else(reset, |length| *length == 0), "{ended:?}");
    }
    server.stop();
}

#[test]
fn only_allowed_hosts_are_served_and_others_counted() {
    let server = start(scenario(|s| {
        s["tcp"] = "127.0.0.1:0".into();
        s["allow"] = serde_json::json!(["127.0.0.2/32", "192.0.2.0/24"]);
    }));
    let probe = [0x4E, 0x6F, 0x11, 0xFF, 1, 2, 3, 4];
    for (from, served) in [("127.0.0.1:0", false), ("127.0.0.2:0", true)] {
        let socket = UdpSocket::bind(from).expect("loopback");
        let patience = if served { 5_000 } else { 300 };
        socket.set_read_timeout(Some(Duration::from_millis(patience))).expect("time-out");
        socket.send_to(&probe, server.address()).expect("sends");
        assert_eq!(socket.recv(&mut [0; 64]).is_ok(), served, "{from}");
    }
    let mut stream = TcpStream::connect(server.at("tcp")).expect("connects");
    assert!(matches!(stream.read(&mut [0; 8]), Ok(0) | Err(_)), "from 127.0.0.1");
    let status = server.stop();
    assert_eq!((status.not_allowed, status.requests, status.errors), (2, 1, 0));
}

#[test]
fn hostile_datagrams_do_no_harm() {
    let server = start(scenario(|s| s["max_clients"] = 2.into()));
    let open = || {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("time-out");
        socket.connect(server.address()).expect("connects");
        socket
    };
    let probe = [0x4E, 0x6F, 0x11, 0xFF, 1, 2, 3, 4];
    let answers = |socket: &UdpSocket| {
        socket.send(&probe).expect("sends");
        let mut buffer = [0; 64];
        let length = socket.recv(&mut buffer).expect("answers");
        assert_eq!(buffer[..length], [0x4E, 0x6F, 0x16, 0x44, 1, 2, 3, 4]);
    };
    let socket = open();
    answers(&socket);
    socket.send(&[]).expect("sends");
    socket.send(&[0x4E]).expect("sends");
    socket.send(&[0xFF; 1472]).expect("sends");
    socket.send(&[0; 1473]).expect("sends");
    socket.send(&[0; 9000]).expect("sends");
    socket.send(&[0x4E, 0x6F, 0x10, 0x44, 0xA0, 0x0F, 0, 255]).expect("sends");
    answers(&socket);
    // More senders than are remembered: each still gets its own answers.
    for _ in 0..5 {
        answers(&open());
    }
    answers(&socket);
    let status = server.stop();
    assert_eq!(status.clients, 2);
    assert_eq!(status.errors, 2, "the two that no frame can carry");
    assert_eq!(status.replies, 8);
}

#[test]
fn a_taken_port_and_bad_keys_are_one_line() {
    let taken = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    let address = taken.local_addr().expect("address").to_string();
    let make =
        |_: &std::path::Path, _: Option<&std::path::Path>| Ok(StandIn::boxed(Misbehaviour::None));
    let mut watch = |_: &ServeStatus| ControlFlow::Break(());
    let busy = scenario(|s| s["udp"] = address.clone().into());
    let error = serve_with(&busy, &make, &mut watch).expect_err("taken").to_string();
    assert!(error.starts_with(&format!("bind udp {address}: ")), "{error}");
    assert!(error.contains("in use") && !error.contains('\n'), "{error}");
    let nothing = scenario(|s| s["udp"] = serde_json::Value::Null);
    let error = serve_with(&nothing, &make, &mut watch).expect_err("nothing").to_string();
    assert_eq!(
        error,
        "scenario: document: nothing to listen on: at least one of udp, tcp, tap and pty"
    );
    let wrong = scenario(|s| s["clock_mhz"] = 0.into());
    let error = serve_with(&wrong, &make, &mut watch).expect_err("wrong").to_string();
    assert_eq!(error, "scenario: clock_mhz: 0 is outside 1 to 1000");
    let served = |text: &str| {
        let error = isthmus_road::serve_json(text, &mut |_| ControlFlow::Break(()));
        error.expect_err("a wrong document").to_string()
    };
    let error = served("{\"road\": \"etherbone\"}");
    assert!(error.starts_with("scenario: document: missing field"), "{error}");
    assert_eq!(served("{\"road\": \"switch\"}"), "scenario: road: switch has nothing to serve");
}
