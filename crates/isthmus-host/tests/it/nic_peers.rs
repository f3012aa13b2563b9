// SPDX-License-Identifier: Apache-2.0
//! Peers of a program that sends: whom the driver asks for an address, and what it keeps; buffers in the memory of a
//! peer on the bus.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use isthmus_host::nic::{List, Nic, NicConfig, NicError, Policy, SendMemory, Window};
use isthmus_host::pcie::{DmaMemory, Mmio};
use isthmus_host::regs::{nanet, nanet_send};
use isthmus_host::transport::TransportError;

const SEND: u64 = 0x100;
const MEMORY: usize = 0x4000;
const SENDS: usize = 0x2000;
/// A load takes this long.
const LOAD: Duration = Duration::from_micros(1);

/// Registers of an interface whose stations answer, and announce each post at once.
#[derive(Default)]
struct Board {
    now: Duration,
    registers: BTreeMap<u64, u32>,
    memory: Vec<u8>,
    /// Stations that are there, each with requests that it leaves unanswered at first.
    stations: BTreeMap<Ipv4Addr, u32>,
    asked: Vec<Ipv4Addr>,
    peers: BTreeMap<u32, SocketAddrV4>,
    /// Where posts went.
    sent: Vec<SocketAddrV4>,
    /// Posts are announced.
    announces: bool,
}

#[derive(Clone)]
struct Machine(Rc<RefCell<Board>>);

fn mac(station: Ipv4Addr) -> [u8; 6] {
    let [a, b, c, d] = station.octets();
    [2, 0xA0, a, b, c, d]
}

impl Board {
    fn send_register(&self, register: u32) -> u32 {
        self.registers.get(&(SEND + u64::from(register))).copied().unwrap_or_default()
    }

    fn ask(&mut self, station: Ipv4Addr) {
        self.asked.push(station);
        self.registers.insert(SEND + u64::from(nanet_send::ANSWER), 0);
        let Some(left) = self.stations.get_mut(&station) else { return };
        if *left > 0 {
            *left -= 1;
            return;
        }
        let [a, b, c, d, e, f] = mac(station);
        let high = 1 << 24 | u32::from_be_bytes([0, 0, a, b]);
        self.registers.insert(SEND + u64::from(nanet_send::ANSWER), high);
        let low = u32::from_be_bytes([c, d, e, f]);
        self.registers.insert(SEND + u64::from(nanet_send::ANSWER_MAC), low);
    }

    fn set_peer(&mut self, value: u32) {
        let low = self.send_register(nanet_send::PEER_MAC);
        let port = self.send_register(nanet_send::PEER_PORT);
        let ip = Ipv4Addr::from(self.send_register(nanet_send::PEER_IP));
        let [_, _, a, b] = port.to_be_bytes();
        let [c, d, e, f] = low.to_be_bytes();
        assert_eq!([a, b, c, d, e, f], mac(ip), "the address of the station itself");
        assert_eq!(value >> 24, 1);
        self.peers.insert(value & 0xf, SocketAddrV4::new(ip, (port >> 16) as u16));
    }

    fn post(&mut self, value: u32) {
        let number = self.sent.len();
        let to = self.peers[&(value >> 27)];
        self.sent.push(to);
        if self.announces {
            let phase = u64::from((number / 64).is_multiple_of(2)) << 63;
            let place = self.registers[&u64::from(nanet::QUEUE_LO)] as usize + number % 64 * 32;
            let words = [
                0x8000_u64 | u64::from(value & 0xffff) << 16,
                u64::from(u32::from(*to.ip())) << 32 | number as u64,
                u64::from(to.port()) | 1 << 16,
                phase,
            ];
            for (index, word) in words.iter().enumerate() {
                let at = place + 8 * index;
                self.memory[at..at + 8].copy_from_slice(&word.to_le_bytes());
            }
        }
    }
}

impl Mmio for Machine {
    async fn read32(&mut self, offset: u64) -> Result<u32, TransportError> {
        let mut board = self.0.borrow_mut();
        board.now += LOAD;
        Ok(match offset as u32 {
            nanet::ID => 0x4E41_4E45,
            nanet::VERSION => 1 << 29 | 64 << 16 | 1 << 8 | 3,
            nanet::CONTROL => 1 << 8,
            _ => board.registers.get(&offset).copied().unwrap_or_default(),
        })
    }

