// SPDX-License-Identifier: MIT OR Apache-2.0

mod fixture;

use std::ffi::c_void;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use clearway_core::{Bytes, Direct, Failure, Given, HOST, Item, Line, Memory, Options, Sent};
use clearway_sys::*;
use fixture::*;

const EVERYWHERE: [(u32, &str); 3] = [(CLEARWAY_RUN_DIRECT, ""), (CLEARWAY_RUN_POOL, ""), (CLEARWAY_RUN_SERIAL, "own")];

fn status(outcome: clearway_core::Outcome) -> Status {
    outcome.expect_err("a failure").status
}

#[test]
fn a_message_is_answered_wherever_its_handler_runs() {
    for (runs, queue) in EVERYWHERE {
        let plugin = plugin();
        handle(&plugin, "echo", runs, queue, |message, to| give(to, message));
        for size in [0, 1, 63, 64, 900, if cfg!(miri) { 1000 } else { 100_000 }] {
            let sent: Vec<u8> = (0..size).map(|at| at as u8).collect();
            let answer = content(ask(&plugin, "echo", &Given::bytes(&sent)));
            assert_eq!(answer.to_vec().as_deref(), Some(&sent[..]), "{size} bytes");
        }
        assert!(matches!(content(ask(&plugin, "echo", &Given::null())).bytes, Bytes::Null));
        plugin.close(LONG).unwrap();
    }
}

#[test]
fn memory_crosses_in_both_directions_without_a_copy() {
    for (runs, queue) in EVERYWHERE {
        let plugin = plugin();
        handle(&plugin, "echo", runs, queue, |message, to| give(to, message));
        let memory = Memory::allocate(1 << 20, 0).unwrap();
        let beside = Memory::allocate(10, 0).unwrap();
        let handles = [beside.handle(), memory.handle()];
        let part = Content { data: memory.data().wrapping_add(16), size: 984, ..Content::of_memory(memory.handle()) };
        // SAFETY: the part lies in the memory, which lives longer than the message.
        let answer = content(ask(&plugin, "echo", &unsafe { Given::raw(part) }.with(&handles)));
        assert_eq!(answer.data(), (memory.data().wrapping_add(16).cast_const(), 984));
        assert_eq!(answer.attachments[0].data(), beside.data());
        assert_eq!(answer.attachments[1].data(), memory.data());
        assert_eq!(plugin.counts().copied_bytes, 0);
        drop(answer);
        // The handler's call may still hold the memory. Closing waits until the call releases it.
        plugin.close(LONG).unwrap();
        assert_eq!(memory.references(), 1);
    }
}

