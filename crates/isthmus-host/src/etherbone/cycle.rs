// SPDX-License-Identifier: Apache-2.0

use std::sync::Arc;

use super::wire::{Format, Width};
use super::{Access, Operation};

/// Operations that the slave executes in order with the bus cycle line held, so that no other
/// master can interrupt them.
///
/// A cycle is *checked* unless made [`silent`](Cycle::silent): after every 32 bus operations (at 32
/// bit) and at the end, the slave's error register is read along, and failed operations are named.
/// Addresses are byte addresses; sub-word data lies in the lanes of a big-endian bus. Clones share
/// their operations.
#[derive(Debug, Clone, Default)]
pub struct Cycle {
    operations: Operations,
    pub(super) silent: bool,
    repeatable: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Planned {
    pub(super) address: u64,
    pub(super) data: u64,
    pub(super) access: Access,
    /// `None`: the width of the data port.
    pub(super) width: Option<Width>,
}

/// Operations that are stored in the cycle itself and need no separate memory.
const FEW: usize = 2;

#[derive(Debug, Clone)]
enum Operations {
    Few {
        count: usize,
        planned: [Planned; FEW],
    },
    /// Clones share them.
    Many(Arc<Vec<Planned>>),
}

impl Default for Operations {
    fn default() -> Self {
        let none = Planned { address: 0, data: 0, access: Access::Read, width: None };
        Self::Few { count: 0, planned: [none; FEW] }
    }
}

impl Operations {
    #[inline]
    fn as_slice(&self) -> &[Planned] {
        match self {
            Self::Few { count, planned } => planned.get(..*count).unwrap_or_default(),
            Self::Many(planned) => planned,
        }
    }

    #[inline]
    fn push(&mut self, operation: Planned) {
        if let Self::Few { count, planned } = self
            && let Some(place) = planned.get_mut(*count)
        {
            *place = operation;
            *count += 1;
            return;
        }
        self.many(1).push(operation);
    }

    fn extend(&mut self, operations: impl Iterator<Item = Planned>) {
        let least = operations.size_hint().0;
        if self.as_slice().len() + least > FEW {
            self.many(least).extend(operations);
        } else {
            operations.for_each(|operation| self.push(operation));
        }
    }

    /// The operations in separate memory, with space for this many more.
    fn many(&mut self, more: usize) -> &mut Vec<Planned> {
        if let Self::Few { count, planned } = self {
            let mut operations = Vec::with_capacity((*count + more).max(4 * FEW));
            operations.extend_from_slice(planned.get(..*count).unwrap_or_default());
            *self = Self::Many(Arc::new(operations));
        }
        match self {
            Self::Many(operations) => Arc::make_mut(operations),
            Self::Few { .. } => unreachable!("replaced just now"),
        }
    }

    /// Becomes a clone of `other`; only operations that there are are copied.
    #[inline]
    fn assign(&mut self, other: &Self) {
        match (self, other) {
            (Self::Few { count, planned }, Self::Few { count: length, planned: others }) => {
                *count = *length;
                for (place, operation) in planned.iter_mut().zip(others).take(*length) {
                    *place = *operation;
                }
            }
            (place, other) => *place = other.clone(),
        }
    }

    /// Forgets the operations and frees their memory.
    fn forget(&mut self) {
        match self {
            Self::Few { count, .. } => *count = 0,
            Self::Many(_) => *self = Self::default(),
        }
    }

    /// Forgets the operations; memory that no clone shares is kept for others.
    fn clear(&mut self) {
        match self {
            Self::Few { count, .. } => *count = 0,
            Self::Many(planned) => match Arc::get_mut(planned) {
                Some(planned) => planned.clear(),
                None => *self = Self::default(),
            },
        }
    }
}

/// The values that a cycle read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CycleReply {
    /// Values of all reads, on the bus and in configuration space, in order.
    pub reads: Vec<u64>,
}

impl Cycle {
    /// A cycle without operations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Leaves out the reads of the error register: shorter, and errors go unnoticed.
    pub fn silent(mut self) -> Self {
        self.make_silent();
        self
    }

    /// As [`silent`](Self::silent), in place.
    pub fn make_silent(&mut self) {
        self.silent = true;
    }

    /// Says that executing the cycle twice does no harm: it reads registers that a read does not
    /// change, or writes what may be written again. Such a cycle is sent again when its reply is
    /// lost, also to a device without sessions ([`ClientConfig::retries`](super::ClientConfig)).
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    pub(super) fn is_repeatable(&self) -> bool {
        self.repeatable
    }

    /// Gives the memory of its operations back.
    pub(super) fn forget(&mut self) {
        self.operations.forget();
    }

    /// Becomes a clone of `other`.
    #[inline]
    pub(super) fn assign(&mut self, other: &Self) {
        self.operations.assign(&other.operations);
        self.silent = other.silent;
        self.repeatable = other.repeatable;
    }

    pub(super) fn operations(&self) -> &[Planned] {
        self.operations.as_slice()
    }

