// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that a drain writes at most as many events as the caller has room for.

#[path = "../../core/tests/fixture/mod.rs"]
mod fixture;

use std::ptr::null;

use clearway::*;
use clearway_core::{HOST, Options as CoreOptions};
use clearway_sys::*;
use fixture::{LONG, emit, handle, reply, source, text};

/// The kind of a canary event. Canaries fill the array before a drain, also past the room that the drain may use.
const CANARY: u32 = 0xC0FF_EE00;

/// Drains all events, each time into an array with room for `room` events and with canaries behind. Returns the events in order.
fn drained(id: u64, room: usize) -> Vec<(u32, u64)> {
    let canary = Event { kind: CANARY, ..Event::NONE };
    let mut all = Vec::new();
    loop {
        let mut events = vec![canary; room + 600];
        let mut count = usize::MAX;
        // SAFETY: all pointers point to values that live during the call.
        let status = unsafe { clearway_plugin_drain(id, events.as_mut_ptr(), room, &mut count) };
        assert!(count <= room, "count={count} room={room}");
        assert!(events[count..].iter().all(|event| event.kind == CANARY), "written behind the count: room={room}");
        for event in &mut events[..count] {
            all.push((event.kind, event.tag));
            // SAFETY: the event comes from this drain.
            assert_eq!(unsafe { clearway_event_release(event) }, CLEARWAY_OK);
        }
        match status {
            CLEARWAY_PENDING => assert!(count > 0, "pending with nothing: nobody would drain again"),
            status => {
                assert_eq!(status, CLEARWAY_OK);
                return all;
            }
        }
    }
}

fn say(id: u64, lines: usize) {
    for _ in 0..lines {
        // SAFETY: the text is static.
        assert_eq!(unsafe { (HOST.log)(id, CLEARWAY_LOG_INFO, text("line")) }, CLEARWAY_OK);
    }
}

#[test]
fn a_drain_writes_no_more_log_lines_than_it_has_room_for() {
    for room in [1, 2, 4, 255, 256, 257] {
        let plugin = fixture::plugin();
        say(plugin.id(), 256);
        assert_eq!(drained(plugin.id(), room), vec![(CLEARWAY_EVENT_LOG, 0); 256]);
        say(plugin.id(), 3); // later log lines wake the host again
        assert_eq!(drained(plugin.id(), room).len(), 3);
    }
}

#[test]
fn log_lines_get_the_room_that_answers_leave() {
    let plugin = fixture::plugin_with(CoreOptions { calls_max: 256, streams_max: 8, ..CoreOptions::default() });
    let id = plugin.id();
    handle(&plugin, "pooled", CLEARWAY_RUN_POOL, "", |_, to| reply(to, b"x"));
    for tag in 0..100 {
        let mut answer = Event::NONE;
        // SAFETY: all pointers point to values that live during the call.
        let sent = unsafe { clearway_plugin_send(id, text("pooled"), &Content::NULL, tag, &mut answer) };
        assert_eq!(sent, CLEARWAY_PENDING);
    }
    assert_eq!(clearway_plugin_close(id, LONG.as_millis() as u32), CLEARWAY_OK);
    say(id, 256);
    let all = drained(id, 128);
    assert_eq!(all.iter().filter(|(kind, _)| *kind == CLEARWAY_EVENT_ANSWER).count(), 100);
    assert_eq!(all.iter().filter(|(kind, _)| *kind == CLEARWAY_EVENT_LOG).count(), 256);
}

#[test]
fn a_streams_end_waits_for_the_next_drain_when_its_last_event_took_the_last_room() {
    for (events, room, credit) in [(4, 4, u64::MAX), (4, 4, 4), (4, 2, 100), (1, 1, 1), (0, 1, 1), (5, 4, 5)] {
        let plugin = fixture::plugin();
        let id = plugin.id();
        let _told = source(&plugin, "numbers", CLEARWAY_RUN_DIRECT, "");
        let window =
            Window { size: size_of::<Window>(), items: 10, when_full: CLEARWAY_WHEN_FULL_WAIT, bytes: 1 << 20, credit };
        let mut stream = 0;
        // SAFETY: all pointers point to values that live during the call.
        let listened = unsafe { clearway_plugin_listen(id, text("numbers"), null(), &window, 5, &mut stream) };
        assert_eq!(listened, CLEARWAY_OK);
        for at in 0..events {
            assert_eq!(emit(stream, &[at]), CLEARWAY_OK);
        }
        // SAFETY: the text is static.
        assert_eq!(unsafe { (HOST.end_error)(stream, 1001, text("unplugged")) }, CLEARWAY_OK);
        let all = drained(id, room);
        let mut expected = vec![(CLEARWAY_EVENT_ITEM, 5); events.into()];
        expected.push((CLEARWAY_EVENT_END, 5));
        assert_eq!(all, expected, "events={events} room={room} credit={credit}");
    }
}
