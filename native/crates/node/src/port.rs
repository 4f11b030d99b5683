// SPDX-License-Identifier: MIT OR Apache-2.0
//! Opens and closes plugin instances. A port is one plugin instance of one JavaScript thread.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{io, thread};

use clearway_core::{Failure, Item, Options, Outcome, Plugin, slabs};
use clearway_sys::CLEARWAY_TIMEOUT;
use napi_sys as sys;

use crate::calls::Lines;
use crate::drain::Wake;
use crate::js::{Env, Value};
use crate::memories::{Held, Loans};
use crate::scratch::{Head, Kind, Scratch};

/// The maximum time that an ending JavaScript thread waits for running handlers, in milliseconds. Handlers that run longer continue on
/// their own threads. Their memory is kept.
const END_MS: u64 = 1000;
/// The timeout of one call of `Plugin::close`. Messages that are still queued after this time are answered with `CLEARWAY_CLOSED`. If
/// handlers still run after this time, the closing thread calls `close` again.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// One plugin instance of one JavaScript thread.
pub struct Port {
    pub env: Env,
    pub plugin: Arc<Plugin>,
    pub wake: Arc<Wake>,
    pub loans: Arc<Loans>,
    /// The lines (prepared paths to channels' handlers) of all ports of the thread.
    pub lines: Rc<Lines<Port>>,
    pub state: RefCell<State>,
    /// The core's handles of calls in flight, by JavaScript's call numbers.
    pub calls: RefCell<HashMap<u64, u64>>,
    /// The core's handles of streams, by JavaScript's stream numbers.
    pub streams: RefCell<HashMap<u64, u64>>,
    /// Answers to calls of `send` whose handler ran on this thread (a direct handler). JavaScript reads them in a later turn.
    pub answered: RefCell<VecDeque<(u64, Outcome)>>,
    /// Gets a message when the closing thread has ended. Empty while the plugin is open.
    closing: OnceCell<mpsc::Receiver<()>>,
    closed: Arc<AtomicBool>,
    /// Whether the port was dropped. No code reads the plugin's items after that.
    abandoned: Arc<AtomicBool>,
    /// Whether JavaScript has received the `Closed` record. It says that the plugin has closed. A record is an entry in the scratch arrays.
    close_delivered: Cell<bool>,
}

/// State that the addon's functions borrow, one function at a time. No function calls JavaScript while it has borrowed the state.
pub struct State {
    /// The scratch arrays into which `drain` writes the plugin's items for JavaScript.
    pub records: Scratch,
    /// Receives the answer of a direct call, or the error text of a failed `open`.
    pub answer: Scratch,
    /// Native memory to which JavaScript has references, by handle.
    pub held: HashMap<u64, Held>,
    /// Items that `drain` has read from the core and not yet written to records.
    pub items: VecDeque<Item>,
    /// A buffer for the items of one read from the core. It is empty between reads, and exists to reuse its capacity.
    pub batch: Vec<Item>,
}

/// The type of the value in the JavaScript object that `open` returns.
pub type SharedPort = Rc<Port>;

/// `open(path, heads, body, answerHeads, answerBody, onWake)`: opens a plugin. Returns a port. On failure, returns a status as a number,
/// and the first answer record has the error text.
pub unsafe fn open(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([path, heads, body, answer_heads, answer_body, on_wake], _) = env.arguments(info);
    let Some(path) = env.as_text(path) else { return env.throw("invalid-argument", "path must be a text") };
    let (Some(records), Some(mut answer)) =
        (Scratch::of(env, heads, body), Scratch::of(env, answer_heads, answer_body))
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
    // SAFETY: `napi_register_module_v1` stores a `Lines<Port>` as the instance data, and nothing replaces it.
    let lines = unsafe { env.instance::<Lines<Port>>() }.unwrap_or_default();
    let port = Rc::new(Port {
        env,
        plugin,
        wake: wake.clone(),
        loans,
        lines,
        state: RefCell::new(State { records, answer, held: HashMap::new(), items: VecDeque::new(), batch: Vec::new() }),
        calls: RefCell::default(),
        streams: RefCell::default(),
        answered: RefCell::default(),
        closing: OnceCell::new(),
        closed: Arc::new(AtomicBool::new(false)),
        abandoned: Arc::new(AtomicBool::new(false)),
        close_delivered: Cell::new(false),
    });
    let _ = port.plugin.set_wake(Some(Box::new(move || wake.wake()))); // fails only inside a wake, and no JavaScript runs there
    // SAFETY: the hook never runs with a dropped port, because the port's drop removes the hook. Node runs the hooks in the reverse order
    // of their addition, so this hook runs before Node's own hook for the wake's function.
    unsafe { sys::napi_add_env_cleanup_hook(env.0, Some(end), Rc::as_ptr(&port).cast_mut().cast()) };
    env.external(Box::new(port))
}

