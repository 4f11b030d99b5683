// SPDX-License-Identifier: MIT OR Apache-2.0
//! The meter of a plugin: counters, and the wait and run times of queued calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::sync::lock;

/// The number of significant decimal digits in a histogram. Values are exact to 1 %. With times up to an hour, a histogram takes 40 KB.
const DIGITS: u8 = 2;
/// The longest time that a histogram records, in nanoseconds: one hour.
const LONGEST_NS: u64 = 3_600_000_000_000;

pub(crate) struct Meter {
    pub(crate) messages: AtomicU64,
    pub(crate) events: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) copied_bytes: AtomicU64,
    pub(crate) copies: AtomicU64,
    /// The messages of each line. Only the line's caller writes its counter, so that a call needs no atomic addition, which costs 5 ns.
    lines: Mutex<Vec<Arc<AtomicU64>>>,
    times: Mutex<Option<Box<Times>>>,
}

/// Times of queued calls, in nanoseconds.
#[derive(Clone)]
pub struct Times {
    /// The time from the send to the start of the handler.
    pub wait: Histogram<u64>,
    /// The time from the start of the handler to its return.
    pub run: Histogram<u64>,
}

/// The counters of a plugin since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of messages sent to the plugin and by the plugin.
    pub messages: u64,
    /// The number of events that the host read.
    pub events: u64,
    /// The number of dropped events that the host has read about.
    pub dropped: u64,
    /// The number of messages, answers and events whose bytes were copied.
    pub copies: u64,
    /// The number of bytes copied.
    pub copied_bytes: u64,
}

impl Meter {
    pub(crate) fn new() -> Meter {
        let zero = || AtomicU64::new(0);
        Meter {
            messages: zero(),
            events: zero(),
            dropped: zero(),
            copied_bytes: zero(),
            copies: zero(),
            lines: Mutex::default(),
            times: Mutex::new(None),
        }
    }

    /// Makes the counter of a line's messages.
    pub(crate) fn line(&self) -> Arc<AtomicU64> {
        let counter = Arc::new(AtomicU64::new(0));
        lock(&self.lines).push(counter.clone());
        counter
    }

    /// Adds a line's messages to those of the plugin. No thread may use the line any more.
    pub(crate) fn end_line(&self, counter: &Arc<AtomicU64>) {
        let mut lines = lock(&self.lines);
        lines.retain(|each| !Arc::ptr_eq(each, counter));
        // Under the lock, so that `counts` counts these messages once.
        self.messages.fetch_add(counter.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    pub(crate) fn copied(&self, bytes: usize) {
        if bytes > 0 {
            self.copies.fetch_add(1, Ordering::Relaxed);
            self.copied_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    pub(crate) fn ran(&self, wait: Duration, run: Duration) {
        let nanoseconds = |time: Duration| time.as_nanos().min(LONGEST_NS.into()) as u64;
        let mut times = lock(&self.times);
        let times = times.get_or_insert_with(Times::new);
        times.wait.saturating_record(nanoseconds(wait));
        times.run.saturating_record(nanoseconds(run));
    }

    pub(crate) fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let lines = lock(&self.lines);
        Counts {
            messages: read(&self.messages) + lines.iter().map(|line| read(line)).sum::<u64>(),
            events: read(&self.events),
            dropped: read(&self.dropped),
            copies: read(&self.copies),
            copied_bytes: read(&self.copied_bytes),
        }
    }

    pub(crate) fn times(&self) -> Times {
        lock(&self.times).as_deref().cloned().unwrap_or_else(|| *Times::new())
    }
}

impl Times {
    fn new() -> Box<Times> {
        let empty = || Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("the bounds are right");
        Box::new(Times { wait: empty(), run: empty() })
    }
}
