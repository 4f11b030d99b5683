// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the plugin's items from the core, and writes them into records for JavaScript. A wake tells the JavaScript thread that there are items:
//! one wake serves all items that arrive until JavaScript reads.

use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use clearway_core::{Failure, Incoming, Item, SMALL_MAX};
use napi_sys as sys;

use crate::calls::put_outcome;
use crate::js::{Env, Value};
use crate::port;
use crate::port::{Port, State};
use crate::scratch::{Head, Kind, MemoryOwners, Scratch};

/// The maximum number of items that `drain` takes from the core at a time.
const BATCH_MAX: usize = 256;

/// `drain(port)`: writes as many records as fit and returns their number. Returns 0 if no item is left. After that, the next item wakes
/// JavaScript.
pub unsafe fn drain(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let state = &mut *port.state.borrow_mut();
    state.records.clear();
    port.wake.clear();
    // Checks this before reading the items. If the plugin has closed by now, the loop below reads all of its items. The `Closed` record
    // then comes last.
    let close_pending = port.is_close_pending();
    let mut more = true;
    loop {
        while let Some(item) = state.items.pop_front() {
            if !fits(&item, &state.records) {
                state.items.push_front(item);
                return env.number(state.records.written() as f64);
            }
            put(port, state, item);
        }
        if !more {
            break;
        }
        let mut batch = std::mem::take(&mut state.batch);
        more = port.plugin.read(&mut batch, BATCH_MAX);
        state.items.extend(batch.drain(..));
        state.items.extend(port.answered.borrow_mut().drain(..).map(|(tag, outcome)| Item::Answer { tag, outcome }));
        state.batch = batch;
    }
    for id in port.loans.returned(state.records.room().saturating_sub(1)) {
        state.records.plain(Head { kind: Kind::LoanReturned, id, status: 0.0 }, 0.0);
    }
    if close_pending && state.records.room() > 0 {
        port.deliver_close();
        state.records.plain(Head { kind: Kind::Closed, id: 0, status: 0.0 }, 0.0);
    }
    if port.is_close_delivered() && port.loans.are_all_read() {
        // No further item can come. Ending the wake lets JavaScript collect the port: Node keeps the wake's function, which keeps the port.
        port.wake.end(true);
    }
    env.number(state.records.written() as f64)
}

/// Returns whether an item's records and text fit. Always returns true for the first item of a drain.
fn fits(item: &Item, records: &Scratch) -> bool {
    let (attached, text) = match item {
        Item::Answer { outcome: Ok(kept), .. } => (kept.attachments.len(), 0),
        Item::Answer { outcome: Err(failure), .. } => (0, failure.text.len()),
        Item::Event { content, .. } => (content.attachments.len(), 0),
        Item::End { failure, .. } => (0, failure.as_ref().map_or(0, |failure| failure.text.len())),
        Item::Message(incoming) => (incoming.content.attachments.len(), incoming.channel.len()),
        Item::Log { text, .. } => (0, text.len()),
    };
    // An item may need two records: a `Dropped` record and the item's own. The first item passes without a check, so that a text that is
    // longer than the whole body does not block the queue. `Scratch` cuts such a text.
    records.written() == 0 || (records.room() >= 2 + attached && records.left() >= SMALL_MAX + text)
}

fn put(port: &Port, state: &mut State, item: Item) {
    let State { records, held, .. } = state;
    let owners = MemoryOwners { held, loans: &port.loans };
    match item {
        Item::Answer { tag, outcome } => {
            port.calls.borrow_mut().remove(&tag);
            put_outcome(records, tag, outcome, owners);
        }
        Item::Event { tag, dropped, content, .. } => {
            put_dropped(records, tag, dropped);
            records.content(Head { kind: Kind::Event, id: tag, status: 0.0 }, "", content, owners);
        }
        Item::End { tag, dropped, failure, .. } => {
            port.streams.borrow_mut().remove(&tag);
            put_dropped(records, tag, dropped);
            let Failure { status, text } = failure.unwrap_or(Failure { status: 0, text: String::new() });
            records.text(Head { kind: Kind::End, id: tag, status: status.into() }, &text);
        }
        Item::Message(Incoming { channel, content, reply }) => {
            records.content(Head { kind: Kind::Message, id: reply, status: 0.0 }, &channel, content, owners);
        }
        Item::Log { level, text } => records.text(Head { kind: Kind::Log, id: 0, status: level.into() }, &text),
    }
}

