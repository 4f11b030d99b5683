// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plugin that breaks the rules, for tests. The host must answer with an error and go on. Most handlers reply with the host's results
//! of their calls: i32 statuses, little-endian. The plugin in C does the same, without `panic`.

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

pub(crate) type Handle = fn(&Bad, *const Content, Reply) -> Status;

/// A handler's context.
struct Bound {
    bad: Bad,
    handle: Handle,
}

unsafe extern "C-unwind" fn on_message(context: *mut c_void, message: *const Content, reply: Reply) -> Status {
    // SAFETY: the context is the box that `on_drop` frees.
    let Bound { bad, handle } = unsafe { &*context.cast::<Bound>() };
    // A panic must not leave the plugin: the host can only catch panics of its own copy of the standard library.
    catch_unwind(AssertUnwindSafe(|| handle(bad, message, reply))).unwrap_or(CLEARWAY_PANICKED)
}

unsafe extern "C-unwind" fn on_drop(context: *mut c_void) {
    // SAFETY: called once, when no thread is in the handler.
    drop(unsafe { Box::from_raw(context.cast::<Bound>()) });
}

/// Emits to an unknown stream, with an impossible length, and to an ended stream.
unsafe extern "C-unwind" fn on_listen(context: *mut c_void, _arguments: *const Content, stream: Stream) -> Status {
    // SAFETY: the context is the host's table, which lives as long as the process. The test needs the wrong handles and lengths.
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
        // SAFETY: the host does not drop a refused handler.
        unsafe { on_drop(context) };
    }
    status
}

/// # Safety
///
/// `host` and `plugin` must meet the requirements of `clearway.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn clearway_plugin_init(host: *const Host, plugin: *mut Plugin) -> Status {
    // SAFETY: the host's table lives as long as the process, and `plugin` as long as this call.
    let (host, plugin) = unsafe { (&*host, &mut *plugin) };
    // Silences the panics that the tests provoke, so that a log shows only real faults. The hook belongs to this library's copy of the
    // standard library. Panics of the host and of other plugins still print.
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
