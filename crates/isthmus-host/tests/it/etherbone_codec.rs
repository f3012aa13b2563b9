// SPDX-License-Identifier: Apache-2.0
//! Properties of the Etherbone codec: what is written is read back; any bytes give a value or an
//! error; what a slave or a client is sent never brings it down.

use isthmus_host::etherbone::wire::{Codec, Flags, LiteCodec, Message, OhwrCodec, Record};
use isthmus_host::etherbone::{
    Bus, BusFault, Client, ClientConfig, Cycle, Dialect, Format, Memory, SlaveConfig, SoftSlave,
    Width, Widths,
};
use isthmus_host::transport::{Kind, Transport, TransportError, block_on};
use proptest::prelude::*;
use std::collections::HashSet;
use std::time::Duration;

fn width() -> impl Strategy<Value = Width> {
    prop::sample::select(Width::ALL.to_vec())
}

fn record(format: Format) -> impl Strategy<Value = Record> {
    let values = move |width: Width| {
        prop::collection::vec(any::<u64>().prop_map(move |v| v & width.mask()), 0..8)
    };
    (
        any::<u8>(),
        any::<u8>(),
        any::<u64>(),
        values(format.data),
        any::<u64>(),
        values(format.address),
    )
        .prop_map(move |(flags, byte_enable, write_base, writes, return_base, reads)| Record {
            flags: Flags(flags),
            byte_enable,
            // Bases stand on the wire only with their values.
            write_base: if writes.is_empty() { 0 } else { write_base & format.address.mask() },
            return_base: if reads.is_empty() { 0 } else { return_base & format.address.mask() },
            writes,
            reads,
        })
}

fn message() -> impl Strategy<Value = Message> {
    let widths = (0u8..16, 0u8..16).prop_map(|(address, data)| Widths { address, data });
    let data = (width(), width(), any::<bool>()).prop_flat_map(|(address, data, no_reads)| {
        let format = Format { address, data };
        prop::collection::vec(record(format), 0..6).prop_map(move |records| Message::Data {
            no_reads,
            format,
            records,
        })
    });
    prop_oneof![
        (widths.clone(), any::<u32>()).prop_map(|(widths, id)| Message::Probe { widths, id }),
        (widths, any::<u32>()).prop_map(|(widths, id)| Message::ProbeReply { widths, id }),
        data,
    ]
}

/// Bytes that begin like Etherbone often enough to get past the header.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let tail = prop::collection::vec(any::<u8>(), 0..80);
    let starts = vec![0x1044u16, 0x1088, 0x1022, 0x1144, 0x1644, 0x1444];
    (prop::option::of(prop::sample::select(starts)), tail).prop_map(|(start, tail)| match start {
        Some(start) => {
            let [a, b] = start.to_be_bytes();
            [&[0x4E, 0x6F, a, b], tail.as_slice()].concat()
        }
        None => tail,
    })
}

/// A bus that sees whether a value is written again.
#[derive(Default)]
struct Once {
    seen: HashSet<u64>,
    twice: bool,
}

impl Bus for Once {
    fn read(&mut self, _: u64, _: Width, _: u8) -> Result<u64, BusFault> {
        Err(BusFault)
    }
    fn write(&mut self, _: u64, _: Width, _: u8, data: u64) -> Result<(), BusFault> {
        self.twice |= !self.seen.insert(data);
        Ok(())
    }
}

/// Answers the probe, then answers everything with the same bytes.
struct Hostile {
    answer: Vec<u8>,
    replies: Vec<Vec<u8>>,
    now: Duration,
}

impl Transport for Hostile {
    fn kind(&self) -> Kind {
        Kind::Datagram
    }
    fn now(&self) -> Duration {
        self.now
    }
    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        // A probe of either dialect.
        if message[2] & 1 == 1 {
            let mut reply = vec![0x4E, 0x6F, 0x16, 0x44];
            reply.extend_from_slice(&message[4..]);
            self.replies.push(reply);
        } else {
            self.replies.push(self.answer.clone());
        }
        Ok(())
    }
    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        let Some(reply) = self.replies.pop() else {
            self.now = deadline;
            return Err(TransportError::TimedOut);
        };
        buffer[..reply.len()].copy_from_slice(&reply);
        Ok(reply.len())
    }
}

