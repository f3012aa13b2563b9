// SPDX-License-Identifier: Apache-2.0
//! A trigger on rings of Cherenkov light: events by Monte Carlo, the packet formats they travel in, and
//! finders of the rings in them. The crate needs nothing else of isthmus.
//!
//! ```
//! use isthmus_trigger::{events, geometry::Geometry};
//!
//! let disk = Geometry::na62();
//! let (records, truths) = events::generate(&disk, &events::REFERENCE, 1, 100);
//! assert_eq!(records.len(), truths.len());
//! ```

#![warn(missing_docs)]
#![allow(clippy::needless_range_loop, reason = "lanes and kinds index several arrays at once")]

pub mod bench;
pub mod events;
pub mod file;
pub mod geometry;
pub mod gpu;
pub mod merge;
pub mod na62;
pub mod paced;
pub mod peers;
pub mod random;
pub mod record;
pub mod report;
pub mod rings;
pub mod score;
pub mod send;
pub mod serve;
pub mod simd;
pub mod single;
mod socket;
pub mod times;
