// SPDX-License-Identifier: Apache-2.0
//! The software slave behind real sockets: many clients that do not disturb each other, and whatever
//! else reaches an open port.

use isthmus_host::etherbone::{
    Bus, BusEvent, BusFault, Client, ClientConfig, Cycle, Dialect, Error, Memory, Peer, Server,
    ServerConfig, ServerHandle, ServerStatistics, SlaveConfig, Snoop, Width, Widths, discover,
};
use isthmus_host::transport::{AnyTransport, block_on};
use proptest::prelude::*;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn config() -> ServerConfig {
    ServerConfig::listen("127.0.0.1:0".parse().expect("an address"))
}

fn serve<B: Bus + Send + 'static>(bus: B, config: ServerConfig) -> ServerHandle<B> {
    Server::bind(bus, config).and_then(Server::spawn).expect("loopback")
}

fn memory() -> ServerHandle<Memory> {
    serve(Memory::new(0, 4096), config())
}

fn udp<B>(server: &ServerHandle<B>) -> String {
    server.udp_addresses()[0].to_string()
}

fn tcp<B>(server: &ServerHandle<B>) -> String {
    let address = server.tcp_addresses()[0];
    format!("tcp/{}/{}", address.ip(), address.port())
}

fn open(name: &str) -> Result<Client<AnyTransport>, Error> {
    let config = ClientConfig {
        probe_attempts: 2,
        probe_timeout: Duration::from_millis(500),
        ..ClientConfig::default()
    };
    block_on(Client::open(name, config))
}

/// A socket that sends bytes of any kind.
fn raw(server: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    socket.connect(server).expect("connects");
    socket.set_read_timeout(Some(Duration::from_secs(2))).expect("sets");
    socket
}

fn ask(socket: &UdpSocket, request: &[u8]) -> Option<Vec<u8>> {
    socket.send(request).expect("sends");
    let mut buffer = [0; 2048];
    let length = socket.recv(&mut buffer).ok()?;
    Some(buffer[..length].to_vec())
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| {
        u8::from_str_radix(std::str::from_utf8(pair).expect("ascii"), 16).expect("hex")
    };
    digits.chunks(2).map(byte).collect()
}

const PROBE: &str = "4e6f11ff 00000005";
const LITE_PROBE: &str = "4e6f1144 00000005 00000000";

/// Sends what must not be answered, then a probe, whose answer shows that the slave is alive; what
/// was counted, and the memory.
fn dropped(config: SlaveConfig, request: &[u8]) -> (ServerStatistics, Vec<u8>) {
    let probe = hex(match config.dialect {
        Dialect::Ohwr => PROBE,
        Dialect::LiteEth => LITE_PROBE,
    });
    let server = serve(Memory::new(0, 64), ServerConfig { slave: config, ..self::config() });
    let socket = raw(server.udp_addresses()[0]);
    socket.send(request).expect("sends");
    let answer = ask(&socket, &probe).expect("alive");
    assert_eq!((answer[2] & 2, answer.len()), (2, probe.len()), "{answer:02x?}");
    let mut server = server.stop().expect("runs");
    (server.statistics(), server.bus().bytes().to_vec())
}

fn lite() -> SlaveConfig {
    SlaveConfig { dialect: Dialect::LiteEth, ..SlaveConfig::default() }
}

#[test]
fn a_server_that_was_never_a_client_answers_a_stranger() {
    let server = memory();
    let mut client = open(&udp(&server)).expect("answers");
    block_on(client.write(0, 1)).expect("writes");
}

