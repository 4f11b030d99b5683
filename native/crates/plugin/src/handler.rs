// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handlers of messages and sources of events, as a plugin registers them.

use core::ffi::c_void;

use crate::content::Content;
use crate::status::Status;
use crate::text::Text;

/// The right to answer one message, once, on any thread; 0 where no answer is wanted.
pub type Reply = u64;

/// One listener of an event source, from `on_listen` until it has ended or was cancelled.
pub type Stream = u64;

/// On the thread that calls, which waits: for what takes microseconds. Where the host calls from several threads, several run
/// at once.
pub const CLEARWAY_RUN_DIRECT: u32 = 0;
/// On one of the plugin's pool of threads; several may run at once, in no order.
pub const CLEARWAY_RUN_POOL: u32 = 1;
/// On a thread of its own, named by `queue`: one after the other, in the order in which they were sent. May block.
pub const CLEARWAY_RUN_SERIAL: u32 = 2;

/// Handles a message. `message` is lent until the return. Answers by `reply`, now or later, from any thread; a status
/// other than `CLEARWAY_OK` answers in its place where that has not happened. Must not unwind.
pub type OnMessage =
    Option<unsafe extern "C-unwind" fn(context: *mut c_void, message: *const Content, reply: Reply) -> Status>;

/// Somebody listens: `stream` takes events from now on, from any thread. A status other than `CLEARWAY_OK` refuses, and
/// ends the stream.
pub type OnListen =
    Option<unsafe extern "C-unwind" fn(context: *mut c_void, arguments: *const Content, stream: Stream) -> Status>;

/// About a stream: it was cancelled, or it has room again.
pub type OnStream = Option<unsafe extern "C-unwind" fn(context: *mut c_void, stream: Stream)>;

/// Called once when a handler or a source is taken away and no call is in it: frees `context`.
pub type OnDrop = Option<unsafe extern "C-unwind" fn(context: *mut c_void)>;

/// A handler of a channel's messages. Copied by the call that takes it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    /// `sizeof(clearway_handler)`, as the plugin was compiled.
    pub size: usize,
    /// The channel's name: 1 to 256 bytes.
    pub channel: Text,
    /// Where it runs: `CLEARWAY_RUN_...`.
    pub runs: u32,
    /// 0.
    pub reserved: u32,
    /// The queue's name with `CLEARWAY_RUN_SERIAL`: 1 to 256 bytes. Handlers and sources that name the same queue share it.
    pub queue: Text,
    /// Given to each call.
    pub context: *mut c_void,
    /// Handles a message; must be there.
    pub on_message: OnMessage,
    /// May be null.
    pub on_drop: OnDrop,
}

/// A source of a channel's events. Copied by the call that takes it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// `sizeof(clearway_source)`, as the plugin was compiled.
    pub size: usize,
    /// The channel's name: 1 to 256 bytes.
    pub channel: Text,
    /// Where the callbacks run: `CLEARWAY_RUN_...`.
    pub runs: u32,
    /// 0.
    pub reserved: u32,
    /// The queue's name with `CLEARWAY_RUN_SERIAL`.
    pub queue: Text,
    /// Given to each call.
    pub context: *mut c_void,
    /// Somebody listens; must be there.
    pub on_listen: OnListen,
    /// Called once when the listener has gone: emit no more. Not called when the plugin ended the stream itself, or refused
    /// it. May be null.
    pub on_cancel: OnStream,
    /// Called when an emit was `CLEARWAY_FULL` and half of the queue is free again. May be null.
    pub on_room: OnStream,
    /// May be null.
    pub on_drop: OnDrop,
}
