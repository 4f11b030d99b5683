// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels by number, for hosts whose threads call the same channels often. Each thread keeps a line (a prepared path
//! to the handler) to each of its last channels. A call through a kept line takes no lock and looks no name up. A line
//! keeps its plugin in memory. A thread therefore drops its lines to freed plugins when it makes the next line. It drops
//! a line that is in use at that time when the line's call ends.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use clearway_core::{Direct, Given, Line, Outcome, Sent};
use clearway_sys::{
    CLEARWAY_CLOSED, CLEARWAY_INVALID_ARGUMENT, CLEARWAY_PENDING, CLEARWAY_STALE, Content, Memory, PluginId, Status,
    Text,
};

use crate::event::{CLEARWAY_EVENT_ANSWER, CLEARWAY_EVENT_BACK, Event};
use crate::{give, plugin, status, text};

/// The number of a channel of one opened plugin. `CLEARWAY_STALE` once the plugin was freed.
pub type ChannelId = u64;

/// The number of lines that a thread keeps. Each channel has one place among them. Several channels may share a place,
/// which holds the line of the last one.
const KEPT: usize = 64;

/// A place for a line, with the line's channel. May be empty.
type Place = Cell<Option<Box<(ChannelId, Line)>>>;

#[derive(Default)]
struct Known {
    last: ChannelId,
    /// The number of plugins that were freed.
    freed: u64,
    places: HashMap<ChannelId, (PluginId, Box<str>)>,
    numbers: HashMap<(PluginId, Box<str>), ChannelId>,
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

thread_local! {
    // A call takes the line out of its place while it uses the line. A handler that calls the same channel again finds no line, and makes
    // another one.
    static LINES: [Place; KEPT] = const { [const { Cell::new(None) }; KEPT] };

    // `Known::freed` when this thread last dropped its lines to freed plugins.
    static DROPPED_AT: Cell<u64> = const { Cell::new(0) };
}

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets the channels of a freed plugin.
pub(crate) fn forget(plugin: PluginId) {
    let mut known = known();
    known.freed += 1;
    known.places.retain(|_, (of, _)| *of != plugin);
    known.numbers.retain(|(of, _), _| *of != plugin);
}

/// Returns the number of a plugin's channel. Every call with the same name returns the same number. The channel may get
/// its handler later.
///
/// # Safety
/// Each pointer must be null, or valid for its stated size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_channel_find(id: PluginId, name: Text, channel: *mut ChannelId) -> Status {
    status(|| {
        // SAFETY: the caller guarantees this.
        let name = unsafe { text(name) }?;
        plugin(id)?.channel(name)?;
        let mut known = known();
        let place = (id, Box::from(name));
        let number = match known.numbers.get(&place) {
            Some(number) => *number,
            None => {
                known.last += 1;
                let number = known.last;
                known.places.insert(number, place.clone());
                known.numbers.insert(place, number);
                number
            }
        };
        drop(known);
        // SAFETY: the caller guarantees this.
        unsafe { give(channel, number) }
    })
}