#[test]
fn two_devices_in_one_process_keep_apart() {
    let (a, b) = (memory(), memory());
    let mut clients: Vec<_> =
        [udp(&a), udp(&b), tcp(&a), tcp(&b)].iter().map(|n| open(n).expect("opens")).collect();
    block_on(async {
        for round in 0..50u64 {
            // All have cycles in flight at the same time.
            let mut pending = Vec::new();
            for (index, client) in clients.iter_mut().enumerate() {
                let (address, value) = (8 * index as u64, round << 8 | index as u64);
                pending.push(client.submit(&Cycle::new().write(address, value).read(address))?);
                client.flush().await?;
            }
            for client in clients.iter_mut().rev() {
                client.settle().await?;
            }
            for (index, pending) in pending.into_iter().enumerate() {
                let reads = pending.take().expect("settled")?.reads;
                assert_eq!(reads, [round << 8 | index as u64]);
            }
        }
        // What was written through one device is not in the other.
        assert_eq!(clients[0].read(8).await?, 0);
        assert_eq!(clients[1].read(0).await?, 0);
        Ok::<(), Error>(())
    })
    .expect("works");
}

#[test]
fn many_clients_at_once() {
    let server = memory();
    let names: Vec<String> =
        (0..12).map(|i| if i % 2 == 0 { udp(&server) } else { tcp(&server) }).collect();
    std::thread::scope(|scope| {
        for (index, name) in names.iter().enumerate() {
            scope.spawn(move || {
                let mut client = open(name).expect("opens");
                let address = 64 * index as u64;
                for value in 0..100 {
                    let cycle = Cycle::new().write(address, value).read(address);
                    let pending: Vec<_> =
                        (0..20).map(|_| client.submit(&cycle).expect("fits")).collect();
                    block_on(async {
                        client.flush().await?;
                        client.settle().await
                    })
                    .expect("answers");
                    for pending in pending {
                        let reply = pending.take().expect("settled").expect("no bus error");
                        assert_eq!(reply.reads, [value]);
                    }
                }
            });
        }
    });
    let statistics = server.stop().expect("runs").statistics();
    assert_eq!(statistics.slave.operations, 12 * 100 * 20 * 2);
    assert_eq!(statistics.slave.malformed + statistics.send_errors, 0);
}

#[test]
fn each_client_has_its_own_error_register() {
    let server = memory();
    for name in [udp(&server), tcp(&server)] {
        let (mut good, mut bad) = (open(&name).expect("opens"), open(&name).expect("opens"));
        block_on(async {
            let silent = Cycle::new().read(0x10_0000).silent();
            bad.execute(silent).await?;
            let register = Cycle::new().read_config(0).read_config(4).silent();
            assert_eq!(good.execute(register.clone()).await?.reads, [0, 0]);
            assert_eq!(bad.execute(register).await?.reads, [0, 1]);
            Ok::<(), Error>(())
        })
        .expect("works");
    }
}

#[test]
fn more_reads_than_any_buffer() {
    // On a busy machine the megabytes of one cycle come with gaps: how long they may take is another test's matter.
    let patient = ServerConfig { cycle_timeout: Duration::from_secs(20), ..config() };
    let server = serve(Memory::new(0, 4096), patient);
    block_on(async {
        // A datagram of the longest record, and a stream cycle of 1.6 MB each way.
        let mut client = open(&udp(&server))?;
        let reads = client.execute(Cycle::new().reads((0..255).map(|i| 4 * i)).silent()).await?;
        assert_eq!(reads.reads.len(), 255);
        let mut client = open(&tcp(&server))?;
        client.write(0x20, 7).await?;
        let reads = client.execute(Cycle::new().read_fifo(0x20, 400_000)).await?.reads;
        assert_eq!(reads.len(), 400_000);
        assert!(reads.iter().all(|value| *value == 7));
        Ok::<(), Error>(())
    })
    .expect("works");
}

