// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that `on_close`, which may free everything, runs only after all other callbacks of the plugin have returned.

mod fixture;

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use clearway_core::{Given, HOST, Memory, Options, Plugin, WhenFull};
use clearway_sys::*;
use fixture::*;

/// A function that runs once.
type Once = Box<dyn FnOnce() + Send>;

thread_local! {
    /// What the next plugin of this thread does at its close.
    static AT_CLOSE: RefCell<Option<Once>> = const { RefCell::new(None) };
}

unsafe extern "C-unwind" fn init(_: *const Host, plugin: *mut clearway_sys::Plugin) -> Status {
    let at_close = Box::new(AT_CLOSE.take().unwrap());
    // SAFETY: the core passes this pointer for this use.
    let plugin = unsafe { &mut *plugin };
    plugin.abi_major = CLEARWAY_ABI_MAJOR;
    plugin.context = Box::into_raw(at_close).cast();
    plugin.on_close = Some(on_close);
    CLEARWAY_OK
}

unsafe extern "C-unwind" fn on_close(context: *mut c_void) {
    // SAFETY: `init` made the box, and the core calls this function once.
    let at_close = unsafe { Box::from_raw(context.cast::<Once>()) };
    at_close();
}

/// Opens a plugin whose `on_close` is `at_close`.
fn plugin_with_close(at_close: impl FnOnce() + Send + 'static) -> Arc<Plugin> {
    AT_CLOSE.set(Some(Box::new(at_close)));
    // SAFETY: `init` keeps to the ABI.
    unsafe { Plugin::start(init, Options { threads: 1, calls_max: 16, ..Options::default() }) }.unwrap()
}

/// A callback that says when it begins, and returns when the test says so.
struct Pause {
    begun: Sender<()>,
    end: Mutex<Receiver<()>>,
}

/// The test's side of a pause.
struct Control {
    begins: Receiver<()>,
    end: Sender<()>,
}

fn pause() -> (Pause, Control) {
    let ((begun, begins), (end, ends)) = (channel(), channel());
    (Pause { begun, end: Mutex::new(ends) }, Control { begins, end })
}

impl Pause {
    fn wait(&self) {
        self.begun.send(()).unwrap();
        self.end.lock().unwrap().recv_timeout(LONG).unwrap();
    }
}

/// Opens a plugin, one of whose handlers runs on another thread until something is sent to `end`. Returns what `on_close` sends, `end` and
/// the other thread.
fn with_running_handler() -> (Arc<Plugin>, Receiver<()>, Sender<()>, thread::JoinHandle<()>) {
    let (closed, closes) = channel();
    let plugin = plugin_with_close(move || closed.send(()).unwrap());
    let (handling, Control { begins, end }) = pause();
    handle(&plugin, "slow", CLEARWAY_RUN_DIRECT, "", move |_, to| {
        handling.wait();
        reply(to, b"")
    });
    let host = plugin.clone();
    let calling = thread::spawn(move || drop(send(&host, "slow", &Given::null(), 1)));
    begins.recv_timeout(LONG).unwrap();
    (plugin, closes, end, calling)
}

/// Runs a function when the value is dropped. A handler that owns the value thus runs the function in its `on_drop`.
struct AtDrop<F: Fn()>(F);

impl<F: Fn()> Drop for AtDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Checks that the plugin does not close before `end`, and closes after it.
fn closes_only_after(plugin: &Plugin, closed: &Receiver<()>, end: impl FnOnce()) {
    assert_eq!(plugin.close(Duration::ZERO), Err(CLEARWAY_TIMEOUT));
    assert!(closed.try_recv().is_err(), "on_close has not run");
    end();
    assert_eq!(plugin.close(LONG), Ok(()));
    assert_eq!(closed.try_recv(), Ok(()));
    assert_eq!(plugin.close(LONG), Ok(()));
    assert!(closed.try_recv().is_err(), "on_close runs once");
}

