// SPDX-License-Identifier: MIT OR Apache-2.0
import { closeSync, openSync, readSync } from "node:fs";

const space = 0x20;

/**
 * Reads how long this thread was ready to run while the machine ran other threads.
 *
 * Linux counts this time to the nanosecond (`schedstat`: time run, time waited, turns). A reading is a system call of 1 to 3 us and
 * allocates nothing.
 */
export class RunQueue {
  readonly #file: number | undefined;
  readonly #bytes = new Uint8Array(96);
  #waitedMs = 0;

  constructor() {
    this.#file = open();
    this.#waitedMs = this.#read();
  }

  /** Returns how long the thread has waited since the last call, in milliseconds. Returns 0 if the system does not count this. */
  take(): number {
    const before = this.#waitedMs;
    this.#waitedMs = this.#read();
    return Math.max(0, this.#waitedMs - before);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  #read(): number {
    if (this.#file === undefined) return 0;
    const bytes = this.#bytes;
    let size = 0;
    try {
      size = readSync(this.#file, bytes, 0, bytes.length, 0);
    } catch {
      return this.#waitedMs; // the thread is about to end
    }
    let at = bytes.indexOf(space) + 1;
    let nanoseconds = 0;
    for (; at < size && bytes[at] !== space; at++) nanoseconds = nanoseconds * 10 + (bytes[at] as number) - 0x30;
    return nanoseconds / 1e6;
  }
}

function open(): number | undefined {
  try {
    return openSync("/proc/thread-self/schedstat", "r");
  } catch {
    return undefined; // the system is not Linux, or its kernel lacks this count
  }
}
