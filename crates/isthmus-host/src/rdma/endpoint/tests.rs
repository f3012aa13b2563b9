// SPDX-License-Identifier: Apache-2.0

use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::rdma::MAX_INLINE;
use crate::rdma::words::*;
use crate::rdma::{Fault, Key};
use crate::rdma::{LazyPosting, Posting};
use crate::transport::block_on;

const BASE: u64 = 0x1000_0000;

/// A board that gives back slots and beats, as many as it is allowed to, when they start.
#[derive(Debug, Default)]
struct Board {
    bar: std::collections::BTreeMap<u64, u64>,
    memory: Vec<u8>,
    identity: u32,
    gives_back: bool,
    starts: Vec<(usize, usize)>,
    looks: u32,
    /// Beats stored to the device, in order, with their places.
    stores: Vec<(u64, u64)>,
    clock: Duration,
    /// What the device writes to memory, and when.
    later: std::collections::VecDeque<(Duration, usize, Vec<u64>)>,
}

#[derive(Clone, Debug)]
struct Fake(Rc<RefCell<Board>>);

impl Fake {
    fn new() -> Self {
        let identity = IDENTITY;
        let (memory, gives_back) = (vec![0; 0x4000], true);
        Self(Rc::new(RefCell::new(Board { memory, identity, gives_back, ..Board::default() })))
    }

    async fn open(&self) -> Result<Endpoint<Self, Self>, RdmaError> {
        let config = EndpointConfig { host: 1, session: 9, ..EndpointConfig::default() };
        Endpoint::open(self.clone(), self.clone(), config).await
    }

    fn beat(&self, at: u64) -> u64 {
        self.0.borrow().bar.get(&at).copied().unwrap_or(0)
    }

    fn put(&self, at: usize, beats: &[u64]) {
        for (index, beat) in beats.iter().enumerate() {
            let at = at + 8 * index;
            self.0.borrow_mut().memory[at..at + 8].copy_from_slice(&beat.to_le_bytes());
        }
    }
}

impl Mmio for Fake {
    async fn read32(&mut self, at: u64) -> Result<u32, TransportError> {
        Ok(match at as u32 {
            regs::ID => self.0.borrow().identity,
            regs::VERSION => VERSION,
            regs::LIMITS => 0x14,
            // Running a look after it was enabled.
            regs::STATE => {
                let enabled = self.beat(regs::CONTROL.into()) as u32 & 1;
                let looks = self.0.borrow().looks;
                self.0.borrow_mut().looks = (looks + 1) * enabled;
                READY | u32::from(looks > 0)
            }
            _ => self.beat(at) as u32,
        })
    }

    async fn write32(&mut self, at: u64, value: u32) -> Result<(), TransportError> {
        self.0.borrow_mut().bar.insert(at, value.into());
        Ok(())
    }

    async fn write_combined(&mut self, at: u64, data: &[u8]) -> Result<(), TransportError> {
        let mut board = self.0.borrow_mut();
        let queues = offset::REQUESTS..offset::QUEUE_TABLE;
        assert!(!queues.contains(&at) || board.looks > 1, "posted before it runs");
        assert!(at.is_multiple_of(8) && data.len().is_multiple_of(8));
        for (index, bytes) in data.chunks(8).enumerate() {
            let (at, beat) = (at + 8 * index as u64, u64::from_le_bytes(bytes.try_into().unwrap()));
            board.bar.insert(at, beat);
            board.stores.push((at, beat));
            let request = (offset::REQUESTS..offset::MESSAGES).contains(&at) && at % 16 == 8;
            if request && beat >> 49 & 1 == 1 {
                let host = ((at - offset::REQUESTS) / offset::QUEUE_BYTES) as usize;
                let slot = (at % offset::QUEUE_BYTES / 16) as usize;
                board.starts.push((host, slot));
                if board.gives_back {
                    let word = LOCAL + 8 * host;
                    let back = u16::from_le_bytes([board.memory[word], board.memory[word + 1]]);
                    let step = (slot as u16 + 1).wrapping_sub(back) % SLOTS;
                    let back = back.wrapping_add(if step == 0 { SLOTS } else { step });
                    board.memory[word..word + 2].copy_from_slice(&back.to_le_bytes());
                }
            }
        }
        Ok(())
    }
}

impl DmaMemory for Fake {
    fn bus_address(&self) -> u64 {
        BASE
    }

    fn size(&self) -> usize {
        self.0.borrow().memory.len()
    }

