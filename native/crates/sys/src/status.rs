// SPDX-License-Identifier: MIT OR Apache-2.0
//! The status codes of calls.

/// The status of a call. A status other than `CLEARWAY_OK` and `CLEARWAY_PENDING` says why the call failed.
pub type Status = i32;

/// Success.
pub const CLEARWAY_OK: Status = 0;
/// The call was accepted. The answer comes later, as an event.
pub const CLEARWAY_PENDING: Status = 1;
/// A null pointer, an impossible length, or a value out of range.
pub const CLEARWAY_INVALID_ARGUMENT: Status = 2;
/// The handle's object no longer exists (it was released, answered, ended or closed), or has never existed.
pub const CLEARWAY_STALE: Status = 3;
/// The system has no memory or no thread left, or all handles are in use.
pub const CLEARWAY_OUT_OF_MEMORY: Status = 4;
/// The call exceeds the host's limits on bytes, references or names.
pub const CLEARWAY_TOO_LARGE: Status = 5;
/// A stream's queue is full, or the number of calls in flight or of listeners is at its limit. Try again when there is
/// room. For a stream, the host calls `on_room` then.
pub const CLEARWAY_FULL: Status = 6;
/// The plugin is closed or closing.
pub const CLEARWAY_CLOSED: Status = 7;
/// The channel has no handler for messages, or no source of events.
pub const CLEARWAY_NO_HANDLER: Status = 8;
/// The channel already has a handler, or already has a source.
pub const CLEARWAY_ALREADY_EXISTS: Status = 9;
/// The host and the plugin were built for different major versions of this header.
pub const CLEARWAY_VERSION: Status = 10;
/// The library could not be loaded.
pub const CLEARWAY_LOAD_FAILED: Status = 11;
/// The library exports no `clearway_plugin_init`.
pub const CLEARWAY_NOT_A_PLUGIN: Status = 12;
/// The plugin's `clearway_plugin_init` refused to open the plugin.
pub const CLEARWAY_INIT_FAILED: Status = 13;
/// The handler panicked. The plugin still works.
pub const CLEARWAY_PANICKED: Status = 14;
/// The handler does not know the called method.
pub const CLEARWAY_NOT_IMPLEMENTED: Status = 15;
/// The handler failed. Its text gives the reason.
pub const CLEARWAY_FAILED: Status = 16;
/// The caller has given up the call.
pub const CLEARWAY_CANCELLED: Status = 17;
/// The work did not end within the given time.
pub const CLEARWAY_TIMEOUT: Status = 18;
/// A stream's queue was full, and its policy is to fail.
pub const CLEARWAY_OVERFLOW: Status = 19;
