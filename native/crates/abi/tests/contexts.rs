// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls a host's functions from places that must refuse them: a plugin's callbacks, a wake, before and after a close.

#[path = "../../core/tests/fixture/mod.rs"]
mod fixture;

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};

use clearway::*;
use clearway_core::Plugin as Opened;
use clearway_sys::*;
use fixture::{LONG, give, handle, reply, text};

const NONE: Event = Event::NONE;
/// The timeout for closing, in milliseconds. Longer than any of these calls takes, and short enough to wait for when a test fails.
const SHORT_MS: u32 = 100;

fn send(id: u64, channel: &'static str, answer: *mut Event) -> Status {
    // SAFETY: all pointers point to values that live during the call.
    unsafe { clearway_plugin_send(id, text(channel), &Content::NULL, 9, answer) }
}

/// Returns whether the library refuses to close and to free an open plugin on this thread.
fn refused(id: u64) -> bool {
    (clearway_plugin_close(id, SHORT_MS), clearway_plugin_free(id))
        == (CLEARWAY_INVALID_ARGUMENT, CLEARWAY_INVALID_ARGUMENT)
}

#[test]
fn a_handler_that_closes_or_frees_is_refused_wherever_it_runs() {
    let other = fixture::plugin();
    for (runs, queue) in [(CLEARWAY_RUN_DIRECT, ""), (CLEARWAY_RUN_POOL, ""), (CLEARWAY_RUN_SERIAL, "queue")] {
        let plugin = fixture::plugin();
        let (id, other) = (plugin.id(), other.id());
        let (tell, told) = channel();
        let tell = Mutex::new(tell);
        handle(&plugin, "close", runs, queue, move |_, to| {
            tell.lock().unwrap().send(refused(id) && refused(other)).unwrap();
            reply(to, b"")
        });
        let mut answer = NONE;
        // SAFETY: all pointers point to values that live during the call.
        unsafe {
            let mut channel = 0;
            assert_eq!(clearway_channel_find(id, text("close"), &mut channel), CLEARWAY_OK);
            send(id, "close", &mut answer);
            assert_eq!(told.recv(), Ok(true), "sent: runs={runs}");
            send(id, "close", null_mut());
            assert_eq!(told.recv(), Ok(true), "sent without an answer: runs={runs}");
            if runs == CLEARWAY_RUN_DIRECT {
                clearway_channel_call(channel, null(), 0, 0, null(), 0, null_mut(), 0, &mut answer);
                assert_eq!(told.recv(), Ok(true), "called: runs={runs}");
            }
        }
        assert_eq!(clearway_plugin_close(id, LONG.as_millis() as u32), CLEARWAY_OK);
        assert_eq!(clearway_plugin_free(id), CLEARWAY_OK);
    }
    assert_eq!(clearway_plugin_close(other.id(), 0), CLEARWAY_OK);
}

/// One bit for each callback in which the library has refused to close and to free a plugin: the source's four callbacks and `on_close`.
static FOUND: AtomicU64 = AtomicU64::new(0);
static ASKED: AtomicU64 = AtomicU64::new(0);

fn found(bit: u64) {
    if refused(ASKED.load(Ordering::SeqCst)) {
        FOUND.fetch_or(bit, Ordering::SeqCst);
    }
}

unsafe extern "C-unwind" fn on_listen(_: *mut c_void, _: *const Content, _: u64) -> Status {
    found(1);
    CLEARWAY_OK
}
unsafe extern "C-unwind" fn on_cancel(_: *mut c_void, _: u64) {
    found(2);
}
unsafe extern "C-unwind" fn on_room(_: *mut c_void, _: u64) {
    found(4);
}
unsafe extern "C-unwind" fn on_drop(_: *mut c_void) {
    found(8);
}
unsafe extern "C-unwind" fn on_close(_: *mut c_void) {
    found(16);
}
unsafe extern "C-unwind" fn init(host: *const Host, plugin: *mut Plugin) -> Status {
    let source = Source {
        size: size_of::<Source>(),
        channel: text("numbers"),
        runs: CLEARWAY_RUN_DIRECT,
        reserved: 0,
        queue: Text::NONE,
        context: null_mut(),
        on_listen: Some(on_listen),
        on_cancel: Some(on_cancel),
        on_room: Some(on_room),
        on_drop: Some(on_drop),
    };
    // SAFETY: the host passes these pointers for this use. The host copies the source during the call.
    unsafe {
        (*plugin).abi_major = CLEARWAY_ABI_MAJOR;
        (*plugin).on_close = Some(on_close);
        ((*host).source)((*plugin).id, &source)
    }
}

