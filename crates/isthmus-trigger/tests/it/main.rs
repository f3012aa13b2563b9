// SPDX-License-Identifier: Apache-2.0
//! All integration tests in one program: linked once.

mod events;
mod files;
mod formats;
mod merge;
mod rings;
mod single;
mod times;
