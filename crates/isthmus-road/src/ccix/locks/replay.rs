// SPDX-License-Identifier: Apache-2.0
//! What memory and every transaction must have: all made one after the other, in the order in which they had their
//! locks.

use super::super::home::Content;
use super::super::scenario::{CcixLockMode, CcixLocks};
use super::state::Logic;
use super::words::{LOCK, chained, word};
use crate::dma::Line;

/// Where locks are words of lines, they are free in the beginning, and in the end.
pub(super) fn unlocked(of: &CcixLocks, mut each: impl FnMut(u64, fn(&mut Line))) {
    if of.mode == CcixLockMode::Cas {
        (0..u64::from(of.rows)).for_each(|line| each(line, |line| line[LOCK].fill(0)));
    }
}

/// Makes all transactions one after the other; the content of memory behind them. `Err`: one that read something else.
pub(super) fn replay(logic: &Logic, first: u32) -> Result<Content, usize> {
    let mut content = Content::new(0, first);
    unlocked(&logic.of, |line, touch| touch(content.line_mut(line)));
    for number in &logic.serial {
        let mut digest = 0;
        for step in &logic.of(*number).steps {
            let line = content.line_mut(u64::from(step.record));
            let value = word(line);
            digest = chained(digest, value);
            if step.update {
                line[..8].copy_from_slice(&chained(value, *number as u64 + 1).to_le_bytes());
            }
        }
        let state = &logic.states[*number];
        if digest != state.digest && !state.unread {
            return Err(*number);
        }
    }
    Ok(content)
}
