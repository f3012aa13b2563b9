// SPDX-License-Identifier: Apache-2.0
//! Measured distributions: all that a chain draws from is there, and more events take longer.

use isthmus_trigger::times::{Distribution, measure};

fn median(of: &Distribution) -> u64 {
    let mut left = of.samples() / 2;
    let found = of.buckets.iter().find(|(_, count)| {
        let here = *count > left;
        left = left.saturating_sub(*count);
        here
    });
    found.unwrap().0
}

#[test]
fn everything_is_measured() {
    let mut calls = Vec::new();
    let made = measure("reference", 3, &[4, 32], 128, |done, all| {
        calls.push((done, all));
        true
    });
    let made = made.unwrap().unwrap();
    let names: Vec<&str> = made.distributions.keys().map(String::as_str).collect();
    assert!(made.distributions.keys().eq(made.own.keys()));
    let expected = [
        "find/almagest/32",
        "find/almagest/4",
        "find/isthmus/32",
        "find/isthmus/4",
        "fit/isthmus/32",
        "fit/isthmus/4",
        "handover/1",
        "handover/2",
        "handover/3",
        "handover/4",
        "handover/5",
        "handover/6",
        "handover/7",
        "handover/8",
        "merge/packed/32",
        "merge/packed/4",
        "merge/tel62/32",
        "merge/tel62/4",
    ];
    assert_eq!(names, expected);
    assert_eq!(calls, (1..=18).map(|done| (done, 18)).collect::<Vec<_>>());
    for (name, of) in &made.distributions {
        // A machine without a quiet moment may leave fewer; it does not leave wrong ones.
        assert!(of.buckets.is_sorted() && of.samples().is_multiple_of(64), "{name}");
    }
    for (name, own) in &made.own {
        // Inputs are as many as were asked for; the shortest of eight runs is not above the usual one.
        let inputs = if name.starts_with("handover") { 64 } else { 128 };
        assert_eq!(own.samples(), inputs, "{name}");
        let all = &made.distributions[name];
        assert!(all.samples() <= 8 * 128, "{name}");
        if let (Some(least), Some(of_all)) = (own.buckets.first(), all.buckets.first()) {
            assert!(least.0 <= of_all.0, "{name}");
        }
        // Where blocks were left out, the rest may be of other inputs.
        if all.samples() == 8 * inputs {
            assert!(median(own) <= median(all), "{name}");
        }
    }
    let find = |size: &str| &made.own[&format!("find/isthmus/{size}")];
    assert!(median(find("4")) < median(find("32")));
}

#[test]
fn it_ends_when_its_caller_says_so_and_refuses_unknown_events() {
    assert!(measure("reference", 3, &[4], 64, |_, _| false).unwrap().is_none());
    let refused = measure("none", 3, &[4], 64, |_, _| true).map(|_| ()).unwrap_err();
    assert!(refused.to_string().starts_with("unknown sample 'none'"));
}
