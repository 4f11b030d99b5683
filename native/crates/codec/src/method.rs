// SPDX-License-Identifier: MIT OR Apache-2.0

use crate::value::Value;

/// A method call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The method's name.
    pub method: String,
    /// The method's arguments.
    pub args: Value,
}

/// The reply to a method call.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// No reply. The method is not implemented, or the channel has no handler. The message has no bytes.
    None,
    /// A value.
    Success(Value),
    /// An error.
    Error {
        /// The error code, for programs.
        code: String,
        /// The error message, for people.
        message: Option<String>,
        /// Further details, in any form.
        details: Value,
        /// The stack trace: missing, null, or a text. It is the optional fourth part of the reply, and some implementations do not read it.
        stack: Option<Option<String>>,
    },
}
