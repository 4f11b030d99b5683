// SPDX-License-Identifier: MIT OR Apache-2.0
//! A handler or a source as a plugin has registered it: where its callbacks run, and when it may be freed.

use std::ffi::c_void;
use std::sync::Arc;

use clearway_plugin::{
    CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, CLEARWAY_PANICKED, Content, OnDrop, OnListen, OnMessage, OnStream, Status,
};

use crate::gate::{Gate, Lane};
use crate::guard::{calling, guarded};
use crate::queue::Queue;

pub(crate) struct Entry {
    gate: Gate,
    context: *mut c_void,
    on_drop: OnDrop,
    /// None: on the thread that calls.
    pub(crate) queue: Option<Arc<Queue>>,
    callbacks: Callbacks,
}

pub(crate) enum Callbacks {
    Handler(OnMessage),
    Source { on_listen: OnListen, on_cancel: OnStream, on_room: OnStream },
}

// SAFETY: `context` is only given to the plugin's own functions, which the ABI lets be called on any thread.
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
        Arc::new(Entry { gate: Gate::new(), context, on_drop, queue, callbacks })
    }

    /// Calls the handler; nothing where it has been taken away. Whoever calls it is known to be in a callback: by the direct call that
    /// this is part of, by its queue's thread, or by `calling`.
    pub(crate) fn message(&self, content: &Content, reply: u64) -> Option<Status> {
        let Callbacks::Handler(Some(call)) = self.callbacks else { return Some(CLEARWAY_INVALID_ARGUMENT) };
        // SAFETY: the plugin's function, with what it asked for, before it was told that it is dropped.
        self.inside(|| guarded(CLEARWAY_PANICKED, || unsafe { call(self.context, content, reply) }))
    }

    /// A way in for who calls the handler often, from one thread at a time.
    pub(crate) fn lane(&self) -> Arc<Lane> {
        self.gate.lane()
    }

    /// As `message`, by such a way.
    #[inline]
    pub(crate) fn message_by(&self, lane: &Lane, content: &Content, reply: u64) -> Option<Status> {
        let Callbacks::Handler(Some(call)) = self.callbacks else { return Some(CLEARWAY_INVALID_ARGUMENT) };
        let entered = self.gate.enter_by(lane);
        // SAFETY: as above.
        let returned = entered.then(|| guarded(CLEARWAY_PANICKED, || unsafe { call(self.context, content, reply) }));
        if self.gate.leave_by(lane) {
            self.dropped();
        }
        returned
    }

    /// Tells the source of a listener; nothing where it has been taken away.
    pub(crate) fn listen(&self, arguments: &Content, stream: u64) -> Option<Status> {
        let Callbacks::Source { on_listen: Some(call), .. } = self.callbacks else {
            return Some(CLEARWAY_INVALID_ARGUMENT);
        };
        // SAFETY: as above.
        self.inside(|| calling(CLEARWAY_PANICKED, || unsafe { call(self.context, arguments, stream) }))
    }

    /// Tells the source that the listener has gone.
    pub(crate) fn cancel(&self, stream: u64) {
        if let Callbacks::Source { on_cancel: Some(call), .. } = self.callbacks {
            // SAFETY: as above.
            self.inside(|| calling((), || unsafe { call(self.context, stream) }));
        }
    }

    /// Tells the source that there is room.
    pub(crate) fn room(&self, stream: u64) {
        if let Callbacks::Source { on_room: Some(call), .. } = self.callbacks {
            // SAFETY: as above.
            self.inside(|| calling((), || unsafe { call(self.context, stream) }));
        }
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

    /// Takes it away: nothing is called any more. `on_drop` is called when nobody is inside.
    pub(crate) fn close(&self) {
        if self.gate.close() {
            self.dropped();
        }
    }

    /// Whether it was taken away.
    pub(crate) fn is_closed(&self) -> bool {
        self.gate.is_closed()
    }

    /// Whether nobody is inside of one that was taken away.
    pub(crate) fn is_over(&self) -> bool {
        self.gate.is_over()
    }

    fn dropped(&self) {
        if let Some(call) = self.on_drop {
            // SAFETY: once (the gate says so), and nothing is called after it.
            calling((), || unsafe { call(self.context) });
        }
    }
}

/// The status of a handler that has not answered: nothing where it will.
pub(crate) fn refusal(status: Option<Status>) -> Option<Status> {
    match status {
        Some(CLEARWAY_OK) => None,
        Some(status) => Some(status),
        None => Some(clearway_plugin::CLEARWAY_NO_HANDLER),
    }
}
