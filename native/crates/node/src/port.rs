// SPDX-License-Identifier: MIT OR Apache-2.0
//! One instance of a plugin, for one JavaScript thread.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clearway_core::{Failure, Item, Options, Outcome, Plugin, slabs};
use clearway_sys::CLEARWAY_TIMEOUT;
use napi_sys as sys;

use crate::js::{Env, Value};
use crate::lent::Loans;
use crate::lines::Lines;
use crate::scratch::{Head, Kind, Scratch};
use crate::view::Held;
use crate::wake::Wake;

/// The time that an ending thread waits for running handlers. Handlers that block for longer continue on their own threads, and their
/// memory is kept.
const END_MS: u64 = 1000;
/// The time that one attempt to close waits for running handlers. It only bounds the cost of a lost wake.
const AGAIN: Duration = Duration::from_secs(1);

pub struct Port {
    pub env: Env,
    pub plugin: Arc<Plugin>,
    pub wake: Arc<Wake>,
    pub loans: Arc<Loans>,
    /// The lines of all ports of the thread.
    pub lines: Rc<Lines<Port>>,
    pub state: RefCell<State>,
    /// The core's handles of calls in flight, by JavaScript's call numbers.
    pub calls: RefCell<HashMap<u64, u64>>,
    /// The core's handles of streams, by JavaScript's stream numbers.
    pub streams: RefCell<HashMap<u64, u64>>,
    /// Answers of direct handlers to `send`. JavaScript reads them in a later turn.
    pub answered: RefCell<VecDeque<(u64, Outcome)>>,
    closing: Cell<bool>,
    closed: Arc<AtomicBool>,
    /// The port was dropped, and no code reads its items any more.
    abandoned: Arc<AtomicBool>,
    told: Cell<bool>,
}

/// State that only one function uses at a time. None of these functions calls JavaScript.
pub struct State {
    /// Receives drained records.
    pub came: Scratch,
    /// Receives a direct call's answer.
    pub answer: Scratch,
    /// Native memory that JavaScript holds.
    pub held: HashMap<u64, Held>,
    /// Items that were read and did not fit into the records yet.
    pub items: VecDeque<Item>,
    /// Empty between reads. Kept for its capacity.
    pub lot: Vec<Item>,
}

/// The value of JavaScript's external.
pub type Shared = Rc<Port>;

/// `open(path, heads, body, answerHeads, answerBody, onWake)`: opens a plugin. Returns a port, or a status as a number. With a status,
/// the first answer record has the error text.
pub unsafe fn open(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([path, heads, body, answer_heads, answer_body, on_wake], _) = env.arguments(info);
    let Some(path) = env.as_text(path) else { return env.throw("invalid-argument", "path must be a text") };
    let (Some(came), Some(mut answer)) = (Scratch::of(env, heads, body), Scratch::of(env, answer_heads, answer_body))
    else {
        return env.throw("invalid-argument", "the scratch arrays are too small");
    };
    let Some(wake) = Wake::new(env, on_wake).map(Arc::new) else {
        return env.throw("invalid-argument", "onWake must be a function");
    };
    let plugin = match Plugin::load(path.as_ref(), Options::default()) {
        Ok(plugin) => plugin,
        Err(Failure { status, text }) => {
            wake.end(true);
            answer.clear();
            answer.text(Head { kind: Kind::End, id: 0, status: status.into() }, &text);
            return env.number(status.into());
        }
    };
    let loans = Loans::new(wake.clone());
    // SAFETY: the addon keeps only a `Lines<Port>`.
    let lines = unsafe { env.instance::<Lines<Port>>() }.unwrap_or_default();
    let port = Rc::new(Port {
        env,
        plugin,
        wake: wake.clone(),
        loans,
        lines,
        state: RefCell::new(State { came, answer, held: HashMap::new(), items: VecDeque::new(), lot: Vec::new() }),
        calls: RefCell::default(),
        streams: RefCell::default(),
        answered: RefCell::default(),
        closing: Cell::new(false),
        closed: Arc::new(AtomicBool::new(false)),
        abandoned: Arc::new(AtomicBool::new(false)),
        told: Cell::new(false),
    });
    let _ = port.plugin.set_wake(Some(Box::new(move || wake.wake()))); // only a wake refuses this, and no JavaScript runs in a wake
    // SAFETY: the hook runs before the port is dropped, because the drop removes the hook. It was added after the wake's own hook, so Node
    // runs it before that hook.
    unsafe { sys::napi_add_env_cleanup_hook(env.0, Some(end), Rc::as_ptr(&port).cast_mut().cast()) };
    env.external(Box::new(port))
}

