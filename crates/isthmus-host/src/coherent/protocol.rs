// SPDX-License-Identifier: Apache-2.0
// Generated from rtl/coherence/protocol.toml by python/isthmus/coherence.py: change those, not this.
//! Messages of the coherence protocol, the states of a line as a tracer in the gateware has them, and what
//! a home does: the same table as the gateware's.

/// Circuits of messages about lines.
pub const LINE_CIRCUITS: std::ops::RangeInclusive<u8> = 2..=11;

/// A message about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Message {
    /// Load, shared or better.
    Rlds,
    /// Uncached load.
    Rldi,
    /// Load for a store.
    Rldx,
    /// Upgrade of a shared or owned copy.
    Rupg,
    /// Uncached atomic: add 1.
    Rinc,
    /// Uncached atomic: subtract 1.
    Rdec,
    /// Uncached store of a whole line.
    Rstt,
    /// Uncached store of the bytes of a mask.
    Rstp,
    /// Uncached atomic: expected and new value.
    Rcas,
    /// Share the line.
    Fshr,
    /// Give the line up.
    Finv,
    /// Answer: shared.
    Psha,
    /// Answer: exclusive, dirty where its header says so.
    Pemd,
    /// Answer of an uncached load.
    Pdat,
    /// Answer of an atomic: the old value.
    Patm,
    /// Answer without data.
    Pack,
    /// Evicted, dirty.
    Vicd,
    /// Given up, dirty.
    Hakd,
    /// Shared, stays owner.
    Hako,
    /// Evicted, exclusive and clean.
    Vicc,
    /// Evicted, shared.
    Vics,
    /// Given up, clean.
    Haki,
    /// Shared, was exclusive and clean.
    Haks,
    /// Has no copy: a victim is in flight, or was.
    Hakv,
    /// Grant acknowledged.
    Gack,
}

impl Message {
    /// The message of a code on a circuit. None of what the protocol does not have.
    #[must_use]
    pub const fn of(circuit: u8, code: u8) -> Option<Self> {
        match (circuit & !1, code) {
            (6, 0) => Some(Self::Rlds),
            (6, 1) => Some(Self::Rldi),
            (6, 5) => Some(Self::Rldx),
            (6, 6) => Some(Self::Rupg),
            (6, 14) => Some(Self::Rinc),
            (6, 15) => Some(Self::Rdec),
            (2, 8) => Some(Self::Rstt),
            (2, 10) => Some(Self::Rstp),
            (2, 19) => Some(Self::Rcas),
            (8, 0) => Some(Self::Fshr),
            (8, 13) => Some(Self::Finv),
            (4, 9) => Some(Self::Psha),
            (4, 10) => Some(Self::Pemd),
            (4, 8) => Some(Self::Pdat),
            (4, 11) => Some(Self::Patm),
            (10, 12) => Some(Self::Pack),
            (4, 0) => Some(Self::Vicd),
            (4, 4) => Some(Self::Hakd),
            (4, 5) => Some(Self::Hako),
            (10, 1) => Some(Self::Vicc),
            (10, 2) => Some(Self::Vics),
            (10, 6) => Some(Self::Haki),
            (10, 7) => Some(Self::Haks),
            (10, 8) => Some(Self::Hakv),
            (10, 15) => Some(Self::Gack),
            _ => None,
        }
    }

    /// Its name in the protocol's table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rlds => "RLDS",
            Self::Rldi => "RLDI",
            Self::Rldx => "RLDX",
            Self::Rupg => "RUPG",
            Self::Rinc => "RINC",
            Self::Rdec => "RDEC",
            Self::Rstt => "RSTT",
            Self::Rstp => "RSTP",
            Self::Rcas => "RCAS",
            Self::Fshr => "FSHR",
            Self::Finv => "FINV",
            Self::Psha => "PSHA",
            Self::Pemd => "PEMD",
            Self::Pdat => "PDAT",
            Self::Patm => "PATM",
            Self::Pack => "PACK",
            Self::Vicd => "VICD",
            Self::Hakd => "HAKD",
            Self::Hako => "HAKO",
            Self::Vicc => "VICC",
            Self::Vics => "VICS",
            Self::Haki => "HAKI",
            Self::Haks => "HAKS",
            Self::Hakv => "HAKV",
            Self::Gack => "GACK",
        }
    }

    /// Whether the home of the line sends it, and not the end with the cache.
    #[must_use]
    pub const fn from_home(self) -> bool {
        matches!(
            self,
            Self::Fshr
                | Self::Finv
                | Self::Psha
                | Self::Pemd
                | Self::Pdat
                | Self::Patm
                | Self::Pack
        )
    }

    /// Its number in the gateware's `message_e`.
    #[must_use]
    pub const fn number(self) -> u64 {
        self as u64 + 1
    }
}

