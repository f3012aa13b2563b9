// SPDX-License-Identifier: Apache-2.0
//! Answers datagrams of records with their circles, on one core. Formats: `docs/reference/trigger-formats.md`.

use crate::record::{self, DATAGRAM_HEADER_BYTES, DATAGRAM_RECORDS, RECORD_BYTES, Record};
use crate::rings::{Finder, Found, MAX_FOUND};
use crate::simd::Level;
use crate::socket::Batch;
use serde::Serialize;
use std::io::Result;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Bytes of the answer to one event: the number of circles, a zero, and x, y and radius of three of them.
pub const ANSWER_BYTES: usize = 2 + 6 * MAX_FOUND;
/// Lengths in an answer are in this part of a millimetre.
pub const ANSWER_PER_MM: f32 = 64.0;
/// Bytes of the longest datagram of records.
pub(crate) const LONGEST: usize = DATAGRAM_HEADER_BYTES + DATAGRAM_RECORDS * RECORD_BYTES;
/// Maximum number of waiting datagrams that are processed as one batch, to fill more SIMD lanes. A batch never
/// waits for further datagrams.
const TOGETHER: usize = 16;
/// How often `tick` is called, at least.
const TICK: Duration = Duration::from_millis(100);
/// Without a datagram for this long the core sleeps between looks.
const AWAKE: Duration = Duration::from_millis(2);
const NAP: Duration = Duration::from_micros(100);

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Datagrams of records.
    pub datagrams: u64,
    /// Their events.
    pub events: u64,
    /// Datagrams that are none.
    pub malformed: u64,
    /// Events in which 0, 1, 2 and 3 circles were found.
    pub found: [u64; MAX_FOUND + 1],
    /// Answers that the system did not take.
    pub unsent: u64,
    /// The most datagrams that were searched together.
    pub together: u64,
}

/// The answer to a datagram: its header, then an entry an event.
pub fn answer(first: u32, found: &[Found], bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.extend((first | (found.len() as u32) << 24).to_le_bytes());
    for one in found {
        let start = bytes.len();
        bytes.extend([one.count, 0]);
        for ring in one.rings() {
            for value in [ring.x, ring.y] {
                bytes.extend(((value * ANSWER_PER_MM).round() as i16).to_le_bytes());
            }
            bytes.extend(((ring.r * ANSWER_PER_MM).round() as u16).to_le_bytes());
        }
        bytes.resize(start + ANSWER_BYTES, 0);
    }
}

/// Answers until `tick` returns false; it is called at the start and then ten times a second.
///
/// # Errors
/// Of the socket, other than those of one datagram.
pub fn serve(
    socket: &UdpSocket,
    finder: &Finder,
    level: Level,
    mut tick: impl FnMut(&Counts) -> bool,
) -> Result<Counts> {
    socket.set_nonblocking(true)?;
    let mut counts = Counts::default();
    let mut batch = Batch::new(socket, TOGETHER);
    let mut records: Vec<Record> = Vec::with_capacity(TOGETHER * DATAGRAM_RECORDS);
    let mut heads: Vec<(u32, usize)> = Vec::with_capacity(TOGETHER);
    let mut found = Vec::new();
    let mut answers = vec![Vec::new(); TOGETHER];
    let mut next = Instant::now();
    let mut busy = next;
    loop {
        let now = Instant::now();
        if now >= next {
            if !tick(&counts) {
                return Ok(counts);
            }
            next = now + TICK;
        }
        records.clear();
        heads.clear();
        batch.receive(socket, |bytes| match record::datagram(bytes) {
            Ok((first, events)) => {
                records.extend_from_slice(events);
                heads.push((first, events.len()));
                true
            }
            Err(_) => {
                counts.malformed += 1;
                false
            }
        })?;
        if heads.is_empty() {
            if now - busy > AWAKE {
                std::thread::sleep(NAP);
            } else {
                std::hint::spin_loop();
            }
            continue;
        }
        busy = now;
        finder.find(level, &records, &mut found);
        let mut rest = &found[..];
        for (&(first, events), to) in heads.iter().zip(&mut answers) {
            let (own, others) = rest.split_at(events);
            answer(first, own, to);
            rest = others;
        }
        counts.unsent += batch.answer(socket, &answers[..heads.len()]);
        counts.datagrams += heads.len() as u64;
        counts.events += records.len() as u64;
        counts.together = counts.together.max(heads.len() as u64);
        for one in &found {
            counts.found[usize::from(one.count)] += 1;
        }
    }
}
