// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages to the plugin, and answers to the plugin's messages.

use std::ptr::{NonNull, null_mut};

use clearway_core::{Direct, Failure, Given, Line, Outcome, Sent};
use clearway_sys::{CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, Content};
use napi_sys as sys;

use crate::js::{Env, Value};
use crate::lines::Lines;
use crate::port::{self, Port};
use crate::scratch::{Head, Homes, Kind, Scratch};

/// The addon's own status for a handler that did not answer during `call`.
const NOT_DIRECT: i32 = -1;

/// The result of a direct call that wrote its answer to the first record.
const WRITTEN: i32 = 1;

/// Runs `use_it` with content from JavaScript: undefined, a `Uint8Array`, or a memory's number. The attachments are a `Float64Array` of
/// memory numbers.
#[inline]
pub fn given<R>(
    env: Env,
    value: Value,
    attached: Option<Value>,
    use_it: impl FnOnce(&Given<'_>) -> Result<R, i32>,
) -> Result<R, i32> {
    let content = content(env, value)?;
    // SAFETY: JavaScript does not run before this returns, so the view stays valid. The core checks handles.
    let given = unsafe { Given::raw(content) };
    match attached {
        None => use_it(&given),
        Some(numbers) => use_it(&given.with(&handles(env, numbers)?)),
    }
}

#[inline]
fn content(env: Env, value: Value) -> Result<Content, i32> {
    if let Some(bytes) = env.as_bytes(value) {
        // An empty view may have no address. It still differs from the null message.
        let data = if bytes.data.is_null() { NonNull::dangling().as_ptr() } else { bytes.data };
        return Ok(Content { data, size: bytes.size, ..Content::NULL });
    }
    if env.is_undefined(value) {
        return Ok(Content::NULL);
    }
    let memory = env.as_u64(value).filter(|memory| *memory != 0).ok_or(CLEARWAY_INVALID_ARGUMENT)?;
    Ok(Content { memory, ..Content::NULL })
}

fn handles(env: Env, numbers: Value) -> Result<Vec<u64>, i32> {
    let (numbers, count) = env.as_doubles(numbers).ok_or(CLEARWAY_INVALID_ARGUMENT)?;
    // SAFETY: the array has `count` numbers. JavaScript does not run meanwhile.
    Ok((0..count).map(|at| unsafe { numbers.add(at).read_unaligned() } as u64).collect())
}

/// `direct(port, channel)`: returns the number of a line to the channel. `call` takes that number.
pub unsafe fn direct(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, channel], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    match env.as_text(channel).and_then(|name| Line::new(&port.plugin, &name).ok()) {
        Some(line) => env.number(port.lines.put(line, port) as f64),
        None => env.throw("invalid-argument", "channel must be a text of 1 to 256 bytes"),
    }
}

/// `call(line, payload?, attached?, keeps?)`: calls the channel's handler. Returns undefined if the answer is null, and 1 after writing
/// the answer to the records. With four arguments, `payload` is the number of a memory that JavaScript keeps, and `call` returns `keeps`
/// if the answer is that memory.
pub unsafe fn call(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([number, payload, attached, keeps], count, data) = env.counted(info);
    // SAFETY: the function's own data. This thread's instance of the addon keeps it alive.
    let lines = unsafe { &*data.cast::<Lines<Port>>() };
    let number = env.as_index(number);
    let Some(mut line) = lines.take(number) else {
        return env.throw("invalid-argument", "no line of that number, or the handler calls itself");
    };
    let attached = (count > 2).then_some(attached);
    let mut more = None;
    let sent = match count {
        1 => line.call(&Given::null(), 0, &mut more), // no payload to read
        // JavaScript keeps this memory's reference. The handler may answer with the memory itself.
        4 => match env.as_u64(payload) {
            Some(memory) => line.lend(memory, 0, &mut more),
            None => Err(CLEARWAY_INVALID_ARGUMENT),
        },
        _ => given(env, payload, attached, |given| line.call(given, 0, &mut more)),
    };
    lines.put_back(number, line);
    match (sent, more) {
        (Ok(Direct::Null), _) => null_mut(),
        (Ok(Direct::Back), _) => keeps,
        (sent, more) => written(env, lines, number, sent, more),
    }
}

