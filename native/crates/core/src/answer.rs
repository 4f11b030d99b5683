// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers to calls: from plugins to the host, and from the host to plugins.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clearway_sys::{CLEARWAY_CANCELLED, CLEARWAY_OK, CLEARWAY_STALE, Content, OnAnswer, Status};

use crate::call::{Answered, Calls};
use crate::guard::calling;
use crate::outcome::Outcome;
use crate::plugin::{PLUGINS, Plugin};
use crate::queue::Ran;

/// The receiver of an answer.
#[derive(Clone, Copy)]
pub(crate) enum To {
    /// The host. The tag identifies the call to the host.
    Host { plugin: u64, tag: u64 },
    /// The plugin, which gets the answer through `on_answer`.
    Plugin { plugin: u64, on_answer: OnAnswer, context: *mut c_void },
}

// SAFETY: `To` only carries `context` to the plugin's own function, which the ABI allows on any thread.
unsafe impl Send for To {}

pub(crate) static CALLS: Calls<To, Outcome> = Calls::new();

thread_local! {
    /// The slot for this thread's next direct call (a call whose handler runs on the calling thread). A kept slot avoids the lock that
    /// `reserve` takes.
    static NEXT: Spare = const { Spare(Cell::new(None)) };

    /// The innermost direct call whose handler runs on this thread, or 0.
    static CURRENT_CALL: Cell<u64> = const { Cell::new(0) };

    /// The content that a direct call lends to its handler, and whether the handler has returned that content as its answer.
    static LENT: Lent = const {
        Lent { call: Cell::new(0), memory: Cell::new(0), data: Cell::new(0), size: Cell::new(0), back: Cell::new(false) }
    };
}

/// The lent content. Each field has its own cell, because reading a whole struct just after writing its parts stalls the processor.
struct Lent {
    /// The call whose caller lent the content, or 0.
    call: Cell<u64>,
    memory: Cell<u64>,
    data: Cell<usize>,
    size: Cell<usize>,
    back: Cell<bool>,
}

/// Runs a direct call's handler, and marks this thread as inside the call.
#[inline]
pub(crate) fn inside<R>(call: u64, run: impl FnOnce() -> R) -> R {
    let outer = CURRENT_CALL.replace(call);
    let ran = run();
    CURRENT_CALL.set(outer);
    ran
}

/// Returns whether this thread is in a direct call's handler.
pub(crate) fn is_in_direct_call() -> bool {
    CURRENT_CALL.get() != 0
}

/// Runs a direct call's handler, and records that the caller has lent `content`. The caller keeps its reference to the memory. Also returns
/// whether the handler answered with that content.
#[inline]
pub(crate) fn inside_lending<R>(call: u64, content: &Content, run: impl FnOnce() -> R) -> (R, bool) {
    LENT.with(|lent| {
        let now = (call, content.memory, content.data as usize, content.size, false);
        let outer = lent.replace(now);
        let ran = inside(call, run);
        (ran, lent.replace(outer).4)
    })
}

impl Lent {
    #[inline]
    fn replace(
        &self,
        (call, memory, data, size, back): (u64, u64, usize, usize, bool),
    ) -> (u64, u64, usize, usize, bool) {
        let (call, memory) = (self.call.replace(call), self.memory.replace(memory));
        (call, memory, self.data.replace(data), self.size.replace(size), self.back.replace(back))
    }
}

/// Answers a call with the memory that its caller has lent to the handler on this thread. Such an answer takes no new reference. Returns
/// `None`, without answering, unless `content` is exactly the lent content and has no attachments.
#[inline]
pub(crate) fn answer_with_lent(handle: u64, content: &Content) -> Option<Result<(), Status>> {
    if CURRENT_CALL.get() != handle {
        return None;
    }
    LENT.with(|lent| {
        let same = lent.call.get() == handle
            && lent.memory.get() == content.memory
            && lent.data.get() == content.data as usize
            && lent.size.get() == content.size
            && content.attachments_count == 0;
        same.then(|| {
            CALLS.answer_empty(handle, true).ok_or(CLEARWAY_STALE)?;
            lent.back.set(true);
            Ok(())
        })
    })
}

struct Spare(Cell<Option<u32>>);

impl Drop for Spare {
    fn drop(&mut self) {
        if let Some(index) = self.0.take() {
            CALLS.free_slot(index);
        }
    }
}

