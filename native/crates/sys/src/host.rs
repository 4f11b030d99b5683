// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of all functions that a plugin may call, and the struct that describes a plugin.

use core::ffi::c_void;

use crate::content::Content;
use crate::handler::{Handler, Reply, Source, Stream};
use crate::memory::{Memory, ReleaseMemory, View};
use crate::status::Status;
use crate::text::Text;

/// The major version of the ABI. Two sides with different major versions cannot work together.
pub const CLEARWAY_ABI_MAJOR: u32 = 1;
/// The minor version of the ABI. A larger minor version only adds functions at the end of `clearway_host`.
pub const CLEARWAY_ABI_MINOR: u32 = 0;

/// The id of one opened plugin, for calls to the host. Once the plugin is closed, these calls except `log` return
/// `CLEARWAY_CLOSED`. Once it is freed, all of them return `CLEARWAY_STALE`.
pub type PluginId = u64;

/// A detail for debugging.
pub const CLEARWAY_LOG_DEBUG: u32 = 0;
/// Useful information.
pub const CLEARWAY_LOG_INFO: u32 = 1;
/// Something is wrong, and the plugin continues.
pub const CLEARWAY_LOG_WARNING: u32 = 2;
/// Something failed.
pub const CLEARWAY_LOG_ERROR: u32 = 3;

/// Receives the answer to a message that the plugin has sent. `status` is the result. `answer` is lent until the
/// function returns. Runs once, on the plugin's pool. If the pool is closed or no thread can be started, runs on the
/// thread that answers or closes.
pub type OnAnswer = Option<unsafe extern "C-unwind" fn(context: *mut c_void, status: Status, answer: *const Content)>;

/// The host's functions for a plugin. The table lives until the process ends. Any thread may call any function at any
/// time. Pointers must be null or valid. Any other wrong argument returns a status. No function waits for the host's
/// thread.
///
/// The table of an older host is smaller and lacks later functions. Before you use a function of a later minor version,
/// compare `size` with `offsetof(clearway_host, function)`.
#[repr(C)]
pub struct Host {
    /// The size of the host's table, in bytes.
    pub size: usize,
    /// The host's `CLEARWAY_ABI_MAJOR`. A plugin that was built for another one must return `CLEARWAY_VERSION` from its
    /// init function.
    pub abi_major: u32,
    /// The host's `CLEARWAY_ABI_MINOR`.
    pub abi_minor: u32,

    /// Allocates `size` bytes. Sizes from 4 KB on come from pooled slabs, whose pages are already mapped. `flags` is 0
    /// or `CLEARWAY_MEMORY_ZEROED`. The caller owns the reference in `view`.
    pub allocate: unsafe extern "C" fn(plugin: PluginId, size: usize, flags: u32, view: *mut View) -> Status,
    /// Registers memory of the plugin with the host. Does not copy. `release` is called when the last reference is
    /// released, possibly after the plugin was closed. The plugin's code stays loaded for that. The caller owns the
    /// reference in `view`.
    pub adopt: unsafe extern "C" fn(
        plugin: PluginId,
        data: *mut u8,
        size: usize,
        flags: u32,
        release: ReleaseMemory,
        context: *mut c_void,
        view: *mut View,
    ) -> Status,
    /// Returns the address and the size of a memory.
    pub view: unsafe extern "C" fn(memory: Memory, view: *mut View) -> Status,
    /// Makes another reference to the same memory. The caller owns the new reference.
    pub retain: unsafe extern "C" fn(memory: Memory, another: *mut Memory) -> Status,
    /// Releases a reference. Releasing the last reference frees the memory, or returns it to its owner.
    pub release: unsafe extern "C" fn(memory: Memory) -> Status,
    /// Seals the memory: the holders promise that no thread writes to it any more. Cannot be undone.
    pub seal: unsafe extern "C" fn(memory: Memory) -> Status,

