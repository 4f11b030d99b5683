// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handler `block`. It sleeps for the number of milliseconds in the message (u32). It runs on its own queue, because it blocks. If the
//! caller has given the call up before the handler begins, the handler does not sleep.

use std::thread::sleep;
use std::time::Duration;

use clearway_sys::{CLEARWAY_RUN_SERIAL, Status};

use crate::example::{Example, OnMessage, Request};

struct Block;

impl OnMessage for Block {
    fn on_message(request: &Request<'_>) -> Status {
        let Ok(ms) = request.bytes().try_into() else {
            return request.invalid("the message is u32 milliseconds");
        };
        if request.is_wanted() {
            sleep(Duration::from_millis(u32::from_le_bytes(ms).into()));
        }
        request.answer_null()
    }
}

pub fn add(example: &Example) -> Status {
    example.handle::<Block>("block", CLEARWAY_RUN_SERIAL, "block")
}
