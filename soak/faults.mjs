// SPDX-License-Identifier: MIT OR Apache-2.0
// The faults that several parts have in common.
import { setTimeout as pause } from "node:timers/promises";

/** Freezes a process for `ms` milliseconds. Then it goes on, or gets another signal. Does nothing if it has ended. */
export async function freeze(pid, ms, then = "SIGCONT") {
  if (!signal(pid, "SIGSTOP")) return;
  await pause(ms);
  signal(pid, then);
}

// Returns whether there is such a process.
function signal(pid, name) {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** Replaces globals of this thread by functions that throw: the library uses those that it found when it was loaded. */
export function replaceGlobals() {
  const replaced = () => {
    throw new Error("a replaced global was used");
  };
  for (const name of [
    "setTimeout",
    "setInterval",
    "setImmediate",
    "queueMicrotask",
    "structuredClone",
    "MessageChannel",
  ])
    globalThis[name] = replaced;
}

/** Reads a stream with two readers at once. Returns the number of values that they have read together. */
export async function readTwice(stream) {
  const read = async (reader) => {
    let own = 0;
    for (let step = await reader.next(); !step.done; step = await reader.next()) own++;
    return own;
  };
  const readers = [stream[Symbol.asyncIterator](), stream[Symbol.asyncIterator]()];
  const [one, other] = await Promise.all(readers.map(read));
  return one + other;
}
