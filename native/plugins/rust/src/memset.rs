// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fills a buffer. The lab's family "memory" measures several ways to pass the buffer to native code. It compares these ways with a fill of
//! memory that only native code sees.

use clearway_codec::{Limits, Reply, Value, standard};
use clearway_sys::{
    CLEARWAY_MEMORY_SEALED, CLEARWAY_MEMORY_ZEROED, CLEARWAY_NOT_IMPLEMENTED, CLEARWAY_RUN_DIRECT, CLEARWAY_TOO_LARGE,
    Content, Status,
};

use crate::example::{Example, OnMessage, OwnedMemory, Request, all, lock, now_ns};

/// Fills `size` bytes. Foreign function interfaces call this function directly.
///
/// # Safety
///
/// `data` must be writable for `size` bytes; it may be null if `size` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_example_fill(data: *mut u8, size: usize, value: i32) {
    if size > 0 {
        // SAFETY: the caller guarantees that `data` is writable for `size` bytes.
        unsafe { data.write_bytes(value as u8, size) };
    }
}

/// Handles the method `memset([bytes, value])`, which returns the filled bytes. The message carries the bytes to the plugin, and the answer
/// carries them back.
struct ByMethod;

impl OnMessage for ByMethod {
    fn on_message(request: &Request<'_>) -> Status {
        let call = match standard::read_call(request.bytes(), Limits::DEFAULT) {
            Ok(call) => call,
            Err(error) => return request.invalid(error.code.name()),
        };
        if call.method != "memset" {
            return CLEARWAY_NOT_IMPLEMENTED;
        }
        let Value::List(args) = call.args else { return request.invalid("memset takes [bytes, value]") };
        let Ok([Value::Bytes(mut bytes), Value::Int(value)]) = <[Value; 2]>::try_from(args) else {
            return request.invalid("memset takes [bytes, value]");
        };
        bytes.fill(value as u8);
        let size = bytes.len();
        let mut answer = Vec::with_capacity(size + 8);
        if let Err(error) = standard::write_reply(&Reply::Success(Value::Bytes(bytes)), Limits::DEFAULT, &mut answer) {
            return request.invalid(error.code.name());
        }
        request.answer_bytes(&answer)
    }
}

/// Fills memory that both sides see. The message's first byte is the value. Fills the first attachment. Without attachments, fills the
/// message itself, in the memory that contains it.
struct Shared;

impl OnMessage for Shared {
    fn on_message(request: &Request<'_>) -> Status {
        let Some(&value) = request.bytes().first() else {
            return request.invalid("the message's first byte is the value");
        };
        let attachment = request.attachment();
        let view = match request.view(attachment.unwrap_or(request.message.memory)) {
            Ok(view) => view,
            Err(status) => return request.refuse(status, "no memory comes with the message"),
        };
        if view.flags & CLEARWAY_MEMORY_SEALED != 0 {
            return request.invalid("the memory is sealed");
        }
        let (data, size) = match attachment {
            Some(_) => (view.data, view.size),
            // The message may be a part of the memory. Writes no bytes outside of the message.
            None => {
                let from = request.message.data as usize - view.data as usize;
                // SAFETY: the host has checked that the message's bytes are in the memory.
                (unsafe { view.data.add(from) }, request.message.size)
            }
        };
        // SAFETY: the host keeps the memory valid during this call, and the sender allows writes.
        unsafe { clearway_example_fill(data, size, value.into()) };
        request.answer_null()
    }
}

/// Fills attached memory that a method's call names by its number: `memset([number, value])`. The call carries no byte of the memory.
struct ByNumber;

impl OnMessage for ByNumber {
    fn on_message(request: &Request<'_>) -> Status {
        let call = match standard::read_call(request.bytes(), Limits::DEFAULT) {
            Ok(call) => call,
            Err(error) => return request.invalid(error.code.name()),
        };
        if call.method != "memset" {
            return CLEARWAY_NOT_IMPLEMENTED;
        }
        let Value::List(args) = call.args else {
            return request.invalid("memset takes [number of the attachment, value]");
        };
        let [Value::Int(number), Value::Int(value)] = args[..] else {
            return request.invalid("memset takes [number of the attachment, value]");
        };
        let Some(&memory) = usize::try_from(number).ok().and_then(|number| request.attachments().get(number)) else {
            return request.invalid("no attachment has this number");
        };
        let view = match request.view(memory) {
            Ok(view) => view,
            Err(status) => return request.refuse(status, "the attachment is no memory"),
        };
        if view.flags & CLEARWAY_MEMORY_SEALED != 0 {
            return request.invalid("the memory is sealed");
        }
        // SAFETY: the host keeps the memory valid during this call, and the sender allows writes.
        unsafe { clearway_example_fill(view.data, view.size, value as i32) };
        let mut answer = Vec::new();
        match standard::write_reply(&Reply::Success(Value::Null), Limits::DEFAULT, &mut answer) {
            Ok(()) => request.answer_bytes(&answer),
            Err(error) => request.invalid(error.code.name()),
        }
    }
}

/// The maximum size of the held memory, in bytes: 100 MiB.
const HELD_MAX: u64 = 100 << 20;

/// Fills memory that only native code sees. The message is u64 size, u64 value, and optional u64 repetitions (default 1). The answer is
/// the total time of all repetitions in nanoseconds, as u64.
struct Held;

impl Held {
    /// Returns `size` bytes of the held memory. Allocates the memory if it is missing or too small.
    fn hold<'a>(example: &Example, held: &'a mut Option<OwnedMemory>, size: u64) -> Result<&'a mut [u8], Status> {
        if size > HELD_MAX {
            return Err(CLEARWAY_TOO_LARGE);
        }
        let size = size as usize;
        let enough = held.take().filter(|held| held.view.size >= size);
        let owned = match enough {
            Some(enough) => enough,
            None => example.allocate(size, CLEARWAY_MEMORY_ZEROED)?,
        };
        Ok(&mut held.insert(owned).bytes()[..size])
    }
}

impl OnMessage for Held {
    fn on_message(request: &Request<'_>) -> Status {
        let mut numbers = request.bytes().chunks_exact(8).map(|each| each.try_into().map_or(0, u64::from_le_bytes));
        let (Some(size), Some(value)) = (numbers.next(), numbers.next()) else {
            return request.invalid("the message is u64 size, u64 value, u64 repetitions");
        };
        let mut held = lock(&request.example.held);
        let bytes = match Held::hold(request.example, &mut held, size) {
            Ok(bytes) => bytes,
            Err(status) => return request.refuse(status, "no memory of that size is held"),
        };
        let start = now_ns();
        for _ in 0..numbers.next().unwrap_or(1) {
            std::hint::black_box(&mut *bytes).fill(value as u8);
        }
        let elapsed_ns = now_ns() - start;
        drop(held);
        request.answer(&Content::of(&elapsed_ns.to_le_bytes()))
    }
}

pub fn add(example: &Example) -> Status {
    all([
        example.handle::<ByMethod>("memset/method", CLEARWAY_RUN_DIRECT, ""),
        example.handle::<Shared>("memset/shared", CLEARWAY_RUN_DIRECT, ""),
        example.handle::<ByNumber>("memset/number", CLEARWAY_RUN_DIRECT, ""),
        example.handle::<Held>("memset/held", CLEARWAY_RUN_DIRECT, ""),
    ])
}
