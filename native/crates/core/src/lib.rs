// SPDX-License-Identifier: MIT OR Apache-2.0
//! The native side of Clearway. Two hosts use it: the Node addon, and `clearway-abi`, which serves callers in C.
//!
//! A host loads a plugin ([`Plugin::load`]), sends messages to the plugin ([`Plugin::send`]) and listens to the plugin's events
//! ([`Plugin::listen`]). The core wakes the host ([`Plugin::set_wake`]). The host then reads the results ([`Plugin::read`]). Hosts and
//! plugins pass memory by reference ([`Memory`]).
//!
//! Any thread may call any function. [`Plugin::close`] blocks until running handlers return or its timeout is over. [`Plugin::set_wake`]
//! and [`Plugin::free`] block while another thread runs a wake. A plugin registers each handler and each source either as direct or with a
//! queue. Direct callbacks run on the thread that causes them: a direct handler runs inside the caller's call.

#![cfg_attr(loom, allow(dead_code, reason = "loom looks at a part of it"))]

mod call;
mod fence;
mod gate;
mod guard;
mod handle;
mod memory;
mod ring;
mod slots;
mod sync;

#[cfg(all(test, loom))]
mod loom_tests;

#[cfg(not(loom))]
mod answer;
#[cfg(not(loom))]
mod close;
#[cfg(not(loom))]
mod content;
#[cfg(not(loom))]
mod entry;
#[cfg(not(loom))]
mod inbox;
#[cfg(not(loom))]
mod line;
#[cfg(not(loom))]
mod listen;
#[cfg(not(loom))]
mod load;
#[cfg(not(loom))]
mod meter;
#[cfg(not(loom))]
mod outcome;
#[cfg(not(loom))]
mod plugin;
#[cfg(not(loom))]
mod queue;
#[cfg(not(loom))]
mod read;
#[cfg(not(loom))]
mod send;
#[cfg(not(loom))]
mod stream;
#[cfg(not(loom))]
mod table;

#[cfg(not(loom))]
pub use self::{
    content::{ATTACHMENTS_MAX, Bytes, Given, Kept, SMALL_MAX, release_content, retain_content, shown},
    line::Line,
    memory::{BYTES_MAX, Memory, kept as slabs},
    meter::{Counts, Times},
    outcome::{Failure, Incoming, Item, Outcome},
    plugin::{Channel, Options, Plugin},
    send::{Direct, Sent, reply},
    stream::{WhenFull, Window},
    table::HOST,
};
