// SPDX-License-Identifier: Apache-2.0
//! The lanes between two ends of a block link: a block of 512 bits goes in on one side and comes out on the
//! other, at the rate of the lanes and after their delay.
//!
//! What is in a block is the devices' affair. The lanes' coding costs a share of their rate.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{config_error, time};
use crate::kernel::{
    DeviceHandle, FaultPoint, InputPin, OutputPin, Picoseconds, PinAgent, RandomStream, Sim,
    SimError,
};

/// 32-bit words of a block.
pub const BLOCK_WORDS: usize = 16;
const BLOCK_BITS: f64 = 512.0;
const CODE_PAYLOAD_BITS: f64 = 64.0;

/// A block, least significant word first.
pub type Block = [u32; BLOCK_WORDS];

/// The lanes of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LanesConfig {
    /// How many there are.
    #[schemars(range(min = 1, max = 64))]
    pub lanes: u32,
    /// Line rate of each.
    #[schemars(range(min = 100.0, max = 200_000.0))]
    pub lane_mbit_s: f64,
    /// Coded bits for 64 bits of data.
    #[schemars(range(min = 64.0, max = 128.0))]
    pub coded_bits: f64,
    /// Words from one mark of a lane to the next.
    #[schemars(range(min = 1.0, max = 1_000_000.0))]
    pub metaframe_words: f64,
    /// Of these, words that carry no data.
    #[schemars(range(min = 0.0, max = 1_000.0))]
    pub control_words: f64,
    /// A block's last bit at the sender's pins to the block at the receiver's: coding and both transceivers.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub serdes_ns: f64,
    /// Propagation.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub trace_ns: f64,
}

impl LanesConfig {
    /// Data bits a second.
    #[must_use]
    pub fn data_bit_s(&self) -> f64 {
        f64::from(self.lanes)
            * self.lane_mbit_s
            * 1e6
            * (CODE_PAYLOAD_BITS / self.coded_bits)
            * (1.0 - self.control_words / self.metaframe_words)
    }

    /// From a block's first bit to its last.
    #[must_use]
    pub fn block_ps(&self) -> f64 {
        BLOCK_BITS / self.data_bit_s() * 1e12
    }
}

/// One block in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRecord {
    /// The sender's clock edge at which the lanes took it.
    pub taken: Picoseconds,
    /// Its last bit is sent.
    pub sent: Picoseconds,
    /// It is at the receiver's pins.
    pub arrived: Picoseconds,
    /// The sent blocks.
    pub block: Block,
}

/// One direction of lanes.
pub struct BlockLine {
    block_fs: u64,
    delay: Picoseconds,
    /// The last bit of all that were taken is sent, in femtoseconds.
    free_fs: u64,
    flying: VecDeque<(Picoseconds, Block)>,
    altered: FaultPoint,
    lost: FaultPoint,
    random: RandomStream,
    records: Vec<BlockRecord>,
    remembers: bool,
}

impl BlockLine {
    /// Lanes with a name. Their fault points are `<name>.block_error`, which alters a bit of a block, and
    /// `<name>.block_lost`, after which the receiver does not see it at all.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn new(sim: &Sim, name: &str, config: &LanesConfig) -> Result<Self, SimError> {
        let block_ps = config.block_ps();
        if !(block_ps.is_finite() && (1.0..1e9).contains(&block_ps)) {
            return Err(config_error(name, format!("a block lasts {block_ps} ps")));
        }
        let delay = time(name, "serdes_ns", config.serdes_ns)?;
        let trace = time(name, "trace_ns", config.trace_ns)?;
        Ok(Self {
            block_fs: (block_ps * 1e3).round() as u64,
            delay: delay + trace,
            free_fs: 0,
            flying: VecDeque::new(),
            altered: sim.faults().point(&format!("{name}.block_error")),
            lost: sim.faults().point(&format!("{name}.block_lost")),
            random: sim.random(&format!("{name}.bits")),
            records: Vec::new(),
            remembers: false,
        })
    }

    /// Switches recording of blocks on or off; earlier records are dropped.
    pub fn remember(&mut self, on: bool) {
        self.remembers = on;
        self.records.clear();
    }

    /// The blocks recorded.
    #[must_use]
    pub fn records(&self) -> &[BlockRecord] {
        &self.records
    }

    /// True if a block accepted at `edge` keeps the lanes busy without waiting for longer than
    /// `period`.
    fn has_room(&self, edge: Picoseconds, period: Picoseconds) -> bool {
        self.free_fs <= (edge + period).0 * 1_000
    }

    fn take(&mut self, edge: Picoseconds, block: Block) {
        self.free_fs = self.free_fs.max(edge.0 * 1_000) + self.block_fs;
        let sent = Picoseconds(self.free_fs.div_ceil(1_000));
        let arrived = sent + self.delay;
        if self.remembers {
            self.records.push(BlockRecord { taken: edge, sent, arrived, block });
        }
        let mut block = block;
        if self.altered.fires(edge) {
            let bit = self.random.below(BLOCK_BITS as u64) as usize;
            block[bit / 32] ^= 1 << (bit % 32);
        }
        if !self.lost.fires(edge) {
            self.flying.push_back((arrived, block));
        }
    }

    /// The next block that is at the receiver at `edge`.
    fn arrive(&mut self, edge: Picoseconds) -> Option<Block> {
        let (arrived, block) = *self.flying.front()?;
        if arrived > edge {
            return None;
        }
        self.flying.pop_front();
        Some(block)
    }
}

