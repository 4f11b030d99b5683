// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors with a status, as the other side receives them.

use std::fmt;

use clearway_sys as sys;

/// The result of most functions here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error for the other side: a status, and a text for people.
///
/// Every error of the standard library's kind becomes one by `?`, with the status [`Status::Failed`] and its texts, so a handler
/// may return `clearway::Result`. For the same reason `Error` itself is no [`std::error::Error`], as in the crate `anyhow`.
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
    /// The thing no longer exists: a message was answered, a stream has ended.
    Stale,
    /// Memory, or a thread, could not be had.
    OutOfMemory,
    /// More than the host's limits allow.
    TooLarge,
    /// A queue is full, or too many calls are in flight: try again.
    Full,
    /// The plugin is closed or closing.
    Closed,
    /// No one handles the channel.
    NoHandler,
    /// The channel has a handler, or a source.
    AlreadyExists,
    /// The plugin panicked, and goes on.
    Panicked,
    /// The handler does not know the method.
    NotImplemented,
    /// The text says what failed.
    Failed,
    /// The caller has given up.
    Cancelled,
    /// Not done within the time given.
    Timeout,
    /// A stream's queue was full, and its policy is to fail.
    Overflow,
    /// A status of this plugin's own, from 1000 on; or one that this crate does not know.
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
    /// The number of the status, as in `clearway.h`.
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
    /// An error with a status and a text.
    pub fn new(status: Status, text: impl Into<String>) -> Error {
        Error { status, text: text.into() }
    }

    /// [`Status::Failed`] with a text.
    pub fn failed(text: impl Into<String>) -> Error {
        Error::new(Status::Failed, text)
    }

    /// [`Status::InvalidArgument`] with a text, which should name the argument and its value.
    pub fn invalid_argument(text: impl Into<String>) -> Error {
        Error::new(Status::InvalidArgument, text)
    }

    /// The status.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The text for people; may be empty.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Makes a result of a host's status.
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
