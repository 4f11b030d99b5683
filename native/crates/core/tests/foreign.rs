// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes every call into foreign code (`POINTS`) panic, hang, re-enter the core and pass garbage. Afterwards, nothing is open or leaked.

mod fixture;

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{from_ref, null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clearway_core::{Given, HOST, Item, Memory, Options, Plugin, Sent, WhenFull, slabs};
use clearway_sys::*;
use fixture::{LONG, ask, content, give, handle, text, window};

/// A call from the core into a plugin's or a host's code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Point {
    Init,
    Message,
    Listen,
    Room,
    Cancel,
    Answer,
    Release,
    Wake,
    Drop,
    Close,
}
use Point::*;

/// Which thread waits while the call hangs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hangs {
    /// A thread of the plugin's queue. `close` returns `CLEARWAY_TIMEOUT`.
    ItsQueue,
    /// The calling thread. `close` on another thread returns `CLEARWAY_TIMEOUT`.
    Caller,
    /// The calling thread, which closes or frees. The header says that such a callback has no time limit.
    Closer,
    /// The calling thread. Closing does not wait for it.
    NoThread,
}
use Hangs::*;

/// Each point, with the thread that waits while the point hangs: first for a call on the calling thread, then for a call on a queue (`None`
/// if the point never runs on a queue).
const POINTS: [(Point, Hangs, Option<Hangs>); 10] = [
    (Init, NoThread, None),
    (Message, Caller, Some(ItsQueue)),
    (Listen, Caller, Some(ItsQueue)),
    (Room, Caller, Some(ItsQueue)),
    (Cancel, Caller, Some(ItsQueue)),
    (Answer, ItsQueue, None),
    (Release, NoThread, None),
    (Wake, NoThread, None),
    (Drop, Closer, None),
    (Close, Closer, None),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Act {
    Panic,
    Hang,
    Reenter,
    Garbage,
}

const WEIRD: Status = -559_038_737;

/// How one opened plugin misbehaves. Never freed, because late callbacks may use it.
struct Bad {
    point: Point,
    act: Act,
    runs: u32,
    id: AtomicU64,
    listened: AtomicBool,
    acted: AtomicBool,
    entered: Mutex<Sender<()>>,
    released: Mutex<Receiver<()>>,
}

thread_local! {
    static OPENED: Cell<Option<&'static Bad>> = const { Cell::new(None) };
}

impl Bad {
    /// Misbehaves once if `point` is the point to misbehave at. Returns the callback's status.
    fn at(&self, point: Point, handle: u64) -> Status {
        if point != self.point || self.acted.swap(true, Ordering::SeqCst) {
            return CLEARWAY_OK;
        }
        match self.act {
            Act::Panic => panic!("{point:?} panics, as the test wants"),
            Act::Hang => {
                self.entered.lock().unwrap().send(()).unwrap();
                self.released.lock().unwrap().recv().unwrap();
                CLEARWAY_OK
            }
            Act::Reenter => {
                self.reenter(point);
                CLEARWAY_OK
            }
            Act::Garbage => {
                garbage(self.id.load(Ordering::SeqCst), handle);
                WEIRD
            }
        }
    }

    /// Calls every function from inside a callback.
    fn reenter(&self, point: Point) {
        let id = self.id.load(Ordering::SeqCst);
        let mut view = View::NONE;
        // SAFETY: all pointers point to values that live during the calls, or to static ones.
        unsafe {
            let spare = Handler { channel: text("spare"), ..handler(self) };
            (HOST.handle)(id, &spare);
            (HOST.unhandle)(id, text("spare"));
            (HOST.log)(id, CLEARWAY_LOG_INFO, text("from inside"));
            (HOST.send)(id, text("to the host"), null(), None, null_mut());
            if (HOST.allocate)(id, 5000, 0, &mut view) == CLEARWAY_OK {
                (HOST.release)(view.memory);
            }
        }
        let Some(plugin) = Plugin::find(id) else { return };
        let _ = plugin.send(&plugin.channel("echo").unwrap(), &Given::bytes(&[7; 100]), 70, false);
        let numbers = plugin.channel("numbers").unwrap();
        if let Ok(stream) = plugin.listen(&numbers, &Given::null(), window(2, WhenFull::Wait), 71) {
            let _ = plugin.cancel(stream);
        }
        assert_eq!(plugin.close(LONG), Err(CLEARWAY_INVALID_ARGUMENT), "{point:?}");
        if plugin.free() != Err(CLEARWAY_INVALID_ARGUMENT) {
            // A callback may free only a plugin that is closed or closing.
            assert_eq!(plugin.send(&numbers, &Given::null(), 72, false).unwrap_err(), CLEARWAY_CLOSED, "{point:?}");
        }
        // Removes the running handler and source.
        //
        // SAFETY: names are static.
        unsafe {
            (HOST.unhandle)(id, text("echo"));
            (HOST.unsource)(id, text("numbers"));
        }
    }
}

/// Passes wrong lengths and used handles to the core, and answers twice.
fn garbage(id: u64, handle: u64) {
    let mut view = View::NONE;
    // SAFETY: a pointer that is not null points to a value that lives during the call. The core refuses wrong content before reading it.
    unsafe {
        assert_eq!((HOST.allocate)(id, usize::MAX, 0, &mut view), CLEARWAY_TOO_LARGE);
        assert_eq!((HOST.allocate)(id, 64, 0, &mut view), CLEARWAY_OK);
        let outside = Content { data: view.data, size: 65, memory: view.memory, ..Content::NULL };
        for content in [outside, Content { size: 8, ..Content::NULL }, Content::of_memory(handle ^ 0x5555)] {
            assert!(handle == 0 || (HOST.reply)(handle, &content) != CLEARWAY_OK);
            assert_ne!((HOST.emit)(handle, &content), CLEARWAY_OK);
            assert_ne!((HOST.send)(id, text("to the host"), &content, None, null_mut()), CLEARWAY_OK);
        }
        assert_eq!((HOST.release)(view.memory), CLEARWAY_OK);
        assert_eq!((HOST.release)(view.memory), CLEARWAY_STALE);
        assert!(handle == 0 || (HOST.reply)(handle, &Content::of_memory(view.memory)) == CLEARWAY_STALE);
        (HOST.reply)(handle, &Content::of(b"first"));
        assert!(handle == 0 || (HOST.reply)(handle, &Content::of(b"second")) == CLEARWAY_STALE);
        (HOST.end)(handle ^ 0x5555);
        (HOST.log)(id, 99, Text { size: 64, ..Text::NONE });
    }
}

unsafe fn bad<'a>(context: *mut c_void) -> &'a Bad {
    // SAFETY: the context is a `Bad`, which is never freed.
    unsafe { &*context.cast::<Bad>() }
}

unsafe extern "C-unwind" fn on_message(context: *mut c_void, message: *const Content, to: u64) -> Status {
    // SAFETY: the core passes what the ABI promises.
    let (status, message) = unsafe { (bad(context).at(Message, to), &*message) };
    if status == CLEARWAY_OK { give(to, message) } else { status }
}
unsafe extern "C-unwind" fn on_listen(context: *mut c_void, _: *const Content, stream: u64) -> Status {
    // SAFETY: the core passes what the ABI promises.
    let bad = unsafe { bad(context) };
    bad.listened.store(true, Ordering::SeqCst);
    bad.at(Listen, stream)
}
macro_rules! callback {
    ($name:ident is $point:ident $(, $more:ty)*) => {
        unsafe extern "C-unwind" fn $name(context: *mut c_void $(, _: $more)*) {
            // SAFETY: the core passes what the ABI promises.
            unsafe { bad(context) }.at($point, 0);
        }
    };
}
callback!(on_room is Room, u64);
callback!(on_cancel is Cancel, u64);
callback!(on_answer is Answer, Status, *const Content);
callback!(on_release is Release, *mut u8, usize);
callback!(on_drop is Drop);

unsafe extern "C-unwind" fn on_close(context: *mut c_void) {
    // SAFETY: the core passes what the ABI promises. The plugin is already closed, so `garbage` could not allocate.
    let bad = unsafe { bad(context) };
    if (bad.point, bad.act) != (Close, Act::Garbage) {
        bad.at(Close, 0);
    }
}

fn handler(bad: &Bad) -> Handler {
    Handler {
        size: size_of::<Handler>(),
        channel: text("echo"),
        runs: bad.runs,
        reserved: 0,
        queue: text("own"),
        context: from_ref(bad).cast_mut().cast(),
        on_message: Some(on_message),
        on_drop: None,
    }
}

unsafe extern "C-unwind" fn init(host: *const Host, plugin: *mut clearway_sys::Plugin) -> Status {
    let bad = OPENED.get().expect("set by the test");
    let context = from_ref(bad).cast_mut().cast();
    let source = Source {
        size: size_of::<Source>(),
        channel: text("numbers"),
        runs: bad.runs,
        reserved: 0,
        queue: text("own"),
        context,
        on_listen: Some(on_listen),
        on_cancel: Some(on_cancel),
        on_room: Some(on_room),
        on_drop: Some(on_drop),
    };
    // SAFETY: the core passes what the ABI promises.
    unsafe {
        let about = &mut *plugin;
        bad.id.store(about.id, Ordering::SeqCst);
        (about.abi_major, about.context) = (CLEARWAY_ABI_MAJOR, context);
        about.on_close = Some(on_close);
        assert_eq!(((*host).handle)(about.id, &handler(bad)), CLEARWAY_OK);
        assert_eq!(((*host).source)(about.id, &source), CLEARWAY_OK);
    }
    bad.at(Init, 0)
}

/// Uses a plugin in every way that calls its code. Every use must settle, with any result.
fn use_all(plugin: &Arc<Plugin>, bad: &'static Bad) {
    let (wake, woken) = channel();
    let wake = Mutex::new(wake);
    let waker = move || {
        wake.lock().unwrap().send(()).unwrap_or(());
        bad.at(Wake, 0);
    };
    plugin.set_wake(Some(Box::new(waker))).unwrap();
    let first = |wanted: &dyn Fn(&Item) -> bool| {
        let mut items = Vec::new();
        loop {
            while plugin.read(&mut items, 1) {}
            if let Some(found) = items.iter().position(wanted) {
                return items.swap_remove(found);
            }
            woken.recv_timeout(LONG).expect("it settles");
        }
    };
    let check = |status: Status, point| {
        let allowed = match bad.act {
            Act::Panic if bad.point == point => &[CLEARWAY_PANICKED][..],
            Act::Garbage if bad.point == point && point == Listen => &[WEIRD],
            Act::Panic | Act::Garbage => &[CLEARWAY_OK],
            // The plugin may have been closed meanwhile, or a callback may have removed the entry.
            Act::Hang | Act::Reenter => &[CLEARWAY_OK, CLEARWAY_CLOSED, CLEARWAY_NO_HANDLER],
        };
        assert!(allowed.contains(&status), "{point:?}: status={status}");
    };
    let echo = plugin.channel("echo").unwrap();
    let status = match plugin.send(&echo, &Given::bytes(b"message"), 1, true) {
        Err(status) => status,
        Ok(Sent::Pending(_)) => match first(&|item| matches!(item, Item::Answer { tag: 1, .. })) {
            Item::Answer { outcome, .. } => outcome.map_or_else(|failure| failure.status, |_| CLEARWAY_OK),
            _ => unreachable!(),
        },
        Ok(Sent::Answered(outcome)) => outcome.map_or_else(|failure| failure.status, |_| CLEARWAY_OK),
        Ok(Sent::Taken) => panic!("an answer is wanted"),
    };
    check(status, Message);
    if let Ok(stream) = plugin.listen(&plugin.channel("numbers").unwrap(), &Given::null(), window(1, WhenFull::Wait), 2)
    {
        let until = |happened: &AtomicBool| {
            while !happened.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        };
        until(&bad.listened); // if the listener leaves earlier, the source is never called
        let emitted = std::iter::repeat_with(|| fixture::emit(stream, b"1")).find(|status| *status != CLEARWAY_OK);
        if emitted == Some(CLEARWAY_FULL) {
            plugin.read(&mut Vec::new(), 1); // makes room, so that the core notifies the source
            if bad.point == Room {
                until(&bad.acted);
            }
        }
        if matches!((bad.point, bad.act), (Listen, Act::Panic | Act::Garbage)) {
            let Item::End { failure, .. } = first(&|item| matches!(item, Item::End { tag: 2, .. })) else {
                unreachable!()
            };
            check(failure.map_or(CLEARWAY_OK, |failure| failure.status), Listen);
        }
        let _ = plugin.cancel(stream); // fails if a callback has removed the source
    }
    let context = from_ref(bad).cast_mut().cast();
    // SAFETY: the context is never freed.
    if unsafe { (HOST.send)(plugin.id(), text("ask"), null(), Some(on_answer), context) } == CLEARWAY_OK {
        let asked = first(&|item| matches!(item, Item::Message(asked) if &*asked.channel == "ask" && asked.reply != 0));
        let _ = clearway_core::reply(fixture::message(asked).reply, Ok(&Given::bytes(b"answer"))); // fails if the plugin was closed meanwhile
    }
    let mut byte = 0u8;
    let mut view = View::NONE;
    // SAFETY: the byte and the view live during the calls. The memory is released before this function returns.
    unsafe {
        if (HOST.adopt)(plugin.id(), &mut byte, 1, 0, Some(on_release), context, &mut view) == CLEARWAY_OK {
            assert_eq!((HOST.release)(view.memory), CLEARWAY_OK);
        }
    }
    plugin.close(LONG).unwrap();
}

/// Opens, uses and closes a plugin that misbehaves at one point.
fn misbehave(point: Point, act: Act, runs: u32, hangs: Hangs, other: &Plugin) {
    let ((entered, enters), (release, released)) = (channel(), channel());
    let bad: &'static Bad = Box::leak(Box::new(Bad {
        point,
        act,
        runs,
        id: AtomicU64::new(0),
        listened: AtomicBool::new(false),
        acted: AtomicBool::new(false),
        entered: Mutex::new(entered),
        released: Mutex::new(released),
    }));
    OPENED.set(Some(bad));
    if (point, act) == (Init, Act::Hang) {
        return; // the opening thread runs `init`, so a hanging `init` would block this test
    }
    // SAFETY: `init` keeps to the ABI, except for the misbehaviour that the core must survive.
    let opened = unsafe { Plugin::start(init, Options { threads: 1, ..fixture::options() }) };
    if let (Init, Act::Panic | Act::Garbage) = (point, act) {
        let expected = if act == Act::Panic { CLEARWAY_PANICKED } else { CLEARWAY_INIT_FAILED };
        assert_eq!(opened.map(drop).unwrap_err().status, expected);
        assert!(Plugin::find(bad.id.load(Ordering::SeqCst)).is_none());
        return;
    }
    let plugin = opened.unwrap();
    std::thread::scope(|scope| {
        let used = scope.spawn(|| use_all(&plugin, bad));
        if act == Act::Hang {
            enters.recv_timeout(LONG).expect("the call");
            assert_eq!(content(ask(other, "other", &Given::bytes(b"x"))).to_vec(), Some(b"x".to_vec()));
            if matches!(hangs, ItsQueue | Caller) {
                assert_eq!(plugin.close(Duration::from_millis(1)), Err(CLEARWAY_TIMEOUT));
            }
            release.send(()).unwrap();
        }
        used.join().unwrap();
    });
    assert!(bad.acted.load(Ordering::SeqCst) || (point, act) == (Close, Act::Garbage), "the point was reached");
    assert_eq!(plugin.close(LONG), Ok(()));
    plugin.set_wake(None).unwrap();
    while plugin.read(&mut Vec::new(), 100) {}
    if Plugin::find(plugin.id()).is_some() {
        assert_eq!(plugin.in_flight(), (0, 0, 0)); // a callback may have freed the plugin
    }
    plugin.free().unwrap();
    assert!(Plugin::find(plugin.id()).is_none());
}

#[test]
fn every_call_into_foreign_code_may_panic_hang_reenter_and_pass_garbage() {
    std::panic::set_hook(Box::new(|panic| {
        let said = panic.to_string();
        eprint!("{}", if said.contains("as the test wants") { "" } else { &said });
    }));
    let other = fixture::plugin();
    handle(&other, "other", CLEARWAY_RUN_POOL, "", |message, to| give(to, message));
    let _warm = Memory::allocate(5000, 0).unwrap();
    let before = slabs().live;
    for (point, called, queued) in POINTS {
        for act in [Act::Panic, Act::Hang, Act::Reenter, Act::Garbage] {
            let queues = [(CLEARWAY_RUN_POOL, queued), (CLEARWAY_RUN_SERIAL, queued)];
            let places = [(CLEARWAY_RUN_DIRECT, Some(called))].into_iter().chain(queues);
            for (runs, hangs) in places.filter_map(|(runs, hangs)| Some((runs, hangs?))) {
                misbehave(point, act, runs, hangs, &other);
                assert_eq!(slabs().live, before, "memory is left: {point:?} {act:?} runs={runs}");
            }
        }
    }
    other.close(LONG).unwrap();
}
