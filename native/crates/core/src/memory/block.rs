// SPDX-License-Identifier: MIT OR Apache-2.0

use std::ffi::c_void;

use clearway_plugin::ReleaseMemory;

use crate::sync::{AtomicU64, Ordering};

/// A piece of memory. It is counted by the `Arc` around it, so the count lives in native memory; dropped with its last
/// reference, on the thread that gave that up.
pub(crate) struct Block {
    data: *mut u8,
    size: usize,
    flags: AtomicU64,
    references: AtomicU64,
    origin: Origin,
}

/// Whose the bytes are, and how they go back.
pub(crate) enum Origin {
    /// From the slab pool; `capacity` is the slab's whole size.
    #[cfg(not(loom))]
    Slab { capacity: usize },
    /// Somebody else's: `release` is called once.
    Foreign { release: ReleaseMemory, context: *mut c_void },
    /// Rust's, given back by dropping what owns them.
    #[cfg(not(loom))]
    Owned { _owner: Box<dyn Send + Sync> },
}

// SAFETY: the pointers are only carried here. Whoever reads or writes the bytes has a reference and the agreement of the other
// holders; `release` may be called on any thread, as the ABI demands of it.
unsafe impl Send for Block {}
// SAFETY: as above; `flags` is atomic and nothing else changes.
unsafe impl Sync for Block {}

impl Block {
    /// # Safety
    /// `data` must be readable and writable for `size` bytes until the block is dropped (not written where `flags` has
    /// `CLEARWAY_MEMORY_SEALED`), and be what `origin` says.
    pub(crate) unsafe fn new(data: *mut u8, size: usize, flags: u32, origin: Origin) -> Block {
        Block { data, size, flags: AtomicU64::new(flags.into()), references: AtomicU64::new(0), origin }
    }

    /// References that the ABI knows: a hint, where other threads are at work. What keeps the block is the count around it.
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
        // Acquire: pairs with the release in `add_flags`: who sees a block sealed sees what was written before.
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
                // SAFETY: called once, with what was agreed on when the memory was adopted or lent.
                crate::guard::calling((), || unsafe { release(*context, self.data, self.size) });
            }
            Origin::Foreign { release: None, .. } => {}
            #[cfg(not(loom))]
            Origin::Owned { .. } => {}
        }
    }
}
