// SPDX-License-Identifier: Apache-2.0
//! The switch's world under our own model of the switch: no gateware needed.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use isthmus_road::{Measurement, RoadError, Watch, load, run_text};
use serde_json::{Value, json};

fn scenario(workload: &Value) -> Value {
    let mut all = json!({
        "engine": "reference", "pattern": "uniform", "arrivals": "paced",
        "sizes_bytes": [64, 512], "load": 0.5, "packets": 5_000,
    });
    merge(&mut all, workload);
    json!({
        "road": "switch",
        "profile": "isthmus",
        "platform": {
            "name": "forth-switch", "clock_mhz": 78.125, "serdes_ns": 304.0, "cable_ns": 16.0,
            "transmit_words": 4, "receive_words": 512,
        },
        "device": {
            "ports": 8, "buffer_words": 512, "max_words": 128, "credit_in_packet": false,
            "credit_words": 64, "refresh_words": 64, "init_words": 128, "align_words": 0,
            "latency_clocks": 7,
        },
        "workload": all,
        "seed": 3,
    })
}

fn merge(into: &mut Value, changes: &Value) {
    match (into, changes) {
        (Value::Object(into), Value::Object(changes)) => {
            for (key, change) in changes {
                merge(into.entry(key.clone()).or_insert(Value::Null), change);
            }
        }
        (into, change) => *into = change.clone(),
    }
}

fn try_run(scenario: &Value) -> Result<Measurement, RoadError> {
    let watch: Watch = Rc::new(RefCell::new(|_| ControlFlow::Continue(())));
    let mut found = run_text(&scenario.to_string(), &load, &watch)?;
    assert_eq!(found.len(), 1);
    Ok(found.remove(0))
}

fn run(scenario: &Value) -> Measurement {
    try_run(scenario).unwrap_or_else(|error| panic!("{error}"))
}

fn number(measured: &Measurement, path: &[&str]) -> f64 {
    let first = &measured.workload[path[0]];
    let value = path[1..].iter().fold(first, |value, key| &value[*key]);
    value.as_f64().unwrap_or_else(|| panic!("{path:?} is {value}"))
}

fn line_share(measured: &Measurement) -> f64 {
    1.0 - number(measured, &["wire_shares", "idle"])
}

