// SPDX-License-Identifier: Apache-2.0
//! The switch's scenario: one run of one traffic through one engine, as a JSON document.
//!
//! `docs/reference/switch-scenario.md` explains every key. Unknown keys are errors; units are part of names.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use isthmus_sim::world::link::LineFaults;

use super::link::traffic::{FRAMING_WORDS, HEADER_WORDS};
use super::link::{
    Arrivals, EndConfig, LaneSlip, LanesConfig, LinkReset, NetworkConfig, Packet, Pattern,
    SinkStall, StationConfig, TrafficConfig,
};

use crate::error::RoadError;
use crate::scenario::{Limits, Profile, sixteen};

/// One run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchScenario {
    /// Always `switch`.
    pub road: String,
    /// Which of the system's two designs this is.
    pub profile: Profile,
    /// The constants of everything that is not gateware.
    pub platform: SwitchPlatform,
    /// The switch.
    pub device: SwitchDevice,
    /// The measurement.
    pub workload: SwitchWorkload,
    /// Seed of all random streams.
    pub seed: u64,
    /// Bounds of the run.
    #[serde(default)]
    pub limits: Limits,
    /// A waveform to write; needs a model built for it.
    #[serde(default)]
    pub waveform: Option<PathBuf>,
    /// Injected faults.
    #[serde(default)]
    pub faults: SwitchFaults,
}

/// The constants of everything outside the switch.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchPlatform {
    /// Its name.
    pub name: String,
    /// The word clock.
    #[schemars(range(min = 1.0, max = 1_000.0))]
    pub clock_mhz: f64,
    /// Both transceivers of a hop.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub serdes_ns: f64,
    /// The cable of a hop.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub cable_ns: f64,
    /// Words from a packet's making to its first word at the source's transceiver.
    #[schemars(range(min = 1, max = 10_000))]
    pub transmit_words: u64,
    /// Words of an interface's receive buffer.
    #[schemars(range(min = 32, max = 512))]
    pub receive_words: u16,
    /// Interfaces serve their longest queue, to a power of two, not all in turn.
    #[serde(default)]
    pub longest_first: bool,
}

/// The switch.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchDevice {
    /// The shared object of its model; only the engine `rtl` needs one.
    #[serde(default)]
    pub model_path: PathBuf,
    /// Clocks that a reset lasts.
    #[serde(default = "sixteen")]
    pub reset_cycles: u32,
    /// Ports.
    #[schemars(range(min = 2, max = 16))]
    pub ports: usize,
    /// Lanes of each port's link, byte by byte; a word is 32 bits of each.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 8))]
    pub lanes: usize,
    /// Words from one ALIGN to the next; with one lane only where no word with a comma comes, 0 for none.
    #[serde(default = "marks")]
    #[schemars(range(min = 0, max = 4096))]
    pub align_words: u64,
    /// Words that lanes may be apart.
    #[serde(default = "skew")]
    #[schemars(range(min = 1, max = 15))]
    pub max_skew: u64,
    /// Words of a crosspoint.
    #[schemars(range(min = 32, max = 512))]
    pub buffer_words: u16,
    /// Data words of a packet, at most.
    #[schemars(range(min = 16, max = 510))]
    pub max_words: u16,
    /// Credits may be sent inside packets.
    pub credit_in_packet: bool,
    /// Words freed and not reported, from which on a credit is due.
    #[schemars(range(min = 1, max = 512))]
    pub credit_words: u16,
    /// Words between two refreshes of an idle link.
    #[schemars(range(min = 16, max = 4096))]
    pub refresh_words: u16,
    /// Words of INIT at a link's start.
    #[schemars(range(min = 64, max = 32_768))]
    pub init_words: u16,
    /// Clocks from pins to pins of the idle switch; only the models take it.
    #[schemars(range(min = 3, max = 1000))]
    pub latency_clocks: u64,
}

/// The engine that carries the packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// The gateware.
    Rtl,
    /// Our word-accurate model of it.
    Reference,
    /// A switch whose outputs take any number of packets at once, and queue.
    Ideal,
}

impl Engine {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rtl => "rtl",
            Self::Reference => "reference",
            Self::Ideal => "ideal",
        }
    }
}

/// When packets are made.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalsName {
    /// As a line would bring them.
    Paced,
    /// Independent of each other.
    Poisson,
    /// Bursts of this many packets in the mean.
    Bursty(f64),
    /// So many wait, always.
    Backlog(u32),
}

