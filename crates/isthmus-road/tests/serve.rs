// SPDX-License-Identifier: Apache-2.0
//! The server on a real socket: the client of `isthmus-host`, raw datagrams, hostile datagrams.

mod common;

use std::net::{SocketAddr, UdpSocket};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use common::{Misbehaviour, StandIn};
use isthmus_host::etherbone::{Client, ClientConfig, Cycle, Error};
use isthmus_host::transport::{UdpTransport, block_on};
use isthmus_road::serve::{ServeScenario, serve_with};
use isthmus_road::{RoadError, ServeStatus};

struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<ServeStatus, RoadError>>,
}

fn scenario(change: impl FnOnce(&mut serde_json::Value)) -> ServeScenario {
    let mut scenario = serde_json::json!({
        "road": "etherbone", "bind": "127.0.0.1:0", "seed": 1, "device": {"model_path": "stand-in"}
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
            let _ = tell.send(status.address);
            last = Some(status.clone());
            match asked.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(last.expect("told at least once"))
    });
    let address = told.recv_timeout(Duration::from_secs(10)).expect("starts");
    Server { address, stop, thread }
}

impl Server {
    fn stop(self) -> ServeStatus {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("no panic").expect("no error")
    }
}

#[test]
fn the_real_client_reads_and_writes() {
    let server = start(scenario(|_| ()));
    assert_ne!(server.address.port(), 0);
    let result = block_on(async {
        let transport = UdpTransport::connect_socket(server.address)?;
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
    assert_eq!(status.replies, status.datagrams);
    assert!(status.device_cycles > 0 && status.simulated_ps > 0);
}

#[test]
fn hostile_datagrams_do_no_harm() {
    let server = start(scenario(|s| s["max_clients"] = 2.into()));
    let open = || {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("time-out");
        socket.connect(server.address).expect("connects");
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
    let busy = scenario(|s| s["bind"] = address.clone().into());
    let error = serve_with(&busy, &make, &mut watch).expect_err("taken").to_string();
    assert!(error.starts_with(&format!("bind udp {address}: ")), "{error}");
    assert!(error.contains("in use") && !error.contains('\n'), "{error}");
    let wrong = scenario(|s| s["clock_mhz"] = 0.into());
    let error = serve_with(&wrong, &make, &mut watch).expect_err("wrong").to_string();
    assert_eq!(error, "scenario: clock_mhz: 0 is outside 1 to 1000");
    let error = isthmus_road::serve_json("{\"road\": \"etherbone\"}", &mut watch);
    let error = error.expect_err("keys missing").to_string();
    assert!(error.starts_with("scenario: document: missing field"), "{error}");
}
