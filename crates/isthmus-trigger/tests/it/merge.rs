// SPDX-License-Identifier: Apache-2.0
//! Streams of packets: what is merged is what was sent, in any order of the links.

use isthmus_trigger::events::{REFERENCE, generate};
use isthmus_trigger::geometry::Geometry;
use isthmus_trigger::merge::{Format, LINKS, Merger, packets};
use isthmus_trigger::na62::{FormatError, cable};
use isthmus_trigger::record::{self, Record};

fn events(count: usize) -> Vec<Record> {
    generate(&Geometry::na62(), &REFERENCE, 9, count).0
}

fn ids(record: &Record) -> Vec<u16> {
    let mut ids: Vec<u16> = record::hits(record).map(|hit| hit.id).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn packed_events_come_back_and_take_turns_over_the_links() {
    let made = events(40);
    let mut merger = Merger::new(Format::Packed);
    for (group, few) in made.chunks(8).enumerate() {
        let sent = packets(Format::Packed, group, 8 * group as u32, few).unwrap();
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].link, group % LINKS);
        let hits: usize = few.iter().map(record::count).sum();
        assert_eq!(sent[0].bytes.len(), 8 + 8 * few.len() + 2 * hits);
        let got = merger.push(&sent[0].bytes).unwrap().unwrap();
        assert_eq!(got.first_event, 8 * group as u32);
        for (one, other) in got.records.iter().zip(few) {
            assert_eq!(one[6..], other[6..]);
            assert_eq!(record::header(one).timestamp, record::header(other).timestamp);
        }
    }
}

#[test]
fn boards_are_joined_in_any_order() {
    let made = events(60);
    let mut merger = Merger::new(Format::Tel62);
    let mut sent: Vec<_> = made
        .chunks(5)
        .enumerate()
        .flat_map(|(group, few)| packets(Format::Tel62, group, 5 * group as u32, few).unwrap())
        .collect();
    assert_eq!(sent.len(), 12 * LINKS);
    // The links are not in step: the last one is three groups behind.
    let late: Vec<_> = sent.extract_if(.., |one| one.link == LINKS - 1).collect();
    let mut order = sent.split_off(3 * (LINKS - 1));
    let (mut late, mut rest) = (late.into_iter(), Vec::new());
    for one in sent.into_iter().chain(std::mem::take(&mut order)) {
        rest.push(one);
        if rest.len().is_multiple_of(4) {
            rest.extend(late.next());
        }
    }
    rest.extend(late);
    let groups: Vec<_> = rest.iter().filter_map(|one| merger.push(&one.bytes).unwrap()).collect();
    assert_eq!(groups.len(), 12);
    for group in groups {
        let first = group.first_event as usize;
        for (one, other) in group.records.iter().zip(&made[first..]) {
            let boards = cable::boards(other);
            let expected = cable::record(&boards, record::header(other).timestamp).unwrap();
            assert_eq!(one, &expected);
            assert_eq!(ids(one), ids(other));
        }
    }
    assert_eq!(merger.incomplete(), 0);
}

#[test]
fn a_lost_packet_makes_its_group_incomplete_and_no_other() {
    let made = events(200);
    let mut merger = Merger::new(Format::Tel62);
    let mut complete = 0;
    for (group, few) in made.chunks(2).enumerate() {
        for one in packets(Format::Tel62, group, 2 * group as u32, few).unwrap() {
            if (group, one.link) != (3, 1) {
                complete += usize::from(merger.push(&one.bytes).unwrap().is_some());
            }
        }
    }
    assert_eq!(complete, 99);
    // It is still open: 64 younger ones would have to be open too.
    assert_eq!(merger.incomplete(), 0);
    for group in 200..264 {
        let few = &made[..2];
        let sent = packets(Format::Tel62, group, 2 * group as u32, few).unwrap();
        assert_eq!(merger.push(&sent[0].bytes), Ok(None));
    }
    assert_eq!(merger.incomplete(), 1);
}

#[test]
fn packets_with_wrong_numbers_leave_and_the_others_are_merged() {
    let made = events(2);
    let mut merger = Merger::new(Format::Tel62);
    // More than are kept, each of one board alone, with numbers above those that follow.
    for group in 1_000..1_100 {
        let sent = packets(Format::Tel62, group, 2 * group as u32, &made).unwrap();
        assert_eq!(merger.push(&sent[0].bytes), Ok(None));
    }
    for group in 0..10 {
        let sent = packets(Format::Tel62, group, 2 * group as u32, &made).unwrap();
        let merged: Vec<_> =
            sent.iter().filter_map(|one| merger.push(&one.bytes).unwrap()).collect();
        assert_eq!(merged.len(), 1, "group {group}");
    }
}

#[test]
fn packets_that_do_not_belong_together_are_refused() {
    let made = events(8);
    let mut merger = Merger::new(Format::Tel62);
    let one = packets(Format::Tel62, 0, 0, &made[..4]).unwrap();
    let other = packets(Format::Tel62, 0, 0, &made[4..]).unwrap();
    let fewer = packets(Format::Tel62, 0, 0, &made[..3]).unwrap();
    for packet in &one[..3] {
        assert_eq!(merger.push(&packet.bytes), Ok(None));
    }
    let twice = merger.push(&one[0].bytes);
    assert_eq!(twice, Err(FormatError::Value { what: "board's second packet", value: 0 }));
    let stamp = merger.push(&other[3].bytes);
    assert!(matches!(stamp, Err(FormatError::Value { what: "time stamp", .. })), "{stamp:?}");
    for packet in &one[..3] {
        assert_eq!(merger.push(&packet.bytes), Ok(None));
    }
    let number = merger.push(&fewer[3].bytes);
    assert_eq!(number, Err(FormatError::Length { what: "number of events", said: 4, found: 3 }));
    let mut packed = Merger::new(Format::Packed);
    assert!(packed.push(&one[0].bytes[..30]).is_err());
}