#[test]
fn wide_and_mixed_widths() {
    for (address, data) in [(8, 8), (4, 8), (8, 4), (2, 1), (4, 2)] {
        let slave = SlaveConfig { widths: Widths { address, data }, ..SlaveConfig::default() };
        let server = serve(Memory::new(0, 4096), ServerConfig { slave, ..config() });
        for name in [udp(&server), tcp(&server)] {
            block_on(async {
                let mut client = open(&name)?;
                let format = client.format();
                assert_eq!((format.address as u8, format.data as u8), (address, data));
                let value = 0x0123_4567_89AB_CDEF & format.data.mask();
                client.write(0x40, value).await?;
                let narrow = Cycle::new().read(0x40).read_width(0x40, Width::W8);
                let top = value >> (8 * (format.data.bytes() - 1));
                assert_eq!(client.execute(narrow).await?.reads, [value, top]);
                Ok::<(), Error>(())
            })
            .unwrap_or_else(|error| panic!("{name} {address}/{data}: {error}"));
        }
    }
}

#[test]
fn a_reply_that_arrives_at_a_slave_is_not_executed() {
    // A plain write of 0xAAAAAAAA to address 0, as the answer to a read whose base return address
    // was 0 would be; then the same to a configuration space, as isthmus and others ask for.
    let to_bus = hex("4e6f1444 000f0100 00000000 aaaaaaaa");
    let to_config = hex("4e6f1444 0e0f0100 00008002 aaaaaaaa");
    for reply in [&to_bus, &to_config] {
        let (statistics, memory) = dropped(SlaveConfig::default(), reply);
        assert_eq!((statistics.slave.replies_dropped, statistics.slave.operations), (1, 0));
        assert_eq!(memory, [0; 64]);
    }
    // Where pushed writes are wanted, they are executed.
    let pushed = SlaveConfig { accept_replies: true, ..SlaveConfig::default() };
    let (_, memory) = dropped(pushed, &to_bus);
    assert_eq!(memory[..4], [0xAA; 4]);
    // A request for writes alone, as every master sends it, is not a reply.
    let (_, memory) = dropped(SlaveConfig::default(), &hex("4e6f1444 a80f0100 00000000 aaaaaaaa"));
    assert_eq!(memory[..4], [0xAA; 4]);
    // Nor is the answer to a probe a probe.
    let (statistics, _) = dropped(SlaveConfig::default(), &hex("4e6f1644 00000001"));
    assert_eq!(statistics.slave.replies_dropped, 1);
}

#[test]
fn a_standard_probe_to_either_dialect() {
    let server = memory();
    let answer = ask(&raw(server.udp_addresses()[0]), &hex(PROBE));
    assert_eq!(answer, Some(hex("4e6f1644 00000005")));
    let (statistics, _) = dropped(lite(), &hex(PROBE));
    assert_eq!((statistics.slave.foreign, statistics.slave.probes), (1, 1));
    let (statistics, _) = dropped(SlaveConfig::default(), &hex(LITE_PROBE));
    assert_eq!((statistics.slave.foreign, statistics.slave.probes), (1, 1));
}

#[test]
fn a_frame_of_the_other_dialect_changes_nothing() {
    let ohwr = hex("4e6f1044 e80f0100 00000000 aaaaaaaa");
    let lite_eth = hex("4e6f1044 00000000 000f0100 00000000 aaaaaaaa");
    for (config, frame) in [(lite(), &ohwr), (SlaveConfig::default(), &lite_eth)] {
        let (statistics, memory) = dropped(config, frame);
        assert_eq!((statistics.slave.foreign, statistics.slave.operations), (1, 0));
        assert_eq!(memory, [0; 64]);
    }
    let (_, memory) = dropped(lite(), &lite_eth);
    assert_eq!(memory[..4], [0xAA; 4], "its own dialect");
}

#[test]
fn two_packets_too_close() {
    // As many as the sender's system takes at once, none lost and none answered twice.
    for (slave, request) in [
        (SlaveConfig::default(), hex("4e6f1044 a80f0001 00008002 00000004")),
        (lite(), hex("4e6f1044 00000000 000f0001 00000009 00000004")),
    ] {
        let server = serve(Memory::new(0, 64), ServerConfig { slave, ..config() });
        let socket = raw(server.udp_addresses()[0]);
        let before = ask(&socket, &request).expect("answers");
        for _ in 0..20 {
            for _ in 0..50 {
                socket.send(&request).expect("sends");
            }
            for _ in 0..50 {
                let mut buffer = [0; 2048];
                let length = socket.recv(&mut buffer).expect("answers each");
                assert_eq!(buffer[..length], before);
            }
        }
        assert_eq!(server.stop().expect("runs").statistics().slave.records, 1001);
    }
}

