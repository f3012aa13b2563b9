// SPDX-License-Identifier: Apache-2.0
//! Transfers of many words with more datagrams in flight than a socket's buffer holds: nothing is
//! lost for lack of space, and a loss does not stop the others.

use isthmus_host::etherbone::{Client, ClientConfig, Cycle, Error, Memory, Server, ServerConfig};
use isthmus_host::transport::{Kind, Transport, TransportError, UdpTransport, block_on};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

const WORDS: u64 = 110;

/// Reads `cycles` times as much as a datagram brings, all submitted at once.
async fn transfer<T: Transport>(client: &mut Client<T>, cycles: usize) -> Result<(), Error> {
    let cycle = Cycle::new().reads((0..WORDS).map(|word| 4 * word)).silent();
    let mut pending = Vec::new();
    for _ in 0..cycles {
        pending.push(client.submit(&cycle)?);
    }
    client.flush().await?;
    client.settle().await?;
    for pending in pending {
        let reads = pending.take().unwrap_or(Err(Error::Dropped))?.reads;
        assert!(reads.iter().enumerate().all(|(word, value)| *value == 4 * word as u64));
    }
    Ok(())
}

fn memory() -> Memory {
    let words = (0..WORDS as u32).flat_map(|word| (4 * word).to_be_bytes());
    Memory::from_bytes(0, words.collect())
}

#[test]
fn a_window_beyond_the_socket_s_buffer_loses_nothing() {
    let config = ServerConfig::listen("127.0.0.1:0".parse().expect("an address"));
    let server = Server::bind(memory(), config).and_then(Server::spawn).expect("loopback");
    let address = server.udp_addresses()[0];
    // Datagrams of 500 bytes do not merge with those of another length: each takes its own room.
    for mtu in [500, 1472] {
        for retries in [0, 3] {
            let transport = UdpTransport::connect_socket(address).expect("connects").with_mtu(mtu);
            let config = ClientConfig {
                window: 16_384,
                retries,
                reply_timeout: Duration::from_secs(2),
                ..ClientConfig::default()
            };
            let started = Instant::now();
            let statistics = block_on(async {
                let mut client = Client::connect(transport, config).await?;
                for _ in 0..4 {
                    transfer(&mut client, 16_000).await?;
                }
                Ok::<_, Error>(client.statistics())
            })
            .unwrap_or_else(|error| panic!("mtu {mtu}, {retries} retries: {error}"));
            assert_eq!(statistics.repeated, 0, "mtu {mtu}: {statistics:?}");
            assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
        }
    }
}

/// A device with room for so many requests, that loses what comes beyond; in its own time.
struct Narrow {
    slave: isthmus_host::etherbone::SoftSlave<Memory>,
    room: usize,
    waiting: VecDeque<Vec<u8>>,
    now: Duration,
    lost: usize,
    sent: usize,
}

/// What the device takes for each request, and the way to it and back.
const SERVICE: Duration = Duration::from_micros(10);
const TIMEOUT: Duration = Duration::from_millis(100);

impl Transport for Narrow {
    fn kind(&self) -> Kind {
        Kind::Datagram
    }
    fn now(&self) -> Duration {
        self.now
    }
    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        self.sent += 1;
        match self.waiting.len() < self.room {
            true => self.waiting.push_back(message.to_vec()),
            false => self.lost += 1,
        }
        Ok(())
    }
    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        while let Some(request) = self.waiting.pop_front() {
            self.now += SERVICE;
            if let Some(reply) = self.slave.datagram(&request) {
                buffer[..reply.len()].copy_from_slice(&reply);
                return Ok(reply.len());
            }
        }
        self.now = self.now.max(deadline);
        Err(TransportError::TimedOut)
    }
}

#[test]
fn a_device_with_little_room_is_found_out_and_then_kept_busy() {
    let slave = isthmus_host::etherbone::SoftSlave::new(memory());
    let network =
        Narrow { slave, room: 20, waiting: VecDeque::new(), now: Duration::ZERO, lost: 0, sent: 0 };
    // Sessions have room for 64: three times what the device has.
    let config = ClientConfig { retries: 8, reply_timeout: TIMEOUT, ..ClientConfig::default() };
    block_on(async {
        let mut client = Client::connect(network, config).await?;
        assert!(client.has_session());
        for _ in 0..10 {
            transfer(&mut client, 4_000).await?;
        }
        let network = client.transport();
        let (sent, lost, now) = (network.sent, network.lost, network.now);
        // Without a look at losses two of three datagrams would be lost, repeatedly.
        assert!(lost * 20 < sent, "{lost} of {sent} lost");
        // What the client waited for in vain: a time-out for the last datagrams of a transfer, behind
        // which no reply tells of a loss, and for hardly any other.
        let waited = now - SERVICE * (sent - lost) as u32;
        assert!(waited < TIMEOUT * lost as u32 / 30, "{waited:?} for {lost} losses");
        Ok::<(), Error>(())
    })
    .expect("works");
}
