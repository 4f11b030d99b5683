// SPDX-License-Identifier: MIT OR Apache-2.0

/// Digits of a big integer at most: what a message may make a reader work on.
pub const BIG_DIGITS_MAX: usize = 1_048_576;

/// What a message may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lists and maps inside of each other. At most 1000 counts: reading goes as deep as the message does.
    pub depth_max: usize,
    /// Values that counts may announce in one message; a map announces two an entry.
    pub items_max: usize,
}

impl Limits {
    /// What spec/wire.md says.
    pub const DEFAULT: Limits = Limits { depth_max: 128, items_max: 16_777_216 };

    pub(crate) const fn depth(self) -> usize {
        if self.depth_max < 1000 { self.depth_max } else { 1000 }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}
