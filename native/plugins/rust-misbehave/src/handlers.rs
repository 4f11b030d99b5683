// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handlers, each of which breaks a rule.

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

/// Returns a status that the ABI does not define.
fn garbage_status(_bad: &Bad, _message: *const Content, _reply: Reply) -> Status {
    -559_038_737
}

/// Does not answer.
fn never(_bad: &Bad, _message: *const Content, _reply: Reply) -> Status {
    CLEARWAY_OK
}

impl Bad {
    /// Answers with a list of statuses.
    fn answer_statuses(&self, reply: Reply, statuses: &[Status]) -> Status {
        let bytes: Vec<u8> = statuses.iter().flat_map(|status| status.to_le_bytes()).collect();
        // SAFETY: the bytes are valid during the call, and the host copies them.
        unsafe { (self.host.reply)(reply, &Content::of(&bytes)) }
    }
}

/// Answers with impossible lengths: a length without bytes, one beyond the end of a memory, and one past the end of the address space.
fn garbage_length(bad: &Bad, _message: *const Content, reply: Reply) -> Status {
    let mut view = View::NONE;
    let byte = 0u8;
    // SAFETY: every pointer is null or valid. The host must check the lengths, which are wrong on purpose.
    let statuses = unsafe {
        let allocated = (bad.host.allocate)(bad.id, 64, 0, &mut view);
        let memory = Content { memory: view.memory, ..Content::NULL };
        let wrong = [
            Content { size: 64, ..Content::NULL },
            Content { data: &byte, size: usize::MAX, ..Content::NULL },
            Content { data: view.data, size: 65, ..memory },
            Content { data: view.data.add(60), size: usize::MAX - 8, ..memory },
        ];
        let statuses = wrong.map(|content| (bad.host.reply)(reply, &content));
        (bad.host.release)(view.memory);
        [allocated, statuses[0], statuses[1], statuses[2], statuses[3]]
    };
    bad.answer_statuses(reply, &statuses)
}

/// Uses a handle that never existed, and a handle after its release.
fn garbage_memory(bad: &Bad, _message: *const Content, reply: Reply) -> Status {
    let (mut view, mut ignored_view) = (View::NONE, View::NONE);
    let mut another = 0;
    // SAFETY: every pointer is writable. The host must check the handles, which are wrong on purpose.
    let statuses = unsafe {
        [
            (bad.host.view)(0x1234_5678_1234_5678, &mut ignored_view),
            (bad.host.allocate)(bad.id, usize::MAX, 0, &mut view),
            (bad.host.allocate)(bad.id, 64, 0, &mut view),
            (bad.host.release)(view.memory),
            (bad.host.release)(view.memory),
            (bad.host.view)(view.memory, &mut ignored_view),
            (bad.host.retain)(view.memory, &mut another),
            (bad.host.reply)(reply, &Content::of_memory(view.memory)),
        ]
    };
    bad.answer_statuses(reply, &statuses)
}

/// Passes null for required pointers.
fn null_pointers(bad: &Bad, _message: *const Content, reply: Reply) -> Status {
    let without_function = Handler {
        size: size_of::<Handler>(),
        channel: Text::of("null"),
        runs: CLEARWAY_RUN_DIRECT,
        reserved: 0,
        queue: Text::NONE,
        context: null_mut(),
        on_message: None,
        on_drop: None,
    };
    // SAFETY: the host must check for null pointers, which are passed on purpose.
    let statuses = unsafe {
        [
            (bad.host.allocate)(bad.id, 64, 0, null_mut()),
            (bad.host.view)(1, null_mut()),
            (bad.host.handle)(bad.id, null_mut()),
            (bad.host.handle)(bad.id, &without_function),
            (bad.host.source)(bad.id, null_mut()),
            (bad.host.log)(bad.id, 99, Text { size: 64, ..Text::NONE }),
        ]
    };
    bad.answer_statuses(reply, &statuses)
}

/// Answers twice. The host accepts the first answer and refuses the second one.
fn twice(bad: &Bad, message: *const Content, reply: Reply) -> Status {
    // SAFETY: the host lends the message during this call.
    let again = unsafe {
        (bad.host.reply)(reply, message);
        (bad.host.reply)(reply, std::ptr::null())
    };
    if again == CLEARWAY_OK { CLEARWAY_OK } else { CLEARWAY_FAILED }
}

/// Starts a detached thread that answers three times, while the handler returns a status.
fn from_a_thread(bad: &Bad, _message: *const Content, reply: Reply) -> Status {
    let host = bad.host;
    // SAFETY: the ABI allows null content, and the text has no bytes.
    std::thread::spawn(move || unsafe {
        (host.reply)(reply, std::ptr::null());
        (host.reply)(reply, std::ptr::null());
        (host.reply_error)(reply, CLEARWAY_FAILED, Text::NONE);
    });
    CLEARWAY_OK
}
