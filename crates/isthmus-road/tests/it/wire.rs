// SPDX-License-Identifier: Apache-2.0
//! Workloads without a host: what contradicts the reference model ends the run in one line.

use super::common;

use common::{Misbehaviour, run, scenario};
use serde_json::json;

fn failure(workload: serde_json::Value, misbehaviour: Misbehaviour) -> String {
    let scenario = scenario(|s| s["workload"] = workload);
    run(&scenario, misbehaviour).expect_err("must fail").to_string()
}

#[test]
fn a_device_that_deviates_is_found_and_the_frame_named() {
    // The stand-in keeps neither the rules of the counters nor those of lengths.
    for misbehaviour in [Misbehaviour::None, Misbehaviour::FlipsBits, Misbehaviour::Mute] {
        let text = failure(json!({"kind": "fuzz", "frames": 100}), misbehaviour);
        assert!(text.starts_with("fuzz: seed 1: ") && text.contains("frame 0"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }
}

#[test]
fn lost_replies_at_line_rate_are_counted() {
    let text = failure(json!({"kind": "line-rate", "frames": 10}), Misbehaviour::Mute);
    assert_eq!(text, "line rate: 10 requests, 0 replies");
}
