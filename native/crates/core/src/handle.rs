// SPDX-License-Identifier: MIT OR Apache-2.0

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

// A handle is a number of 53 bits, so that a JavaScript number holds it:
//
//    52   50 49                        22 21                    0
//    ┌──────┬────────────────────────────┬──────────────────────┐
//    │ kind │ generation, at least 1     │ index of the slot    │
//    └──────┴────────────────────────────┴──────────────────────┘
//
// Each copy of this library in a process starts its generations at a random number. A handle of another copy is therefore stale, although
// the slots have the same indices.
//
// A slot whose generations are used up is never used again. A handle therefore never names another object later.

/// The kind of object that a handle names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub(crate) enum Kind {
    Memory = 1,
    Call = 2,
    Stream = 3,
    Plugin = 4,
    Incoming = 5,
    Log = 6,
    Held = 7,
}

const INDEX_BITS: u32 = 22;
const GENERATION_BITS: u32 = 28;

/// The last generation of a slot.
pub(crate) const GENERATION_MAX: u32 = (1 << GENERATION_BITS) - 1;
/// The maximum number of slots of one kind.
pub(crate) const SLOTS_MAX: u32 = 1024 * ((1 << SEGMENTS) - 1);
/// The number of segments of a table. The first segment has 1024 slots. Each next one has twice as many.
pub(crate) const SEGMENTS: usize = 12;

/// Returns the number before the first generation of every slot. Leaves at least half of the generations.
pub(crate) fn generations_start() -> u32 {
    static START: OnceLock<u32> = OnceLock::new();
    *START.get_or_init(|| RandomState::new().hash_one(0) as u32 & (GENERATION_MAX >> 1))
}

pub(crate) const fn join(kind: Kind, generation: u32, index: u32) -> u64 {
    (kind as u64) << (INDEX_BITS + GENERATION_BITS) | (generation as u64) << INDEX_BITS | index as u64
}

/// Returns the generation and the index. Returns `None` if the handle has another kind or an impossible index.
pub(crate) const fn split(kind: Kind, handle: u64) -> Option<(u32, u32)> {
    if handle >> (INDEX_BITS + GENERATION_BITS) != kind as u64 {
        return None;
    }
    let index = (handle & ((1 << INDEX_BITS) - 1)) as u32;
    let generation = (handle >> INDEX_BITS) as u32 & GENERATION_MAX;
    if index < SLOTS_MAX { Some((generation, index)) } else { None }
}

/// Returns the segment of an index, the place in that segment, and the segment's size.
pub(crate) const fn place(index: u32) -> (usize, usize, usize) {
    let segment = (index / 1024 + 1).ilog2();
    (segment as usize, (index - 1024 * ((1 << segment) - 1)) as usize, 1024 << segment)
}

/// Returns the kind of a handle. Functions that accept several kinds use this.
pub(crate) const fn kind(handle: u64) -> u64 {
    handle >> (INDEX_BITS + GENERATION_BITS)
}

/// Returns the index of a valid handle.
pub(crate) const fn index(handle: u64) -> u32 {
    (handle & ((1 << INDEX_BITS) - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_taken_apart_as_it_was_put_together_and_fits_a_javascript_number() {
        let handle = join(Kind::Incoming, GENERATION_MAX, SLOTS_MAX - 1);
        assert_eq!(split(Kind::Incoming, handle), Some((GENERATION_MAX, SLOTS_MAX - 1)));
        assert_eq!(split(Kind::Memory, handle), None);
        assert!(join(Kind::Held, GENERATION_MAX, SLOTS_MAX) < 1 << 53);
    }

    #[test]
    fn every_index_has_its_own_place() {
        assert_eq!(place(0), (0, 0, 1024));
        assert_eq!(place(1023), (0, 1023, 1024));
        assert_eq!(place(1024), (1, 0, 2048));
        assert_eq!(place(SLOTS_MAX - 1), (SEGMENTS - 1, (1024 << (SEGMENTS - 1)) - 1, 1024 << (SEGMENTS - 1)));
    }
}