fn put_dropped(records: &mut Scratch, tag: u64, count: u64) {
    if count > 0 {
        records.plain(Head { kind: Kind::Dropped, id: tag, status: 0.0 }, count as f64);
    }
}

struct Function(sys::napi_threadsafe_function);

// SAFETY: Node's thread-safe functions may be called from any thread.
unsafe impl Send for Function {}

/// Calls a JavaScript function on its own thread, from any thread.
pub struct Wake {
    // A thread holds the lock while it calls the function, so no thread calls the function after its release.
    function: Mutex<Option<Function>>,
    /// Whether a wake is in flight. The waking thread sets this flag. The reader clears it before it reads items.
    in_flight: AtomicBool,
}

impl Wake {
    /// Wraps `callback`, which runs on the thread of `env`. The wake does not keep that thread's event loop running; `set_keeps_alive`
    /// changes that. Returns `None` if `callback` is not a function.
    pub fn new(env: Env, callback: Value) -> Option<Wake> {
        let mut function = null_mut();
        let name = env.text("clearway plugin");
        // SAFETY: `callback` and `name` are values of this thread. The queue has no limit, one holder owns the function, and there is no
        // finalizer.
        let status = unsafe {
            sys::napi_create_threadsafe_function(
                env.0,
                callback,
                null_mut(),
                name,
                0,
                1,
                null_mut(),
                None,
                null_mut(),
                None,
                &mut function,
            )
        };
        if status != sys::Status::napi_ok {
            return None;
        }
        let wake = Wake { function: Mutex::new(Some(Function(function))), in_flight: AtomicBool::new(false) };
        wake.set_keeps_alive(env, false);
        Some(wake)
    }

    /// Wakes the reader. Any thread may call this, including the plugin's threads. Never waits for JavaScript.
    pub fn wake(&self) {
        // Release: pairs with the acquire in `clear`. The reader sees all items that this thread queued before.
        if self.in_flight.swap(true, Ordering::AcqRel) {
            return;
        }
        let function = self.function.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some(Function(function)) = *function {
            let mode = sys::ThreadsafeFunctionCallMode::nonblocking;
            // SAFETY: the function is not released while this thread holds the lock.
            if unsafe { sys::napi_call_threadsafe_function(function, null_mut(), mode) } != sys::Status::napi_ok {
                // The wake failed. Clears the flag, so that the next item tries again. Release: pairs with the acquire of the next `wake`.
                self.in_flight.store(false, Ordering::Release);
            }
        }
    }

    /// Clears the flag of the wake in flight. The reader calls this before it reads. Later items then wake the reader again.
    pub fn clear(&self) {
        // Acquire: pairs with the release in `wake`. The reader sees all items that were queued before the wake.
        self.in_flight.swap(false, Ordering::AcqRel);
    }

    /// Sets whether this wake keeps the event loop running.
    pub fn set_keeps_alive(&self, env: Env, keep: bool) {
        let function = self.function.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some(Function(function)) = *function {
            // SAFETY: the function is not released while this thread holds the lock. The caller is on the thread of `env`.
            unsafe {
                if keep {
                    sys::napi_ref_threadsafe_function(env.0, function);
                } else {
                    sys::napi_unref_threadsafe_function(env.0, function);
                }
            }
        }
    }

    /// Ends all wakes: later calls of `wake` do nothing. `release` is true if the JavaScript thread continues. If that thread ends, Node
    /// itself releases the function.
    pub fn end(&self, release: bool) {
        let function = self.function.lock().unwrap_or_else(|broken| broken.into_inner()).take();
        if let (Some(Function(function)), true) = (function, release) {
            // SAFETY: this is the function's only holder, and no thread can call the function any more.
            unsafe { sys::napi_release_threadsafe_function(function, sys::ThreadsafeFunctionReleaseMode::abort) };
        }
    }
}
