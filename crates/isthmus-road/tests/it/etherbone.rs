// SPDX-License-Identifier: Apache-2.0
//! The Etherbone road with a behavioural stand-in for the device: host programs, measure windows,
//! stages, checks.

use super::common;

use common::{Misbehaviour, run, scenario};
use serde_json::{Value, json};

fn measured(change: impl FnOnce(&mut Value)) -> Vec<Value> {
    run(&scenario(change), Misbehaviour::None).expect("runs")
}

fn failure(change: impl FnOnce(&mut Value), misbehaviour: Misbehaviour) -> String {
    run(&scenario(change), misbehaviour).expect_err("must fail").to_string()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn stage_sum(result: &Value, place: &str) -> u64 {
    let stages = result["stages"].as_array().expect("stages");
    let of_place = stages.iter().filter(|s| place.is_empty() || s["where"] == place);
    of_place.map(|s| s["ps"].as_u64().expect("ps")).sum()
}

#[test]
fn blocking_timestamps() {
    let results = measured(|_| ());
    let [result] = &results[..] else { panic!("one measurement") };
    assert_eq!(result["id"], "etherbone/test/isthmus/blocking/ts3");
    assert_eq!(result["iterations"], 90);
    assert_eq!(result["excluded"], json!({"head": 1, "tail": 1}));
    assert_eq!(result["workload"]["operations_per_cycle"], 6);
    // Two single timestamps and the series, and the RAM pattern.
    assert_eq!(result["checked"], json!({"bytes": 8 * (90 * 3 + 2) + 256, "wrong": 0, "lost": 0}));
    assert_eq!(result["throughput"]["payload_bytes"], 8 * 90 * 3);
    // Request and reply have the length of the format: 4 + 8 + 6 * 4 + 12 bytes.
    let wire = 8 + 14 + 28 + 48 + 4 + 12;
    assert_eq!(result["throughput"]["wire_bytes"], 90 * wire);
    // One transfer follows the other.
    let latency = number(&result["latency_ps"]["avg"]);
    assert!((number(&result["throughput"]["elapsed_ps"]) - 90.0 * latency).abs() < 1.0);
    let windows = &result["windows_ps"];
    let [under, real, over] =
        ["underestimated", "realistic", "overestimated"].map(|w| number(&windows[w]));
    assert!(under < real && real < over, "{windows}");
    assert!((real - under - latency).abs() < 0.05 * latency, "the stack is in it once");
    assert!((over - under - 2.0 * latency).abs() < 0.05 * latency, "and here twice");
    // The stand-in reads one word in each 8 ns.
    assert_eq!(number(&windows["inside_cycle_per_timestamp"]), 16_000.0);
    assert_eq!(result["counters"]["device.rx_good"], result["counters"]["phy.frames_received"]);
}

#[test]
fn stages_add_up_and_stand_at_their_places() {
    let [direct, switched] = [false, true].map(|switch| {
        let results = measured(|s| {
            if switch {
                s["platform"]["bus"]["gige"]["switch"] = json!({"latency_ns": 880});
            }
        });
        results.into_iter().next().expect("one")
    });
    for result in [&direct, &switched] {
        let total = result["stages_total_ps"].as_u64().expect("total");
        assert_eq!(stage_sum(result, ""), total);
        // The median comes from a histogram of three digits.
        let median = result["latency_ps"]["typical"].as_u64().expect("median");
        assert!(total.abs_diff(median) <= median / 1_000, "{total} of {median}");
        let timeline = result["timeline"].as_array().expect("timeline");
        assert!(timeline.len() > 10);
        assert!(timeline.iter().all(|bar| bar["end_ps"].as_u64().expect("end") <= total));
    }
    assert_eq!(direct["workload"]["topology"], "direct");
    assert_eq!(switched["workload"]["topology"], "switch");
    assert_eq!(stage_sum(&direct, "switch"), 0);
    assert_eq!(stage_sum(&switched, "switch"), 2 * 880_000);
    // Each way another frame on another 5 m cable.
    let frame_ns = 8 * (8 + 14 + 28 + 48 + 4);
    let more = 2 * (frame_ns + 27) * 1_000;
    let difference = stage_sum(&switched, "wire") - stage_sum(&direct, "wire");
    // Receive pins follow the clock's grid: up to a cycle more or less.
    assert!(difference.abs_diff(more) <= 8_000, "{difference} instead of {more}");
    // What the platform says of the host's own work: library, calls, copies, protocol, wake-up.
    let library = 2 * (100 + 6 * 10);
    let copies = 2 * 48 / 10;
    let calls = 1900 + 1500 + 2520 + 1070 + copies;
    let host = stage_sum(&direct, "host") / 1_000;
    assert!(host.abs_diff(library + calls) <= 1, "{host}");
}

#[test]
fn methods_rank_as_they_must() {
    let elapsed = |method: &str| {
        let results = measured(|s| s["workload"]["method"] = json!(method));
        (number(&results[0]["throughput"]["elapsed_ps"]), results[0].clone())
    };
    let (convenience, c) = elapsed("convenience");
    let (blocking, _) = elapsed("blocking");
    let (pipelined, p) = elapsed("pipelined");
    assert!(convenience > 5.0 * blocking, "six round trips instead of one");
    assert!(blocking > 5.0 * pipelined);
    assert_eq!(c["iterations"], 540);
    assert_eq!(c["windows_ps"]["inside_cycle_per_timestamp"], Value::Null);
    // 33 cycles of 44 bytes fit 1472 bytes: 90 cycles are three datagrams.
    let frames = number(&p["counters"]["client.messages_sent"]);
    let around = 1 + 2 + 2; // the probe, the RAM pattern, the single timestamps
    assert_eq!(frames, f64::from(around + 3));
    // All are handed over at once: how long one waits for those before it says nothing of the road.
    assert_eq!((&p["arrivals"], &p["latency_ps"]), (&json!("backlog"), &Value::Null));
    assert_eq!((&p["histogram"], &p["stages"]), (&Value::Null, &json!([])));
    assert_eq!((&p["iterations"], &c["arrivals"]), (&json!(90), &json!("closed-loop")));
}

/// A steady series, pipelined with one timestamp a cycle unless `change` says otherwise.
fn steady(change: impl FnOnce(&mut Value)) -> Value {
    let results = measured(|s| {
        s["workload"] =
            json!({"kind": "timestamps", "method": "pipelined", "timestamps_per_cycle": 1});
        change(s);
    });
    results.into_iter().next().expect("one")
}

fn per_timestamp(result: &Value) -> f64 {
    1e12 / number(&result["throughput"]["timestamps_per_s"])
}

#[test]
fn a_pipelined_figure_at_default_options_is_that_of_a_long_run() {
    for (timestamps, polls) in [(1, 1), (8, 1), (1, 0), (8, 0)] {
        let result = |iterations: u32| {
            steady(|s| {
                s["workload"]["timestamps_per_cycle"] = json!(timestamps);
                s["workload"]["iterations"] = json!(iterations);
                s["platform"]["library"]["poll"] = json!(polls);
                s["platform"]["bus"]["gige"]["nic"]["interrupt_gap_us"] = json!(50);
            })
        };
        let (default, long) = (result(90), result(10_000));
        assert!(number(&long["iterations"]) >= 10_000.0);
        let off = per_timestamp(&default) / per_timestamp(&long) - 1.0;
        assert!(off.abs() < 0.01, "{timestamps} timestamps, poll {polls}: off by {off}");
        assert_eq!(default["workload"]["steady"], true);
    }
}

#[test]
fn a_steady_window_excludes_the_filling_and_the_draining_of_the_pipe_and_says_so() {
    let result = steady(|_| ());
    let excluded = &result["excluded"];
    assert!(number(&excluded["head"]) >= 256.0, "the pipe is full: {excluded}");
    assert!(number(&excluded["tail"]) >= 128.0, "and does not run empty: {excluded}");
    let (iterations, rates) = (number(&result["iterations"]), &result["throughput"]);
    assert_eq!(number(&rates["payload_bytes"]), 8.0 * iterations);
    let cycles = number(&rates["cycles_per_s"]) * number(&rates["elapsed_ps"]) / 1e12;
    assert!((cycles - iterations).abs() < 0.01);
    assert_eq!(result["workload"]["procedure"], "steady");
    assert_eq!(result["checked"]["wrong"], 0);
    // What is left out is checked all the same.
    let all = iterations + number(&excluded["head"]) + number(&excluded["tail"]);
    assert_eq!(number(&result["checked"]["bytes"]), 8.0 * all + 256.0);
}

#[test]
fn pipelined_latency_is_that_of_its_window_and_does_not_grow_with_the_number_of_cycles() {
    let [few, many] = [90, 9_000].map(|n| steady(|s| s["workload"]["iterations"] = json!(n)));
    let average = |result: &Value| number(&result["latency_ps"]["avg"]);
    assert!((average(&many) / average(&few) - 1.0).abs() < 0.02);
    assert_eq!(many["arrivals"], "window:256");
    // Little's law: from the program's call on, seven eighths of the window or more are in flight.
    let in_flight = average(&many) / per_timestamp(&many);
    assert!((0.875 * 256.0..=256.0).contains(&in_flight), "{in_flight}");
    let narrow = steady(|s| s["workload"]["window"] = json!(64));
    assert_eq!(narrow["arrivals"], "window:64");
    assert!(average(&narrow) < average(&few));
    assert_eq!(stage_sum(&many, ""), many["stages_total_ps"].as_u64().expect("total"));
}

#[test]
fn a_blocking_series_is_a_closed_loop_without_its_first_cycles() {
    let result = steady(|s| s["workload"]["method"] = json!("blocking"));
    assert_eq!(result["arrivals"], "closed-loop");
    assert_eq!(result["excluded"], json!({"head": 2, "tail": 0}));
    assert_eq!(result["iterations"], 90);
    let words = steady(|s| s["workload"]["method"] = json!("convenience"));
    assert_eq!((&words["iterations"], &words["excluded"]["head"]), (&json!(180), &json!(4)));
}

#[test]
fn words_latch_unit_throughput_and_path() {
    let words = measured(|s| {
        s["workload"] = json!({"kind": "words", "method": "blocking", "words": [1, 255, 256]});
    });
    let ids: Vec<&str> = words.iter().map(|w| w["id"].as_str().expect("id")).collect();
    let id = |n| format!("etherbone/test/isthmus/blocking/words{n}");
    assert_eq!(ids, [id(1), id(255), id(256)]);
    let typical = |i: usize| number(&words[i]["latency_ps"]["typical"]);
    assert!(typical(2) > typical(1) + typical(0) * 0.9, "a word more is a cycle more");
    assert!(words[2]["stages"].as_array().expect("stages").is_empty());

    for method in ["convenience", "blocking", "pipelined"] {
        let tlu = &measured(|s| s["workload"] = json!({"kind": "tlu", "method": method}))[0];
        assert_eq!(tlu["id"], format!("etherbone/test/isthmus/{method}/tlu"));
        assert_eq!(tlu["checked"]["wrong"], 0);
        assert_eq!(tlu["throughput"]["payload_bytes"], 90 * 16);
    }

    let max = &measured(|s| {
        s["workload"] = json!({"kind": "throughput", "timestamps_per_cycle": 8});
    })[0];
    assert_eq!(max["id"], "etherbone/test/isthmus/pipelined/max8");
    assert_eq!(max["arrivals"], "window:1024");
    assert!(number(&max["throughput"]["payload_bytes"]) >= 8.0 * 8.0 * 2000.0);

    let path = measured(|s| s["workload"] = json!({"kind": "path", "reads": [1, 2, 255]}));
    assert_eq!(path.len(), 3);
    for (result, reads) in path.iter().zip([1u64, 2, 255]) {
        assert_eq!(result["workload"]["reads"], reads);
        let clocks = &result["workload"]["clocks"];
        let turnaround = clocks["turnaround"].as_u64().expect("clocks");
        assert_eq!(stage_sum(result, "fpga"), turnaround * 8_000);
        // First byte in to last byte out: both frames and what lies between.
        let frame = 8 + (42 + 12 + 4 * reads).max(60) + 4;
        assert_eq!(clocks["first_to_last"], 2 * frame + turnaround - 2);
    }
}

#[test]
fn a_seed_gives_one_result_with_and_without_skipping() {
    let result = |change: fn(&mut Value)| {
        let mut results = measured(|s| {
            s["workload"]["method"] = json!("pipelined");
            s["workload"]["iterations"] = json!(30);
            change(s);
        });
        let simulation = results[0].as_object_mut().expect("object").remove("simulation");
        (serde_json::to_string(&results).expect("text"), simulation.expect("simulation"))
    };
    let (plain, skipped) = result(|_| ());
    let (again, _) = result(|_| ());
    let (evaluated, all) = result(|s| s["skip_idle"] = json!(false));
    let (checked, _) = result(|s| s["check_idle"] = json!(true));
    assert_eq!(plain, again);
    assert_eq!(plain, evaluated);
    assert_eq!(plain, checked);
    assert!(number(&skipped["evaluated_cycles"]) < number(&all["evaluated_cycles"]));
    assert_eq!(skipped["device_cycles"], all["device_cycles"]);
}

#[test]
fn wrong_data_fails_the_run() {
    let text = failure(|_| (), Misbehaviour::FlipsBits);
    assert!(text.starts_with("data check failed: 64 wrong"), "{text}");
    assert!(text.contains("RAM pattern, offset 3"), "{text}");
    let text = failure(|_| (), Misbehaviour::TimeRunsBackwards);
    assert!(text.contains("first: timestamp 15178752"), "{text}");
    let text = failure(|_| (), Misbehaviour::EcaErrors);
    let error = "read 0x00200018 (operation 0): bus error (2 of 2 operations failed)";
    assert!(text.starts_with(&format!("first timestamp: {error} (at ")), "{text}");
    assert!(text.ends_with(" us, after 3 Etherbone cycles)"), "{text}");
    let text = failure(|_| (), Misbehaviour::Mute);
    assert!(
        text.starts_with("probe: no Etherbone device answered 3 probes of 10ms (at 30."),
        "{text}"
    );
    assert!(text.ends_with(" ms, after 0 Etherbone cycles)"), "{text}");
}

#[test]
fn faults_on_the_cable_never_give_wrong_data() {
    let names = ["bit_error", "drop", "duplicate", "reorder"];
    for (number, name) in names.into_iter().enumerate() {
        for direction in ["a_to_b", "b_to_a"] {
            let point = format!("cable.{direction}.{name}");
            let rate = if name == "bit_error" { 2e-5 } else { 0.01 };
            let outcome = run(
                &scenario(|s| {
                    s["faults"] = json!({point.clone(): {"rate": rate}});
                    s["seed"] = json!(number + 10);
                    s["workload"]["method"] = json!("pipelined");
                    s["workload"]["timestamps_per_cycle"] = json!(8);
                    s["workload"]["iterations"] = json!(900);
                }),
                Misbehaviour::None,
            );
            match (name, outcome) {
                // Doubled and late frames change nothing but the time.
                ("duplicate" | "reorder", Ok(results)) => {
                    assert_eq!(results[0]["checked"]["wrong"], 0);
                }
                ("bit_error" | "drop", Err(error)) => {
                    let text = error.to_string();
                    assert!(text.contains("no reply within 200ms"), "{point}: {text}");
                }
                (_, Ok(results)) => {
                    let fired = &results[0]["counters"][format!("fault.{point}")];
                    assert_eq!(fired, 0, "{point}: a lost frame went unnoticed");
                }
                (_, Err(error)) => panic!("{point}: {error}"),
            }
        }
    }
}

#[test]
fn wrong_scenarios_name_the_key() {
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 10] = [
        (
            |s| s["workload"]["timestamps_per_cycle"] = json!(9),
            "scenario: workload.timestamps_per_cycle: 9 is outside 1 to 8",
        ),
        (|s| s["platform"]["fpga"]["colour"] = json!(1), "scenario: platform.fpga.colour: unknown"),
        (
            |s| s["platform"]["bus"]["gige"]["host"]["wakeup_ns"] = json!(-1.0),
            "scenario: platform.bus.gige.host.wakeup_ns: -1 is outside 0 to 1000000",
        ),
        (|s| s["device"]["mac"] = json!("03:00:00:00:00:01"), "scenario: device.mac: 03:00"),
        (|s| s["device"]["ip"] = json!("10.0.0"), "scenario: device.ip: "),
        (|s| s["profile"] = json!("ours"), "scenario: profile: unknown variant `ours`"),
        (|s| s["workload"]["kind"] = json!("x"), "scenario: workload"),
        (
            |s| {
                s.as_object_mut().expect("object").remove("seed");
            },
            "scenario: document: missing field `seed`",
        ),
        (
            |s| s["faults"] = json!({"cabel.drop": {"rate": 0.5}}),
            "fault point cabel.drop: not in this world",
        ),
        (
            |s| s["platform"]["bus"]["gige"]["phy"]["rx_ns"] = json!(1),
            "phy: receive_latency_ns = 1",
        ),
    ];
    for (change, expected) in cases {
        let text = failure(change, Misbehaviour::None);
        assert!(text.starts_with(expected), "{text}");
        assert!(!text.contains('\n'), "{text}");
    }
}
