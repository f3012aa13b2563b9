// SPDX-License-Identifier: Apache-2.0
//! The home of an agent with a cache: a directory of the lines that the FPGA has.
//!
//! It takes the home's steps of `rtl/coherence/protocol.toml`, for a home whose processors keep no copy of their own
//! beyond memory: a load or store of the host takes effect in memory, after the FPGA has given the line up or shared
//! it. So a home that the table has in I has memory alone, and one in S memory with the line's content.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use isthmus_host::coherent::protocol::{
    Core, Directory as State, Home, Message, Phase, RequestDoes, ResponseDoes, core_step,
    request_step, response_step,
};

/// What waits at the home for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// A request of the FPGA, with its id.
    Fpga(Message, u64),
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
    /// Answers a request.
    Grant {
        /// The request's id.
        id: u64,
        /// Without the line where it is PACK.
        answer: Message,
    },
    /// Sends a forward: the line must be given up, or shared.
    Forward(Message),
    /// A host's access takes effect.
    Host(u64),
}

/// The transaction that is open on a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Open {
    #[default]
    None,
    /// Waits for the acknowledgement of a grant.
    Grant,
    /// A host's access waits for the answer of a forward, and perhaps for a victim.
    Forward { store: bool, access: u64, answered: bool, victim: bool, needs_victim: bool },
}

impl Open {
    const fn phase(self) -> Phase {
        match self {
            Self::None => Phase::Idle,
            Self::Grant => Phase::Grant,
            Self::Forward { .. } => Phase::Forward,
        }
    }
}

#[derive(Debug)]
struct Line {
    /// What the FPGA has of it, as the home knows.
    fpga: State,
    /// I, or S: memory has the line's content.
    home: Home,
    open: Open,
    /// One turn each: the FPGA's requests and the host's accesses alternate.
    requests: VecDeque<(Message, u64)>,
    accesses: VecDeque<(bool, u64)>,
    host_next: bool,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            fpga: State::I,
            home: Home::I,
            open: Open::None,
            requests: VecDeque::new(),
            accesses: VecDeque::new(),
            host_next: false,
        }
    }
}

/// Lines that the FPGA has, or had.
#[derive(Debug, Default)]
pub(super) struct Directory {
    lines: BTreeMap<u64, Line>,
}

/// What is done now. `Err`: the protocol has no such step here.
type Steps = Result<Vec<Action>, &'static str>;

impl Directory {
    /// A request or an access.
    pub(super) fn ask(&mut self, line: u64, what: Waiting) -> Steps {
        let state = self.lines.entry(line).or_default();
        match what {
            Waiting::Fpga(request, id) => state.requests.push_back((request, id)),
            Waiting::Host { store, access } => state.accesses.push_back((store, access)),
        }
        state.proceed()
    }

    /// A response of the FPGA.
    pub(super) fn respond(&mut self, line: u64, response: Message) -> Steps {
        let state = self.lines.entry(line).or_default();
        let mut done = Vec::new();
        done.extend(state.take(response)?.map(Action::Host));
        done.extend(state.proceed()?);
        Ok(done)
    }

    /// The FPGA is gone with its cache. The host's accesses that wait, with their lines: the home has them all now.
    pub(super) fn lose(&mut self) -> Vec<(u64, u64)> {
        let mut waiting = Vec::new();
        for (number, line) in std::mem::take(&mut self.lines) {
            if let Open::Forward { access, .. } = line.open {
                waiting.push((number, access));
            }
            waiting.extend(line.accesses.iter().map(|(_, access)| (number, *access)));
        }
        waiting
    }

    /// Nothing is open or waits.
    pub(super) fn is_idle(&self) -> bool {
        self.lines.values().all(|line| {
            line.open == Open::None && line.requests.is_empty() && line.accesses.is_empty()
        })
    }

    /// Lines of a range that the FPGA has, or asks for.
    pub(super) fn held(&self, lines: &Range<u64>) -> Vec<u64> {
        let some = self.lines.range(lines.clone());
        let held = some.filter(|(_, one)| one.fpga != State::I || !one.requests.is_empty());
        held.map(|(line, _)| *line).collect()
    }

    /// The FPGA may have changed the line.
    pub(super) fn is_away(&self, line: u64) -> bool {
        self.lines
            .get(&line)
            .is_some_and(|one| one.home != Home::S && matches!(one.fpga, State::E | State::O))
    }
}

