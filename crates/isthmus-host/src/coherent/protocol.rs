// SPDX-License-Identifier: Apache-2.0
// Generated from rtl/coherence/protocol.toml by python/isthmus/coherence.py: change those, not this.
//! Messages of the coherence protocol and states of a line, as a tracer in the gateware tells them.

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
