// SPDX-License-Identifier: Apache-2.0
//! The engines agree with the constants, and a faulty switch is detected.

use std::cell::RefCell;
use std::rc::Rc;

use isthmus_sim::world::link::{Token, Word};
use serde_json::{Value, json};

use super::gateware::Model;
use super::link::Network;
use super::meter::stamps_off;
use super::motion::{Motion, STUCK_CLOCKS};
use super::run::CHUNK;
use super::scenario::SwitchScenario;
use super::*;
use crate::watch::Step;

const SCENARIO: &str = r#"{
    "road": "switch", "profile": "isthmus",
    "platform": {"name": "x", "clock_mhz": 78.125, "serdes_ns": 304.0, "cable_ns": 16.0,
                 "transmit_words": 4, "receive_words": 512},
    "device": {"ports": 4, "buffer_words": 512, "max_words": 128, "credit_in_packet": false,
               "credit_words": 64, "refresh_words": 64, "init_words": 128, "latency_clocks": 7},
    "workload": {"engine": "reference", "pattern": "uniform", "arrivals": "paced",
                 "sizes_bytes": [64, 512], "load": 0.5, "packets": 1000},
    "seed": 1
}"#;

fn judge_trace(engine: &str, trace: &str) -> Measurement {
    let mut scenario: Value = serde_json::from_str(SCENARIO).unwrap();
    scenario["workload"]["engine"] = engine.into();
    scenario["workload"]["pattern"] = "trace".into();
    scenario["workload"]["trace"] = serde_json::from_str(trace).unwrap();
    let scenario = SwitchScenario::parse(&scenario.to_string()).unwrap();
    let watch: Watch = Rc::new(RefCell::new(|_: Step| std::ops::ControlFlow::Continue(())));
    let make = |_: &std::path::Path, _: Option<&std::path::Path>| unreachable!("no gateware");
    run(&scenario, &make, &watch).unwrap().remove(0)
}

#[test]
fn a_trace_of_one_packet_takes_what_the_constants_say() {
    // Hop: (304 + 16) ns of 12.8 ns = 25 clocks. One way: 4 to transmit, 25, 7 of the switch, 25 = 61.
    // 64 bytes are 16 words, with begin and end 18.
    for engine in ["ideal", "reference"] {
        let found = judge_trace(engine, "[[10, 0, 3, 64]]");
        let work = &found.workload;
        let latency = found.latency_ps.unwrap();
        assert_eq!((latency.min, latency.max), (61 * 12_800, 61 * 12_800), "{engine}");
        assert_eq!(found.iterations, 1);
        assert_eq!(work["packets"], 1);
        assert_eq!((&work["load"], &work["payload_load"]), (&Value::Null, &Value::Null));
        assert_eq!((&work["saturated"], &work["steady"]), (&json!(false), &Value::Null));
        let clocks = work["window_clocks"].as_u64().unwrap();
        assert!((61 + 18..=61 + 20).contains(&clocks), "{engine}: {clocks}");
        assert_eq!(found.throughput.unwrap().payload_bytes, 64);
        assert_eq!(found.id.rsplit('/').next().unwrap(), "4x4-trace-64-1-packets");
    }
}

