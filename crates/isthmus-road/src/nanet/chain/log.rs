// SPDX-License-Identifier: Apache-2.0
//! What was sent, and what became of it: every answer is compared.

use std::collections::HashMap;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::FrameId;
use isthmus_sim::world::PhyFrame;
use isthmus_trigger::events::Truth;
use isthmus_trigger::record::Record;
use isthmus_trigger::rings::Seed;
use isthmus_trigger::score::Quality;

use super::super::release::Answer;
use crate::error::RoadError;

/// Bits of a word on the result pins: low part of the event's time stamp, rings found, low part of its number.
const STAMP_BITS: u32 = 24;
const RINGS_BITS: u32 = 4;
const NUMBER_MASK: u32 = 0xF;

/// The word of an answer.
pub(super) fn word(number: u32, timestamp: u32, rings: u8) -> u32 {
    timestamp & ((1 << STAMP_BITS) - 1)
        | u32::from(rings) << STAMP_BITS
        | (number & NUMBER_MASK) << (STAMP_BITS + RINGS_BITS)
}

/// A datagram of a group.
pub(super) struct Frame {
    pub(super) link: usize,
    pub(super) id: FrameId,
    /// UDP payload.
    pub(super) bytes: usize,
}

/// A group of events.
pub(super) struct Group {
    /// When its last event was there, and so it was to be sent.
    pub(super) due: Picoseconds,
    pub(super) frames: Vec<Frame>,
    pub(super) steps: Steps,
    /// Of each share of its events.
    pub(super) shares: Vec<Share>,
    pub(super) truths: Vec<Truth>,
    /// Answers of the gateware's model, with a search.
    pub(super) seeds: Vec<Vec<Seed>>,
    /// What the program's own merging makes of it, where the interface merges.
    pub(super) records: Vec<Record>,
}

/// When the program did what with a group.
#[derive(Clone, Copy, Default)]
pub(super) struct Steps {
    pub(super) seen: Picoseconds,
    pub(super) merged: Picoseconds,
}

/// When a core did what with its share of a group.
#[derive(Clone, Copy, Default)]
pub(super) struct Share {
    pub(super) begun: Picoseconds,
    pub(super) found: Picoseconds,
}

/// An event.
pub(super) struct Event {
    pub(super) time: Picoseconds,
    pub(super) timestamp: u32,
    /// Rings that a finder sees in it.
    pub(super) rings: u8,
    pub(super) answered: Option<Picoseconds>,
}

/// A group that was answered.
#[derive(Clone, Copy)]
pub(super) struct Trip {
    pub(super) group: usize,
    /// The last octet of its last datagram was on the interface's pins.
    pub(super) wire: Picoseconds,
    pub(super) seen: Picoseconds,
    pub(super) merged: Picoseconds,
    /// Of the share with the last answer.
    pub(super) begun: Picoseconds,
    pub(super) found: Picoseconds,
    /// Its last answer was on the result pins.
    pub(super) answered: Picoseconds,
}

/// Everything of a run.
#[derive(Default)]
pub(super) struct Log {
    pub(super) groups: Vec<Group>,
    pub(super) events: Vec<Event>,
    /// How well the rings of counted groups were found, and what the candidates alone are.
    pub(super) quality: Quality,
    pub(super) alone: Quality,
    size: usize,
}

impl Log {
    pub(super) fn new(size: usize) -> Self {
        Self { size, ..Self::default() }
    }

    /// The events of a group.
    pub(super) fn of(&self, group: usize) -> &[Event] {
        self.events.get(group * self.size..(group + 1) * self.size).unwrap_or_default()
    }

    /// Notes when a core worked on a share of a group.
    pub(super) fn note(&mut self, group: usize, share: usize, times: Share) {
        let group = self.groups.get_mut(group);
        if let Some(place) = group.and_then(|group| group.shares.get_mut(share)) {
            *place = times;
        }
    }

    /// All events, for the trigger lines.
    pub(super) fn answers(&self) -> Vec<Answer> {
        let of = |event: &Event| Answer {
            stamp: event.timestamp.into(),
            rings: event.rings,
            answered: event.answered,
        };
        self.events.iter().map(of).collect()
    }

    /// Events without an answer.
    pub(super) fn missing(&self) -> u64 {
        self.events.iter().filter(|event| event.answered.is_none()).count() as u64
    }

