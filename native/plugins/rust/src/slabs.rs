// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slabs of one size that are lent to the host and come back. A slab keeps its contents, so that the next frame changes only
//! the differences; its pages are already touched.

use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::guard::{guarded, lock};
use crate::picture::Drawn;

// Sixteen slabs of 1080p are 133 MB: a listener that holds more does not keep up. Larger frames have fewer slabs, but at least
// two: one is drawn while the other is shown.
const SLABS_MAX: usize = 16;
const SLABS_MIN: usize = 2;
const BYTES_MAX: usize = 256 << 20;
/// A third of a frame at 60 a second: the delay before a cancelled listener is noticed.
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
    /// Makes an empty pool of slabs of a size.
    pub fn new(size: usize) -> Arc<Slabs> {
        let max = (BYTES_MAX / size).clamp(SLABS_MIN, SLABS_MAX);
        Arc::new(Slabs { state: Mutex::default(), given: Condvar::new(), size, max })
    }

    /// Takes a free slab, or makes one. Returns `None` if the host keeps all allowed slabs for 5 ms.
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
    /// Returns the slab to the pool, on any thread, even long after the stream has ended: the pool lives until the last slab is
    /// back.
    pub fn give(self) {
        let Slab { owner, pixels, holds } = self;
        lock(&owner.state).free.push((pixels, holds));
        owner.given.notify_one();
    }
}

/// Called when the host has released a slab; the context is the slab's box.
pub unsafe extern "C-unwind" fn released(context: *mut c_void, _data: *mut u8, _size: usize) {
    // SAFETY: the context is from `Box::into_raw`, and comes back once.
    guarded((), || unsafe { Box::from_raw(context.cast::<Slab>()) }.give());
}
