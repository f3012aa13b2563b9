// SPDX-License-Identifier: Apache-2.0

use crate::transport::TransportError;

/// Errors of a UDP-to-memory interface.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NicError {
    /// The machine refused an access.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The board is not what is expected.
    #[error(
        "no UDP-to-memory interface: identity {identity:#010x}, version {version}; 0x4e414e45 and 1 expected"
    )]
    Board {
        /// Its identity register.
        identity: u32,
        /// The version of its map.
        version: u32,
    },
    /// The interface did not stop.
    #[error("the interface does not stop: something it has begun never ends")]
    Busy,
    /// It cannot be set up like this.
    #[error("{what}")]
    Config {
        /// What is wrong, and what is expected.
        what: String,
    },
    /// An event that cannot be.
    #[error("an event contradicts the lists: {reason}")]
    Event {
        /// The reason.
        reason: String,
    },
    /// A datagram that cannot be sent.
    #[error("{what}")]
    Send {
        /// What is wrong, and what is expected.
        what: String,
    },
    /// As many posts wait as the interface has room for.
    #[error("the send queue is full: take the outcome of a post first")]
    SendQueueFull,
    /// A station does not answer.
    #[error("{station} does not answer: no such station in the network of port 0")]
    NoAnswer {
        /// Its address.
        station: std::net::Ipv4Addr,
    },
    /// More buffers given back than announced.
    #[error("list {list}: every announced buffer has been given back")]
    NothingToRecycle {
        /// The list.
        list: u8,
    },
}
