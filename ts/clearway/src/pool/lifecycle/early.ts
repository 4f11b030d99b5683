// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ClearwayError } from "../../error/clearway-error.js";
import type { Engine } from "../engine.js";
import type { PoolWorker } from "../worker.js";
import { lost } from "./exit.js";
import type { Tasks } from "./ready.js";

/**
 * Sends each worker that starts its first call before it is ready, by the task's name: it finds it when it is, a round trip
 * sooner. Only calls that are nothing but that, and only while nobody knows what the module exposes.
 */
export function sendEarly({ backlog, records, workers }: Engine): void {
  if (records.known) return;
  for (const worker of workers.starting) {
    const call = backlog.shared.peek();
    if (call === undefined || call.flags !== 0 || call.deep || call.transfer.length > 0) return;
    backlog.take(backlog.shared);
    worker.post(call);
  }
}

/** It is known now what the module exposes: calls of what is no function were not run, and are sent again, or refused. */
export function sortEarly({ records, workers }: Engine, tasks: Tasks): void {
  if (records.known) return;
  const functions = new Set(tasks.flatMap(([name, kind]) => (kind === "function" ? name : [])));
  for (const worker of workers) {
    for (const call of worker.calls.values()) if (!functions.has(call.record.name)) lost(worker, call, false);
  }
}

/** A worker is gone that was never ready. Nobody knows whether it has run its call, unless its module threw before. */
export function bringBack(worker: PoolWorker, why: ClearwayError): void {
  const { calls, engine, uncaught } = worker;
  if (calls.size === 0) return;
  for (const call of calls.values()) lost(worker, call, uncaught === undefined, why);
  // Another that is ready may have nothing left to do, and would not look again. Where none is, none is started for them: who
  // makes workers whose module throws would start them for ever.
  if (engine.workers.count("ready") > 0) engine.scheduler.run();
}
