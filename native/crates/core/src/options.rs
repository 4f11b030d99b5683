// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options for opening a plugin.

/// Limits of one opened plugin.
#[derive(Clone, Debug)]
pub struct Options {
    /// The maximum number of threads of the plugin's pool. The threads start on demand. Default: the number of processors, at least 2, so
    /// that one blocked handler does not stop all others.
    pub threads: usize,
    /// The maximum number of calls that may wait for an answer. The same limit holds separately for the unread messages to the host.
    pub calls_max: usize,
    /// The maximum number of open streams at a time. Each listener has one stream.
    pub streams_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        // 16,384 calls and as many messages need a ring of 65,536 places. The ring takes 1 MB.
        Options { threads: processors.max(2), calls_max: 1 << 14, streams_max: 1 << 10 }
    }
}

/// How many calls may be in flight beyond `calls_max`. These are direct calls (on the caller's thread) whose handler has returned without
/// an answer; the core cannot refuse them any more. The core answers further calls with `CLEARWAY_FULL`.
pub(crate) const LATE_MAX: usize = 1024;
