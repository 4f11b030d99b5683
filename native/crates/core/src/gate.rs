// SPDX-License-Identifier: MIT OR Apache-2.0
//! A gate counts the threads inside a handler. A closed gate lets no more threads in. A thread enters in one of two ways:
//!
//! - By the count, for any thread. Entering and leaving take one atomic exchange each.
//! - By a lane, for one frequent caller on one thread at a time. Entering and leaving take a plain store and a light fence each
//!   ([`crate::fence`]). In return, closing needs a heavy fence.

use std::sync::Arc;

use crate::fence::{self, Fences};
use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, lock};

/// A gate that counts the threads inside. After closing, no thread gets in. Exactly one thread (the closer or the last to leave) learns
/// that the gate is empty.
pub(crate) struct Gate {
    word: AtomicUsize,
    lanes: Mutex<Vec<Arc<Lane>>>,
}

/// The gate is closed: no more threads get in.
const CLOSED: usize = 1;
/// The closer has passed its fence. Every later check sees all threads that entered by a lane.
const FENCED: usize = 2;
/// The closed gate is empty, and one thread has learned that.
const OVER: usize = 4;
/// The value of one thread in the count. The count uses this bit and all higher bits.
const ONE: usize = 8;

/// A way into the gate for one caller. Only one thread at a time may use a lane. A thread inside must not enter by the same lane again.
pub(crate) struct Lane {
    inside: AtomicBool,
    fences: Fences,
}

impl Gate {
    pub(crate) fn new() -> Gate {
        Gate { word: AtomicUsize::new(0), lanes: Mutex::new(Vec::new()) }
    }

    /// Makes a lane. The gate keeps a reference to each lane. Making a lane also removes the lanes that their callers have dropped.
    pub(crate) fn lane(&self) -> Arc<Lane> {
        let lane = Arc::new(Lane { inside: AtomicBool::new(false), fences: fence::fences() });
        let mut lanes = lock(&self.lanes);
        lanes.retain(|each| Arc::strong_count(each) > 1);
        lanes.push(lane.clone());
        lane
    }

    /// Enters. Returns false if the gate is closed.
    #[must_use]
    pub(crate) fn enter(&self) -> bool {
        let mut inside = self.word.load(Ordering::Relaxed);
        loop {
            if inside & CLOSED != 0 {
                return false;
            }
            // Acquire: pairs with the release that published the gate. No access inside the gate moves before this exchange.
            match self.word.compare_exchange_weak(inside, inside + ONE, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => inside = now,
            }
        }
    }

    /// Leaves. Returns true for the one thread that leaves a closed gate empty.
    #[must_use]
    pub(crate) fn leave(&self) -> bool {
        // Release: accesses inside happen before the accesses of the last thread after `settle`. Acquire: this thread may be the last one.
        let before = self.word.fetch_sub(ONE, Ordering::AcqRel);
        before & CLOSED != 0 && self.settle()
    }

    /// Enters by a lane of this gate, as `enter` does. A refused caller must leave as well, because `enter_by` has marked the lane.
    #[inline]
    #[must_use]
    pub(crate) fn enter_by(&self, lane: &Lane) -> bool {
        lane.inside.store(true, Ordering::Relaxed);
        // Pairs with the heavy fence in `close`. If that fence comes first, this thread sees CLOSED. Otherwise `settle` sees this thread in
        // the lane.
        lane.fences.light();
        self.word.load(Ordering::Acquire) & CLOSED == 0
    }

    /// Leaves by the lane that this thread entered by, as `leave` does.
    #[inline]
    #[must_use]
    pub(crate) fn leave_by(&self, lane: &Lane) -> bool {
        // Release: pairs with the acquire in `settle`.
        lane.inside.store(false, Ordering::Release);
        // Pairs with the heavy fence in `close`. If that fence comes first, this thread sees CLOSED. Otherwise the closer sees an empty
        // lane.
        lane.fences.light();
        self.word.load(Ordering::Relaxed) & CLOSED != 0 && self.settle()
    }

    /// Closes the gate. Returns true if the gate is now empty. Returns false if threads are inside, or if the gate was closed before.
    #[must_use]
    pub(crate) fn close(&self) -> bool {
        if self.word.fetch_or(CLOSED, Ordering::AcqRel) & CLOSED != 0 {
            return false;
        }
        fence::heavy();
        // Release: pairs with the acquire in `settle`. Before this store, `settle` returns false to each leaving thread. The call
        // below checks in their place.
        self.word.fetch_or(FENCED, Ordering::Release);
        self.settle()
    }

    /// Returns whether the gate is closed.
    #[cfg(not(loom))]
    pub(crate) fn is_closed(&self) -> bool {
        self.word.load(Ordering::Relaxed) & CLOSED != 0
    }

    /// Checks whether a closed gate is empty. Returns true only once. Each leaving thread checks under the lock, so the last one sees all
    /// lanes.
    #[cold]
    fn settle(&self) -> bool {
        let lanes = lock(&self.lanes);
        // Acquire: pairs with the releases in `leave` and `leave_by`.
        let empty = self.word.load(Ordering::Acquire) == CLOSED | FENCED
            && !lanes.iter().any(|lane| lane.inside.load(Ordering::Acquire));
        if empty {
            // A closed gate lets no thread in, so no other thread changes the word.
            self.word.store(CLOSED | FENCED | OVER, Ordering::Relaxed);
        }
        empty
    }
}
