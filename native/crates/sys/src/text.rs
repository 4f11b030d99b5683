// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text that a host and a plugin pass to each other.

use core::ffi::c_char;

/// UTF-8 text of `size` bytes, without a terminating zero. The text is lent during the call that receives it. `data`
/// may be null if `size` is 0. In text for people, invalid UTF-8 is replaced. In a name, invalid UTF-8 is refused.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// The first byte, or null.
    pub data: *const c_char,
    /// The number of bytes.
    pub size: usize,
}

impl Text {
    /// The empty text.
    pub const NONE: Text = Text { data: core::ptr::null(), size: 0 };

    /// Returns a text that lends Rust's text. The caller must keep that text alive as long as the receiver reads it.
    pub const fn of(text: &str) -> Text {
        Text { data: text.as_ptr().cast(), size: text.len() }
    }
}
