// SPDX-License-Identifier: MIT OR Apache-2.0

use clearway_core::{Failure, Given, Sent, reply as reply_by, shown};
use clearway_sys::{
    CLEARWAY_INVALID_ARGUMENT, CLEARWAY_PENDING, CLEARWAY_STALE, Content, PluginId, Reply, Status, Text,
};

use crate::event::Event;
use crate::{give, given, plugin, status, text};

/// Sends a message. A direct handler runs on the calling thread before this function returns. If the handler is not
/// direct, copies bytes that are not in a memory, and never waits for the handler. A null `answer` means that the
/// caller wants no answer.
///
/// - `CLEARWAY_OK`: `answer` has the answer, which the host must release. Without `answer`, the message was sent.
/// - `CLEARWAY_PENDING`: the host will drain the answer, with `tag`. `answer->handle` is the call, for
///   `clearway_call_give_up`.
/// - Any other status: the message was not sent. Without `answer`, the status may also be that of a direct handler that
///   refused the message.
///
/// # Safety
/// Each pointer must be null, or valid for its stated size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_plugin_send(
    id: PluginId,
    channel: Text,
    content: *const Content,
    tag: u64,
    answer: *mut Event,
) -> Status {
    status(|| {
        // SAFETY: the caller guarantees this.
        let (channel, content) = unsafe { (text(channel)?, given(content)?) };
        if !answer.is_null() && !answer.is_aligned() {
            return Err(CLEARWAY_INVALID_ARGUMENT);
        }
        let plugin = plugin(id)?;
        match plugin.send(&*plugin.existing_channel(channel)?, &content, tag, !answer.is_null())? {
            Sent::Taken => Ok(()),
            // SAFETY: the caller guarantees this.
            Sent::Answered(outcome) => unsafe { give(answer, Event::answer(tag, outcome)) },
            Sent::Pending(call) => {
                // SAFETY: as above.
                unsafe { give(answer, Event { tag, handle: call, ..Event::NONE }) }?;
                Err(CLEARWAY_PENDING)
            }
        }
    })
}

/// Gives up a pending message. The message's handler can check for that and stop. The host still drains the answer.
/// Returns `CLEARWAY_STALE` if the message was answered before or belongs to another plugin.
#[unsafe(no_mangle)]
pub extern "C" fn clearway_call_give_up(id: PluginId, call: u64) -> Status {
    status(|| if plugin(id)?.give_up(call) { Ok(()) } else { Err(CLEARWAY_STALE) })
}

/// Answers a message from the plugin, once. Returns `CLEARWAY_STALE` if the message was answered before.
///
/// # Safety
/// Each pointer must be null, or valid for its stated size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_answer(reply: Reply, content: *const Content) -> Status {
    // SAFETY: the caller guarantees this.
    status(|| reply_by(reply, Ok(&unsafe { given(content) }?)))
}

/// Answers a message from the plugin with a status other than `CLEARWAY_OK`, and a text for people, which may be empty.
/// Cuts texts longer than 4096 bytes.
///
/// # Safety
/// `message.data` must be null, or readable for `message.size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clearway_answer_error(reply: Reply, error: Status, message: Text) -> Status {
    // SAFETY: the caller guarantees this.
    status(|| reply_by(reply, Err::<&Given<'_>, _>(Failure { status: error, text: unsafe { shown(message) } })))
}
