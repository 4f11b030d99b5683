// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls into a plugin's code.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

static PANICS: AtomicU64 = AtomicU64::new(0);

/// Calls `call`, and returns `instead` where it panics. Catches panics of this very copy of Rust's standard library: of plugins
/// that are linked into the host. A panic or exception of another runtime cannot be caught here, by the language's rules; it ends
/// the process with a message. Plugins in Rust catch their own (crate `clearway-plugin`).
pub(crate) fn guarded<R>(instead: R, call: impl FnOnce() -> R) -> R {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(value) => value,
        Err(panic) => {
            PANICS.fetch_add(1, Ordering::Relaxed);
            // What was thrown may panic again when it is dropped. It is left alone: a panic is rare, and an end would be worse.
            std::mem::forget(panic);
            instead
        }
    }
}

thread_local! {
    /// Calls of `calling` that this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// As `guarded`, and the thread is known to be in a callback meanwhile: what would wait for that callback is refused.
pub(crate) fn calling<R>(instead: R, call: impl FnOnce() -> R) -> R {
    DEPTH.set(DEPTH.get() + 1);
    let returned = guarded(instead, call);
    DEPTH.set(DEPTH.get() - 1);
    returned
}

/// Whether this thread is in a callback.
#[cfg(not(loom))]
pub(crate) fn is_calling() -> bool {
    DEPTH.get() > 0
}

/// Panics caught since the process started.
pub fn panics() -> u64 {
    PANICS.load(Ordering::Relaxed)
}