#[test]
fn a_switch_whose_outputs_all_stop_for_ever_ends_the_run_and_says_what_is_outstanding() {
    let mut stopped = scenario(&json!({ "packets": 1_000_000 }));
    let stalls: Vec<_> = (0..8).map(|port| json!([port, 20_000, 1_000_000_000_000_u64])).collect();
    stopped["faults"] = json!({ "stalls": stalls });
    let error = try_run(&stopped).unwrap_err().to_string();
    for part in
        ["switch: stuck in the warm-up", "outstanding: ", " from port ", "words wait", "ms)"]
    {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn a_run_can_be_ended_in_every_phase() {
    for workload in [
        json!({ "packets": 1_000_000_000 }),
        json!({ "packets": 1_000_000_000, "engine": "ideal" }),
        // Steady at once: this one is in its window for long.
        json!({ "packets": 50_000_000, "load": 0.01 }),
    ] {
        let begin = std::time::Instant::now();
        let watch: Watch = Rc::new(RefCell::new(move |_| match begin.elapsed().as_millis() {
            300.. => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }));
        let error = run_text(&scenario(&workload).to_string(), &load, &watch).unwrap_err();
        assert!(error.to_string().contains("interrupted at"), "{error}");
        assert!(begin.elapsed().as_secs() < 2);
    }
}

#[test]
fn an_idle_switch_adds_its_latency_and_nothing_else() {
    let found = run(&scenario(&json!({ "load": 0.01, "packets": 500 })));
    assert_eq!(found.latency_ps.unwrap().min, (4 + 25 + 7 + 25) * 12_800);
    let stages: Vec<u64> = found.stages.iter().map(|stage| stage.ps / 12_800).collect();
    assert_eq!(stages, [4, 25, 7, 25]);
    assert_eq!(found.stages_total_ps, found.latency_ps.unwrap().min);
}

#[test]
fn delay_stays_close_to_ideal_output_queueing() {
    for (load, most) in [(0.3, 1.05), (0.6, 1.08), (0.8, 1.15)] {
        let at = |engine: &str| {
            let more = json!({ "engine": engine, "load": load, "packets": 20_000 });
            run(&scenario(&more)).latency_ps.unwrap().avg
        };
        let (ours, ideal) = (at("reference"), at("ideal"));
        assert!((0.97..most).contains(&(ours / ideal)), "{load}: {ours} and {ideal}");
    }
}

#[test]
fn saturation_leaves_hardly_a_word_idle() {
    let found = run(&scenario(&json!({ "arrivals": { "backlog": 256 }, "packets": 20_000 })));
    assert!(line_share(&found) > 0.995, "{}", line_share(&found));
    assert!(number(&found, &["payload_share"]) > 0.955);
    assert!(number(&found, &["flows", "jain"]) > 0.99);
}

#[test]
fn interfaces_that_serve_their_longest_queue_keep_the_rate_under_uneven_load() {
    let at = |longest_first: bool| {
        let mut scenario = scenario(&json!({
            "arrivals": { "backlog": 256 }, "pattern": { "unbalanced": 0.4 }, "packets": 10_000,
        }));
        scenario["platform"]["longest_first"] = json!(longest_first);
        line_share(&run(&scenario))
    };
    let (in_turn, longest_first) = (at(false), at(true));
    assert!(in_turn < 0.95, "{in_turn}");
    assert!(longest_first > 0.99, "{longest_first}");
}

#[test]
fn permutations_of_minimum_packets_fill_the_line() {
    let more = json!({
        "arrivals": { "backlog": 64 }, "pattern": "permutation", "sizes_bytes": [64, 64],
    });
    let found = run(&scenario(&more));
    assert!(line_share(&found) > 0.9999, "{}", line_share(&found));
}

#[test]
fn an_align_behind_each_1024_words_costs_a_full_line_one_word_in_1025() {
    let at = |align: u32| {
        let mut made = scenario(&json!({
            "arrivals": { "backlog": 64 }, "pattern": "permutation", "sizes_bytes": [512, 512],
            "packets": 20_000,
        }));
        made["device"]["align_words"] = json!(align);
        let found = run(&made);
        (line_share(&found), number(&found, &["wire_shares", "idle"]))
    };
    let (without, with) = (at(0), at(1_024));
    let cost = 1.0 - with.0 / without.0;
    // One behind a packet of 130 words, so in 1025 to 1154.
    assert!((1.0 / 1_155.0..1.0 / 1_025.0).contains(&cost), "{without:?} {with:?}");
    assert!(with.1 > without.1);
}

#[test]
fn one_flow_keeps_its_line_as_long_as_its_buffer_covers_the_round_trip() {
    // Data words of the one line in use, against those of the shortest round trip.
    let carried = |hop_ns: f64, buffer: u32| {
        let mut scenario = scenario(&json!({
            "arrivals": { "backlog": 64 }, "pattern": "single", "packets": 2_000,
            "sizes_bytes": [512, 512],
        }));
        merge(
            &mut scenario,
            &json!({
                "platform": { "serdes_ns": hop_ns },
                "device": { "buffer_words": buffer, "init_words": 2_048 },
            }),
        );
        8.0 * number(&run(&scenario), &["payload_share"])
    };
    let whole = carried(304.0, 512);
    assert!(whole > 0.955, "{whole}");
    assert!(carried(2_000.0, 512) > whole - 0.01);
    assert!(carried(6_000.0, 512) < 0.8 * whole);
    let shallow = carried(304.0, 144);
    assert!(shallow < 0.8 * whole, "{shallow} of {whole}");
}

fn under(faults: &Value, more: &Value) -> Measurement {
    let mut scenario = scenario(&json!({ "load": 0.7, "packets": 4_000, "drain": true }));
    merge(&mut scenario, &json!({ "faults": faults }));
    merge(&mut scenario, more);
    run(&scenario)
}

#[test]
fn lost_credits_lose_no_packet() {
    for rate in [1e-3, 0.1, 0.5] {
        let found = under(&json!({ "credit_loss_rate": rate }), &json!({}));
        let count = |name: &str| found.counters[name];
        assert!(count("fault.credits_lost") > 0);
        assert_eq!(count("packets.delivered"), count("packets.created"), "{rate}");
    }
}

#[test]
fn corrupted_credits_lose_no_packet() {
    let found = under(&json!({ "credit_corrupt_rate": 0.2 }), &json!({}));
    assert!(found.counters["fault.credits_corrupted"] > 100);
    assert_eq!(found.counters["packets.delivered"], found.counters["packets.created"]);
}

#[test]
fn a_bit_error_costs_its_own_packet_alone() {
    let found = under(&json!({ "bit_error_rate": 1e-6 }), &json!({}));
    let count = |name: &str| found.counters[name];
    assert!(count("fault.bit_errors") > 10 && count("packets.excused") > 5);
    assert!(count("packets.excused") <= count("fault.bit_errors"));
    assert_eq!(count("packets.delivered") + count("packets.excused"), count("packets.created"));
}

#[test]
fn a_stalled_sink_stops_only_what_is_for_it() {
    let stall = json!({ "stalls": [[2, 10_000, 40_000]] });
    // The others keep their delay: a mean over all would not show it, the median does.
    let (free, held) = (under(&json!({}), &json!({})), under(&stall, &json!({})));
    assert_eq!(held.counters["packets.delivered"], held.counters["packets.created"]);
    assert_eq!(held.counters["end.overruns"], 0);
    let p50 = |found: &Measurement| found.latency_ps.unwrap().p50.unwrap() as f64;
    assert!(p50(&held) < 1.5 * p50(&free), "{} and {}", p50(&held), p50(&free));
    assert!(held.latency_ps.unwrap().max > 20_000 * 12_800);
}

#[test]
fn a_link_that_starts_again_takes_only_what_was_on_it() {
    let found = under(&json!({ "resets": [[1, 9_000, 50], [5, 15_000, 3_000]] }), &json!({}));
    let count = |name: &str| found.counters[name];
    assert_eq!(count("fault.resets"), 2);
    assert!(count("end.starts") >= 10, "{}", count("end.starts"));
    assert_eq!(count("packets.delivered") + count("packets.excused"), count("packets.created"));
    assert!(count("packets.excused") < 30, "{}", count("packets.excused"));
}

#[test]
fn a_trace_is_sent_as_it_stands() {
    let trace = json!([[0, 0, 3, 64], [0, 1, 3, 64], [500, 2, 7, 512]]);
    let more = json!({ "pattern": "trace", "trace": trace, "packets": 3 });
    let found = run(&scenario(&more));
    assert_eq!(found.counters["packets.delivered"], 3);
}

#[test]
fn one_seed_gives_one_result() {
    let once = || run(&scenario(&json!({ "arrivals": { "bursty": 8.0 }, "load": 0.6 })));
    let (first, second) = (once(), once());
    assert_eq!(first.counters, second.counters);
    assert_eq!(first.latency_ps.unwrap().avg, second.latency_ps.unwrap().avg);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_key() {
    for (change, key) in [
        (json!({ "workload": { "load": 1.5 } }), "workload.load"),
        (json!({ "workload": { "sizes_bytes": [64, 516] } }), "workload.sizes_bytes"),
        (json!({ "workload": { "pattern": "trace" } }), "workload.trace"),
        (json!({ "workload": { "pattern": "round" } }), "workload.pattern"),
        (json!({ "device": { "ports": 1 } }), "device.ports"),
        (json!({ "device": { "buffer_words": 128 } }), "device.max_words"),
        (
            json!({ "workload": { "engine": "ideal", "arrivals": { "backlog": 9 } } }),
            "workload.engine",
        ),
        (json!({ "device": { "portz": 1 } }), "device"),
    ] {
        let mut scenario = scenario(&json!({}));
        merge(&mut scenario, &change);
        let error = try_run(&scenario).unwrap_err();
        assert!(error.is_callers() && error.to_string().contains(key), "{key}: {error}");
    }
}
