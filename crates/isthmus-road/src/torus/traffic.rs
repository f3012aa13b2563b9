// SPDX-License-Identifier: Apache-2.0
//! Which packets a node sends, and when.

use isthmus_sim::kernel::RandomStream;

use super::scenario::{TorusPattern, TorusScenario};

/// Coordinates of node `number`.
pub(super) fn place(nodes: [usize; 3], number: usize) -> [usize; 3] {
    let [x, y, _] = nodes;
    [number % x, number / x % y, number / x / y]
}

/// The node at a place.
pub(super) fn number(nodes: [usize; 3], at: [usize; 3]) -> usize {
    at[0] + nodes[0] * (at[1] + nodes[1] * at[2])
}

/// As `place_t` of the gateware: 5 bits a coordinate, x lowest.
pub(super) fn coordinates(at: [usize; 3]) -> u64 {
    at.iter().rev().fold(0, |word, coordinate| word << 5 | *coordinate as u64)
}

/// Links that the shortest way takes.
pub(super) fn hops(nodes: [usize; 3], from: [usize; 3], to: [usize; 3]) -> u64 {
    let ring = |d: usize| {
        let steps = (to[d] + nodes[d] - from[d]) % nodes[d];
        steps.min(nodes[d] - steps) as u64
    };
    (0..3).map(ring).sum()
}

/// The way of a packet: each node that it leaves, and by which link. Even links lead to the next node of a
/// dimension, odd ones to the one before.
pub(super) fn way(nodes: [usize; 3], from: usize, to: usize) -> Vec<(usize, usize)> {
    let (mut at, to) = (place(nodes, from), place(nodes, to));
    let mut found = Vec::new();
    for d in 0..3 {
        let steps = (to[d] + nodes[d] - at[d]) % nodes[d];
        // Halfway round, the sum of the coordinates decides.
        let even = at.iter().sum::<usize>().is_multiple_of(2);
        let plus = 2 * steps < nodes[d] || (2 * steps == nodes[d] && even);
        while at[d] != to[d] {
            found.push((number(nodes, at), 2 * d + usize::from(!plus)));
            at[d] = (at[d] + if plus { 1 } else { nodes[d] - 1 }) % nodes[d];
        }
    }
    found
}

/// The packets of one node.
pub(super) struct Packets {
    nodes: [usize; 3],
    own: usize,
    pattern: TorusPattern,
    /// Mean clocks from packet to packet; none: one always waits.
    gap: Option<f64>,
    next: f64,
    random: RandomStream,
}

impl Packets {
    pub(super) fn new(scenario: &TorusScenario, own: usize) -> Self {
        let workload = &scenario.workload;
        let silent = workload.pattern == TorusPattern::Single && own != 0;
        let gap = workload.load.map(|load| scenario.flits() as f64 / load);
        let mut made = Self {
            nodes: workload.nodes,
            own,
            pattern: workload.pattern,
            gap: if silent { Some(f64::INFINITY) } else { gap },
            next: 0.0,
            random: RandomStream::new(scenario.seed, &format!("torus node {own}")),
        };
        made.advance();
        made
    }

    fn advance(&mut self) {
        if let Some(gap) = self.gap {
            self.next += if gap.is_finite() { self.random.exponential(gap) } else { f64::INFINITY };
        }
    }

    /// The next packet that is due by `clock`, its clock and its destination; where one always waits, only
    /// if none does.
    pub(super) fn due(&mut self, clock: u64, waiting: bool) -> Option<(u64, usize)> {
        let created = match self.gap {
            None if waiting => return None,
            None => clock,
            Some(_) if self.next > clock as f64 => return None,
            Some(_) => self.next as u64,
        };
        self.advance();
        Some((created, self.destination()))
    }

    fn destination(&mut self) -> usize {
        let at = place(self.nodes, self.own);
        match self.pattern {
            TorusPattern::Uniform => {
                let all: usize = self.nodes.iter().product();
                let other = self.random.below(all as u64 - 1) as usize;
                other + usize::from(other >= self.own)
            }
            TorusPattern::Opposite => {
                let half = std::array::from_fn(|d| (at[d] + self.nodes[d] / 2) % self.nodes[d]);
                number(self.nodes, half)
            }
            TorusPattern::Neighbour | TorusPattern::Single => {
                number(self.nodes, [(at[0] + 1) % self.nodes[0], at[1], at[2]])
            }
        }
    }
}
