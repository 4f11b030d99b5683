// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";
import type { ErrorCode } from "../error/clearway-error.js";
import { type ClearwayError, caused, messageOf } from "../error/clearway-error.js";
import { clearTimeout, OwnPromise, setTimeout, type Timer, timerMsMax } from "../globals.js";

/**
 * Starts a timer of any length, in milliseconds. Hosts support at most 24.8 days, and fire at once for a longer time. A longer time, such as
 * Infinity, therefore starts no timer, and `act` never runs.
 */
export function after(ms: number, act: () => void): Timer | undefined {
  return ms > timerMsMax ? undefined : setTimeout(act, ms);
}

/**
 * Starts a limit, in milliseconds, for the time in which another thread must answer. After a stall of this thread or a sleep of the machine, a timer
 * runs before the messages that wait. `act` therefore runs after them, and has to look whether the answer was among them. Clearing the timer
 * after its time does not stop `act`.
 */
export function timeLimit(ms: number, act: () => void): Timer | undefined {
  return after(ms, () => afterMessages(act));
}

/**
 * Returns whether `promise` is fulfilled within `limitMs` milliseconds, or by a message that had arrived by then and was not read yet. Returns false
 * if it rejects. Clears its timer.
 */
export function within(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  return new OwnPromise((resolve) => {
    const settle = (inTime: boolean): void => {
      clearTimeout(timer);
      resolve(inTime);
    };
    const timer = timeLimit(limitMs, () => settle(false));
    promise.then(
      () => settle(true),
      () => settle(false),
    );
  });
}

// Created on first use, so that importing this file has no side effects.
let settled: Promise<void> | undefined;

/**
 * Runs `act` in a microtask. `act` must not throw. Node's `queueMicrotask` creates an async resource for each microtask, which takes as long
 * as the rest of a small message.
 */
export function inMicrotask(act: () => void): void {
  settled ??= OwnPromise.resolve();
  void settled.then(act);
}

// Time limit for loading a lazy module, in milliseconds; the same as the default limit of a worker's start. Browsers wait minutes for a
// server that does not answer, and no call may wait that long. A lazy module has a few KB. If it has not arrived within the limit, it will
// not arrive.
const limitMs = 30_000;

const asItIs = (cause: unknown): unknown => cause;

/**
 * Returns a function that loads a lazy module at its first call. A lazy module is a file of the library that only some apps or calls need.
 *
 * Loads the module once. If a load fails or takes too long, the next call tries again. `explain` converts the error of a failed load.
 */
export function lazyModule<Exports>(load: () => Promise<Exports>, explain = asItIs): () => Promise<Exports> {
  let loading: Promise<Exports> | undefined;
  return () => {
    loading ??= new OwnPromise<Exports>((resolve, reject) => {
      const fail = (cause: unknown): void => {
        loading = undefined;
        reject(explain(cause));
      };
      const timer = setTimeout(() => fail(new Error(`it was not loaded within ${limitMs} ms`)), limitMs);
      void load()
        .then(resolve, fail)
        .finally(() => clearTimeout(timer));
    });
    return loading;
  };
}

/** Loads a lazy module in the background. Ignores errors: the caller that needs the module loads it again and receives the error. */
export function preload(load: () => Promise<unknown>): void {
  load().catch(() => {});
}

/**
 * Returns the error for a lazy module that could not be loaded. The import's message names the file. Vite's dev server answers with 504 for
 * files that it discovers late.
 */
export function notLoaded(what: string, cause: unknown, code: ErrorCode = "missing-package"): ClearwayError {
  const hint = hasProcesses ? "" : '. In Vite\'s dev server, set optimizeDeps: { exclude: ["clearway"] }';
  return caused(code, `${what} could not be loaded: ${messageOf(cause)}${hint}`, cause);
}
