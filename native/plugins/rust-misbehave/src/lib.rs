// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plugin for tests that breaks the rules. The host must refuse the wrong calls and continue to work. Most handlers make wrong calls,
//! and answer with the statuses that the host returned. A status is an i32, little-endian. A plugin in C (`misbehave.c`) has the same
//! channels except `panic`.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use clearway_sys::{
    CLEARWAY_ABI_MAJOR, CLEARWAY_ABI_MINOR, CLEARWAY_FAILED, CLEARWAY_OK, CLEARWAY_PANICKED, CLEARWAY_RUN_DIRECT,
    Content, Handler, Host, Plugin, PluginId, Reply, Source, Status, Stream, Text, View,
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
    for (channel, handle) in ALL {
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

pub(crate) const ALL: &[(&str, Handle)] = &[
    ("panic", panics),
    ("garbage/status", garbage_status),
    ("garbage/length", garbage_length),
    ("garbage/memory", garbage_memory),
    ("garbage/null", null_pointers),
    ("reply/never", never),
    ("reply/twice", twice),
    ("reply/thread", from_a_thread),
];

fn panics(_bad: &Bad, _message: *const Content, _reply: Reply) -> Status {
    panic!("a handler panics, as the test asks of it")
}

/// Returns a status that the ABI does not define.
fn garbage_status(_bad: &Bad, _message: *const Content, _reply: Reply) -> Status {
    -559_038_737
}

/// Does not answer.
fn never(_bad: &Bad, _message: *const Content, _reply: Reply) -> Status {
    CLEARWAY_OK
}

impl Bad {
    /// Answers with a list of statuses.
    fn answer_statuses(&self, reply: Reply, statuses: &[Status]) -> Status {
        let bytes: Vec<u8> = statuses.iter().flat_map(|status| status.to_le_bytes()).collect();
        // SAFETY: the bytes are valid during the call, and the host copies them.
        unsafe { (self.host.reply)(reply, &Content::of(&bytes)) }
    }
}

/// Answers with impossible lengths: a length without bytes, one beyond the end of a memory, and one past the end of the address space.
fn garbage_length(bad: &Bad, _message: *const Content, reply: Reply) -> Status {
    let mut view = View::NONE;
    let byte = 0u8;
    // SAFETY: every pointer is null or valid. The host must check the lengths, which are wrong on purpose.
    let statuses = unsafe {
        let allocated = (bad.host.allocate)(bad.id, 64, 0, &mut view);
        let memory = Content { memory: view.memory, ..Content::NULL };
        let wrong = [
            Content { size: 64, ..Content::NULL },
            Content { data: &byte, size: usize::MAX, ..Content::NULL },
            Content { data: view.data, size: 65, ..memory },
            Content { data: view.data.add(60), size: usize::MAX - 8, ..memory },
        ];
        let statuses = wrong.map(|content| (bad.host.reply)(reply, &content));
        (bad.host.release)(view.memory);
        [allocated, statuses[0], statuses[1], statuses[2], statuses[3]]
    };
    bad.answer_statuses(reply, &statuses)
}

/// Uses a handle that never existed, and a handle after its release.
fn garbage_memory(bad: &Bad, _message: *const Content, reply: Reply) -> Status {
    let (mut view, mut ignored_view) = (View::NONE, View::NONE);
    let mut another = 0;
    // SAFETY: every pointer is writable. The host must check the handles, which are wrong on purpose.
    let statuses = unsafe {
        [
            (bad.host.view)(0x1234_5678_1234_5678, &mut ignored_view),
            (bad.host.allocate)(bad.id, usize::MAX, 0, &mut view),
            (bad.host.allocate)(bad.id, 64, 0, &mut view),
            (bad.host.release)(view.memory),
            (bad.host.release)(view.memory),
            (bad.host.view)(view.memory, &mut ignored_view),
            (bad.host.retain)(view.memory, &mut another),
            (bad.host.reply)(reply, &Content::of_memory(view.memory)),
        ]
    };
    bad.answer_statuses(reply, &statuses)
}

/// Passes null for required pointers.
fn null_pointers(bad: &Bad, _message: *const Content, reply: Reply) -> Status {
    let without_function = Handler {
        size: size_of::<Handler>(),
        channel: Text::of("null"),
        runs: CLEARWAY_RUN_DIRECT,
        reserved: 0,
        queue: Text::NONE,
        context: null_mut(),
        on_message: None,
        on_drop: None,
    };
    // SAFETY: the host must check for null pointers, which are passed on purpose.
    let statuses = unsafe {
        [
            (bad.host.allocate)(bad.id, 64, 0, null_mut()),
            (bad.host.view)(1, null_mut()),
            (bad.host.handle)(bad.id, null_mut()),
            (bad.host.handle)(bad.id, &without_function),
            (bad.host.source)(bad.id, null_mut()),
            (bad.host.log)(bad.id, 99, Text { size: 64, ..Text::NONE }),
        ]
    };
    bad.answer_statuses(reply, &statuses)
}

/// Answers twice. The host accepts the first answer and refuses the second one.
fn twice(bad: &Bad, message: *const Content, reply: Reply) -> Status {
    // SAFETY: the host lends the message during this call.
    let again = unsafe {
        (bad.host.reply)(reply, message);
        (bad.host.reply)(reply, std::ptr::null())
    };
    if again == CLEARWAY_OK { CLEARWAY_OK } else { CLEARWAY_FAILED }
}

/// Starts a detached thread that answers three times, while the handler returns a status.
fn from_a_thread(bad: &Bad, _message: *const Content, reply: Reply) -> Status {
    let host = bad.host;
    // SAFETY: the ABI allows null content, and the text has no bytes.
    std::thread::spawn(move || unsafe {
        (host.reply)(reply, std::ptr::null());
        (host.reply)(reply, std::ptr::null());
        (host.reply_error)(reply, CLEARWAY_FAILED, Text::NONE);
    });
    CLEARWAY_OK
}
