// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handlers of messages and sources of events, as a plugin registers them.

use core::ffi::c_void;

use crate::content::Content;
use crate::status::Status;
use crate::text::Text;

/// The right to answer one message, once, on any thread; 0 if no answer is wanted.
pub type Reply = u64;

/// One listener of an event source, from `on_listen` until it has ended or was cancelled.
pub type Stream = u64;

/// Run on the calling thread, which waits: for work of microseconds. If the host calls from several threads, several calls
/// run at once.
pub const CLEARWAY_RUN_DIRECT: u32 = 0;
/// Run on the plugin's pool of threads; several calls may run at once, in any order.
pub const CLEARWAY_RUN_POOL: u32 = 1;
/// Run on a separate thread, named by `queue`: one call after the other, in the order of sending. May block.
pub const CLEARWAY_RUN_SERIAL: u32 = 2;

/// Handles a message. `message` is lent until the return. Answer by `reply`, now or later, from any thread. If the message
/// is not answered, a returned status other than `CLEARWAY_OK` is the answer. Must not unwind.
pub type OnMessage =
    Option<unsafe extern "C-unwind" fn(context: *mut c_void, message: *const Content, reply: Reply) -> Status>;

/// Starts a listener: `stream` takes events from now on, from any thread. A status other than `CLEARWAY_OK` refuses, and
/// ends the stream.
pub type OnListen =
    Option<unsafe extern "C-unwind" fn(context: *mut c_void, arguments: *const Content, stream: Stream) -> Status>;

/// Reports on a stream: it was cancelled, or it has room again.
pub type OnStream = Option<unsafe extern "C-unwind" fn(context: *mut c_void, stream: Stream)>;

/// Called once when a handler or a source was removed and no call is in it. Frees `context`.
pub type OnDrop = Option<unsafe extern "C-unwind" fn(context: *mut c_void)>;

/// A handler of a channel's messages. The function that registers it copies it.
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
    /// The queue's name with `CLEARWAY_RUN_SERIAL`: 1 to 256 bytes. Handlers and sources with the same queue name share the
    /// queue.
    pub queue: Text,
    /// Passed to each call.
    pub context: *mut c_void,
    /// Handles a message; required.
    pub on_message: OnMessage,
    /// May be null.
    pub on_drop: OnDrop,
}

/// A source of a channel's events. The function that registers it copies it.
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
    /// Passed to each call.
    pub context: *mut c_void,
    /// Starts a listener; required.
    pub on_listen: OnListen,
    /// Called once when the listener has cancelled: emit no more. Not called if the plugin ended the stream itself, or refused
    /// it. May be null.
    pub on_cancel: OnStream,
    /// Called when half of the queue is free again after an emit returned `CLEARWAY_FULL`. May be null.
    pub on_room: OnStream,
    /// May be null.
    pub on_drop: OnDrop,
}
