// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory, named by handles: blocks with counted references, checked handles, and a pool of slabs.

mod block;
#[cfg(not(loom))]
mod reference;
#[cfg(not(loom))]
mod slab;

#[cfg(not(loom))]
pub use block::BYTES_MAX;
#[cfg(all(test, loom))]
pub(crate) use block::{Block, Origin};
#[cfg(not(loom))]
pub use reference::Memory;
#[cfg(not(loom))]
pub(crate) use reference::resolve;
#[cfg(not(loom))]
pub use slab::kept;
