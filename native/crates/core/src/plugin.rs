// SPDX-License-Identifier: MIT OR Apache-2.0
//! An opened plugin, with its options and the functions that its host calls.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use clearway_sys::{
    CLEARWAY_ALREADY_EXISTS, CLEARWAY_CLOSED, CLEARWAY_LOG_WARNING, CLEARWAY_NO_HANDLER, CLEARWAY_TOO_LARGE, OnClose,
    Status,
};

use crate::entry::Entry;
use crate::handle;
use crate::handle::Kind;
use crate::inbox::Inbox;
use crate::meter::{Counts, Meter, Times};
use crate::outcome::Incoming;
use crate::queue::Queue;
use crate::slots::Slots;
use crate::sync::lock;

/// Opened plugins by id.
pub(crate) static PLUGINS: Slots<Arc<Plugin>> = Slots::new(Kind::Plugin);
/// Messages from plugins that wait for their host.
pub(crate) static INCOMING: Slots<Incoming> = Slots::new(Kind::Incoming);

/// The maximum number of channels of one plugin. Without a limit, a plugin that invents names could fill the memory.
const CHANNELS_MAX: usize = 1 << 16;
/// The maximum number of unread log lines. Further lines are dropped and counted.
const LOG_MAX: usize = 256;

/// One opened plugin. Any thread may use it; `read` runs on one thread at a time.
pub struct Plugin {
    pub(crate) id: OnceLock<u64>,
    pub(crate) options: Options,
    pub(crate) inbox: Inbox,
    pub(crate) pool: Arc<Queue>,
    pub(crate) meter: Meter,
    pub(crate) calls: AtomicUsize,
    pub(crate) incoming: AtomicUsize,
    pub(crate) streams: AtomicUsize,
    /// The number of messages of the plugin that wait for their answer. After `free`, the plugin gets no answers, and this number is wrong.
    pub(crate) asks: AtomicUsize,
    /// The number of calls of `on_answer` that are queued or run.
    pub(crate) answering: AtomicUsize,
    pub(crate) closed: AtomicBool,
    pub(crate) on_close: Mutex<Closer>,
    /// The entries that were removed and whose callbacks may still run. `close` waits for these callbacks.
    pub(crate) ending: Mutex<Vec<Arc<Entry>>>,
    channels: RwLock<HashMap<Box<str>, Arc<Channel>>>,
    serial: Mutex<HashMap<Box<str>, Arc<Queue>>>,
    log: Mutex<VecDeque<(u32, String)>>,
    log_lost: AtomicU64,
}

/// The state of a plugin's `on_close`.
pub(crate) enum Closer {
    /// The plugin has not started.
    None,
    /// The plugin has started and must be told that it closes.
    Ready { on_close: OnClose, context: *mut c_void },
    /// A thread calls the function.
    Running,
    /// The function has returned.
    Done,
}

// SAFETY: the context goes only to the plugin's own function. The ABI allows that call on any thread.
unsafe impl Send for Closer {}

/// A plugin's channel: the handler of its messages and the source of its events.
#[derive(Default)]
pub struct Channel {
    pub(crate) handler: Mutex<Option<Arc<Entry>>>,
    pub(crate) source: Mutex<Option<Arc<Entry>>>,
}

impl Plugin {
    pub(crate) fn new(options: Options) -> Result<Arc<Plugin>, Status> {
        // The inbox needs a place for each answer, each message and each stream, and one for the log. `LATE_MAX` is added twice, because
        // calls may exceed the limit while their limit check is in progress.
        let places =
            options.calls_max.saturating_mul(2).saturating_add(options.streams_max).saturating_add(2 * LATE_MAX + 1);
        if places > 1 << 22 || options.calls_max == 0 {
            return Err(clearway_sys::CLEARWAY_INVALID_ARGUMENT);
        }
        let plugin = Arc::new(Plugin {
            id: OnceLock::new(),
            inbox: Inbox::new(places),
            pool: Queue::new("clearway pool".into(), options.threads.max(1), options.calls_max),
            options,
            meter: Meter::new(),
            calls: AtomicUsize::new(0),
            incoming: AtomicUsize::new(0),
            streams: AtomicUsize::new(0),
            asks: AtomicUsize::new(0),
            answering: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            on_close: Mutex::new(Closer::None),
            ending: Mutex::new(Vec::new()),
            channels: RwLock::new(HashMap::new()),
            serial: Mutex::new(HashMap::new()),
            log: Mutex::new(VecDeque::new()),
            log_lost: AtomicU64::new(0),
        });
        let id = PLUGINS.insert(plugin.clone()).map_err(|_| CLEARWAY_TOO_LARGE)?;
        plugin.id.get_or_init(|| id);
        Ok(plugin)
    }

    /// Returns the id. The plugin and the ABI use it to name this opened plugin.
    pub fn id(&self) -> u64 {
        *self.id.get().expect("set where it is made")
    }

    /// Returns the opened plugin with an id, or `None` if the plugin was freed.
    pub fn find(id: u64) -> Option<Arc<Plugin>> {
        PLUGINS.get(id)
    }

