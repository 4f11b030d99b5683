// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests texts that a host passes: names of channels, and texts of errors.

#[path = "../../core/tests/fixture/mod.rs"]
mod fixture;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

use clearway::*;
use clearway_core::HOST;
use clearway_sys::*;
use fixture::{LONG, handle, reply, text};

#[test]
fn an_error_with_a_text_of_any_size_and_any_bytes_is_an_answer() {
    static ANSWERS: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C-unwind" fn heard(_: *mut c_void, status: Status, _: *const Content) {
        ANSWERS.fetch_add(usize::from(status == CLEARWAY_FAILED), Ordering::SeqCst);
    }
    let plugin = fixture::plugin();
    let texts = [Vec::new(), vec![b'x'; 100_000], vec![0xff; 3]];
    for bytes in &texts {
        let error = Text { data: bytes.as_ptr().cast(), size: bytes.len() };
        let (mut events, mut count) = ([Event::NONE; 2], 0);
        // SAFETY: all pointers point to values that live during the call.
        unsafe {
            assert_eq!((HOST.send)(plugin.id(), text("ask"), null(), Some(heard), null_mut()), CLEARWAY_OK);
            assert_eq!(clearway_plugin_drain(plugin.id(), events.as_mut_ptr(), events.len(), &mut count), CLEARWAY_OK);
            assert_eq!(clearway_answer_error(events[0].handle, CLEARWAY_FAILED, error), CLEARWAY_OK);
        }
    }
    plugin.close(LONG).unwrap();
    assert_eq!(ANSWERS.load(Ordering::SeqCst), texts.len());
}

#[test]
fn names_that_a_plugin_does_not_have_leave_room_for_its_own() {
    let plugin = fixture::plugin();
    let window =
        Window { size: size_of::<Window>(), items: 1, when_full: CLEARWAY_WHEN_FULL_WAIT, bytes: 1, credit: 1 };
    for at in 0..if cfg!(miri) { 10 } else { 70_000 } {
        let (name, mut answer, mut stream) = (format!("unknown {at}"), Event::NONE, 0);
        let name = Text::of(&name);
        // SAFETY: all pointers point to values that live during the call.
        unsafe {
            assert_eq!(clearway_plugin_send(plugin.id(), name, null(), 9, &mut answer), CLEARWAY_NO_HANDLER);
            assert_eq!(clearway_plugin_listen(plugin.id(), name, null(), &window, 5, &mut stream), CLEARWAY_NO_HANDLER);
        }
    }
    handle(&plugin, "own", CLEARWAY_RUN_DIRECT, "", |_, to| reply(to, b"x"));
    // SAFETY: all pointers point to values that live during the call.
    let sent = unsafe { clearway_plugin_send(plugin.id(), text("own"), null(), 9, null_mut()) };
    assert_eq!(sent, CLEARWAY_OK);
}
