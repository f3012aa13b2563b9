// SPDX-License-Identifier: Apache-2.0
//! The benchmark's sort over all hosts: a sample sort in rounds whose comparisons and copies are counted, so
//! that a simulated processor takes their time.

use std::time::Duration;

use isthmus_host::pcie::{DmaMemory, Mmio};
use isthmus_host::rdma::{CONTROL_BYTES, Endpoint, Group, HostId, PhaseTimer, Phases, RdmaError};

const BEAT: usize = 8;
/// Rounds whose keys may be in flight.
const AHEAD: usize = 2;

/// Why a sort failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SortError {
    /// A transfer failed.
    #[error(transparent)]
    Rdma(#[from] RdmaError),
    /// The result is wrong.
    #[error("host {host}: {what}")]
    Check {
        /// What is wrong.
        what: &'static str,
        /// The host with the wrong result.
        host: HostId,
    },
}

/// How a distributed sort is done; the same at all members.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortConfig {
    /// Offset of the send buffers in the endpoint's memory: [`send_bytes`](Self::send_bytes).
    pub(super) from: usize,
    /// Keys that a member sends in a round.
    pub(super) chunk: usize,
    /// Keys that each member shows to the others before, so that all choose the same limits. With more
    /// of them members get more even parts; they go by messages, for which the queue needs room.
    pub(super) samples: usize,
    /// Picoseconds of a comparison of two keys.
    pub(super) compare_ps: u64,
    /// Picoseconds of a key's copy in the processor's memory.
    pub(super) move_ps: u64,
}

impl SortConfig {
    /// Bytes of the send buffers, in a group of this many.
    #[must_use]
    pub(super) const fn send_bytes(&self, members: usize) -> usize {
        AHEAD * BEAT * (members + self.chunk)
    }

    /// Bytes of a member's window.
    #[must_use]
    pub(super) const fn window_bytes(&self, members: usize) -> usize {
        AHEAD * members * self.block()
    }

    /// A count and as many keys as one member may have for one other in a round.
    const fn block(&self) -> usize {
        BEAT * (1 + self.chunk)
    }
}

/// What a member has after a sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sorted {
    /// Its keys, ascending; none is less than one of a member before it.
    pub(super) keys: Vec<u64>,
    /// Keys of all members.
    pub(super) all: u64,
    /// Where its time went, the check not counted.
    pub(super) phases: Phases,
    /// Rounds of the exchange.
    pub(super) rounds: usize,
    /// Comparisons and copies that were charged.
    pub(super) work: SortWork,
}

/// What a processor has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SortWork {
    /// Comparisons of two keys.
    pub(super) compares: u64,
    /// Copies of a key.
    pub(super) moves: u64,
}

/// Work that was done, and how much of it has been paid for.
struct Account<C> {
    config: SortConfig,
    work: SortWork,
    paid_ns: u64,
    compute: C,
}

impl<C: AsyncFnMut(Duration)> Account<C> {
    /// Takes the time of what was done since the last call.
    async fn pay(&mut self) {
        let SortWork { compares, moves } = self.work;
        let ps = compares
            .saturating_mul(self.config.compare_ps)
            .saturating_add(moves.saturating_mul(self.config.move_ps));
        let due = ps / 1000 - self.paid_ns;
        self.paid_ns += due;
        (self.compute)(Duration::from_nanos(due)).await;
    }
}

/// Merges two ascending rows.
fn merge(left: &[u64], right: &[u64], work: &mut SortWork) -> Vec<u64> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        work.compares += 1;
        if right[r] < left[l] {
            merged.push(right[r]);
            r += 1;
        } else {
            merged.push(left[l]);
            l += 1;
        }
    }
    merged.extend_from_slice(&left[l..]);
    merged.extend_from_slice(&right[r..]);
    work.moves += merged.len() as u64;
    merged
}