/// One link at a device: its lanes, and whether they take what is at the pins.
struct Link {
    out: Rc<RefCell<BlockLine>>,
    into: Rc<RefCell<BlockLine>>,
    ready: bool,
}

/// Both directions of the lanes of all links at the bundle `blocks` of a device.
pub struct BlockPins {
    links: Vec<Link>,
    period: Picoseconds,
    send: OutputPin,
    send_ready: InputPin,
    receive: InputPin,
    receive_valid: InputPin,
}

impl BlockPins {
    /// Ties lanes to a device's pins: of each link `out` from it, `into` to it.
    ///
    /// # Errors
    /// When the device has no such pins, or its clock is slower than the lanes.
    pub fn attach(
        device: &DeviceHandle,
        out: &[Rc<RefCell<BlockLine>>],
        into: &[Rc<RefCell<BlockLine>>],
    ) -> Result<(), SimError> {
        let period = device.clock_period("clk_i").unwrap_or_default();
        if into.iter().any(|lanes| period.0 * 1_000 > lanes.borrow().block_fs) {
            let reason = format!("a clock of {period} is too slow for the lanes' blocks");
            return Err(config_error(device.name(), reason));
        }
        let links = out.iter().zip(into).map(|(out, into)| Link {
            out: Rc::clone(out),
            into: Rc::clone(into),
            ready: false,
        });
        let links: Vec<_> = links.collect();
        let count = links.len() as u32;
        let agent = Self {
            links,
            period,
            send: device.output("blocks_tx_data_o", 512 * count)?,
            send_ready: device.input("blocks_tx_ready_i", count)?,
            receive: device.input("blocks_rx_data_i", 512 * count)?,
            receive_valid: device.input("blocks_rx_valid_i", count)?,
        };
        device.attach("clk_i", Box::new(agent))
    }
}

impl PinAgent for BlockPins {
    fn sample(&mut self, time: Picoseconds) {
        for (number, link) in self.links.iter().enumerate().filter(|(_, link)| link.ready) {
            let block = std::array::from_fn(|word| self.send.word(BLOCK_WORDS * number + word));
            link.out.borrow_mut().take(time, block);
        }
    }

    fn drive(&mut self, time: Picoseconds) {
        let next = time + self.period;
        let (mut ready, mut valid) = (0, 0);
        for (number, link) in self.links.iter_mut().enumerate() {
            link.ready = link.out.borrow().has_room(next, self.period);
            ready |= u64::from(link.ready) << number;
            if let Some(block) = link.into.borrow_mut().arrive(next) {
                valid |= 1 << number;
                for (word, value) in block.iter().enumerate() {
                    self.receive.set_word(BLOCK_WORDS * number + word, *value);
                }
            }
        }
        self.send_ready.set(ready);
        self.receive_valid.set(valid);
    }

    fn quiet(&self) -> bool {
        // Lanes are never silent.
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ECI: LanesConfig = LanesConfig {
        lanes: 12,
        lane_mbit_s: 10_312.5,
        coded_bits: 67.0,
        metaframe_words: 2_048.0,
        control_words: 4.0,
        serdes_ns: 27.0,
        trace_ns: 2.0,
    };

    #[test]
    fn twelve_lanes_carry_a_block_in_4_34_ns() {
        assert!((ECI.data_bit_s() / 117.977e9 - 1.0).abs() < 1e-5, "{}", ECI.data_bit_s());
        assert!((ECI.block_ps() - 4_339.8).abs() < 0.5, "{}", ECI.block_ps());
    }

    fn line() -> (crate::Simulation, BlockLine) {
        let simulation = crate::Simulation::new(crate::SimConfig {
            seed: 1,
            skip_idle: false,
            check_idle: false,
            idle_confirm_cycles: 4,
            wake_cycles: 4,
            simulated_limit_ps: None,
            wall_limit_ms: None,
        });
        let line = BlockLine::new(&simulation.handle(), "to_host", &ECI).unwrap();
        (simulation, line)
    }

    #[test]
    fn a_sender_that_always_has_a_block_fills_the_lanes() {
        let (_simulation, mut line) = line();
        let period = Picoseconds(3_333);
        line.remember(true);
        for edge in 0..10_000 {
            let at = Picoseconds(3_333 * edge);
            if line.has_room(at, period) {
                line.take(at, [edge as u32; BLOCK_WORDS]);
            }
        }
        let records = line.records();
        let span = (records[records.len() - 1].sent - records[0].sent).0 as f64;
        let each = span / (records.len() - 1) as f64;
        assert!((each / ECI.block_ps() - 1.0).abs() < 1e-4, "{each}");
        assert!(records.iter().all(|one| one.sent - one.taken <= Picoseconds(4_340 + 3_333)));
    }

    #[test]
    fn blocks_come_in_order_after_bits_and_delay() {
        let (_simulation, mut line) = line();
        line.take(Picoseconds(1_000), [7; BLOCK_WORDS]);
        line.take(Picoseconds(4_333), [8; BLOCK_WORDS]);
        let first = 1_000 + 4_340 + 29_000;
        assert_eq!(line.arrive(Picoseconds(first - 1)), None);
        assert_eq!(line.arrive(Picoseconds(first)), Some([7; BLOCK_WORDS]));
        assert_eq!(line.arrive(Picoseconds(first)), None);
        assert_eq!(line.arrive(Picoseconds(first + 4_340)), Some([8; BLOCK_WORDS]));
    }
}
