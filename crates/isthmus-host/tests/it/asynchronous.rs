// SPDX-License-Identifier: Apache-2.0
//! One device for many tasks and threads, on real sockets: a future for each cycle.

use isthmus_host::etherbone::{
    AsyncClient, Client, ClientConfig, Cycle, Dialect, Error, Memory, Server, ServerConfig,
    ServerHandle, SlaveConfig, SoftSlave,
};
use isthmus_host::transport::{AsyncTransport, block_on};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::future::Future;
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

fn runtime(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).enable_all().build().expect("a runtime")
}

fn serve(slave: SlaveConfig) -> ServerHandle<Memory> {
    let config = ServerConfig {
        slave,
        // Cycles of megabytes hold the line for long on a busy machine.
        cycle_timeout: Duration::from_secs(30),
        ..ServerConfig::listen("127.0.0.1:0".parse().expect("an address"))
    };
    Server::bind(Memory::new(0, 65_536), config).and_then(Server::spawn).expect("loopback")
}

fn names(server: &ServerHandle<Memory>) -> [String; 2] {
    let udp = format!("udp/127.0.0.1/{}", server.udp_addresses()[0].port());
    [udp, format!("tcp/127.0.0.1/{}", server.tcp_addresses()[0].port())]
}

/// Longer than any answer takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(20);

/// Retries make it certain where the machine is too busy for the socket's buffer.
fn config() -> ClientConfig {
    ClientConfig { retries: 10, ..ClientConfig::default() }
}

/// For tests that wait for one long answer.
fn patient() -> ClientConfig {
    ClientConfig { reply_timeout: PATIENCE, ..ClientConfig::default() }
}

/// A program that submits without end and never waits uses bounded memory and gets an error.
#[test]
fn cycles_beyond_the_queue_end_as_busy() {
    let server = serve(SlaveConfig::default());
    // One thread: the driver does not run while this task submits.
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let device = AsyncClient::open(&names(&server)[1], patient()).await.expect("opens");
        let pending: Vec<_> =
            (0..65_536 + 10).map(|_| device.submit(Cycle::new().read(0))).collect();
        let mut busy = 0;
        for one in pending {
            match one.await {
                Ok(reply) => assert_eq!(reply.reads, [0]),
                Err(Error::Busy(65_536)) => busy += 1,
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(busy, 10);
        assert_eq!(device.read(0).await.expect("works on"), 0);
    });
}

#[test]
fn many_tasks_and_plain_threads_share_one_device() {
    let server = serve(SlaveConfig::default());
    for name in names(&server) {
        let runtime = runtime(2);
        let device = runtime.block_on(AsyncClient::open(&name, config())).expect("opens");
        assert_eq!(device.has_session(), name.starts_with("udp"));
        let tasks: Vec<_> = (0..40u64)
            .map(|task| {
                let device = device.clone();
                runtime.spawn(async move {
                    for value in 0..50 {
                        device.write(4 * task, value << 8 | task).await?;
                        assert_eq!(device.read(4 * task).await?, value << 8 | task);
                    }
                    Ok::<(), Error>(())
                })
            })
            .collect();
        // Threads that know no runtime wait for the same futures.
        std::thread::scope(|scope| {
            for thread in 100..104u64 {
                let device = device.clone();
                scope.spawn(move || {
                    for value in 0..50 {
                        let cycle = Cycle::new().write(4 * thread, value).read(4 * thread);
                        let reply = block_on(device.submit(cycle)).expect("answers");
                        assert_eq!(reply.reads, [value]);
                    }
                });
            }
        });
        for task in tasks {
            runtime.block_on(task).expect("no panic").expect("answers");
        }
        let statistics = device.statistics();
        assert_eq!(statistics.cycles, 40 * 50 * 2 + 4 * 50);
        // Tasks that wait at the same time share datagrams.
        assert!(statistics.messages_sent < statistics.cycles, "{statistics:?}");
        runtime.block_on(device.close());
    }
    let statistics = server.stop().expect("runs").statistics();
    assert_eq!(statistics.slave.operations, 2 * (40 * 50 * 2 + 4 * 50 * 2));
}

