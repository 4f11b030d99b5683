// SPDX-License-Identifier: MIT OR Apache-2.0

/// Limits of one opened plugin. 0 is what the host would choose.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// `sizeof(clearway_options)`, as the host was compiled.
    pub size: usize,
    /// Threads of the plugin's pool at most; as many as there are processors, and 2 at least.
    pub threads: u32,
    /// Calls under way at most, and as many messages to the host; 16384.
    pub calls_max: u32,
    /// Listeners at a time; 1024.
    pub streams_max: u32,
    /// 0.
    pub reserved: u32,
}

/// The plugin is told to wait: nothing is lost.
pub const CLEARWAY_WHEN_FULL_WAIT: u32 = 0;
/// The stream ends with `CLEARWAY_OVERFLOW`.
pub const CLEARWAY_WHEN_FULL_FAIL: u32 = 1;
/// The oldest event that was not read is dropped.
pub const CLEARWAY_WHEN_FULL_DROP_OLDEST: u32 = 2;
/// The event that finds no room is dropped.
pub const CLEARWAY_WHEN_FULL_DROP_NEWEST: u32 = 3;

/// How much of a stream may wait, and be read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Events that may wait: 1 and more.
    pub items: u32,
    /// `CLEARWAY_WHEN_FULL_...`: what is lost beyond that.
    pub when_full: u32,
    /// Bytes that may wait, attachments counted; one event may be larger where it is the only one.
    pub bytes: u64,
    /// Events that may be read before credit is given; `UINT64_MAX` for no limit.
    pub credit: u64,
}

/// What a plugin's calls have cost since it was opened.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Stats {
    /// Messages sent to the plugin, and by it.
    pub messages: u64,
    /// Events that were read.
    pub events: u64,
    /// Events that were dropped.
    pub events_dropped: u64,
    /// Messages, answers and events whose bytes were copied.
    pub copies: u64,
    /// Bytes of those.
    pub copied_bytes: u64,
    /// Calls under way now.
    pub calls: u64,
    /// Listeners now.
    pub streams: u64,
    /// How long queued calls waited for their thread: the median, in nanoseconds.
    pub wait_ns_p50: u64,
    /// The same, of which one in a hundred waited longer.
    pub wait_ns_p99: u64,
    /// The longest.
    pub wait_ns_max: u64,
    /// How long queued calls ran: the median, in nanoseconds.
    pub run_ns_p50: u64,
    /// The same, of which one in a hundred ran longer.
    pub run_ns_p99: u64,
    /// The longest.
    pub run_ns_max: u64,
    /// Of the whole process: memories from the slab pool that are in use.
    pub memories: u64,
    /// Of the whole process: bytes of those.
    pub memory_bytes: u64,
    /// Of the whole process: bytes that the slab pool keeps for the next user.
    pub kept_bytes: u64,
}
