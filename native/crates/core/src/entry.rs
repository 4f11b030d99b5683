// SPDX-License-Identifier: MIT OR Apache-2.0
//! Entries: the handlers and sources that a plugin has registered. An entry knows where its callbacks run, and delays `on_drop` until no
//! callback runs.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clearway_sys::{
    CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, CLEARWAY_PANICKED, Content, OnDrop, OnListen, OnMessage, OnStream, Status,
};

use crate::gate::{Gate, Lane};
use crate::guard::{calling, guarded};
use crate::outcome::plugin_status;
use crate::queue::Queue;

pub(crate) struct Entry {
    gate: Gate,
    context: *mut c_void,
    on_drop: OnDrop,
    /// Whether `on_drop` has returned.
    over: AtomicBool,
    /// The queue that runs the callbacks, or `None` if they run on the calling thread.
    pub(crate) queue: Option<Arc<Queue>>,
    callbacks: Callbacks,
}

pub(crate) enum Callbacks {
    Handler(OnMessage),
    Source { on_listen: OnListen, on_cancel: OnStream, on_room: OnStream },
}

// SAFETY: `context` goes only to the plugin's own functions, which the ABI allows on any thread.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

impl Entry {
    pub(crate) fn new(
        context: *mut c_void,
        on_drop: OnDrop,
        queue: Option<Arc<Queue>>,
        callbacks: Callbacks,
    ) -> Arc<Entry> {
        Arc::new(Entry { gate: Gate::new(), context, on_drop, over: AtomicBool::new(false), queue, callbacks })
    }

    /// Calls the handler. Returns `None` if the handler was removed. This thread is already marked as running a callback. The enclosing
    /// direct call, the queue or `calling` has marked it.
    pub(crate) fn message(&self, content: &Content, reply: u64) -> Option<Status> {
        let Callbacks::Handler(Some(call)) = self.callbacks else { return Some(CLEARWAY_INVALID_ARGUMENT) };
        // SAFETY: the function and its context come from the plugin. `inside` delays `on_drop` until the call returns.
        self.inside(|| guarded(CLEARWAY_PANICKED, || unsafe { call(self.context, content, reply) }))
    }

    /// Makes a lane: a cheaper way into the gate, for one caller that calls the handler often. Only one thread at a time may use a lane.
    pub(crate) fn lane(&self) -> Arc<Lane> {
        self.gate.lane()
    }

    /// Calls the handler as `message` does, through a lane.
    #[inline]
    pub(crate) fn message_by(&self, lane: &Lane, content: &Content, reply: u64) -> Option<Status> {
        let Callbacks::Handler(Some(call)) = self.callbacks else { return Some(CLEARWAY_INVALID_ARGUMENT) };
        let entered = self.gate.enter_by(lane);
        // SAFETY: as in `message`; the lane delays `on_drop`.
        let returned = entered.then(|| guarded(CLEARWAY_PANICKED, || unsafe { call(self.context, content, reply) }));
        if self.gate.leave_by(lane) {
            self.dropped();
        }
        returned
    }

    /// Enters a source, which delays its `on_drop`. Returns `None` if the source was removed.
    pub(crate) fn enter(self: &Arc<Entry>) -> Option<EntryGuard> {
        self.gate.enter().then(|| EntryGuard { source: self.clone() })
    }

    fn inside<R>(&self, call: impl FnOnce() -> R) -> Option<R> {
        if !self.gate.enter() {
            return None;
        }
        let returned = call();
        if self.gate.leave() {
            self.dropped();
        }
        Some(returned)
    }

    /// Removes the entry, so that no new callback starts. If no callback runs, this thread runs `on_drop`. Otherwise the thread of the last
    /// running callback does.
    pub(crate) fn close(&self) {
        if self.gate.close() {
            self.dropped();
        }
    }

    /// Returns whether the entry was removed.
    pub(crate) fn is_closed(&self) -> bool {
        self.gate.is_closed()
    }

    /// Returns whether the entry was removed and all its callbacks, `on_drop` included, have returned.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn dropped(&self) {
        if let Some(call) = self.on_drop {
            // SAFETY: the gate guarantees that this runs once, and that no callback follows.
            calling((), || unsafe { call(self.context) });
        }
        // Release: the callbacks happen before `on_close`, which follows the load in `is_over`.
        self.over.store(true, Ordering::Release);
    }
}

/// One use of a source, by a thread or by a queued job. The source's `on_drop` waits until the guard is dropped. `on_listen` and a
/// cancellation that arrives during `on_listen` share one guard. Otherwise `on_drop` could run in between, and the source would miss the
/// cancellation.
pub(crate) struct EntryGuard {
    source: Arc<Entry>,
}

impl EntryGuard {
    /// Calls the source's `on_listen`.
    pub(crate) fn listen(&self, arguments: &Content, stream: u64) -> Status {
        let Callbacks::Source { on_listen: Some(call), .. } = self.source.callbacks else {
            return CLEARWAY_INVALID_ARGUMENT;
        };
        // SAFETY: the function and its context come from the plugin. The `EntryGuard` delays `on_drop`.
        calling(CLEARWAY_PANICKED, || unsafe { call(self.source.context, arguments, stream) })
    }

    /// Calls the source's `on_cancel`: the listener has cancelled.
    pub(crate) fn cancel(&self, stream: u64) {
        if let Callbacks::Source { on_cancel: Some(call), .. } = self.source.callbacks {
            // SAFETY: as above.
            calling((), || unsafe { call(self.source.context, stream) });
        }
    }

    /// Calls the source's `on_room`: the stream has room again.
    pub(crate) fn room(&self, stream: u64) {
        if let Callbacks::Source { on_room: Some(call), .. } = self.source.callbacks {
            // SAFETY: as above.
            calling((), || unsafe { call(self.source.context, stream) });
        }
    }
}

impl Drop for EntryGuard {
    fn drop(&mut self) {
        if self.source.gate.leave() {
            self.source.dropped();
        }
    }
}

/// Returns the status with which a handler or a source refused, or `None` if it did not refuse. A removed one counts as a missing one.
pub(crate) fn refusal(status: Option<Status>) -> Option<Status> {
    match status {
        Some(CLEARWAY_OK) => None,
        Some(status) => Some(plugin_status(status)),
        None => Some(clearway_sys::CLEARWAY_NO_HANDLER),
    }
}