#[test]
fn memory_that_is_lent_for_a_direct_call_comes_back_without_a_reference() {
    let plugin = plugin();
    let memory = Memory::allocate(4096, 0).unwrap();
    let answer = |name: &'static str, how: fn(&Content, u64) -> Status| {
        handle(&plugin, name, CLEARWAY_RUN_DIRECT, "", how);
        let mut more = None;
        let said = Line::new(&plugin, name).unwrap().lend(memory.handle(), 7, &mut more).unwrap();
        match more {
            None => (said, None),
            Some(Sent::Answered(outcome)) => (said, Some(content(outcome).data())),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(answer("all", |message, to| give(to, message)), (Direct::Back, None));
    assert_eq!(memory.references(), 1);
    assert_eq!(answer("null", |_, to| give(to, &Content::NULL)), (Direct::Null, None));
    let at = memory.data().wrapping_add(16).cast_const();
    assert_eq!(
        answer("part", |message, to| give(to, &Content { data: message.data.wrapping_add(16), size: 100, ..*message })),
        (Direct::More, Some((at, 100)))
    );
    let beside = answer("beside", |message, to| {
        let handles = [message.memory];
        give(to, &Content { attachments: handles.as_ptr(), attachments_count: 1, ..*message })
    });
    assert_eq!(beside, (Direct::More, Some((memory.data().cast_const(), 4096))));
    // The first answer counts. The core refuses later answers.
    let twice = answer("twice", |message, to| {
        assert_eq!(give(to, message), CLEARWAY_OK);
        assert_eq!((give(to, message), give(to, &Content::NULL)), (CLEARWAY_STALE, CLEARWAY_STALE));
        CLEARWAY_FAILED
    });
    assert_eq!(twice, (Direct::Back, None));
    assert_eq!(memory.references(), 1);
    plugin.close(LONG).unwrap();
}

#[test]
fn lending_by_a_stale_handle_is_refused_and_nested_calls_keep_their_own_memory() {
    let plugin = plugin();
    let [outer, inner] = [1, 2].map(|size| Memory::allocate(size, 0).unwrap());
    let line = |name: &str| Line::new(&plugin, name).unwrap();
    handle(&plugin, "echo", CLEARWAY_RUN_DIRECT, "", |message, to| give(to, message));
    let (within, lent) = (Mutex::new(line("echo")), inner.handle());
    handle(&plugin, "around", CLEARWAY_RUN_DIRECT, "", move |message, to| {
        assert_eq!(within.lock().unwrap().lend(lent, 1, &mut None), Ok(Direct::Back));
        give(to, message)
    });
    let mut around = line("around");
    assert_eq!(around.lend(outer.handle(), 1, &mut None), Ok(Direct::Back));
    let stale = outer.handle();
    drop(outer);
    assert_eq!(around.lend(stale, 1, &mut None), Err(CLEARWAY_STALE));
    // The slot now holds another memory. The old handle does not lead to that memory.
    let next = Memory::allocate(3, 0).unwrap();
    assert_eq!(around.lend(stale, 1, &mut None), Err(CLEARWAY_STALE));
    assert_eq!(around.lend(next.handle(), 1, &mut None), Ok(Direct::Back));
    plugin.close(LONG).unwrap();
    assert_eq!(around.lend(next.handle(), 1, &mut None), Err(CLEARWAY_CLOSED));
}

#[test]
fn a_direct_handler_may_answer_later_and_from_another_thread() {
    let plugin = plugin();
    let (give, taken) = channel();
    let give = Mutex::new(give);
    handle(&plugin, "later", CLEARWAY_RUN_DIRECT, "", move |_, to| {
        give.lock().unwrap().send(to).unwrap();
        CLEARWAY_OK
    });
    assert!(matches!(send(&plugin, "later", &Given::null(), 3), Ok(Sent::Pending(_))));
    let to = taken.recv().unwrap();
    std::thread::spawn(move || assert_eq!(reply(to, b"late"), CLEARWAY_OK)).join().unwrap();
    let Item::Answer { tag: 3, outcome } = next(&plugin) else { panic!("expected the answer") };
    assert_eq!(content(outcome).to_vec().unwrap(), b"late");
    assert_eq!(reply(to, b"again"), CLEARWAY_STALE);
    assert_eq!(plugin.in_flight(), (0, 0, 0));
}

#[test]
fn the_second_of_two_answers_is_refused_and_the_first_counts() {
    for (runs, queue) in EVERYWHERE {
        let plugin = plugin();
        handle(&plugin, "twice", runs, queue, |_, to| {
            assert_eq!(reply(to, b"first"), CLEARWAY_OK);
            assert_eq!(reply(to, b"second"), CLEARWAY_STALE);
            CLEARWAY_FAILED // too late as well
        });
        assert_eq!(content(ask(&plugin, "twice", &Given::null())).to_vec().unwrap(), b"first");
        plugin.close(LONG).unwrap();
    }
}

#[test]
fn a_handler_that_refuses_or_panics_answers_with_its_status_and_the_next_message_is_handled() {
    for (runs, queue) in EVERYWHERE {
        let plugin = plugin();
        handle(&plugin, "moody", runs, queue, |message, to| match message.size {
            1 => CLEARWAY_NOT_IMPLEMENTED,
            2 => panic!("not a good day"),
            3 => CLEARWAY_PENDING, // not a refusal
            _ => reply(to, b"well"),
        });
        assert_eq!(status(ask(&plugin, "moody", &Given::bytes(&[0; 1]))), CLEARWAY_NOT_IMPLEMENTED);
        assert_eq!(status(ask(&plugin, "moody", &Given::bytes(&[0; 2]))), CLEARWAY_PANICKED);
        assert_eq!(status(ask(&plugin, "moody", &Given::bytes(&[0; 3]))), CLEARWAY_FAILED);
        assert_eq!(content(ask(&plugin, "moody", &Given::null())).to_vec().unwrap(), b"well");
        plugin.close(LONG).unwrap();
    }
}

#[test]
fn an_error_arrives_with_its_text() {
    let plugin = plugin();
    // SAFETY: the text is static.
    handle(&plugin, "fails", CLEARWAY_RUN_POOL, "", |_, to| unsafe {
        (HOST.reply_error)(to, 1234, text("no such file"))
    });
    let failure = ask(&plugin, "fails", &Given::null()).unwrap_err();
    assert_eq!(failure, Failure { status: 1234, text: "no such file".into() });
}

#[test]
fn a_channel_without_a_handler_answers_so_and_a_second_handler_is_refused() {
    let plugin = plugin();
    assert_eq!(send(&plugin, "nobody", &Given::null(), 1).unwrap_err(), CLEARWAY_NO_HANDLER);
    handle(&plugin, "one", CLEARWAY_RUN_DIRECT, "", |_, to| reply(to, b""));
    let mut handler = Handler {
        size: size_of::<Handler>(),
        channel: text("one"),
        runs: CLEARWAY_RUN_DIRECT,
        reserved: 0,
        queue: Text::NONE,
        context: std::ptr::null_mut(),
        on_message: None,
        on_drop: None,
    };
    // SAFETY: all pointers point to values that live during the call.
    unsafe {
        assert_eq!((HOST.handle)(plugin.id(), &handler), CLEARWAY_INVALID_ARGUMENT);
        handler.on_message = Some(nothing);
        assert_eq!((HOST.handle)(plugin.id(), &handler), CLEARWAY_ALREADY_EXISTS);
        assert_eq!((HOST.unhandle)(plugin.id(), text("one")), CLEARWAY_OK);
        assert_eq!((HOST.unhandle)(plugin.id(), text("one")), CLEARWAY_NO_HANDLER);
        assert_eq!((HOST.handle)(plugin.id(), &handler), CLEARWAY_OK);
        handler.size -= 8;
        handler.channel = text("small");
        assert_eq!((HOST.handle)(plugin.id(), &handler), CLEARWAY_INVALID_ARGUMENT);
    }
    assert!(matches!(send(&plugin, "one", &Given::null(), 1), Ok(Sent::Answered(Err(_)))));
}

unsafe extern "C-unwind" fn nothing(_: *mut std::ffi::c_void, _: *const Content, _: u64) -> Status {
    CLEARWAY_NOT_IMPLEMENTED
}

#[test]
fn a_serial_queue_keeps_the_order_and_shares_its_thread_with_others_of_its_name() {
    let plugin = plugin();
    let seen = Arc::new(Mutex::new(Vec::new()));
    for name in ["a", "b"] {
        let seen = seen.clone();
        handle(&plugin, name, CLEARWAY_RUN_SERIAL, "shared", move |message, to| {
            seen.lock().unwrap().push((bytes(message)[0], std::thread::current().id()));
            reply(to, b"")
        });
    }
    let count = if cfg!(miri) { 20 } else { 200 };
    for at in 0..count {
        send(&plugin, ["a", "b"][at as usize % 2], &Given::bytes(&[at]), at.into()).unwrap();
    }
    plugin.close(LONG).unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.iter().map(|(at, _)| *at).collect::<Vec<_>>(), (0..count).collect::<Vec<u8>>());
    assert!(seen.iter().all(|(_, thread)| *thread == seen[0].1));
    assert_eq!(rest(&plugin).len(), count.into());
}

