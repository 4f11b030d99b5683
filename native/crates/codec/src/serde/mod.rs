// SPDX-License-Identifier: MIT OR Apache-2.0
//! Converts types with serde's derives to and from values of the codecs.
//!
//! | Rust | value |
//! |---|---|
//! | `bool`, integers, floats, `String`, `char` | the same; integers beyond 64 bits are big integers |
//! | `Option`, `()`, unit structs | null for none |
//! | bytes (`serde_bytes`) | bytes |
//! | `Vec`, arrays, sets, tuples | a list. Typed lists are read as lists, too |
//! | maps, structs | a map; a struct's keys are its fields' names |
//! | enums | the variant's name, or a map of that name to the content |
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

mod error;
mod from_value;
mod to_value;

pub use error::Error;
pub use from_value::from_value;
pub use to_value::to_value;