    async fn write32(&mut self, offset: u64, value: u32) -> Result<(), TransportError> {
        let mut board = self.0.borrow_mut();
        board.registers.insert(offset, value);
        match offset.checked_sub(SEND).map(|at| at as u32) {
            Some(nanet_send::ASK) => board.ask(Ipv4Addr::from(value)),
            Some(nanet_send::PEER_SET) => board.set_peer(value),
            Some(nanet_send::POST) => board.post(value),
            _ => (),
        }
        Ok(())
    }

    async fn write_combined(&mut self, _: u64, _: &[u8]) -> Result<(), TransportError> {
        Err(TransportError::Other("the driver combines no stores".to_owned()))
    }
}

impl DmaMemory for Machine {
    fn bus_address(&self) -> u64 {
        0
    }

    fn size(&self) -> usize {
        MEMORY
    }

    fn now(&self) -> Duration {
        self.0.borrow().now
    }

    async fn read(&mut self, offset: usize, buffer: &mut [u8]) -> Result<(), TransportError> {
        buffer.copy_from_slice(&self.0.borrow().memory[offset..offset + buffer.len()]);
        Ok(())
    }

    async fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), TransportError> {
        self.0.borrow_mut().memory[offset..offset + data.len()].copy_from_slice(data);
        Ok(())
    }

    async fn load64(&mut self, offset: usize) -> Result<u64, TransportError> {
        let mut word = [0; 8];
        self.read(offset, &mut word).await?;
        Ok(u64::from_le_bytes(word))
    }

    async fn poll64(&mut self, offset: usize, _: u64, _: Duration) -> Result<u64, TransportError> {
        self.load64(offset).await
    }
}

/// Nothing of this model waits.
fn run<T>(program: impl Future<Output = T>) -> T {
    match pin!(program).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("the model never waits"),
    }
}

fn config() -> NicConfig {
    let list = List {
        offsets: vec![0; 1],
        bytes: 64,
        datagrams: 1,
        flush_cycles: 0,
        policy: Policy::Newest,
        echo: false,
        window: None,
    };
    NicConfig {
        lists: vec![list],
        queue_offset: 0x1000,
        interrupt_gap_cycles: None,
        paging: None,
        send: Some(SendMemory { offset: SENDS, bytes: 0x1000, peers: Vec::new() }),
        put: None,
    }
}

/// Station number `n`, and one of its ports.
fn peer(n: u8, port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, n), port)
}

async fn open(board: &Rc<RefCell<Board>>) -> Result<Nic<Machine, Machine>, NicError> {
    Nic::open(Machine(Rc::clone(board)), Machine(Rc::clone(board)), &config()).await
}

fn board(announces: bool) -> Rc<RefCell<Board>> {
    let stations = (0..40).map(|n| (Ipv4Addr::new(10, 0, 0, n), 0)).collect();
    let memory = vec![0; MEMORY];
    Rc::new(RefCell::new(Board { stations, memory, announces, ..Board::default() }))
}

#[test]
fn a_station_is_asked_once_and_its_ports_share_the_answer() {
    let board = board(true);
    run(async {
        let mut nic = open(&board).await?;
        for port in [7, 8, 7, 9] {
            let number = nic.peer(peer(1, port)).await?;
            nic.send(0, 64, number).await?;
            assert!(nic.sent(Duration::MAX).await?.is_some());
        }
        Ok::<_, NicError>(())
    })
    .unwrap();
    let board = board.borrow();
    assert_eq!(board.asked, [*peer(1, 0).ip()]);
    assert_eq!(board.sent, [7, 8, 7, 9].map(|port| peer(1, port)));
    assert_eq!(board.peers.len(), 3);
}

