// SPDX-License-Identifier: Apache-2.0
//! What can go wrong on a road, in one line.

use isthmus_sim::SimError;

/// Why a scenario could not be run, or its result not be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RoadError {
    /// The scenario's JSON has a wrong key or value.
    #[error("scenario: {key}: {reason}")]
    Scenario {
        /// The key, as a path from the document's root.
        key: String,
        /// The problem, and what is expected.
        reason: String,
    },
    /// The simulation could not be built or run.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// A host program's access failed.
    #[error("{during}: {source}{}", note.as_deref().map(|note| format!(" ({note})")).unwrap_or_default())]
    Program {
        /// The program's activity, and which program if there are several.
        during: String,
        /// The time and progress of the failure, where known.
        note: Option<String>,
        /// How it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The measurements contradict each other.
    #[error("inconsistent measurement: {0}")]
    Inconsistent(String),
    /// A device did what its contract forbids.
    #[error("{0}")]
    Violation(String),
    /// The operating system refused something to the server.
    #[error("{action}: {source}")]
    Io {
        /// The attempted action, with its address.
        action: String,
        /// The operating system's error.
        source: std::io::Error,
    },
}

impl RoadError {
    /// True for a wrong input of the caller, false for a failed run.
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
            Self::Program { .. } | Self::Inconsistent(_) | Self::Violation(_) => false,
        }
    }

    pub(crate) fn scenario(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Scenario { key: key.into(), reason: reason.into() }
    }

    /// A host program failed while it was doing something.
    pub(crate) fn program(
        during: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Program { during: during.into(), note: None, source: source.into() }
    }

    /// As [`program`](Self::program), where several hosts have one each.
    pub(crate) fn of_host(
        host: u8,
        during: &str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::program(format!("host {host}: {during}"), source)
    }

    /// Says more about a program's failure.
    pub(crate) fn with(mut self, more: String) -> Self {
        if let Self::Program { note, .. } = &mut self {
            *note = Some(more);
        }
        self
    }
}

/// The error of an action that the operating system refused.
pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> RoadError {
    let action = action.into();
    |source| RoadError::Io { action, source }
}
