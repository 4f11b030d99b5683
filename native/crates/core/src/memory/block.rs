// SPDX-License-Identifier: MIT OR Apache-2.0

use std::ffi::c_void;

use clearway_sys::ReleaseMemory;

use crate::sync::{AtomicU64, Ordering};

/// The maximum size of one memory, in bytes. No host can view that much in one piece (V8's array buffers end at 4 GiB less one byte on some
/// systems). On 64-bit systems, sums of such sizes cannot overflow.
pub const BYTES_MAX: usize = if usize::BITS > 32 { 1 << 32 } else { 1 << 30 };

/// A piece of memory. The `Arc` around a block keeps the block alive. The thread that drops the last `Arc` drops the block.
pub(crate) struct Block {
    data: *mut u8,
    size: usize,
    flags: AtomicU64,
    references: AtomicU64,
    origin: Origin,
}

/// The owner of the bytes, and how to return the bytes to that owner.
pub(crate) enum Origin {
    /// The slab pool owns the bytes. `capacity` is the slab's whole size.
    #[cfg(not(loom))]
    Slab { capacity: usize },
    /// Foreign code owns the bytes. `release` is called once.
    Foreign { release: ReleaseMemory, context: *mut c_void },
    /// A Rust value owns the bytes. Dropping it frees them. Set once the block has its first reference.
    #[cfg(not(loom))]
    Owned { owner: std::sync::OnceLock<Box<dyn Send + Sync>> },
}

// SAFETY: the block only carries the pointers. A thread that reads or writes the bytes holds a reference, and has agreed with the other
// holders. The ABI allows calls of `release` on any thread.
unsafe impl Send for Block {}
// SAFETY: as above. Only `flags` and `references` change, and both are atomic.
unsafe impl Sync for Block {}

impl Block {
    /// Makes a block.
    ///
    /// # Safety
    /// `data` must be readable for `size` bytes until the block is dropped. Without `CLEARWAY_MEMORY_SEALED`, the bytes must also be
    /// writable. `origin` must describe the owner of these bytes.
    pub(crate) unsafe fn new(data: *mut u8, size: usize, flags: u32, origin: Origin) -> Block {
        Block { data, size, flags: AtomicU64::new(flags.into()), references: AtomicU64::new(0), origin }
    }

    /// Returns the number of handles that refer to the block. The number is only a hint while other threads run. This count does not keep
    /// the block alive; the `Arc` around the block does.
    pub(crate) fn references(&self) -> usize {
        self.references.load(Ordering::Relaxed) as usize
    }

    pub(crate) fn count(&self, more: i64) {
        self.references.fetch_add(more as u64, Ordering::Relaxed);
    }

    /// Sets the owner of a block that is `Owned`.
    #[cfg(not(loom))]
    pub(crate) fn set_owner(&self, make: impl FnOnce() -> Box<dyn Send + Sync>) {
        if let Origin::Owned { owner } = &self.origin {
            owner.get_or_init(make);
        }
    }

    pub(crate) fn data(&self) -> *mut u8 {
        self.data
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn flags(&self) -> u32 {
        // Acquire: pairs with the release in `add_flags`. A thread that sees the sealed flag sees all earlier writes.
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
                // SAFETY: the block was made from this slab, and no reference to the block is left.
                unsafe { super::slab::return_slab(self.data, *capacity, self.size) }
            }
            Origin::Foreign { release: Some(release), context } => {
                // SAFETY: `release` is called once, with the arguments given when the plugin registered the memory (`adopt`) or the host
                // lent it.
                crate::guard::calling((), || unsafe { release(*context, self.data, self.size) });
            }
            Origin::Foreign { release: None, .. } => {}
            #[cfg(not(loom))]
            Origin::Owned { .. } => {}
        }
    }
}
