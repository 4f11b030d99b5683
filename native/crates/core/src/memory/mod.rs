// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory by handle: counted blocks, checked references, reused slabs.

mod block;
#[cfg(not(loom))]
mod reference;
#[cfg(not(loom))]
mod slab;

pub(crate) use block::{Block, Origin};
#[cfg(not(loom))]
pub use reference::Memory;
#[cfg(not(loom))]
pub(crate) use reference::resolve;
#[cfg(not(loom))]
pub use slab::{Kept, kept};

/// The most bytes of one memory: more than any host can view in one piece (V8's array buffers end at 4 GiB less one on some
/// systems), and small enough that sums of sizes cannot overflow.
pub const BYTES_MAX: usize = if usize::BITS > 32 { 1 << 32 } else { 1 << 30 };
