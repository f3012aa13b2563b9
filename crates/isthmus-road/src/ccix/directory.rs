// SPDX-License-Identifier: Apache-2.0
//! The home of an agent with a cache: a directory of the lines that the FPGA has.
//!
//! It is the home's side of `rtl/coherence/protocol.toml` for a home whose processors keep no copy of their own beyond
//! memory: a load or store of the host takes effect in memory, after the FPGA has given the line up or shared it.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// What the FPGA has of a line, as the home knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Remote {
    #[default]
    Invalid,
    Shared,
    /// Exclusive or modified.
    Exclusive,
    Owned,
}

/// A request of the FPGA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Shared, or better.
    Load,
    /// For a store.
    LoadExclusive,
    /// Of a shared or owned copy.
    Upgrade,
}

/// A response of the FPGA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Response {
    /// Evicted: VICD, VICC or VICS.
    Victim,
    /// Given up: HAKD or HAKI.
    GivenUp,
    /// Shared, and it stays the owner: HAKO.
    StaysOwner,
    /// Shared, was clean: HAKS.
    Shares,
    /// Has no copy: HAKV.
    HasNone,
    /// The answer has arrived: GACK.
    Granted,
}

/// What waits at the home for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// A request of the FPGA, with its id.
    Fpga(Request, u64),
    /// A host's access, with its number.
    Host {
        /// It stores.
        store: bool,
        /// Whose.
        access: u64,
    },
}

/// What the home does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Answers a request with the line, exclusive; or, of an upgrade, without.
    Grant {
        /// The request's id.
        id: u64,
        /// With the line.
        data: bool,
    },
    /// Sends a forward: the line must be given up, or shared.
    Forward {
        /// Given up.
        invalidate: bool,
    },
    /// A host's access takes effect.
    Host(u64),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    /// Waits for the acknowledgement of a grant.
    Grant,
    /// A host's access waits for the answer of a forward, and perhaps for a victim.
    Forward { access: u64, answered: bool, victim: bool, needs_victim: bool },
}

#[derive(Debug, Default)]
struct Line {
    remote: Remote,
    /// Memory has the line's content although the FPGA is its owner.
    current: bool,
    phase: Phase,
    /// One turn each: the FPGA's requests and the host's accesses alternate.
    fpga: VecDeque<(Request, u64)>,
    host: VecDeque<(bool, u64)>,
    host_next: bool,
}

/// Lines that the FPGA has, or had.
#[derive(Debug, Default)]
pub(super) struct Directory {
    lines: BTreeMap<u64, Line>,
}

impl Directory {
    /// A request or an access; what is done at once.
    pub(super) fn ask(&mut self, line: u64, what: Waiting) -> Vec<Action> {
        let state = self.lines.entry(line).or_default();
        match what {
            Waiting::Fpga(request, id) => state.fpga.push_back((request, id)),
            Waiting::Host { store, access } => state.host.push_back((store, access)),
        }
        state.proceed()
    }

    /// A response of the FPGA; what is done now. `Err`: the protocol has no such response here.
    pub(super) fn respond(
        &mut self,
        line: u64,
        response: Response,
    ) -> Result<Vec<Action>, &'static str> {
        let state = self.lines.entry(line).or_default();
        let mut done = state.take(response)?;
        done.extend(state.proceed());
        Ok(done)
    }

    /// The FPGA is gone with its cache. The host's accesses that wait, with their lines: the home has them all now.
    pub(super) fn lose(&mut self) -> Vec<(u64, u64)> {
        let mut waiting = Vec::new();
        for (number, line) in std::mem::take(&mut self.lines) {
            if let Phase::Forward { access, .. } = line.phase {
                waiting.push((number, access));
            }
            waiting.extend(line.host.iter().map(|(_, access)| (number, *access)));
        }
        waiting
    }

    /// Nothing is open or waits.
    pub(super) fn is_idle(&self) -> bool {
        self.lines
            .values()
            .all(|line| line.phase == Phase::Idle && line.fpga.is_empty() && line.host.is_empty())
    }

    /// Lines of a range that the FPGA has, or asks for.
    pub(super) fn held(&self, lines: &Range<u64>) -> Vec<u64> {
        let some = self.lines.range(lines.clone());
        let held = some.filter(|(_, one)| one.remote != Remote::Invalid || !one.fpga.is_empty());
        held.map(|(line, _)| *line).collect()
    }

    /// The FPGA may have changed the line.
    pub(super) fn is_away(&self, line: u64) -> bool {
        self.lines.get(&line).is_some_and(|one| {
            one.remote == Remote::Exclusive || one.remote == Remote::Owned && !one.current
        })
    }
}

