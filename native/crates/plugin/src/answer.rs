// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers a message with the result of a plugin's function.

use crate::content::IntoContent;
use crate::error::Result;
use crate::guard::catch_panic;
use crate::reply::Reply;

/// Runs `work` and answers with its result. If `work` panics, answers with an error that has the panic's text.
pub fn answer<C: IntoContent>(reply: Reply, work: impl FnOnce() -> Result<C>) {
    let sent = match catch_panic(|| work()?.into_content()) {
        Ok(content) => reply.send(content),
        Err(error) => reply.fail(error),
    };
    drop(sent); // an error needs no handling: either closing has answered before, or `send` has answered with the error
}
