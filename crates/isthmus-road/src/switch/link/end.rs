// SPDX-License-Identifier: Apache-2.0
//! One whole end of a link, word by word: start, framing, credits both ways.
//!
//! It stores no packets. It sends words of a [`Feed`] and passes received words to the caller,
//! which reports stored and freed words.

use isthmus_sim::world::link::word::{COUNT_MODULUS, Crc24, IDS_MAX, Token, Word};

/// How an end is set up; `docs/explanation/cores/link.md` has the meaning of each.
#[derive(Clone, Copy, Debug)]
pub struct EndConfig {
    /// Buffers behind the receive side.
    pub rx_ids: usize,
    /// Buffers at the remote end.
    pub tx_ids: usize,
    /// Words of each of those.
    pub tx_depth: u16,
    /// Data words of a packet, at most.
    pub max_words: u16,
    /// Credits may be sent inside packets.
    pub credit_in_packet: bool,
    /// Words freed and not reported from which on a credit is due.
    pub credit_words: u16,
    /// An end with nothing to send refreshes its credits this often, in words.
    pub refresh_words: u16,
    /// Words of INIT that a start begins with: a round trip at least.
    pub init_words: u16,
    /// Words without a comma behind which an ALIGN goes between two packets; 0: none.
    pub align_words: u64,
    /// Data words 4 and 5 are time stamps and do not count in the check.
    pub bench: bool,
}

/// The next word of the packet in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A data word.
    Data(u32),
    /// Not there yet.
    Gap,
    /// The end, with its check.
    Eop(u32),
    /// The end of a bad packet.
    Edb(u32),
}

/// Source of an end's packets.
pub trait Feed {
    /// A packet that may begin now, by the buffer it goes to; it is in progress from here on.
    fn begin(&mut self, rooms: &Rooms<'_>, now: u64) -> Option<u8>;
    /// The next word of the packet in progress.
    fn next(&mut self, now: u64) -> Next;
}

/// A sender's state of the buffers at the remote end.
pub struct Rooms<'a> {
    sent: &'a [u16; IDS_MAX],
    freed: &'a [u16; IDS_MAX],
    depth: u16,
}

impl Rooms<'_> {
    /// Words that may still be sent to buffer `id`.
    #[inline]
    #[must_use]
    pub fn of(&self, id: usize) -> u16 {
        self.depth.saturating_sub(distance(self.freed[id], self.sent[id]))
    }
}

/// How a packet ended at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its check as received.
    pub crc24: u32,
    /// It arrived completely, and its check is correct.
    pub good: bool,
    /// It was marked bad before.
    pub poisoned: bool,
}

/// Events of one word. A packet ends before another begins in the same word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// The packet in progress ended.
    pub ended: Option<Ended>,
    /// A packet began, for this buffer.
    pub begun: Option<u8>,
    /// A data word of the packet in progress.
    pub data: Option<u32>,
    /// The link restarts: the packet in progress is lost. The caller must report the contents of
    /// each buffer ([`End::holds`]).
    pub restarted: bool,
}

/// Counters of errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndCounters {
    /// Packets whose check did not hold.
    pub crc_bad: u64,
    /// Packets that had been marked bad.
    pub poisoned: u64,
    /// Words that were no symbol, or whose check was wrong.
    pub invalid: u64,
    /// Packets that ended without an end.
    pub cut: u64,
    /// Credits that could not be true.
    pub credit_bad: u64,
    /// Words outside a packet that belong into one.
    pub dropped: u64,
    /// Times that the link started.
    pub starts: u64,
}

/// Words by what they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordCounters {
    /// Data words.
    pub data: u64,
    /// Begins and ends of packets.
    pub framing: u64,
    /// Credits.
    pub credit: u64,
    /// Everything else.
    pub idle: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Init,
    Ready,
    Up,
}

struct Incoming {
    id: usize,
    words: u16,
    crc: Crc24,
}

