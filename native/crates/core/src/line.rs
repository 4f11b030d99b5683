// SPDX-License-Identifier: MIT OR Apache-2.0
//! A line is a prepared path to one channel's handler: the cheapest way to call one channel often from one thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clearway_sys::{Content, Status};

use crate::content::Given;
use crate::entry::Entry;
use crate::gate::Lane;
use crate::memory::resolve;
use crate::plugin::{Channel, Plugin};
use crate::send::{Direct, Sent};
use crate::sync::lock;

/// A line to one channel, for a frequent caller. Only one thread at a time can use a line. The line looks the handler up once, and again
/// after the plugin has removed the handler.
pub struct Line {
    plugin: Arc<Plugin>,
    channel: Arc<Channel>,
    handler: Option<Way>,
    // The number of messages, which the plugin's meter reads.
    messages: Arc<AtomicU64>,
    // The memory that was lent last. The line checks the handle at each call, but looks the address up only once.
    lent: Option<Lent>,
}

struct Way {
    entry: Arc<Entry>,
    // Calls enter and leave by the lane, without an exchange. The exchanges were a third of the cost of a null message.
    lane: Arc<Lane>,
}

#[derive(Clone, Copy)]
struct Lent {
    memory: u64,
    // The address, as an integer so that a line can move to another thread. The line does not access the bytes.
    data: usize,
    size: usize,
}

impl Line {
    /// Makes a line to a channel. The channel may get its handler later.
    pub fn new(plugin: &Arc<Plugin>, name: &str) -> Result<Line, Status> {
        let (channel, messages) = (plugin.channel(name)?, plugin.meter.line());
        Ok(Line { plugin: plugin.clone(), channel, handler: None, messages, lent: None })
    }

    /// Calls a direct handler. If the function returns `Direct::More`, the result is in `more`.
    #[inline]
    pub fn call(&mut self, content: &Given<'_>, tag: u64, more: &mut Option<Sent>) -> Result<Direct, Status> {
        let Some((plugin, Way { entry, lane })) = self.ready()? else { return Ok(Direct::Queued) };
        plugin.open()?;
        let content = content.checked()?;
        plugin.call(|call| entry.message_by(lane, &content, call), &content, tag, false, more)
    }

    /// Calls a direct handler with a whole memory. The caller keeps its reference until it has the answer. A handler that
    /// answers with that same memory makes no new reference.
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
        let Some((plugin, Way { entry, lane })) = self.ready()? else { return Ok(Direct::Queued) };
        plugin.open()?;
        plugin.call(|call| entry.message_by(lane, &content, call), &content, tag, true, more)
    }

    /// Returns the way to the handler, and counts the message. Returns `None` if the handler has a queue.
    #[inline]
    fn ready(&mut self) -> Result<Option<(&Plugin, &Way)>, Status> {
        if self.handler.as_ref().is_none_or(|handler| handler.entry.is_closed()) {
            let found = lock(&self.channel.handler).clone();
            self.handler = found.map(|entry| Way { lane: entry.lane(), entry });
        }
        let handler = self.handler.as_ref().ok_or_else(|| self.plugin.missing_handler_status())?;
        if handler.entry.queue.is_some() {
            self.plugin.open()?;
            return Ok(None);
        }
        // Only this thread writes the counter, so that a load and a store lose no message.
        self.messages.store(self.messages.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        Ok(Some((&self.plugin, handler)))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.plugin.meter.end_line(&self.messages);
    }
}
