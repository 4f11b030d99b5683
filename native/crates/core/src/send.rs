// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages from the host to plugins, and from plugins to the host.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::Instant;

use clearway_sys::{
    CLEARWAY_CLOSED, CLEARWAY_FULL, CLEARWAY_NO_HANDLER, CLEARWAY_OUT_OF_MEMORY, CLEARWAY_PANICKED, CLEARWAY_STALE,
    Content, OnAnswer, Status,
};

use crate::answer;
use crate::answer::{CALLS, To};
use crate::call::Written;
use crate::content::{Given, Kept};
use crate::entry::{Entry, refusal};
use crate::guard::calling;
use crate::outcome::{Failure, Incoming, Outcome, plugin_status};
use crate::plugin::{Channel, INCOMING, LATE_MAX, PLUGINS, Plugin};
use crate::queue::{Queue, Ran};
use crate::sync::lock;

/// The result of sending a message to a plugin.
#[derive(Debug)]
pub enum Sent {
    /// The handler has run on this thread and has answered.
    Answered(Outcome),
    /// The answer is pending. The host will read the answer with the tag, and can give the call up by this handle.
    Pending(u64),
    /// The plugin has the message, and the caller wants no answer.
    Taken,
}

/// The result of a direct call, in a compact form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direct {
    /// The handler has run on this thread. The answer is null.
    Null,
    /// The handler has run on this thread. The answer is exactly the lent memory.
    Back,
    /// Any other result, written to the caller's `more`.
    More,
    /// The handler has a queue. It does not run, because a direct call could not wait for it.
    Queued,
}

impl Plugin {
    /// Sends a message. A direct handler runs on this thread before `send` returns. For other handlers, `send` queues the message and
    /// copies bytes that are not in a memory. Never waits for a queued handler.
    pub fn send(&self, channel: &Channel, content: &Given<'_>, tag: u64, answer_wanted: bool) -> Result<Sent, Status> {
        let handler = lock(&channel.handler).clone().ok_or_else(|| self.missing_handler_status())?;
        self.meter.messages.fetch_add(1, Ordering::Relaxed);
        self.send_to(&handler, content, tag, answer_wanted)
    }

    /// Returns the status for a channel without a handler.
    pub(crate) fn missing_handler_status(&self) -> Status {
        self.open().err().unwrap_or(CLEARWAY_NO_HANDLER)
    }

    pub(crate) fn send_to(
        &self,
        handler: &Arc<Entry>,
        content: &Given<'_>,
        tag: u64,
        answer_wanted: bool,
    ) -> Result<Sent, Status> {
        self.open()?;
        match &handler.queue {
            None if answer_wanted => {
                let mut more = None;
                content.referenced(|content| {
                    self.call(|call| handler.message(content, call), content, tag, false, &mut more)
                })??;
                Ok(more.unwrap_or_else(|| Sent::Answered(Ok(Kept::default()))))
            }
            None => {
                let called = |content: &Content| calling(Some(CLEARWAY_PANICKED), || handler.message(content, 0));
                match refusal(content.referenced(called)?) {
                    None => Ok(Sent::Taken),
                    Some(status) => Err(status),
                }
            }
            Some(queue) => self.enqueue(queue, handler.clone(), content.keep()?, answer_wanted.then_some(tag)),
        }
    }

