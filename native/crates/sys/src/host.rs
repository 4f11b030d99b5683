// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of all functions that a plugin may call, and the struct in which a plugin describes itself.

use core::ffi::c_void;

use crate::content::Content;
use crate::handler::{Handler, Reply, Source, Stream};
use crate::memory::{Memory, ReleaseMemory, View};
use crate::status::Status;
use crate::text::Text;

/// The major version. Two sides with different major versions cannot work together.
pub const CLEARWAY_ABI_MAJOR: u32 = 1;
/// The minor version. A larger one adds functions at the end of `clearway_host`, and is otherwise the same.
pub const CLEARWAY_ABI_MINOR: u32 = 0;

/// One opened plugin, which identifies it in calls to the host. `CLEARWAY_CLOSED` once it is closed, `CLEARWAY_STALE` once
/// it is freed.
pub type PluginId = u64;

/// Details for debugging.
pub const CLEARWAY_LOG_DEBUG: u32 = 0;
/// Useful information.
pub const CLEARWAY_LOG_INFO: u32 = 1;
/// Something is wrong, and the plugin goes on.
pub const CLEARWAY_LOG_WARNING: u32 = 2;
/// Something failed.
pub const CLEARWAY_LOG_ERROR: u32 = 3;

/// Called with the answer to a message that the plugin sent. `status` is the result; `answer` is lent until the return.
/// Runs once, on the plugin's pool; on the answering thread if no pool thread can be started.
pub type OnAnswer = Option<unsafe extern "C-unwind" fn(context: *mut c_void, status: Status, answer: *const Content)>;

/// The host's functions for a plugin. The table lives until the process ends. Any function may be called from any thread at
/// any time, with any arguments whose pointers are readable: wrong arguments return a status. No function waits for the
/// host's thread.
///
/// The table of an older host is smaller and lacks later functions: compare `size` with `offsetof(clearway_host, function)`
/// before you use a function of a later minor version.
#[repr(C)]
pub struct Host {
    /// Bytes of this table, as the host was compiled.
    pub size: usize,
    /// `CLEARWAY_ABI_MAJOR` of the host. A plugin that was built for another one returns `CLEARWAY_VERSION` from its init.
    pub abi_major: u32,
    /// `CLEARWAY_ABI_MINOR` of the host.
    pub abi_minor: u32,

    /// Allocates `size` bytes, from 4 KB on from pooled slabs, whose pages are mapped already. `flags`: 0 or `CLEARWAY_MEMORY_ZEROED`. The
    /// caller owns the reference in `view`.
    pub allocate: unsafe extern "C" fn(plugin: PluginId, size: usize, flags: u32, view: *mut View) -> Status,
    /// Registers memory of the plugin with the host, without copying. `release` is called when the last reference goes,
    /// possibly after the plugin was closed (its code stays loaded). The caller owns the reference in `view`.
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
    /// Makes another reference to the same memory, which the caller owns.
    pub retain: unsafe extern "C" fn(memory: Memory, another: *mut Memory) -> Status,
    /// Releases a reference. The last one frees the memory, or returns it to its owner.
    pub release: unsafe extern "C" fn(memory: Memory) -> Status,
    /// Seals the memory: a promise that no thread writes to it any more. Cannot be undone.
    pub seal: unsafe extern "C" fn(memory: Memory) -> Status,

    /// Registers a handler. Returns `CLEARWAY_ALREADY_EXISTS` if the channel has one.
    pub handle: unsafe extern "C" fn(plugin: PluginId, handler: *const Handler) -> Status,
    /// Removes a channel's handler. Messages that wait for it are answered `CLEARWAY_NO_HANDLER`. Its `on_drop` is called when
    /// no call is in it.
    pub unhandle: unsafe extern "C" fn(plugin: PluginId, channel: Text) -> Status,
    /// Answers a message. Returns `CLEARWAY_STALE` if it was answered before, for example because the plugin closed.
    pub reply: unsafe extern "C" fn(reply: Reply, content: *const Content) -> Status,
    /// Answers a message with a status other than `CLEARWAY_OK` and `CLEARWAY_PENDING`, and a text for people.
    pub reply_error: unsafe extern "C" fn(reply: Reply, status: Status, text: Text) -> Status,
    /// Returns `CLEARWAY_OK` while the caller waits for this answer, else `CLEARWAY_CANCELLED` or `CLEARWAY_STALE`.
    pub wanted: unsafe extern "C" fn(reply: Reply) -> Status,

    /// Sends a message to the host. Copies bytes without a memory. A null `on_answer` means that no answer is wanted. Returns
    /// `CLEARWAY_FULL` if too many messages are in flight.
    pub send: unsafe extern "C" fn(
        plugin: PluginId,
        channel: Text,
        content: *const Content,
        on_answer: OnAnswer,
        context: *mut c_void,
    ) -> Status,

    /// Registers a source of events. Returns `CLEARWAY_ALREADY_EXISTS` if the channel has one.
    pub source: unsafe extern "C" fn(plugin: PluginId, source: *const Source) -> Status,
    /// Removes a channel's source, and ends its streams.
    pub unsource: unsafe extern "C" fn(plugin: PluginId, channel: Text) -> Status,
    /// Emits an event. `CLEARWAY_FULL`: the queue is full and the listener must not lose events; `on_room` follows. With a
    /// policy that drops, it returns `CLEARWAY_OK` and the host counts the dropped events. `CLEARWAY_STALE`: the stream has no
    /// listener any more.
    pub emit: unsafe extern "C" fn(stream: Stream, content: *const Content) -> Status,
    /// Ends a stream. Events that were emitted before still arrive.
    pub end: unsafe extern "C" fn(stream: Stream) -> Status,
    /// Ends a stream with an error.
    pub end_error: unsafe extern "C" fn(stream: Stream, status: Status, text: Text) -> Status,

    /// Logs a text for the person who runs the host: `level` is `CLEARWAY_LOG_...`. Texts longer than 4096 bytes are cut. Never
    /// waits: lines that do not fit are dropped, and a later line says how many.
    pub log: unsafe extern "C" fn(plugin: PluginId, level: u32, text: Text) -> Status,
}

/// Called once when a plugin closes.
pub type OnClose = Option<unsafe extern "C-unwind" fn(context: *mut c_void)>;

/// A plugin's description. The host fills in `size` and `id`; the plugin's init fills in the rest.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Plugin {
    /// Bytes of this struct as the host was compiled. Do not write beyond them.
    pub size: usize,
    /// This plugin, for the functions of the table.
    pub id: PluginId,
    /// Set this to `CLEARWAY_ABI_MAJOR`, and `abi_minor` to `CLEARWAY_ABI_MINOR`, as the plugin was compiled.
    pub abi_major: u32,
    /// See `abi_major`.
    pub abi_minor: u32,
    /// Passed to `on_close`. Each opening has its own.
    pub context: *mut c_void,
    /// Called once, on the closing thread, after the last handler has returned and when no further one will be called. May be
    /// null.
    pub on_close: OnClose,
}

/// The one function that a plugin exports, as `clearway_plugin_init`. Registers handlers and sources; may be called again
/// for another opening, from another thread. A status other than `CLEARWAY_OK` refuses: registered handlers and sources are
/// removed, and `on_close` is not called. Use `log` for a text for people.
pub type Init = unsafe extern "C-unwind" fn(host: *const Host, plugin: *mut Plugin) -> Status;
