// SPDX-License-Identifier: MIT OR Apache-2.0
import type { EventEmitter } from "node:events";

/** Listens, and returns how to stop. */
export function listen<Args extends unknown[]>(
  emitter: EventEmitter,
  event: string,
  listener: (...args: Args) => void,
): () => void {
  const heard = listener as (...args: unknown[]) => void;
  emitter.on(event, heard);
  return () => emitter.off(event, heard);
}
