// SPDX-License-Identifier: MIT OR Apache-2.0
import { clock } from "../globals.js";
import { cloneMsMax } from "../host/development.js";
import type { ParentEndpoint } from "../host/host.js";
import { mayBeSlow } from "../transfer/rough-bytes.js";
import { coded, frameSlots, Op } from "../transport/protocol.js";

// Number of calls whose tasks are known. A result is posted soon after its call has come.
const callsMax = 1_000;

/**
 * Returns an endpoint that measures how long each post takes. `slow` receives the task whose result took too long to copy, and the time.
 * Only this thread can measure that: Node copies a message on the other side before the message arrives.
 */
export function watched(
  endpoint: ParentEndpoint,
  slow: (task: string, ms: number) => void,
  readClock = clock,
): ParentEndpoint {
  const tasks = new Map<unknown, string>();
  return {
    ...endpoint,
    called: (id, task) => {
      if (tasks.size >= callsMax) tasks.clear();
      tasks.set(id, task);
    },
    post: (message, transfer) => {
      const startMs = readClock();
      endpoint.post(message, transfer);
      const ms = readClock() - startMs;
      if (ms <= cloneMsMax) return;
      const frames = message as unknown[];
      for (let at = 0; at < frames.length; at += frameSlots) {
        const task = tasks.get(frames[at + 1]);
        // Several objects in one message are rare, because results of more than 1 ms are sent at once.
        const op = (frames[at] as number) & ~coded;
        if ((op === Op.Result || op === Op.Chunk) && task && mayBeSlow(frames[at + 2])) return slow(task, ms);
      }
    },
  };
}
