// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams of events. The host listens to them, and plugins emit them.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use clearway_sys::{
    CLEARWAY_FULL, CLEARWAY_INVALID_ARGUMENT, CLEARWAY_NO_HANDLER, CLEARWAY_OUT_OF_MEMORY, CLEARWAY_STALE, Status,
};

use crate::content::Given;
use crate::entry::{Entry, refusal};
use crate::outcome::Failure;
use crate::plugin::{Channel, PLUGINS, Plugin};
use crate::queue::{Job, Ran};
use crate::stream::{STREAMS, Stream, Window};
use crate::sync::lock;

impl Plugin {
    /// Listens to a channel's events and returns the stream's handle. The host then reads the events and finally the stream's end, all with
    /// `tag`. If the source refuses, the stream ends with the source's status. Copies argument bytes that are not in a memory.
    pub fn listen(&self, channel: &Channel, arguments: &Given<'_>, window: Window, tag: u64) -> Result<u64, Status> {
        self.open()?;
        if window.items == 0 || window.bytes == 0 {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        let source = lock(&channel.source).clone().ok_or(CLEARWAY_NO_HANDLER)?;
        let kept = arguments.keep()?;
        if self.streams.fetch_add(1, Ordering::Relaxed) >= self.options.streams_max {
            self.streams.fetch_sub(1, Ordering::Relaxed);
            return Err(CLEARWAY_FULL);
        }
        let stream = Arc::new(Stream::new(self.id(), tag, source.clone(), window));
        let Ok(handle) = STREAMS.insert(stream.clone()) else {
            self.streams.fetch_sub(1, Ordering::Relaxed);
            return Err(CLEARWAY_OUT_OF_MEMORY);
        };
        // Closing cancels all streams. Either this thread sees that the plugin is closed, or `shut` sees the stream, because one of the
        // two fences comes first.
        fence(Ordering::SeqCst);
        if let Err(closed) = self.open() {
            drop(self.forget(handle));
            return Err(closed);
        }
        let tell = move |ran: Ran| {
            if ran == Ran::Cancelled || !stream.begin() {
                return;
            }
            let guard = stream.source.enter();
            let status = guard.as_ref().map(|guard| kept.lend(|arguments| guard.listen(arguments, handle)));
            if let Some(status) = refusal(status) {
                let _ = end(handle, Some(Failure::of(status))); // fails if the source has ended the stream or the listener has left
            } else if let (Some(guard), true) = (guard, stream.listen_returned()) {
                guard.cancel(handle);
            }
        };
        match &source.queue {
            None => tell(Ran::After(Duration::ZERO)),
            Some(queue) => queue.push(Box::new(tell)).map_err(|(why, _)| {
                drop(self.forget(handle));
                why.status()
            })?,
        }
        Ok(handle)
    }

    /// Returns a stream if it belongs to this plugin, else `CLEARWAY_STALE`.
    fn own(&self, stream: u64) -> Result<Arc<Stream>, Status> {
        STREAMS.get(stream).filter(|listened| listened.plugin == self.id()).ok_or(CLEARWAY_STALE)
    }

    /// Lets the host read `events` more events. Returns `CLEARWAY_STALE` for a stream that has ended or belongs to another plugin.
    pub fn credit(&self, stream: u64, events: u64) -> Result<(), Status> {
        let listened = self.own(stream)?;
        if listened.credit(events) {
            self.inbox.put(stream);
        }
        Ok(())
    }

    /// Stops listening: drops queued events and notifies the source. The host reads no more of the stream's events. Returns
    /// `CLEARWAY_STALE` for a stream that has ended or belongs to another plugin.
    pub fn cancel(&self, stream: u64) -> Result<(), Status> {
        let guard = self.own(stream)?.source.enter();
        let listened = self.forget(stream).ok_or(CLEARWAY_STALE)?;
        if let (true, Some(guard)) = (listened.cancel(), guard) {
            notify(&listened.source, Box::new(move |_| guard.cancel(stream)));
        }
        Ok(())
    }

    pub(crate) fn forget(&self, stream: u64) -> Option<Arc<Stream>> {
        let forgotten = STREAMS.remove(stream)?;
        self.streams.fetch_sub(1, Ordering::Relaxed);
        Some(forgotten)
    }

    /// Notifies a source that its stream has room again.
    pub(crate) fn room(&self, handle: u64, stream: &Arc<Stream>) {
        let listened = stream.clone();
        let tell = move |_: Ran| {
            if let (true, Some(guard)) = (listened.room_is_due(), listened.source.enter()) {
                guard.room(handle);
            }
        };
        notify(&stream.source, Box::new(tell));
    }

    /// Returns the handles of this plugin's streams. With `source`, returns only the streams of that source.
    pub(crate) fn listened(&self, source: Option<&Arc<Entry>>) -> Vec<u64> {
        let own = |stream: &Arc<Stream>| {
            stream.plugin == self.id() && source.is_none_or(|source| Arc::ptr_eq(source, &stream.source))
        };
        STREAMS.handles(own)
    }
}

/// Runs a job where the entry's callbacks run: on its queue, or on the calling thread for a direct entry. A source relies on these
/// notifications, so even a full queue takes the job. At most two such jobs of a listener wait at a time: one for its cancellation, and one
/// for room.
fn notify(entry: &Entry, job: Job) {
    match &entry.queue {
        None => job(Ran::After(Duration::ZERO)),
        Some(queue) => queue.push_always(job),
    }
}

/// Queues an event that a plugin emits.
pub(crate) fn emit(handle: u64, content: &Given<'_>) -> Result<(), Status> {
    let stream = STREAMS.get(handle).ok_or(CLEARWAY_STALE)?;
    let (taken, schedule) = stream.emit(content);
    if schedule {
        tell(handle, &stream);
    }
    taken
}

/// Ends a stream on behalf of its plugin.
pub(crate) fn end(handle: u64, failure: Option<Failure>) -> Result<(), Status> {
    let stream = STREAMS.get(handle).ok_or(CLEARWAY_STALE)?;
    if stream.end(failure)? {
        tell(handle, &stream);
    }
    Ok(())
}

fn tell(handle: u64, stream: &Stream) {
    if let Some(plugin) = PLUGINS.get(stream.plugin) {
        plugin.inbox.put(handle);
    }
}
