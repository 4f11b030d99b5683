// SPDX-License-Identifier: MIT OR Apache-2.0
//! The addon's functions that send messages to the plugin, and those that answer the plugin's messages.
//!
//! A line is a prepared path to the handler of one channel. JavaScript calls all lines by one native function, `call`, with the line's number.
//! V8 calls a native function 20 ns faster from a call site that has called no other function. With a separate function for each channel, the
//! call site would be slower.

use std::cell::RefCell;
use std::ptr::{NonNull, null_mut};
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicU8, Ordering};

use clearway_core::{Direct, Failure, Given, Line, Memory, Outcome, Sent};
use clearway_sys::{CLEARWAY_INVALID_ARGUMENT, CLEARWAY_MEMORY_LENT, CLEARWAY_MEMORY_SHARED, CLEARWAY_OK, Content};
use napi_sys as sys;

use crate::js::{Bytes, Env, Value};
use crate::port;
use crate::port::Port;
use crate::scratch::{Head, Kind, MemoryOwners, Scratch};
use crate::shared::KeptBuffer;

/// The value that `call` returns after it wrote the answer to the first answer record. The answer records are the entries of the scratch
/// arrays from which JavaScript reads answers.
const WRITTEN: i32 = 1;

/// The value that `call` returns if the handler did not answer during the call. A status in an answer record could not say this, because a
/// plugin may define any status.
const NOT_DIRECT: i32 = 2;

/// The value that `call` returns if the handler has a queue. It was not called.
const QUEUED: i32 = 3;

/// Runs `use_it` with content from JavaScript. `value` is undefined for the null message, a `Uint8Array`, or a memory's number. `attached`
/// is a `Float64Array` with the numbers of the attached memories. Returns `CLEARWAY_INVALID_ARGUMENT` for other values.
#[inline]
pub fn given<R>(
    env: Env,
    value: Value,
    attached: Option<Value>,
    shared: Shared,
    use_it: impl FnOnce(&Given<'_>) -> Result<R, i32>,
) -> Result<R, i32> {
    let mut kept = Kept::Nothing;
    let content = content(env, value, shared, &mut kept)?;
    // SAFETY: JavaScript can invalidate the view only after this function has returned. `kept` lives as long. The core checks the handles.
    let given = unsafe { Given::raw(content) };
    match attached {
        None => use_it(&given),
        Some(numbers) => use_it(&given.with(&handles(env, numbers)?)),
    }
}

/// What `given` does with a view of a `SharedArrayBuffer`. Another thread may write to such bytes at any time, but a direct handler may rely
/// on bytes that are not in a memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// Passes the bytes as a memory, which tells the handler that they may change. The handler may write to them.
    Lend,
    /// Copies the bytes.
    Copy,
}

