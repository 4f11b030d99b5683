// SPDX-License-Identifier: MIT OR Apache-2.0
//! Content that the plugin sends: an answer, an event, or a message to the host.

use std::ops::Range;

use clearway_codec::serde::to_value;
use clearway_codec::{Limits, standard};
use clearway_sys as sys;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::memory::{Buffer, Memory};

/// The maximum number of attachments of one content.
pub const ATTACHMENTS_MAX: usize = 32;

/// Bytes or memory, with further memories attached. The host copies bytes, but never memory.
///
/// ```
/// # use clearway_plugin::{Buffer, Content, Result};
/// # fn content(pixels: Buffer) -> Result<Content> {
/// // The size is a value of the standard codec. The pixels are attached.
/// Ok(Content::encode(&[640, 480])?.attach(pixels))
/// # }
/// ```
#[derive(Default)]
pub struct Content {
    bytes: Bytes,
    attachments: Vec<Memory>,
}

#[derive(Default)]
enum Bytes {
    #[default]
    Null,
    Copied(Vec<u8>),
    Memory(Memory, Range<usize>),
}

impl Content {
    /// Makes null content, which has no bytes.
    pub fn null() -> Content {
        Content::default()
    }

    /// Makes content of raw bytes. The host copies them when the content is sent.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Content {
        Content { bytes: Bytes::Copied(bytes.into()), attachments: Vec::new() }
    }

    /// Encodes a value in the standard codec. A null value becomes null content.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Content> {
        let mut bytes = Vec::new();
        standard::write(&to_value(value)?, Limits::DEFAULT, &mut bytes)?;
        Ok(if bytes.is_empty() { Content::null() } else { Content::bytes(bytes) })
    }

    /// Makes content of a whole memory.
    pub fn memory(memory: impl Into<Memory>) -> Content {
        let memory = memory.into();
        let range = 0..memory.size();
        Content { bytes: Bytes::Memory(memory, range), attachments: Vec::new() }
    }

    /// Makes content of a part of a memory. Refuses a range outside of the memory.
    pub fn part(memory: impl Into<Memory>, range: Range<usize>) -> Result<Content> {
        let memory = memory.into();
        if range.start > range.end || range.end > memory.size() {
            let size = memory.size();
            return Err(Error::invalid_argument(format!(
                "the range must lie in the memory: range={range:?} size={size}"
            )));
        }
        Ok(Content { bytes: Bytes::Memory(memory, range), attachments: Vec::new() })
    }

    /// Attaches a memory. The host refuses more than [`ATTACHMENTS_MAX`] attachments.
    pub fn attach(mut self, memory: impl Into<Memory>) -> Content {
        self.attachments.push(memory.into());
        self
    }

    /// Passes the content to `callback`, in the ABI's form. The pointers in it are valid until `callback` returns.
    pub(crate) fn lend<R>(&self, callback: impl FnOnce(&sys::Content) -> R) -> R {
        let attachments: Vec<sys::Memory> = self.attachments.iter().map(Memory::handle).collect();
        let mut content = match &self.bytes {
            Bytes::Null => sys::Content::NULL,
            Bytes::Copied(bytes) => sys::Content::of(bytes),
            Bytes::Memory(memory, range) => sys::Content {
                data: memory.loads()[range.clone()].as_ptr().cast(),
                size: range.len(),
                ..sys::Content::of_memory(memory.handle())
            },
        };
        if !attachments.is_empty() {
            (content.attachments, content.attachments_count) = (attachments.as_ptr(), attachments.len());
        }
        callback(&content)
    }
}

/// Types that can become content: [`Content`], [`Buffer`], [`Memory`], and every type with serde's `Serialize`. The standard codec encodes
/// the values of types with `Serialize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can be no answer, event or message",
    note = "return `Content`, `Buffer`, `Memory`, or a type with `#[derive(serde::Serialize)]`"
)]
pub trait IntoContent {
    /// Makes content of this value.
    fn into_content(self) -> Result<Content>;
}

impl IntoContent for Content {
    fn into_content(self) -> Result<Content> {
        Ok(self)
    }
}

impl IntoContent for Memory {
    fn into_content(self) -> Result<Content> {
        Ok(Content::memory(self))
    }
}

impl IntoContent for Buffer {
    fn into_content(self) -> Result<Content> {
        Ok(Content::memory(self))
    }
}

impl<T: Serialize> IntoContent for T {
    fn into_content(self) -> Result<Content> {
        Content::encode(&self)
    }
}
