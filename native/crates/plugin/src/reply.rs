// SPDX-License-Identifier: MIT OR Apache-2.0
//! The right to answer one message.

use clearway_sys as sys;

use crate::content::{Content, IntoContent};
use crate::error::{Error, Result, Status};

/// The right to answer one message: once, now or later, on any thread. Each answering method consumes the reply.
///
/// A dropped reply answers [`Status::Failed`], or [`Status::Panicked`] during a panic. The caller therefore never waits for ever.
///
/// ```compile_fail,E0382
/// # use clearway_plugin::Reply;
/// fn twice(reply: Reply) {
///     let _ = reply.send(1);
///     let _ = reply.send(2); // used after it was moved
/// }
/// ```
///
/// ```compile_fail,E0308
/// # use clearway_plugin::{Memory, Reply};
/// fn answer(reply: Reply) {}
/// fn confused(memory: Memory) {
///     answer(memory); // a memory is no reply
/// }
/// ```
#[must_use = "a reply that is dropped answers with an error"]
pub struct Reply {
    host: &'static sys::Host,
    handle: sys::Reply,
}

impl Reply {
    pub(crate) fn new(host: &'static sys::Host, handle: sys::Reply) -> Reply {
        Reply { host, handle }
    }

    /// Answers. If the content cannot be made, or the host refuses it, answers with that error and returns it. Returns [`Status::Stale`]
    /// if the message was answered before, because the plugin was closed.
    pub fn send(self, content: impl IntoContent) -> Result<()> {
        match content.into_content() {
            Ok(content) => self.give(&content),
            Err(error) => {
                self.fail(error.clone())?;
                Err(error)
            }
        }
    }

    fn give(mut self, content: &Content) -> Result<()> {
        // SAFETY: the content is lent during the call.
        let given = Error::check(content.lend(|content| unsafe { (self.host.reply)(self.handle, content) }));
        match &given {
            Err(error) if error.status() != Status::Stale => drop(self.refuse(error)),
            _ => self.handle = 0,
        }
        given
    }

    /// Answers with an error.
    pub fn fail(mut self, error: impl Into<Error>) -> Result<()> {
        self.refuse(&error.into())
    }

    fn refuse(&mut self, error: &Error) -> Result<()> {
        let handle = std::mem::take(&mut self.handle);
        // SAFETY: the text is lent during the call.
        Error::check(unsafe { (self.host.reply_error)(handle, error.status().number(), sys::Text::of(error.text())) })
    }

    /// Returns whether the caller still waits for the answer. Returns false for a message that wants no answer.
    pub fn is_wanted(&self) -> bool {
        // SAFETY: the host checks the handle.
        self.handle != 0 && unsafe { (self.host.wanted)(self.handle) } == sys::CLEARWAY_OK
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if self.handle == 0 {
            return;
        }
        let error = if std::thread::panicking() {
            Error::new(Status::Panicked, "the plugin panicked before it answered")
        } else {
            Error::failed("the plugin dropped the reply without an answer")
        };
        let _ = self.refuse(&error); // stale if closing has answered
    }
}
