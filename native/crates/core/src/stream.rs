// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stream is one listener of an event source. The plugin fills the stream's bounded queue. The host empties the queue within its credit.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use clearway_sys::{CLEARWAY_FULL, CLEARWAY_OVERFLOW, CLEARWAY_STALE, Status};

use crate::content::{Given, Kept};
use crate::entry::Entry;
use crate::handle::Kind;
use crate::outcome::Failure;
use crate::slots::Slots;
use crate::sync::lock;

/// What a stream does with an event that has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Refuses the event with `CLEARWAY_FULL`. The plugin has to wait, and loses nothing.
    Wait,
    /// Ends the stream with `CLEARWAY_OVERFLOW`.
    Fail,
    /// Drops the oldest unread event.
    DropOldest,
    /// Drops the event that finds no room.
    DropNewest,
}

/// The limits of one stream's queue, and the number of events that may be read.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The maximum number of events that may wait: 1 or more.
    pub items: usize,
    /// The maximum number of bytes that may wait, attachments included. An event that is alone in the queue may be larger.
    pub bytes: usize,
    /// The policy for events that exceed these limits.
    pub when_full: WhenFull,
    /// The number of events that may be read before more credit is given; `u64::MAX` for no limit.
    pub credit: u64,
}

/// All streams, by the handle that the host and the plugin use.
pub(crate) static STREAMS: Slots<Arc<Stream>> = Slots::new(Kind::Stream);

pub(crate) struct Stream {
    pub(crate) plugin: u64,
    pub(crate) tag: u64,
    pub(crate) source: Arc<Entry>,
    window: Window,
    state: Mutex<State>,
}

struct State {
    queue: VecDeque<Kept>,
    bytes: u64,
    credit: u64,
    dropped: u64,
    /// Whether the stream's handle is in the inbox, or the reader is processing the stream.
    scheduled: bool,
    /// Whether the plugin waits for room.
    room_wanted: bool,
    /// Whether a notification of room is queued or about to run.
    room_due: bool,
    listening: Listening,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Listening {
    NotYet,
    /// The source's `on_listen` is about to run or is running.
    Begins,
    Yes,
}

enum Phase {
    Open,
    /// The plugin or an overflow has ended the stream. The host still reads the queued events.
    Ended(Option<Failure>),
    /// The listener has cancelled an open stream. The source is notified.
    Cancelled,
    /// The host has read the end, or the listener has cancelled after the end. The source is not notified.
    Gone,
}

/// The result of reading a stream.
pub(crate) struct Read {
    /// The number of events read.
    pub(crate) events: usize,
    /// Whether more can be read: events within the credit, or an end. An end needs no credit.
    pub(crate) more: bool,
    /// The end, if the host has reached it: the failure, and the number of events dropped after the last one.
    pub(crate) ended: Option<(Option<Failure>, u64)>,
    /// Whether the plugin waits for room and the queue has room now.
    pub(crate) room: bool,
}

impl Stream {
    pub(crate) fn new(plugin: u64, tag: u64, source: Arc<Entry>, window: Window) -> Stream {
        let state = State {
            queue: VecDeque::new(),
            bytes: 0,
            credit: window.credit,
            dropped: 0,
            scheduled: false,
            room_wanted: false,
            room_due: false,
            listening: Listening::NotYet,
            phase: Phase::Open,
        };
        Stream { plugin, tag, source, window, state: Mutex::new(state) }
    }

    /// Queues an event, or applies the policy if the queue is full. Copies the event's bytes before taking the lock, so that the copy does
    /// not block the host.
    ///
    /// Also returns whether the reader has to be scheduled.
    pub(crate) fn emit(&self, content: &Given<'_>) -> (Result<(), Status>, bool) {
        match self.queued(content) {
            Ok(schedule) => (Ok(()), schedule),
            Err((status, schedule)) => (Err(status), schedule),
        }
    }

    fn queued(&self, content: &Given<'_>) -> Result<bool, (Status, bool)> {
        let quietly = |status| (status, false);
        if self.window.when_full == WhenFull::Wait {
            let mut state = lock(&self.state);
            self.room_or_wait(&mut state, 0).map_err(quietly)?;
        }
        let event = content.keep().map_err(quietly)?;
        let mut dropped = Vec::new(); // released outside of the lock, because a release callback may run any code
        let mut state = lock(&self.state);
        if !matches!(state.phase, Phase::Open) {
            return Err(quietly(CLEARWAY_STALE));
        }
        let size = event.size();
        match self.window.when_full {
            WhenFull::Wait => self.room_or_wait(&mut state, size).map_err(quietly)?,
            WhenFull::Fail if !self.fits(&state, size) => {
                state.phase = Phase::Ended(Some(Failure::of(CLEARWAY_OVERFLOW)));
                let schedule = state.credit > 0 && state.schedule();
                return Err((CLEARWAY_OVERFLOW, schedule));
            }
            WhenFull::DropNewest if !self.fits(&state, size) => {
                state.dropped += 1;
                return Ok(false);
            }
            WhenFull::DropOldest => {
                while !self.fits(&state, size) {
                    let Some(oldest) = state.queue.pop_front() else { break };
                    state.bytes -= oldest.size();
                    state.dropped += 1;
                    dropped.push(oldest);
                }
            }
            WhenFull::Fail | WhenFull::DropNewest => {}
        }
        state.bytes += size;
        state.queue.push_back(event);
        Ok(state.credit > 0 && state.schedule())
    }