    fn now(&self) -> Duration {
        self.0.borrow().clock
    }

    async fn read(&mut self, at: usize, buffer: &mut [u8]) -> Result<(), TransportError> {
        buffer.copy_from_slice(&self.0.borrow().memory[at..at + buffer.len()]);
        Ok(())
    }

    async fn write(&mut self, at: usize, data: &[u8]) -> Result<(), TransportError> {
        self.0.borrow_mut().memory[at..at + data.len()].copy_from_slice(data);
        Ok(())
    }

    async fn load64(&mut self, at: usize) -> Result<u64, TransportError> {
        let mut word = [0; 8];
        self.read(at, &mut word).await?;
        Ok(u64::from_le_bytes(word))
    }

    async fn poll64(
        &mut self,
        at: usize,
        seen: u64,
        until: Duration,
    ) -> Result<u64, TransportError> {
        loop {
            let due = self.0.borrow().later.front().is_some_and(|(time, ..)| *time <= until);
            let next = if due { self.0.borrow_mut().later.pop_front() } else { None };
            let Some((time, place, beats)) = next else {
                self.0.borrow_mut().clock = until;
                return self.load64(at).await;
            };
            self.0.borrow_mut().clock = time;
            self.put(place, &beats);
            let word = self.load64(at).await?;
            if word != seen {
                return Ok(word);
            }
        }
    }
}

fn transfer(host: HostId, bytes: usize) -> Descriptor {
    let options = Options::default();
    Descriptor { source: 0x40, target: 0x80, bytes, host, options, key: None, start: false }
}

#[test]
fn opening_tells_the_board_where_its_words_go() {
    block_on(async {
        let board = Fake::new();
        board.open().await.unwrap();
        for (table, place) in [
            (offset::LOCAL, LOCAL),
            (offset::LOCAL_MESSAGES, LOCAL_MESSAGES),
            (offset::NOTIFIED, NOTIFIED),
            (offset::COMPLETED, COMPLETED),
        ] {
            assert_eq!(board.beat(table + 24), BASE + place as u64 + 24);
        }
        assert_eq!(board.beat(regs::HOST.into()), 1 | 9 << 8);
        assert_eq!(board.beat(regs::CONTROL.into()), 0xF1);
        assert_eq!(board.beat(regs::ERR_BASE_LO.into()), BASE + ERRORS as u64);
    });
}

#[test]
fn another_board_or_an_unknown_host_is_refused_by_name() {
    block_on(async {
        let board = Fake::new();
        board.0.borrow_mut().identity = 0xDEAD_BEEF;
        let error = board.open().await.unwrap_err().to_string();
        assert!(error.contains("0xdeadbeef") && error.contains("0x52444d41"), "{error}");
        let mut endpoint = Fake::new().open().await.unwrap();
        let error = endpoint.put(&transfer(4, 8)).await.unwrap_err().to_string();
        assert_eq!(error, "host 4: this interface addresses 0..3");
    });
}

#[test]
fn descriptors_fill_their_ring_in_order_and_go_on_at_its_begin() {
    block_on(async {
        let board = Fake::new();
        let mut endpoint = board.open().await.unwrap();
        for number in 0..300 {
            endpoint.put(&transfer(2, 8 + 8 * (number % 512))).await.unwrap();
        }
        let starts = board.0.borrow().starts.clone();
        let expected: Vec<_> = (0..300).map(|number| (2, number % 128)).collect();
        assert_eq!(starts, expected);
        let at = offset::REQUESTS + 2 * offset::QUEUE_BYTES + 16 * (299 % 128);
        assert_eq!(board.beat(at + 8) >> 32 & 0x3FF, 300);
    });
}

#[test]
fn a_cluster_starts_with_its_last_descriptor_and_may_cross_the_ring_s_end() {
    block_on(async {
        let board = Fake::new();
        let mut endpoint = board.open().await.unwrap();
        for _ in 0..127 {
            endpoint.put(&transfer(0, 8)).await.unwrap();
        }
        let keyed = Descriptor { key: Some((Key::new(3, 1), 5)), ..transfer(0, 8) };
        board.0.borrow_mut().starts.clear();
        endpoint.post(0, &[keyed, transfer(0, 16)], Posting::Circular).await.unwrap();
        assert_eq!(board.0.borrow().starts, [(0, 1)]);
        assert_eq!(board.beat(offset::REQUESTS + 16 * 127 + 8) >> 54 & 1, 1);
        assert_eq!(board.beat(offset::REQUESTS + 8), 5, "the immediate, in slot 0");
        assert_eq!(board.beat(offset::REQUESTS + 24) >> 49 & 3, 3, "start and local");
    });
}

