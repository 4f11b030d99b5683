// SPDX-License-Identifier: MIT OR Apache-2.0
//! Panics stay inside of the plugin.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result, Status};

/// Runs work of the plugin's author. A panic becomes an error with its text.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = match panic.downcast_ref::<&str>() {
            Some(text) => (*text).into(),
            None => panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "the plugin panicked".into()),
        };
        forget(panic);
        Err(Error::new(Status::Panicked, text))
    })
}

/// Runs work whose panic has no receiver.
pub(crate) fn quietly(work: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        forget(panic);
    }
}

/// A payload's drop may panic again, so the payload is leaked.
fn forget(panic: Box<dyn Any + Send>) {
    std::mem::forget(panic);
}
