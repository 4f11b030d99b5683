// SPDX-License-Identifier: MIT OR Apache-2.0

use crate::value::Value;

/// A method call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The method's name.
    pub method: String,
    /// Its arguments.
    pub args: Value,
}

/// The reply to a method call.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// No reply: not implemented, or no handler. Has no bytes.
    None,
    /// A value.
    Success(Value),
    /// An error.
    Error {
        /// For programs.
        code: String,
        /// For people.
        message: Option<String>,
        /// Any further details.
        details: Value,
        /// The stack trace, an optional fourth part that not every implementation reads: missing, null, or a text.
        stack: Option<Option<String>>,
    },
}
