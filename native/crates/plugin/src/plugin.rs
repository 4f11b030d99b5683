// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trait `Plugin`, and the function that the library exports.

use std::ffi::c_void;
use std::sync::Arc;

use clearway_sys as sys;

use crate::error::{Error, Result};
use crate::guard::{catch_panic, ignore_panic};
use crate::host::{Host, Level};
use crate::registry::Registry;

/// A type whose functions are a plugin's handlers and sources. `#[plugin]` implements this trait. Each opened instance of the plugin has
/// one value of the type. The value is dropped when the instance is closed and its last function has returned.
pub trait Plugin: Send + Sync + Sized + 'static {
    /// Makes the value for one instance. If it returns an error, the plugin is not opened, and the host reports the error's text.
    fn open(host: Host) -> Result<Self>;

    /// Registers the instance's handlers and sources.
    fn register(registry: &mut Registry<Self>) -> Result<()>;
}

unsafe extern "C-unwind" fn on_close<P>(context: *mut c_void) {
    // SAFETY: `init` made the pointer, and the host calls this function once.
    ignore_panic(|| drop(unsafe { Arc::from_raw(context.cast::<P>()) }));
}

/// Implements `clearway_plugin_init` for a plugin of type `P`.
///
/// # Safety
/// Only a host may call this, with its table and a struct to fill in.
#[doc(hidden)]
pub unsafe extern "C-unwind" fn init<P: Plugin>(table: *const sys::Host, plugin_info: *mut sys::Plugin) -> sys::Status {
    // SAFETY: each pointer is null or valid, as the header requires. The table lives until the process ends.
    let (table, plugin_info) = match unsafe { sys::agree(table, plugin_info) } {
        Ok(both) => both,
        Err(status) => return status,
    };
    let host = Host { table, id: plugin_info.id };
    let opened = catch_panic(|| {
        let plugin = Arc::new(P::open(host.clone())?);
        P::register(&mut Registry::new(host.clone(), plugin.clone()))?;
        Ok(plugin)
    });
    match opened {
        Ok(plugin) => {
            plugin_info.context = Arc::into_raw(plugin).cast_mut().cast();
            plugin_info.on_close = Some(on_close::<P>);
            sys::CLEARWAY_OK
        }
        Err(error) => {
            log_open_error(&host, &error);
            error.status().number()
        }
    }
}

/// Logs the error of a failed `init`. The host reports the log lines of a plugin that it could not open.
fn log_open_error(host: &Host, error: &Error) {
    host.log(Level::Error, error.to_string());
}

/// Exports a [`Plugin`] as the library's plugin. `#[plugin]` uses this macro.
#[doc(hidden)]
#[macro_export]
macro_rules! export {
    ($plugin:ty) => {
        /// # Safety
        /// Only a host may call this, as `clearway.h` specifies.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn clearway_plugin_init(
            host: *const $crate::__private::Host,
            plugin: *mut $crate::__private::About,
        ) -> i32 {
            // SAFETY: the host passes its table and a struct to fill in, as `init` requires.
            unsafe { $crate::__private::init::<$plugin>(host, plugin) }
        }
    };
}
