// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way of one thread to one channel, on which a call costs least.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use clearway_plugin::{Content, Status};

use crate::content::Given;
use crate::entry::Entry;
use crate::gate::Lane;
use crate::memory::resolve;
use crate::plugin::{Channel, Plugin};
use crate::send::{Direct, Sent};
use crate::sync::lock;

/// A way to one channel, for who sends there often and on one thread at a time: it looks its handler up once.
pub struct Line {
    plugin: Arc<Plugin>,
    channel: Arc<Channel>,
    handler: Option<Way>,
    // Counted here, and added to the plugin's meter now and then: an addition that others may see costs 5 ns.
    messages: u64,
    // What was lent last: its handle is looked at each time, its place once.
    lent: Option<Lent>,
}

struct Way {
    entry: Arc<Entry>,
    // A call goes in and out by it without an exchange: these were a third of what a null message cost.
    lane: Arc<Lane>,
}

#[derive(Clone, Copy)]
struct Lent {
    memory: u64,
    // A number, since it is only compared and handed on: a line may go to another thread.
    data: usize,
    size: usize,
}

impl Line {
    /// A way to a channel, which need not have a handler yet.
    pub fn new(plugin: &Arc<Plugin>, name: &str) -> Result<Line, Status> {
        Ok(Line { plugin: plugin.clone(), channel: plugin.channel(name)?, handler: None, messages: 0, lent: None })
    }

    /// As [`Plugin::send`].
    pub fn send(&mut self, content: &Given<'_>, tag: u64, answer_wanted: bool) -> Result<Sent, Status> {
        let (plugin, handler) = self.ready()?;
        plugin.send_to(&handler.entry, content, tag, answer_wanted)
    }

    /// The same, where an answer is wanted. `more` is written to where that is what is returned.
    #[inline]
    pub fn call(&mut self, content: &Given<'_>, tag: u64, more: &mut Option<Sent>) -> Result<Direct, Status> {
        let (plugin, Way { entry, lane }) = self.ready()?;
        if entry.queue.is_some() {
            *more = Some(plugin.send_to(entry, content, tag, true)?);
            return Ok(Direct::More);
        }
        plugin.open()?;
        let content = content.checked()?;
        plugin.call(|call| entry.message_by(lane, &content, call), &content, tag, false, more)
    }

    /// The same for a memory that the caller has a reference to, and keeps until it has the answer: no reference is made for a handler
    /// that answers with it.
    #[inline]
    pub fn lend(&mut self, memory: u64, tag: u64, more: &mut Option<Sent>) -> Result<Direct, Status> {
        let Lent { data, size, .. } = match self.lent {
            Some(lent) if lent.memory == memory && resolve::is_live(memory) => lent,
            _ => {
                let view = resolve::look(memory)?;
                *self.lent.insert(Lent { memory, data: view.data as usize, size: view.size })
            }
        };
        let content = Content { data: data as *const u8, size, memory, ..Content::NULL };
        let (plugin, Way { entry, lane }) = self.ready()?;
        if entry.queue.is_some() {
            // SAFETY: the core's own view of a memory, whose handle is looked at again.
            *more = Some(plugin.send_to(entry, &unsafe { Given::raw(content) }, tag, true)?);
            return Ok(Direct::More);
        }
        plugin.open()?;
        plugin.call(|call| entry.message_by(lane, &content, call), &content, tag, true, more)
    }

    #[inline]
    fn ready(&mut self) -> Result<(&Plugin, &Way), Status> {
        self.messages += 1;
        if self.messages == 1024 {
            self.count();
        }
        if self.handler.as_ref().is_none_or(|handler| handler.entry.is_closed()) {
            let found = lock(&self.channel.handler).clone();
            self.handler = found.map(|entry| Way { lane: entry.lane(), entry });
        }
        let handler = self.handler.as_ref().ok_or_else(|| self.plugin.nobody())?;
        Ok((&self.plugin, handler))
    }

    fn count(&mut self) {
        self.plugin.meter.messages.fetch_add(std::mem::take(&mut self.messages), Ordering::Relaxed);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.count();
    }
}
