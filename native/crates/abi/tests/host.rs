// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests a host that uses only the functions of the header.

#[path = "../../core/tests/fixture/mod.rs"]
mod fixture;

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clearway::*;
use clearway_core::{HOST, Plugin};
use clearway_sys::*;
use fixture::{Callback, LONG, emit, give, handle, reply, source, text};

const NONE: Event = Event::NONE;

fn shown(text: Text) -> String {
    if text.size == 0 {
        return String::new();
    }
    // SAFETY: the text belongs to an event that was not released.
    String::from_utf8(unsafe { std::slice::from_raw_parts(text.data.cast(), text.size) }.to_vec()).unwrap()
}

fn send(id: u64, channel: &'static str, content: &Content, answer: *mut Event) -> Status {
    // SAFETY: all pointers point to values that live during the call.
    unsafe { clearway_plugin_send(id, text(channel), content, 9, answer) }
}

fn drain(id: u64, events: &mut [Event]) -> (Status, usize) {
    let mut count = usize::MAX;
    // SAFETY: all pointers point to values that live during the call.
    (unsafe { clearway_plugin_drain(id, events.as_mut_ptr(), events.len(), &mut count) }, count)
}

#[test]
fn a_message_is_sent_answered_and_given_back_once() {
    let plugin = fixture::plugin();
    handle(&plugin, "echo", CLEARWAY_RUN_DIRECT, "", |message, to| give(to, message));
    for size in [0, 5, 63, 64, 5000] {
        let bytes = vec![7; size];
        let mut answer = NONE;
        assert_eq!(send(plugin.id(), "echo", &Content::of(&bytes), &mut answer), CLEARWAY_OK);
        assert_eq!((answer.kind, answer.status, answer.tag), (CLEARWAY_EVENT_ANSWER, CLEARWAY_OK, 9));
        assert_eq!(fixture::bytes(&answer.content), bytes);
        let mut copy = answer;
        // SAFETY: all pointers point to values that live during the call.
        unsafe {
            assert_eq!(clearway_event_release(&mut answer), CLEARWAY_OK);
            assert_eq!(clearway_event_release(&mut answer), CLEARWAY_STALE);
            assert_eq!(clearway_event_release(&mut copy), CLEARWAY_STALE);
        }
    }
    assert_eq!(send(plugin.id(), "echo", &Content::NULL, null_mut()), CLEARWAY_OK);
    assert_eq!(send(plugin.id(), "nobody", &Content::NULL, null_mut()), CLEARWAY_NO_HANDLER);
    let mut answer = NONE;
    assert_eq!(
        send(plugin.id(), "echo", &Content { size: 4, ..Content::NULL }, &mut answer),
        CLEARWAY_INVALID_ARGUMENT
    );
}

