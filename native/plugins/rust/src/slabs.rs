// SPDX-License-Identifier: MIT OR Apache-2.0
//! A pool of slabs, which are blocks of memory of one size. The plugin lends a slab to the host, and the host returns it. A returned slab
//! still contains its last frame, so drawing the next frame changes only the differences. The slab's pages are already mapped.

use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::guard::{guarded, lock};
use crate::picture::Drawn;

// The limits of a pool. 16 slabs for frames of 1080p take 133 MB. A listener that holds 16 frames does not keep up with the source. For
// larger frames, `BYTES_MAX` allows fewer slabs, but at least two: one is drawn while the other is shown.
const SLABS_MAX: usize = 16;
const SLABS_MIN: usize = 2;
const BYTES_MAX: usize = 256 << 20;
/// The maximum time to wait for a slab: about a third of a frame's time at 60 frames per second. A ticker that waits for a slab notices a
/// cancelled listener only after this time.
const WAIT: Duration = Duration::from_millis(5);

pub struct Slab {
    owner: Arc<Slabs>,
    pub pixels: Box<[u8]>,
    /// The last drawing in `pixels`. `None` if nothing was drawn yet.
    pub last_drawn: Option<Drawn>,
}

#[derive(Default)]
struct State {
    free: Vec<(Box<[u8]>, Option<Drawn>)>,
    /// The number of slabs that were allocated, including those in use.
    slab_count: usize,
}

pub struct Slabs {
    state: Mutex<State>,
    slab_returned: Condvar,
    size: usize,
    max: usize,
}

impl Slabs {
    /// Makes an empty pool of slabs of `size` bytes.
    pub fn new(size: usize) -> Arc<Slabs> {
        let max = (BYTES_MAX / size).clamp(SLABS_MIN, SLABS_MAX);
        Arc::new(Slabs { state: Mutex::default(), slab_returned: Condvar::new(), size, max })
    }

    /// Takes a free slab, or makes one. If the maximum number of slabs is in use, waits up to 5 ms for one. Returns `None` if no slab came
    /// back in that time.
    pub fn take(self: &Arc<Slabs>) -> Option<Box<Slab>> {
        let none_left = |state: &mut State| state.free.is_empty() && state.slab_count == self.max;
        let waited = self.slab_returned.wait_timeout_while(lock(&self.state), WAIT, none_left);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let (pixels, last_drawn) = match state.free.pop() {
            Some(free) => free,
            None if state.slab_count == self.max => return None,
            None => {
                state.slab_count += 1;
                (vec![0; self.size].into(), None)
            }
        };
        Some(Box::new(Slab { owner: Arc::clone(self), pixels, last_drawn }))
    }
}

impl Slab {
    /// Returns the slab to the pool. Any thread may call this, also long after the stream has ended: each slab keeps the pool alive.
    pub fn give_back(self) {
        let Slab { owner, pixels, last_drawn } = self;
        lock(&owner.state).free.push((pixels, last_drawn));
        owner.slab_returned.notify_one();
    }
}

/// Returns a slab to its pool. The host calls this when the last reference to the slab's memory is released. The context is the slab's
/// box.
pub unsafe extern "C-unwind" fn released(context: *mut c_void, _data: *mut u8, _size: usize) {
    // SAFETY: the context is a box from `Box::into_raw`, and the host calls this function once.
    guarded((), || unsafe { Box::from_raw(context.cast::<Slab>()) }.give_back());
}
