// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handlers that echo their message. The lab measures them in its family "channel". `echo` answers with the message itself. Others decode
//! it and encode it again, or answer a method's call with its arguments. `echo/back` sends the message to a channel of the host.

use std::ffi::c_void;

use clearway_codec::{Error, Limits, Reply as Envelope, json, standard};
use clearway_sys::{
    CLEARWAY_OK, CLEARWAY_RUN_DIRECT, CLEARWAY_RUN_POOL, CLEARWAY_RUN_SERIAL, Content, Host, Reply, Status, Text,
};

use crate::example::{Example, OnMessage, Request, all};
use crate::guard::guarded;

/// Answers with the message. The host does not copy a message that is in a memory.
struct Echo;

impl OnMessage for Echo {
    fn on_message(request: &Request<'_>) -> Status {
        request.answer(request.message)
    }
}

fn transcode(request: &Request<'_>, codec: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<(), Error>) -> Status {
    let mut answer = Vec::with_capacity(request.bytes().len());
    match codec(request.bytes(), &mut answer) {
        Ok(()) if answer.is_empty() => request.answer_null(),
        Ok(()) => request.answer_bytes(&answer),
        Err(error) => request.invalid(error.code.name()),
    }
}

const LIMITS: Limits = Limits::DEFAULT;

struct Standard;

impl OnMessage for Standard {
    fn on_message(request: &Request<'_>) -> Status {
        transcode(request, |bytes, to| standard::write(&standard::read(bytes, LIMITS)?, LIMITS, to))
    }
}

struct Method;

impl OnMessage for Method {
    fn on_message(request: &Request<'_>) -> Status {
        transcode(request, |bytes, to| {
            let call = standard::read_call(bytes, LIMITS)?;
            standard::write_reply(&Envelope::Success(call.args), LIMITS, to)
        })
    }
}

struct Json;

impl OnMessage for Json {
    fn on_message(request: &Request<'_>) -> Status {
        transcode(request, |bytes, to| {
            let call = json::read_call(bytes, LIMITS)?;
            json::write_reply(&Envelope::Success(call.args), LIMITS, to)
        })
    }
}

/// A message to the host whose answer becomes the answer to `reply`.
struct PendingAnswer {
    host: &'static Host,
    reply: Reply,
}

unsafe extern "C-unwind" fn on_answer(context: *mut c_void, status: Status, answer: *const Content) {
    guarded((), || {
        // SAFETY: `EchoBack` made the box, and the host calls this function once.
        let PendingAnswer { host, reply } = *unsafe { Box::from_raw(context.cast::<PendingAnswer>()) };
        // SAFETY: the host lends the answer during this call. The text is static.
        unsafe {
            match status {
                CLEARWAY_OK => (host.reply)(reply, answer),
                status => (host.reply_error)(reply, status, Text::of("the host did not answer")),
            }
        };
    });
}

/// Sends the message to the host's channel `echo/host`, and answers with the host's answer.
struct EchoBack;

impl OnMessage for EchoBack {
    fn on_message(request: &Request<'_>) -> Status {
        let Example { host, id, .. } = *request.example;
        let pending = Box::into_raw(Box::new(PendingAnswer { host, reply: request.reply }));
        // SAFETY: the message is valid during the call. The host passes `pending` to `on_answer` once.
        let status =
            unsafe { (host.send)(id, Text::of("echo/host"), request.message, Some(on_answer), pending.cast()) };
        if status != CLEARWAY_OK {
            // SAFETY: the host does not call `on_answer` for a message that it refused, so this function still owns the box.
            drop(unsafe { Box::from_raw(pending) });
        }
        status
    }
}

/// Registers a handler three times: on the calling thread, on the pool, and on the queue `echo`.
fn register_each<H: OnMessage>(example: &Example, name: &str) -> Status {
    all([
        example.handle::<H>(name, CLEARWAY_RUN_DIRECT, ""),
        example.handle::<H>(&format!("{name}/pool"), CLEARWAY_RUN_POOL, ""),
        example.handle::<H>(&format!("{name}/serial"), CLEARWAY_RUN_SERIAL, "echo"),
    ])
}

pub fn add(example: &Example) -> Status {
    all([
        register_each::<Echo>(example, "echo"),
        register_each::<Standard>(example, "echo/standard"),
        register_each::<Method>(example, "echo/method"),
        register_each::<Json>(example, "echo/json"),
        example.handle::<EchoBack>("echo/back", CLEARWAY_RUN_DIRECT, ""),
    ])
}
