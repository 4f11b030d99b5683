// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handlers of messages and sources of events, as a plugin registers them.

use core::ffi::c_void;

use crate::content::Content;
use crate::status::Status;
use crate::text::Text;

/// A handle that allows one answer to a message, on any thread. The handle is 0 if the sender wants no
/// answer.
pub type Reply = u64;

/// One listener of an event source. The handle is valid from `on_listen` until the stream has ended or the listener has
/// cancelled.
pub type Stream = u64;

/// Callbacks run on the calling thread, which waits for them. Use this for work of microseconds. If the host calls from
/// several threads, several callbacks run at the same time.
pub const CLEARWAY_RUN_DIRECT: u32 = 0;
/// Callbacks run on the plugin's pool of threads. Several may run at the same time, in any order.
pub const CLEARWAY_RUN_POOL: u32 = 1;
/// Callbacks run one after the other, in the order of sending, on the one thread of the queue that `queue` names, or on
/// a thread that closes the plugin. They may block.
pub const CLEARWAY_RUN_SERIAL: u32 = 2;

/// Handles a message. `message` is lent until the function returns. Answer with `reply`, now or later, on any thread.
/// Finish with the message's bytes first: lent memory may change after the answer. If the function returns a status
/// other than `CLEARWAY_OK` and the message has no answer yet, that status is the answer. Must not unwind.
pub type OnMessage =
    Option<unsafe extern "C-unwind" fn(context: *mut c_void, message: *const Content, reply: Reply) -> Status>;

/// Starts a listener. From now on, any thread may emit events to `stream`. `arguments` is lent until the function
/// returns. A status other than `CLEARWAY_OK` refuses the listener and ends the stream.
pub type OnListen =
    Option<unsafe extern "C-unwind" fn(context: *mut c_void, arguments: *const Content, stream: Stream) -> Status>;

/// Informs a source about a stream: the listener has cancelled, or the stream has room again.
pub type OnStream = Option<unsafe extern "C-unwind" fn(context: *mut c_void, stream: Stream)>;

/// Called once, after a handler or a source was removed and its last callback has returned. The function should free
/// `context`.
pub type OnDrop = Option<unsafe extern "C-unwind" fn(context: *mut c_void)>;

/// A handler of a channel's messages. The function that registers the handler copies this struct.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    /// Must be `sizeof(clearway_handler)`.
    pub size: usize,
    /// The channel's name: 1 to 256 bytes.
    pub channel: Text,
    /// Where the handler runs: `CLEARWAY_RUN_...`.
    pub runs: u32,
    /// Reserved. Must be 0.
    pub reserved: u32,
    /// The name of the queue for `CLEARWAY_RUN_SERIAL`: 1 to 256 bytes. Handlers and sources with the same queue name
    /// share the queue.
    pub queue: Text,
    /// The pointer that is passed to each callback.
    pub context: *mut c_void,
    /// Handles a message. Required.
    pub on_message: OnMessage,
    /// Called after the removal, to free `context`. May be null.
    pub on_drop: OnDrop,
}

/// A source of a channel's events. The function that registers the source copies this struct.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Must be `sizeof(clearway_source)`.
    pub size: usize,
    /// The channel's name: 1 to 256 bytes.
    pub channel: Text,
    /// Where the callbacks run: `CLEARWAY_RUN_...`.
    pub runs: u32,
    /// Reserved. Must be 0.
    pub reserved: u32,
    /// The name of the queue for `CLEARWAY_RUN_SERIAL`: 1 to 256 bytes.
    pub queue: Text,
    /// The pointer that is passed to each callback.
    pub context: *mut c_void,
    /// Starts a listener. Required.
    pub on_listen: OnListen,
    /// Called once when the listener has cancelled. The source must emit no more events. Not called if the plugin has
    /// ended the stream itself or has refused the listener. May be null.
    pub on_cancel: OnStream,
    /// Called after an emit has returned `CLEARWAY_FULL`, when half of the queue is free again. May be null.
    pub on_room: OnStream,
    /// Called after the removal, to free `context`. May be null.
    pub on_drop: OnDrop,
}
