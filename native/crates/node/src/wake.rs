// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wakes the JavaScript thread, once for many items. A wake in flight covers later items.

use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use napi_sys as sys;

use crate::js::{Env, Value};

struct Function(sys::napi_threadsafe_function);

// SAFETY: Node made the function for calls from any thread.
unsafe impl Send for Function {}

pub struct Wake {
    // Locked during a call, so that the function is never called after its release.
    function: Mutex<Option<Function>>,
    /// Whether a wake is in flight. The waking thread sets it. The reader clears it before it reads.
    under_way: AtomicBool,
}

impl Wake {
    /// Wraps `callback`, which runs on its own JavaScript thread. The wake keeps the event loop running only after `hold`.
    pub fn new(env: Env, callback: Value) -> Option<Wake> {
        let mut function = null_mut();
        let name = env.text("clearway plugin");
        // SAFETY: a function and a string of this thread, no queue limit, one holder, no finalizer.
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
        let wake = Wake { function: Mutex::new(Some(Function(function))), under_way: AtomicBool::new(false) };
        wake.hold(env, false);
        Some(wake)
    }

    /// Wakes the reader, from any thread, plugin threads included. Never waits for JavaScript.
    pub fn wake(&self) {
        // Release: pairs with the acquire in `seen`. The reader sees everything that was queued before.
        if self.under_way.swap(true, Ordering::AcqRel) {
            return;
        }
        let function = self.function.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some(Function(function)) = *function {
            let mode = sys::ThreadsafeFunctionCallMode::nonblocking;
            // SAFETY: the function is alive while this thread holds the lock.
            if unsafe { sys::napi_call_threadsafe_function(function, null_mut(), mode) } != sys::Status::napi_ok {
                // The wake failed: clears the mark, so that the next item tries again.
                self.under_way.store(false, Ordering::Release);
            }
        }
    }

    /// Clears the wake in flight, before the reader reads. Later items then wake again.
    pub fn seen(&self) {
        self.under_way.swap(false, Ordering::AcqRel);
    }

    /// Sets whether this wake keeps the event loop running.
    pub fn hold(&self, env: Env, keep: bool) {
        let function = self.function.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some(Function(function)) = *function {
            // SAFETY: as in `wake`, and on the thread of `env`.
            unsafe {
                if keep {
                    sys::napi_ref_threadsafe_function(env.0, function);
                } else {
                    sys::napi_unref_threadsafe_function(env.0, function);
                }
            }
        }
    }

    /// Ends all wakes. A continuing thread passes `release`. For an ending thread, Node releases the function.
    pub fn end(&self, release: bool) {
        let function = self.function.lock().unwrap_or_else(|broken| broken.into_inner()).take();
        if let (Some(Function(function)), true) = (function, release) {
            // SAFETY: the one holder releases the function. No thread can call it any more.
            unsafe { sys::napi_release_threadsafe_function(function, sys::ThreadsafeFunctionReleaseMode::abort) };
        }
    }
}
