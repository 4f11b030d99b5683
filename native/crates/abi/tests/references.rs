// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests a lend when the process has no reference left. Alone in its process: other tests need references.

use clearway::*;
use clearway_core::Memory;
use clearway_sys::*;

fn wait(waiter: Waiter) -> (Status, u64, usize) {
    let (mut tag, mut count) = (0, 0);
    // SAFETY: all pointers point to values that live during the call.
    let status = unsafe { clearway_waiter_wait(waiter, 0, &mut tag, 1, &mut count) };
    (status, tag, count)
}

#[test]
#[cfg_attr(miri, ignore = "takes all references, about four million")]
fn a_refused_lend_returns_no_tag() {
    let mut waiter = 0;
    // SAFETY: all pointers point to values that live during the call.
    assert_eq!(unsafe { clearway_waiter_new(&mut waiter) }, CLEARWAY_OK);
    let memory = Memory::allocate(8, 0).unwrap();
    let all: Vec<_> = std::iter::from_fn(|| memory.try_clone().ok()).collect();
    let (mut bytes, mut view) = ([0; 8], View::NONE);
    let mut lend = |tag| {
        // SAFETY: all pointers point to local variables, which outlive the references.
        unsafe { clearway_waiter_lend(waiter, bytes.as_mut_ptr(), bytes.len(), 0, tag, &mut view) }
    };
    assert_eq!(lend(1), CLEARWAY_OUT_OF_MEMORY);
    assert_eq!(wait(waiter), (CLEARWAY_TIMEOUT, 0, 0));
    drop(all);
    assert_eq!(lend(2), CLEARWAY_OK);
    assert_eq!(clearway_memory_release(view.memory), CLEARWAY_OK);
    assert_eq!(wait(waiter), (CLEARWAY_OK, 2, 1));
    assert_eq!(clearway_waiter_free(waiter), CLEARWAY_OK);
}
