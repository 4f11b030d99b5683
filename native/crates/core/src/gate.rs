// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who is in a handler, and whether anybody may go in.

use crate::sync::{AtomicUsize, Ordering};

/// Counts those inside. Once closed nobody gets in, and exactly one (who closes, or the last to leave) is told that it is empty.
pub(crate) struct Gate(AtomicUsize);

/// The lowest bit; the count stands above it.
const CLOSED: usize = 1;
const ONE: usize = 2;

impl Gate {
    pub(crate) fn new() -> Gate {
        Gate(AtomicUsize::new(0))
    }

    /// Goes in, or is refused.
    #[must_use]
    pub(crate) fn enter(&self) -> bool {
        let mut inside = self.0.load(Ordering::Relaxed);
        loop {
            if inside & CLOSED != 0 {
                return false;
            }
            // Acquire: pairs with the release of whoever made the gate known; nothing inside moves before this.
            match self.0.compare_exchange_weak(inside, inside + ONE, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => inside = now,
            }
        }
    }

    /// Goes out. True for the one that leaves a closed gate empty.
    #[must_use]
    pub(crate) fn leave(&self) -> bool {
        // Release: what was done inside happens before what the last one does after; acquire: for being that last one.
        self.0.fetch_sub(ONE, Ordering::AcqRel) == ONE | CLOSED
    }

    /// Closes. True where nobody is inside; false as well where it was closed before.
    #[must_use]
    pub(crate) fn close(&self) -> bool {
        self.0.fetch_or(CLOSED, Ordering::AcqRel) == 0
    }

    /// Whether nobody gets in any more.
    #[cfg(not(loom))]
    pub(crate) fn is_closed(&self) -> bool {
        self.0.load(Ordering::Relaxed) & CLOSED != 0
    }

    /// Whether nobody is inside, and nobody will be.
    #[cfg(not(loom))]
    pub(crate) fn is_over(&self) -> bool {
        self.0.load(Ordering::Acquire) == CLOSED
    }
}