#[test]
fn a_plugins_events_are_drained_in_parts() {
    static WAKES: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C-unwind" fn wake(_: *mut c_void) {
        WAKES.fetch_add(1, Ordering::SeqCst);
    }
    let plugin = fixture::plugin();
    let id = plugin.id();
    // SAFETY: all pointers point to values that live during the call.
    assert_eq!(unsafe { clearway_plugin_set_wake(id, Some(wake), null_mut()) }, CLEARWAY_OK);
    let callbacks = source(&plugin, "numbers", CLEARWAY_RUN_DIRECT, "");
    let window =
        Window { size: size_of::<Window>(), items: 10, when_full: CLEARWAY_WHEN_FULL_WAIT, bytes: 1 << 20, credit: 4 };
    let mut stream = 0;
    // SAFETY: all pointers point to values that live during the call.
    assert_eq!(unsafe { clearway_plugin_listen(id, text("numbers"), null(), &window, 5, &mut stream) }, CLEARWAY_OK);
    for at in 0..6 {
        assert_eq!(emit(stream, &[at]), CLEARWAY_OK);
    }
    assert_eq!(WAKES.load(Ordering::SeqCst), 1);
    let mut events = [NONE; 3];
    assert_eq!(drain(id, &mut events), (CLEARWAY_PENDING, 3));
    assert_eq!(events.map(|event| fixture::bytes(&event.content)[0]), [0, 1, 2]);
    assert_eq!(events.map(|event| (event.kind, event.tag, event.handle)), [(CLEARWAY_EVENT_ITEM, 5, stream); 3]);
    assert_eq!(drain(id, &mut events[..1]).1, 1);
    assert_eq!(drain(id, &mut events), (CLEARWAY_OK, 0));
    assert_eq!(clearway_stream_credit(id, stream, 100), CLEARWAY_OK);
    assert_eq!(drain(id, &mut events), (CLEARWAY_OK, 2));
    // SAFETY: the text is static.
    assert_eq!(unsafe { (HOST.end_error)(stream, 1001, text("unplugged")) }, CLEARWAY_OK);
    assert_eq!(drain(id, &mut events), (CLEARWAY_OK, 1));
    assert_eq!(
        (events[0].kind, events[0].status, shown(events[0].text)),
        (CLEARWAY_EVENT_END, 1001, "unplugged".into())
    );
    assert_eq!(clearway_stream_cancel(id, stream), CLEARWAY_STALE);
    assert_eq!(callbacks.try_iter().map(|(what, _)| what).collect::<Vec<_>>(), [Callback::Listen]);
}

#[test]
fn a_plugins_own_message_and_log_lines_arrive() {
    let plugin = fixture::plugin();
    let id = plugin.id();
    unsafe extern "C-unwind" fn heard(context: *mut c_void, status: Status, _: *const Content) {
        // SAFETY: the context is the static variable below.
        unsafe { &*context.cast::<AtomicUsize>() }.store(status as usize, Ordering::SeqCst);
    }
    static STATUS: AtomicUsize = AtomicUsize::new(usize::MAX);
    let status = &STATUS;
    let context = std::ptr::from_ref(status).cast_mut().cast();
    // SAFETY: all pointers point to values that live during the call. The context is static.
    unsafe {
        assert_eq!((HOST.log)(id, CLEARWAY_LOG_WARNING, text("hot")), CLEARWAY_OK);
        assert_eq!((HOST.send)(id, text("ask"), &Content::of(b"?"), Some(heard), context), CLEARWAY_OK);
    }
    let mut events = [NONE; 4];
    assert_eq!(drain(id, &mut events), (CLEARWAY_OK, 2));
    assert_eq!((events[0].kind, events[0].handle, shown(events[0].text)), (CLEARWAY_EVENT_LOG, 2, "hot".into()));
    assert_eq!((events[1].kind, shown(events[1].text)), (CLEARWAY_EVENT_MESSAGE, "ask".into()));
    // SAFETY: all pointers point to values that live during the call.
    unsafe {
        assert_eq!(clearway_answer_error(events[1].handle, CLEARWAY_NOT_IMPLEMENTED, Text::NONE), CLEARWAY_OK);
        assert_eq!(clearway_answer(events[1].handle, null()), CLEARWAY_STALE);
    }
    plugin.close(LONG).unwrap();
    assert_eq!(status.load(Ordering::SeqCst), CLEARWAY_NOT_IMPLEMENTED as usize);
}

