// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that wait for their answer. Each call has one atomic word of state, besides its data:
//!
//! ```text
//!    63  36 35        8 7   6   5      4      3        2      1         0
//!   ┌──────┬───────────┬─────┬───────┬──────┬──────────┬──────┬─────────┬─────────┐
//!   │ 0    │ generation│ 0   │ empty │ live │ given up │ left │ written │ claimed │
//!   └──────┴───────────┴─────┴───────┴──────┴──────────┴──────┴─────────┴─────────┘
//! ```
//!
//! - The answerer sets *claimed* by a compare-exchange that includes the generation. Exactly one answerer succeeds.
//! - The answerer stores the answer and sets *written*. The caller sets *left* after its handler has returned. Each of the two sees
//!   whether the other was first, and the second one handles the answer: an answerer passes the answer on, a caller returns it.
//! - An answer without content is the bit *empty*, set together with *written*. The answer's cell stays unused.

use crate::handle::{self, GENERATION_MAX, Kind, SLOTS_MAX};
use crate::slots::{Free, Segments, segments};
use crate::sync::{AtomicU64, Mutex, Ordering, UnsafeCell, lock};

const CLAIMED: u64 = 1;
const WRITTEN: u64 = 2;
const LEFT: u64 = 4;
const GIVEN_UP: u64 = 8;
const LIVE: u64 = 16;
const EMPTY: u64 = 32;
const GENERATION: u32 = 8;

/// An answer type that has a value without content.
pub(crate) trait Empty {
    /// Returns the answer without content.
    fn empty() -> Self;
}

/// The calls of the process. `M` names the receiver of the answer `A`.
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
// `meta`. The thread that claimed the call writes `answer`. The second of answerer and caller takes `answer`. `word` orders all of these.
unsafe impl<M: Send, A: Send> Sync for Slot<M, A> {}

impl<M, A> Slot<M, A> {
    /// Publishes the answer by setting `bits`. Only the thread that claimed the call may do this.
    #[inline]
    fn written(&self, bits: u64, inside: bool) -> Answered {
        if inside {
            // After the claim, only *left* can change the word. This same thread sets *left*, but later. A store costs less than an
            // exchange.
            let word = self.word.load(Ordering::Relaxed);
            self.word.store(word | bits, Ordering::Release);
            return Answered::InHand;
        }
        // Release: pairs with the acquire in `leave_written`, `leave` and `take`. Acquire: pairs with the release of *left* in `leave`.
        let before = self.word.fetch_or(bits, Ordering::AcqRel);
        if before & LEFT != 0 { Answered::PassOn } else { Answered::InHand }
    }
}

/// The state of the answer when the caller's handler has returned.
pub(crate) enum Written<A> {
    /// An answer.
    Answer(A),
    /// An answer without content.
    Empty,
    /// No answer yet; the call goes on.
    Not,
}

