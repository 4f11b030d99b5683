// SPDX-License-Identifier: MIT OR Apache-2.0

mod fixture;

use std::ffi::c_void;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use clearway_core::{Failure, Given, HOST, Item, Memory, Options, Plugin, WhenFull, Window};
use clearway_sys::*;
use fixture::*;

fn end(stream: u64) -> Status {
    // SAFETY: these functions take only handles.
    unsafe { (HOST.end)(stream) }
}

#[test]
fn events_arrive_in_order_and_then_the_end() {
    let plugin = plugin();
    let callbacks = source(&plugin, "numbers", CLEARWAY_RUN_POOL, "");
    let stream = listen(&plugin, "numbers", window(100, WhenFull::Wait));
    assert_eq!(callbacks.recv_timeout(LONG).unwrap(), (Callback::Listen, stream));
    for at in 0..50u8 {
        assert_eq!(emit(stream, &[at]), CLEARWAY_OK);
    }
    assert_eq!(end(stream), CLEARWAY_OK);
    assert_eq!(emit(stream, b"late"), CLEARWAY_STALE);
    assert_eq!(end(stream), CLEARWAY_STALE);
    let mut items = rest(&plugin);
    assert!(matches!(items.pop(), Some(Item::End { tag: 5, failure: None, dropped: 0, .. })));
    let values: Vec<_> = items.into_iter().map(event).collect();
    assert_eq!(values, (0..50).map(|at| (vec![at], 0)).collect::<Vec<_>>());
    assert_eq!(plugin.in_flight(), (0, 0, 0));
}

#[test]
fn a_drain_reads_no_more_events_than_there_is_credit_for() {
    let plugin = plugin();
    source(&plugin, "numbers", CLEARWAY_RUN_DIRECT, "");
    let stream = listen(&plugin, "numbers", Window { credit: 2, ..window(10, WhenFull::Wait) });
    for at in 0..5 {
        assert_eq!(emit(stream, &[at]), CLEARWAY_OK);
    }
    assert_eq!(rest(&plugin).len(), 2);
    assert_eq!(rest(&plugin).len(), 0);
    plugin.credit(stream, 1).unwrap();
    assert_eq!(rest(&plugin).len(), 1);
    assert_eq!(end(stream), CLEARWAY_OK);
    assert_eq!(rest(&plugin).len(), 0, "the end waits for what is before it");
    plugin.credit(stream, 9).unwrap();
    assert_eq!(rest(&plugin).len(), 3);
    assert_eq!(plugin.credit(stream, 1), Err(CLEARWAY_STALE));
}