/// Merge sort from the bottom: its count of comparisons is its own, not a library's.
fn ascending(keys: &[u64], work: &mut SortWork) -> Vec<u64> {
    let mut rows: Vec<Vec<u64>> = keys.iter().map(|key| vec![*key]).collect();
    while rows.len() > 1 {
        rows = rows
            .chunks(2)
            .map(|pair| match pair {
                [left, right] => merge(left, right, work),
                _ => pair[0].clone(),
            })
            .collect();
    }
    rows.pop().unwrap_or_default()
}

/// A sum over keys, in whatever order they are; other keys have another one, almost surely.
fn sum(keys: &[u64]) -> u64 {
    keys.iter().fold(0, |sum, key| {
        let mut x = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        sum.wrapping_add(x ^ x >> 31)
    })
}

fn bytes(beats: &[u64]) -> Vec<u8> {
    beats.iter().flat_map(|beat| beat.to_le_bytes()).collect()
}

/// Sorts the keys of all members: afterwards each has an ascending part of them, in the order of
/// the ranks. A sample sort in rounds: while a chunk's keys are on their way to their members,
/// the next chunk is divided and what came before is sorted.
///
/// `compute` takes the time that the processor would need: where the host is simulated its
/// computing is a model, of the comparisons and copies of keys that are made here; on a machine it
/// does nothing. The result is checked before it is given back: nothing is out of order within
/// and between members, and the keys are those that were there before.
///
/// # Errors
/// As [`Group::all_to_all`]; when buffers, windows or the queue are too small, or the result
/// is wrong.
pub(super) async fn sort<M: Mmio, D: DmaMemory, C: AsyncFnMut(Duration)>(
    group: &mut Group,
    endpoint: &mut Endpoint<M, D>,
    keys: &[u64],
    config: &SortConfig,
    compute: C,
) -> Result<Sorted, SortError> {
    let (count, rank) = (group.len(), group.rank());
    let (size, from) = (endpoint.memory().size(), config.from);
    let end = from.saturating_add(config.send_bytes(count));
    if config.chunk == 0 || from < CONTROL_BYTES || !from.is_multiple_of(BEAT) || end > size {
        return Err(RdmaError::Place { at: end, size }.into());
    }
    let (needed, has) = (config.window_bytes(count), group.window_range().len());
    if needed > has {
        return Err(RdmaError::Room { what: "the rounds of a sort", needed, has }.into());
    }
    // Blocks and room for more, and what a faster member already begins.
    group.require_slots("the words of a sort", (2 * AHEAD + 2) * (count - 1))?;
    let shown = BEAT.saturating_mul(config.samples.saturating_add(2));
    group.require_slots("the samples of a sort", group.messages(shown))?;

    let mut watch = PhaseTimer::new(endpoint.memory().now());
    let mut account = Account { config: *config, work: SortWork::default(), paid_ns: 0, compute };

    // All show some keys and agree on the limits between them.
    let most = config.samples.min(keys.len());
    let shown = (0..most).map(|index| keys[index * keys.len() / most]);
    account.work.moves += most as u64;
    account.pay().await;
    watch.lap(endpoint.memory().now(), |phases| &mut phases.compute);
    let block: Vec<u64> = [keys.len() as u64, sum(keys)].into_iter().chain(shown).collect();
    let shown = group.all_gather(endpoint, &bytes(&block)).await?;
    watch.lap(endpoint.memory().now(), |phases| &mut phases.wait);
    let mut samples = vec![];
    let (mut all, mut longest, mut sum_before) = (0_u64, 0, 0_u64);
    for block in &shown {
        let (beats, _) = block.as_chunks::<BEAT>();
        let beats: Vec<u64> = beats.iter().map(|beat| u64::from_le_bytes(*beat)).collect();
        let [keys, sum, rest @ ..] = beats.as_slice() else { continue };
        all = all.wrapping_add(*keys);
        longest = longest.max(usize::try_from(*keys).unwrap_or(usize::MAX));
        sum_before = sum_before.wrapping_add(*sum);
        samples.extend_from_slice(rest);
    }
    let samples = ascending(&samples, &mut account.work);
    let limits: Vec<u64> =
        (1..count).filter_map(|part| samples.get(part * samples.len() / count).copied()).collect();
    let rounds = longest.div_ceil(config.chunk);

    group.begin();
    let mut rows: Vec<Vec<u64>> = vec![];
    let mut own: Vec<Vec<u64>> = vec![];
    for round in 0..rounds {
        let chunk = keys.chunks(config.chunk).nth(round).unwrap_or(&[]);
        let mut parts = divide(chunk, &limits, count, &mut account.work);
        account.pay().await;
        watch.lap(endpoint.memory().now(), |phases| &mut phases.compute);
        // The buffers of two rounds ago are free when their keys have been taken.
        if round >= AHEAD {
            for step in 1..count {
                let far = (rank + step) % count;
                group.released(endpoint, far, (round - AHEAD) as u32).await?;
            }
            watch.lap(endpoint.memory().now(), |phases| &mut phases.network);
        }
        own.push(std::mem::take(&mut parts[rank]));
        post(group, endpoint, config, round, &parts).await?;
        watch.lap(endpoint.memory().now(), |phases| &mut phases.post);
        if round > 0 {
            let mine = std::mem::take(&mut own[round - 1]);
            gather(group, endpoint, config, round - 1, mine, &mut rows, &mut account, &mut watch)
                .await?;
        }
    }
    if let Some(last) = rounds.checked_sub(1) {
        let mine = std::mem::take(&mut own[last]);
        gather(group, endpoint, config, last, mine, &mut rows, &mut account, &mut watch).await?;
    }
    while let Some(last) = rows.pop() {
        let Some(before) = rows.pop() else {
            rows.push(last);
            break;
        };
        rows.push(merge(&before, &last, &mut account.work));
    }
    account.pay().await;
    watch.lap(endpoint.memory().now(), |phases| &mut phases.compute);
    // Words of credit that are no longer pending.
    for round in rounds.saturating_sub(AHEAD)..rounds {
        for step in 1..count {
            let far = (rank + step) % count;
            group.released(endpoint, far, round as u32).await?;
        }
    }
    watch.lap(endpoint.memory().now(), |phases| &mut phases.wait);

    let keys = rows.pop().unwrap_or_default();
    check(group, endpoint, &keys, all, sum_before).await?;
    Ok(Sorted { keys, all, phases: watch.phases(), rounds, work: account.work })
}