    /// Operations so far.
    pub fn len(&self) -> usize {
        self.operations().len()
    }

    /// True if there is no operation yet.
    pub fn is_empty(&self) -> bool {
        self.operations().is_empty()
    }

    /// Makes it a new cycle that has no operation and is neither silent nor repeatable, and keeps its
    /// memory.
    pub fn clear(&mut self) {
        self.operations.clear();
        self.silent = false;
        self.repeatable = false;
    }

    /// Adds one operation in place; `width` is `None` for the data port's, and always in
    /// configuration space. A read has no `data`.
    #[inline]
    pub fn add(&mut self, access: Access, address: u64, data: u64, width: Option<Width>) {
        self.operations.push(Planned { address, data, access, width });
    }

    fn push(mut self, access: Access, address: u64, data: u64, width: Option<Width>) -> Self {
        self.add(access, address, data, width);
        self
    }

    /// Reads one word of the data port's width.
    pub fn read(self, address: u64) -> Self {
        self.push(Access::Read, address, 0, None)
    }

    /// Writes one word of the data port's width.
    pub fn write(self, address: u64, data: u64) -> Self {
        self.push(Access::Write, address, data, None)
    }

    /// Reads `width` bits only: byte enables select the lanes.
    pub fn read_width(self, address: u64, width: Width) -> Self {
        self.push(Access::Read, address, 0, Some(width))
    }

    /// Writes `width` bits only: byte enables select the lanes.
    pub fn write_width(self, address: u64, data: u64, width: Width) -> Self {
        self.push(Access::Write, address, data, Some(width))
    }

    /// Reads several addresses.
    pub fn reads(mut self, addresses: impl IntoIterator<Item = u64>) -> Self {
        self.operations.extend(addresses.into_iter().map(|address| Planned {
            address,
            data: 0,
            access: Access::Read,
            width: None,
        }));
        self
    }

    /// Writes several pairs of address and value. Consecutive addresses share one record.
    pub fn writes(self, pairs: impl IntoIterator<Item = (u64, u64)>) -> Self {
        pairs.into_iter().fold(self, |cycle, (address, data)| cycle.write(address, data))
    }

    /// Reads one address `count` times: drains a FIFO.
    pub fn read_fifo(self, address: u64, count: usize) -> Self {
        self.reads(std::iter::repeat_n(address, count))
    }

    /// Writes all values to one address: fills a FIFO.
    pub fn write_fifo(self, address: u64, values: impl IntoIterator<Item = u64>) -> Self {
        self.writes(values.into_iter().map(|value| (address, value)))
    }

    /// Reads one word of the slave's configuration space.
    pub fn read_config(self, address: u64) -> Self {
        self.push(Access::ReadConfig, address, 0, None)
    }

    /// Writes one word of the slave's configuration space.
    pub fn write_config(self, address: u64, data: u64) -> Self {
        self.push(Access::WriteConfig, address, data, None)
    }

    /// The operation at `index`, as errors name it. The first one of an empty cycle is a read of 0.
    pub(super) fn operation(&self, index: usize) -> Operation {
        match self.operations().get(index) {
            Some(planned) => Operation { access: planned.access, address: planned.address, index },
            None => Operation { access: Access::Read, address: 0, index },
        }
    }
}

impl Planned {
    pub(super) fn is_config(&self) -> bool {
        matches!(self.access, Access::ReadConfig | Access::WriteConfig)
    }

    pub(super) fn is_read(&self) -> bool {
        matches!(self.access, Access::Read | Access::ReadConfig)
    }

    /// Reads a whole word of the bus.
    pub(super) fn is_plain_read(&self) -> bool {
        self.access == Access::Read && self.width.is_none()
    }

    /// Aligned address, and the lowest lane of the operation.
    pub(super) fn lanes(&self, format: Format) -> (u64, u32) {
        let stride = format.data.bytes() as u64;
        let within = self.address % stride;
        let width = self.width.unwrap_or(format.data).bytes() as u64;
        (self.address - within, stride.saturating_sub(width + within) as u32)
    }

    /// The value of a read, extracted from the full word.
    pub(super) fn value(&self, word: u64, format: Format) -> u64 {
        match self.width {
            None => word,
            Some(width) => word >> (8 * self.lanes(format).1) & width.mask(),
        }
    }

    pub(super) fn check(&self, format: Format) -> Result<(), String> {
        let width = self.width.unwrap_or(format.data);
        if width > format.data {
            let (wide, port) = (8 * width.bytes(), 8 * format.data.bytes());
            return Err(format!("{wide} bit wide, the data port has {port}"));
        }
        if self.address > format.address.mask() {
            return Err(format!("address beyond {} bit", 8 * format.address.bytes()));
        }
        if self.address & (width.bytes() as u64 - 1) != 0 {
            return Err(format!("address must be a multiple of {}", width.bytes()));
        }
        if self.data > width.mask() {
            let bits = 8 * width.bytes();
            return Err(format!("value {:#x} does not fit {bits} bit", self.data));
        }
        Ok(())
    }
}