#[test]
fn a_queue_that_gives_nothing_back_is_an_error_and_nothing_is_overwritten() {
    block_on(async {
        let board = Fake::new();
        let mut endpoint = board.open().await.unwrap();
        board.0.borrow_mut().gives_back = false;
        for _ in 0..128 {
            endpoint.put(&transfer(3, 8)).await.unwrap();
        }
        let error = endpoint.put(&transfer(3, 16)).await.unwrap_err().to_string();
        assert_eq!(error, "host 3: no free space in its request queue within 1s");
        assert_eq!(board.0.borrow().starts.len(), 128);
        let lazy =
            Posting::Lazy { every: 4, opt_in: LazyPosting::i_know_that_the_queue_may_overrun() };
        endpoint.posted[3].unseen = 0;
        endpoint.post(3, &[transfer(3, 8)], lazy).await.unwrap();
    });
}

#[test]
fn who_looks_every_fourth_time_waits_for_room_for_four() {
    block_on(async {
        let board = Fake::new();
        let mut endpoint = board.open().await.unwrap();
        let lazy =
            Posting::Lazy { every: 4, opt_in: LazyPosting::i_know_that_the_queue_may_overrun() };
        board.0.borrow_mut().gives_back = false;
        for _ in 0..128 {
            endpoint.post(3, &[transfer(3, 8)], lazy).await.unwrap();
        }
        board.put(LOCAL + 24, &[3]);
        assert!(endpoint.post(3, &[transfer(3, 8)], lazy).await.is_err(), "room for three");
        board.put(LOCAL + 24, &[4]);
        for _ in 0..4 {
            endpoint.post(3, &[transfer(3, 8)], lazy).await.unwrap();
        }
        assert!(endpoint.post(3, &[transfer(3, 8)], lazy).await.is_err());
    });
}

#[test]
fn errors_come_in_the_ring_s_order_through_its_end() {
    block_on(async {
        let board = Fake::new();
        let mut endpoint = board.open().await.unwrap();
        assert_eq!(endpoint.error().await.unwrap(), None);
        for number in 0..150_u64 {
            let phase = (number / 64 + 1) % 2;
            let record = phase << 63 | 1 << 23 | 2 << 16 | (number % 128) << 8 | 4;
            board.put(ERRORS + 16 * (number % 64) as usize, &[record, 0x100 + number]);
            let found = endpoint.error().await.unwrap().unwrap();
            assert_eq!((found.fault, found.host, found.ours), (Some(Fault::Bounds), 2, true));
            assert_eq!((u64::from(found.tag), found.address), (number % 128, 0x100 + number));
            assert_eq!(endpoint.error().await.unwrap(), None);
            assert_eq!(board.beat(regs::ERR_TAIL.into()), number + 1);
        }
    });
}

#[test]
fn an_inbox_gives_messages_in_order_and_their_slots_back() {
    block_on(async {
        let board = Fake::new();
        let mut endpoint = board.open().await.unwrap();
        let (base, bytes) = (BASE + 0x1000, 256);
        let entry = QueueEntry { base, bytes, layout: Layout::Slots(64), sources: 0xF };
        let mut inbox = endpoint.open_queue(7, &entry).await.unwrap();
        for number in 0..10_u64 {
            assert!(inbox.receive(&mut endpoint).await.unwrap().is_none());
            let phase = (number / 4 + 1) % 2;
            let frame = phase | 2 << 1 | 3 << 8 | (number + 1) << 16 | 0xAB << 32;
            board.put(0x1000 + 64 * (number % 4) as usize, &[frame, number, !number]);
            let (frame, body) = inbox.receive(&mut endpoint).await.unwrap().unwrap();
            assert_eq!((frame.source, frame.count, frame.immediate), (3, number as u16 + 1, 0xAB));
            assert_eq!(body[..8], number.to_le_bytes());
            assert_eq!(board.beat(offset::TAILS + 56), (number + 1) % 4 * 8);
        }
        let outside = QueueEntry { base: BASE, ..entry };
        assert!(endpoint.open_queue(8, &outside).await.is_err());
    });
}

