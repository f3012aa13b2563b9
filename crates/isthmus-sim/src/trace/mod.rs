// SPDX-License-Identifier: Apache-2.0
//! What happened, written down: spans, packet captures, timelines.

mod pcapng;
mod perfetto;
mod span;

pub use pcapng::{Capture, CaptureInterface};
pub use perfetto::perfetto_trace;
pub use span::{Span, SpanLog};