/// Writes each member's part of a chunk to it.
async fn post<M: Mmio, D: DmaMemory>(
    group: &mut Group,
    endpoint: &mut Endpoint<M, D>,
    config: &SortConfig,
    round: usize,
    parts: &[Vec<u64>],
) -> Result<(), SortError> {
    let (count, rank, block) = (group.len(), group.rank(), config.block());
    let turn = round % AHEAD;
    let mut from = config.from + turn * config.send_bytes(count) / AHEAD;
    for step in 1..count {
        let far = (rank + step) % count;
        let mut data = (parts[far].len() as u64).to_le_bytes().to_vec();
        data.extend(bytes(&parts[far]));
        endpoint.memory().write(from, &data).await.map_err(RdmaError::from)?;
        let to = (turn * count + rank) * block;
        group.put_block(endpoint, far, (from, to, data.len()), round as u32).await?;
        from += data.len();
    }
    Ok(())
}

/// Takes what the others sent in a round and sorts it into the rows.
#[allow(clippy::too_many_arguments, reason = "a part of one function")]
async fn gather<M: Mmio, D: DmaMemory, C: AsyncFnMut(Duration)>(
    group: &mut Group,
    endpoint: &mut Endpoint<M, D>,
    config: &SortConfig,
    round: usize,
    mut keys: Vec<u64>,
    rows: &mut Vec<Vec<u64>>,
    account: &mut Account<C>,
    watch: &mut PhaseTimer,
) -> Result<(), SortError> {
    let (count, rank, block) = (group.len(), group.rank(), config.block());
    let turn = round % AHEAD;
    for step in 1..count {
        let far = (rank + count - step) % count;
        group.take_block(endpoint, far, round as u32).await?;
        watch.lap(endpoint.memory().now(), |phases| &mut phases.network);
        let place = group.window_range().start + (turn * count + far) * block;
        let many = endpoint.memory().load64(place).await.map_err(RdmaError::from)?;
        let Some(many) = usize::try_from(many).ok().filter(|many| *many <= config.chunk) else {
            return Err(RdmaError::Spoilt { host: group.host(far) }.into());
        };
        let mut data = vec![0; BEAT * many];
        endpoint.memory().read(place + BEAT, &mut data).await.map_err(RdmaError::from)?;
        let (beats, _) = data.as_chunks::<BEAT>();
        keys.extend(beats.iter().map(|beat| u64::from_le_bytes(*beat)));
        account.work.moves += many as u64;
        account.pay().await;
        watch.lap(endpoint.memory().now(), |phases| &mut phases.compute);
        group.release(endpoint, far, round as u32).await?;
        watch.lap(endpoint.memory().now(), |phases| &mut phases.post);
    }
    rows.push(ascending(&keys, &mut account.work));
    // As many merges as the count of rounds ends in ones: rows of as many rounds are merged, by all
    // members in the same round, so that none waits for another's long merge.
    for _ in 0..round.trailing_ones() {
        if let (Some(last), Some(before)) = (rows.pop(), rows.pop()) {
            rows.push(merge(&before, &last, &mut account.work));
        }
    }
    account.pay().await;
    watch.lap(endpoint.memory().now(), |phases| &mut phases.compute);
    Ok(())
}

