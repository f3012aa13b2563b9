// SPDX-License-Identifier: Apache-2.0
//! Which TDC channel a photomultiplier is on, and records from boards' data and back.
//!
//! The RICH has four boards of 512 channels for its photomultipliers. Here those of disk 0 are channels 0 to
//! 975 and those of disk 1 the next: 32 channels a TDC, four TDCs an FPGA, four FPGAs a board.

use super::FormatError;
use super::tel62::{Board, Edge, Fpga, Frame};
use crate::geometry::SITES;
use crate::record::{self, Header, Hit, Record, SLOTS};

/// Boards of the photomultipliers.
pub const BOARDS: usize = 4;

/// The data of all boards that an event gives, in the order of their numbers.
#[must_use]
pub fn boards(event: &Record) -> [Board; BOARDS] {
    let head = record::header(event);
    let mut made: [Board; BOARDS] = Default::default();
    for (number, board) in made.iter_mut().enumerate() {
        board.number = number as u8;
        board.fpgas =
            (0..4).map(|number| Fpga { number, frames_read: 1, frames: vec![] }).collect();
    }
    let start = i64::from(head.timestamp) << 8 | i64::from(head.fine);
    for hit in record::hits(event).filter(|hit| usize::from(hit.id) < SITES) {
        let channel = usize::from(head.disk) * SITES + usize::from(hit.id);
        let time = (start + i64::from(hit.time)).max(0) as u64;
        let period = (time >> 8) as u16;
        let edge = Edge {
            time: time as u32 & 0x7_FFFF,
            channel: channel as u8 & 0x1F,
            tdc: (channel >> 5) as u8 & 3,
            crc: 0,
            leading: true,
        };
        let frames = &mut made[channel >> 9].fpgas[channel >> 7 & 3].frames;
        match frames.iter_mut().find(|frame| frame.timestamp == period) {
            Some(frame) => frame.edges.push(edge),
            None => frames.push(Frame { timestamp: period, edges: vec![edge] }),
        }
    }
    made
}

/// The record of an event from its boards' data: leading edges in the order of their times, later ones
/// than there are slots for left out. The disk is that of most hits; hits of the other are left out.
pub fn record<'a>(
    boards: impl IntoIterator<Item = &'a Board>,
    timestamp: u32,
) -> Result<Record, FormatError> {
    let mut found: Vec<(i32, u8, u16)> = Vec::new();
    for board in boards {
        for fpga in &board.fpgas {
            for edge in fpga.frames.iter().flat_map(|frame| &frame.edges).filter(|e| e.leading) {
                let channel = usize::from(board.number) << 9
                    | usize::from(fpga.number) << 7
                    | usize::from(edge.tdc) << 5
                    | usize::from(edge.channel);
                if usize::from(board.number) >= BOARDS || channel >= 2 * SITES {
                    return Err(FormatError::Value { what: "channel", value: channel as u64 });
                }
                // After the timestamp, modulo 19 bits, as a signed number.
                let since = edge.time.wrapping_sub(timestamp << 8) << 13;
                found.push((
                    (since as i32) >> 13,
                    (channel / SITES) as u8,
                    (channel % SITES) as u16,
                ));
            }
        }
    }
    found.sort_unstable();
    let second = found.iter().filter(|hit| hit.1 == 1).count();
    let disk = u8::from(2 * second > found.len());
    found.retain(|hit| hit.1 == disk);
    found.truncate(SLOTS);
    // The event's time is that of the middle hit.
    let middle = found.get(found.len() / 2).map_or(0, |hit| hit.0);
    let hits: Vec<Hit> = found
        .iter()
        .map(|&(time, _, id)| Hit { id, time: (time - middle).clamp(-31, 31) as i8 })
        .collect();
    let start = (i64::from(timestamp) << 8) + i64::from(middle);
    let header = Header { timestamp: (start >> 8) as u32, fine: start as u8, disk };
    Ok(record::encode(header, &hits).expect("as many hits as slots, ids of sites, times clamped"))
}
