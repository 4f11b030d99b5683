// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ClearwayError } from "../../error/clearway-error.js";
import type { CallbackFor } from "../../task/callback-types.js";
import type { TasksOf } from "../../task/caller.js";
import type { Task } from "../../task/task.js";
import type { Arrived, Sendable } from "../../transfer/arrived.js";
import type { TaskKind } from "../../transport/protocol.js";
import type { CallSettings } from "../options.js";
import type { SingleResultName } from "./map.js";

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

/** The part of a pool that a broadcast uses. The engine implements it. */
export interface BroadcastOwner {
  readonly ended: ClearwayError | undefined;
  readonly records: { of(name: string): { readonly kind: TaskKind | undefined } };
  readonly workers: { readonly all: readonly ({ readonly life: { readonly state: string } } | undefined)[] };
  submit(name: string, args: unknown[], options: CallSettings, caller: (...args: never[]) => unknown): unknown;
}

/** What a caller passed to `pool.broadcast`. */
export interface BroadcastSource {
  readonly owner: BroadcastOwner;
  /** Name of the task. */
  readonly name: string;
  readonly args: unknown[];
  /** Options of the calls. */
  readonly call: CallSettings;
}