    /// Sets the wake function. The core calls this function when the inbox stops being empty, on any thread. It must only wake the reader.
    /// Blocks until no thread runs the previous function. Returns `CLEARWAY_INVALID_ARGUMENT` in a wake, because this call would wait for
    /// that wake.
    pub fn set_wake(&self, wake: Option<Box<dyn Fn() + Send + Sync>>) -> Result<(), Status> {
        self.inbox.set_wake(wake)
    }

    pub(crate) fn open(&self) -> Result<(), Status> {
        if self.closed.load(Ordering::Acquire) { Err(CLEARWAY_CLOSED) } else { Ok(()) }
    }

    /// Returns the channel with a name. The first use of a name creates the channel. Frequent callers may keep the result.
    pub fn channel(&self, name: &str) -> Result<Arc<Channel>, Status> {
        if let Ok(channel) = self.existing_channel(name) {
            return Ok(channel);
        }
        let mut channels = self.channels.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        if channels.len() >= CHANNELS_MAX && !channels.contains_key(name) {
            return Err(CLEARWAY_TOO_LARGE);
        }
        Ok(channels.entry(name.into()).or_default().clone())
    }

    /// Returns the channel with a name, as `channel` does, for a caller that uses the channel once. Does not create a channel: names that
    /// the plugin does not have could otherwise use up the channels that the plugin may have. Returns `CLEARWAY_NO_HANDLER` for such a
    /// name, or `CLEARWAY_CLOSED` if the plugin is closed.
    pub fn existing_channel(&self, name: &str) -> Result<Arc<Channel>, Status> {
        let channels = self.channels.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        channels.get(name).cloned().ok_or_else(|| self.missing_handler_status())
    }

    pub(crate) fn channels(&self) -> Vec<Arc<Channel>> {
        self.channels.read().unwrap_or_else(|poisoned| poisoned.into_inner()).values().cloned().collect()
    }

    /// Returns the named queue, which has one thread. The first use of a name creates the queue.
    pub(crate) fn serial(&self, name: &str) -> Arc<Queue> {
        let made = || Queue::new(name.chars().take(15).collect(), 1, self.options.calls_max);
        lock(&self.serial).entry(name.into()).or_insert_with(made).clone()
    }

    pub(crate) fn queues(&self) -> Vec<Arc<Queue>> {
        lock(&self.serial).values().cloned().chain([self.pool.clone()]).collect()
    }

    /// Returns the counters.
    pub fn counts(&self) -> Counts {
        self.meter.counts()
    }

    /// Returns how long queued calls have waited and run.
    pub fn times(&self) -> Times {
        self.meter.times()
    }

    /// Keeps a log line until the host reads it.
    pub(crate) fn log(&self, level: u32, text: String) {
        let mut log = lock(&self.log);
        if log.len() == LOG_MAX {
            self.log_lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        log.push_back((level, text));
        // If lost lines are still unreported, the inbox already has the log's handle.
        let first = log.len() == 1 && self.log_lost.load(Ordering::Relaxed) == 0;
        drop(log);
        if first {
            self.inbox.put(handle::join(Kind::Log, 1, 0));
        }
    }

    /// Takes up to `max` log lines. Returns true if more are left. The caller must then put the log's handle back into the inbox, because
    /// new lines do not.
    pub(crate) fn take_log(&self, max: usize) -> (Vec<(u32, String)>, bool) {
        let mut log = lock(&self.log);
        let count = log.len().min(max);
        let mut taken: Vec<_> = log.drain(..count).collect();
        // The line with the number of lost lines comes after all older lines.
        if log.is_empty() && taken.len() < max {
            match self.log_lost.swap(0, Ordering::Relaxed) {
                0 => {}
                lost => {
                    taken.push((CLEARWAY_LOG_WARNING, format!("{lost} log lines were lost: the host reads too slowly")))
                }
            }
        }
        (taken, !log.is_empty() || self.log_lost.load(Ordering::Relaxed) > 0)
    }
}

/// Registers an entry at `place`. Returns `CLEARWAY_ALREADY_EXISTS` if the place has an entry.
pub(crate) fn register(plugin: &Plugin, place: &Mutex<Option<Arc<Entry>>>, entry: Arc<Entry>) -> Result<(), Status> {
    let mut place = lock(place);
    // This check needs the lock: closing sets `closed` before it takes the entry.
    plugin.open()?;
    if place.is_some() {
        return Err(CLEARWAY_ALREADY_EXISTS);
    }
    *place = Some(entry);
    Ok(())
}

/// Takes the entry out of `place` and closes the entry. Runs `on_drop` on this thread if no callback of the entry runs. Returns
/// `CLEARWAY_NO_HANDLER` if the place is empty.
pub(crate) fn unregister(plugin: &Plugin, place: &Mutex<Option<Arc<Entry>>>) -> Result<Arc<Entry>, Status> {
    let entry = {
        let mut place = lock(place);
        let entry = place.take().ok_or(CLEARWAY_NO_HANDLER)?;
        // Under the lock of `place`: a thread that closes the plugin and finds the place empty finds the entry in `ending`, and waits for
        // its callbacks.
        let mut ending = lock(&plugin.ending);
        ending.retain(|entry| !entry.is_over());
        ending.push(entry.clone());
        entry
    };
    entry.close();
    Ok(entry)
}

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