#[test]
fn more_futures_than_cycles_can_be_in_flight() {
    let server = serve(SlaveConfig::default());
    for name in names(&server) {
        runtime(2).block_on(async {
            let device = AsyncClient::open(&name, config()).await.expect("opens");
            // Numbers of cycles come again after 16384.
            let pending: Vec<_> = (0..40_000u64)
                .map(|i| device.submit(Cycle::new().write(4 * (i % 1000), i).read(4 * (i % 1000))))
                .collect();
            for (i, pending) in pending.into_iter().enumerate() {
                assert_eq!(pending.await.expect("answers").reads, [i as u64]);
            }
            device.close().await;
        });
    }
}

#[test]
fn a_cycle_of_megabytes_on_a_stream_stops_neither_side() {
    let server = serve(SlaveConfig::default());
    let [_, name] = names(&server);
    // Far more than the buffers between both hold, in both directions at once.
    let (words, cycle) = (4_000_000, Cycle::new().read_fifo(0x40, 4_000_000).silent());
    let started = Instant::now();
    runtime(1).block_on(async {
        let device = AsyncClient::open(&name, patient()).await.expect("opens");
        device.write(0x40, 7).await.expect("writes");
        let reads = device.submit(cycle.clone()).await.expect("answers").reads;
        assert!(reads.len() == words && reads.iter().all(|value| *value == 7));
    });
    block_on(async {
        let mut client = Client::open(&name, patient()).await.expect("opens");
        let reads = client.execute(cycle).await.expect("answers").reads;
        assert!(reads.len() == words && reads.iter().all(|value| *value == 7));
    });
    assert!(started.elapsed() < 4 * PATIENCE, "{:?}", started.elapsed());
}

#[test]
fn a_dropped_future_is_executed_and_disturbs_nobody() {
    let server = serve(SlaveConfig::default());
    for name in names(&server) {
        runtime(1).block_on(async {
            let device = AsyncClient::open(&name, config()).await.expect("opens");
            for value in 0..100 {
                drop(device.submit(Cycle::new().write(8, value)));
                assert_eq!(device.read(8).await.expect("answers"), value);
            }
        });
    }
}

#[test]
fn errors_reach_their_own_future_only() {
    let server = serve(SlaveConfig::default());
    for name in names(&server) {
        runtime(1).block_on(async {
            let device = AsyncClient::open(&name, config()).await.expect("opens");
            let good = device.submit(Cycle::new().write(0, 1).read(0));
            let bad = device.submit(Cycle::new().read(0x10_0000));
            let wrong = device.submit(Cycle::new().read(3));
            let empty = device.submit(Cycle::new());
            let last = device.submit(Cycle::new().read(0));
            assert_eq!(good.await.expect("answers").reads, [1]);
            let text = bad.await.expect_err("nothing there").to_string();
            assert!(text.starts_with("read 0x00100000 (operation 0): bus error"), "{text}");
            let text = wrong.await.expect_err("refused").to_string();
            assert_eq!(text, "read 0x00000003 (operation 0): address must be a multiple of 4");
            assert!(matches!(empty.await, Err(Error::Empty)));
            assert_eq!(last.await.expect("answers").reads, [1]);
        });
    }
}

