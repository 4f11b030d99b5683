// SPDX-License-Identifier: MIT OR Apache-2.0
//! The example plugin in Rust. native/plugins/README.md describes its channels. The plugin in C has the same channels.

mod echo;
mod example;
mod frames;
mod memset;
mod ticker;

use std::ffi::c_void;

use clearway_sys::{CLEARWAY_ABI_MAJOR, CLEARWAY_ABI_MINOR, CLEARWAY_OK, CLEARWAY_VERSION, Host, Plugin, Status};

use crate::example::{Example, guarded};

unsafe extern "C-unwind" fn on_close(context: *mut c_void) {
    guarded((), || {
        // SAFETY: `clearway_plugin_init` made `context` from a `Box`, and the host calls this function once.
        let example = unsafe { Box::from_raw(context.cast::<Example>()) };
        example.close();
    });
}

/// Makes an instance of the plugin, and registers its handlers and sources.
///
/// # Safety
///
/// `host` and `plugin` must meet the requirements of `clearway.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn clearway_plugin_init(host: *const Host, plugin: *mut Plugin) -> Status {
    guarded(clearway_sys::CLEARWAY_PANICKED, || {
        // SAFETY: the host's table lives as long as the process, and `plugin` as long as this call.
        let (host, plugin) = unsafe { (&*host, &mut *plugin) };
        (plugin.abi_major, plugin.abi_minor) = (CLEARWAY_ABI_MAJOR, CLEARWAY_ABI_MINOR);
        if host.abi_major != CLEARWAY_ABI_MAJOR {
            return CLEARWAY_VERSION;
        }
        let example = Box::new(Example::new(host, plugin.id));
        for add in [memset::add, echo::add, ticker::add_sensor, frames::add, echo::add_image, echo::add_block] {
            let status = add(&example);
            if status != CLEARWAY_OK {
                example.close();
                return status;
            }
        }
        plugin.context = Box::into_raw(example).cast();
        plugin.on_close = Some(on_close);
        CLEARWAY_OK
    })
}
