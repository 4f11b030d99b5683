// SPDX-License-Identifier: MIT OR Apache-2.0
//! One opening of a plugin, for one thread of JavaScript.

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
use clearway_plugin::CLEARWAY_TIMEOUT;
use napi_sys as sys;

use crate::js::{Env, Value};
use crate::lent::Loans;
use crate::lines::Lines;
use crate::scratch::{Head, Kind, Scratch};
use crate::view::Held;
use crate::wake::Wake;

/// How long the end of a thread waits for handlers that run: what blocks for longer is left behind, on threads of its own,
/// with memory that is kept for it.
const END_MS: u64 = 1000;
/// How long one try to close waits for handlers that run, before the next: it only bounds what a lost wake would cost.
const AGAIN: Duration = Duration::from_secs(1);

pub struct Port {
    pub env: Env,
    pub plugin: Arc<Plugin>,
    pub wake: Arc<Wake>,
    pub loans: Arc<Loans>,
    /// Of all ports of the thread.
    pub lines: Rc<Lines>,
    pub state: RefCell<State>,
    /// The core's names of calls under way, by JavaScript's.
    pub calls: RefCell<HashMap<u64, u64>>,
    /// The same for streams.
    pub streams: RefCell<HashMap<u64, u64>>,
    /// Answers of direct handlers to `send`, which are told in a later turn.
    pub answered: RefCell<VecDeque<(u64, Outcome)>>,
    closing: Cell<bool>,
    closed: Arc<AtomicBool>,
    /// Nobody reads any more.
    abandoned: Arc<AtomicBool>,
    told: Cell<bool>,
}

/// What is touched by one call at a time: none of them calls back into JavaScript.
pub struct State {
    /// Where drained records go.
    pub came: Scratch,
    /// Where a direct call's answer goes.
    pub answer: Scratch,
    /// Native memory that JavaScript has.
    pub held: HashMap<u64, Held>,
    /// What was read and has found no room yet.
    pub items: VecDeque<Item>,
    /// Empty between reads; kept for its room.
    pub lot: Vec<Item>,
}

/// What JavaScript's external holds.
pub type Shared = Rc<Port>;

/// `open(path, heads, body, answerHeads, answerBody, onWake)`.
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
    // SAFETY: the addon keeps nothing else.
    let lines = unsafe { env.instance::<Lines>() }.unwrap_or_default();
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
    let _ = port.plugin.set_wake(Some(Box::new(move || wake.wake()))); // refused in a wake only, where no JavaScript runs
    // SAFETY: run before the port is dropped, which takes the hook away; after the wake's own hook was added, so before it.
    unsafe { sys::napi_add_env_cleanup_hook(env.0, Some(end), Rc::as_ptr(&port).cast_mut().cast()) };
    env.external(Box::new(port))
}

/// The port of a value that `open` made. Throws otherwise.
pub fn of<'a>(env: Env, value: Value) -> Option<&'a Shared> {
    // SAFETY: all externals of this addon are ports.
    let port = unsafe { env.as_external::<Shared>(value) };
    if port.is_none() {
        env.throw("invalid-argument", "port must be one that open() gave");
    }
    port
}

/// `close(port)`: on a thread of its own, since it waits for handlers that run.
pub unsafe fn close(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port], _) = env.arguments(info);
    let Some(port) = of(env, port) else { return std::ptr::null_mut() };
    if port.close().is_err() {
        return env.throw("out-of-memory", "no thread could be started to close the plugin: close it again");
    }
    env.undefined()
}

/// `hold(port, keep)`.
pub unsafe fn hold(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, keep], _) = env.arguments(info);
    let Some(port) = of(env, port) else { return std::ptr::null_mut() };
    port.wake.hold(env, env.as_bool(keep));
    env.undefined()
}

/// `stats(port)`: counters, by name.
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
    /// Tells the receiver when no code of the plugin's runs for this opening any more; no receiver where it was closing before. An
    /// error where no thread could be started, and nothing has happened.
    fn close(&self) -> io::Result<Option<mpsc::Receiver<()>>> {
        if self.closing.replace(true) {
            return Ok(None);
        }
        let (done, over) = mpsc::channel();
        let (plugin, wake) = (self.plugin.clone(), self.wake.clone());
        let (closed, abandoned) = (self.closed.clone(), self.abandoned.clone());
        let closer = move || {
            while plugin.close(AGAIN) == Err(CLEARWAY_TIMEOUT) {}
            // Pairs with the loads in `is_over` and in the port's drop: whoever comes second of the two frees the plugin.
            closed.store(true, Ordering::SeqCst);
            if abandoned.load(Ordering::SeqCst) {
                let _ = plugin.free(); // closed, and in no wake
            }
            wake.wake();
            let _ = done.send(()); // nobody may be waiting
        };
        thread::Builder::new().name("clearway close".into()).spawn(closer).inspect_err(|_| self.closing.set(false))?;
        Ok(Some(over))
    }

    /// It has closed, and JavaScript was not told.
    pub fn is_over(&self) -> bool {
        // Acquire: what the plugin left behind is there.
        self.closed.load(Ordering::Acquire) && !self.told.get()
    }

    /// JavaScript was told that it has closed.
    pub fn is_told(&self) -> bool {
        self.told.get()
    }

    /// JavaScript is told, and has read all that there was.
    pub fn told(&self) {
        self.told.set(true);
        let _ = self.plugin.free(); // closed, and in no wake
    }
}

/// The thread ends: by itself, by `process.exit`, by `terminate`.
unsafe extern "C" fn end(port: *mut c_void) {
    // SAFETY: the port's drop takes this hook away, so it is there.
    let port = unsafe { &*port.cast::<Port>() };
    let _ = port.plugin.set_wake(None);
    port.wake.end(false);
    if let Ok(Some(over)) = port.close() {
        let _ = over.recv_timeout(Duration::from_millis(END_MS)); // what takes longer is left to itself
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // SAFETY: the hook of `open`; where it has run, there is nothing to take away.
        unsafe { sys::napi_remove_env_cleanup_hook(self.env.0, Some(end), (&raw const *self).cast_mut().cast()) };
        self.lines.forget(&raw const *self);
        let _ = self.plugin.set_wake(None);
        self.wake.end(true);
        let _ = self.close(); // without a thread for it the opening stays as it is
        self.abandoned.store(true, Ordering::SeqCst);
        if self.closed.load(Ordering::SeqCst) {
            let _ = self.plugin.free(); // again does nothing
        }
    }
}
