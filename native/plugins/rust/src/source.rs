// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers sources of events, and reads the arguments of listeners.

use std::ffi::c_void;
use std::ops::RangeInclusive;

use clearway_codec::{Error, Limits, Value, standard};
use clearway_sys::{
    CLEARWAY_INVALID_ARGUMENT, CLEARWAY_PANICKED, CLEARWAY_RUN_POOL, Content, Source, Status, Stream, Text,
};

use crate::example::Example;
use crate::guard::guarded;

/// A type whose function starts the streams of a source.
pub trait OnListen {
    /// Starts a stream for a listener. A returned status other than `CLEARWAY_OK` refuses the listener.
    fn on_listen(example: &Example, arguments: &Value, stream: Stream) -> Status;
}

unsafe extern "C-unwind" fn on_listen<L: OnListen>(
    context: *mut c_void,
    arguments: *const Content,
    stream: Stream,
) -> Status {
    guarded(CLEARWAY_PANICKED, || {
        // SAFETY: the context is the `Example`, which lives until the plugin is closed. The host lends the arguments during this call.
        let (example, arguments) =
            unsafe { (&*context.cast::<Example>(), arguments.as_ref().unwrap_or(&Content::NULL)) };
        match read_arguments(arguments) {
            Ok(arguments) => L::on_listen(example, &arguments, stream),
            Err(_) => CLEARWAY_INVALID_ARGUMENT,
        }
    })
}

unsafe extern "C-unwind" fn on_cancel(context: *mut c_void, stream: Stream) {
    // SAFETY: the context is the `Example`, which lives until the plugin is closed.
    guarded((), || unsafe { &*context.cast::<Example>() }.tickers.cancel(stream));
}

unsafe extern "C-unwind" fn on_room(context: *mut c_void, stream: Stream) {
    // SAFETY: the context is the `Example`, which lives until the plugin is closed.
    guarded((), || unsafe { &*context.cast::<Example>() }.tickers.notify_room(stream));
}

impl Example {
    /// Registers `L` as the source of a channel's events.
    pub fn source<L: OnListen>(&self, channel: &str) -> Status {
        let source = Source {
            size: size_of::<Source>(),
            channel: Text::of(channel),
            runs: CLEARWAY_RUN_POOL,
            reserved: 0,
            queue: Text::NONE,
            context: self.context(),
            on_listen: Some(on_listen::<L>),
            on_cancel: Some(on_cancel),
            on_room: Some(on_room),
            on_drop: None,
        };
        // SAFETY: the host copies the source. Its context lives until the plugin is closed.
        unsafe { (self.host.source)(self.id, &source) }
    }
}

/// Reads a listener's arguments: a standard message with a map or null. The error is `None` if the message has another value.
pub fn read_arguments(content: &Content) -> Result<Value, Option<Error>> {
    let bytes = if content.data.is_null() {
        &[]
    } else {
        // SAFETY: the host lends the content's bytes during the call.
        unsafe { std::slice::from_raw_parts(content.data, content.size) }
    };
    match standard::read(bytes, Limits::DEFAULT).map_err(Some)? {
        given @ (Value::Map(_) | Value::Null) => Ok(given),
        _ => Err(None),
    }
}

/// Reads an integer from a listener's arguments. Returns `default` if the arguments have no value for the key. Returns `None` if the
/// value is not an integer, or is not in the range.
pub fn argument(arguments: &Value, key: &str, range: RangeInclusive<i64>, default: i64) -> Option<i64> {
    let value = match arguments.get(key) {
        None | Some(Value::Null) => default,
        Some(Value::Int(value)) => *value,
        Some(_) => return None,
    };
    range.contains(&value).then_some(value)
}