/// Destinations of packets.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PatternName {
    /// Each output equally often.
    Uniform,
    /// Source `i` to output `i + 1`.
    Permutation,
    /// This share to output 0.
    Hotspot(f64),
    /// This share from source `i` to output `i`.
    Unbalanced(f64),
    /// One flow alone.
    Single,
    /// Packets given one by one.
    Trace,
}

impl PatternName {
    fn text(self) -> String {
        match self {
            Self::Uniform => "uniform".to_owned(),
            Self::Permutation => "permutation".to_owned(),
            Self::Hotspot(share) => format!("hotspot:{share}"),
            Self::Unbalanced(share) => format!("unbalanced:{share}"),
            Self::Single => "single".to_owned(),
            Self::Trace => "trace".to_owned(),
        }
    }
}

/// The measurement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchWorkload {
    /// The engine that carries it.
    pub engine: Engine,
    /// Destinations of packets.
    pub pattern: PatternName,
    /// When they are made.
    pub arrivals: ArrivalsName,
    /// Data bytes of a packet, from and to; multiples of 4.
    pub sizes_bytes: (u32, u32),
    /// The share of a line's words that a source's packets take, framing included.
    #[schemars(range(min = 0.001, max = 1.0))]
    pub load: f64,
    /// Packets to measure.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub packets: u64,
    /// Runs until everything that was sent has arrived.
    #[serde(default)]
    pub drain: bool,
    /// Packets one by one: clock, source, destination, bytes.
    #[serde(default)]
    pub trace: Vec<(u64, u8, u8, u32)>,
}

/// Injected faults; `docs/explanation/switch-model.md`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchFaults {
    /// The probability that a bit is wrong.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub bit_error_rate: f64,
    /// The probability that a credit word never comes.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub credit_loss_rate: f64,
    /// The probability that one comes with a wrong bit.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub credit_corrupt_rate: f64,
    /// Links that go down: port, clock, clocks.
    pub resets: Vec<(usize, u64, u64)>,
    /// Sinks that stop: port, clock, clocks.
    pub stalls: Vec<(usize, u64, u64)>,
    /// Words that each lane is longer than the hop; none: all are as long.
    pub lane_skew: Vec<u64>,
    /// The rates above are those of this lane alone.
    pub lane: Option<usize>,
    /// Lanes that go down: port, lane, clock, clocks.
    pub lane_resets: Vec<(usize, usize, u64, u64)>,
    /// Lanes that get longer: port, lane, clock, words.
    pub slips: Vec<(usize, usize, u64, i64)>,
}

const fn one() -> usize {
    1
}

const fn marks() -> u64 {
    256
}

const fn skew() -> u64 {
    8
}

/// Faults of one lane.
const LANE_BYTES: u32 = 4;
/// The last clock at which a packet of a trace may be made: packets carry their clocks in 32 bits.
const LAST_CREATED: u64 = 1_000_000_000;

impl SwitchScenario {
    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// Names the key that is wrong, and says what would be right.
    pub fn parse(json: &str) -> Result<Self, RoadError> {
        crate::scenario::checked(json, Self::check)
    }

