// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Readable } from "node:stream";
import type { Worker } from "node:worker_threads";
import type { SpawnOptions, TextSink } from "../host.js";

/** Writes what a worker prints to the app's sinks. Output without a sink goes where Node sends it: to this thread's stdout and stderr. */
export function pipeOutput(worker: Worker, settings: SpawnOptions["settings"]): void {
  for (const name of ["stdout", "stderr"] as const) {
    const sink = settings[name];
    if (sink) pipe(worker[name], sink, settings);
  }
}

// Does not use `pipe()`: each pipe adds listeners to its target, and Node warns of more than ten.
function pipe(from: Readable, sink: TextSink, settings: SpawnOptions["settings"]): void {
  from.on("data", (bytes: Uint8Array) => {
    try {
      sink.write(bytes);
    } catch (reason) {
      settings.onError(reason);
    }
  });
}
