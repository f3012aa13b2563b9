// SPDX-License-Identifier: Apache-2.0
//! A behavioural stand-in for the board `gige_etherbone`: the same pins, none of its timing.
//!
//! Frames are handled whole, in no time: what the tests of this crate check with it is the road
//! around the device. The device itself is checked by the tests that load its model.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use isthmus_host::etherbone::{Bus, BusFault, SoftSlave, Width};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{Description, Direction, Model, PinStorage, PortInfo};

pub const RAM_SIZE: u64 = 0x1_0000;
const ECA: u64 = 0x0020_0000;
const TLU: u64 = 0x0030_0000;
/// Stages in the order of `probe_o`.
pub const STAGES: [&str; 5] = ["MacRxFirst", "MacRxLast", "MacTxFirst", "MacTxLast", "WbIssue"];

const PORTS: &[(&str, u32, Direction)] = &[
    ("clk_i", 1, Direction::Input),
    ("gmii_rx_clk_i", 1, Direction::Input),
    ("rst_ni", 1, Direction::Input),
    ("time_ns_i", 64, Direction::Input),
    ("cfg_mac_i", 48, Direction::Input),
    ("cfg_ip_i", 32, Direction::Input),
    ("cfg_netmask_i", 32, Direction::Input),
    ("cfg_udp_port_i", 16, Direction::Input),
    ("cfg_dialect_i", 1, Direction::Input),
    ("cfg_reply_port_i", 16, Direction::Input),
    ("gmii_rxd_i", 8, Direction::Input),
    ("gmii_rx_dv_i", 1, Direction::Input),
    ("gmii_rx_er_i", 1, Direction::Input),
    ("gmii_txd_o", 8, Direction::Output),
    ("gmii_tx_en_o", 1, Direction::Output),
    ("gmii_tx_er_o", 1, Direction::Output),
    ("trigger_i", 4, Direction::Input),
    ("probe_o", 5, Direction::Output),
    ("probe_tag_o", 40, Direction::Output),
    ("status_rx_good_o", 32, Direction::Output),
    ("status_drop_fcs_o", 32, Direction::Output),
    ("idle_o", 1, Direction::Output),
];

/// Places in `PORTS`.
#[derive(Clone, Copy)]
enum Pin {
    Clk,
    GmiiRxClk,
    Rst,
    TimeNs,
    CfgMac,
    CfgIp,
    CfgNetmask,
    CfgUdpPort,
    CfgDialect,
    CfgReplyPort,
    GmiiRxd,
    GmiiRxDv,
    GmiiRxEr,
    GmiiTxd,
    GmiiTxEn,
    GmiiTxEr,
    Trigger,
    Probe,
    ProbeTag,
    StatusRxGood,
    StatusDropFcs,
    Idle,
}

/// How the stand-in misbehaves, to prove that the road notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Misbehaviour {
    #[default]
    None,
    /// The RAM flips a bit of every word it is given.
    FlipsBits,
    /// Time goes backwards now and then.
    TimeRunsBackwards,
    /// The slave at the ECA's address answers every access with an error.
    EcaErrors,
    /// No reply is ever sent.
    Mute,
    /// The RAM does not take every hundredth write.
    DropsWrites,
    /// The RAM takes every write, but the bus does not show every hundredth.
    HidesWrites,
}

struct Wishbone {
    ram: Vec<u8>,
    time_ns: u64,
    reads: u64,
    writes: u64,
    /// Operations so far, as the bus shows them.
    operations: u64,
    tlu: VecDeque<u64>,
    misbehaviour: Misbehaviour,
}

