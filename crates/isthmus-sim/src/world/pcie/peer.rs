// SPDX-License-Identifier: Apache-2.0
//! Peer to peer: a root complex passes a device's requests to another device's BAR.
//!
//! A request for the BAR of a peer leaves by the peer's root port, behind all posted writes that came before it; the
//! completions of a read come back the same way, cut as the peer cut them. The root complex's own room is not
//! limited, so a peer's link must not be slower.

use std::rc::Rc;

use super::lane::{Body, Tlp};
use super::link::{Pcie, Shared};
use super::wire::Direction;
use crate::kernel::{FrameId, SimError, oneshot};
use crate::world::config_error;

/// A read of another link's device.
pub(super) struct Passed {
    from: Rc<Shared>,
    request: FrameId,
    tag: u32,
    address: u64,
    missing: usize,
}

impl Pcie {
    /// Lets this link's device reach the BAR of another one behind the same root complex.
    ///
    /// # Errors
    /// When the BAR overlaps the host memory or that of another peer, or the peer's link is slower.
    pub fn reach(&self, peer: &Self) -> Result<(), SimError> {
        let rate = |link: &Shared| {
            let config = &link.config;
            config.generation.lane_bit_s() * f64::from(config.lanes) * (1.0 - config.reserved_share)
        };
        if rate(&peer.0) < rate(&self.0) {
            let (name, slow) = (&self.0.config.name, &peer.0.config.name);
            let reason = format!("the link of its peer, {slow}, is slower: not modelled");
            return Err(config_error(name, reason));
        }
        self.reach_slowly(peer)
    }

    /// The same of a peer whose link may be slower, for writes that are few.
    ///
    /// # Errors
    /// When the BAR overlaps the host memory or that of another peer.
    pub(in crate::world) fn reach_slowly(&self, peer: &Self) -> Result<(), SimError> {
        let refuse = |reason| Err(config_error(&self.0.config.name, reason));
        let window = |link: &Shared| {
            let endpoint = &link.config.endpoint;
            (endpoint.bar_base, endpoint.bar_base + endpoint.bar_bytes)
        };
        let (first, end) = window(&peer.0);
        let base = self.0.config.root.memory_base;
        let mut taken = vec![(base, base + self.0.root.memory.size() as u64), window(&self.0)];
        taken.extend(self.0.root.peers.borrow().iter().map(|peer| window(peer)));
        if let Some((begin, _)) = taken.iter().find(|(begin, last)| first < *last && *begin < end) {
            return refuse(format!(
                "a peer's BAR at {first:#x} overlaps what begins at {begin:#x}"
            ));
        }
        self.0.root.peers.borrow_mut().push(Rc::clone(&peer.0));
        Ok(())
    }

    /// The root complex reads the first bytes of BAR 0; ends with the answer. It is behind all posted writes that were
    /// passed before, and costs no processor time.
    pub(in crate::world) async fn probe_bar(&self) {
        let (sender, receiver) = oneshot();
        self.0.load(0, 4, sender);
        receiver.recv().await;
    }
}

impl Shared {
    /// The link whose BAR holds this range, beside this one.
    pub(super) fn peer_at(&self, address: u64, bytes: usize) -> Option<Rc<Self>> {
        let peers = self.root.peers.borrow();
        let holds = |peer: &&Rc<Self>| {
            let endpoint = &peer.config.endpoint;
            let at = address.checked_sub(endpoint.bar_base);
            at.and_then(|at| at.checked_add(bytes as u64))
                .is_some_and(|end| end <= endpoint.bar_bytes)
        };
        peers.iter().find(holds).cloned()
    }

    /// The link to which a request of the device is passed.
    pub(super) fn peer(&self, tlp: &Tlp) -> Option<Rc<Self>> {
        match &tlp.body {
            Body::Write(data) => self.peer_at(tlp.address, data.len()),
            Body::Read { bytes, .. } => self.peer_at(tlp.address, *bytes),
            Body::Interrupt(_) | Body::Completion { .. } => None,
        }
    }

    /// Passes a request on.
    pub(super) fn pass(self: &Rc<Self>, peer: &Rc<Self>, tlp: Tlp) {
        let Tlp { id: request, address, body } = tlp;
        match body {
            Body::Write(data) => {
                peer.write(Direction::Down, address, &data);
            }
            Body::Read { bytes, tag } => {
                let id = self.sim.new_frame_id();
                let from = Rc::clone(self);
                let passed = Passed { from, request, tag, address, missing: bytes };
                peer.root.passed.borrow_mut().insert(id.0, passed);
                // Its completions find it by its number.
                let body = Body::Read { bytes, tag: 0 };
                peer.send(Direction::Down, Tlp { id, address, body });
            }
            Body::Interrupt(_) | Body::Completion { .. } => {}
        }
    }

    /// Passes a completion back to the link that its request came from; gives the data where it came from none.
    pub(super) fn pass_back(
        self: &Rc<Self>,
        request: FrameId,
        offset: usize,
        data: Option<Vec<u8>>,
        poisoned: bool,
    ) -> Option<Option<Vec<u8>>> {
        let mut all = self.root.passed.borrow_mut();
        let Some(passed) = all.get_mut(&request.0) else { return Some(data) };
        let length = data.as_ref().map_or(passed.missing, Vec::len);
        passed.missing = passed.missing.saturating_sub(length);
        let from = Rc::clone(&passed.from);
        let body =
            Body::Completion { request: passed.request, tag: passed.tag, offset, data, poisoned };
        let address = passed.address + offset as u64;
        if passed.missing == 0 {
            all.remove(&request.0);
        }
        drop(all);
        from.send(Direction::Down, Tlp { id: self.sim.new_frame_id(), address, body });
        None
    }
}
