// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of all functions that a plugin may call, and the struct in which a plugin describes itself.

use core::ffi::c_void;

use crate::content::Content;
use crate::handler::{Handler, Reply, Source, Stream};
use crate::memory::{Memory, ReleaseMemory, View};
use crate::status::Status;
use crate::text::Text;

/// The major version: two sides of different ones do not talk.
pub const CLEARWAY_ABI_MAJOR: u32 = 1;
/// The minor version: a larger one has more at the end of `clearway_host`, and is otherwise the same.
pub const CLEARWAY_ABI_MINOR: u32 = 0;

/// One opened plugin. It names the plugin in what it asks of the host; `CLEARWAY_STALE` once it is closed.
pub type PluginId = u64;

/// Details, for who looks for a fault.
pub const CLEARWAY_LOG_DEBUG: u32 = 0;
/// Worth knowing.
pub const CLEARWAY_LOG_INFO: u32 = 1;
/// Something is wrong, and the plugin goes on.
pub const CLEARWAY_LOG_WARNING: u32 = 2;
/// Something failed.
pub const CLEARWAY_LOG_ERROR: u32 = 3;

/// Called with the answer to what the plugin sent: `status` says how it went, `answer` is lent until the return. Runs
/// on the plugin's pool, once.
pub type OnAnswer = Option<unsafe extern "C-unwind" fn(context: *mut c_void, status: Status, answer: *const Content)>;

/// What the host does for a plugin. The table is there until the process ends; any function may be called from any thread
/// at any time, with any arguments whose pointers can be read: what is wrong is refused by a status. None of them waits for
/// the host's thread.
///
/// A function that stands after the end of a smaller, older host's table is not there: compare `size` with
/// `offsetof(clearway_host, function)` before you use what came with a later minor version.
#[repr(C)]
pub struct Host {
    /// Bytes of this table, as the host was compiled.
    pub size: usize,
    /// `CLEARWAY_ABI_MAJOR` of the host. A plugin that was built for another returns `CLEARWAY_VERSION` from its init.
    pub abi_major: u32,
    /// `CLEARWAY_ABI_MINOR` of the host.
    pub abi_minor: u32,

    /// New memory of `size` bytes, from pooled slabs whose pages were touched before. `flags`: 0 or
    /// `CLEARWAY_MEMORY_ZEROED`. The reference in `view` is the caller's. May allocate.
    pub allocate: unsafe extern "C" fn(plugin: PluginId, size: usize, flags: u32, view: *mut View) -> Status,
    /// Makes memory of the plugin's own known to the host, copying nothing. `release` is called when the last reference
    /// goes, maybe after the plugin was closed (its code stays loaded). The reference in `view` is the caller's.
    pub adopt: unsafe extern "C" fn(
        plugin: PluginId,
        data: *mut u8,
        size: usize,
        flags: u32,
        release: ReleaseMemory,
        context: *mut c_void,
        view: *mut View,
    ) -> Status,
    /// Where the bytes of a memory are.
    pub view: unsafe extern "C" fn(memory: Memory, view: *mut View) -> Status,
    /// Another reference to the same memory, which is the caller's.
    pub retain: unsafe extern "C" fn(memory: Memory, another: *mut Memory) -> Status,
    /// Gives a reference up. The last one frees the memory, or gives it back to whom it belongs.
    pub release: unsafe extern "C" fn(memory: Memory) -> Status,
    /// Promises that nobody writes to the memory any more. Cannot be taken back.
    pub seal: unsafe extern "C" fn(memory: Memory) -> Status,

    /// Registers a handler. `CLEARWAY_ALREADY_EXISTS` where the channel has one.
    pub handle: unsafe extern "C" fn(plugin: PluginId, handler: *const Handler) -> Status,
    /// Takes a channel's handler away. Messages that wait for it are answered `CLEARWAY_NO_HANDLER`; its `on_drop` is called
    /// when no call is in it.
    pub unhandle: unsafe extern "C" fn(plugin: PluginId, channel: Text) -> Status,
    /// Answers a message. `CLEARWAY_STALE` where it was answered before, or nobody waits any more.
    pub reply: unsafe extern "C" fn(reply: Reply, content: *const Content) -> Status,
    /// Answers a message with a status other than `CLEARWAY_OK` and `CLEARWAY_PENDING`, and a text for people.
    pub reply_error: unsafe extern "C" fn(reply: Reply, status: Status, text: Text) -> Status,
    /// `CLEARWAY_OK` while somebody waits for this answer, else `CLEARWAY_CANCELLED` or `CLEARWAY_STALE`.
    pub wanted: unsafe extern "C" fn(reply: Reply) -> Status,

    /// Sends a message to the host. Copies bytes without a memory. `on_answer` may be null: then no answer is wanted.
    /// `CLEARWAY_FULL` where too many are under way.
    pub send: unsafe extern "C" fn(
        plugin: PluginId,
        channel: Text,
        content: *const Content,
        on_answer: OnAnswer,
        context: *mut c_void,
    ) -> Status,

    /// Registers a source of events. `CLEARWAY_ALREADY_EXISTS` where the channel has one.
    pub source: unsafe extern "C" fn(plugin: PluginId, source: *const Source) -> Status,
    /// Takes a channel's source away, and ends its streams.
    pub unsource: unsafe extern "C" fn(plugin: PluginId, channel: Text) -> Status,
    /// Emits an event. `CLEARWAY_FULL`: the queue is full and the listener wants to lose nothing; `on_room` follows. With a
    /// policy that drops, it is `CLEARWAY_OK` and the host counts what was dropped. `CLEARWAY_STALE`: nobody listens any more.
    pub emit: unsafe extern "C" fn(stream: Stream, content: *const Content) -> Status,
    /// Ends a stream: what was emitted before still arrives.
    pub end: unsafe extern "C" fn(stream: Stream) -> Status,
    /// Ends a stream with an error.
    pub end_error: unsafe extern "C" fn(stream: Stream, status: Status, text: Text) -> Status,

    /// Says something to who runs the host: `level` is `CLEARWAY_LOG_...`. Longer than 4096 bytes is cut. Never waits: what
    /// does not fit is counted.
    pub log: unsafe extern "C" fn(plugin: PluginId, level: u32, text: Text) -> Status,
}

/// Called once when a plugin closes.
pub type OnClose = Option<unsafe extern "C-unwind" fn(context: *mut c_void)>;

/// What a plugin is. The host fills in `size` and `id`; the plugin's init fills in the rest.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Plugin {
    /// Bytes of this struct as the host was compiled; write nothing beyond.
    pub size: usize,
    /// This plugin, for the functions of the table.
    pub id: PluginId,
    /// To be set to `CLEARWAY_ABI_MAJOR` and `CLEARWAY_ABI_MINOR` as the plugin was compiled.
    pub abi_major: u32,
    /// See `abi_major`.
    pub abi_minor: u32,
    /// Given to `on_close`. Each opening has its own.
    pub context: *mut c_void,
    /// Called once, after the last handler has returned and no more will be called, on the thread that closes. May be null.
    pub on_close: OnClose,
}

/// The one function that a plugin exports, as `clearway_plugin_init`. Registers handlers and sources; may be called again
/// for another opening, from another thread. A status other than `CLEARWAY_OK` refuses: what was registered is taken away
/// and `on_close` is not called. A text for people goes by `log`.
pub type Init = unsafe extern "C-unwind" fn(host: *const Host, plugin: *mut Plugin) -> Status;
