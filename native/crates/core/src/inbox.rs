// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inbox holds the items that wait for the host, as a ring of handles. The core wakes the host once when the inbox stops being empty.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Mutex, RwLock};

use clearway_sys::{CLEARWAY_INVALID_ARGUMENT, Status};

use crate::guard::calling;
use crate::handle::{self, Kind};
use crate::ring::{Edge, Ring};
use crate::stream::STREAMS;
use crate::sync::lock;

type Wake = Box<dyn Fn() + Send + Sync>;

thread_local! {
    static WAKING: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread is in a wake of any plugin.
pub(crate) fn in_wake() -> bool {
    WAKING.get()
}

pub(crate) struct Inbox {
    ring: Ring,
    edge: Edge,
    wake: RwLock<Option<Wake>>,
    // The handles that a reader has taken from the ring and has not finished. For example, a stream may have more events than the reader
    // asked for. Only the thread that holds this lock may read the ring.
    rest: Mutex<VecDeque<u64>>,
}

impl Inbox {
    /// Makes an inbox for at most `capacity` handles at a time. `capacity` must cover the plugin's limits. Handles of cancelled streams may
    /// exceed it: see `put`.
    pub(crate) fn new(capacity: usize) -> Inbox {
        Inbox {
            ring: Ring::new(capacity.next_power_of_two()),
            edge: Edge::new(),
            wake: RwLock::new(None),
            rest: Mutex::new(VecDeque::new()),
        }
    }

    /// Puts a handle in, and wakes the host if it may be asleep.
    pub(crate) fn put(&self, handle: u64) {
        // The ring has room for all calls, messages and streams within the plugin's limits. A cancelled stream no longer counts, but its
        // handle may still be in the ring. The ring can therefore be full.
        while self.ring.push(handle).is_err() {
            self.tidy();
        }
        if self.edge.raise() {
            self.call();
        }
    }

    fn call(&self) {
        if let Some(wake) = &*self.wake.read().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            let outer = WAKING.replace(true);
            calling((), wake);
            WAKING.set(outer);
        }
    }

    /// Moves the ring's handles into `rest`, where the reader finds them. Drops the handles of streams that are gone.
    #[cold]
    fn tidy(&self) {
        let mut rest = lock(&self.rest);
        // SAFETY: the lock makes this thread the only reader.
        while let Some(handle) = unsafe { self.ring.pop() } {
            rest.push_back(handle);
        }
        rest.retain(|handle| handle::kind(*handle) != Kind::Stream as u64 || STREAMS.is_live(*handle));
    }

    /// Sets the function that wakes the host, and calls the function if a wake is due. Blocks until no thread runs the previous function.
    pub(crate) fn set_wake(&self, wake: Option<Wake>) -> Result<(), Status> {
        if in_wake() {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        *self.wake.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = wake;
        if self.edge.raised() {
            self.call();
        }
        Ok(())
    }

    /// Takes handles out and calls `each` with each of them. If `each` returns the handle, the inbox keeps the handle after all others.
    /// Returns true if `each` stopped the loop. No wake follows in that case, so the host has to read again.
    pub(crate) fn read(&self, mut each: impl FnMut(u64) -> Next) -> bool {
        let mut rest = lock(&self.rest);
        self.edge.lower();
        loop {
            // New handles go to the end of `rest`. A stream with many events thus does not delay the others.
            // SAFETY: the lock makes this thread the only reader.
            while let Some(handle) = unsafe { self.ring.pop() } {
                rest.push_back(handle);
            }
            let Some(handle) = rest.pop_front() else { return false };
            match each(handle) {
                Next::More => {}
                Next::Again(handle) => rest.push_back(handle),
                Next::Enough => break,
                Next::EnoughOf(handle) => {
                    rest.push_back(handle);
                    break;
                }
            }
        }
        self.edge.raise();
        true
    }
}

/// A reader's decision after a handle.
pub(crate) enum Next {
    /// Continue. The handle is finished.
    More,
    /// Continue. The handle has more; put it after all others.
    Again(u64),
    /// Stop. The handle is finished.
    Enough,
    /// Stop. The handle has more; put it after all others.
    EnoughOf(u64),
}