#[test]
fn who_waits_at_an_inbox_gets_what_comes_next_or_nothing_in_time() {
    block_on(async {
        let board = Fake::new();
        let mut endpoint = board.open().await.unwrap();
        let (base, bytes) = (BASE + 0x1000, 256);
        let entry = QueueEntry { base, bytes, layout: Layout::Slots(64), sources: 0xF };
        let mut inbox = endpoint.open_queue(7, &entry).await.unwrap();
        assert_eq!((inbox.room(), inbox.body(), inbox.index()), (3, 56, 7));
        let ms = Duration::from_millis;
        assert!(inbox.wait(&mut endpoint, ms(5)).await.unwrap().is_none());
        assert_eq!(board.0.borrow().clock, ms(5));
        for number in 0..10_u64 {
            let phase = (number / 4 + 1) % 2;
            let place = 0x1000 + 64 * (number % 4) as usize;
            let frame = phase | 1 << 1 | 3 << 8 | (number + 1) << 16;
            let start = board.0.borrow().clock;
            // The body is there before its frame.
            let times = [(start + ms(1), place + 8, number), (start + ms(2), place, frame)];
            for (time, place, beat) in times {
                board.0.borrow_mut().later.push_back((time, place, vec![beat]));
            }
            let (frame, body) = inbox.wait(&mut endpoint, ms(9)).await.unwrap().unwrap();
            assert_eq!((frame.count, body), (number as u16 + 1, number.to_le_bytes().to_vec()));
            assert_eq!(board.0.borrow().clock, start + ms(2));
        }
        // What is there already is given at once.
        board.put(0x1000 + 128, &[1 | 1 << 1 | 1 << 16, 77]);
        let before = board.0.borrow().clock;
        assert!(inbox.wait(&mut endpoint, ms(9)).await.unwrap().is_some());
        assert_eq!(board.0.borrow().clock, before);
    });
}

#[test]
fn slots_are_given_back_in_numbers_and_when_the_inbox_is_found_empty() {
    block_on(async {
        let board = Fake::new();
        let mut endpoint = board.open().await.unwrap();
        let (base, bytes) = (BASE + 0x1000, 256);
        let entry = QueueEntry { base, bytes, layout: Layout::Slots(64), sources: 0xF };
        let mut inbox = endpoint.open_queue(7, &entry).await.unwrap();
        inbox.give_back_every(2);
        let tail = || board.beat(offset::TAILS + 56);
        for slot in 0..4 {
            board.put(0x1000 + 64 * slot, &[1 | 1 << 1 | (slot as u64 + 1) << 16]);
        }
        let ms = Duration::from_millis(5);
        for given in [0, 16, 16] {
            assert!(inbox.wait(&mut endpoint, ms).await.unwrap().is_some());
            assert_eq!(tail(), given);
        }
        // The fourth message is missing: before the inbox waits for it, it releases the slot of the third.
        board.put(0x1000 + 64 * 3, &[0]);
        assert!(inbox.wait(&mut endpoint, ms).await.unwrap().is_none());
        assert_eq!(tail(), 24);
        board.put(0x1000 + 64 * 3, &[1 | 1 << 1 | 4 << 16]);
        assert!(inbox.receive(&mut endpoint).await.unwrap().is_some());
        assert_eq!(tail(), 24);
        assert!(inbox.receive(&mut endpoint).await.unwrap().is_none());
        assert_eq!(tail(), 0, "the ring's begin");
    });
}

/// Else a write could be allowed by the base of one region and the limit of another.
#[test]
fn a_region_s_bounds_change_only_while_its_entry_is_not_valid() {
    block_on(async {
        let board = Fake::new();
        let mut endpoint = board.open().await.unwrap();
        let first = Region { base: 0x1000, bytes: 0x800, sources: 6, nonce: 5, queue: None };
        let other = Region { base: 0x9000, bytes: 0x100, nonce: 7, ..first };
        let at = offset::REGIONS + 32 * 3;
        for region in [first, other, first] {
            let valid = board.beat(at + 16) != 0;
            let before = board.0.borrow().stores.len();
            endpoint.register(3, &region).await.unwrap();
            let stores = board.0.borrow().stores[before..].to_vec();
            let mut rest = u64::from(valid);
            for (place, beat) in stores {
                if place == at + 16 {
                    rest = beat;
                } else {
                    assert_eq!(rest, 0, "{place:#x} is written while the entry is valid");
                }
            }
            let expected = region.beats().unwrap();
            assert_eq!([at, at + 8, at + 16].map(|place| board.beat(place)), expected);
        }
        endpoint.unregister(3).await.unwrap();
        assert_eq!(board.beat(at + 16), 0);
    });
}

