// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that are bytes.

/// Reads a message: itself.
pub fn read(message: &[u8]) -> &[u8] {
    message
}

/// Writes a message. Null has no bytes, as the empty list has none.
pub fn write(bytes: Option<&[u8]>, to: &mut Vec<u8>) {
    to.extend_from_slice(bytes.unwrap_or_default());
}
