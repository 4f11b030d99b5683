// SPDX-License-Identifier: MIT OR Apache-2.0

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::{Arc, OnceLock};

use clearway_sys::{
    CLEARWAY_INVALID_ARGUMENT, CLEARWAY_MEMORY_LENT, CLEARWAY_MEMORY_SEALED, CLEARWAY_MEMORY_SHARED,
    CLEARWAY_MEMORY_ZEROED, CLEARWAY_OUT_OF_MEMORY, CLEARWAY_STALE, CLEARWAY_TOO_LARGE, ReleaseMemory, Status, View,
};

use super::block::{BYTES_MAX, Block, Origin};
use super::slab;
use crate::handle::Kind;
use crate::slots::Slots;

static REFERENCES: Slots<Arc<Block>> = Slots::new(Kind::Memory);

/// One reference to a block of memory. Dropping the value releases the reference. The block lives until its last reference is dropped, and
/// the block's bytes do not move. Each clone is a separate reference.
///
/// Code accesses the bytes through a raw pointer, because native code and other threads may write to them. The holders of references must
/// coordinate their accesses.
pub struct Memory {
    handle: u64,
    block: Arc<Block>,
}

impl Memory {
    /// Allocates memory. Sizes from 4 KB on come from the slab pool, which has already touched their pages. Returns `CLEARWAY_TOO_LARGE`
    /// for a size over `BYTES_MAX`.
    pub fn allocate(size: usize, flags: u32) -> Result<Memory, Status> {
        if flags & !CLEARWAY_MEMORY_ZEROED != 0 {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        if size > BYTES_MAX {
            return Err(CLEARWAY_TOO_LARGE);
        }
        let (data, capacity) = slab::take(size).ok_or(CLEARWAY_OUT_OF_MEMORY)?;
        if flags & CLEARWAY_MEMORY_ZEROED != 0 {
            // SAFETY: the slab has at least `size` bytes and no other user.
            unsafe { ptr::write_bytes(data, 0, size) };
        }
        // SAFETY: `data` is a slab of this pool. The block gives the slab back when the block is dropped.
        Memory::of(unsafe { Block::new(data, size, 0, Origin::Slab { capacity }) })
    }

    /// Allocates memory and copies `size` bytes from `data` to it.
    ///
    /// # Safety
    /// `data` must be readable for `size` bytes.
    pub unsafe fn copied(data: *const u8, size: usize) -> Result<Memory, Status> {
        let memory = Memory::allocate(size, 0)?;
        // SAFETY: the caller guarantees that the source is readable. The target was just allocated.
        unsafe { ptr::copy_nonoverlapping(data, memory.data(), size) };
        Ok(memory)
    }

    /// Registers memory that foreign code owns: a plugin, or with `CLEARWAY_MEMORY_LENT` the host. Does not copy. The thread that drops the
    /// last reference calls `release`, once. If this function fails, `release` is not called.
    ///
    /// # Safety
    /// `data` must be readable for `size` bytes until `release` is called. Without `CLEARWAY_MEMORY_SEALED`, the bytes must also be
    /// writable.
    pub unsafe fn foreign(
        data: *mut u8,
        size: usize,
        flags: u32,
        release: ReleaseMemory,
        context: *mut c_void,
    ) -> Result<Memory, Status> {
        let known = CLEARWAY_MEMORY_SEALED | CLEARWAY_MEMORY_SHARED | CLEARWAY_MEMORY_LENT;
        if data.is_null() || flags & !known != 0 {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        if size > BYTES_MAX {
            return Err(CLEARWAY_TOO_LARGE);
        }
        // SAFETY: the caller of this function guarantees the same.
        let block = Arc::new(unsafe { Block::new(data, size, flags, Origin::Foreign { release, context }) });
        // If no slot for a reference is free, the block is leaked, because dropping it would call `release`.
        Memory::another(&block).inspect_err(|_| std::mem::forget(block.clone()))
    }

    /// Registers memory that belongs to a Rust value, which `owner` returns. Dropping that value frees the memory. If this function fails,
    /// it does not call `owner`: the drop of an owner may report that the memory has come back.
    ///
    /// # Safety
    /// The caller makes the same promise as for `foreign`. The promise must hold until the value is dropped.
    pub unsafe fn owned(
        data: *mut u8,
        size: usize,
        flags: u32,
        owner: impl FnOnce() -> Box<dyn Send + Sync>,
    ) -> Result<Memory, Status> {
        if data.is_null() {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        // SAFETY: the caller of this function guarantees the same.
        let memory = Memory::of(unsafe { Block::new(data, size, flags, Origin::Owned { owner: OnceLock::new() }) })?;
        memory.block.set_owner(owner); // no other thread knows the handle yet
        Ok(memory)
    }

    fn of(block: Block) -> Result<Memory, Status> {
        Memory::another(&Arc::new(block))
    }

    fn another(block: &Arc<Block>) -> Result<Memory, Status> {
        let handle = REFERENCES.insert(block.clone()).map_err(|_| CLEARWAY_OUT_OF_MEMORY)?;
        block.count(1);
        Ok(Memory { handle, block: block.clone() })
    }

    /// Makes another reference to the memory that a handle names. Returns `CLEARWAY_STALE` if the handle was released.
    pub fn retain(handle: u64) -> Result<Memory, Status> {
        Memory::another(&REFERENCES.get(handle).ok_or(CLEARWAY_STALE)?)
    }

    /// Makes another reference.
    pub fn try_clone(&self) -> Result<Memory, Status> {
        Memory::another(&self.block)
    }

    /// Returns the address of the first byte. The address is not null, even for a size of 0.
    pub fn data(&self) -> *mut u8 {
        self.block.data()
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> usize {
        self.block.size()
    }

    /// Returns the flags (`CLEARWAY_MEMORY_...`).
    pub fn flags(&self) -> u32 {
        self.block.flags()
    }

    /// Returns this reference's handle for the ABI. The handle is valid while this value lives.
    pub fn handle(&self) -> u64 {
        self.handle
    }

    /// Turns this reference into its handle. The caller then owns the handle and has to release the handle.
    pub fn into_handle(self) -> u64 {
        let mut this = ManuallyDrop::new(self);
        let handle = this.handle;
        // SAFETY: `this` is not used again. The slot keeps its own `Arc`.
        unsafe { ptr::drop_in_place(&mut this.block) };
        handle
    }

    /// Returns the handle, the address, the size and the flags as a struct of the ABI.
    pub fn view(&self) -> View {
        view(self.handle, &self.block)
    }

    /// Returns the number of references, including this one. 1 means that this reference is the only one.
    pub fn references(&self) -> usize {
        self.block.references()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Fails harmlessly if a plugin has released a reference that was only lent to that plugin.
        let _ = resolve::release(self.handle);
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "Memory({} bytes, flags {})", self.size(), self.flags())
    }
}

fn view(memory: u64, block: &Block) -> View {
    View { memory, data: block.data(), size: block.size(), flags: block.flags(), reserved: 0 }
}

/// Operations on handles, for the functions of the ABI.
pub(crate) mod resolve {
    use super::*;

    pub(crate) fn look(handle: u64) -> Result<View, Status> {
        REFERENCES.look(handle, |block| view(handle, block)).ok_or(CLEARWAY_STALE)
    }

    /// Returns whether the handle names a live reference. The result is only a hint, as that of `look`: another thread may release the
    /// reference at any time.
    #[inline]
    pub(crate) fn is_live(handle: u64) -> bool {
        REFERENCES.is_live(handle)
    }

    pub(crate) fn release(handle: u64) -> Result<(), Status> {
        // The block is dropped outside of the slot's lock, because a release callback may run any code.
        REFERENCES.remove(handle).map(|block| block.count(-1)).ok_or(CLEARWAY_STALE)
    }

    pub(crate) fn seal(handle: u64) -> Result<(), Status> {
        REFERENCES.look(handle, |block| block.add_flags(CLEARWAY_MEMORY_SEALED)).ok_or(CLEARWAY_STALE)
    }
}
