// SPDX-License-Identifier: Apache-2.0

use super::traffic::{coordinates, hops, number, place, way};

const NODES: [usize; 3] = [4, 3, 2];

#[test]
fn places_and_numbers_are_inverse_and_fit_the_gateware() {
    for node in 0..24 {
        assert_eq!(number(NODES, place(NODES, node)), node);
    }
    assert_eq!(place(NODES, 1 + 4 * (2 + 3)), [1, 2, 1]);
    assert_eq!(coordinates([1, 2, 3]), 1 | 2 << 5 | 3 << 10);
}

#[test]
fn a_way_has_as_many_links_as_the_shortest_and_halfway_the_parity_decides() {
    for (from, to) in (0..24).flat_map(|from| (0..24).map(move |to| (from, to))) {
        let links = way(NODES, from, to).len() as u64;
        assert_eq!(links, hops(NODES, place(NODES, from), place(NODES, to)));
    }
    assert_eq!(way(NODES, 0, 2), [(0, 0), (1, 0)]);
    assert_eq!(way(NODES, 1, 3), [(1, 1), (0, 1)]);
    assert_eq!(way(NODES, 0, 12), [(0, 4)]);
}

#[test]
fn the_shortest_way_goes_round_a_ring() {
    assert_eq!(hops(NODES, [0, 0, 0], [3, 2, 1]), 3);
    assert_eq!(hops(NODES, [0, 0, 0], [2, 0, 0]), 2);
    assert_eq!(hops(NODES, [1, 1, 1], [1, 1, 1]), 0);
}
