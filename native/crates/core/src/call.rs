// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that wait for an answer. One atomic word holds the state of a call:
//!
//! ```text
//!    63  36 35        8 7   6   5      4      3         2         1         0
//!   ┌──────┬───────────┬─────┬───────┬──────┬──────────┬─────────┬─────────┬─────────┐
//!   │ 0    │ generation│ 0   │ empty │ live │ given up │ deliver │ written │ claimed │
//!   └──────┴───────────┴─────┴───────┴──────┴──────────┴─────────┴─────────┴─────────┘
//! ```
//!
//! The caller is the thread that makes the call. The answerer is the thread that answers the call.
//!
//! - *live*: the slot has a call.
//! - *given up*: the caller no longer wants the answer.
//! - *claimed*: the answerer sets this bit by a compare-exchange that includes the generation. Exactly one answerer succeeds.
//! - *written*: the answerer sets this bit after storing the answer.
//! - *deliver*: the answerer has to deliver the answer. A queued call has this bit from its beginning. In a direct call, the caller sets
//!   this bit after the handler has returned without an answer.
//! - *empty*: the answer has no content. The answerer sets this bit together with *written*, and stores nothing.
//!
//! The later one of answerer and caller handles the answer. An answerer that finds *deliver* delivers the answer. A caller that finds
//! *written* takes the answer.

use crate::handle::{self, GENERATION_MAX, Kind, SLOTS_MAX};
use crate::slots::{Free, Segments, segments};
use crate::sync::{AtomicU64, Mutex, Ordering, UnsafeCell, lock};

const CLAIMED: u64 = 1;
const WRITTEN: u64 = 2;
const DELIVER: u64 = 4;
const GIVEN_UP: u64 = 8;
const LIVE: u64 = 16;
const EMPTY: u64 = 32;
const GENERATION: u32 = 8;

/// An answer type with a value for an answer without content.
pub(crate) trait Empty {
    /// Returns the answer without content.
    fn empty() -> Self;
}

/// All calls of the process. `A` is the type of an answer. `M` identifies the answer's receiver.
pub(crate) struct Calls<M, A> {
    segments: Segments<Slot<M, A>>,
    free: Mutex<Free>,
}

struct Slot<M, A> {
    word: AtomicU64,
    owner: AtomicU64,
    meta: UnsafeCell<Option<M>>,
    answer: UnsafeCell<Option<A>>,
}

// SAFETY: the thread that begins the call writes `meta` before it publishes the handle. The thread that claims or ends the call reads
// `meta`. The thread that claimed the call writes `answer`. The later one of answerer and caller takes `answer`. `word` orders all these
// accesses.
unsafe impl<M: Send, A: Send> Sync for Slot<M, A> {}

impl<M, A> Slot<M, A> {
    /// Publishes the answer by setting `bits`. Only the thread that claimed the call may do this. `inside` is explained at `answer`.
    #[inline]
    fn written(&self, bits: u64, inside: bool) -> Answered {
        if inside {
            // After the claim, only the caller changes the word: it sets *deliver*. Here, the caller is this thread, and sets *deliver*
            // later. A store is therefore enough, and costs less than an exchange.
            let word = self.word.load(Ordering::Relaxed);
            self.word.store(word | bits, Ordering::Release);
            return Answered::CallerTakes;
        }
        // Release: pairs with the acquire in `take_if_written`, `handler_returned` and `take`. Acquire: pairs with the release of *deliver*
        // in `handler_returned`.
        let before = self.word.fetch_or(bits, Ordering::AcqRel);
        if before & DELIVER != 0 { Answered::Deliver } else { Answered::CallerTakes }
    }
}

/// The state of the answer after the handler has returned.
pub(crate) enum Written<A> {
    /// An answer.
    Answer(A),
    /// An answer without content.
    Empty,
    /// No answer yet. The call continues.
    NotYet,
}

/// The answerer's next step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// Do nothing. The handler has not returned yet, and the caller takes the answer after that.
    CallerTakes,
    /// Deliver the answer to its receiver. The caller no longer takes it.
    Deliver,
}

