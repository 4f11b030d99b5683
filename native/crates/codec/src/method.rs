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
    /// No reply: the method is not implemented, or the channel has no handler. The message has no bytes.
    None,
    /// A value.
    Success(Value),
    /// An error.
    Error {
        /// The code for programs.
        code: String,
        /// The message for people.
        message: Option<String>,
        /// Further details, in any form.
        details: Value,
        /// The stack trace: missing, null, or a text. Not every implementation reads this optional fourth part.
        stack: Option<Option<String>>,
    },
}