#[test]
fn on_room_is_called_when_half_of_a_full_queue_is_free() {
    let plugin = plugin();
    let callbacks = source(&plugin, "numbers", CLEARWAY_RUN_DIRECT, "");
    let stream = listen(&plugin, "numbers", window(4, WhenFull::Wait));
    assert_eq!(callbacks.recv().unwrap(), (Callback::Listen, stream));
    for at in 0..4 {
        assert_eq!(emit(stream, &[at]), CLEARWAY_OK);
    }
    assert_eq!(emit(stream, &[4]), CLEARWAY_FULL);
    let mut items = Vec::new();
    assert!(plugin.read(&mut items, 1));
    assert!(callbacks.try_recv().is_err(), "three of four still wait");
    assert!(plugin.read(&mut items, 1));
    assert_eq!(callbacks.try_recv().unwrap(), (Callback::Room, stream));
    assert_eq!(emit(stream, &[4]), CLEARWAY_OK);
    items.extend(rest(&plugin));
    assert_eq!(items.into_iter().map(|item| event(item).0[0]).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert!(callbacks.try_recv().is_err(), "callbacks once");
}

#[test]
fn a_full_queue_drops_and_counts_the_newest_or_the_oldest_event() {
    for (when_full, left, dropped) in [(WhenFull::DropOldest, [3, 4], [3, 0]), (WhenFull::DropNewest, [0, 1], [3, 0])] {
        let plugin = plugin();
        source(&plugin, "numbers", CLEARWAY_RUN_DIRECT, "");
        let stream = listen(&plugin, "numbers", window(2, when_full));
        for at in 0..5 {
            assert_eq!(emit(stream, &[at]), CLEARWAY_OK);
        }
        let items: Vec<_> = rest(&plugin).into_iter().map(event).collect();
        assert_eq!(items.iter().map(|(bytes, _)| bytes[0]).collect::<Vec<_>>(), left);
        assert_eq!(items.iter().map(|(_, dropped)| *dropped).collect::<Vec<_>>(), dropped);
        assert_eq!(plugin.counts().dropped, 3);
    }
}

#[test]
fn a_stream_that_must_not_overflow_ends_when_its_queue_is_full() {
    let plugin = plugin();
    source(&plugin, "numbers", CLEARWAY_RUN_DIRECT, "");
    let stream = listen(&plugin, "numbers", window(1, WhenFull::Fail));
    assert_eq!(emit(stream, &[0]), CLEARWAY_OK);
    assert_eq!(emit(stream, &[1]), CLEARWAY_OVERFLOW);
    assert_eq!(emit(stream, &[2]), CLEARWAY_STALE);
    let items = rest(&plugin);
    assert_eq!(items.len(), 2);
    let Item::End { failure: Some(Failure { status, .. }), .. } = &items[1] else { panic!("expected the end") };
    assert_eq!(*status, CLEARWAY_OVERFLOW);
}

#[test]
fn bytes_count_against_the_window_and_one_event_may_exceed_it() {
    let plugin = plugin();
    source(&plugin, "frames", CLEARWAY_RUN_DIRECT, "");
    let stream = listen(&plugin, "frames", Window { bytes: 100, ..window(10, WhenFull::Wait) });
    assert_eq!(emit(stream, &[0; 500]), CLEARWAY_OK);
    assert_eq!(emit(stream, &[0; 1]), CLEARWAY_FULL);
    assert_eq!(rest(&plugin).len(), 1);
    assert_eq!(emit(stream, &[0; 60]), CLEARWAY_OK);
    assert_eq!(emit(stream, &[0; 60]), CLEARWAY_FULL);
}

#[test]
fn a_listener_that_stops_gets_no_more_events_and_its_source_is_notified_once() {
    let plugin = plugin();
    let callbacks = source(&plugin, "numbers", CLEARWAY_RUN_SERIAL, "own");
    let stream = listen(&plugin, "numbers", window(10, WhenFull::Wait));
    assert_eq!(callbacks.recv_timeout(LONG).unwrap(), (Callback::Listen, stream));
    let memory = Memory::allocate(100, 0).unwrap();
    // SAFETY: all pointers point to values that live during the call.
    assert_eq!(unsafe { (HOST.emit)(stream, &Content::of_memory(memory.handle())) }, CLEARWAY_OK);
    assert_eq!(memory.references(), 2);
    plugin.cancel(stream).unwrap();
    assert_eq!(plugin.cancel(stream), Err(CLEARWAY_STALE));
    assert_eq!(memory.references(), 1, "what waited was dropped");
    assert_eq!(emit(stream, b"late"), CLEARWAY_STALE);
    assert_eq!(rest(&plugin).len(), 0);
    plugin.close(LONG).unwrap();
    let callbacks: Vec<_> = callbacks.iter().collect();
    assert!(callbacks.len() == 2 && callbacks[1].0 == Callback::Drop, "{callbacks:?}");
    assert!(callbacks[0] == (Callback::Cancel, stream), "{callbacks:?}");
}

#[test]
fn a_source_may_refuse_a_listener() {
    let plugin = plugin();
    source(&plugin, "numbers", CLEARWAY_RUN_POOL, "");
    let channel = plugin.channel("numbers").unwrap();
    plugin.listen(&channel, &Given::bytes(&[1]), window(10, WhenFull::Wait), 8).unwrap();
    let Item::End { tag: 8, failure: Some(failure), .. } = next(&plugin) else { panic!("expected the end") };
    assert_eq!(failure.status, CLEARWAY_NOT_IMPLEMENTED);
}

#[test]
fn removing_a_source_ends_its_streams() {
    let plugin = plugin();
    let callbacks = source(&plugin, "numbers", CLEARWAY_RUN_DIRECT, "");
    let stream = listen(&plugin, "numbers", window(10, WhenFull::Wait));
    emit(stream, &[1]);
    // SAFETY: all pointers point to values that live during the call.
    assert_eq!(unsafe { (HOST.unsource)(plugin.id(), text("numbers")) }, CLEARWAY_OK);
    let items = rest(&plugin);
    assert!(matches!(&items[..], [Item::Event { .. }, Item::End { failure: None, .. }]));
    assert_eq!(callbacks.iter().map(|(what, _)| what).collect::<Vec<_>>(), [Callback::Listen, Callback::Drop]);
}

#[test]
fn a_busy_stream_does_not_delay_another_stream() {
    let plugin = plugin();
    source(&plugin, "numbers", CLEARWAY_RUN_DIRECT, "");
    let much = listen(&plugin, "numbers", window(1000, WhenFull::Wait));
    let little = listen(&plugin, "numbers", window(10, WhenFull::Wait));
    for at in 0..100 {
        emit(much, &[at]);
    }
    emit(little, &[200]);
    let mut items = Vec::new();
    plugin.read(&mut items, 10);
    plugin.read(&mut items, 10);
    assert_eq!(items.iter().filter(|item| matches!(item, Item::Event { stream, .. } if *stream == little)).count(), 1);
}

#[test]
fn a_million_events_with_credit_all_arrive_with_few_wakes() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let count: u64 = if cfg!(miri) { 300 } else { 1_000_000 };
    let plugin = plugin();
    let callbacks = source(&plugin, "numbers", CLEARWAY_RUN_DIRECT, "");
    let stream = listen(&plugin, "numbers", window(1024, WhenFull::Wait));
    let wakes = std::sync::Arc::new(AtomicU64::new(0));
    let (wake, woken) = std::sync::mpsc::channel();
    let (wake, counted) = (std::sync::Mutex::new(wake), wakes.clone());
    plugin
        .set_wake(Some(Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            let _ = wake.lock().unwrap().send(());
        })))
        .unwrap();
    let writer = std::thread::spawn(move || {
        for at in 0..count {
            while emit(stream, &at.to_le_bytes()) == CLEARWAY_FULL {
                while callbacks.recv().unwrap().0 != Callback::Room {}
            }
        }
        end(stream);
    });
    let mut items = Vec::new();
    let (mut next, mut ended) = (0u64, false);
    while !ended {
        while plugin.read(&mut items, 256) {
            check(&mut items, &mut next, &mut ended);
        }
        check(&mut items, &mut next, &mut ended);
        if !ended {
            woken.recv_timeout(LONG).expect("a wake");
        }
    }
    writer.join().unwrap();
    assert_eq!(next, count);
    assert!(wakes.load(Ordering::Relaxed) <= count);
    fn check(items: &mut Vec<Item>, next: &mut u64, ended: &mut bool) {
        for item in items.drain(..) {
            match item {
                Item::End { .. } => *ended = true,
                item => {
                    assert_eq!(event(item).0, next.to_le_bytes());
                    *next += 1;
                }
            }
        }
    }
}

