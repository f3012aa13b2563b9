// SPDX-License-Identifier: Apache-2.0
//! Reads and writes of a block over Gigabit Ethernet, with a behavioural stand-in for the device: windows,
//! rates, noise, what bounds them, and what must turn a run red.

use super::common;

use common::{Misbehaviour, run, scenario};
use serde_json::{Value, json};

fn access(workload: Value, change: impl FnOnce(&mut Value)) -> String {
    scenario(|s| {
        s["workload"] = json!({"kind": "access"});
        for (key, value) in workload.as_object().expect("an object") {
            s["workload"][key] = value.clone();
        }
        change(s);
    })
}

fn measured_with(workload: Value, change: impl FnOnce(&mut Value)) -> Value {
    let results = run(&access(workload, change), Misbehaviour::None).expect("runs");
    let [result] = &results[..] else { panic!("one measurement") };
    result.clone()
}

fn measured(workload: Value) -> Value {
    measured_with(workload, |_| ())
}

fn failure(workload: Value, misbehaviour: Misbehaviour) -> String {
    run(&access(workload, |_| ()), misbehaviour).expect_err("must fail").to_string()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn latency(result: &Value) -> f64 {
    number(&result["latency_ps"]["avg"])
}

/// Requests a second.
fn rate(result: &Value) -> f64 {
    number(&result["throughput"]["cycles_per_s"])
}

fn stage_sum(result: &Value) -> u64 {
    let stages = result["stages"].as_array().expect("stages");
    stages.iter().map(|stage| stage["ps"].as_u64().expect("ps")).sum()
}

#[test]
fn a_read_takes_as_long_as_so_many_words_of_a_blocking_cycle() {
    for words in [1_u32, 64, 255] {
        let mut asked = json!({"operation": "host-read", "bytes": 4 * words});
        if words > 1 {
            asked["iterations"] = json!(300);
        }
        let read = measured(asked);
        let old = run(
            &scenario(|s| {
                s["workload"] = json!({"kind": "words", "method": "blocking", "words": [words]});
            }),
            Misbehaviour::None,
        );
        let old = latency(&old.expect("runs")[0]);
        // A received octet lies on the grid of the device's clock.
        assert!((latency(&read) - old).abs() < 8_000.0, "{words} words: {} {old}", latency(&read));
        assert_eq!(read["id"], format!("etherbone/test/isthmus/datagram/host-read{}w1", 4 * words));
        assert_eq!((&read["definition"], &read["arrivals"]), (&json!("rtt"), &json!("window:1")));
        assert_eq!(read["excluded"], json!({"head": 2, "tail": 0}));
        let workload = &read["workload"];
        assert_eq!(workload["operation"], "host-read");
        assert_eq!((&workload["window"], &workload["rate_per_s"]), (&json!(1), &Value::Null));
        assert_eq!(
            (&workload["driver"], &workload["saturated"]),
            (&json!("datagram"), &json!(false))
        );
        assert_eq!(read["iterations"], if words > 1 { 300 } else { 1_000 });
        let median = read["latency_ps"]["typical"].as_u64().expect("median");
        let total = read["stages_total_ps"].as_u64().expect("total");
        assert_eq!(stage_sum(&read), total);
        assert!(total.abs_diff(median) <= median / 1_000 + 8_000, "{total} of {median}");
    }
}

#[test]
fn what_was_measured_is_what_was_asked_for() {
    let result = measured(json!({"operation": "host-read", "bytes": 2_048, "iterations": 50}));
    assert_eq!(result["iterations"], 50);
    assert_eq!(result["workload"]["cycles_per_request"], 3);
    assert_eq!(result["throughput"]["payload_bytes"], 50 * 2_048);
    // What is not counted is checked all the same.
    let requests = 2 + 50;
    assert_eq!(result["checked"], json!({"bytes": requests * 2_048, "wrong": 0, "lost": 0}));
    assert_eq!(stage_sum(&result), result["stages_total_ps"].as_u64().expect("total"));
    let single = measured(json!({"operation": "host-read", "bytes": 1_020, "iterations": 50}));
    // Its cycles do not wait for each other.
    assert!(latency(&result) < 1.9 * latency(&single), "{} {}", latency(&result), latency(&single));
}

#[test]
fn a_window_is_its_rate_times_its_latency() {
    for (window, bytes) in [(1, 256), (4, 256), (32, 64), (8, 4_096)] {
        let result = measured(
            json!({"operation": "host-read", "bytes": bytes, "window": window, "iterations": 200}),
        );
        let in_flight = rate(&result) * latency(&result) / 1e12;
        let window = f64::from(window);
        assert!((in_flight / window - 1.0).abs() < 0.03, "{in_flight} of {window}, {bytes} bytes");
        assert_eq!(result["arrivals"], format!("window:{window}"));
    }
}

#[test]
fn several_in_flight_are_faster_until_something_is_busy_all_the_time() {
    let of = |bytes: u32, window: u32| {
        measured(json!({
            "operation": "host-read", "bytes": bytes, "window": window, "iterations": 400
        }))
    };
    let [one, many] = [of(4, 1), of(4, 256)];
    assert!(rate(&many) > 10.0 * rate(&one));
    let busy = |result: &Value, place: &str| number(&result["workload"]["busy"][place]);
    assert!(busy(&one, "wire") < 0.2 && busy(&one, "host") < 0.9, "{}", one["workload"]);
    assert!(busy(&many, "host") > 0.9, "{}", many["workload"]["busy"]);
    let long = of(1_020, 64);
    assert!(busy(&long, "wire") > 0.9, "{}", long["workload"]["busy"]);
    for result in [one, many, long] {
        let shares = result["workload"]["busy"].as_object().expect("shares");
        assert!(shares.values().all(|share| (0.0..=1.0).contains(&number(share))), "{shares:?}");
        assert_eq!(shares.keys().collect::<Vec<_>>(), ["fpga", "host", "wire"]);
    }
}

#[test]
fn a_write_ends_in_the_device() {
    let result = measured(json!({"operation": "host-write", "bytes": 256, "iterations": 300}));
    let read = measured(json!({"operation": "host-read", "bytes": 256, "iterations": 300}));
    assert_eq!(result["id"], "etherbone/test/isthmus/datagram/host-write256w1");
    assert_eq!(result["definition"], "one_way");
    assert!(latency(&result) < 0.7 * latency(&read), "{} {}", latency(&result), latency(&read));
    let total = result["stages_total_ps"].as_u64().expect("total");
    assert_eq!(stage_sum(&result), total);
    let median = result["latency_ps"]["typical"].as_u64().expect("median");
    assert!(total.abs_diff(median) <= median / 1_000 + 8_000, "{total} of {median}");
    let last = result["stages"].as_array().expect("stages").last().expect("a stage").clone();
    assert_eq!((&last["where"], &last["name"]), (&json!("fpga"), &json!("bus operations")));
    // The last words that were written are read back.
    assert_eq!(result["checked"], json!({"bytes": 16_384, "wrong": 0, "lost": 0}));
    for workload in [
        json!({"operation": "host-write", "bytes": 4_096, "window": 4, "iterations": 200}),
        json!({"operation": "host-write", "bytes": 64, "rate_per_s": 20_000, "iterations": 200}),
        json!({"operation": "host-write", "bytes": 65_540, "iterations": 3}),
    ] {
        let result = measured(workload);
        assert_eq!(stage_sum(&result), result["stages_total_ps"].as_u64().expect("total"));
        assert!(result["stages_total_ps"].as_u64() > Some(0));
    }
}

#[test]
fn a_write_that_is_lost_turns_the_run_red() {
    let writes = |bytes: u32| json!({"operation": "host-write", "bytes": bytes, "iterations": 60});
    let text = failure(writes(64), Misbehaviour::DropsWrites);
    assert!(text.starts_with("data check failed: "), "{text}");
    assert!(text.contains("RAM that was written"), "{text}");
    let text = failure(writes(64), Misbehaviour::HidesWrites);
    assert_eq!(text, "992 words were written, 983 reached the device's bus");
    let text = failure(writes(64), Misbehaviour::Mute);
    assert!(text.starts_with("probe: no Etherbone device answered"), "{text}");
    let text = failure(json!({"operation": "host-read", "bytes": 64}), Misbehaviour::FlipsBits);
    assert!(text.starts_with("data check failed: ") && text.contains("RAM, offset 3"), "{text}");
}

#[test]
fn a_rate_far_below_capacity_has_the_latency_of_an_unloaded_road() {
    let single = measured(json!({"operation": "host-read", "bytes": 256}));
    let slow = measured(
        json!({"operation": "host-read", "bytes": 256, "rate_per_s": 1_000, "iterations": 500}),
    );
    assert_eq!(slow["id"], "etherbone/test/isthmus/datagram/host-read256r1000");
    assert_eq!(slow["arrivals"], "poisson:1000/s");
    assert_eq!(slow["excluded"]["head"], 50);
    let typical = |result: &Value| number(&result["latency_ps"]["typical"]);
    assert!((typical(&slow) / typical(&single) - 1.0).abs() < 0.01, "{}", typical(&slow));
    assert!((rate(&slow) / 1_000.0 - 1.0).abs() < 0.15, "{}", rate(&slow));
    // Two that come close together wait for each other.
    assert!(number(&slow["latency_ps"]["max"]) >= typical(&slow));
    assert_eq!(slow["workload"]["saturated"], false);
    assert_eq!(stage_sum(&slow), slow["stages_total_ps"].as_u64().expect("total"));
}

#[test]
fn latency_grows_with_the_rate_until_the_road_is_saturated() {
    let at = |rate_per_s: f64| {
        measured(json!({
            "operation": "host-read", "bytes": 1_020, "rate_per_s": rate_per_s, "iterations": 400
        }))
    };
    // What the wire carries of such requests, eight bytes more than the reply's.
    let full = measured(
        json!({"operation": "host-read", "bytes": 1_020, "window": 64, "iterations": 400}),
    );
    let capacity = rate(&full);
    let [low, high] = [at(0.3 * capacity), at(0.85 * capacity)];
    assert!(latency(&low) < latency(&high), "{} {}", latency(&low), latency(&high));
    for (result, share) in [(&low, 0.3), (&high, 0.85)] {
        assert_eq!(result["workload"]["saturated"], false);
        assert!((rate(result) / (share * capacity) - 1.0).abs() < 0.1);
    }
    let over = at(1.3 * capacity);
    assert_eq!(over["workload"]["saturated"], true);
    assert_eq!((&over["latency_ps"], &over["histogram"]), (&Value::Null, &Value::Null));
    assert_eq!(over["stages"], json!([]));
    assert!((rate(&over) / capacity - 1.0).abs() < 0.05, "{} of {capacity}", rate(&over));
    assert!(number(&over["iterations"]) >= 400.0);
}

#[test]
fn noise_moves_the_tail_and_not_the_rest() {
    let read = json!({"operation": "host-read", "bytes": 64, "iterations": 2_000});
    let noisy = |buckets: Value| {
        measured_with(read.clone(), |s| s["noise"] = json!({"unit": "ns", "buckets": buckets}))
    };
    let quiet = measured(read.clone());
    let rare = noisy(json!([[0, 950], [40_000, 50]]));
    let at = |result: &Value, which: &str| number(&result["latency_ps"][which]);
    assert_eq!(
        (&quiet["workload"]["noise"], &rare["workload"]["noise"]),
        (&json!(false), &json!(true))
    );
    assert!((at(&rare, "p50") / at(&quiet, "p50") - 1.0).abs() < 0.01);
    assert!(at(&rare, "p99") > at(&quiet, "p99") + 39_000_000.0, "{}", rare["latency_ps"]);
    let mean = latency(&rare) - latency(&quiet);
    assert!((mean / 2_000_000.0 - 1.0).abs() < 0.25, "{mean}");
    // One that is always there is a stage of its own.
    let always = noisy(json!([[3_000, 1]]));
    let stages = always["stages"].as_array().expect("stages");
    let found = stages.iter().find(|stage| stage["name"] == "operating system").expect("a stage");
    assert_eq!((&found["where"], &found["ps"]), (&json!("host"), &json!(3_000_000)));
    assert!((latency(&always) - latency(&quiet) - 3e6).abs() < 8_000.0);
    // At a rate the program is late at its next request, too.
    let due = |buckets: Value| {
        measured_with(
            json!({"operation": "host-read", "bytes": 64, "rate_per_s": 1_000, "iterations": 300}),
            |s| s["noise"] = json!({"unit": "ns", "buckets": buckets}),
        )
    };
    let late = at(&due(json!([[3_000, 1]])), "typical") - at(&due(json!([[0, 1]])), "typical");
    assert!((late - 6e6).abs() < 20_000.0, "{late}");
}

#[test]
fn a_seed_gives_one_result() {
    let result = |seed: u64| {
        let mut result = measured_with(
            json!({"operation": "host-write", "bytes": 64, "rate_per_s": 50_000, "iterations": 300}),
            |s| s["seed"] = json!(seed),
        );
        result.as_object_mut().expect("object").remove("simulation");
        result.to_string()
    };
    assert_eq!(result(1), result(1));
    assert_ne!(result(1), result(2));
}

#[test]
fn wrong_requests_are_refused_in_one_line() {
    let cases = [
        (
            json!({"operation": "host-read", "bytes": 6}),
            "bytes: 6 is not a multiple of 4: expected 4 or 8",
        ),
        (json!({"operation": "host-read", "bytes": 0}), "bytes: 0 is outside 4 to 1048576"),
        (
            json!({"operation": "host-read", "bytes": 4, "window": 2, "rate_per_s": 5}),
            "rate_per_s: a window and a rate exclude each other: expected one of the two",
        ),
        (
            json!({"operation": "host-read", "bytes": 1_048_576, "window": 5}),
            "window: 5242880 bytes in flight: at most 4194304 expected",
        ),
        (
            json!({"operation": "host-read", "bytes": 4, "window": 0}),
            "window: 0 is outside 1 to 4096",
        ),
        (
            json!({"operation": "host-read", "bytes": 4, "iterations": 0}),
            "iterations: 0 is outside",
        ),
        (
            json!({"operation": "put", "bytes": 4}),
            "operation: etherbone does not carry put: expected one of host-read, host-write",
        ),
        (
            json!({"operation": "gpu-write", "bytes": 4}),
            "operation: no road here carries gpu-write yet",
        ),
    ];
    for (workload, expected) in cases {
        let text = failure(workload, Misbehaviour::None);
        assert!(text.starts_with(&format!("scenario: workload.{expected}")), "{text}");
        assert!(!text.contains('\n'));
    }
    let text = failure(json!({"operation": "fetch", "bytes": 4}), Misbehaviour::None);
    assert!(text.contains("unknown variant `fetch`"), "{text}");
}
