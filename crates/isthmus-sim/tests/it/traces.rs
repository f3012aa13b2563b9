// SPDX-License-Identifier: Apache-2.0
//! Captures and timelines, read back by independent readers.

use crate::support;

use std::time::Duration;

use isthmus_sim::trace::perfetto_trace;
use isthmus_sim::world::{Cable, GmiiPhy, Host};
use isthmus_sim::{FaultSpec, Picoseconds, Simulation};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use support::*;

#[test]
fn a_capture_holds_every_frame_at_its_nanosecond_and_says_what_went_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pcapng");
    let epoch_ns = 1_700_000_000_123_456_789;
    let sim = Simulation::new(sim_config());
    sim.capture_to(&path, epoch_ns).unwrap();
    let device = sim.add_model(EchoDevice::boxed(), &device_config()).unwrap();
    let phy = GmiiPhy::attach(&sim, &device, "gmii", &phy_config("phy")).unwrap();
    let host = Host::new(&sim, &host_config("host", 1)).unwrap();
    Cable::connect(&sim, &host, &phy, &cable_config("cable")).unwrap();
    let once = |at| FaultSpec { at_count: vec![at], ..FaultSpec::default() };
    sim.faults().inject("cable.a_to_b.drop", once(2)).unwrap();
    let socket = host.udp_bind(any_port([10, 0, 0, 1].into())).unwrap();
    let task = sim.spawn(ping(sim.handle(), socket, 3, Picoseconds::from_us(10)));
    sim.run_until_complete(&task).unwrap();
    let spans = sim.spans().take();
    drop((sim, host, phy, device));

    let bytes = std::fs::read(&path).unwrap();
    let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
    let (mut names, mut times, mut comments) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(interface) => {
                for option in &interface.options {
                    match option {
                        InterfaceDescriptionOption::IfName(name) => names.push(name.to_string()),
                        InterfaceDescriptionOption::IfTsResol(resolution) => {
                            assert_eq!(*resolution, 9);
                        }
                        _ => {}
                    }
                }
            }
            Block::EnhancedPacket(packet) => {
                times.push(packet.timestamp);
                assert!(packet.data.len() >= 64);
                let (frame, fcs) = packet.data.split_at(packet.data.len() - 4);
                assert_eq!(crc32fast::hash(frame).to_le_bytes(), fcs);
                comments.extend(packet.options.iter().filter_map(|option| match option {
                    EnhancedPacketOption::Comment(comment) => Some(comment.to_string()),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    assert_eq!(names, ["cable"]);
    // Request and reply for the address, two echoes, and the lost request.
    assert_eq!(times.len(), 2 + 2 + 2 + 1);
    assert_eq!(comments, ["dropped: cable fault"]);
    let first = spans.iter().find(|span| &*span.stage == "serialise").unwrap();
    let expected = Duration::from_nanos(epoch_ns + first.start.0 / 1_000);
    assert_eq!(times[0], expected);
}

#[test]
fn a_capture_that_cannot_be_written_is_one_clear_line() {
    let sim = Simulation::new(sim_config());
    let line = sim.capture_to("/nowhere/at/all.pcapng".as_ref(), 0).unwrap_err().to_string();
    assert!(line.starts_with("trace /nowhere/at/all.pcapng: "), "{line}");
}

/// The fields of one protobuf message: number and value, a varint or bytes.
fn fields(mut message: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut all = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let (value, bytes) = match key & 7 {
            0 => (varint(&mut message), &message[..0]),
            1 => {
                let (bytes, rest) = message.split_at(8);
                message = rest;
                (u64::from_le_bytes(bytes.try_into().unwrap()), bytes)
            }
            2 => {
                let length = varint(&mut message) as usize;
                let (bytes, rest) = message.split_at(length);
                message = rest;
                (0, bytes)
            }
            kind => panic!("wire type {kind}"),
        };
        all.push((key >> 3, value, bytes));
    }
    all
}

#[test]
fn a_perfetto_trace_has_a_slice_for_each_span_and_no_overlap_on_a_track() {
    let world = direct(sim_config(), &device_config());
    let socket = world.host.udp_bind(any_port([10, 0, 0, 1].into())).unwrap();
    let task = world.sim.spawn(ping(world.sim.handle(), socket, 5, Picoseconds::from_us(10)));
    world.sim.run_until_complete(&task).unwrap();
    let spans = world.sim.spans().take();
    let trace = perfetto_trace(&spans);
    let mut open = std::collections::BTreeMap::new();
    let (mut begins, mut ends) = (0, 0);
    let mut events = Vec::new();
    for (number, _, packet) in fields(&trace) {
        assert_eq!(number, 1);
        let packet = fields(packet);
        let Some((_, _, event)) = packet.iter().find(|field| field.0 == 11) else { continue };
        let event = fields(event);
        let value = |number| event.iter().find(|field| field.0 == number).unwrap().1;
        let time = packet.iter().find(|field| field.0 == 8).unwrap().1;
        events.push((time, value(11), value(9)));
    }
    // As a reader does: by time, and in the order of the file where times are equal.
    events.sort_by_key(|event| event.0);
    for (time, track, kind) in events {
        let depth: &mut u64 = open.entry(track).or_default();
        match kind {
            1 => {
                *depth += 1;
                begins += 1;
            }
            2 => {
                *depth = depth.checked_sub(1).unwrap_or_else(|| panic!("ends first at {time}"));
                ends += 1;
            }
            kind => panic!("event type {kind}"),
        }
        assert!(*depth <= 1, "two slices at once on track {track} at {time}");
    }
    assert_eq!((begins, ends), (spans.len(), spans.len()));
}
