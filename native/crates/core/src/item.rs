// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the host reads of a plugin.

use crate::answer::{Failure, Outcome};
use crate::content::Kept;

/// One thing that a plugin has for its host.
#[derive(Debug)]
pub enum Item {
    /// The answer to a message that was pending.
    Answer {
        /// What the host called the message.
        tag: u64,
        /// Content, or why there is none.
        outcome: Outcome,
    },
    /// An event.
    Event {
        /// What the host called the listener.
        tag: u64,
        /// The stream.
        stream: u64,
        /// How many events were dropped between the one before and this one.
        dropped: u64,
        /// What it holds.
        content: Kept,
    },
    /// A stream has ended.
    End {
        /// What the host called the listener.
        tag: u64,
        /// The stream, which is stale now.
        stream: u64,
        /// How many events were dropped after the last one.
        dropped: u64,
        /// Why, where it did not end well.
        failure: Option<Failure>,
    },
    /// A message of the plugin's.
    Message(Incoming),
    /// What the plugin says to who runs it.
    Log {
        /// `CLEARWAY_LOG_...`.
        level: u32,
        /// UTF-8, whatever it was.
        text: String,
    },
}

/// A message of a plugin's to the host.
#[derive(Debug)]
pub struct Incoming {
    /// The channel's name.
    pub channel: Box<str>,
    /// What it holds.
    pub content: Kept,
    /// By what it is answered, once; 0 where no answer is wanted.
    pub reply: u64,
}
