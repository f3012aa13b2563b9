// SPDX-License-Identifier: Apache-2.0
//! Reads or writes of a given number of bytes, in a closed loop or at a rate.
//!
//! A request is a block of the device's memory. It is cut into cycles of at most one record's reads, which
//! follow each other without waiting; it has ended when the last of its cycles has. Every cycle reads the
//! device's error register behind its operations, so that a write has a reply too. A read has its latency up
//! to its data in the program; a write has it up to its last word on the device's bus, which the program
//! does not see: its next request waits for the reply.

use std::collections::VecDeque;
use std::ops::Range;

use isthmus_host::etherbone::{Cycle, Error, Pending};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::RandomStream;

use super::session::{MAX_READS, Session, bus};
use super::steady::{Look, Window};
use super::task::{Access, During, Finished, Outcome, Requests, Usage};
use super::transport::Carrier;
use crate::arrivals::{Arrivals, Starts, is_saturated, stream_of};
use crate::operation::Operation;

/// Words of the device's memory that reads go through in turn, at least: neighbours find other data.
const READ_WORDS: u32 = 1_024;
/// Words that writes go through in turn, at least: as many of the last are read back.
const WRITTEN_WORDS: u32 = 4_096;
/// Words of the device's memory.
const RAM_WORDS: u32 = 16_384;
/// Requests before a steady window of single requests. They absorb start-up effects: the first
/// interrupt, which is not moderated, and cold caches.
const WARM_UP: u64 = 2;
/// Warm-up requests of an open arrival process, not counted, and a tenth of those that are.
const OPEN_WARM_UP: u32 = 20;
/// A window whose rate is not steady becomes longer, up to this many times the requested one.
const LONGER: u64 = 2;
/// Maximum cycles in flight for requests at a rate: further ones that are due wait in the program.
const MOST_CYCLES: usize = 256;

/// Cycles of a request, from its words.
pub(super) fn cycles_of(words: u32) -> u32 {
    words.div_ceil(MAX_READS)
}

/// The program's part of a run of requests.
struct Requester {
    operation: Operation,
    words: u32,
    region_words: u32,
    /// Contents of the region when all submitted requests are done.
    memory: Vec<u64>,
    /// Requests in flight: the cycles that have not ended.
    pending: VecDeque<VecDeque<Pending>>,
    /// Values of the oldest request received so far.
    values: Vec<u64>,
    submitted: u32,
    /// When each request was due, and when the program had its end.
    due: Vec<Picoseconds>,
    ended: Vec<Picoseconds>,
}