/// That the keys of all are in order, and the ones that there were.
async fn check<M: Mmio, D: DmaMemory>(
    group: &mut Group,
    endpoint: &mut Endpoint<M, D>,
    keys: &[u64],
    all: u64,
    sum_before: u64,
) -> Result<(), SortError> {
    let ends = [keys.first(), keys.last()].map(|key| key.copied().unwrap_or(0));
    let wrong = u64::from(!keys.is_sorted());
    let block = [keys.len() as u64, sum(keys), ends[0], ends[1], wrong];
    let blocks = group.all_gather(endpoint, &bytes(&block)).await?;
    let (mut found, mut sum_after, mut highest) = (0, 0_u64, 0);
    for (rank, block) in blocks.iter().enumerate() {
        let host = group.host(rank);
        let Some([keys, sum, first, last, wrong]) = beats(block) else {
            return Err(RdmaError::Spoilt { host }.into());
        };
        if wrong != 0 || (keys != 0 && first < highest) {
            return Err(SortError::Check { what: "keys are out of order", host });
        }
        highest = if keys == 0 { highest } else { last };
        found = u64::wrapping_add(found, keys);
        sum_after = sum_after.wrapping_add(sum);
    }
    if (found, sum_after) != (all, sum_before) {
        let host = group.host(group.rank());
        return Err(SortError::Check { what: "keys are not those of before", host });
    }
    Ok(())
}
/// A body of exactly this many beats.
fn beats<const COUNT: usize>(body: &[u8]) -> Option<[u64; COUNT]> {
    let (chunks, rest) = body.as_chunks::<BEAT>();
    let beats: Vec<u64> = chunks.iter().map(|beat| u64::from_le_bytes(*beat)).collect();
    if rest.is_empty() { beats.try_into().ok() } else { None }
}

