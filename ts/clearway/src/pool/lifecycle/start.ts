// SPDX-License-Identifier: MIT OR Apache-2.0

import { ClearwayError, caused, messageOf } from "../../error/clearway-error.js";
import { checkDepth } from "../../error/depth.js";
import { decodeError, type WireError } from "../../error/wire.js";
import { clearTimeout } from "../../globals.js";
import type { PoolCall, StreamCode } from "../call/call.js";
import type { TaskRecord } from "../schedule/task-stats.js";
import type { Tasks } from "../worker/worker.js";
import type { LifecycleHost, Worker } from "./host.js";
import { setupEnded } from "./restarts.js";
import { lost } from "./stop.js";

/**
 * Sends an early call (a call before the worker is ready) to each worker that is starting. The frame has the task's name instead of its
 * index, which is not known yet. The worker finds the call when it is ready, so the result comes one round trip earlier. Sends only calls
 * without flags, moved memory or deeply nested arguments, and only while no worker has listed its tasks.
 */
export function sendEarly({ backlog, records, workers }: LifecycleHost): void {
  if (records.known) return;
  for (const worker of workers.starting) {
    const call = backlog.shared.peek();
    if (call === undefined || call.flags !== 0 || call.deep || call.transfer.length > 0) return;
    backlog.take(backlog.shared);
    worker.post(call);
  }
}

/** Records that a worker's module is loaded. From now on, the worker takes calls. A worker that was killed before takes none. */
export function ready(host: LifecycleHost, worker: Worker, tasks: Tasks): void {
  const { records, settings } = host;
  clearTimeout(worker.startTimer);
  if (worker.killed || !worker.life.ready()) return;
  setupEnded(host, true);
  settings.onWorker({ type: "started", worker: worker.index });
  sortEarly(host, tasks);
  if (records.known) worker.indexes = ownIndexes(host, tasks);
  else
    tasks.forEach(([name, kind, placement], index) => {
      const record = records.of(name);
      record.kind = kind;
      record.index = index;
      record.placement = placement;
    });
  records.known = true;
  host.settleReady();
  host.loadDropped(worker);
}

// The file of the tasks may have changed since the first worker started. Returns the indexes of the pool's tasks in a worker that lists them in
// another order, or with another kind. Returns undefined if the lists are equal. A call of a task that it lacks is refused.
function ownIndexes({ records }: LifecycleHost, tasks: Tasks): Map<string, number> | undefined {
  const same = ([name, kind]: Tasks[number]): boolean => records.get(name)?.kind === kind;
  const listed = [...records.values()].filter(({ index }) => index >= 0);
  if (listed.length === tasks.length && tasks.every((task, at) => same(task) && records.get(task[0])?.index === at))
    return;
  return new Map(tasks.flatMap((task, at) => (same(task) ? [[task[0], at]] : [])));
}

// Takes back early calls from workers that do not run them. A worker does not run an early call of a task that is not a function. When the
// first list of tasks arrives, the pool sends such a call again, or refuses it.
function sortEarly(host: LifecycleHost, tasks: Tasks): void {
  if (host.records.known) return;
  const functions = new Set(tasks.flatMap(([name, kind]) => (kind === "function" ? name : [])));
  for (const worker of host.workers) {
    for (const call of worker.calls.values()) if (!functions.has(call.record.name)) lost(host, worker, call, false);
  }
}

/** Returns the error for a worker whose `setup` failed. `wire` is the encoded error of `setup`. */
export function setupFailure(wire: WireError): ClearwayError {
  const cause = decodeError(wire);
  return caused("setup-failed", `the worker could not be started: its setup() failed: ${messageOf(cause)}`, cause);
}

/**
 * Ends or requeues the early call of a worker that exited before it was ready. If the module threw an error, or its `setup` failed, the call
 * has not run. Otherwise it may have run.
 */
export function bringBack(host: LifecycleHost, worker: Worker, why: ClearwayError): void {
  const { calls, uncaught } = worker;
  const setupFailed = why.code === "setup-failed";
  if (setupFailed) setupEnded(host, false);
  if (calls.size === 0) return;
  for (const call of calls.values()) lost(host, worker, call, uncaught === undefined && !setupFailed, why);
  // A ready worker may be idle, and does not look for calls by itself. If no worker is ready, the pool starts none for these calls.
  // Otherwise a factory whose workers always throw would start workers for ever.
  if (host.workers.count("ready") > 0) host.scheduler.run();
}

/** Returns whether a waiting call may be sent now. If not, the call was cancelled, refused, or taken out of the queue. */
export function admits({ tracker, records }: LifecycleHost, code: StreamCode, call: PoolCall): boolean {
  const { record } = call;
  if (record.index < 0) {
    tracker.cancel(call, unknownTask(record.name, records));
    return false;
  }
  if (call.deep) {
    try {
      call.args.forEach(checkDepth);
    } catch (reason) {
      tracker.refuse(call, reason);
      return false;
    }
  }
  // A proxy among the arguments is code of the app. While its depth was checked, it may have ended the call.
  if (call.state !== "queued") return false;
  if (!call.isStream) return true;
  call.settleStream();
  // The reader may have asked for values, or for the end, before any worker was ready.
  call.stream?.open(code);
  if (call.state !== "queued") return false;
  if (call.stream?.consumer?.credit.items) return true;
  // The reader has not asked for a value yet, so the call waits outside the queue.
  call.setAside();
  call.cleanUp();
  record.calls--;
  tracker.shut();
  return false;
}

/** Returns the error for a name that the module does not expose. */
export function unknownTask(name: string, records: ReadonlyMap<string, TaskRecord>): ClearwayError {
  const known = [...records.values()].flatMap((record) => (record.index < 0 ? [] : record.name));
  return new ClearwayError(
    "unknown-task",
    `the module exposes no task "${name}"; it exposes ${known.join(", ") || "none"}`,
  );
}
