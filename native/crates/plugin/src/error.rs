// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors with a status, in the form that the other side receives. A panic of the plugin's code becomes such an error before it reaches the
//! host.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clearway_sys as sys;

/// The result of most functions of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error for the other side. It has a status for programs, and a text for people.
///
/// The operator `?` converts every [`std::error::Error`] to this type. The status is then [`Status::Failed`], and the text contains the
/// texts of the error and of its causes. A handler can therefore use `?` and return `clearway::Result`. Because of that conversion, `Error`
/// itself cannot implement [`std::error::Error`]. The crate `anyhow` does the same.
///
/// ```
/// use clearway_plugin::{Result, Status};
///
/// fn parsed(text: &str) -> Result<u32> {
///     Ok(text.parse()?)
/// }
///
/// let error = parsed("ten").unwrap_err();
/// assert_eq!(error.status(), Status::Failed);
/// assert_eq!(error.text(), "invalid digit found in string");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    status: Status,
    text: String,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// An argument is wrong.
    InvalidArgument,
    /// The object no longer exists: a message was answered, or a stream has ended.
    Stale,
    /// Not enough memory is left, or no thread could be started.
    OutOfMemory,
    /// Something exceeds the host's limits.
    TooLarge,
    /// A queue is full, or too many calls are in flight. The caller may try again later.
    Full,
    /// The plugin is closed or closing.
    Closed,
    /// The channel has no handler.
    NoHandler,
    /// The channel already has a handler, or a source.
    AlreadyExists,
    /// The plugin panicked. It still works after that.
    Panicked,
    /// The handler does not know the method.
    NotImplemented,
    /// The plugin failed. The text names the reason.
    Failed,
    /// The caller has given up.
    Cancelled,
    /// The work did not end within its time limit.
    Timeout,
    /// A stream's queue was full, and the stream's policy is to fail.
    Overflow,
    /// Any other status: one of a plugin's own (1000 and above), or an unknown one.
    Other(i32),
}

const KNOWN: [(Status, sys::Status); 14] = [
    (Status::InvalidArgument, sys::CLEARWAY_INVALID_ARGUMENT),
    (Status::Stale, sys::CLEARWAY_STALE),
    (Status::OutOfMemory, sys::CLEARWAY_OUT_OF_MEMORY),
    (Status::TooLarge, sys::CLEARWAY_TOO_LARGE),
    (Status::Full, sys::CLEARWAY_FULL),
    (Status::Closed, sys::CLEARWAY_CLOSED),
    (Status::NoHandler, sys::CLEARWAY_NO_HANDLER),
    (Status::AlreadyExists, sys::CLEARWAY_ALREADY_EXISTS),
    (Status::Panicked, sys::CLEARWAY_PANICKED),
    (Status::NotImplemented, sys::CLEARWAY_NOT_IMPLEMENTED),
    (Status::Failed, sys::CLEARWAY_FAILED),
    (Status::Cancelled, sys::CLEARWAY_CANCELLED),
    (Status::Timeout, sys::CLEARWAY_TIMEOUT),
    (Status::Overflow, sys::CLEARWAY_OVERFLOW),
];

impl Status {
    /// Returns the status's number in `clearway.h`.
    pub fn number(self) -> i32 {
        match self {
            Status::Other(number) => number,
            known => {
                KNOWN.iter().find(|(status, _)| *status == known).map_or(sys::CLEARWAY_FAILED, |(_, number)| *number)
            }
        }
    }
}

impl From<i32> for Status {
    fn from(number: i32) -> Status {
        KNOWN.iter().find(|(_, known)| *known == number).map_or(Status::Other(number), |(status, _)| *status)
    }
}

impl Error {
    /// Makes an error with a status and a text.
    pub fn new(status: Status, text: impl Into<String>) -> Error {
        Error { status, text: text.into() }
    }

    /// Makes an error with [`Status::Failed`] and a text.
    pub fn failed(text: impl Into<String>) -> Error {
        Error::new(Status::Failed, text)
    }

    /// Makes an error with [`Status::InvalidArgument`] and a text. The text should name the argument and its value.
    pub fn invalid_argument(text: impl Into<String>) -> Error {
        Error::new(Status::InvalidArgument, text)
    }

    /// Returns the status.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Returns the text for people. It may be empty.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Converts a status that the host returned to a result.
    pub(crate) fn check(status: sys::Status) -> Result<()> {
        if status == sys::CLEARWAY_OK { Ok(()) } else { Err(Error::new(status.into(), "")) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() { write!(to, "{:?}", self.status) } else { to.write_str(&self.text) }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{:?}: {}", self.status, self.text)
    }
}

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Error {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(next) = cause {
            text = format!("{text}: {next}");
            cause = next.source();
        }
        Error::failed(text)
    }
}

/// Runs code of the plugin's author. Converts a panic to an error that has the panic's text.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = match panic.downcast_ref::<&str>() {
            Some(text) => (*text).into(),
            None => panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "the plugin panicked".into()),
        };
        leak(panic);
        Err(Error::new(Status::Panicked, text))
    })
}

/// Runs code of the plugin's author. Ignores a panic, because no caller could receive an error.
pub(crate) fn ignore_panic(work: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        leak(panic);
    }
}

/// Leaks a panic's payload, because dropping it could panic again.
fn leak(panic: Box<dyn Any + Send>) {
    std::mem::forget(panic);
}