#[test]
fn a_plugin_asks_its_host_and_receives_the_answer() {
    let plugin = plugin();
    let (tell, told) = channel::<(Status, Vec<u8>)>();
    let context = Box::into_raw(Box::new(tell));
    unsafe extern "C-unwind" fn heard(context: *mut std::ffi::c_void, status: Status, answer: *const Content) {
        type Tell = std::sync::mpsc::Sender<(Status, Vec<u8>)>;
        // SAFETY: the context is the box made above. The test drops the box at its end.
        unsafe { (*context.cast::<Tell>()).send((status, bytes(&*answer))).unwrap() }
    }
    let ask = |bytes: &[u8]| {
        // SAFETY: all pointers point to values that live during the call.
        unsafe { (HOST.send)(plugin.id(), text("question"), &Content::of(bytes), Some(heard), context.cast()) }
    };
    assert_eq!(ask(b"first"), CLEARWAY_OK);
    assert_eq!(ask(b"second"), CLEARWAY_OK);
    let first = message(next(&plugin));
    assert_eq!((&*first.channel, first.content.to_vec().unwrap()), ("question", b"first".to_vec()));
    clearway_core::reply(first.reply, Ok(&Given::bytes(b"yes"))).unwrap();
    assert_eq!(clearway_core::reply(first.reply, Ok(&Given::null())), Err(CLEARWAY_STALE));
    assert_eq!(told.recv_timeout(LONG).unwrap(), (CLEARWAY_OK, b"yes".to_vec()));
    let second = message(next(&plugin));
    clearway_core::reply(second.reply, Err(Failure { status: CLEARWAY_NO_HANDLER, text: String::new() })).unwrap();
    assert_eq!(told.recv_timeout(LONG).unwrap(), (CLEARWAY_NO_HANDLER, vec![]));
    // No handler answers the third message. Closing the plugin answers it.
    assert_eq!(ask(b"third"), CLEARWAY_OK);
    plugin.close(LONG).unwrap();
    assert_eq!(told.recv_timeout(LONG).unwrap(), (CLEARWAY_CLOSED, vec![]));
    assert_eq!(ask(b"fourth"), CLEARWAY_CLOSED);
    // SAFETY: the box was made above, and no call uses it any more.
    drop(unsafe { Box::from_raw(context) });
}

