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

/// What a method was answered with.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// No reply at all: not implemented, or no handler. Has no bytes.
    None,
    /// A value.
    Success(Value),
    /// An error.
    Error {
        /// For programs.
        code: String,
        /// For people.
        message: Option<String>,
        /// Whatever else there is to say.
        details: Value,
        /// A fourth part, which not every implementation reads: where it is missing, where it is null, a text.
        stack: Option<Option<String>>,
    },
}
