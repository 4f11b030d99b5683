// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a Clearway plugin sees. The types are those of `native/include/clearway.h`, which is made from these files.
//!
//! A plugin is a shared library that exports `clearway_plugin_init`; it calls nothing but the table that it is given, and
//! so links to nothing of Clearway's. A plugin in Rust may use this crate, which has no code of the host in it.

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
