// SPDX-License-Identifier: Apache-2.0
//! What all programs share: an open endpoint, and where things lie in its memory.

use isthmus_host::rdma::{
    Descriptor, Endpoint, EndpointConfig, HostId, Key, Options, RdmaError, Region,
};
use isthmus_road::rdma::{Bar, HostMemory, HostProgram, Machine};

pub type Failure = Box<dyn std::error::Error>;
pub type Task<T> = HostProgram<T, Failure>;
pub type Interface = Endpoint<Bar, HostMemory>;

/// Bytes of each host's memory.
pub const MEMORY: usize = 0x40_0000;
/// What a host sends from.
pub const SOURCE: usize = 0x10_0000;
/// Where others write.
pub const TARGET: usize = 0x20_0000;
pub const TARGET_BYTES: usize = 0x10_0000;
/// The region that a key names, and its nonce.
pub const ENTRY: u8 = 8;
pub const NONCE: u32 = 0x00C0DE;

/// Opens an interface whose target others may write, with a key or without.
pub async fn open(machine: &Machine, config: EndpointConfig) -> Result<Interface, RdmaError> {
    let mut endpoint = Endpoint::open(machine.mmio.clone(), machine.memory.clone(), config).await?;
    let hosts = endpoint.hosts();
    for (entry, sources, nonce) in
        (0..hosts).map(|host| (host, 1 << host, 0)).chain([(ENTRY, 0xFF, NONCE)])
    {
        let region = Region {
            base: machine.address(TARGET),
            bytes: TARGET_BYTES as u64,
            sources,
            nonce,
            queue: None,
        };
        endpoint.register(entry, &region).await?;
    }
    Ok(endpoint)
}

/// A write of `bytes` at `from` of this host's memory to `to` of another's.
pub fn write(machine: &Machine, host: HostId, from: usize, to: usize, bytes: usize) -> Descriptor {
    Descriptor {
        source: machine.address(from),
        target: machine.address(to),
        bytes,
        host,
        options: Options::default(),
        key: None,
        start: true,
    }
}

/// The same with the key of the far host's region.
pub fn keyed(transfer: Descriptor) -> Descriptor {
    Descriptor { key: Some((Key::new(ENTRY, NONCE), 0)), ..transfer }
}
