// SPDX-License-Identifier: MIT OR Apache-2.0
//! Content that the plugin receives.

use std::borrow::Cow;
use std::slice;

use clearway_codec::serde::from_value;
use clearway_codec::{Limits, standard};
use clearway_sys as sys;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::memory::Memory;

/// A message, the arguments of a listener, or an answer of the host. It is lent during the call. Keep its memory to use the content
/// later.
///
/// ```compile_fail
/// # use clearway_plugin::Request;
/// // A request cannot be kept: it ends with the call.
/// fn keep(request: Request<'_>) {
///     std::thread::spawn(move || request.is_null());
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Request<'a> {
    host: &'static sys::Host,
    content: &'a sys::Content,
}

impl<'a> Request<'a> {
    /// # Safety
    /// The host must lend the content during `'a`.
    pub(crate) unsafe fn new(host: &'static sys::Host, content: &'a sys::Content) -> Request<'a> {
        Request { host, content }
    }

    /// Returns whether the content has no bytes.
    pub fn is_null(&self) -> bool {
        self.content.data.is_null()
    }

    /// Returns the bytes. Copies them if they are in unsealed memory, because another holder may write to it: see [`Memory::bytes`].
    pub fn bytes(&self) -> Cow<'a, [u8]> {
        let sys::Content { data, size, memory, .. } = *self.content;
        if data.is_null() || size == 0 {
            return Cow::Borrowed(&[]);
        }
        let shared = memory != 0 && !self.memory().is_ok_and(|memory| memory.is_some_and(|memory| memory.is_sealed()));
        if shared {
            // SAFETY: the bytes are readable during the call. Each byte is loaded atomically, because another holder may write.
            let cells = unsafe { slice::from_raw_parts(data.cast::<std::sync::atomic::AtomicU8>(), size) };
            return Cow::Owned(cells.iter().map(|cell| cell.load(std::sync::atomic::Ordering::Relaxed)).collect());
        }
        // SAFETY: these are lent bytes, or bytes of sealed memory. They are readable during the call, and no holder writes to them.
        Cow::Borrowed(unsafe { slice::from_raw_parts(data, size) })
    }

    /// Decodes a value of the standard codec. Content without bytes is null.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T> {
        let wrong = |error: &dyn std::fmt::Display| Error::invalid_argument(error.to_string());
        let value = standard::read(&self.bytes(), Limits::DEFAULT).map_err(|error| wrong(&error))?;
        from_value(value).map_err(|error| wrong(&error))
    }

    /// Returns the memory that contains the bytes, if there is one.
    pub fn memory(&self) -> Result<Option<Memory>> {
        match self.content.memory {
            0 => Ok(None),
            handle => Memory::retain(self.host, handle).map(Some),
        }
    }

    /// Returns the attached memories.
    pub fn attachments(&self) -> Result<Vec<Memory>> {
        let handles = match self.content.attachments_count {
            0 => &[],
            // SAFETY: the host lends `count` handles during the call.
            count => unsafe { slice::from_raw_parts(self.content.attachments, count) },
        };
        handles.iter().map(|handle| Memory::retain(self.host, *handle)).collect()
    }
}

/// Content that outlives the call that received it.
pub(crate) struct Kept {
    host: &'static sys::Host,
    bytes: Option<Vec<u8>>,
    memory: Option<Memory>,
    /// The start and the size of the bytes in the memory.
    part: (usize, usize),
    attachments: Vec<Memory>,
}

impl Request<'_> {
    /// Copies the bytes, or takes references to the memories.
    pub(crate) fn keep(&self) -> Result<Kept> {
        let memory = self.memory()?;
        let from = memory.as_ref().map_or(0, |memory| self.content.data as usize - memory.loads().as_ptr() as usize);
        let bytes = (memory.is_none() && !self.is_null()).then(|| self.bytes().into_owned());
        Ok(Kept { host: self.host, bytes, memory, part: (from, self.content.size), attachments: self.attachments()? })
    }
}

impl Kept {
    /// Lends the content in the form in which it was received.
    pub(crate) fn lend<R>(&self, give: impl FnOnce(Request<'_>) -> R) -> R {
        let attachments: Vec<sys::Memory> = self.attachments.iter().map(Memory::handle).collect();
        let mut content = match (&self.memory, &self.bytes) {
            (Some(memory), _) => sys::Content {
                data: memory.loads()[self.part.0..][..self.part.1].as_ptr().cast(),
                size: self.part.1,
                ..sys::Content::of_memory(memory.handle())
            },
            (None, Some(bytes)) => sys::Content::of(bytes),
            (None, None) => sys::Content::NULL,
        };
        if !attachments.is_empty() {
            (content.attachments, content.attachments_count) = (attachments.as_ptr(), attachments.len());
        }
        // SAFETY: the pointers are valid until `give` returns.
        give(unsafe { Request::new(self.host, &content) })
    }
}

/// Types that a handler or a source may take: a [`Request`], or every type with serde's `Deserialize`, from the standard codec.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a message",
    note = "take `Request<'_>`, or a type with `#[derive(serde::Deserialize)]`"
)]
pub trait FromRequest<'a>: Sized {
    /// Reads a value of this type from the request.
    fn from_request(request: Request<'a>) -> Result<Self>;
}

impl<'a> FromRequest<'a> for Request<'a> {
    fn from_request(request: Request<'a>) -> Result<Self> {
        Ok(request)
    }
}

impl<'a, T: DeserializeOwned> FromRequest<'a> for T {
    fn from_request(request: Request<'a>) -> Result<T> {
        request.decode()
    }
}
