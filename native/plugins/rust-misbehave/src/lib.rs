// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plugin for tests that breaks the rules. The host must refuse the wrong calls and continue to work. Most handlers make wrong calls,
//! and answer with the statuses that the host returned. A status is an i32, little-endian. A plugin in C (`misbehave.c`) has the same
//! channels except `panic`.

mod handlers;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clearway_sys::{
    CLEARWAY_ABI_MAJOR, CLEARWAY_ABI_MINOR, CLEARWAY_OK, CLEARWAY_PANICKED, CLEARWAY_RUN_DIRECT, Content, Handler,
    Host, Plugin, PluginId, Reply, Source, Status, Stream, Text,
};

/// One instance of the plugin.
pub(crate) struct Bad {
    host: &'static Host,
    id: PluginId,
}

/// The function of a handler.
pub(crate) type Handle = fn(&Bad, *const Content, Reply) -> Status;

/// A handler's context.
struct Bound {
    bad: Bad,
    handle: Handle,
}

unsafe extern "C-unwind" fn on_message(context: *mut c_void, message: *const Content, reply: Reply) -> Status {
    // SAFETY: the context is a `Bound`, which lives until `on_drop`.
    let Bound { bad, handle } = unsafe { &*context.cast::<Bound>() };
    // A panic must not leave the plugin. The host cannot catch it, because the plugin has its own copy of the standard library.
    catch_unwind(AssertUnwindSafe(|| handle(bad, message, reply))).unwrap_or(CLEARWAY_PANICKED)
}

unsafe extern "C-unwind" fn on_drop(context: *mut c_void) {
    // SAFETY: `register` made the box. The host calls this function once, when no thread is in the handler.
    drop(unsafe { Box::from_raw(context.cast::<Bound>()) });
}

/// Emits to an unknown stream, emits with an impossible length, and emits to the stream after its end.
unsafe extern "C-unwind" fn on_listen(context: *mut c_void, _arguments: *const Content, stream: Stream) -> Status {
    // SAFETY: the context is the host's table, which lives as long as the process. The host must check the handles and lengths, which are
    // wrong on purpose.
    unsafe {
        let host = &*context.cast::<Host>().cast_const();
        (host.emit)(stream ^ 0x5555, std::ptr::null());
        (host.emit)(stream, &Content { size: 8, ..Content::NULL });
        (host.emit)(stream, &Content::of(b"last"));
        (host.end)(stream);
        (host.emit)(stream, &Content::of(b"late"));
        (host.end)(stream);
    }
    CLEARWAY_OK
}

fn register(host: &'static Host, id: PluginId, channel: &str, handle: Handle) -> Status {
    let context = Box::into_raw(Box::new(Bound { bad: Bad { host, id }, handle })).cast();
    let handler = Handler {
        size: size_of::<Handler>(),
        channel: Text::of(channel),
        runs: CLEARWAY_RUN_DIRECT,
        reserved: 0,
        queue: Text::NONE,
        context,
        on_message: Some(on_message),
        on_drop: Some(on_drop),
    };
    // SAFETY: the host copies the handler.
    let status = unsafe { (host.handle)(id, &handler) };
    if status != CLEARWAY_OK {
        // SAFETY: the host does not call `on_drop` for a handler that it refused.
        unsafe { on_drop(context) };
    }
    status
}

/// Registers the handlers and the source.
///
/// # Safety
///
/// `host` and `plugin` must meet the requirements of `clearway.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn clearway_plugin_init(host: *const Host, plugin: *mut Plugin) -> Status {
    // SAFETY: the host's table lives as long as the process, and `plugin` as long as this call.
    let (host, plugin) = unsafe { (&*host, &mut *plugin) };
    // Silences the panics that the tests provoke, so that the log shows only real faults. The hook is part of this library's own copy of
    // the standard library, so the panics of the host and of other plugins are still printed.
    std::panic::set_hook(Box::new(|_| {}));
    (plugin.abi_major, plugin.abi_minor) = (CLEARWAY_ABI_MAJOR, CLEARWAY_ABI_MINOR);
    for (channel, handle) in handlers::ALL {
        register(host, plugin.id, channel, *handle);
        // The host refuses the second handler of a channel and changes nothing.
        register(host, plugin.id, channel, *handle);
    }
    let source = Source {
        size: size_of::<Source>(),
        channel: Text::of("events/after-end"),
        runs: CLEARWAY_RUN_DIRECT,
        reserved: 0,
        queue: Text::NONE,
        context: std::ptr::from_ref(host).cast_mut().cast(),
        on_listen: Some(on_listen),
        on_cancel: None,
        on_room: None,
        on_drop: None,
    };
    // SAFETY: the host copies the source.
    unsafe { (host.source)(plugin.id, &source) }
}