    fn check(&self) -> Result<(), RoadError> {
        let Self { platform, device, workload, .. } = self;
        self.check_lanes()?;
        self.check_faults()?;
        let word_bytes = self.word_bytes();
        for depth in [device.buffer_words, platform.receive_words] {
            if depth <= device.max_words {
                let reason = format!(
                    "a buffer of {depth} words has no room for a packet of {} and its end",
                    device.max_words
                );
                return Err(RoadError::scenario("device.max_words", reason));
            }
        }
        let (low, high) = workload.sizes_bytes;
        let least = u32::from(HEADER_WORDS) * word_bytes;
        let most = u32::from(device.max_words) * word_bytes;
        let whole = low.is_multiple_of(word_bytes) && high.is_multiple_of(word_bytes);
        if low < least || high > most || low > high || !whole {
            let reason = format!(
                "{low} to {high}: multiples of {word_bytes} from {least} to {most} expected"
            );
            return Err(RoadError::scenario("workload.sizes_bytes", reason));
        }
        if (workload.pattern == PatternName::Trace) == workload.trace.is_empty() {
            let reason = "packets one by one belong to the pattern trace, and it needs them";
            return Err(RoadError::scenario("workload.trace", reason));
        }
        let backlog = matches!(workload.arrivals, ArrivalsName::Backlog(_));
        if backlog && self.is_trace() {
            let reason = "a trace says when its packets are made: no backlog";
            return Err(RoadError::scenario("workload.arrivals", reason));
        }
        for (row, (created, source, destination, bytes)) in workload.trace.iter().enumerate() {
            if *created > LAST_CREATED {
                let reason = format!("clock {created} is outside 0 to {LAST_CREATED}");
                return Err(RoadError::scenario(format!("workload.trace[{row}]"), reason));
            }
            let ports = device.ports;
            let legal = usize::from(*source) < ports
                && usize::from(*destination) < ports
                && (least..=most).contains(bytes)
                && bytes.is_multiple_of(word_bytes);
            if !legal {
                let reason = format!(
                    "{source} to {destination}, {bytes} bytes: ports below {ports} and multiples of \
                     {word_bytes} from {least} to {most} expected"
                );
                return Err(RoadError::scenario(format!("workload.trace[{row}]"), reason));
            }
        }
        if workload.engine == Engine::Ideal && (backlog || self.faults.any()) {
            let reason = "engine ideal supports neither a backlog nor faults; use rtl or reference";
            return Err(RoadError::scenario("workload.engine", reason));
        }
        Ok(())
    }

    /// Checks that the ports and lanes that faults name exist.
    fn check_faults(&self) -> Result<(), RoadError> {
        let (ports, lanes, faults) = (self.device.ports, self.device.lanes, &self.faults);
        let named = faults.resets.iter().map(|&(port, ..)| ("resets", port, 0));
        let named = named.chain(faults.stalls.iter().map(|&(port, ..)| ("stalls", port, 0)));
        let named = named.chain(faults.lane.map(|lane| ("lane", 0, lane)));
        let of_lanes =
            faults.lane_resets.iter().map(|&(port, lane, ..)| ("lane_resets", port, lane));
        let slips = faults.slips.iter().map(|&(port, lane, ..)| ("slips", port, lane));
        for (key, port, lane) in named.chain(of_lanes).chain(slips) {
            for (what, number, count) in [("port", port, ports), ("lane", lane, lanes)] {
                if number >= count {
                    let reason = format!("{what} {number} is outside 0 to {}", count - 1);
                    return Err(RoadError::scenario(format!("faults.{key}"), reason));
                }
            }
        }
        Ok(())
    }

    fn check_lanes(&self) -> Result<(), RoadError> {
        let (lanes, faults) = (self.device.lanes, &self.faults);
        if lanes > 1 && self.workload.engine != Engine::Rtl {
            let reason = "only the engine rtl knows lanes";
            return Err(RoadError::scenario("device.lanes", reason));
        }
        if !(faults.lane_skew.is_empty() || faults.lane_skew.len() == lanes)
            || faults.lane_skew.iter().any(|words| *words > 1_000)
        {
            let reason = format!("{:?}: a number to 1000 for each lane, {lanes}", faults.lane_skew);
            return Err(RoadError::scenario("faults.lane_skew", reason));
        }
        let slip = faults.slips.iter().find(|(_, _, _, words)| words.unsigned_abs() > 100);
        if let Some((_, _, _, words)) = slip {
            let reason = format!("{words} words: -100 to 100 expected");
            return Err(RoadError::scenario("faults.slips", reason));
        }
        if lanes > 1 && self.device.align_words < 32 {
            let reason = format!("{}: at least 32 with several lanes", self.device.align_words);
            return Err(RoadError::scenario("device.align_words", reason));
        }
        if lanes == 1 && !(faults.slips.is_empty() && faults.lane_resets.is_empty()) {
            return Err(RoadError::scenario(
                "faults.slips",
                "there are no lanes to slip or to go down",
            ));
        }
        Ok(())
    }

    /// Packets given one by one.
    pub(super) fn is_trace(&self) -> bool {
        self.workload.pattern == PatternName::Trace
    }

    /// The clock at which the first packet of a trace is made; 0 without one.
    pub(super) fn first_created(&self) -> u64 {
        let first = self.workload.trace.iter().map(|(created, ..)| created).min();
        first.map_or(0, |created| created + self.start_clock())
    }