#[test]
fn more_calls_than_the_limit_are_refused_until_some_are_answered() {
    let plugin = plugin_with(Options { calls_max: 4, ..Options::default() });
    let (give, taken) = channel();
    let give = Mutex::new(give);
    handle(&plugin, "keeps", CLEARWAY_RUN_POOL, "", move |_, to| {
        give.lock().unwrap().send(to).unwrap();
        CLEARWAY_OK
    });
    for tag in 0..4 {
        send(&plugin, "keeps", &Given::null(), tag).unwrap();
    }
    assert_eq!(send(&plugin, "keeps", &Given::null(), 9).unwrap_err(), CLEARWAY_FULL);
    assert_eq!(reply(taken.recv().unwrap(), b"x"), CLEARWAY_OK);
    assert!(matches!(next(&plugin), Item::Answer { .. }));
    send(&plugin, "keeps", &Given::null(), 5).unwrap();
    // SAFETY: all pointers point to values that live during the call.
    let tell = || unsafe { (HOST.send)(plugin.id(), text("x"), std::ptr::null(), None, std::ptr::null_mut()) };
    assert_eq!([tell(), tell(), tell(), tell(), tell()], [0, 0, 0, 0, CLEARWAY_FULL]);
}

#[test]
fn a_handler_can_detect_that_its_caller_no_longer_waits() {
    let plugin = plugin();
    let (give, taken) = channel();
    let give = Mutex::new(give);
    handle(&plugin, "slow", CLEARWAY_RUN_POOL, "", move |_, to| {
        give.lock().unwrap().send(to).unwrap();
        CLEARWAY_OK
    });
    let Ok(Sent::Pending(call)) = send(&plugin, "slow", &Given::null(), 1) else { panic!("expected a pending call") };
    let to = taken.recv_timeout(LONG).unwrap();
    // SAFETY: these functions take only handles.
    let wanted = || unsafe { (HOST.wanted)(to) };
    assert_eq!(wanted(), CLEARWAY_OK);
    assert!(plugin.give_up(call));
    assert_eq!(wanted(), CLEARWAY_CANCELLED);
    assert_eq!(reply(to, b"x"), CLEARWAY_OK);
    assert_eq!(wanted(), CLEARWAY_STALE);
}