    /// Registers a handler. Returns `CLEARWAY_ALREADY_EXISTS` if the channel has a handler.
    pub handle: unsafe extern "C" fn(plugin: PluginId, handler: *const Handler) -> Status,
    /// Removes a channel's handler. Queued messages for the handler are answered with `CLEARWAY_NO_HANDLER`. The
    /// handler's `on_drop` is called after its last call has returned.
    pub unhandle: unsafe extern "C" fn(plugin: PluginId, channel: Text) -> Status,
    /// Answers a message. Returns `CLEARWAY_STALE` if the message was answered before, for example by closing the
    /// plugin.
    pub reply: unsafe extern "C" fn(reply: Reply, content: *const Content) -> Status,
    /// Answers a message with a status other than `CLEARWAY_OK` and `CLEARWAY_PENDING`, and with a text for people.
    pub reply_error: unsafe extern "C" fn(reply: Reply, status: Status, text: Text) -> Status,
    /// Returns `CLEARWAY_OK` while the caller waits for this answer, `CLEARWAY_CANCELLED` after the caller has given
    /// up, and `CLEARWAY_STALE` after the message was answered.
    pub wanted: unsafe extern "C" fn(reply: Reply) -> Status,

    /// Sends a message to the host. Copies bytes that are not in a memory. A null `on_answer` means that the plugin
    /// wants no answer. Returns `CLEARWAY_FULL` if too many messages are in flight.
    pub send: unsafe extern "C" fn(
        plugin: PluginId,
        channel: Text,
        content: *const Content,
        on_answer: OnAnswer,
        context: *mut c_void,
    ) -> Status,

    /// Registers a source of events. Returns `CLEARWAY_ALREADY_EXISTS` if the channel has a source.
    pub source: unsafe extern "C" fn(plugin: PluginId, source: *const Source) -> Status,
    /// Removes a channel's source, and ends its streams.
    pub unsource: unsafe extern "C" fn(plugin: PluginId, channel: Text) -> Status,
    /// Emits an event. If the queue is full, the listener's policy decides. If the policy is to wait, returns
    /// `CLEARWAY_FULL`, and calls `on_room` later. If the policy is to drop events, returns `CLEARWAY_OK`, and the host
    /// counts the dropped events. If the policy is to fail, ends the stream and returns `CLEARWAY_OVERFLOW`. Returns
    /// `CLEARWAY_STALE` if the stream has no listener any more.
    pub emit: unsafe extern "C" fn(stream: Stream, content: *const Content) -> Status,
    /// Ends a stream. The host still reads the events that were emitted before.
    pub end: unsafe extern "C" fn(stream: Stream) -> Status,
    /// Ends a stream with a status and a text for people.
    pub end_error: unsafe extern "C" fn(stream: Stream, status: Status, text: Text) -> Status,

    /// Logs a text for the person who runs the host. `level` is `CLEARWAY_LOG_...`. Cuts texts longer than 4096 bytes.
    /// Never waits: lines that do not fit are dropped, and a later line says how many were dropped.
    pub log: unsafe extern "C" fn(plugin: PluginId, level: u32, text: Text) -> Status,
}

/// Called once, when a plugin is closed.
pub type OnClose = Option<unsafe extern "C-unwind" fn(context: *mut c_void)>;

/// A plugin's description. The host fills in `size` and `id`. The plugin's init function fills in the other fields.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Plugin {
    /// The size of the host's struct, in bytes. Do not write beyond it.
    pub size: usize,
    /// The id of this plugin, for the functions of the table.
    pub id: PluginId,
    /// Must be `CLEARWAY_ABI_MAJOR`.
    pub abi_major: u32,
    /// Must be `CLEARWAY_ABI_MINOR`.
    pub abi_minor: u32,
    /// The pointer that is passed to `on_close`. Each opened plugin has its own.
    pub context: *mut c_void,
    /// Called once, on the closing thread, after the last handler has returned. No handler is called afterwards. May be
    /// null. Not called if the host frees the plugin while a handler runs and no thread waits for that handler.
    pub on_close: OnClose,
}

/// The only function that a plugin exports, with the name `clearway_plugin_init`. The function registers handlers and
/// sources. The host may call the function again to open the plugin another time, also on another thread. A status
/// other than `CLEARWAY_OK` refuses: the host removes registered handlers and sources, and does not call `on_close`.
/// Use `log` to give a reason in text.
pub type Init = unsafe extern "C-unwind" fn(host: *const Host, plugin: *mut Plugin) -> Status;