/// One end of a link.
pub struct End {
    config: EndConfig,
    state: State,
    /// INIT words still to be sent, and consecutive INIT words received.
    init_left: u16,
    inits: u8,
    sent: [u16; IDS_MAX],
    freed: [u16; IDS_MAX],
    received: [u16; IDS_MAX],
    taken: [u16; IDS_MAX],
    told: [u16; IDS_MAX],
    /// Buffers with freed words that are not reported, and those with enough of them for a credit.
    untold: u64,
    due: u64,
    /// Buffers that the remote end has asked about.
    asked: u64,
    /// Time at which the scan for a credit to send is complete again.
    scanned: u64,
    incoming: Option<Incoming>,
    /// The packet that is being sent, by the buffer it goes to.
    outgoing: Option<u8>,
    credit_turn: u32,
    after_packet: bool,
    since_comma: u64,
    since_refresh: u16,
    refresh_turn: usize,
    counters: EndCounters,
    heard: WordCounters,
}

/// The scan for a credit to send takes one clock for each id, and these more.
const SCAN_BASE_CLOCKS: u64 = 4;
/// While packets wait, a refresh comes this many times less often.
const REFRESH_WHEN_BUSY: u16 = 16;

/// From one count forward to another.
#[inline]
fn distance(from: u16, to: u16) -> u16 {
    to.wrapping_sub(from) & (COUNT_MODULUS - 1)
}

/// The first set bit at or after `from`, round about; `mask` is not zero.
#[inline]
pub(crate) fn round_robin(mask: u64, from: u32) -> u32 {
    let ahead = mask & (u64::MAX << (from & 63));
    if ahead != 0 { ahead.trailing_zeros() } else { mask.trailing_zeros() }
}

/// A bit for each of `ids` ids.
fn all(ids: usize) -> u64 {
    if ids == 0 { 0 } else { u64::MAX >> (64 - ids) }
}

impl End {
    /// An end that comes out of reset.
    #[must_use]
    pub fn new(config: EndConfig) -> Self {
        assert!(config.rx_ids <= IDS_MAX && config.tx_ids <= IDS_MAX, "an id names one of 64");
        Self {
            config,
            state: State::Init,
            init_left: config.init_words,
            inits: 0,
            sent: [0; IDS_MAX],
            // No credit before the first word of it.
            freed: [0_u16.wrapping_sub(config.tx_depth) & (COUNT_MODULUS - 1); IDS_MAX],
            received: [0; IDS_MAX],
            taken: [0; IDS_MAX],
            told: [0; IDS_MAX],
            untold: all(config.rx_ids),
            due: all(config.rx_ids),
            asked: 0,
            scanned: 0,
            incoming: None,
            outgoing: None,
            credit_turn: 0,
            after_packet: false,
            since_comma: 0,
            since_refresh: 0,
            refresh_turn: 0,
            counters: EndCounters::default(),
            heard: WordCounters::default(),
        }
    }

