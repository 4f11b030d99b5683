// SPDX-License-Identifier: MIT OR Apache-2.0
//! The content of a message, a reply or an event.

use crate::memory::Memory;

/// The content of a message, a reply or an event: bytes, and attached memories. The null content has no bytes: its
/// `data` is null, and its `size` and `memory` are 0. A null pointer to a content means the null content.
///
/// Received content is lent during the call, with its `memory` and `attachments`. To keep a memory for longer, the
/// receiver must retain it. Received content can be passed on unchanged.
///
/// In given content, bytes without a `memory` must be readable during the call, and must not change: a direct handler
/// reads them in place. The call copies them if the receiver needs them for longer. With a `memory`, nothing is copied:
/// the bytes must lie in that memory, and a null `data` means the whole memory. The receiver takes its own references.
/// The caller keeps its references, and may release them at any time, also if the call fails.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// The first byte, or null.
    pub data: *const u8,
    /// The number of bytes.
    pub size: usize,
    /// The memory that contains the bytes, or 0.
    pub memory: Memory,
    /// The attached memories, 32 at most. They are not copied. Null if there are none.
    pub attachments: *const Memory,
    /// The number of attachments.
    pub attachments_count: usize,
}

impl Content {
    /// The null content: no bytes.
    pub const NULL: Content =
        Content { data: core::ptr::null(), size: 0, memory: 0, attachments: core::ptr::null(), attachments_count: 0 };

    /// Returns content that lends bytes of Rust code.
    pub const fn of(bytes: &[u8]) -> Content {
        Content { data: bytes.as_ptr(), size: bytes.len(), ..Content::NULL }
    }

    /// Returns content that is a whole memory.
    pub const fn of_memory(memory: Memory) -> Content {
        Content { memory, ..Content::NULL }
    }
}
