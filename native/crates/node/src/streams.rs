// SPDX-License-Identifier: MIT OR Apache-2.0
//! The addon's functions for streams of events. JavaScript gives credit, and receives no more events than the credit allows.

use std::ptr::null_mut;

use clearway_core::{WhenFull, Window};
use clearway_sys::{CLEARWAY_INVALID_ARGUMENT, CLEARWAY_STALE};
use napi_sys as sys;

use crate::calls::{Shared, given};
use crate::js::{Env, Value};
use crate::port;

/// `listen(port, channel, stream, items, bytes, policy, credit, arguments)`: listens to a channel's events. The records of the stream have
/// the number `stream`. `items` and `bytes` limit the events that wait, and `policy` is one of `CLEARWAY_WHEN_FULL_...`. Returns a status.
pub unsafe fn listen(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, channel, tag, items, bytes, policy, credit, arguments], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let numbers = (env.as_u64(tag), env.as_u64(items), env.as_u64(bytes), env.as_u64(policy), env.as_u64(credit));
    let (Some(channel), (Some(tag), Some(items), Some(bytes), Some(policy), Some(credit))) =
        (env.as_text(channel), numbers)
    else {
        return env.number(CLEARWAY_INVALID_ARGUMENT.into());
    };
    let when_full = match policy {
        0 => WhenFull::Wait,
        1 => WhenFull::Fail,
        2 => WhenFull::DropOldest,
        _ => WhenFull::DropNewest,
    };
    let window = Window { items: items as usize, bytes: bytes as usize, when_full, credit };
    let listened = port.plugin.existing_channel(&channel).and_then(|channel| {
        given(env, arguments, None, Shared::Copy, |given| port.plugin.listen(&channel, given, window, tag))
    });
    let status = match listened {
        Ok(stream) => {
            port.streams.borrow_mut().insert(tag, stream);
            0
        }
        Err(status) => status,
    };
    env.number(status.into())
}

/// `grant(port, stream, items)`: allows JavaScript to receive `items` more events. Returns a status.
pub unsafe fn grant(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, tag, items], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let (Some(tag), Some(items)) = (env.as_u64(tag), env.as_u64(items)) else {
        return env.throw("invalid-argument", "stream and items must be whole numbers");
    };
    let stream = port.streams.borrow().get(&tag).copied();
    let status = stream.map_or(CLEARWAY_STALE, |stream| port.plugin.credit(stream, items).err().unwrap_or(0));
    env.number(status.into())
}

/// `unlisten(port, stream)`: cancels the stream and drops its waiting events. Returns a status.
pub unsafe fn unlisten(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, tag], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let stream = env.as_u64(tag).and_then(|tag| port.streams.borrow_mut().remove(&tag));
    let status = stream.map_or(CLEARWAY_STALE, |stream| port.plugin.cancel(stream).err().unwrap_or(0));
    env.number(status.into())
}
