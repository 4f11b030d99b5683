// SPDX-License-Identifier: MIT OR Apache-2.0
import { filesOf, ownFile, pathOf } from "./own-file.js";

// Frames of the library between the app's code and a worker's start, with a reserve for frames of wrappers.
const framesMin = 20;

interface Capture {
  /** Formatted with the app's source maps. */
  readonly shown: Error;
  /** The same stack, for the names of the files. An error's stack is formatted only once. */
  readonly files: Error;
}

const captures = new WeakMap<object, Capture>();

/**
 * Captures the stack of the code that makes a pool, when the pool's first worker starts. Formats nothing: this costs a few microseconds.
 * `settings` identifies the pool.
 */
export function captureCaller(settings: object): void {
  if (captures.has(settings)) return;
  const { stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = Math.max(framesMin, stackTraceLimit);
    captures.set(settings, { shown: new Error(), files: new Error() });
  } catch {
    // The app may have frozen `Error`. The messages then do not name the caller.
  } finally {
    restore(stackTraceLimit);
  }
}

/**
 * Runs code that makes an error for the app. The error gets no frames: they would all be of the library, and Node prints the source line of
 * the first one, which is minified, when nothing handles the error.
 */
export function withoutFrames(act: () => void): void {
  const { stackTraceLimit } = Error;
  restore(0);
  try {
    act();
  } finally {
    restore(stackTraceLimit);
  }
}

// Does nothing if the app has frozen `Error`.
function restore(stackTraceLimit: number): void {
  try {
    Error.stackTraceLimit = stackTraceLimit;
  } catch {
    // The errors then have the frames that the app wants.
  }
}

/** Returns the place of the code that made the pool: `/app/main.ts:12`. Returns undefined if the stack has no file of the app. */
export function callerOf(settings: object): string | undefined {
  const capture = captures.get(settings);
  if (!capture) return undefined;
  const own = ownFile();
  const at = filesOf(capture.files).findIndex((file) => file !== own && file !== "" && !file.startsWith("node:"));
  const line = at < 0 ? undefined : shownFrames(capture.shown)[at];
  const [, file, number] = /(?:\(|at (?:async )?)([^()]+):(\d+):\d+\)?$/.exec(line ?? "") ?? [];
  return file && `${pathOf(file)}:${number}`;
}

// The app's own `Error.prepareStackTrace` may throw, and may return anything.
function shownFrames({ stack }: Error): string[] {
  return String(stack)
    .split("\n")
    .filter((line) => /^\s+at /.test(line));
}
