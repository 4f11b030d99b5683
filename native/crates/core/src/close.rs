// SPDX-License-Identifier: MIT OR Apache-2.0
//! Closes and frees a plugin.

use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use clearway_sys::{CLEARWAY_CLOSED, CLEARWAY_INVALID_ARGUMENT, CLEARWAY_TIMEOUT, Status};

use crate::answer::{self, CALLS};
use crate::guard::{calling, is_calling};
use crate::inbox::in_wake;
use crate::outcome::Failure;
use crate::plugin::{Closer, PLUGINS, Plugin, unregister};
use crate::queue::on_queue_thread;
use crate::sync::lock;

/// The interval between two checks for callbacks on other threads. They cannot wake the closing thread: only atomic counts record them,
/// which keeps calls cheap. Most callbacks take far less time than this interval, and the caller of `close` hardly notices it.
const AGAIN: Duration = Duration::from_micros(200);

/// Waits until `is_over` returns true. Returns false if that has not happened at the time `until`.
fn poll(until: Instant, is_over: impl Fn() -> bool) -> bool {
    while !is_over() {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(AGAIN);
    }
    true
}

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
    /// a direct source. If the timeout is over and no callback of a queue runs, its queued calls of `on_cancel` and `on_answer` run on this
    /// thread, too. Otherwise the queue's own thread runs them, so that callbacks of a serial queue never overlap. The library stays
    /// loaded, because memory and late threads of the plugin may still use its code.
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
                let _ = unregister(self, place); // fails if the place is empty
            }
        }
        // Direct handlers, and those that the plugin has removed itself, may still run on other threads.
        ended = ended && poll(until, || self.over());
        fence(Ordering::SeqCst); // pairs with the fences in `answer_if_closed` and `deliver`
        for call in CALLS.waiting(self.id()) {
            let _ = answer::answer(call, || Err(Failure::of(CLEARWAY_CLOSED)));
        }
        // If the pool has no thread, `on_answer` runs on the thread that answers, which may be another one.
        ended = ended && poll(until, || self.answers_are_over());
        if !ended || !self.tell_closed(until) {
            return Err(CLEARWAY_TIMEOUT);
        }
        Ok(())
    }

    /// Calls the plugin's `on_close`, once. If another thread does so, waits for that thread. Returns false if that thread has not returned
    /// at the time `until`.
    fn tell_closed(&self, until: Instant) -> bool {
        let ready = {
            let mut closer = lock(&self.on_close);
            match *closer {
                Closer::Ready { on_close, context } => {
                    *closer = Closer::Running;
                    Some((on_close, context))
                }
                _ => None,
            }
        };
        if let Some((on_close, context)) = ready {
            if let Some(call) = on_close {
                // SAFETY: the function and its context come from the plugin. Only one thread gets here. None of the plugin's callbacks
                // runs.
                calling((), || unsafe { call(context) });
            }
            *lock(&self.on_close) = Closer::Done;
        }
        poll(until, || !matches!(*lock(&self.on_close), Closer::Running))
    }

    fn over(&self) -> bool {
        let mut ending = lock(&self.ending);
        ending.retain(|entry| !entry.is_over());
        ending.is_empty()
    }

    /// Frees the plugin: its id becomes stale, and the core drops unread items. Closes an open plugin first, without waiting for handlers.
    /// If handlers still run then, or if this thread is in a callback, `on_close` is called only by a `close` that waits on another thread
    /// or is called later. The plugin's queue threads end after their current jobs and the notifications of sources. Returns `CLEARWAY_INVALID_ARGUMENT` in a wake.
    /// While the plugin is open, also returns `CLEARWAY_INVALID_ARGUMENT` in any other callback.
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
        // A closed plugin, too: the time of an earlier `close` may have been over before the last handler returned, and then `on_close` is
        // still to be called. Not in a callback, because `on_close` may wait for the plugin's own threads, and one of them may be in it.
        if self.open().is_ok() || !in_callback() {
            let _ = self.shut(Duration::ZERO);
        }
        let _ = self.set_wake(None);
        self.drop_unread();
        PLUGINS.remove(self.id());
    }

    fn drop_unread(&self) {
        let mut unread = Vec::new();
        while self.read(&mut unread, 1024) {
            unread.clear();
        }
    }
}

impl Drop for Plugin {
    /// Drops the items that other threads have put into the inbox after `forget_all` had read it. They had found the plugin before. Nothing
    /// else would free the slots of these items and return their memory.
    fn drop(&mut self) {
        self.drop_unread();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::To;
    use crate::content::Given;
    use crate::memory::Memory;
    use crate::plugin::Options;

    #[test]
    fn an_answer_that_arrives_while_its_plugin_is_freed_returns_its_memory() {
        let plugin = Plugin::new(Options::default()).unwrap();
        let memory = Memory::allocate(100, 0).unwrap();
        let to = To::Host { plugin: plugin.id(), tag: 1 };
        let call = CALLS.begin(CALLS.reserve().unwrap(), plugin.id(), to, true);
        // A thread that answers has found the plugin, and puts the answer into the inbox after `free` has read it.
        assert!(CALLS.answer(call, false, |_| Ok(Given::memory(&memory).keep().unwrap())).is_some());
        plugin.free().unwrap();
        plugin.inbox.put(call);
        assert_eq!(memory.references(), 2);
        drop(plugin);
        assert_eq!(memory.references(), 1);
    }
}
