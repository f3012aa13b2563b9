// SPDX-License-Identifier: Apache-2.0
//! Random and mutated frames at the software slave and at the client, in both dialects: nothing
//! panics, nothing malformed is executed, no wrong value is taken, and whatever is valid is answered
//! afterwards. `PROPTEST_CASES` sets how many.

use isthmus_host::etherbone::wire::{Flags, Message, Record};
use isthmus_host::etherbone::{
    Client, ClientConfig, Cycle, Dialect, Error, Format, Memory, SlaveConfig, SoftSlave, Widths,
};
use isthmus_host::transport::{Kind, Transport, TransportError, block_on};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::time::Duration;

const SIZE: usize = 256;

fn dialect() -> impl Strategy<Value = Dialect> {
    prop_oneof![Just(Dialect::Ohwr), Just(Dialect::LiteEth)]
}

/// A message as a master sends it, more often inside the memory than outside.
fn message(dialect: Dialect) -> impl Strategy<Value = Message> {
    let address = prop_oneof![4 => (0u64..SIZE as u64 / 4).prop_map(|w| 4 * w), 1 => 0..1u64 << 32];
    let flags = prop_oneof![
        3 => Just(Flags(0xA8)), 1 => Just(Flags(0)), 1 => Just(Flags(0xE8)), 1 => any::<u8>().prop_map(Flags),
    ];
    let enable = prop_oneof![3 => Just(0xFu8), 1 => any::<u8>()];
    let writes = prop::collection::vec(0..1u64 << 32, 0..6);
    let reads = prop::collection::vec(address.clone(), 0..6);
    let record = (flags, enable, address, writes, 0x8000u64..0x9000, reads).prop_map(
        |(flags, byte_enable, base, writes, back, reads)| Record {
            flags,
            byte_enable,
            write_base: if writes.is_empty() { 0 } else { base },
            return_base: if reads.is_empty() { 0 } else { back },
            writes,
            reads,
        },
    );
    let most = if dialect == Dialect::Ohwr { 4 } else { 2 };
    let data = (prop::collection::vec(record, 1..most), any::<bool>())
        .prop_map(|(records, no_reads)| Message::Data { no_reads, format: Format::W32, records });
    prop_oneof![
        1 => any::<u32>().prop_map(|id| Message::Probe { widths: Widths::ANY, id }),
        1 => any::<u32>().prop_map(|id| Message::ProbeReply { widths: Widths::W32, id }),
        8 => data,
    ]
}

/// One change to a frame.
#[derive(Debug, Clone)]
enum Mutation {
    Flip(prop::sample::Index, u8),
    Byte(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Extend(Vec<u8>),
    /// Some of it twice.
    Repeat(prop::sample::Index),
    SwapWords(prop::sample::Index, prop::sample::Index),
    /// A word of zeros in it, or one less.
    Insert(prop::sample::Index),
    Remove(prop::sample::Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), 0u8..8).prop_map(|(at, bit)| Mutation::Flip(at, bit)),
        (at(), any::<u8>()).prop_map(|(at, byte)| Mutation::Byte(at, byte)),
        at().prop_map(Mutation::Cut),
        prop::collection::vec(any::<u8>(), 1..24).prop_map(Mutation::Extend),
        at().prop_map(Mutation::Repeat),
        (at(), at()).prop_map(|(a, b)| Mutation::SwapWords(a, b)),
        at().prop_map(Mutation::Insert),
        at().prop_map(Mutation::Remove),
    ]
}

fn mutate(frame: &mut Vec<u8>, mutations: &[Mutation]) {
    for mutation in mutations {
        if frame.is_empty() {
            return;
        }
        let words = frame.len() / 4;
        match mutation {
            Mutation::Flip(at, bit) => *at.get_mut(frame) ^= 1 << bit,
            Mutation::Byte(at, byte) => *at.get_mut(frame) = *byte,
            Mutation::Cut(at) => frame.truncate(at.index(frame.len())),
            Mutation::Extend(bytes) => frame.extend(bytes),
            Mutation::Repeat(at) => frame.extend_from_within(at.index(frame.len())..),
            Mutation::SwapWords(a, b) if words > 0 => {
                let (a, b) = (4 * a.index(words), 4 * b.index(words));
                (0..4).for_each(|byte| frame.swap(a + byte, b + byte));
            }
            Mutation::Insert(at) => {
                let at = at.index(frame.len());
                frame.splice(at..at, [0; 4]);
            }
            Mutation::Remove(at) if words > 0 => {
                let at = 4 * at.index(words);
                frame.drain(at..at + 4);
            }
            Mutation::SwapWords(..) | Mutation::Remove(_) => {}
        }
    }
}

