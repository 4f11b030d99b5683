// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slabs of one size that are lent to the host and come back. What one holds stays in it, so that the next frame changes only
//! what is different; and its pages have been touched.

use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::example::{guarded, lock};
use crate::picture::Drawn;

// Sixteen of 1080p are 133 MB: a listener that keeps as many does not keep up. Larger ones are fewer, but there are two at
// least: one is drawn while the other is looked at.
const SLABS_MAX: usize = 16;
const SLABS_MIN: usize = 2;
const BYTES_MAX: usize = 256 << 20;
/// A third of a frame at 60 a second: so long a listener that has gone is not noticed.
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
    /// Slabs of a size, none of them made yet.
    pub fn new(size: usize) -> Arc<Slabs> {
        let max = (BYTES_MAX / size).clamp(SLABS_MIN, SLABS_MAX);
        Arc::new(Slabs { state: Mutex::default(), given: Condvar::new(), size, max })
    }

    /// A slab that nobody has, made if need be; nothing where all that there may be stay with the host for 5 ms.
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
    /// Gives it back; on any thread, also long after the stream has ended: the slabs live until the last one is back.
    pub fn give(self) {
        let Slab { owner, pixels, holds } = self;
        lock(&owner.state).free.push((pixels, holds));
        owner.given.notify_one();
    }
}

/// The host has released a slab: the context is its box.
pub unsafe extern "C-unwind" fn released(context: *mut c_void, _data: *mut u8, _size: usize) {
    // SAFETY: the context is what `Box::into_raw` gave, and comes back once.
    guarded((), || unsafe { Box::from_raw(context.cast::<Slab>()) }.give());
}
