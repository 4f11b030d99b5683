// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions of the host for one instance of the plugin.

use std::ffi::c_void;

use clearway_sys as sys;

use crate::content::IntoContent;
use crate::error::{Error, Result};
use crate::guard;
use crate::memory::Buffer;
use crate::request::Request;

/// The host of one plugin instance. All clones are equal. Any thread may use it, even after the plugin was closed. Each method then
/// returns [`Status::Closed`](crate::Status::Closed) or [`Status::Stale`](crate::Status::Stale).
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
    guard::quietly(|| {
        // SAFETY: `ask` made the context, and the host calls this once.
        let Asked { table, then } = *unsafe { Box::from_raw(context.cast::<Asked>()) };
        // SAFETY: the answer is lent during this call.
        let answer = unsafe { Request::new(table, answer.as_ref().unwrap_or(&sys::Content::NULL)) };
        then(Error::check(status).map(|()| answer));
    });
}

struct Asked {
    table: &'static sys::Host,
    then: OnAnswer,
}

impl Host {
    /// Allocates zeroed memory. The host's limit is 4 GiB.
    pub fn allocate(&self, size: usize) -> Result<Buffer> {
        Buffer::allocate(self.table, self.id, size)
    }

    /// Hands bytes of the plugin to the host as memory, without a copy. Dropping the last reference frees the bytes.
    pub fn adopt(&self, bytes: Vec<u8>) -> Result<Buffer> {
        Buffer::adopt(self.table, self.id, bytes)
    }

    /// Logs a line for the person who runs the host. Never waits. Lines that do not fit are dropped and counted.
    pub fn log(&self, level: Level, text: impl AsRef<str>) {
        let level = match level {
            Level::Debug => sys::CLEARWAY_LOG_DEBUG,
            Level::Info => sys::CLEARWAY_LOG_INFO,
            Level::Warning => sys::CLEARWAY_LOG_WARNING,
            Level::Error => sys::CLEARWAY_LOG_ERROR,
        };
        // SAFETY: the text is lent during the call. A freed plugin's log call does nothing.
        unsafe { (self.table.log)(self.id, level, sys::Text::of(text.as_ref())) };
    }

    /// Sends a message to the host. The plugin wants no answer.
    pub fn send(&self, channel: &str, message: impl IntoContent) -> Result<()> {
        let message = message.into_content()?;
        // SAFETY: all arguments are lent during the call.
        Error::check(message.lend(|content| unsafe {
            (self.table.send)(self.id, sys::Text::of(channel), content, None, std::ptr::null_mut())
        }))
    }

    /// Sends a message to the host, and calls `then` with the answer, on the plugin's pool. On failure, does not call `then`.
    pub fn ask(
        &self,
        channel: &str,
        message: impl IntoContent,
        then: impl FnOnce(Result<Request<'_>>) + Send + 'static,
    ) -> Result<()> {
        let message = message.into_content()?;
        let context = Box::into_raw(Box::new(Asked { table: self.table, then: Box::new(then) }));
        // SAFETY: the content is lent during the call. Either this function or `on_answer` frees the context, once.
        let sent = message.lend(|content| unsafe {
            (self.table.send)(self.id, sys::Text::of(channel), content, Some(on_answer), context.cast())
        });
        Error::check(sent).inspect_err(|_| {
            // SAFETY: the host does not call `on_answer` for a refused message.
            drop(unsafe { Box::from_raw(context) });
        })
    }
}
