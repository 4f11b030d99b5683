// SPDX-License-Identifier: MIT OR Apache-2.0
//! The types of Clearway's ABI. `native/include/clearway.h` is generated from these files and declares the same types.
//!
//! A plugin is a shared library that exports `clearway_plugin_init`. The plugin calls only the functions of the table that it receives, so
//! it does not link to any library of Clearway. This crate contains no code of the host. The crate `clearway-plugin` wraps this crate, so
//! that a plugin in Rust needs no `unsafe`.

#![warn(missing_docs)]

mod content;
mod growing;
mod guard;
mod handler;
mod host;
mod memory;
mod status;
mod text;

pub use content::Content;
pub use growing::{Growing, agree, read_growing, write_growing};
pub use guard::{guarded, guarded_or};
pub use handler::*;
pub use host::*;
pub use memory::*;
pub use status::*;
pub use text::Text;
