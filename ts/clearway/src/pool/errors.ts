// SPDX-License-Identifier: MIT OR Apache-2.0
import type { WireError } from "../error/wire.js";

// What takes errors apart and makes them again is loaded when a task may have to be told why it is cancelled, or when the
// first one failed: most calls do neither.

let part: Promise<typeof import("../error/wire.js")> | undefined;

/** Begins to load it, if nobody has. One that could not be loaded is tried again. */
export function loadErrors(): NonNullable<typeof part> {
  part ??= (async () => import("../error/wire.js"))().catch((reason) => {
    part = undefined;
    throw reason;
  });
  return part;
}

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
