// SPDX-License-Identifier: MIT OR Apache-2.0

use std::fmt;

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