impl Requester {
    fn new(access: &Access) -> Self {
        let words = access.words();
        let region = if access.is_write() { WRITTEN_WORDS } else { READ_WORDS };
        let blocks = region.div_ceil(words).min(access.iterations.saturating_mul(2)).max(1);
        let region_words = blocks.saturating_mul(words).min(RAM_WORDS);
        Self {
            operation: access.operation,
            words,
            region_words,
            memory: vec![0; region_words as usize],
            pending: VecDeque::new(),
            values: Vec::new(),
            submitted: 0,
            due: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// Position of a request's words in the region.
    fn places(&self, request: u32) -> impl Iterator<Item = usize> + use<> {
        let region = u64::from(self.region_words);
        let first = u64::from(request) * u64::from(self.words);
        (0..u64::from(self.words)).map(move |word| ((first + word) % region) as usize)
    }

    /// The next request's cycles.
    fn cycles(&mut self, random: &mut RandomStream) -> Vec<Cycle> {
        let places: Vec<usize> = self.places(self.submitted).collect();
        let parts = places.chunks(MAX_READS as usize);
        let address = |place: &usize| bus::RAM + 4 * *place as u64;
        match self.operation {
            Operation::HostWrite => {
                let mut cycles = Vec::new();
                for part in parts {
                    let values: Vec<(u64, u64)> = part
                        .iter()
                        .map(|place| (address(place), random.bits() & 0xFFFF_FFFF))
                        .collect();
                    for (place, (_, value)) in part.iter().zip(&values) {
                        self.memory[*place] = *value;
                    }
                    cycles.push(Cycle::new().writes(values));
                }
                cycles
            }
            _ => parts.map(|part| Cycle::new().reads(part.iter().map(address))).collect(),
        }
    }
}

/// The part of a run that counts.
struct Counted {
    requests: Range<usize>,
    span: (Picoseconds, Picoseconds),
    steady: Option<bool>,
    /// The host's work at its begin and at its end.
    usage: (Usage, Usage),
}

impl<C: Carrier> Session<C> {
    pub(super) async fn access(&mut self, access: &Access) -> Finished {
        let mut requester = Requester::new(access);
        if !access.is_write() {
            self.fill(&mut requester).await.during("write the RAM pattern")?;
        }
        let first = self.log.borrow().cycles.len();
        let start = self.sim.now();
        let run = match access.arrivals {
            Arrivals::Window(window) => self.closed(access, &mut requester, window).await,
            Arrivals::Rate(rate) => self.open(access, &mut requester, rate).await,
        };
        let Counted { requests: counted, span, steady, usage } = run.during(access.doing())?;
        let end = self.sim.now();
        if access.is_write() {
            self.read_back(&requester).await.during("read back what was written")?;
        }
        let saturated = access.arrivals.rate_per_s().is_some()
            && is_saturated(&requester.due, &requester.ended, counted.clone());
        let cores = self.client.transport().carrier().cpu().cores();
        let each = cycles_of(access.words()) as usize;
        let all = requester.due.len();
        let log = self.log.borrow();
        let cycles = first + counted.start * each..first + counted.end * each;
        Ok(Outcome {
            intervals: vec![span],
            excluded: (counted.start as u64, (all - counted.end) as u64),
            steady,
            payload_bytes: u64::from(access.bytes) * counted.len() as u64,
            cycles: counted.len() as u64,
            log: log.cycles.get(cycles).unwrap_or_default().to_vec(),
            requests: Some(Requests {
                due: requester.due[counted.clone()].to_vec(),
                ended: requester.ended[counted.clone()].to_vec(),
                counted,
                all,
                series: (start, end),
                cycles_each: each,
                saturated,
                host_busy: usage.1.busy_since(&usage.0, cores),
            }),
            ..Outcome::default()
        })
    }

    /// Writes a random pattern to the region that is to be read.
    async fn fill(&mut self, requester: &mut Requester) -> Result<(), Error> {
        let mut random = self.sim.random("etherbone: ram pattern");
        requester.memory.iter_mut().for_each(|word| *word = random.bits() & 0xFFFF_FFFF);
        for (number, part) in requester.memory.chunks(MAX_READS as usize).enumerate() {
            let base = bus::RAM + 4 * (number * MAX_READS as usize) as u64;
            let addresses = (0..).map(|word| base + 4 * word);
            self.client.execute(Cycle::new().writes(addresses.zip(part.iter().copied()))).await?;
        }
        Ok(())
    }

    /// Reads back the written data and compares it.
    async fn read_back(&mut self, requester: &Requester) -> Result<(), Error> {
        let written = u64::from(requester.submitted) * u64::from(requester.words);
        let length = written.min(u64::from(requester.region_words)) as usize;
        for (number, part) in requester.memory[..length].chunks(MAX_READS as usize).enumerate() {
            let base = bus::RAM + 4 * (number * MAX_READS as usize) as u64;
            let addresses = (0..part.len() as u64).map(|word| base + 4 * word);
            let found = self.client.execute(Cycle::new().reads(addresses)).await?.reads;
            self.compare_words("RAM that was written", part, &found);
        }
        Ok(())
    }

    /// Queues the next request, due at `due`.
    fn request(
        &mut self,
        requester: &mut Requester,
        due: Picoseconds,
        random: &mut RandomStream,
    ) -> Result<(), Error> {
        let mut pending = VecDeque::new();
        for cycle in requester.cycles(random) {
            self.log.borrow_mut().asked.push_back(due);
            pending.push_back(self.client.submit(&cycle)?);
        }
        requester.pending.push_back(pending);
        requester.due.push(due);
        requester.submitted += 1;
        Ok(())
    }

    /// Collects ended requests, and checks the data read.
    fn take(&self, first: usize, requester: &mut Requester) -> Result<(), Error> {
        while let Some(cycles) = requester.pending.front_mut() {
            while let Some(result) = cycles.front().and_then(Pending::take) {
                requester.values.extend(result?.reads);
                cycles.pop_front();
            }
            if !cycles.is_empty() {
                return Ok(());
            }
            requester.pending.pop_front();
            let number = requester.ended.len() as u32;
            let found = std::mem::take(&mut requester.values);
            if requester.operation == Operation::HostRead {
                let places = requester.places(number);
                let expected: Vec<u64> = places.map(|place| requester.memory[place]).collect();
                self.compare_words("RAM", &expected, &found);
            }
            let last = first + (number as usize + 1) * cycles_of(requester.words) as usize - 1;
            let log = self.log.borrow();
            requester.ended.push(log.cycles.get(last).map_or(self.sim.now(), |cycle| cycle.end));
        }
        Ok(())
    }

    /// The host's work so far.
    fn usage(&mut self) -> Usage {
        let (at, idle) = (self.sim.now(), self.idle);
        let carrier = self.client.transport().carrier();
        Usage { at, cores: carrier.cpu().busy(), blocked: carrier.blocked() + idle }
    }

    /// The program has nothing to do until then.
    async fn idle_until(&mut self, time: Picoseconds) {
        let asleep = self.sim.now();
        self.sim.sleep_until(time).await;
        self.idle += self.sim.now() - asleep;
        self.client.transport().interrupted().await;
    }

    /// `window` requests in flight: the next is due when one of them has ended.
    async fn closed(
        &mut self,
        access: &Access,
        requester: &mut Requester,
        window: u32,
    ) -> Result<Counted, Error> {
        let first = self.log.borrow().cycles.len();
        let mut random = self.sim.random("etherbone: written words");
        let least = u64::from(access.iterations);
        let mut series = Series::new(window, least);
        let mut usage = Vec::new();
        let mut free: VecDeque<Picoseconds> =
            std::iter::repeat_n(self.sim.now(), window as usize).collect();
        loop {
            let before = requester.ended.len();
            self.take(first, requester)?;
            free.extend(&requester.ended[before..]);
            if free.is_empty() {
                self.client.step().await?;
                continue;
            }
            usage.push(self.usage());
            let look = Look { at: self.sim.now(), ended: requester.ended.len() as u64 };
            if series.look(look) {
                break;
            }
            while let Some(due) = free.pop_front() {
                self.request(requester, due, &mut random)?;
            }
            self.client.flush().await?;
        }
        self.client.settle().await?;
        self.take(first, requester)?;
        let (from, to) = series.edges();
        let at = |time| usage.iter().find(|usage| usage.at == time).copied().unwrap_or_default();
        Ok(Counted {
            requests: from.ended as usize..to.ended as usize,
            span: (from.at, to.at),
            steady: series.is_steady(),
            usage: (at(from.at), at(to.at)),
        })
    }

    /// Requests at a rate, each due at a time that depends on no other's.
    async fn open(
        &mut self,
        access: &Access,
        requester: &mut Requester,
        rate: f64,
    ) -> Result<Counted, Error> {
        let first = self.log.borrow().cycles.len();
        let mut random = self.sim.random("etherbone: written words");
        let starts = self.sim.random(&stream_of(0));
        let mut starts = Starts::new(rate, starts, self.sim.now()).peekable();
        let cycles = cycles_of(access.words()) as usize;
        let head = OPEN_WARM_UP.max(access.iterations / 10) as usize;
        // Polls of the program between which this many requests end: what ends together is counted
        // together.
        let mut begin = None;
        let (from, to) = loop {
            self.take(first, requester)?;
            let ended = requester.ended.len();
            if ended >= head {
                let look = (ended, self.usage());
                let (start, usage) = *begin.get_or_insert(look);
                if ended - start >= access.iterations as usize {
                    break ((start, usage), look);
                }
            }
            let now = self.sim.now();
            let mut queued = false;
            while (requester.pending.is_empty()
                || self.client.outstanding() + cycles <= MOST_CYCLES)
                && let Some(due) = starts.next_if(|due| *due <= now)
            {
                self.request(requester, due, &mut random)?;
                queued = true;
            }
            if queued {
                self.client.flush().await?;
                continue;
            }
            let next = starts.peek().copied().filter(|due| *due > now);
            match next {
                Some(due) if requester.pending.is_empty() => self.idle_until(due).await,
                next => {
                    self.log.borrow_mut().wake_at = next;
                    let stepped = self.client.step().await;
                    self.log.borrow_mut().wake_at = None;
                    stepped?;
                }
            }
        };
        self.client.settle().await?;
        self.take(first, requester)?;
        Ok(Counted {
            requests: from.0..to.0,
            span: (from.1.at, to.1.at),
            steady: None,
            usage: (from.1, to.1),
        })
    }
}

/// A closed loop, and its part that counts: with one request in flight the requested number, with
/// several a steady window.
enum Series {
    Single { least: u64, looks: Option<(Look, Look)> },
    Several(Window),
}

impl Series {
    fn new(window: u32, least: u64) -> Self {
        match window {
            0 | 1 => Self::Single { least, looks: None },
            _ => Self::Several(Window::new(window.into(), least, LONGER * least)),
        }
    }

    /// Looks at the series; true when what counts is complete.
    fn look(&mut self, look: Look) -> bool {
        match self {
            Self::Single { least, looks } => {
                if look.ended < WARM_UP {
                    return false;
                }
                let (first, last) = looks.get_or_insert((look, look));
                *last = look;
                last.ended - first.ended >= *least
            }
            Self::Several(window) => window.look(look),
        }
    }

    fn edges(&self) -> (Look, Look) {
        match self {
            Self::Single { looks, .. } => looks.unwrap_or_default(),
            Self::Several(window) => window.edges(),
        }
    }

    /// True if the rate was steady, for several requests in flight.
    fn is_steady(&self) -> Option<bool> {
        match self {
            Self::Single { .. } => None,
            Self::Several(window) => Some(window.is_steady()),
        }
    }
}
