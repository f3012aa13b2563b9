// SPDX-License-Identifier: Apache-2.0

use super::wire::{Flags, Format, MAX_COUNT, Record, Width};
use super::{Access, Error, Operation};

/// Operations that the slave executes in order with the bus cycle line held, so that nobody else
/// comes between them.
///
/// A cycle is *checked* unless made [`silent`](Cycle::silent): after every 32 bus operations (at 32
/// bit) and at the end, the slave's error register is read along, and failed operations are named.
/// Addresses are byte addresses; sub-word data lies in the lanes of a big-endian bus.
#[derive(Debug, Clone, Default)]
pub struct Cycle {
    operations: Vec<Planned>,
    silent: bool,
}

#[derive(Debug, Clone, Copy)]
struct Planned {
    access: Access,
    address: u64,
    data: u64,
    /// `None`: the width of the data port.
    width: Option<Width>,
}

/// What a cycle read.
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
        self.silent = true;
        self
    }

    /// Operations so far.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there is no operation yet.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    fn push(mut self, access: Access, address: u64, data: u64, width: Option<Width>) -> Self {
        self.operations.push(Planned { access, address, data, width });
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
    pub fn reads(self, addresses: impl IntoIterator<Item = u64>) -> Self {
        addresses.into_iter().fold(self, Cycle::read)
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

    /// Bytes of the whole datagram with this cycle alone.
    pub fn message_len(&self, format: Format) -> Result<usize, Error> {
        Ok(format.header() + self.plan(format)?.bytes)
    }

    pub(super) fn plan(&self, format: Format) -> Result<Plan, Error> {
        let mut plan = Plan::default();
        let mut unchecked = Vec::new();
        for (index, planned) in self.operations.iter().enumerate() {
            let operation = Operation { access: planned.access, address: planned.address, index };
            plan.operations.push(operation);
            plan.add(format, planned, operation)?;
            if matches!(planned.access, Access::Read | Access::Write) && !self.silent {
                unchecked.push(index);
                if unchecked.len() == 8 * format.data.bytes() {
                    plan.add_status(format, std::mem::take(&mut unchecked));
                }
            }
        }
        if !unchecked.is_empty() {
            plan.add_status(format, unchecked);
        }
        plan.records.last_mut().ok_or(Error::Empty)?.flags |= Flags::CYC;
        plan.bytes = plan.records.iter().map(|r| r.encoded_len(format)).sum();
        Ok(plan)
    }
}

/// A word that the reply must bring.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Expected {
    /// The value of a read; sub-word values are shifted down and cut to the mask.
    Value { shift: u32, mask: u64 },
    /// The error register; its bits stand for these operations, the last one in bit 0.
    Status { covers: Vec<usize> },
}

/// A cycle as records, and what its reply must look like.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    /// Return addresses hold only the low bit: 1 marks the error register.
    pub(super) records: Vec<Record>,
    pub(super) operations: Vec<Operation>,
    pub(super) bytes: usize,
    expected: Vec<Expected>,
}

impl Plan {
    pub(super) fn expects_reply(&self) -> bool {
        !self.expected.is_empty()
    }

    pub(super) fn words_expected(&self) -> usize {
        self.expected.len()
    }

    pub(super) fn first(&self) -> Operation {
        // A plan has at least one operation: `Cycle::plan` refuses empty cycles.
        self.operations.first().copied().unwrap_or(Operation {
            access: Access::Read,
            address: 0,
            index: 0,
        })
    }

