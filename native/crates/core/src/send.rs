// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages, in both directions.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use clearway_plugin::{
    CLEARWAY_CLOSED, CLEARWAY_FAILED, CLEARWAY_FULL, CLEARWAY_NO_HANDLER, CLEARWAY_OK, CLEARWAY_OUT_OF_MEMORY,
    CLEARWAY_PANICKED, CLEARWAY_PENDING, CLEARWAY_STALE, Content, OnAnswer, Status,
};

use crate::answer::{self, CALLS, Failure, Outcome, To};
use crate::call::Written;
use crate::content::{Given, Kept};
use crate::entry::{Entry, refusal};
use crate::guard::calling;
use crate::item::Incoming;
use crate::plugin::{Channel, INCOMING, PLUGINS, Plugin};
use crate::queue::{Queue, Ran, Refused};
use crate::sync::lock;

/// What became of a message that was sent to a plugin.
#[derive(Debug)]
pub enum Sent {
    /// It was handled on this thread, and answered.
    Answered(Outcome),
    /// It is with the plugin; the answer will be read, with the tag. The handle is for giving up.
    Pending(u64),
    /// It is with the plugin, and no answer is wanted.
    Taken,
}

/// What became of a message whose sender wants an answer, in few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direct {
    /// It was handled on this thread, and the answer is null.
    Null,
    /// The same, and the answer is the memory that was lent, all of it and nothing else.
    Back,
    /// Anything else: it stands where the caller wanted it.
    More,
}

impl Plugin {
    /// Sends a message. A direct handler runs before this returns, on this thread; for others it is queued, and its bytes are copied
    /// where they are not in a memory. Never waits.
    pub fn send(&self, channel: &Channel, content: &Given<'_>, tag: u64, answer_wanted: bool) -> Result<Sent, Status> {
        let handler = lock(&channel.handler).clone().ok_or_else(|| self.nobody())?;
        self.meter.messages.fetch_add(1, Ordering::Relaxed);
        self.send_to(&handler, content, tag, answer_wanted)
    }

