// SPDX-License-Identifier: Apache-2.0
//! Files of events and of their truth, and the reports made of them.

use isthmus_trigger::events::{MIXED, PILE_UP, generate};
use isthmus_trigger::file::{
    FileError, Origin, decode, decode_both, decode_truths, encode, encode_truths,
};
use isthmus_trigger::geometry::Geometry;
use isthmus_trigger::report;
use proptest::prelude::*;

fn origin() -> Origin {
    Origin { sample: "pile-up".into(), seed: 5, rate_hz: 1e7 }
}

#[test]
fn events_and_truths_come_back() {
    let (events, truths) = generate(&Geometry::na62(), &PILE_UP, 5, 500);
    let files = (encode(&origin(), &events), encode_truths(&origin(), &truths));
    assert_eq!(files.0.len(), 64 + 70 * 500);
    let (found, records, known) = decode_both(&files.0, &files.1).unwrap();
    assert_eq!((found, records, known), (origin(), &events[..], truths));
}

#[test]
fn a_truth_of_other_events_is_refused() {
    let (events, truths) = generate(&Geometry::na62(), &MIXED, 5, 10);
    let other = Origin { seed: 6, ..origin() };
    let files = (encode(&origin(), &events), encode_truths(&other, &truths));
    assert_eq!(decode_both(&files.0, &files.1), Err(FileError::Other));
    let short = encode_truths(&origin(), &truths[..9]);
    assert_eq!(decode_both(&files.0, &short), Err(FileError::Other));
    assert_eq!(decode(&files.1), Err(FileError::Kind("events")));
    assert!(matches!(decode(&files.0[..700]), Err(FileError::Length { .. })));
}

#[test]
fn reports_name_what_they_do_not_know() {
    let (events, truths) = report::events("reference", 1, 1000, 1e7).unwrap();
    let says = |finder: &str, level| {
        report::find(&events, Some(&truths), finder, level, 1).unwrap_err().to_string()
    };
    assert_eq!(
        says("best", None),
        "unknown finder 'best'; choose from isthmus, Almagest, histogram"
    );
    assert_eq!(
        says("isthmus", Some("mmx")),
        "unknown level 'mmx'; choose from portable, neon, avx2, avx512"
    );
    let sample = report::events("none", 1, 1000, 1e7).unwrap_err().to_string();
    assert!(sample.starts_with("unknown sample 'none'; choose from reference, mixed"));
    let rate = report::events("mixed", 1, 1000, f64::NAN).unwrap_err().to_string();
    assert_eq!(rate, "rate is NaN, legal is 0.001 to 1000000000");
}

#[test]
fn a_report_of_a_file_counts_all_events_and_scores_with_a_truth_only() {
    let (events, truths) = report::events("mixed", 1, 1000, 1e7).unwrap();
    let found = report::find(&events, Some(&truths), "Almagest", Some("portable"), 1).unwrap();
    assert_eq!(found.found.iter().sum::<u64>(), 1000);
    assert_eq!(found.row.quality.unwrap().events, 1000);
    assert!(report::find(&events, None, "isthmus", None, 1).unwrap().row.quality.is_none());
}

#[test]
fn a_benchmark_has_every_finder_and_events_to_look_at() {
    let mut steps = 0;
    let made = report::bench("reference", 3, 1000, 1, |done, total| {
        steps += 1;
        assert!(done <= total);
        true
    });
    let made = made.unwrap().unwrap();
    assert_eq!(made.rows.len(), 3 * made.levels.len() + 2);
    assert_eq!(made.samples.len(), 6);
    assert!(steps > 0 && made.displays.len() >= 6);
    let wrong = |one: &&report::Display| one.truth.iter().chain(&one.found).any(|ring| !ring.3);
    assert!(made.displays.iter().any(|one| wrong(&one)));
    assert!(report::bench("reference", 3, 1000, 1, |_, _| false).unwrap().is_none());
}

proptest! {
    #[test]
    fn any_bytes_are_a_file_or_an_error(
        head in proptest::collection::vec(any::<u8>(), 40),
        kind in 0usize..3, count in 0u64..4, body in proptest::collection::vec(any::<u8>(), 0..500),
    ) {
        let mut bytes = [&b"ISTHTRG1"[..], &b"ISTHTRU1"[..], &b"ISTHTRG2"[..]][kind].to_vec();
        bytes.extend(&head[..8]);
        bytes.extend(count.to_le_bytes());
        bytes.extend(&head[8..32]);
        bytes.extend([if kind == 0 { 70u32 } else { 156 }.to_le_bytes(), [0; 4], [0; 4], [0; 4]].concat());
        bytes.extend(&body);
        if let Ok((origin, events)) = decode(&bytes) {
            prop_assert_eq!(events.len() as u64, count);
            let _ = origin.known();
        }
        if let Ok((_, truths)) = decode_truths(&bytes) {
            prop_assert_eq!(truths.len() as u64, count);
        }
    }
}
