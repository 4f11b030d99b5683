// SPDX-License-Identifier: MIT OR Apache-2.0
//! JSON, as messages and as methods.

mod method;
mod number;
mod read;
mod write;

pub use method::{read_call, read_reply, write_call, write_reply};
pub use read::{read, read_value};
pub use write::{write, write_value};
