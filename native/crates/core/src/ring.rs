// SPDX-License-Identifier: MIT OR Apache-2.0
//! A bounded ring of numbers for many writers and one reader, after Dmitry Vyukov's bounded queue. Each cell has a turn. The turn shows
//! whether the cell waits for a writer or for the reader.
//!
//! ```text
//!   cell:   0         1         2         3              capacity 4
//!         ┌─────────┬─────────┬─────────┬─────────┐
//!   turn  │ 4       │ 2       │ 2       │ 3       │      cell 1: written for position 1, to be read
//!   value │ (read)  │ B       │ (being  │ (free)  │      cell 2: claimed by a writer that is not done
//!         └─────────┴─────────┴─────────┴─────────┘
//!           head = 1 (reader)            tail = 3 (writers)
//! ```
//!
//! A cell may be written at position p if its turn is p. The cell may be read at position p if its turn is p + 1. Reading sets the
//! turn to p + capacity, and frees the cell.

use crate::sync::{AtomicU64, AtomicUsize, Ordering, UnsafeCell};

pub(crate) struct Ring {
    cells: Box<[Cell]>,
    mask: usize,
    // Each index has its own pair of cache lines. Otherwise writers and the reader would contend for one line.
    tail: Padded<AtomicUsize>,
    head: Padded<AtomicUsize>,
}

struct Cell {
    turn: AtomicUsize,
    value: UnsafeCell<u64>,
}

/// 128 bytes: two lines of 64, because x86 fetches two lines together.
#[repr(align(128))]
struct Padded<T>(T);

// SAFETY: only the writer that claimed a position (by the exchange of `tail`) writes the cell's value. Only the one reader reads it,
// after the writer published `turn`.
unsafe impl Sync for Ring {}
// SAFETY: numbers and atomics are not bound to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Makes a ring of `capacity` places, a power of two over 1. Allocates 16 bytes for each place.
    pub(crate) fn new(capacity: usize) -> Ring {
        assert!(
            capacity.is_power_of_two() && capacity > 1,
            "capacity must be a power of two over 1: capacity={capacity}"
        );
        let cells = (0..capacity).map(|at| Cell { turn: AtomicUsize::new(at), value: UnsafeCell::new(0) }).collect();
        Ring { cells, mask: capacity - 1, tail: Padded(AtomicUsize::new(0)), head: Padded(AtomicUsize::new(0)) }
    }

    /// Puts a value in. Returns the value if the ring is full. Any thread may call this. Does not block.
    pub(crate) fn push(&self, value: u64) -> Result<(), u64> {
        // Relaxed: the turn below shows whether the position is still free.
        let mut position = self.tail.0.load(Ordering::Relaxed);
        loop {
            let cell = &self.cells[position & self.mask];
            // Acquire: pairs with the release in `pop`. The reader has then finished with the cell.
            let turn = cell.turn.load(Ordering::Acquire);
            let ahead = turn.wrapping_sub(position) as isize;
            if ahead < 0 {
                return Err(value);
            }
            let next = position.wrapping_add(1);
            if ahead > 0 {
                position = self.tail.0.load(Ordering::Relaxed);
            } else {
                // Relaxed: the exchange only assigns positions; the turn publishes the value.
                match self.tail.0.compare_exchange_weak(position, next, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => {
                        // SAFETY: this thread owns the position until it publishes the turn.
                        cell.value.with_mut(|at| unsafe { *at = value });
                        // Release: pairs with the acquire in `pop`, and makes the value visible.
                        cell.turn.store(next, Ordering::Release);
                        return Ok(());
                    }
                    Err(now) => position = now,
                }
            }
        }
    }

    /// Takes the oldest value out.
    ///
    /// # Safety
    /// Only one thread at a time may call this.
    pub(crate) unsafe fn pop(&self) -> Option<u64> {
        let position = self.head.0.load(Ordering::Relaxed);
        let cell = &self.cells[position & self.mask];
        // Acquire: pairs with the release in `push`.
        if cell.turn.load(Ordering::Acquire) != position.wrapping_add(1) {
            return None;
        }
        // SAFETY: the value is written and published. No writer claims the cell before the store below.
        let value = cell.value.with(|at| unsafe { *at });
        // Release: pairs with the acquire in `push`. The cell is then free for the next round.
        cell.turn.store(position.wrapping_add(self.mask + 1), Ordering::Release);
        self.head.0.store(position.wrapping_add(1), Ordering::Relaxed);
        Some(value)
    }
}

/// Detects that the ring stops being empty. One of the writers then wakes the reader.
pub(crate) struct Edge {
    // 1: the reader will read the ring again, because a writer has woken the reader or because the reader has stopped early.
    awake: AtomicU64,
}

impl Edge {
    pub(crate) fn new() -> Edge {
        Edge { awake: AtomicU64::new(0) }
    }

    /// Raises the edge after a push. Returns true for the writer that has to wake the reader.
    pub(crate) fn raise(&self) -> bool {
        // Pairs with the exchange in `lower`. If `lower` came first, this function returns true, and the writer wakes the reader. If this
        // exchange came first, `lower` acquires the push, and the reader finds the value.
        self.awake.swap(1, Ordering::AcqRel) == 0
    }

    /// Returns whether the reader was woken and has not lowered the edge yet.
    #[cfg(not(loom))]
    pub(crate) fn raised(&self) -> bool {
        self.awake.load(Ordering::Acquire) == 1
    }

    /// Lowers the edge before the reader empties the ring. A later push wakes the reader again.
    pub(crate) fn lower(&self) {
        self.awake.swap(0, Ordering::AcqRel);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_in_the_order_of_a_thread_that_put_them_in() {
        let ring = Ring::new(8);
        for round in 0..if cfg!(miri) { 10 } else { 1000 } {
            for at in 0..5 {
                ring.push(round * 5 + at).unwrap();
            }
            for at in 0..5 {
                // SAFETY: this is the only reader.
                assert_eq!(unsafe { ring.pop() }, Some(round * 5 + at));
            }
            // SAFETY: this is the only reader.
            assert_eq!(unsafe { ring.pop() }, None);
        }
    }

    #[test]
    fn a_full_ring_gives_the_value_back() {
        let ring = Ring::new(2);
        ring.push(1).unwrap();
        ring.push(2).unwrap();
        assert_eq!(ring.push(3), Err(3));
        // SAFETY: this is the only reader.
        assert_eq!(unsafe { ring.pop() }, Some(1));
        ring.push(3).unwrap();
    }

    #[test]
    fn nothing_is_lost_or_doubled_with_several_writers() {
        let count = if cfg!(miri) { 20 } else { 20_000 };
        let ring = Ring::new(64);
        let mut sums = [0u64; 3];
        std::thread::scope(|scope| {
            for writer in 0..3u64 {
                let ring = &ring;
                scope.spawn(move || {
                    for value in 1..=count {
                        while ring.push(writer << 32 | value).is_err() {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            let mut last = [0; 3];
            let mut left = 3 * count;
            while left > 0 {
                // SAFETY: this is the only reader.
                let Some(value) = (unsafe { ring.pop() }) else {
                    std::thread::yield_now();
                    continue;
                };
                let (writer, value) = ((value >> 32) as usize, value & 0xffff_ffff);
                assert_eq!(value, last[writer] + 1);
                last[writer] = value;
                sums[writer] += value;
                left -= 1;
            }
        });
        assert_eq!(sums, [count * (count + 1) / 2; 3]);
    }
}