#[test]
fn listeners_that_leave_unread_events_never_fill_the_inbox() {
    let plugin = plugin_with(Options { calls_max: 1, streams_max: 2, ..Options::default() });
    let _told = source(&plugin, "numbers", CLEARWAY_RUN_DIRECT, "");
    let stays = listen(&plugin, "numbers", window(4, WhenFull::Wait));
    assert_eq!(emit(stays, b"kept"), CLEARWAY_OK);
    // The handle of each cancelled stream stays in the inbox, which has room for some thousands.
    for _ in 0..if cfg!(miri) { 10 } else { 20_000 } {
        let stream = listen(&plugin, "numbers", window(4, WhenFull::Wait));
        assert_eq!(emit(stream, b"unread"), CLEARWAY_OK);
        plugin.cancel(stream).unwrap();
    }
    let stream = listen(&plugin, "numbers", window(4, WhenFull::Wait));
    assert_eq!(emit(stream, b"last"), CLEARWAY_OK);
    let read: Vec<_> = rest(&plugin).into_iter().map(|item| event(item).0).collect();
    assert_eq!(read, [b"kept".to_vec(), b"last".to_vec()]);
    plugin.close(LONG).unwrap();
}

/// Opens a plugin with one slot in each queue. A handler blocks the queue until the returned sender is dropped. A second message fills the
/// slot.
fn with_a_full_queue(runs: u32, queue: &'static str, before: impl FnOnce(&Plugin)) -> (Arc<Plugin>, Sender<()>) {
    let plugin = plugin_with(Options { threads: 1, calls_max: 1, ..Options::default() });
    let (begun, begins) = channel();
    let (end, ends) = channel::<()>();
    let (begun, ends) = (Mutex::new(begun), Mutex::new(ends));
    handle(&plugin, "blocks", runs, queue, move |_, to| {
        let _ = begun.lock().unwrap().send(()); // the test waits only for the first message
        let _ = ends.lock().unwrap().recv();
        reply(to, b"")
    });
    before(&plugin);
    let blocks = plugin.channel("blocks").unwrap();
    plugin.send(&blocks, &Given::null(), 1, false).unwrap();
    begins.recv_timeout(LONG).unwrap();
    plugin.send(&blocks, &Given::null(), 2, false).unwrap();
    assert_eq!(plugin.send(&blocks, &Given::null(), 3, false).unwrap_err(), CLEARWAY_FULL);
    (plugin, end)
}

