// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiters, for hosts that block a thread instead of registering a callback. With a waiter, none of the host's code
//! runs on a plugin's thread.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clearway_core::{BYTES_MAX, Memory as Reference};
use clearway_sys::{
    CLEARWAY_INVALID_ARGUMENT, CLEARWAY_MEMORY_LENT, CLEARWAY_MEMORY_SEALED, CLEARWAY_MEMORY_SHARED, CLEARWAY_OK,
    CLEARWAY_PENDING, CLEARWAY_STALE, CLEARWAY_TIMEOUT, CLEARWAY_TOO_LARGE, PluginId, Status, View,
};

use crate::{give, plugin, status};

/// An object on which a host's threads wait, for events to drain and for the return of lent memory.
pub type Waiter = u64;

#[derive(Default)]
struct Monitor {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Whether a wake has come for which no thread has returned yet.
    woken: bool,
    /// The number of wakes. A thread that waits notices each later wake by this number, even if another thread returns
    /// first.
    wakes: u64,
    /// The number of waiting threads. Only tests use it.
    waiting: usize,
    freed: bool,
    returned: Vec<u64>,
}

#[derive(Default)]
struct Monitors {
    last: Waiter,
    open: HashMap<Waiter, Arc<Monitor>>,
}

static MONITORS: LazyLock<Mutex<Monitors>> = LazyLock::new(Mutex::default);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn monitor(waiter: Waiter) -> Result<Arc<Monitor>, Status> {
    lock(&MONITORS).open.get(&waiter).cloned().ok_or(CLEARWAY_STALE)
}

impl Monitor {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }
}

impl State {
    fn wake(&mut self) {
        self.woken = true;
        self.wakes += 1;
    }
}

/// A loan of host memory. When the last reference to the memory is dropped, the loan is dropped too.
struct Loan {
    monitor: Arc<Monitor>,
    tag: u64,
}

impl Drop for Loan {
    fn drop(&mut self) {
        let tag = self.tag;
        self.monitor.change(|state| state.returned.push(tag));
    }
}

/// Makes a waiter.
///
/// # Safety
/// `waiter` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_waiter_new(waiter: *mut Waiter) -> Status {
    status(|| {
        let mut monitors = lock(&MONITORS);
        let number = monitors.last + 1;
        // SAFETY: the caller guarantees this.
        unsafe { give(waiter, number) }?;
        monitors.last = number;
        monitors.open.insert(number, Arc::default());
        Ok(())
    })
}

/// Frees a waiter. Threads that wait on it return `CLEARWAY_STALE`. Memory that was lent through the waiter stays lent.
/// Its return is not reported.
#[unsafe(no_mangle)]
pub extern "C" fn clearway_waiter_free(waiter: Waiter) -> Status {
    status(|| {
        let monitor = lock(&MONITORS).open.remove(&waiter).ok_or(CLEARWAY_STALE)?;
        monitor.change(|state| state.freed = true);
        Ok(())
    })
}

/// Makes a plugin wake this waiter, instead of a function set by `clearway_plugin_set_wake`. The rules of that function
/// apply. Several plugins may wake one waiter.
#[unsafe(no_mangle)]
pub extern "C" fn clearway_waiter_watch(waiter: Waiter, id: PluginId) -> Status {
    status(|| {
        let monitor = monitor(waiter)?;
        plugin(id)?.set_wake(Some(Box::new(move || monitor.change(State::wake))))
    })
}

/// Wakes the threads that wait on a waiter. If none waits, wakes the next thread that will wait.
#[unsafe(no_mangle)]
pub extern "C" fn clearway_waiter_wake(waiter: Waiter) -> Status {
    status(|| {
        monitor(waiter)?.change(State::wake);
        Ok(())
    })
}

