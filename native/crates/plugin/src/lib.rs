// SPDX-License-Identifier: MIT OR Apache-2.0
//! The types that a Clearway plugin uses. `native/include/clearway.h` is generated from these files and has the same types.
//!
//! A plugin is a shared library that exports `clearway_plugin_init`. It calls only the functions of the table that it receives,
//! so it links to no library of Clearway's. A plugin in Rust may use this crate, which contains no code of the host.

mod content;
mod guard;
mod handler;
mod host;
mod memory;
mod status;
mod text;

pub use content::Content;
pub use guard::{guarded, guarded_or};
pub use handler::*;
pub use host::*;
pub use memory::*;
pub use status::*;
pub use text::Text;
