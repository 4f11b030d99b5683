// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text that crosses the boundary.

use core::ffi::c_char;

/// UTF-8 text of `size` bytes, without a terminating zero. Lent during the call that it is passed to. `data` may be null if
/// `size` is 0. Invalid UTF-8 is replaced in text for people, and refused in a name.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// The first byte.
    pub data: *const c_char,
    /// Bytes.
    pub size: usize,
}

impl Text {
    /// No text.
    pub const NONE: Text = Text { data: core::ptr::null(), size: 0 };

    /// Lends a text of Rust code. The caller must keep it alive as long as the receiver reads it.
    pub const fn of(text: &str) -> Text {
        Text { data: text.as_ptr().cast(), size: text.len() }
    }
}
