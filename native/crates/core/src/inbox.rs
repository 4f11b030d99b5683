// SPDX-License-Identifier: MIT OR Apache-2.0
//! What waits for the host: a ring of handles, and one wake when it stops being empty.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Mutex, RwLock};

use clearway_plugin::{CLEARWAY_INVALID_ARGUMENT, Status};

use crate::guard::calling;
use crate::handle::{self, Kind};
use crate::plugin::STREAMS;
use crate::ring::{Edge, Ring};
use crate::sync::lock;

type Wake = Box<dyn Fn() + Send + Sync>;

thread_local! {
    static WAKING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is in a wake, of whichever plugin.
pub(crate) fn in_wake() -> bool {
    WAKING.get()
}

pub(crate) struct Inbox {
    ring: Ring,
    edge: Edge,
    wake: RwLock<Option<Wake>>,
    // What a reader has taken out and not finished: a stream with more events than were asked for. Whoever holds it is the reader.
    rest: Mutex<VecDeque<u64>>,
}

impl Inbox {
    /// For at most `capacity` handles at a time: who puts one in has to have counted it among those.
    pub(crate) fn new(capacity: usize) -> Inbox {
        Inbox {
            ring: Ring::new(capacity.next_power_of_two()),
            edge: Edge::new(),
            wake: RwLock::new(None),
            rest: Mutex::new(VecDeque::new()),
        }
    }

    /// Puts a handle in, and wakes the host where it may sleep.
    pub(crate) fn put(&self, handle: u64) {
        // There is room for all that is counted. What is not are tokens of streams that were cancelled before they were read.
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

    /// Empties the ring into the rest, without what nobody will read any more. The host finds the others there as before.
    #[cold]
    fn tidy(&self) {
        let mut rest = lock(&self.rest);
        // SAFETY: the lock makes this the one reader.
        while let Some(handle) = unsafe { self.ring.pop() } {
            rest.push_back(handle);
        }
        rest.retain(|token| handle::kind(*token) != Kind::Stream as u64 || STREAMS.is_live(*token));
    }

    /// Sets what wakes the host, and calls it where something waits. When this returns, nobody is in the one before any more.
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

    /// Takes handles out until `each` says that it has enough; a handle that it returns is put back behind the others. True
    /// where something is left: then nobody wakes the host, and it has to come back by itself.
    pub(crate) fn read(&self, mut each: impl FnMut(u64) -> Next) -> bool {
        let mut rest = lock(&self.rest);
        self.edge.lower();
        loop {
            // All that came stands behind what was left over, so that a stream with much to say does not hold the others up.
            // SAFETY: the lock makes this the one reader.
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

/// What a reader says after a handle.
pub(crate) enum Next {
    /// Go on.
    More,
    /// Go on; the handle has more to it, behind the others.
    Again(u64),
    /// Stop; that handle is done with.
    Enough,
    /// Stop; the handle has more to it.
    EnoughOf(u64),
}
