// SPDX-License-Identifier: Apache-2.0

use super::traffic::{coordinates, hops, number, place};

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
fn the_shortest_way_goes_round_a_ring() {
    assert_eq!(hops(NODES, [0, 0, 0], [3, 2, 1]), 3);
    assert_eq!(hops(NODES, [0, 0, 0], [2, 0, 0]), 2);
    assert_eq!(hops(NODES, [1, 1, 1], [1, 1, 1]), 0);
}