/// The answerer's next step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// Do nothing: the caller has not left yet and takes the answer when it does.
    InHand,
    /// Pass it on: the caller has left.
    PassOn,
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

    /// Reserves a slot for a call. Returns `None` when all four million are taken.
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
            let slots = (0..if cfg!(loom) { 4 } else { size }).map(|_| Slot {
                word: AtomicU64::new(1 << GENERATION),
                owner: AtomicU64::new(0),
                meta: UnsafeCell::new(None),
                answer: UnsafeCell::new(None),
            });
            slots.collect()
        });
        Some(index)
    }

    /// Frees a slot that has no call. Does not free a slot whose generations are used up; no later call uses that slot.
    pub(crate) fn give_back(&self, index: u32) {
        if self.reusable(index) {
            lock(&self.free).indices.push(index);
        }
    }

    /// Returns whether the slot has a generation left for another call.
    pub(crate) fn reusable(&self, index: u32) -> bool {
        self.slot(index)
            .is_some_and(|slot| (slot.word.load(Ordering::Relaxed) >> GENERATION) < u64::from(GENERATION_MAX))
    }

    /// Begins a call of `owner` in a reserved slot and returns its handle. With `left`, the answer is always passed on.
    #[inline]
    pub(crate) fn begin(&self, index: u32, owner: u64, meta: M, left: bool) -> u64 {
        let slot = self.slot(index).expect("a reserved slot is there");
        let word = slot.word.load(Ordering::Relaxed);
        debug_assert!(word & LIVE == 0, "a slot has one call");
        slot.owner.store(owner, Ordering::Relaxed);
        // SAFETY: the slot is reserved and has no call, so no other thread accesses it.
        slot.meta.with_mut(|at| unsafe { *at = Some(meta) });
        // Release: pairs with the acquire in `claim` and `waiting`.
        slot.word.store(word | LIVE | if left { LEFT } else { 0 }, Ordering::Release);
        handle::join(Kind::Call, (word >> GENERATION) as u32, index)
    }

    /// Answers a call: claims it, then runs `make`. Returns the receiver and whether to pass the answer on. Returns `None` for a stale
    /// handle and for a call that was answered.
    ///
    /// `inside` means that this thread runs the call's handler on behalf of the caller. The caller then cannot leave before this returns.
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
        // SAFETY: `meta` was written before the handle was published. The next write needs the end of the call, and that needs this
        // thread's answer.
        let meta = slot.meta.with(|at| unsafe { *at }).expect("a live call says for whom it is");
        Some((slot, meta))
    }

    /// Returns the owner of a call that waits for an answer. The result is only a hint: another thread may answer the call at once.
    pub(crate) fn owner(&self, handle: u64) -> Option<u64> {
        self.wanted(handle)?;
        Some(self.find(handle)?.0.owner.load(Ordering::Relaxed))
    }

    /// Ends the call and returns its answer, if it has one. The caller uses this after its handler has returned.
    #[inline]
    pub(crate) fn leave_written(&self, handle: u64) -> Written<A> {
        let Some((slot, _)) = self.find(handle) else { return Written::Not };
        // After *written*, only the caller changes the word: the answerer has finished, and `claim` refuses later answerers. Acquire:
        // pairs with the release in `written`.
        match slot.word.load(Ordering::Acquire) & (WRITTEN | EMPTY) {
            WRITTEN => self.end(slot).map_or(Written::Not, Written::Answer),
            0 => Written::Not,
            _ => {
                self.end_empty(slot);
                Written::Empty
            }
        }
    }

    /// Records that the caller's handler has returned. If the answer was written meanwhile, ends the call and returns the answer.
    /// Otherwise the answerer will pass the answer on. The caller calls this once for each call.
    pub(crate) fn leave(&self, handle: u64) -> Option<A> {
        let (slot, _) = self.find(handle)?;
        // Acquire: pairs with the release in `written`. Release: pairs with the acquire in `written`; the answerer sees the caller's
        // earlier writes.
        let before = slot.word.fetch_or(LEFT, Ordering::AcqRel);
        if before & WRITTEN != 0 { self.end(slot) } else { None }
    }

    /// Ends the call and returns the answer that was passed on. The receiver calls this once and may then give the slot back.
    pub(crate) fn take(&self, handle: u64) -> Option<(M, A)> {
        let (slot, generation) = self.find(handle)?;
        // Acquire: pairs with the release in `written`.
        let word = slot.word.load(Ordering::Acquire);
        if word >> GENERATION != generation || word & (LIVE | WRITTEN | LEFT) != LIVE | WRITTEN | LEFT {
            return None;
        }
        // SAFETY: the call is written and left, so only the receiver of the answer accesses the slot.
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
        // Release: the next call in this slot begins after this call's last access. `begin` loads the word relaxed. The lock of `free`
        // orders the two, or both run on the thread that keeps the slot.
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

    /// Returns the handles of an owner's calls that are unanswered and whose callers have left.
    pub(crate) fn waiting(&self, owner: u64) -> Vec<u64> {
        let count = lock(&self.free).next;
        let waits = |index: &u32| {
            let slot = self.slot(*index)?;
            // Acquire: pairs with the release in `begin`. If the slot gets another call between the two loads, the handle is stale.
            // `answer` refuses a stale handle.
            let word = slot.word.load(Ordering::Acquire);
            let handle = handle::join(Kind::Call, (word >> GENERATION) as u32, *index);
            let waits = word & (LIVE | LEFT | CLAIMED) == LIVE | LEFT && slot.owner.load(Ordering::Relaxed) == owner;
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
