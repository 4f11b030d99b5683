// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's functions that one instance of the plugin can call.

use std::ffi::c_void;

use clearway_sys as sys;

use crate::content::{IntoContent, Request};
use crate::error::{Error, Result, ignore_panic};
use crate::memory::Buffer;

/// The host of one plugin instance. Clones refer to the same instance. Any thread may use the host, also after the plugin was closed. From
/// then on, each method that returns a result fails with [`Status::Closed`](crate::Status::Closed) or
/// [`Status::Stale`](crate::Status::Stale).
#[derive(Clone)]
pub struct Host {
    pub(crate) table: &'static sys::Host,
    pub(crate) id: sys::PluginId,
}

/// The severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Details for debugging.
    Debug,
    /// Useful information.
    Info,
    /// Something is wrong, but the plugin still works.
    Warning,
    /// Something failed.
    Error,
}

type OnAnswer = Box<dyn FnOnce(Result<Request<'_>>) + Send>;

unsafe extern "C-unwind" fn on_answer(context: *mut c_void, status: sys::Status, answer: *const sys::Content) {
    ignore_panic(|| {
        // SAFETY: `ask` made the context, and the host calls this function once.
        let PendingAnswer { table, callback } = *unsafe { Box::from_raw(context.cast::<PendingAnswer>()) };
        // SAFETY: the host lends the answer during this call.
        let answer = unsafe { Request::new(table, answer.as_ref().unwrap_or(&sys::Content::NULL)) };
        callback(Error::check(status).map(|()| answer));
    });
}

/// A sent message whose answer has not arrived.
struct PendingAnswer {
    table: &'static sys::Host,
    callback: OnAnswer,
}

impl Host {
    /// Allocates `size` bytes of zeroed memory. The host refuses more than 4 GiB.
    pub fn allocate(&self, size: usize) -> Result<Buffer> {
        Buffer::allocate(self.table, self.id, size)
    }

    /// Turns bytes of the plugin into memory, without a copy. The bytes are freed when the last reference to the memory is dropped.
    pub fn adopt(&self, bytes: Vec<u8>) -> Result<Buffer> {
        Buffer::adopt(self.table, self.id, bytes)
    }

    /// Logs a line for the person who runs the host. Never waits. If too many lines are unread, the host drops the line and counts it.
    pub fn log(&self, level: Level, text: impl AsRef<str>) {
        let level = match level {
            Level::Debug => sys::CLEARWAY_LOG_DEBUG,
            Level::Info => sys::CLEARWAY_LOG_INFO,
            Level::Warning => sys::CLEARWAY_LOG_WARNING,
            Level::Error => sys::CLEARWAY_LOG_ERROR,
        };
        // SAFETY: the text is valid during the call. If the plugin was freed, the host ignores the call.
        unsafe { (self.table.log)(self.id, level, sys::Text::of(text.as_ref())) };
    }

    /// Sends a message to the host without asking for an answer.
    pub fn send(&self, channel: &str, message: impl IntoContent) -> Result<()> {
        let message = message.into_content()?;
        // SAFETY: all arguments are valid during the call.
        Error::check(message.lend(|content| unsafe {
            (self.table.send)(self.id, sys::Text::of(channel), content, None, std::ptr::null_mut())
        }))
    }

    /// Sends a message to the host and asks for an answer. Calls `then` once with the answer or an error, normally on a thread of the
    /// plugin's pool. If `ask` itself returns an error, the message was not sent and `then` is not called.
    pub fn ask(
        &self,
        channel: &str,
        message: impl IntoContent,
        then: impl FnOnce(Result<Request<'_>>) + Send + 'static,
    ) -> Result<()> {
        let message = message.into_content()?;
        let context = Box::into_raw(Box::new(PendingAnswer { table: self.table, callback: Box::new(then) }));
        // SAFETY: the content is valid during the call. Either `on_answer` or this function frees the context, never both.
        let sent = message.lend(|content| unsafe {
            (self.table.send)(self.id, sys::Text::of(channel), content, Some(on_answer), context.cast())
        });
        Error::check(sent).inspect_err(|_| {
            // SAFETY: the host does not call `on_answer` for a message that it refused, so this function still owns the context.
            drop(unsafe { Box::from_raw(context) });
        })
    }
}