#[test]
fn whoever_is_told_of_a_cycle_s_end_finds_it_counted() {
    struct Told {
        device: AsyncClient,
        cycles: AtomicU64,
    }
    impl Wake for Told {
        fn wake(self: Arc<Self>) {
            self.cycles.store(self.device.statistics().cycles, Ordering::Relaxed);
        }
    }
    let server = serve(SlaveConfig::default());
    for name in names(&server) {
        // One worker and no other task: nothing but the driver itself can count before it tells.
        let runtime = runtime(1);
        let device = runtime.block_on(AsyncClient::open(&name, patient())).expect("opens");
        let told = Arc::new(Told { device: device.clone(), cycles: AtomicU64::new(0) });
        let waker = Waker::from(Arc::clone(&told));
        let mut pending = device.submit(Cycle::new().read(0));
        // Where the end came first there is no call left to notify; the next cycle is another
        // chance.
        let mut ended = 0;
        while told.cycles.load(Ordering::Relaxed) == 0 {
            if Pin::new(&mut pending).poll(&mut Context::from_waker(&waker)).is_ready() {
                ended += 1;
                pending = device.submit(Cycle::new().read(0));
            } else {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        assert_eq!(told.cycles.load(Ordering::Relaxed), ended + 1);
    }
}

#[test]
fn a_device_that_falls_silent_ends_every_future_in_time() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    let address = socket.local_addr().expect("bound");
    // The socket stays, so that the system does not report a closed port.
    let listener = std::thread::spawn(move || {
        let mut slave = SoftSlave::new(Memory::new(0, 64));
        let mut buffer = [0; 2048];
        let (length, peer) = socket.recv_from(&mut buffer).expect("the probe");
        let reply = slave.datagram(&buffer[..length]).expect("a probe is answered");
        socket.send_to(&reply, peer).expect("sends");
        socket
    });
    // Far longer than the ticks below, on a busy machine too.
    let reply_timeout = Duration::from_secs(2);
    let config = ClientConfig { reply_timeout, ..ClientConfig::default() };
    let runtime = runtime(1);
    let device = runtime.block_on(AsyncClient::open(&address.to_string(), config)).expect("opens");
    let _socket = listener.join().expect("answered");
    let started = Instant::now();
    // Other tasks run while these wait.
    let ticks = runtime.spawn(async {
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let pending: Vec<_> = (0..500).map(|i| device.submit(Cycle::new().read(4 * i))).collect();
    runtime.block_on(ticks).expect("ticks");
    assert!(started.elapsed() < reply_timeout, "the runtime was held up");
    for pending in pending {
        assert!(matches!(runtime.block_on(pending), Err(Error::TimedOut { .. })));
    }
    assert_eq!(device.statistics().timed_out, 500);
    assert!(started.elapsed() < 30 * reply_timeout);
}

#[test]
fn a_connection_that_ends_tells_everybody_and_so_does_the_runtime() {
    let server = serve(SlaveConfig::default());
    let [_, name] = names(&server);
    let runtime = runtime(1);
    let device = runtime.block_on(AsyncClient::open(&name, config())).expect("opens");
    drop(server);
    for _ in 0..3 {
        let error = block_on(device.read(0)).expect_err("closed");
        assert!(error.to_string().contains("closed"), "{error}");
    }
    drop(runtime);
    assert!(matches!(block_on(device.read(0)), Err(Error::Dropped)));
}

#[test]
fn liteeth_s_dialect_and_a_terminal_line_are_no_different() {
    let server = serve(SlaveConfig { dialect: Dialect::LiteEth, ..SlaveConfig::default() });
    let [name, _] = names(&server);
    let lite_eth = ClientConfig { reply_timeout: PATIENCE, ..ClientConfig::lite_eth() };
    runtime(1).block_on(async {
        let device = AsyncClient::open(&name, lite_eth).await.expect("opens");
        let pending: Vec<_> = (0..300u64)
            .map(|i| device.submit(Cycle::new().write(4 * i, i).read(4 * i).repeatable()))
            .collect();
        for (i, pending) in pending.into_iter().enumerate() {
            assert_eq!(pending.await.expect("answers").reads, [i as u64]);
        }
    });
    let far = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&far).expect("grants");
    unlockpt(&far).expect("unlocks");
    let path = ptsname(&far, Vec::new()).expect("has a name").into_string().expect("is text");
    let mut far = File::from(far);
    let slave = std::thread::spawn(move || {
        let mut slave = SoftSlave::new(Memory::new(0, 4096));
        let mut buffer = [0; 512];
        // Ends with an error when the near end closes.
        while let Ok(length) = far.read(&mut buffer) {
            if far.write_all(&slave.stream(&buffer[..length])).is_err() {
                break;
            }
        }
    });
    runtime(1).block_on(async {
        let transport = AsyncTransport::open(&path.replacen("/dev/", "dev/", 1)).await;
        let client = Client::connect(transport.expect("opens"), patient()).await;
        let device = AsyncClient::new(client.expect("answers"));
        device.write(0x40, 0x0D0A_1113).await.expect("writes");
        let reads = device.submit(Cycle::new().read_fifo(0x40, 700)).await.expect("answers").reads;
        assert_eq!(reads, [0x0D0A_1113; 700]);
        device.close().await;
    });
    slave.join().expect("the slave ends");
}
