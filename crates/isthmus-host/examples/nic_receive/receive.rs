// SPDX-License-Identifier: Apache-2.0
//! A program that receives UDP streams: over a board, over the simulated interface, over memory.

use std::time::Duration;

use isthmus_host::nic::{Event, List, Nic, NicConfig, NicError, Policy, Statistics};
use isthmus_host::pcie::{DmaMemory, Mmio};

/// From one buffer to the next: the largest datagram of an Ethernet frame, up to a line of the cache.
pub const PLACE: usize = 1536;
/// The largest datagram of an Ethernet frame.
pub const LARGEST: usize = 1472;

/// What is to be received.
pub struct Stream {
    /// Ports from 0 on, each with a stream of its own.
    pub ports: usize,
    /// Buffers of each port: a power of two.
    pub buffers: usize,
    /// Ends after so many datagrams of all ports.
    pub datagrams: u64,
    /// Ends when none comes for so long.
    pub patience: Duration,
}

impl Stream {
    /// Buffers of one datagram each, and the event queue behind them.
    pub fn config(&self) -> NicConfig {
        let list = |port: usize| List {
            offsets: (0..self.buffers).map(|n| (port * self.buffers + n) * PLACE).collect(),
            bytes: LARGEST,
            datagrams: 1,
            flush_cycles: 0,
            policy: Policy::Newest,
            echo: false,
            window: None,
        };
        NicConfig {
            lists: (0..self.ports).map(list).collect(),
            queue_offset: self.ports * self.buffers * PLACE,
            interrupt_gap_cycles: None,
            paging: None,
            send: None,
            put: None,
        }
    }

    /// Bytes of memory that it needs.
    pub fn memory_bytes(&self) -> usize {
        let config = self.config();
        config.queue_offset + config.queue_bytes()
    }
}

/// Receives a stream. `started` is called when the interface runs, `consume` with each datagram: its event and its bytes.
pub async fn receive<M: Mmio, D: DmaMemory>(
    bar: M,
    memory: D,
    stream: &Stream,
    started: impl FnOnce(),
    mut consume: impl FnMut(&Event, &[u8]),
) -> Result<Vec<Statistics>, NicError> {
    let config = stream.config();
    let mut nic = Nic::open(bar, memory, &config).await?;
    started();
    let mut datagram = vec![0; LARGEST];
    let mut left = stream.datagrams;
    while left > 0 {
        let deadline = nic.memory().now() + stream.patience;
        let Some(event) = nic.next(deadline).await? else { break };
        // The datagram is in place. This copies it out; a program on a board may as well work on it there.
        let begin = config.lists[usize::from(event.list)].offsets[usize::from(event.index)];
        let bytes = &mut datagram[..event.bytes as usize];
        nic.read(begin, bytes).await?;
        if !event.error {
            consume(&event, bytes);
        }
        nic.recycle(event.list).await?; // the oldest buffer of the list
        left -= 1;
    }
    let mut statistics = Vec::new();
    for port in 0..stream.ports {
        statistics.push(nic.statistics(port as u8).await?);
    }
    nic.close().await?;
    Ok(statistics)
}