#[test]
fn hosts_whose_addresses_begin_alike_are_not_one() {
    // A comparison of addresses as text ends at the first zero: 127.0.0.1 is then 127.0.77.1.
    let server = serve(
        Memory::new(0, 64),
        ServerConfig { udp: vec!["0.0.0.0:0".parse().expect("an address")], ..config() },
    );
    let port = server.udp_addresses()[0].port();
    let at = |host: &str| {
        let socket = UdpSocket::bind((host, 0)).expect("any address of 127/8 is this host's");
        socket.set_read_timeout(Some(Duration::from_secs(2))).expect("sets");
        socket
    };
    let (one, other) = (at("127.0.0.1"), at("127.0.77.1"));
    let mut buffer = [0; 64];
    for round in 0..10u8 {
        for (number, socket) in [&one, &other].into_iter().enumerate() {
            let probe = [0x4E, 0x6F, 0x11, 0xFF, 0, 0, number as u8, round];
            socket.send_to(&probe, ("127.0.0.1", port)).expect("sends");
        }
        for (number, socket) in [&one, &other].into_iter().enumerate() {
            let (length, _) = socket.recv_from(&mut buffer).expect("answers");
            assert_eq!(buffer[..length], [0x4E, 0x6F, 0x16, 0x44, 0, 0, number as u8, round]);
        }
    }
    // And a client takes nothing from a host that is not its device.
    let device = at("127.0.0.1");
    let address = device.local_addr().expect("bound");
    let stranger = at("127.0.77.1");
    let thread = std::thread::spawn(move || {
        let (_, client) = device.recv_from(&mut [0; 64]).expect("the probe");
        let reply = |id: u8, widths: u8| [0x4E, 0x6F, 0x16, widths, 0, 0, 0, id];
        stranger.send_to(&reply(1, 0x88), client).expect("sends");
        std::thread::sleep(Duration::from_millis(100));
        device.send_to(&reply(1, 0x44), client).expect("sends");
    });
    let client = open(&address.to_string()).expect("the device answers");
    assert_eq!(client.format().data, Width::W32, "the stranger offered 64 bit");
    thread.join().expect("answered");
}

#[test]
fn zero_words_are_empty_records() {
    let server = memory();
    let socket = raw(server.udp_addresses()[0]);
    let padded = "4e6f1044 00000000 00000000 a80f0001 00008002 00000004 00000000";
    let answer = ask(&socket, &hex(padded)).expect("answers");
    assert_eq!(answer, hex("4e6f1444 0e0f0100 00008002 00000000"));
}

#[test]
fn malformed_datagrams_are_dropped_whole() {
    for frame in [
        "",
        "4e",
        "4e6f",
        "ffff1044",
        "4e6f2044 a80f0100 00000000 aaaaaaaa",
        "4e6f104c a80f0100 00000000 aaaaaaaa",
        "4e6f1044 a80f0200 00000000 aaaaaaaa",
        "4e6f1044 a00f0100 00000000 aaaaaaaa a80f0001 00008000",
        "4e6f1144 00",
        "4e6f1088",
    ] {
        let (statistics, memory) = dropped(SlaveConfig::default(), &hex(frame));
        assert_eq!((statistics.slave.malformed, statistics.slave.operations), (1, 0), "{frame}");
        assert_eq!(memory, [0; 64]);
    }
}

