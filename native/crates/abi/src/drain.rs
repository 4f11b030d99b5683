// SPDX-License-Identifier: MIT OR Apache-2.0

use clearway_sys::{CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, CLEARWAY_PENDING, PluginId, Status};

use crate::event::Event;
use crate::{give, plugin, status};

/// Takes up to `capacity` events out, 1 or more, each to be released. `CLEARWAY_PENDING`: there are more, for which no wake
/// follows. `CLEARWAY_OK`: there are no more. Never waits.
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
        // Limited here as well: an event past the end of the caller's array would corrupt memory.
        for (at, item) in items.into_iter().take(capacity).enumerate() {
            // SAFETY: the caller guarantees this; at most `capacity` events are written.
            unsafe { events.add(at).write(Event::of(item)) };
            // SAFETY: as above.
            unsafe { give(count, at + 1) }?;
        }
        Ok(())
    });
    if done == CLEARWAY_OK && more { CLEARWAY_PENDING } else { done }
}
