// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wakes the JavaScript thread when there are items to read. One wake serves all items that arrive until JavaScript reads.

use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use napi_sys as sys;

use crate::js::{Env, Value};

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