    /// Why there is no handler.
    pub(crate) fn nobody(&self) -> Status {
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
                let content = content.checked()?;
                self.call(|call| handler.message(&content, call), &content, tag, false, &mut more)?;
                Ok(more.unwrap_or_else(|| Sent::Answered(Ok(Kept::default()))))
            }
            None => {
                let content = content.checked()?;
                match refusal(calling(Some(CLEARWAY_PANICKED), || handler.message(&content, 0))) {
                    None => Ok(Sent::Taken),
                    Some(status) => Err(status),
                }
            }
            Some(queue) => self.enqueue(queue, handler.clone(), content.keep()?, answer_wanted.then_some(tag)),
        }
    }

    /// Has `handle` called for a new call, on this thread. With `lent`, the content may come back. What a `Direct` does not say is written to `more`: it is large, and moving it about
    /// is a good part of what a null message costs.
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
            // Where it has answered as well, that answer counts.
            let _ = answer::answer(call, || Err(Failure::of(plugin_status(status))));
        }
        match CALLS.leave_written(call) {
            Written::Empty => {
                answer::keep_direct(index);
                return Ok(if back { Direct::Back } else { Direct::Null });
            }
            Written::Answer(outcome) => {
                *more = Some(Sent::Answered(outcome));
                answer::keep_direct(index);
                return Ok(Direct::More);
            }
            Written::Not => {}
        }
        // Counted before it is left: from then on the answer may be in the inbox at any time.
        if self.calls.fetch_add(1, Ordering::Relaxed) >= self.options.calls_max + LATE_MAX {
            let _ = answer::answer(call, || Err(Failure::of(CLEARWAY_FULL)));
        }
        let Some(outcome) = CALLS.leave(call) else {
            self.answer_where_closed(call);
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
                Ran::Not => Some(CLEARWAY_CLOSED),
            };
            if let (Some(status), true) = (status, call != 0) {
                let _ = answer::answer(call, || Err(Failure::of(plugin_status(status))));
            }
        };
        if let Err((why, _)) = queue.push(Box::new(job)) {
            if call == 0 || self.undo(call) {
                return Err(refused(why));
            }
        }
        Ok(if call == 0 { Sent::Taken } else { Sent::Pending(call) })
    }

    /// A call whose answer will be passed on; counted.
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
        self.answer_where_closed(call);
        Ok(call)
    }

    /// Closing answers the calls that wait. One that begins to wait just then either sees the mark, here, or is seen: of the two
    /// fences (the other one stands in `close`) one comes first.
    fn answer_where_closed(&self, call: u64) {
        fence(Ordering::SeqCst);
        if self.open().is_err() {
            let _ = answer::answer(call, || Err(Failure::of(CLEARWAY_CLOSED)));
        }
    }

    /// Ends a call of `begin` that was not sent after all. False where closing was faster, and has answered it already: then that
    /// answer arrives, as that of any call.
    fn undo(&self, call: u64) -> bool {
        let undone = CALLS.answer(call, false, |_| Err(Failure::of(CLEARWAY_CLOSED))).is_some();
        if undone {
            drop(answer::take(call));
            self.calls.fetch_sub(1, Ordering::Relaxed);
        }
        undone
    }

    /// Nobody waits for the answer of a pending message any more: its handler may ask, and stop. It is read all the same. False where
    /// nobody did, and for a call of another plugin's.
    pub fn give_up(&self, call: u64) -> bool {
        CALLS.owner(call) == Some(self.id()) && CALLS.give_up(call)
    }

    /// What a plugin sends to the host: it waits in the inbox.
    pub(crate) fn deliver(
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

    /// An answer of the host's for the plugin, on the plugin's pool.
    pub(crate) fn deliver_answer(&self, handle: u64) {
        let id = self.id();
        let job = move |_: Ran| {
            if let Some(plugin) = PLUGINS.get(id) {
                plugin.calls.fetch_sub(1, Ordering::Relaxed);
            }
            let Some((To::Plugin { on_answer: Some(call), context, .. }, outcome)) = answer::take(handle) else {
                return;
            };
            // SAFETY: the plugin's function, once, with what it asked for; closing waits for it.
            let tell = |status, content: &Content| calling((), || unsafe { call(context, status, content) });
            match outcome {
                Ok(content) => content.lend(|content| tell(CLEARWAY_OK, content)),
                Err(failure) => tell(failure.status, &Content::NULL),
            }
        };
        if let Err((_, job)) = self.pool.push(Box::new(job)) {
            // Closing, full or without threads: here, rather than never.
            job(Ran::After(Duration::ZERO));
        }
    }

    /// Answers a message of the plugin's. `CLEARWAY_STALE` where it was answered, or no answer is wanted.
    pub fn reply(&self, reply: u64, outcome: Result<&Given<'_>, Failure>) -> Result<(), Status> {
        reply_to(reply, outcome)
    }
}

/// As [`Plugin::reply`], for who has the handle alone.
pub fn reply(reply: u64, outcome: Result<&Given<'_>, Failure>) -> Result<(), Status> {
    reply_to(reply, outcome)
}

/// Direct calls that are not answered at once may go that far beyond the limit of calls under way: they have run already. What is
/// beyond that as well is answered `CLEARWAY_FULL` in the handler's place.
pub(crate) const LATE_MAX: usize = 1024;

pub(crate) fn refused(why: Refused) -> Status {
    match why {
        Refused::Closed => CLEARWAY_CLOSED,
        Refused::Full => CLEARWAY_FULL,
        Refused::NoThread => CLEARWAY_OUT_OF_MEMORY,
    }
}

/// A status with which a handler refuses: not one that means that all is well.
pub(crate) fn plugin_status(status: Status) -> Status {
    if status == CLEARWAY_PENDING || status == CLEARWAY_OK { CLEARWAY_FAILED } else { status }
}

/// Answers by a handle, from either side.
pub(crate) fn reply_to(reply: u64, outcome: Result<&Given<'_>, Failure>) -> Result<(), Status> {
    if reply == 0 {
        return Ok(()); // no answer is wanted
    }
    match outcome {
        Err(failure) => {
            let failure = Failure { status: plugin_status(failure.status), ..failure };
            answer::answer(reply, || Err(failure))
        }
        Ok(content) if content.is_null() => answer::answer_null(reply),
        Ok(content) => {
            if let Some(given) = answer::give_back(reply, content.as_raw()) {
                return given;
            }
            // Kept before it is claimed, because it can fail; looked at before that, because keeping may copy.
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
