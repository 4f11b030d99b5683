// SPDX-License-Identifier: MIT OR Apache-2.0
//! One listener of an event source.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clearway_sys as sys;

use crate::content::{Content, IntoContent};
use crate::error::{Error, Result, Status};

/// One listener of an event source. Any thread may emit events, and several threads may emit at once.
///
/// Dropping the stream ends it. If the source's own function drops it, the stream ends when that function returns. If the function panics
/// or returns an error, the stream ends with that error.
#[must_use = "a stream that is dropped ends"]
pub struct Stream {
    host: &'static sys::Host,
    handle: sys::Stream,
    heard: Arc<Heard>,
    all: Arc<Streams>,
    over: bool,
}

/// The host's notifications about a stream.
#[derive(Default)]
struct Heard {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    cancelled: bool,
    /// The number of notifications of room.
    rooms: u64,
    /// The source's function still runs. Its result decides how a dropped stream ends.
    starting: bool,
    /// The stream was dropped while the source's function ran.
    dropped: bool,
}

/// The call of a source's function for one listener.
pub(crate) struct Starting {
    host: &'static sys::Host,
    handle: sys::Stream,
    heard: Arc<Heard>,
}

impl Starting {
    /// Ends the call with the function's result. An error ends the stream.
    pub(crate) fn finish(self, result: Result<()>) {
        let dropped = {
            let mut state = lock(&self.heard.state);
            state.starting = false;
            state.dropped
        };
        // SAFETY: the text is lent during the call. The host checks the handle, which is stale if the stream has ended.
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

/// A source's streams, by handle.
#[derive(Default)]
pub(crate) struct Streams(Mutex<HashMap<sys::Stream, Arc<Heard>>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Streams {
    /// Records that the listener has left.
    pub(crate) fn cancelled(&self, handle: sys::Stream) {
        self.tell(handle, |state| state.cancelled = true);
    }

    /// Records that there is room again.
    pub(crate) fn has_room(&self, handle: sys::Stream) {
        self.tell(handle, |state| state.rooms += 1);
    }

    fn tell(&self, handle: sys::Stream, change: impl FnOnce(&mut State)) {
        let heard = lock(&self.0).get(&handle).cloned();
        if let Some(heard) = heard {
            change(&mut lock(&heard.state));
            heard.changed.notify_all();
        }
    }
}

/// The reason why an event was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmitError {
    /// The queue is full, and the policy allows no loss of events. [`Stream::send`] waits for room.
    Full,
    /// The stream has no listener any more: the listener has left, the stream overflowed, or the plugin was closed.
    Ended,
    /// The content cannot be made, or the host refuses it.
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
    pub(crate) fn start(host: &'static sys::Host, handle: sys::Stream, all: &Arc<Streams>) -> (Stream, Starting) {
        let heard = Arc::<Heard>::default();
        lock(&heard.state).starting = true;
        lock(&all.0).insert(handle, heard.clone());
        let starting = Starting { host, handle, heard: heard.clone() };
        (Stream { host, handle, heard, all: all.clone(), over: false }, starting)
    }

    /// Emits an event if there is room. Never waits.
    pub fn emit(&self, event: impl IntoContent) -> Result<(), EmitError> {
        self.give(&event.into_content().map_err(EmitError::Refused)?)
    }

    /// Emits an event, and waits for room if the queue is full. A direct source's function must not use this: it runs on the thread that
    /// makes room.
    pub fn send(&self, event: impl IntoContent) -> Result<(), EmitError> {
        let event = event.into_content().map_err(EmitError::Refused)?;
        loop {
            let before = lock(&self.heard.state).rooms;
            match self.give(&event) {
                Err(EmitError::Full) => {}
                given => return given,
            }
            let waits = |state: &mut State| !state.cancelled && state.rooms == before;
            let waited = self.heard.changed.wait_while(lock(&self.heard.state), waits);
            if waited.unwrap_or_else(PoisonError::into_inner).cancelled {
                return Err(EmitError::Ended);
            }
        }
    }

    fn give(&self, event: &Content) -> Result<(), EmitError> {
        // SAFETY: the content is lent during the call. The host checks the handle.
        match event.lend(|content| unsafe { (self.host.emit)(self.handle, content) }) {
            sys::CLEARWAY_OK => Ok(()),
            sys::CLEARWAY_FULL => Err(EmitError::Full),
            sys::CLEARWAY_STALE | sys::CLEARWAY_CLOSED | sys::CLEARWAY_OVERFLOW => Err(EmitError::Ended),
            status => Err(EmitError::Refused(Error::new(status.into(), "the host refused the event"))),
        }
    }

    /// Returns whether the listener has left.
    pub fn is_cancelled(&self) -> bool {
        lock(&self.heard.state).cancelled
    }

    /// Waits until the listener has left, but at most `pause`. Use it as a pause between events. Returns whether the listener has left.
    pub fn is_cancelled_within(&self, pause: Duration) -> bool {
        let waits = |state: &mut State| !state.cancelled;
        let waited = self.heard.changed.wait_timeout_while(lock(&self.heard.state), pause, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0.cancelled
    }

    /// Ends the stream. Events that were emitted before still arrive.
    pub fn end(mut self) {
        self.over = true;
        // SAFETY: the host checks the handle, which is stale if the listener has left.
        unsafe { (self.host.end)(self.handle) };
    }

    /// Ends the stream with an error.
    pub fn fail(mut self, error: impl Into<Error>) {
        self.over_with(&error.into());
    }

    fn over_with(&mut self, error: &Error) {
        self.over = true;
        // SAFETY: the text is lent during the call. The host checks the handle, which is stale if the listener has left.
        unsafe { (self.host.end_error)(self.handle, error.status().number(), sys::Text::of(error.text())) };
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        lock(&self.all.0).remove(&self.handle);
        if self.over {
            return;
        }
        {
            let mut state = lock(&self.heard.state);
            state.dropped = true;
            if state.starting {
                return;
            }
        }
        if std::thread::panicking() {
            self.over_with(&Error::new(Status::Panicked, "the plugin panicked"));
        } else {
            // SAFETY: the host checks the handle, which is stale if the listener has left.
            unsafe { (self.host.end)(self.handle) };
        }
    }
}