fn listened(plugin: &Plugin, callbacks: &Receiver<(Callback, u64)>) -> u64 {
    let stream = listen(plugin, "numbers", window(2, WhenFull::Wait));
    assert_eq!(callbacks.recv_timeout(LONG), Ok((Callback::Listen, stream)));
    stream
}

#[test]
fn a_source_with_a_full_queue_is_notified_once_of_a_cancelled_stream_and_of_room() {
    for (runs, queue) in [(CLEARWAY_RUN_POOL, ""), (CLEARWAY_RUN_SERIAL, "own")] {
        let (mut callbacks, mut streams) = (None, [0; 2]);
        let (plugin, end) = with_a_full_queue(runs, queue, |plugin| {
            let heard = source(plugin, "numbers", runs, queue);
            streams = [listened(plugin, &heard), listened(plugin, &heard)];
            callbacks = Some(heard);
        });
        let callbacks = callbacks.unwrap();
        let [stays, leaves] = streams;
        plugin.cancel(leaves).unwrap();
        // The blocked queue delays calls of the source. Meanwhile, the plugin finds no room two times, and the host reads each time.
        for _ in 0..2 {
            for at in 0..2 {
                assert_eq!(emit(stays, &[at]), CLEARWAY_OK);
            }
            assert_eq!(emit(stays, &[2]), CLEARWAY_FULL);
            assert_eq!(rest(&plugin).len(), 2);
        }
        assert!(callbacks.try_recv().is_err(), "the queue is blocked: runs={runs}");
        drop(end);
        assert_eq!(callbacks.recv_timeout(LONG), Ok((Callback::Cancel, leaves)), "runs={runs}");
        assert_eq!(callbacks.recv_timeout(LONG), Ok((Callback::Room, stays)), "runs={runs}");
        plugin.close(LONG).unwrap();
        let rest: Vec<_> = callbacks.iter().map(|(what, _)| what).collect();
        assert_eq!(rest, [Callback::Cancel, Callback::Drop], "runs={runs}");
    }
}

#[test]
fn a_source_is_not_notified_of_room_in_a_stream_that_was_cancelled_first() {
    let mut callbacks = None;
    let mut stream = 0;
    let (plugin, end) = with_a_full_queue(CLEARWAY_RUN_SERIAL, "own", |plugin| {
        let heard = source(plugin, "numbers", CLEARWAY_RUN_SERIAL, "own");
        stream = listened(plugin, &heard);
        callbacks = Some(heard);
    });
    for at in 0..2 {
        assert_eq!(emit(stream, &[at]), CLEARWAY_OK);
    }
    assert_eq!(emit(stream, &[2]), CLEARWAY_FULL);
    assert_eq!(rest(&plugin).len(), 2);
    plugin.cancel(stream).unwrap();
    drop(end);
    plugin.close(LONG).unwrap();
    let callbacks: Vec<_> = callbacks.unwrap().iter().map(|(what, _)| what).collect();
    assert_eq!(callbacks, [Callback::Cancel, Callback::Drop]);
}

