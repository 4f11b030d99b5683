// SPDX-License-Identifier: MIT OR Apache-2.0
import type { WireError } from "../error/wire.js";
import { part } from "./part.js";

// What takes errors apart and makes them again. No call waits for it that does not fail; it is loaded behind the start of the
// first worker, so that a failure later does not depend on the network.

/** Loads it, if nobody has. */
export const loadErrors = part(async () => import("../error/wire.js"));

/** A reason, as it crosses; undefined for none, and where the part cannot be loaded. Never rejects. */
export async function encoded(reason: unknown): Promise<WireError | undefined> {
  return loadErrors().then(
    ({ encodeError }) => encodeError(reason),
    () => undefined,
  );
}

/** What a task threw, with the caller's stack under its own. Where the part cannot be loaded, its message. Never rejects. */
export async function decoded(wire: WireError, callerStack: string): Promise<unknown> {
  return loadErrors().then(
    ({ decodeError }) => decodeError(wire, callerStack),
    (cause) => ("base" in wire ? new Error(wire.message, { cause }) : wire.value),
  );
}
