// SPDX-License-Identifier: MIT OR Apache-2.0
import type { EventEmitter } from "node:events";

/** Adds a listener and returns a function that removes it. */
export function listen<Args extends unknown[]>(
  emitter: EventEmitter,
  event: string,
  listener: (...args: Args) => void,
): () => void {
  const heard = listener as (...args: unknown[]) => void;
  emitter.on(event, heard);
  return () => emitter.off(event, heard);
}
