// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clearway's binding to Node, behind ts/clearway-native: what JavaScript cannot do, and nothing more. Its functions are
//! described where they are used, in ts/clearway-native/src/addon.ts.
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
mod lent;
mod lines;
mod memories;
mod port;
mod scratch;
mod shared;
mod streams;
mod view;
mod wake;

use std::rc::Rc;

use napi_sys as sys;

use crate::js::{Callback, Env, Value};
use crate::lines::Lines;

/// Called by Node once in each thread that loads the addon.
///
/// # Safety
/// By Node alone, on the thread of `env`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn napi_register_module_v1(env: sys::napi_env, exports: Value) -> Value {
    let env = Env(env);
    let functions: &[(&str, Callback)] = &[
        ("features", features),
        ("open", port::open),
        ("close", port::close),
        ("hold", port::hold),
        ("stats", port::stats),
        ("direct", calls::direct),
        ("send", calls::send),
        ("cancel", calls::cancel),
        ("answer", calls::answer),
        ("listen", streams::listen),
        ("grant", streams::grant),
        ("unlisten", streams::unlisten),
        ("drain", drain::drain),
        ("allocate", memories::allocate),
        ("lend", memories::lend),
        ("size", memories::size),
        ("view", memories::view),
        ("release", memories::release),
        ("adjust", memories::adjust),
    ];
    for (name, callback) in functions {
        env.set(exports, name, env.function(name, *callback, std::ptr::null_mut()));
    }
    let lines = Rc::new(Lines::default());
    env.set(exports, "call", env.function("call", calls::call, Rc::as_ptr(&lines).cast_mut().cast()));
    env.keep_instance(lines);
    shared::learn(env.module_version());
    exports
}

/// The Node-API version that the addon asks for: external buffers, detaching, threads and tags are all in it.
#[unsafe(no_mangle)]
pub extern "C" fn node_api_module_get_api_version_v1() -> i32 {
    8
}

/// `features()`.
unsafe extern "C" fn features(env: sys::napi_env, _: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let features = shared::features();
    let mapping = match features.mapping {
        shared::Mapping::NodeApi(_) => "node-api",
        shared::Mapping::V8 => "v8",
        shared::Mapping::None => "none",
    };
    env.object(&[("mapping", env.text(mapping)), ("keeps", env.boolean(features.keeps))])
}
