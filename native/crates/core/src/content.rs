// SPDX-License-Identifier: MIT OR Apache-2.0
//! What messages, replies and events hold: as it is given, looked through, and kept.

use std::marker::PhantomData;
use std::ops::Range;

use clearway_plugin::{CLEARWAY_INVALID_ARGUMENT, CLEARWAY_TOO_LARGE, Content, Memory as Handle, Status};

use crate::memory::{BYTES_MAX, Memory, resolve};

/// Attachments of one content at most: a frame and its planes need four.
pub const ATTACHMENTS_MAX: usize = 32;

/// Bytes that are kept beside their message instead of in memory of their own: a sensor's event, a number, a short text. With
/// its length it fills one cache line.
pub const SMALL_MAX: usize = 63;

/// Content as Rust gives it: bytes that are copied where they are kept, or memory that is not.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    raw: Content,
    lent: PhantomData<&'a [u8]>,
}

impl<'a> Given<'a> {
    /// No bytes at all.
    pub const fn null() -> Given<'static> {
        Given { raw: Content::NULL, lent: PhantomData }
    }

    /// Bytes, copied where the message is kept for longer than the call.
    pub const fn bytes(bytes: &'a [u8]) -> Given<'a> {
        Given { raw: Content::of(bytes), lent: PhantomData }
    }

    /// All of a memory; never copied.
    pub fn memory(memory: &'a Memory) -> Given<'a> {
        Given { raw: Content::of_memory(memory.handle()), lent: PhantomData }
    }

    /// A part of a memory; never copied. Panics where the range is not in it.
    pub fn part(memory: &'a Memory, range: Range<usize>) -> Given<'a> {
        assert!(
            range.start <= range.end && range.end <= memory.size(),
            "range must lie in the memory: range={range:?}"
        );
        let data = memory.data().wrapping_add(range.start);
        let raw = Content { data, size: range.len(), ..Content::of_memory(memory.handle()) };
        Given { raw, lent: PhantomData }
    }

    /// With memories beside it, never copied, by their handles.
    pub fn with(self, attachments: &'a [Handle]) -> Given<'a> {
        let raw = Content { attachments: attachments.as_ptr(), attachments_count: attachments.len(), ..self.raw };
        Given { raw, lent: PhantomData }
    }

    /// Content as it came over the ABI.
    ///
    /// # Safety
    /// Its pointers must be readable for what they announce, for the time of `'a`.
    pub const unsafe fn raw(raw: Content) -> Given<'a> {
        Given { raw, lent: PhantomData }
    }

    /// Whether it is the null message, with nothing beside it.
    #[inline]
    pub(crate) fn is_null(&self) -> bool {
        let Content { data, size, memory, attachments_count, .. } = self.raw;
        data.is_null() && size == 0 && memory == 0 && attachments_count == 0
    }

    /// As it was given: nothing of it was looked at.
    pub(crate) fn as_raw(&self) -> &Content {
        &self.raw
    }

    /// Looks it through: lengths that cannot be, bytes that are not in their memory, references that are stale. What is right is
    /// returned with its bytes filled in.
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
            // In numbers, because a pointer that is not in the memory may not be counted with.
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

    /// Whatever stands beside a count of 0 is null for handlers.
    #[cold]
    fn without_attachments(&self) -> Given<'a> {
        Given { raw: Content { attachments: std::ptr::null(), ..self.raw }, ..*self }
    }

    fn attachments(&self) -> &'a [Handle] {
        match self.raw.attachments_count {
            0 => &[],
            // SAFETY: readable for that many, as whoever made it promised; looked through by `checked`.
            count => unsafe { std::slice::from_raw_parts(self.raw.attachments, count) },
        }
    }

    /// Takes what is needed to keep it: copies of bytes, references to memories.
    pub(crate) fn keep(&self) -> Result<Kept, Status> {
        let Content { data, size, memory, .. } = self.checked()?;
        let mut attachments = Vec::with_capacity(self.raw.attachments_count);
        for handle in self.attachments() {
            attachments.push(Memory::retain(*handle)?);
        }
        let bytes = if memory != 0 {
            let memory = Memory::retain(memory)?;
            // Between the check and here the handle cannot have come to name another memory: it has a generation.
            let from = data as usize - memory.data() as usize;
            Bytes::Memory { memory, range: from..from + size }
        } else if data.is_null() {
            Bytes::Null
        } else if size <= SMALL_MAX {
            let mut bytes = [0; SMALL_MAX];
            // SAFETY: readable for `size`, as whoever made it promised.
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

/// Content that somebody keeps: until it is handled, or read.
#[derive(Debug, Default)]
pub struct Kept {
    /// The bytes.
    pub bytes: Bytes,
    /// Memories that came along.
    pub attachments: Vec<Memory>,
    /// Bytes that were copied for it.
    pub copied: usize,
}

/// Bytes of kept content.
#[derive(Debug, Default)]
pub enum Bytes {
    /// None at all: the null message.
    #[default]
    Null,
    /// Few, kept in place.
    Small {
        /// How many.
        size: u8,
        /// They, and zeros.
        bytes: [u8; SMALL_MAX],
    },
    /// A part of a memory.
    Memory {
        /// The memory.
        memory: Memory,
        /// Where they stand in it.
        range: Range<usize>,
    },
}

impl Kept {
    /// Where the bytes are, and how many; null for the null message. Valid while this value is, where it is.
    pub fn data(&self) -> (*const u8, usize) {
        match &self.bytes {
            Bytes::Null => (std::ptr::null(), 0),
            Bytes::Small { size, bytes } => (bytes.as_ptr(), (*size).into()),
            Bytes::Memory { memory, range } => (memory.data().wrapping_add(range.start), range.len()),
        }
    }

    /// A copy of the bytes; nothing for the null message.
    pub fn to_vec(&self) -> Option<Vec<u8>> {
        let (data, size) = self.data();
        // SAFETY: the bytes are there while `self` is.
        (!data.is_null()).then(|| unsafe { std::slice::from_raw_parts(data, size) }.to_vec())
    }

    /// Bytes that it holds on to.
    pub fn size(&self) -> usize {
        self.data().1 + self.attachments.iter().map(Memory::size).sum::<usize>()
    }

    /// Lends it to `look` as the ABI shows content.
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

/// The text of a name: not empty, at most 256 bytes, UTF-8.
///
/// # Safety
/// Readable for its size, for the time of `'a`.
pub(crate) unsafe fn name<'a>(text: clearway_plugin::Text) -> Result<&'a str, Status> {
    if text.data.is_null() || text.size == 0 {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    if text.size > 256 {
        return Err(CLEARWAY_TOO_LARGE);
    }
    // SAFETY: as the caller promises.
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast(), text.size) };
    std::str::from_utf8(bytes).map_err(|_| CLEARWAY_INVALID_ARGUMENT)
}

/// Text for people: at most 4096 bytes of it, what is not UTF-8 replaced.
///
/// # Safety
/// Readable for its size or 4096 bytes, whichever is less.
pub(crate) unsafe fn shown(text: clearway_plugin::Text) -> String {
    if text.data.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast(), text.size.min(4096)) };
    String::from_utf8_lossy(bytes).into_owned()
}