#[test]
fn a_station_that_answers_late_is_asked_again_and_one_that_never_does_is_an_error() {
    let board = board(true);
    board.borrow_mut().stations.insert(*peer(1, 0).ip(), 2);
    let error = run(async {
        let mut nic = open(&board).await?;
        assert_eq!(nic.resolve(*peer(1, 0).ip()).await?, mac(*peer(1, 0).ip()));
        let began = nic.memory().now();
        let error = nic.peer(peer(99, 7)).await.err();
        let waited = nic.memory().now() - began;
        assert!((Duration::from_millis(6)..Duration::from_millis(7)).contains(&waited));
        Ok::<_, NicError>(error)
    })
    .unwrap();
    assert!(
        error.is_some_and(|error| error.to_string().starts_with("10.0.0.99 does not answer")),
        "which one"
    );
    let asked = &board.borrow().asked;
    assert_eq!(asked[..3], [*peer(1, 0).ip(); 3]);
    assert_eq!(asked[3..], [*peer(99, 0).ip(); 3]);
    assert!(board.borrow().peers.is_empty());
}

#[test]
fn the_peer_used_longest_ago_makes_room() {
    let board = board(true);
    run(async {
        let mut nic = open(&board).await?;
        for n in 0..16 {
            let number = nic.peer(peer(n, 7)).await?;
            nic.send(0, 64, number).await?;
            nic.sent(Duration::MAX).await?;
        }
        // Again, so that number 1 is the oldest.
        let first = nic.peer(peer(0, 7)).await?;
        nic.send(0, 64, first).await?;
        nic.sent(Duration::MAX).await?;
        let new = nic.peer(peer(30, 7)).await?;
        assert_eq!(new, 1);
        assert_eq!(nic.peer(peer(0, 7)).await?, 0);
        // Its address is still known.
        let again = nic.peer(peer(1, 7)).await?;
        nic.send(0, 64, again).await?;
        Ok::<_, NicError>(())
    })
    .unwrap();
    let board = board.borrow();
    assert_eq!(board.sent.last(), Some(&peer(1, 7)));
    assert_eq!(board.asked.len(), 17);
}

#[test]
fn a_peer_that_a_post_waits_for_keeps_its_place() {
    let board = board(false);
    let refused = run(async {
        let mut nic = open(&board).await?;
        for n in 0..16 {
            let number = nic.peer(peer(n, 7)).await?;
            nic.send(0, 64, number).await?;
        }
        Ok::<_, NicError>(nic.peer(peer(30, 7)).await)
    })
    .unwrap();
    assert!(matches!(refused, Err(NicError::SendQueueFull)));
    assert_eq!(board.borrow().peers.len(), 16);
    assert_eq!(board.borrow().peers[&0], peer(0, 7));
}

#[test]
fn a_lists_buffers_may_be_in_the_memory_of_a_peer_on_the_bus() {
    let opened = |window: Window, offset: usize| {
        let (board, mut config) = (board(true), config());
        (config.lists[0].window, config.lists[0].offsets) = (Some(window), vec![offset]);
        let machine = || Machine(Rc::clone(&board));
        let opened = run(Nic::open(machine(), machine(), &config)).map(|_| ());
        let registers = board.borrow().registers.clone();
        let register = |at: u32| registers.get(&u64::from(at)).copied();
        (opened, [nanet::BUFFER_LO, nanet::BUFFER_HI, nanet::QUEUE_LO].map(register))
    };
    // More than the program's own memory has; the event queue stays in that.
    let window = Window { bus_address: 0x12_8000_0000, bytes: 4 * MEMORY };
    let (fine, registers) = opened(window, 3 * MEMORY);
    fine.expect("inside the window");
    assert_eq!(registers, [Some(0x8000_0000 + 3 * MEMORY as u32), Some(0x12), Some(0x1000)]);
    let refused = |window, offset| match opened(window, offset) {
        (Err(NicError::Config { what }), [None, None, None]) => what,
        other => panic!("{other:?}"),
    };
    assert!(refused(window, 4 * MEMORY).contains("inside the memory of 65536 bytes"));
    let crooked = Window { bus_address: 0x12_8000_0020, ..window };
    assert!(refused(crooked, 0).contains("a window at 0x1280000020: a multiple of 64 expected"));
}
