// SPDX-License-Identifier: Apache-2.0
//! The Etherbone board's driver on a simulated host: what a cycle costs on the PCIe link. The board
//! is a model in Rust behind the hard block, which executes one word in 8 ns.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::etherbone::{Client, ClientConfig, Cycle, Memory as Wishbone, SoftSlave};
use isthmus_host::pcie::{DmaMemory, EtherbonePcie, Mmio, PcieRings};
use isthmus_host::regs::pcie_dma as regs;
use isthmus_host::transport::TransportError;
use isthmus_sim::kernel::{Receiver, Sender, Sim, channel};
use isthmus_sim::world::pcie::{
    BarTarget, CreditConfig, Direction, Endpoint, Generation, Pcie, PcieConfig, PcieEndpointConfig,
    PcieHost, PcieHostConfig, PortConfig, ReadReply, RootConfig, StrayWrite, Taken, TlpKind,
};
use isthmus_sim::world::{Cpu, CpuConfig, Memory, MemoryConfig};
use isthmus_sim::{Picoseconds, SimConfig, Simulation};

const WORD: Picoseconds = Picoseconds::from_ns(8);
const MEMORY_BASE: u64 = 0x1_0000_0000;
const RINGS: PcieRings = PcieRings { request: 4096, reply: 4096, push_most: usize::MAX };

/// A simulated host as the driver sees it: memory from its beginning on, and BAR 0.
#[derive(Clone)]
struct SimBoard {
    sim: Sim,
    host: PcieHost,
}

fn failed(error: impl ToString) -> TransportError {
    TransportError::Other(error.to_string())
}

impl Mmio for SimBoard {
    async fn read32(&mut self, offset: u64) -> Result<u32, TransportError> {
        self.host.mmio_read32(offset).await.map_err(failed)
    }

    async fn write32(&mut self, offset: u64, value: u32) -> Result<(), TransportError> {
        self.host.mmio_write32(offset, value).await.map_err(failed)
    }

    async fn write_combined(&mut self, offset: u64, data: &[u8]) -> Result<(), TransportError> {
        self.host.write_combined(offset, data).await.map_err(failed)?;
        // A line leaves by itself when these stores filled all of it.
        if data.len() < 64 || !(offset + data.len() as u64).is_multiple_of(64) {
            self.host.fence().await;
        }
        Ok(())
    }
}

impl DmaMemory for SimBoard {
    fn bus_address(&self) -> u64 {
        self.host.bus_address(0)
    }

    fn size(&self) -> usize {
        self.host.memory().size()
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.sim.now().0 / 1_000)
    }

    async fn read(&mut self, offset: usize, buffer: &mut [u8]) -> Result<(), TransportError> {
        let (memory, cpu) = (self.host.memory(), self.host.cpu());
        buffer.copy_from_slice(&memory.load(cpu, offset, buffer.len()).await.map_err(failed)?);
        Ok(())
    }

    async fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), TransportError> {
        self.host.memory().store(self.host.cpu(), offset, data).await.map_err(failed)
    }

    async fn load64(&mut self, offset: usize) -> Result<u64, TransportError> {
        let bytes = self.host.memory().load(self.host.cpu(), offset, 8).await.map_err(failed)?;
        Ok(u64::from_le_bytes(bytes.try_into().expect("8 bytes")))
    }

    async fn poll64(
        &mut self,
        offset: usize,
        seen: u64,
        deadline: Duration,
    ) -> Result<u64, TransportError> {
        let left = Picoseconds(deadline.saturating_sub(self.now()).as_nanos() as u64 * 1_000);
        let changed = |bytes: &[u8]| bytes != seen.to_le_bytes();
        let watch = self.host.memory().watch(offset, 8, changed);
        let _ = self.sim.timeout(left, watch).await;
        self.load64(offset).await
    }
}

enum Event {
    Push(Vec<u8>),
    Doorbell,
}

/// Reads of the request ring in progress.
const FETCHES: usize = 4;

/// Registers of the board, and the way to its engine.
struct Board {
    registers: RefCell<[u32; 64]>,
    running: Cell<bool>,
    tail: Cell<u32>,
    events: Sender<Event>,
}

impl BarTarget for Board {
    fn write(&self, offset: u64, data: Vec<u8>, _taken: Taken) {
        if offset >= 0x1000 {
            assert!(self.events.try_send(Event::Push(data)).is_ok());
            return;
        }
        let value = u32::from_le_bytes(data.try_into().expect("a store of 4 bytes"));
        match offset as u32 {
            regs::CONTROL => self.running.set(value == 1),
            regs::REQ_TAIL => {
                self.tail.set(value);
                assert!(self.events.try_send(Event::Doorbell).is_ok());
            }
            register => self.registers.borrow_mut()[register as usize / 4] = value,
        }
    }

    fn read(&self, offset: u64, _bytes: usize, reply: ReadReply) {
        let value = match offset as u32 {
            regs::STATE => self.running.get().into(),
            regs::ERRORS => 0,
            regs::ID => 0x5044_4D41,
            regs::VERSION => 0x4E6F_0001,
            regs::LIMITS => 512 << 16,
            register => self.registers.borrow()[register as usize / 4],
        };
        reply.send(value.to_le_bytes().to_vec());
    }
}

