// SPDX-License-Identifier: MIT OR Apache-2.0

use clearway_core::WhenFull;
use clearway_sys::{CLEARWAY_INVALID_ARGUMENT, Content, PluginId, Status, Stream, Text, read_growing};

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
        let listened = plugin.listen(&*plugin.channel(channel)?, &arguments, window, tag)?;
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
