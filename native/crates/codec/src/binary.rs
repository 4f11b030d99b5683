// SPDX-License-Identifier: MIT OR Apache-2.0
//! The codec of messages that are plain bytes.

/// Reads a message and returns its bytes. Does not copy.
pub fn read(message: &[u8]) -> &[u8] {
    message
}

/// Appends a message. Null and empty bytes both make a message without bytes.
pub fn write(bytes: Option<&[u8]>, to: &mut Vec<u8>) {
    to.extend_from_slice(bytes.unwrap_or_default());
}
