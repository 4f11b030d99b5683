// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options for opening a plugin.

/// Limits of one opened plugin.
#[derive(Clone, Debug)]
pub struct Options {
    /// The maximum number of threads of the plugin's pool. They start on demand. Default: the number of processors, at least 2, so that
    /// one blocked handler does not stop all others.
    pub threads: usize,
    /// The maximum number of calls that may wait for an answer. Also the maximum number of unread messages to the host, which are counted
    /// separately.
    pub calls_max: usize,
    /// The maximum number of listeners at a time.
    pub streams_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        // 16,384 calls and as many messages need a ring of 65,536 places. The ring takes 1 MB.
        Options { threads: processors.max(2), calls_max: 1 << 14, streams_max: 1 << 10 }
    }
}

/// The number of direct calls without an immediate answer that may exceed the limit of calls in flight, because their handlers have
/// already run. Beyond this number, the core answers the call with `CLEARWAY_FULL`.
pub(crate) const LATE_MAX: usize = 1024;
