// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text that crosses the boundary.

use core::ffi::c_char;

/// UTF-8 text of `size` bytes, not ended by a zero. Lent for the time of the call in which it stands. `data` may be null
/// where `size` is 0. Bytes that are not UTF-8 are replaced where text is shown, and refused where it is a name.
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