/// What a cache has of a line of the other end's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remote {
    /// I.
    I,
    /// S.
    S,
    /// E.
    E,
    /// M.
    M,
    /// O.
    O,
    /// IS.
    Is,
    /// IM.
    Im,
    /// SM.
    Sm,
    /// OM.
    Om,
}

impl Remote {
    /// The state of a code. None of what the protocol does not have.
    #[must_use]
    pub const fn of(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::I),
            1 => Some(Self::S),
            2 => Some(Self::E),
            3 => Some(Self::M),
            4 => Some(Self::O),
            5 => Some(Self::Is),
            6 => Some(Self::Im),
            7 => Some(Self::Sm),
            8 => Some(Self::Om),
            _ => None,
        }
    }

    /// Its name in the protocol's table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::I => "I",
            Self::S => "S",
            Self::E => "E",
            Self::M => "M",
            Self::O => "O",
            Self::Is => "IS",
            Self::Im => "IM",
            Self::Sm => "SM",
            Self::Om => "OM",
        }
    }
}

/// What the home's own cache has of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Home {
    /// I.
    I,
    /// S.
    S,
    /// E.
    E,
    /// M.
    M,
    /// O.
    O,
}

impl Home {
    /// The state of a code. None of what the protocol does not have.
    #[must_use]
    pub const fn of(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::I),
            1 => Some(Self::S),
            2 => Some(Self::E),
            3 => Some(Self::M),
            4 => Some(Self::O),
            _ => None,
        }
    }

    /// Its name in the protocol's table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::I => "I",
            Self::S => "S",
            Self::E => "E",
            Self::M => "M",
            Self::O => "O",
        }
    }
}

/// What a home has noted of the other end's copy of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Directory {
    /// I.
    I,
    /// S.
    S,
    /// E.
    E,
    /// O.
    O,
}

impl Directory {
    /// The state of a code. None of what the protocol does not have.
    #[must_use]
    pub const fn of(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::I),
            1 => Some(Self::S),
            2 => Some(Self::E),
            3 => Some(Self::O),
            _ => None,
        }
    }

    /// Its name in the protocol's table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::I => "I",
            Self::S => "S",
            Self::E => "E",
            Self::O => "O",
        }
    }
}

/// What a home does with a request for a line without an open transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestDoes {
    /// It waits until a victim has come.
    Hold,
    /// A forward; it goes on when the remote has answered.
    Forward(Message),
    /// An answer.
    Answer(Message),
    /// An answer, whose acknowledgement ends the transaction.
    Grant(Message),
    /// The same: memory has not what the line is.
    GrantDirty(Message),
    /// Into the home's copy, else into memory; and an answer.
    Write(Message),
}

/// What a response does to the transaction that is open on its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseDoes {
    /// Nothing.
    Nothing,
    /// The forward is answered.
    Heard,
    /// It is, and a victim must come.
    HeardBeforeVictim,
    /// A victim was seen.
    Victim,
    /// It ends.
    Free,
}

/// The transaction that is open on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// None.
    Idle,
    /// It waits for an acknowledgement.
    Grant,
    /// An answer is owed.
    Reply,
    /// It waits for the remote.
    Forward,
}

/// An operation of the home's own core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Core {
    /// A load of a line that the home has no copy of.
    Load,
    /// A store.
    Store,
    /// The line is taken back.
    Recall,
}