/// Keys by the member that gets them: as many limits as there are members but one, ascending.
fn divide(chunk: &[u64], limits: &[u64], members: usize, work: &mut SortWork) -> Vec<Vec<u64>> {
    let mut parts = vec![vec![]; members];
    for key in chunk {
        let (mut low, mut high) = (0, limits.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            work.compares += 1;
            if *key < limits[middle] {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        parts[low].push(*key);
    }
    work.moves += chunk.len() as u64;
    parts
}

/// Hosts whose interfaces are a model in memory.
#[cfg(test)]
#[path = "../../../isthmus-host/tests/it/soft_network/mod.rs"]
mod soft_network;

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use isthmus_host::rdma::{EndpointConfig, GroupConfig};

    use super::soft_network::{Faults, Machine, Network};
    use super::*;

    const MEMORY: usize = 0x80000;
    const SEND: usize = 0x50000;

    async fn open(
        network: &Network,
        host: usize,
        members: usize,
    ) -> (Endpoint<Machine, Machine>, Group) {
        let machine = network.machine(host);
        let (number, timeout) = (host as HostId, Duration::from_millis(5));
        let config = EndpointConfig { host: number, timeout, ..EndpointConfig::default() };
        let mut endpoint = Endpoint::open(machine.clone(), machine, config).await.unwrap();
        let config = GroupConfig {
            members: (0..members as HostId).collect(),
            queue: 9,
            ring: 0x2000..0x12000,
            slot: 512,
            region: 30,
            nonce: 77,
            window: 0x20000..0x40000,
        };
        let group = Group::open(&mut endpoint, &config).await.unwrap();
        (endpoint, group)
    }

    /// A member that knows all windows. Questions that came too early left records of errors.
    async fn join(
        network: &Network,
        host: usize,
        members: usize,
    ) -> (Endpoint<Machine, Machine>, Group) {
        let (mut endpoint, mut group) = open(network, host, members).await;
        group.join(&mut endpoint).await.unwrap();
        network.machine(host).sleep(Duration::from_micros(200)).await;
        while endpoint.error().await.unwrap().is_some() {}
        (endpoint, group)
    }

    /// Runs a program at each of the hosts.
    fn run<T, F: Future<Output = T>>(
        network: &Network,
        hosts: usize,
        f: impl Fn(usize) -> F,
    ) -> Vec<T> {
        let programs = (0..hosts).map(|host| Box::pin(f(host)) as Pin<Box<dyn Future<Output = T>>>);
        network.run(programs.collect())
    }

    fn spread() -> Faults {
        Faults { spread: Duration::from_micros(9), ..Faults::default() }
    }

    #[test]
    fn merge_sort_sorts_and_counts_what_it_does() {
        for count in [0, 1, 2, 3, 7, 64, 1000_u64] {
            let keys: Vec<u64> = (0..count).map(|key| key.wrapping_mul(0x9E37_79B9) % 97).collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            let mut work = SortWork::default();
            assert_eq!(ascending(&keys, &mut work), expected);
            let rounds = u64::from(count.max(1).next_power_of_two().trailing_zeros());
            assert!(work.moves <= count * rounds && work.compares <= work.moves);
            assert!(count < 2 || work.compares >= count / 2);
        }
    }

    #[test]
    fn a_key_goes_to_the_member_between_whose_limits_it_is() {
        let mut work = SortWork::default();
        let parts = divide(&[0, 9, 10, 11, 20, 99], &[10, 10, 20], 4, &mut work);
        assert_eq!(parts, [vec![0, 9], vec![], vec![10, 11], vec![20, 99]]);
        assert_eq!((work.moves, work.compares), (6, 12));
        assert_eq!(divide(&[5], &[], 2, &mut work), [vec![5], vec![]]);
    }

    #[test]
    fn the_sum_of_keys_is_that_of_the_set() {
        assert_eq!(sum(&[1, 2, 3]), sum(&[3, 1, 2]));
        assert_ne!(sum(&[1, 2, 3]), sum(&[2, 2, 2]));
        assert_ne!(sum(&[0]), sum(&[]));
    }

    const SORT: SortConfig =
        SortConfig { from: SEND, chunk: 256, samples: 128, compare_ps: 2_500, move_ps: 1_250 };

    /// Keys of `count` different values, or all different.
    fn keys(host: usize, many: usize, values: u64) -> Vec<u64> {
        let mix = |at: u64| {
            let x = (at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (x ^ x >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) % values
        };
        (0..many as u64).map(|at| mix((host as u64) << 32 | at)).collect()
    }

    fn sorted(
        members: usize,
        rows: &[Vec<u64>],
        config: SortConfig,
        faults: Faults,
    ) -> Vec<Sorted> {
        let network = Network::new(members, MEMORY, members as u64, faults);
        run(&network, members, |host| {
            let network = &network;
            async move {
                let (mut endpoint, mut group) = join(network, host, members).await;
                let machine = network.machine(host);
                group.barrier(&mut endpoint).await.unwrap();
                let begin = machine.now();
                let slow = async |time| machine.sleep(time).await;
                let sorted = sort(&mut group, &mut endpoint, &rows[host], &config, slow).await;
                let sorted = sorted.unwrap();
                // The phases are all of the time but for the check, which is behind them.
                assert!(sorted.phases.total() <= machine.now() - begin);
                let work = sorted.work;
                let ps = work.compares * config.compare_ps + work.moves * config.move_ps;
                let computing = Duration::from_nanos(ps / 1000);
                assert!(sorted.phases.compute >= computing, "what was charged passed");
                assert_eq!(endpoint.error().await.unwrap(), None);
                sorted
            }
        })
    }

    #[test]
    fn keys_of_all_are_sorted_over_all() {
        for (members, many, values) in [
            (1, 1000, u64::MAX),
            (2, 1, u64::MAX),
            (2, 3000, u64::MAX),
            (3, 1000, 5),
            (4, 2000, u64::MAX),
            (5, 0, 1),
            (8, 700, 1),
            (8, 1500, u64::MAX),
        ] {
            // Not all have the same number of keys; one has none.
            let rows: Vec<_> =
                (0..members).map(|host| keys(host, many * host.min(3), values)).collect();
            let mut expected: Vec<u64> = rows.concat();
            expected.sort_unstable();
            let sorted = sorted(members, &rows, SORT, spread());
            let found: Vec<u64> = sorted.iter().flat_map(|part| part.keys.clone()).collect();
            assert!(found == expected, "{members} members, {many} keys");
            for part in &sorted {
                assert_eq!(part.all, expected.len() as u64);
                assert_eq!(part.rounds, (many * (members - 1).min(3)).div_ceil(256));
            }
            if values == u64::MAX && many >= 1000 && members > 1 {
                let most = sorted.iter().map(|part| part.keys.len()).max().unwrap();
                assert!(2 * most < 3 * expected.len() / members, "{most} of {}", expected.len());
            }
        }
    }

    #[test]
    fn a_sort_that_has_no_room_is_refused_before_anything_is_sent() {
        let network = Network::new(3, MEMORY, 1, Faults::default());
        run(&network, 3, |host| {
            let network = &network;
            async move {
                let (mut endpoint, mut group) = open(network, host, 3).await;
                for (config, expected) in [
                    (SortConfig { chunk: 0, ..SORT }, "no word"),
                    (SortConfig { from: 8, ..SORT }, "no word"),
                    (SortConfig { from: MEMORY - 0x1000, ..SORT }, "no word"),
                    (
                        SortConfig { chunk: 4096, ..SORT },
                        "the rounds of a sort: 196656 needed, 131072",
                    ),
                    (
                        SortConfig { samples: 2000, ..SORT },
                        "the samples of a sort: 128 needed, 127",
                    ),
                    (SortConfig { samples: usize::MAX, ..SORT }, "the samples of a sort"),
                ] {
                    let sort = sort(&mut group, &mut endpoint, &[1, 2, 3], &config, async |_| {});
                    let error = sort.await.unwrap_err().to_string();
                    assert!(error.contains(expected), "{error}");
                }
            }
        });
        assert_eq!(network.statistics().packets, 0);
    }

    #[test]
    fn computing_hides_the_network_where_it_takes_longer() {
        let rows: Vec<_> = (0..4).map(|host| keys(host, 8000, u64::MAX)).collect();
        let idle = SortConfig { compare_ps: 0, move_ps: 0, ..SORT };
        let slowest = |config| {
            let sorted = sorted(4, &rows, config, Faults::default());
            sorted.into_iter().map(|part| part.phases).max_by_key(|phases| phases.compute).unwrap()
        };
        let (idle, busy) = (slowest(idle), slowest(SORT));
        let waits = |phases: Phases| phases.network + phases.wait;
        assert!(idle.network > idle.compute + idle.wait, "{idle:?}");
        assert!(waits(busy) < waits(idle) / 2, "{busy:?}, without computing {idle:?}");
        assert!(busy.total() < busy.compute + idle.total(), "{busy:?}, without computing {idle:?}");
    }
}
