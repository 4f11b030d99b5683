// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that messages leave no memory behind. `make leaks` runs the full test, with `CLEARWAY_LEAK_MESSAGES=10000000`.

mod fixture;

use clearway_core::{Given, HOST, Memory, Sent, WhenFull};
use clearway_sys::*;
use fixture::*;

fn count() -> u64 {
    let given = std::env::var("CLEARWAY_LEAK_MESSAGES").ok().and_then(|count| count.parse().ok());
    given.unwrap_or(if cfg!(miri) { 40 } else { 40_000 })
}

/// Returns the resident bytes of the process. Returns 0 if the system does not report them, and under Miri, which would report its own
/// memory.
fn resident() -> u64 {
    if cfg!(miri) {
        return 0;
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Sends about `count` messages and events of every kind. Ends streams in every way.
fn work(count: u64) {
    let plugin = plugin();
    handle(&plugin, "here", CLEARWAY_RUN_DIRECT, "", |message, to| give(to, message));
    handle(&plugin, "there", CLEARWAY_RUN_POOL, "", |message, to| give(to, message));
    handle(&plugin, "fails", CLEARWAY_RUN_DIRECT, "", |_, _| CLEARWAY_FAILED);
    source(&plugin, "events", CLEARWAY_RUN_DIRECT, "");
    let memory = Memory::allocate(10_000, 0).unwrap();
    let attached = [memory.handle(); 2];
    let mut items = Vec::new();
    for round in 0..count / 12 {
        let stream = listen(&plugin, "events", window(2, WhenFull::DropOldest));
        for size in [8, 100, 3000] {
            let bytes = vec![round as u8; size];
            assert!(matches!(send(&plugin, "here", &Given::bytes(&bytes), 1), Ok(Sent::Answered(Ok(_)))));
            assert_eq!(emit(stream, &bytes), CLEARWAY_OK);
            let _ = send(&plugin, "there", &Given::bytes(&bytes).with(&attached), 2);
        }
        assert!(matches!(send(&plugin, "here", &Given::memory(&memory), 1), Ok(Sent::Answered(Ok(_)))));
        assert!(matches!(send(&plugin, "fails", &Given::null(), 1), Ok(Sent::Answered(Err(_)))));
        // SAFETY: all pointers point to values that live during the call.
        let sent = unsafe { (HOST.send)(plugin.id(), text("up"), &Content::of(&[1; 70]), None, std::ptr::null_mut()) };
        assert!(sent == CLEARWAY_OK || sent == CLEARWAY_FULL);
        if round % 2 == 0 {
            plugin.cancel(stream).unwrap();
        } else {
            // SAFETY: these functions take only handles.
            assert_eq!(unsafe { (HOST.end)(stream) }, CLEARWAY_OK);
        }
        while plugin.read(&mut items, 64) {}
        items.clear();
    }
    plugin.close(LONG).unwrap();
    while plugin.read(&mut items, 64) {}
    items.clear();
    assert_eq!(plugin.in_flight(), (0, 0, 0));
    assert_eq!(memory.references(), 1);
    plugin.free().unwrap();
}

#[test]
fn memory_does_not_grow_with_the_number_of_messages() {
    let before = clearway_core::slabs().live;
    work(count() / 10); // after this, tables, threads and the allocator have reached their size
    let settled = resident();
    work(count());
    assert_eq!(clearway_core::slabs().live, before, "no memory is left");
    let grown = resident().saturating_sub(settled);
    // If each message leaked, at least 64 bytes would be left for each. Allocators and slabs keep some megabytes in any case.
    let allowed = (16 << 20) + count();
    assert!(grown <= allowed, "grown by {grown} bytes in {} messages", count());
}
