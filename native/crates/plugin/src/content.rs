// SPDX-License-Identifier: MIT OR Apache-2.0
//! Content that the plugin sends (an answer, an event, or a message to the host) and receives.

use std::borrow::Cow;
use std::ops::Range;
use std::slice;

use clearway_codec::serde::{from_value, to_value};
use clearway_codec::{Limits, standard};
use clearway_sys as sys;
use serde::Serialize;
use serde::de::DeserializeOwned;

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

/// Content that the plugin receives: a message, the arguments of a listener, or an answer of the host. It is valid during the call. To use
/// the content later, copy its bytes or keep its memory.
///
/// ```compile_fail
/// # use clearway_plugin::Request;
/// // A request is only valid during the call, so another thread cannot have it.
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
    /// Makes a request from content that the host passed in the ABI's form.
    ///
    /// # Safety
    /// The content and its pointers must be valid during `'a`.
    pub(crate) unsafe fn new(host: &'static sys::Host, content: &'a sys::Content) -> Request<'a> {
        Request { host, content }
    }

    /// Returns whether the content is null. Null content has no bytes.
    pub fn is_null(&self) -> bool {
        self.content.data.is_null()
    }

    /// Returns the bytes. Copies them if they are in memory that is not sealed, because another holder may write to such memory: see
    /// [`Memory::bytes`].
    pub fn bytes(&self) -> Cow<'a, [u8]> {
        let sys::Content { data, size, memory, .. } = *self.content;
        if data.is_null() || size == 0 {
            return Cow::Borrowed(&[]);
        }
        let shared = memory != 0 && !self.memory().is_ok_and(|memory| memory.is_some_and(|memory| memory.is_sealed()));
        if shared {
            // SAFETY: the bytes are readable during `'a`. Another holder may write to them, so each byte is read atomically.
            let cells = unsafe { slice::from_raw_parts(data.cast::<std::sync::atomic::AtomicU8>(), size) };
            return Cow::Owned(cells.iter().map(|cell| cell.load(std::sync::atomic::Ordering::Relaxed)).collect());
        }
        // SAFETY: the bytes are readable during `'a`. No holder writes to them: they are outside of a memory, and clearway.h requires of their
        // sender that they do not change; or they are in sealed memory.
        Cow::Borrowed(unsafe { slice::from_raw_parts(data, size) })
    }

    /// Decodes a value of the standard codec. Null content is the value null.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T> {
        let invalid = |error: &dyn std::fmt::Display| Error::invalid_argument(error.to_string());
        let value = standard::read(&self.bytes(), Limits::DEFAULT).map_err(|error| invalid(&error))?;
        from_value(value).map_err(|error| invalid(&error))
    }

    /// Returns a new reference to the memory that contains the bytes. Returns `None` if the bytes are not in a memory.
    pub fn memory(&self) -> Result<Option<Memory>> {
        match self.content.memory {
            0 => Ok(None),
            handle => Memory::retain(self.host, handle).map(Some),
        }
    }

    /// Returns new references to the attached memories.
    pub fn attachments(&self) -> Result<Vec<Memory>> {
        let handles = match self.content.attachments_count {
            0 => &[],
            // SAFETY: the host lends an array of `count` handles during the call.
            count => unsafe { slice::from_raw_parts(self.content.attachments, count) },
        };
        handles.iter().map(|handle| Memory::retain(self.host, *handle)).collect()
    }
}

/// Received content that stays valid after the call.
pub(crate) struct OwnedRequest {
    host: &'static sys::Host,
    bytes: Option<Vec<u8>>,
    memory: Option<Memory>,
    /// The range of the bytes in the memory.
    range: Range<usize>,
    attachments: Vec<Memory>,
}

impl Request<'_> {
    /// Keeps the content beyond the call. Takes references to its memories, and copies bytes that are not in a memory.
    pub(crate) fn to_owned_request(self) -> Result<OwnedRequest> {
        let memory = self.memory()?;
        let from = memory.as_ref().map_or(0, |memory| self.content.data as usize - memory.loads().as_ptr() as usize);
        let bytes = (memory.is_none() && !self.is_null()).then(|| self.bytes().into_owned());
        Ok(OwnedRequest {
            host: self.host,
            bytes,
            memory,
            range: from..from + self.content.size,
            attachments: self.attachments()?,
        })
    }
}

impl OwnedRequest {
    /// Passes the content to `callback` as a request, as it was received.
    pub(crate) fn lend<R>(&self, callback: impl FnOnce(Request<'_>) -> R) -> R {
        let attachments: Vec<sys::Memory> = self.attachments.iter().map(Memory::handle).collect();
        let mut content = match (&self.memory, &self.bytes) {
            (Some(memory), _) => sys::Content {
                data: memory.loads()[self.range.clone()].as_ptr().cast(),
                size: self.range.len(),
                ..sys::Content::of_memory(memory.handle())
            },
            (None, Some(bytes)) => sys::Content::of(bytes),
            (None, None) => sys::Content::NULL,
        };
        if !attachments.is_empty() {
            (content.attachments, content.attachments_count) = (attachments.as_ptr(), attachments.len());
        }
        // SAFETY: the pointers are valid until `callback` returns.
        callback(unsafe { Request::new(self.host, &content) })
    }
}

/// Types that a method's handler or a source of events may take as its argument: [`Request`], and every type with serde's `Deserialize`.
/// The standard codec decodes the values of types with `Deserialize`.
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
