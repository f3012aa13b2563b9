// SPDX-License-Identifier: Apache-2.0
//! Which messages of random programs must arrive, and which did.
//!
//! A message's immediate is its number here. A batch is what a host has sent to another before a fence. If the
//! receiver's program has run all the time, the fence tells how many of the batch are missing; no message arrives twice.

use isthmus_host::rdma::{Frame, HostId};

struct Letter {
    from: HostId,
    to: HostId,
    body: Vec<u8>,
    batch: usize,
    taken: bool,
}

#[derive(Default)]
struct Batch {
    sent: usize,
    taken: usize,
    /// Packets that the fence counted as refused, where nothing else can be missing.
    refused: Option<u32>,
}

/// All messages of a run.
#[derive(Default)]
pub struct Mail {
    letters: Vec<Letter>,
    batches: Vec<Batch>,
    /// Of each host: odd while its program does not take messages.
    epochs: Vec<u64>,
    /// Messages that arrived twice, at another host, from another host or with other bytes.
    wrong: usize,
}

/// A host's program when a batch was begun.
#[derive(Clone, Copy)]
pub struct Since {
    batch: usize,
    epoch: u64,
}

impl Mail {
    pub fn new(hosts: usize) -> Self {
        Self { epochs: vec![0; hosts], ..Self::default() }
    }

    /// A host's program stops taking messages, or begins again.
    pub fn turn(&mut self, host: HostId) {
        self.epochs[usize::from(host)] += 1;
    }

    pub fn begin(&mut self, to: HostId) -> Since {
        self.batches.push(Batch::default());
        Since { batch: self.batches.len() - 1, epoch: self.epochs[usize::from(to)] }
    }

    /// Whether the receiver's program has run all the time.
    pub fn quiet(&self, to: HostId, since: Since) -> bool {
        since.epoch.is_multiple_of(2) && self.epochs[usize::from(to)] == since.epoch
    }

    /// The immediate of a new message.
    pub fn send(&mut self, since: Since, from: HostId, to: HostId, body: &[u8]) -> u32 {
        self.batches[since.batch].sent += 1;
        let (body, batch) = (body.to_vec(), since.batch);
        self.letters.push(Letter { from, to, body, batch, taken: false });
        self.letters.len() as u32 - 1
    }

    /// A fence has ended, and said how many packets were refused.
    pub fn end(&mut self, to: HostId, since: Since, refused: u32) {
        if self.quiet(to, since) {
            self.batches[since.batch].refused = Some(refused);
        }
    }

    /// What a host found in its queue.
    pub fn take(&mut self, to: HostId, frame: &Frame, body: &[u8]) {
        match self.letters.get_mut(frame.immediate as usize) {
            Some(letter)
                if !letter.taken
                    && !frame.notification
                    && (letter.from, letter.to) == (frame.source, to)
                    && letter.body == body =>
            {
                letter.taken = true;
                self.batches[letter.batch].taken += 1;
            }
            _ => self.wrong += 1,
        }
    }

    /// Messages that were wrong, or are missing although no fence has counted them.
    pub fn wrong(&self) -> usize {
        let differs = |batch: &Batch| {
            batch.refused.map_or(0, |refused| batch.sent.abs_diff(batch.taken + refused as usize))
        };
        self.wrong + self.batches.iter().map(differs).sum::<usize>()
    }

    /// Sent, taken, and refused by a full queue.
    pub fn counts(&self) -> [u64; 3] {
        let taken = self.letters.iter().filter(|letter| letter.taken).count();
        let refused: u64 =
            self.batches.iter().filter_map(|batch| batch.refused).map(u64::from).sum();
        [self.letters.len() as u64, taken as u64, refused]
    }
}
