// SPDX-License-Identifier: Apache-2.0
//! Sends events as datagrams of records at their rate, and takes the answers. Formats:
//! `docs/reference/trigger-formats.md`.

use std::io::{ErrorKind, Result};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::paced::Times;
use crate::record::{DATAGRAM_HEADER_BYTES, DATAGRAM_RECORDS, RECORD_BYTES, Record};
use crate::rings::Finder;
use crate::serve::{ANSWER_BYTES, answer};
use crate::simd::Level;
use crate::socket::{grow, passing};

/// Datagrams in a row at most, when several are due: answers are taken in between.
const BURST: usize = 32;
/// How long after the last datagram or answer the sender waits for another answer.
const SILENCE: Duration = Duration::from_millis(500);
/// How often `tick` is called, at least.
const TICK: Duration = Duration::from_millis(100);
/// Events whose answers are computed between two looks at `tick`.
const CHUNK: usize = 1 << 16;
/// Bytes of the longest answer.
const LONGEST: usize = DATAGRAM_HEADER_BYTES + DATAGRAM_RECORDS * ANSWER_BYTES;

/// What was sent, and what came back.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sent {
    /// Datagrams that the system took.
    pub datagrams: usize,
    /// Their events.
    pub events: usize,
    /// Datagrams that the system did not take: its buffer was full.
    pub unsent: usize,
    /// Refusals that came back: nobody listens at the address.
    pub refused: usize,
    /// Datagrams that were answered.
    pub answered: usize,
    /// Of these, with other circles than this machine finds.
    pub different: usize,
    /// What came and is no answer to a datagram that is waiting for one.
    pub unexpected: usize,
    /// Events a second that were sent.
    pub per_second: f64,
    /// From the time at which a datagram was due to its answer.
    pub answers: Times,
}

/// A datagram of these records, numbered from `first` on.
fn datagram(first: usize, records: &[Record]) -> Vec<u8> {
    let head = first as u32 & 0xFF_FFFF | (records.len() as u32) << 24;
    [&head.to_le_bytes()[..], &records.concat()].concat()
}

/// The answers to all datagrams; None: `go` has ended it.
fn answers(finder: &Finder, records: &[Record], mut go: impl FnMut() -> bool) -> Option<Vec<u8>> {
    let mut found = Vec::new();
    let mut all = Vec::with_capacity(records.len().div_ceil(DATAGRAM_RECORDS) * LONGEST);
    let mut bytes = Vec::new();
    for (number, chunk) in records.chunks(CHUNK / DATAGRAM_RECORDS * DATAGRAM_RECORDS).enumerate() {
        if !go() {
            return None;
        }
        let base = number * (CHUNK / DATAGRAM_RECORDS * DATAGRAM_RECORDS);
        finder.find(Level::best(), chunk, &mut found);
        for (at, events) in found.chunks(DATAGRAM_RECORDS).enumerate() {
            answer((base + at * DATAGRAM_RECORDS) as u32 & 0xFF_FFFF, events, &mut bytes);
            bytes.resize(LONGEST, 0);
            all.extend_from_slice(&bytes);
        }
    }
    Some(all)
}