#[test]
fn a_source_is_notified_of_the_end_of_every_stream_that_begins_while_its_plugin_closes() {
    for round in 0..if cfg!(miri) { 1 } else { 50 } {
        let plugin = plugin();
        let runs = if round % 2 == 0 { CLEARWAY_RUN_DIRECT } else { CLEARWAY_RUN_POOL };
        let callbacks = source(&plugin, "numbers", runs, "");
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let channel = plugin.channel("numbers").unwrap();
                    let window = window(2, WhenFull::Wait);
                    while !matches!(
                        plugin.listen(&channel, &Given::null(), window, 1),
                        Err(CLEARWAY_CLOSED | CLEARWAY_NO_HANDLER)
                    ) {}
                });
            }
            assert_eq!(callbacks.recv_timeout(LONG).map(|(what, _)| what), Ok(Callback::Listen));
            plugin.close(LONG).unwrap();
        });
        let callbacks: Vec<_> = callbacks.iter().map(|(what, _)| what).collect();
        let count = |what: Callback| callbacks.iter().filter(|callback| **callback == what).count();
        assert_eq!(count(Callback::Listen) + 1, count(Callback::Cancel), "runs={runs}");
        assert_eq!(plugin.in_flight(), (0, 0, 0));
    }
}

/// The context of a source whose `on_listen` reports its stream, and returns when the test says so.
struct Slow(Mutex<(Report, Receiver<()>)>);

type Report = Sender<(Callback, u64)>;

unsafe extern "C-unwind" fn listen_slowly(context: *mut c_void, _: *const Content, stream: u64) -> Status {
    // SAFETY: the test keeps the context until it has closed the plugin.
    let slow = unsafe { &*context.cast::<Slow>() }.0.lock().unwrap();
    slow.0.send((Callback::Listen, stream)).unwrap();
    slow.1.recv_timeout(LONG).map_or(CLEARWAY_TIMEOUT, |()| CLEARWAY_OK)
}

unsafe extern "C-unwind" fn cancelled(context: *mut c_void, stream: u64) {
    // SAFETY: the test keeps the context until it has closed the plugin.
    unsafe { &*context.cast::<Slow>() }.0.lock().unwrap().0.send((Callback::Cancel, stream)).unwrap();
}

#[test]
fn a_source_that_ends_a_stream_in_on_listen_is_not_notified_of_its_cancellation() {
    for (ends, cancels, notified) in [(true, false, false), (true, true, false), (false, true, true)] {
        let plugin = plugin();
        let ((report, callbacks), (go_on, returns)) = (channel(), channel());
        let slow = Box::new(Slow(Mutex::new((report, returns))));
        let source = Source {
            size: size_of::<Source>(),
            channel: text("numbers"),
            runs: CLEARWAY_RUN_POOL,
            reserved: 0,
            queue: text(""),
            context: std::ptr::from_ref(&*slow).cast_mut().cast(),
            on_listen: Some(listen_slowly),
            on_cancel: Some(cancelled),
            on_room: None,
            on_drop: None,
        };
        // SAFETY: all pointers point to values that outlive the plugin's callbacks.
        assert_eq!(unsafe { (HOST.source)(plugin.id(), &source) }, CLEARWAY_OK);
        let stream = listened(&plugin, &callbacks);
        assert!(!ends || end(stream) == CLEARWAY_OK);
        assert!(!cancels || plugin.cancel(stream).is_ok());
        assert_eq!(rest(&plugin).len(), usize::from(ends && !cancels), "the end");
        go_on.send(()).unwrap();
        plugin.close(LONG).unwrap();
        assert_eq!(callbacks.try_iter().count(), usize::from(notified), "ends={ends} cancels={cancels}");
    }
}
