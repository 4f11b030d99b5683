// SPDX-License-Identifier: MIT OR Apache-2.0
//! The content of messages, replies and events. A caller passes content in as [`Given`]. The core stores content as [`Kept`]. For a host that
//! is not written in Rust, kept content stays valid until the host frees its handle.

use std::marker::PhantomData;
use std::ops::Range;

use clearway_sys::{
    CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OUT_OF_MEMORY, CLEARWAY_STALE, CLEARWAY_TOO_LARGE, Content, Memory as Handle,
    Status, Text,
};

use crate::handle::Kind;
use crate::memory::{BYTES_MAX, Memory, resolve};
use crate::slots::Slots;

/// The maximum number of attachments of one content. A video frame with its planes needs four.
pub const ATTACHMENTS_MAX: usize = 32;

/// The maximum number of bytes that the core stores inside the message instead of in a memory (a block that has a handle). This is enough
/// for a sensor's event, a number or a short text. These bytes and their length fill one cache line.
pub const SMALL_MAX: usize = 63;

/// Content that Rust code passes in. `keep` copies plain bytes, but never copies a memory.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    raw: Content,
    lent: PhantomData<&'a [u8]>,
}

impl<'a> Given<'a> {
    /// Returns the null message, which has no bytes.
    pub const fn null() -> Given<'static> {
        Given { raw: Content::NULL, lent: PhantomData }
    }

    /// Returns content that consists of plain bytes. `keep` copies them if the message outlives the call.
    pub const fn bytes(bytes: &'a [u8]) -> Given<'a> {
        Given { raw: Content::of(bytes), lent: PhantomData }
    }

    /// Returns content that is a whole memory. The memory is never copied.
    pub fn memory(memory: &'a Memory) -> Given<'a> {
        Given { raw: Content::of_memory(memory.handle()), lent: PhantomData }
    }

    /// Sets the attachments: handles of memories. The memories are never copied.
    pub fn with(self, attachments: &'a [Handle]) -> Given<'a> {
        let raw = Content { attachments: attachments.as_ptr(), attachments_count: attachments.len(), ..self.raw };
        Given { raw, lent: PhantomData }
    }

    /// Wraps content that came over the ABI.
    ///
    /// # Safety
    /// The pointers in `raw` must be readable for their stated sizes, during `'a`.
    pub const unsafe fn raw(raw: Content) -> Given<'a> {
        Given { raw, lent: PhantomData }
    }

    /// Returns whether this is the null message without attachments.
    #[inline]
    pub(crate) fn is_null(&self) -> bool {
        let Content { data, size, memory, attachments_count, .. } = self.raw;
        data.is_null() && size == 0 && memory == 0 && attachments_count == 0
    }

    /// Returns the content as the caller passed it, unchecked.
    pub(crate) fn as_raw(&self) -> &Content {
        &self.raw
    }

    /// Checks the content: rejects impossible lengths, bytes outside of their memory, and stale references. Returns the content. If the
    /// content names a memory but has a null pointer, fills in the memory's address and size.
    #[inline]
    pub(crate) fn checked(&self) -> Result<Content, Status> {
        if self.is_null() {
            return Ok(Content::NULL);
        }
        let Content { data, size, memory, attachments, attachments_count } = self.raw;
        if attachments_count == 0 && !attachments.is_null() {
            return self.without_attachments().checked();
        }
        if attachments_count > ATTACHMENTS_MAX {
            return Err(CLEARWAY_TOO_LARGE);
        }
        if attachments_count > 0 {
            if attachments.is_null() || !attachments.is_aligned() {
                return Err(CLEARWAY_INVALID_ARGUMENT);
            }
            for handle in self.attachments() {
                resolve::look(*handle)?;
            }
        }
        if memory != 0 {
            let view = resolve::look(memory)?;
            if data.is_null() {
                return Ok(Content { data: view.data, size: view.size, ..self.raw });
            }
            // The addresses are compared as integers, because pointer arithmetic is undefined for a pointer outside of the memory.
            let from = (data as usize).checked_sub(view.data as usize).ok_or(CLEARWAY_INVALID_ARGUMENT)?;
            if from > view.size || size > view.size - from {
                return Err(CLEARWAY_INVALID_ARGUMENT);
            }
            return Ok(self.raw);
        }
        match size {
            0 => Ok(self.raw),
            _ if data.is_null() => Err(CLEARWAY_INVALID_ARGUMENT),
            _ if size > BYTES_MAX => Err(CLEARWAY_TOO_LARGE),
            _ => Ok(self.raw),
        }
    }

    /// Returns the content with null `attachments`, for a count of 0. Handlers then never see a dangling pointer.
    #[cold]
    fn without_attachments(&self) -> Given<'a> {
        Given { raw: Content { attachments: std::ptr::null(), ..self.raw }, ..*self }
    }

    fn attachments(&self) -> &'a [Handle] {
        match self.raw.attachments_count {
            0 => &[],
            // SAFETY: the pointer is readable for `count` handles, as the maker of the content promised. `checked` has checked the pointer.
            count => unsafe { std::slice::from_raw_parts(self.raw.attachments, count) },
        }
    }

    /// Takes references to the attachments, which `checked` has checked.
    fn retained_attachments(&self) -> Result<Vec<Memory>, Status> {
        self.attachments().iter().map(|handle| Memory::retain(*handle)).collect()
    }

    /// Checks the content, and calls `look` with references of its own to the content's memories. The caller may then release its
    /// references during the call. Copies nothing.
    pub(crate) fn referenced<R>(&self, look: impl FnOnce(&Content) -> R) -> Result<R, Status> {
        let content = self.checked()?;
        if content.memory == 0 && content.attachments_count == 0 {
            return Ok(look(&content));
        }
        let memory = if content.memory == 0 { None } else { Some(Memory::retain(content.memory)?) };
        let attachments = self.retained_attachments()?;
        let handles: Vec<Handle> = attachments.iter().map(Memory::handle).collect();
        Ok(look(&Content {
            memory: memory.as_ref().map_or(0, Memory::handle),
            attachments: if handles.is_empty() { std::ptr::null() } else { handles.as_ptr() },
            ..content
        }))
    }

    /// Keeps the content: copies its bytes, or takes references to its memories.
    pub(crate) fn keep(&self) -> Result<Kept, Status> {
        let Content { data, size, memory, .. } = self.checked()?;
        let attachments = self.retained_attachments()?;
        let bytes = if memory != 0 {
            let memory = Memory::retain(memory)?;
            // The handle still names the memory that was checked. A handle contains a generation, so another memory never has the same
            // handle.
            let from = data as usize - memory.data() as usize;
            Bytes::Memory { memory, range: from..from + size }
        } else if data.is_null() {
            Bytes::Null
        } else if size <= SMALL_MAX {
            let mut bytes = [0; SMALL_MAX];
            // SAFETY: `data` is readable for `size` bytes, as the maker of the content promised.
            unsafe { std::ptr::copy_nonoverlapping(data, bytes.as_mut_ptr(), size) };
            Bytes::Small { size: size as u8, bytes }
        } else {
            // SAFETY: as above.
            Bytes::Memory { memory: unsafe { Memory::copied(data, size) }?, range: 0..size }
        };
        let copied = if memory == 0 { size } else { 0 };
        Ok(Kept { bytes, attachments, copied })
    }
}