/// Waits until a plugin has events to drain, or until lent memory has come back. Waits at most `timeout_ms`
/// milliseconds; `UINT32_MAX` means no limit. Writes up to `capacity` tags of returned memory to `returned`, and their
/// number to `count`. `capacity` must be 1 or more. Several threads may wait. A wake wakes all threads that wait at
/// that moment.
///
/// - `CLEARWAY_OK`: a plugin may have events to drain, or memory has come back.
/// - `CLEARWAY_PENDING`: the same, and more memory has come back than fits in `returned`.
/// - `CLEARWAY_TIMEOUT`: nothing has happened in this time.
///
/// # Safety
/// `returned` must be writable for `capacity` numbers, and `count` for one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_waiter_wait(
    waiter: Waiter,
    timeout_ms: u32,
    returned: *mut u64,
    capacity: usize,
    count: *mut usize,
) -> Status {
    let mut how = CLEARWAY_OK;
    let done = status(|| {
        if returned.is_null() || !returned.is_aligned() || capacity == 0 {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        // SAFETY: the caller guarantees this.
        unsafe { give(count, 0) }?;
        let monitor = monitor(waiter)?;
        let end = (timeout_ms != u32::MAX).then(|| Instant::now() + Duration::from_millis(timeout_ms.into()));
        let mut state = lock(&monitor.state);
        state.waiting += 1;
        let before = state.wakes;
        while !state.woken && state.wakes == before && state.returned.is_empty() && !state.freed {
            let Some(end) = end else {
                state = monitor.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.waiting -= 1;
                return Err(CLEARWAY_TIMEOUT);
            }
            state = monitor.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.waiting -= 1;
        if state.freed {
            return Err(CLEARWAY_STALE);
        }
        state.woken = false;
        let taken = state.returned.len().min(capacity);
        for (at, tag) in state.returned.drain(..taken).enumerate() {
            // SAFETY: the caller guarantees this. At most `capacity` tags are taken.
            unsafe { returned.add(at).write(tag) };
        }
        if !state.returned.is_empty() {
            how = CLEARWAY_PENDING;
        }
        // SAFETY: as above.
        unsafe { give(count, taken) }
    });
    if done == CLEARWAY_OK { how } else { done }
}

/// Lends memory of the host to plugins, as `clearway_memory_lend` does. Does not copy. After the last reference is
/// released, `clearway_waiter_wait` returns `tag`; if this function fails, it never does. The caller owns the reference
/// in `view`. `flags` is 0, `CLEARWAY_MEMORY_SHARED`, `CLEARWAY_MEMORY_SEALED` or both.
///
/// # Safety
/// `data` must be readable and writable for `size` bytes until `tag` has come back. `view` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_waiter_lend(
    waiter: Waiter,
    data: *mut u8,
    size: usize,
    flags: u32,
    tag: u64,
    view: *mut View,
) -> Status {
    status(|| {
        if view.is_null() || !view.is_aligned() || data.is_null() {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        if flags & !(CLEARWAY_MEMORY_SHARED | CLEARWAY_MEMORY_SEALED) != 0 {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        if size > BYTES_MAX {
            return Err(CLEARWAY_TOO_LARGE);
        }
        let monitor = monitor(waiter)?;
        let loan = || Box::new(Loan { monitor, tag }) as Box<dyn Send + Sync>;
        // SAFETY: the caller guarantees this.
        let memory = unsafe { Reference::owned(data, size, flags | CLEARWAY_MEMORY_LENT, loan) }?;
        // SAFETY: the caller guarantees this.
        unsafe { give(view, memory.view()) }?;
        memory.into_handle();
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::thread::{scope, yield_now};

    fn new() -> Waiter {
        let mut waiter = 0;
        // SAFETY: the result is written to a local variable.
        assert_eq!(unsafe { clearway_waiter_new(&mut waiter) }, CLEARWAY_OK);
        waiter
    }

    fn wait(waiter: Waiter, timeout_ms: u32) -> Status {
        let (mut tag, mut count) = (0, 0);
        // SAFETY: the results are written to local variables.
        unsafe { clearway_waiter_wait(waiter, timeout_ms, &mut tag, 1, &mut count) }
    }

    fn until_waiting(waiter: Waiter, threads: usize) {
        while lock(&monitor(waiter).unwrap().state).waiting < threads {
            yield_now();
        }
    }

    #[test]
    fn one_wake_wakes_all_that_wait() {
        let waiter = new();
        let (tell, told) = channel();
        scope(|threads| {
            for _ in 0..3 {
                let tell = tell.clone();
                threads.spawn(move || tell.send(wait(waiter, 60_000)).unwrap());
            }
            until_waiting(waiter, 3);
            assert_eq!(clearway_waiter_wake(waiter), CLEARWAY_OK);
            assert_eq!([(); 3].map(|()| told.recv().unwrap()), [CLEARWAY_OK; 3]);
        });
        assert_eq!(wait(waiter, 0), CLEARWAY_TIMEOUT); // the wake is used up
        assert_eq!(clearway_waiter_free(waiter), CLEARWAY_OK);
    }

    #[test]
    fn a_wake_that_nobody_waits_for_is_kept_for_one() {
        let waiter = new();
        assert_eq!(clearway_waiter_wake(waiter), CLEARWAY_OK);
        assert_eq!(clearway_waiter_wake(waiter), CLEARWAY_OK);
        assert_eq!([wait(waiter, 0), wait(waiter, 0)], [CLEARWAY_OK, CLEARWAY_TIMEOUT]);
        assert_eq!(clearway_waiter_free(waiter), CLEARWAY_OK);
    }

    #[test]
    fn freeing_ends_all_that_wait() {
        let waiter = new();
        scope(|threads| {
            let waits = [(); 2].map(|()| threads.spawn(move || wait(waiter, u32::MAX)));
            until_waiting(waiter, 2);
            assert_eq!(clearway_waiter_free(waiter), CLEARWAY_OK);
            assert_eq!(waits.map(|each| each.join().unwrap()), [CLEARWAY_STALE; 2]);
        });
    }
}
