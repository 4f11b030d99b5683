// SPDX-License-Identifier: MIT OR Apache-2.0

use std::fmt;

/// What is wrong with a message; the codes of spec/errors.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The bytes end before the value does, or a count is larger than what is left.
    Truncated,
    /// Bytes follow after the value's end.
    TrailingBytes,
    /// A type byte is reserved, or is an extension's.
    UnknownTag,
    /// A text is not UTF-8.
    BadUtf8,
    /// A body is not what its type says.
    Malformed,
    /// Lists and maps are nested deeper than the limit.
    TooDeep,
    /// A count or a size is over the limit, or over what the format can say.
    TooLarge,
    /// The codec has no form for a value.
    NotEncodable,
}

impl Code {
    /// The code as every language writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Code::Truncated => "truncated",
            Code::TrailingBytes => "trailing-bytes",
            Code::UnknownTag => "unknown-tag",
            Code::BadUtf8 => "bad-utf8",
            Code::Malformed => "malformed",
            Code::TooDeep => "too-deep",
            Code::TooLarge => "too-large",
            Code::NotEncodable => "not-encodable",
        }
    }
}

/// A refusal, and the byte of the message that spec/wire.md names for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Error {
    /// What is wrong.
    pub code: Code,
    /// Bytes from the message's first.
    pub offset: usize,
}

impl Error {
    pub(crate) const fn at(code: Code, offset: usize) -> Error {
        Error { code, offset }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} at byte {}", self.code.name(), self.offset)
    }
}

impl std::error::Error for Error {}