impl<M: Copy, A: Empty> Calls<M, A> {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Calls { segments: segments(), free: Mutex::new(Free::new()) }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Calls { segments: segments(), free: Mutex::new(Free::new()) }
    }

    /// Reserves a slot for a call. Returns `None` if all slots (about four million) are taken.
    pub(crate) fn reserve(&self) -> Option<u32> {
        let mut free = lock(&self.free);
        if let Some(index) = free.indices.pop() {
            return Some(index);
        }
        let index = free.next;
        if index == SLOTS_MAX {
            return None;
        }
        free.next += 1;
        drop(free);
        let (segment, _, size) = handle::place(index);
        self.segments[segment].get_or_init(|| {
            let first = u64::from(handle::generations_start() + 1);
            let slots = (0..if cfg!(loom) { 4 } else { size }).map(|_| Slot {
                word: AtomicU64::new(first << GENERATION),
                owner: AtomicU64::new(0),
                meta: UnsafeCell::new(None),
                answer: UnsafeCell::new(None),
            });
            slots.collect()
        });
        Some(index)
    }

    /// Frees a slot that has no call. Never frees a slot whose generations are used up, so no later call uses such a slot.
    pub(crate) fn free_slot(&self, index: u32) {
        if self.reusable(index) {
            lock(&self.free).indices.push(index);
        }
    }

    /// Returns whether the slot has a generation left for another call.
    pub(crate) fn reusable(&self, index: u32) -> bool {
        self.slot(index)
            .is_some_and(|slot| (slot.word.load(Ordering::Relaxed) >> GENERATION) < u64::from(GENERATION_MAX))
    }

    /// Begins a call in a reserved slot and returns the call's handle. `owner` is the plugin's id. If `deliver` is true, the answerer always
    /// delivers the answer.
    #[inline]
    pub(crate) fn begin(&self, index: u32, owner: u64, meta: M, deliver: bool) -> u64 {
        let slot = self.slot(index).expect("a reserved slot is there");
        let word = slot.word.load(Ordering::Relaxed);
        debug_assert!(word & LIVE == 0, "a slot has one call");
        slot.owner.store(owner, Ordering::Relaxed);
        // SAFETY: the slot is reserved and has no call, so no other thread accesses it.
        slot.meta.with_mut(|at| unsafe { *at = Some(meta) });
        // Release: pairs with the acquire in `claim` and `waiting`.
        slot.word.store(word | LIVE | if deliver { DELIVER } else { 0 }, Ordering::Release);
        handle::join(Kind::Call, (word >> GENERATION) as u32, index)
    }

    /// Answers a call: claims it, then runs `make`. Returns the receiver and whether to deliver the answer. Returns `None` for a stale
    /// handle and for a call that was answered.
    ///
    /// `inside` means that this thread runs the call's handler on behalf of the caller. The handler then cannot return before this function
    /// does.
    pub(crate) fn answer(&self, handle: u64, inside: bool, make: impl FnOnce(&M) -> A) -> Option<(M, Answered)> {
        let (slot, meta) = self.claim(handle)?;
        let answer = make(&meta);
        // SAFETY: this thread claimed the call and has not set *written* yet, so no other thread accesses the cell.
        slot.answer.with_mut(|at| unsafe { *at = Some(answer) });
        Some((meta, slot.written(WRITTEN, inside)))
    }

    /// Answers a call without content, as `answer` does.
    #[inline]
    pub(crate) fn answer_empty(&self, handle: u64, inside: bool) -> Option<(M, Answered)> {
        let (slot, meta) = self.claim(handle)?;
        Some((meta, slot.written(WRITTEN | EMPTY, inside)))
    }

    #[inline]
    fn claim(&self, handle: u64) -> Option<(&Slot<M, A>, M)> {
        let (slot, generation) = self.find(handle)?;
        let mut word = slot.word.load(Ordering::Relaxed);
        loop {
            if word >> GENERATION != generation || word & LIVE == 0 || word & CLAIMED != 0 {
                return None;
            }
            // Acquire: pairs with the release in `begin`.
            match slot.word.compare_exchange_weak(word, word | CLAIMED, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        // SAFETY: `meta` was written before the handle was published. Only the next call in this slot writes `meta` again. The next call
        // cannot begin before this thread has answered the present one.
        let meta = slot.meta.with(|at| unsafe { *at }).expect("a live call says for whom it is");
        Some((slot, meta))
    }

    /// Returns the owner of a call that waits for an answer. The result is only a hint: another thread may answer the call at any time.
    pub(crate) fn owner(&self, handle: u64) -> Option<u64> {
        self.wanted(handle)?;
        Some(self.find(handle)?.0.owner.load(Ordering::Relaxed))
    }

    /// Ends the call and returns its answer, if the answer is written. The caller calls this after the handler has returned.
    #[inline]
    pub(crate) fn take_if_written(&self, handle: u64) -> Written<A> {
        let Some((slot, _)) = self.find(handle) else { return Written::NotYet };
        // After *written*, only the caller changes the word: the answerer has finished, and `claim` refuses later answerers. Acquire:
        // pairs with the release in `written`.
        match slot.word.load(Ordering::Acquire) & (WRITTEN | EMPTY) {
            WRITTEN => self.end(slot).map_or(Written::NotYet, Written::Answer),
            0 => Written::NotYet,
            _ => {
                self.end_empty(slot);
                Written::Empty
            }
        }
    }

    /// Records that the handler has returned. If the answer was written meanwhile, ends the call and returns the answer. Otherwise the
    /// answerer will deliver the answer. The caller calls this once for each call.
    pub(crate) fn handler_returned(&self, handle: u64) -> Option<A> {
        let (slot, _) = self.find(handle)?;
        // Acquire: pairs with the release in `written`. Release: pairs with the acquire in `written`. The answerer then sees the caller's
        // earlier writes.
        let before = slot.word.fetch_or(DELIVER, Ordering::AcqRel);
        if before & WRITTEN != 0 { self.end(slot) } else { None }
    }

    /// Ends the call and returns its answer, which the answerer has delivered. The receiver calls this once, and may free the slot
    /// afterwards.
    pub(crate) fn take(&self, handle: u64) -> Option<(M, A)> {
        let (slot, generation) = self.find(handle)?;
        // Acquire: pairs with the release in `written`.
        let word = slot.word.load(Ordering::Acquire);
        if word >> GENERATION != generation || word & (LIVE | WRITTEN | DELIVER) != LIVE | WRITTEN | DELIVER {
            return None;
        }
        // SAFETY: the answer is written and delivered, so only its receiver accesses the slot.
        let meta = slot.meta.with(|at| unsafe { *at })?;
        let answer = self.end(slot)?;
        Some((meta, answer))
    }

    #[inline]
    fn end(&self, slot: &Slot<M, A>) -> Option<A> {
        let answer = match slot.word.load(Ordering::Relaxed) & EMPTY {
            // SAFETY: the answer is written and belongs to this thread alone.
            0 => slot.answer.with_mut(|at| unsafe { (*at).take() }),
            _ => Some(A::empty()),
        };
        self.end_empty(slot);
        answer
    }

    /// Ends the call. Its answer was taken, or is empty.
    #[inline]
    fn end_empty(&self, slot: &Slot<M, A>) {
        let generation = (slot.word.load(Ordering::Relaxed) >> GENERATION) + 1;
        // Release: the next call in this slot begins after this call's last access. `begin` can load the word relaxed: either the lock of
        // `free` orders the two calls, or the same thread keeps the slot and makes both calls.
        slot.word.store(generation << GENERATION, Ordering::Release);
    }

    /// Marks that the caller no longer waits. The answer still arrives. Returns false for a stale handle and for an answered call.
    pub(crate) fn give_up(&self, handle: u64) -> bool {
        let Some((slot, generation)) = self.find(handle) else { return false };
        let mut word = slot.word.load(Ordering::Relaxed);
        while word >> GENERATION == generation && word & LIVE != 0 && word & CLAIMED == 0 {
            match slot.word.compare_exchange_weak(word, word | GIVEN_UP, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Returns whether the caller still waits for the answer. Returns `None` for a stale or answered handle.
    pub(crate) fn wanted(&self, handle: u64) -> Option<bool> {
        let (slot, generation) = self.find(handle)?;
        let word = slot.word.load(Ordering::Relaxed);
        (word >> GENERATION == generation && word & LIVE != 0 && word & CLAIMED == 0).then_some(word & GIVEN_UP == 0)
    }

    /// Returns the handles of an owner's calls that are unanswered and whose answers will be delivered.
    pub(crate) fn waiting(&self, owner: u64) -> Vec<u64> {
        let count = lock(&self.free).next;
        let waits = |index: &u32| {
            let slot = self.slot(*index)?;
            // Acquire: pairs with the release in `begin`. If another call begins in the slot between the two loads, the handle is stale,
            // and `answer` refuses it.
            let word = slot.word.load(Ordering::Acquire);
            let handle = handle::join(Kind::Call, (word >> GENERATION) as u32, *index);
            let waits =
                word & (LIVE | DELIVER | CLAIMED) == LIVE | DELIVER && slot.owner.load(Ordering::Relaxed) == owner;
            waits.then_some(handle)
        };
        (0..count).filter_map(|index| waits(&index)).collect()
    }

    #[inline]
    fn find(&self, handle: u64) -> Option<(&Slot<M, A>, u64)> {
        let (generation, index) = handle::split(Kind::Call, handle)?;
        Some((self.slot(index)?, generation.into()))
    }

    #[inline]
    fn slot(&self, index: u32) -> Option<&Slot<M, A>> {
        let (segment, at, _) = handle::place(index);
        self.segments[segment].get()?.get(at)
    }
}