/// Calls a channel's direct handler on the calling thread, as `clearway_plugin_send` does, for frequent callers.
/// `data`, `size`, `memory`, `attachments` and `attachments_count` are the content. The content is the null message if
/// all of them are null or 0. Unlike `clearway_plugin_send`, this function takes no references: no other thread may
/// release `memory` or an attachment during the call.
///
/// Returns `CLEARWAY_OK` if the handler has answered. `answer->kind` is then one of these:
///
/// - `CLEARWAY_EVENT_NONE`: the answer is null. No other field of `answer` is set.
/// - `CLEARWAY_EVENT_BACK`: the answer is exactly `memory`, and the caller passed `memory` without `data`. No other
///   field is set.
/// - `CLEARWAY_EVENT_ANSWER`: any other answer. If its bytes are not in a memory and fit in `into`, which has `room`
///   bytes, they are copied to `into`. Such an answer needs no release.
///
/// Returns `CLEARWAY_PENDING` if the handler answers later. The host then drains the answer, with tag 0, and
/// `answer->handle` is the call. Returns it with the handle 0 if the handler runs on another thread: it is not called.
///
/// # Safety
/// Each pointer must be null, or valid for its stated size. `answer` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_channel_call(
    channel: ChannelId,
    data: *const u8,
    size: usize,
    memory: Memory,
    attachments: *const Memory,
    attachments_count: usize,
    into: *mut u8,
    room: usize,
    answer: *mut Event,
) -> Status {
    status(|| {
        if answer.is_null() || !answer.is_aligned() {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        let content = Content { data, size, memory, attachments, attachments_count };
        let mut more = None;
        let sent = with_line(channel, |line| {
            if memory != 0 && data.is_null() && size == 0 && attachments_count == 0 {
                return line.lend(memory, 0, &mut more);
            }
            // SAFETY: the caller guarantees this.
            line.call(&unsafe { Given::raw(content) }, 0, &mut more)
        })?;
        // SAFETY: the caller guarantees that `answer` is writable, and that `into` is null or has `room` bytes.
        unsafe {
            match (sent, more) {
                (Direct::Back, _) => (*answer).kind = CLEARWAY_EVENT_BACK,
                (Direct::More, Some(Sent::Answered(outcome))) => answer.write(answered(outcome, into, room)),
                (Direct::More, Some(Sent::Pending(call))) => {
                    answer.write(Event { handle: call, ..Event::NONE });
                    return Err(CLEARWAY_PENDING);
                }
                (Direct::Queued, _) => {
                    answer.write(Event::NONE);
                    return Err(CLEARWAY_PENDING);
                }
                (Direct::Null, _) | (Direct::More, _) => (*answer).kind = Event::NONE.kind,
            }
        }
        Ok(())
    })
}

/// Runs `use_it` with this thread's line to a channel.
fn with_line<R>(channel: ChannelId, use_it: impl FnOnce(&mut Line) -> Result<R, Status>) -> Result<R, Status> {
    let at = channel as usize % KEPT;
    // While a thread ends, its lines are already gone.
    let kept = LINES.try_with(|lines| lines[at].take()).ok().flatten().filter(|line| line.0 == channel);
    let mut line = match kept {
        Some(line) => line,
        None => Box::new((channel, line_to(channel)?)),
    };
    let dropped_at = DROPPED_AT.get();
    let used = use_it(&mut line.1);
    let was_closed = matches!(used, Err(CLEARWAY_CLOSED));
    // A call inside the handler may have dropped this thread's lines to freed plugins. It did not find this line, which was in use.
    let is_stale = (was_closed || DROPPED_AT.get() != dropped_at) && !known().places.contains_key(&channel);
    if !is_stale {
        let _ = LINES.try_with(|lines| lines[at].set(Some(line)));
    }
    // A line does not know whether its closed plugin was also freed.
    if is_stale && was_closed { Err(CLEARWAY_STALE) } else { used }
}

fn line_to(channel: ChannelId) -> Result<Line, Status> {
    let known = known();
    let place = known.places.get(&channel).cloned();
    let stale = stale_lines(&known);
    drop(known);
    drop(stale); // without the lock, because the last reference to a plugin may drop memory, whose release may run any code
    let (id, name) = place.ok_or(CLEARWAY_STALE)?;
    Line::new(&plugin(id)?, &name)
}

/// Takes this thread's lines to freed plugins out of their places. Each of them keeps its plugin in memory.
fn stale_lines(known: &Known) -> Vec<Line> {
    if DROPPED_AT.replace(known.freed) == known.freed {
        return Vec::new();
    }
    let take_stale = |place: &Place| {
        let line = place.take()?;
        if !known.places.contains_key(&line.0) {
            return Some(line.1);
        }
        place.set(Some(line));
        None
    };
    LINES.try_with(|lines| lines.iter().filter_map(take_stale).collect()).unwrap_or_default()
}

/// Turns an outcome into an event. Copies a small answer to `into`.
///
/// # Safety
/// `into` must be null, or writable for `room` bytes.
unsafe fn answered(outcome: Outcome, into: *mut u8, room: usize) -> Event {
    let kept = match outcome {
        Ok(kept) if kept.copied > 0 && kept.copied <= room && !into.is_null() && kept.attachments.is_empty() => kept,
        other => return Event::answer(0, other),
    };
    let (data, size) = kept.data();
    // SAFETY: the answer's bytes were copied, so `data` has `size` bytes. They fit in `room`, which `into` has.
    unsafe { std::ptr::copy_nonoverlapping(data, into, size.min(room)) };
    let content = Content { data: into, size, ..Content::NULL };
    Event { kind: CLEARWAY_EVENT_ANSWER, content, copied: size as u64, ..Event::NONE }
}
