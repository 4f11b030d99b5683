// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import type { Timer } from "../lazy/timer.js";
import type { PoolCall } from "./pool-call.js";

/** What a worker has to do, and what it has done: by which it is chosen, recycled and reported. */
export abstract class WorkerLoad {
  /** Calls that keep it busy: functions not answered, streams whose reader has given credit. */
  load = 0;
  /** Of those, how many may have to be killed. */
  guarded = 0;
  /** How long its calls are expected to take, in microseconds. */
  busyUs = 0;
  /** Became less busy while a message was read. */
  loadDropped = false;
  tasksRun = 0;
  runUs = 0;
  heapBytes = 0;
  readonly startedMs = now();
  idleTimer: Timer | undefined;
  idleSinceMs = 0;

  /** Brings the load up to date with whether this call keeps the worker busy now. Returns true when the load fell. */
  count(call: PoolCall): boolean {
    const busy = call.worker === (this as unknown) && (!call.isStream || call.stream?.consumer?.active === true);
    if (busy === call.counted) return false;
    call.counted = busy;
    const sign = busy ? 1 : -1;
    this.load += sign;
    if (call.guarded) this.guarded += sign;
    this.busyUs = this.load === 0 ? 0 : Math.max(0, this.busyUs + sign * (call.record.estimate.meanUs ?? 0));
    return !busy;
  }
}
