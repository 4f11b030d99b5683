// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Slot } from "./addon.js";
import { invalid } from "./error.js";
import type { LentMemory } from "./lent.js";
import type { NativeMemory } from "./memory.js";

/** A message to a plugin: bytes of JavaScript's, native memory, lent memory, or null. */
export type Payload = Uint8Array | NativeMemory | LentMemory | null;

/** Memories attached to a message, none of them copied; at most 32. */
export type Attachments = readonly (NativeMemory | LentMemory)[];

/** Returns a payload in the addon's form. Throws `released`. */
export const addressed = (payload: Payload): Uint8Array | Slot | undefined =>
  payload === null || payload instanceof Uint8Array ? (payload ?? undefined) : slotOf(payload);

/** Returns the addon's number of a memory. Throws `released`, and `invalid-argument` for any other value. */
export function slotOf(memory: NativeMemory | LentMemory): Slot {
  const slot: unknown = memory?.slot; // throws `released`
  if (typeof slot !== "number") throw invalid("message", "a Uint8Array, memory, or null", memory);
  return slot;
}
