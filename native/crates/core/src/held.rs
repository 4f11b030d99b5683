// SPDX-License-Identifier: MIT OR Apache-2.0
//! Content that a host without Rust reads: held here, by a handle, until it lets go of it.

use clearway_plugin::{CLEARWAY_OUT_OF_MEMORY, CLEARWAY_STALE, Content, Memory as Handle, Status, Text};

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

/// Holds content and a text; returns a handle and what the ABI shows of both, valid until the handle is let go of.
pub fn hold(kept: Kept, text: Box<str>) -> Result<(u64, Content, Text), Status> {
    let handles = kept.attachments.iter().map(Memory::handle).collect();
    let held = Box::new(Held { kept, text, handles });
    let content = held.kept.lend(|content| *content);
    // Where there are attachments `lend` has shown a list of its own. Null where there are none.
    let attachments = if held.handles.is_empty() { std::ptr::null() } else { held.handles.as_ptr() };
    let content = Content { attachments, ..content };
    let text = Text { data: held.text.as_ptr().cast(), size: held.text.len() };
    // The box does not move, so neither do the bytes in it.
    let handle = HELD.insert(held).map_err(|_| CLEARWAY_OUT_OF_MEMORY)?;
    Ok((handle, content, text))
}

/// Lets go, once.
pub fn let_go(handle: u64) -> Result<(), Status> {
    HELD.remove(handle).map(drop).ok_or(CLEARWAY_STALE)
}
