// SPDX-License-Identifier: Apache-2.0
//! Cache lines at a device's pins: the requests of an FPGA's own logic, and the memory behind a
//! home.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::kernel::{DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, SimError};

/// Bytes of a line.
pub const LINE_BYTES: usize = 128;
const LINE_WORDS: usize = LINE_BYTES / 4;
const MASK_WORDS: usize = LINE_BYTES / 32;

/// A line's bytes.
pub type Line = [u8; LINE_BYTES];

/// What is asked for, by its code at the pins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineKind {
    /// A load or a store without a copy.
    #[default]
    Uncached = 0,
    /// A load or a store in the agent's cache.
    Cached = 1,
    /// The agent gives its copy up.
    Evict = 2,
    /// Adds 1 to the word that the mask selects, at the home; its old value comes back.
    Increment = 3,
    /// The same, and 1 is subtracted.
    Decrement = 4,
    /// The word becomes the second one of the data if it is the first one; its old value comes back.
    Swap = 5,
}

/// An atomic change of a word in the agent's cache, by its codes at the pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineAtomic {
    /// AXI5's codes of functions from 0 to 7; 8: swap, 9: compare and swap.
    pub function: u8,
    /// Logarithm of the word's bytes.
    pub size: u8,
    /// The word's first byte in the line.
    pub offset: u8,
}

impl LineAtomic {
    /// At the pins: valid, function, size, offset.
    const fn bits(self) -> u64 {
        1 << 14 | (self.function as u64) << 10 | (self.size as u64) << 7 | self.offset as u64
    }
}

/// A request for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRequest {
    /// How.
    pub kind: LineKind,
    /// Number of the line in memory.
    pub index: u64,
    /// Comes back with the response.
    pub tag: u8,
    /// The data to store, with a mask bit per byte; `None`: the line is read.
    pub store: Option<(u128, Line)>,
    /// Of a cached store: instead of it a word is changed, by the operand that is where the word is; the line as
    /// it was comes back.
    pub atomic: Option<LineAtomic>,
}

/// The logic that requests lines.
pub trait LineUser {
    /// The request to offer from `time` on, if any; it is offered until it is taken.
    fn offer(&mut self, time: Picoseconds) -> Option<LineRequest>;
    /// The response to a tag: its line, which of a store means nothing.
    fn response(&mut self, time: Picoseconds, tag: u8, line: &Line);
}

/// Ties a user to the bundle `lines` of a device.
pub struct LineUserPins<U> {
    user: Rc<RefCell<U>>,
    offered: bool,
    ready: OutputPin,
    valid: InputPin,
    kind: InputPin,
    write: InputPin,
    index: InputPin,
    tag: InputPin,
    mask: InputPin,
    data: InputPin,
    /// Only of an agent that has atomics.
    atomic: Option<InputPin>,
    rsp_valid: OutputPin,
    rsp_tag: OutputPin,
    rsp_data: OutputPin,
}

impl<U: LineUser + 'static> LineUserPins<U> {
    /// Attaches it.
    ///
    /// # Errors
    /// When the device has no such pins.
    pub fn attach(device: &DeviceHandle, user: &Rc<RefCell<U>>) -> Result<(), SimError> {
        let agent = Self {
            user: Rc::clone(user),
            offered: false,
            ready: device.output("lines_req_ready_o", 1)?,
            valid: device.input("lines_req_valid_i", 1)?,
            kind: device.input("lines_req_kind_i", 3)?,
            write: device.input("lines_req_write_i", 1)?,
            index: device.input("lines_req_index_i", 33)?,
            tag: device.input("lines_req_tag_i", 8)?,
            mask: device.input("lines_req_mask_i", LINE_BYTES as u32)?,
            data: device.input("lines_req_data_i", 8 * LINE_BYTES as u32)?,
            atomic: device.input("lines_req_atomic_i", 15).ok(),
            rsp_valid: device.output("lines_rsp_valid_o", 1)?,
            rsp_tag: device.output("lines_rsp_tag_o", 8)?,
            rsp_data: device.output("lines_rsp_data_o", 8 * LINE_BYTES as u32)?,
        };
        device.attach("clk_i", Box::new(agent))
    }
}

impl<U: LineUser> PinAgent for LineUserPins<U> {
    fn sample(&mut self, time: Picoseconds) {
        if self.offered && self.ready.get() != 0 {
            self.offered = false;
        }
        if self.rsp_valid.get() != 0 {
            let line = line_of(&self.rsp_data);
            self.user.borrow_mut().response(time, self.rsp_tag.get() as u8, &line);
        }
    }

    fn drive(&mut self, time: Picoseconds) {
        if self.offered {
            return;
        }
        let request = self.user.borrow_mut().offer(time);
        self.offered = request.is_some();
        self.valid.set(u64::from(self.offered));
        let Some(request) = request else { return };
        self.index.set(request.index);
        self.tag.set(u64::from(request.tag));
        self.kind.set(request.kind as u64);
        self.write.set(u64::from(request.store.is_some()));
        if let Some(pin) = &self.atomic {
            pin.set(request.atomic.map_or(0, LineAtomic::bits));
        }
        if let Some((mask, line)) = &request.store {
            for word in 0..MASK_WORDS {
                self.mask.set_word(word, (mask >> (32 * word)) as u32);
            }
            set_line(&self.data, line);
        }
    }

    fn quiet(&self) -> bool {
        false
    }
}

fn line_of(pin: &OutputPin) -> Line {
    let mut line = [0; LINE_BYTES];
    for (word, bytes) in line.chunks_exact_mut(4).enumerate() {
        bytes.copy_from_slice(&pin.word(word).to_le_bytes());
    }
    line
}

