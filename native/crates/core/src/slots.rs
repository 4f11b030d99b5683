// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table that maps handles to values. Any thread may use it. The memory of a slot is never freed, so looking up any number is safe.
//! After a value was removed, no lookup finds it again.

use std::sync::OnceLock;

use crate::handle::{self, GENERATION_MAX, Kind, SEGMENTS, SLOTS_MAX};
use crate::sync::{AtomicU64, Mutex, Ordering, lock};

pub(crate) struct Slots<T> {
    kind: Kind,
    segments: Segments<Slot<T>>,
    free: Mutex<Free>,
}

struct Slot<T> {
    /// The generation of the slot's value, or 0 without a value. `is_live` reads this field without the lock.
    live: AtomicU64,
    entry: Mutex<Entry<T>>,
}

struct Entry<T> {
    generation: u32,
    value: Option<T>,
}

/// The parts of a table, allocated on first use and never freed.
pub(crate) type Segments<T> = [OnceLock<Box<[T]>>; SEGMENTS];

pub(crate) const fn segments<T>() -> Segments<T> {
    [const { OnceLock::new() }; SEGMENTS]
}

/// The free slots.
pub(crate) struct Free {
    // The slot that was freed last is used first, because its memory is in the cache.
    pub(crate) indices: Vec<u32>,
    // Slots from this index on were never used.
    pub(crate) next: u32,
}

impl Free {
    pub(crate) const fn new() -> Free {
        Free { indices: Vec::new(), next: 0 }
    }
}

impl<T> Slots<T> {
    #[cfg(not(loom))]
    pub(crate) const fn new(kind: Kind) -> Self {
        Slots { kind, segments: segments(), free: Mutex::new(Free::new()) }
    }

    #[cfg(loom)]
    pub(crate) fn new(kind: Kind) -> Self {
        Slots { kind, segments: segments(), free: Mutex::new(Free::new()) }
    }

    /// Stores a value and returns its handle. Returns the value if all slots (about four million) are taken.
    pub(crate) fn insert(&self, value: T) -> Result<u64, T> {
        let index = {
            let mut free = lock(&self.free);
            match free.indices.pop() {
                Some(index) => index,
                None if free.next < SLOTS_MAX => {
                    free.next += 1;
                    free.next - 1
                }
                None => return Err(value),
            }
        };
        let slot = self.slot_or_new(index);
        let mut entry = lock(&slot.entry);
        entry.generation += 1;
        entry.value = Some(value);
        // Relaxed: a reader of the value takes the lock of `entry`.
        slot.live.store(entry.generation.into(), Ordering::Relaxed);
        Ok(handle::join(self.kind, entry.generation, index))
    }

    /// Returns a clone of the value if the handle is live.
    pub(crate) fn get(&self, handle: u64) -> Option<T>
    where
        T: Clone,
    {
        self.look(handle, T::clone)
    }

    /// Runs `look` on the value under its lock.
    pub(crate) fn look<R>(&self, handle: u64, look: impl FnOnce(&T) -> R) -> Option<R> {
        let (generation, index) = handle::split(self.kind, handle)?;
        let entry = lock(&self.existing_slot(index)?.entry);
        if entry.generation != generation {
            return None;
        }
        entry.value.as_ref().map(look)
    }

    /// Returns whether the handle names a value. Takes no lock. The result is only a hint: another thread may remove the value at any time.
    #[inline]
    pub(crate) fn is_live(&self, handle: u64) -> bool {
        let slot = handle::split(self.kind, handle)
            .and_then(|(generation, index)| Some((generation, self.existing_slot(index)?)));
        slot.is_some_and(|(generation, slot)| {
            generation != 0 && slot.live.load(Ordering::Acquire) == u64::from(generation)
        })
    }

    /// Removes and returns the value. The handle is stale afterwards.
    pub(crate) fn remove(&self, handle: u64) -> Option<T> {
        let (generation, index) = handle::split(self.kind, handle)?;
        let slot = self.existing_slot(index)?;
        let mut entry = lock(&slot.entry);
        if entry.generation != generation {
            return None;
        }
        let value = entry.value.take()?;
        slot.live.store(0, Ordering::Release);
        drop(entry);
        if generation < GENERATION_MAX {
            lock(&self.free).indices.push(index);
        }
        Some(value)
    }

    /// Returns the handles of the present values that `which` selects.
    #[cfg(not(loom))]
    pub(crate) fn handles(&self, which: impl Fn(&T) -> bool) -> Vec<u64> {
        let count = lock(&self.free).next;
        let handle = |index| {
            let entry = lock(&self.existing_slot(index)?.entry);
            let wanted = entry.value.as_ref().is_some_and(&which);
            wanted.then(|| handle::join(self.kind, entry.generation, index))
        };
        (0..count).filter_map(handle).collect()
    }

    #[inline]
    fn existing_slot(&self, index: u32) -> Option<&Slot<T>> {
        let (segment, at, _) = handle::place(index);
        self.segments[segment].get().map(|slots| &slots[at])
    }

    fn slot_or_new(&self, index: u32) -> &Slot<T> {
        let (segment, at, size) = handle::place(index);
        let made = || {
            let generation = handle::generations_start();
            let slots = (0..if cfg!(loom) { 4 } else { size })
                .map(|_| Slot { live: AtomicU64::new(0), entry: Mutex::new(Entry { generation, value: None }) });
            slots.collect()
        };
        &self.segments[segment].get_or_init(made)[at]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_stale_after_its_value_was_removed_also_when_the_slot_has_another() {
        let slots = Slots::new(Kind::Stream);
        let first = slots.insert("first").unwrap();
        assert_eq!(slots.get(first), Some("first"));
        assert!(slots.is_live(first));
        assert_eq!(slots.remove(first), Some("first"));
        assert!(!slots.is_live(first));
        assert_eq!(slots.remove(first), None);
        let second = slots.insert("second").unwrap();
        assert_ne!(first, second);
        assert_eq!(slots.get(first), None);
        assert!(!slots.is_live(first) && slots.is_live(second));
        assert_eq!(slots.get(second), Some("second"));
    }

    #[test]
    fn numbers_that_are_no_handle_find_nothing() {
        let slots = Slots::new(Kind::Stream);
        slots.insert(1).unwrap();
        for number in [0, 1, u64::MAX, 1 << 52, handle::join(Kind::Stream, 0, 0), handle::join(Kind::Stream, 1, 5000)] {
            assert_eq!(slots.get(number), None);
            assert!(!slots.is_live(number));
            assert_eq!(slots.remove(number), None);
        }
    }

    #[test]
    fn a_slot_whose_generations_are_used_up_is_left_alone() {
        let slots = Slots::new(Kind::Stream);
        let first = slots.insert(1).unwrap();
        slots.remove(first);
        lock(&slots.slot_or_new(0).entry).generation = GENERATION_MAX - 1;
        let last = slots.insert(2).unwrap();
        slots.remove(last);
        let next = slots.insert(3).unwrap();
        assert_eq!(handle::split(Kind::Stream, next), Some((handle::generations_start() + 1, 1)));
    }
}
