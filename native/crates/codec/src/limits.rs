// SPDX-License-Identifier: MIT OR Apache-2.0

/// The most digits of a big integer, to bound the work that a message can cause.
pub const BIG_DIGITS_MAX: usize = 1_048_576;

/// Limits on a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest nesting of lists and maps. Values above 1000 count as 1000, because reading recurses as deep as the message.
    pub depth_max: usize,
    /// The most values that all counts of one message may announce together. A map announces two for each entry.
    pub items_max: usize,
}

impl Limits {
    /// The limits in spec/wire.md.
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