    fn fits(&self, state: &State, size: u64) -> bool {
        state.queue.is_empty()
            || (state.queue.len() < self.window.items && state.bytes.saturating_add(size) <= self.window.bytes as u64)
    }

    fn room_or_wait(&self, state: &mut State, size: u64) -> Result<(), Status> {
        if !matches!(state.phase, Phase::Open) {
            return Err(CLEARWAY_STALE);
        }
        if self.fits(state, size) {
            return Ok(());
        }
        state.room_wanted = true;
        Err(CLEARWAY_FULL)
    }

    /// Ends the stream. Queued events still arrive. Returns true if the reader has to be scheduled.
    pub(crate) fn end(&self, failure: Option<Failure>) -> Result<bool, Status> {
        let mut state = lock(&self.state);
        if !matches!(state.phase, Phase::Open) {
            return Err(CLEARWAY_STALE);
        }
        state.phase = Phase::Ended(failure);
        Ok((state.credit > 0 || state.queue.is_empty()) && state.schedule())
    }

    /// Adds credit. Returns true if the reader has to be scheduled.
    pub(crate) fn credit(&self, more: u64) -> bool {
        let mut state = lock(&self.state);
        state.credit = state.credit.saturating_add(more);
        let something = !state.queue.is_empty() || matches!(state.phase, Phase::Ended(_));
        state.credit > 0 && something && state.schedule()
    }

    /// Marks that the source's `on_listen` is about to run. Returns false if the stream has ended, so that `on_listen` must not run.
    pub(crate) fn begin(&self) -> bool {
        let mut state = lock(&self.state);
        if !matches!(state.phase, Phase::Open) {
            return false;
        }
        state.listening = Listening::Begins;
        true
    }

    /// Marks that the source's `on_listen` has returned. Returns true if the listener cancelled the open stream meanwhile. The caller then
    /// has to notify the source.
    pub(crate) fn listen_returned(&self) -> bool {
        let mut state = lock(&self.state);
        state.listening = Listening::Yes;
        matches!(state.phase, Phase::Cancelled)
    }

    /// Cancels the stream and drops its queued events. Returns true if the caller has to notify the source.
    pub(crate) fn cancel(&self) -> bool {
        let mut state = lock(&self.state);
        let open = matches!(state.phase, Phase::Open);
        let notify = open && state.listening == Listening::Yes;
        // A source that has ended the stream in `on_listen` may have freed what belongs to the stream.
        state.phase = if open { Phase::Cancelled } else { Phase::Gone };
        state.bytes = 0;
        let queue = std::mem::take(&mut state.queue);
        drop(state);
        drop(queue);
        notify
    }

    /// Clears `room_due` before the source's `on_room` runs. Returns false if the stream has ended or the listener has left.
    pub(crate) fn room_is_due(&self) -> bool {
        let mut state = lock(&self.state);
        state.room_due = false;
        matches!(state.phase, Phase::Open)
    }

    /// Takes up to `max` events within the credit. The end counts as one event. If the last event takes the last place, the end therefore
    /// waits for the next read.
    pub(crate) fn read(&self, max: usize, mut each: impl FnMut(Kept, u64)) -> Read {
        let mut state = lock(&self.state);
        let allowed = (state.credit.min(max as u64) as usize).min(state.queue.len());
        for event in 0..allowed {
            let Some(kept) = state.queue.pop_front() else { break };
            state.bytes -= kept.size();
            let dropped = if event == 0 { std::mem::take(&mut state.dropped) } else { 0 };
            each(kept, dropped);
        }
        if state.credit != u64::MAX {
            state.credit -= allowed as u64;
        }
        let empty = state.queue.is_empty();
        let end_next = empty && matches!(state.phase, Phase::Ended(_));
        let room_for_end = allowed < max;
        let more = if empty { end_next && !room_for_end } else { state.credit > 0 };
        let ended = match &mut state.phase {
            Phase::Ended(failure) if empty && room_for_end => Some(failure.take()),
            _ => None,
        };
        let ended = ended.map(|failure| (failure, std::mem::take(&mut state.dropped)));
        if ended.is_some() {
            state.phase = Phase::Gone;
        }
        state.scheduled = more;
        let half = self.window.items.div_ceil(2).min(self.window.items - 1);
        let room = state.room_wanted
            && matches!(state.phase, Phase::Open)
            && state.queue.len() <= half
            && state.bytes <= self.window.bytes as u64 / 2;
        if room {
            state.room_wanted = false;
        }
        // A source with a queued notification of room needs no second one.
        let room = room && !std::mem::replace(&mut state.room_due, true);
        Read { events: allowed, more, ended, room }
    }
}

impl State {
    fn schedule(&mut self) -> bool {
        !std::mem::replace(&mut self.scheduled, true)
    }
}
