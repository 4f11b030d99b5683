// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls into a plugin's code.

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

/// Panics caught since the process started.
pub fn panics() -> u64 {
    PANICS.load(Ordering::Relaxed)
}
