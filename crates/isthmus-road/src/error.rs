// SPDX-License-Identifier: Apache-2.0
//! What can go wrong on a road, in one line.

use isthmus_sim::{Picoseconds, SimError};

/// Why a scenario could not be run, or its result not be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RoadError {
    /// The scenario's JSON has a wrong key or value.
    #[error("scenario: {key}: {reason}")]
    Scenario {
        /// The key, as a path from the document's root.
        key: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// The simulation could not be built or run.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// The host program's access failed.
    #[error("{during}: {source} (at {at}, after {done} Etherbone cycles)")]
    Access {
        /// What the host program was doing.
        during: &'static str,
        /// When it failed.
        at: Picoseconds,
        /// Cycles that had been answered by then.
        done: u64,
        /// How it failed.
        source: isthmus_host::etherbone::Error,
    },
    /// A host program's use of its RDMA interface failed.
    #[error("host {host}: {during}: {source}")]
    Rdma {
        /// Which host.
        host: u8,
        /// What its program was doing.
        during: &'static str,
        /// How it failed.
        source: Box<isthmus_host::rdma::RdmaError>,
    },
    /// What was measured contradicts itself.
    #[error("inconsistent measurement: {0}")]
    Inconsistent(String),
    /// A device did what its contract forbids.
    #[error("{0}")]
    Violation(String),
    /// The operating system refused something to the server.
    #[error("{action}: {source}")]
    Io {
        /// What was attempted, with its address.
        action: String,
        /// What the operating system said.
        source: std::io::Error,
    },
}

impl RoadError {
    /// Whether the caller gave something wrong, as against a run that went wrong.
    #[must_use]
    pub fn is_callers(&self) -> bool {
        match self {
            Self::Scenario { .. } | Self::Io { .. } => true,
            Self::Sim(error) => matches!(
                error,
                SimError::ModelLoad { .. }
                    | SimError::ModelAbi { .. }
                    | SimError::Device { .. }
                    | SimError::Config { .. }
                    | SimError::UnknownFaultPoint { .. }
                    | SimError::Trace { .. }
            ),
            Self::Access { .. }
            | Self::Rdma { .. }
            | Self::Inconsistent(_)
            | Self::Violation(_) => false,
        }
    }

    pub(crate) fn scenario(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Scenario { key: key.into(), reason: reason.into() }
    }
}
