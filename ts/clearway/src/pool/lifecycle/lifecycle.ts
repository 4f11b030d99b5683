// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, caused, messageOf } from "../../error/clearway-error.js";
import { checkDepth } from "../../error/depth.js";
import { decodeError, type WireError } from "../../error/wire.js";
import { inDevelopment } from "../../host/host.js";
import { Timings } from "../../stats/timings.js";
import { Consumer } from "../../stream/consumer.js";
import { broadcast } from "../call/broadcast.js";
import type { PoolCall } from "../call/call.js";
import { adviceOf, InlineCalls } from "../call/inline.js";
import { Mapping } from "../call/mapping.js";
import type { Engine } from "../engine.js";
import type { PoolTasks } from "../schedule/scheduler.js";
import type { ListedTask, PoolWorker } from "../worker/worker.js";
import { cancel } from "./cancel.js";
import { exited, lost, pauseOf, setupEnded, uncaught } from "./lost-worker.js";
import {
  announce,
  frame,
  freeId,
  outcomeOf,
  ownErrorOf,
  ping,
  refused,
  rethrowWithCallerStack,
  unreadable,
} from "./messages.js";
import { loadDropped, retireAll } from "./retire.js";
import { watchOf } from "./warnings.js";

/**
 * Sends an early call (a call before the worker is ready) to each worker that is starting. The frame has the task's name instead of its
 * index, which is not known yet. The worker finds the call when it is ready, so the result comes one round trip earlier. Sends only calls
 * without flags, moved memory or deeply nested arguments, and only while no worker has listed its tasks.
 */
export function sendEarly({ backlog, tasks, workers, watch }: Engine): void {
  for (const worker of tasks.known ? [] : workers.starting) {
    const call = backlog.shared.peek();
    if (call === undefined || call.flags !== 0 || call.deep || call.transfer.length > 0) break;
    backlog.take(backlog.shared);
    worker.post(call);
  }
  watch?.queued();
}

/** Records that a worker's module is loaded. From now on, the worker takes calls. A worker that was killed before takes none. */
export function ready(engine: Engine, worker: PoolWorker, listed: ListedTask[]): void {
  const { tasks, settings, watch } = engine;
  watch?.started(worker);
  if (worker.killed || !worker.life.ready()) return;
  setupEnded(engine, true);
  settings.onWorker({ type: "started", worker: worker.index });
  sortEarly(engine, listed);
  if (tasks.known) worker.indexes = ownIndexes(tasks, listed);
  else
    listed.forEach(([name, kind, placement], index) => {
      Object.assign(tasks.of(name), { kind, index, placement });
    });
  tasks.known = true;
  engine.workers.settleReady();
  engine.loadDropped(worker);
}

// The file of the tasks may have changed since the first worker started. Returns the indexes of the pool's tasks in a worker that lists them in
// another order, or with another kind. Returns undefined if the lists are equal. A call of a task that it lacks is refused.
function ownIndexes(tasks: PoolTasks, listed: ListedTask[]): Map<string, number> | undefined {
  const same = ([name, kind]: ListedTask): boolean => tasks.get(name)?.kind === kind;
  const own = [...tasks.values()].filter(({ index }) => index >= 0);
  if (own.length === listed.length && listed.every((task, at) => same(task) && tasks.get(task[0])?.index === at))
    return;
  return new Map(listed.flatMap((task, at) => (same(task) ? [[task[0], at]] : [])));
}

// Takes back early calls from workers that do not run them. A worker does not run an early call of a task that is not a function. When the
// first list of tasks arrives, the pool sends such a call again, or refuses it.
function sortEarly(engine: Engine, listed: ListedTask[]): void {
  if (engine.tasks.known) return;
  const functions = new Set(listed.flatMap(([name, kind]) => (kind === "function" ? name : [])));
  for (const worker of engine.workers) {
    for (const call of worker.calls.values()) if (!functions.has(call.task.name)) lost(engine, worker, call, false);
  }
}

