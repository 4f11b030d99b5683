// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads and starts a plugin.

use std::path::Path;
use std::sync::Arc;

use clearway_sys::{
    CLEARWAY_ABI_MAJOR, CLEARWAY_ABI_MINOR, CLEARWAY_INIT_FAILED, CLEARWAY_LOAD_FAILED, CLEARWAY_NOT_A_PLUGIN,
    CLEARWAY_OK, CLEARWAY_PANICKED, CLEARWAY_VERSION, Init, Plugin as About,
};

use crate::guard::calling;
use crate::outcome::Failure;
use crate::plugin::{Closer, Options, Plugin};
use crate::sync::lock;
use crate::table::HOST;

impl Plugin {
    /// Loads a library and opens its plugin. Runs the library's constructors and its init function on this thread. The same library may
    /// be opened several times; each opened plugin has its own handlers and sources.
    pub fn load(path: &Path, options: Options) -> Result<Arc<Plugin>, Failure> {
        // SAFETY: loading runs the library's constructors. The caller accepts that by naming a plugin, because no other way to load a
        // plugin exists.
        let library = unsafe { open(path) }
            .map_err(|error| Failure { status: CLEARWAY_LOAD_FAILED, text: without(path, &error.to_string()) })?;
        // SAFETY: a library that exports this name declares a function of this type. Until the versions are compared, host and plugin use
        // only the first fields of both structs. Those fields are the same in every version.
        let init = unsafe { library.get::<Init>(b"clearway_plugin_init\0") }
            .map(|init| *init)
            .map_err(|_| Failure { status: CLEARWAY_NOT_A_PLUGIN, text: "exports no clearway_plugin_init".into() })?;
        // The library stays loaded: released memory and late threads of the plugin may still run its code.
        std::mem::forget(library);
        // SAFETY: the library declares that `init` keeps to the ABI, as above.
        unsafe { Plugin::start(init, options) }
    }

    /// Opens a plugin that is linked into the host.
    ///
    /// # Safety
    /// `init` must keep to the ABI.
    pub unsafe fn start(init: Init, options: Options) -> Result<Arc<Plugin>, Failure> {
        let plugin = Plugin::new(options).map_err(Failure::of)?;
        let mut about = About {
            size: size_of::<About>(),
            id: plugin.id(),
            abi_major: 0,
            abi_minor: 0,
            context: std::ptr::null_mut(),
            on_close: None,
        };
        // SAFETY: the caller guarantees that `init` keeps to the ABI.
        let status = calling(CLEARWAY_PANICKED, || unsafe { init(&HOST, &mut about) });
        let failure = match status {
            CLEARWAY_OK if about.abi_major == CLEARWAY_ABI_MAJOR => {
                *lock(&plugin.on_close) = Closer::Ready { on_close: about.on_close, context: about.context };
                return Ok(plugin);
            }
            CLEARWAY_OK | CLEARWAY_VERSION => {
                Failure { status: CLEARWAY_VERSION, text: version_text(about.abi_major, about.abi_minor) }
            }
            status => {
                let log =
                    plugin.take_log(usize::MAX).0.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("; ");
                let status = if status == CLEARWAY_PANICKED { status } else { CLEARWAY_INIT_FAILED };
                Failure { status, text: log }
            }
        };
        // `forget_all` does not wait for handlers, which may still run on a thread that the plugin has started.
        plugin.forget_all();
        Err(failure)
    }
}

/// Says which versions of the ABI do not go together. A plugin that refuses the host's version may leave its own version 0.
fn version_text(major: u32, minor: u32) -> String {
    let built = if major == 0 { "another version".into() } else { format!("version {major}.{minor}") };
    format!("built for {built} of the ABI; this host has {CLEARWAY_ABI_MAJOR}.{CLEARWAY_ABI_MINOR}")
}

/// Removes the path from the start of a loader's message. The caller's message already contains the path.
fn without(path: &Path, said: &str) -> String {
    said.strip_prefix(&*path.to_string_lossy()).map_or(said, |rest| rest.trim_start_matches(": ")).into()
}

#[cfg(unix)]
unsafe fn open(path: &Path) -> Result<libloading::Library, libloading::Error> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    // With RTLD_NOW, a missing symbol makes the load fail. Otherwise a later call would fail.
    //
    // SAFETY: the caller of `open` accepts that the library's constructors run.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map(Into::into)
}

#[cfg(not(unix))]
unsafe fn open(path: &Path) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: the caller of `open` accepts that the library's constructors run.
    unsafe { libloading::Library::new(path) }
}
