// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options for opening a plugin.

/// Limits of one opened plugin.
#[derive(Clone, Debug)]
pub struct Options {
    /// The most threads of the plugin's pool; started on demand. Default: the number of processors, at least 2, so that one
    /// blocked handler does not stop all others.
    pub threads: usize,
    /// The most calls that may wait for an answer, and, counted separately, the most messages to the host that may wait to be
    /// read.
    pub calls_max: usize,
    /// The most listeners at a time.
    pub streams_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        // 16,384 calls and as many messages need a ring of 65,536 places and 1 MB, of which only the used part is ever touched.
        Options { threads: processors.max(2), calls_max: 1 << 14, streams_max: 1 << 10 }
    }
}

/// How far direct calls without an immediate answer may exceed the limit of calls in flight, since their handlers have already
/// run. Beyond it, a call is answered `CLEARWAY_FULL` on the handler's behalf.
pub(crate) const LATE_MAX: usize = 1024;