    fn add(
        &mut self,
        format: Format,
        planned: &Planned,
        operation: Operation,
    ) -> Result<(), Error> {
        let wrong = |reason: String| Error::Operation { operation, reason };
        let port = format.data;
        let width = planned.width.unwrap_or(port);
        let config = matches!(planned.access, Access::ReadConfig | Access::WriteConfig);
        if width > port {
            return Err(wrong(format!(
                "{} bit wide, the data port has {}",
                8 * width.bytes(),
                8 * port.bytes()
            )));
        }
        if planned.address > format.address.mask() {
            return Err(wrong(format!("address beyond {} bit", 8 * format.address.bytes())));
        }
        if !planned.address.is_multiple_of(width.bytes() as u64) {
            return Err(wrong(format!("address must be a multiple of {}", width.bytes())));
        }
        if planned.data > width.mask() {
            return Err(wrong(format!(
                "value {:#x} does not fit {} bit",
                planned.data,
                8 * width.bytes()
            )));
        }
        let stride = port.bytes() as u64;
        let within = planned.address % stride;
        let base = planned.address - within;
        let lane = stride - width.bytes() as u64 - within;
        let shift = 8 * lane as u32;
        let byte_enable = (((1u16 << width.bytes()) - 1) << lane) as u8;
        match planned.access {
            Access::Read | Access::ReadConfig => {
                let space = if config { Flags::RCA } else { Flags(0) };
                let record = self.record_for(byte_enable, |record| {
                    record.reads.len() < MAX_COUNT
                        && (record.reads.is_empty() || record.flags.has(Flags::RCA) == config)
                });
                record.flags |= space;
                record.reads.push(base);
                self.expected.push(Expected::Value { shift, mask: width.mask() });
            }
            Access::Write | Access::WriteConfig => {
                let space = if config { Flags::WCA } else { Flags(0) };
                let record = self.record_for(byte_enable, |record| {
                    record.reads.is_empty()
                        && record.flags.has(Flags::WCA) == config
                        && continues(record, base, stride)
                });
                match record.writes.len() {
                    0 => record.write_base = base,
                    1 if record.write_base == base => record.flags |= Flags::WFF,
                    _ => {}
                }
                record.flags |= space;
                record.writes.push(planned.data << shift);
            }
        }
        Ok(())
    }

    fn add_status(&mut self, format: Format, covers: Vec<usize>) {
        let width = format.data.bytes();
        self.records.push(Record {
            flags: Flags::BCA | Flags::RCA | Flags::RFF,
            byte_enable: ((1u16 << width) - 1) as u8,
            return_base: 1,
            reads: vec![8 - width as u64],
            ..Record::default()
        });
        self.expected.push(Expected::Status { covers });
    }

    /// The last record if the operation fits it, otherwise a new one.
    fn record_for(&mut self, byte_enable: u8, fits: impl Fn(&Record) -> bool) -> &mut Record {
        let joins = self.records.last().is_some_and(|record| {
            record.byte_enable == byte_enable && record.return_base == 0 && fits(record)
        });
        if !joins {
            self.records.push(Record {
                flags: Flags::BCA | Flags::RFF,
                byte_enable,
                ..Record::default()
            });
        }
        let last = self.records.len() - 1;
        &mut self.records[last]
    }

    /// Turns the words of the reply (each with its mark as error register) into the result.
    pub(super) fn finish(&self, words: &[(bool, u64)]) -> Result<CycleReply, Error> {
        let reply_error = |reason: String| Error::Reply { first: self.first(), reason };
        if words.len() != self.expected.len() {
            return Err(reply_error(format!(
                "{} words instead of {}",
                words.len(),
                self.expected.len()
            )));
        }
        let mut reads = Vec::with_capacity(words.len());
        let mut failed = Vec::new();
        for (position, (expected, (status, word))) in self.expected.iter().zip(words).enumerate() {
            match expected {
                Expected::Value { shift, mask } if !status => reads.push(word >> shift & mask),
                Expected::Status { covers } if *status => {
                    let last = covers.len() - 1;
                    let bad = |(n, _): &(usize, &usize)| word >> (last - n) & 1 == 1;
                    failed.extend(covers.iter().enumerate().filter(bad).map(|(_, index)| *index));
                }
                _ => {
                    return Err(reply_error(format!(
                        "word {position} came for the wrong return address"
                    )));
                }
            }
        }
        match failed.first().and_then(|index| self.operations.get(*index)) {
            Some(first) => {
                Err(Error::Bus { first: *first, failed, operations: self.operations.len(), reads })
            }
            None => Ok(CycleReply { reads }),
        }
    }
}