/// The board's engine.
struct Engine {
    sim: Sim,
    board: Rc<Board>,
    endpoint: Endpoint,
    slave: SoftSlave<Wishbone>,
    fetched: u32,
    head: u32,
    replied: u32,
    partial: Vec<u8>,
    probed: bool,
    busy: Rc<Cell<Picoseconds>>,
}

impl Engine {
    async fn run(mut self, mut events: Receiver<Event>) {
        while let Some(event) = events.recv().await {
            match event {
                Event::Push(bytes) => self.execute(&bytes).await,
                Event::Doorbell => {
                    let mut fetches = VecDeque::new();
                    loop {
                        while fetches.len() < FETCHES
                            && let Some(fetch) = self.fetch()
                        {
                            fetches.push_back(fetch);
                        }
                        let Some((length, read)) = fetches.pop_front() else { break };
                        let bytes = read.await;
                        self.head = self.head.wrapping_add(length);
                        self.execute(&bytes).await;
                    }
                }
            }
        }
    }

    fn base(&self, low: u32) -> u64 {
        let registers = self.board.registers.borrow();
        let at = low as usize / 4;
        u64::from(registers[at]) | u64::from(registers[at + 1]) << 32
    }

    fn fetch(&mut self) -> Option<(u32, isthmus_sim::JoinHandle<Vec<u8>>)> {
        let at = self.fetched % RINGS.request as u32;
        let left = self.board.tail.get().wrapping_sub(self.fetched);
        let length = left.min(512).min(RINGS.request as u32 - at);
        if length == 0 {
            return None;
        }
        self.fetched = self.fetched.wrapping_add(length);
        let address = self.base(regs::REQ_BASE_LO) + u64::from(at);
        let endpoint = self.endpoint.clone();
        let read = async move { endpoint.read(address, length as usize).await.expect("data") };
        Some((length, self.sim.spawn(read)))
    }

    async fn execute(&mut self, bytes: &[u8]) {
        let time = WORD * (bytes.len() as u64 / 4);
        self.busy.set(self.busy.get() + time);
        self.sim.sleep(time).await;
        self.partial.extend(bytes);
        let mut reply = Vec::new();
        while let Some(head) = self.partial.get(..4) {
            let words = |count: u8| if count == 0 { 0 } else { usize::from(count) + 1 };
            let length = if self.probed { 4 * (1 + words(head[2]) + words(head[3])) } else { 8 };
            if self.partial.len() < length {
                break;
            }
            self.probed = true;
            let record: Vec<u8> = self.partial.drain(..length).collect();
            let answer = self.slave.stream(&record);
            reply.extend(vec![0; length - answer.len()]);
            reply.extend(answer);
        }
        let base = self.base(regs::REP_BASE_LO);
        let mut rest = &reply[..];
        while !rest.is_empty() {
            let at = self.replied as usize % RINGS.reply;
            let (now, later) = rest.split_at(rest.len().min(RINGS.reply - at));
            self.endpoint.write(base + at as u64, now).await;
            self.replied = self.replied.wrapping_add(now.len() as u32);
            rest = later;
        }
        let status = u64::from(self.replied) | u64::from(self.head) << 32;
        self.endpoint.write(self.base(regs::STATUS_LO), &status.to_le_bytes()).await;
    }
}

struct World {
    sim: Simulation,
    link: Pcie,
    board: SimBoard,
    busy: Rc<Cell<Picoseconds>>,
}

