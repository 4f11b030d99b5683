// SPDX-License-Identifier: MIT OR Apache-2.0
import { cancelCellCount } from "../task/context.js";
import type { HelloSettings } from "../transport/protocol.js";
import type { Settings } from "./options.js";

/** What a pool tells a new worker first. Allocates the shared cells for cancelled calls, where there is shared memory. */
export function helloOf(settings: Settings, name: string): HelloSettings {
  const shared = typeof SharedArrayBuffer === "function";
  return {
    clearway: 1,
    concurrency: settings.concurrency,
    metrics: settings.metrics,
    reportHeap: settings.recycle.heapMb < Number.POSITIVE_INFINITY,
    ring: shared && settings.carrier === "auto",
    cancelCells: shared ? new Int32Array(new SharedArrayBuffer(cancelCellCount * 4)) : undefined,
    lifeline: `clearway:${name}:${Math.random()}`,
  };
}
