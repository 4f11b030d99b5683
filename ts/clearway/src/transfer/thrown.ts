// SPDX-License-Identifier: MIT OR Apache-2.0
import { encodeError, type WireError } from "../error/wire.js";
import { findMemory } from "./find-memory.js";

/** Encodes any thrown value for posting, as `encodeError` does. Views in it have only their own bytes, and each getter runs once. */
export function encodeThrown(thrown: unknown): WireError {
  return encodeError(thrown, (value) => findMemory(value, 0).value);
}