    /// The clock at which the last packet of a trace is queued at its source, where there is room.
    pub(super) fn last_made(&self) -> u64 {
        let last = self.workload.trace.iter().map(|(created, ..)| created).max();
        last.map_or(0, |created| created + self.start_clock() + self.platform.transmit_words)
    }

    /// Packets to measure: of a trace all.
    pub(super) fn packets(&self) -> u64 {
        if self.is_trace() { self.workload.trace.len() as u64 } else { self.workload.packets }
    }

    /// Data bytes of the shortest and of the longest packet.
    pub(super) fn sizes_bytes(&self) -> (u32, u32) {
        let sizes = self.workload.trace.iter().map(|(.., bytes)| *bytes);
        sizes.clone().min().zip(sizes.max()).unwrap_or(self.workload.sizes_bytes)
    }

    /// Bytes of a word of all lanes.
    pub(super) fn word_bytes(&self) -> u32 {
        LANE_BYTES * self.device.lanes as u32
    }

    /// Time stamps of the switch are in packets over one lane; a bundle's device makes none.
    pub(super) fn bench(&self) -> bool {
        self.device.lanes == 1
    }

    /// One hop in whole clocks.
    pub(super) fn hop_clocks(&self) -> u64 {
        let clock_ns = 1e3 / self.platform.clock_mhz;
        ((self.platform.serdes_ns + self.platform.cable_ns) / clock_ns).round() as u64
    }

    /// Sources begin when every link is up and every buffer's credit has arrived.
    pub(super) fn start_clock(&self) -> u64 {
        let told = 16 * u64::from(self.device.refresh_words);
        u64::from(self.device.reset_cycles + u32::from(self.device.init_words))
            + 6 * self.hop_clocks()
            + told
            + self.lanes_clocks()
    }

    /// Time until lanes are aligned at both ends, and again if one restarted.
    fn lanes_clocks(&self) -> u64 {
        if self.device.lanes == 1 {
            return 0;
        }
        let skew = self.faults.lane_skew.iter().max().copied().unwrap_or(0);
        6 * (self.device.align_words + skew) + u64::from(self.device.init_words)
    }

    pub(super) fn traffic(&self) -> TrafficConfig {
        let workload = &self.workload;
        let word_bytes = self.word_bytes();
        let words = |bytes: u32| (bytes / word_bytes) as u16;
        let trace = (!workload.trace.is_empty()).then(|| {
            let mut sources = vec![Vec::new(); self.device.ports];
            for (created, source, destination, bytes) in &workload.trace {
                let (created, destination) = (*created, *destination);
                let packet = Packet { created, destination, words: words(*bytes) };
                sources[usize::from(*source)].push(packet);
            }
            sources.iter_mut().for_each(|own| own.sort_by_key(|packet| packet.created));
            sources
        });
        TrafficConfig {
            ports: self.device.ports,
            load: workload.load,
            arrivals: match workload.arrivals {
                ArrivalsName::Paced => Arrivals::Paced,
                ArrivalsName::Poisson => Arrivals::Poisson,
                ArrivalsName::Bursty(packets) => Arrivals::Bursty { packets },
                ArrivalsName::Backlog(packets) => Arrivals::Backlog { packets },
            },
            pattern: match workload.pattern {
                PatternName::Uniform | PatternName::Trace => Pattern::Uniform,
                PatternName::Permutation => Pattern::Permutation,
                PatternName::Hotspot(share) => Pattern::Hotspot(share),
                PatternName::Unbalanced(share) => Pattern::Unbalanced(share),
                PatternName::Single => Pattern::Single,
            },
            words: (words(workload.sizes_bytes.0), words(workload.sizes_bytes.1)),
            framing: FRAMING_WORDS,
            start: self.start_clock(),
            seed: self.seed,
            trace,
        }
    }

    /// An end of a link with the given numbers of buffers behind it and at the remote end, and
    /// their depths.
    pub(super) fn end(&self, rx_ids: usize, tx_ids: usize, tx_depth: u16) -> EndConfig {
        let device = &self.device;
        EndConfig {
            rx_ids,
            tx_ids,
            tx_depth,
            max_words: device.max_words,
            credit_in_packet: device.credit_in_packet,
            credit_words: device.credit_words,
            refresh_words: device.refresh_words,
            init_words: device.init_words,
            // The marks of several lanes have a timer of their own.
            align_words: if device.lanes == 1 { device.align_words } else { 0 },
            bench: self.bench(),
        }
    }

