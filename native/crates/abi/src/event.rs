// SPDX-License-Identifier: MIT OR Apache-2.0

use clearway_core::{Bytes, Failure, Item, Kept, Outcome, hold, let_go};
use clearway_plugin::{CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, CLEARWAY_STALE, Content, Status, Text};

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
/// Nothing: the answer of `clearway_channel_call` is null.
pub const CLEARWAY_EVENT_NONE: u32 = 0;
/// The answer of `clearway_channel_call` is the memory that was given, all of it.
pub const CLEARWAY_EVENT_BACK: u32 = 6;

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
    /// Bytes of the content that were copied on their way into the queue: all of them, or none.
    pub copied: u64,
}

impl Event {
    /// No event. Not in the header, where `{0}` is the same: a macro in C could not name these constants.
    ///
    /// cbindgen:ignore
    pub const NONE: Event = Event {
        kind: CLEARWAY_EVENT_NONE,
        status: CLEARWAY_OK,
        tag: 0,
        handle: 0,
        dropped: 0,
        content: Content::NULL,
        text: Text::NONE,
        held: 0,
        copied: 0,
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
        let copied = kept.copied as u64;
        match hold(kept, text) {
            Ok((held, content, text)) => Event { held, content, text, copied, ..self },
            Err(status) => Event { status, ..self },
        }
    }
}

/// Gives the content and text of `count` events back, as `clearway_event_release` does; those that hold nothing and that were released are
/// passed over.
///
/// # Safety
/// Null, or events that can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_events_release(events: *mut Event, count: usize) -> Status {
    if events.is_null() || !events.is_aligned() {
        return if count == 0 { CLEARWAY_OK } else { CLEARWAY_INVALID_ARGUMENT };
    }
    for at in 0..count {
        // SAFETY: as the caller promises.
        unsafe { clearway_event_release(events.add(at)) };
    }
    CLEARWAY_OK
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
