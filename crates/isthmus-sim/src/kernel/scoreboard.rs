// SPDX-License-Identifier: Apache-2.0
//! Compares every byte that arrives with the byte that should.

use std::cell::{Cell, RefCell};

use serde::Serialize;

use super::error::SimError;

/// The comparisons so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Bytes expected.
    pub bytes: u64,
    /// Bytes that differ, and unexpected bytes.
    pub wrong: u64,
    /// Bytes that never came.
    pub lost: u64,
}

/// The data check of a run. A run with a wrong or lost byte has failed.
#[derive(Debug, Default)]
pub struct Scoreboard {
    checked: Cell<Checked>,
    first: RefCell<Option<String>>,
}

impl Scoreboard {
    /// Compares what arrived with what should have; `what` names the transfer if they differ.
    /// Returns whether they are equal.
    pub fn compare(&self, what: impl FnOnce() -> String, expected: &[u8], actual: &[u8]) -> bool {
        let mut checked = self.checked.get();
        checked.bytes += expected.len() as u64;
        if expected == actual {
            self.checked.set(checked);
            return true;
        }
        let differ = expected.iter().zip(actual).filter(|(a, b)| a != b).count() as u64;
        checked.wrong += differ + actual.len().saturating_sub(expected.len()) as u64;
        checked.lost += expected.len().saturating_sub(actual.len()) as u64;
        self.checked.set(checked);
        let offset = expected.iter().zip(actual).position(|(a, b)| a != b);
        self.note(|| {
            let byte = |bytes: &[u8], at: usize| {
                bytes.get(at).map_or_else(|| "nothing".into(), |byte| format!("{byte:#04x}"))
            };
            let at = offset.unwrap_or(expected.len().min(actual.len()));
            format!(
                "{}, offset {at}: {} instead of {}",
                what(),
                byte(actual, at),
                byte(expected, at)
            )
        });
        false
    }

    /// Counts bytes that were expected and never came.
    pub fn lost(&self, what: impl FnOnce() -> String, bytes: u64) {
        let mut checked = self.checked.get();
        checked.bytes += bytes;
        checked.lost += bytes;
        self.checked.set(checked);
        self.note(|| format!("{}: {bytes} bytes never arrived", what()));
    }

    /// The comparisons so far.
    #[must_use]
    pub fn checked(&self) -> Checked {
        self.checked.get()
    }

    /// The verdict.
    ///
    /// # Errors
    /// When a byte is wrong or lost.
    pub fn verdict(&self) -> Result<Checked, SimError> {
        let checked = self.checked.get();
        if checked.wrong == 0 && checked.lost == 0 {
            return Ok(checked);
        }
        Err(SimError::Data {
            bytes: checked.bytes,
            wrong: checked.wrong,
            lost: checked.lost,
            first: self.first.borrow().clone().unwrap_or_default(),
        })
    }

    fn note(&self, text: impl FnOnce() -> String) {
        self.first.borrow_mut().get_or_insert_with(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_pass_and_are_counted() {
        let board = Scoreboard::default();
        assert!(board.compare(|| "frame".into(), b"abc", b"abc"));
        assert_eq!(board.verdict().unwrap(), Checked { bytes: 3, wrong: 0, lost: 0 });
    }

    #[test]
    fn wrong_and_missing_bytes_fail_the_run_and_the_first_is_named() {
        let board = Scoreboard::default();
        assert!(!board.compare(|| "frame 1".into(), b"abcd", b"axc"));
        board.lost(|| "frame 2".into(), 10);
        assert_eq!(board.checked(), Checked { bytes: 14, wrong: 1, lost: 11 });
        let line = board.verdict().unwrap_err().to_string();
        assert!(line.contains("1 wrong and 11 lost of 14"), "{line}");
        assert!(line.contains("frame 1, offset 1: 0x78 instead of 0x62"), "{line}");
    }
}
