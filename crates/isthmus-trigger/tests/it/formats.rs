// SPDX-License-Identifier: Apache-2.0
//! Packet formats: known bytes, round trips, and any bytes give a value or an error.
//! `PROPTEST_CASES` sets how many.

use isthmus_trigger::events::{REFERENCE, generate};
use isthmus_trigger::geometry::Geometry;
use isthmus_trigger::na62::mep::{Fragment, Mep, RICH};
use isthmus_trigger::na62::primitives::{Packet, Primitive};
use isthmus_trigger::na62::tel62::{Board, Edge, Fpga, Frame};
use isthmus_trigger::na62::{FormatError, cable};
use isthmus_trigger::record::{self, Header, Hit, RecordError};
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn a_datagram_of_twenty_events_has_1404_bytes() {
    let (records, _) = generate(&Geometry::na62(), &REFERENCE, 1, 20);
    let bytes = record::encode_datagram(0x12_3456, &records).unwrap();
    assert_eq!(bytes.len(), 1404);
    assert_eq!(bytes[..4], [0x56, 0x34, 0x12, 20]);
    assert_eq!(record::datagram(&bytes).unwrap(), (0x12_3456, &records[..]));
}

#[test]
fn a_record_has_its_fields_where_the_reference_says() {
    let header = Header { timestamp: 0x0102_0304, fine: 9, disk: 1 };
    let hits = [Hit { id: 0x123, time: -1 }, Hit { id: 5, time: 3 }];
    let event = record::encode(header, &hits).unwrap();
    assert_eq!(event[..12], [4, 3, 2, 1, 9, 0x42, 0x23, 0xFD, 5, 0x0C, 0xFF, 3]);
    assert_eq!(record::header(&event), header);
    assert!(record::hits(&event).eq(hits));
    let many = [hits[0]; 33];
    assert!(matches!(record::encode(header, &many), Err(RecordError::Range { value: 33, .. })));
    let far = [Hit { id: 1023, time: 0 }];
    assert!(record::encode(header, &far).is_err());
}

#[test]
fn wrong_records_are_named() {
    let header = Header::default();
    let event = record::encode(header, &[Hit { id: 7, time: 0 }]).unwrap();
    let says = |change: fn(&mut record::Record)| {
        let mut event = event;
        change(&mut event);
        record::check(&[event]).unwrap_err().to_string()
    };
    assert_eq!(says(|e| e[5] = 33), "record 0: 33 hits, a record has 32 slots");
    assert_eq!(says(|e| e[5] = 2), "record 0, slot 1: a hit without a photomultiplier");
    assert_eq!(says(|e| e[5] = 0), "record 0, slot 0: not null");
    let mut bytes = record::encode_datagram(0, &[event]).unwrap();
    bytes.pop();
    assert_eq!(
        record::datagram(&bytes).unwrap_err().to_string(),
        "73 bytes where the header says 74"
    );
}

#[test]
fn a_mep_has_its_fields_where_na62_has_them() {
    let data = [1, 2, 3, 4];
    let fragment = Fragment { timestamp: 0xAABB_CCDD, last_of_burst: true, data: &data };
    let mep = Mep { first_event: 0x0102FF, source: RICH, board: 3, fragments: vec![fragment] };
    let bytes = mep.encode().unwrap();
    let expected =
        [0xFF, 2, 1, 0x1C, 20, 0, 1, 3, 12, 0, 0xFF, 0x80, 0xDD, 0xCC, 0xBB, 0xAA, 1, 2, 3, 4];
    assert_eq!(bytes, expected);
    assert_eq!(Mep::decode(&bytes).unwrap(), mep);
    let mut wrong = bytes.clone();
    wrong[10] = 0;
    assert_eq!(
        Mep::decode(&wrong).unwrap_err().to_string(),
        "event number's low byte says 0, found 255"
    );
    assert!(matches!(Mep::decode(&bytes[..19]), Err(FormatError::Length { said: 20, .. })));
}

