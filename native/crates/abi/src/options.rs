// SPDX-License-Identifier: MIT OR Apache-2.0

use clearway_sys::{Growing, first_size};

/// Limits of one opened plugin. A limit of 0 selects the default.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Must be `sizeof(clearway_options)`.
    pub size: usize,
    /// The maximum number of threads in the plugin's pool. Default: the number of processors, at least 2.
    pub threads: u32,
    /// The maximum number of calls in flight. Unread messages to the host have the same limit, counted separately.
    /// Default: 16384.
    pub calls_max: u32,
    /// The maximum number of open streams at a time. Each listener has one stream. Default: 1024.
    pub streams_max: u32,
    /// Reserved. Must be 0.
    pub reserved: u32,
}

/// Refuses the event with `CLEARWAY_FULL`. The plugin has to wait, and no event is lost.
pub const CLEARWAY_WHEN_FULL_WAIT: u32 = 0;
/// Ends the stream with `CLEARWAY_OVERFLOW`.
pub const CLEARWAY_WHEN_FULL_FAIL: u32 = 1;
/// Drops the oldest unread event.
pub const CLEARWAY_WHEN_FULL_DROP_OLDEST: u32 = 2;
/// Drops the new event.
pub const CLEARWAY_WHEN_FULL_DROP_NEWEST: u32 = 3;

/// The limits of one stream's queue, and the number of events that the host may drain (take out of the queue).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Must be `sizeof(clearway_window)`.
    pub size: usize,
    /// The maximum number of events that may wait: 1 or more.
    pub items: u32,
    /// The policy for an event that exceeds these limits: `CLEARWAY_WHEN_FULL_...`.
    pub when_full: u32,
    /// The maximum number of bytes that may wait, attachments included. An event that is alone in the queue may be
    /// larger.
    pub bytes: u64,
    /// The number of events that the host may drain before it gives more credit. `UINT64_MAX` means no limit.
    pub credit: u64,
}

/// The counters of a plugin since it was opened, and how long its calls took.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Stats {
    /// Must be `sizeof(clearway_stats)`. The library replaces this value with the number of bytes that it has
    /// filled in, `size` included.
    pub size: usize,
    /// The number of messages sent to the plugin and by the plugin.
    pub messages: u64,
    /// The number of events that the host has drained.
    pub events: u64,
    /// The number of dropped events that the host has been informed of.
    pub events_dropped: u64,
    /// The number of messages, answers and events whose bytes were copied.
    pub copies: u64,
    /// The number of bytes copied.
    pub copied_bytes: u64,
    /// The number of calls in flight now.
    pub calls: u64,
    /// The number of open streams now. Each listener has one stream.
    pub streams: u64,
    /// How long queued calls waited for their thread: the median, in nanoseconds.
    pub wait_ns_p50: u64,
    /// The 99th percentile of these waits, in nanoseconds. One call in a hundred waited longer.
    pub wait_ns_p99: u64,
    /// The longest of these waits, in nanoseconds.
    pub wait_ns_max: u64,
    /// How long queued calls ran: the median, in nanoseconds.
    pub run_ns_p50: u64,
    /// The 99th percentile of these runs, in nanoseconds. One call in a hundred ran longer.
    pub run_ns_p99: u64,
    /// The longest of these runs, in nanoseconds.
    pub run_ns_max: u64,
    /// The number of allocated memories in use, in the whole process.
    pub memories: u64,
    /// The number of bytes of these memories.
    pub memory_bytes: u64,
    /// The number of bytes of freed memory that the library keeps for later allocations, in the whole process.
    pub kept_bytes: u64,
}

// SAFETY: see the definitions. Every field is a number.
unsafe impl Growing for Options {
    const FIRST_SIZE: usize = first_size!(Options, reserved: u32);
}

// SAFETY: see the definitions. Every field is a number.
unsafe impl Growing for Window {
    const FIRST_SIZE: usize = first_size!(Window, credit: u64);
}

// SAFETY: see the definitions. Every field is a number.
unsafe impl Growing for Stats {
    const FIRST_SIZE: usize = first_size!(Stats, kept_bytes: u64);
}