#[test]
fn on_close_waits_for_on_answer_on_the_thread_that_answers() {
    let (closed, closes) = channel();
    let plugin = plugin_with_close(move || closed.send(()).unwrap());
    let (answered, answer) = pause();
    unsafe extern "C-unwind" fn on_answer(context: *mut c_void, _: Status, _: *const Content) {
        // SAFETY: the context is the box made below.
        unsafe { Box::from_raw(context.cast::<Pause>()) }.wait();
    }
    let context = Box::into_raw(Box::new(answered)).cast();
    // SAFETY: all pointers are valid during the call. `on_answer` frees its context.
    let sent = unsafe { (HOST.send)(plugin.id(), text("ask"), null(), Some(on_answer), context) };
    assert_eq!(sent, CLEARWAY_OK);
    let asked = message(next(&plugin));
    // The `on_drop` of this handler runs on the closing thread after the queues were closed. The pool then has no thread and starts none, so
    // `on_answer` runs on the thread that answers.
    let (go, goes) = channel::<()>();
    let Control { begins, end } = answer;
    let begins = Mutex::new(begins);
    let at_drop = AtDrop(move || {
        go.send(()).unwrap();
        begins.lock().unwrap().recv_timeout(LONG).unwrap();
    });
    handle(&plugin, "idle", CLEARWAY_RUN_DIRECT, "", move |_, _| {
        let _ = &at_drop;
        CLEARWAY_OK
    });
    let answering = thread::spawn(move || {
        goes.recv_timeout(LONG).unwrap();
        clearway_core::reply(asked.reply, Ok(&Given::null())).unwrap();
    });
    closes_only_after(&plugin, &closes, || {
        end.send(()).unwrap();
        answering.join().unwrap();
    });
}

#[test]
fn on_close_waits_for_a_handler_that_the_plugin_has_removed() {
    let (closed, closes) = channel();
    let plugin = plugin_with_close(move || closed.send(()).unwrap());
    let (handling, handled) = pause();
    let id = plugin.id();
    handle(&plugin, "removed", CLEARWAY_RUN_DIRECT, "", move |_, to| {
        // SAFETY: the text is static.
        assert_eq!(unsafe { (HOST.unhandle)(id, text("removed")) }, CLEARWAY_OK);
        handling.wait();
        reply(to, b"")
    });
    let host = plugin.clone();
    let calling = thread::spawn(move || drop(send(&host, "removed", &Given::null(), 1)));
    handled.begins.recv_timeout(LONG).unwrap();
    closes_only_after(&plugin, &closes, || {
        handled.end.send(()).unwrap();
        calling.join().unwrap();
    });
}

#[test]
fn on_close_waits_for_a_source_that_the_plugin_has_removed() {
    unsafe extern "C-unwind" fn on_listen(context: *mut c_void, _: *const Content, _: u64) -> Status {
        // SAFETY: the context is the pair below, which outlives the plugin.
        let (id, listening) = unsafe { &*context.cast::<(u64, Pause)>() };
        // SAFETY: the text is static.
        assert_eq!(unsafe { (HOST.unsource)(*id, text("removed")) }, CLEARWAY_OK);
        listening.wait();
        CLEARWAY_OK
    }
    let (closed, closes) = channel();
    let plugin = plugin_with_close(move || closed.send(()).unwrap());
    let (listening, listened) = pause();
    let pair = Box::new((plugin.id(), listening));
    let source = Source {
        size: size_of::<Source>(),
        channel: text("removed"),
        runs: CLEARWAY_RUN_DIRECT,
        reserved: 0,
        queue: text(""),
        context: std::ptr::from_ref(&*pair).cast_mut().cast(),
        on_listen: Some(on_listen),
        on_cancel: None,
        on_room: None,
        on_drop: None,
    };
    // SAFETY: all pointers point to values that live during the call. The plugin closes before `pair` is dropped.
    assert_eq!(unsafe { (HOST.source)(plugin.id(), &source) }, CLEARWAY_OK);
    let host = plugin.clone();
    let calling = thread::spawn(move || {
        let _ = host.listen(&host.channel("removed").unwrap(), &Given::null(), window(1, WhenFull::Wait), 5);
    });
    listened.begins.recv_timeout(LONG).unwrap();
    closes_only_after(&plugin, &closes, || {
        listened.end.send(()).unwrap();
        calling.join().unwrap();
    });
}

