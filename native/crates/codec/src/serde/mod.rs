// SPDX-License-Identifier: MIT OR Apache-2.0
//! Converts between the codecs' values and Rust types that derive serde's traits.
//!
//! | Rust | value |
//! |---|---|
//! | `bool`, integers, floats, `String`, `char` | the same; integers beyond 64 bits are big integers |
//! | `Option` | null for `None`, else the content |
//! | `()`, unit structs | null |
//! | bytes (`serde_bytes`) | bytes |
//! | `Vec`, arrays, sets, tuples | a list; typed lists can be read, too |
//! | maps, structs | a map; the keys of a struct are the names of its fields |
//! | enums | the variant's name, or a map with one entry: that name and the content |
//!
//! ```
//! use clearway_codec::{Value, serde::{from_value, to_value}};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Point {
//!     x: f64,
//!     y: f64,
//! }
//!
//! let value = to_value(&Point { x: 1.5, y: 2.0 })?;
//! assert_eq!(value.get("x"), Some(&Value::Float(1.5)));
//! assert_eq!(from_value::<Point>(value)?, Point { x: 1.5, y: 2.0 });
//! # Ok::<(), clearway_codec::serde::Error>(())
//! ```

mod from_value;
mod to_value;

use std::fmt;

pub use from_value::from_value;
pub use to_value::to_value;

/// An error of a conversion: a Rust value has no form as a value, or a value does not fit the Rust type. The text names the field or the
/// variant, as serde does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl serde::ser::Error for Error {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Error(text.to_string())
    }
}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Error(text.to_string())
    }
}
