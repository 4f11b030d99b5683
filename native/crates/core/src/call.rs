// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that wait for their answer. A call is one word of state beside what it carries:
//!
//! ```text
//!    63  36 35        8 7   6   5      4      3        2      1         0
//!   ┌──────┬───────────┬─────┬───────┬──────┬──────────┬──────┬─────────┬─────────┐
//!   │ 0    │ generation│ 0   │ empty │ live │ given up │ left │ written │ claimed │
//!   └──────┴───────────┴─────┴───────┴──────┴──────────┴──────┴─────────┴─────────┘
//! ```
//!
//! - who answers sets *claimed* by an exchange that compares the generation: one does, once;
//! - it stores the answer, then sets *written*; the caller, when its handler has returned, sets *left*. Each of the two sees
//!   whether the other was first: the second one passes the answer on. Where the caller was second it has the answer in hand;
//! - an answer with nothing in it is a bit, *empty*, set together with *written*: the place for answers is left alone.

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

/// An answer that may have nothing in it.
pub(crate) trait Empty {
    /// The one that has nothing.
    fn empty() -> Self;
}

/// Calls with a `M` that says for whom the answer `A` is.
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

// SAFETY: `meta` is written by who begins the call, before its handle is known, and read by the one that claims it or ends it;
// `answer` is written by the one that claimed and taken by the second of answerer and caller. The word orders them.
unsafe impl<M: Send, A: Send> Sync for Slot<M, A> {}

impl<M, A> Slot<M, A> {
    /// The answer is there, as the `bits` say. For who has claimed.
    #[inline]
    fn written(&self, bits: u64, inside: bool) -> Answered {
        if inside {
            // Once claimed only leaving changes the word, and that is this thread's to do, later. A store costs less than an exchange.
            let word = self.word.load(Ordering::Relaxed);
            self.word.store(word | bits, Ordering::Release);
            return Answered::InHand;
        }
        // Release: pairs with the acquire in `leave` and `take`; acquire: sees what the caller did before it left.
        let before = self.word.fetch_or(bits, Ordering::AcqRel);
        if before & LEFT != 0 { Answered::PassOn } else { Answered::InHand }
    }
}

/// What is there when the caller's handler has returned.
pub(crate) enum Written<A> {
    /// An answer.
    Answer(A),
    /// An answer with nothing in it.
    Empty,
    /// None yet; the call goes on.
    Not,
}