/// What a home does with a request, and the states then. None of what cannot occur.
#[must_use]
pub const fn request_step(
    directory: Directory,
    home: Home,
    message: Message,
) -> Option<(RequestDoes, Home, Directory)> {
    use {Directory as D, Home as H, Message as M, RequestDoes as Does};
    Some(match (directory, home, message) {
        (D::I, H::I, M::Rlds) => (Does::Grant(M::Pemd), H::I, D::E),
        (D::I, H::I, M::Rldx) => (Does::Grant(M::Pemd), H::I, D::E),
        (D::I, H::I, M::Rupg) => (Does::Grant(M::Pemd), H::I, D::E),
        (D::I, H::S, M::Rlds) => (Does::Grant(M::Psha), H::S, D::S),
        (D::I, H::E, M::Rlds) => (Does::Grant(M::Psha), H::S, D::S),
        (D::I, H::M, M::Rlds) => (Does::Grant(M::Psha), H::O, D::S),
        (D::I, H::O, M::Rlds) => (Does::Grant(M::Psha), H::O, D::S),
        (D::I, H::S, M::Rldx) => (Does::Grant(M::Pemd), H::I, D::E),
        (D::I, H::S, M::Rupg) => (Does::Grant(M::Pemd), H::I, D::E),
        (D::I, H::E, M::Rldx) => (Does::Grant(M::Pemd), H::I, D::E),
        (D::I, H::E, M::Rupg) => (Does::Grant(M::Pemd), H::I, D::E),
        (D::I, H::M, M::Rldx) => (Does::GrantDirty(M::Pemd), H::I, D::E),
        (D::I, H::M, M::Rupg) => (Does::GrantDirty(M::Pemd), H::I, D::E),
        (D::I, H::O, M::Rldx) => (Does::GrantDirty(M::Pemd), H::I, D::E),
        (D::I, H::O, M::Rupg) => (Does::GrantDirty(M::Pemd), H::I, D::E),
        (D::I, H::I, M::Rldi) => (Does::Answer(M::Pdat), H::I, D::I),
        (D::I, H::S, M::Rldi) => (Does::Answer(M::Pdat), H::S, D::I),
        (D::I, H::E, M::Rldi) => (Does::Answer(M::Pdat), H::E, D::I),
        (D::I, H::M, M::Rldi) => (Does::Answer(M::Pdat), H::M, D::I),
        (D::I, H::O, M::Rldi) => (Does::Answer(M::Pdat), H::O, D::I),
        (D::I, H::I, M::Rstt) => (Does::Write(M::Pack), H::I, D::I),
        (D::I, H::I, M::Rstp) => (Does::Write(M::Pack), H::I, D::I),
        (D::I, H::S, M::Rstt) => (Does::Write(M::Pack), H::M, D::I),
        (D::I, H::S, M::Rstp) => (Does::Write(M::Pack), H::M, D::I),
        (D::I, H::E, M::Rstt) => (Does::Write(M::Pack), H::M, D::I),
        (D::I, H::E, M::Rstp) => (Does::Write(M::Pack), H::M, D::I),
        (D::I, H::M, M::Rstt) => (Does::Write(M::Pack), H::M, D::I),
        (D::I, H::M, M::Rstp) => (Does::Write(M::Pack), H::M, D::I),
        (D::I, H::O, M::Rstt) => (Does::Write(M::Pack), H::M, D::I),
        (D::I, H::O, M::Rstp) => (Does::Write(M::Pack), H::M, D::I),
        (D::I, H::I, M::Rinc) => (Does::Write(M::Patm), H::I, D::I),
        (D::I, H::I, M::Rdec) => (Does::Write(M::Patm), H::I, D::I),
        (D::I, H::I, M::Rcas) => (Does::Write(M::Patm), H::I, D::I),
        (D::I, H::S, M::Rinc) => (Does::Write(M::Patm), H::M, D::I),
        (D::I, H::S, M::Rdec) => (Does::Write(M::Patm), H::M, D::I),
        (D::I, H::S, M::Rcas) => (Does::Write(M::Patm), H::M, D::I),
        (D::I, H::E, M::Rinc) => (Does::Write(M::Patm), H::M, D::I),
        (D::I, H::E, M::Rdec) => (Does::Write(M::Patm), H::M, D::I),
        (D::I, H::E, M::Rcas) => (Does::Write(M::Patm), H::M, D::I),
        (D::I, H::M, M::Rinc) => (Does::Write(M::Patm), H::M, D::I),
        (D::I, H::M, M::Rdec) => (Does::Write(M::Patm), H::M, D::I),
        (D::I, H::M, M::Rcas) => (Does::Write(M::Patm), H::M, D::I),
        (D::I, H::O, M::Rinc) => (Does::Write(M::Patm), H::M, D::I),
        (D::I, H::O, M::Rdec) => (Does::Write(M::Patm), H::M, D::I),
        (D::I, H::O, M::Rcas) => (Does::Write(M::Patm), H::M, D::I),
        (D::S, H::I, M::Rlds) => (Does::Hold, H::I, D::S),
        (D::S, H::I, M::Rldx) => (Does::Hold, H::I, D::S),
        (D::S, H::S, M::Rlds) => (Does::Hold, H::S, D::S),
        (D::S, H::S, M::Rldx) => (Does::Hold, H::S, D::S),
        (D::S, H::O, M::Rlds) => (Does::Hold, H::O, D::S),
        (D::S, H::O, M::Rldx) => (Does::Hold, H::O, D::S),
        (D::S, H::I, M::Rupg) => (Does::Grant(M::Pack), H::I, D::E),
        (D::S, H::S, M::Rupg) => (Does::Grant(M::Pack), H::I, D::E),
        (D::S, H::O, M::Rupg) => (Does::Grant(M::Pack), H::I, D::E),
        (D::S, H::I, M::Rldi) => (Does::Answer(M::Pdat), H::I, D::S),
        (D::S, H::S, M::Rldi) => (Does::Answer(M::Pdat), H::S, D::S),
        (D::S, H::O, M::Rldi) => (Does::Answer(M::Pdat), H::O, D::S),
        (D::S, H::I, M::Rstt) => (Does::Forward(M::Finv), H::I, D::S),
        (D::S, H::I, M::Rstp) => (Does::Forward(M::Finv), H::I, D::S),
        (D::S, H::I, M::Rinc) => (Does::Forward(M::Finv), H::I, D::S),
        (D::S, H::I, M::Rdec) => (Does::Forward(M::Finv), H::I, D::S),
        (D::S, H::I, M::Rcas) => (Does::Forward(M::Finv), H::I, D::S),
        (D::S, H::S, M::Rstt) => (Does::Forward(M::Finv), H::S, D::S),
        (D::S, H::S, M::Rstp) => (Does::Forward(M::Finv), H::S, D::S),
        (D::S, H::S, M::Rinc) => (Does::Forward(M::Finv), H::S, D::S),
        (D::S, H::S, M::Rdec) => (Does::Forward(M::Finv), H::S, D::S),
        (D::S, H::S, M::Rcas) => (Does::Forward(M::Finv), H::S, D::S),
        (D::S, H::O, M::Rstt) => (Does::Forward(M::Finv), H::O, D::S),
        (D::S, H::O, M::Rstp) => (Does::Forward(M::Finv), H::O, D::S),
        (D::S, H::O, M::Rinc) => (Does::Forward(M::Finv), H::O, D::S),
        (D::S, H::O, M::Rdec) => (Does::Forward(M::Finv), H::O, D::S),
        (D::S, H::O, M::Rcas) => (Does::Forward(M::Finv), H::O, D::S),
        (D::E, H::I, M::Rlds) => (Does::Hold, H::I, D::E),
        (D::E, H::I, M::Rldx) => (Does::Hold, H::I, D::E),
        (D::E, H::I, M::Rldi) => (Does::Forward(M::Fshr), H::I, D::E),
        (D::E, H::I, M::Rstt) => (Does::Forward(M::Finv), H::I, D::E),
        (D::E, H::I, M::Rstp) => (Does::Forward(M::Finv), H::I, D::E),
        (D::E, H::I, M::Rinc) => (Does::Forward(M::Finv), H::I, D::E),
        (D::E, H::I, M::Rdec) => (Does::Forward(M::Finv), H::I, D::E),
        (D::E, H::I, M::Rcas) => (Does::Forward(M::Finv), H::I, D::E),
        (D::O, H::I, M::Rlds) => (Does::Hold, H::I, D::O),
        (D::O, H::I, M::Rldx) => (Does::Hold, H::I, D::O),
        (D::O, H::S, M::Rlds) => (Does::Hold, H::S, D::O),
        (D::O, H::S, M::Rldx) => (Does::Hold, H::S, D::O),
        (D::O, H::I, M::Rupg) => (Does::Grant(M::Pack), H::I, D::E),
        (D::O, H::S, M::Rupg) => (Does::Grant(M::Pack), H::I, D::E),
        (D::O, H::I, M::Rldi) => (Does::Forward(M::Fshr), H::I, D::O),
        (D::O, H::S, M::Rldi) => (Does::Answer(M::Pdat), H::S, D::O),
        (D::O, H::I, M::Rstt) => (Does::Forward(M::Finv), H::I, D::O),
        (D::O, H::I, M::Rstp) => (Does::Forward(M::Finv), H::I, D::O),
        (D::O, H::I, M::Rinc) => (Does::Forward(M::Finv), H::I, D::O),
        (D::O, H::I, M::Rdec) => (Does::Forward(M::Finv), H::I, D::O),
        (D::O, H::I, M::Rcas) => (Does::Forward(M::Finv), H::I, D::O),
        (D::O, H::S, M::Rstt) => (Does::Forward(M::Finv), H::S, D::O),
        (D::O, H::S, M::Rstp) => (Does::Forward(M::Finv), H::S, D::O),
        (D::O, H::S, M::Rinc) => (Does::Forward(M::Finv), H::S, D::O),
        (D::O, H::S, M::Rdec) => (Does::Forward(M::Finv), H::S, D::O),
        (D::O, H::S, M::Rcas) => (Does::Forward(M::Finv), H::S, D::O),
        _ => return None,
    })
}