#[test]
fn lent_memory_comes_back_after_its_last_release() {
    static BACK: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C-unwind" fn back(_: *mut c_void, _: *mut u8, size: usize) {
        BACK.store(size, Ordering::SeqCst);
    }
    let mut bytes = [0u8; 100];
    let (mut view, mut another) = (View::NONE, 0);
    // SAFETY: all pointers point to local variables, which outlive the references.
    unsafe {
        let lent =
            clearway_memory_lend(bytes.as_mut_ptr(), 100, CLEARWAY_MEMORY_SHARED, Some(back), null_mut(), &mut view);
        assert_eq!(lent, CLEARWAY_OK);
        assert_eq!(view.flags, CLEARWAY_MEMORY_SHARED | CLEARWAY_MEMORY_LENT);
        assert_eq!(clearway_memory_retain(view.memory, &mut another), CLEARWAY_OK);
        assert_eq!(clearway_memory_release(view.memory), CLEARWAY_OK);
        assert_eq!(clearway_memory_view(view.memory, &mut view), CLEARWAY_STALE);
        assert_eq!(clearway_memory_seal(another), CLEARWAY_OK);
        assert_eq!(BACK.load(Ordering::SeqCst), 0);
        assert_eq!(clearway_memory_release(another), CLEARWAY_OK);
        assert_eq!(BACK.load(Ordering::SeqCst), 100);
        assert_eq!(clearway_memory_allocate(100, 0, null_mut()), CLEARWAY_INVALID_ARGUMENT);
    }
}