impl Line {
    /// A response; the host's access that it ends.
    fn take(&mut self, response: Message) -> Result<Option<u64>, &'static str> {
        let evicts = matches!(response, Message::Vicd | Message::Vicc | Message::Vics);
        if evicts && self.fpga == State::I {
            return Err("a victim of a line that the FPGA does not have");
        }
        let seen = matches!(self.open, Open::Forward { victim: true, .. });
        let Some((does, fpga)) = response_step(self.open.phase(), response, self.fpga, seen) else {
            return Err(match self.open {
                _ if response == Message::Gack => "an acknowledgement of no grant",
                Open::Forward { .. } => "a response that no forward has",
                Open::None | Open::Grant => "an answer to no forward",
            });
        };
        self.fpga = fpga;
        if fpga == State::I {
            self.home = Home::I;
        }
        if does == ResponseDoes::Free {
            self.open = Open::None;
        }
        let Open::Forward { store, access, answered, victim, needs_victim } = &mut self.open else {
            return Ok(None);
        };
        match does {
            ResponseDoes::Victim => *victim = true,
            ResponseDoes::Heard | ResponseDoes::HeardBeforeVictim => {
                if std::mem::replace(answered, true) {
                    return Err("a second answer to a forward");
                }
                *needs_victim = does == ResponseDoes::HeardBeforeVictim;
            }
            ResponseDoes::Nothing | ResponseDoes::Free => {}
        }
        if !*answered || *needs_victim && !*victim {
            return Ok(None);
        }
        let (store, access) = (*store, *access);
        self.open = Open::None;
        if !store && self.fpga != State::I {
            self.home = Home::S;
        }
        Ok(Some(access))
    }

    /// Takes what waits, as far as the line allows.
    fn proceed(&mut self) -> Steps {
        let mut done = Vec::new();
        while self.open == Open::None {
            let request = match self.requests.front() {
                Some((request, _)) => {
                    let step = request_step(self.fpga, self.home, *request);
                    Some(step.ok_or("a request that the FPGA's copy does not allow")?)
                }
                None => None,
            };
            // A request for a line that the FPGA has waits for the victim in flight.
            let ready = request.filter(|(does, ..)| *does != RequestDoes::Hold);
            if !self.accesses.is_empty() && (self.host_next || ready.is_none()) {
                let Some((store, access)) = self.accesses.pop_front() else { break };
                self.host_next = false;
                done.push(self.host(store, access)?);
            } else if let Some((does, home, fpga)) = ready {
                let Some((_, id)) = self.requests.pop_front() else { break };
                self.host_next = true;
                let RequestDoes::Grant(answer) = does else {
                    return Err("a request of an agent without a cache");
                };
                (self.home, self.fpga, self.open) = (home, fpga, Open::Grant);
                done.push(Action::Grant { id, answer });
            } else {
                break;
            }
        }
        Ok(done)
    }

    /// A host's access takes its turn.
    fn host(&mut self, store: bool, access: u64) -> Result<Action, &'static str> {
        let core = if store { Core::Store } else { Core::Load };
        let forward = if !store && self.home == Home::S {
            None
        } else {
            let step = core_step(core, self.fpga, self.home);
            step.ok_or("an access that the table does not have")?.0
        };
        let Some(forward) = forward else { return Ok(Action::Host(access)) };
        self.open =
            Open::Forward { store, access, answered: false, victim: false, needs_victim: false };
        Ok(Action::Forward(forward))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST_LOAD: Waiting = Waiting::Host { store: false, access: 7 };
    const HOST_STORE: Waiting = Waiting::Host { store: true, access: 8 };

    fn owned() -> Directory {
        let mut directory = Directory::default();
        let grant = directory.ask(5, Waiting::Fpga(Message::Rldx, 3)).unwrap();
        assert_eq!(grant, [Action::Grant { id: 3, answer: Message::Pemd }]);
        assert!(directory.respond(5, Message::Gack).unwrap().is_empty());
        directory
    }

    #[test]
    fn one_transaction_a_line_and_other_lines_beside_it() {
        let mut directory = Directory::default();
        assert_eq!(directory.ask(5, Waiting::Fpga(Message::Rlds, 1)).unwrap().len(), 1);
        assert!(directory.ask(5, HOST_STORE).unwrap().is_empty());
        assert_eq!(directory.ask(6, HOST_STORE).unwrap(), [Action::Host(8)]);
        let forward = directory.respond(5, Message::Gack).unwrap();
        assert_eq!(forward, [Action::Forward(Message::Finv)]);
        assert!(!directory.is_idle());
        assert_eq!(directory.respond(5, Message::Haki).unwrap(), [Action::Host(8)]);
        assert!(directory.is_idle() && !directory.is_away(5));
        assert!(directory.held(&(0..9)).is_empty());
    }

    #[test]
    fn a_load_of_the_host_leaves_the_owner_its_line_and_an_upgrade_needs_no_data() {
        let mut directory = owned();
        assert!(directory.is_away(5));
        assert_eq!(directory.ask(5, HOST_LOAD).unwrap(), [Action::Forward(Message::Fshr)]);
        assert_eq!(directory.respond(5, Message::Hako).unwrap(), [Action::Host(7)]);
        assert!(!directory.is_away(5));
        assert_eq!(directory.ask(5, HOST_LOAD).unwrap(), [Action::Host(7)]);
        assert_eq!(directory.held(&(4..6)), [5]);
        assert!(directory.held(&(6..9)).is_empty());
        let upgrade = directory.ask(5, Waiting::Fpga(Message::Rupg, 4)).unwrap();
        assert_eq!(upgrade, [Action::Grant { id: 4, answer: Message::Pack }]);
        assert!(directory.is_away(5));
    }

    #[test]
    fn a_victim_in_flight_is_waited_for() {
        let mut directory = owned();
        // The request has passed the victim.
        assert!(directory.ask(5, Waiting::Fpga(Message::Rlds, 9)).unwrap().is_empty());
        let grant = directory.respond(5, Message::Vicd).unwrap();
        assert_eq!(grant, [Action::Grant { id: 9, answer: Message::Pemd }]);
        // So has the answer of a forward.
        let mut directory = owned();
        directory.ask(5, HOST_STORE).unwrap();
        assert!(directory.respond(5, Message::Hakv).unwrap().is_empty());
        assert_eq!(directory.respond(5, Message::Vicd).unwrap(), [Action::Host(8)]);
        // A victim that passed an answer: the FPGA has nothing.
        let mut directory = owned();
        directory.ask(5, HOST_LOAD).unwrap();
        directory.respond(5, Message::Vicd).unwrap();
        assert_eq!(directory.respond(5, Message::Hako).unwrap(), [Action::Host(7)]);
        assert_eq!(directory.ask(5, HOST_STORE).unwrap(), [Action::Host(8)]);
    }

    #[test]
    fn a_cache_that_is_gone_has_no_line_and_the_host_waits_no_more() {
        let mut directory = owned();
        assert_eq!(directory.ask(5, HOST_STORE).unwrap(), [Action::Forward(Message::Finv)]);
        assert!(directory.ask(5, HOST_LOAD).unwrap().is_empty());
        assert!(directory.ask(5, Waiting::Fpga(Message::Rlds, 9)).unwrap().is_empty());
        assert_eq!(directory.lose(), [(5, 8), (5, 7)]);
        assert!(directory.is_idle() && !directory.is_away(5));
        assert_eq!(directory.ask(5, HOST_STORE).unwrap(), [Action::Host(8)]);
    }

    #[test]
    fn what_the_protocol_does_not_have_is_refused() {
        let mut directory = Directory::default();
        for response in [Message::Gack, Message::Vicd, Message::Haki] {
            assert!(directory.respond(1, response).is_err(), "{response:?}");
        }
        assert!(owned().respond(5, Message::Gack).is_err());
        // A line that the FPGA has alone needs no upgrade, and one that it does not have is not answered twice.
        assert!(owned().ask(5, Waiting::Fpga(Message::Rupg, 1)).is_err());
        assert!(owned().ask(5, Waiting::Fpga(Message::Fshr, 1)).is_err());
        let mut twice = owned();
        twice.ask(5, HOST_STORE).unwrap();
        assert!(twice.respond(5, Message::Hakv).unwrap().is_empty());
        assert!(twice.respond(5, Message::Hakv).is_err());
        // An agent with a cache sends no uncached request.
        assert!(directory.ask(1, Waiting::Fpga(Message::Rldi, 1)).is_err());
    }
}
