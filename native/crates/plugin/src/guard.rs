// SPDX-License-Identifier: MIT OR Apache-2.0
//! Panics of a plugin in Rust must be caught inside of it: each shared library has a standard library of its own, and Rust cannot
//! catch the panics of another one ("Rust cannot catch foreign exceptions", and the process ends).

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::{CLEARWAY_PANICKED, Status};

/// Runs the body of a callback; where it panics, the callback returns `CLEARWAY_PANICKED`, and the plugin lives on.
pub fn guarded(body: impl FnOnce() -> Status) -> Status {
    guarded_or(CLEARWAY_PANICKED, body)
}

/// Runs the body of a callback that returns something else; returns `instead` where it panics.
pub fn guarded_or<R>(instead: R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        // What was thrown may panic again when it is dropped.
        std::mem::forget(panic);
        instead
    })
}

/// Exports a function `unsafe fn(&Host, &mut Plugin) -> Status` as `clearway_plugin_init`: the versions are compared, and panics
/// caught.
///
/// ```
/// use clearway_plugin::{CLEARWAY_OK, Host, Plugin, Status};
///
/// fn init(_host: &'static Host, _plugin: &mut Plugin) -> Status {
///     CLEARWAY_OK
/// }
///
/// clearway_plugin::export!(init);
/// ```
#[macro_export]
macro_rules! export {
    ($init:path) => {
        /// # Safety
        /// Called by a host, with its table and a struct to be filled in.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn clearway_plugin_init(
            host: *const $crate::Host,
            plugin: *mut $crate::Plugin,
        ) -> $crate::Status {
            // SAFETY: as the header says; null is looked at.
            let (Some(host), Some(plugin)) = (unsafe { (host.as_ref(), plugin.as_mut()) }) else {
                return $crate::CLEARWAY_INVALID_ARGUMENT;
            };
            if host.abi_major != $crate::CLEARWAY_ABI_MAJOR {
                return $crate::CLEARWAY_VERSION;
            }
            plugin.abi_major = $crate::CLEARWAY_ABI_MAJOR;
            plugin.abi_minor = $crate::CLEARWAY_ABI_MINOR;
            $crate::guarded(|| $init(host, plugin))
        }
    };
}
