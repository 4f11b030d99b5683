// SPDX-License-Identifier: MIT OR Apache-2.0
//! The status codes of calls.

/// The status of a call: `CLEARWAY_OK`, or the reason that nothing has happened.
pub type Status = i32;

/// Success.
pub const CLEARWAY_OK: Status = 0;
/// Taken and not answered yet: the answer comes later, as an event.
pub const CLEARWAY_PENDING: Status = 1;
/// A null pointer, an impossible length, or a value out of range.
pub const CLEARWAY_INVALID_ARGUMENT: Status = 2;
/// The handle's object no longer exists (released, answered, ended, closed), or never did.
pub const CLEARWAY_STALE: Status = 3;
/// Memory could not be allocated.
pub const CLEARWAY_OUT_OF_MEMORY: Status = 4;
/// More bytes, references or names than the host's limits allow.
pub const CLEARWAY_TOO_LARGE: Status = 5;
/// A stream's queue is full, or the calls in flight are at their limit. Try again when there is room; for a stream,
/// `on_room` reports it.
pub const CLEARWAY_FULL: Status = 6;
/// The plugin is closed or closing.
pub const CLEARWAY_CLOSED: Status = 7;
/// The channel has no handler for messages, or no source of events.
pub const CLEARWAY_NO_HANDLER: Status = 8;
/// The channel already has a handler, or a source.
pub const CLEARWAY_ALREADY_EXISTS: Status = 9;
/// The two sides were built for different major versions of this header.
pub const CLEARWAY_VERSION: Status = 10;
/// The library could not be loaded.
pub const CLEARWAY_LOAD_FAILED: Status = 11;
/// The library exports no `clearway_plugin_init`.
pub const CLEARWAY_NOT_A_PLUGIN: Status = 12;
/// The plugin's `clearway_plugin_init` refused.
pub const CLEARWAY_INIT_FAILED: Status = 13;
/// The handler panicked. The plugin goes on.
pub const CLEARWAY_PANICKED: Status = 14;
/// The handler does not know the called method.
pub const CLEARWAY_NOT_IMPLEMENTED: Status = 15;
/// The handler failed; its text says why.
pub const CLEARWAY_FAILED: Status = 16;
/// The caller has given up.
pub const CLEARWAY_CANCELLED: Status = 17;
/// Not done within the time given.
pub const CLEARWAY_TIMEOUT: Status = 18;
/// A stream's queue was full and its policy is to fail.
pub const CLEARWAY_OVERFLOW: Status = 19;
