// SPDX-License-Identifier: MIT OR Apache-2.0
//! The content of a message, a reply or an event.

use crate::memory::Memory;

/// The bytes of a message, a reply or an event. A null content has no bytes: `data` null, `size` 0, `memory` 0. A null
/// pointer to a content means the same.
///
/// Received content is lent during the call, with its `memory` and `attachments`. Retain a memory to keep it.
///
/// Given content: bytes without `memory` are copied before the call returns. With `memory` nothing is copied: the bytes
/// must lie in it (`data` null means all of it), and the receiver takes its own references. The caller keeps its
/// references, and may release them at any time, whatever the call returns. Received content can be passed on unchanged.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// The first byte.
    pub data: *const u8,
    /// Bytes.
    pub size: usize,
    /// The memory that contains the bytes, or 0.
    pub memory: Memory,
    /// Attached memories, which are not copied; null if there are none. 32 at most.
    pub attachments: *const Memory,
    /// The number of attachments.
    pub attachments_count: usize,
}

impl Content {
    /// No bytes.
    pub const NULL: Content =
        Content { data: core::ptr::null(), size: 0, memory: 0, attachments: core::ptr::null(), attachments_count: 0 };

    /// Lends bytes of Rust code.
    pub const fn of(bytes: &[u8]) -> Content {
        Content { data: bytes.as_ptr(), size: bytes.len(), ..Content::NULL }
    }

    /// All of a memory.
    pub const fn of_memory(memory: Memory) -> Content {
        Content { memory, ..Content::NULL }
    }
}