#[test]
fn lost_log_lines_are_counted_in_a_later_line() {
    let plugin = plugin();
    let say = || {
        // SAFETY: the text is static.
        assert_eq!(unsafe { (HOST.log)(plugin.id(), CLEARWAY_LOG_INFO, text("line")) }, CLEARWAY_OK);
    };
    for at_once in [1, 255, 256, 257, 1000] {
        for _ in 0..300 {
            say();
        }
        let mut items = Vec::new();
        while plugin.read(&mut items, at_once) {}
        let texts: Vec<_> = items.iter().map(|item| matches!(item, Item::Log { text, .. } if text == "line")).collect();
        assert_eq!(texts.iter().filter(|kept| **kept).count(), 256);
        let Some(Item::Log { level: CLEARWAY_LOG_WARNING, text }) = items.last() else { panic!("expected the count") };
        assert_eq!((items.len(), &**text), (257, "44 log lines were lost: the host reads too slowly"));
    }
    say();
    assert_eq!(rest(&plugin).len(), 1);
}

#[test]
fn an_answer_arrives_on_the_plugins_pool_even_when_the_pool_is_full() {
    let plugin = plugin_with(Options { threads: 1, calls_max: 1, ..Options::default() });
    let (begun, begins) = channel();
    let (end, ends) = channel::<()>();
    let (begun, ends) = (Mutex::new(begun), Mutex::new(ends));
    handle(&plugin, "blocks", CLEARWAY_RUN_POOL, "", move |_, _| {
        let _ = begun.lock().unwrap().send(()); // the test waits only for the first message
        let _ = ends.lock().unwrap().recv();
        CLEARWAY_OK
    });
    let blocks = plugin.channel("blocks").unwrap();
    plugin.send(&blocks, &Given::null(), 1, false).unwrap();
    begins.recv_timeout(LONG).unwrap();
    plugin.send(&blocks, &Given::null(), 2, false).unwrap();
    let (tell, told) = channel::<std::thread::ThreadId>();
    unsafe extern "C-unwind" fn on_answer(context: *mut c_void, status: Status, _: *const Content) {
        assert_eq!(status, CLEARWAY_OK);
        // SAFETY: the context is the box made below.
        let tell = unsafe { Box::from_raw(context.cast::<std::sync::mpsc::Sender<std::thread::ThreadId>>()) };
        tell.send(std::thread::current().id()).unwrap();
    }
    let context = Box::into_raw(Box::new(tell)).cast();
    // SAFETY: all pointers are valid during the call. `on_answer` frees its context.
    let sent = unsafe { (HOST.send)(plugin.id(), text("ask"), std::ptr::null(), Some(on_answer), context) };
    assert_eq!(sent, CLEARWAY_OK);
    let asked = message(next(&plugin));
    clearway_core::reply(asked.reply, Ok(&Given::null())).unwrap();
    assert!(told.try_recv().is_err(), "the pool is blocked");
    drop(end);
    assert_ne!(told.recv_timeout(LONG).unwrap(), std::thread::current().id());
    plugin.close(LONG).unwrap();
}
