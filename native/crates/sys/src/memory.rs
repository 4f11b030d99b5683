// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that the host and the plugins name by a handle.

use core::ffi::c_void;

/// One reference to a block of memory, or 0 for none. The caller of a function keeps its reference. A receiver must
/// take another reference if it needs the memory after the call has returned. Release each reference once, on any
/// thread. Releasing the last reference frees the block. Each reference has a generation, so later calls with a
/// released reference return `CLEARWAY_STALE`.
pub type Memory = u64;

/// No thread writes to the memory any more. `seal` sets this flag, which cannot be cleared.
pub const CLEARWAY_MEMORY_SEALED: u32 = 1;
/// The host and the plugin see the same memory at the same time, and both may write until it is sealed.
pub const CLEARWAY_MEMORY_SHARED: u32 = 2;
/// The host owns the memory and lends it to the plugin.
pub const CLEARWAY_MEMORY_LENT: u32 = 4;
/// Requests zeroed memory from `allocate`. Without this flag, the memory may hold bytes of an earlier user.
pub const CLEARWAY_MEMORY_ZEROED: u32 = 8;

/// The address and the size of a memory. Valid until the reference in `memory` is released.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The reference that was viewed. A view does not hold a reference itself.
    pub memory: Memory,
    /// The first byte. Not null, even if `size` is 0.
    pub data: *mut u8,
    /// The number of bytes.
    pub size: usize,
    /// The flags: `CLEARWAY_MEMORY_...`.
    pub flags: u32,
    /// Reserved: 0.
    pub reserved: u32,
}

impl View {
    /// An empty view, for a function to fill in.
    pub const NONE: View = View { memory: 0, data: core::ptr::null_mut(), size: 0, flags: 0, reserved: 0 };
}

/// Called once, on the thread that releases the last reference to memory registered with `adopt`, or lent to a plugin.
pub type ReleaseMemory = Option<unsafe extern "C-unwind" fn(context: *mut c_void, data: *mut u8, size: usize)>;
