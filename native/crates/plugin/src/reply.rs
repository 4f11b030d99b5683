// SPDX-License-Identifier: MIT OR Apache-2.0
//! The right to answer one message, and its answer by the result of a plugin's function.

use clearway_sys as sys;

use crate::content::{Content, IntoContent};
use crate::error::{Error, Result, Status, catch_panic};

/// The right to answer one message once. The plugin may answer now or later, on any thread. Each method that answers consumes the reply.
///
/// If the plugin drops the reply without an answer, the message is answered with [`Status::Failed`]. If a panic drops the reply, it is
/// answered with [`Status::Panicked`]. So the caller gets an answer in any case.
///
/// ```compile_fail,E0382
/// # use clearway_plugin::Reply;
/// fn twice(reply: Reply) {
///     let _ = reply.send(1);
///     let _ = reply.send(2); // `reply` was moved by the first call
/// }
/// ```
///
/// ```compile_fail,E0308
/// # use clearway_plugin::{Memory, Reply};
/// fn answer(reply: Reply) {}
/// fn confused(memory: Memory) {
///     answer(memory); // the types differ
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

    /// Answers the message with content. If the value cannot be converted to content, or if the host refuses the content, answers with that
    /// error and returns it. Returns [`Status::Stale`] if closing the plugin has already answered the message.
    pub fn send(self, content: impl IntoContent) -> Result<()> {
        match content.into_content() {
            Ok(content) => self.send_content(&content),
            Err(error) => {
                self.fail(error.clone())?;
                Err(error)
            }
        }
    }

    fn send_content(mut self, content: &Content) -> Result<()> {
        // SAFETY: the content is valid during the call.
        let result = Error::check(content.lend(|content| unsafe { (self.host.reply)(self.handle, content) }));
        match &result {
            Err(error) if error.status() != Status::Stale => drop(self.send_error(error)),
            _ => self.handle = 0,
        }
        result
    }

    /// Answers the message with an error. Returns [`Status::Stale`] if closing the plugin has already answered the message.
    pub fn fail(mut self, error: impl Into<Error>) -> Result<()> {
        self.send_error(&error.into())
    }

    fn send_error(&mut self, error: &Error) -> Result<()> {
        let handle = std::mem::take(&mut self.handle);
        // SAFETY: the text is valid during the call.
        Error::check(unsafe { (self.host.reply_error)(handle, error.status().number(), sys::Text::of(error.text())) })
    }

    /// Returns whether the caller still waits for the answer. Returns false if the caller never wanted an answer.
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
        let _ = self.send_error(&error); // fails if closing the plugin has already answered the message
    }
}

/// Runs `work` and answers with its result. If `work` panics, answers with an error that has the panic's text.
pub fn answer<C: IntoContent>(reply: Reply, work: impl FnOnce() -> Result<C>) {
    let sent = match catch_panic(|| work()?.into_content()) {
        Ok(content) => reply.send(content),
        Err(error) => reply.fail(error),
    };
    drop(sent); // an error needs no handling: either closing has answered before, or `send` has answered with the error
}
