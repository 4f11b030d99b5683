// SPDX-License-Identifier: MIT OR Apache-2.0

use std::ffi::c_void;

use clearway_core::{HOST, Memory as Reference};
use clearway_sys::{CLEARWAY_INVALID_ARGUMENT, CLEARWAY_MEMORY_LENT, Memory, ReleaseMemory, Status, View};

use crate::{give, status};

/// Allocates memory. Sizes from 4 KB on come from pooled slabs, whose pages are already mapped. The caller owns the
/// reference in `view`.
///
/// # Safety
/// `view` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_memory_allocate(size: usize, flags: u32, view: *mut View) -> Status {
    status(|| {
        let memory = Reference::allocate(size, flags)?;
        // SAFETY: the caller guarantees this.
        unsafe { give(view, memory.view()) }?;
        memory.into_handle();
        Ok(())
    })
}

/// Lends memory of the host to plugins. Does not copy. The thread that releases the last reference calls `release`,
/// once. The caller owns the reference in `view`.
///
/// # Safety
/// `data` must be readable and writable for `size` bytes until `release` is called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_memory_lend(
    data: *mut u8,
    size: usize,
    flags: u32,
    release: ReleaseMemory,
    context: *mut c_void,
    view: *mut View,
) -> Status {
    status(|| {
        if view.is_null() || !view.is_aligned() {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        // SAFETY: the caller guarantees this.
        let memory = unsafe { Reference::foreign(data, size, flags | CLEARWAY_MEMORY_LENT, release, context) }?;
        // SAFETY: the caller guarantees this.
        unsafe { give(view, memory.view()) }?;
        memory.into_handle();
        Ok(())
    })
}

/// Returns the address and the size of a memory.
///
/// # Safety
/// `view` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_memory_view(memory: Memory, view: *mut View) -> Status {
    // SAFETY: the caller guarantees this.
    unsafe { (HOST.view)(memory, view) }
}

/// Makes another reference to the same memory. The caller owns the new reference.
///
/// # Safety
/// `another` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_memory_retain(memory: Memory, another: *mut Memory) -> Status {
    // SAFETY: the caller guarantees this.
    unsafe { (HOST.retain)(memory, another) }
}

/// Releases a reference. Releasing the last reference frees the memory, or returns it to its owner.
#[unsafe(no_mangle)]
pub extern "C" fn clearway_memory_release(memory: Memory) -> Status {
    // SAFETY: the core checks handles.
    unsafe { (HOST.release)(memory) }
}

/// Seals the memory: the holders promise that no thread writes to it any more. Cannot be undone.
#[unsafe(no_mangle)]
pub extern "C" fn clearway_memory_seal(memory: Memory) -> Status {
    // SAFETY: the core checks handles.
    unsafe { (HOST.seal)(memory) }
}
