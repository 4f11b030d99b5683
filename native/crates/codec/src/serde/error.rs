// SPDX-License-Identifier: MIT OR Apache-2.0

use std::fmt;

/// The reason why a type has no value, or why a value does not fit the type. The text names the field or the variant, as serde does.
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
