// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams of events, each for one listener of a source.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clearway_sys as sys;

use crate::content::{Content, IntoContent};
use crate::error::{Error, Result, Status};

/// The stream of events to one listener of a source. Any thread may emit events, and several threads may emit at once.
///
/// Dropping the stream ends it. If the stream is dropped while the source's function still runs, it ends when that function returns. If
/// the function panics or returns an error, the stream ends with that error.
#[must_use = "a stream that is dropped ends"]
pub struct Stream {
    host: &'static sys::Host,
    handle: sys::Stream,
    shared: Arc<SharedState>,
    streams: Arc<Streams>,
    ended: bool,
}

/// The state that a stream shares with the host's callbacks and with the call of the source's function. Threads wait for its changes.
#[derive(Default)]
struct SharedState {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Whether the listener has cancelled, the plugin is closing, or the source's function has failed. No event is emitted after that.
    over: bool,
    /// The number of times that the host has reported room in the queue.
    room_count: u64,
    /// Whether the source's function still runs. Its result then decides how a dropped stream ends.
    in_source_call: bool,
    /// Whether the stream was dropped while the source's function ran.
    dropped: bool,
}

/// One running call of a source's function, for one listener.
pub(crate) struct SourceCall {
    host: &'static sys::Host,
    handle: sys::Stream,
    shared: Arc<SharedState>,
}

impl SourceCall {
    /// Records that the function has returned. Ends the stream if the function failed, or if it has dropped the stream.
    pub(crate) fn finish(self, result: Result<()>) {
        let dropped = {
            let mut state = lock(&self.shared.state);
            state.in_source_call = false;
            state.over |= result.is_err();
            state.dropped
        };
        // Another thread may wait for room. After the error, the host reports none.
        self.shared.changed.notify_all();
        // SAFETY: the text is valid during the call. The host checks the handle, and ignores the call if the stream has ended.
        unsafe {
            match result {
                Err(error) => {
                    (self.host.end_error)(self.handle, error.status().number(), sys::Text::of(error.text()));
                }
                Ok(()) if dropped => {
                    (self.host.end)(self.handle);
                }
                Ok(()) => {}
            }
        }
    }
}

/// The state of a source's open streams, by handle.
#[derive(Default)]
pub(crate) struct Streams(Mutex<HashMap<sys::Stream, Arc<SharedState>>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Streams {
    /// Records that the stream was cancelled, and wakes its waiting threads.
    pub(crate) fn cancelled(&self, handle: sys::Stream) {
        self.update(handle, |state| state.over = true);
    }

    /// Records that the stream's queue has room again, and wakes its waiting threads.
    pub(crate) fn has_room(&self, handle: sys::Stream) {
        self.update(handle, |state| state.room_count += 1);
    }

    /// Changes a stream's state and wakes its waiting threads. Does nothing if the stream was dropped.
    fn update(&self, handle: sys::Stream, change: impl FnOnce(&mut State)) {
        let shared = lock(&self.0).get(&handle).cloned();
        if let Some(shared) = shared {
            change(&mut lock(&shared.state));
            shared.changed.notify_all();
        }
    }
}

/// The reason why an event was not emitted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmitError {
    /// The queue is full, and the listener's policy is to lose no events. [`Stream::send`] waits for room instead.
    Full,
    /// The stream has ended: the listener has cancelled, the stream has overflowed, the source's function has failed, or the plugin was
    /// closed.
    Ended,
    /// The value could not be converted to content, or the host refused the content.
    Refused(Error),
}

impl fmt::Display for EmitError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmitError::Full => to.write_str("the stream's queue is full"),
            EmitError::Ended => to.write_str("the stream has no listener any more"),
            EmitError::Refused(error) => error.fmt(to),
        }
    }
}

impl std::error::Error for EmitError {}

impl Stream {
    /// Makes a stream for a new listener, and the running call of the source's function.
    pub(crate) fn start(host: &'static sys::Host, handle: sys::Stream, streams: &Arc<Streams>) -> (Stream, SourceCall) {
        let shared = Arc::<SharedState>::default();
        lock(&shared.state).in_source_call = true;
        lock(&streams.0).insert(handle, shared.clone());
        let source_call = SourceCall { host, handle, shared: shared.clone() };
        (Stream { host, handle, shared, streams: streams.clone(), ended: false }, source_call)
    }