    pub(super) fn network(&self) -> NetworkConfig {
        let faults = &self.faults;
        NetworkConfig {
            traffic: self.traffic(),
            station: StationConfig {
                end: self.end(1, self.device.ports, self.device.buffer_words),
                transmit_clocks: self.platform.transmit_words,
                sink_depth: self.platform.receive_words,
                longest_first: self.platform.longest_first,
            },
            hop_clocks: self.hop_clocks(),
            lanes: LanesConfig {
                lanes: self.device.lanes,
                align_words: self.device.align_words,
                max_skew: self.device.max_skew,
                skew: match faults.lane_skew.as_slice() {
                    [] => vec![0; self.device.lanes],
                    given => given.to_vec(),
                },
            },
            faulty_lane: faults.lane,
            faults: LineFaults {
                bit_error_rate: faults.bit_error_rate,
                credit_loss_rate: faults.credit_loss_rate,
                credit_corrupt_rate: faults.credit_corrupt_rate,
            },
            resets: faults
                .resets
                .iter()
                .map(|&(port, at, clocks)| LinkReset { port, lane: None, at, clocks })
                .chain(faults.lane_resets.iter().map(|&(port, lane, at, clocks)| LinkReset {
                    port,
                    lane: Some(lane),
                    at,
                    clocks,
                }))
                .collect(),
            stalls: faults
                .stalls
                .iter()
                .map(|&(port, at, clocks)| SinkStall { port, at, clocks })
                .collect(),
            slips: faults
                .slips
                .iter()
                .map(|&(port, lane, at, words)| LaneSlip { port, lane, at, words })
                .collect(),
        }
    }

    /// True for each flow, by source and then output, that must carry data.
    pub(super) fn expected_flows(&self) -> Vec<bool> {
        let ports = self.device.ports;
        let expected = |source: usize, output: usize| match self.workload.pattern {
            PatternName::Uniform => true,
            PatternName::Permutation => output == (source + 1) % ports,
            PatternName::Hotspot(share) => share < 1.0 || output == 0,
            PatternName::Unbalanced(share) => share < 1.0 || output == source,
            PatternName::Single => source == 0 && output == ports - 1,
            PatternName::Trace => false,
        };
        (0..ports * ports).map(|flow| expected(flow / ports, flow % ports)).collect()
    }

    pub(super) fn pattern_text(&self) -> String {
        self.workload.pattern.text()
    }

    /// The last part of a measurement's id.
    pub(super) fn name(&self) -> String {
        let SwitchWorkload { pattern, arrivals, load, .. } = &self.workload;
        let (low, high) = self.sizes_bytes();
        let sizes = if low == high { low.to_string() } else { format!("{low}-{high}") };
        let rate = match arrivals {
            _ if self.is_trace() => format!("{}-packets", self.packets()),
            ArrivalsName::Paced => format!("paced-{load:.3}"),
            ArrivalsName::Poisson => format!("poisson-{load:.3}"),
            ArrivalsName::Bursty(packets) => format!("bursty:{packets}-{load:.3}"),
            ArrivalsName::Backlog(_) => "backlog".to_owned(),
        };
        format!("{}x{}-{}-{sizes}-{rate}", self.device.ports, self.device.ports, pattern.text())
    }
}

impl SwitchFaults {
    pub(super) fn any(&self) -> bool {
        let rates = [self.bit_error_rate, self.credit_loss_rate, self.credit_corrupt_rate];
        rates.iter().any(|rate| *rate > 0.0)
            || !(self.resets.is_empty() && self.stalls.is_empty())
            || !(self.lane_resets.is_empty() && self.slips.is_empty())
    }

    /// When the last fault is over; of a long one only the first `most` clocks count.
    pub(super) fn over(&self, most: u64) -> u64 {
        let resets = self.resets.iter().chain(&self.stalls).map(|fault| (fault.1, fault.2));
        let lanes = self.lane_resets.iter().map(|fault| (fault.2, fault.3));
        let slips = self.slips.iter().map(|slip| (slip.2, 0));
        let ends = resets.chain(lanes).chain(slips);
        ends.map(|(at, clocks)| at.saturating_add(clocks.min(most))).max().unwrap_or(0)
    }
}