#[test]
fn a_close_without_a_timeout_during_a_serial_handler_calls_on_cancel_on_the_queues_thread_after_the_handler() {
    unsafe extern "C-unwind" fn on_listen(_: *mut c_void, _: *const Content, _: u64) -> Status {
        CLEARWAY_OK
    }
    unsafe extern "C-unwind" fn on_cancel(context: *mut c_void, _: u64) {
        // SAFETY: the context is the box below, which outlives the plugin.
        let told = unsafe { &*context.cast::<Mutex<Sender<ThreadId>>>() }.lock().unwrap();
        told.send(thread::current().id()).unwrap();
    }
    let (closed, closes) = channel();
    let plugin = plugin_with_close(move || closed.send(()).unwrap());
    let (told, cancels) = channel::<ThreadId>();
    let context = Box::new(Mutex::new(told));
    let source = Source {
        size: size_of::<Source>(),
        channel: text("numbers"),
        runs: CLEARWAY_RUN_SERIAL,
        reserved: 0,
        queue: text("own"),
        context: std::ptr::from_ref(&*context).cast_mut().cast(),
        on_listen: Some(on_listen),
        on_cancel: Some(on_cancel),
        on_room: None,
        on_drop: None,
    };
    // SAFETY: all pointers point to values that live during the call. The plugin closes before `context` is dropped.
    assert_eq!(unsafe { (HOST.source)(plugin.id(), &source) }, CLEARWAY_OK);
    let (handling, Control { begins, end }) = pause();
    let (tell, own) = channel();
    handle(&plugin, "slow", CLEARWAY_RUN_SERIAL, "own", move |_, to| {
        tell.send(thread::current().id()).unwrap();
        handling.wait();
        reply(to, b"")
    });
    listen(&plugin, "numbers", window(1, WhenFull::Wait));
    send(&plugin, "slow", &Given::null(), 1).unwrap();
    begins.recv_timeout(LONG).unwrap();
    closes_only_after(&plugin, &closes, || {
        assert!(cancels.try_recv().is_err(), "the handler still runs");
        end.send(()).unwrap();
    });
    assert_eq!(cancels.try_iter().collect::<Vec<_>>(), [own.recv().unwrap()]);
}

#[test]
fn on_close_waits_for_on_drop_on_another_thread() {
    let (closed, closes) = channel();
    let plugin = plugin_with_close(move || closed.send(()).unwrap());
    let (handling, handled) = pause();
    let (dropped, dropping) = pause();
    let at_drop = AtDrop(move || dropped.wait());
    handle(&plugin, "slow", CLEARWAY_RUN_DIRECT, "", move |_, to| {
        let _ = &at_drop;
        handling.wait();
        reply(to, b"")
    });
    let host = plugin.clone();
    let calling = thread::spawn(move || drop(send(&host, "slow", &Given::null(), 1)));
    handled.begins.recv_timeout(LONG).unwrap();
    assert_eq!(plugin.close(Duration::ZERO), Err(CLEARWAY_TIMEOUT));
    handled.end.send(()).unwrap();
    dropping.begins.recv_timeout(LONG).unwrap(); // the calling thread left the handler last, so it runs `on_drop`
    closes_only_after(&plugin, &closes, || {
        dropping.end.send(()).unwrap();
        calling.join().unwrap();
    });
}

/// Opens plugins and ends each of them with `end` after its pool has answered a message, until the `on_close` of one of them was called. A
/// thread of the pool may still be on its way out of the handler when the answer arrives. Such a plugin may refuse to close, so this
/// function takes the next one. Returns false if there is none.
fn is_told_at_once(end: impl Fn(&Plugin) -> Result<(), Status>) -> bool {
    (0..1000).any(|_| {
        let (closed, closes) = channel();
        let plugin = plugin_with_close(move || closed.send(()).unwrap());
        for (runs, queue, name) in [(CLEARWAY_RUN_POOL, "", "pool"), (CLEARWAY_RUN_SERIAL, "queue", "serial")] {
            handle(&plugin, name, runs, queue, |_, to| reply(to, b""));
            content(ask(&plugin, name, &Given::null()));
        }
        thread::yield_now();
        let ended = end(&plugin) == Ok(()) && closes.try_recv().is_ok();
        assert_eq!(plugin.close(LONG), Ok(()));
        ended
    })
}

#[test]
#[cfg_attr(miri, ignore = "takes more than half an hour: each of its many attempts starts threads")]
fn closing_and_freeing_without_a_timeout_call_on_close_while_idle_threads_exist() {
    assert!(is_told_at_once(|plugin| plugin.close(Duration::ZERO)));
    assert!(is_told_at_once(Plugin::free));
}