/// Content that the core stores until a handler has run or the host has read it.
#[derive(Debug, Default)]
pub struct Kept {
    /// The bytes.
    pub bytes: Bytes,
    /// The attached memories.
    pub attachments: Vec<Memory>,
    /// The number of bytes that `keep` copied.
    pub copied: usize,
}

/// The bytes of kept content.
#[derive(Debug, Default)]
pub enum Bytes {
    /// No bytes: the null message.
    #[default]
    Null,
    /// Up to `SMALL_MAX` bytes, stored inside this value.
    Small {
        /// The number of bytes.
        size: u8,
        /// The bytes, followed by zeros.
        bytes: [u8; SMALL_MAX],
    },
    /// A part of a memory.
    Memory {
        /// The memory.
        memory: Memory,
        /// The range of the bytes in the memory.
        range: Range<usize>,
    },
}

impl Kept {
    /// Returns the address and the number of the bytes. The address is null for the null message, and valid until this value moves or is
    /// dropped.
    pub fn data(&self) -> (*const u8, usize) {
        match &self.bytes {
            Bytes::Null => (std::ptr::null(), 0),
            Bytes::Small { size, bytes } => (bytes.as_ptr(), (*size).into()),
            Bytes::Memory { memory, range } => (memory.data().wrapping_add(range.start), range.len()),
        }
    }

    /// Copies the bytes. Returns `None` for the null message.
    pub fn to_vec(&self) -> Option<Vec<u8>> {
        let (data, size) = self.data();
        // SAFETY: the bytes live as long as `self`.
        (!data.is_null()).then(|| unsafe { std::slice::from_raw_parts(data, size) }.to_vec())
    }

    /// Returns the number of bytes that this content holds, attachments included. A memory that is attached twice counts twice, so the
    /// number may be larger than the address space of a 32-bit process.
    pub fn size(&self) -> u64 {
        self.data().1 as u64 + self.attachments.iter().map(|memory| memory.size() as u64).sum::<u64>()
    }

    /// Calls `look` with the content as a struct of the ABI. The struct is valid only during the call.
    pub(crate) fn lend<R>(&self, look: impl FnOnce(&Content) -> R) -> R {
        let (data, size) = self.data();
        let memory = if let Bytes::Memory { memory, .. } = &self.bytes { memory.handle() } else { 0 };
        if self.attachments.is_empty() {
            return look(&Content { data, size, memory, ..Content::NULL });
        }
        let handles: Vec<Handle> = self.attachments.iter().map(Memory::handle).collect();
        look(&Content { data, size, memory, attachments: handles.as_ptr(), attachments_count: handles.len() })
    }
}

/// Checks a name and returns its text. A name is UTF-8 of 1 to 256 bytes.
///
/// # Safety
/// `text.data` must be null or readable for `text.size` bytes, during `'a`.
pub(crate) unsafe fn name<'a>(text: clearway_sys::Text) -> Result<&'a str, Status> {
    if text.data.is_null() || text.size == 0 {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    if text.size > 256 {
        return Err(CLEARWAY_TOO_LARGE);
    }
    // SAFETY: the caller guarantees this.
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast(), text.size) };
    std::str::from_utf8(bytes).map_err(|_| CLEARWAY_INVALID_ARGUMENT)
}

/// Copies a text that people will read. Copies at most the first 4096 bytes, and replaces invalid UTF-8.
///
/// # Safety
/// `text.data` must be null, or readable for the lesser of `text.size` and 4096 bytes.
pub unsafe fn shown(text: clearway_sys::Text) -> String {
    if text.data.is_null() {
        return String::new();
    }
    // SAFETY: the caller guarantees this.
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast(), text.size.min(4096)) };
    String::from_utf8_lossy(bytes).into_owned()
}

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
