// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slabs of one size that are lent to the host and returned. A slab keeps its contents, so the next frame changes only the differences.
//! The slab's pages are already touched.

use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::guard::{guarded, lock};
use crate::picture::Drawn;

// Sixteen slabs of 1080p are 133 MB. A listener that holds more does not keep up. Larger frames have fewer slabs, but at least two: one
// is drawn while the other is shown.
const SLABS_MAX: usize = 16;
const SLABS_MIN: usize = 2;
const BYTES_MAX: usize = 256 << 20;
/// The maximum wait for a slab: a third of a frame at 60 a second. It delays the reaction to a cancelled listener.
const WAIT: Duration = Duration::from_millis(5);

pub struct Slab {
    owner: Arc<Slabs>,
    pub pixels: Box<[u8]>,
    pub holds: Option<Drawn>,
}

#[derive(Default)]
struct State {
    free: Vec<(Box<[u8]>, Option<Drawn>)>,
    made: usize,
}

pub struct Slabs {
    state: Mutex<State>,
    given: Condvar,
    size: usize,
    max: usize,
}

impl Slabs {
    /// Makes an empty pool of slabs of one size.
    pub fn new(size: usize) -> Arc<Slabs> {
        let max = (BYTES_MAX / size).clamp(SLABS_MIN, SLABS_MAX);
        Arc::new(Slabs { state: Mutex::default(), given: Condvar::new(), size, max })
    }

    /// Takes a free slab, or makes one. If the host has all allowed slabs, waits up to 5 ms for one, then returns `None`.
    pub fn take(self: &Arc<Slabs>) -> Option<Box<Slab>> {
        let all_away = |state: &mut State| state.free.is_empty() && state.made == self.max;
        let waited = self.given.wait_timeout_while(lock(&self.state), WAIT, all_away);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let (pixels, holds) = match state.free.pop() {
            Some(free) => free,
            None if state.made == self.max => return None,
            None => {
                state.made += 1;
                (vec![0; self.size].into(), None)
            }
        };
        Some(Box::new(Slab { owner: Arc::clone(self), pixels, holds }))
    }
}

impl Slab {
    /// Returns the slab to the pool. Any thread may call this, even long after the stream has ended: each slab keeps the pool alive.
    pub fn give(self) {
        let Slab { owner, pixels, holds } = self;
        lock(&owner.state).free.push((pixels, holds));
        owner.given.notify_one();
    }
}

/// Returns a slab to its pool after the host has released it. The context is the slab's box.
pub unsafe extern "C-unwind" fn released(context: *mut c_void, _data: *mut u8, _size: usize) {
    // SAFETY: the context is from `Box::into_raw`. The host returns it once.
    guarded((), || unsafe { Box::from_raw(context.cast::<Slab>()) }.give());
}
