// SPDX-License-Identifier: MIT OR Apache-2.0
//! The codecs of channels, as [spec/wire.md](../../../../spec/wire.md) has them: [`standard`], [`json`], [`string`], [`binary`].
//!
//! A reader returns a value or an [`Error`] with the byte that is wrong, whatever the bytes are, and allocates nothing for a count
//! that it has not compared with the bytes that are left. A writer appends to a `Vec` of the caller's, which can be used again.

#![forbid(unsafe_code)]

mod error;
mod limits;
mod method;
mod value;

pub mod binary;
pub mod json;
pub mod standard;
pub mod string;

pub use error::{Code, Error};
pub use limits::{BIG_DIGITS_MAX, Limits};
pub use method::{Call, Reply};
pub use value::{Big, Value};

#[cfg(target_endian = "big")]
compile_error!("the wire format has the host's byte order, and that is little-endian everywhere it is spoken");