proptest! {
    #[test]
    fn round_trip(message in message()) {
        let mut bytes = Vec::new();
        OhwrCodec.encode(&message, &mut bytes).expect("in range");
        prop_assert_eq!(OhwrCodec.decode(&bytes).expect("readable"), message);
    }

    #[test]
    fn lite_eth_round_trip(record in record(Format::W32), no_reads in any::<bool>()) {
        let message = Message::Data { no_reads, format: Format::W32, records: vec![record] };
        let mut bytes = Vec::new();
        LiteCodec.encode(&message, &mut bytes).expect("in range");
        prop_assert_eq!(LiteCodec.decode(&bytes).expect("readable"), message);
        // In front of it stands what no other dialect's frame has there, a zero word.
        prop_assert_eq!(&bytes[4..8], &[0; 4]);
    }

    /// A slave that has a session stays whole whatever follows, and repeats nothing.
    #[test]
    fn any_stamp_executes_at_most_once(
        stamps in prop::collection::vec((0u32..3, 0u32..70, 0u32..70), 1..60),
    ) {
        let mut slave = SoftSlave::new(Once::default());
        for (nonce, number, oldest) in stamps {
            let mut request = vec![0x4E, 0x6F, 0x10, 0x44, 0xA4, 0xF, 3, 0, 0, 0, 0x7F, 0];
            for word in [nonce, number, oldest] {
                request.extend(word.to_be_bytes());
            }
            request.extend([0xA8, 0xF, 1, 0, 0, 0, 0, 0]);
            request.extend((nonce << 16 | number).to_be_bytes());
            let _ = slave.datagram(&request);
        }
        prop_assert!(!slave.bus().twice);
    }

    #[test]
    fn every_cut_is_noticed(message in message(), cut in any::<prop::sample::Index>()) {
        let mut bytes = Vec::new();
        OhwrCodec.encode(&message, &mut bytes).expect("in range");
        bytes.truncate(cut.index(bytes.len()));
        if let Ok(shorter) = OhwrCodec.decode(&bytes) {
            // Only a cut between two records leaves a message.
            let Message::Data { records: part, .. } = shorter else {
                return Err(TestCaseError::fail("a cut probe was accepted"));
            };
            let Message::Data { records: whole, .. } = message else {
                return Err(TestCaseError::fail("a cut probe became data"));
            };
            prop_assert_eq!(&whole[..part.len()], &part[..]);
        }
    }

    #[test]
    fn any_bytes_give_a_value_or_an_error(bytes in hostile()) {
        let _ = OhwrCodec.decode(&bytes);
        let _ = LiteCodec.decode(&bytes);
        let _ = SoftSlave::new(Memory::new(0, 64)).datagram(&bytes);
        let lite = SlaveConfig { dialect: Dialect::LiteEth, ..SlaveConfig::default() };
        let _ = SoftSlave::with_config(Memory::new(0, 64), lite).datagram(&bytes);
        let mut stream = SoftSlave::new(Memory::new(0, 64)).with_widths(Widths::ANY);
        let _ = stream.stream(&[0x4E, 0x6F, 0x11, 0xFF, 0, 0, 0, 1]);
        let _ = stream.stream(&bytes);
    }

    #[test]
    fn a_client_takes_no_value_from_garbage(
        answer in hostile(), retries in 0u32..3, lite in any::<bool>(),
    ) {
        let transport = Hostile { answer, replies: Vec::new(), now: Duration::ZERO };
        let config = if lite { ClientConfig::lite_eth() } else { ClientConfig::default() };
        let result = block_on(async {
            let mut client = Client::connect(transport, ClientConfig { retries, ..config }).await?;
            client.execute(Cycle::new().read(0).read(4)).await
        });
        prop_assert!(result.is_err(), "{:?}", result);
    }
}
