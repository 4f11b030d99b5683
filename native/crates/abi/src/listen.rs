// SPDX-License-Identifier: MIT OR Apache-2.0

use clearway_core::WhenFull;
use clearway_sys::{
    CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, CLEARWAY_PENDING, Content, PluginId, Status, Stream, Text, read_growing,
};

use crate::event::Event;
use crate::options::{
    CLEARWAY_WHEN_FULL_DROP_NEWEST, CLEARWAY_WHEN_FULL_DROP_OLDEST, CLEARWAY_WHEN_FULL_FAIL, CLEARWAY_WHEN_FULL_WAIT,
    Window,
};
use crate::{give, given, plugin, status, text};

/// Listens to a channel's events, and writes the stream's handle to `stream`. The host drains the events and finally
/// an end, all with `tag`. If the source refuses, the end has the source's status.
///
/// # Safety
/// Each pointer must be null, or valid for its stated size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_plugin_listen(
    id: PluginId,
    channel: Text,
    arguments: *const Content,
    window: *const Window,
    tag: u64,
    stream: *mut Stream,
) -> Status {
    status(|| {
        if stream.is_null() || !stream.is_aligned() {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        // SAFETY: the caller guarantees this.
        let (channel, arguments, window) = unsafe { (text(channel)?, given(arguments)?, read_growing(window)?) };
        let when_full = match window.when_full {
            CLEARWAY_WHEN_FULL_WAIT => WhenFull::Wait,
            CLEARWAY_WHEN_FULL_FAIL => WhenFull::Fail,
            CLEARWAY_WHEN_FULL_DROP_OLDEST => WhenFull::DropOldest,
            CLEARWAY_WHEN_FULL_DROP_NEWEST => WhenFull::DropNewest,
            _ => return Err(CLEARWAY_INVALID_ARGUMENT),
        };
        let window = clearway_core::Window {
            items: window.items as usize,
            bytes: usize::try_from(window.bytes).unwrap_or(usize::MAX),
            when_full,
            credit: window.credit,
        };
        let plugin = plugin(id)?;
        let listened = plugin.listen(&*plugin.existing_channel(channel)?, &arguments, window, tag)?;
        // SAFETY: as above.
        unsafe { give(stream, listened) }
    })
}

/// Allows the host to drain `events` more events. Returns `CLEARWAY_STALE` if the stream has ended.
#[unsafe(no_mangle)]
pub extern "C" fn clearway_stream_credit(id: PluginId, stream: Stream, events: u64) -> Status {
    status(|| plugin(id)?.credit(stream, events))
}

/// Stops listening. Drops queued events and notifies the source. The host drains no more of the stream's events.
/// Returns `CLEARWAY_STALE` if the stream has ended.
#[unsafe(no_mangle)]
pub extern "C" fn clearway_stream_cancel(id: PluginId, stream: Stream) -> Status {
    status(|| plugin(id)?.cancel(stream))
}

/// Takes up to `capacity` events out of the plugin's queue. `capacity` must be 1 or more. The caller must release each
/// event. Returns `CLEARWAY_PENDING` if more events are left. No wake follows for those, so the host must drain again.
/// Returns `CLEARWAY_OK` if no event is left. Never waits.
///
/// # Safety
/// `events` must be writable for `capacity` events, and `count` for one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_plugin_drain(
    id: PluginId,
    events: *mut Event,
    capacity: usize,
    count: *mut usize,
) -> Status {
    let mut more = false;
    let done = status(|| {
        let wrong = events.is_null() || !events.is_aligned() || count.is_null() || !count.is_aligned();
        if wrong || capacity == 0 {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        // SAFETY: the caller guarantees this.
        unsafe { give(count, 0) }?;
        let plugin = plugin(id)?;
        let mut items = Vec::with_capacity(capacity.min(1024));
        more = plugin.read(&mut items, capacity);
        debug_assert!(items.len() <= capacity, "`read` keeps to its limit: capacity={capacity} items={}", items.len());
        // This loop checks the limit again, because an event past the end of the caller's array would corrupt memory.
        for (at, item) in items.into_iter().take(capacity).enumerate() {
            // SAFETY: the caller guarantees this. The loop writes at most `capacity` events.
            unsafe { events.add(at).write(Event::of(item)) };
            // SAFETY: as above.
            unsafe { give(count, at + 1) }?;
        }
        Ok(())
    });
    if done == CLEARWAY_OK && more { CLEARWAY_PENDING } else { done }
}
