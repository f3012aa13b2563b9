// SPDX-License-Identifier: Apache-2.0
//! Requests back to back, as the wire can bring them: each must be answered, as fast as they come.

use std::net::{Ipv4Addr, SocketAddrV4};

use serde_json::json;

use isthmus_host::regs::eca;
use isthmus_sim::Picoseconds;
use isthmus_sim::world::ethernet::{INTERFRAME_GAP_BYTES, to_wire};
use isthmus_sim::world::packet::Udp;
use isthmus_sim::world::{MacAddress, PhyFrame};

use super::reference::compare;
use super::reference::slave::{ECA, SDB, SDB_MAGIC, Slave};
use super::reference::stack::{Datagram, Fate, Station};
use super::scenario::EtherboneScenario;
use super::wire::Wire;
use crate::error::RoadError;
use crate::measurement::{Checked, Measurement, Samples, Throughput};
use crate::model::MakeModel;
use crate::watch::Watch;

const MAC: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const IP: Ipv4Addr = Ipv4Addr::new(192, 168, 10, 1);
/// The most that one frame carries.
const MAX_WORDS: u32 = 368;

/// The frames to send.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) frames: u32,
    /// In each cycle of the longest frames; 0 for the shortest frames with one read.
    pub(super) timestamps: u32,
}

impl Load {
    /// Record header, return address and two reads a timestamp; then the same with one read.
    fn cycle_words(self) -> u32 {
        2 + 2 * self.timestamps + 3
    }

    fn cycles(self) -> u32 {
        if self.timestamps == 0 { 1 } else { (MAX_WORDS - 1) / self.cycle_words() }
    }

    /// The return address distinguishes the frames.
    fn request(self, number: u32) -> Vec<u32> {
        if self.timestamps == 0 {
            // A word that no write can change.
            return vec![0x4E6F_1044, 0xA80F_0001, number, SDB];
        }
        let mut words = vec![0x4E6F_1044];
        for _ in 0..self.cycles() {
            words.extend([0xA00F_0000 | (2 * self.timestamps), number]);
            for _ in 0..self.timestamps {
                words.extend([ECA + eca::TIME_HI_GET, ECA + eca::TIME_LO_GET]);
            }
            words.extend([0xE80F_0001, number, 4]);
        }
        words
    }
}

/// Sends the load and checks every reply, octet by octet.
pub(super) fn run(
    scenario: &EtherboneScenario,
    make_model: MakeModel<'_>,
    watch: &Watch,
    load: Load,
) -> Result<Measurement, RoadError> {
    let wire = Wire::build(scenario, make_model, watch, load.frames)?;
    let violation = |what: String| Err(RoadError::Violation(format!("line rate: {what}")));
    let mut station = Station::new(&scenario.device);
    let mut slave = Slave::new(&station);
    slave.sdb = vec![SDB_MAGIC];
    let since = wire.time_ns();
    let (mut requests, mut bytes) = (Vec::<Datagram>::new(), 0);
    for number in 0..load.frames {
        let octets = request(scenario, &load.request(number));
        let Fate::Datagram(datagram) = station.receive(&octets, None) else {
            return violation(format!(
                "request {number} is invalid: the device would not accept it"
            ));
        };
        bytes += octets.len() as u64 + INTERFRAME_GAP_BYTES;
        requests.push(datagram);
        if wire.endpoint.send_wire(octets).is_none() {
            return violation("the wire's queue is full".to_owned());
        }
    }
    // Twice the time that the frames take on the wire, and some for the first.
    let bound = Picoseconds::from_ns(2 * 8 * bytes + 100_000);
    if !wire.rest(bound)? {
        return violation(format!("not at rest {bound} after {} frames", load.frames));
    }
    let (until, replies) = (wire.time_ns(), wire.endpoint.take());
    if replies.len() != requests.len() {
        return violation(format!("{} requests, {} replies", requests.len(), replies.len()));
    }
    let mut checked = Checked::default();
    for (number, (request, reply)) in requests.iter().zip(&replies).enumerate() {
        let words = slave.serve(&request.words, &mut station).unwrap_or_default();
        if let Err(what) = compare(&station, request, &words, &reply.bytes, since, until) {
            return violation(format!("reply {number}: {what}"));
        }
        checked.bytes += reply.bytes.len() as u64;
    }
    measurement(scenario, &wire, load, checked)
}

fn request(scenario: &EtherboneScenario, words: &[u32]) -> Vec<u8> {
    let frame = Udp {
        source_mac: MAC,
        destination_mac: scenario.device.mac,
        source: SocketAddrV4::new(IP, 1_024),
        destination: SocketAddrV4::new(scenario.device.ip, scenario.device.udp_port),
        payload: words.iter().flat_map(|word| word.to_be_bytes()).collect(),
    };
    to_wire(&frame.to_frame().unwrap_or_default())
}

fn measurement(
    scenario: &EtherboneScenario,
    wire: &Wire,
    load: Load,
    checked: Checked,
) -> Result<Measurement, RoadError> {
    let (received, sent) = (wire.phy.received_since(0), wire.phy.sent_since(0));
    let period = |clock| wire.device.clock_period(clock).unwrap_or_default();
    let (receive, main) = (period("gmii_rx_clk_i"), period("clk_i"));
    let mut samples = Samples::new()?;
    for (request, reply) in received.iter().zip(&sent) {
        // The device takes an octet one receive clock after it was driven onto the pins.
        samples.add(reply.first.saturating_sub(request.last + receive));
    }
    let spacing = |frames: &[PhyFrame]| -> Vec<u64> {
        let between = |pair: &[PhyFrame]| (pair[1].first - pair[0].first).0;
        frames.windows(2).map(|pair| between(pair).div_ceil(main.0.max(1))).collect()
    };
    let (requests, replies) = (spacing(&received), spacing(&sent));
    // From the first octet to the end of the gap behind the last: as many slots as frames.
    let elapsed = match (sent.first(), sent.last()) {
        (Some(first), Some(last)) => {
            last.last.saturating_sub(first.first) + Picoseconds(main.0 * (1 + INTERFRAME_GAP_BYTES))
        }
        _ => Picoseconds::ZERO,
    };
    let wire_bytes = sent.iter().map(|frame| frame.bytes + INTERFRAME_GAP_BYTES).sum();
    let (frames, cycles) = (u64::from(load.frames), u64::from(load.cycles()));
    let timestamps = u64::from(load.timestamps) * cycles * frames;
    let (payload, end) = match load.timestamps {
        0 => (4 * frames, "line-rate".to_owned()),
        per_cycle => (8 * timestamps, format!("line-rate{per_cycle}")),
    };
    let operations = (2 * load.timestamps).max(1);
    let workload = json!({
        "frames": load.frames,
        "iterations": load.frames,
        "operations_per_cycle": operations,
        "cycles_per_frame": cycles,
        "topology": "direct",
        "clocks": {
            "request_spacing": requests.iter().max(),
            "reply_spacing_min": replies.iter().min(),
            "reply_spacing_max": replies.iter().max(),
        },
    });
    let timed = (timestamps > 0).then_some(timestamps);
    let rates = Throughput::new(payload, Some(wire_bytes), cycles * frames, timed, elapsed);
    Ok(wire.measurement(scenario, &end, workload, &samples, Some(rates), checked))
}
