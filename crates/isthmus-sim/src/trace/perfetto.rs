// SPDX-License-Identifier: Apache-2.0
//! Perfetto TrackEvent, encoded directly: it needs five message types of a few fields each.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::span::Span;
use crate::kernel::Picoseconds;

// Field numbers of perfetto/trace/trace.proto, trace_packet.proto and track_event/*.proto.
const TRACE_PACKET: u32 = 1;
const PACKET_TIMESTAMP: u32 = 8;
const PACKET_SEQUENCE_ID: u32 = 10;
const PACKET_TRACK_EVENT: u32 = 11;
const PACKET_SEQUENCE_FLAGS: u32 = 13;
const PACKET_TRACK_DESCRIPTOR: u32 = 60;
const DESCRIPTOR_UUID: u32 = 1;
const DESCRIPTOR_NAME: u32 = 2;
const DESCRIPTOR_PARENT_UUID: u32 = 5;
const EVENT_DEBUG_ANNOTATIONS: u32 = 4;
const EVENT_TYPE: u32 = 9;
const EVENT_TRACK_UUID: u32 = 11;
const EVENT_NAME: u32 = 23;
const EVENT_FLOW_IDS: u32 = 47;
const ANNOTATION_UINT_VALUE: u32 = 3;
const ANNOTATION_STRING_VALUE: u32 = 6;
const ANNOTATION_NAME: u32 = 10;

const TYPE_SLICE_BEGIN: u64 = 1;
const TYPE_SLICE_END: u64 = 2;
const SEQUENCE_ID: u64 = 1;
const SEQ_INCREMENTAL_STATE_CLEARED: u64 = 1;

/// The spans as a Perfetto trace, a track for each of theirs, with a flow through each frame.
///
/// Perfetto slices of one track must nest; where spans of one track overlap (frames in a pipeline),
/// the later ones go to further lanes under the same name. Its times are nanoseconds: the exact
/// start and end, in picoseconds, are annotations of each slice.
#[must_use]
pub fn perfetto_trace(spans: &[Span]) -> Vec<u8> {
    let mut sorted: Vec<&Span> = spans.iter().collect();
    sorted.sort_by(|a, b| (a.start, a.end, &a.track).cmp(&(b.start, b.end, &b.track)));
    let mut out = Vec::new();
    let mut next_uuid = 1;
    let mut tracks: BTreeMap<Rc<str>, Track> = BTreeMap::new();
    let mut first = true;
    for span in sorted {
        let track = tracks.entry(Rc::clone(&span.track)).or_insert_with(|| {
            let uuid = next_uuid;
            next_uuid += 1;
            descriptor(&mut out, uuid, &span.track, None, std::mem::take(&mut first));
            Track { uuid, lanes: Vec::new() }
        });
        let lane = match track.lanes.iter().position(|lane| lane.free <= span.start) {
            Some(lane) => lane,
            None => {
                let uuid = next_uuid;
                next_uuid += 1;
                let parent = Some(track.uuid);
                descriptor(&mut out, uuid, &span.track, parent, std::mem::take(&mut first));
                track.lanes.push(Lane { uuid, free: Picoseconds::ZERO });
                track.lanes.len() - 1
            }
        };
        let lane = &mut track.lanes[lane];
        lane.free = span.end;
        slice(&mut out, lane.uuid, span);
    }
    out
}

struct Track {
    uuid: u64,
    lanes: Vec<Lane>,
}

/// Holds slices one after another.
struct Lane {
    uuid: u64,
    free: Picoseconds,
}

fn descriptor(out: &mut Vec<u8>, uuid: u64, name: &str, parent: Option<u64>, first: bool) {
    let mut track = Vec::new();
    varint_field(&mut track, DESCRIPTOR_UUID, uuid);
    bytes_field(&mut track, DESCRIPTOR_NAME, name.as_bytes());
    if let Some(parent) = parent {
        varint_field(&mut track, DESCRIPTOR_PARENT_UUID, parent);
    }
    let mut packet = Vec::new();
    if first {
        varint_field(&mut packet, PACKET_SEQUENCE_FLAGS, SEQ_INCREMENTAL_STATE_CLEARED);
    }
    varint_field(&mut packet, PACKET_SEQUENCE_ID, SEQUENCE_ID);
    bytes_field(&mut packet, PACKET_TRACK_DESCRIPTOR, &track);
    bytes_field(out, TRACE_PACKET, &packet);
}

fn slice(out: &mut Vec<u8>, track: u64, span: &Span) {
    let mut begin = Vec::new();
    varint_field(&mut begin, EVENT_TYPE, TYPE_SLICE_BEGIN);
    varint_field(&mut begin, EVENT_TRACK_UUID, track);
    bytes_field(&mut begin, EVENT_NAME, span.stage.as_bytes());
    // Flow ids are global and not zero.
    fixed64_field(&mut begin, EVENT_FLOW_IDS, span.tag + 1);
    for (name, value) in [("frame", span.tag), ("start_ps", span.start.0), ("end_ps", span.end.0)] {
        let mut annotation = Vec::new();
        bytes_field(&mut annotation, ANNOTATION_NAME, name.as_bytes());
        varint_field(&mut annotation, ANNOTATION_UINT_VALUE, value);
        bytes_field(&mut begin, EVENT_DEBUG_ANNOTATIONS, &annotation);
    }
    let mut annotation = Vec::new();
    bytes_field(&mut annotation, ANNOTATION_NAME, b"duration");
    let duration = span.end.saturating_sub(span.start).to_string();
    bytes_field(&mut annotation, ANNOTATION_STRING_VALUE, duration.as_bytes());
    bytes_field(&mut begin, EVENT_DEBUG_ANNOTATIONS, &annotation);
    event(out, span.start, &begin);

    let mut end = Vec::new();
    varint_field(&mut end, EVENT_TYPE, TYPE_SLICE_END);
    varint_field(&mut end, EVENT_TRACK_UUID, track);
    event(out, span.end, &end);
}

fn event(out: &mut Vec<u8>, time: Picoseconds, event: &[u8]) {
    let mut packet = Vec::new();
    varint_field(&mut packet, PACKET_TIMESTAMP, time.0 / 1_000);
    varint_field(&mut packet, PACKET_SEQUENCE_ID, SEQUENCE_ID);
    bytes_field(&mut packet, PACKET_TRACK_EVENT, event);
    bytes_field(out, TRACE_PACKET, &packet);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn varint_field(out: &mut Vec<u8>, field: u32, value: u64) {
    varint(out, u64::from(field) << 3);
    varint(out, value);
}

fn fixed64_field(out: &mut Vec<u8>, field: u32, value: u64) {
    varint(out, u64::from(field) << 3 | 1);
    out.extend(value.to_le_bytes());
}

fn bytes_field(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    varint(out, u64::from(field) << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend(bytes);
}