#[test]
fn a_sources_callbacks_and_on_close_that_close_or_free_are_refused() {
    // SAFETY: `init` follows the ABI.
    let plugin = unsafe { Opened::start(init, Default::default()) }.unwrap();
    let other = fixture::plugin();
    ASKED.store(other.id(), Ordering::SeqCst);
    let id = plugin.id();
    let window =
        Window { size: size_of::<Window>(), items: 1, when_full: CLEARWAY_WHEN_FULL_WAIT, bytes: 8, credit: 8 };
    let mut streams = [0; 2];
    for stream in &mut streams {
        // SAFETY: all pointers point to values that live during the call.
        assert_eq!(unsafe { clearway_plugin_listen(id, text("numbers"), null(), &window, 5, stream) }, CLEARWAY_OK);
    }
    assert_eq!(fixture::emit(streams[0], b"1"), CLEARWAY_OK);
    assert_eq!(fixture::emit(streams[0], b"2"), CLEARWAY_FULL);
    let (mut events, mut count) = ([NONE; 2], 0);
    // SAFETY: all pointers point to values that live during the call.
    assert_eq!(unsafe { clearway_plugin_drain(id, events.as_mut_ptr(), 2, &mut count) }, CLEARWAY_OK);
    assert_eq!(clearway_stream_cancel(id, streams[0]), CLEARWAY_OK);
    assert_eq!(clearway_plugin_close(id, 1000), CLEARWAY_OK);
    assert_eq!(FOUND.load(Ordering::SeqCst), 31);
    assert_eq!(clearway_plugin_free(id), CLEARWAY_OK);
    assert_eq!(clearway_plugin_close(other.id(), 0), CLEARWAY_OK);
}

#[test]
fn a_wake_that_closes_frees_or_sets_a_wake_is_refused() {
    struct Woken {
        id: u64,
        said: [AtomicI32; 4],
    }
    unsafe extern "C-unwind" fn wake(context: *mut c_void) {
        // SAFETY: the context is the `Woken` made below.
        let Woken { id, said } = unsafe { &*context.cast::<Woken>() };
        said[0].store(clearway_plugin_close(*id, SHORT_MS), Ordering::SeqCst);
        said[1].store(clearway_plugin_free(*id), Ordering::SeqCst);
        // SAFETY: null removes the wake.
        said[2].store(unsafe { clearway_plugin_set_wake(*id, None, null_mut()) }, Ordering::SeqCst);
        let mut waiter = 0;
        // SAFETY: all pointers point to values that live during the call.
        unsafe { clearway_waiter_new(&mut waiter) };
        said[3].store(clearway_waiter_watch(waiter, *id), Ordering::SeqCst);
        clearway_waiter_free(waiter);
    }
    let plugin = fixture::plugin();
    let woken = Woken { id: plugin.id(), said: Default::default() };
    let context = (&raw const woken).cast_mut().cast();
    // SAFETY: all pointers point to values that live during the call.
    unsafe {
        assert_eq!(clearway_plugin_set_wake(plugin.id(), Some(wake), context), CLEARWAY_OK);
        assert_eq!((clearway_core::HOST.log)(plugin.id(), CLEARWAY_LOG_INFO, text("line")), CLEARWAY_OK);
        assert_eq!(clearway_plugin_set_wake(plugin.id(), None, null_mut()), CLEARWAY_OK);
    }
    assert_eq!(woken.said.map(|each| each.load(Ordering::SeqCst)), [CLEARWAY_INVALID_ARGUMENT; 4]);
    assert_eq!(clearway_plugin_close(plugin.id(), 0), CLEARWAY_OK);
}

