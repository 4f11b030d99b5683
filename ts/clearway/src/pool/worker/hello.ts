// SPDX-License-Identifier: MIT OR Apache-2.0
import { cancelCellCount } from "../../task/context.js";
import { findMemory } from "../../transfer/find-memory.js";
import type { HelloSettings } from "../../transport/protocol.js";
import type { Settings } from "../options.js";

/**
 * Returns the settings of the first frame for a new worker. Allocates the shared cells for cancelled calls if the host has shared memory.
 */
export function helloOf(settings: Settings, name: string): HelloSettings {
  const shared = typeof SharedArrayBuffer === "function";
  const { concurrency, metrics, setup, slices, warnings } = settings;
  return {
    clearway: 1,
    concurrency,
    metrics: metrics !== false,
    setup: findMemory(setup, 0).value,
    warnings,
    slices,
    reportHeap: Number.isFinite(settings.recycle.heapMb),
    ring: shared && settings.carrier === "auto",
    cancelCells: shared ? new Int32Array(new SharedArrayBuffer(cancelCellCount * 4)) : undefined,
    lifeline: `clearway:${name}:${Math.random()}`,
  };
}