fn continues(record: &Record, base: u64, stride: u64) -> bool {
    let count = record.writes.len();
    let next = record.write_base.wrapping_add(stride * count as u64);
    match count {
        0 => true,
        1 => base == record.write_base || base == next,
        _ if count >= MAX_COUNT => false,
        _ if record.flags.has(Flags::WFF) => base == record.write_base,
        _ => base == next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(cycle: &Cycle) -> Vec<(u8, u8, usize, usize)> {
        let plan = cycle.plan(Format::W32).expect("plans");
        plan.records
            .iter()
            .map(|r| (r.flags.0, r.byte_enable, r.writes.len(), r.reads.len()))
            .collect()
    }

    #[test]
    fn lengths_of_the_format_page() {
        // n reads: 16, 20, 28, 44, 76 bytes without and 28, 32, 40, 56, 88 with the check.
        for (n, bare, checked) in [(1, 16, 28), (2, 20, 32), (4, 28, 40), (8, 44, 56), (16, 76, 88)]
        {
            let cycle = Cycle::new().reads((0..n).map(|i| 4 * i));
            let length = |c: &Cycle| c.message_len(Format::W32).expect("plans");
            assert_eq!(length(&cycle.clone().silent()), bare);
            assert_eq!(length(&cycle), checked);
        }
    }

    #[test]
    fn status_every_32_operations_and_at_the_end() {
        let counts = |n: u64| -> Vec<usize> {
            let cycle = Cycle::new().reads((0..n).map(|i| 4 * i));
            records(&cycle).iter().map(|r| r.3).collect()
        };
        assert_eq!(counts(31), [31, 1]);
        assert_eq!(counts(32), [32, 1]);
        assert_eq!(counts(33), [32, 1, 1, 1]);
        let silent = Cycle::new().read_fifo(0, 300).silent();
        assert_eq!(records(&silent), [(0xA0, 0xF, 0, 255), (0xA8, 0xF, 0, 45)]);
    }

    #[test]
    fn grouping_keeps_the_order() {
        let cycle = Cycle::new()
            .write(0x10, 1)
            .write(0x14, 2)
            .read(0x10)
            .write(0x20, 3)
            .write(0x20, 4)
            .write(0x20, 5)
            .write(0x24, 6)
            .read_width(0x11, Width::W8)
            .read_config(0xC)
            .silent();
        assert_eq!(
            records(&cycle),
            [
                (0xA0, 0xF, 2, 1),
                (0xA2, 0xF, 3, 0),
                (0xA0, 0xF, 1, 0),
                (0xA0, 0b0100, 0, 1),
                (0xE8, 0xF, 0, 1),
            ]
        );
    }

    #[test]
    fn bad_operations_are_named() {
        let text = |cycle: Cycle| cycle.plan(Format::W32).expect_err("refused").to_string();
        assert_eq!(
            text(Cycle::new().read(0).read(2)),
            "read 0x00000002 (operation 1): address must be a multiple of 4"
        );
        assert!(text(Cycle::new().read(1 << 32)).contains("address beyond 32 bit"));
        assert!(text(Cycle::new().write(0, 1 << 32)).contains("does not fit 32 bit"));
        assert!(text(Cycle::new().read_width(0, Width::W64)).contains("data port has 32"));
        assert_eq!(text(Cycle::new()), "the cycle has no operation");
    }

    #[test]
    fn failed_operations_come_from_the_register() {
        let plan = Cycle::new().read(0).read(4).write(8, 1).plan(Format::W32).expect("plans");
        let error = plan.finish(&[(false, 7), (false, 0), (true, 0xF8 | 0b010)]);
        let Err(Error::Bus { first, failed, reads, .. }) = error else {
            panic!("no bus error: {error:?}");
        };
        assert_eq!((first.address, failed, reads), (4, vec![1], vec![7, 0]));
        assert!(matches!(plan.finish(&[(false, 7)]), Err(Error::Reply { .. })));
        let swapped = plan.finish(&[(true, 0), (false, 0), (false, 0)]);
        assert!(matches!(swapped, Err(Error::Reply { .. })));
    }
}