/// Returns the port of a value that `open` returned. For any other value, throws in JavaScript and returns `None`.
pub fn of<'a>(env: Env, value: Value) -> Option<&'a SharedPort> {
    // SAFETY: all externals of this addon have the type `SharedPort`.
    let port = unsafe { env.as_external::<SharedPort>(value) };
    if port.is_none() {
        env.throw("invalid-argument", "port must be one that open() gave");
    }
    port
}

/// `close(port)`: starts to close the plugin on a new thread, because closing waits for running handlers. Throws if no thread can be
/// started.
pub unsafe fn close(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port], _) = env.arguments(info);
    let Some(port) = of(env, port) else { return std::ptr::null_mut() };
    if port.close().is_err() {
        return env.throw("out-of-memory", "no thread could be started to close the plugin: close it again");
    }
    env.undefined()
}

/// `setKeepsAlive(port, keep)`: sets whether the port keeps the event loop running.
pub unsafe fn set_keeps_alive(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, keep], _) = env.arguments(info);
    let Some(port) = of(env, port) else { return std::ptr::null_mut() };
    port.wake.set_keeps_alive(env, env.as_bool(keep));
    env.undefined()
}

/// `stats(port)`: returns an object with the counters of the plugin and of the process's slabs.
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
    /// Closes the plugin on a new thread. The returned receiver gets a message when the plugin's code no longer runs for this instance. If
    /// the plugin is already closing, only returns the receiver. Returns an error if no thread could be started. In that case nothing has
    /// changed.
    fn close(&self) -> io::Result<&mpsc::Receiver<()>> {
        if let Some(done) = self.closing.get() {
            return Ok(done);
        }
        let (ended, done) = mpsc::channel();
        let (plugin, wake) = (self.plugin.clone(), self.wake.clone());
        let (closed, abandoned) = (self.closed.clone(), self.abandoned.clone());
        let closer = move || {
            while plugin.close(CLOSE_TIMEOUT) == Err(CLEARWAY_TIMEOUT) {}
            // Pairs with the loads in `is_close_pending` and in the port's drop. The drop stores `abandoned` and then loads `closed`; this
            // thread stores `closed` and then loads `abandoned`. Both use `SeqCst`, so at least one of them sees the other's store and
            // frees the plugin.
            closed.store(true, Ordering::SeqCst);
            if abandoned.load(Ordering::SeqCst) {
                let _ = plugin.free(); // fails only inside a wake, or in a callback while the plugin is open
            }
            wake.wake();
            let _ = ended.send(()); // fails if the port was dropped
        };
        thread::Builder::new().name("clearway close".into()).spawn(closer)?;
        Ok(self.closing.get_or_init(|| done))
    }

    /// Returns whether the plugin has closed and JavaScript has not received the `Closed` record yet.
    pub fn is_close_pending(&self) -> bool {
        // Acquire: pairs with the store in `close`. If the plugin has closed, this thread sees all of its items.
        self.closed.load(Ordering::Acquire) && !self.close_delivered.get()
    }

    /// Returns whether JavaScript has received the `Closed` record.
    pub fn is_close_delivered(&self) -> bool {
        self.close_delivered.get()
    }

    /// Notes that JavaScript receives the `Closed` record. Frees the plugin, whose items have all been read.
    pub fn deliver_close(&self) {
        self.close_delivered.set(true);
        let _ = self.plugin.free(); // fails only inside a wake, or in a callback while the plugin is open
    }
}

/// Closes the plugin when the JavaScript thread ends: normally, by `terminate`, or by `process.exit` in a worker. Node does not call this for
/// `process.exit` in the main thread. Waits at most `END_MS`, also if JavaScript has already started to close the plugin.
unsafe extern "C" fn end(port: *mut c_void) {
    // SAFETY: the port is alive, because its drop removes this hook.
    let port = unsafe { &*port.cast::<Port>() };
    let _ = port.plugin.set_wake(None);
    port.wake.end(false);
    if let Ok(done) = port.close() {
        let _ = done.recv_timeout(Duration::from_millis(END_MS)); // handlers that take longer continue on their own threads
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // SAFETY: `open` added this hook with this pointer. If the hook has already run, the call does nothing.
        unsafe { sys::napi_remove_env_cleanup_hook(self.env.0, Some(end), (&raw const *self).cast_mut().cast()) };
        self.lines.forget(&raw const *self);
        let _ = self.plugin.set_wake(None);
        self.wake.end(true);
        let _ = self.close(); // if no thread can be started, the plugin stays open
        // Pairs with the closing thread in `close`, which stores `closed` and then loads `abandoned`. At least one side frees the plugin.
        self.abandoned.store(true, Ordering::SeqCst);
        if self.closed.load(Ordering::SeqCst) {
            let _ = self.plugin.free(); // has no effect if the closing thread has freed the plugin
        }
    }
}
