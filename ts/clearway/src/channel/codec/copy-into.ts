// SPDX-License-Identifier: MIT OR Apache-2.0
import { checkTarget } from "./input.js";

/** Copies a message to a place that has room, else returns -1. */
export function copyInto(message: Uint8Array, into: Uint8Array, offset: number): number {
  checkTarget(into, offset);
  if (message.length > into.length - offset) return -1;
  into.set(message, offset);
  return message.length;
}