    /// Notes what came out by the pins. Each word must be the answer to an event that has none yet.
    pub(super) fn results(&mut self, words: Vec<(Picoseconds, u32)>) -> Result<(), RoadError> {
        // Time stamps come again after 0.4 s: of those that fit, the first unanswered one.
        let mut open: HashMap<u32, Vec<usize>> = HashMap::new();
        for (number, event) in self.events.iter().enumerate().rev() {
            open.entry(word(number as u32, event.timestamp, 0)).or_default().push(number);
        }
        for (time, got) in words {
            let field = ((1 << RINGS_BITS) - 1) << STAMP_BITS;
            let (rings, key) = (((got & field) >> STAMP_BITS) as u8, got & !field);
            let number = open.get_mut(&key).and_then(Vec::pop);
            let event = number.and_then(|number| self.events.get_mut(number));
            let Some(event) = event.filter(|event| event.time <= time) else {
                let what = format!("nanet: the answer {got:#010x} is that of no event");
                return Err(RoadError::Violation(what));
            };
            if event.rings != rings {
                let expected = event.rings;
                return Err(RoadError::Violation(format!(
                    "nanet: {rings} rings in event {}, {expected} expected",
                    number.unwrap_or_default()
                )));
            }
            event.answered = Some(time);
        }
        Ok(())
    }

    /// The answered groups. `pins`: frames on each link's pins; `octet`: the device takes one so much after it was
    /// driven.
    pub(super) fn trips(
        &self,
        pins: &[Vec<PhyFrame>],
        octet: Picoseconds,
    ) -> Result<Vec<Trip>, RoadError> {
        let mut places = vec![0; pins.len()];
        let mut trips = Vec::with_capacity(self.groups.len());
        for (group, sent) in self.groups.iter().enumerate() {
            let mut wire = Picoseconds::ZERO;
            for frame in &sent.frames {
                let (at, all) = (&mut places[frame.link], &pins[frame.link]);
                let found = all[*at..].iter().position(|one| one.id == frame.id);
                let Some(found) = found else {
                    let what = format!("nanet: a datagram of group {group} is not on the pins");
                    return Err(RoadError::Inconsistent(what));
                };
                *at += found + 1;
                wire = wire.max(all[*at - 1].last + octet);
            }
            let answered = self.of(group).iter().map(|event| event.answered);
            let Some(answered) = answered.collect::<Option<Vec<_>>>() else { continue };
            let last = answered.iter().enumerate().max_by_key(|(_, at)| **at);
            let (event, answered) = last.map_or((0, Picoseconds::ZERO), |(at, time)| (at, *time));
            let shares = sent.shares.len().max(1);
            let share = sent.shares.get(event * shares / self.size.max(1));
            let Share { begun, found } = share.copied().unwrap_or_default();
            let Steps { seen, merged } = sent.steps;
            trips.push(Trip { group, wire, seen, merged, begun, found, answered });
        }
        Ok(trips)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(timestamps: &[u32]) -> Log {
        let event = |timestamp: &u32| Event {
            time: Picoseconds::from_ns(u64::from(*timestamp) * 25),
            timestamp: *timestamp,
            rings: 1,
            answered: None,
        };
        Log { events: timestamps.iter().map(event).collect(), ..Log::new(1) }
    }

    #[test]
    fn events_of_one_time_stamp_and_of_one_that_comes_again_are_told_apart() {
        let far = 1 << STAMP_BITS;
        let stamps = [5, 5, 9];
        let mut all: Vec<u32> = stamps.to_vec();
        all.extend([0; 13]);
        all.extend(stamps.map(|stamp| stamp + far));
        let mut log = log(&all);
        let at = |us| Picoseconds::from_us(us);
        let words = [(1, 5), (0, 5), (2, 9), (16, 5 + far)]
            .map(|(number, stamp)| (at(500_000), word(number, stamp, 1)));
        log.results(words.to_vec()).unwrap();
        let answered: Vec<usize> =
            (0..all.len()).filter(|at| log.events[*at].answered.is_some()).collect();
        assert_eq!(answered, [0, 1, 2, 16]);
    }

    #[test]
    fn an_answer_to_nothing_and_a_wrong_one_are_refused() {
        let at = Picoseconds::from_us(10);
        let refused = |number, stamp, rings| {
            log(&[5, 9]).results(vec![(at, word(number, stamp, rings))]).map_err(|e| e.to_string())
        };
        assert_eq!(refused(1, 9, 1), Ok(()));
        assert!(refused(0, 9, 1).unwrap_err().contains("is that of no event"));
        assert!(refused(1, 9, 2).unwrap_err().contains("2 rings in event 1, 1 expected"));
    }
}