#[test]
fn closing_freeing_and_invalid_arguments_have_their_status() {
    let plugin = fixture::plugin();
    let id = plugin.id();
    handle(&plugin, "pooled", CLEARWAY_RUN_POOL, "", |_, to| reply(to, b"x"));
    let mut answer = NONE;
    assert_eq!(send(id, "pooled", &Content::NULL, &mut answer), CLEARWAY_PENDING);
    assert_eq!(clearway_plugin_close(id, 60_000), CLEARWAY_OK);
    let mut events = [NONE; 2];
    assert_eq!(drain(id, &mut events), (CLEARWAY_OK, 1));
    assert_eq!(clearway_call_give_up(id, answer.handle), CLEARWAY_STALE);
    // SAFETY: all fields are numbers, for which zero is valid.
    let mut stats: Stats = unsafe { std::mem::zeroed() };
    stats.size = size_of::<Stats>();
    // SAFETY: all pointers point to values that live during the call.
    unsafe {
        assert_eq!(clearway_plugin_stats(id, &mut stats), CLEARWAY_OK);
        assert_eq!((stats.messages, stats.calls), (1, 0));
        assert_eq!(clearway_plugin_free(id), CLEARWAY_OK);
        assert_eq!(clearway_plugin_free(id), CLEARWAY_STALE);
        assert_eq!(clearway_plugin_stats(id, &mut stats), CLEARWAY_STALE);
        let mut said = [1 as c_char; 12];
        let mut opened = 0;
        let status = clearway_plugin_open(text("no/such.so"), null(), &mut opened, said.as_mut_ptr(), said.len());
        assert_eq!(status, CLEARWAY_LOAD_FAILED);
        assert_eq!(std::ffi::CStr::from_ptr(said.as_ptr()).to_str(), Ok("cannot open"));
        let small = Options { size: 4, ..Options::default() };
        let open = |path, options| clearway_plugin_open(path, options, null_mut(), null_mut(), 0);
        assert_eq!(open(text("x"), &small), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!(open(Text::NONE, null()), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!(open(text("x"), null()), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!(clearway_plugin_drain(id, null_mut(), 1, null_mut()), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!(clearway_event_release(null_mut()), CLEARWAY_OK);
    }
    assert_eq!(clearway_version() >> 16, CLEARWAY_ABI_MAJOR);
}

fn call(channel: ChannelId, content: &Content, into: &mut [u8], answer: &mut Event) -> Status {
    let Content { data, size, memory, attachments, attachments_count } = *content;
    let (room, into) = (into.len(), into.as_mut_ptr());
    // SAFETY: all pointers point to values that live during the call.
    unsafe { clearway_channel_call(channel, data, size, memory, attachments, attachments_count, into, room, answer) }
}

#[test]
fn a_channel_is_called_by_its_number() {
    let plugin = fixture::plugin();
    handle(&plugin, "echo", CLEARWAY_RUN_DIRECT, "", |message, to| give(to, message));
    handle(&plugin, "pooled", CLEARWAY_RUN_POOL, "", |_, _| panic!("a direct call runs no handler that has a queue"));
    let find = |name| {
        let mut channel = 0;
        // SAFETY: all pointers point to values that live during the call.
        (unsafe { clearway_channel_find(plugin.id(), text(name), &mut channel) }, channel)
    };
    let (found, echo) = find("echo");
    assert_eq!((found, find("echo")), (CLEARWAY_OK, (CLEARWAY_OK, echo)));
    let (mut into, mut answer, mut view) = ([0; 8], NONE, View::NONE);
    assert_eq!((call(echo, &Content::NULL, &mut into, &mut answer), answer.kind), (CLEARWAY_OK, CLEARWAY_EVENT_NONE));
    // The library writes small answers into the caller's buffer, and holds larger ones in memory.
    assert_eq!(call(echo, &Content::of(b"few"), &mut into, &mut answer), CLEARWAY_OK);
    assert_eq!((&into[..3], answer.content.size, answer.held, answer.copied), (&b"few"[..], 3, 0, 3));
    assert_eq!(call(echo, &Content::of(&[7; 9]), &mut into, &mut answer), CLEARWAY_OK);
    assert_eq!((fixture::bytes(&answer.content), answer.copied), (vec![7; 9], 9));
    // SAFETY: all pointers point to values that live during the call.
    unsafe {
        assert_eq!(clearway_events_release(&mut answer, 1), CLEARWAY_OK);
        assert_eq!(clearway_event_release(&mut answer), CLEARWAY_STALE);
        assert_eq!(clearway_events_release(null_mut(), 1), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!(clearway_memory_allocate(100, 0, &mut view), CLEARWAY_OK);
    }
    let memory = Content::of_memory(view.memory);
    assert_eq!((call(echo, &memory, &mut into, &mut answer), answer.kind), (CLEARWAY_OK, CLEARWAY_EVENT_BACK));
    assert_eq!(clearway_memory_release(view.memory), CLEARWAY_OK);
    assert_eq!(call(echo, &memory, &mut into, &mut answer), CLEARWAY_STALE);
    answer.handle = 9;
    assert_eq!(call(find("pooled").1, &Content::NULL, &mut into, &mut answer), CLEARWAY_PENDING);
    assert_eq!((answer.handle, plugin.counts().messages), (0, 4));
    assert_eq!(call(find("nobody").1, &Content::NULL, &mut into, &mut answer), CLEARWAY_NO_HANDLER);
    assert_eq!(call(u64::MAX, &Content::NULL, &mut into, &mut answer), CLEARWAY_STALE);
    // SAFETY: the function refuses a null answer.
    let without = unsafe { clearway_channel_call(echo, null(), 0, 0, null(), 0, null_mut(), 0, null_mut()) };
    assert_eq!(without, CLEARWAY_INVALID_ARGUMENT);
    assert_eq!(clearway_plugin_close(plugin.id(), 60_000), CLEARWAY_OK);
    assert_eq!(call(echo, &Content::NULL, &mut into, &mut answer), CLEARWAY_CLOSED);
    assert_eq!(clearway_plugin_free(plugin.id()), CLEARWAY_OK);
    let references = Arc::strong_count(&plugin);
    assert_eq!(call(echo, &Content::NULL, &mut into, &mut answer), CLEARWAY_STALE);
    assert_eq!(Arc::strong_count(&plugin), references - 1, "this thread has dropped its line to the channel");
    let elsewhere = std::thread::spawn(move || call(echo, &Content::NULL, &mut [], &mut NONE.clone()));
    assert_eq!(elsewhere.join().unwrap(), CLEARWAY_STALE);
}

#[test]
fn a_plugins_messages_are_counted_also_while_a_threads_line_is_kept() {
    let plugin = fixture::plugin();
    handle(&plugin, "echo", CLEARWAY_RUN_DIRECT, "", |message, to| give(to, message));
    let mut channel = 0;
    // SAFETY: all pointers point to values that live during the call.
    assert_eq!(unsafe { clearway_channel_find(plugin.id(), text("echo"), &mut channel) }, CLEARWAY_OK);
    let call_it = move || assert_eq!(call(channel, &Content::NULL, &mut [], &mut NONE.clone()), CLEARWAY_OK);
    assert_eq!(send(plugin.id(), "echo", &Content::NULL, null_mut()), CLEARWAY_OK);
    call_it();
    call_it();
    assert_eq!(plugin.counts().messages, 3);
    std::thread::spawn(call_it).join().unwrap(); // the thread drops its line
    call_it();
    assert_eq!(plugin.counts().messages, 5);
}

#[test]
fn a_freed_plugin_leaves_memory_when_a_thread_that_has_called_it_calls_another() {
    let freed: Vec<_> = (0..70)
        .map(|_| {
            let plugin = fixture::plugin();
            handle(&plugin, "echo", CLEARWAY_RUN_DIRECT, "", |message, to| give(to, message));
            let (mut channel, mut answer) = (0, NONE);
            // SAFETY: all pointers point to values that live during the call.
            assert_eq!(unsafe { clearway_channel_find(plugin.id(), text("echo"), &mut channel) }, CLEARWAY_OK);
            assert_eq!(call(channel, &Content::NULL, &mut [], &mut answer), CLEARWAY_OK);
            assert_eq!(clearway_plugin_free(plugin.id()), CLEARWAY_OK);
            Arc::downgrade(&plugin)
        })
        .collect();
    let left = freed.iter().filter(|plugin| plugin.strong_count() > 0).count();
    assert_eq!(left, 1, "only the last one's line is kept");
}

#[test]
fn a_plugin_that_is_freed_during_a_call_leaves_memory_when_the_call_ends() {
    let (freed, other) = (fixture::plugin(), fixture::plugin());
    let find = |plugin: &Plugin, name| {
        let mut channel = 0;
        // SAFETY: all pointers point to values that live during the call.
        assert_eq!(unsafe { clearway_channel_find(plugin.id(), text(name), &mut channel) }, CLEARWAY_OK);
        channel
    };
    let echo = find(&other, "echo");
    handle(&other, "echo", CLEARWAY_RUN_DIRECT, "", |message, to| give(to, message));
    let id = freed.id();
    handle(&freed, "free", CLEARWAY_RUN_DIRECT, "", move |_, to| {
        assert_eq!(std::thread::spawn(move || clearway_plugin_free(id)).join().unwrap(), CLEARWAY_OK);
        // This thread drops its lines to freed plugins when it makes the line to the other plugin.
        assert_eq!(call(echo, &Content::NULL, &mut [], &mut NONE.clone()), CLEARWAY_OK);
        reply(to, b"")
    });
    let free = find(&freed, "free");
    let left = Arc::downgrade(&freed);
    drop(freed);
    call(free, &Content::NULL, &mut [], &mut NONE.clone());
    assert_eq!(left.strong_count(), 0);
}

#[test]
fn many_threads_call_one_channel_and_a_handler_may_call_its_own() {
    let plugin = fixture::plugin();
    let mut channel = 0;
    // SAFETY: all pointers point to values that live during the call.
    assert_eq!(unsafe { clearway_channel_find(plugin.id(), text("down"), &mut channel) }, CLEARWAY_OK);
    handle(&plugin, "down", CLEARWAY_RUN_DIRECT, "", move |message, to| {
        let left = fixture::bytes(message)[0];
        if left > 0 {
            let (mut into, mut answer) = ([0; 1], NONE);
            assert_eq!(call(channel, &Content::of(&[left - 1]), &mut into, &mut answer), CLEARWAY_OK);
        }
        give(to, message)
    });
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for depth in (0..if cfg!(miri) { 2 } else { 200 }).map(|at| at % 5) {
                    let (mut into, mut answer) = ([9; 1], NONE);
                    assert_eq!(call(channel, &Content::of(&[depth]), &mut into, &mut answer), CLEARWAY_OK);
                    assert_eq!(into, [depth]);
                }
            });
        }
    });
}