    /// Emits an event if the queue has room. Never waits.
    pub fn emit(&self, event: impl IntoContent) -> Result<(), EmitError> {
        self.emit_content(&event.into_content().map_err(EmitError::Refused)?)
    }

    /// Emits an event. Waits for room if the queue is full. The function of a direct source must not call `send`: that function runs on the
    /// listening thread, and the queue gets room only when that thread reads events.
    pub fn send(&self, event: impl IntoContent) -> Result<(), EmitError> {
        let event = event.into_content().map_err(EmitError::Refused)?;
        loop {
            let room_count = lock(&self.shared.state).room_count;
            match self.emit_content(&event) {
                Err(EmitError::Full) => {}
                result => return result,
            }
            let waits = |state: &mut State| !state.over && state.room_count == room_count;
            let waited = self.shared.changed.wait_while(lock(&self.shared.state), waits);
            if waited.unwrap_or_else(PoisonError::into_inner).over {
                return Err(EmitError::Ended);
            }
        }
    }

    fn emit_content(&self, event: &Content) -> Result<(), EmitError> {
        // SAFETY: the content is valid during the call. The host checks the handle.
        match event.lend(|content| unsafe { (self.host.emit)(self.handle, content) }) {
            sys::CLEARWAY_OK => Ok(()),
            sys::CLEARWAY_FULL => Err(EmitError::Full),
            sys::CLEARWAY_STALE | sys::CLEARWAY_CLOSED | sys::CLEARWAY_OVERFLOW => Err(EmitError::Ended),
            status => Err(EmitError::Refused(Error::new(status.into(), "the host refused the event"))),
        }
    }

    /// Returns whether the listener has cancelled, the plugin is closing, or the source's function has failed.
    pub fn is_cancelled(&self) -> bool {
        lock(&self.shared.state).over
    }

    /// Waits for the time `pause`. Returns earlier if the listener cancels, the plugin closes, or the source's function fails. Use it as a
    /// pause between events. The result is the same as that of [`is_cancelled`](Stream::is_cancelled).
    pub fn is_cancelled_within(&self, pause: Duration) -> bool {
        let waits = |state: &mut State| !state.over;
        let waited = self.shared.changed.wait_timeout_while(lock(&self.shared.state), pause, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0.over
    }

    /// Ends the stream. The listener still receives all events that were emitted before.
    pub fn end(mut self) {
        self.ended = true;
        // SAFETY: the host checks the handle, and ignores the call if the stream has ended.
        unsafe { (self.host.end)(self.handle) };
    }

    /// Ends the stream with an error. The listener still receives all events that were emitted before.
    pub fn fail(mut self, error: impl Into<Error>) {
        self.end_with_error(&error.into());
    }

    fn end_with_error(&mut self, error: &Error) {
        self.ended = true;
        // SAFETY: the text is valid during the call. The host checks the handle, and ignores the call if the stream has ended.
        unsafe { (self.host.end_error)(self.handle, error.status().number(), sys::Text::of(error.text())) };
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        lock(&self.streams.0).remove(&self.handle);
        if self.ended {
            return;
        }
        {
            let mut state = lock(&self.shared.state);
            state.dropped = true;
            if state.in_source_call {
                return;
            }
        }
        if std::thread::panicking() {
            self.end_with_error(&Error::new(Status::Panicked, "the plugin panicked"));
        } else {
            // SAFETY: the host checks the handle, and ignores the call if the stream has ended.
            unsafe { (self.host.end)(self.handle) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    unsafe extern "C" fn always_full(_: sys::Stream, _: *const sys::Content) -> sys::Status {
        sys::CLEARWAY_FULL
    }

    static FULL: sys::Host = sys::Host { emit: always_full, ..clearway_core::HOST };

    #[test]
    fn a_thread_that_waits_in_send_gets_ended_when_the_sources_function_returns_an_error() {
        let (stream, source_call) = Stream::start(&FULL, 1, &Arc::default());
        thread::scope(|threads| {
            let sends = threads.spawn(|| stream.send(1));
            let pauses = threads.spawn(|| stream.is_cancelled_within(Duration::from_secs(3600)));
            source_call.finish(Err(Error::failed("unplugged")));
            assert_eq!(sends.join().unwrap(), Err(EmitError::Ended));
            assert!(pauses.join().unwrap());
        });
        assert!(stream.is_cancelled());
    }
}
