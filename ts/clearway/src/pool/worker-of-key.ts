// SPDX-License-Identifier: MIT OR Apache-2.0

/** Returns the index of the worker that serves a key. A pool never changes this index. Hashes the key's UTF-16 code units with FNV-1a. */
export function workerIndexOf(key: string | number, workers: number): number {
  const text = String(key);
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % workers;
}
