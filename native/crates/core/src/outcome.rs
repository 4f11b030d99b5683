// SPDX-License-Identifier: MIT OR Apache-2.0
//! The result of a message: content, or a failure.

use clearway_sys::Status;

use crate::call::Empty;
use crate::content::Kept;

/// A failure: a status other than `CLEARWAY_OK`, and a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// `CLEARWAY_...`, or the plugin's own status from 1000 on.
    pub status: Status,
    /// The plugin's error text, possibly empty.
    pub text: String,
}

impl Failure {
    pub(crate) fn of(status: Status) -> Failure {
        Failure { status, text: String::new() }
    }
}

/// The answer to a message: content or a failure.
pub type Outcome = Result<Kept, Failure>;

impl Empty for Outcome {
    #[inline]
    fn empty() -> Outcome {
        Ok(Kept::default())
    }
}
