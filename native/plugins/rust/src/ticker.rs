// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tickers. A ticker emits the events of one stream at a given rate, on its own thread.

use std::ffi::c_void;
use std::ops::RangeInclusive;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use clearway_codec::{Error, Limits, Value, standard};
use clearway_sys::{
    CLEARWAY_CANCELLED, CLEARWAY_CLOSED, CLEARWAY_FULL, CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, CLEARWAY_OUT_OF_MEMORY,
    CLEARWAY_OVERFLOW, CLEARWAY_PANICKED, CLEARWAY_RUN_POOL, CLEARWAY_STALE, Content, Host, Source, Status, Stream,
    Text,
};

use crate::example::{Example, guarded, lock, now_ns};

/// The events that a ticker emits.
pub trait Tick: Send {
    /// Makes an event and emits it. `is_retry` is true if the previous attempt for the same event returned `CLEARWAY_FULL`.
    fn emit(&mut self, stream: Stream, number: u64, is_retry: bool) -> Status;
}

/// The rate and the number of a ticker's events.
#[derive(Clone, Copy)]
pub struct Rate {
    /// The number of events per second. With 0, the ticker emits whenever the stream has room.
    pub per_second: u32,
    /// The number of events after which the stream ends. With 0, the stream has no end.
    pub count: u64,
    /// Whether the ticker emits events late if it missed their time. Otherwise it skips them.
    pub catches_up: bool,
}

#[derive(Default)]
struct State {
    cancelled: bool,
    has_room: bool,
    finished: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

impl Shared {
    /// Waits for the time of the next event. Returns false if the stream was cancelled.
    fn wait_for(&self, due: Instant) -> bool {
        let mut state = lock(&self.state);
        while !state.cancelled {
            let remaining = due.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return true;
            }
            state = self.wake.wait_timeout(state, remaining).unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    /// Waits until the stream has room. Returns false if the stream was cancelled.
    fn wait_for_room(&self) -> bool {
        // If `on_room` ran before this thread took the lock, `has_room` is set and `wait_while` returns at once.
        let waiting = self.wake.wait_while(lock(&self.state), |state| !state.cancelled && !state.has_room);
        !waiting.unwrap_or_else(PoisonError::into_inner).cancelled
    }

    /// Changes the state, and wakes the ticker's thread.
    fn update(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
        self.wake.notify_all();
    }
}

struct Ticker {
    stream: Stream,
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

/// The tickers of one plugin instance.
#[derive(Default)]
pub struct Tickers(Mutex<Vec<Ticker>>);

/// Emits an event. If the stream is full, waits for room and tries again.
fn emit(tick: &mut dyn Tick, shared: &Shared, stream: Stream, number: u64) -> Status {
    for is_retry in std::iter::once(false).chain(std::iter::repeat(true)) {
        lock(&shared.state).has_room = false;
        let status = tick.emit(stream, number, is_retry);
        if status != CLEARWAY_FULL {
            return status;
        }
        if !shared.wait_for_room() {
            break;
        }
    }
    CLEARWAY_CANCELLED
}

/// Emits a stream's events until the last one, or until the stream is cancelled or an event fails.
fn run(tick: &mut dyn Tick, shared: &Shared, stream: Stream, rate: Rate) -> Status {
    let start = Instant::now();
    let period = Duration::from_secs(1).checked_div(rate.per_second);
    let mut due = Duration::ZERO;
    for number in (0..).take_while(|number| rate.count == 0 || *number < rate.count) {
        if let Some(period) = period {
            let late = start.elapsed().saturating_sub(due);
            if !rate.catches_up && late >= period {
                due += period * (late.as_nanos() / period.as_nanos()) as u32;
            }
            if !shared.wait_for(start + due) {
                return CLEARWAY_CANCELLED;
            }
            due += period;
        }
        let status = emit(tick, shared, stream, number);
        if status != CLEARWAY_OK {
            return status;
        }
    }
    CLEARWAY_OK
}

impl Tickers {
    /// Starts a ticker for a stream. Joins the threads of finished tickers first.
    pub fn start(&self, host: &'static Host, stream: Stream, mut tick: Box<dyn Tick>, rate: Rate) -> Status {
        self.join(|ticker| lock(&ticker.shared.state).finished);
        let shared = Arc::new(Shared::default());
        let thread_shared = Arc::clone(&shared);
        let work = move || {
            let status = guarded(CLEARWAY_PANICKED, || run(&mut *tick, &thread_shared, stream, rate));
            // SAFETY: the host checks the handle, and the text is static.
            unsafe {
                match status {
                    CLEARWAY_OK => (host.end)(stream),
                    // The stream was cancelled, or the host has already ended it.
                    CLEARWAY_CANCELLED | CLEARWAY_STALE | CLEARWAY_CLOSED | CLEARWAY_OVERFLOW => CLEARWAY_OK,
                    status => (host.end_error)(stream, status, Text::of("an event could not be emitted")),
                }
            };
            guarded((), || drop(tick));
            thread_shared.update(|state| state.finished = true);
        };
        // Holds the lock while the thread starts. If the stream is cancelled at this time, `cancel` waits for the lock and then finds the
        // ticker.
        let mut list = lock(&self.0);
        match Builder::new().name("clearway-example".into()).spawn(work) {
            Ok(thread) => list.push(Ticker { stream, shared, thread }),
            Err(_) => return CLEARWAY_OUT_OF_MEMORY,
        }
        CLEARWAY_OK
    }

