// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wakes the JavaScript thread, once for many: who comes while a wake is under way leaves it at that.

use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use napi_sys as sys;

use crate::js::{Env, Value};

struct Function(sys::napi_threadsafe_function);

// SAFETY: Node made it to be called from any thread.
unsafe impl Send for Function {}

pub struct Wake {
    // Under the lock while it is called, so that it is not called once it was let go.
    function: Mutex<Option<Function>>,
    /// A wake is under way; set by who wakes, cleared by the reader before it looks.
    under_way: AtomicBool,
}

impl Wake {
    /// Calls `callback` on its own thread. Does not keep the process running, until `hold` says so.
    pub fn new(env: Env, callback: Value) -> Option<Wake> {
        let mut function = null_mut();
        let name = env.text("clearway plugin");
        // SAFETY: a function and a string of this thread; no queue limit, one holder, nothing to finalize.
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

    /// From any thread, also from under the plugin's feet: never waits for JavaScript.
    pub fn wake(&self) {
        // Release: pairs with the acquire in `seen`; what was queued before is seen by that reader.
        if self.under_way.swap(true, Ordering::AcqRel) {
            return;
        }
        let function = self.function.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some(Function(function)) = *function {
            // SAFETY: it is there while it stands under the lock.
            unsafe {
                sys::napi_call_threadsafe_function(function, null_mut(), sys::ThreadsafeFunctionCallMode::nonblocking);
            }
        }
    }

    /// The reader looks now: what comes after this wakes again.
    pub fn seen(&self) {
        self.under_way.swap(false, Ordering::AcqRel);
    }

    /// Whether waiting for a wake keeps the event loop running.
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

    /// From now on nobody is woken. `release` where the thread goes on: a thread that ends does it by itself.
    pub fn end(&self, release: bool) {
        let function = self.function.lock().unwrap_or_else(|broken| broken.into_inner()).take();
        if let (Some(Function(function)), true) = (function, release) {
            // SAFETY: its one holder gives it up; nobody can call it any more.
            unsafe { sys::napi_release_threadsafe_function(function, sys::ThreadsafeFunctionReleaseMode::abort) };
        }
    }
}
