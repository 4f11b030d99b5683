// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Readable } from "node:stream";
import type { Worker } from "node:worker_threads";
import { OwnPromise } from "../../globals.js";
import type { SpawnOptions, TextSink } from "../host.js";

/** Writes what a worker prints to the app's sinks. Output without a sink goes where Node sends it: to this thread's stdout and stderr. */
export function pipeOutput(worker: Worker, settings: SpawnOptions["settings"]): void {
  for (const name of ["stdout", "stderr"] as const) {
    const sink = settings[name];
    if (!sink) continue;
    doNotKeepAlive(worker[name]);
    pipe(worker[name], sink, settings);
  }
}

// To read the output that Node does not print itself, Node references the worker's port until the output ends: an idle worker would keep the
// process alive. Node has no option for that. It decides by this flag, which it clears for output that it prints itself. `Release` keeps the
// process alive until the output has arrived.
function doNotKeepAlive(from: Readable): void {
  const flag = Object.getOwnPropertySymbols(from).find(({ description }) => description === "kIncrementsPortRef");
  if (flag) Object.assign(from, { [flag]: false });
}

/**
 * Writes what a worker prints to a sink. A sink that throws loses what it was given, and `onError` receives the error.
 *
 * Does not use the stream's own `pipe()`: each pipe adds listeners to its target, and Node warns of more than ten.
 */
export function pipe(from: Readable, sink: TextSink, settings: SpawnOptions["settings"]): void {
  from.on("data", (bytes: Uint8Array) => {
    try {
      sink.write(bytes);
    } catch (reason) {
      settings.onError(reason);
    }
  });
}

/**
 * Returns a promise that settles when all printed output of this worker was sent. Returns undefined if no output is waiting. Node sends a
 * thread's lines to the parent one message at a time. Node sends the next message when the parent has taken the previous one.
 */
export function printed(): Promise<void> | undefined {
  const waiting = [process.stdout, process.stderr].filter((stream) => stream.writableLength > 0);
  if (waiting.length === 0) return undefined;
  return OwnPromise.all(
    waiting.map((stream) => new OwnPromise<void>((resolve) => stream.write("", () => resolve()))),
  ).then(() => {});
}