/// A frame of some dialect, mutated or not, or mere noise.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let made = dialect().prop_flat_map(|dialect| {
        let mutations = prop::collection::vec(mutation(), 0..4);
        (message(dialect), mutations).prop_map(move |(message, mutations)| {
            let mut bytes = Vec::new();
            dialect.codec().encode(&message, &mut bytes).expect("in range");
            mutate(&mut bytes, &mutations);
            bytes
        })
    });
    prop_oneof![9 => made, 1 => prop::collection::vec(any::<u8>(), 0..100)]
}

fn slave(dialect: Dialect) -> SoftSlave<Memory> {
    let config = SlaveConfig { dialect, ..SlaveConfig::default() };
    SoftSlave::with_config(Memory::new(0, SIZE), config)
}

fn ask(slave: &mut SoftSlave<Memory>, dialect: Dialect, record: Record) -> Option<Message> {
    let message = Message::Data { no_reads: false, format: Format::W32, records: vec![record] };
    let mut bytes = Vec::new();
    dialect.codec().encode(&message, &mut bytes).expect("in range");
    slave.datagram(&bytes).map(|reply| dialect.codec().decode(&reply).expect("whole"))
}

/// Writes a word, reads it and its neighbour back, and probes.
fn still_answers(slave: &mut SoftSlave<Memory>, dialect: Dialect) -> Result<(), TestCaseError> {
    let flags = if dialect == Dialect::Ohwr { Flags(0xA8) } else { Flags(0) };
    let neighbour = slave.bus().bytes()[0x44..0x48].iter().fold(0, |v, b| v << 8 | u64::from(*b));
    let record = Record {
        flags,
        byte_enable: 0xF,
        write_base: 0x40,
        writes: vec![0xCAFE_F00D],
        return_base: 0x8123,
        reads: vec![0x40, 0x44],
    };
    let Some(Message::Data { records, .. }) = ask(slave, dialect, record) else {
        return Err(TestCaseError::fail("no reply"));
    };
    prop_assert_eq!(records.len(), 1);
    prop_assert_eq!(records[0].write_base, 0x8123);
    prop_assert_eq!(&records[0].writes, &[0xCAFE_F00D, neighbour]);
    let mut probe = Vec::new();
    let message = Message::Probe { widths: Widths::W32, id: 77 };
    dialect.codec().encode(&message, &mut probe).expect("fits");
    let reply = slave.datagram(&probe).map(|reply| dialect.codec().decode(&reply));
    prop_assert_eq!(reply, Some(Ok(Message::ProbeReply { widths: Widths::W32, id: 77 })));
    Ok(())
}

/// The device behind a network that adds to each reply, in front of it, frames that others made.
struct Noisy {
    slave: SoftSlave<Memory>,
    noise: VecDeque<(Option<Vec<Mutation>>, Vec<u8>)>,
    arriving: VecDeque<Vec<u8>>,
    now: Duration,
    quiet: bool,
}

/// The words of a reply with where they go; nothing of one that is not whole.
fn words(dialect: Dialect, frame: &[u8]) -> Vec<(u64, u64)> {
    let Ok(Message::Data { records, .. }) = dialect.codec().decode(frame) else {
        return Vec::new();
    };
    let word = |record: Record| {
        let base = record.write_base;
        record.writes.into_iter().map(move |value| (base, value))
    };
    let reply = |record: &Record| {
        record.reads.is_empty() && (dialect == Dialect::LiteEth || record.flags.has(Flags::WCA))
    };
    // A session's stamp says which datagram is answered; what it says is not a value.
    let stamp = |(base, _): &(u64, u64)| dialect == Dialect::Ohwr && *base == 0x7F00;
    records.into_iter().filter(reply).flat_map(word).filter(|word| !stamp(word)).collect()
}

impl Transport for Noisy {
    fn kind(&self) -> Kind {
        Kind::Datagram
    }
    fn now(&self) -> Duration {
        self.now
    }
    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        let reply = self.slave.datagram(message);
        let probe = message[2] & 1 == 1;
        if let (Some((mutations, mut frame)), false) = (self.noise.pop_front(), self.quiet || probe)
        {
            match (mutations, &reply) {
                // This very reply, changed where a receiver can tell: other values in a right frame
                // are what checksums are for.
                (Some(mutations), Some(reply)) => {
                    frame = reply.clone();
                    mutate(&mut frame, &mutations);
                    let dialect = self.slave.config().dialect;
                    let right = words(dialect, reply);
                    let changed = words(dialect, &frame);
                    // A receiver takes the first values of an address, whatever follows them.
                    let taken = |base: u64, words: &[(u64, u64)], count: usize| {
                        let of_base = words.iter().filter(|word| word.0 == base);
                        of_base.take(count).map(|word| word.1).collect::<Vec<_>>()
                    };
                    if right.iter().any(|&(base, _)| {
                        let values = taken(base, &right, usize::MAX);
                        let others = taken(base, &changed, values.len());
                        others.len() == values.len() && others != values
                    }) {
                        frame.clear();
                    }
                }
                // The request itself, as a mirror sends it back.
                (Some(_), None) => frame = message.to_vec(),
                (None, _) => {}
            }
            self.arriving.push_back(frame);
        }
        self.arriving.extend(reply);
        Ok(())
    }
    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        let Some(frame) = self.arriving.pop_front() else {
            self.now = self.now.max(deadline);
            return Err(TransportError::TimedOut);
        };
        buffer[..frame.len()].copy_from_slice(&frame);
        Ok(frame.len())
    }
}

