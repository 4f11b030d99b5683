// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that both sides know by a handle.

use core::ffi::c_void;

/// One reference to a block of memory; 0 is none. It stays its holder's: what is given it takes a reference of its own where
/// it needs the memory for longer than the call. Released once, on any thread; the block goes with its last reference. A
/// reference that was released is `CLEARWAY_STALE` for ever after: it has a generation.
pub type Memory = u64;

/// Nobody writes to the memory any more. Set by `seal`; never taken back.
pub const CLEARWAY_MEMORY_SEALED: u32 = 1;
/// The host and the plugin see the same memory at the same time, and both may write while it is not sealed.
pub const CLEARWAY_MEMORY_SHARED: u32 = 2;
/// The memory is the host's own, lent to the plugin.
pub const CLEARWAY_MEMORY_LENT: u32 = 4;
/// Asked of `allocate`: the memory is to hold zeros. Without it, it holds what it held when it was last used.
pub const CLEARWAY_MEMORY_ZEROED: u32 = 8;

/// Where the bytes of a memory are. Valid while the reference `memory` is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The reference that was looked at. A view is no reference of its own.
    pub memory: Memory,
    /// The first byte; not null, also where `size` is 0.
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