    /// Calls `handle` for a new call, on this thread. If `lent` is true, the handler may answer with the content itself. If a `Direct`
    /// cannot express the result, writes the result to `more`. A `Sent` is large: returning it would add much to the cost of a null
    /// message.
    #[inline]
    pub(crate) fn call(
        &self,
        handle: impl FnOnce(u64) -> Option<Status>,
        content: &Content,
        tag: u64,
        lent: bool,
        more: &mut Option<Sent>,
    ) -> Result<Direct, Status> {
        let index = answer::reserve_direct().ok_or(CLEARWAY_OUT_OF_MEMORY)?;
        let to = To::Host { plugin: self.id(), tag };
        let call = CALLS.begin(index, self.id(), to, false);
        let run = || handle(call);
        let (status, back) =
            if lent { answer::inside_lending(call, content, run) } else { (answer::inside(call, run), false) };
        if let Some(status) = refusal(status) {
            // If the handler has answered as well, the earlier answer counts.
            let _ = answer::answer(call, || Err(Failure::of(status)));
        }
        match CALLS.take_if_written(call) {
            Written::Empty => {
                answer::keep_direct(index);
                return Ok(if back { Direct::Back } else { Direct::Null });
            }
            Written::Answer(outcome) => {
                *more = Some(Sent::Answered(outcome));
                answer::keep_direct(index);
                return Ok(Direct::More);
            }
            Written::NotYet => {}
        }
        // The call is counted before `handler_returned`, because its answer may reach the inbox as soon as that has set the bit.
        if self.calls.fetch_add(1, Ordering::Relaxed) >= self.options.calls_max + LATE_MAX {
            let _ = answer::answer(call, || Err(Failure::of(CLEARWAY_FULL)));
        }
        let Some(outcome) = CALLS.handler_returned(call) else {
            self.answer_if_closed(call);
            *more = Some(Sent::Pending(call));
            return Ok(Direct::More);
        };
        self.calls.fetch_sub(1, Ordering::Relaxed);
        answer::keep_direct(index);
        *more = Some(Sent::Answered(outcome));
        Ok(Direct::More)
    }

    fn enqueue(
        &self,
        queue: &Arc<Queue>,
        handler: Arc<Entry>,
        content: Kept,
        tag: Option<u64>,
    ) -> Result<Sent, Status> {
        self.meter.copied(content.copied);
        let call = match tag {
            None => 0,
            Some(tag) => self.begin(To::Host { plugin: self.id(), tag })?,
        };
        let id = self.id();
        let job = move |ran: Ran| {
            let status = match ran {
                Ran::After(wait) => {
                    let begun = Instant::now();
                    let status = refusal(content.lend(|content| handler.message(content, call)));
                    if let Some(plugin) = PLUGINS.get(id) {
                        plugin.meter.ran(wait, begun.elapsed());
                    }
                    status
                }
                Ran::Cancelled => Some(CLEARWAY_CLOSED),
            };
            if let (Some(status), true) = (status, call != 0) {
                let _ = answer::answer(call, || Err(Failure::of(status)));
            }
        };
        if let Err((why, _)) = queue.push(Box::new(job)) {
            if call == 0 || self.undo(call) {
                return Err(why.status());
            }
        }
        Ok(if call == 0 { Sent::Taken } else { Sent::Pending(call) })
    }

    /// Begins a call whose answer will be delivered. Counts the call.
    fn begin(&self, to: To) -> Result<u64, Status> {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= self.options.calls_max {
            self.calls.fetch_sub(1, Ordering::Relaxed);
            return Err(CLEARWAY_FULL);
        }
        let Some(index) = CALLS.reserve() else {
            self.calls.fetch_sub(1, Ordering::Relaxed);
            return Err(CLEARWAY_OUT_OF_MEMORY);
        };
        let call = CALLS.begin(index, self.id(), to, true);
        self.answer_if_closed(call);
        Ok(call)
    }

    /// Answers the call if the plugin is closed. `shut` answers all calls that wait. A call may begin to wait while `shut` runs. Then
    /// either this function sees `closed`, or `shut` sees the call, because one of the two fences (the other one is in `shut`) comes first.
    fn answer_if_closed(&self, call: u64) {
        fence(Ordering::SeqCst);
        if self.open().is_err() {
            let _ = answer::answer(call, || Err(Failure::of(CLEARWAY_CLOSED)));
        }
    }