/// What became of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// The caller has not returned yet; it takes the answer when it does.
    InHand,
    /// The caller has left: the answer is to be passed on to it.
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

    /// A slot for a call, or nothing where all four million are taken.
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

    /// Gives a slot back that has no call; not used again where its generations are used up.
    pub(crate) fn give_back(&self, index: u32) {
        if self.reusable(index) {
            lock(&self.free).indices.push(index);
        }
    }

    /// Whether the slot can have another call.
    pub(crate) fn reusable(&self, index: u32) -> bool {
        self.slot(index)
            .is_some_and(|slot| (slot.word.load(Ordering::Relaxed) >> GENERATION) < u64::from(GENERATION_MAX))
    }

    /// Begins a call of `owner` in a reserved slot; returns its handle. With `left`, its answer is passed on in any case.
    #[inline]
    pub(crate) fn begin(&self, index: u32, owner: u64, meta: M, left: bool) -> u64 {
        let slot = self.slot(index).expect("a reserved slot is there");
        let word = slot.word.load(Ordering::Relaxed);
        debug_assert!(word & LIVE == 0, "a slot has one call");
        slot.owner.store(owner, Ordering::Relaxed);
        // SAFETY: the slot is reserved and has no call: nobody else looks.
        slot.meta.with_mut(|at| unsafe { *at = Some(meta) });
        // Release: pairs with the acquire of whoever claims.
        slot.word.store(word | LIVE | if left { LEFT } else { 0 }, Ordering::Release);
        handle::join(Kind::Call, (word >> GENERATION) as u32, index)
    }

    /// Answers a call: `make` makes the answer once it is sure that this is the one. Nothing where the handle is stale or the call
    /// was answered. Returns for whom, and whether to pass it on.
    ///
    /// `inside`: this is the thread of the caller, in the handler that it calls, so it cannot leave meanwhile.
    pub(crate) fn answer(&self, handle: u64, inside: bool, make: impl FnOnce(&M) -> A) -> Option<(M, Answered)> {
        let (slot, meta) = self.claim(handle)?;
        let answer = make(&meta);
        // SAFETY: claimed by this thread, and not written yet: nobody else looks.
        slot.answer.with_mut(|at| unsafe { *at = Some(answer) });
        Some((meta, slot.written(WRITTEN, inside)))
    }

    /// As `answer`, with nothing in it.
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
        // SAFETY: written before the call was known, and not before it has ended again, which needs the answer of this thread.
        let meta = slot.meta.with(|at| unsafe { *at }).expect("a live call says for whom it is");
        Some((slot, meta))
    }

    /// Whose call it is, where somebody waits for it: a hint.
    pub(crate) fn owner(&self, handle: u64) -> Option<u64> {
        self.wanted(handle)?;
        Some(self.find(handle)?.0.owner.load(Ordering::Relaxed))
    }

    /// The answer, where it is there already; the call ends with it. For the caller, whose handler has returned.
    #[inline]
    pub(crate) fn leave_written(&self, handle: u64) -> Written<A> {
        let Some((slot, _)) = self.find(handle) else { return Written::Not };
        // Once written, nobody but the caller changes the word: who answered is done with it, and who comes later is refused.
        // Acquire: pairs with the release in `answer`.
        match slot.word.load(Ordering::Acquire) & (WRITTEN | EMPTY) {
            WRITTEN => self.end(slot).map_or(Written::Not, Written::Answer),
            0 => Written::Not,
            _ => {
                self.end_empty(slot);
                Written::Empty
            }
        }
    }

    /// The caller's handler has returned: the answer, where it was given meanwhile, with which the call ends. Otherwise the answer
    /// will be passed on. Once a call, by the caller.
    pub(crate) fn leave(&self, handle: u64) -> Option<A> {
        let (slot, _) = self.find(handle)?;
        // Acquire: as above; release: the answerer sees what was done before.
        let before = slot.word.fetch_or(LEFT, Ordering::AcqRel);
        if before & WRITTEN != 0 { self.end(slot) } else { None }
    }

    /// The answer that was passed on; the call ends, and its slot may be given back. Once, by who got it passed.
    pub(crate) fn take(&self, handle: u64) -> Option<(M, A)> {
        let (slot, generation) = self.find(handle)?;
        // Acquire: pairs with the release in `answer`.
        let word = slot.word.load(Ordering::Acquire);
        if word >> GENERATION != generation || word & (LIVE | WRITTEN | LEFT) != LIVE | WRITTEN | LEFT {
            return None;
        }
        // SAFETY: written and left: only the one that it was passed on to looks.
        let meta = slot.meta.with(|at| unsafe { *at })?;
        let answer = self.end(slot)?;
        Some((meta, answer))
    }

    #[inline]
    fn end(&self, slot: &Slot<M, A>) -> Option<A> {
        let answer = match slot.word.load(Ordering::Relaxed) & EMPTY {
            // SAFETY: written, and passed to this thread alone.
            0 => slot.answer.with_mut(|at| unsafe { (*at).take() }),
            _ => Some(A::empty()),
        };
        self.end_empty(slot);
        answer
    }

    /// The call is over, and its answer taken, or none is there to take.
    #[inline]
    fn end_empty(&self, slot: &Slot<M, A>) {
        let generation = (slot.word.load(Ordering::Relaxed) >> GENERATION) + 1;
        // Release: the next one to begin here comes after what was done with the slot.
        slot.word.store(generation << GENERATION, Ordering::Release);
    }

    /// Marks that nobody waits any more; the answer still arrives.
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

    /// Whether an answer is waited for; nothing where the handle is stale or answered.
    pub(crate) fn wanted(&self, handle: u64) -> Option<bool> {
        let (slot, generation) = self.find(handle)?;
        let word = slot.word.load(Ordering::Relaxed);
        (word >> GENERATION == generation && word & LIVE != 0 && word & CLAIMED == 0).then_some(word & GIVEN_UP == 0)
    }

    /// Handles of an owner's calls that nobody has answered and whose callers have left.
    pub(crate) fn waiting(&self, owner: u64) -> Vec<u64> {
        let count = lock(&self.free).next;
        let waits = |index: &u32| {
            let slot = self.slot(*index)?;
            // Acquire: pairs with the release in `begin`. Where the slot has come to another call between the two loads, the
            // handle made of the first is stale, and whoever answers by it is refused.
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