#[test]
fn events_go_through_boards_and_back() {
    let (records, _) = generate(&Geometry::na62(), &REFERENCE, 2, 500);
    for event in &records {
        let boards = cable::boards(event);
        let decoded: Vec<Board> =
            boards.iter().map(|b| Board::decode(&b.encode().unwrap()).unwrap()).collect();
        assert_eq!(decoded, boards);
        let back = cable::record(&decoded, record::header(event).timestamp).unwrap();
        let sorted = |event| {
            let mut ids: Vec<u16> = record::hits(event).map(|hit| hit.id).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(sorted(&back), sorted(event));
        assert_eq!(record::header(&back).disk, record::header(event).disk);
        record::check(&[back]).unwrap();
    }
}

fn board() -> impl Strategy<Value = Board> {
    let edge = (0u32..1 << 19, 0u8..32, 0u8..4, 0u8..4, any::<bool>())
        .prop_map(|(time, channel, tdc, crc, leading)| Edge { time, channel, tdc, crc, leading });
    let frame =
        (any::<u16>(), vec(edge, 0..5)).prop_map(|(timestamp, edges)| Frame { timestamp, edges });
    let fpga = (0u8..4, any::<u8>(), vec(frame, 0..4))
        .prop_map(|(number, frames_read, frames)| Fpga { number, frames_read, frames });
    (any::<[u8; 3]>(), vec(fpga, 1..5)).prop_map(|([number, trigger, format], fpgas)| Board {
        number,
        trigger,
        format,
        fpgas,
    })
}

/// Bytes with one of them changed, or cut: near to valid ones.
fn near(bytes: &[u8], at: prop::sample::Index, value: u8, cut: bool) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = at.index(bytes.len());
    if cut {
        bytes.truncate(at)
    } else {
        bytes[at] = value
    }
    bytes
}

proptest! {
    #[test]
    fn any_bytes_give_a_value_or_an_error(bytes in vec(any::<u8>(), 0..300)) {
        if let Ok((first, records)) = record::datagram(&bytes) {
            prop_assert_eq!(&record::encode_datagram(first, records).unwrap(), &bytes);
        }
        if let Ok(mep) = Mep::decode(&bytes) {
            prop_assert_eq!(&mep.encode().unwrap(), &bytes);
        }
        if let Ok(board) = Board::decode(&bytes) {
            prop_assert_eq!(&board.encode().unwrap(), &bytes);
        }
        if let Ok(packet) = Packet::decode(&bytes) {
            prop_assert_eq!(&packet.encode().unwrap(), &bytes);
        }
    }

    #[test]
    fn boards_come_back(board in board()) {
        prop_assert_eq!(Board::decode(&board.encode().unwrap()), Ok(board));
    }

    #[test]
    fn changed_boards_are_read_as_they_are_or_refused(
        board in board(), at in any::<prop::sample::Index>(), value: u8, cut: bool,
    ) {
        let bytes = near(&board.encode().unwrap(), at, value, cut);
        if let Ok(board) = Board::decode(&bytes) {
            prop_assert_eq!(&board.encode().unwrap(), &bytes);
            // Whatever channels it names.
            let _ = cable::record(&[board], 0);
        }
    }

    #[test]
    fn meps_come_back_and_changed_ones_are_read_as_they_are_or_refused(
        first_event in 0u32..1 << 24, ids: [u8; 2],
        parts in vec((any::<u32>(), any::<bool>(), vec(any::<u8>(), 0..20)), 0..6),
        at in any::<prop::sample::Index>(), value: u8, cut: bool,
    ) {
        let fragments = parts
            .iter()
            .map(|(timestamp, last, data)| Fragment { timestamp: *timestamp, last_of_burst: *last, data });
        let mep =
            Mep { first_event, source: ids[0], board: ids[1], fragments: fragments.collect() };
        let bytes = mep.encode().unwrap();
        prop_assert_eq!(Mep::decode(&bytes), Ok(mep));
        let bytes = near(&bytes, at, value, cut);
        if let Ok(mep) = Mep::decode(&bytes) {
            prop_assert_eq!(mep.encode().unwrap(), bytes);
        }
    }

    #[test]
    fn primitives_come_back(
        source: u8, part: u8, period in 0u32..1 << 24,
        found in vec((any::<u16>(), any::<u32>(), any::<u8>()), 0..9),
    ) {
        let primitives = found
            .iter()
            .map(|&(id, timestamp, fine)| Primitive { id, timestamp, fine })
            .collect();
        let packet = Packet { source, part, period, primitives };
        prop_assert_eq!(Packet::decode(&packet.encode().unwrap()), Ok(packet));
    }

    #[test]
    fn records_come_back(
        timestamp: u32, fine: u8, disk in 0u8..2, found in vec((0u16..1023, -31i8..32), 0..33),
    ) {
        let hits: Vec<Hit> = found.iter().map(|&(id, time)| Hit { id, time }).collect();
        let header = Header { timestamp, fine, disk };
        let event = record::encode(header, &hits).unwrap();
        record::check(&[event]).unwrap();
        prop_assert_eq!(record::header(&event), header);
        prop_assert!(record::hits(&event).eq(hits));
    }
}