/// Sends `records`, [`DATAGRAM_RECORDS`] a datagram and `rate_hz` events a second, on a connected socket, until all are
/// answered, or nothing has come for half a second. `tick` is called with datagrams sent and in all, ten times a
/// second; false ends it.
///
/// # Errors
/// Of the socket, other than those of one datagram.
pub fn send(
    socket: &UdpSocket,
    finder: &Finder,
    records: &[Record],
    rate_hz: f64,
    mut tick: impl FnMut(usize, usize) -> bool,
) -> Result<Sent> {
    socket.set_nonblocking(true)?;
    grow(socket);
    debug_assert_eq!(size_of::<Record>(), RECORD_BYTES);
    let total = records.len().div_ceil(DATAGRAM_RECORDS);
    let mut sent = Sent::default();
    let Some(expected) = answers(finder, records, || tick(0, total)) else { return Ok(sent) };
    // None: not sent, or answered.
    let mut waiting: Vec<Option<Duration>> = vec![None; total];
    let mut times = Vec::with_capacity(total);
    let mut tried = 0;
    let mut bytes = [0; LONGEST + 1];
    let start = Instant::now();
    let (mut heard, mut next) = (Duration::ZERO, Duration::ZERO);
    loop {
        let now = start.elapsed();
        if now >= next {
            if !tick(tried, total) {
                break;
            }
            next = now + TICK;
        }
        for _ in 0..BURST {
            let due = Duration::from_secs_f64((tried * DATAGRAM_RECORDS) as f64 / rate_hz);
            if tried == total || start.elapsed() < due {
                break;
            }
            let first = tried * DATAGRAM_RECORDS;
            let events = &records[first..records.len().min(first + DATAGRAM_RECORDS)];
            match socket.send(&datagram(first, events)) {
                Ok(_) => {
                    waiting[tried] = Some(due);
                    sent.datagrams += 1;
                    sent.events += events.len();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => sent.unsent += 1,
                // Of a datagram before: this one has not been sent yet.
                Err(error) if passing(error.kind()) => {
                    sent.refused += usize::from(is_refusal(error.kind()));
                    continue;
                }
                Err(error) => return Err(error),
            }
            tried += 1;
            heard = start.elapsed();
            sent.per_second = sent.events as f64 / heard.as_secs_f64().max(1e-9);
        }
        loop {
            let length = match socket.recv(&mut bytes) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if passing(error.kind()) => {
                    sent.refused += usize::from(is_refusal(error.kind()));
                    continue;
                }
                Err(error) => return Err(error),
            };
            heard = start.elapsed();
            let number = number(&bytes[..length], records.len());
            let Some((number, due)) = number.and_then(|at| Some((at, waiting[at].take()?))) else {
                sent.unexpected += 1;
                continue;
            };
            times.push((heard - due).as_nanos() as u64);
            sent.answered += 1;
            let must = &expected[LONGEST * number..LONGEST * (number + 1)];
            sent.different += usize::from(bytes[..length] != must[..length]);
        }
        let waits = sent.answered < sent.datagrams && start.elapsed() - heard < SILENCE;
        if tried == total && !waits {
            break;
        }
    }
    sent.answers = Times::of(times);
    Ok(sent)
}

/// A system says so of a datagram some time after it took it, at whatever is done with the socket next.
fn is_refusal(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}

/// Which datagram this answers, by its header and length.
fn number(bytes: &[u8], events: usize) -> Option<usize> {
    let (head, rest) = bytes.split_first_chunk::<DATAGRAM_HEADER_BYTES>()?;
    let head = u32::from_le_bytes(*head) as usize;
    let (first, count) = (head & 0xFF_FFFF, head >> 24);
    let must = events.checked_sub(first)?.min(DATAGRAM_RECORDS);
    let is_one = first % DATAGRAM_RECORDS == 0 && count == must && count > 0;
    (is_one && rest.len() == count * ANSWER_BYTES).then_some(first / DATAGRAM_RECORDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::EMPTY;

    #[test]
    fn a_datagram_has_its_first_events_number_and_its_records() {
        let made = datagram(40, &[EMPTY; 3]);
        assert_eq!(made.len(), DATAGRAM_HEADER_BYTES + 3 * RECORD_BYTES);
        assert_eq!(made[..4], [40, 0, 0, 3]);
        assert!(crate::record::datagram(&made).is_ok());
    }

    #[test]
    fn an_answer_is_told_by_its_number_its_count_and_its_length() {
        let mut bytes = Vec::new();
        answer(20, &[crate::rings::Found::default(); 20], &mut bytes);
        assert_eq!(number(&bytes, 50), Some(1));
        assert_eq!(number(&bytes[..bytes.len() - 1], 50), None);
        // The last datagram of 50 events has 10.
        answer(40, &[crate::rings::Found::default(); 10], &mut bytes);
        assert_eq!(
            (number(&bytes, 50), number(&bytes, 60), number(&bytes, 49)),
            (Some(2), None, None)
        );
        answer(41, &[crate::rings::Found::default(); 9], &mut bytes);
        assert_eq!(number(&bytes, 50), None);
        for wrong in [&[][..], &[0, 0, 0, 0], &[0xFF; 4], &[0; 3]] {
            assert_eq!(number(wrong, 50), None);
        }
    }
}
