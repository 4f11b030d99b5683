// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";

/** What placement asks of the thread that it runs on. Tests bring their own. */
export interface Clock {
  /** Microseconds, monotonic. */
  nowUs(): number;
  /** Calls `next` when the code that runs now has given its thread back, but before the event loop turns. */
  afterBurst(next: () => void): void;
  /** Calls `next` when the event loop has turned. */
  afterTurn(next: () => void): void;
  /** How long the processor has worked for this thread, or for its process, in microseconds. Undefined where nobody can tell. */
  cpuUs(): number | undefined;
  /** Calls `next` when the page begins its next frame. Undefined where nothing is drawn. */
  readonly onFrame: ((next: () => void) => void) | undefined;
}

interface Usage {
  user: number;
  system: number;
}
// Node's. The thread's own is there from 23.9 on; the process's is no less, so that it excuses nothing wrongly.
const { process } = globalThis as { process?: { threadCpuUsage?(): Usage; cpuUsage?(): Usage } };

const settled = Promise.resolve();

/** The clock of this thread. */
export const threadClock: Clock = {
  nowUs: () => performance.now() * 1000,
  // A reaction, not `queueMicrotask`: Node makes a resource for each of those, 300 ns instead of 50.
  afterBurst: (next) => void settled.then(next),
  afterTurn: afterMessages,
  cpuUs: () => {
    const usage = process?.threadCpuUsage?.() ?? process?.cpuUsage?.();
    return usage && usage.user + usage.system;
  },
  onFrame: typeof requestAnimationFrame === "function" ? (next) => void requestAnimationFrame(next) : undefined,
};