/// The forward that the home's own core waits for, none: it is done at once; and the home's state
/// then. None of what is not in the table. A load of a line that the home has a copy of is not:
/// it needs none.
#[must_use]
pub const fn core_step(
    core: Core,
    directory: Directory,
    home: Home,
) -> Option<(Option<Message>, Home)> {
    use {Core as C, Directory as D, Home as H, Message as M};
    Some(match (core, directory) {
        (C::Load, D::I) => (None, H::E),
        (C::Load, D::S) => (None, H::S),
        (C::Load, D::E) => (Some(M::Fshr), home),
        (C::Load, D::O) => (Some(M::Fshr), home),
        (C::Store, D::I) => (None, H::M),
        (C::Store, D::S) => (Some(M::Finv), home),
        (C::Store, D::E) => (Some(M::Finv), home),
        (C::Store, D::O) => (Some(M::Finv), home),
        (C::Recall, D::S) => (Some(M::Finv), home),
        (C::Recall, D::E) => (Some(M::Finv), home),
        (C::Recall, D::O) => (Some(M::Finv), home),
        _ => return None,
    })
}

/// What a response does at the home, and the directory then. `seen`: a victim came since the
/// forward. None of what cannot occur.
#[must_use]
pub fn response_step(
    phase: Phase,
    message: Message,
    directory: Directory,
    seen: bool,
) -> Option<(ResponseDoes, Directory)> {
    use {Directory as D, Message as M, Phase as P, ResponseDoes as Does};
    let unless = |state| if seen { D::I } else { state };
    Some(match (phase, message) {
        (P::Idle, M::Vicd) => (Does::Nothing, D::I),
        (P::Grant, M::Vicd) => (Does::Nothing, D::I),
        (P::Reply, M::Vicd) => (Does::Nothing, D::I),
        (P::Forward, M::Vicd) => (Does::Victim, D::I),
        (P::Idle, M::Vicc) => (Does::Nothing, D::I),
        (P::Grant, M::Vicc) => (Does::Nothing, D::I),
        (P::Idle, M::Vics) => (Does::Nothing, D::I),
        (P::Grant, M::Vics) => (Does::Nothing, D::I),
        (P::Reply, M::Vics) => (Does::Nothing, D::I),
        (P::Forward, M::Vicc) => (Does::Victim, D::I),
        (P::Forward, M::Vics) => (Does::Victim, D::I),
        (P::Forward, M::Hakd) => (Does::Heard, D::I),
        (P::Forward, M::Haki) => (Does::Heard, D::I),
        (P::Forward, M::Hako) => (Does::Heard, unless(D::O)),
        (P::Forward, M::Haks) => (Does::Heard, unless(D::S)),
        (P::Forward, M::Hakv) => (Does::HeardBeforeVictim, directory),
        (P::Grant, M::Gack) => (Does::Free, directory),
        _ => return None,
    })
}
