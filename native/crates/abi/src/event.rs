// SPDX-License-Identifier: MIT OR Apache-2.0

use clearway_core::{Bytes, Failure, Item, Kept, Outcome, hold, let_go};
use clearway_plugin::{CLEARWAY_OK, CLEARWAY_STALE, Content, Status, Text};

use crate::status;

/// The answer to a message: `tag`, `status`; `content`, or `text` where the status is not `CLEARWAY_OK`.
pub const CLEARWAY_EVENT_ANSWER: u32 = 1;
/// An event of a stream: `tag`, `handle` (the stream), `dropped` (events lost before it), `content`.
pub const CLEARWAY_EVENT_ITEM: u32 = 2;
/// A stream has ended: `tag`, `handle`, `dropped`, `status`, `text`.
pub const CLEARWAY_EVENT_END: u32 = 3;
/// A message of the plugin's: `text` (the channel's name), `content`, `handle` (for `clearway_answer`; 0 where no answer is wanted).
pub const CLEARWAY_EVENT_MESSAGE: u32 = 4;
/// What the plugin says to who runs it: `handle` (`CLEARWAY_LOG_...`), `text`.
pub const CLEARWAY_EVENT_LOG: u32 = 5;

/// One thing that a plugin has for its host. Give it back with `clearway_event_release` when it was looked at.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// `CLEARWAY_EVENT_...`.
    pub kind: u32,
    /// How it went.
    pub status: Status,
    /// What the host has called the message or the listener.
    pub tag: u64,
    /// See the kind.
    pub handle: u64,
    /// Events of the stream that were dropped.
    pub dropped: u64,
    /// The event's, until it is released. Retain a memory to keep it.
    pub content: Content,
    /// The event's, until it is released.
    pub text: Text,
    /// What holds content and text; 0 where there are none.
    pub held: u64,
}

impl Event {
    /// Nothing.
    pub const NONE: Event = Event {
        kind: 0,
        status: CLEARWAY_OK,
        tag: 0,
        handle: 0,
        dropped: 0,
        content: Content::NULL,
        text: Text::NONE,
        held: 0,
    };

    pub(crate) fn of(item: Item) -> Event {
        match item {
            Item::Answer { tag, outcome } => Event::answer(tag, outcome),
            Item::Event { tag, stream, dropped, content } => {
                let event = Event { kind: CLEARWAY_EVENT_ITEM, tag, handle: stream, dropped, ..Event::NONE };
                event.holding(content, "".into())
            }
            Item::End { tag, stream, dropped, failure } => {
                let event = Event { kind: CLEARWAY_EVENT_END, tag, handle: stream, dropped, ..Event::NONE };
                match failure {
                    None => event,
                    Some(Failure { status, text }) => Event { status, ..event }.holding(Kept::default(), text.into()),
                }
            }
            Item::Message(incoming) => {
                let event = Event { kind: CLEARWAY_EVENT_MESSAGE, handle: incoming.reply, ..Event::NONE };
                event.holding(incoming.content, incoming.channel)
            }
            Item::Log { level, text } => {
                let event = Event { kind: CLEARWAY_EVENT_LOG, handle: level.into(), ..Event::NONE };
                event.holding(Kept::default(), text.into())
            }
        }
    }

    pub(crate) fn answer(tag: u64, outcome: Outcome) -> Event {
        let event = Event { kind: CLEARWAY_EVENT_ANSWER, tag, ..Event::NONE };
        match outcome {
            Ok(content) => event.holding(content, "".into()),
            Err(Failure { status, text }) => Event { status, ..event }.holding(Kept::default(), text.into()),
        }
    }

    fn holding(self, kept: Kept, text: Box<str>) -> Event {
        if matches!(kept.bytes, Bytes::Null) && kept.attachments.is_empty() && text.is_empty() {
            return self;
        }
        match hold(kept, text) {
            Ok((held, content, text)) => Event { held, content, text, ..self },
            Err(status) => Event { status, ..self },
        }
    }
}

/// Gives an event's content and text back. `CLEARWAY_STALE` where that was done before; null and an event that holds nothing are
/// `CLEARWAY_OK`.
///
/// # Safety
/// Null, or an event that can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_event_release(event: *mut Event) -> Status {
    status(|| {
        if event.is_null() || !event.is_aligned() {
            return Ok(());
        }
        // SAFETY: as the caller promises.
        let held = unsafe {
            let held = (*event).held;
            (*event).content = Content::NULL;
            (*event).text = Text::NONE;
            held
        };
        if held == 0 { Ok(()) } else { let_go(held).map_err(|_| CLEARWAY_STALE) }
    })
}
