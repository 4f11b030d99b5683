// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handlers that echo their message. The lab measures them in its family "channel". `echo` answers with the message itself. Others decode
//! it and encode it again, or answer a method's call with its arguments. `echo/back` sends the message to a channel of the host.

use std::ffi::c_void;
use std::thread::sleep;
use std::time::Duration;

use clearway_codec::{Error, Limits, Reply as Envelope, json, standard};
use clearway_sys::{
    CLEARWAY_MEMORY_SEALED, CLEARWAY_OK, CLEARWAY_RUN_DIRECT, CLEARWAY_RUN_POOL, CLEARWAY_RUN_SERIAL, Content, Host,
    Reply, Status, Text,
};

use crate::example::{Example, OnMessage, Request, all, guarded};
use crate::ticker::{argument, read_arguments};

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

// The handler `image/filter`, which runs on the pool. It changes RGBA pixels in place, in memory that both sides see.

fn negative(pixel: &mut [u8; 4]) {
    for channel in &mut pixel[..3] {
        *channel = 255 - *channel;
    }
}

/// Makes a pixel grey. Computes luma by Rec. 709 with weights of 16 bits, which add up to 65536.
fn grey(pixel: &mut [u8; 4]) {
    let [red, green, blue, _] = pixel.map(u32::from);
    let luma = (red * 13933 + green * 46871 + blue * 4732) >> 16;
    pixel[..3].fill(luma as u8);
}

struct Filter;

impl OnMessage for Filter {
    fn on_message(request: &Request<'_>) -> Status {
        let given = match read_arguments(request.message) {
            Ok(given) => given,
            Err(_) => return request.invalid("the message is a map"),
        };
        let sides = || Some((argument(&given, "width", 1..=1 << 15, 0)?, argument(&given, "height", 1..=1 << 15, 0)?));
        // Width and height are required: their default, 0, is out of range.
        let Some((width, height)) = sides() else { return request.invalid("width and height are 1 to 32768") };
        let change = match given.get("filter") {
            Some(clearway_codec::Value::Text(name)) if name == "negative" => negative,
            Some(clearway_codec::Value::Text(name)) if name == "grey" => grey,
            _ => return request.invalid("filter is \"negative\" or \"grey\""),
        };
        let view = match request.view(request.attachment().unwrap_or(0)) {
            Ok(view) => view,
            Err(status) => return request.refuse(status, "no pixels come with the message"),
        };
        if view.flags & CLEARWAY_MEMORY_SEALED != 0 {
            return request.invalid("the pixels are sealed");
        }
        let count = (width * height) as usize;
        if view.size / 4 < count {
            return request.invalid("there are too few pixels");
        }
        // SAFETY: the host keeps the memory valid during this call, and the memory is large enough. The sender allows changes.
        let pixels = unsafe { std::slice::from_raw_parts_mut(view.data.cast::<[u8; 4]>(), count) };
        pixels.iter_mut().for_each(change);
        request.answer_null()
    }
}

pub fn add_image(example: &Example) -> Status {
    example.handle::<Filter>("image/filter", CLEARWAY_RUN_POOL, "")
}

// The handler `block`. It sleeps for the number of milliseconds in the message (u32). It runs on its own queue, because it blocks. If the
// caller has given the call up before the handler begins, the handler does not sleep.

struct Block;

impl OnMessage for Block {
    fn on_message(request: &Request<'_>) -> Status {
        let Ok(ms) = request.bytes().try_into() else {
            return request.invalid("the message is u32 milliseconds");
        };
        if request.is_wanted() {
            sleep(Duration::from_millis(u32::from_le_bytes(ms).into()));
        }
        request.answer_null()
    }
}

pub fn add_block(example: &Example) -> Status {
    example.handle::<Block>("block", CLEARWAY_RUN_SERIAL, "block")
}