impl Bus for Wishbone {
    fn read(&mut self, address: u64, _: Width, _: u8) -> Result<u64, BusFault> {
        self.time_ns += 8;
        self.reads += 1;
        self.operations += 1;
        let backwards = self.misbehaviour == Misbehaviour::TimeRunsBackwards && self.reads > 40;
        let time = if backwards { self.time_ns - 1_000_000 } else { self.time_ns };
        let eca_errors = self.misbehaviour == Misbehaviour::EcaErrors;
        match address {
            0..RAM_SIZE => {
                let at = address as usize;
                let word = &self.ram[at..at + 4];
                Ok(word.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
            }
            a if a >> 8 == ECA >> 8 && eca_errors => Err(BusFault),
            a if a == ECA + 0x18 => Ok(time >> 32),
            a if a == ECA + 0x1C => Ok(time & 0xFFFF_FFFF),
            a if a == TLU + 0x38 => Ok(16),
            a if a == TLU => Ok(u64::from(!self.tlu.is_empty())),
            a if a == TLU + 0x68 => Ok(self.tlu.front().map_or(0, |t| t >> 32)),
            a if a == TLU + 0x6C => Ok(self.tlu.front().map_or(0, |t| t & 0xFFFF_FFFF)),
            _ => Err(BusFault),
        }
    }

    fn write(&mut self, address: u64, _: Width, enable: u8, data: u64) -> Result<(), BusFault> {
        self.time_ns += 8;
        self.writes += 1;
        let hundredth = self.writes.is_multiple_of(100);
        let hidden = hundredth && self.misbehaviour == Misbehaviour::HidesWrites;
        self.operations += u64::from(!hidden);
        match address {
            0..RAM_SIZE if hundredth && self.misbehaviour == Misbehaviour::DropsWrites => Ok(()),
            0..RAM_SIZE => {
                let flip = u64::from(self.misbehaviour == Misbehaviour::FlipsBits);
                for lane in (0..4).filter(|lane| enable >> lane & 1 == 1) {
                    self.ram[address as usize + 3 - lane] = ((data ^ flip) >> (8 * lane)) as u8;
                }
                Ok(())
            }
            a if a == TLU + 0x10 || a == TLU + 0x58 || a == TLU + 0x04 => Ok(()),
            a if a == TLU + 0x08 => {
                if data & 1 == 1 {
                    self.tlu.push_back(self.time_ns / 8);
                }
                Ok(())
            }
            a if a == TLU + 0x5C => self.tlu.pop_front().map(drop).ok_or(BusFault),
            _ => Err(BusFault),
        }
    }
}

/// The model. Probes and status as the board's, as far as they exist here.
pub struct StandIn {
    description: Description,
    /// In the order of `PORTS`.
    pins: Vec<PinStorage>,
    slave: SoftSlave<Wishbone>,
    clock: u64,
    rx_clock: u64,
    incoming: Vec<u8>,
    outgoing: VecDeque<Vec<u8>>,
    sending: Option<(Vec<u8>, usize)>,
    gap: u32,
    rx_good: u64,
    drop_fcs: u64,
    tag: u8,
    /// Operations that a probe has shown.
    issued: u64,
    misbehaviour: Misbehaviour,
}

impl StandIn {
    pub fn boxed(misbehaviour: Misbehaviour) -> Box<dyn Model> {
        let ports = PORTS
            .iter()
            .map(|(name, width, direction)| PortInfo {
                name: (*name).to_owned(),
                width: *width,
                direction: *direction,
            })
            .collect();
        let pin = |width: u32| -> PinStorage {
            PinStorage::words(Rc::from(vec![Cell::new(0); width.div_ceil(32) as usize]))
        };
        let pins = PORTS.iter().map(|(_, width, _)| pin(*width)).collect();
        let wishbone = Wishbone {
            ram: vec![0; RAM_SIZE as usize],
            time_ns: 0,
            reads: 0,
            writes: 0,
            operations: 0,
            tlu: VecDeque::new(),
            misbehaviour,
        };
        Box::new(Self {
            description: Description {
                top: "gige_etherbone".to_owned(),
                probes: STAGES.map(str::to_owned).to_vec(),
                ports,
                ..Description::default()
            },
            pins,
            slave: SoftSlave::new(wishbone).with_sdb_address(0x10_0000).with_zero_padding(),
            clock: 0,
            rx_clock: 0,
            incoming: Vec::new(),
            outgoing: VecDeque::new(),
            sending: None,
            gap: 0,
            rx_good: 0,
            drop_fcs: 0,
            tag: 0,
            issued: 0,
            misbehaviour,
        })
    }

