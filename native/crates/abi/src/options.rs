// SPDX-License-Identifier: MIT OR Apache-2.0

use clearway_sys::{CLEARWAY_INVALID_ARGUMENT, Status};

/// Limits of one opened plugin. 0 selects the default.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// `sizeof(clearway_options)`, as the host was compiled.
    pub size: usize,
    /// The most threads of the plugin's pool; default: the number of processors, at least 2.
    pub threads: u32,
    /// The most calls in flight, and as many messages to the host; default: 16384.
    pub calls_max: u32,
    /// The most listeners at a time; default: 1024.
    pub streams_max: u32,
    /// 0.
    pub reserved: u32,
}

/// The plugin has to wait: nothing is lost.
pub const CLEARWAY_WHEN_FULL_WAIT: u32 = 0;
/// The stream ends with `CLEARWAY_OVERFLOW`.
pub const CLEARWAY_WHEN_FULL_FAIL: u32 = 1;
/// The oldest unread event is dropped.
pub const CLEARWAY_WHEN_FULL_DROP_OLDEST: u32 = 2;
/// The event that finds no room is dropped.
pub const CLEARWAY_WHEN_FULL_DROP_NEWEST: u32 = 3;

/// How many events of a stream may wait and be read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// `sizeof(clearway_window)`, as the host was compiled.
    pub size: usize,
    /// The most events that may wait: 1 or more.
    pub items: u32,
    /// `CLEARWAY_WHEN_FULL_...`: the policy beyond these limits.
    pub when_full: u32,
    /// The most bytes that may wait, attachments included. An event that is alone in the queue may be larger.
    pub bytes: u64,
    /// Events that may be read before credit is given; `UINT64_MAX` for no limit.
    pub credit: u64,
}

/// The cost of a plugin's calls since it was opened.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Stats {
    /// Set it to `sizeof(clearway_stats)`, as the host was compiled. Returns the number of bytes that the library has filled
    /// in, `size` included.
    pub size: usize,
    /// Messages sent to the plugin and by the plugin.
    pub messages: u64,
    /// Events that were read.
    pub events: u64,
    /// Events that were dropped.
    pub events_dropped: u64,
    /// Messages, answers and events whose bytes were copied.
    pub copies: u64,
    /// The number of bytes copied.
    pub copied_bytes: u64,
    /// Calls in flight now.
    pub calls: u64,
    /// Listeners now.
    pub streams: u64,
    /// How long queued calls waited for their thread: the median, in nanoseconds.
    pub wait_ns_p50: u64,
    /// The 99th percentile: one call in a hundred waited longer.
    pub wait_ns_p99: u64,
    /// The maximum.
    pub wait_ns_max: u64,
    /// How long queued calls ran: the median, in nanoseconds.
    pub run_ns_p50: u64,
    /// The 99th percentile: one call in a hundred ran longer.
    pub run_ns_p99: u64,
    /// The maximum.
    pub run_ns_max: u64,
    /// In the whole process: memories from the slab pool that are in use.
    pub memories: u64,
    /// In the whole process: the bytes of those memories.
    pub memory_bytes: u64,
    /// In the whole process: the bytes that the slab pool keeps for reuse.
    pub kept_bytes: u64,
}

/// Checks a struct of the host that begins with its size. Refuses a struct that is smaller than its first version. There is only one
/// version so far.
///
/// # Safety
/// `given` must be null, or readable for a size at its beginning.
pub(crate) unsafe fn sized<T>(given: *const T) -> Result<*const T, Status> {
    if given.is_null() || !given.is_aligned() {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    // SAFETY: the caller guarantees this; every such struct begins with its size.
    if unsafe { *given.cast::<usize>() } < size_of::<T>() {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    Ok(given)
}
