// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares the versions of a host and of a plugin in Rust, when the host opens the plugin.

use core::mem::{offset_of, size_of};

use crate::host::{CLEARWAY_ABI_MAJOR, CLEARWAY_ABI_MINOR, Host, Plugin};
use crate::status::{CLEARWAY_INVALID_ARGUMENT, CLEARWAY_VERSION, Status};

/// Checks the arguments of a plugin's init function, and writes the plugin's version. Returns both structs if the host has everything that
/// this crate declares. Otherwise returns the status for the host: a plugin that was built with a later minor version than the host's is
/// refused with `CLEARWAY_VERSION`.
///
/// # Safety
/// Each pointer must be null, or valid for the size in its struct's first field, for ever (`host`) and during the call (`plugin`).
pub unsafe fn agree<'a>(host: *const Host, plugin: *mut Plugin) -> Result<(&'static Host, &'a mut Plugin), Status> {
    if host.is_null() || !host.is_aligned() || plugin.is_null() || !plugin.is_aligned() {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    // Reads single fields until the sizes are known, because a reference to a struct needs the whole struct.
    // SAFETY: the caller guarantees this. The first fields of both structs are the same in every version.
    let (host_size, host_major, plugin_size) = unsafe {
        ((&raw const (*host).size).read(), (&raw const (*host).abi_major).read(), (&raw const (*plugin).size).read())
    };
    if plugin_size >= offset_of!(Plugin, context) {
        // SAFETY: the struct has both fields. They are the version's, which the host names if the plugin refuses.
        unsafe {
            (&raw mut (*plugin).abi_major).write(CLEARWAY_ABI_MAJOR);
            (&raw mut (*plugin).abi_minor).write(CLEARWAY_ABI_MINOR);
        }
    }
    if host_major != CLEARWAY_ABI_MAJOR || host_size < size_of::<Host>() || plugin_size < size_of::<Plugin>() {
        return Err(CLEARWAY_VERSION);
    }
    // SAFETY: both structs have all fields, and the caller guarantees the rest.
    Ok(unsafe { (&*host, &mut *plugin) })
}
