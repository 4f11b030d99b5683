// SPDX-License-Identifier: MIT OR Apache-2.0
//! Catches panics before they leave the plugin, and ignores poisoned locks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs code that may panic. Returns `instead` if the code panics, because a panic must not leave the plugin.
pub fn guarded<T>(instead: T, run: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        // Dropping the panic's payload could panic again, so the payload is leaked.
        std::mem::forget(panic);
        instead
    })
}

/// Locks a mutex. Ignores poisoning: every change under a lock is a single step, so a panic cannot leave half a change.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
