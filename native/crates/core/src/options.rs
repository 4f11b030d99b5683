// SPDX-License-Identifier: MIT OR Apache-2.0
//! What whoever opens a plugin may set.

/// Limits of one opened plugin.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads of the plugin's pool at most; started when they are needed. As many as there are processors, and 2 at least, so
    /// that one handler that waits does not stop all others.
    pub threads: usize,
    /// Calls that may wait for an answer, and messages to the host that may wait to be read; each.
    pub calls_max: usize,
    /// Listeners at a time.
    pub streams_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        // 16,384 calls and as many messages: a ring of 32,768 places and 512 KB, of which only what is used is ever touched.
        Options { threads: processors.max(2), calls_max: 1 << 14, streams_max: 1 << 10 }
    }
}
