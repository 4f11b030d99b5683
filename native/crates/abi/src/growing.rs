// SPDX-License-Identifier: MIT OR Apache-2.0
//! The first versions of the structs that hosts write or read, and that may get further fields.

use clearway_sys::{Growing, first_size};

use crate::options::{Options, Stats, Window};

// SAFETY: see the definitions. Every field is a number.
unsafe impl Growing for Options {
    const FIRST_SIZE: usize = first_size!(Options, reserved: u32);
}

// SAFETY: see the definitions. Every field is a number.
unsafe impl Growing for Window {
    const FIRST_SIZE: usize = first_size!(Window, credit: u64);
}

// SAFETY: see the definitions. Every field is a number.
unsafe impl Growing for Stats {
    const FIRST_SIZE: usize = first_size!(Stats, kept_bytes: u64);
}
