// SPDX-License-Identifier: Apache-2.0
//! Virtual memory that transfers visit.

use isthmus_host::svm::PageSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dma::LINE_BYTES;

/// The size of the host's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CcixPage {
    /// 4 KiB.
    #[serde(rename = "4K")]
    Base,
    /// 2 MiB.
    #[serde(rename = "2M")]
    Big,
    /// 1 GiB.
    #[serde(rename = "1G")]
    Huge,
}

impl CcixPage {
    /// Name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Base => "4K",
            Self::Big => "2M",
            Self::Huge => "1G",
        }
    }

    pub(in super::super) const fn size(self) -> PageSize {
        match self {
            Self::Base => PageSize::Base,
            Self::Big => PageSize::Big,
            Self::Huge => PageSize::Huge,
        }
    }
}

/// The order in which transfers visit memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CcixOrder {
    /// From the first page to the last, again and again.
    Sequential,
    /// In one random order, again and again.
    Random,
    /// Each transfer at random anywhere, half of them in the first sixteenth; one at a time, through the FPGA's cache.
    Skewed,
}

impl CcixOrder {
    /// Name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Random => "random",
            Self::Skewed => "skewed",
        }
    }
}

/// Virtual memory that transfers visit. Each begins at a page of 4 KiB, at another one than the transfer before; through
/// the FPGA's cache at a line of a page that was not visited lately.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixTranslation {
    /// The size of the host's pages.
    pub page: CcixPage,
    /// The order in which transfers visit it.
    pub order: CcixOrder,
    /// Its bytes.
    #[schemars(range(min = 131_072, max = 17_179_869_184_u64))]
    pub footprint_bytes: u64,
    /// Each page is read once before the first transfer.
    #[serde(default)]
    pub warm: bool,
    /// Pages that the host moves to other frames while transfers run.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000))]
    pub moves: u32,
}

impl CcixTranslation {
    /// Name in results.
    pub(in super::super) fn name(&self) -> String {
        let (page, order) = (self.page.name(), self.order.name());
        let footprint = match self.footprint_bytes {
            bytes if bytes.is_multiple_of(1 << 30) => format!("{}G", bytes >> 30),
            bytes if bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
            bytes => format!("{}K", bytes >> 10),
        };
        let warm = if self.warm { "-warm" } else { "" };
        format!("{page}-{order}-{footprint}{warm}")
    }

    /// Pages of the host that it has.
    pub(in super::super) fn pages(&self) -> u64 {
        self.footprint_bytes.div_ceil(self.page.size().bytes())
    }

    /// Lines of it.
    pub(in super::super) fn lines(&self) -> u64 {
        self.footprint_bytes / LINE_BYTES as u64
    }
}
