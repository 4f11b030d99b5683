// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flutter's standard codecs, for messages and for methods.

mod method;
mod read;
mod tag;
mod write;

pub use method::{read_call, read_reply, write_call, write_reply};
pub use read::{read, read_value};
pub use write::{write, write_value};