/// Whether the other side closes the connection, within two seconds.
fn closes(socket: &mut TcpStream) -> bool {
    socket.set_read_timeout(Some(Duration::from_secs(2))).expect("sets");
    loop {
        match socket.read(&mut [0; 64]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn a_stream_that_breaks_the_rules_is_closed() {
    let server = memory();
    for bytes in [
        LITE_PROBE,
        "4e6f1044 a80f0001",
        "4e6f1644 00000000",
        "4e6f1180 00000000",
        "47455420 2f20485454502f312e31",
    ] {
        let mut socket = TcpStream::connect(server.tcp_addresses()[0]).expect("connects");
        socket.write_all(&hex(bytes)).expect("sends");
        // The first 8 bytes of LiteEth's probe are a probe; the rest is an empty record.
        assert_eq!(closes(&mut socket), bytes != LITE_PROBE, "{bytes}");
    }
}

#[test]
fn only_allowed_hosts_are_served() {
    let allow = vec!["192.0.2.0/24".parse().expect("a network")];
    let server = serve(Memory::new(0, 64), ServerConfig { allow, ..config() });
    assert!(matches!(open(&udp(&server)), Err(Error::NoDevice { .. })));
    assert!(open(&tcp(&server)).is_err());
    assert_eq!(server.stop().expect("runs").statistics().not_allowed, 3);
    let allow =
        vec!["192.0.2.0/24".parse().expect("a network"), "127.0.0.0/8".parse().expect("a network")];
    let server = serve(Memory::new(0, 64), ServerConfig { allow, ..config() });
    assert!(open(&udp(&server)).is_ok() && open(&tcp(&server)).is_ok());
}

#[test]
fn connections_are_bounded_and_idle_ones_end() {
    let idle_timeout = Duration::from_millis(300);
    let config = ServerConfig { max_connections: 2, idle_timeout, ..config() };
    let server = serve(Memory::new(0, 64), config);
    let _first = open(&tcp(&server)).expect("one");
    let mut second = TcpStream::connect(server.tcp_addresses()[0]).expect("two");
    assert!(open(&tcp(&server)).is_err(), "three");
    assert!(closes(&mut second), "idle");
    open(&tcp(&server)).expect("there is room again");
    let statistics = server.stop().expect("runs").statistics();
    assert_eq!(statistics.too_many, 1);
    assert!(statistics.idle >= 1);
}

/// Connections that never say a word, and one that stops in the middle of its probe.
#[test]
fn silent_connections_lock_nobody_out() {
    let probe_timeout = Duration::from_secs(1);
    let server = serve(Memory::new(0, 64), ServerConfig { probe_timeout, ..config() });
    let mut kept = open(&tcp(&server)).expect("probes at once");
    let mut silent: Vec<TcpStream> = (0..40)
        .map(|_| TcpStream::connect(server.tcp_addresses()[0]).expect("the system accepts"))
        .collect();
    silent[0].write_all(&hex("4e6f11")).expect("sends");
    let started = Instant::now();
    while open(&tcp(&server)).is_err() {
        assert!(started.elapsed() < Duration::from_secs(60), "locked out");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(silent.iter_mut().all(closes));
    block_on(kept.write(0, 1)).expect("a connection that probed has the longer limit");
    assert_eq!(server.stop().expect("runs").statistics().unprobed, 15);
}

/// Ten hours of waiting are as good as for ever, and no arithmetic overflows.
#[test]
fn no_silence_is_too_long_to_wait_for() {
    let server = memory();
    let name = format!("udp/127.0.0.1/{}", server.udp_addresses()[0].port());
    let (sender, found) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(discover(&name, Dialect::Ohwr, Duration::MAX)));
    // It still waits, instead of having panicked.
    let ended = found.recv_timeout(Duration::from_millis(500));
    assert_eq!(ended.err(), Some(std::sync::mpsc::RecvTimeoutError::Timeout));
}

/// Where the process has no descriptor left for a connection, the server neither spins nor ends.
#[test]
fn without_descriptors_the_listener_pauses() {
    use std::process::Command;
    let program = std::env::current_exe().expect("a test");
    let done = Command::new("sh")
        .args([
            "-c",
            "ulimit -n 64; exec \"$0\" --exact --ignored --nocapture starved_of_descriptors",
        ])
        .arg(program)
        .output()
        .expect("runs");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
#[ignore = "needs a limit on descriptors: the test above starts it with one"]
fn starved_of_descriptors() {
    let server = serve(Memory::new(0, 64), config());
    let mut client = open(&udp(&server)).expect("answers");
    let waiting = TcpStream::connect(server.tcp_addresses()[0]).expect("one");
    std::thread::sleep(Duration::from_millis(100));
    let mut files = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        files.push(file);
    }
    // One is free: the socket of a connection that cannot be accepted.
    files.pop();
    let refused = TcpStream::connect(server.tcp_addresses()[0]).expect("the system accepts");
    let busy = processor_time();
    std::thread::sleep(Duration::from_millis(500));
    let busy = processor_time() - busy;
    assert!(busy < Duration::from_millis(200), "{busy:?} of 500 ms");
    block_on(client.write(0, 1)).expect("datagrams are served");
    files.clear();
    drop(waiting);
    open(&tcp(&server)).expect("connections are served again");
    drop(refused);
    assert!(server.stop().expect("runs").statistics().no_descriptor > 0);
}

/// Processor time of this process.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Records whose cycle each operation was in.
type Events = Arc<Mutex<Vec<BusEvent>>>;

fn recorded() -> (Events, impl Bus + Send + 'static) {
    let events = Events::default();
    let seen = Arc::clone(&events);
    let tell = move |event: &BusEvent| seen.lock().expect("no panic").push(*event);
    (events, Snoop::new(Memory::new(0, 4096), tell))
}

#[test]
fn a_held_cycle_line_keeps_others_out() {
    let (events, bus) = recorded();
    let cycle_timeout = Duration::from_secs(5);
    let server = serve(bus, ServerConfig { cycle_timeout, ..config() });
    let mut holder = TcpStream::connect(server.tcp_addresses()[0]).expect("connects");
    // A write without CYC: the line stays up until the second one.
    holder.write_all(&hex("4e6f1144 00000001 a00f0100 00000000 00000001")).expect("sends");
    holder.read_exact(&mut [0; 8]).expect("the probe's answer");
    let name = udp(&server);
    let other = std::thread::spawn(move || {
        let mut client = open(&name).expect("opens");
        block_on(client.write(4, 2)).expect("writes");
    });
    std::thread::sleep(Duration::from_millis(100));
    holder.write_all(&hex("a80f0100 00000008 00000003")).expect("sends");
    other.join().expect("had its turn");
    drop(server.stop().expect("runs"));
    let events = events.lock().expect("no panic");
    let order: Vec<u64> = events
        .iter()
        .filter_map(|event| match event {
            BusEvent::Write { address, .. } => Some(*address),
            _ => None,
        })
        .collect();
    assert_eq!(order, [0, 8, 4]);
    let peers = events.iter().filter(|e| matches!(e, BusEvent::Begin(Peer::Tcp(_)))).count();
    assert_eq!(peers, 1, "one cycle, not two: {events:?}");
}

#[test]
fn a_cycle_line_held_too_long_falls() {
    let server = serve(
        Memory::new(0, 64),
        ServerConfig { cycle_timeout: Duration::from_millis(100), ..config() },
    );
    let mut holder = TcpStream::connect(server.tcp_addresses()[0]).expect("connects");
    holder.write_all(&hex("4e6f1144 00000001 a00f0100 00000000 00000001")).expect("sends");
    holder.read_exact(&mut [0; 8]).expect("the probe's answer");
    let started = Instant::now();
    block_on(open(&udp(&server)).expect("opens").write(4, 2)).expect("writes");
    assert!(started.elapsed() < Duration::from_secs(30));
    assert!(closes(&mut holder));
    assert_eq!(server.stop().expect("runs").statistics().line_held, 1);
}

#[test]
fn a_snooping_bus_names_every_operation() {
    let (events, bus) = recorded();
    let server = serve(bus, config());
    let mut client = open(&udp(&server)).expect("opens");
    let cycle = Cycle::new().write(0x10, 0xCAFE).read_width(0x11, Width::W8).read(0x9000);
    let _ = block_on(client.execute(cycle));
    drop(server.stop().expect("runs"));
    let lines: Vec<String> =
        events.lock().expect("no panic").iter().map(ToString::to_string).collect();
    assert!(lines[0].starts_with("cycle by udp/127.0.0.1/"), "{lines:?}");
    assert_eq!(
        lines[1..],
        [
            "write 0x00000010/1111 0x0000cafe",
            "read  0x00000011/0100 0x0000cafe",
            "read  0x00009000/1111 bus error",
            "end of cycle"
        ]
        .map(|line| line.replace("0x00000011", "0x00000010"))
    );
}

#[test]
fn discovery_lists_who_answers() {
    let server = memory();
    let wait = Duration::from_millis(300);
    let found = discover(&udp(&server), Dialect::Ohwr, wait).expect("probes");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].address, found[0].widths), (server.udp_addresses()[0], Widths::W32));
    let unused = UdpSocket::bind("127.0.0.1:0").and_then(|s| s.local_addr()).expect("loopback");
    assert_eq!(discover(&unused.to_string(), Dialect::Ohwr, wait).expect("probes"), []);
    let error = discover("tcp/127.0.0.1", Dialect::Ohwr, wait).expect_err("no").to_string();
    assert_eq!(error, "tcp/127.0.0.1/60368 cannot be probed, only udp can");
}

