// SPDX-License-Identifier: MIT OR Apache-2.0

use clearway_core::{Bytes, Failure, Item, Kept, Outcome, release_content, retain_content};
use clearway_sys::{CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, CLEARWAY_STALE, Content, Status, Text};

use crate::status;

/// The answer to a message. Sets `tag` and `status`. Sets `content` if the status is `CLEARWAY_OK`, and `text` if not.
pub const CLEARWAY_EVENT_ANSWER: u32 = 1;
/// An event of a stream. Sets `tag`, `handle` (the stream), `dropped` (the number of events lost before this one) and
/// `content`.
pub const CLEARWAY_EVENT_ITEM: u32 = 2;
/// The end of a stream. Sets `tag`, `handle` (the stream), `dropped`, `status` and `text`.
pub const CLEARWAY_EVENT_END: u32 = 3;
/// A message from the plugin. Sets `text` (the channel's name), `content`, and `handle` (for `clearway_answer`, or 0 if
/// the plugin wants no answer).
pub const CLEARWAY_EVENT_MESSAGE: u32 = 4;
/// A log line from the plugin. Sets `handle` (`CLEARWAY_LOG_...`) and `text`.
pub const CLEARWAY_EVENT_LOG: u32 = 5;
/// No event. An answer of `clearway_channel_call` with this kind is the null message.
pub const CLEARWAY_EVENT_NONE: u32 = 0;
/// The answer of `clearway_channel_call` is exactly the memory that the caller passed.
pub const CLEARWAY_EVENT_BACK: u32 = 6;

/// One item that a plugin has for its host. The host must release each event with `clearway_event_release` after use.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The kind of the event: `CLEARWAY_EVENT_...`.
    pub kind: u32,
    /// The status of an answer or of a stream's end.
    pub status: Status,
    /// The host's tag for the message or the listener.
    pub tag: u64,
    /// A stream, a reply, a call or a log level, depending on the kind.
    pub handle: u64,
    /// The number of events that the stream has dropped since its previous event.
    pub dropped: u64,
    /// The content. Valid until the event is released. To keep a memory for longer, retain it.
    pub content: Content,
    /// The text. Valid until the event is released.
    pub text: Text,
    /// The handle that keeps content and text valid, or 0 if the event has neither.
    pub held: u64,
    /// The number of bytes of the content that were copied into the queue: all of them, or 0.
    pub copied: u64,
}

impl Event {
    /// No event. The header has no such constant: a macro in C could not name the constants in it, and `{0}` has the
    /// same value.
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
        match retain_content(kept, text) {
            Ok((held, content, text)) => Event { held, content, text, copied, ..self },
            Err(status) => Event { status, ..self },
        }
    }
}

/// Releases the content and text of `count` events, as `clearway_event_release` does. Skips events that hold nothing or
/// that were released before.
///
/// # Safety
/// `events` must be null, or writable for `count` events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_events_release(events: *mut Event, count: usize) -> Status {
    if events.is_null() || !events.is_aligned() {
        return if count == 0 { CLEARWAY_OK } else { CLEARWAY_INVALID_ARGUMENT };
    }
    for at in 0..count {
        // SAFETY: the caller guarantees this.
        unsafe { clearway_event_release(events.add(at)) };
    }
    CLEARWAY_OK
}

/// Releases an event's content and text. Returns `CLEARWAY_STALE` if they were released before. Returns `CLEARWAY_OK`
/// for null and for an event that holds nothing.
///
/// # Safety
/// `event` must be null, or writable for an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_event_release(event: *mut Event) -> Status {
    status(|| {
        if event.is_null() || !event.is_aligned() {
            return Ok(());
        }
        // SAFETY: the caller guarantees this.
        let held = unsafe {
            let held = (*event).held;
            (*event).content = Content::NULL;
            (*event).text = Text::NONE;
            held
        };
        if held == 0 { Ok(()) } else { release_content(held).map_err(|_| CLEARWAY_STALE) }
    })
}