    /// Removes the tickers for which `selects` returns true, and waits until their threads have ended.
    fn join(&self, selects: impl Fn(&Ticker) -> bool) {
        let removed: Vec<_> = {
            let mut list = lock(&self.0);
            let (removed, remaining) = list.drain(..).partition(selects);
            *list = remaining;
            removed
        };
        for Ticker { thread, .. } in removed {
            let _ = thread.join(); // never an error, because the thread catches its panics
        }
    }

    /// Stops all tickers. Blocks until their threads have ended.
    pub fn stop(&self) {
        for ticker in &*lock(&self.0) {
            ticker.shared.update(|state| state.cancelled = true);
        }
        self.join(|_| true);
    }

    /// Stops the ticker of a cancelled stream.
    pub fn cancel(&self, stream: Stream) {
        self.update(stream, |state| state.cancelled = true);
    }

    /// Notifies a ticker that its stream has room.
    pub fn notify_room(&self, stream: Stream) {
        self.update(stream, |state| state.has_room = true);
    }

    fn update(&self, stream: Stream, change: impl Fn(&mut State)) {
        for ticker in lock(&self.0).iter().filter(|ticker| ticker.stream == stream) {
            ticker.shared.update(&change);
        }
    }
}

/// A type whose function starts the streams of a source.
pub trait OnListen {
    /// Starts a stream for a listener. A returned status other than `CLEARWAY_OK` refuses the listener.
    fn on_listen(example: &Example, arguments: &Value, stream: Stream) -> Status;
}

unsafe extern "C-unwind" fn on_listen<L: OnListen>(
    context: *mut c_void,
    arguments: *const Content,
    stream: Stream,
) -> Status {
    guarded(CLEARWAY_PANICKED, || {
        // SAFETY: the context is the `Example`, which lives until the plugin is closed. The host lends the arguments during this call.
        let (example, arguments) =
            unsafe { (&*context.cast::<Example>(), arguments.as_ref().unwrap_or(&Content::NULL)) };
        match read_arguments(arguments) {
            Ok(arguments) => L::on_listen(example, &arguments, stream),
            Err(_) => CLEARWAY_INVALID_ARGUMENT,
        }
    })
}

unsafe extern "C-unwind" fn on_cancel(context: *mut c_void, stream: Stream) {
    // SAFETY: the context is the `Example`, which lives until the plugin is closed.
    guarded((), || unsafe { &*context.cast::<Example>() }.tickers.cancel(stream));
}

unsafe extern "C-unwind" fn on_room(context: *mut c_void, stream: Stream) {
    // SAFETY: the context is the `Example`, which lives until the plugin is closed.
    guarded((), || unsafe { &*context.cast::<Example>() }.tickers.notify_room(stream));
}

impl Example {
    /// Registers `L` as the source of a channel's events.
    pub fn source<L: OnListen>(&self, channel: &str) -> Status {
        let source = Source {
            size: size_of::<Source>(),
            channel: Text::of(channel),
            runs: CLEARWAY_RUN_POOL,
            reserved: 0,
            queue: Text::NONE,
            context: self.context(),
            on_listen: Some(on_listen::<L>),
            on_cancel: Some(on_cancel),
            on_room: Some(on_room),
            on_drop: None,
        };
        // SAFETY: the host copies the source. Its context lives until the plugin is closed.
        unsafe { (self.host.source)(self.id, &source) }
    }
}

/// Reads a listener's arguments: a standard message with a map or null. The error is `None` if the message has another value.
pub fn read_arguments(content: &Content) -> Result<Value, Option<Error>> {
    let bytes = if content.data.is_null() {
        &[]
    } else {
        // SAFETY: the host lends the content's bytes during the call.
        unsafe { std::slice::from_raw_parts(content.data, content.size) }
    };
    match standard::read(bytes, Limits::DEFAULT).map_err(Some)? {
        given @ (Value::Map(_) | Value::Null) => Ok(given),
        _ => Err(None),
    }
}

/// Reads an integer from a listener's arguments. Returns `default` if the arguments have no value for the key. Returns `None` if the
/// value is not an integer, or is not in the range.
pub fn argument(arguments: &Value, key: &str, range: RangeInclusive<i64>, default: i64) -> Option<i64> {
    let value = match arguments.get(key) {
        None | Some(Value::Null) => default,
        Some(Value::Int(value)) => *value,
        Some(_) => return None,
    };
    range.contains(&value).then_some(value)
}

// A simulated sensor. An event has 24 bytes: u64 number, u64 ns, float64 value.

struct Sensor {
    host: &'static Host,
}

impl Tick for Sensor {
    fn emit(&mut self, stream: Stream, number: u64, _is_retry: bool) -> Status {
        let mut reading = [0; 24];
        reading[..8].copy_from_slice(&number.to_le_bytes());
        reading[8..16].copy_from_slice(&now_ns().to_le_bytes());
        // The values are a sawtooth of a hundred steps, in which a lost event is visible.
        reading[16..].copy_from_slice(&((number % 100) as f64 / 100.0).to_le_bytes());
        // SAFETY: the host checks the handle and copies the bytes.
        unsafe { (self.host.emit)(stream, &Content::of(&reading)) }
    }
}

impl OnListen for Sensor {
    fn on_listen(example: &Example, arguments: &Value, stream: Stream) -> Status {
        let (Some(rate), Some(count)) =
            (argument(arguments, "rate", 0..=1_000_000, 100), argument(arguments, "count", 0..=i64::MAX, 0))
        else {
            return CLEARWAY_INVALID_ARGUMENT;
        };
        let rate = Rate { per_second: rate as u32, count: count as u64, catches_up: true };
        example.tickers.start(example.host, stream, Box::new(Sensor { host: example.host }), rate)
    }
}

pub fn add_sensor(example: &Example) -> Status {
    example.source::<Sensor>("sensor")
}
