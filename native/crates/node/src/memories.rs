// SPDX-License-Identifier: MIT OR Apache-2.0
//! The addon's functions for memory. JavaScript names a memory by the core's handle of its reference.

use std::ptr::null_mut;

use clearway_core::{BYTES_MAX, Memory};
use clearway_sys::{CLEARWAY_MEMORY_SEALED, CLEARWAY_STALE};
use napi_sys as sys;

use crate::js::{Env, Value};
use crate::port;
use crate::view::Held;

/// `allocate(port, size)`: allocates `size` bytes. Returns a handle, or on failure the negated status.
pub unsafe fn allocate(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, size], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let Some(size) = env.as_u64(size) else { return env.throw("invalid-argument", "size must be a whole number") };
    match Memory::allocate(size as usize, 0) {
        Ok(memory) => env.number(Held::insert(memory, &mut port.state.borrow_mut().held) as f64),
        Err(status) => env.number(-f64::from(status)),
    }
}

/// `lend(port, bytes, id)`: lends the memory of a `Uint8Array` to native code. Returns a handle, or on failure the negated status. Returns 0
/// if this Node cannot keep JavaScript's memory, or if JavaScript can shrink the buffer.
pub unsafe fn lend(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, bytes, id], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let (Some(bytes), Some(id)) = (env.as_bytes(bytes), env.as_u64(id)) else {
        return env.throw("invalid-argument", "bytes must be a Uint8Array, and id a whole number");
    };
    match port.loans.lend(env, bytes, id) {
        Some(Ok(memory)) => env.number(Held::insert(memory, &mut port.state.borrow_mut().held) as f64),
        Some(Err(status)) => env.number(-f64::from(status)),
        None => env.number(0.0),
    }
}

/// `size(port, handle)`: returns the size in bytes, or -1 if the memory was released.
pub unsafe fn size(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, handle], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let handle = env.as_u64(handle).unwrap_or(0);
    let size = port.state.borrow_mut().held.get(&handle).map_or(-1.0, |held| held.memory.size() as f64);
    env.number(size)
}

/// `isSealed(port, handle)`: returns whether a holder has sealed the memory. Returns false if the memory was released.
pub unsafe fn is_sealed(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, handle], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let handle = env.as_u64(handle).unwrap_or(0);
    let sealed = |held: &Held| held.memory.flags() & CLEARWAY_MEMORY_SEALED != 0;
    env.boolean(port.state.borrow().held.get(&handle).is_some_and(sealed))
}

/// `view(port, handle, kind)`: returns a buffer over the memory, or a copy if `kind` is neither `shared` nor `detachable`. Returns undefined
/// if the runtime has no buffers of that kind, if JavaScript itself has lent the memory, or if the memory was released.
pub unsafe fn view(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, handle, kind], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let (Some(handle), Some(kind)) = (env.as_u64(handle), env.as_text(kind)) else { return env.undefined() };
    let mut state = port.state.borrow_mut();
    let Some(held) = state.held.get_mut(&handle) else { return env.undefined() };
    let buffer = match kind.as_str() {
        "shared" => held.share(env),
        "detachable" => held.expose(env),
        _ => Some(held.copy(env)),
    };
    buffer.unwrap_or_else(|| env.undefined())
}

/// `release(port, handle, buffer?)`: releases JavaScript's reference. Detaches `buffer` if it is an ArrayBuffer. Returns a status.
pub unsafe fn release(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, handle, buffer], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let taken = env.as_u64(handle).and_then(|handle| port.state.borrow_mut().held.remove(&handle));
    let status = match taken {
        Some(held) => {
            held.release(env, env.is_array_buffer(buffer).then_some(buffer));
            0
        }
        None => CLEARWAY_STALE,
    };
    env.number(status.into())
}

/// `adjust(port, bytes)`: reports to the garbage collector that memory outside of its heap has grown or shrunk by `bytes`.
pub unsafe fn adjust(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([_, bytes], _) = env.arguments(info);
    let bytes = env.as_f64(bytes).unwrap_or(f64::NAN);
    if bytes.is_nan() || bytes.abs() > BYTES_MAX as f64 {
        return env.throw("invalid-argument", "bytes must be a number, and of one memory"); // V8 ends the process if the change is larger
    }
    env.adjust_external(bytes as i64);
    env.undefined()
}
