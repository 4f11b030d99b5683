// SPDX-License-Identifier: MIT OR Apache-2.0
//! The items that the host reads from a plugin, and the result of a message: content, or a failure.

use clearway_sys::{CLEARWAY_FAILED, CLEARWAY_OK, CLEARWAY_PENDING, Status};

use crate::call::Empty;
use crate::content::Kept;

/// A failure: a status other than `CLEARWAY_OK`, and a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// `CLEARWAY_...`, or the plugin's own status from 1000 on.
    pub status: Status,
    /// The plugin's error text, possibly empty.
    pub text: String,
}

impl Failure {
    pub(crate) fn of(status: Status) -> Failure {
        Failure { status, text: String::new() }
    }
}

/// Returns the status with which a plugin or a host refuses. Replaces a status that is not a failure with `CLEARWAY_FAILED`.
pub(crate) fn plugin_status(status: Status) -> Status {
    if status == CLEARWAY_PENDING || status == CLEARWAY_OK { CLEARWAY_FAILED } else { status }
}

/// The answer to a message: content or a failure.
pub type Outcome = Result<Kept, Failure>;

impl Empty for Outcome {
    #[inline]
    fn empty() -> Outcome {
        Ok(Kept::default())
    }
}

/// One item that a plugin has for its host.
#[derive(Debug)]
pub enum Item {
    /// The answer to a pending message.
    Answer {
        /// The host's tag for the message.
        tag: u64,
        /// The content, or the failure.
        outcome: Outcome,
    },
    /// An event.
    Event {
        /// The host's tag for the listener.
        tag: u64,
        /// The stream.
        stream: u64,
        /// The number of events dropped between the previous event and this one.
        dropped: u64,
        /// The event's content.
        content: Kept,
    },
    /// The end of a stream.
    End {
        /// The host's tag for the listener.
        tag: u64,
        /// The stream, which is stale now.
        stream: u64,
        /// The number of events dropped after the last event.
        dropped: u64,
        /// The reason, unless the stream ended normally.
        failure: Option<Failure>,
    },
    /// A message from the plugin.
    Message(Incoming),
    /// A log line of the plugin, for people.
    Log {
        /// One of `CLEARWAY_LOG_...`.
        level: u32,
        /// The text, with invalid UTF-8 replaced.
        text: String,
    },
}

/// A message from a plugin to the host.
#[derive(Debug)]
pub struct Incoming {
    /// The channel's name.
    pub channel: Box<str>,
    /// The message's content.
    pub content: Kept,
    /// The handle for the one answer, or 0 if the plugin wants no answer.
    pub reply: u64,
}