/// Takes a slot for a direct call: this thread's kept slot, or a newly reserved one. Returns `None` if no slot is free.
pub(crate) fn reserve_direct() -> Option<u32> {
    // `NEXT` may be empty, for example in a nested call: the outer call has taken the slot. While the thread ends, `NEXT` may already be
    // destroyed.
    NEXT.try_with(|next| next.0.take()).ok().flatten().or_else(|| CALLS.reserve())
}

/// Keeps the slot of a call that has ended, for this thread's next direct call.
pub(crate) fn keep_direct(index: u32) {
    let kept = CALLS.reusable(index)
        && NEXT.try_with(|next| next.0.replace(Some(index)).map(|other| CALLS.free_slot(other))).is_ok();
    if !kept {
        CALLS.free_slot(index);
    }
}

/// Answers a call with the result of `make`. `make` runs only after this thread has claimed the call. Returns `CLEARWAY_STALE` if the
/// call was answered before or its handle is stale.
pub(crate) fn answer(handle: u64, make: impl FnOnce() -> Outcome) -> Result<(), Status> {
    let (to, answered) = CALLS.answer(handle, CURRENT_CALL.get() == handle, |_| make()).ok_or(CLEARWAY_STALE)?;
    if answered == Answered::Deliver {
        deliver(handle, to);
    }
    Ok(())
}

/// Answers a call with a null message.
pub(crate) fn answer_null(handle: u64) -> Result<(), Status> {
    let (to, answered) = CALLS.answer_empty(handle, CURRENT_CALL.get() == handle).ok_or(CLEARWAY_STALE)?;
    if answered == Answered::Deliver {
        deliver(handle, to);
    }
    Ok(())
}

fn deliver(handle: u64, to: To) {
    match to {
        To::Host { plugin, .. } => match PLUGINS.get(plugin) {
            Some(plugin) => plugin.inbox.put(handle),
            None => drop(take(handle)),
        },
        To::Plugin { plugin, .. } => match PLUGINS.get(plugin) {
            Some(plugin) => deliver_to_plugin(plugin, handle),
            None => drop(take(handle)),
        },
    }
}

/// Delivers the host's answer to the plugin, on the plugin's pool.
fn deliver_to_plugin(plugin: Arc<Plugin>, handle: u64) {
    plugin.answering.fetch_add(1, Ordering::Relaxed);
    // Release: pairs with the acquire in `answers_are_over`, which sees the addition above if it sees this subtraction.
    plugin.asks.fetch_sub(1, Ordering::Release);
    let pool = plugin.pool.clone();
    let job = move |_: Ran| {
        plugin.calls.fetch_sub(1, Ordering::Relaxed);
        if let Some((To::Plugin { on_answer: Some(call), context, .. }, outcome)) = take(handle) {
            // SAFETY: the function and its context come from the plugin, and this job calls the function once. `on_close` may free the
            // context, but runs only after `answers_are_over`.
            let tell = |status, content: &Content| calling((), || unsafe { call(context, status, content) });
            match outcome {
                Ok(content) => content.lend(|content| tell(CLEARWAY_OK, content)),
                Err(failure) => tell(failure.status, &Content::NULL),
            }
        }
        // Release: pairs with the acquire in `answers_are_over`. `on_answer` happens before `on_close`.
        plugin.answering.fetch_sub(1, Ordering::Release);
    };
    pool.push_always(Box::new(job)); // the limit of calls in flight bounds the number of these jobs
}

impl Plugin {
    /// Returns whether no `on_answer` runs, and none will run.
    pub(crate) fn answers_are_over(&self) -> bool {
        let none_waits = self.asks.load(Ordering::Acquire) == 0 || PLUGINS.get(self.id()).is_none();
        none_waits && self.answering.load(Ordering::Acquire) == 0
    }
}

/// Returns a delivered answer, and frees the call's slot.
pub(crate) fn take(handle: u64) -> Option<(To, Outcome)> {
    let taken = CALLS.take(handle)?;
    CALLS.free_slot(crate::handle::index(handle));
    Some(taken)
}

/// Checks whether the caller still waits for this answer. Returns `CLEARWAY_CANCELLED` if the caller has given the call up, and
/// `CLEARWAY_STALE` if the call was answered or the handle is stale.
pub(crate) fn wanted(handle: u64) -> Result<(), Status> {
    match CALLS.wanted(handle) {
        Some(true) => Ok(()),
        Some(false) => Err(CLEARWAY_CANCELLED),
        None => Err(CLEARWAY_STALE),
    }
}
