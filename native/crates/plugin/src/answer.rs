// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the functions of a plugin become handlers.

use crate::content::IntoContent;
use crate::error::Result;
use crate::guard::caught;
use crate::reply::Reply;

/// Answers with the result of `work`. A panic in it answers with its text.
pub fn answer<C: IntoContent>(reply: Reply, work: impl FnOnce() -> Result<C>) {
    let answered = match caught(|| work()?.into_content()) {
        Ok(content) => reply.send(content),
        Err(error) => reply.fail(error),
    };
    drop(answered); // stale: answered by a close; refused content has answered with its error
}
