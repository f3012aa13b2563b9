// SPDX-License-Identifier: Apache-2.0
//! Reference models of the device, for workloads that drive its wire themselves.

pub(super) mod slave;
pub(super) mod stack;

use std::fmt::Write as _;

use slave::Word;
use stack::{Datagram, PAYLOAD, Station};

/// The words of a reply, when all of it is as it must be.
pub(super) fn compare(
    station: &Station,
    request: &Datagram,
    words: &[Word],
    reply: &[u8],
    since_ns: u64,
    until_ns: u64,
) -> Result<Vec<u32>, String> {
    let found: Vec<u32> = reply
        .get(PAYLOAD..)
        .unwrap_or_default()
        .chunks_exact(4)
        .map(|w| u32::from_be_bytes([w[0], w[1], w[2], w[3]]))
        .take(words.len())
        .collect();
    for (at, (word, found)) in words.iter().zip(&found).enumerate() {
        if !word.allows(*found, since_ns, until_ns) {
            return Err(format!("word {at} of the reply is {found:08x} instead of {word:x?}"));
        }
    }
    // Headers, checksums, length and padding: where the model leaves a word free, it takes the found.
    let whole = station.reply(request, &found);
    if found.len() != words.len() || whole != reply {
        return Err(format!("the reply is {} instead of {}", hex(reply), hex(&whole)));
    }
    Ok(found)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
