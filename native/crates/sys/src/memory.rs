// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that both sides know by a handle.

use core::ffi::c_void;

/// One reference to a block of memory; 0 is none. The holder keeps its reference: a receiver takes another one if it needs
/// the memory for longer than the call. Release it once, on any thread; the block is freed with its last reference. A
/// released reference is `CLEARWAY_STALE` for ever, because it has a generation.
pub type Memory = u64;

/// No thread writes to the memory any more. Set by `seal`; never undone.
pub const CLEARWAY_MEMORY_SEALED: u32 = 1;
/// The host and the plugin see the same memory at the same time, and both may write until it is sealed.
pub const CLEARWAY_MEMORY_SHARED: u32 = 2;
/// The host owns the memory and lends it to the plugin.
pub const CLEARWAY_MEMORY_LENT: u32 = 4;
/// Requests zeroed memory from `allocate`. Without it, the memory may hold bytes of an earlier user.
pub const CLEARWAY_MEMORY_ZEROED: u32 = 8;

/// The address and the size of a memory. Valid as long as the reference `memory`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The viewed reference. A view is not a reference itself.
    pub memory: Memory,
    /// The first byte; not null, even if `size` is 0.
    pub data: *mut u8,
    /// Bytes.
    pub size: usize,
    /// `CLEARWAY_MEMORY_...`.
    pub flags: u32,
    /// 0.
    pub reserved: u32,
}

impl View {
    /// An empty view, to be filled in.
    pub const NONE: View = View { memory: 0, data: core::ptr::null_mut(), size: 0, flags: 0, reserved: 0 };
}

/// Called once when the last reference to adopted or lent memory is released, on the thread that released it.
pub type ReleaseMemory = Option<unsafe extern "C-unwind" fn(context: *mut c_void, data: *mut u8, size: usize)>;
