// SPDX-License-Identifier: MIT OR Apache-2.0
//! The slab pool. The first write to a fresh page costs forty times as much as a write to a page that was touched before. The pool
//! therefore touches a new slab's pages at once, and reuses slabs.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::sync::lock;

/// The minimum size of pooled slabs, in bytes. For smaller sizes, the system's allocator returns memory that was touched before (20 ns).
const POOLED_MIN: usize = 4096;
/// The alignment of pooled slabs, in bytes: the smallest page size of all supported systems.
const PAGE: usize = 4096;
/// The size and alignment of huge pages, in bytes. The pool asks for huge pages for slabs of this size or more. The first touch of
/// 8 MB then takes 0.15 ms instead of 2.7 ms.
const HUGE_PAGE: usize = 2 << 20;
/// The maximum number of bytes kept for reuse: sixteen frames of 8 MB. Slabs beyond that go back to the system.
const KEPT_MAX: usize = 128 << 20;
/// The number of size classes. Each doubling of the size has four classes, so at most a quarter of a slab is unused.
const CLASSES: usize = 4 * 24;

static KEPT: [Mutex<Vec<Slab>>; CLASSES] = [const { Mutex::new(Vec::new()) }; CLASSES];
static KEPT_BYTES: AtomicUsize = AtomicUsize::new(0);
static LIVE_BYTES: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicU64 = AtomicU64::new(0);

struct Slab(*mut u8);

// SAFETY: a kept slab has no user, and only one thread takes it.
unsafe impl Send for Slab {}

/// The pool's figures, for the whole process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The number of memories in use.
    pub live: u64,
    /// The number of bytes of the memories in use.
    pub live_bytes: u64,
    /// The number of bytes kept for reuse.
    pub kept_bytes: u64,
}

/// Returns the pool's figures.
pub fn kept() -> Kept {
    Kept {
        live: LIVE.load(Ordering::Relaxed),
        live_bytes: LIVE_BYTES.load(Ordering::Relaxed),
        kept_bytes: KEPT_BYTES.load(Ordering::Relaxed) as u64,
    }
}

/// Returns the class of a size, and the size of its slabs in bytes. The smallest class is that of `POOLED_MIN`.
fn class(size: usize) -> (usize, usize) {
    let size = size.max(POOLED_MIN);
    let octave = (size - 1).ilog2() as usize; // 2^octave < size <= 2^(octave + 1)
    let quarter = 1 << (octave - 2);
    let quarters = (size - (1 << octave)).div_ceil(quarter);
    (4 * (octave - 11) + quarters - 1, (1 << octave) + quarters * quarter)
}

fn layout(capacity: usize) -> Layout {
    let align = match capacity {
        HUGE_PAGE.. => HUGE_PAGE,
        POOLED_MIN.. => PAGE,
        _ => 64, // a cache line, and enough for every vector type
    };
    Layout::from_size_align(capacity, align).expect("sizes are bounded by BYTES_MAX")
}

/// Takes memory for `size` bytes. Returns its address and the slab's whole size, or `None` if the system has no memory. The memory contains
/// its last user's bytes, or zeros.
pub(super) fn take(size: usize) -> Option<(*mut u8, usize)> {
    let taken = if size < POOLED_MIN { small(size) } else { pooled(size) };
    if taken.is_some() {
        LIVE.fetch_add(1, Ordering::Relaxed);
        LIVE_BYTES.fetch_add(size as u64, Ordering::Relaxed);
    }
    taken
}

fn small(size: usize) -> Option<(*mut u8, usize)> {
    let capacity = size.max(1).next_multiple_of(64);
    // SAFETY: the layout's size is not 0.
    let data = unsafe { std::alloc::alloc_zeroed(layout(capacity)) };
    (!data.is_null()).then_some((data, capacity))
}

fn pooled(size: usize) -> Option<(*mut u8, usize)> {
    let (class, capacity) = class(size);
    if let Some(Slab(data)) = lock(&KEPT[class]).pop() {
        KEPT_BYTES.fetch_sub(capacity, Ordering::Relaxed);
        return Some((data, capacity));
    }
    // SAFETY: the layout's size is not 0.
    let data = unsafe { alloc(layout(capacity)) };
    if data.is_null() {
        return None;
    }
    ask_for_huge_pages(data, capacity);
    // Zeros hide the memory's earlier content from the slab's first user. Writing them also touches every page.
    //
    // SAFETY: the slab has `capacity` bytes.
    unsafe { ptr::write_bytes(data, 0, capacity) };
    Some((data, capacity))
}

/// Returns a slab to the pool, or to the system if the pool is full or the slab is too small.
///
/// # Safety
/// `data` and `capacity` must come from a call of `take` with `size`, and the slab must have no user.
pub(super) unsafe fn return_slab(data: *mut u8, capacity: usize, size: usize) {
    LIVE.fetch_sub(1, Ordering::Relaxed);
    LIVE_BYTES.fetch_sub(size as u64, Ordering::Relaxed);
    if capacity >= POOLED_MIN {
        let kept = KEPT_BYTES.fetch_add(capacity, Ordering::Relaxed) + capacity;
        if kept <= KEPT_MAX {
            lock(&KEPT[class(capacity).0]).push(Slab(data));
            return;
        }
        KEPT_BYTES.fetch_sub(capacity, Ordering::Relaxed);
    }
    // SAFETY: `take` has allocated the slab with this layout.
    unsafe { dealloc(data, layout(capacity)) };
}

#[cfg(all(target_os = "linux", not(miri)))]
fn ask_for_huge_pages(data: *mut u8, capacity: usize) {
    const MADV_HUGEPAGE: std::ffi::c_int = 14;
    unsafe extern "C" {
        fn madvise(data: *mut std::ffi::c_void, size: usize, advice: std::ffi::c_int) -> std::ffi::c_int;
    }
    if capacity >= HUGE_PAGE {
        // SAFETY: this pool owns the range, which begins at a page. The call is only advice: if the system refuses, the pages stay small.
        unsafe { madvise(data.cast(), capacity, MADV_HUGEPAGE) };
    }
}

#[cfg(any(not(target_os = "linux"), miri))]
fn ask_for_huge_pages(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_its_sizes_and_wastes_a_quarter_at_most() {
        let mut last = (usize::MAX, 0);
        let step = if cfg!(miri) { 997 } else { 1 };
        for size in (POOLED_MIN..1 << 16)
            .step_by(step)
            .chain((1 << 20..1 << 26).step_by(4099 * step))
            .chain([crate::memory::BYTES_MAX])
        {
            let (at, capacity) = class(size);
            assert!(capacity >= size && capacity <= size + size / 4 + 1, "size={size} capacity={capacity}");
            assert_eq!(class(capacity), (at, capacity), "a slab goes back to the class that it came from: size={size}");
            assert!(at < CLASSES && (last.0 == usize::MAX || at >= last.0), "size={size} class={at}");
            last = (at, capacity);
        }
    }
}