#[test]
fn a_watched_word_is_one_of_the_memory() {
    block_on(async {
        let board = Fake::new();
        let mut endpoint = board.open().await.unwrap();
        let ms = Duration::from_millis;
        board.put(0x2000, &[5]);
        assert_eq!(endpoint.watch_word(0x2000, 4, ms(1)).await.unwrap(), Some(5));
        assert_eq!(endpoint.watch_word(0x2000, 5, ms(1)).await.unwrap(), None);
        assert_eq!(endpoint.watch_word(0x2000, 5, Duration::ZERO).await.unwrap(), None);
        assert_eq!(board.0.borrow().clock, ms(1), "no timeout, no time");
        board.0.borrow_mut().later.push_back((ms(2), 0x2000, vec![6]));
        assert_eq!(endpoint.watch_word(0x2000, 5, Duration::MAX).await.unwrap(), Some(6));
        assert_eq!(board.0.borrow().clock, ms(2));
        for at in [0x2004, 0x3FFC, 0x4000, usize::MAX - 7] {
            let error = endpoint.watch_word(at, 0, ms(1)).await.unwrap_err().to_string();
            assert!(error.contains("in a memory of 16384 bytes"), "{error}");
        }
    });
}

#[test]
fn a_write_may_lie_in_the_message_queue_with_its_data() {
    block_on(async {
        let board = Fake::new();
        let mut endpoint = board.open().await.unwrap();
        let (none, told) =
            (Options::default(), Options { notify: true, completion: true, ..Options::default() });
        let body = [7; 24];
        let plain = InlineWrite { body: &body, target: 0x1_2345_6780, options: none, key: None };
        let keyed = InlineWrite { options: told, key: Some((Key::new(9, 5), 0xABC)), ..plain };
        endpoint.put_inline(2, &[plain, keyed]).await.unwrap();
        endpoint.send(2, 3, &[1; 8], none, 0).await.unwrap();
        let ring = offset::MESSAGES + 2 * offset::QUEUE_BYTES;
        let word = u64::from_le_bytes([7; 8]);
        let expected = [
            4 | 1 << 20,
            0x1_2345_6780,
            word,
            word,
            word,
            5 | 1 << 17 | 1 << 19 | 3 << 20,
            0x1_2345_6780,
            0xABC << 32 | 5 << 8 | 9,
            word,
            word,
            word,
            1 | 3 << 8,
        ];
        for (at, beat) in expected.into_iter().enumerate() {
            assert_eq!(board.beat(ring + 8 * at as u64), beat, "beat {at}");
        }
        let long = [0; MAX_INLINE + 8];
        for (write, what) in [
            (InlineWrite { target: 4, ..plain }, "target"),
            (InlineWrite { body: &long, ..plain }, "inline write"),
            (InlineWrite { body: &long[8..], ..keyed }, "inline write"),
            (InlineWrite { body: &body[4..], ..plain }, "inline write"),
            (InlineWrite { body: &[], ..plain }, "inline write"),
        ] {
            let error = endpoint.put_inline(2, &[plain, write]).await.unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        assert_eq!(board.beat(ring + 8 * 13), 0, "nothing of what was refused is there");
        let longest = InlineWrite { body: &long[8..], ..plain };
        endpoint.put_inline(2, &[longest]).await.unwrap();
    });
}

#[test]
fn messages_lie_behind_each_other_and_wait_for_room() {
    block_on(async {
        let board = Fake::new();
        let mut endpoint = board.open().await.unwrap();
        let none = Options::default();
        for number in 0..51_u64 {
            endpoint.send(2, 7, &[number as u8; 32], none, 0).await.unwrap();
        }
        let ring = offset::MESSAGES + 2 * offset::QUEUE_BYTES;
        assert_eq!(board.beat(ring + 8 * 50), 4 | 7 << 8);
        assert_eq!(board.beat(ring + 8 * 51), 0x0A0A_0A0A_0A0A_0A0A);
        let error = endpoint.send(2, 7, &[1; 32], none, 0).await.unwrap_err().to_string();
        assert!(error.contains("message queue"), "{error}");
        board.put(LOCAL_MESSAGES + 16, &[200]);
        endpoint.send(2, 7, &[1; 32], none, 0).await.unwrap();
        assert_eq!(board.beat(ring + 8 * 255) & 0xFFFF, 4 | 7 << 8);
        assert_eq!(board.beat(ring), 0x0101_0101_0101_0101);
    });
}