fn wait(waiter: Waiter, timeout_ms: u32, tags: &mut [u64]) -> (Status, usize) {
    let mut count = 0;
    // SAFETY: all pointers point to values that live during the call.
    let status = unsafe { clearway_waiter_wait(waiter, timeout_ms, tags.as_mut_ptr(), tags.len(), &mut count) };
    (status, count)
}

#[test]
fn a_thread_waits_for_events_and_for_returned_memory() {
    let plugin = fixture::plugin();
    let mut waiter = 0;
    // SAFETY: all pointers point to values that live during the call.
    assert_eq!(unsafe { clearway_waiter_new(&mut waiter) }, CLEARWAY_OK);
    assert_eq!(clearway_waiter_watch(waiter, plugin.id()), CLEARWAY_OK);
    let mut tags = [0; 2];
    assert_eq!(wait(waiter, 0, &mut tags), (CLEARWAY_TIMEOUT, 0));
    handle(&plugin, "pooled", CLEARWAY_RUN_POOL, "", |_, to| reply(to, b"x"));
    let mut answer = NONE;
    assert_eq!(send(plugin.id(), "pooled", &Content::NULL, &mut answer), CLEARWAY_PENDING);
    assert_eq!(wait(waiter, u32::MAX, &mut tags), (CLEARWAY_OK, 0));
    assert_eq!(drain(plugin.id(), &mut [NONE; 2]), (CLEARWAY_OK, 1));
    let mut bytes = [0u8; 100];
    let mut lent = [View::NONE; 3];
    for (tag, view) in (11..).zip(&mut lent) {
        // SAFETY: all pointers point to local variables, which outlive the references.
        assert_eq!(unsafe { clearway_waiter_lend(waiter, bytes.as_mut_ptr(), 100, 0, tag, view) }, CLEARWAY_OK);
        assert_eq!((view.size, view.flags), (100, CLEARWAY_MEMORY_LENT));
    }
    let handles = lent.map(|view| view.memory);
    std::thread::spawn(move || handles.map(|handle| clearway_memory_release(handle))).join().unwrap();
    assert_eq!((wait(waiter, u32::MAX, &mut tags), tags), ((CLEARWAY_PENDING, 2), [11, 12]));
    assert_eq!((wait(waiter, u32::MAX, &mut tags), tags[0]), ((CLEARWAY_OK, 1), 13));
    assert_eq!(clearway_waiter_wake(waiter), CLEARWAY_OK);
    assert_eq!(wait(waiter, u32::MAX, &mut tags), (CLEARWAY_OK, 0));
    let waits = std::thread::spawn(move || wait(waiter, u32::MAX, &mut [0]));
    assert_eq!(clearway_waiter_free(waiter), CLEARWAY_OK);
    assert_eq!(waits.join().unwrap().0, CLEARWAY_STALE);
    assert_eq!(clearway_waiter_free(waiter), CLEARWAY_STALE);
    assert_eq!(clearway_waiter_wake(waiter), CLEARWAY_STALE);
    // SAFETY: the functions refuse these arguments before reading a pointer.
    unsafe {
        let mut view = View::NONE;
        let lend = |data, size, flags, view| clearway_waiter_lend(waiter, data, size, flags, 1, view);
        assert_eq!(lend(bytes.as_mut_ptr(), 100, 0, &mut view), CLEARWAY_STALE);
        assert_eq!(lend(null_mut(), 100, 0, &mut view), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!(lend(bytes.as_mut_ptr(), 100, 1 << 20, &mut view), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!(lend(bytes.as_mut_ptr(), usize::MAX, 0, &mut view), CLEARWAY_TOO_LARGE);
        assert_eq!(clearway_waiter_new(null_mut()), CLEARWAY_INVALID_ARGUMENT);
        assert_eq!(clearway_waiter_wait(waiter, 0, null_mut(), 1, null_mut()), CLEARWAY_INVALID_ARGUMENT);
    }
}
