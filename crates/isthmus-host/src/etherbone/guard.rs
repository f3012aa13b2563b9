// SPDX-License-Identifier: Apache-2.0
//! Sessions: how a datagram that is sent twice is executed once.
//!
//! Etherbone numbers nothing by which a slave could recognise a repeated request. Slaves of isthmus
//! offer an extension inside the standard's own means: a *stamp*, a record that writes three words
//! to the configuration space, which every other slave discards.
//!
//! | configuration register (data width 32 / 64) | meaning |
//! |---|---|
//! | 0x7F00 read | [`MAGIC`]: the slave knows sessions |
//! | 0x7F04 / 0x7F08 read | the nonce of this master's session, 0 without one |
//! | 0x7F00 write of nonce, number, oldest | the stamp, first record of a datagram |
//!
//! Number 0 opens a session. A datagram with a number is executed if it is the first of that
//! number; its reply is kept and sent again when the number comes again, until the stamp's *oldest*,
//! the lowest number the master still waits for, has passed it. Numbers below *oldest* and beyond the
//! window are dropped. The reply begins with a record that writes nonce and number back, also when
//! nothing was read, so that it is an acknowledgement.

use std::collections::VecDeque;

use super::wire::{Flags, Format, RecordView, Width, put_slot};

/// Address for stamps. A slave that decodes only the low 7 bits of a configuration address has the
/// error register here, which may be read without side effect.
const REGISTER: u64 = 0x7F00;
/// "isth": what register 0x7F00 reads as.
pub(super) const MAGIC: u64 = 0x6973_7468;
/// Datagrams of a session that may be unanswered at a time.
pub(super) const WINDOW: usize = 64;
/// Nonces of earlier sessions of the same master, which cannot be opened again.
const RETIRED: usize = 16;

/// The first record of a datagram in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) nonce: u32,
    pub(super) number: u32,
    pub(super) oldest: u32,
}

impl Stamp {
    /// True if words of this format can carry stamps.
    pub(super) fn fits(format: Format) -> bool {
        format.data >= Width::W32 && format.address >= Width::W16
    }

    fn put(format: Format, flags: Flags, words: &[u32], out: &mut Vec<u8>) {
        let start = out.len();
        // Three words at most.
        let header = [flags.0, format.data.mask_of_lanes(), words.len() as u8, 0];
        out.extend_from_slice(&header);
        out.resize(start + format.header(), 0);
        put_slot(out, format.word(), REGISTER);
        for word in words {
            put_slot(out, format.word(), u64::from(*word));
        }
    }

    /// Bytes of a stamp in a request.
    pub(super) fn length(format: Format) -> usize {
        format.header() + 4 * format.word()
    }

    pub(super) fn put_request(self, format: Format, out: &mut Vec<u8>) {
        let flags = Flags::BCA | Flags::RFF | Flags::WCA;
        Self::put(format, flags, &[self.nonce, self.number, self.oldest], out);
    }

    pub(super) fn put_reply(self, format: Format, out: &mut Vec<u8>) {
        Self::put(format, Flags::WCA, &[self.nonce, self.number], out);
    }
}

fn words<const N: usize>(record: &RecordView<'_>) -> Option<[u32; N]> {
    if !record.flags.has(Flags::WCA) || record.write_base != REGISTER || record.has_reads() {
        return None;
    }
    let mut out = [0; N];
    let mut values = record.writes();
    if values.len() != N {
        return None;
    }
    for (slot, value) in out.iter_mut().zip(&mut values) {
        *slot = u32::try_from(value).ok()?;
    }
    Some(out)
}

/// The stamp of a request.
pub(super) fn request(format: Format, records: &[u8]) -> Option<Stamp> {
    if !Stamp::fits(format) {
        return None;
    }
    let [nonce, number, oldest] = words(&RecordView::decode(format, records)?.0)?;
    Some(Stamp { nonce, number, oldest })
}

/// Nonce and number of a reply.
pub(super) fn reply(record: &RecordView<'_>) -> Option<(u32, u32)> {
    let [nonce, number] = words(record)?;
    Some((nonce, number))
}

/// The registers that say whether the slave supports sessions, and this one.
pub(super) fn registers(format: Format) -> [u64; 2] {
    [REGISTER, REGISTER + format.data.bytes() as u64]
}

/// Verdict on a stamped datagram.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict<'a> {
    /// It is new.
    Execute,
    /// It was executed before; this was the reply.
    Repeat(&'a [u8]),
    /// It belongs to no session, or is too old.
    Drop,
}

/// A slave's memory of one master's session.
#[derive(Debug, Default)]
pub(super) struct Session {
    nonce: u32,
    oldest: u32,
    /// Replies by number from `oldest` on; `None`: not executed yet.
    replies: VecDeque<Option<Vec<u8>>>,
    retired: VecDeque<u32>,
    refused: bool,
}

impl Session {
    /// True if a session is open.
    pub(super) fn is_open(&self) -> bool {
        self.nonce != 0
    }

    /// Never opens.
    pub(super) fn refuse(&mut self) {
        self.refused = true;
    }

