// SPDX-License-Identifier: Apache-2.0
//! The bytes of Etherbone version 1. Pure functions; any input gives a value or an error.

mod error;
mod lite;
mod message;
mod ohwr;
mod record;
#[cfg(test)]
mod tests;
mod width;

use std::fmt;

pub use error::{DecodeError, EncodeError, MAX_COUNT};
pub(crate) use lite::put_lite_header;
pub use lite::{LITE_PROBE_LENGTH, LiteCodec};
pub use message::{Codec, Message};
pub(crate) use message::{Header, put_data_header};
pub use ohwr::{OhwrCodec, PROBE_LENGTH};
pub use record::{Flags, Record};
pub(crate) use record::{RecordView, put_slot};
pub use width::{Format, Width, Widths};

/// Etherbone comes in two dialects that do not understand each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// Etherbone version 1 as published on the Open Hardware Repository.
    #[default]
    Ohwr,
    /// The dialect of LiteEth and LiteX: other header length, mirrored flags, one record per
    /// message.
    LiteEth,
}

impl Dialect {
    /// The dialect's codec.
    pub fn codec(self) -> &'static dyn Codec {
        match self {
            Dialect::Ohwr => &OhwrCodec,
            Dialect::LiteEth => &LiteCodec,
        }
    }

    /// The UDP port that its devices listen on.
    pub fn default_port(self) -> u16 {
        match self {
            Dialect::Ohwr => super::DEFAULT_PORT,
            Dialect::LiteEth => super::LITE_PORT,
        }
    }
}

impl std::str::FromStr for Dialect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "ohwr" => Ok(Dialect::Ohwr),
            "liteeth" | "litex" => Ok(Dialect::LiteEth),
            _ => Err(format!("unknown dialect {text:?}; expected ohwr or liteeth (also: litex)")),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dialect::Ohwr => "ohwr",
            Dialect::LiteEth => "liteeth",
        })
    }
}
