// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that the core refuses a plugin's mistakes with a status, and that the host survives.

mod fixture;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clearway_core::{Given, HOST, Item, Memory, Options, Plugin, WhenFull};
use clearway_sys::*;
use fixture::*;

const NO_HANDLES: [u64; 6] = [0, 1, 42, u64::MAX, 1 << 50, (1 << 50) | (1 << 22)];

#[test]
fn null_pointers_are_refused() {
    let plugin = plugin();
    let id = plugin.id();
    let mut view = View::NONE;
    // SAFETY: null is allowed everywhere. All other pointers point to values that live during the call.
    unsafe {
        assert_eq!((HOST.allocate)(id, 8, 0, null_mut()), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!((HOST.adopt)(id, null_mut(), 8, 0, None, null_mut(), &mut view), CLEARWAY_INVALID_ARGUMENT);
        let mut byte = 0;
        assert_eq!((HOST.adopt)(id, &mut byte, 1, 0, None, null_mut(), null_mut()), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!((HOST.adopt)(id, &mut byte, 1, 64, None, null_mut(), &mut view), CLEARWAY_INVALID_ARGUMENT);
        let memory = Memory::allocate(8, 0).unwrap();
        assert_eq!((HOST.view)(memory.handle(), null_mut()), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!((HOST.retain)(memory.handle(), null_mut()), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!(memory.references(), 1);
        assert_eq!((HOST.handle)(id, null()), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!((HOST.source)(id, null()), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!((HOST.unhandle)(id, Text::NONE), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!((HOST.send)(id, Text::NONE, null(), None, null_mut()), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!((HOST.log)(id, 99, Text::NONE), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!((HOST.log)(id, 0, Text { data: null(), size: 10 }), CLEARWAY_OK);
        // Null content is the null message.
        assert_eq!((HOST.send)(id, text("x"), null(), None, null_mut()), CLEARWAY_OK);
    }
}

#[test]
fn invalid_handles_are_stale_everywhere() {
    let mut view = View::NONE;
    for handle in NO_HANDLES {
        // SAFETY: handles may be any number. All pointers point to values that live during the call.
        unsafe {
            let mut another = 0;
            assert_eq!((HOST.view)(handle, &mut view), CLEARWAY_STALE);
            assert_eq!((HOST.retain)(handle, &mut another), CLEARWAY_STALE);
            assert_eq!((HOST.release)(handle), CLEARWAY_STALE);
            assert_eq!((HOST.seal)(handle), CLEARWAY_STALE);
            assert_eq!((HOST.wanted)(handle), CLEARWAY_STALE);
            assert_eq!((HOST.emit)(handle, null()), CLEARWAY_STALE);
            assert_eq!((HOST.end)(handle), CLEARWAY_STALE);
            assert_eq!((HOST.end_error)(handle, 5, Text::NONE), CLEARWAY_STALE);
            assert_eq!((HOST.allocate)(handle, 8, 0, &mut view), CLEARWAY_STALE);
            assert_eq!((HOST.unhandle)(handle, text("x")), CLEARWAY_STALE);
            assert_eq!((HOST.log)(handle, 0, text("x")), CLEARWAY_STALE);
            if handle != 0 {
                assert_eq!((HOST.reply)(handle, null()), CLEARWAY_STALE);
                assert_eq!((HOST.reply_error)(handle, 5, Text::NONE), CLEARWAY_STALE);
            }
        }
    }
    // A handle of one kind is not valid as another kind.
    let memory = Memory::allocate(8, 0).unwrap();
    // SAFETY: handles may be any number.
    assert_eq!(unsafe { (HOST.end)(memory.handle()) }, CLEARWAY_STALE);
}

#[test]
fn impossible_lengths_are_refused_before_any_allocation() {
    let plugin = plugin();
    handle(&plugin, "echo", CLEARWAY_RUN_POOL, "", |message, to| give(to, message));
    let memory = Memory::allocate(100, 0).unwrap();
    let data = memory.data().cast_const();
    let inside = |data, size| Content { data, size, ..Content::of_memory(memory.handle()) };
    let wrong = [
        (Content { size: 8, ..Content::NULL }, CLEARWAY_INVALID_ARGUMENT),
        (Content { data, size: usize::MAX, ..Content::NULL }, CLEARWAY_TOO_LARGE),
        (Content { data, size: 1 << 40, ..Content::NULL }, CLEARWAY_TOO_LARGE),
        (inside(data, 101), CLEARWAY_INVALID_ARGUMENT),
        (inside(data.wrapping_add(1), 100), CLEARWAY_INVALID_ARGUMENT),
        (inside(data.wrapping_sub(1), 1), CLEARWAY_INVALID_ARGUMENT),
        (inside(data, usize::MAX), CLEARWAY_INVALID_ARGUMENT),
        (inside(std::ptr::dangling(), 1), CLEARWAY_INVALID_ARGUMENT),
        (Content { memory: 12345, ..Content::NULL }, CLEARWAY_STALE),
        (Content { attachments_count: 1, ..Content::NULL }, CLEARWAY_INVALID_ARGUMENT),
        (Content { attachments_count: 33, attachments: NO_HANDLES.as_ptr(), ..Content::NULL }, CLEARWAY_TOO_LARGE),
        (Content { attachments_count: 1, attachments: NO_HANDLES.as_ptr(), ..Content::NULL }, CLEARWAY_STALE),
    ];
    for (content, status) in wrong {
        // SAFETY: the core refuses the content before reading its bytes.
        let given = unsafe { Given::raw(content) };
        assert_eq!(send(&plugin, "echo", &given, 1).unwrap_err(), status, "{content:?}");
        // SAFETY: as above.
        let sent = unsafe { (HOST.send)(plugin.id(), text("x"), &content, None, null_mut()) };
        assert_eq!(sent, status, "{content:?}");
    }
    assert_eq!(memory.references(), 1);
    assert_eq!(plugin.in_flight(), (0, 0, 0));
    // SAFETY: all pointers point to values that live during the call. The core checks lengths before it reads.
    unsafe {
        let mut view = View::NONE;
        assert_eq!((HOST.allocate)(plugin.id(), usize::MAX, 0, &mut view), CLEARWAY_TOO_LARGE);
        assert_eq!((HOST.allocate)(plugin.id(), 8, 3, &mut view), CLEARWAY_INVALID_ARGUMENT);
        let long = Text { data: [b'x'; 300].as_ptr().cast(), size: 300 };
        assert_eq!((HOST.unhandle)(plugin.id(), long), CLEARWAY_TOO_LARGE);
        let bad = Text { data: [0xffu8].as_ptr().cast(), size: 1 };
        assert_eq!((HOST.unhandle)(plugin.id(), bad), CLEARWAY_INVALID_ARGUMENT);
    }
}

#[test]
fn a_refused_answer_leaves_the_call_open_for_another() {
    let plugin = plugin();
    handle(&plugin, "clumsy", CLEARWAY_RUN_DIRECT, "", |_, to| {
        assert_eq!(give(to, &Content { size: 8, ..Content::NULL }), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!(give(to, &Content { memory: 77, ..Content::NULL }), CLEARWAY_STALE);
        reply(to, b"right")
    });
    assert_eq!(content(ask(&plugin, "clumsy", &Given::null())).to_vec().unwrap(), b"right");
}

#[test]
fn a_handler_or_a_source_that_refuses_with_pending_counts_as_failed_also_without_an_answer() {
    unsafe extern "C-unwind" fn refuse(_: *mut c_void, _: *const Content, _: u64) -> Status {
        CLEARWAY_PENDING
    }
    let plugin = plugin();
    for (name, runs) in [("direct", CLEARWAY_RUN_DIRECT), ("pooled", CLEARWAY_RUN_POOL)] {
        handle(&plugin, name, runs, "", |_, _| CLEARWAY_PENDING);
        assert_eq!(ask(&plugin, name, &Given::null()).unwrap_err().status, CLEARWAY_FAILED);
        let source = Source {
            size: size_of::<Source>(),
            channel: text(name),
            runs,
            reserved: 0,
            queue: text(""),
            context: null_mut(),
            on_listen: Some(refuse),
            on_cancel: None,
            on_room: None,
            on_drop: None,
        };
        // SAFETY: all pointers point to values that live during the call.
        assert_eq!(unsafe { (HOST.source)(plugin.id(), &source) }, CLEARWAY_OK);
        listen(&plugin, name, window(1, WhenFull::Wait));
        let Item::End { failure: Some(failure), .. } = next(&plugin) else { panic!("expected the end") };
        assert_eq!(failure.status, CLEARWAY_FAILED);
    }
    let direct = plugin.channel("direct").unwrap();
    assert_eq!(plugin.send(&direct, &Given::null(), 1, false).unwrap_err(), CLEARWAY_FAILED);
}

#[test]
fn memory_is_stale_after_its_release() {
    static RELEASED: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C-unwind" fn released(context: *mut std::ffi::c_void, data: *mut u8, size: usize) {
        assert_eq!((context as usize, size), (7, 3));
        RELEASED.fetch_add(1, Ordering::SeqCst);
        // SAFETY: the pointer is the box made below.
        drop(unsafe { Box::from_raw(data.cast::<[u8; 3]>()) });
    }
    let plugin = plugin();
    let mut view = View::NONE;
    let mut another = 0;
    let data = Box::into_raw(Box::new([1u8, 2, 3]));
    // SAFETY: all pointers point to values that live during the call. `released` frees the box.
    unsafe {
        let context = 7 as *mut std::ffi::c_void;
        assert_eq!(
            (HOST.adopt)(plugin.id(), data.cast(), 3, CLEARWAY_MEMORY_SHARED, Some(released), context, &mut view),
            CLEARWAY_OK
        );
        assert_eq!((HOST.retain)(view.memory, &mut another), CLEARWAY_OK);
        assert_ne!(another, view.memory);
        assert_eq!((HOST.release)(view.memory), CLEARWAY_OK);
        assert_eq!((HOST.release)(view.memory), CLEARWAY_STALE);
        assert_eq!((HOST.view)(view.memory, &mut view), CLEARWAY_STALE);
        assert_eq!((HOST.seal)(another), CLEARWAY_OK);
        assert_eq!((HOST.view)(another, &mut view), CLEARWAY_OK);
        assert_eq!(view.flags, CLEARWAY_MEMORY_SHARED | CLEARWAY_MEMORY_SEALED);
        assert_eq!(*view.data.add(2), 3);
        assert_eq!(RELEASED.load(Ordering::SeqCst), 0);
        assert_eq!((HOST.release)(another), CLEARWAY_OK);
    }
    assert_eq!(RELEASED.load(Ordering::SeqCst), 1);
}

#[test]
fn releasing_lent_memory_leaves_the_owners_reference() {
    let plugin = plugin();
    // SAFETY: these functions take only handles.
    handle(&plugin, "greedy", CLEARWAY_RUN_POOL, "", |message, to| unsafe {
        assert_eq!((HOST.release)(message.memory), CLEARWAY_OK);
        assert_eq!((HOST.release)(message.memory), CLEARWAY_STALE);
        give(to, &Content { data: null(), ..*message })
    });
    let memory = Memory::allocate(5000, 0).unwrap();
    assert_eq!(ask(&plugin, "greedy", &Given::memory(&memory)).unwrap_err().status, CLEARWAY_STALE);
    plugin.close(LONG).unwrap();
    assert_eq!(memory.references(), 1);
}

#[test]
fn closing_cancels_listeners_answers_waiting_calls_drops_handlers_and_refuses_later_calls() {
    let plugin = plugin();
    let (give, taken) = channel();
    let give = Mutex::new(give);
    handle(&plugin, "never", CLEARWAY_RUN_DIRECT, "", move |_, to| {
        give.lock().unwrap().send(to).unwrap();
        CLEARWAY_OK
    });
    let callbacks = source(&plugin, "events", CLEARWAY_RUN_DIRECT, "");
    let stream = listen(&plugin, "events", window(4, WhenFull::Wait));
    emit(stream, b"unread");
    send(&plugin, "never", &Given::null(), 11).unwrap();
    let to = taken.recv().unwrap();
    plugin.close(LONG).unwrap();
    let items = rest(&plugin);
    let [Item::Answer { tag: 11, outcome: Err(failure) }] = &items[..] else { panic!("expected one: {items:?}") };
    assert_eq!(failure.status, CLEARWAY_CLOSED);
    assert_eq!(reply(to, b"late"), CLEARWAY_STALE);
    assert_eq!(
        callbacks.iter().map(|(what, _)| what).collect::<Vec<_>>(),
        [Callback::Listen, Callback::Cancel, Callback::Drop]
    );
    assert!(taken.recv().is_err(), "the handler was dropped");
    assert_eq!(send(&plugin, "never", &Given::null(), 1).unwrap_err(), CLEARWAY_CLOSED);
    let mut view = View::NONE;
    // SAFETY: the view lives during the call.
    let allocate = |view| unsafe { (HOST.allocate)(plugin.id(), 8, 0, view) };
    // SAFETY: the text lives during the call.
    let log = || unsafe { (HOST.log)(plugin.id(), CLEARWAY_LOG_INFO, text("late")) };
    assert_eq!((allocate(&mut view), log()), (CLEARWAY_CLOSED, CLEARWAY_OK));
    plugin.close(LONG).unwrap();
    let id = plugin.id();
    plugin.free().unwrap();
    assert!(Plugin::find(id).is_none());
    assert_eq!((allocate(&mut view), log()), (CLEARWAY_STALE, CLEARWAY_STALE));
}

#[test]
fn closing_stops_waiting_at_its_time_limit_and_can_be_repeated() {
    let plugin = plugin();
    let (end, ends) = channel::<()>();
    let (begun, begins) = channel();
    let (begun, ends) = (Mutex::new(begun), Mutex::new(ends));
    handle(&plugin, "blocks", CLEARWAY_RUN_SERIAL, "blocking", move |_, to| {
        begun.lock().unwrap().send(()).unwrap();
        let _ = ends.lock().unwrap().recv();
        reply(to, b"done")
    });
    send(&plugin, "blocks", &Given::null(), 1).unwrap();
    send(&plugin, "blocks", &Given::null(), 2).unwrap();
    begins.recv().unwrap();
    assert_eq!(plugin.close(Duration::ZERO), Err(CLEARWAY_TIMEOUT));
    let items = rest(&plugin);
    assert_eq!(items.len(), 2, "both are told: {items:?}");
    drop(end);
    plugin.close(LONG).unwrap();
    assert_eq!(rest(&plugin).len(), 0);
}

#[test]
fn a_plugin_of_another_version_or_that_refuses_or_panics_is_not_opened() {
    unsafe extern "C-unwind" fn newer(_: *const Host, plugin: *mut clearway_sys::Plugin) -> Status {
        // SAFETY: the core passes these pointers for this use.
        unsafe { (*plugin).abi_major = CLEARWAY_ABI_MAJOR + 1 };
        CLEARWAY_OK
    }
    unsafe extern "C-unwind" fn refuses(host: *const Host, plugin: *mut clearway_sys::Plugin) -> Status {
        // SAFETY: the core passes these pointers for this use.
        unsafe { ((*host).log)((*plugin).id, CLEARWAY_LOG_ERROR, Text::of("no camera")) };
        CLEARWAY_FAILED
    }
    unsafe extern "C-unwind" fn panics(_: *const Host, _: *mut clearway_sys::Plugin) -> Status {
        panic!("in init")
    }
    // SAFETY: the init functions keep to the ABI.
    let start = |init| unsafe { Plugin::start(init, fixture::options()) }.map(drop).unwrap_err();
    assert_eq!(start(newer).status, CLEARWAY_VERSION);
    let failure = start(refuses);
    assert_eq!((failure.status, &*failure.text), (CLEARWAY_INIT_FAILED, "no camera"));
    assert_eq!(start(panics).status, CLEARWAY_PANICKED);
}

#[test]
#[cfg_attr(miri, ignore = "an interpreter loads no libraries")]
fn a_file_that_is_not_a_plugin_is_not_loaded() {
    let status = |path: &str| Plugin::load(path.as_ref(), Options::default()).map(drop).unwrap_err().status;
    assert_eq!(status("no/such/file.so"), CLEARWAY_LOAD_FAILED);
    assert_eq!(status(file!()), CLEARWAY_LOAD_FAILED);
    if cfg!(target_os = "linux") {
        assert_eq!(status("libc.so.6"), CLEARWAY_NOT_A_PLUGIN);
    }
}

#[test]
fn everything_may_be_called_from_any_thread_while_the_plugin_closes() {
    for _ in 0..if cfg!(miri) { 1 } else { 20 } {
        let plugin = plugin();
        for (runs, queue) in [(CLEARWAY_RUN_DIRECT, ""), (CLEARWAY_RUN_POOL, "")] {
            handle(&plugin, if runs == 0 { "here" } else { "there" }, runs, queue, |message, to| give(to, message));
        }
        let callbacks = source(&plugin, "events", CLEARWAY_RUN_POOL, "");
        drop(callbacks);
        let answered = Arc::new(AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (plugin, answered) = (&plugin, &answered);
                scope.spawn(move || {
                    let mut pending = 0;
                    for at in 0.. {
                        let name = if (at + thread) % 2 == 0 { "here" } else { "there" };
                        match send(plugin, name, &Given::bytes(&[1; 100]), at) {
                            Ok(clearway_core::Sent::Answered(_)) => {}
                            Ok(_) => pending += 1,
                            Err(CLEARWAY_FULL) => std::thread::yield_now(),
                            Err(_) => break,
                        }
                        let channel = plugin.channel("events").unwrap();
                        if let Ok(stream) = plugin.listen(&channel, &Given::null(), window(2, WhenFull::DropOldest), 1)
                        {
                            emit(stream, b"event");
                            let _ = plugin.cancel(stream);
                        }
                    }
                    answered.fetch_add(pending, Ordering::SeqCst);
                });
            }
            std::thread::yield_now();
            plugin.close(LONG).unwrap();
        });
        let answers = rest(&plugin).iter().filter(|item| matches!(item, Item::Answer { .. })).count();
        assert_eq!(answers, answered.load(Ordering::SeqCst), "every pending call was answered");
        assert_eq!(plugin.in_flight(), (0, 0, 0));
        plugin.free().unwrap();
    }
}

#[test]
fn names_may_contain_a_zero_byte() {
    let plugin = plugin();
    handle(&plugin, "a\0b", CLEARWAY_RUN_SERIAL, "queue\0", |message, to| give(to, message));
    let callbacks = source(&plugin, "c\0d", CLEARWAY_RUN_SERIAL, "\0");
    assert_eq!(content(ask(&plugin, "a\0b", &Given::bytes(b"x"))).to_vec(), Some(b"x".to_vec()));
    let stream = listen(&plugin, "c\0d", window(4, WhenFull::Wait));
    assert_eq!(callbacks.recv_timeout(LONG), Ok((Callback::Listen, stream)));
    plugin.close(LONG).unwrap();
}
