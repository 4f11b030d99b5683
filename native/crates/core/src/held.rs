// SPDX-License-Identifier: MIT OR Apache-2.0
//! Content for hosts that are not written in Rust. The content stays valid until the host frees its handle.

use clearway_sys::{CLEARWAY_OUT_OF_MEMORY, CLEARWAY_STALE, Content, Memory as Handle, Status, Text};

use crate::content::Kept;
use crate::handle::Kind;
use crate::memory::Memory;
use crate::slots::Slots;

static HELD: Slots<Box<Held>> = Slots::new(Kind::Held);

struct Held {
    kept: Kept,
    text: Box<str>,
    handles: Vec<Handle>,
}

/// Keeps content and a text. Returns a handle, and both as structs of the ABI. The structs are valid until `release_content` frees the
/// handle.
pub fn retain_content(kept: Kept, text: Box<str>) -> Result<(u64, Content, Text), Status> {
    let handles = kept.attachments.iter().map(Memory::handle).collect();
    let held = Box::new(Held { kept, text, handles });
    let content = held.kept.lend(|content| *content);
    // The list that `lend` made was temporary. The list in `held` lives as long as `held`. Without attachments, the pointer is null.
    let attachments = if held.handles.is_empty() { std::ptr::null() } else { held.handles.as_ptr() };
    let content = Content { attachments, ..content };
    let text = Text { data: held.text.as_ptr().cast(), size: held.text.len() };
    // The box's contents do not move, so the addresses of the bytes inside the box stay valid.
    let handle = HELD.insert(held).map_err(|_| CLEARWAY_OUT_OF_MEMORY)?;
    Ok((handle, content, text))
}

/// Frees kept content, once. Returns `CLEARWAY_STALE` for a freed handle.
pub fn release_content(handle: u64) -> Result<(), Status> {
    HELD.remove(handle).map(drop).ok_or(CLEARWAY_STALE)
}