#[cold]
fn refused(status: i32) -> Outcome {
    Err(Failure { status, text: String::new() })
}

/// Writes any other result of a direct call to the records. Returns undefined if there is none.
fn written(env: Env, lines: &Lines<Port>, number: usize, sent: Result<Direct, i32>, more: Option<Sent>) -> Value {
    let Some(port) = lines.port(number) else { return null_mut() };
    let outcome = match (sent, more) {
        (Ok(_), Some(Sent::Answered(outcome))) => outcome,
        (Ok(_), Some(Sent::Pending(call))) => {
            port.plugin.give_up(call); // no JavaScript call waits for the answer's tag, 0
            refused(NOT_DIRECT)
        }
        (Ok(_), _) => return null_mut(),
        (Err(status), _) => refused(status),
    };
    let state = &mut *port.state.borrow_mut();
    state.answer.clear();
    put_outcome(&mut state.answer, 0, outcome, Homes { held: &mut state.held, loans: &port.loans });
    env.small(WRITTEN)
}

/// Writes the record of an answer.
pub fn put_outcome(to: &mut Scratch, id: u64, outcome: Outcome, homes: Homes<'_>) {
    let kind = Kind::Reply;
    match outcome {
        Ok(kept) => to.content(Head { kind, id, status: 0.0 }, "", kept, homes),
        Err(Failure { status, text }) => to.text(Head { kind, id, status: status.into() }, &text),
    }
}

/// `send(port, channel, call, payload, attached?)`: returns a status.
pub unsafe fn send(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, channel, call, payload, attached], count, _) = env.counted(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let (Some(channel), Some(tag)) = (env.as_text(channel), env.as_u64(call)) else {
        return env.number(CLEARWAY_INVALID_ARGUMENT.into());
    };
    let sent = port.plugin.channel(&channel).and_then(|channel| {
        let attached = (count > 4).then_some(attached);
        given(env, payload, attached, |given| port.plugin.send(&channel, given, tag, true))
    });
    let status = match sent {
        Ok(Sent::Pending(call)) => {
            port.calls.borrow_mut().insert(tag, call);
            CLEARWAY_OK
        }
        Ok(Sent::Answered(outcome)) => {
            // JavaScript reads this answer in a later turn, like the answers of handlers on other threads.
            port.answered.borrow_mut().push_back((tag, outcome));
            port.wake.wake();
            CLEARWAY_OK
        }
        Ok(Sent::Taken) => CLEARWAY_OK,
        Err(status) => status,
    };
    env.number(status.into())
}

/// `cancel(port, call)`: gives the call up.
pub unsafe fn cancel(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, call], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    if let Some(call) = env.as_u64(call).and_then(|tag| port.calls.borrow_mut().remove(&tag)) {
        port.plugin.give_up(call);
    }
    env.undefined()
}

/// `answer(port, reply, status, payload, attached?)`: answers a message of the plugin. Returns a status.
pub unsafe fn answer(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, reply, status, payload, attached], count, _) = env.counted(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let (Some(reply), Some(status)) = (env.as_u64(reply), env.as_u64(status)) else {
        return env.number(CLEARWAY_INVALID_ARGUMENT.into());
    };
    let answered = match status as i32 {
        CLEARWAY_OK => {
            given(env, payload, (count > 4).then_some(attached), |given| port.plugin.reply(reply, Ok(given)))
        }
        status => {
            let text = env.as_text(payload).unwrap_or_default();
            port.plugin.reply(reply, Err(Failure { status, text }))
        }
    };
    env.number(answered.err().unwrap_or(CLEARWAY_OK).into())
}
