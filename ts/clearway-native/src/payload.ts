// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Slot } from "./addon.js";
import { invalid } from "./error.js";
import type { LentMemory } from "./lent.js";
import type { NativeMemory } from "./memory.js";

/** What a plugin is given: bytes of JavaScript's, native memory, memory that was lent, or null. */
export type Payload = Uint8Array | NativeMemory | LentMemory | null;

/** Memories that go along with a message, none of them copied; 32 at most. */
export type Attachments = readonly (NativeMemory | LentMemory)[];

/** A payload as the addon takes it. Throws `released`. */
export const addressed = (payload: Payload): Uint8Array | Slot | undefined =>
  payload === null || payload instanceof Uint8Array ? (payload ?? undefined) : slotOf(payload);

/** The number by which the addon knows a memory. Throws `released`, and `invalid-argument` for what is none. */
export function slotOf(memory: NativeMemory | LentMemory): Slot {
  const slot: unknown = memory?.slot; // throws `released`
  if (typeof slot !== "number") throw invalid("message", "a Uint8Array, memory, or null", memory);
  return slot;
}