    /// Decides on a stamped datagram. After [`Verdict::Execute`] the caller must
    /// [`keep`](Self::keep) the reply.
    pub(super) fn judge(&mut self, stamp: Stamp) -> Verdict<'_> {
        if stamp.nonce == 0 || self.refused {
            return Verdict::Drop;
        }
        if stamp.nonce != self.nonce {
            if stamp.number != 0 || self.retired.contains(&stamp.nonce) {
                return Verdict::Drop;
            }
            if self.is_open() {
                self.retired.truncate(RETIRED - 1);
                self.retired.push_front(self.nonce);
            }
            self.nonce = stamp.nonce;
            self.oldest = 0;
            self.replies.clear();
        }
        // Numbers wrap: an old number appears to be far ahead.
        let passed = stamp.oldest.wrapping_sub(self.oldest);
        if passed < 1 << 31 {
            self.oldest = stamp.oldest;
            self.replies.drain(..self.replies.len().min(passed as usize));
        }
        let place = stamp.number.wrapping_sub(self.oldest) as usize;
        if place >= WINDOW {
            return Verdict::Drop;
        }
        match self.replies.get(place) {
            Some(Some(reply)) => Verdict::Repeat(reply),
            _ => Verdict::Execute,
        }
    }

    /// Remembers the reply to a datagram that was executed.
    pub(super) fn keep(&mut self, stamp: Stamp, reply: &[u8]) {
        let place = (stamp.number.wrapping_sub(self.oldest)) as usize;
        if place >= WINDOW {
            return;
        }
        if self.replies.len() <= place {
            self.replies.resize(place + 1, None);
        }
        if let Some(slot) = self.replies.get_mut(place) {
            *slot = Some(reply.to_vec());
        }
    }

    /// The session's own configuration registers.
    pub(super) fn register(&self, address: u64, width: Width) -> Option<u64> {
        let stride = width.bytes() as u64;
        if width < Width::W32 {
            return None;
        }
        match address.checked_sub(REGISTER)? {
            0 => Some(MAGIC),
            second if second == stride => Some(u64::from(self.nonce)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(nonce: u32, number: u32, oldest: u32) -> Stamp {
        Stamp { nonce, number, oldest }
    }

    fn executes(session: &mut Session, stamp: Stamp) -> bool {
        let execute = session.judge(stamp) == Verdict::Execute;
        if execute {
            session.keep(stamp, &stamp.number.to_be_bytes());
        }
        execute
    }

    #[test]
    fn each_number_is_executed_once() {
        let mut session = Session::default();
        assert!(!executes(&mut session, stamp(7, 1, 0)), "no session yet");
        for number in [0, 1, 3, 2] {
            assert!(executes(&mut session, stamp(7, number, 0)), "{number} is new");
            let again = session.judge(stamp(7, number, 0));
            assert_eq!(again, Verdict::Repeat(&number.to_be_bytes()));
        }
        // The master has the replies up to 2: those numbers are never sent again.
        assert!(executes(&mut session, stamp(7, 4, 3)));
        assert_eq!(session.judge(stamp(7, 2, 0)), Verdict::Drop);
        assert_eq!(session.judge(stamp(7, 3, 0)), Verdict::Repeat(&3u32.to_be_bytes()));
        // An abandoned number is not executed late.
        assert!(executes(&mut session, stamp(7, 9, 9)));
        assert_eq!(session.judge(stamp(7, 5, 5)), Verdict::Drop);
    }

    #[test]
    fn memory_is_bounded() {
        let mut session = Session::default();
        assert!(executes(&mut session, stamp(7, 0, 0)));
        let window = WINDOW as u32;
        assert!(executes(&mut session, stamp(7, window - 1, 0)));
        assert_eq!(session.judge(stamp(7, window, 0)), Verdict::Drop);
    }

    #[test]
    fn numbers_wrap() {
        let mut session = Session::default();
        assert!(executes(&mut session, stamp(7, 0, 0)));
        for oldest in (0..4).map(|quarter| quarter << 30).chain([u32::MAX - 1]) {
            assert!(executes(&mut session, stamp(7, oldest.wrapping_add(1), oldest)));
        }
        assert_eq!(session.judge(stamp(7, u32::MAX, u32::MAX - 1)), Verdict::Repeat(&[0xFF; 4]));
        assert!(executes(&mut session, stamp(7, 0, u32::MAX)));
        assert!(executes(&mut session, stamp(7, 1, 0)));
        assert_eq!(session.judge(stamp(7, u32::MAX, u32::MAX)), Verdict::Drop);
    }

    #[test]
    fn an_old_session_cannot_be_opened_again() {
        let mut session = Session::default();
        assert!(executes(&mut session, stamp(7, 0, 0)));
        assert!(executes(&mut session, stamp(8, 0, 0)));
        assert!(!executes(&mut session, stamp(7, 0, 0)), "a hello that came late");
        assert!(!executes(&mut session, stamp(7, 1, 0)));
        assert!(executes(&mut session, stamp(8, 1, 0)));
        assert!(!executes(&mut session, stamp(0, 0, 0)), "0 is not a nonce");
    }
}
