// SPDX-License-Identifier: MIT OR Apache-2.0

use std::fmt;

/// The codes of decoding and encoding errors, from spec/errors.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The message ends before the value ends, or a count is larger than the number of remaining bytes.
    Truncated,
    /// Bytes follow the end of the value.
    TrailingBytes,
    /// The type byte is reserved, or belongs to an extension.
    UnknownTag,
    /// A text is not UTF-8.
    BadUtf8,
    /// The body does not match its type.
    Malformed,
    /// Lists and maps are nested deeper than the limit.
    TooDeep,
    /// A count or a size exceeds the limit, or the format's range.
    TooLarge,
    /// The codec has no form for a value.
    NotEncodable,
}

impl Code {
    /// Returns the code's name, which is the same in every language.
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

/// An error of a codec. spec/wire.md defines its position in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Error {
    /// The error's code.
    pub code: Code,
    /// The offset in bytes from the start of the message.
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

/// The maximum number of hex digits of a big integer. This limit bounds the work for one message.
pub const BIG_DIGITS_MAX: usize = 1_048_576;

/// Limits on a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum nesting of lists and maps. Values above 1000 count as 1000, because reading recurses once for each level.
    pub depth_max: usize,
    /// The maximum sum of the counts of all lists and maps in one message. A map counts two values for each entry.
    pub items_max: usize,
}

impl Limits {
    /// The default limits of spec/wire.md.
    pub const DEFAULT: Limits = Limits { depth_max: 128, items_max: 16_777_216 };

    pub(crate) const fn depth(self) -> usize {
        if self.depth_max < 1000 { self.depth_max } else { 1000 }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}
