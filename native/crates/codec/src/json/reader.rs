// SPDX-License-Identifier: MIT OR Apache-2.0

use crate::error::{Code, Error};

/// What is no JSON in UTF-8. The error does not say where.
pub(super) const MALFORMED: Error = Error::at(Code::Malformed, 0);

/// A JSON text, and the position of the next byte.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) depth_max: usize,
}

impl Reader<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips white space and returns the next byte, without consuming it.
    pub(super) fn next(&mut self) -> Result<u8, Error> {
        self.space();
        self.peek().ok_or(MALFORMED)
    }
}
