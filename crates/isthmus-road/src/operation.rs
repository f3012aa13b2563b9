// SPDX-License-Identifier: Apache-2.0
//! What a transfer is, whichever road carries it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RoadError;

/// Which side starts a transfer, which way the data goes, and when it counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A host program reads the device: done when the data is in the program.
    HostRead,
    /// A host program writes to the device: done when the device's slave has the last word.
    HostWrite,
    /// The device reads host memory: done when the data is in the device.
    DeviceRead,
    /// The device writes host memory: done when a host program can see the data.
    DeviceWrite,
    /// A host program writes a remote host's memory: done when the data is in it.
    Put,
    /// A host program reads a remote host's memory: done when the data is in its own and the program has seen it.
    Get,
    /// A host program sends to a remote program: done when that program has it.
    Message,
    /// A datagram comes from the wire into host memory: done when a host program sees its event.
    NicToMemory,
    /// The device writes a GPU's memory.
    GpuWrite,
    /// An atomic change of a shared word: done when its starter has the old value.
    Update,
}

impl Operation {
    /// Its name in scenarios and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostRead => "host-read",
            Self::HostWrite => "host-write",
            Self::DeviceRead => "device-read",
            Self::DeviceWrite => "device-write",
            Self::Put => "put",
            Self::Get => "get",
            Self::Message => "message",
            Self::NicToMemory => "nic-to-memory",
            Self::GpuWrite => "gpu-write",
            Self::Update => "update",
        }
    }

    /// Refuses an operation that `road` does not carry. `key`: where the scenario names it.
    pub(crate) fn check(self, key: &str, road: &str, carried: &[Self]) -> Result<(), RoadError> {
        if carried.contains(&self) {
            return Ok(());
        }
        let reason = match self {
            Self::GpuWrite => format!("no road here carries {self} yet"),
            _ => {
                let names: Vec<&str> = carried.iter().map(|operation| operation.name()).collect();
                format!("{road} does not carry {self}: expected one of {}", names.join(", "))
            }
        };
        Err(RoadError::scenario(key, reason))
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_road_does_not_carry_is_refused_in_one_line() {
        let carried = [Operation::HostRead, Operation::HostWrite];
        let refusal = |operation: Operation| {
            operation.check("workload.operation", "etherbone", &carried).map_err(|e| e.to_string())
        };
        assert_eq!(refusal(Operation::HostRead), Ok(()));
        let put = "scenario: workload.operation: etherbone does not carry put: \
                   expected one of host-read, host-write";
        assert_eq!(refusal(Operation::Put), Err(put.to_owned()));
        let gpu = "scenario: workload.operation: no road here carries gpu-write yet";
        assert_eq!(refusal(Operation::GpuWrite), Err(gpu.to_owned()));
    }
}
