// SPDX-License-Identifier: MIT OR Apache-2.0
//! `libclearway`: the core, as a C library for hosts. `native/include/clearway_host.h` declares the functions. The header is generated from
//! these files.
//!
//! Pointers must be null, or valid for their stated sizes, during the call. A null pointer where none is allowed, a wrong length, a
//! misaligned pointer and a stale handle return an error status. A panic of this library also returns an error status and never unwinds
//! into the caller.

mod channel;
mod event;
mod listen;
mod memory;
mod open;
mod options;
mod send;
mod waiter;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use clearway_core::{Given, Plugin};
use clearway_sys::{CLEARWAY_INVALID_ARGUMENT, CLEARWAY_OK, CLEARWAY_PANICKED, CLEARWAY_STALE, Content, Status, Text};

pub use channel::*;
pub use event::*;
pub use listen::*;
pub use memory::*;
pub use open::*;
pub use options::*;
pub use send::*;
pub use waiter::*;

fn status(work: impl FnOnce() -> Result<(), Status>) -> Status {
    catch_unwind(AssertUnwindSafe(work)).map_or(CLEARWAY_PANICKED, |done| done.err().unwrap_or(CLEARWAY_OK))
}

fn plugin(id: u64) -> Result<Arc<Plugin>, Status> {
    Plugin::find(id).ok_or(CLEARWAY_STALE)
}

/// Writes a result to the caller's memory. Returns `CLEARWAY_INVALID_ARGUMENT` if `to` is null or not aligned.
///
/// # Safety
/// `to` must be null, or writable for a `T`.
unsafe fn give<T>(to: *mut T, value: T) -> Result<(), Status> {
    if to.is_null() || !to.is_aligned() {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    // SAFETY: the caller guarantees this.
    unsafe { to.write(value) };
    Ok(())
}

/// Returns the content at a pointer. A null pointer means the null message.
///
/// # Safety
/// `content` must be null or readable. Its pointers must be readable during `'a`.
unsafe fn given<'a>(content: *const Content) -> Result<Given<'a>, Status> {
    if content.is_null() {
        return Ok(Given::null());
    }
    if !content.is_aligned() {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    // SAFETY: the caller guarantees this.
    Ok(unsafe { Given::raw(*content) })
}

/// Checks that a text is not empty, not too long, and UTF-8. Returns the text.
///
/// # Safety
/// `text.data` must be null or readable for `text.size` bytes, during `'a`.
unsafe fn text<'a>(text: Text) -> Result<&'a str, Status> {
    // No valid path or name has more than 65,536 bytes.
    if text.data.is_null() || text.size == 0 || text.size > 1 << 16 {
        return Err(CLEARWAY_INVALID_ARGUMENT);
    }
    // SAFETY: the caller guarantees this.
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast(), text.size) };
    std::str::from_utf8(bytes).map_err(|_| CLEARWAY_INVALID_ARGUMENT)
}
