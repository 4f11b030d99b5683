// SPDX-License-Identifier: MIT OR Apache-2.0
//! The content of a message, a reply or an event.

use crate::memory::Memory;

/// The bytes of a message, a reply or an event. A null content has no bytes at all: `data` null, `size` 0, `memory` 0; a null
/// pointer to a content means the same.
///
/// Received: lent for the time of the call, `memory` and `attachments` with it. Who wants to keep one retains it.
///
/// Given: bytes without `memory` are copied before the call returns. With `memory` nothing is copied: the bytes must lie in
/// it (`data` null means all of it), and the receiver takes references of its own. The caller keeps its own, and releases
/// them when it likes, whatever the call returns. What was received can be given on as it is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// The first byte.
    pub data: *const u8,
    /// Bytes.
    pub size: usize,
    /// The memory in which the bytes stand, or 0.
    pub memory: Memory,
    /// Further memories that go along, not copied; null where there are none. 32 at most.
    pub attachments: *const Memory,
    /// How many.
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
