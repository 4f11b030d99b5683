// SPDX-License-Identifier: MIT OR Apache-2.0
import { encodeError, type WireError } from "../error/wire.js";
import { findMemory } from "./find-memory.js";

export { decodeError } from "../error/wire.js";

/** Encodes any thrown value for posting, as `encodeError` does. Views in it have only their own bytes. */
export function encodeThrown(thrown: unknown): WireError {
  return encodeError(thrown, isolated);
}

/** Returns a copy of a value, as structured clone reads it, whose views have only their own bytes. Runs each getter in it once. */
function isolated(value: unknown): unknown {
  return findMemory(value, 0).value;
}