/// Returns the port of a value that `open` made. Throws for any other value.
pub fn of<'a>(env: Env, value: Value) -> Option<&'a Shared> {
    // SAFETY: all externals of this addon are ports.
    let port = unsafe { env.as_external::<Shared>(value) };
    if port.is_none() {
        env.throw("invalid-argument", "port must be one that open() gave");
    }
    port
}

/// `close(port)`: closes on a new thread, because closing waits for running handlers.
pub unsafe fn close(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port], _) = env.arguments(info);
    let Some(port) = of(env, port) else { return std::ptr::null_mut() };
    if port.close().is_err() {
        return env.throw("out-of-memory", "no thread could be started to close the plugin: close it again");
    }
    env.undefined()
}

/// `hold(port, keep)`: sets whether the port keeps the event loop running.
pub unsafe fn hold(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, keep], _) = env.arguments(info);
    let Some(port) = of(env, port) else { return std::ptr::null_mut() };
    port.wake.hold(env, env.as_bool(keep));
    env.undefined()
}

/// `stats(port)`: returns counters by name.
pub unsafe fn stats(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port], _) = env.arguments(info);
    let Some(port) = of(env, port) else { return std::ptr::null_mut() };
    let (counts, slabs) = (port.plugin.counts(), slabs());
    let held = port.state.borrow().held.len();
    let number = |value: u64| env.number(value as f64);
    env.object(&[
        ("messages", number(counts.messages)),
        ("events", number(counts.events)),
        ("dropped", number(counts.dropped)),
        ("copies", number(counts.copies)),
        ("copiedBytes", number(counts.copied_bytes)),
        ("held", number(held as u64)),
        ("slabsLive", number(slabs.live)),
        ("slabsLiveBytes", number(slabs.live_bytes)),
        ("slabsKeptBytes", number(slabs.kept_bytes)),
    ])
}

impl Port {
    /// Closes the plugin. The receiver gets a message when none of the plugin's code runs for this instance any more. Returns `None` if
    /// the plugin was closing before. Returns an error if no thread could be started; then nothing has changed.
    fn close(&self) -> io::Result<Option<mpsc::Receiver<()>>> {
        if self.closing.replace(true) {
            return Ok(None);
        }
        let (done, over) = mpsc::channel();
        let (plugin, wake) = (self.plugin.clone(), self.wake.clone());
        let (closed, abandoned) = (self.closed.clone(), self.abandoned.clone());
        let closer = move || {
            while plugin.close(AGAIN) == Err(CLEARWAY_TIMEOUT) {}
            // Pairs with the loads in `is_over` and in the port's drop: the second of the two sides frees the plugin.
            closed.store(true, Ordering::SeqCst);
            if abandoned.load(Ordering::SeqCst) {
                let _ = plugin.free(); // the plugin is closed, and this is no wake
            }
            wake.wake();
            let _ = done.send(()); // fails if no thread waits
        };
        thread::Builder::new().name("clearway close".into()).spawn(closer).inspect_err(|_| self.closing.set(false))?;
        Ok(Some(over))
    }

    /// Returns whether the plugin has closed and JavaScript has not read that yet.
    pub fn is_over(&self) -> bool {
        // Acquire: pairs with the store in `close`, so all items of the closed plugin are visible.
        self.closed.load(Ordering::Acquire) && !self.told.get()
    }

    /// Returns whether JavaScript has read that the plugin has closed.
    pub fn is_told(&self) -> bool {
        self.told.get()
    }

    /// Records that JavaScript has read everything, including the close. Frees the plugin.
    pub fn told(&self) {
        self.told.set(true);
        let _ = self.plugin.free(); // the plugin is closed, and this is no wake
    }
}

/// Runs at the end of the thread: a normal end, `process.exit`, or `terminate`.
unsafe extern "C" fn end(port: *mut c_void) {
    // SAFETY: the port's drop removes this hook, so the port is alive.
    let port = unsafe { &*port.cast::<Port>() };
    let _ = port.plugin.set_wake(None);
    port.wake.end(false);
    if let Ok(Some(over)) = port.close() {
        let _ = over.recv_timeout(Duration::from_millis(END_MS)); // handlers that take longer continue to run
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // SAFETY: the hook of `open`. If the hook has run, Node has nothing to remove.
        unsafe { sys::napi_remove_env_cleanup_hook(self.env.0, Some(end), (&raw const *self).cast_mut().cast()) };
        self.lines.forget(&raw const *self);
        let _ = self.plugin.set_wake(None);
        self.wake.end(true);
        let _ = self.close(); // if no thread can be started, the plugin stays open
        self.abandoned.store(true, Ordering::SeqCst);
        if self.closed.load(Ordering::SeqCst) {
            let _ = self.plugin.free(); // a second call does nothing
        }
    }
}
