// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Callers } from "clearway";
import { byName, ClearwayError, checked, invalid, type Rules, type Test } from "clearway/remote";
import { DurableCaller, type DurableCallSettings, type DurablePoolContext, type DurablePoolStats } from "./caller.js";
import { isId } from "./names.js";
import { callerSettingsOf, type DurableCallerOptions } from "./options.js";

/** The tasks of a module that durable mode can call: plain functions. Streams have no place to wait. */
export type DurableCallers<Module> = {
  readonly [Name in keyof Callers<Module> & string as Callers<Module>[Name] extends (
    ...args: never[]
  ) => Promise<unknown>
    ? Name
    : never]: Callers<Module>[Name];
};

type TaskName<Module> = keyof DurableCallers<Module> & string;

/** The arguments of a task that can be called durably. */
export type DurableArguments<Module, Name extends keyof DurableCallers<Module>> = DurableCallers<Module>[Name] extends (
  ...args: infer Args
) => unknown
  ? Args
  : never;

/** Options of durable calls. */
export interface DurableCallOptions {
  /** Cancels the call. It is removed from the queue, or its task's signal aborts. The promise rejects with the signal's reason at once. */
  signal?: AbortSignal | undefined;
  /** Maximum time for the task, in milliseconds from its start in the worker. */
  timeoutMs?: number | undefined;
  /**
   * Maximum time for the whole call, in milliseconds. The caller counts it from the call. A worker counts it from the time at which it
   * receives the call, because the clocks of two machines differ.
   */
  deadlineMs?: number | undefined;
  /** Calls with the same key run one after the other, wherever they run. */
  key?: string | number | undefined;
  /** Above 0: before the calls of other callers. Below 0: after them. Has no effect on calls with a key. Default 0. */
  priority?: number | undefined;
}

/** Options of {@link DurablePool.submit}. */
export interface SubmitOptions extends Omit<DurableCallOptions, "signal"> {
  /**
   * The call's id: 1 to 128 letters, digits, hyphens and underscores. A second call with the same id within `dedupMs` is not another call.
   * Default: a random one.
   */
  id?: string | undefined;
  /**
   * A subject to which the outcome is also published. {@link readCallback} reads it. The worker processes must allow it (option `callbacks`);
   * subjects that begin with `clearway.callback.` are allowed. To store the outcomes, give a stream that subject.
   */
  callback?: string | undefined;
}

/** Options of {@link DurablePool.result}. */
export interface ResultOptions {
  signal?: AbortSignal | undefined;
  /** Maximum time to wait, in milliseconds. Then the promise rejects with `deadline`, and the call goes on. */
  deadlineMs?: number | undefined;
}

/** The tasks of a module, as methods of `call`. */
export interface DurableCallable<Module> {
  readonly call: DurableCallers<Module>;
}

/**
 * A pool whose calls are stored by the servers until a worker process has run them. A call waits for a worker, and survives the end of any
 * worker, of the servers, and of the caller.
 */
export interface DurablePool<Module> extends DurableCallable<Module>, AsyncDisposable {
  /** Returns the same tasks. Calls through the result use these options. Throws `invalid-argument`. */
  with(options: DurableCallOptions): DurableCallable<Module>;
  /**
   * Stores a call whose outcome anyone can read later, by its id. Resolves with the id when the call is stored: from then on it runs, also if
   * this process ends.
   */
  submit<Name extends TaskName<Module>>(
    task: Name,
    args: DurableArguments<Module, Name>,
    options?: SubmitOptions,
  ): Promise<string>;
  /**
   * Waits for the outcome of a submitted call, in any process. Resolves with the result, and rejects with the task's error. Outcomes are kept
   * for `resultAgeMs`. Without `deadlineMs`, it waits for a call that was never submitted until the pool closes.
   */
  result<Result = unknown>(id: string, options?: ResultOptions): Promise<Result>;
  /** Returns a copy of the counters. */
  stats(): DurablePoolStats;
  /**
   * Takes no more calls and waits until the open ones have an outcome, at most `timeoutMs` (default 30,000). Then they reject with
   * `pool-closed`. They stay in the queue and run, but their outcome is lost: use `submit()` for calls that must outlive this process.
   */
  close(options?: { timeoutMs?: number | undefined }): Promise<void>;
  /** Rejects every open call with `pool-terminated`, and closes the pool. The calls stay in the queue. */
  terminate(): Promise<void>;
}

const abortSignal: Test = (value) =>
  typeof (value as AbortSignal | null)?.addEventListener === "function" || "an AbortSignal";
const keyRule: Test = (value) =>
  Number.isFinite(value) ||
  (typeof value === "string" && value.length <= 1_024) ||
  "a finite number, or a string of at most 1024 characters";
const milliseconds: Test = (value) => (typeof value === "number" && value >= 0) || "a number, 0 or more";
const callRules: Rules = {
  signal: abortSignal,
  timeoutMs: milliseconds,
  deadlineMs: milliseconds,
  key: keyRule,
  priority: (value) => Number.isFinite(value) || "a finite number",
};
const submitRules: Rules = {
  timeoutMs: milliseconds,
  deadlineMs: milliseconds,
  key: keyRule,
  priority: (value) => Number.isFinite(value) || "a finite number",
  id: (value) => isId(value) || "1 to 128 letters, digits, hyphens and underscores",
  callback: (value) =>
    (typeof value === "string" && value.length <= 255 && value.split(".").every(isId)) ||
    "a subject of at most 255 characters, without wildcards",
};

/** Opens a pool of durable calls. Creates the streams if they do not exist. Rejects with `connect-failed` and `invalid-argument`. */
export async function durablePool<Module>(
  context: DurablePoolContext,
  options: DurableCallerOptions = {},
): Promise<DurablePool<Module>> {
  const caller = await DurableCaller.open(context, callerSettingsOf(options));
  const bound = (settings: DurableCallSettings): DurableCallable<Module> => ({
    call: byName<DurableCallers<Module>>(
      (task) =>
        (...args) =>
          caller.call(task, args, settings),
    ),
  });
  const close = async (closeOptions: { timeoutMs?: number | undefined } = {}): Promise<void> => {
    const { timeoutMs } = checked(closeOptions, { timeoutMs: milliseconds });
    await caller.close(timeoutMs);
  };
  return {
    ...bound({ priority: 0 }),
    with: (callOptions) => bound(checked(callOptions, callRules, { priority: 0 }) as DurableCallSettings),
    async submit(task, args, submitOptions = {}) {
      const settings = checked(submitOptions, submitRules, { priority: 0 }) as DurableCallSettings & SubmitOptions;
      if (typeof task !== "string" || task === "") throw invalid("task", "the name of a task", task);
      if (!Array.isArray(args)) throw invalid("args", "an array of the task's arguments", args);
      return caller.submit(task, args, settings);
    },
    async result<Result>(id: string, resultOptions: ResultOptions = {}) {
      if (!isId(id)) throw invalid("id", "the id of a call", id);
      const rules = { signal: abortSignal, deadlineMs: milliseconds };
      return (await caller.result(id, checked(resultOptions, rules))) as Result;
    },
    stats: () => caller.stats(),
    close,
    terminate: () => caller.end(new ClearwayError("pool-terminated", "the pool was terminated")),
    [Symbol.asyncDispose]: () => close(),
  };
}
