// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clearway plugins in Rust, without unsafe code.
//!
//! A plugin is a shared library that answers messages and emits events. An app in Node, on the JVM or in C loads it. Name the dependency
//! `clearway`, and make the library a `cdylib`:
//!
//! ```toml
//! [lib]
//! crate-type = ["cdylib"]
//!
//! [dependencies]
//! clearway = { package = "clearway-plugin", version = "0.1" }
//! serde = { version = "1", features = ["derive"] }
//! ```
//!
//! ```
//! #![forbid(unsafe_code)]
//! # extern crate clearway_plugin as clearway;
//!
//! use clearway::{Result, Stream};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Default)]
//! struct Words;
//!
//! #[derive(Deserialize)]
//! struct Text {
//!     text: String,
//! }
//!
//! #[derive(Serialize)]
//! struct Count {
//!     words: usize,
//!     letters: usize,
//! }
//!
//! #[clearway::plugin]
//! impl Words {
//!     /// `plugin.channel("count").send(encode({ text: "one two" }))`
//!     #[handler("count")]
//!     fn count(&self, Text { text }: Text) -> Count {
//!         Count { words: text.split_whitespace().count(), letters: text.chars().count() }
//!     }
//!
//!     /// Runs on a thread of its own for each listener.
//!     #[source("words")]
//!     fn words(&self, Text { text }: Text, stream: Stream) -> Result<()> {
//!         for word in text.split_whitespace() {
//!             stream.send(word)?; // waits for room
//!         }
//!         Ok(())
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! # Functions
//!
//! | attribute | function | runs |
//! |---|---|---|
//! | `#[handler("channel")]` | `fn(&self, message) -> answer` | on the plugin's pool |
//! | `#[handler("channel", direct)]` | the same | on the calling thread, which waits; use it for work of microseconds |
//! | `#[handler("channel", serial = "thread")]` | the same | on the named thread, one call after the other |
//! | any of these | `fn(&self, message, Reply)` | the same; the function answers by the reply, now or later |
//! | `#[source("channel")]` | `fn(&self, arguments, Stream) -> Result<()>` | on a separate thread for each listener |
//! | `#[source("channel", direct)]` | the same | on the listening thread; the function keeps the stream and returns soon |
//! | none | `fn open(host: Host) -> Result<Self>` | on the thread that opens the plugin; without this function, `Default` makes the value |
//!
//! Other functions of the block stay unchanged. The type of a message, or of a source's arguments, is [`Request`] or any type with
//! serde's `Deserialize`; the parameter may be left out. The type of an answer is [`Content`], [`Buffer`], [`Memory`] or any type with
//! serde's `Serialize`, or a `Result` of one of these. Values use the standard codec, which Clearway and Flutter implement for other
//! languages.
//!
//! # Panics and errors
//!
//! A panic in any function answers the message, or ends the stream, with [`Status::Panicked`] and the panic's text. The plugin still
//! works. An [`Error`] has a [`Status`] and a text for people. The operator `?` converts errors that implement [`std::error::Error`].
//!
//! # Mistakes that do not compile
//!
//! ```compile_fail
//! # extern crate clearway_plugin as clearway;
//! # #[derive(Default)] struct Example;
//! #[clearway::plugin]
//! impl Example {
//!     #[handler("lines", parallel)] // no such place
//!     fn lines(&self) {}
//! }
//! # fn main() {}
//! ```
//!
//! ```compile_fail
//! # extern crate clearway_plugin as clearway;
//! # #[derive(Default)] struct Example;
//! #[clearway::plugin]
//! impl Example {
//!     #[handler("thread")]
//!     fn thread(&self) -> std::thread::Thread { // has no form as content
//!         std::thread::current()
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! ```compile_fail
//! # extern crate clearway_plugin as clearway;
//! # use std::cell::Cell;
//! #[derive(Default)]
//! struct Example(Cell<u32>); // handlers run on several threads: `Cell` is not `Sync`
//!
//! #[clearway::plugin]
//! impl Example {
//!     #[handler("count")]
//!     fn count(&self) -> u32 { self.0.get() }
//! }
//! # fn main() {}
//! ```

#![warn(missing_docs)]

mod answer;
mod content;
mod error;
mod guard;
mod host;
mod memory;
mod plugin;
mod registry;
mod reply;
mod request;
mod stream;

pub use clearway_plugin_macros::plugin;
pub use content::{ATTACHMENTS_MAX, Content, IntoContent};
pub use error::{Error, Result, Status};
pub use host::{Host, Level};
pub use memory::{Buffer, Memory};
pub use plugin::Plugin;
pub use registry::{Listens, Registry, Runs};
pub use reply::Reply;
pub use request::{FromRequest, Request};
pub use stream::{EmitError, Stream};

/// Items for the code that `#[plugin]` generates.
#[doc(hidden)]
pub mod __private {
    pub use clearway_sys::{Host, Plugin as About};

    pub use crate::answer::answer;
    pub use crate::plugin::init;
}