/// What must outlive the use of a content.
enum Kept {
    Nothing,
    Copy(#[expect(dead_code, reason = "only kept")] Vec<u8>),
    Lent(#[expect(dead_code, reason = "only kept")] Memory),
}

#[inline]
fn content(env: Env, value: Value, shared: Shared, kept: &mut Kept) -> Result<Content, i32> {
    if let Some(bytes) = env.as_bytes(value) {
        if bytes.size > 0 && !env.is_array_buffer(bytes.buffer) {
            return shared_content(env, bytes, shared, kept);
        }
        // An empty view may have a null address. Content with a null address would be the null message, so the view gets another address.
        let data = if bytes.data.is_null() { NonNull::dangling().as_ptr() } else { bytes.data };
        return Ok(Content { data, size: bytes.size, ..Content::NULL });
    }
    if env.is_undefined(value) {
        return Ok(Content::NULL);
    }
    let memory = env.as_u64(value).filter(|memory| *memory != 0).ok_or(CLEARWAY_INVALID_ARGUMENT)?;
    Ok(Content { memory, ..Content::NULL })
}

/// Returns content with the bytes of a `SharedArrayBuffer`. Lends them if `shared` says so and this Node can keep the buffer's memory.
#[cold]
fn shared_content(env: Env, bytes: Bytes, shared: Shared, kept: &mut Kept) -> Result<Content, i32> {
    let owner = (shared == Shared::Lend).then(|| KeptBuffer::of(env, bytes.buffer)).flatten();
    if let Some(owner) = owner {
        let flags = CLEARWAY_MEMORY_LENT | CLEARWAY_MEMORY_SHARED;
        // SAFETY: V8 keeps the bytes until `owner` is dropped. The flag `SHARED` says that JavaScript may write to them.
        let memory = unsafe { Memory::owned(bytes.data, bytes.size, flags, || Box::new(owner)) }?;
        let content = Content::of_memory(memory.handle());
        *kept = Kept::Lent(memory);
        return Ok(content);
    }
    // SAFETY: the view's buffer keeps the bytes valid, because no JavaScript runs on this thread. Each byte is read atomically.
    let cells = unsafe { std::slice::from_raw_parts(bytes.data.cast::<AtomicU8>(), bytes.size) };
    let copy: Vec<u8> = cells.iter().map(|cell| cell.load(Ordering::Relaxed)).collect();
    let content = Content::of(&copy);
    *kept = Kept::Copy(copy); // the bytes of a `Vec` stay in their place when it moves
    Ok(content)
}

fn handles(env: Env, numbers: Value) -> Result<Vec<u64>, i32> {
    let (numbers, count) = env.as_doubles(numbers).ok_or(CLEARWAY_INVALID_ARGUMENT)?;
    // SAFETY: the array has `count` numbers. No JavaScript runs during this function.
    Ok((0..count).map(|at| unsafe { numbers.add(at).read_unaligned() } as u64).collect())
}

/// `prepareLine(port, channel)`: makes a line (a prepared path to the channel's handler) and returns the line's number. `call` takes that
/// number.
pub unsafe fn prepare_line(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, channel], _) = env.arguments(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    match env.as_text(channel).and_then(|name| Line::new(&port.plugin, &name).ok()) {
        Some(line) => env.number(port.lines.put(line, port) as f64),
        None => env.throw("invalid-argument", "channel must be a text of 1 to 256 bytes"),
    }
}

/// `call(line, payload?, attached?, keeps?)`: calls the channel's handler on this thread. Returns undefined if the answer is null.
/// Otherwise writes the answer to the answer records and returns 1. Returns 2 if the handler has a queue, and was not called, or if it
/// did not answer during the call. With four arguments, `payload` is the number of a memory to which JavaScript keeps its reference. In this
/// case, `call` returns the argument `keeps` if the answer is all of that memory.
pub unsafe fn call(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([number, payload, attached, keeps], count, data) = env.counted(info);
    // SAFETY: `napi_register_module_v1` passed a `Lines<Port>` as this function's data. The instance of the addon keeps it alive.
    let lines = unsafe { &*data.cast::<Lines<Port>>() };
    let number = env.as_index(number);
    let Some(mut line) = lines.take(number) else {
        return env.throw("invalid-argument", "no line of that number, or the handler calls itself");
    };
    let attached = (count > 2).then_some(attached);
    let mut more = None;
    let sent = match count {
        1 => line.call(&Given::null(), 0, &mut more),
        // JavaScript keeps its reference to this memory. The handler may answer with the memory itself.
        4 => match env.as_u64(payload) {
            Some(memory) => line.lend(memory, 0, &mut more),
            None => Err(CLEARWAY_INVALID_ARGUMENT),
        },
        _ => given(env, payload, attached, Shared::Lend, |given| line.call(given, 0, &mut more)),
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

/// Writes the result of a direct call to the answer records and returns 1. Returns 2 if the handler did not answer during the call, 3 if the
/// handler has a queue and did not run, and undefined if there is no result to write.
fn written(env: Env, lines: &Lines<Port>, number: usize, sent: Result<Direct, i32>, more: Option<Sent>) -> Value {
    let Some(port) = lines.port(number) else { return null_mut() };
    let outcome = match (sent, more) {
        (Ok(Direct::Queued), _) => return env.small(QUEUED),
        (Ok(_), Some(Sent::Answered(outcome))) => outcome,
        (Ok(_), Some(Sent::Pending(call))) => {
            // The late answer will have the tag 0. JavaScript's call numbers begin at 1, so JavaScript ignores that answer.
            port.plugin.give_up(call);
            return env.small(NOT_DIRECT);
        }
        (Ok(_), _) => return null_mut(),
        (Err(status), _) => refused(status),
    };
    let state = &mut *port.state.borrow_mut();
    state.answer.clear();
    put_outcome(&mut state.answer, 0, outcome, MemoryOwners { held: &mut state.held, loans: &port.loans });
    env.small(WRITTEN)
}

/// Writes the record of an answer.
pub fn put_outcome(to: &mut Scratch, id: u64, outcome: Outcome, owners: MemoryOwners<'_>) {
    let kind = Kind::Reply;
    match outcome {
        Ok(kept) => to.content(Head { kind, id, status: 0.0 }, "", kept, owners),
        Err(Failure { status, text }) => to.text(Head { kind, id, status: status.into() }, &text),
    }
}

/// `send(port, channel, call, payload, attached?)`: sends a message. The answer's record will have the number `call`. Returns a status.
pub unsafe fn send(env: sys::napi_env, info: sys::napi_callback_info) -> Value {
    let env = Env(env);
    let ([port, channel, call, payload, attached], count, _) = env.counted(info);
    let Some(port) = port::of(env, port) else { return null_mut() };
    let (Some(channel), Some(tag)) = (env.as_text(channel), env.as_u64(call)) else {
        return env.number(CLEARWAY_INVALID_ARGUMENT.into());
    };
    let sent = port.plugin.existing_channel(&channel).and_then(|channel| {
        let attached = (count > 4).then_some(attached);
        given(env, payload, attached, Shared::Copy, |given| port.plugin.send(&channel, given, tag, true))
    });
    let status = match sent {
        Ok(Sent::Pending(call)) => {
            port.calls.borrow_mut().insert(tag, call);
            CLEARWAY_OK
        }
        Ok(Sent::Answered(outcome)) => {
            // A direct handler answered on this thread. JavaScript reads the answer in a later turn, as it reads all other answers.
            port.answered.borrow_mut().push_back((tag, outcome));
            port.wake.wake();
            CLEARWAY_OK
        }
        Ok(Sent::Taken) => CLEARWAY_OK,
        Err(status) => status,
    };
    env.number(status.into())
}

/// `cancel(port, call)`: gives a pending call up. Does nothing if JavaScript has read the answer.
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
    if port::of(env, port).is_none() {
        return null_mut();
    }
    let (Some(reply), Some(status)) = (env.as_u64(reply), env.as_u64(status)) else {
        return env.number(CLEARWAY_INVALID_ARGUMENT.into());
    };
    let answered = match status as i32 {
        CLEARWAY_OK => {
            let attached = (count > 4).then_some(attached);
            given(env, payload, attached, Shared::Copy, |given| clearway_core::reply(reply, Ok(given)))
        }
        status => {
            let text = env.as_text(payload).unwrap_or_default();
            clearway_core::reply(reply, Err(Failure { status, text }))
        }
    };
    env.number(answered.err().unwrap_or(CLEARWAY_OK).into())
}

/// Lines, each with its owner of type `O`. The addon uses `Port` as the owner.
pub struct Lines<O>(RefCell<Vec<Place<O>>>);

struct Place<O> {
    /// `None` during a call, because `take` takes the line out. If the handler calls the same line again, `take` finds no line.
    line: Option<Line>,
    /// The line's owner. `None` if the place is free.
    port: Option<Weak<O>>,
}

impl<O> Default for Lines<O> {
    fn default() -> Self {
        Lines(RefCell::default())
    }
}

impl<O> Lines<O> {
    /// Adds a line and returns its number. The line is kept until `forget` is called for its port.
    pub fn put(&self, line: Line, port: &Rc<O>) -> usize {
        let mut places = self.0.borrow_mut();
        let place = Place { line: Some(line), port: Some(Rc::downgrade(port)) };
        match places.iter().position(|place| place.port.is_none()) {
            Some(free) => {
                places[free] = place;
                free
            }
            None => {
                places.push(place);
                places.len() - 1
            }
        }
    }

    /// Takes the line out for a call. The caller must put the line back afterwards. Returns `None` if no line has that number, or if the
    /// line is in a call.
    #[inline]
    pub fn take(&self, number: usize) -> Option<Line> {
        self.0.borrow_mut().get_mut(number)?.line.take()
    }

    /// Puts a line back after a call. Drops the line if its port was dropped during the call.
    #[inline]
    pub fn put_back(&self, number: usize, line: Line) {
        let mut places = self.0.borrow_mut();
        match places.get_mut(number) {
            Some(place) if place.port.is_some() => place.line = Some(line),
            _ => {}
        }
    }

    /// Returns the line's port. Returns `None` if the port was dropped.
    pub fn port(&self, number: usize) -> Option<Rc<O>> {
        self.0.borrow().get(number)?.port.as_ref()?.upgrade()
    }

    /// Drops a port's lines and frees their places. The drop of the port calls this.
    pub fn forget(&self, port: *const O) {
        let mut gone = Vec::new(); // drops the lines after the loop, when `self.0` is no longer borrowed
        for place in self.0.borrow_mut().iter_mut() {
            if place.port.as_ref().is_some_and(|owner| owner.as_ptr() == port) {
                gone.extend(place.line.take());
                place.port = None;
            }
        }
    }
}
