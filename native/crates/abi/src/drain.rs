// SPDX-License-Identifier: MIT OR Apache-2.0

use clearway_sys::{CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, CLEARWAY_PENDING, PluginId, Status};

use crate::event::Event;
use crate::{give, plugin, status};

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