    fn get(&self, pin: Pin) -> u64 {
        self.pins[pin as usize].get()
    }

    fn set(&self, pin: Pin, value: u64) {
        self.pins[pin as usize].set(value);
    }

    fn strobe(&self, stage: usize) {
        self.set(Pin::Probe, self.get(Pin::Probe) | 1 << stage);
        let shift = 8 * stage;
        let tags = self.get(Pin::ProbeTag) & !(0xFF << shift);
        self.set(Pin::ProbeTag, tags | u64::from(self.tag) << shift);
    }

    fn receive(&mut self) {
        if self.get(Pin::GmiiRxDv) == 1 {
            self.incoming.push(self.get(Pin::GmiiRxd) as u8);
            return;
        }
        if self.incoming.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.incoming);
        let Some(start) = bytes.iter().position(|byte| *byte == 0xD5) else { return };
        let frame = &bytes[start + 1..];
        if frame.len() < 64 || crc32(frame) != 0x2144_DF1C {
            self.drop_fcs += 1;
            return;
        }
        if let Some(reply) = self.answer(&frame[..frame.len() - 4]) {
            self.rx_good += 1;
            if self.misbehaviour != Misbehaviour::Mute {
                self.outgoing.push_back(reply);
            }
        }
    }

    fn answer(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        let mac = self.get(Pin::CfgMac).to_be_bytes()[2..].to_vec();
        let ip = (self.get(Pin::CfgIp) as u32).to_be_bytes();
        let port = (self.get(Pin::CfgUdpPort) as u16).to_be_bytes();
        let mut reply = [&frame[6..12], &mac, &frame[12..14]].concat();
        match [frame[12], frame[13]] {
            [0x08, 0x06] if frame[38..42] == ip => {
                reply.extend([0, 1, 8, 0, 6, 4, 0, 2]);
                reply.extend([&mac[..], &ip, &frame[22..32]].concat());
            }
            [0x08, 0x00] if frame[0..6] == mac[..] && frame[30..34] == ip => {
                let length = usize::from(u16::from_be_bytes([frame[38], frame[39]]));
                if frame[23] != 17 || frame[36..38] != port {
                    return None;
                }
                let time = self.get(Pin::TimeNs);
                let bus = self.slave.bus();
                bus.time_ns = bus.time_ns.max(time);
                let request = frame.get(42..34 + length)?;
                let mut payload = self.slave.datagram(request)?;
                // As gateware: a word for each word. Empty records at the end are as good as in front.
                payload.resize(request.len(), 0);
                let mut header = vec![0x45, 0];
                header.extend((28 + payload.len() as u16).to_be_bytes());
                header.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
                header.extend([&ip[..], &frame[26..30]].concat());
                let sum = ones_complement(&header);
                header[10..12].copy_from_slice(&sum.to_be_bytes());
                reply.extend(header);
                reply.extend([&port, &frame[34..36]].concat());
                reply.extend((8 + payload.len() as u16).to_be_bytes());
                // No UDP checksum: IPv4 allows it.
                reply.extend([0, 0]);
                reply.extend(payload);
            }
            _ => return None,
        }
        reply.resize(reply.len().max(60), 0);
        let fcs = crc32(&reply).to_le_bytes();
        Some([&[0x55; 7][..], &[0xD5], &reply, &fcs].concat())
    }

    fn transmit(&mut self) {
        if self.sending.is_none() && self.gap == 0 {
            self.sending = self.outgoing.pop_front().map(|frame| (frame, 0));
            if self.sending.is_some() {
                self.strobe(2);
            }
        }
        self.gap = self.gap.saturating_sub(1);
        let byte = match &mut self.sending {
            Some((frame, at)) => {
                *at += 1;
                frame.get(*at - 1).copied()
            }
            None => None,
        };
        if byte.is_none() && self.sending.take().is_some() {
            self.strobe(3);
            self.gap = 12;
        }
        self.set(Pin::GmiiTxEn, u64::from(byte.is_some()));
        self.set(Pin::GmiiTxd, u64::from(byte.unwrap_or(0)));
    }
}