#[test]
fn every_packet_of_a_trace_counts_and_shares_are_shares() {
    // Two packets of 128 words to one output at the same clock: the second waits for the first.
    let trace = "[[0, 0, 2, 512], [0, 1, 2, 512], [100000, 3, 0, 64]]";
    for engine in ["ideal", "reference"] {
        let found = judge_trace(engine, trace);
        let work = &found.workload;
        assert_eq!(found.iterations, 3, "{engine}");
        let latency = found.latency_ps.unwrap();
        assert_eq!(latency.min, 61 * 12_800);
        let waited = latency.max / 12_800 - 61;
        assert!((130..=133).contains(&waited), "{engine}: {waited} clocks behind 130 words");
        let clocks = work["window_clocks"].as_u64().unwrap();
        assert!((100_000 + 79..=100_000 + 81).contains(&clocks), "{engine}: {clocks}");
        assert_eq!(found.throughput.unwrap().payload_bytes, 512 + 512 + 64);
        let shares = &work["wire_shares"];
        if engine == "reference" {
            let all = ["data", "framing", "credit", "idle"];
            let sum: f64 = all.iter().map(|kind| shares[kind].as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
            let data = shares["data"].as_f64().unwrap() * 4.0 * clocks as f64;
            assert_eq!(data.round() as u64, (128 + 128 + 16));
        }
        assert_eq!(work["sizes_bytes"], json!([64, 512]));
        assert_eq!(work["flows"]["least_words"], 16);
    }
}

#[test]
fn a_trace_longer_than_a_window_counts_from_its_first_to_its_last_packet() {
    let rows: Vec<String> =
        (0..5_000).map(|n| format!("[{}, {}, {}, 64]", 40 * n, n % 4, (n + 1) % 4)).collect();
    let found = judge_trace("reference", &format!("[{}]", rows.join(",")));
    assert_eq!(found.iterations, 5_000);
    let clocks = found.workload["window_clocks"].as_u64().unwrap();
    assert!((40 * 4_999 + 79..=40 * 4_999 + 81).contains(&clocks), "{clocks}");
}

#[test]
fn a_fault_at_a_port_or_a_lane_that_is_not_there_is_refused() {
    for (key, value, says) in [
        ("resets", json!([[4, 0, 1]]), "faults.resets: port 4 is outside 0 to 3"),
        ("stalls", json!([[9, 0, 1]]), "faults.stalls: port 9 is outside 0 to 3"),
        ("lane", json!(1), "faults.lane: lane 1 is outside 0 to 0"),
    ] {
        let mut scenario: Value = serde_json::from_str(SCENARIO).unwrap();
        scenario["faults"] = json!({key: value});
        let error = SwitchScenario::parse(&scenario.to_string()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_trace_with_a_backlog_or_a_clock_out_of_range_is_refused() {
    for (key, value, says) in [
        ("arrivals", json!({"backlog": 256}), "no backlog"),
        ("trace", json!([[u64::MAX, 0, 1, 64]]), "outside 0 to 1000000000"),
    ] {
        let mut scenario: Value = serde_json::from_str(SCENARIO).unwrap();
        scenario["workload"]["pattern"] = "trace".into();
        scenario["workload"]["trace"] = json!([[0, 0, 1, 64]]);
        scenario["workload"][key] = value;
        let error = SwitchScenario::parse(&scenario.to_string()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// The ledger's error for a switch whose words are changed at its outputs.
fn judged(mut tamper: impl FnMut(u64, &mut [Word])) -> Option<String> {
    let scenario = SwitchScenario::parse(SCENARIO).unwrap();
    let mut network = Network::new(&scenario.network()).unwrap();
    let mut model = Model::new(&scenario);
    for clock in 0..60_000 {
        model.step(&mut network);
        tamper(clock, &mut model.from);
        if clock == 50_000 {
            network.stop();
        }
    }
    network.close();
    assert!(network.ledger().tally.delivered > 500);
    network.ledger().first_wrong().map(str::to_owned)
}

#[test]
fn a_switch_that_is_right_is_found_right() {
    assert_eq!(judged(|_, _| {}), None);
}

#[test]
fn a_wrong_bit_a_lost_end_and_a_wrong_port_are_found() {
    let bit = judged(|clock, words| {
        if clock == 20_000 {
            words.iter_mut().filter(|word| word.k == 0).for_each(|word| word.data ^= 4);
        }
    });
    assert!(bit.unwrap().contains("never arrived, and no fault hit it"));
    let end = judged(|clock, words| {
        if (20_000..20_200).contains(&clock)
            && let Token::Eop(_) = words[2].token()
        {
            words[2] = Word::IDLE;
        }
    });
    assert!(end.unwrap().contains("never arrived"));
    let port = judged(|clock, words| {
        if clock > 20_000 {
            words.swap(0, 1);
        }
    });
    assert!(port.unwrap().contains("at port"));
}

/// The error for a switch whose words are changed at its outputs, while packets arrive.
fn moved(mut tamper: impl FnMut(u64, &mut [Word])) -> Result<(), RoadError> {
    let scenario = SwitchScenario::parse(SCENARIO).unwrap();
    let mut network = Network::new(&scenario.network()).unwrap();
    let (mut model, mut motion) = (Model::new(&scenario), Motion::new(&scenario));
    for clock in 0..20_000 + 2 * STUCK_CLOCKS {
        model.step(&mut network);
        tamper(clock, &mut model.from);
        if clock % CHUNK == 0 {
            motion.look(&network, "measured window")?;
        }
    }
    Ok(())
}

#[test]
fn a_switch_that_grants_nobody_any_more_is_stuck() {
    assert!(moved(|_, _| {}).is_ok());
    let silent = |clock: u64, words: &mut [Word]| {
        if clock > 20_000 {
            words.fill(Word::IDLE);
        }
    };
    let error = moved(silent).unwrap_err().to_string();
    for part in [
        "switch: stuck in the measured window: no data word",
        "packets are outstanding",
        " from port 0 to port ",
        "and 12 more flows; ",
        "; seed 1",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    // One output that continues shows that the complete switch is not stuck.
    let one = |clock: u64, words: &mut [Word]| {
        if clock > 20_000 {
            words[1..].fill(Word::IDLE);
        }
    };
    assert!(moved(one).is_ok());
}

/// Error of each packet's stamps when data word `index` of some is changed.
fn stamps(index: u32) -> Vec<i64> {
    let scenario = SwitchScenario::parse(SCENARIO).unwrap();
    let mut network = Network::new(&scenario.network()).unwrap();
    let mut model = Model::new(&scenario);
    let mut at = 0;
    for clock in 0..30_000 {
        model.step(&mut network);
        match &mut model.from[1] {
            word if word.k == 0 => {
                word.data = word.data.wrapping_add(u32::from(at == index && clock > 20_000));
                at += 1;
            }
            _ => at = 0,
        }
    }
    assert_eq!(network.ledger().first_wrong(), None, "no check covers them");
    network.take_deliveries().map(|one| stamps_off(&one, scenario.hop_clocks())).collect()
}

#[test]
fn time_stamps_altered_on_the_way_are_found() {
    let right = stamps(u32::MAX);
    assert!(right.len() > 300 && right.iter().all(|off| *off == 0));
    let (entered, departed) = (stamps(4), stamps(5));
    assert!(entered.iter().all(|off| [0, -1].contains(off)) && entered.contains(&-1));
    assert!(departed.iter().all(|off| [0, 1].contains(off)) && departed.contains(&1));
}

#[test]
fn a_word_changed_with_its_check_is_found() {
    // The header's low byte means nothing to the link: only the account of bytes sees it. The check
    // at the end is made good for it.
    let mut change: Option<isthmus_sim::world::link::Crc24> = None;
    let mut index = 0_u32;
    let found = judged(|clock, words| {
        let word = &mut words[3];
        match word.token() {
            Token::Sop { .. } => {
                index = 0;
                change = (clock > 20_000 && change.is_none()).then(Default::default);
            }
            Token::Data(data) => {
                if let Some(crc) = &mut change {
                    if index == 7 {
                        word.data = !data;
                    }
                    crc.add(if index == 4 || index == 5 { 0 } else { word.data });
                }
                index += 1;
            }
            Token::Eop(_) => {
                if let Some(crc) = change.take() {
                    *word = Word::of(Token::Eop(crc.value()));
                }
            }
            _ => {}
        }
    });
    assert!(found.unwrap().contains("(index, is, must be) Some((7,"));
}
