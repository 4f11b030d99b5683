// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clearway's binding to Node, for ts/clearway-native. It contains only operations that JavaScript cannot do.
//! ts/clearway-native/src/addon.ts declares and documents the functions.
//!
//! The modules use these words:
//! - The *core* is the crate `clearway-core`, Clearway's native library.
//! - A *port* is one plugin instance of one JavaScript thread.
//! - A *line* is a prepared path to the handler of one channel, for direct calls.
//! - An *item* is an answer, event, end of a stream, message or log line that the core has for the host.
//! - A *record* is an item in the form that JavaScript reads. To *drain* is to write the waiting items as records.
//!
//! ```text
//!  JavaScript's thread                                   the plugin's threads
//!  ┌──────────────────────────────────────────┐          ┌──────────────────────────┐
//!  │ call()     the handler runs here, now    │          │ pool, serial queues      │
//!  │ send() ────────────── core's queues ───────────────▶│                          │
//!  │ drain() ◀───────────── core's inbox ────────────────│ reply, emit, send, log   │
//!  │   ▲ once, when the inbox was empty: Wake │          │                          │
//!  └──────────────────────────────────────────┘          └──────────────────────────┘
//! ```

mod calls;
mod drain;
mod js;
mod memories;
mod port;
mod scratch;
mod shared;
mod streams;

use std::rc::Rc;

use napi_sys as sys;

use crate::calls::Lines;
use crate::js::{Callback, Env, Value};
use crate::port::Port;

/// Wraps a function for Node. Turns a panic of the function into a JavaScript error. A panic that reached Node would end the process.
macro_rules! guarded {
    ($function:path) => {{
        unsafe extern "C" fn run(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
            // SAFETY: Node calls this on the thread of `env`.
            Env(env).guarded(|| unsafe { $function(env, info) })
        }
        run
    }};
}

/// Registers the addon's functions. Node calls this once on each thread that loads the addon.
///
/// # Safety
/// Only Node may call this, on the thread of `env`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn napi_register_module_v1(env: sys::napi_env, exports: Value) -> Value {
    let env = Env(env);
    let functions: &[(&str, Callback)] = &[
        ("features", guarded!(features)),
        ("open", guarded!(port::open)),
        ("close", guarded!(port::close)),
        ("setKeepsAlive", guarded!(port::set_keeps_alive)),
        ("stats", guarded!(port::stats)),
        ("prepareLine", guarded!(calls::prepare_line)),
        ("send", guarded!(calls::send)),
        ("cancel", guarded!(calls::cancel)),
        ("answer", guarded!(calls::answer)),
        ("listen", guarded!(streams::listen)),
        ("grant", guarded!(streams::grant)),
        ("unlisten", guarded!(streams::unlisten)),
        ("drain", guarded!(drain::drain)),
        ("allocate", guarded!(memories::allocate)),
        ("lend", guarded!(memories::lend)),
        ("size", guarded!(memories::size)),
        ("isSealed", guarded!(memories::is_sealed)),
        ("view", guarded!(memories::view)),
        ("release", guarded!(memories::release)),
        ("adjust", guarded!(memories::adjust)),
    ];
    for (name, callback) in functions {
        env.set(exports, name, env.function(name, *callback, std::ptr::null_mut()));
    }
    let lines = Rc::new(Lines::<Port>::default());
    env.set(exports, "call", env.function("call", guarded!(calls::call), Rc::as_ptr(&lines).cast_mut().cast()));
    env.keep_instance(lines);
    shared::detect(env.module_version());
    exports
}

/// Returns the Node-API version that the addon requests. Version 8 has external buffers, detaching of buffers, thread-safe functions and
/// type tags.
#[unsafe(no_mangle)]
pub extern "C" fn node_api_module_get_api_version_v1() -> i32 {
    8
}

/// `features()`: returns an object with the features of this Node: `mapping` and `keeps`.
unsafe fn features(env: sys::napi_env, _: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let features = shared::features();
    let mapping = match features.mapping {
        shared::Mapping::NodeApi(_) => "node-api",
        shared::Mapping::V8 => "v8",
        shared::Mapping::None => "none",
    };
    env.object(&[("mapping", env.text(mapping)), ("keeps", env.boolean(features.keeps))])
}
