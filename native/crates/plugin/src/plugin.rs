// SPDX-License-Identifier: MIT OR Apache-2.0
//! The plugin as a whole, and its one exported function.

use std::ffi::c_void;
use std::sync::Arc;

use clearway_sys as sys;

use crate::error::{Error, Result};
use crate::guard::{caught, quietly};
use crate::host::{Host, Level};
use crate::registry::Registry;

/// What `#[plugin]` makes of an `impl` block. One value is made for each opening; it is dropped when the plugin was closed and
/// none of its functions runs any more.
pub trait Plugin: Send + Sync + Sized + 'static {
    /// Makes the value for one opening. An error refuses it; the host shows the text.
    fn open(host: Host) -> Result<Self>;

    /// Registers the handlers and the sources.
    fn register(registry: &mut Registry<Self>) -> Result<()>;
}

unsafe extern "C-unwind" fn on_close<P>(context: *mut c_void) {
    // SAFETY: made by `init`; the host calls this once.
    quietly(|| drop(unsafe { Arc::from_raw(context.cast::<P>()) }));
}

/// What `clearway_plugin_init` does for a plugin of type `P`.
///
/// # Safety
/// For a host, with its table and a struct to fill in.
#[doc(hidden)]
pub unsafe extern "C-unwind" fn init<P: Plugin>(table: *const sys::Host, about: *mut sys::Plugin) -> sys::Status {
    // SAFETY: null, or as the header says; the table lives until the process ends.
    let (Some(table), Some(about)) = (unsafe { (table.as_ref::<'static>(), about.as_mut()) }) else {
        return sys::CLEARWAY_INVALID_ARGUMENT;
    };
    if table.abi_major != sys::CLEARWAY_ABI_MAJOR || table.size < size_of::<sys::Host>() {
        return sys::CLEARWAY_VERSION;
    }
    about.abi_major = sys::CLEARWAY_ABI_MAJOR;
    about.abi_minor = sys::CLEARWAY_ABI_MINOR;
    let host = Host { table, id: about.id };
    let opened = caught(|| {
        let plugin = Arc::new(P::open(host.clone())?);
        P::register(&mut Registry::new(host.clone(), plugin.clone()))?;
        Ok(plugin)
    });
    match opened {
        Ok(plugin) => {
            about.context = Arc::into_raw(plugin).cast_mut().cast();
            about.on_close = Some(on_close::<P>);
            sys::CLEARWAY_OK
        }
        Err(error) => {
            refused(&host, &error);
            error.status().number()
        }
    }
}

/// The host shows the lines of an opening that was refused.
fn refused(host: &Host, error: &Error) {
    host.log(Level::Error, error.to_string());
}

/// Exports a [`Plugin`] as the library's plugin. `#[plugin]` does it.
#[doc(hidden)]
#[macro_export]
macro_rules! export {
    ($plugin:ty) => {
        /// # Safety
        /// For a host, as `clearway.h` says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn clearway_plugin_init(
            host: *const $crate::__private::Host,
            plugin: *mut $crate::__private::About,
        ) -> i32 {
            // SAFETY: as the host promises.
            unsafe { $crate::__private::init::<$plugin>(host, plugin) }
        }
    };
}