fn set_line(pin: &InputPin, line: &Line) {
    for (word, bytes) in line.chunks_exact(4).enumerate().take(LINE_WORDS) {
        pin.set_word(word, bytes.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte)));
    }
}

/// Memory in lines, with the times that it takes. Its rate is without limit.
#[derive(Debug)]
pub struct LineMemory {
    lines: Vec<Line>,
    read: Picoseconds,
    write: Picoseconds,
    /// Which line became visible when, since this was last taken.
    stored: Vec<(u64, Picoseconds)>,
    outside: Option<u64>,
}

impl LineMemory {
    /// Memory with these lines. `read`: from a request to its data; `write`: to its being visible.
    #[must_use]
    pub fn new(lines: Vec<Line>, read: Picoseconds, write: Picoseconds) -> Self {
        Self { lines, read, write, stored: Vec::new(), outside: None }
    }

    /// What it has.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// All of it is zero from now on.
    pub fn clear(&mut self) {
        self.lines.fill([0; LINE_BYTES]);
    }

    /// The stores since the last call: line, and when it was visible.
    #[must_use]
    pub fn take_stored(&mut self) -> Vec<(u64, Picoseconds)> {
        std::mem::take(&mut self.stored)
    }

    /// The first requested line that does not exist.
    #[must_use]
    pub fn outside(&self) -> Option<u64> {
        self.outside
    }

    fn access(&mut self, request: &LineRequest, due: Picoseconds) -> Line {
        let Some(line) = self.lines.get_mut(request.index as usize) else {
            self.outside.get_or_insert(request.index);
            return [0; LINE_BYTES];
        };
        if let Some((mask, data)) = &request.store {
            for (byte, new) in data.iter().enumerate().filter(|(byte, _)| mask >> byte & 1 != 0) {
                line[byte] = *new;
            }
            self.stored.push((request.index, due));
        }
        *line
    }
}

/// Ties memory to the bundle `mem` of a device.
pub struct LineMemoryPins {
    memory: Rc<RefCell<LineMemory>>,
    period: Picoseconds,
    /// Requests with the times of their responses: reads, and stores.
    open: [VecDeque<(Picoseconds, LineRequest)>; 2],
    offered: bool,
    valid: OutputPin,
    ready: InputPin,
    write: OutputPin,
    index: OutputPin,
    tag: OutputPin,
    mask: OutputPin,
    data: OutputPin,
    rsp_valid: InputPin,
    rsp_ready: OutputPin,
    rsp_tag: InputPin,
    rsp_data: InputPin,
}

impl LineMemoryPins {
    /// Attaches it.
    ///
    /// # Errors
    /// When the device has no such pins.
    pub fn attach(device: &DeviceHandle, memory: &Rc<RefCell<LineMemory>>) -> Result<(), SimError> {
        let agent = Self {
            memory: Rc::clone(memory),
            period: device.clock_period("clk_i").unwrap_or_default(),
            open: Default::default(),
            offered: false,
            valid: device.output("mem_req_valid_o", 1)?,
            ready: device.input("mem_req_ready_i", 1)?,
            write: device.output("mem_req_write_o", 1)?,
            index: device.output("mem_req_index_o", 33)?,
            tag: device.output("mem_req_tag_o", 8)?,
            mask: device.output("mem_req_mask_o", LINE_BYTES as u32)?,
            data: device.output("mem_req_data_o", 8 * LINE_BYTES as u32)?,
            rsp_valid: device.input("mem_rsp_valid_i", 1)?,
            rsp_ready: device.output("mem_rsp_ready_o", 1)?,
            rsp_tag: device.input("mem_rsp_tag_i", 8)?,
            rsp_data: device.input("mem_rsp_data_i", 8 * LINE_BYTES as u32)?,
        };
        device.attach("clk_i", Box::new(agent))
    }
}

impl PinAgent for LineMemoryPins {
    fn sample(&mut self, time: Picoseconds) {
        if self.offered && self.rsp_ready.get() != 0 {
            self.offered = false;
        }
        if self.ready.get() == 0 || self.valid.get() == 0 {
            return;
        }
        let store = (self.write.get() != 0).then(|| {
            let mask = (0..MASK_WORDS).rev();
            let mask = mask.fold(0, |all, word| all << 32 | u128::from(self.mask.word(word)));
            (mask, line_of(&self.data))
        });
        let memory = self.memory.borrow();
        let due = time + if store.is_some() { memory.write } else { memory.read };
        let way = usize::from(store.is_some());
        let request = LineRequest {
            kind: LineKind::Uncached,
            index: self.index.get(),
            tag: self.tag.get() as u8,
            store,
            atomic: None,
        };
        self.open[way].push_back((due, request));
    }

    fn drive(&mut self, time: Picoseconds) {
        self.ready.set(1);
        if self.offered {
            return;
        }
        let next = time + self.period;
        let dues = self.open.each_ref().map(|queue| queue.front().map(|one| one.0));
        let way = match dues {
            [Some(read), Some(store)] => usize::from(store < read),
            [None, Some(_)] => 1,
            _ => 0,
        };
        let arrived = self.open[way].front().is_some_and(|(due, _)| *due <= next);
        self.offered = arrived;
        self.rsp_valid.set(u64::from(arrived));
        if arrived && let Some((due, request)) = self.open[way].pop_front() {
            let line = self.memory.borrow_mut().access(&request, due);
            self.rsp_tag.set(u64::from(request.tag));
            set_line(&self.rsp_data, &line);
        }
    }

    fn quiet(&self) -> bool {
        false
    }
}
