// SPDX-License-Identifier: MIT OR Apache-2.0
//! The misbehaviour of each channel.

use std::ptr::null_mut;

use clearway_sys::{CLEARWAY_FAILED, CLEARWAY_OK, CLEARWAY_RUN_DIRECT, Content, Handler, Reply, Status, Text, View};

use crate::{Bad, Handle};

pub(crate) const ALL: &[(&str, Handle)] = &[
    ("panic", panics),
    ("garbage/status", garbage_status),
    ("garbage/length", garbage_length),
    ("garbage/memory", garbage_memory),
    ("garbage/null", null_pointers),
    ("reply/never", never),
    ("reply/twice", twice),
    ("reply/thread", from_a_thread),
];

fn panics(_bad: &Bad, _message: *const Content, _reply: Reply) -> Status {
    panic!("a handler panics, as the test asks of it")
}

/// Returns an undefined status.
fn garbage_status(_bad: &Bad, _message: *const Content, _reply: Reply) -> Status {
    -559_038_737
}

fn never(_bad: &Bad, _message: *const Content, _reply: Reply) -> Status {
    CLEARWAY_OK
}

impl Bad {
    fn tell(&self, reply: Reply, said: &[Status]) -> Status {
        let bytes: Vec<u8> = said.iter().flat_map(|status| status.to_le_bytes()).collect();
        // SAFETY: the bytes are lent during the call.
        unsafe { (self.host.reply)(reply, &Content::of(&bytes)) }
    }
}

/// Replies with impossible lengths: without bytes, beyond a memory, and past the end of the address space.
fn garbage_length(bad: &Bad, _message: *const Content, reply: Reply) -> Status {
    let mut view = View::NONE;
    let byte = 0u8;
    // SAFETY: every pointer that is not null is valid. The test needs the wrong lengths.
    let said = unsafe {
        let allocated = (bad.host.allocate)(bad.id, 64, 0, &mut view);
        let memory = Content { memory: view.memory, ..Content::NULL };
        let wrong = [
            Content { size: 64, ..Content::NULL },
            Content { data: &byte, size: usize::MAX, ..Content::NULL },
            Content { data: view.data, size: 65, ..memory },
            Content { data: view.data.add(60), size: usize::MAX - 8, ..memory },
        ];
        let said = wrong.map(|content| (bad.host.reply)(reply, &content));
        (bad.host.release)(view.memory);
        [allocated, said[0], said[1], said[2], said[3]]
    };
    bad.tell(reply, &said)
}

/// Uses handles that never existed, and released handles.
fn garbage_memory(bad: &Bad, _message: *const Content, reply: Reply) -> Status {
    let (mut view, mut looked) = (View::NONE, View::NONE);
    let mut another = 0;
    // SAFETY: every pointer is writable. The test needs the wrong handles.
    let said = unsafe {
        [
            (bad.host.view)(0x1234_5678_1234_5678, &mut looked),
            (bad.host.allocate)(bad.id, usize::MAX, 0, &mut view),
            (bad.host.allocate)(bad.id, 64, 0, &mut view),
            (bad.host.release)(view.memory),
            (bad.host.release)(view.memory),
            (bad.host.view)(view.memory, &mut looked),
            (bad.host.retain)(view.memory, &mut another),
            (bad.host.reply)(reply, &Content::of_memory(view.memory)),
        ]
    };
    bad.tell(reply, &said)
}

/// Passes null for required pointers.
fn null_pointers(bad: &Bad, _message: *const Content, reply: Reply) -> Status {
    let without = Handler {
        size: size_of::<Handler>(),
        channel: Text::of("null"),
        runs: CLEARWAY_RUN_DIRECT,
        reserved: 0,
        queue: Text::NONE,
        context: null_mut(),
        on_message: None,
        on_drop: None,
    };
    // SAFETY: the host must check for null. The test needs the null pointers.
    let said = unsafe {
        [
            (bad.host.allocate)(bad.id, 64, 0, null_mut()),
            (bad.host.view)(1, null_mut()),
            (bad.host.handle)(bad.id, null_mut()),
            (bad.host.handle)(bad.id, &without),
            (bad.host.source)(bad.id, null_mut()),
            (bad.host.log)(bad.id, 99, Text { size: 64, ..Text::NONE }),
        ]
    };
    bad.tell(reply, &said)
}

/// Answers twice. The first answer counts; the host refuses the second answer.
fn twice(bad: &Bad, message: *const Content, reply: Reply) -> Status {
    // SAFETY: the message is lent for this call.
    let again = unsafe {
        (bad.host.reply)(reply, message);
        (bad.host.reply)(reply, std::ptr::null())
    };
    if again == CLEARWAY_OK { CLEARWAY_OK } else { CLEARWAY_FAILED }
}

/// Answers three times from a detached thread, while the handler's thread returns a status.
fn from_a_thread(bad: &Bad, _message: *const Content, reply: Reply) -> Status {
    let host = bad.host;
    // SAFETY: null content is a null message. The text has no bytes.
    std::thread::spawn(move || unsafe {
        (host.reply)(reply, std::ptr::null());
        (host.reply)(reply, std::ptr::null());
        (host.reply_error)(reply, CLEARWAY_FAILED, Text::NONE);
    });
    CLEARWAY_OK
}