impl Model for StandIn {
    fn description(&self) -> &Description {
        &self.description
    }

    fn pin(&self, index: usize) -> PinStorage {
        self.pins[index].clone()
    }

    fn eval(&mut self, _: Picoseconds) -> Result<(), String> {
        let (clock, rx_clock) = (self.get(Pin::Clk), self.get(Pin::GmiiRxClk));
        let running = self.get(Pin::Rst) == 1;
        let main_edge = running && clock == 1 && self.clock == 0;
        if main_edge {
            self.set(Pin::Probe, 0);
        }
        if running && rx_clock == 1 && self.rx_clock == 0 {
            let (before, active) = (self.incoming.len(), self.get(Pin::GmiiRxDv) == 1);
            if active && before == 0 {
                self.tag = self.tag.wrapping_add(1);
                self.strobe(0);
            }
            if !active && before > 0 {
                self.strobe(1);
            }
            self.receive();
        }
        if main_edge {
            self.transmit();
            if self.slave.bus().operations > self.issued {
                self.issued += 1;
                self.strobe(4);
            }
        }
        if !running {
            self.incoming.clear();
            self.outgoing.clear();
            self.sending = None;
        }
        (self.clock, self.rx_clock) = (clock, rx_clock);
        self.set(Pin::StatusRxGood, self.rx_good);
        self.set(Pin::StatusDropFcs, self.drop_fcs);
        let idle = self.incoming.is_empty()
            && self.outgoing.is_empty()
            && self.sending.is_none()
            && self.gap == 0
            && self.slave.bus().operations == self.issued
            && self.get(Pin::Probe) == 0;
        self.set(Pin::Idle, u64::from(idle));
        Ok(())
    }
}

fn ones_complement(bytes: &[u8]) -> u16 {
    let mut sum: u32 =
        bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    while sum >> 16 != 0 {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

/// The Ethernet CRC. Over a frame with its FCS the result is 0x2144DF1C.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 }
        })
    })
}

/// A scenario with round numbers; `change` edits it.
pub fn scenario(change: impl FnOnce(&mut serde_json::Value)) -> String {
    let mut scenario = serde_json::json!({
        "road": "etherbone",
        "profile": "isthmus",
        "platform": {
            "name": "test",
            "fpga": {"clock_mhz": 125, "epoch_s": 1_517_875_237},
            "bus": {"gige": {
                "phy": {"tx_ns": 84, "rx_ns": 384},
                "link": {"rate_mbit_s": 1000, "length_m": 5, "delay_ns_per_m": 5.4},
                "nic": {
                    "phy_tx_ns": 84, "phy_rx_ns": 384, "doorbell_ns": 270, "tx_dma_ns": 1094,
                    "rx_dma_ns": 270, "interrupt_gap_us": 0
                },
                "host": {
                    "send_call_ns": 1900, "receive_call_ns": 1070, "frame_ns": 1500,
                    "wakeup_ns": 2520, "copy_ns_per_byte": 0.1
                }
            }},
            "library": {
                "build_cycle_ns": 100, "build_operation_ns": 10, "parse_cycle_ns": 100,
                "parse_operation_ns": 10, "event_loop_ns": 500, "poll": 0
            }
        },
        "device": {"model_path": "stand-in"},
        "workload": {"kind": "timestamps", "method": "blocking", "timestamps_per_cycle": 3,
                     "procedure": "published"},
        "seed": 1
    });
    change(&mut scenario);
    scenario.to_string()
}

/// Runs a scenario with the stand-in, and gives results as JSON.
pub fn run(
    scenario: &str,
    misbehaviour: Misbehaviour,
) -> Result<Vec<serde_json::Value>, isthmus_road::RoadError> {
    let make = |_: &std::path::Path, _: Option<&std::path::Path>| Ok(StandIn::boxed(misbehaviour));
    let watch: isthmus_road::Watch =
        Rc::new(std::cell::RefCell::new(|_| std::ops::ControlFlow::Continue(())));
    let results = isthmus_road::run_text(scenario, &make, &watch)?;
    Ok(results.iter().map(|r| serde_json::to_value(r).expect("serialises")).collect())
}
