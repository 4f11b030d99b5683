// SPDX-License-Identifier: MIT OR Apache-2.0
//! Guards for calls into a plugin's code.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls `call`, and returns `instead` if it panics. Catches only panics of this copy of Rust's standard library, so only those of plugins
/// that are linked into the host. Rust cannot catch a panic or an exception of another runtime: the process ends with a message. Plugins in
/// Rust catch their own panics (crate `clearway-plugin`).
pub(crate) fn guarded<R>(instead: R, call: impl FnOnce() -> R) -> R {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(value) => value,
        Err(panic) => {
            // The payload's drop may panic again, so the payload is leaked. Panics are rare, and ending the process would be
            // worse.
            std::mem::forget(panic);
            instead
        }
    }
}

thread_local! {
    /// The number of nested calls of `calling` on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Calls as `guarded` does, and marks this thread as in a callback. Meanwhile, functions that could wait for that callback refuse to run
/// on this thread.
pub(crate) fn calling<R>(instead: R, call: impl FnOnce() -> R) -> R {
    DEPTH.set(DEPTH.get() + 1);
    let returned = guarded(instead, call);
    DEPTH.set(DEPTH.get() - 1);
    returned
}

/// Returns whether this thread is in a callback.
#[cfg(not(loom))]
pub(crate) fn is_calling() -> bool {
    DEPTH.get() > 0
}
