// SPDX-License-Identifier: Apache-2.0
//! Etherbone's C interface: `include/isthmus_eb.h` says what each function does.
//!
//! Handles are boxes given to C as raw pointers. No reference into one lives while a callback of
//! the program runs, since a callback may call back in.

#![expect(unsafe_code, reason = "pointers and functions of a C program: that is the C interface")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contract of each function stands once, in the header: handles are open, pointers valid"
)]
#![allow(missing_docs, reason = "the same")]

mod device;
mod limited;
mod sdb;
mod slave;
mod status;