#[test]
fn freeing_calls_on_close_when_the_handlers_have_returned_since_a_close_that_was_too_short() {
    let (plugin, closes, end, calling) = with_running_handler();
    assert_eq!(plugin.close(Duration::ZERO), Err(CLEARWAY_TIMEOUT));
    end.send(()).unwrap();
    calling.join().unwrap();
    assert!(closes.try_recv().is_err());
    assert_eq!(plugin.free(), Ok(()));
    assert_eq!(closes.try_recv(), Ok(()));
}

#[test]
fn a_close_that_waits_while_another_thread_frees_the_plugin_calls_on_close() {
    let (plugin, closes, end, calling) = with_running_handler();
    let waiter = plugin.clone();
    let closing = thread::spawn(move || waiter.close(LONG));
    // SAFETY: the text is static, and the other pointers are null.
    while unsafe { (HOST.send)(plugin.id(), text("open"), null(), None, null_mut()) } != CLEARWAY_CLOSED {
        thread::yield_now();
    }
    assert_eq!(plugin.free(), Ok(()));
    assert!(closes.try_recv().is_err(), "the handler still runs");
    end.send(()).unwrap();
    calling.join().unwrap();
    assert_eq!(closing.join().unwrap(), Ok(()));
    assert_eq!(closes.try_recv(), Ok(()));
}

#[test]
fn freeing_a_closed_plugin_in_a_callback_does_not_call_on_close() {
    let (plugin, closes, end, calling) = with_running_handler();
    assert_eq!(plugin.close(Duration::ZERO), Err(CLEARWAY_TIMEOUT));
    end.send(()).unwrap();
    calling.join().unwrap();
    let (other, host) = (fixture::plugin(), plugin.clone());
    handle(&other, "free", CLEARWAY_RUN_DIRECT, "", move |_, to| {
        assert_eq!(host.free(), Ok(()));
        reply(to, b"")
    });
    content(ask(&other, "free", &Given::null()));
    assert!(closes.try_recv().is_err());
    assert_eq!((plugin.close(LONG), closes.try_recv()), (Ok(()), Ok(())));
}

#[test]
fn of_two_threads_that_close_the_second_waits_for_the_first_ones_on_close() {
    let (closing, closed) = pause();
    let plugin = plugin_with_close(move || closing.wait());
    let host = plugin.clone();
    let first = thread::spawn(move || host.close(LONG));
    closed.begins.recv_timeout(LONG).unwrap();
    assert_eq!(plugin.close(Duration::ZERO), Err(CLEARWAY_TIMEOUT));
    closed.end.send(()).unwrap();
    assert_eq!(plugin.close(LONG), Ok(()));
    assert_eq!(first.join().unwrap(), Ok(()));
    assert!(closed.begins.try_recv().is_err(), "on_close runs once");
}

#[test]
fn memories_of_a_direct_message_stay_valid_when_their_sender_releases_them_during_the_call() {
    let plugin = plugin();
    let [message, attached] = [b"message!", b"attached"].map(|bytes| {
        let memory = Memory::allocate(8, 0).unwrap();
        // SAFETY: the memory has 8 bytes and no other holder.
        unsafe { memory.data().copy_from(bytes.as_ptr(), 8) };
        memory.into_handle()
    });
    handle(&plugin, "late", CLEARWAY_RUN_DIRECT, "", move |content, to| {
        let mut view = View::NONE;
        // SAFETY: the core lends the content during the call, and checks handles.
        unsafe {
            // As another thread of the host would do at this moment.
            assert_eq!(((HOST.release)(message), (HOST.release)(attached)), (CLEARWAY_OK, CLEARWAY_OK));
            assert_eq!((HOST.view)(*content.attachments, &mut view), CLEARWAY_OK);
            assert_eq!(std::slice::from_raw_parts(view.data, view.size), b"attached");
            assert_eq!((HOST.view)(content.memory, &mut view), CLEARWAY_OK);
        }
        assert_eq!(bytes(content), b"message!");
        give(to, content)
    });
    let handles = [attached];
    // SAFETY: the core checks the handle.
    let given = unsafe { Given::raw(Content::of_memory(message)) };
    let answer = fixture::content(ask(&plugin, "late", &given.with(&handles)));
    assert_eq!(answer.to_vec().unwrap(), b"message!");
    assert_eq!(answer.attachments.iter().map(Memory::references).collect::<Vec<_>>(), [1]);
}
