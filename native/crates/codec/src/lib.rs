// SPDX-License-Identifier: MIT OR Apache-2.0
//! The codecs of channels, as [spec/wire.md](../../../../spec/wire.md) defines them: [`standard`], [`json`], [`string`],
//! [`binary`].
//!
//! A reader accepts any bytes. It returns a value, or an [`Error`] with the position of the wrong byte. It compares a count with the number
//! of remaining bytes before it allocates memory for that count. A writer appends to the caller's `Vec`, which the caller can reuse.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod error;
mod value;

pub mod binary;
pub mod json;
#[cfg(feature = "serde")]
pub mod serde;
pub mod standard;
pub mod string;

pub use error::{BIG_DIGITS_MAX, Code, Error, Limits};
pub use value::{Big, Call, Reply, Value};

#[cfg(target_endian = "big")]
compile_error!("the wire format has the host's byte order, and that is little-endian everywhere it is spoken");

/// Tests the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