    /// True if packets may pass.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.state == State::Up
    }

    /// True if no packet is being sent.
    #[must_use]
    pub fn is_between_packets(&self) -> bool {
        self.outgoing.is_none()
    }

    /// Errors so far.
    #[must_use]
    pub fn counters(&self) -> EndCounters {
        self.counters
    }

    /// Words received so far, while the link was up.
    #[must_use]
    pub fn heard(&self) -> WordCounters {
        self.heard
    }

    /// Words that may still be sent to each buffer of the remote end.
    #[cfg(test)]
    #[must_use]
    pub fn rooms(&self) -> Rooms<'_> {
        Rooms { sent: &self.sent, freed: &self.freed, depth: self.config.tx_depth }
    }

    /// A received data word was stored in buffer `id`. Ends count themselves: that of a packet of which
    /// something was stored always is.
    #[inline]
    pub fn kept(&mut self, id: usize) {
        self.received[id] = (self.received[id] + 1) & (COUNT_MODULUS - 1);
    }

    /// Words left buffer `id`.
    #[inline]
    pub fn free(&mut self, id: usize, words: u16) {
        self.taken[id] = self.taken[id].wrapping_add(words) & (COUNT_MODULUS - 1);
        self.judge(id);
    }

    #[inline]
    fn judge(&mut self, id: usize) {
        let untold = distance(self.told[id], self.taken[id]);
        let bit = 1 << id;
        self.untold = if untold == 0 { self.untold & !bit } else { self.untold | bit };
        self.due = if untold < self.config.credit_words { self.due & !bit } else { self.due | bit };
    }

    /// At the link's start buffer `id` still holds this many words.
    pub fn holds(&mut self, id: usize, words: u16) {
        self.taken[id] = 0_u16.wrapping_sub(words) & (COUNT_MODULUS - 1);
    }

    fn start_over(&mut self) {
        self.state = State::Init;
        self.init_left = self.config.init_words;
        self.inits = 0;
        self.sent = [0; IDS_MAX];
        self.freed = [0_u16.wrapping_sub(self.config.tx_depth) & (COUNT_MODULUS - 1); IDS_MAX];
        self.received = [0; IDS_MAX];
        self.taken = [0; IDS_MAX];
        // The remote end may send nothing before it has credit for each buffer.
        self.untold = all(self.config.rx_ids);
        self.due = self.untold;
        self.asked = 0;
        self.outgoing = None;
    }

    /// One word from the remote end, or no signal.
    #[inline]
    pub fn receive(&mut self, word: Option<Word>) -> Received {
        let Some(word) = word else {
            let mut received = Received { ended: self.cut(), ..Received::default() };
            if self.state != State::Init {
                received.restarted = true;
                self.start_over();
            }
            return received;
        };
        let token = word.token();
        if self.state != State::Up && !self.starting(token) {
            return Received::default();
        }
        let mut received = Received::default();
        match token {
            Token::Data(_) => self.heard.data += 1,
            Token::Sop { .. } | Token::Eop(_) | Token::Edb(_) => self.heard.framing += 1,
            Token::Credit { .. } | Token::Check { .. } => self.heard.credit += 1,
            _ => self.heard.idle += 1,
        }
        match token {
            Token::Data(data) => self.data(data, &mut received),
            Token::Invalid => received.ended = self.invalid(),
            Token::Sop { id, .. } if usize::from(id) >= self.config.rx_ids => {
                received.ended = self.invalid();
            }
            Token::Sop { id, count } => {
                received.ended = self.cut();
                self.resynchronise(usize::from(id), count);
                received.begun = Some(id);
                let (id, words, crc) = (usize::from(id), 0, Crc24::default());
                self.incoming = Some(Incoming { id, words, crc });
            }
            Token::Eop(crc24) | Token::Edb(crc24) => match self.incoming.take() {
                None => self.counters.dropped += 1,
                Some(packet) => {
                    let poisoned = matches!(token, Token::Edb(_));
                    let whole = packet.words > 0 && packet.crc.value() == crc24;
                    self.keep_end(&packet);
                    self.counters.poisoned += u64::from(poisoned);
                    self.counters.crc_bad += u64::from(!poisoned && !whole);
                    let good = whole && !poisoned;
                    received.ended = Some(Ended { crc24, good, poisoned });
                }
            },
            Token::Credit { id, count } => self.credit(usize::from(id), count),
            Token::Check { id, .. } if usize::from(id) >= self.config.rx_ids => {
                received.ended = self.invalid();
            }
            Token::Check { id, count } => {
                self.resynchronise(usize::from(id), count);
                self.asked |= 1 << id;
            }
            Token::Idle | Token::Align => received.ended = self.cut(),
            Token::Init { ready } => {
                received.ended = self.cut();
                self.inits += u8::from(!ready);
                if self.inits >= 2 {
                    received.restarted = true;
                    self.start_over();
                }
                return received;
            }
        }
        self.inits = 0;
        received
    }

    /// True for a word of a running link, which also counts as that.
    fn starting(&mut self, token: Token) -> bool {
        match (self.state, token) {
            (State::Init, Token::Init { .. }) if self.init_left == 0 => self.state = State::Ready,
            // Not ALIGN: an end that starts sends it too.
            (State::Ready, Token::Init { ready: true } | Token::Idle) => self.up(),
            (State::Ready, Token::Sop { .. } | Token::Credit { .. } | Token::Check { .. })
            | (State::Ready, Token::Eop(_) | Token::Edb(_)) => {
                self.up();
                return true;
            }
            _ => {}
        }
        false
    }

    fn up(&mut self) {
        self.counters.starts += 1;
        self.since_refresh = 0;
        self.state = State::Up;
    }

    #[inline]
    fn data(&mut self, data: u32, received: &mut Received) {
        let Some(packet) = &mut self.incoming else {
            self.counters.dropped += 1;
            return;
        };
        if packet.words == self.config.max_words {
            received.ended = self.cut();
            return;
        }
        let stamp = self.config.bench && (packet.words == 4 || packet.words == 5);
        packet.crc.add(if stamp { 0 } else { data });
        packet.words += 1;
        received.data = Some(data);
    }

    fn invalid(&mut self) -> Option<Ended> {
        self.counters.invalid += 1;
        self.cut()
    }

    fn cut(&mut self) -> Option<Ended> {
        self.incoming.take().map(|packet| {
            self.counters.cut += 1;
            self.keep_end(&packet);
            Ended { crc24: 0, good: false, poisoned: false }
        })
    }

    /// The buffer that the packet in progress goes to.
    #[cfg(test)]
    #[must_use]
    pub fn incoming(&self) -> Option<usize> {
        self.incoming.as_ref().map(|packet| packet.id)
    }

    /// The data word that just came finds its buffer full: the packet is cut before it.
    pub fn refuse(&mut self) {
        if let Some(packet) = &mut self.incoming {
            packet.words -= 1;
        }
        let _ = self.cut();
    }

    #[inline]
    fn keep_end(&mut self, packet: &Incoming) {
        if packet.words > 0 {
            self.kept(packet.id);
        }
    }

    #[inline]
    fn resynchronise(&mut self, id: usize, count: u16) {
        let lost = distance(self.received[id], count);
        if lost != 0 {
            self.received[id] = count;
            self.free(id, lost);
        }
    }

    #[inline]
    fn credit(&mut self, id: usize, count: u16) {
        let believable = id < self.config.tx_ids
            && distance(count, self.sent[id]) <= distance(self.freed[id], self.sent[id]);
        if believable {
            self.freed[id] = count;
        } else {
            self.counters.credit_bad += 1;
        }
    }

    /// The word to send in this clock.
    #[inline]
    pub fn transmit(&mut self, feed: &mut impl Feed, now: u64) -> Word {
        let word = self.choose(feed, now);
        self.since_comma = if word.has_comma() { 0 } else { self.since_comma + 1 };
        word
    }

    #[inline]
    fn choose(&mut self, feed: &mut impl Feed, now: u64) -> Word {
        match self.state {
            State::Init => {
                self.init_left = self.init_left.saturating_sub(1);
                return Word::of(Token::Init { ready: false });
            }
            State::Ready => return Word::of(Token::Init { ready: true }),
            State::Up => {}
        }
        self.since_refresh = self.since_refresh.saturating_add(1);
        if let Some(id) = self.outgoing {
            return self.inside(usize::from(id), feed, now);
        }
        if self.config.align_words != 0 && self.since_comma >= self.config.align_words {
            return Word::ALIGN;
        }
        if std::mem::take(&mut self.after_packet) {
            if self.due != 0 {
                return self.tell(self.due);
            }
            if self.since_refresh >= REFRESH_WHEN_BUSY * self.config.refresh_words
                && let Some(word) = self.refresh()
            {
                return word;
            }
        }
        let rooms = Rooms { sent: &self.sent, freed: &self.freed, depth: self.config.tx_depth };
        if let Some(id) = feed.begin(&rooms, now) {
            self.outgoing = Some(id);
            return Word::of(Token::Sop { id, count: self.sent[usize::from(id)] });
        }
        let wanted = self.asked | self.due | if now >= self.scanned { self.untold } else { 0 };
        if wanted != 0 {
            self.scanned = now + SCAN_BASE_CLOCKS + self.config.rx_ids as u64;
            return self.tell(wanted);
        }
        if self.since_refresh >= self.config.refresh_words
            && let Some(word) = self.refresh()
        {
            return word;
        }
        Word::IDLE
    }

    #[inline]
    fn inside(&mut self, id: usize, feed: &mut impl Feed, now: u64) -> Word {
        if self.config.credit_in_packet && self.due != 0 {
            return self.tell(self.due);
        }
        let token = match feed.next(now) {
            // A word is needed here, and a credit is as good as any.
            Next::Gap => return self.tell(self.untold.max(1)),
            Next::Data(data) => {
                self.count_sent(id);
                return Word::data(data);
            }
            Next::Eop(crc24) => Token::Eop(crc24),
            Next::Edb(crc24) => Token::Edb(crc24),
        };
        self.count_sent(id);
        self.outgoing = None;
        self.after_packet = true;
        Word::of(token)
    }

    #[inline]
    fn count_sent(&mut self, id: usize) {
        self.sent[id] = (self.sent[id] + 1) & (COUNT_MODULUS - 1);
    }

    fn tell(&mut self, among: u64) -> Word {
        let id = round_robin(among, self.credit_turn);
        self.credit_turn = id + 1;
        let count = self.taken[id as usize];
        self.told[id as usize] = count;
        self.asked &= !(1 << id);
        self.judge(id as usize);
        Word::of(Token::Credit { id: id as u8, count })
    }

    /// A pending answer, or a CHECK of the next id whose credit is not complete.
    fn refresh(&mut self) -> Option<Word> {
        self.since_refresh = 0;
        if self.asked != 0 {
            return Some(self.tell(self.asked));
        }
        let ids = self.config.tx_ids;
        for step in 0..ids {
            let id = (self.refresh_turn + step) % ids;
            // A packet in progress is outside this: it says its count with its begin.
            if self.sent[id] != self.freed[id] && self.outgoing != Some(id as u8) {
                self.refresh_turn = id + 1;
                return Some(Word::of(Token::Check { id: id as u8, count: self.sent[id] }));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::ledger::Ledger;
    use super::*;
    use isthmus_sim::kernel::RandomStream;
    use isthmus_sim::world::link::{Line, LineFaults};

    const DEPTH: u16 = 512;
    const IDS: usize = 4;

    fn config(rx_ids: usize, tx_ids: usize, credit_in_packet: bool) -> EndConfig {
        EndConfig {
            rx_ids,
            tx_ids,
            tx_depth: DEPTH,
            max_words: 128,
            credit_in_packet,
            credit_words: 64,
            refresh_words: 64,
            init_words: 128,
            align_words: 256,
            bench: false,
        }
    }

    /// Packets of random length to random buffers, as long as `left` lasts.
    struct Random {
        random: RandomStream,
        left: u32,
        next: Option<(u8, u16)>,
        at: u16,
        crc: Crc24,
        greedy: bool,
    }

    impl Feed for Random {
        fn begin(&mut self, rooms: &Rooms<'_>, _now: u64) -> Option<u8> {
            let random = &mut self.random;
            let drawn = || (random.below(IDS as u64) as u8, 1 + random.below(128) as u16);
            let (id, words) = *self.next.get_or_insert_with(drawn);
            if self.left == 0 || (!self.greedy && rooms.of(usize::from(id)) <= words) {
                return None;
            }
            self.left -= 1;
            (self.at, self.crc) = (0, Crc24::default());
            Some(id)
        }

        fn next(&mut self, _now: u64) -> Next {
            let (_, words) = self.next.unwrap();
            if self.at == words {
                self.next = None;
                return Next::Eop(self.crc.value());
            }
            if self.random.chance(0.05) {
                return Next::Gap;
            }
            self.at += 1;
            let data = self.random.bits() as u32;
            self.crc.add(data);
            Next::Data(data)
        }
    }

    struct Outcome {
        good: u64,
        refused: u64,
        rooms: Vec<u16>,
        counters: EndCounters,
    }

    /// A sender, two lines, and a receiver whose buffers are read now and then.
    fn exchange(packets: u32, faults: LineFaults, in_packet: bool, greedy: bool) -> Outcome {
        let mut ledger = Ledger::new(1);
        let random = |name: &str| RandomStream::new(5, name);
        let (mut a, mut b) =
            (End::new(config(1, IDS, in_packet)), End::new(config(IDS, 1, in_packet)));
        let mut there = Line::new(20, faults, false, 0, random("there"));
        let mut back = Line::new(20, faults, false, 0, random("back"));
        let mut none = idle(greedy);
        let mut feed = Random { random: random("feed"), left: packets, ..idle(greedy) };
        let (mut from_a, mut from_b) = (Word::IDLE, Word::IDLE);
        let (mut stored, mut reader) = ([0_u16; IDS], random("reader"));
        let (mut good, mut refused, mut quiet) = (0, 0, 0);
        for now in 0.. {
            let at_b = there.pass(from_a, now, &mut ledger);
            let at_a = back.pass(from_b, now, &mut ledger);
            let _ = a.receive(at_a);
            let received = b.receive(at_b);
            if let Some(ended) = received.ended {
                good += u64::from(ended.good);
            }
            if let (Some(_), Some(id)) = (received.data, b.incoming()) {
                if stored[id] + 2 > DEPTH {
                    refused += 1;
                    b.refuse();
                } else {
                    stored[id] += 1;
                    b.kept(id);
                }
            }
            // What counts is that the end of a packet takes a word too: see `received`.
            for (id, stored) in stored.iter_mut().enumerate() {
                let held = distance(b.taken[id], b.received[id]);
                *stored = held;
                if held > 0 && reader.chance(0.2) {
                    b.free(id, 1);
                    *stored -= 1;
                }
                assert!(*stored <= DEPTH, "{stored} words in a buffer of {DEPTH}");
            }
            from_a = a.transmit(&mut feed, now);
            from_b = b.transmit(&mut none, now);
            quiet = if feed.left == 0 && a.outgoing.is_none() { quiet + 1 } else { 0 };
            if quiet > 60_000 {
                break;
            }
            assert!(now < 60_000_000, "it never came to rest");
        }
        let rooms = (0..IDS).map(|id| a.rooms().of(id)).collect();
        Outcome { good, refused, rooms, counters: b.counters() }
    }

    fn idle(greedy: bool) -> Random {
        let random = RandomStream::new(0, "");
        Random { random, left: 0, next: None, at: 0, crc: Crc24::default(), greedy }
    }

    #[test]
    fn without_faults_every_packet_comes_and_no_buffer_overflows() {
        for in_packet in [false, true] {
            let found = exchange(2_000, LineFaults::default(), in_packet, false);
            assert_eq!((found.good, found.refused), (2_000, 0));
            assert_eq!(found.rooms, [DEPTH; IDS]);
            assert_eq!(found.counters, EndCounters { starts: 1, ..EndCounters::default() });
        }
    }

    #[test]
    fn lost_credits_cost_time_and_nothing_else() {
        for rate in [1e-3, 0.1, 0.5] {
            let faults = LineFaults { credit_loss_rate: rate, ..LineFaults::default() };
            let found = exchange(1_000, faults, false, false);
            // A credit word lost inside a packet, where a gap is filled, takes the packet with it.
            assert_eq!(found.good + found.counters.cut, 1_000, "{rate}");
            assert_eq!(found.refused, 0, "{rate}");
            assert_eq!(found.rooms, [DEPTH; IDS], "{rate}");
        }
    }

    /// An end that is up, and knows that every buffer of the remote end is free.
    fn up() -> End {
        let mut end = End::new(config(IDS, IDS, false));
        let mut none = idle(false);
        for now in 0..400 {
            let _ = end.receive(Some(Word::of(Token::Init { ready: true })));
            let _ = end.transmit(&mut none, now);
        }
        for id in 0..IDS as u8 {
            let _ = end.receive(Some(Word::of(Token::Credit { id, count: 0 })));
        }
        assert_eq!(end.counters(), EndCounters { starts: 1, ..EndCounters::default() });
        end
    }

    #[test]
    fn a_credit_for_what_was_not_sent_is_counted_and_changes_nothing() {
        let mut end = up();
        end.sent[1] = 10;
        let credit = |id, count| Some(Word::of(Token::Credit { id, count }));
        // Of the 10 words sent 4 are free: never 11, never fewer than 4 again, and no fifth buffer.
        for (id, count, bad) in
            [(1, 4, 0), (1, 11, 1), (1, 3, 2), (1, 1023, 3), (4, 0, 4), (1, 10, 4)]
        {
            let before = end.rooms().of(1);
            let _ = end.receive(credit(id, count));
            assert_eq!(end.counters().credit_bad, bad, "{count}");
            let changes = (id, count) == (1, 4) || (id, count) == (1, 10);
            assert_eq!(end.rooms().of(1) != before, changes, "{count}");
        }
        assert_eq!((0..IDS).map(|id| end.rooms().of(id)).collect::<Vec<_>>(), [DEPTH; IDS]);
    }

    #[test]
    fn a_packet_of_more_words_than_allowed_is_cut_at_the_first_of_them() {
        for words in [127, 128, 129, 140] {
            let mut end = up();
            let _ = end.receive(Some(Word::of(Token::Sop { id: 2, count: 0 })));
            let mut crc = Crc24::default();
            let (mut taken, mut ends) = (0, Vec::new());
            for data in 0..words {
                crc.add(data);
                let received = end.receive(Some(Word::data(data)));
                taken += u32::from(received.data.is_some());
                ends.extend(received.ended.map(|ended| (data, ended.good)));
            }
            let last = end.receive(Some(Word::of(Token::Eop(crc.value()))));
            ends.extend(last.ended.map(|ended| (words, ended.good)));
            assert_eq!(taken, words.min(128));
            assert_eq!(ends, [if words > 128 { (128, false) } else { (words, true) }]);
            assert_eq!(end.counters().cut, u64::from(words > 128));
        }
    }

    #[test]
    fn after_bit_errors_all_credit_comes_back() {
        let faults = LineFaults { bit_error_rate: 1e-4, ..LineFaults::default() };
        let found = exchange(2_000, faults, true, false);
        assert!(found.good > 1_000 && found.good < 2_000, "{}", found.good);
        // The last refresh may itself have been hit: nearly all.
        assert!(found.rooms.iter().all(|room| *room >= DEPTH - 1), "{:?}", found.rooms);
        let counters = found.counters;
        assert!(counters.cut > 0 && counters.crc_bad > 0 && counters.invalid > 0);
    }

    #[test]
    fn a_sender_that_ignores_credit_is_refused_and_nothing_breaks() {
        let found = exchange(300, LineFaults::default(), false, true);
        assert!(found.refused > 0);
        assert!(found.good < 300);
        assert_eq!(found.rooms, [DEPTH; IDS]);
    }
}
