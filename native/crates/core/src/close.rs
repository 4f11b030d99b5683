// SPDX-License-Identifier: MIT OR Apache-2.0
//! Closes and frees a plugin.

use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use clearway_sys::{CLEARWAY_CLOSED, CLEARWAY_INVALID_ARGUMENT, CLEARWAY_TIMEOUT, Status};

use crate::answer::{self, CALLS};
use crate::guard::{calling, is_calling};
use crate::inbox::in_wake;
use crate::outcome::Failure;
use crate::plugin::{PLUGINS, Plugin, unregister};
use crate::queue::on_queue_thread;
use crate::sync::lock;

/// The interval between two checks for running handlers. Direct handlers (which run on the caller's thread) take far less time, and the
/// caller of `close` hardly notices this interval.
const AGAIN: Duration = Duration::from_micros(200);

/// Returns whether this thread runs a plugin's callback or belongs to a queue. `close` must not wait on such a thread.
fn in_callback() -> bool {
    on_queue_thread() || is_calling() || answer::is_in_direct_call()
}

impl Plugin {
    /// Closes the plugin. Cancels listeners. Queued jobs still run until `timeout` is over. Then removes the handlers, and answers calls
    /// that still wait with `CLEARWAY_CLOSED`. The host reads these answers as usual. Finally calls the plugin's `on_close`.
    ///
    /// Waits up to `timeout` for running handlers. If some still run then, `close` returns `CLEARWAY_TIMEOUT`. The plugin then refuses new
    /// work, and the host may call `close` again. Returns `CLEARWAY_INVALID_ARGUMENT` in a callback of any plugin, because `close` might
    /// wait for that callback. The timeout does not bound the callbacks that run on this thread: `on_drop`, `on_close`, and `on_cancel` of
    /// a direct source. The library stays loaded, because memory and late threads of the plugin may still use its code.
    pub fn close(&self, timeout: Duration) -> Result<(), Status> {
        if in_callback() {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        self.shut(timeout)
    }

    /// Closes as `close` does. Any thread may call this function, also inside a callback.
    pub(crate) fn shut(&self, timeout: Duration) -> Result<(), Status> {
        let until = Instant::now() + timeout.min(Duration::from_secs(1 << 30));
        self.closed.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst); // pairs with the fence in `listen`
        for stream in self.listened(None) {
            let _ = self.cancel(stream); // fails if the stream has ended meanwhile
        }
        let mut ended = true;
        for queue in self.queues() {
            ended &= queue.close(until);
        }
        for channel in self.channels() {
            for place in [&channel.handler, &channel.source] {
                // `unregister` runs `on_drop` of an idle entry on this thread, so `ending` is not locked during that call.
                let taken = unregister(place);
                lock(&self.ending).extend(taken);
            }
        }
        // Waits for direct handlers on other threads. Only the gates of their entries count these handlers, which keeps calls cheap. A gate
        // cannot wake this thread, so this loop polls. Direct handlers take microseconds.
        while ended && !self.over() {
            ended = Instant::now() < until;
            std::thread::sleep(AGAIN);
        }
        fence(Ordering::SeqCst); // pairs with the fence in `answer_if_closed`
        for call in CALLS.waiting(self.id()) {
            let _ = answer::answer(call, || Err(Failure::of(CLEARWAY_CLOSED)));
        }
        if !ended {
            return Err(CLEARWAY_TIMEOUT);
        }
        // `take` lets only one of two closing threads call `on_close`.
        let closer = lock(&self.on_close).take();
        if let Some((call, context)) = closer.and_then(|closer| Some((closer.on_close?, closer.context))) {
            // SAFETY: the function and its context come from the plugin. Only one thread gets the closer. None of the plugin's handlers
            // runs.
            calling((), || unsafe { call(context) });
        }
        Ok(())
    }

    fn over(&self) -> bool {
        let mut ending = lock(&self.ending);
        ending.retain(|entry| !entry.is_over());
        ending.is_empty()
    }

    /// Frees the plugin: its id becomes stale, and the core drops unread items. Closes an open plugin first, without waiting for handlers.
    /// The plugin's queue threads end when their current jobs return. Returns `CLEARWAY_INVALID_ARGUMENT` in a wake. While the plugin is
    /// open, also returns `CLEARWAY_INVALID_ARGUMENT` in any other callback.
    pub fn free(&self) -> Result<(), Status> {
        let open = self.open().is_ok();
        if in_wake() || (open && in_callback()) {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        self.forget_all();
        Ok(())
    }

    /// Frees as `free` does. Any thread and any callback except a wake may call this.
    pub(crate) fn forget_all(&self) {
        if self.open().is_ok() {
            let _ = self.shut(Duration::ZERO);
        }
        let _ = self.set_wake(None);
        let mut unread = Vec::new();
        while self.read(&mut unread, 1024) {
            unread.clear();
        }
        PLUGINS.remove(self.id());
    }
}