/// A bus that only counts.
#[derive(Default)]
struct Count(u64);

impl Bus for Count {
    fn read(&mut self, _: u64, _: Width, _: u8) -> Result<u64, BusFault> {
        self.0 += 1;
        Ok(0)
    }
    fn write(&mut self, _: u64, _: Width, _: u8, _: u64) -> Result<(), BusFault> {
        self.0 += 1;
        Ok(())
    }
}

#[test]
fn peers_are_forgotten_before_memory_grows() {
    let config = ServerConfig { max_peers: 4, ..config() };
    let server = serve(Count::default(), config);
    for _ in 0..32 {
        let mut client = open(&udp(&server)).expect("opens");
        block_on(client.write(0, 0)).expect("writes");
    }
    assert_eq!(server.stop().expect("runs").bus().0, 32);
}

/// Real sockets and long runs: fewer cases than elsewhere, still scaled by `PROPTEST_CASES`.
fn fewer() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: config.cases.div_ceil(6), ..config }
}

proptest! {
    #![proptest_config(fewer())]

    /// Whatever arrives at either port in either dialect, the server lives and serves.
    #[test]
    fn garbage_never_stops_the_server(
        lite_eth in any::<bool>(),
        frames in prop::collection::vec((0u8..4, prop::collection::vec(any::<u8>(), 0..120)), 1..20),
    ) {
        let slave = if lite_eth { lite() } else { SlaveConfig::default() };
        let server = serve(Count::default(), ServerConfig { slave, ..config() });
        let socket = raw(server.udp_addresses()[0]);
        let mut stream = TcpStream::connect(server.tcp_addresses()[0]).expect("connects");
        for (kind, noise) in frames {
            let start = match kind {
                0 => "",
                1 => "4e6f1044",
                2 => "4e6f104400000000",
                _ => PROBE,
            };
            let frame = [hex(start), noise].concat();
            socket.send(&frame).expect("sends");
            // A closed connection takes no more.
            let _ = stream.write_all(&frame);
        }
        let probe = hex(if lite_eth { LITE_PROBE } else { PROBE });
        socket.send(&probe).expect("sends");
        let mut buffer = [0; 65536];
        loop {
            let length = socket.recv(&mut buffer).expect("the probe's answer comes last");
            if length == probe.len() && buffer[4..8] == probe[4..8] {
                break;
            }
        }
        server.stop().expect("runs");
    }
}
