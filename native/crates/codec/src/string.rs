// SPDX-License-Identifier: MIT OR Apache-2.0
//! The codec of text messages.

use crate::error::{Code, Error};

/// Reads a message. A message without bytes is the empty text.
pub fn read(message: &[u8]) -> Result<&str, Error> {
    utf8(message, 0)
}

/// Appends a message. Null and the empty text both make a message without bytes.
pub fn write(text: Option<&str>, to: &mut Vec<u8>) {
    to.extend_from_slice(text.unwrap_or_default().as_bytes());
}

/// Checks that bytes are UTF-8. `offset` is the position of the first byte in the message.
pub(crate) fn utf8(bytes: &[u8], offset: usize) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|error| Error::at(Code::BadUtf8, offset + error.valid_up_to()))
}
