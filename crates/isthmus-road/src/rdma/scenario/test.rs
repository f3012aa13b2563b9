// SPDX-License-Identifier: Apache-2.0
//! The programs, and how they make transfers.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, IntoDeserializer};
use serde::{Deserialize, Deserializer};

use crate::error::RoadError;
use crate::operation::Operation;

/// What the programs do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RdmaTest {
    /// Writes, as round trips.
    WriteLat,
    /// Writes one after the other.
    WriteBw,
    /// Messages, as round trips.
    SendLat,
    /// Messages one after the other.
    SendBw,
    /// The document's own program: writes, posted as in its three versions.
    OneWay,
    /// Every host to every host, with an account of every transfer.
    Soak,
    /// Every host gives every other a block, behind a barrier.
    Exchange,
    /// A sort over all hosts.
    Sort,
    /// Transfers that the workload lists.
    Trace,
    /// Writes into the remote host's memory, in a closed loop or at a rate.
    Put,
    /// Messages to the remote program, in a closed loop or at a rate.
    Message,
    /// The interface's reads of its host's memory, one at a time.
    DeviceRead,
    /// The interface's writes to its host's memory, one at a time.
    DeviceWrite,
}

/// How a transfer of a trace is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransferKind {
    /// By a descriptor.
    Write,
    /// As a write that carries its data inline.
    Inline,
    /// Into the remote host's queue.
    Message,
}

/// A transfer of a trace: nanoseconds after the programs' start, source, destination, kind, bytes.
pub type TraceLine = (u64, usize, usize, TransferKind, usize);

impl<'de> Deserialize<'de> for RdmaTest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if let Some(test) = Self::ALL.into_iter().find(|test| test.name() == name) {
            return Ok(test);
        }
        let operation: Result<Operation, D::Error> =
            Operation::deserialize(name.as_str().into_deserializer());
        let carried: Vec<Operation> = Self::ALL.into_iter().filter_map(Self::operation).collect();
        if let Ok(operation) = operation
            && let Err(RoadError::Scenario { reason, .. }) = operation.check("", "rdma", &carried)
        {
            return Err(D::Error::custom(reason));
        }
        let names: Vec<&str> = Self::ALL.iter().map(|test| test.name()).collect();
        Err(D::Error::custom(format!(
            "unknown test `{name}`: expected one of {}",
            names.join(", ")
        )))
    }
}

impl JsonSchema for RdmaTest {
    fn schema_name() -> Cow<'static, str> {
        "RdmaTest".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = Self::ALL.map(Self::name);
        json_schema!({"description": "What the programs do.", "type": "string", "enum": names})
    }
}

impl RdmaTest {
    /// All of them.
    const ALL: [Self; 13] = [
        Self::WriteLat,
        Self::WriteBw,
        Self::SendLat,
        Self::SendBw,
        Self::OneWay,
        Self::Soak,
        Self::Exchange,
        Self::Sort,
        Self::Trace,
        Self::Put,
        Self::Message,
        Self::DeviceRead,
        Self::DeviceWrite,
    ];

    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WriteLat => "write-lat",
            Self::WriteBw => "write-bw",
            Self::SendLat => "send-lat",
            Self::SendBw => "send-bw",
            Self::OneWay => "one-way",
            Self::Soak => "soak",
            Self::Exchange => "exchange",
            Self::Sort => "sort",
            Self::Trace => "trace",
            Self::Put => "put",
            Self::Message => "message",
            Self::DeviceRead => "device-read",
            Self::DeviceWrite => "device-write",
        }
    }

    /// The operation that it carries, where it is one and not a program.
    #[must_use]
    pub const fn operation(self) -> Option<Operation> {
        match self {
            Self::Put => Some(Operation::Put),
            Self::Message => Some(Operation::Message),
            Self::DeviceRead => Some(Operation::DeviceRead),
            Self::DeviceWrite => Some(Operation::DeviceWrite),
            _ => None,
        }
    }

    /// Whether the interface starts it.
    #[must_use]
    pub const fn is_devices(self) -> bool {
        matches!(self, Self::DeviceRead | Self::DeviceWrite)
    }

    /// Whether an account of every transfer is kept, each with a place of its own in memory.
    #[must_use]
    pub const fn is_accounted(self) -> bool {
        matches!(self, Self::Soak | Self::Trace)
    }

    /// Whether it sends messages.
    #[must_use]
    pub const fn is_send(self) -> bool {
        matches!(self, Self::SendLat | Self::SendBw | Self::Message)
    }

    /// Whether all hosts take part, not pairs.
    #[must_use]
    pub const fn is_for_all(self) -> bool {
        matches!(self, Self::Soak | Self::Exchange | Self::Sort | Self::Trace)
    }

    /// Whether it measures round trips.
    #[must_use]
    pub const fn is_latency(self) -> bool {
        matches!(self, Self::WriteLat | Self::SendLat)
    }
}

/// When the sender checks for queue space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PostingName {
    /// Never: a batch, then a wait for all of it.
    V1,
    /// Before each descriptor.
    #[default]
    V2,
    /// Once per this many descriptors.
    V3(u16),
}