#[test]
fn a_plugin_that_is_freed_before_it_was_closed_leaves_no_thread_behind() {
    thread_local! {
        // Dropped when its thread ends.
        static LIVES: RefCell<Option<Sender<()>>> = const { RefCell::new(None) };
    }
    let plugin = fixture::plugin();
    let (alive, ended) = channel::<()>();
    let alive = Arc::new(Mutex::new(vec![alive.clone(), alive]));
    let given = alive.clone();
    let on = move |_: &Content, to| {
        LIVES.with(|lives| *lives.borrow_mut() = given.lock().unwrap().pop());
        reply(to, b"")
    };
    handle(&plugin, "pooled", CLEARWAY_RUN_POOL, "", on.clone());
    handle(&plugin, "serial", CLEARWAY_RUN_SERIAL, "queue", on);
    for channel in ["pooled", "serial"] {
        let mut answer = NONE;
        assert_eq!(send(plugin.id(), channel, &mut answer), CLEARWAY_PENDING);
    }
    while !alive.lock().unwrap().is_empty() {
        std::thread::yield_now();
    }
    assert_eq!(clearway_plugin_free(plugin.id()), CLEARWAY_OK);
    assert_eq!(clearway_plugin_free(plugin.id()), CLEARWAY_STALE);
    assert_eq!(ended.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
}

#[test]
fn an_open_that_is_refused_says_why_however_early() {
    let path = text("no/such.so");
    let small = Options { size: 4, ..Options::default() };
    let many = Options { size: size_of::<Options>(), calls_max: u32::MAX, ..Options::default() };
    let mut id = 0;
    let long = vec![b'x'; 70_000];
    let long = Text { data: long.as_ptr().cast(), size: long.len() };
    let binary = Text { data: [0xffu8].as_ptr().cast(), size: 1 };
    for (path, options, to, status, why) in [
        (Text::NONE, null(), &raw mut id, CLEARWAY_INVALID_ARGUMENT, "path"),
        (long, null(), &raw mut id, CLEARWAY_INVALID_ARGUMENT, "path"),
        (binary, null(), &raw mut id, CLEARWAY_INVALID_ARGUMENT, "path"),
        (path, &raw const small, &raw mut id, CLEARWAY_INVALID_ARGUMENT, "options"),
        (path, null(), null_mut(), CLEARWAY_INVALID_ARGUMENT, "plugin"),
        (path, &raw const many, &raw mut id, CLEARWAY_LOAD_FAILED, "cannot open"),
    ] {
        for size in [0, 1, 2, 200] {
            let mut said = [0x7f as c_char; 201];
            // SAFETY: all pointers point to values that live during the call.
            assert_eq!(unsafe { clearway_plugin_open(path, options, to, said.as_mut_ptr(), size) }, status);
            assert!(said[size..].iter().all(|each| *each == 0x7f), "written behind the room: size={size}");
            if size > 0 {
                // SAFETY: the header promises a terminating zero.
                let text = unsafe { CStr::from_ptr(said.as_ptr()) }.to_str().unwrap();
                assert!(text.len() < size && (size < 200 || text.contains(why)), "{why}: {text:?} size={size}");
            }
            // SAFETY: the error pointer is null.
            assert_eq!(unsafe { clearway_plugin_open(path, options, to, null_mut(), size) }, status);
        }
    }
    assert_eq!(id, 0);
}

#[test]
fn attachments_are_null_when_there_are_none() {
    let plugin = fixture::plugin();
    let id = plugin.id();
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    handle(&plugin, "echo", CLEARWAY_RUN_DIRECT, "", move |message, to| {
        tell.lock().unwrap().send(message.attachments.is_null()).unwrap();
        give(to, message)
    });
    // The core ignores the pointer if the count is 0.
    let dangling = NonNull::<u64>::dangling().as_ptr();
    for bytes in [&[1; 5][..], &[7; 5000], &[]] {
        let content = Content { attachments: dangling, ..Content::of(bytes) };
        let mut answer = NONE;
        // SAFETY: all pointers point to values that live during the call.
        unsafe {
            assert_eq!(clearway_plugin_send(id, text("echo"), &content, 9, &mut answer), CLEARWAY_OK);
            assert_eq!(told.recv(), Ok(true), "in the handler: size={}", bytes.len());
            assert!(answer.content.attachments.is_null(), "in the answer: size={}", bytes.len());
            assert_eq!(clearway_event_release(&mut answer), CLEARWAY_OK);
        }
    }
    let mut view = View::NONE;
    // SAFETY: all pointers point to values that live during the call.
    unsafe {
        assert_eq!((clearway_core::HOST.send)(id, text("x"), &Content::of(&[1; 100]), None, null_mut()), CLEARWAY_OK);
        let (mut events, mut count) = ([NONE; 2], 0);
        assert_eq!(clearway_plugin_drain(id, events.as_mut_ptr(), 2, &mut count), CLEARWAY_OK);
        assert!(events[0].content.attachments.is_null() && events[0].content.size == 100);
        assert_eq!(clearway_events_release(events.as_mut_ptr(), 2), CLEARWAY_OK);
        assert_eq!(clearway_memory_allocate(10, 0, &mut view), CLEARWAY_OK);
        let content = Content { attachments: dangling, ..Content::of_memory(view.memory) };
        let mut answer = NONE;
        assert_eq!(clearway_plugin_send(id, text("echo"), &content, 9, &mut answer), CLEARWAY_OK);
        assert_eq!(told.recv(), Ok(true), "memory");
        assert!(answer.content.attachments.is_null());
        assert_eq!(clearway_event_release(&mut answer), CLEARWAY_OK);
        assert_eq!(clearway_memory_release(view.memory), CLEARWAY_OK);
    }
}

#[test]
fn a_host_that_was_built_with_larger_structs_is_served() {
    /// A struct of a later version of the header.
    #[repr(C)]
    struct Later<T> {
        known: T,
        later: u64,
    }
    let plugin = fixture::plugin();
    let options = Options { size: size_of::<Later<Options>>(), ..Options::default() };
    let options = Later { known: options, later: u64::MAX };
    let mut id = 0;
    // SAFETY: all pointers point to values that live during the call, with the sizes in their first fields.
    let opened =
        unsafe { clearway_plugin_open(text("no/such.so"), (&raw const options).cast(), &mut id, null_mut(), 0) };
    assert_eq!((opened, options.later), (CLEARWAY_LOAD_FAILED, u64::MAX));

    let mut counters = [u64::MAX; size_of::<Stats>() / 8 + 1];
    counters[0] = size_of_val(&counters) as u64;
    // SAFETY: as above.
    assert_eq!(unsafe { clearway_plugin_stats(plugin.id(), counters.as_mut_ptr().cast()) }, CLEARWAY_OK);
    assert_eq!(counters[0], size_of::<Stats>() as u64);
    assert_eq!(counters[counters.len() - 1], u64::MAX);

    counters[0] -= 8;
    // SAFETY: as above.
    let smaller = unsafe { clearway_plugin_stats(plugin.id(), counters.as_mut_ptr().cast()) };
    assert_eq!(smaller, CLEARWAY_INVALID_ARGUMENT);
}
