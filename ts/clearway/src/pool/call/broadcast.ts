// SPDX-License-Identifier: MIT OR Apache-2.0

import { abortOf } from "../../error/checked.js";
import { ClearwayError, calledFrom, messageOf } from "../../error/clearway-error.js";
import { OwnPromise } from "../../globals.js";
import { isAsyncIterable } from "../../host/async-iterable.js";
import type { CallbackFor } from "../../task/callback-stub.js";
import type { Task, TasksOf } from "../../task/task.js";
import type { Arrived, Sendable } from "../../transfer/arrived.js";
import { MovedValue } from "../../transfer/move.js";
import { refusalOf } from "../../transfer/refusal.js";
import { isCallback } from "../../transport/callback.js";
import type { Engine } from "../engine.js";
import type { CallSettings } from "../options.js";
import type { SingleResultName } from "./map.js";
import { givesStream } from "./mapping.js";

/** The failure of a broadcast in one worker. */
export interface BroadcastFailure {
  /** Index of the worker. Its name in debuggers ends with this number. */
  readonly worker: number;
  /** The error with which the call failed. */
  readonly reason: unknown;
}

/** The result of a broadcast in one worker. */
export interface BroadcastResult<T> {
  /** Index of the worker. */
  readonly worker: number;
  readonly result: T;
}

/** The error of a broadcast that failed in at least one worker. Its `cause` is the reason of the first failure. */
export interface BroadcastError<T = unknown> extends ClearwayError {
  readonly code: "broadcast-failed";
  /** The failures, by index of the worker. */
  readonly failures: readonly BroadcastFailure[];
  /** The results of the workers in which the call succeeded. */
  readonly results: readonly BroadcastResult<T>[];
}

/** The arguments of a broadcast: values that are copied to each worker, and functions under `callback()`. */
type Copied<Args extends unknown[]> = { [At in keyof Args]: Sendable<Args[At]> | CallbackFor<Args[At]> };

/** The type of a task under `pool.broadcast`. */
type Broadcaster<Fn> =
  Fn extends Task<infer _Context, infer Args, infer Result>
    ? (...args: Copied<Args>) => Promise<Arrived<Awaited<Result>>[]>
    : Fn extends (...args: infer Args) => infer Result
      ? (...args: Copied<Args>) => Promise<Arrived<Awaited<Result>>[]>
      : never;

/** The tasks of a module that give one result, as `pool.broadcast` offers them. */
export type Broadcasters<Module> = BroadcastersOf<TasksOf<Module>>;

type BroadcastersOf<Tasks> = {
  readonly [Name in keyof Tasks as SingleResultName<Tasks, Name>]: Broadcaster<Tasks[Name]>;
};

/** What a caller passed to `pool.broadcast`. */
interface BroadcastSource {
  readonly engine: Engine;
  /** Name of the task. */
  readonly name: string;
  readonly args: unknown[];
  /** Options of the calls. */
  readonly call: CallSettings;
}

// The class of the errors. Its public type is the interface of the same name.
const FailedBroadcast = class BroadcastError extends ClearwayError {
  readonly failures: readonly BroadcastFailure[];
  readonly results: readonly BroadcastResult<unknown>[];

  constructor(task: string, failures: readonly BroadcastFailure[], results: readonly BroadcastResult<unknown>[]) {
    const each = failures.map(({ worker, reason }) => `worker ${worker}: ${messageOf(reason)}`);
    const count = `${failures.length} of ${failures.length + results.length} workers`;
    super("broadcast-failed", `${task}() failed in ${count}: ${each.join("; ")}`, { cause: failures[0]?.reason });
    this.failures = failures;
    this.results = results;
  }
};

/**
 * Calls a task once for each place in the pool that has a worker now, ready or starting. A worker that is ending does not count. If a worker
 * ends before the call has begun there, the worker that takes its place gets the call. Waits until every call has ended.
 *
 * Throws a `BroadcastError` if a call failed. Throws the reason of the signal if that ended a call, and the pool's own error if the pool has
 * ended. Throws `invalid-argument` for arguments that only one worker could receive, and for a task that gives a stream, and `not-cloneable`
 * for an argument that cannot be read.
 */
export async function broadcast({ engine, name, args, call }: BroadcastSource): Promise<unknown[]> {
  if (engine.ended) throw engine.ended;
  if (call.key !== undefined)
    throw new ClearwayError("invalid-argument", "a broadcast takes no key: it calls every worker");
  try {
    args.forEach(checkArgument);
  } catch (reason) {
    throw refusalOf(`an argument of ${name}()`, reason);
  }
  if (engine.tasks.of(name).kind === "stream") throw givesStream("a broadcast", name);
  const places = engine.workers.all.flatMap((worker, index) =>
    worker?.life.state === "ready" || worker?.life.state === "starting" ? [index] : [],
  );
  // A call with a key goes to the worker at the key's index. No other call has this key, so no call waits for this one.
  const calls = places.map((workerIndex) =>
    engine.submit(name, args, { ...call, workerIndex, key: Symbol() }, () => {}),
  );
  const outcomes = await OwnPromise.allSettled(calls);
  const failures: BroadcastFailure[] = [];
  const results: BroadcastResult<unknown>[] = [];
  outcomes.forEach((outcome, at) => {
    const worker = places[at]!;
    if (outcome.status === "rejected") failures.push({ worker, reason: outcome.reason });
    else results.push({ worker, result: outcome.value });
  });
  if (engine.tasks.of(name).kind === "stream") {
    // The kind was not known before. No stream has begun, because nothing was read.
    for (const { result } of results) void (result as AsyncGenerator).return(undefined);
    throw givesStream("a broadcast", name);
  }
  if (failures.length === 0) return results.map(({ result }) => result);
  // Each call has its own copy of the error of a pool that has ended.
  const endCode = (engine.ended as ClearwayError | undefined)?.code;
  const abort = abortOf(call.signal);
  const end =
    failures.find(({ reason }) => reason instanceof ClearwayError && reason.code === endCode) ??
    failures.find(({ reason }) => abort && reason === abort.reason);
  if (end) throw end.reason;
  const error = new FailedBroadcast(name, failures, results);
  error.stack += calledFrom(call.callerStack ?? "");
  throw error;
}

function checkArgument(value: unknown, at: number): void {
  const moved = value instanceof MovedValue;
  if (!moved && !(value !== null && typeof value === "object" && isAsyncIterable(value))) return;
  // A callback opens a session for each call.
  if (!moved && isCallback(value as object)) return;
  const what = moved ? "under move()" : "a stream";
  throw new ClearwayError(
    "invalid-argument",
    `argument ${at + 1} of a broadcast is ${what}, which only one worker could receive: pass a value that can be copied`,
  );
}