impl Line {
    fn take(&mut self, response: Response) -> Result<Vec<Action>, &'static str> {
        if response == Response::Granted {
            if self.phase != Phase::Grant {
                return Err("an acknowledgement of no grant");
            }
            self.phase = Phase::Idle;
            return Ok(Vec::new());
        }
        if response == Response::Victim {
            if self.remote == Remote::Invalid {
                return Err("a victim of a line that the FPGA does not have");
            }
            self.remote = Remote::Invalid;
        }
        let Phase::Forward { access, answered, victim, needs_victim } = &mut self.phase else {
            return if response == Response::Victim {
                Ok(Vec::new())
            } else {
                Err("an answer to no forward")
            };
        };
        match response {
            Response::Victim => *victim = true,
            _ if *answered => return Err("a second answer to a forward"),
            Response::HasNone => {
                *answered = true;
                *needs_victim = true;
            }
            Response::GivenUp => {
                *answered = true;
                self.remote = Remote::Invalid;
            }
            // A victim may have passed it.
            Response::StaysOwner | Response::Shares => {
                *answered = true;
                if !*victim {
                    self.remote = match response {
                        Response::Shares => Remote::Shared,
                        _ => Remote::Owned,
                    };
                    self.current = true;
                }
            }
            Response::Granted => {}
        }
        if *answered && (*victim || !*needs_victim) {
            let access = *access;
            self.phase = Phase::Idle;
            return Ok(vec![Action::Host(access)]);
        }
        Ok(Vec::new())
    }

    /// Takes what waits, as far as the line allows.
    fn proceed(&mut self) -> Vec<Action> {
        let mut done = Vec::new();
        while self.phase == Phase::Idle {
            // A request for a line that the FPGA has waits for the victim in flight.
            let ready = self.fpga.front().is_some_and(|(request, _)| {
                self.remote == Remote::Invalid
                    || *request == Request::Upgrade && self.remote != Remote::Exclusive
            });
            let host = !self.host.is_empty() && (self.host_next || !ready);
            if host {
                let Some((store, access)) = self.host.pop_front() else { break };
                self.host_next = false;
                let here = match self.remote {
                    Remote::Invalid => true,
                    Remote::Shared => !store,
                    Remote::Owned => !store && self.current,
                    Remote::Exclusive => false,
                };
                if here {
                    done.push(Action::Host(access));
                } else {
                    self.phase = Phase::Forward {
                        access,
                        answered: false,
                        victim: false,
                        needs_victim: false,
                    };
                    done.push(Action::Forward { invalidate: store });
                }
            } else if ready {
                let Some((request, id)) = self.fpga.pop_front() else { break };
                self.host_next = true;
                let data = request != Request::Upgrade || self.remote == Remote::Invalid;
                self.remote = Remote::Exclusive;
                self.current = false;
                self.phase = Phase::Grant;
                done.push(Action::Grant { id, data });
            } else {
                break;
            }
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST_LOAD: Waiting = Waiting::Host { store: false, access: 7 };
    const HOST_STORE: Waiting = Waiting::Host { store: true, access: 8 };

    fn owned() -> Directory {
        let mut directory = Directory::default();
        let grant = directory.ask(5, Waiting::Fpga(Request::LoadExclusive, 3));
        assert_eq!(grant, [Action::Grant { id: 3, data: true }]);
        assert!(directory.respond(5, Response::Granted).unwrap().is_empty());
        directory
    }

    #[test]
    fn one_transaction_a_line_and_other_lines_beside_it() {
        let mut directory = Directory::default();
        assert_eq!(directory.ask(5, Waiting::Fpga(Request::Load, 1)).len(), 1);
        assert!(directory.ask(5, HOST_STORE).is_empty());
        assert_eq!(directory.ask(6, HOST_STORE), [Action::Host(8)]);
        let forward = directory.respond(5, Response::Granted).unwrap();
        assert_eq!(forward, [Action::Forward { invalidate: true }]);
        assert!(!directory.is_idle());
        assert_eq!(directory.respond(5, Response::GivenUp).unwrap(), [Action::Host(8)]);
        assert!(directory.is_idle() && !directory.is_away(5));
        assert!(directory.held(&(0..9)).is_empty());
    }

    #[test]
    fn a_load_of_the_host_leaves_the_owner_its_line_and_an_upgrade_needs_no_data() {
        let mut directory = owned();
        assert!(directory.is_away(5));
        assert_eq!(directory.ask(5, HOST_LOAD), [Action::Forward { invalidate: false }]);
        assert_eq!(directory.respond(5, Response::StaysOwner).unwrap(), [Action::Host(7)]);
        assert!(!directory.is_away(5));
        assert_eq!(directory.ask(5, HOST_LOAD), [Action::Host(7)]);
        assert_eq!(directory.held(&(4..6)), [5]);
        assert!(directory.held(&(6..9)).is_empty());
        let upgrade = directory.ask(5, Waiting::Fpga(Request::Upgrade, 4));
        assert_eq!(upgrade, [Action::Grant { id: 4, data: false }]);
        assert!(directory.is_away(5));
    }

    #[test]
    fn a_victim_in_flight_is_waited_for() {
        let mut directory = owned();
        // The request has passed the victim.
        assert!(directory.ask(5, Waiting::Fpga(Request::Load, 9)).is_empty());
        let grant = directory.respond(5, Response::Victim).unwrap();
        assert_eq!(grant, [Action::Grant { id: 9, data: true }]);
        // So has the answer of a forward.
        let mut directory = owned();
        directory.ask(5, HOST_STORE);
        assert!(directory.respond(5, Response::HasNone).unwrap().is_empty());
        assert_eq!(directory.respond(5, Response::Victim).unwrap(), [Action::Host(8)]);
        // A victim that passed an answer: the FPGA has nothing.
        let mut directory = owned();
        directory.ask(5, HOST_LOAD);
        directory.respond(5, Response::Victim).unwrap();
        assert_eq!(directory.respond(5, Response::StaysOwner).unwrap(), [Action::Host(7)]);
        assert_eq!(directory.ask(5, HOST_STORE), [Action::Host(8)]);
    }

    #[test]
    fn a_cache_that_is_gone_has_no_line_and_the_host_waits_no_more() {
        let mut directory = owned();
        assert_eq!(directory.ask(5, HOST_STORE), [Action::Forward { invalidate: true }]);
        assert!(directory.ask(5, HOST_LOAD).is_empty());
        assert!(directory.ask(5, Waiting::Fpga(Request::Load, 9)).is_empty());
        assert_eq!(directory.lose(), [(5, 8), (5, 7)]);
        assert!(directory.is_idle() && !directory.is_away(5));
        assert_eq!(directory.ask(5, HOST_STORE), [Action::Host(8)]);
    }

    #[test]
    fn what_the_protocol_does_not_have_is_refused() {
        let mut directory = Directory::default();
        for response in [Response::Granted, Response::Victim, Response::GivenUp] {
            assert!(directory.respond(1, response).is_err(), "{response:?}");
        }
        assert!(owned().respond(5, Response::Granted).is_err());
    }
}
