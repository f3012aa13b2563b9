// SPDX-License-Identifier: Apache-2.0
//! Both sides of a link in one program's memory: for tests of programs, without a link.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use super::{
    FPGA_MEMORY, Features, LINE_BYTES, Line, LineAccess, LineRequest, Memory, Port, Update,
    WORD_BYTES,
};
use crate::transport::TransportError;

/// The first line of the FPGA's memory.
const FPGA_LINE: u64 = FPGA_MEMORY / LINE_BYTES as u64;
/// Registers of each side.
const REGISTERS: usize = 64;

#[derive(Debug)]
struct Shared {
    /// Of the host and of the FPGA.
    lines: [Vec<Line>; 2],
    /// Registers of the host and of the FPGA, and interrupts that come to them.
    registers: [[u64; REGISTERS]; 2],
    interrupts: [VecDeque<u64>; 2],
}

/// Memory that two nodes of this program share. It has no caches.
#[derive(Clone, Debug)]
pub struct SharedMemory(Rc<RefCell<Shared>>);

impl SharedMemory {
    /// This many lines of the host, zero.
    #[must_use]
    pub fn new(lines: usize) -> Self {
        Self::of_both(lines, 0)
    }

    /// So many lines of the host, and so many of the FPGA from [`FPGA_MEMORY`] on, zero.
    #[must_use]
    pub fn of_both(host: usize, fpga: usize) -> Self {
        let lines = [host, fpga].map(|lines| vec![[0; LINE_BYTES]; lines]);
        let registers = [[0; REGISTERS]; 2];
        Self(Rc::new(RefCell::new(Shared { lines, registers, interrupts: Default::default() })))
    }

    /// The host's port: of its own memory cached accesses and updates, as a core has them.
    #[must_use]
    pub fn host(&self) -> SharedPort {
        SharedPort { shared: Rc::clone(&self.0), fpga: false }
    }

    /// The FPGA's port.
    #[must_use]
    pub fn fpga(&self) -> SharedPort {
        SharedPort { shared: Rc::clone(&self.0), fpga: true }
    }
}

/// A port of [`SharedMemory`].
#[derive(Debug)]
pub struct SharedPort {
    shared: Rc<RefCell<Shared>>,
    fpga: bool,
}

impl SharedPort {
    fn far(&self) -> usize {
        usize::from(!self.fpga)
    }

    fn register(&self, address: u64) -> usize {
        (address / WORD_BYTES as u64) as usize % REGISTERS
    }
}

fn answer(line: &mut Line, access: LineAccess) -> Line {
    match access {
        LineAccess::Load(_) | LineAccess::Flush => *line,
        LineAccess::Store(_, mask, data) => {
            let bytes = line.iter_mut().zip(*data).enumerate();
            bytes.filter(|(at, _)| mask >> at & 1 != 0).for_each(|(_, (old, new))| *old = new);
            *line
        }
        LineAccess::Update { word, how } => {
            let at = word % (LINE_BYTES / WORD_BYTES) * WORD_BYTES;
            let place = &mut line[at..at + WORD_BYTES];
            let old = place.iter().rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
            let new = match how {
                Update::Increment => old.wrapping_add(1),
                Update::Decrement => old.wrapping_sub(1),
                Update::CompareSwap { expected, new } if old == expected => new,
                Update::CompareSwap { .. } => old,
            };
            place.copy_from_slice(&new.to_le_bytes());
            let mut answer = [0; LINE_BYTES];
            answer[..WORD_BYTES].copy_from_slice(&old.to_le_bytes());
            answer
        }
        LineAccess::Atomic { word, how } => {
            let (was, at) = (*line, word % (LINE_BYTES / WORD_BYTES) * WORD_BYTES);
            let place = &mut line[at..at + WORD_BYTES];
            let old = place.iter().rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
            place.copy_from_slice(&how.apply(old).to_le_bytes());
            was
        }
    }
}

impl Port for SharedPort {
    fn memories(&self) -> Vec<Memory> {
        let of = |(fpga, first): (bool, u64)| {
            let lines = self.shared.borrow().lines[usize::from(fpga)].len() as u64;
            let far = fpga != self.fpga;
            let features = Features { uncached: far, updates: true, atomics: far };
            Memory { first, lines, features }
        };
        let all = [(false, 0), (true, FPGA_LINE)].map(of);
        all.into_iter().filter(|memory| memory.lines > 0).collect()
    }

    async fn access(&mut self, requests: Vec<LineRequest>) -> Result<Vec<Line>, TransportError> {
        let mut shared = self.shared.borrow_mut();
        let one = |request: LineRequest| {
            let fpga = request.line >= FPGA_LINE;
            let at = request.line - if fpga { FPGA_LINE } else { 0 };
            let line = shared.lines[usize::from(fpga)].get_mut(at as usize);
            let outside = || TransportError::Other(format!("no line {}", request.line));
            line.map(|line| answer(line, request.access)).ok_or_else(outside)
        };
        requests.into_iter().map(one).collect()
    }

    async fn load_register(&mut self, address: u64) -> Result<u64, TransportError> {
        Ok(self.shared.borrow().registers[self.far()][self.register(address)])
    }

    async fn store_register(
        &mut self,
        address: u64,
        mask: u8,
        word: u64,
    ) -> Result<(), TransportError> {
        let bits = (0..WORD_BYTES).filter(|byte| mask >> byte & 1 != 0);
        let bits: u64 = bits.map(|byte| 0xFF << (8 * byte)).sum();
        let (far, at) = (self.far(), self.register(address));
        let place = &mut self.shared.borrow_mut().registers[far][at];
        *place = *place & !bits | word & bits;
        Ok(())
    }

    async fn barrier(&mut self) -> Result<(), TransportError> {
        Ok(())
    }

    async fn interrupt(&mut self, number: u64) -> Result<(), TransportError> {
        let far = self.far();
        self.shared.borrow_mut().interrupts[far].push_back(number);
        Ok(())
    }

    async fn interrupted(&mut self, _: Duration) -> Result<Option<u64>, TransportError> {
        // Nothing comes while a program of one thread waits.
        Ok(self.shared.borrow_mut().interrupts[usize::from(self.fpga)].pop_front())
    }
}
