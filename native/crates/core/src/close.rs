// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a plugin ends.

use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use clearway_plugin::{CLEARWAY_CLOSED, CLEARWAY_INVALID_ARGUMENT, CLEARWAY_TIMEOUT, Status};

use crate::answer::{self, CALLS, Failure};
use crate::guard::guarded;
use crate::plugin::{PLUGINS, Plugin, unregister};
use crate::queue::on_queue_thread;
use crate::sync::lock;

/// Between two looks at handlers that run: long against a direct handler, and short for who waits.
const AGAIN: Duration = Duration::from_micros(200);

impl Plugin {
    /// Closes. Listeners are cancelled; what is queued still runs until the time is over, then handlers are taken away, and whoever
    /// still waits gets `CLEARWAY_CLOSED`, to be read as usual. Then the plugin's `on_close` is called.
    ///
    /// Waits for handlers that run: up to `timeout`, after which it returns `CLEARWAY_TIMEOUT` and the plugin stays as it is, closed
    /// to all that is new; closing may be tried again. Not from a handler of a plugin (`CLEARWAY_INVALID_ARGUMENT`). The library stays
    /// loaded: memory and late threads of the plugin may have its code yet.
    pub fn close(&self, timeout: Duration) -> Result<(), Status> {
        if on_queue_thread() {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        let until = Instant::now() + timeout.min(Duration::from_secs(1 << 30));
        self.closed.store(true, Ordering::SeqCst);
        for stream in self.listened(None) {
            let _ = self.cancel(stream);
        }
        let mut ended = true;
        for queue in self.queues() {
            ended &= queue.close(until);
        }
        for channel in self.channels() {
            for place in [&channel.handler, &channel.source] {
                lock(&self.ending).extend(unregister(place));
            }
        }
        // Direct handlers on other threads. They are not counted anywhere but in their gates, where a call should cost little; they
        // take microseconds, so looking again is enough.
        while ended && !self.over() {
            ended = Instant::now() < until;
            std::thread::sleep(AGAIN);
        }
        fence(Ordering::SeqCst); // see `answer_where_closed`
        for call in CALLS.waiting(self.id()) {
            let _ = answer::answer(call, || Err(Failure::of(CLEARWAY_CLOSED)));
        }
        if !ended {
            return Err(CLEARWAY_TIMEOUT);
        }
        // Taken first, so that of two who close one calls it.
        let closer = lock(&self.on_close).take();
        if let Some((call, context)) = closer.and_then(|closer| Some((closer.on_close?, closer.context))) {
            // SAFETY: the plugin's function, once, when none of its handlers runs.
            guarded((), || unsafe { call(context) });
        }
        Ok(())
    }

    fn over(&self) -> bool {
        let mut ending = lock(&self.ending);
        ending.retain(|entry| !entry.is_over());
        ending.is_empty()
    }

    /// Forgets the plugin after it was closed: its id is stale from now on, and what nobody has read is dropped.
    pub fn free(&self) {
        self.set_wake(None);
        let mut unread = Vec::new();
        while self.read(&mut unread, 1024) {
            unread.clear();
        }
        PLUGINS.remove(self.id());
    }
}