fn world() -> World {
    let sim = Simulation::new(SimConfig {
        seed: 1,
        skip_idle: true,
        check_idle: false,
        idle_confirm_cycles: 4,
        wake_cycles: 4,
        simulated_limit_ps: Some(Picoseconds::from_ms(100).0),
        wall_limit_ms: Some(60_000),
    });
    let memory = Memory::new(&MemoryConfig {
        name: "memory".into(),
        size_bytes: RINGS.bytes(),
        load_ns: 5.0,
        store_ns: 1.0,
        copy_ns_per_byte: 0.05,
    })
    .expect("a memory");
    let unlimited = CreditConfig {
        posted_headers: 0,
        posted_data: 0,
        nonposted_headers: 0,
        completion_headers: 0,
        completion_data: 0,
    };
    let port = PortConfig {
        transmit_latency_ns: 80.0,
        receive_latency_ns: 100.0,
        transmit_queue_tlps: 16,
        credits: unlimited,
        credit_update_ns: 200.0,
    };
    let config = PcieConfig {
        name: "pcie".into(),
        generation: Generation::Gen1,
        lanes: 4,
        max_payload_bytes: 128,
        max_read_request_bytes: 512,
        read_completion_bytes: 64,
        ecrc: false,
        reserved_share: 0.0026,
        ack_every_tlps: 1,
        update_every_tlps: 1,
        propagation_ns: 1.0,
        replay_ns: 500.0,
        root: RootConfig {
            port: port.clone(),
            memory_base: MEMORY_BASE,
            memory_read_ns: 150.0,
            memory_write_ns: 100.0,
            stray_writes: StrayWrite::Fail,
        },
        endpoint: PcieEndpointConfig {
            port,
            bar_base: 0xF000_0000,
            bar_bytes: 0x2000,
            tags: 8,
            completion_timeout_ns: 50_000.0,
        },
    };
    let link = Pcie::new(&sim, &config, &memory).expect("a link");
    let cpu = Cpu::new(&sim, "host", &CpuConfig { cores: 1 }).expect("cores");
    let costs = PcieHostConfig {
        name: "host".into(),
        load_issue_ns: 60.0,
        load_return_ns: 60.0,
        store_ns: 10.0,
        store_issue_ns: 60.0,
        combine_ns: 1.0,
        fence_ns: 20.0,
        interrupt_ns: 1_000.0,
        wakeup_ns: 2_000.0,
        load_timeout_ns: 50_000.0,
    };
    let host = link.host(&costs, &cpu, &memory).expect("a host");
    let (events, receiver) = channel(1_000);
    let registers = RefCell::new([0; 64]);
    let device =
        Rc::new(Board { registers, running: Cell::new(false), tail: Cell::new(0), events });
    let busy = Rc::new(Cell::default());
    let engine = Engine {
        sim: sim.handle(),
        board: Rc::clone(&device),
        endpoint: link.endpoint(),
        slave: SoftSlave::new(Wishbone::new(0x1000, 4096)).with_zero_padding(),
        fetched: 0,
        head: 0,
        replied: 0,
        partial: Vec::new(),
        probed: false,
        busy: Rc::clone(&busy),
    };
    link.endpoint().serve(device);
    drop(sim.spawn_named("service: board", engine.run(receiver)));
    let board = SimBoard { sim: sim.handle(), host };
    World { sim, link, board, busy }
}

async fn connect(board: &SimBoard) -> Client<EtherbonePcie<SimBoard, SimBoard>> {
    let board = EtherbonePcie::open(board.clone(), board.clone(), RINGS).await.expect("open");
    Client::connect(board, ClientConfig::default()).await.expect("connected")
}

#[test]
fn a_blocking_timestamp_is_one_write_out_and_no_read_either_way() {
    let world = world();
    let (board, link) = (world.board.clone(), world.link.clone());
    let program = world.sim.spawn(async move {
        let mut client = connect(&board).await;
        let mut took = Vec::new();
        for _ in 0..100 {
            let start = (
                link.records_since(Direction::Down, 0).len(),
                link.records_since(Direction::Up, 0).len(),
                board.sim.now(),
            );
            client.execute(Cycle::new().read(0x1000).read(0x1004)).await.expect("a reply");
            // A store that gives room in the reply ring back is no part of any cycle's way.
            board.sim.sleep(Picoseconds::from_us(2)).await;
            let mut down = link.records_since(Direction::Down, start.0);
            down.retain(|tlp| tlp.address >= 0xF000_1000);
            let up = link.records_since(Direction::Up, start.1);
            assert_eq!(down.len(), 1, "{down:?}");
            assert_eq!(down[0].kind, TlpKind::Write);
            // The reply, and the status word behind it.
            assert!(up.len() == 2 && up.iter().all(|tlp| tlp.kind == TlpKind::Write), "{up:?}");
            took.push(up[1].delivered - start.2);
        }
        took
    });
    let took = world.sim.run_until_complete(&program).expect("a run");
    // 28 or 36 bytes out: 4 or 5 combined stores, a fence if the line is not full.
    let (least, most) = (took.iter().min().unwrap(), took.iter().max().unwrap());
    assert!(*most - *least < Picoseconds::from_ns(200), "{least} to {most}");
    // Two ways of 60 + 80 + 1 + 100 ns and 80 + 1 + 100 ns, 7 words of 8 ns, the wire.
    assert!(*least > Picoseconds::from_ns(241 + 181 + 56), "{least}");
    assert!(*most < Picoseconds::from_ns(241 + 181 + 56 + 350), "{most}");
}

#[test]
fn a_pipelined_client_keeps_the_boards_engine_busy() {
    let world = world();
    let board = world.board.clone();
    let busy = Rc::clone(&world.busy);
    let program = world.sim.spawn(async move {
        let mut client = connect(&board).await;
        let (start, before) = (board.sim.now(), busy.get());
        let pending: Vec<_> = (0..1_000)
            .map(|_| client.submit(&Cycle::new().read(0x1000).read(0x1004)).expect("queued"))
            .collect();
        client.flush().await.expect("sent");
        client.settle().await.expect("answered");
        assert!(pending.iter().all(|pending| matches!(pending.take(), Some(Ok(_)))));
        (busy.get() - before, board.sim.now() - start)
    });
    let (busy, took) = world.sim.run_until_complete(&program).expect("a run");
    // 28 bytes a cycle, 7 words.
    assert!(busy.0 >= 1_000 * 7 * WORD.0);
    let share = busy.0 as f64 / took.0 as f64;
    assert!(share > 0.8, "busy for {busy} of {took}: {share:.3}");
}