/** Returns the error for a worker whose `setup` failed. `wire` is the encoded error of `setup`. */
export function setupFailure({ settings }: Engine, wire: WireError): ClearwayError {
  const cause = decodeError(wire);
  const why = messageOf(cause) + (settings.setup === undefined ? ", and the pool has no option `setup`" : "");
  return caused("setup-failed", `the worker could not be started: its setup() failed: ${why}`, cause);
}

/**
 * Ends or requeues the early call of a worker that exited before it was ready. If the module threw an error, or its `setup` failed, the call
 * has not run. Otherwise it may have run.
 */
export function bringBack(engine: Engine, worker: PoolWorker, why: ClearwayError): void {
  const { calls, uncaught } = worker;
  const setupFailed = why.code === "setup-failed";
  if (setupFailed) setupEnded(engine, false);
  if (calls.size === 0) return;
  for (const call of calls.values()) lost(engine, worker, call, uncaught === undefined && !setupFailed, why);
  // A ready worker may be idle, and does not look for calls by itself. If no worker is ready, the pool starts none for these calls.
  // Otherwise a factory whose workers always throw would start workers for ever.
  if (engine.workers.count("ready") > 0) engine.scheduler.run();
}

/** Returns whether a waiting call may be sent now. If not, the call was cancelled, refused, or taken out of the queue. */
export function admits(engine: Engine, call: PoolCall): boolean {
  const { task } = call;
  if (task.index < 0) {
    engine.expire(call, unknownTask(task.name, engine.tasks));
    return false;
  }
  if (call.deep) {
    try {
      call.args.forEach(checkDepth);
    } catch (reason) {
      engine.refuse(call, reason);
      return false;
    }
  }
  // A proxy among the arguments is code of the app. While its depth was checked, it may have ended the call.
  if (call.state !== "queued") return false;
  if (!call.isStream) return true;
  call.settleStream();
  // The reader may have asked for values, or for the end, before any worker was ready.
  call.stream?.open(engine.lifecycle!);
  if (call.state !== "queued") return false;
  if (call.stream?.consumer?.credit.items) return true;
  // The reader has not asked for a value yet, so the call waits outside the queue.
  call.setAside();
  call.cleanUp();
  task.calls--;
  engine.shut();
  return false;
}

/** Returns the error for a name that the module does not expose. */
export function unknownTask(name: string, tasks: PoolTasks): ClearwayError {
  const known = [...tasks.values()].flatMap((task) => (task.index < 0 ? [] : task.name));
  return new ClearwayError(
    "unknown-task",
    `the module exposes no task "${name}"; it exposes ${known.join(", ") || "none"}`,
  );
}

/** Returns the error for a task that a worker lacks, because the task file has changed. */
export function changedTask(name: string): ClearwayError {
  const text = `the task file has changed: it has no ${name}() any more, or another kind of it`;
  return new ClearwayError("unknown-task", `${text}. Make a new pool`);
}

// Gives an engine what it has only with this code.
function begin(engine: Engine): void {
  const { metrics, onError, warnings } = engine.settings;
  engine.inline = new InlineCalls(engine);
  if (metrics) engine.metrics = new Timings(onError, typeof metrics === "function" ? metrics : undefined);
  if (warnings ?? inDevelopment()) engine.watch = watchOf(engine);
}

/**
 * Everything that a pool needs only after its first worker is ready: the start and end of workers, all frames except results, and the code
 * that reads streams.
 *
 * An engine loads this code while its first worker starts. No worker can become ready without it. If the code cannot be loaded, the pool
 * fails as if no worker could be started.
 */
export const lifecycle = {
  begin,
  sendEarly,
  ready,
  setupFailure,
  admits,
  unknownTask,
  changedTask,
  announce,
  freeId,
  frame,
  refused,
  unreadable,
  ping,
  cancel,
  loadDropped,
  uncaught,
  exited,
  bringBack,
  retireAll,
  pauseOf,
  adviceOf,
  outcomeOf,
  ownErrorOf,
  rethrow: rethrowWithCallerStack,
  broadcast,
  Consumer,
  Mapping,
};

/** The code that an engine loads while its first worker starts. */
export type LifecycleCode = typeof lifecycle;
