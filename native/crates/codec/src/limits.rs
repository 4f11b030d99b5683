// SPDX-License-Identifier: MIT OR Apache-2.0

/// The maximum number of hex digits of a big integer. This limit bounds the work for one message.
pub const BIG_DIGITS_MAX: usize = 1_048_576;

/// Limits on a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum nesting of lists and maps. Values above 1000 count as 1000, because reading recurses once for each level.
    pub depth_max: usize,
    /// The maximum sum of the counts of all lists and maps in one message. A map counts two values for each entry.
    pub items_max: usize,
}

impl Limits {
    /// The default limits of spec/wire.md.
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
