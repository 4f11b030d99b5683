// SPDX-License-Identifier: MIT OR Apache-2.0
//! Catches panics in a plugin that is written in Rust. The plugin must do this itself. Each shared library has its own copy of the standard
//! library, and Rust cannot catch a panic of another copy: the process ends with "Rust cannot catch foreign exceptions".

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::{CLEARWAY_PANICKED, Status};

/// Runs the body of a callback. If the body panics, returns `CLEARWAY_PANICKED`. The plugin then still works.
pub fn guarded(body: impl FnOnce() -> Status) -> Status {
    guarded_or(CLEARWAY_PANICKED, body)
}

/// Runs the body of a callback with another return type. Returns `instead` if the body panics.
pub fn guarded_or<R>(instead: R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        // The payload's drop may panic again, so the payload is leaked.
        std::mem::forget(panic);
        instead
    })
}

/// Exports a function `fn(&'static Host, &mut Plugin) -> Status` as `clearway_plugin_init`. The exported function compares
/// the versions and catches panics.
///
/// ```
/// use clearway_sys::{CLEARWAY_OK, Host, Plugin, Status};
///
/// fn init(_host: &'static Host, _plugin: &mut Plugin) -> Status {
///     CLEARWAY_OK
/// }
///
/// clearway_sys::export!(init);
/// ```
#[macro_export]
macro_rules! export {
    ($init:path) => {
        /// # Safety
        /// Only a host may call this. The host must pass its table, and a struct to fill in.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn clearway_plugin_init(
            host: *const $crate::Host,
            plugin: *mut $crate::Plugin,
        ) -> $crate::Status {
            // SAFETY: the host passes its table and a struct to fill in, as the header requires.
            match unsafe { $crate::agree(host, plugin) } {
                Ok((host, plugin)) => $crate::guarded(|| $init(host, plugin)),
                Err(status) => status,
            }
        }
    };
}
