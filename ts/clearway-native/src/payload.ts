// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Handle } from "./addon.js";
import { invalid } from "./error.js";
import type { LentMemory } from "./lent.js";
import type { NativeMemory } from "./memory.js";

/** The content of a message to a plugin: JavaScript's own bytes, native memory, lent memory, or null. */
export type Payload = Uint8Array | NativeMemory | LentMemory | null;

/** The memories attached to a message, at most 32. They are not copied. */
export type Attachments = readonly (NativeMemory | LentMemory)[];

/** Returns a payload in the addon's form: undefined for null, bytes, or a memory's handle. Throws `released` for released memory. */
export const toAddonPayload = (payload: Payload): Uint8Array | Handle | undefined =>
  payload === null || payload instanceof Uint8Array ? (payload ?? undefined) : handleOf(payload);

/** Returns the core's handle of a memory. Throws `released` for released memory, and `invalid-argument` for a value of another type. */
export function handleOf(memory: NativeMemory | LentMemory): Handle {
  const handle: unknown = memory?.handle;
  if (typeof handle !== "number") throw invalid("message", "a Uint8Array, memory, or null", memory);
  return handle;
}
