// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads a plugin's items, for the host.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::answer::To;
use crate::handle::Kind;
use crate::inbox::Next;
use crate::outcome::Item;
use crate::plugin::{INCOMING, Plugin};
use crate::stream::{STREAMS, Stream};
use crate::{answer, handle};

impl Plugin {
    /// Appends up to `max` items to `into`; 0 counts as 1. Keeps the order of a stream's events, and of the messages that one thread has
    /// sent. Returns true if more items are left. No wake follows for those, so the host has to read again. Does not wait for items.
    /// `on_room` of a direct source runs on this thread.
    pub fn read(&self, into: &mut Vec<Item>, max: usize) -> bool {
        let end = into.len().saturating_add(max.max(1));
        // Sources are notified after the inbox is unlocked, because their callbacks may run on this thread and may send messages.
        let mut rooms = Vec::new();
        let more = self.inbox.read(|handle| {
            let more = match handle::kind(handle) {
                kind if kind == Kind::Call as u64 => {
                    self.read_answer(handle, into);
                    false
                }
                kind if kind == Kind::Stream as u64 => self.read_stream(handle, into, end, &mut rooms),
                kind if kind == Kind::Incoming as u64 => {
                    self.incoming.fetch_sub(1, Ordering::Relaxed);
                    into.extend(INCOMING.remove(handle).map(Item::Message));
                    false
                }
                _ => {
                    let (lines, more) = self.take_log(end - into.len());
                    into.extend(lines.into_iter().map(|(level, text)| Item::Log { level, text }));
                    more
                }
            };
            match into.len() < end {
                true if !more => Next::More,
                true => Next::Again(handle),
                false if more => Next::EnoughOf(handle),
                false => Next::Enough,
            }
        });
        for (handle, stream) in rooms {
            self.room(handle, &stream);
        }
        more
    }

    fn read_answer(&self, handle: u64, into: &mut Vec<Item>) {
        self.calls.fetch_sub(1, Ordering::Relaxed);
        if let Some((To::Host { tag, .. }, outcome)) = answer::take(handle) {
            into.push(Item::Answer { tag, outcome });
        }
    }

    /// Reads a stream's events and its end. Returns true if the stream has more to read.
    fn read_stream(&self, handle: u64, into: &mut Vec<Item>, end: usize, rooms: &mut Vec<(u64, Arc<Stream>)>) -> bool {
        let Some(stream) = STREAMS.get(handle) else { return false }; // the stream was cancelled
        let tag = stream.tag;
        let mut copied = (0, 0);
        let mut lost = 0;
        let read = stream.read(end - into.len(), |content, dropped| {
            copied = (copied.0 + u64::from(content.copied > 0), copied.1 + content.copied as u64);
            lost += dropped;
            into.push(Item::Event { tag, stream: handle, dropped, content });
        });
        self.meter.events.fetch_add(read.events as u64, Ordering::Relaxed);
        self.meter.copies.fetch_add(copied.0, Ordering::Relaxed);
        self.meter.copied_bytes.fetch_add(copied.1, Ordering::Relaxed);
        if let Some((failure, dropped)) = read.ended {
            lost += dropped;
            self.forget(handle);
            into.push(Item::End { tag, stream: handle, dropped, failure });
        }
        self.meter.dropped.fetch_add(lost, Ordering::Relaxed);
        if read.room {
            rooms.push((handle, stream));
        }
        read.more
    }

    /// Returns the number of calls in flight, the number of unread messages, and the number of listeners.
    pub fn in_flight(&self) -> (usize, usize, usize) {
        let read = |count: &std::sync::atomic::AtomicUsize| count.load(Ordering::Relaxed);
        (read(&self.calls), read(&self.incoming), read(&self.streams))
    }
}
