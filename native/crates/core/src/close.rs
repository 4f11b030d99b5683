// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a plugin ends.

use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use clearway_plugin::{CLEARWAY_CLOSED, CLEARWAY_INVALID_ARGUMENT, CLEARWAY_TIMEOUT, Status};

use crate::answer::{self, CALLS, Failure};
use crate::guard::{calling, is_calling};
use crate::inbox::in_wake;
use crate::plugin::{PLUGINS, Plugin, unregister};
use crate::queue::on_queue_thread;
use crate::sync::lock;

/// Between two looks at handlers that run: long against a direct handler, and short for who waits.
const AGAIN: Duration = Duration::from_micros(200);

/// Whether this thread runs code that closing would wait for, or that closing calls.
fn in_callback() -> bool {
    on_queue_thread() || is_calling() || answer::is_inside()
}

impl Plugin {
    /// Closes. Listeners are cancelled; what is queued still runs until the time is over, then handlers are taken away, and whoever
    /// still waits gets `CLEARWAY_CLOSED`, to be read as usual. Then the plugin's `on_close` is called.
    ///
    /// Waits for handlers that run: up to `timeout`, after which it returns `CLEARWAY_TIMEOUT` and the plugin stays as it is, closed
    /// to all that is new; closing may be tried again. Not from a callback, of whichever plugin (`CLEARWAY_INVALID_ARGUMENT`): it might
    /// wait for itself. The library stays loaded: memory and late threads of the plugin may have its code yet.
    pub fn close(&self, timeout: Duration) -> Result<(), Status> {
        if in_callback() {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        self.shut(timeout)
    }

    /// As `close`, from anywhere.
    pub(crate) fn shut(&self, timeout: Duration) -> Result<(), Status> {
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
                // Outside of the lock: where nobody is in it, its `on_drop` runs here.
                let taken = unregister(place);
                lock(&self.ending).extend(taken);
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
            calling((), || unsafe { call(context) });
        }
        Ok(())
    }

    fn over(&self) -> bool {
        let mut ending = lock(&self.ending);
        ending.retain(|entry| !entry.is_over());
        ending.is_empty()
    }

    /// Forgets the plugin: its id is stale from now on, and what nobody has read is dropped. One that was not closed is closed first,
    /// waiting for nobody: threads that are in no handler end. Then not from a callback, and never from a wake
    /// (`CLEARWAY_INVALID_ARGUMENT`).
    pub fn free(&self) -> Result<(), Status> {
        let open = self.open().is_ok();
        if in_wake() || (open && in_callback()) {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        self.forget_all();
        Ok(())
    }

    /// As `free`, from anywhere but a wake.
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