/// What is found is printed, and kept in no file.
fn cases() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    /// Only frames that are whole change anything, and a valid request is answered behind each.
    #[test]
    fn the_software_slave(dialect in dialect(), frames in prop::collection::vec(frame(), 1..20)) {
        let mut slave = slave(dialect);
        for frame in frames {
            let (before, counted) = (slave.bus().bytes().to_vec(), slave.statistics());
            let reply = slave.datagram(&frame);
            let read = dialect.codec().decode(&frame);
            if read.is_err() {
                prop_assert!(reply.is_none(), "{:02x?} answers {:02x?}", reply, frame);
                prop_assert_eq!(slave.bus().bytes(), &before[..]);
                prop_assert_eq!(slave.statistics().operations, counted.operations);
            }
            if let Some(reply) = reply {
                let answer = dialect.codec().decode(&reply);
                prop_assert!(answer.is_ok(), "{:02x?} answers {:?}", reply, answer);
                // An answer never makes somebody else answer: no storm between two slaves.
                if dialect == Dialect::Ohwr {
                    prop_assert_eq!(self::slave(dialect).datagram(&reply), None);
                }
            }
            still_answers(&mut slave, dialect)?;
        }
    }

    /// A stream that is broken stays silent; another master of the same kind is served.
    #[test]
    fn the_software_slave_on_a_stream(frames in prop::collection::vec(frame(), 1..8), cut in 1usize..64) {
        let mut slave = slave(Dialect::Ohwr);
        slave.stream(&[0x4E, 0x6F, 0x11, 0x44, 0, 0, 0, 1]);
        for frame in frames {
            for piece in frame.get(4..).unwrap_or_default().chunks(cut) {
                slave.stream(piece);
            }
        }
        still_answers(&mut slave, Dialect::Ohwr)?;
    }

    /// Whatever else arrives, a value is right or there is an error; and then all is well again.
    #[test]
    fn the_client(
        dialect in dialect(),
        retries in 0u32..3,
        noise in prop::collection::vec(
            (prop::option::of(prop::collection::vec(mutation(), 1..4)), frame()), 1..24),
    ) {
        let mut device = slave(dialect);
        let fill = (0..SIZE as u64 / 4).map(|word| 0xF0F0_F000 | word).collect::<Vec<_>>();
        let flags = if dialect == Dialect::Ohwr { Flags(0xA8) } else { Flags(0) };
        ask(&mut device, dialect, Record { flags, byte_enable: 0xF, writes: fill, ..Record::default() });
        let rounds = noise.len() as u64;
        let network = Noisy {
            slave: device, noise: noise.into(), arriving: VecDeque::new(), now: Duration::ZERO, quiet: false,
        };
        let config = match dialect {
            Dialect::Ohwr => ClientConfig::default(),
            Dialect::LiteEth => ClientConfig::lite_eth(),
        };
        let result = block_on(async {
            let mut client = Client::connect(network, ClientConfig { retries, ..config }).await?;
            // From here on no number in flight is one that a master's own writes go to.
            client.transport().quiet = true;
            client.read(0).await?;
            client.transport().quiet = false;
            for round in 0..rounds {
                let address = |i: u64| 4 * ((7 * round + i) % (SIZE as u64 / 4));
                let cycle = Cycle::new().reads((0..=round % 5).map(address));
                let expected: Vec<_> = (0..=round % 5).map(|i| 0xF0F0_F000 + address(i) / 4).collect();
                match client.execute(if round % 2 == 0 { cycle.silent() } else { cycle }).await {
                    Ok(reply) => assert_eq!(reply.reads, expected),
                    Err(Error::Reply { .. } | Error::Bus { .. } | Error::TimedOut { .. }) => {}
                    Err(other) => return Err(other),
                }
            }
            client.transport().quiet = true;
            client.transport().arriving.clear();
            let reply = client.execute(Cycle::new().reads([0, 4, 8])).await?;
            assert_eq!(reply.reads, [0xF0F0_F000, 0xF0F0_F001, 0xF0F0_F002]);
            Ok::<(), Error>(())
        });
        prop_assert!(result.is_ok(), "{:?}", result);
    }
}
