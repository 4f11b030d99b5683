// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who is in a handler, and whether anybody may go in. There are two ways in:
//!
//! - by the count, for anybody: an exchange going in and one going out;
//! - by a lane, for who comes often and is one at a time: a plain store each, and a fence that costs nothing ([`crate::fence`]).
//!   Who closes pays for that, with a fence that is heavy.

use std::sync::Arc;

use crate::fence::{self, Fences};
use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, lock};

/// Counts those inside. Once closed nobody gets in, and exactly one (who closes, or the last to leave) is told that it is empty.
pub(crate) struct Gate {
    word: AtomicUsize,
    lanes: Mutex<Vec<Arc<Lane>>>,
}

/// Nobody gets in any more.
const CLOSED: usize = 1;
/// Who closed it has passed its fence: from now on whoever looks sees everybody who came by a lane.
const FENCED: usize = 2;
/// Nobody is inside of a closed one any more: somebody was told.
const OVER: usize = 4;
/// The count stands above.
const ONE: usize = 8;

/// One visitor's own way in. Used by one thread at a time, which does not go in twice.
pub(crate) struct Lane {
    inside: AtomicBool,
    fences: Fences,
}

impl Gate {
    pub(crate) fn new() -> Gate {
        Gate { word: AtomicUsize::new(0), lanes: Mutex::new(Vec::new()) }
    }

    /// A new lane. It is forgotten some time after whoever asked has let it go.
    pub(crate) fn lane(&self) -> Arc<Lane> {
        let lane = Arc::new(Lane { inside: AtomicBool::new(false), fences: fence::fences() });
        let mut lanes = lock(&self.lanes);
        lanes.retain(|each| Arc::strong_count(each) > 1);
        lanes.push(lane.clone());
        lane
    }

    /// Goes in, or is refused.
    #[must_use]
    pub(crate) fn enter(&self) -> bool {
        let mut inside = self.word.load(Ordering::Relaxed);
        loop {
            if inside & CLOSED != 0 {
                return false;
            }
            // Acquire: pairs with the release of whoever made the gate known; nothing inside moves before this.
            match self.word.compare_exchange_weak(inside, inside + ONE, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => inside = now,
            }
        }
    }

    /// Goes out. True for the one that leaves a closed gate empty.
    #[must_use]
    pub(crate) fn leave(&self) -> bool {
        // Release: what was done inside happens before what the last one does after; acquire: for being that last one.
        let before = self.word.fetch_sub(ONE, Ordering::AcqRel);
        before & CLOSED != 0 && self.settle()
    }

    /// As `enter`, by a lane of this gate. Who is refused leaves as well: for a moment it has stood in the way.
    #[inline]
    #[must_use]
    pub(crate) fn enter_by(&self, lane: &Lane) -> bool {
        lane.inside.store(true, Ordering::Relaxed);
        // Of this fence and that in `close` one comes first: either the mark is seen here, or the lane is seen there.
        lane.fences.light();
        self.word.load(Ordering::Acquire) & CLOSED == 0
    }

    /// As `leave`, by the lane by which it came.
    #[inline]
    #[must_use]
    pub(crate) fn leave_by(&self, lane: &Lane) -> bool {
        // Release: pairs with the acquire in `settle`.
        lane.inside.store(false, Ordering::Release);
        // As above: either the mark is seen here, or whoever set it sees that the lane is empty.
        lane.fences.light();
        self.word.load(Ordering::Relaxed) & CLOSED != 0 && self.settle()
    }

    /// Closes. True where nobody is inside; false as well where it was closed before.
    #[must_use]
    pub(crate) fn close(&self) -> bool {
        if self.word.fetch_or(CLOSED, Ordering::AcqRel) & CLOSED != 0 {
            return false;
        }
        fence::heavy();
        // Release: pairs with the acquire in `settle`. Who has left before this leaves it to the look that follows here.
        self.word.fetch_or(FENCED, Ordering::Release);
        self.settle()
    }

    /// Whether nobody gets in any more.
    #[cfg(not(loom))]
    pub(crate) fn is_closed(&self) -> bool {
        self.word.load(Ordering::Relaxed) & CLOSED != 0
    }

    /// Whether nobody is inside, and nobody will be.
    #[cfg(not(loom))]
    pub(crate) fn is_over(&self) -> bool {
        self.word.load(Ordering::Acquire) & OVER != 0
    }

    /// Of a closed one: whether it is empty, and nobody was told. Whoever leaves looks, under the lock, so the last one sees all.
    #[cold]
    fn settle(&self) -> bool {
        let lanes = lock(&self.lanes);
        // Acquire: pairs with the releases in `leave` and `leave_by`.
        let empty = self.word.load(Ordering::Acquire) == CLOSED | FENCED
            && !lanes.iter().any(|lane| lane.inside.load(Ordering::Acquire));
        if empty {
            // Release: pairs with the acquire in `is_over`. Nobody gets in, so nobody else changes the word.
            self.word.store(CLOSED | FENCED | OVER, Ordering::Release);
        }
        empty
    }
}