    /// Ends a call that `begin` has begun but that could not be sent. Returns false if closing has already answered the call. That answer
    /// then arrives as usual.
    fn undo(&self, call: u64) -> bool {
        let undone = CALLS.answer(call, false, |_| Err(Failure::of(CLEARWAY_CLOSED))).is_some();
        if undone {
            drop(answer::take(call));
            self.calls.fetch_sub(1, Ordering::Relaxed);
        }
        undone
    }

    /// Gives up a pending message. The message's handler can check for that and stop. The host still reads the answer. Returns false
    /// for a call that was answered, and for another plugin's call.
    pub fn give_up(&self, call: u64) -> bool {
        CALLS.owner(call) == Some(self.id()) && CALLS.give_up(call)
    }

    /// Delivers a plugin's message to the host's inbox.
    pub(crate) fn deliver(
        &self,
        channel: &str,
        content: &Given<'_>,
        on_answer: OnAnswer,
        context: *mut std::ffi::c_void,
    ) -> Result<(), Status> {
        if on_answer.is_none() {
            return self.put(channel, content, on_answer, context);
        }
        self.asks.fetch_add(1, Ordering::Relaxed);
        // Pairs with a fence in `shut`. Either this thread sees that the plugin is closed, or `shut` sees the count and waits for
        // `on_answer`.
        fence(Ordering::SeqCst);
        let sent = self.put(channel, content, on_answer, context);
        if sent.is_err() {
            self.asks.fetch_sub(1, Ordering::Release);
        }
        sent
    }

    /// Delivers as `deliver` does. After an error, `on_answer` will not run.
    fn put(
        &self,
        channel: &str,
        content: &Given<'_>,
        on_answer: OnAnswer,
        context: *mut std::ffi::c_void,
    ) -> Result<(), Status> {
        self.open()?;
        let content = content.keep()?;
        self.meter.messages.fetch_add(1, Ordering::Relaxed);
        self.meter.copied(content.copied);
        if self.incoming.fetch_add(1, Ordering::Relaxed) >= self.options.calls_max {
            self.incoming.fetch_sub(1, Ordering::Relaxed);
            return Err(CLEARWAY_FULL);
        }
        let counted = |status| {
            self.incoming.fetch_sub(1, Ordering::Relaxed);
            status
        };
        let reply = match on_answer {
            None => 0,
            Some(_) => self.begin(To::Plugin { plugin: self.id(), on_answer, context }).map_err(counted)?,
        };
        let incoming = Incoming { channel: channel.into(), content, reply };
        match INCOMING.insert(incoming) {
            Ok(handle) => self.inbox.put(handle),
            Err(_) => {
                let status = counted(CLEARWAY_OUT_OF_MEMORY);
                if reply == 0 || self.undo(reply) {
                    return Err(status);
                }
            }
        }
        Ok(())
    }
}

/// Answers a message, from the host or from a plugin, by the handle of its reply. Returns `CLEARWAY_STALE` if the message was answered
/// before.
pub fn reply(reply: u64, outcome: Result<&Given<'_>, Failure>) -> Result<(), Status> {
    if reply == 0 {
        return Ok(()); // the sender wants no answer
    }
    match outcome {
        Err(failure) => {
            let failure = Failure { status: plugin_status(failure.status), ..failure };
            answer::answer(reply, || Err(failure))
        }
        Ok(content) if content.is_null() => answer::answer_null(reply),
        Ok(content) => {
            if let Some(given) = answer::answer_with_lent(reply, content.as_raw()) {
                return given;
            }
            // `keep` comes before the claim, because `keep` can fail. `wanted` comes before `keep`, because `keep` may copy.
            if CALLS.wanted(reply).is_none() {
                return Err(CLEARWAY_STALE);
            }
            let kept = content.keep()?;
            if kept.copied > 0 {
                let plugin = CALLS.owner(reply).and_then(|owner| PLUGINS.get(owner));
                plugin.inspect(|plugin| plugin.meter.copied(kept.copied));
            }
            answer::answer(reply, || Ok(kept))
        }
    }
}
