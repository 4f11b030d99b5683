// SPDX-License-Identifier: MIT OR Apache-2.0

use std::ffi::c_void;

use clearway_sys::ReleaseMemory;

use crate::sync::{AtomicU64, Ordering};

/// The most bytes of one memory: more than any host can view in one piece (V8's array buffers end at 4 GiB less one on some
/// systems), and small enough that sums of sizes cannot overflow.
pub const BYTES_MAX: usize = if usize::BITS > 32 { 1 << 32 } else { 1 << 30 };

/// A piece of memory. The `Arc` around it counts its references, so the count is in native memory. Dropped with its last
/// reference, on the thread that dropped that.
pub(crate) struct Block {
    data: *mut u8,
    size: usize,
    flags: AtomicU64,
    references: AtomicU64,
    origin: Origin,
}

/// The owner of the bytes, and how they are returned.
pub(crate) enum Origin {
    /// From the slab pool; `capacity` is the slab's whole size.
    #[cfg(not(loom))]
    Slab { capacity: usize },
    /// Foreign memory: `release` is called once.
    Foreign { release: ReleaseMemory, context: *mut c_void },
    /// Rust's memory, freed by dropping its owner.
    #[cfg(not(loom))]
    Owned { _owner: Box<dyn Send + Sync> },
}

// SAFETY: the pointers are only carried here. A thread that reads or writes the bytes has a reference and the agreement of the
// other holders. The ABI requires that `release` may be called on any thread.
unsafe impl Send for Block {}
// SAFETY: as above; only `flags` and `references` change, and they are atomic.
unsafe impl Sync for Block {}

impl Block {
    /// # Safety
    /// `data` must be readable and writable for `size` bytes until the block is dropped (only readable with
    /// `CLEARWAY_MEMORY_SEALED`), and match `origin`.
    pub(crate) unsafe fn new(data: *mut u8, size: usize, flags: u32, origin: Origin) -> Block {
        Block { data, size, flags: AtomicU64::new(flags.into()), references: AtomicU64::new(0), origin }
    }

    /// The references that the ABI knows: only a hint while other threads run. The `Arc` around the block keeps it alive.
    pub(crate) fn references(&self) -> usize {
        self.references.load(Ordering::Relaxed) as usize
    }

    pub(crate) fn count(&self, more: i64) {
        self.references.fetch_add(more as u64, Ordering::Relaxed);
    }

    pub(crate) fn data(&self) -> *mut u8 {
        self.data
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn flags(&self) -> u32 {
        // Acquire: pairs with the release in `add_flags`. A thread that sees a block sealed sees all earlier writes.
        self.flags.load(Ordering::Acquire) as u32
    }

    pub(crate) fn add_flags(&self, flags: u32) {
        self.flags.fetch_or(flags.into(), Ordering::AcqRel);
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        match &self.origin {
            #[cfg(not(loom))]
            Origin::Slab { capacity } => {
                // SAFETY: the block was made of this slab and is its only user; this is the last reference.
                unsafe { super::slab::give_back(self.data, *capacity, self.size) }
            }
            Origin::Foreign { release: Some(release), context } => {
                // SAFETY: called once, with the arguments given when the memory was adopted or lent.
                crate::guard::calling((), || unsafe { release(*context, self.data, self.size) });
            }
            Origin::Foreign { release: None, .. } => {}
            #[cfg(not(loom))]
            Origin::Owned { .. } => {}
        }
    }
}
