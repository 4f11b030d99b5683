// SPDX-License-Identifier: MIT OR Apache-2.0
//! Catches panics of the plugin's code before they reach the host.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result, Status};

/// Runs code of the plugin's author. Converts a panic to an error that has the panic's text.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = match panic.downcast_ref::<&str>() {
            Some(text) => (*text).into(),
            None => panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "the plugin panicked".into()),
        };
        leak(panic);
        Err(Error::new(Status::Panicked, text))
    })
}

/// Runs code of the plugin's author. Ignores a panic, because no caller could receive an error.
pub(crate) fn ignore_panic(work: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        leak(panic);
    }
}

/// Leaks a panic's payload, because dropping it could panic again.
fn leak(panic: Box<dyn Any + Send>) {
    std::mem::forget(panic);
}
